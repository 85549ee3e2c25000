//! All words of a corpus in one array, where merging is two writes and no word is ever scanned.
//!
//! Every symbol of the start alphabet owns one slot; a `BORDER` slot stands between words. A symbol
//! that spans many slots writes its id to its first and its last one and leaves the rest `INSIDE`:
//!
//! ```text
//! l o w _ l o w e r _        after (l,o): lo lo w _ lo lo w e r _
//!                            after (lo,w): low . low _ low . low e r _
//! ```
//!
//! So the symbol right of one that starts at `p` starts at `p + width`, and the one left of it ends
//! at `p - 1`: no links, no shifting, one cache line.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering};

use super::parallel::share;
use crate::error::{Error, Result};
use crate::scan::{prefetch, wish_large_pages};
use crate::symbols::UNKNOWN;

/// Between words.
pub(super) const BORDER: u32 = u32::MAX;
/// A slot that lies within a symbol.
const INSIDE: u32 = u32::MAX - 1;
/// Slots from here on hold no symbol that could be part of a pair.
const NO_SYMBOL: u32 = UNKNOWN;

/// Long passes ask whether to go on each time they have come this many slots further; that is about
/// a millisecond.
pub(super) const SLOTS_PER_TICK: usize = 1 << 18;

/// So many places ahead, slots are asked for.
pub(super) const AHEAD: usize = 24;

/// Words as slots, and the count of each.
#[derive(Debug)]
pub(super) struct Arena {
    /// The slots as they are written word by word; empty from [`Arena::finish`] on.
    words: Vec<u32>,
    /// The slots, for threads that work on different words at the same time. No order among accesses
    /// is asked for: reading and writing them costs what it costs in a plain array.
    slots: Vec<AtomicU32>,
    /// Neighbouring words of the same count, as (end position, count). Words come sorted by count,
    /// so there are few and finding the weight of a position seldom looks further than one.
    runs: Vec<(u32, u64)>,
    /// For every block of 64 positions, the run that its first position lies in.
    blocks: Vec<u32>,
}

impl Default for Arena {
    fn default() -> Self {
        // A border in front, so that every position has a left neighbour.
        Self { words: vec![BORDER], slots: Vec::new(), runs: Vec::new(), blocks: Vec::new() }
    }
}

impl Arena {
    /// Appends a symbol of the word that is being written.
    #[inline]
    pub(super) fn push(&mut self, symbol: u32) {
        self.words.push(symbol);
    }

    /// Ends the word that was being written.
    pub(super) fn end_word(&mut self, count: u64) -> Result<()> {
        self.words.push(BORDER);
        self.end_run(count)
    }

    /// The words up to here, from where the last run ended, occur `count` times.
    fn end_run(&mut self, count: u64) -> Result<()> {
        self.end_run_at(self.words.len(), count)
    }

    fn end_run_at(&mut self, end: usize, count: u64) -> Result<()> {
        let end = u32::try_from(end).map_err(|_| Error::TooLarge {
            what: "the table of word symbols",
            size: end as u64,
            limit: u64::from(u32::MAX),
        })?;
        match self.runs.last_mut() {
            Some(run) if run.1 == count => run.0 = end,
            _ => self.runs.push((end, count)),
        }
        Ok(())
    }

    /// Makes known that the next `slots` slots will hold words that occur `count` times; see
    /// [`Arena::rooms`].
    pub(super) fn reserve(&mut self, slots: usize, count: u64) -> Result<()> {
        let start = self.runs.last().map_or(1, |&(end, _)| end as usize);
        self.end_run_at(start + slots, count)
    }

    /// The slots that were reserved, in pieces of these sizes, to be written.
    pub(super) fn rooms(&mut self, sizes: &[usize]) -> Vec<&mut [u32]> {
        // Taken zeroed from the system, and so not touched before they are written.
        self.words = vec![0; sizes.iter().sum::<usize>() + 1];
        wish_large_pages(&mut self.words);
        self.words[0] = BORDER;
        let mut rest = &mut self.words[1..];
        let mut rooms = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let (room, behind) = rest.split_at_mut(size);
            rooms.push(room);
            rest = behind;
        }
        rooms
    }

    /// Appends the words of another arena.
    pub(super) fn append(&mut self, other: Self) -> Result<()> {
        self.words.reserve_exact(other.words.len());
        // Without the border in front.
        let mut start = 1;
        for (end, count) in other.runs {
            self.words.extend_from_slice(&other.words[start..end as usize]);
            self.end_run(count)?;
            start = end as usize;
        }
        Ok(())
    }

    /// Gives every symbol its number, on up to `threads` threads; before [`Arena::finish`].
    pub(super) fn renumber(&mut self, threads: usize, number: impl Fn(u32) -> u32 + Sync) {
        let threads = threads.min(self.words.len() / SLOTS_PER_TICK);
        let parts = self.words.chunks_mut(SLOTS_PER_TICK);
        share(
            threads,
            parts,
            || (),
            |(), part| {
                for slot in part.iter_mut().filter(|slot| **slot != BORDER) {
                    *slot = number(*slot);
                }
            },
        );
    }

    /// Must be called once, after the last word.
    pub(super) fn finish(&mut self) {
        self.words.shrink_to_fit();
        // In place.
        self.slots = std::mem::take(&mut self.words).into_iter().map(AtomicU32::new).collect();
        let mut run = 0u32;
        self.blocks = (0..self.slots.len())
            .step_by(64)
            .map(|position| {
                while self.runs.get(run as usize).is_some_and(|&(end, _)| end as usize <= position)
                {
                    run += 1;
                }
                run
            })
            .collect();
    }

    /// Number of slots; before [`Arena::finish`].
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The same, from then on.
    pub(super) fn size(&self) -> usize {
        self.slots.len()
    }

    /// The slot at `position`.
    #[inline]
    pub(super) fn slot(&self, position: usize) -> u32 {
        self.slots[position].load(Ordering::Relaxed)
    }

    /// Whether a slot's value is a symbol that can be part of a pair.
    #[inline]
    pub(super) fn is_symbol(slot: u32) -> bool {
        slot < NO_SYMBOL
    }

    /// Whether `left` starts at `position` with `right` behind it.
    #[inline]
    pub(super) fn holds(&self, position: u32, left: u32, left_width: u32, right: u32) -> bool {
        self.slot(position as usize) == left
            && self
                .slots
                .get((position + left_width) as usize)
                .is_some_and(|slot| slot.load(Ordering::Relaxed) == right)
    }

    /// Says that the slots at a place will be read soon.
    #[inline(always)]
    pub(super) fn ask(&self, place: u32) {
        prefetch(&self.slots, place as usize);
    }

    /// Writes `symbol` over `position..position + left_width + right_width`.
    #[inline]
    pub(super) fn write(&self, position: u32, left_width: u32, right_width: u32, symbol: u32) {
        let start = position as usize;
        let middle = start + left_width as usize;
        let last = middle + right_width as usize - 1;
        self.slots[middle - 1].store(INSIDE, Ordering::Relaxed);
        self.slots[middle].store(INSIDE, Ordering::Relaxed);
        self.slots[start].store(symbol, Ordering::Relaxed);
        self.slots[last].store(symbol, Ordering::Relaxed);
    }

    /// The count of the word at `position`, and the position at which that count ends.
    #[inline]
    pub(super) fn weight(&self, position: u32) -> (u64, u32) {
        let mut run = self.blocks[position as usize / 64] as usize;
        while self.runs[run].0 <= position {
            run += 1;
        }
        (self.runs[run].1, self.runs[run].0)
    }

    /// Calls `pair(position, left, right, weight)` for every two neighbours, left to right.
    pub(super) fn for_each_pair(&self, widths: &[u32], pair: impl FnMut(u32, u32, u32, u64)) {
        let all = 0..self.slots.len();
        let _ = self.while_each_pair(widths, &all, || ControlFlow::Continue(()), pair);
    }

    /// [`Arena::for_each_pair`] for the words of a part, as long as `tick`, which is called now and
    /// then, says so.
    pub(super) fn while_each_pair(
        &self,
        widths: &[u32],
        part: &Range<usize>,
        mut tick: impl FnMut() -> ControlFlow<()>,
        mut pair: impl FnMut(u32, u32, u32, u64),
    ) -> ControlFlow<()> {
        let mut position = part.start;
        let (mut weight, mut weight_end) = (0, 0);
        while position < part.end {
            tick()?;
            let stretch = part.end.min(position + SLOTS_PER_TICK);
            while position < stretch {
                let left = self.slot(position);
                if !Self::is_symbol(left) {
                    position += 1;
                    continue;
                }
                let next = position + widths[left as usize] as usize;
                let right = self.slot(next);
                if Self::is_symbol(right) {
                    if position >= weight_end {
                        let (count, end) = self.weight(position as u32);
                        (weight, weight_end) = (count, end as usize);
                    }
                    pair(position as u32, left, right, weight);
                }
                position = next;
            }
        }
        ControlFlow::Continue(())
    }

    /// Up to `threads` parts of about the same size, that have all words between them.
    pub(super) fn parts(&self, threads: usize) -> Vec<Range<usize>> {
        let count = threads.min(self.slots.len() / SLOTS_PER_TICK).max(1);
        let mut start = 0;
        (1..=count)
            .map(|part| {
                let rest = &self.slots[self.slots.len() * part / count..];
                let border = rest
                    .iter()
                    .position(|slot| slot.load(Ordering::Relaxed) == BORDER)
                    .unwrap_or(rest.len());
                let end = self.slots.len() - rest.len() + border;
                std::mem::replace(&mut start, end)..end
            })
            .collect()
    }

    /// Calls `word(symbols, count)` for every word, in order; [`UNKNOWN`] stands for a character
    /// outside the alphabet.
    pub(super) fn for_each_word(&self, widths: &[u32], mut word: impl FnMut(&[u32], u64)) {
        let mut symbols = Vec::new();
        let mut position = 1;
        while position < self.slots.len() {
            match self.slot(position) {
                BORDER => {
                    word(&symbols, self.weight(position as u32).0);
                    symbols.clear();
                    position += 1;
                }
                UNKNOWN => {
                    symbols.push(UNKNOWN);
                    position += 1;
                }
                symbol => {
                    symbols.push(symbol);
                    position += widths[symbol as usize] as usize;
                }
            }
        }
    }
}
