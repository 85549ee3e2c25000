//! All words of counts, cut into symbols and brought into an order that makes training fast.
//!
//! In words: sort the words by count, most frequent first, and those of one count by their bytes; then
//! write the symbols of one after the other. So a merge finds the count of a place in a table that hardly
//! ever changes from one place to the next, and its places close together: words that look the same from
//! the front are neighbours.
//!
//! Half of that order does: threads sort the words of different tables by themselves, and of a word's
//! bytes by the first four and a half only. So nothing that is learned may depend on it.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use super::arena::BORDER;
use super::corpus::{Cut, Start, code};
use super::parallel::{Tick, each};
use super::radix::sort_by_upper_bits;
use super::tally::Tally;
use crate::count::Counts;
use crate::error::Result;
use crate::scan::{prefetch, wish_large_pages};

/// Counts below this stand in a key.
const SMALL: u64 = 256;
/// How many words are read between two ticks: about a millisecond.
const WORDS_PER_TICK: usize = 1 << 14;
/// So many words ahead, the text of a word is asked for: in order, words lie all over memory.
const AHEAD: usize = 24;

/// A word of a small count. Keys ascend from greater counts to smaller ones, and from smaller bytes to
/// greater ones.
type Keyed<'a> = (u64, &'a [u8]);

/// What a thread knows of its words before it writes them.
#[derive(Debug, Default)]
struct Plan<'a> {
    /// Words of large counts, most frequent first.
    frequent: Vec<(u64, &'a [u8])>,
    /// All others, in order.
    others: Vec<Keyed<'a>>,
    /// How many slots the words of each small count have together.
    slots: Vec<usize>,
    total_words: u64,
    /// Symbols times word counts; None if that is too much.
    length: Option<u64>,
}

fn key(word: &[u8], count: u64) -> u64 {
    let mut bytes = [0; 8];
    bytes[0] = (SMALL - count) as u8;
    let length = word.len().min(7);
    bytes[1..=length].copy_from_slice(&word[..length]);
    u64::from_be_bytes(bytes)
}

/// The count that a key was made with.
fn count(key: u64) -> u64 {
    SMALL - (key >> 56)
}

/// Cuts all words, on up to `threads` threads. `tick` is called now and then; if it breaks, that is
/// written down, and the work still done, so that the alphabet is whole.
pub(super) fn gather(
    counts: &Counts,
    start: &Start<'_>,
    threads: usize,
    mut tick: impl FnMut() -> ControlFlow<()>,
) -> Result<Cut> {
    let mut interrupted = false;
    let mut tick = || {
        interrupted = interrupted || tick().is_break();
        ControlFlow::Continue(())
    };
    let shares = counts.shares(threads);
    let plans = each(shares.len(), &mut tick, |share, tick| {
        let mut plan = Plan::new(counts.len() / shares.len());
        for (number, (word, count)) in shares[share].clone().enumerate() {
            if number.is_multiple_of(WORDS_PER_TICK) {
                tick()?;
            }
            plan.add(word, count, start);
        }
        plan.sort();
        ControlFlow::Continue(plan)
    });
    let plans = plans.continue_value().unwrap_or_default();
    let mut cut = Cut { distinct_words: counts.len() as u64, ..Cut::default() };
    let mut sizes: Vec<usize> = Vec::with_capacity(plans.len());
    for plan in &plans {
        cut.total_words = cut.total_words.saturating_add(plan.total_words);
        cut.lengthen(plan.length)?;
        let mut size = 0;
        for (slots, count) in plan.runs(start) {
            cut.arena.reserve(slots, count)?;
            size += slots;
        }
        sizes.push(size);
    }
    let rooms: Vec<_> = cut.arena.rooms(&sizes).into_iter().map(Mutex::new).collect();
    let tallies = each(shares.len(), &mut tick, |share, tick| {
        let mut room = rooms[share].lock().unwrap_or_else(PoisonError::into_inner);
        plans[share].write(start, &mut room, tick)
    });
    drop(rooms);
    for tally in tallies.continue_value().into_iter().flatten() {
        cut.tally.append(&tally);
    }
    cut.interrupted = interrupted;
    Ok(cut)
}

/// How many symbols a word has.
fn symbols(word: &[u8], start: &Start<'_>) -> usize {
    match start {
        Start::Bytes(_) => word.len(),
        Start::Chars(marker, ..) => {
            let characters = word.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
            characters + usize::from(marker.own().is_some() && !word.is_empty())
        }
    }
}

impl<'a> Plan<'a> {
    /// For about so many words.
    fn new(words: usize) -> Self {
        // Tables differ by little.
        let mut others = Vec::with_capacity(words + words / 64);
        wish_large_pages(&mut others);
        Self { length: Some(0), slots: vec![0; SMALL as usize], others, ..Self::default() }
    }

    fn add(&mut self, word: &'a [u8], count: u64, start: &Start<'_>) {
        let symbols = symbols(word, start);
        match count {
            1..SMALL => {
                self.slots[count as usize] += symbols + 1;
                self.others.push((key(word, count), word));
            }
            _ => self.frequent.push((count, word)),
        }
        self.total_words = self.total_words.saturating_add(count);
        let longer = count.checked_mul(symbols as u64);
        self.length = self.length.and_then(|length| length.checked_add(longer?));
    }

    /// All words with their counts, in order.
    fn words(&self) -> impl Iterator<Item = (&'a [u8], u64)> {
        let frequent = self.frequent.iter().map(|&(count, word)| (word, count));
        let others = self.others.iter().enumerate().map(|(number, &(key, word))| {
            if let Some((_, word)) = self.others.get(number + AHEAD) {
                prefetch(word, 0);
            }
            (word, count(key))
        });
        frequent.chain(others)
    }

    /// Sorts the words.
    fn sort(&mut self) {
        self.frequent.sort_unstable_by(|a, b| b.cmp(a));
        sort_by_upper_bits(&mut self.others, 4, |&(key, _)| key);
    }

    /// How many slots neighbouring words have, and the count of each of them.
    fn runs(&self, start: &Start<'_>) -> impl Iterator<Item = (usize, u64)> {
        let frequent = self.frequent.iter().map(|&(count, word)| (symbols(word, start) + 1, count));
        let others = self.slots.iter().enumerate().rev().filter(|&(_, &slots)| slots > 0);
        frequent.chain(others.map(|(count, &slots)| (slots, count as u64)))
    }

    /// Writes all words, as codes, into the slots that were laid out.
    fn write(&self, start: &Start<'_>, room: &mut [u32], tick: Tick<'_>) -> ControlFlow<(), Tally> {
        let mut tally = Tally::default();
        let mut at = 0;
        for (number, (word, count)) in self.words().enumerate() {
            if number.is_multiple_of(WORDS_PER_TICK) {
                tick()?;
            }
            at = write(word, count, start, room, at, &mut tally);
        }
        ControlFlow::Continue(tally)
    }
}

/// The first character of a word, and where it ends. Counts mostly hold text, and nobody asks whether a word is
/// UTF-8: of any bytes there are as many characters as bytes that continue none, as [`symbols`] says, and
/// what is no character is U+FFFD.
#[inline]
fn first(word: &[u8]) -> Option<(char, usize)> {
    let low = |byte: u8| u32::from(byte & 0x3F);
    let (code, end) = match *word {
        [] => return None,
        [a @ ..0x80, ..] => (u32::from(a), 1),
        [a @ 0xC0..0xE0, b @ 0x80..0xC0, ..] => (u32::from(a & 0x1F) << 6 | low(b), 2),
        [a @ 0xE0..0xF0, b @ 0x80..0xC0, c @ 0x80..0xC0, ..] => {
            (u32::from(a & 0x0F) << 12 | low(b) << 6 | low(c), 3)
        }
        [a @ 0xF0..=0xFF, b @ 0x80..0xC0, c @ 0x80..0xC0, d @ 0x80..0xC0, ..] => {
            (u32::from(a & 7) << 18 | low(b) << 12 | low(c) << 6 | low(d), 4)
        }
        [0x80..0xC0, ..] => return first_behind_strays(word),
        [_, ..] => (u32::MAX, 1),
    };
    Some((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), end))
}

/// The same behind bytes that continue no character.
#[cold]
fn first_behind_strays(word: &[u8]) -> Option<(char, usize)> {
    let strays = word.iter().take_while(|&&byte| byte & 0xC0 == 0x80).count();
    first(&word[strays..]).map(|(character, end)| (character, strays + end))
}

/// Writes one word from slot `at` on, with the border behind it, and returns what comes next.
#[inline]
fn write(
    word: &[u8],
    count: u64,
    start: &Start<'_>,
    room: &mut [u32],
    at: usize,
    tally: &mut Tally,
) -> usize {
    let end = match start {
        Start::Bytes(ids) => {
            let end = at + word.len();
            for (slot, &byte) in room[at..end].iter_mut().zip(word) {
                *slot = ids[usize::from(byte)];
                tally.add(u32::from(byte), count);
            }
            end
        }
        Start::Chars(marker, ..) => {
            let (mut end, mut read) = (at, 0);
            let next = || {
                let (character, end) = first(&word[read..])?;
                read += end;
                Some((character, read))
            };
            marker.for_each_of(next, word.len(), |sign, _, _| {
                let code = code(sign);
                room[end] = code;
                tally.add(code, count);
                end += 1;
            });
            end
        }
    };
    room[end] = BORDER;
    end + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::symbols::Marker;
    use crate::train::AlphabetLimit;

    #[test]
    fn characters_are_read_as_they_are_written() {
        let mut utf8 = [0; 4];
        for character in '\0'..=char::MAX {
            let word = character.encode_utf8(&mut utf8).as_bytes();
            assert_eq!(first(word), Some((character, word.len())));
        }
        assert_eq!(first(b""), None);
    }

    /// Whoever counts bytes of his own gets U+FFFD for what is no text, and every word has the room that was
    /// laid out for it.
    #[test]
    fn any_bytes_have_as_many_symbols_as_was_said() {
        let mut random = SplitMix64::new(17);
        let text = || String::from("##");
        let markers = [
            Marker::None,
            Marker::Continuation { text: text() },
            Marker::Prefix { text: text() },
            Marker::Suffix { text: text(), joined: true },
            Marker::Suffix { text: text(), joined: false },
        ];
        let mut tally = Tally::default();
        for round in 0..20_000 {
            let length = random.next() % 8;
            let byte = |random: u64| match random % 3 {
                0 => random.to_be_bytes()[0],
                1 => [0x80, 0xBF, 0xC3, 0xE3, 0xEA, 0xF0, 0xFF][(random >> 8) as usize % 7],
                _ => b'a',
            };
            let word: Vec<u8> = (0..length).map(|_| byte(random.next())).collect();
            let start = Start::Chars(&markers[round % markers.len()], &AlphabetLimit::All, false);
            let slots = symbols(&word, &start) + 1;
            let mut room = vec![0; slots];
            let end = write(&word, 1, &start, &mut room, 0, &mut tally);
            assert_eq!(end, slots, "{word:X?}");
        }
    }
}
