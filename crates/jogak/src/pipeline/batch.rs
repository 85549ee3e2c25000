//! Many texts on several threads: the ids of all, one behind the other.
//!
//! Rule: the answer does not depend on the number of threads. Whatever all of them would wait for is shared out
//! too, or done once a call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::answer::{Answer, Gathered, Part, locked, look};
use super::share::{Arriving, Rest};
use super::{Request, Tokenizer, Worker};
use crate::added::Input;
use crate::error::Error;
use crate::utf8::{Read, Room};

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
/// A thread whose turn has not come asks again after so many bytes.
const BETWEEN_LOOKS: usize = 1 << 14;
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

/// A text of a batch.
#[derive(Debug, Clone, Copy)]
pub enum Text<'t> {
    /// UTF-8.
    Utf8(Input<'t>),
    /// Code points that stay what they are, and how many bytes their UTF-8 would have.
    Points(&'t [u32], usize),
}

impl<'t> From<Input<'t>> for Text<'t> {
    fn from(input: Input<'t>) -> Self {
        Self::Utf8(input)
    }
}

impl<'t> From<Read<'t>> for Text<'t> {
    fn from(read: Read<'t>) -> Self {
        match read {
            Read::Utf8(text) => Self::Utf8(Input::from(text)),
            Read::Points(points, bytes) => Self::Points(points, bytes),
        }
    }
}

impl Text<'_> {
    /// How many bytes it has in UTF-8.
    ///
    /// ```
    /// use jogak::added::Input;
    /// use jogak::pipeline::Text;
    ///
    /// let points = ['조', '각'].map(u32::from);
    /// assert_eq!(Text::from(Input::from("조각")).bytes(), Text::Points(&points, 6).bytes());
    /// ```
    pub fn bytes(&self) -> usize {
        match *self {
            Self::Utf8(input) => input.text.len(),
            Self::Points(_, bytes) => bytes,
        }
    }
}

/// Some of the texts of a batch, one behind the other.
///
/// ```
/// use jogak::added::Input;
/// use jogak::pipeline::{Stretch, Text};
/// use jogak::utf8::Room;
///
/// let texts = vec![Input::from("low"), Input::from("밥")];
/// assert_eq!((texts.count(), texts.bytes()), (2, 6));
/// let mut room = Room::default();
/// let lengths = texts.texts(&mut room, |_| None)?.map(|text| text.bytes());
/// assert_eq!(lengths.collect::<Vec<_>>(), [3, 3]);
/// # Ok::<(), (usize, jogak::Error)>(())
/// ```
pub trait Stretch: Send {
    /// The texts. What is no UTF-8 yet is made so in `room`, on the thread that encodes it, but for code points for which `stay`
    /// says how many bytes they have.
    ///
    /// # Errors
    /// [`Error::NoText`] with the number of the text that is none, from 0.
    fn texts<'s>(
        &'s self,
        room: &'s mut Room,
        stay: impl Fn(&[u32]) -> Option<usize>,
    ) -> Result<impl Iterator<Item = Text<'s>>, (usize, Error)>;

    /// How many they are.
    fn count(&self) -> usize;

    /// About how many bytes they have together.
    fn bytes(&self) -> usize;
}

impl Stretch for Vec<Input<'_>> {
    fn texts<'s>(
        &'s self,
        _room: &'s mut Room,
        _stay: impl Fn(&[u32]) -> Option<usize>,
    ) -> Result<impl Iterator<Item = Text<'s>>, (usize, Error)> {
        Ok(self.iter().copied().map(Text::from))
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
        let gathered = Mutex::new(Gathered::new(self.density.ids(bytes)));
        let Arriving { items, then } = stretches;
        let parts = Arriving { items: numbered(items), then };
        let done = self.shared_out(parts, threads, |(first, texts): (usize, P), worker| {
            let mut room = std::mem::take(&mut worker.room);
            let mut bytes = 0;
            let behind = |(number, error)| (first + number, error);
            let stays = self.stays(request, worker);
            let numbered = texts.texts(&mut room, stays).map_err(behind)?.zip(first..);
            let numbered = numbered.inspect(|(text, _)| bytes += text.bytes());
            let expected = self.density.ids(texts.bytes());
            // How much comes is not always known before, as of a stream. (Where threads share it out, each small part would
            // make room, which is copied.)
            if let Some(answer) = locked(&gathered).answer.as_mut().filter(|_| threads == 1) {
                answer.make_room(expected);
            }
            self.encode_in_turn(numbered, (first, expected), request, worker, &gathered)?;
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
        let gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(Answer { ids, offsets }) = gathered.finish() else {
            unreachable!("all parts have given it back")
        };
        self.density.saw(bytes, ids.len());
        Ok((Batch { ids, offsets }, stretches))
    }

    /// Encodes a part that begins with the text number `first`, and has about so many ids: for itself, until its turn has
    /// come.
    fn encode_in_turn<'t>(
        &self,
        texts: impl Iterator<Item = (Text<'t>, usize)>,
        (first, expected): (usize, usize),
        request: &Request,
        worker: &mut Worker,
        gathered: &Mutex<Gathered>,
    ) -> Result<(), (usize, Error)> {
        let mut texts = texts.peekable();
        let mut part = worker.parts.pop().unwrap_or_default();
        let mut answer = look(gathered, first, &mut worker.parts);
        while answer.is_none() && texts.peek().is_some() {
            let Part { ids, ends } = &mut part;
            // Room that grows step by step is copied, with what nobody has written to, into new memory each time. Without
            // it, ids come together as well.
            if ids.capacity() == 0 {
                let _ = ids.try_reserve(expected);
            }
            let few = up_to(BETWEEN_LOOKS, &mut texts);
            self.encode_part(few, request, worker, ids, |end| ends.push(end))?;
            answer = look(gathered, first, &mut worker.parts);
        }
        let Some(mut answer) = answer else {
            locked(gathered).wait(first, part);
            return Ok(());
        };
        answer.append(&mut part);
        let Answer { ids, offsets } = &mut answer;
        let result = self.encode_part(texts, request, worker, ids, |end| offsets.push(end as i64));
        locked(gathered).answer = Some(answer);
        worker.parts.push(part);
        result
    }
}

/// Texts until they have so many bytes.
fn up_to<'t, 'i>(
    size: usize,
    texts: &'i mut impl Iterator<Item = (Text<'t>, usize)>,
) -> impl Iterator<Item = (Text<'t>, usize)> + 'i {
    let mut bytes = 0;
    std::iter::from_fn(move || {
        let next = if bytes < size { texts.next() } else { None };
        bytes += next.as_ref().map_or(0, |(text, _)| text.bytes());
        next
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use std::thread;

    use super::*;
    use crate::added::Added;
    use crate::model::{Model, WordLevel, WordLevelParts};
    use crate::normalize::Normalizer;
    use crate::prepare::Prepare;
    use crate::random::SplitMix64;
    use crate::vocab::Vocab;

    /// A text is one word, and has its bytes as ids.
    fn tokenizer() -> Tokenizer {
        let parts = WordLevelParts {
            pieces: Vocab::new((0..=255).map(|byte| vec![byte])),
            byte_fallback: Some(Box::new(std::array::from_fn(|byte| byte as u32))),
            unknown: None,
            fuse_unknown: false,
        };
        let prepare = Prepare::new(&[], &[]).unwrap();
        let added = Added::new(Vec::new(), &Normalizer::default()).unwrap();
        Tokenizer::new(prepare, added, Model::WordLevel(WordLevel::new(parts)), 1 << 16)
    }

    #[test]
    fn parts_in_any_order_give_the_same() {
        let tokenizer = tokenizer();
        let mut random = SplitMix64::new(3);
        let sizes = (0..40).map(|text| text * 7 % 11 * 700);
        let texts: Vec<String> = sizes
            .map(|size| (0..size).map(|_| char::from(random.next() as u8 & 0x7F)).collect())
            .collect();
        let parts = [0..1, 1..9, 9..10, 10..27, 27..40];
        let mut order: Vec<usize> = (0..parts.len()).collect();
        // Parts that began to wait, and went on where they stay.
        let mut went_on = 0;
        for _ in 0..1000 {
            order.sort_by_cached_key(|_| random.next());
            let gathered = Mutex::new(Gathered::new(0));
            // The answer, while another thread is taken to have it.
            let mut away = None;
            let mut worker = tokenizer.new_worker();
            for &number in &order {
                let range = parts[number].clone();
                let elsewhere = random.next().is_multiple_of(3);
                let mut stayed = None;
                let numbered = range.clone().map(|text| {
                    let mut now = locked(&gathered);
                    let is_own = away.is_none() && now.answer.is_none();
                    let before = *stayed.get_or_insert(is_own);
                    went_on += u32::from(is_own && !before);
                    stayed = Some(is_own);
                    if !is_own && random.next().is_multiple_of(4) {
                        std::mem::swap(&mut away, &mut now.answer);
                    }
                    (Text::from(Input::from(&*texts[text])), text)
                });
                let (request, worker) = (Request::default(), &mut *worker);
                let encode = || {
                    let place = (range.start, 0);
                    tokenizer.encode_in_turn(numbered, place, &request, worker, &gathered)
                };
                let done = if elsewhere {
                    thread::scope(|scope| scope.spawn(encode).join()).unwrap()
                } else {
                    encode()
                };
                assert_eq!(done, Ok(()));
            }
            let mut gathered = gathered.into_inner().unwrap();
            gathered.answer = gathered.answer.or(away);
            let Answer { ids, offsets } = gathered.finish().unwrap();
            assert!(ids.iter().copied().eq(texts.concat().bytes().map(u32::from)));
            let lengths = offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
            assert!(lengths.eq(texts.iter().map(String::len)));
        }
        assert!(went_on > 50, "{went_on}");
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
