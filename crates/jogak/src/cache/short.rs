//! Words of up to 15 bytes and three ids, packed close: what most look-ups of a text find.
//!
//! Tables of words are larger than the fast memory of a processor, so that every byte that a look-up does
//! not touch counts. A word of up to seven bytes takes 16 bytes, one of up to 15 takes 32; four or two of
//! them fill a line of the cache, and are compared at once.

use std::hint::select_unpredictable;

use super::{INLINE, fold, key};
use crate::scan::prefetch;

/// Longest word of the narrow table, in bytes.
const NARROW: usize = 7;

/// Up to three ids of 20 bits, the first one lowest, and their number in the top bits; 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Packed(u64);

const ID_BITS: u32 = 20;
const COUNT_SHIFT: u32 = 60;

impl Packed {
    /// Ids to a word, at most.
    pub(super) const MOST: usize = 3;
    /// Not known.
    pub(super) const NONE: Packed = Packed(0);
    /// Known, and kept elsewhere.
    pub(super) const ELSEWHERE: Packed = Packed(15 << COUNT_SHIFT);

    /// None if they do not fit.
    pub(super) fn new(ids: &[u32]) -> Option<Packed> {
        if !(1..=Self::MOST).contains(&ids.len()) || ids.iter().any(|&id| id >> ID_BITS != 0) {
            return None;
        }
        let packed = ids.iter().rev().fold(0, |packed, &id| packed << ID_BITS | u64::from(id));
        Some(Packed((ids.len() as u64) << COUNT_SHIFT | packed))
    }

    /// How many ids there are; None if they are not here.
    #[inline(always)]
    pub(super) fn count(self) -> Option<usize> {
        let count = (self.0 >> COUNT_SHIFT) as usize;
        (count.wrapping_sub(1) < Self::MOST).then_some(count)
    }

    /// All places for ids.
    #[inline(always)]
    pub(super) fn ids(self) -> [u32; Self::MOST] {
        const MASK: u64 = (1 << ID_BITS) - 1;
        let id = |place: u32| (self.0 >> (place * ID_BITS) & MASK) as u32;
        [id(0), id(1), id(2)]
    }
}

/// One line of the cache: four narrow entries, a key and its ids each; or two wide ones, the two halves of
/// the key, the ids and nothing. The key 0 marks a free entry: no word has it.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

const EMPTY: Line = Line([0; 8]);

/// Lines for one width: a power of two of them.
#[derive(Debug, Clone, Copy)]
struct Region {
    first: usize,
    lines: usize,
    used: usize,
}

impl Region {
    /// Which line a hash belongs to.
    #[inline(always)]
    fn home(self, hash: u64) -> usize {
        self.first + ((u128::from(hash) * self.lines as u128) >> 64) as usize
    }

    fn behind(self, line: usize) -> usize {
        if line + 1 == self.first + self.lines { self.first } else { line + 1 }
    }

    fn is_full(self, width: usize) -> bool {
        self.used * 8 >= self.lines * (8 / width) * 5
    }
}

/// Eight-byte parts of a narrow entry and of a wide one.
const WIDTHS: [usize; 2] = [2, 4];

/// A word that is looked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sought {
    low: u64,
    high: u64,
    line: usize,
    narrow: bool,
}

impl Sought {
    /// A word that is [elsewhere](super::long), by its hash.
    #[inline(always)]
    pub(super) fn long(hash: u64) -> Self {
        Self { low: hash, line: usize::MAX, ..Self::default() }
    }

    /// Whether it is one of those.
    #[inline(always)]
    pub(super) fn is_long(self) -> bool {
        self.line == usize::MAX
    }

    /// Its hash.
    #[inline(always)]
    pub(super) fn as_long(self) -> u64 {
        self.low
    }
}

/// Words of up to 15 bytes: first the lines of the narrow ones, then those of the wide ones.
#[derive(Debug)]
pub(super) struct ShortWords {
    lines: Vec<Line>,
    narrow: Region,
    wide: Region,
    /// Lines, at most.
    limit: usize,
}

impl ShortWords {
    /// Empty, with room for words of these lengths in bytes at least.
    pub(super) fn new(lengths: impl Iterator<Item = usize>, limit: usize) -> Self {
        let (mut narrow, mut wide) = (0, 0);
        for length in lengths {
            narrow += usize::from(length <= NARROW);
            wide += usize::from(length > NARROW && length <= INLINE);
        }
        // At most half full.
        let (narrow, wide) = (narrow.div_ceil(2), wide);
        let lines = |count: usize| count.next_power_of_two().max(16);
        let words = Self::with_lines(lines(narrow), lines(wide), limit / size_of::<Line>());
        Self { limit: words.limit.max(words.lines.len()), ..words }
    }

    fn with_lines(narrow: usize, wide: usize, limit: usize) -> Self {
        Self {
            lines: vec![EMPTY; narrow + wide],
            narrow: Region { first: 0, lines: narrow, used: 0 },
            wide: Region { first: narrow, lines: wide, used: 0 },
            limit,
        }
    }

    /// Whether a word may be refused.
    pub(super) fn is_full(&self) -> bool {
        let full = |region: Region, width| {
            region.is_full(width) && self.lines.len() + region.lines > self.limit
        };
        full(self.narrow, WIDTHS[0]) || full(self.wide, WIDTHS[1])
    }

    /// What it looks like; words are to be sought anew if that changes.
    #[inline(always)]
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.narrow.lines, self.wide.lines)
    }

    /// What to look for, to find `text[start..end]`. Nothing is found of a word of more than 15 bytes.
    #[inline(always)]
    pub(super) fn seek(&self, text: &[u8], start: usize, end: usize) -> Sought {
        let key = if end - start > INLINE { u128::MAX } else { key(text, start, end) };
        let hash = fold(key);
        let (low, high) = (key as u64, (key >> 64) as u64);
        let narrow = end - start <= NARROW;
        // The first seven bytes, and the length from the other half.
        let low = select_unpredictable(narrow, low | high, low);
        let line = select_unpredictable(narrow, self.narrow.home(hash), self.wide.home(hash));
        Sought { low, high, line, narrow }
    }

    /// Has the line fetched where the word should be.
    #[inline(always)]
    pub(super) fn prefetch(&self, sought: Sought) {
        prefetch(&self.lines, sought.line);
    }

    /// The ids of a word if they are in that line.
    #[inline(always)]
    pub(super) fn in_line(&self, sought: Sought) -> Packed {
        let Some(Line(line)) = self.lines.get(sought.line) else { return Packed::NONE };
        // Which entry it is cannot be foreseen: no branches.
        let (mut narrow, mut wide) = (0, 0);
        for entry in line.as_chunks::<2>().0 {
            narrow |= select_unpredictable(entry[0] == sought.low, entry[1], 0);
        }
        for entry in line.as_chunks::<4>().0 {
            let same = (entry[0] ^ sought.low) | (entry[1] ^ sought.high);
            wide |= select_unpredictable(same == 0, entry[2], 0);
        }
        Packed(select_unpredictable(sought.narrow, narrow, wide))
    }

    /// The ids of a word.
    pub(super) fn get(&self, sought: Sought) -> Packed {
        let found = self.in_line(sought);
        if found != Packed::NONE {
            return found;
        }
        let (region, width) = self.region(sought.narrow);
        let mut at = sought.line;
        // A line with a free entry is the last one.
        while self.lines[at].0.chunks(width).all(|entry| entry[..width / 2] != [0, 0][..width / 2])
        {
            at = region.behind(at);
            let found = self.in_line(Sought { line: at, ..sought });
            if found != Packed::NONE {
                return found;
            }
        }
        Packed::NONE
    }

    fn region(&self, narrow: bool) -> (Region, usize) {
        if narrow { (self.narrow, WIDTHS[0]) } else { (self.wide, WIDTHS[1]) }
    }

    /// Enters a word of 1 to 15 bytes that is not there, unless it [is full](Self::is_full).
    pub(super) fn insert(&mut self, word: &[u8], ids: Packed) {
        if self.is_full() {
            return;
        }
        let (region, width) = self.region(word.len() <= NARROW);
        if region.is_full(width) {
            self.grow(word.len() <= NARROW);
        }
        let sought = self.seek(word, 0, word.len());
        self.enter(sought, ids.0);
    }

    fn enter(&mut self, sought: Sought, ids: u64) {
        let (region, width) = self.region(sought.narrow);
        let mut at = sought.line;
        loop {
            let free = self.lines[at].0.chunks_mut(width);
            let free = free.into_iter().find(|entry| entry[..width / 2] == [0, 0][..width / 2]);
            if let Some(entry) = free {
                if sought.narrow {
                    entry.copy_from_slice(&[sought.low, ids]);
                } else {
                    entry.copy_from_slice(&[sought.low, sought.high, ids, 0]);
                }
                break;
            }
            at = region.behind(at);
        }
        if sought.narrow { self.narrow.used += 1 } else { self.wide.used += 1 }
    }

    /// Doubles one of the regions.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, narrow: bool) {
        let (narrow_lines, wide_lines) = self.shape();
        let larger = Self::with_lines(
            narrow_lines << usize::from(narrow),
            wide_lines << usize::from(!narrow),
            self.limit,
        );
        let old = std::mem::replace(self, larger);
        let (narrow_lines, wide_lines) = old.lines.split_at(narrow_lines);
        for &[low, ids] in narrow_lines.iter().flat_map(|line| line.0.as_chunks::<2>().0) {
            if low != 0 {
                let hash = fold(u128::from(low & LOW_SEVEN) | u128::from(low & !LOW_SEVEN) << 64);
                let line = self.narrow.home(hash);
                self.enter(Sought { low, high: 0, line, narrow: true }, ids);
            }
        }
        for &[low, high, ids, _] in wide_lines.iter().flat_map(|line| line.0.as_chunks::<4>().0) {
            if (low, high) != (0, 0) {
                let line = self.wide.home(fold(u128::from(low) | u128::from(high) << 64));
                self.enter(Sought { low, high, line, narrow: false }, ids);
            }
        }
    }
}

/// The bytes of a narrow key, without the length.
const LOW_SEVEN: u64 = u64::MAX >> 8;
