//! Many lists of ids -> their texts, some lists at a time.
//!
//! In words: the caller reads lists and takes texts, which nobody else may do where both are objects of Python. Between the
//! two a block of lists is decoded: by other threads while the caller reads what comes next and takes what came before, or
//! by the caller, where there are none, or where they are late. Blocks are used again, so that a batch of any size needs
//! memory for a few of them.
//!
//! Rule: texts come in the order of their lists, and so do errors, whatever the number of threads.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Decoder, as_text};
use crate::beside::crew;
use crate::error::Error;
use crate::utf8::{code_points, wide_characters};

/// So many ids make a block: they and their texts stay in the second-level cache.
const BLOCK: usize = 1 << 14;
/// So many lists make one, however short they are.
const LISTS: usize = 1 << 12;
/// Blocks that are on their way for each thread. Once half of them have come back so many are sent again: who has nothing to
/// do sleeps, and to be woken for each block takes longer than to decode it.
const AHEAD: usize = 4;
/// The caller alone reads lists and takes texts, and does not keep more threads than these busy.
const THREADS: usize = 8;

/// How a batch is decoded.
#[derive(Debug, Clone, Copy)]
pub struct BatchOptions {
    /// Leaves special tokens out.
    pub skip_specials: bool,
    /// Gives the code points of texts that are sooner made of them ([`wide_characters`]).
    pub points: bool,
    /// On how many threads at most, the caller's included.
    pub threads: usize,
    /// About how many ids there are; less than there are means fewer threads.
    pub ids: usize,
}

/// A text that ids stand for; what was no UTF-8 is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'t> {
    /// UTF-8.
    Utf8(&'t str),
    /// Code points, if they were asked for.
    Points(&'t [u32]),
}

/// Work that the caller does once, with nothing of its own.
pub type Apart<'a> = &'a mut (dyn FnMut() + Send);

impl Decoder {
    /// Decodes many lists of ids. `read` appends the next list and says that there was one, `take` gets the texts in the order
    /// of the lists; both are called on this thread alone. `apart` calls what it is given, which decodes or waits for other
    /// threads: who holds a lock lets go of it meanwhile. Cost: linear in the ids and the bytes, and memory for the ids
    /// and the texts of some blocks of lists.
    ///
    /// ```
    /// use jogak::decode::{BatchOptions, Decoder, Text};
    /// use jogak::symbols::Marker;
    /// use jogak::vocab::Vocab;
    ///
    /// let decoder = Decoder::new(Vocab::new(["lo", "w", "er"]), &[], None, Marker::None, None);
    /// let options = BatchOptions { skip_specials: false, points: false, threads: 2, ids: 5 };
    /// let mut lists = [vec![0, 1], vec![0, 1, 2]].into_iter();
    /// let mut texts = Vec::new();
    /// decoder.batch(
    ///     options,
    ///     |ids| Ok(lists.next().map(|list| ids.extend(list)).is_some()),
    ///     |text| {
    ///         if let Text::Utf8(text) = text {
    ///             texts.push(text.to_owned());
    ///         }
    ///         Ok::<(), (usize, jogak::Error)>(())
    ///     },
    ///     |work| work(),
    /// )?;
    /// assert_eq!(texts, ["low", "lower"]);
    /// # Ok::<(), (usize, jogak::Error)>(())
    /// ```
    ///
    /// # Errors
    /// That of the first list that has one: as [`Decoder::raw_text`], with the number of the list, or what `read` says.
    /// What `take` says.
    pub fn batch<E: From<(usize, Error)>>(
        &self,
        options: BatchOptions,
        read: impl FnMut(&mut Vec<u32>) -> Result<bool, E>,
        take: impl FnMut(Text<'_>) -> Result<(), E>,
        mut apart: impl FnMut(Apart<'_>),
    ) -> Result<(), E> {
        let mut reader = Reader { read, end: None };
        let mut taker = Taker { take, taken: 0 };
        let mut first = Block::default();
        reader.fill(&mut first);
        let worth = 1 + options.ids / (BLOCK * AHEAD);
        let threads =
            if reader.end.is_some() { 1 } else { options.threads.min(worth).clamp(1, THREADS) };
        let way = Way::default();
        let decode = |block: &mut Block| self.decode_block(block, options);
        let mut result = Ok(());
        let own = || {
            let _end = Ending(&way);
            let limit = if threads == 1 { 1 } else { AHEAD * threads };
            result = go_round(&way, first, limit, &mut reader, &mut taker, &decode, &mut apart);
        };
        crew(threads, own, |_| way.work(decode));
        result
    }

    /// Writes the texts of a block, up to the first list with an error.
    fn decode_block(&self, block: &mut Block, options: BatchOptions) {
        let Block { ids, lists, text, points, texts, room, error } = block;
        let mut from = 0;
        for &end in &*lists {
            match self.raw_text_in(std::mem::take(room), &ids[from..end], options.skip_specials) {
                Ok(raw) => {
                    texts.push(Place::write(&as_text(&raw), options.points, text, points));
                    *room = raw;
                }
                Err(of_list) => {
                    *error = Some(of_list);
                    break;
                }
            }
            from = end;
        }
    }
}

/// What the calling thread does: reads up to so many blocks ahead, and takes texts as soon as they are there.
fn go_round<E: From<(usize, Error)>>(
    way: &Way,
    first: Block,
    limit: usize,
    reader: &mut Reader<E, impl FnMut(&mut Vec<u32>) -> Result<bool, E>>,
    taker: &mut Taker<impl FnMut(Text<'_>) -> Result<(), E>>,
    decode: &(impl Fn(&mut Block) + Sync),
    apart: &mut impl FnMut(Apart<'_>),
) -> Result<(), E> {
    way.send(0, first);
    let (mut sent, mut back) = (1, 0);
    let mut free = Vec::new();
    loop {
        if sent - back <= limit / 2 {
            while reader.end.is_none() && sent - back < limit {
                let mut block: Block = free.pop().unwrap_or_default();
                block.clear();
                reader.fill(&mut block);
                way.send(sent, block);
                sent += 1;
            }
        }
        if back == sent {
            return reader.end.take().unwrap_or(Ok(()));
        }
        let mut came = way.came(back);
        if came.is_none() {
            apart(&mut || came = way.wait_for(back, decode));
        }
        // Else another thread has broken down, and takes this one with it.
        let Some(mut block) = came else { return Ok(()) };
        taker.take_all(&mut block)?;
        free.push(block);
        back += 1;
    }
}

/// Where the lists come from, and how that ended.
struct Reader<E, R> {
    read: R,
    end: Option<Result<(), E>>,
}

impl<E, R: FnMut(&mut Vec<u32>) -> Result<bool, E>> Reader<E, R> {
    fn fill(&mut self, block: &mut Block) {
        while block.ids.len() < BLOCK && block.lists.len() < LISTS {
            match (self.read)(&mut block.ids) {
                Ok(true) => block.lists.push(block.ids.len()),
                Ok(false) => self.end = Some(Ok(())),
                Err(error) => self.end = Some(Err(error)),
            }
            if self.end.is_some() {
                break;
            }
        }
    }
}

/// Where the texts go, and how many went there.
struct Taker<T> {
    take: T,
    taken: usize,
}

impl<T> Taker<T> {
    fn take_all<E>(&mut self, block: &mut Block) -> Result<(), E>
    where
        T: FnMut(Text<'_>) -> Result<(), E>,
        E: From<(usize, Error)>,
    {
        for place in &block.texts {
            (self.take)(place.text(&block.text, &block.points))?;
            self.taken += 1;
        }
        block.error.take().map_or(Ok(()), |error| Err((self.taken, error).into()))
    }
}

/// Some lists, and then their texts.
#[derive(Debug, Default)]
struct Block {
    ids: Vec<u32>,
    /// Where each list ends.
    lists: Vec<usize>,
    /// The texts of lists, one behind the other, but for those whose code points stand in `points`.
    text: String,
    points: Vec<u32>,
    texts: Vec<Place>,
    /// What is wrong with the list behind the last text.
    error: Option<Error>,
    /// Memory of a text while it is decoded.
    room: Vec<u8>,
}

impl Block {
    fn clear(&mut self) {
        self.ids.clear();
        self.lists.clear();
        self.text.clear();
        self.points.clear();
        self.texts.clear();
    }
}

/// Where a text stands.
#[derive(Debug)]
enum Place {
    Utf8(Range<usize>),
    Points(Range<usize>),
}

impl Place {
    fn write(from: &str, points: bool, to_text: &mut String, to_points: &mut Vec<u32>) -> Self {
        let wide = if points { wide_characters(from) } else { None };
        let Some(characters) = wide else {
            let start = to_text.len();
            to_text.push_str(from);
            return Self::Utf8(start..to_text.len());
        };
        let start = to_points.len();
        to_points.resize(start + characters, 0);
        code_points(from, &mut to_points[start..]);
        Self::Points(start..to_points.len())
    }

    fn text<'t>(&self, text: &'t str, points: &'t [u32]) -> Text<'t> {
        match self {
            Self::Utf8(range) => Text::Utf8(&text[range.clone()]),
            Self::Points(range) => Text::Points(&points[range.clone()]),
        }
    }
}

/// Blocks on their way from the caller and back to it.
#[derive(Default)]
struct Way {
    state: Mutex<State>,
    /// Somebody may wait for what has changed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Blocks that nobody has begun with, by their numbers.
    waiting: VecDeque<(usize, Block)>,
    done: Vec<(usize, Block)>,
    /// Nobody needs any more of them.
    ended: bool,
}

impl Way {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.locked());
        self.changed.notify_all();
    }

    fn send(&self, number: usize, block: Block) {
        self.change(|state| state.waiting.push_back((number, block)));
    }

    /// The block of a number, if it is decoded.
    fn came(&self, number: usize) -> Option<Block> {
        self.locked().came(number)
    }

    /// The same, once it is: decodes blocks that nobody has begun with until then. Nothing if all has ended.
    fn wait_for(&self, number: usize, decode: impl Fn(&mut Block)) -> Option<Block> {
        let mut state = self.locked();
        loop {
            if let Some(block) = state.came(number) {
                return Some(block);
            }
            if let Some((taken, mut block)) = state.waiting.pop_front() {
                drop(state);
                decode(&mut block);
                if taken == number {
                    return Some(block);
                }
                state = self.locked();
                state.done.push((taken, block));
            } else if state.ended {
                return None;
            } else {
                state = self.wait(state);
            }
        }
    }

    /// What the other threads do.
    fn work(&self, decode: impl Fn(&mut Block)) {
        // If one of them breaks down, the caller does not wait for what it had begun with.
        let _end = Ending(self);
        let mut state = self.locked();
        while !state.ended {
            if let Some((number, mut block)) = state.waiting.pop_front() {
                drop(state);
                decode(&mut block);
                self.change(|state| state.done.push((number, block)));
                state = self.locked();
            } else {
                state = self.wait(state);
            }
        }
    }
}

impl State {
    fn came(&mut self, number: usize) -> Option<Block> {
        let place = self.done.iter().position(|(done, _)| *done == number)?;
        Some(self.done.swap_remove(place).1)
    }
}

/// Whoever has it is the last one who needs blocks, or has broken down, when it is dropped.
struct Ending<'w>(&'w Way);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.ended = true);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::random::SplitMix64;
    use crate::symbols::Marker;
    use crate::vocab::Vocab;

    /// What a batch of the tests ends with.
    #[derive(Debug, PartialEq, Eq)]
    enum End {
        OfList(usize),
        Reading,
        Taking,
    }

    impl From<(usize, Error)> for End {
        fn from((list, _): (usize, Error)) -> Self {
            Self::OfList(list)
        }
    }

    fn decoder() -> Decoder {
        let pieces: [&[u8]; 6] = [b"low", "조각".as_bytes(), b"\xEC", "값".as_bytes(), b" ", b""];
        Decoder::new(Vocab::new(pieces), &[4], None, Marker::None, None).with_empty(Some(5))
    }

    fn options(threads: usize) -> BatchOptions {
        BatchOptions { skip_specials: false, points: false, threads, ids: usize::MAX }
    }

    fn text(text: Text<'_>) -> String {
        match text {
            Text::Utf8(text) => text.to_owned(),
            Text::Points(points) => points.iter().copied().filter_map(char::from_u32).collect(),
        }
    }

    /// Lists of all lengths, some of which fill a block.
    fn lists(random: &mut SplitMix64, longest: u64, count: usize) -> Vec<Vec<u32>> {
        let mut list = || {
            let len = random.next() % (1 + random.next() % longest);
            (0..len).map(|_| (random.next() % 5) as u32).collect()
        };
        std::iter::repeat_with(&mut list).take(count).collect()
    }

    fn decoded(
        decoder: &Decoder,
        lists: &[Vec<u32>],
        options: BatchOptions,
    ) -> Result<Vec<String>, End> {
        let (mut lists, mut texts) = (lists.iter(), Vec::new());
        let read = |ids: &mut Vec<u32>| Ok(lists.next().map(|list| ids.extend(list)).is_some());
        let take = |each: Text<'_>| {
            texts.push(text(each));
            Ok(())
        };
        decoder.batch(options, read, take, |work| work()).map(|()| texts)
    }

    #[test]
    fn texts_are_those_of_the_lists_in_their_order() {
        let (decoder, mut random) = (decoder(), SplitMix64::new(3));
        let batches =
            [(1, 0), (9, 1), (9, 3 * LISTS), (999, 300), (BLOCK as u64 * 3, 20), (1, 2 * LISTS)];
        for (longest, count) in batches {
            let lists = lists(&mut random, longest, count);
            for skip_specials in [false, true] {
                let one = |list: &Vec<u32>| decoder.text(list, skip_specials);
                let expected: Vec<_> = lists.iter().map(one).collect::<Result<_, _>>().unwrap();
                for (threads, points) in [(0, true), (1, false), (2, true), (3, false), (99, true)]
                {
                    let options = BatchOptions { skip_specials, points, ..options(threads) };
                    assert_eq!(decoded(&decoder, &lists, options).as_ref(), Ok(&expected));
                    let options = BatchOptions { ids: 0, ..options };
                    assert_eq!(decoded(&decoder, &lists, options).as_ref(), Ok(&expected));
                }
            }
        }
    }

    #[test]
    fn points_are_given_where_they_are_asked_for() {
        let mut forms = Vec::new();
        for points in [true, false] {
            for list in [[1; 99], [0; 99]] {
                let mut lists = Some(list).into_iter();
                let read =
                    |ids: &mut Vec<u32>| Ok(lists.next().map(|ids_| ids.extend(ids_)).is_some());
                let take = |text: Text<'_>| {
                    forms.push(matches!(text, Text::Points(_)));
                    Ok::<(), End>(())
                };
                let options = BatchOptions { points, ..options(1) };
                assert_eq!(decoder().batch(options, read, take, |work| work()), Ok(()));
            }
        }
        assert_eq!(forms, [true, false, false, false]);
    }

    #[test]
    fn the_first_list_with_an_error_is_told() {
        let (decoder, mut random) = (decoder(), SplitMix64::new(5));
        let mut lists = lists(&mut random, 400, 900);
        lists[800].push(77);
        for first in [0, 1, 400, 799, 800] {
            lists[first].push(77);
            for threads in 1..5 {
                let found = decoded(&decoder, &lists, options(threads));
                assert_eq!(found, Err(End::OfList(first)), "{threads}");
            }
            lists[first].pop();
        }
    }

    /// Before it, all texts are handed out, and an error in one of their lists comes first.
    #[test]
    fn a_list_that_cannot_be_read_is_the_last_one() {
        let decoder = decoder();
        for threads in 1..4 {
            for (count, wrong) in [(0, None), (3, None), (3, Some(2)), (999, None), (999, Some(5))]
            {
                let (mut come, mut taken) = (0, 0);
                let read = |ids: &mut Vec<u32>| {
                    ids.extend([0; 100]);
                    if come == count {
                        return Err(End::Reading);
                    }
                    ids.extend((wrong == Some(come)).then_some(77));
                    come += 1;
                    Ok(true)
                };
                let take = |text: Text<'_>| {
                    assert_eq!(text, Text::Utf8(&"low".repeat(100)));
                    taken += 1;
                    Ok(())
                };
                let end = decoder.batch(options(threads), read, take, |work| work());
                assert_eq!(end, Err(wrong.map_or(End::Reading, End::OfList)));
                assert_eq!(taken, wrong.unwrap_or(count));
            }
        }
    }

    #[test]
    fn who_takes_no_more_ends_it() {
        for threads in 1..4 {
            let (mut read, mut taken) = (0, 0);
            let lists = |ids: &mut Vec<u32>| {
                ids.extend([0; 999]);
                read += 1;
                Ok(true)
            };
            let take = |_: Text<'_>| {
                taken += 1;
                if taken < 100 { Ok(()) } else { Err(End::Taking) }
            };
            let end = decoder().batch(options(threads), lists, take, |work| work());
            assert_eq!((end, taken), (Err(End::Taking), 100));
            // No more are read ahead than some blocks have.
            assert!(read * 999 < (AHEAD * threads + 8) * BLOCK + 999 * 100, "{read}");
        }
    }

    #[test]
    fn memory_is_that_of_a_few_blocks() {
        for threads in [1, 2, 5] {
            let under_way = AtomicUsize::new(0);
            let (mut left, mut most) = (4000, 0);
            let read = |ids: &mut Vec<u32>| {
                ids.extend([0; 1000]);
                most = most.max(under_way.fetch_add(1, Ordering::Relaxed));
                left -= 1;
                Ok(left > 0)
            };
            let take = |_: Text<'_>| {
                under_way.fetch_sub(1, Ordering::Relaxed);
                Ok::<(), End>(())
            };
            assert_eq!(decoder().batch(options(threads), read, take, |work| work()), Ok(()));
            assert!(most * 1000 <= AHEAD * threads * (BLOCK + 1000), "{most}");
        }
    }

    #[test]
    #[should_panic(expected = "it broke")]
    fn nobody_waits_for_a_caller_that_broke() {
        let mut left = 500;
        let read = |ids: &mut Vec<u32>| {
            ids.extend([0; 999]);
            left -= 1;
            assert!(left > 0, "it broke");
            Ok(true)
        };
        let _ = decoder().batch(options(3), read, |_| Ok::<(), End>(()), |work| work());
    }

    #[test]
    #[should_panic(expected = "it broke")]
    fn nobody_waits_for_a_thread_that_broke() {
        let way = Way::default();
        let decode = |_: &mut Block| assert!(std::thread::current().name().is_some(), "it broke");
        way.send(0, Block::default());
        let own = || {
            // The other thread has it, or breaks down with the next one.
            while way.locked().waiting.iter().any(|(number, _)| *number == 0) {
                std::thread::yield_now();
            }
            assert!(way.wait_for(0, |_| ()).is_none());
        };
        crew(2, own, |_| way.work(decode));
    }
}
