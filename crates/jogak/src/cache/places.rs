//! Words that are looked for, many at a time.
//!
//! In words: where a word has to be is arithmetic on its bytes and its length ([`Found::halves`]). The bytes of eight words
//! are put side by side, the arithmetic is done with all eight in the same steps, which the compiler turns into vectors, and
//! then their lines are asked for.

use super::INLINE;
use super::found::{Found, Sought};
use super::known::KnownWords;
use super::packed::MOST;
use crate::scan::{EIGHT, Look};

/// Words to a block.
pub(super) const WORDS: usize = 64;

/// Room for the ids of a block.
pub(super) const STAGE: usize = WORDS * MOST;

/// What is needed to look up a block.
#[derive(Debug, Clone)]
pub(super) struct BlockRoom {
    pub(super) places: Places,
    /// What it holds between two blocks means nothing.
    pub(super) stage: [u32; STAGE],
}

impl Default for BlockRoom {
    fn default() -> Self {
        Self { places: Places::default(), stage: [0; STAGE] }
    }
}

/// What to look for, to find up to [`WORDS`] words.
#[derive(Debug, Clone)]
pub(super) struct Places {
    keys: [[u64; 2]; WORDS],
    lines: [u32; WORDS],
}

impl Default for Places {
    fn default() -> Self {
        Self { keys: [[0; 2]; WORDS], lines: [0; WORDS] }
    }
}

impl Places {
    /// What to look for, to find a word.
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Sought {
        let [low, high] = self.keys[at];
        Sought { low, high, line: self.lines[at] }
    }

    /// Says it of one word.
    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, Sought { low, high, line }: Sought) {
        self.keys[at] = [low, high];
        self.lines[at] = line;
    }

    /// Says where the words are that begin at `starts` and end at `ends`, up to [`WORDS`] of them, and has memory fetched.
    /// Which of them have more than 15 bytes: bit i is word i.
    #[inline(always)]
    pub(super) fn seek<L: Look>(
        &mut self,
        text: &[u8],
        table: &KnownWords,
        starts: &[u32],
        ends: &[u32],
    ) -> u64 {
        let short = table.short().found();
        let mut long = 0;
        let (starts, rest) = starts.as_chunks::<EIGHT>();
        let (ends, rest_ends) = ends.as_chunks::<EIGHT>();
        for (number, (starts, ends)) in starts.iter().zip(ends).enumerate() {
            let keys = &mut self.keys.as_chunks_mut().0[number];
            let lines = &mut self.lines.as_chunks_mut().0[number];
            let longest = seek_eight::<L>(short, text, starts, ends, keys, lines);
            lines.iter().for_each(|&line| short.prefetch(line));
            if longest.is_some_and(|longest| longest <= INLINE) {
                continue;
            }
            // Some are long, or the text ends here.
            for (at, (&start, &end)) in (number * EIGHT..).zip(starts.iter().zip(ends)) {
                if longest.is_none() || is_long(start, end) {
                    long |= self.seek_one(at, text, table, start, end);
                }
            }
        }
        let done = starts.len() * EIGHT;
        for (at, (&start, &end)) in (done..).zip(rest.iter().zip(rest_ends)) {
            long |= self.seek_one(at, text, table, start, end);
        }
        long
    }

    /// The same for one word.
    #[inline(always)]
    fn seek_one(
        &mut self,
        at: usize,
        text: &[u8],
        table: &KnownWords,
        start: u32,
        end: u32,
    ) -> u64 {
        self.set(at, table.seek(text, start as usize, end as usize));
        u64::from(is_long(start, end)) << at
    }
}

/// Whether a word has more than 15 bytes.
#[inline(always)]
fn is_long(start: u32, end: u32) -> bool {
    (end - start) as usize > INLINE
}

/// The same for eight words: how long the longest of them is, in bytes. What is said of words of more than 15 means nothing. None
/// if one of them begins less than 16 bytes before the end of the text.
#[inline(always)]
fn seek_eight<L: Look>(
    short: Found<'_>,
    text: &[u8],
    starts: &[u32; EIGHT],
    ends: &[u32; EIGHT],
    keys: &mut [[u64; 2]; EIGHT],
    lines: &mut [u32; EIGHT],
) -> Option<usize> {
    let (low, high) = L::sixteens(text, starts)?;
    let mut longest = 0;
    for at in 0..EIGHT {
        let len = ends[at].wrapping_sub(starts[at]);
        longest = longest.max(len);
        let bits = len.wrapping_mul(8);
        let low = low[at] & u64::MAX.unbounded_shr(64u32.saturating_sub(bits));
        let high = high[at] & u64::MAX.unbounded_shr(128u32.saturating_sub(bits));
        let Sought { low, high, line } = short.halves(low, high | u64::from(len) << 56, len);
        keys[at] = [low, high];
        lines[at] = line;
    }
    Some(longest as usize)
}
