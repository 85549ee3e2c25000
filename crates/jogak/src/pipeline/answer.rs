//! The ids of all texts of a batch, as threads find them.
//!
//! Rule: they come together in the order of the texts, whoever found them, and whenever.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::scan::wish_large_pages;

/// Room for more ids than this is not kept for the next part.
const ROOM_KEPT: usize = 1 << 18;
/// So much room a thread keeps, in parts: one that it fills, and those that wait.
const PARTS_KEPT: usize = 4;

/// Ids of some texts, and where each text ends in them.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) ids: Vec<u32>,
    pub(super) ends: Vec<usize>,
}

/// The ids of all texts up to some text, whose turn is next.
///
/// One thread has it at a time: the one whose part is next writes its ids where they stay. The others have theirs wait in
/// parts of their own, which they append when the turn comes, in the midst of a part too. So the only new memory of a call
/// is that of its answer, which the system has to give page by page, and nobody waits for somebody else's pages; of two
/// threads' ids about half are written once.
pub(super) struct Answer {
    pub(super) ids: Vec<u32>,
    /// Begins with 0, and goes on with the end of each text.
    pub(super) offsets: Vec<i64>,
}

impl Answer {
    /// Makes room for so many ids, and some more, if there is none.
    pub(super) fn make_room(&mut self, ids: usize) {
        if self.ids.capacity() - self.ids.len() >= ids {
            return;
        }
        if self.ids.is_empty() {
            // Room that grows is copied, also where nothing was written: page after page would be touched for it.
            self.ids = Vec::new();
        }
        // Room that is not used is not touched, and so costs nothing; without it, ids come together as well.
        let _ = self.ids.try_reserve(ids.saturating_add(ids / 16));
        wish_large_pages(&mut self.ids);
    }

    /// The number of the text whose turn is next.
    fn next(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Takes what a part has, which is empty then.
    pub(super) fn append(&mut self, part: &mut Part) {
        let base = self.ids.len();
        self.ids.append(&mut part.ids);
        self.offsets.extend(part.ends.drain(..).map(|end| (base + end) as i64));
        part.ids.shrink_to(ROOM_KEPT);
        part.ends.shrink_to(ROOM_KEPT);
    }
}

/// Where the answer and what has to wait for its turn lie while nobody has them.
pub(super) struct Gathered {
    pub(super) answer: Option<Answer>,
    /// Whole parts by the number of their first text, and who has made each.
    waiting: BTreeMap<usize, (ThreadId, Part)>,
}

impl Gathered {
    pub(super) fn new(room: usize) -> Self {
        let mut answer = Answer { ids: Vec::new(), offsets: vec![0] };
        answer.make_room(room);
        Self { answer: Some(answer), waiting: BTreeMap::new() }
    }

    /// The answer, if the turn of the part that begins with the text number `first` has come.
    fn take(&mut self, first: usize) -> Option<Answer> {
        self.answer.take_if(|answer| answer.next() == first)
    }

    /// Lets a whole part of this thread wait, which begins with the text number `first`.
    pub(super) fn wait(&mut self, first: usize, part: Part) {
        self.waiting.insert(first, (thread::current().id(), part));
    }

    /// The answer, and the part that is to be appended to it next, if that waits and was made by this thread: who made it
    /// has it near.
    fn take_own(&mut self, me: ThreadId) -> Option<(Answer, Part)> {
        let next = self.answer.as_ref()?.next();
        let (_, part) = match self.waiting.entry(next) {
            Entry::Occupied(entry) if entry.get().0 == me => entry.remove(),
            _ => return None,
        };
        Some((self.answer.take()?, part))
    }

    /// The answer with all that waits for nothing else.
    pub(super) fn finish(mut self) -> Option<Answer> {
        let mut answer = self.answer?;
        while let Some((_, mut part)) = self.waiting.remove(&answer.next()) {
            answer.append(&mut part);
        }
        Some(answer)
    }
}

/// Appends what this thread has made, if its turn has come; then the answer, if it is the turn of the part that begins with
/// the text number `first`. Nobody waits meanwhile. Some of what became empty is kept as room
/// for others.
pub(super) fn look(
    gathered: &Mutex<Gathered>,
    first: usize,
    empty: &mut Vec<Part>,
) -> Option<Answer> {
    let me = thread::current().id();
    loop {
        let mut now = locked(gathered);
        let Some((mut answer, mut part)) = now.take_own(me) else { return now.take(first) };
        drop(now);
        answer.append(&mut part);
        if empty.len() < PARTS_KEPT {
            empty.push(part);
        }
        locked(gathered).answer = Some(answer);
    }
}

/// What a lock guards, also if somebody panicked with it.
pub(super) fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn who_made_a_part_appends_it() {
        let part = |ids: &[u32]| Part { ids: ids.to_vec(), ends: vec![ids.len()] };
        let gathered = Mutex::new(Gathered::new(0));
        let (me, mut empty) = (thread::current().id(), Vec::new());
        let other = thread::scope(|scope| scope.spawn(|| thread::current().id()).join()).unwrap();
        for (first, id, made_by) in [(1, 8, me), (2, 9, other), (3, 10, me)] {
            locked(&gathered).waiting.insert(first, (made_by, part(&[id])));
        }
        // The turn of none of them has come.
        assert!(look(&gathered, 4, &mut empty).is_none() && empty.is_empty());
        let mut answer = look(&gathered, 0, &mut empty).unwrap();
        answer.append(&mut part(&[7]));
        locked(&gathered).answer = Some(answer);
        assert!(look(&gathered, 4, &mut empty).is_none());
        assert_eq!(
            (empty.len(), locked(&gathered).answer.as_ref().map(Answer::next)),
            (1, Some(2))
        );
        let Answer { ids, offsets } = gathered.into_inner().unwrap().finish().unwrap();
        assert_eq!((ids, offsets), (vec![7, 8, 9, 10], vec![0, 1, 2, 3, 4]));
    }

    #[test]
    fn room_is_for_what_was_asked_and_not_for_twice_as_much() {
        let mut answer = Gathered::new(0).finish().unwrap();
        for ids in [1000, 1010, 1500, 1200] {
            answer.make_room(ids);
            assert!((ids..=1600).contains(&answer.ids.capacity()));
        }
        answer.ids.extend(0..1500);
        answer.make_room(5000);
        assert!(answer.ids.capacity() >= 6500 && answer.ids.iter().copied().eq(0..1500));
    }
}
