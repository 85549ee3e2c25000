//! Many texts on several threads: the ids of all, one behind the other.
//!
//! Rule: the answer does not depend on the number of threads. Whatever all of them would wait for is shared out
//! too, or done once a call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::share::{Arriving, Rest};
use super::{Request, Tokenizer};
use crate::added::Input;
use crate::error::Error;
use crate::scan::wish_large_pages;
use crate::utf8::Room;

/// Ids of many texts, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// All ids.
    pub ids: Vec<u32>,
    /// Text `i` has the ids from `offsets[i]` to `offsets[i + 1]`.
    pub offsets: Vec<i64>,
}

/// A part of a batch below this many bytes is not worth a thread.
const SMALLEST_PART: usize = 1 << 15;
/// The ids of a part of so many bytes stay in the second-level cache until they are put in their place.
const LARGEST_PART: usize = 1 << 17;
/// Room for more ids than this is not kept for the next part.
const ROOM_KEPT: usize = 1 << 18;

/// Ids of some texts, and where each text ends in them.
#[derive(Debug, Default)]
pub(super) struct Part {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

/// The ids of all texts, as their parts come: each is put behind those before it as soon as all of these are there.
///
/// So the only new memory of a call is that of its answer, which the system has to give page by page.
struct Gathered {
    ids: Vec<u32>,
    /// Begins with 0, and goes on with the end of each text.
    offsets: Vec<i64>,
    /// Parts that came before their turn, by the number of their first text.
    waiting: BTreeMap<usize, Part>,
    /// Room for parts.
    empty: Vec<Part>,
}

impl Default for Gathered {
    fn default() -> Self {
        let (waiting, empty) = (BTreeMap::new(), Vec::new());
        Self { ids: Vec::new(), offsets: vec![0], waiting, empty }
    }
}

impl Gathered {
    /// Makes room for so many ids, and some more, if there is none.
    fn make_room(&mut self, ids: usize) {
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

    /// Takes the part that begins with the text number `first`, and gives an empty one for it.
    fn put(&mut self, first: usize, part: Part) -> Part {
        self.waiting.insert(first, part);
        while let Some(mut part) = self.waiting.remove(&(self.offsets.len() - 1)) {
            let base = self.ids.len();
            self.ids.extend_from_slice(&part.ids);
            self.offsets.extend(part.ends.iter().map(|end| (base + end) as i64));
            part.ids.clear();
            part.ends.clear();
            part.ids.shrink_to(ROOM_KEPT);
            part.ends.shrink_to(ROOM_KEPT);
            self.empty.push(part);
        }
        self.empty.pop().unwrap_or_default()
    }
}

/// How many ids texts have, by the last large batch: whoever makes room for all of them, and not for many more,
/// gets memory that was used before.
#[derive(Debug, Default)]
pub(super) struct Density {
    /// Ids to a [`Density::STRETCH`] of bytes; 0 before there was one.
    ids: AtomicUsize,
}

impl Density {
    const STRETCH: usize = 1 << 12;
    /// Room for more ids than this goes back to the system when it is freed (glibc's limit, 32 MiB).
    const KEPT: usize = 1 << 23;

    /// About how many ids so many bytes of text have.
    fn ids(&self, bytes: usize) -> usize {
        let known = self.ids.load(Ordering::Relaxed);
        if known > 0 {
            return (bytes / Self::STRETCH + 1).saturating_mul(known);
        }
        // Few texts have more than five ids to eight bytes, and hardly any more ids than bytes.
        let usual = bytes / 8 * 5 + Self::STRETCH;
        if usual > Self::KEPT { bytes } else { usual }
    }

    fn saw(&self, bytes: usize, ids: usize) {
        if bytes >= SMALLEST_PART {
            self.ids.store(ids / (bytes / Self::STRETCH), Ordering::Relaxed);
        }
    }
}

/// Some of the texts of a batch, one behind the other.
///
/// ```
/// use jogak::added::Input;
/// use jogak::pipeline::Stretch;
/// use jogak::utf8::Room;
///
/// let texts = vec![Input::from("low"), Input::from("밥")];
/// assert_eq!((texts.count(), texts.bytes()), (2, 6));
/// assert_eq!(texts.texts(&mut Room::default())?.map(|text| text.text).collect::<String>(), "low밥");
/// # Ok::<(), (usize, jogak::Error)>(())
/// ```
pub trait Stretch: Send {
    /// The texts. What is no UTF-8 yet is made so in `room`, on the thread that encodes it.
    ///
    /// # Errors
    /// [`Error::NoText`] with the number of the text that is none, from 0.
    fn texts<'s>(
        &'s self,
        room: &'s mut Room,
    ) -> Result<impl Iterator<Item = Input<'s>>, (usize, Error)>;

    /// How many they are.
    fn count(&self) -> usize;

    /// About how many bytes they have together.
    fn bytes(&self) -> usize;
}

impl Stretch for Vec<Input<'_>> {
    fn texts<'s>(
        &'s self,
        _room: &'s mut Room,
    ) -> Result<impl Iterator<Item = Input<'s>>, (usize, Error)> {
        Ok(self.iter().copied())
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> usize {
        self.iter().map(|text| text.text.len()).sum()
    }
}

/// Cuts texts into stretches of at least `size` bytes, but for the last one.
pub(crate) fn stretches<'t, E>(
    mut texts: impl Iterator<Item = Result<Input<'t>, E>>,
    size: usize,
) -> impl Iterator<Item = Result<Vec<Input<'t>>, E>> {
    let mut stretch = Vec::new();
    std::iter::from_fn(move || {
        let mut bytes = 0;
        while bytes < size {
            match texts.next() {
                Some(Ok(text)) => {
                    bytes += text.text.len();
                    stretch.push(text);
                }
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        let next = Vec::with_capacity(stretch.len());
        let stretch = std::mem::replace(&mut stretch, next);
        (!stretch.is_empty()).then_some(Ok(stretch))
    })
}

/// Stretches with the number of the first text of each.
pub(crate) fn numbered<P: Stretch, E>(
    stretches: impl Iterator<Item = Result<P, E>>,
) -> impl Iterator<Item = Result<(usize, P), E>> {
    stretches.scan(0, |next, stretch| {
        Some(stretch.map(|stretch| {
            let first = *next;
            *next += stretch.count();
            (first, stretch)
        }))
    })
}

/// On how many threads so many texts with so many bytes go, and how many bytes their parts have at least: one part for one
/// thread, some more than there are threads for several, so that none waits long for the last.
///
/// ```
/// use jogak::pipeline::divided;
///
/// assert_eq!(divided(2, 100, 8).0, 1);
/// assert_eq!(divided(10_000, 1 << 30, 8), (8, 1 << 17));
/// ```
pub fn divided(texts: usize, bytes: usize, threads: usize) -> (usize, usize) {
    let size = (bytes / (8 * threads.max(1))).clamp(SMALLEST_PART, LARGEST_PART);
    let threads = threads.min(texts).min(bytes.div_ceil(size));
    if threads <= 1 { (1, usize::MAX) } else { (threads, size) }
}

impl Tokenizer {
    /// Encodes many texts on up to `threads` threads. The answer does not depend on their number.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], with the number of the first text that has one.
    pub fn encode_batch(
        &self,
        texts: &[Input<'_>],
        request: &Request,
        threads: usize,
    ) -> Result<Batch, (usize, Error)> {
        let bytes = texts.iter().map(|text| text.text.len()).sum();
        let (threads, size) = divided(texts.len(), bytes, threads);
        let stretches = stretches(texts.iter().copied().map(Ok), size);
        self.encode_stretches(Arriving::all(stretches), bytes, request, threads)
            .map(|(batch, _)| batch)
    }

    /// The same for texts that come some at a time, and may fail to. These are given back. `bytes` says about how many
    /// bytes all have, so that there is room and a thread for each part; the answer does not depend on it.
    ///
    /// # Errors
    /// The first error of what comes; else the first one as [`Tokenizer::encode`], with the number of its text.
    pub fn encode_stretches<P, I, T, E>(
        &self,
        stretches: Arriving<I, T>,
        bytes: usize,
        request: &Request,
        threads: usize,
    ) -> Result<(Batch, Vec<P>), E>
    where
        P: Stretch,
        I: Iterator<Item = Result<P, E>>,
        T: FnOnce(Rest<'_>),
        E: From<(usize, Error)>,
    {
        let (threads, _) = divided(usize::MAX, bytes, threads);
        let mut gathered = Gathered::default();
        gathered.make_room(self.density.ids(bytes));
        let gathered = Mutex::new(gathered);
        let Arriving { items, then } = stretches;
        let parts = Arriving { items: numbered(items), then };
        let done = self.shared_out(parts, threads, |(first, texts): (usize, P), worker| {
            let mut room = std::mem::take(&mut worker.room);
            let mut bytes = 0;
            let behind = |(number, error)| (first + number, error);
            let numbered = texts.texts(&mut room).map_err(behind)?.zip(first..);
            let numbered = numbered.inspect(|(text, _)| bytes += text.text.len());
            if threads == 1 {
                // In their order, where they stay.
                let mut gathered = locked(&gathered);
                gathered.make_room(self.density.ids(texts.bytes()));
                let Gathered { ids, offsets, .. } = &mut *gathered;
                self.encode_part(numbered, request, worker, ids, |end| offsets.push(end as i64))?;
            } else {
                let mut part = std::mem::take(&mut worker.part);
                let Part { ids, ends } = &mut part;
                let result = self.encode_part(numbered, request, worker, ids, |end| ends.push(end));
                worker.part = locked(&gathered).put(first, part);
                result?;
            }
            room.shrink();
            worker.room = room;
            Ok((bytes, texts))
        });
        let (mut bytes, mut stretches) = (0, Vec::new());
        for part in done? {
            let (of_part, texts) = part?;
            bytes += of_part;
            stretches.push(texts);
        }
        let Gathered { ids, offsets, .. } =
            gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.density.saw(bytes, ids.len());
        Ok((Batch { ids, offsets }, stretches))
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn parts_in_any_order_give_the_same() {
        let texts: Vec<Vec<u32>> = (0..40).map(|text| (0..text * 7 % 11).collect()).collect();
        let parts = [0..1, 1..9, 9..10, 10..10 + 17, 27..40];
        let part = |range: &Range<usize>, mut room: Part| {
            assert!(room.ids.is_empty() && room.ends.is_empty());
            for text in &texts[range.clone()] {
                room.ids.extend(text);
                room.ends.push(room.ids.len());
            }
            room
        };
        let mut order: Vec<usize> = (0..parts.len()).collect();
        let mut random = crate::random::SplitMix64::new(3);
        for _ in 0..200 {
            order.sort_by_cached_key(|_| random.next());
            let mut gathered = Gathered::default();
            let mut room = Part::default();
            for range in order.iter().map(|&number| &parts[number]) {
                room = gathered.put(range.start, part(range, room));
            }
            assert_eq!(gathered.ids, texts.concat());
            let lengths = gathered.offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
            assert!(lengths.eq(texts.iter().map(Vec::len)));
            assert!(gathered.waiting.is_empty());
        }
    }

    #[test]
    fn room_is_for_what_was_asked_and_not_for_twice_as_much() {
        let mut gathered = Gathered::default();
        for ids in [1000, 1010, 1500, 1200] {
            gathered.make_room(ids);
            assert!((ids..=1600).contains(&gathered.ids.capacity()));
        }
        gathered.ids.extend(0..1500);
        gathered.make_room(5000);
        assert!(gathered.ids.capacity() >= 6500 && gathered.ids.iter().copied().eq(0..1500));
    }

    #[test]
    fn stretches_tile_the_texts() {
        let text = "0123456789";
        let sizes = [3, 0, 0, 9, 2, 2, 2, 0];
        let texts = || sizes.iter().map(|&size| Ok::<_, ()>(Input::from(&text[..size])));
        for (size, expected) in [
            (1, vec![(0, 1), (1, 3), (4, 1), (5, 1), (6, 1), (7, 1)]),
            (4, vec![(0, 4), (4, 2), (6, 2)]),
            (usize::MAX, vec![(0, 8)]),
        ] {
            let found: Vec<_> = numbered(stretches(texts(), size))
                .map(|part| part.map(|(first, part)| (first, part.len())))
                .collect();
            assert_eq!(found, expected.into_iter().map(Ok).collect::<Vec<_>>());
        }
        let failing = texts().take(5).chain([Err(())]);
        assert!(stretches(failing, 4).map(|part| part.is_ok()).take(2).eq([true, false]));
    }

    #[test]
    fn few_bytes_go_on_one_thread() {
        assert_eq!(divided(0, 0, 8), (1, usize::MAX));
        assert_eq!(divided(100, SMALLEST_PART, 8), (1, usize::MAX));
        assert_eq!(divided(100, SMALLEST_PART + 1, 8), (2, SMALLEST_PART));
        assert_eq!(divided(1, 1 << 30, 8), (1, usize::MAX));
        assert_eq!(divided(100, 1 << 30, 8), (8, LARGEST_PART));
        assert_eq!(divided(100, 1 << 30, 0), (1, usize::MAX));
    }
}
