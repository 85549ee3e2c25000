//! Words of any length and number of ids: what does not fit [close together](super::short).
//!
//! ```text
//! slots   upper half of the hash | where the record starts, plus one     0 for a free slot
//! records length of the word, number of ids: 16 bits each; the word; the ids: 32 bits each
//! ```
//!
//! A slot says nearly always whether the word is there; a record is one look more. Both can be asked for
//! before they are needed. Records lie in the order in which words came, so that new memory is touched once.

use super::{FAR, fold, key};
use crate::scan::{prefetch, written_zeros};

/// Longest word that [`KnownWords`](super::KnownWords) remember, in bytes.
pub const LONGEST_KNOWN: usize = 128;
/// Fewest slots.
const SMALLEST: usize = 1 << 10;
/// Fewer slots than these are few.
const FEW: usize = 1 << 16;
const HEAD: usize = 4;
/// Most records have no more ids.
const FEW_IDS: usize = 16;
/// Bytes that most records have less than.
const RECORD: usize = 1 << 10;

/// Remembers the ids of words.
#[derive(Debug, Clone)]
pub struct LongWords {
    /// A power of two of them.
    slots: Vec<u64>,
    used: usize,
    shift: u32,
    records: Vec<u8>,
    /// Bytes that all may take together.
    limit: usize,
    /// A word found no place when all were entered anew.
    has_lost: bool,
}

/// Where the ids of a record are, and how many.
#[derive(Clone, Copy)]
struct Ids {
    at: usize,
    count: usize,
}

/// Where a word is looked for: its hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trail(pub(super) u64);

#[inline(always)]
fn sixteen(word: &[u8]) -> u128 {
    word.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

/// Whether two words are the same; sixteen bytes at a time, as most are short.
#[inline(always)]
fn same(one: &[u8], other: &[u8]) -> bool {
    let len = one.len();
    if len != other.len() || len < 16 {
        return one == other;
    }
    // The last sixteen, some of which may have been before.
    let mut differ = sixteen(&one[len - 16..]) ^ sixteen(&other[len - 16..]);
    let mut at = 0;
    while at + 16 < len {
        differ |= sixteen(&one[at..]) ^ sixteen(&other[at..]);
        at += 16;
    }
    differ == 0
}

/// A hash of a word, which is not empty.
#[inline]
fn hash(word: &[u8]) -> u64 {
    hash_at(word, 0, word.len())
}

/// The same of `text[start..end]`; faster, if it is short and stands in a text.
#[inline]
pub(crate) fn hash_at(text: &[u8], start: usize, end: usize) -> u64 {
    if end - start < 16 {
        return fold(key(text, start, end));
    }
    let word = &text[start..end];
    let mut hash = word.len() as u64;
    let mut mix = |bytes: u128| hash = fold(bytes ^ u128::from(hash) << 32) ^ hash.rotate_left(29);
    let mut rest = word;
    while rest.len() > 16 {
        mix(sixteen(rest));
        rest = &rest[16..];
    }
    // The last sixteen, some of which may have been before.
    mix(sixteen(&word[word.len() - 16..]));
    hash
}

impl LongWords {
    /// An empty table that takes at most about `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            slots: vec![0; SMALLEST],
            used: 0,
            shift: shift(SMALLEST),
            records: Vec::new(),
            limit,
            has_lost: false,
        }
    }

    /// Whether a word that was remembered may be gone. It takes words that somebody has chosen to lie close together.
    pub(super) fn has_lost(&self) -> bool {
        self.has_lost
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    /// Whether there is no room left and the table should be cleared.
    pub fn is_full(&self) -> bool {
        // Growing takes twice the slots.
        let slots = self.slots.len() << usize::from(self.is_crowded());
        self.bytes_with(slots) + RECORD > self.limit.max(SMALLEST * 16)
    }

    fn bytes_with(&self, slots: usize) -> usize {
        self.records.len() + slots * size_of::<u64>()
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes_with(self.slots.len())
    }

    /// Makes room for as much again as there is, whatever the limit was.
    pub(super) fn leave_room(&mut self) {
        self.limit = self.limit.max(2 * self.bytes());
    }

    /// How many times as many slots there are after growing: more while they are few, for all are made anew.
    fn growth(&self) -> usize {
        let slots = self.slots.len();
        if slots < FEW && self.bytes_with(4 * slots) <= self.limit { 4 } else { 2 }
    }

    fn is_crowded(&self) -> bool {
        self.used * 2 >= self.slots.len()
    }

    /// What to look for, to find a word.
    #[inline]
    pub(super) fn seek(&self, word: &[u8]) -> Trail {
        Trail(hash(word))
    }

    /// Has the slot fetched where the word should be.
    #[inline(always)]
    pub(super) fn prefetch(&self, trail: Trail) {
        prefetch(&self.slots, (trail.0 >> self.shift) as usize);
    }

    /// Has the record fetched that the slot tells of.
    #[inline(always)]
    pub(super) fn prefetch_record(&self, trail: Trail) {
        let slot = self.slots.get((trail.0 >> self.shift) as usize).copied().unwrap_or(0);
        if slot != 0 {
            prefetch(&self.records, slot as u32 as usize - 1);
        }
    }

    /// Appends the ids of `text[start..end]` to `out`; false if the word is not known.
    pub fn get(&self, text: &[u8], start: usize, end: usize, out: &mut Vec<u32>) -> bool {
        let word = &text[start..end];
        self.get_on(self.seek(word), word, out)
    }

    /// The same for a word of that [`hash`].
    #[inline]
    pub(crate) fn get_hashed(&self, hash: u64, word: &[u8], out: &mut Vec<u32>) -> bool {
        self.get_on(Trail(hash), word, out)
    }

    /// The same, by what [`LongWords::seek`] gave.
    #[inline]
    pub(super) fn get_on(&self, trail: Trail, word: &[u8], out: &mut Vec<u32>) -> bool {
        let mask = self.slots.len() - 1;
        let first = (trail.0 >> self.shift) as usize;
        for at in first..first + FAR {
            let slot = self.slots[at & mask];
            if slot == 0 {
                return false;
            }
            if slot >> 32 == trail.0 >> 32
                && let Some((found, ids)) = self.record(slot as u32 as usize - 1)
                && same(found, word)
            {
                self.append(ids, out);
                return true;
            }
        }
        false
    }

    /// Keeps ids without a word, to be found by their place. None if there is no room.
    pub(super) fn keep(&mut self, ids: &[u32]) -> Option<u32> {
        let (count, place) =
            (u16::try_from(ids.len()).ok()?, u32::try_from(self.records.len()).ok()?);
        if self.is_full() {
            return None;
        }
        self.write(&[], ids, count);
        Some(place)
    }

    /// Appends the ids that are kept at a place.
    pub(super) fn get_kept(&self, place: u32, out: &mut Vec<u32>) -> bool {
        let Some((_, ids)) = self.record(place as usize) else { return false };
        self.append(ids, out);
        true
    }

    /// The word of a record, and where its ids are.
    #[inline(always)]
    fn record(&self, at: usize) -> Option<(&[u8], Ids)> {
        let (&[a, b, c, d], rest) = self.records.get(at..)?.split_first_chunk::<HEAD>()?;
        let len = usize::from(u16::from_le_bytes([a, b]));
        let count = usize::from(u16::from_le_bytes([c, d]));
        Some((rest.get(..len)?, Ids { at: at + HEAD + len, count }))
    }

    /// Appends the ids of a record.
    #[inline(always)]
    fn append(&self, Ids { at, count }: Ids, out: &mut Vec<u32>) {
        let id = |&id: &[u8; 4]| u32::from_le_bytes(id);
        // How many there are can not be foreseen: a few more are copied than there are.
        if let Some(few) =
            self.records.get(at..).and_then(|ids| ids.first_chunk::<{ 4 * FEW_IDS }>())
            && count <= FEW_IDS
        {
            let mut ids = [0; FEW_IDS];
            ids.iter_mut().zip(few.as_chunks::<4>().0).for_each(|(to, from)| *to = id(from));
            let to = out.len() + count;
            out.extend_from_slice(&ids);
            out.truncate(to);
        } else if let Some(ids) = self.records.get(at..at + 4 * count) {
            out.extend(ids.as_chunks::<4>().0.iter().map(id));
        }
    }

    /// Remembers the ids of a word that is not known. All when the table [is full](LongWords::is_full), and
    /// what is very long, is let go; says whether it was not.
    pub fn insert(&mut self, word: &[u8], ids: &[u32]) -> bool {
        let (Ok(_), Ok(count)) = (u16::try_from(word.len()), u16::try_from(ids.len())) else {
            return false;
        };
        let Ok(start) = u32::try_from(self.records.len() + 1) else { return false };
        if word.is_empty() || self.is_full() {
            return false;
        }
        if self.is_crowded() {
            self.grow();
        }
        if !self.place(hash(word) >> 32 << 32 | u64::from(start)) {
            return false;
        }
        self.write(word, ids, count);
        self.used += 1;
        true
    }

    /// How many words it knows.
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Writes a record; `count` is the number of ids. The word is not longer than 2^16 bytes.
    fn write(&mut self, word: &[u8], ids: &[u32], count: u16) {
        self.records.extend_from_slice(&(word.len() as u16).to_le_bytes());
        self.records.extend_from_slice(&count.to_le_bytes());
        self.records.extend_from_slice(word);
        let from = self.records.len();
        self.records.resize(from + ids.len() * 4, 0);
        let room = self.records[from..].as_chunks_mut::<4>().0;
        room.iter_mut().zip(ids).for_each(|(room, id)| *room = id.to_le_bytes());
    }

    /// Enters a slot, if there is a free one near its place.
    fn place(&mut self, slot: u64) -> bool {
        let mask = self.slots.len() - 1;
        let first = (slot >> self.shift) as usize;
        let mut near = first..first + FAR;
        let free = near.find(|at| self.slots[at & mask] == 0);
        if let Some(at) = free {
            self.slots[at & mask] = slot;
        }
        free.is_some()
    }

    #[cold]
    fn grow(&mut self) {
        // The place of a slot is in its upper half, as long as there are less than 2^32.
        let slots = self.slots.len() * self.growth();
        let old = std::mem::replace(&mut self.slots, written_zeros(slots));
        self.shift = shift(self.slots.len());
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            self.has_lost |= !self.place(slot);
        }
    }
}

fn shift(slots: usize) -> u32 {
    64 - slots.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(n: usize) -> Vec<u8> {
        format!("{n}{}", "x\0y".repeat(n % 40)).into_bytes()
    }

    #[test]
    fn remembers_words_of_all_lengths() {
        let mut table = LongWords::new(1 << 22);
        let ids = |n: usize| (0..n as u32 % 23).map(|id| id << (n % 31)).collect::<Vec<u32>>();
        for n in 0..5000 {
            let mut out = vec![7];
            assert!(!table.get(&word(n), 0, word(n).len(), &mut out));
            assert_eq!(out, [7]);
            table.insert(&word(n), &ids(n));
        }
        for n in 0..5000 {
            let mut text = b"before".to_vec();
            text.extend(word(n));
            let mut out = vec![7];
            assert!(table.get(&text, 6, text.len(), &mut out));
            assert_eq!(out[1..], ids(n));
            table.prefetch(table.seek(&word(n)));
            table.prefetch_record(table.seek(&word(n)));
        }
        table.clear();
        assert!(!table.get(&word(5), 0, word(5).len(), &mut Vec::new()));
    }

    #[test]
    fn words_are_the_same_if_every_byte_is() {
        for len in 0..100 {
            let word: Vec<u8> = (0..len as u8).collect();
            assert!(same(&word, &word.clone()) && !same(&word, &[&word[..], b"x"].concat()));
            for at in 0..len {
                let mut other = word.clone();
                other[at] ^= 0x80;
                assert!(!same(&word, &other), "{at} of {len}");
            }
        }
    }

    #[test]
    fn hashes_every_byte() {
        for len in [1, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 200] {
            let word = vec![b'a'; len];
            let mut seen = vec![hash(&word)];
            for at in 0..len {
                let mut other = word.clone();
                other[at] = b'b';
                seen.push(hash(&other));
            }
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), len + 1);
        }
    }

    /// Words that somebody chose to have one hash: a half of each makes the product zero.
    #[test]
    fn words_of_one_hash_are_not_compared_with_all() {
        let low = 0x9E37_79B9_7F4A_7C15u64 ^ 32;
        let words: Vec<Vec<u8>> = (0..5000u64)
            .map(|n| {
                let middle = [low.to_le_bytes(), n.to_le_bytes()].concat();
                [&[b'x'; 16][..], &middle].concat()
            })
            .collect();
        let mut table = LongWords::new(1 << 24);
        for word in &words {
            table.insert(word, &[1]);
        }
        let same = words.iter().filter(|word| hash(word) == hash(&words[0])).count();
        let known = words.iter().filter(|word| table.get(word, 0, 32, &mut Vec::new())).count();
        assert!(same == 1 || (1..=FAR).contains(&known), "{same} {known}");
    }

    #[test]
    fn stays_within_its_limit() {
        let mut table = LongWords::new(1 << 18);
        for n in 0..100_000u32 {
            table.insert(format!("{n} and more").as_bytes(), &[n; 5]);
        }
        assert!(table.is_full());
        assert!(table.records.len() + table.slots.len() * 8 <= 1 << 18);
        table.insert(&vec![0; 1 << 16], &[1]);
        table.insert(b"x", &vec![1; 1 << 16]);
        assert!(!table.get(b"x", 0, 1, &mut Vec::new()));
    }
}
