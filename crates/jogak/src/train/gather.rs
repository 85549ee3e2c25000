//! All words of counts, cut into symbols and brought into an order that makes training fast.
//!
//! In words: sort the words by count, most frequent first, and those of one count by their bytes; then
//! write the symbols of one after the other. So a merge finds the count of a place in a table that hardly
//! ever changes from one place to the next, and its places close together: words that look the same from
//! the front are neighbours.
//!
//! Half of that order does: threads sort the words of different tables by themselves, and of a word's
//! bytes by the first seven only. So nothing that is learned may depend on it.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use super::arena::BORDER;
use super::corpus::{Cut, Start, Tally, code};
use super::parallel::{Tick, each};
use crate::count::Counts;
use crate::error::Result;

/// Counts below this stand in a key.
const SMALL: u64 = 256;
/// How many words are read between two ticks: about a millisecond.
const WORDS_PER_TICK: usize = 1 << 14;
/// Words that are looked up at once, so that the processor waits for several of them at a time.
const GROUP: usize = 16;

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
    /// How many slots neighbouring words of the same count have, and the count.
    runs: Vec<(usize, u64)>,
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
        let mut plan = Plan { length: Some(0), ..Plan::default() };
        for (number, (word, count)) in shares[share].clone().enumerate() {
            if number.is_multiple_of(WORDS_PER_TICK) {
                tick()?;
            }
            plan.add(word, count, start);
        }
        plan.sort(start);
        ControlFlow::Continue(plan)
    });
    let plans = plans.continue_value().unwrap_or_default();
    let mut cut = Cut { distinct_words: counts.len() as u64, ..Cut::default() };
    let mut sizes: Vec<usize> = Vec::with_capacity(plans.len());
    for plan in &plans {
        cut.total_words = cut.total_words.saturating_add(plan.total_words);
        cut.lengthen(plan.length)?;
        for &(slots, count) in &plan.runs {
            cut.arena.reserve(slots, count)?;
        }
        sizes.push(plan.runs.iter().map(|(slots, _)| slots).sum());
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
            characters + usize::from(marker.own().is_some() && characters > 0)
        }
    }
}

impl<'a> Plan<'a> {
    fn add(&mut self, word: &'a [u8], count: u64, start: &Start<'_>) {
        match count {
            1..SMALL => self.others.push((key(word, count), word)),
            _ => self.frequent.push((count, word)),
        }
        self.total_words = self.total_words.saturating_add(count);
        let longer = count.checked_mul(symbols(word, start) as u64);
        self.length = self.length.and_then(|length| length.checked_add(longer?));
    }

    /// All words with their counts, in order.
    fn words(&self) -> impl Iterator<Item = (&'a [u8], u64)> {
        let frequent = self.frequent.iter().map(|&(count, word)| (word, count));
        let others = self.others.chunks(GROUP).flat_map(|group| {
            let near = group.iter().fold(0, |near, (_, word)| near ^ word.first().unwrap_or(&0));
            std::hint::black_box(near);
            group.iter().map(|&(key, word)| (word, count(key)))
        });
        frequent.chain(others)
    }

    /// Sorts the words.
    fn sort(&mut self, start: &Start<'_>) {
        self.frequent.sort_unstable_by(|a, b| b.cmp(a));
        self.others.sort_unstable_by_key(|&(key, _)| key);
        let mut runs: Vec<(usize, u64)> = Vec::new();
        for (word, count) in self.words() {
            let slots = symbols(word, start) + 1;
            match runs.last_mut() {
                Some(run) if run.1 == count => run.0 += slots,
                _ => runs.push((slots, count)),
            }
        }
        self.runs = runs;
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
            // Counts hold nothing but text, so that no word is left out here.
            let mut end = at;
            marker.for_each(std::str::from_utf8(word).unwrap_or_default(), |sign, _, _| {
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
