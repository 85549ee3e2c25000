//! Words of up to 15 bytes and three ids, packed close: what most look-ups of a text find.
//!
//! Tables of words are larger than the fast memory of a processor, so that every byte that a look-up does
//! not touch counts. A word of up to seven bytes takes 16 bytes, one of up to 15 takes 32; four or two of
//! them fill a line of the cache, and are compared at once.

use std::hint::select_unpredictable;

use super::{INLINE, fold, key};

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

/// A key with its ids; the key 0 marks a free place.
#[derive(Debug, Clone, Copy, Default)]
struct Entry<K> {
    key: K,
    ids: Packed,
}

/// One line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line<K, const N: usize>([Entry<K>; N]);

/// What may be a key. No word has the key 0: the length is in it.
pub(super) trait Key: Copy + Eq + Default {
    fn hash(self) -> u64;
}

impl Key for u64 {
    #[inline(always)]
    fn hash(self) -> u64 {
        let product = u128::from(self ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93;
        product as u64 ^ (product >> 64) as u64
    }
}

impl Key for u128 {
    #[inline(always)]
    fn hash(self) -> u64 {
        fold(self)
    }
}

#[derive(Debug)]
struct Table<K, const N: usize> {
    lines: Vec<Line<K, N>>,
    shift: u32,
    used: usize,
}

impl<K: Key, const N: usize> Table<K, N> {
    /// A table for so many words, and a quarter more at least.
    fn new(words: usize) -> Self {
        let lines = (words * 2 / N).next_power_of_two().max(16);
        let line = Line([Entry::default(); N]);
        Self { lines: vec![line; lines], shift: 64 - lines.trailing_zeros(), used: 0 }
    }

    #[inline(always)]
    fn home(&self, key: K) -> usize {
        (key.hash() >> self.shift) as usize & (self.lines.len() - 1)
    }

    /// The ids of a word if they are where they should be.
    #[inline(always)]
    fn at_home(&self, key: K) -> Packed {
        let Line(entries) = &self.lines[self.home(key)];
        let mut found = 0;
        for entry in entries {
            // Which of them it is cannot be foreseen: no branch.
            found |= select_unpredictable(entry.key == key, entry.ids.0, 0);
        }
        Packed(found)
    }

    fn get(&self, key: K) -> Packed {
        let mut at = self.home(key);
        loop {
            for entry in &self.lines[at & (self.lines.len() - 1)].0 {
                if entry.key == key {
                    return entry.ids;
                }
                if entry.key == K::default() {
                    return Packed::NONE;
                }
            }
            at += 1;
        }
    }

    /// Enters a word that is not there. There must be room.
    fn insert(&mut self, key: K, ids: Packed) {
        let mask = self.lines.len() - 1;
        let mut at = self.home(key);
        loop {
            let entries = &mut self.lines[at & mask].0;
            if let Some(free) = entries.iter_mut().find(|entry| entry.key == K::default()) {
                *free = Entry { key, ids };
                self.used += 1;
                return;
            }
            at += 1;
        }
    }

    /// Whether it must grow before the next word.
    fn is_full(&self) -> bool {
        self.used * 8 >= self.lines.len() * N * 5
    }

    fn bytes(&self) -> usize {
        self.lines.len() * size_of::<Line<K, N>>()
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Self::new(self.lines.len() * N);
        for entry in self.lines.iter().flat_map(|line| line.0) {
            if entry.key != K::default() {
                larger.insert(entry.key, entry.ids);
            }
        }
        *self = larger;
    }
}

/// Words of up to 15 bytes.
#[derive(Debug)]
pub(super) struct ShortWords {
    narrow: Table<u64, 4>,
    wide: Table<u128, 2>,
    /// Bytes that both may take together.
    limit: usize,
}

/// The key of a word that is too long to have one: no entry has it.
const NO_KEY: u128 = u128::MAX;

/// Whether the word is one of the narrow table.
#[inline(always)]
pub(super) fn is_narrow(start: usize, end: usize) -> bool {
    end - start <= NARROW
}

/// The key of `text[start..end]`, which has 1 to 7 bytes: those, and the length in the eighth.
#[inline(always)]
fn narrow_key(text: &[u8], start: usize, end: usize) -> u64 {
    let len = end - start;
    let bytes = match text.get(start..).and_then(|text| text.first_chunk::<8>()) {
        Some(bytes) => u64::from_le_bytes(*bytes) & ((1 << (8 * len % 64)) - 1),
        None => {
            let mut bytes = [0; 8];
            bytes[..len].copy_from_slice(&text[start..end]);
            u64::from_le_bytes(bytes)
        }
    };
    bytes | (len as u64) << 56
}

impl ShortWords {
    /// Empty, with room for words of these lengths in bytes at least.
    pub(super) fn new(lengths: impl Iterator<Item = usize>, limit: usize) -> Self {
        let (mut narrow, mut wide) = (0, 0);
        for length in lengths {
            narrow += usize::from(length <= NARROW);
            wide += usize::from(length > NARROW && length <= INLINE);
        }
        let mut words = Self { narrow: Table::new(narrow), wide: Table::new(wide), limit };
        words.limit = limit.max(words.narrow.bytes() + words.wide.bytes());
        words
    }

    /// Whether a word may be refused.
    pub(super) fn is_full(&self) -> bool {
        let (narrow, wide) = (self.narrow.bytes(), self.wide.bytes());
        let full = |table: usize, is_full: bool| is_full && narrow + wide + table > self.limit;
        full(narrow, self.narrow.is_full()) || full(wide, self.wide.is_full())
    }

    /// The ids of `text[start..end]`, which [is narrow](is_narrow), if they are where they should be.
    #[inline(always)]
    pub(super) fn narrow(&self, text: &[u8], start: usize, end: usize) -> Packed {
        self.narrow.at_home(narrow_key(text, start, end))
    }

    /// The same of one of 8 to 15 bytes; nothing of a longer one.
    #[inline(always)]
    pub(super) fn wide(&self, text: &[u8], start: usize, end: usize) -> Packed {
        let key = if end - start > INLINE { NO_KEY } else { key(text, start, end) };
        self.wide.at_home(key)
    }

    /// The ids of `text[start..end]`, which has 1 to 15 bytes.
    pub(super) fn get(&self, text: &[u8], start: usize, end: usize) -> Packed {
        if is_narrow(start, end) {
            self.narrow.get(narrow_key(text, start, end))
        } else {
            self.wide.get(key(text, start, end))
        }
    }

    /// Enters a word of 1 to 15 bytes that is not there. Unless it [is full](Self::is_full).
    pub(super) fn insert(&mut self, word: &[u8], ids: Packed) {
        if self.is_full() {
            return;
        }
        if is_narrow(0, word.len()) {
            if self.narrow.is_full() {
                self.narrow.grow();
            }
            self.narrow.insert(narrow_key(word, 0, word.len()), ids);
        } else {
            if self.wide.is_full() {
                self.wide.grow();
            }
            self.wide.insert(key(word, 0, word.len()), ids);
        }
    }
}
