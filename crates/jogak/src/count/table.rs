//! One hash table of words, lean enough to hold all words of a corpus.
//!
//! Rule: knows words, counts and first positions; knows nothing of threads or of order.
//!
//! Two flat vectors hold everything:
//!
//! - `arena`: one record per word, in order of arrival: count (4 bytes), first position (8 bytes, only
//!   if kept), length (a varint: 1 byte up to 127), the bytes of the word.
//! - `slots`: open addressing, 8 bytes a slot: 24 bits of the hash (the tag) and the 40-bit offset of
//!   the record. 0 is an empty slot; no record starts at 0.
//!
//! The count lives beside the word and not in the slot: a look-up must read the record anyway to
//! compare the bytes, so that counting touches two cache lines and a word costs its bytes + 5 + about
//! 14 (slots are between 3/8 and 3/4 full), where a table with the count in its slots takes 28. Words
//! of text arrive early if they are frequent, so that the hot records lie close together.
//!
//! A count past 31 bits moves to the vector `big`, and its record then holds the index there. At most
//! total / 2^31 words can be that frequent.
//!
//! Growing frees the old slots first and then reads the arena from front to back, so that it never
//! holds two slot vectors at once.

use super::hash::{Short, hash, same};
use crate::error::{Error, Result};
use crate::scan::{prefetch, written_zeros};

/// Set in the count field of a record whose count is in `big`; the other bits are the index there.
const IS_BIG: u32 = 1 << 31;
/// Bits of an offset into the arena; the tag has the rest of a slot.
const OFFSET_BITS: u32 = 40;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;
/// Slots of a table that has its first word.
const FIRST_SLOTS: usize = 64;

/// The 24 bits of a hash that a slot keeps: below the bits that choose a partition.
#[inline(always)]
fn tag(hash: u64) -> u64 {
    (hash >> 35) & 0xff_ffff
}

/// A table of words. See the module for its layout.
#[derive(Debug, Clone)]
pub(super) struct Table {
    slots: Vec<u64>,
    arena: Vec<u8>,
    big: Vec<u64>,
    len: usize,
    /// Bytes between the start of a record and its length: 4, or 12 if first positions are kept.
    header: usize,
}

/// A word as it stands in a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) word: &'a [u8],
    pub(super) count: u64,
    /// Where the word was first seen; 0 if that is not kept.
    pub(super) position: u64,
    /// Where its record starts; less than 2^40.
    pub(super) offset: u64,
}

impl Table {
    pub(super) fn new(keep_order: bool) -> Self {
        let header = if keep_order { 12 } else { 4 };
        Self { slots: Vec::new(), arena: Vec::new(), big: Vec::new(), len: 0, header }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn keeps_order(&self) -> bool {
        self.header == 12
    }

    /// Bytes that are allocated.
    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * 8 + self.arena.capacity() + self.big.capacity() * 8
    }

    /// Frees what only look-ups and additions need. The table can then be read by offset only.
    pub(super) fn freeze(&mut self) {
        self.slots = Vec::new();
        self.arena.shrink_to_fit();
    }

    /// Adds `n` occurrences of `word`, whose hash is `hash`; `position` is where it was seen.
    #[inline(always)]
    pub(super) fn add(&mut self, word: &[u8], hash: u64, n: u64, position: u64) -> Result<()> {
        if let Some(offset) = self.find(hash, |other| same(other, word)) {
            return self.add_to(offset, n, position);
        }
        self.insert(word, hash, n, position)
    }

    /// The same for a short word.
    #[inline(always)]
    pub(super) fn add_short(
        &mut self,
        word: Short,
        hash: u64,
        n: u64,
        position: u64,
    ) -> Result<()> {
        if let Some(offset) = self.find(hash, |other| word.is(other)) {
            return self.add_to(offset, n, position);
        }
        let (bytes, length) = word.bytes();
        self.insert(&bytes[..length], hash, n, position)
    }

    #[inline(always)]
    fn add_to(&mut self, offset: usize, n: u64, position: u64) -> Result<()> {
        let old = u32::from_le_bytes(take(&self.arena, offset));
        // The usual case: a small count that stays small, of a word seen earlier in the corpus.
        if old < IS_BIG
            && n < u64::from(IS_BIG - old)
            && (self.header == 4 || self.first(offset) <= position)
        {
            put(&mut self.arena, offset, (old + n as u32).to_le_bytes());
            return Ok(());
        }
        self.add_slowly(offset, old, n, position)
    }

    /// The count of `word`; None if it was never added.
    pub(super) fn get(&self, word: &[u8]) -> Option<u64> {
        let offset = self.find(hash(word), |other| same(other, word))?;
        Some(self.entry(offset).count)
    }

    /// The word whose record starts at `offset`.
    pub(super) fn entry(&self, offset: usize) -> Entry<'_> {
        let count = u32::from_le_bytes(take(&self.arena, offset));
        let count = if count & IS_BIG == 0 {
            u64::from(count)
        } else {
            self.big[(count ^ IS_BIG) as usize]
        };
        let position = if self.header == 12 { self.first(offset) } else { 0 };
        Entry { word: self.word(offset), count, position, offset: offset as u64 }
    }

    /// All words, in order of arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> + Clone {
        let mut at = 1;
        std::iter::from_fn(move || {
            if at >= self.arena.len() {
                return None;
            }
            let entry = self.entry(at);
            at += self.header + varint_size(entry.word.len()) + entry.word.len();
            Some(entry)
        })
    }

    /// Says that a search for `hash` will come.
    #[inline(always)]
    pub(super) fn ask(&self, hash: u64) {
        prefetch(&self.slots, hash as usize & self.slots.len().wrapping_sub(1));
    }

    /// The same, when the slot where it starts is near: asks for the record.
    #[inline(always)]
    pub(super) fn ask_record(&self, hash: u64) {
        let slot = self.slots.get(hash as usize & self.slots.len().wrapping_sub(1));
        prefetch(&self.arena, (slot.copied().unwrap_or(0) & OFFSET_MASK) as usize);
    }

    /// The offset of the record of the word with this hash that `is` it.
    #[inline(always)]
    fn find(&self, hash: u64, is: impl Fn(&[u8]) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let tag = tag(hash);
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at & mask];
            if slot == 0 {
                return None;
            }
            if slot >> OFFSET_BITS == tag {
                let offset = (slot & OFFSET_MASK) as usize;
                if is(self.word(offset)) {
                    return Some(offset);
                }
            }
            at += 1;
        }
    }

    /// The first position in a record that has one.
    #[inline(always)]
    fn first(&self, offset: usize) -> u64 {
        u64::from_le_bytes(take(&self.arena, offset + 4))
    }

    #[inline(always)]
    fn word(&self, offset: usize) -> &[u8] {
        let at = offset + self.header;
        let first = self.arena[at];
        if first < 0x80 {
            return &self.arena[at + 1..at + 1 + usize::from(first)];
        }
        let (size, length) = read_varint(&self.arena[at..]);
        &self.arena[at + size..at + size + length]
    }

    /// Additions that are not "one more of a word that was seen a few times".
    #[cold]
    #[inline(never)]
    fn add_slowly(&mut self, offset: usize, old: u32, n: u64, position: u64) -> Result<()> {
        if old & IS_BIG == 0 {
            self.put_count(offset, u64::from(old).checked_add(n))?;
        } else {
            let big = &mut self.big[(old ^ IS_BIG) as usize];
            *big = big.checked_add(n).ok_or_else(overflow)?;
        }
        if self.header == 12 {
            let first = self.first(offset).min(position);
            put(&mut self.arena, offset + 4, first.to_le_bytes());
        }
        Ok(())
    }

    /// Writes a count into a record that has none in `big` yet.
    fn put_count(&mut self, offset: usize, count: Option<u64>) -> Result<()> {
        let count = count.ok_or_else(overflow)?;
        let field = match u32::try_from(count) {
            Ok(small) if small < IS_BIG => small,
            _ => {
                let index = u32::try_from(self.big.len()).ok().filter(|index| *index < IS_BIG);
                let index = index.ok_or(Error::TooLarge {
                    what: "the table of words with more than 2^31 occurrences",
                    size: self.big.len() as u64 + 1,
                    limit: u64::from(IS_BIG),
                })?;
                self.big.push(count);
                index | IS_BIG
            }
        };
        put(&mut self.arena, offset, field.to_le_bytes());
        Ok(())
    }

    #[inline(never)]
    fn insert(&mut self, word: &[u8], hash: u64, n: u64, position: u64) -> Result<()> {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        if self.arena.is_empty() {
            // No record starts at 0: that is the empty slot.
            self.arena.push(0);
        }
        let offset = self.arena.len();
        let size = offset as u64 + self.header as u64 + 10 + word.len() as u64;
        if size > OFFSET_MASK {
            return Err(Error::TooLarge {
                what: "one part of the word table",
                size,
                limit: OFFSET_MASK,
            });
        }
        self.arena.extend_from_slice(&[0; 4]);
        if self.header == 12 {
            self.arena.extend_from_slice(&position.to_le_bytes());
        }
        push_varint(&mut self.arena, word.len());
        self.arena.extend_from_slice(word);
        self.put_count(offset, Some(n))?;
        self.occupy(hash, offset);
        self.len += 1;
        Ok(())
    }

    /// Points the first free slot of `hash` at `offset`.
    fn occupy(&mut self, hash: u64, offset: usize) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = tag(hash) << OFFSET_BITS | offset as u64;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        self.slots = Vec::new();
        self.slots = written_zeros(slots);
        let mut at = 1;
        while at < self.arena.len() {
            let word = self.word(at);
            let next = at + self.header + varint_size(word.len()) + word.len();
            let hash = hash(word);
            self.occupy(hash, at);
            at = next;
        }
    }
}

#[cold]
fn overflow() -> Error {
    Error::CountOverflow { what: "the count of one word".into() }
}

#[inline(always)]
fn take<const N: usize>(arena: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&arena[at..at + N]);
    bytes
}

#[inline(always)]
fn put<const N: usize>(arena: &mut [u8], at: usize, bytes: [u8; N]) {
    arena[at..at + N].copy_from_slice(&bytes);
}

/// Appends `n`, seven bits a byte, low bits first; all bytes but the last have their high bit set.
fn push_varint(arena: &mut Vec<u8>, mut n: usize) {
    while n >= 0x80 {
        arena.push(n as u8 | 0x80);
        n >>= 7;
    }
    arena.push(n as u8);
}

/// (size, value) of the varint at the front of `bytes`.
#[cold]
fn read_varint(bytes: &[u8]) -> (usize, usize) {
    let mut value = 0;
    for (i, byte) in bytes.iter().enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return (i + 1, value);
        }
    }
    (bytes.len(), value)
}

/// Bytes that `push_varint` writes for `n`.
fn varint_size(n: usize) -> usize {
    if n < 0x80 { 1 } else { (n.ilog2() as usize) / 7 + 1 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;

    fn add(table: &mut Table, word: &[u8], n: u64, position: u64) -> Result<()> {
        table.add(word, hash(word), n, position)
    }

    #[test]
    fn varints_of_every_size() {
        for n in [0, 1, 127, 128, 16_383, 16_384, 1 << 21, 1 << 28, 1 << 39] {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, n);
            assert_eq!(bytes.len(), varint_size(n));
            assert_eq!(read_varint(&bytes), (bytes.len(), n));
        }
    }

    #[test]
    fn words_of_all_lengths_survive_growth() {
        let mut table = Table::new(false);
        let words: Vec<Vec<u8>> =
            (0..3000_usize).map(|i| i.to_string().repeat(i % 90).into()).collect();
        for round in 1..=3 {
            for word in &words {
                add(&mut table, word, 1, 0).unwrap();
            }
            assert_eq!(table.get(words[1].as_slice()), Some(round));
        }
        let mut distinct = words.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(table.len(), distinct.len());
        assert_eq!(table.iter().count(), distinct.len());
        assert_eq!(table.get(b"absent"), None);
    }

    #[test]
    fn counts_past_31_bits_and_past_64() {
        let mut table = Table::new(false);
        let edge = u64::from(IS_BIG) - 2;
        add(&mut table, b"w", edge, 0).unwrap();
        for i in 1..=4 {
            add(&mut table, b"w", 1, 0).unwrap();
            assert_eq!(table.get(b"w"), Some(edge + i));
        }
        add(&mut table, b"v", u64::MAX, 0).unwrap();
        assert_eq!(table.get(b"v"), Some(u64::MAX));
        assert_eq!(add(&mut table, b"v", 1, 0), Err(overflow()));
        add(&mut table, b"w", u64::from(u32::MAX), 0).unwrap();
        assert_eq!(table.get(b"w"), Some(edge + 4 + u64::from(u32::MAX)));
    }

    #[test]
    fn the_smallest_position_stays() {
        let mut table = Table::new(true);
        for position in [7, 3, 9] {
            add(&mut table, b"w", 1, position).unwrap();
        }
        let entry = table.iter().next().unwrap();
        assert_eq!((entry.position, entry.count), (3, 3));
    }
}
