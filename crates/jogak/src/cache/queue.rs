//! Words that wait to be looked up, so that they come from memory all at once.
//!
//! In words: for every word, make its key, find its place, compare, write its ids. One word after the
//! other would wait for each place, and a wrong guess of the processor would throw away what it has begun
//! for the next. So a word's key is made and its place asked for when it comes, and it is compared and
//! written when 64 have come, without a branch that depends on it. What is not found at once is left to the
//! plain look-up.

use std::ops::Range;

use super::INLINE;
use super::found::{Sought, Spot};
use super::known::KnownWords;
use super::packed::Packed;
use super::places::{BlockRoom, Places, STAGE, WORDS};
use crate::scan::{Look, Task, fastest, prefetch};

/// Words of one text that wait.
#[derive(Debug)]
pub struct Queue(Box<Room>);

#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    start: usize,
    end: usize,
    /// The ids of a word that is known to be one character, if they are kept beside.
    ids: Packed,
    sought: Sought,
}

#[derive(Debug)]
struct Room {
    len: usize,
    /// Whether there are words of more than 15 bytes among them.
    has_long: bool,
    words: [Waiting; WORDS],
}

impl Default for Queue {
    fn default() -> Self {
        Self(Box::new(Room { len: 0, has_long: false, words: [Waiting::default(); WORDS] }))
    }
}

impl Queue {
    /// Adds `text[start..end]`, which is not empty; `character` is its code point if it is known to be one
    /// character, else 0. True if there is no more room: the words must be looked up, in the same text and
    /// table.
    #[inline(always)]
    pub fn push(
        &mut self,
        text: &[u8],
        table: &KnownWords,
        start: usize,
        end: usize,
        character: u32,
    ) -> bool {
        let room = &mut *self.0;
        let ids = table.character(character);
        let waiting = &mut room.words[room.len % WORDS];
        *waiting = Waiting { start, end, ids, sought: Sought::default() };
        if ids == Packed::NONE {
            waiting.sought = table.seek(text, start, end);
            room.has_long |= waiting.sought.is_long();
        }
        room.len += 1;
        room.len >= WORDS
    }

    /// Appends the ids of the words to `out`, and forgets them. `learn` appends the ids of a word that the
    /// table does not know, and may teach it.
    #[inline]
    pub fn look_up(
        &mut self,
        text: &[u8],
        table: &mut KnownWords,
        out: &mut Vec<u32>,
        learn: impl FnMut(&mut KnownWords, usize, usize, &mut Vec<u32>),
    ) {
        let Room { len, has_long, words } = &mut *self.0;
        let words = &words[..std::mem::take(len).min(WORDS)];
        let has_long = std::mem::take(has_long);
        if !words.is_empty() {
            fastest(Queued { text, table, words, has_long, out, learn });
        }
    }
}

/// Words that waited, on their way.
struct Queued<'a, F> {
    text: &'a [u8],
    table: &'a mut KnownWords,
    words: &'a [Waiting],
    has_long: bool,
    out: &'a mut Vec<u32>,
    learn: F,
}

impl<F: FnMut(&mut KnownWords, usize, usize, &mut Vec<u32>)> Task for Queued<'_, F> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Queued { text, table, words, has_long, out, mut learn } = self;
        if has_long {
            let long = words.iter().filter(|waiting| waiting.sought.is_long());
            long.for_each(|waiting| table.prefetch_long(waiting.sought));
        }
        let shape = table.shape();
        let (mut stage, mut rest) = ([0; STAGE], words);
        loop {
            let short = table.short().found();
            let found = |waiting: Waiting| match waiting.ids {
                Packed::NONE => short.in_line::<L>(waiting.sought),
                kept => Spot::of(kept),
            };
            let (known, ids) = write_known::<L, _>(rest.iter().copied(), &mut stage, found, |_| ());
            append(out, &stage, ids);
            let Some((&Waiting { start, end, sought, .. }, behind)) = rest[known..].split_first()
            else {
                return;
            };
            let known = match sought.is_long() {
                true => table.get_long(sought, &text[start..end], out),
                false => table.get_sought::<L>(sought, out),
            };
            if !known {
                learn(table, start, end, out);
            }
            if table.shape() != shape {
                // What was sought is elsewhere.
                for &Waiting { start, end, .. } in behind {
                    if !table.get(text, start, end, out) {
                        learn(table, start, end, out);
                    }
                }
                return;
            }
            rest = behind;
        }
    }
}

/// Who encodes a word, by its start and end, that is not known.
pub(crate) type Learn<'a> = dyn FnMut(&mut KnownWords, usize, usize, &mut Vec<u32>) + 'a;

/// Appends the ids of the words that lie between each two neighbours of `borders` to `out`. `learn` appends the ids
/// of a word that the table does not know, and may teach it.
#[inline]
pub fn look_up_between(
    text: &[u8],
    table: &mut KnownWords,
    borders: &[u32],
    out: &mut Vec<u32>,
    learn: &mut Learn<'_>,
) {
    let Some((_, ends)) = borders.split_first() else { return };
    let starts = &borders[..ends.len()];
    let learn =
        |table: &mut KnownWords, _: Sought, start: usize, end: usize, ids: &mut Vec<u32>| {
            learn(table, start, end, ids);
        };
    let words = Listed::new(starts, ends);
    fastest(Spans::<_, _, 0> { text, table, words, out, learn, behind: |_| () });
}

/// Who encodes a word, by its start and end, that is not known, and says whether it is to be remembered.
type Encode<'a> = dyn FnMut(&KnownWords, usize, usize, &mut Vec<u32>) -> bool + 'a;

/// Words from place to place, and what is known of them.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// Where they start, in bytes.
    pub starts: &'a [u32],
    /// Where they end: as many.
    pub ends: &'a [u32],
    /// Many of them may be characters of three bytes.
    pub characters: bool,
    /// Words that need not be looked up.
    pub strange: Strange<'a>,
}

/// Words that have but one id, which is the same for all of them. All words that are looked up with them are UTF-8.
#[derive(Debug, Clone, Copy, Default)]
pub struct Strange<'a> {
    /// Bit i of number n says that word 64 n + i is one of them; what it lacks are none.
    pub words: &'a [u64],
    /// That id.
    pub id: u32,
}

impl<'a> Listed<'a> {
    /// Nothing is known.
    pub fn new(starts: &'a [u32], ends: &'a [u32]) -> Self {
        Self { starts, ends, characters: false, strange: Strange::default() }
    }
}

/// Appends the ids of words to `out`. `encode` appends the ids of a word that the table does not
/// know. A [stale](KnownWords::is_stale) table forgets everything before it is to remember one more. `behind` is told how
/// many ids there are behind each word.
#[inline]
pub fn look_up_spans(
    text: &[u8],
    table: &mut KnownWords,
    words: Listed<'_>,
    out: &mut Vec<u32>,
    encode: &mut Encode<'_>,
    behind: impl FnMut(usize),
) {
    let learn = |table: &mut KnownWords, sought, start: usize, end: usize, ids: &mut Vec<u32>| {
        let before = ids.len();
        if encode(table, start, end, ids) {
            table.insert_sought(sought, &text[start..end], &ids[before..]);
        }
    };
    match (words.characters, !words.strange.words.is_empty()) {
        (false, false) => fastest(Spans::<_, _, 0> { text, table, words, out, learn, behind }),
        (true, false) => {
            fastest(Spans::<_, _, CHARACTERS> { text, table, words, out, learn, behind })
        }
        (_, true) => fastest(Spans::<_, _, STRANGE> { text, table, words, out, learn, behind }),
    }
}

/// Characters are looked for first; else no word is taken for one.
const CHARACTERS: u8 = 1;
/// There are strange words.
const STRANGE: u8 = 2;

/// Words from place to place, on their way.
struct Spans<'a, F, B, const KIND: u8> {
    text: &'a [u8],
    table: &'a mut KnownWords,
    words: Listed<'a>,
    out: &'a mut Vec<u32>,
    learn: F,
    /// Is told how many ids there are behind each word.
    behind: B,
}

/// A strange word is looked up as if it were this, which is in no text.
const NOBODY: &[u8] = b"\xFF";

impl Strange<'_> {
    /// Says of the strange ones among so many words from number `from` on, at most [`WORDS`], where they are to be found. Which
    /// they are: bit i is word i.
    #[inline(never)]
    fn put(self, table: &mut KnownWords, places: &mut Places, from: usize, words: usize) -> u64 {
        if !table.knows(NOBODY) {
            table.insert(NOBODY, &[self.id]);
            if !table.knows(NOBODY) {
                return 0;
            }
        }
        let bits = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let (at, shift) = (from / WORDS, (from % WORDS) as u32);
        let all = bits(at) >> shift | bits(at + 1).unbounded_shl(u64::BITS - shift);
        let all = all & u64::MAX.unbounded_shr(u64::BITS - words as u32);
        let (mut rest, nobody) = (all, table.seek(NOBODY, 0, NOBODY.len()));
        while rest != 0 {
            places.set(rest.trailing_zeros() as usize, nobody);
            rest &= rest - 1;
        }
        all
    }
}

/// The code point of a word that is one character of three bytes; else 0.
#[inline(always)]
fn character(text: &[u8], start: usize, end: usize) -> u32 {
    // Words of ASCII are told by one byte, which is foreseen better than a length.
    if text[start] < 0xE0 {
        return 0;
    }
    match text[start..end] {
        [a @ 0xE0..0xF0, b, c] => {
            u32::from(a & 0x0F) << 12 | u32::from(b & 0x3F) << 6 | u32::from(c & 0x3F)
        }
        _ => 0,
    }
}

impl<F, B, const KIND: u8> Task for Spans<'_, F, B, KIND>
where
    F: FnMut(&mut KnownWords, Sought, usize, usize, &mut Vec<u32>),
    B: FnMut(usize),
{
    #[inline(always)]
    fn run<L: Look>(self) {
        let Spans { text, table, words, out, mut learn, mut behind } = self;
        let Listed { mut starts, mut ends, strange, .. } = words;
        let mut before = 0;
        // Lent by the table: texts are short, and room would have to be made for each.
        let mut room = table.take_room();
        let BlockRoom { places, stage } = &mut *room;
        while !starts.is_empty() {
            let words = starts.len().min(WORDS);
            let mut long = 0u64;
            if KIND == CHARACTERS {
                let block = starts[..words].iter().zip(&ends[..words]);
                for (at, (&start, &end)) in block.enumerate() {
                    let (start, end) = (start as usize, end as usize);
                    let character = character(text, start, end);
                    let known = table.character(character) != Packed::NONE;
                    long |= u64::from(end - start > INLINE) << at;
                    places.set(
                        at,
                        if known {
                            Sought::character(character)
                        } else {
                            table.seek(text, start, end)
                        },
                    );
                }
            } else {
                long = places.seek::<L>(text, table, &starts[..words], &ends[..words]);
            }
            if KIND == STRANGE {
                long &= !strange.put(table, places, before, words);
            }
            while long != 0 {
                table.prefetch_long(places.get(long.trailing_zeros() as usize));
                long &= long - 1;
            }
            let shape = table.shape();
            let mut done = 0;
            loop {
                let short = table.short().found();
                let found = |place: Sought| {
                    if KIND == CHARACTERS && place.is_character() {
                        return Spot::of(table.character(place.as_character()));
                    }
                    short.in_line::<L>(place)
                };
                let ids_before = out.len();
                let behind_known = |ids: usize| behind(ids_before + ids);
                let (known, ids) = write_known::<L, _>(
                    (done..words).map(|at| places.get(at)),
                    stage,
                    found,
                    behind_known,
                );
                append(out, stage, ids);
                fetch_behind(out);
                done += known;
                if done == words {
                    break;
                }
                let place = places.get(done);
                let (start, end) = (starts[done] as usize, ends[done] as usize);
                done += 1;
                let known = match place.is_long() {
                    true => table.get_long(place, &text[start..end], out),
                    false => table.get_sought::<L>(place, out),
                };
                if !known {
                    learn(table, place, start, end, out);
                }
                behind(out.len());
                // What was sought is elsewhere.
                if table.shape() != shape {
                    break;
                }
            }
            (starts, ends) = (&starts[done..], &ends[done..]);
            before += done;
        }
        table.give_room(room);
    }
}

/// Where ids will be written that come a few blocks later, and how many of them lie together.
const AHEAD: Range<usize> = 256..352;
const LINE: usize = 64 / size_of::<u32>();

/// Has memory fetched where ids will be written that come a few blocks later.
#[inline(always)]
pub(super) fn fetch_behind(out: &mut Vec<u32>) {
    if let Some(room) = out.spare_capacity_mut().get(AHEAD) {
        (0..room.len()).step_by(LINE).for_each(|at| prefetch(room, at));
    }
}

/// So few ids are copied without asking how many they are.
const FEW: usize = 16;

/// Appends the first ids of a stage. Where words are new, there are few between two of them: too few for a call.
#[inline(always)]
fn append(out: &mut Vec<u32>, stage: &[u32; STAGE], ids: usize) {
    if ids > FEW {
        out.extend_from_slice(&stage[..ids]);
    } else if let Some(few) = stage.first_chunk::<FEW>() {
        let to = out.len() + ids;
        out.extend_from_slice(few);
        out.truncate(to);
    }
}

/// Writes the ids of up to [`WORDS`] words to the front of `stage`, up to the first word that `found` does not find. How
/// many words and how many ids they are; `behind` is told the latter behind each word. For each word [`MOST`] ids are
/// written, whether it has so many or not.
#[inline(always)]
fn write_known<'a, L: Look, W>(
    words: impl ExactSizeIterator<Item = W>,
    stage: &mut [u32; STAGE],
    found: impl Fn(W) -> Spot<'a>,
    mut behind: impl FnMut(usize),
) -> (usize, usize) {
    let (all, mut at) = (words.len(), 0);
    for (done, word) in words.enumerate() {
        let Some(count) = found(word).put::<L>(stage, at) else { return (done, at) };
        at += count;
        behind(at);
    }
    (all, at)
}

#[cfg(test)]
mod tests {
    use super::super::LONGEST_KNOWN;
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    struct Seek<'a>(&'a mut Places, &'a [u8], &'a KnownWords, &'a [u32], &'a [u32], &'a mut u64);

    impl Task for Seek<'_> {
        fn run<L: Look>(self) {
            let Self(places, text, table, starts, ends, long) = self;
            *long = places.seek::<L>(text, table, starts, ends);
        }
    }

    #[test]
    fn gives_what_the_table_gives() {
        let mut table = KnownWords::new(1 << 22);
        let mut text = String::new();
        let mut words = Vec::new();
        for n in 0..3000usize {
            let start = text.len();
            text.push_str(&format!("{}{}", n % 700, "x".repeat(n % 153)));
            words.push((start, text.len(), 0));
            for c in "가\u{20000}b".chars() {
                words.push((text.len(), text.len() + c.len_utf8(), u32::from(c)));
                text.push(c);
            }
        }
        let text = text.as_bytes();
        let ids = |start: usize, end: usize| {
            let word = &text[start..end];
            word.iter().take(word.len() % 6).map(|&byte| u32::from(byte)).collect::<Vec<u32>>()
        };
        let (mut queue, mut out, mut expected, mut learned) =
            (Queue::default(), Vec::new(), Vec::new(), 0);
        for round in 0..3 {
            for (number, &(start, end, character)) in words.iter().enumerate() {
                if queue.push(text, &table, start, end, character) || number + 1 == words.len() {
                    queue.look_up(text, &mut table, &mut out, |table, start, end, out| {
                        learned += usize::from(end - start <= LONGEST_KNOWN);
                        let ids = ids(start, end);
                        table.insert(&text[start..end], &ids);
                        out.extend(ids);
                    });
                }
                expected.extend(ids(start, end));
            }
            assert_eq!(out, expected);
            assert!(round > 0 || learned > 1000);
        }
        let mut distinct: Vec<&[u8]> =
            words.iter().map(|&(start, end, _)| &text[start..end]).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(learned, distinct.iter().filter(|word| word.len() <= LONGEST_KNOWN).count());
    }

    /// Words of all lengths, up to the end of the text, of one to nine ids.
    #[test]
    fn spans_are_what_the_table_says() {
        let (mut random, mut told_strange) = (SplitMix64::new(7), 0);
        let kinds = ["a", "b", "Z", " ", "1", "é", "я", "가", "中", "🧩", "\u{7f}", "\u{80}"];
        for round in 0..60 {
            let mut below = |limit: usize| (random.next() % limit as u64) as usize;
            let (mut text, mut starts, mut ends) = (String::new(), Vec::new(), Vec::new());
            let few = 1 + below(kinds.len());
            for _ in 0..below(300) {
                starts.push(text.len() as u32);
                let most = if below(30) == 0 { LONGEST_KNOWN + 9 } else { 12 };
                for _ in 0..1 + below(most) {
                    text.push_str(kinds[below(few)]);
                }
                ends.push(text.len() as u32);
                // Some words lie apart.
                text.push_str(["", " "][below(2)]);
            }
            text.truncate(ends.last().map_or(0, |&end| end as usize));
            let bytes = text.as_bytes();
            let ids = |start: usize, end: usize| {
                let word = &bytes[start..end];
                let sum: usize = word.iter().map(|&byte| usize::from(byte)).sum();
                vec![sum as u32; 1 + (sum + word.len()) % 9]
            };
            // Which are strange, if any.
            let bits: Vec<u64> =
                (0..starts.len().div_ceil(64)).map(|_| random.next() & random.next()).collect();
            let is_strange = |at: usize| bits[at / 64] >> (at % 64) & 1 == 1;
            // Some tables have room for a few words, and soon forget them.
            let limit = [1 << 22, 1 << 12, 1 << 9, 0][round % 4];
            every_way(|way| {
                let mut table = KnownWords::new(limit);
                for (characters, strange) in
                    [(false, false), (true, false), (false, true), (true, true), (false, false)]
                {
                    if strange {
                        // It knows the same words as others.
                        table.clear();
                    }
                    let (mut out, mut behind, mut expected) = (vec![3], Vec::new(), vec![3]);
                    let told = |ids| behind.push(ids);
                    let mut encode = |_: &KnownWords, start: usize, end, out: &mut Vec<u32>| {
                        let at = starts.partition_point(|&other| (other as usize) < start);
                        // Where there is room, none is asked for.
                        assert!(limit < 1 << 22 || !strange || !is_strange(at));
                        if strange && is_strange(at) {
                            out.push(77)
                        } else {
                            out.extend(ids(start, end))
                        }
                        !(start + round).is_multiple_of(4)
                    };
                    let words = Listed { characters, ..Listed::new(&starts, &ends) };
                    let words = match strange {
                        true => Listed { strange: Strange { words: &bits, id: 77 }, ..words },
                        false => words,
                    };
                    look_up_spans(bytes, &mut table, words, &mut out, &mut encode, told);
                    let mut lengths = Vec::new();
                    for (at, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
                        match strange && is_strange(at) {
                            true => expected.push(77),
                            false => expected.extend(ids(start as usize, end as usize)),
                        }
                        lengths.push(expected.len());
                    }
                    assert_eq!((out, behind), (expected, lengths), "{way:?} {text:?}");
                    if strange {
                        told_strange += bits.iter().map(|bits| bits.count_ones()).sum::<u32>();
                        table.clear();
                    }
                }
                let mut places = Places::default();
                for (starts, ends) in starts.chunks(WORDS).zip(ends.chunks(WORDS)) {
                    let mut long = 0;
                    fastest(Seek(&mut places, bytes, &table, starts, ends, &mut long));
                    let lengths = starts.iter().zip(ends).map(|(start, end)| end - start).rev();
                    let is_long = lengths.map(|len| u64::from(len > INLINE as u32));
                    assert_eq!(long, is_long.fold(0, |bits, long| bits << 1 | long));
                    for (at, (&start, &end)) in starts.iter().zip(ends).enumerate() {
                        let sought = table.seek(bytes, start as usize, end as usize);
                        assert_eq!(places.get(at), sought, "{way:?} {:?}", &text[start as usize..]);
                    }
                }
            });
        }
        assert!(told_strange > 5_000, "{told_strange}");
    }

    /// Characters that are kept beside are known when a block begins, and forgotten in its midst.
    #[test]
    fn a_small_table_forgets_what_was_sought() {
        let ids = |word: &[u8]| vec![word.iter().map(|&byte| u32::from(byte)).sum::<u32>()];
        for limit in [0, 1 << 9, 1 << 12] {
            let (mut table, mut cleared) = (KnownWords::new(limit), 0);
            for round in 0..40u32 {
                let (mut text, mut starts, mut ends) = (String::new(), Vec::new(), Vec::new());
                for n in 0..300u32 {
                    starts.push(text.len() as u32);
                    match n % 3 {
                        0 => text.push_str(&format!("é{}", round * 300 + n)),
                        _ => text.push(char::from_u32(0xAC00 + n % 50).unwrap_or('가')),
                    }
                    ends.push(text.len() as u32);
                }
                let bytes = text.as_bytes();
                let mut encode = |_: &KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
                    out.extend(ids(&bytes[start..end]));
                    true
                };
                let words = Listed { characters: true, ..Listed::new(&starts, &ends) };
                let mut out = Vec::new();
                look_up_spans(bytes, &mut table, words, &mut out, &mut encode, |_| ());
                let expected = starts.iter().zip(&ends);
                let expected =
                    expected.flat_map(|(&start, &end)| ids(&bytes[start as usize..end as usize]));
                assert!(out.into_iter().eq(expected));
                cleared = table.shape().2;
            }
            assert!(cleared > 3, "{limit} {cleared}");
        }
    }
}
