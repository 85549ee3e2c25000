//! Chunks as one thread meets them, with their counts; how they are kept small, and sorted.

use std::cmp::Ordering;

use super::END;
use crate::scan::written_zeros;
use crate::train::radix::{DIGIT, sort_by_upper_bits};

/// Occurrences that a thread keeps before it adds up equal ones.
const SQUEEZE: usize = 1 << 19;
/// Chunks that a thread counts before it keeps them: 2 to this power. They fit into its second-level cache.
const RECENT: u32 = 14;

/// Digits of a key that entries are sorted by.
const DIGITS: u32 = 5;

/// How the first characters of a chunk fit into one number that sorts like them.
#[derive(Debug, Clone, Copy)]
pub(in crate::train::unigram) struct Packing {
    /// Bits per character.
    pub(in crate::train::unigram) bits: u32,
    /// How many characters fit.
    pub(in crate::train::unigram) characters: u32,
}

impl Packing {
    /// For characters numbered from 1 to `alphabet`.
    pub(in crate::train::unigram) fn new(alphabet: usize) -> Self {
        let bits = (usize::BITS - alphabet.leading_zeros()).max(1);
        Self { bits, characters: 64 / bits }
    }

    /// The characters of `text` up to the first [`END`], as many as fit.
    #[inline(always)]
    pub(in crate::train::unigram) fn pack(self, text: &[u32]) -> u64 {
        let mut key = 0;
        let mut packed = 0;
        for &number in text.iter().take(self.characters as usize) {
            if number == END {
                break;
            }
            key = key << self.bits | u64::from(number);
            packed += 1;
        }
        if packed == 0 { 0 } else { key << (self.bits * (self.characters - packed)) }
    }

    /// How many characters stand in a key before its end.
    pub(in crate::train::unigram) fn length(self, key: u64) -> u32 {
        if key == 0 { 0 } else { self.characters - key.trailing_zeros() / self.bits }
    }

    /// Writes the characters of a key to the front of `text`, and gives back how many they are.
    pub(super) fn unpack(self, entry: &Entry, text: &mut [u32]) -> usize {
        let mask = (1u64 << self.bits) - 1;
        let characters = self.characters.min(entry.length);
        for (number, place) in text.iter_mut().zip(1..=characters) {
            *number = (entry.key >> (self.bits * (self.characters - place)) & mask) as u32;
        }
        characters as usize
    }

    /// By their characters; equal are those that have the same.
    pub(super) fn order(self, (a, rest_of_a): Whole<'_>, (b, rest_of_b): Whole<'_>) -> Ordering {
        let in_key = |entry: &Entry| (entry.key, entry.length.min(self.characters));
        in_key(a).cmp(&in_key(b)).then_with(|| rest_of_a.cmp(rest_of_b))
    }
}

/// A chunk with its count, and its characters that are not in the key.
pub(super) type Whole<'b> = (&'b Entry, &'b [u32]);

/// A chunk with its count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// The first characters, packed.
    pub(super) key: u64,
    /// Where the other characters are in the bag.
    start: usize,
    /// Characters in all.
    pub(super) length: u32,
    pub(super) count: u64,
}

/// Chunks as one thread meets them.
#[derive(Debug)]
pub(super) struct Bag {
    packing: Packing,
    /// Chunks that a key says all of, with their counts: the one of its place that came last. Most come again soon.
    recent: Vec<(u64, u64)>,
    pub(super) entries: Vec<Entry>,
    /// The characters that do not fit into keys.
    arena: Vec<u32>,
    /// Equal entries are added up when there are this many.
    limit: usize,
}

impl Bag {
    pub(super) fn new(packing: Packing) -> Self {
        // What is reserved comes when it is written; lists that grow would be copied, or moved.
        Self {
            packing,
            recent: written_zeros(1 << RECENT),
            entries: Vec::with_capacity(2 * SQUEEZE),
            arena: Vec::with_capacity(2 * SQUEEZE),
            limit: SQUEEZE,
        }
    }

    pub(super) fn add(&mut self, chunk: &[u32], count: u64) {
        let key = self.packing.pack(chunk);
        if let Some(rest) = chunk.get(self.packing.characters as usize..).filter(|r| !r.is_empty())
        {
            let start = self.arena.len();
            self.arena.extend_from_slice(rest);
            self.push(Entry { key, start, length: chunk.len() as u32, count });
            return;
        }
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT);
        let (known, sum) = &mut self.recent[place as usize];
        if *known == key {
            *sum += count;
        } else {
            let before = (std::mem::replace(known, key), std::mem::replace(sum, count));
            self.keep(before);
        }
    }

    /// Keeps a chunk that a key says all of; 0 is the key of none.
    fn keep(&mut self, (key, count): (u64, u64)) {
        if key != 0 {
            self.push(Entry { key, start: 0, length: self.packing.length(key), count });
        }
    }

    fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
        if self.entries.len() >= self.limit {
            self.squeeze();
            self.limit = SQUEEZE.max(self.entries.len() * 2);
        }
    }

    /// An entry with the characters that are not in its key.
    pub(super) fn whole<'b>(&'b self, entry: &'b Entry) -> Whole<'b> {
        let rest = entry.length.saturating_sub(self.packing.characters) as usize;
        (entry, &self.arena[entry.start..entry.start + rest])
    }

    /// Sorts, and adds up equal entries.
    fn squeeze(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        let order = |a: &Entry, b: &Entry| self.packing.order(self.whole(a), self.whole(b));
        // By most of the key, which needs no comparing, and what agrees there by all.
        let unused = 64 - self.packing.bits * self.packing.characters;
        sort_by_upper_bits(&mut entries, DIGITS, |entry| entry.key << unused);
        let upper = |entry: &Entry| (entry.key << unused) >> (64 - DIGITS * DIGIT);
        for group in entries.chunk_by_mut(|a, b| upper(a) == upper(b)) {
            if group.len() > 1 {
                group.sort_unstable_by(order);
            }
        }
        entries.dedup_by(|b, a| {
            let same = order(a, b).is_eq();
            if same {
                a.count += b.count;
            }
            same
        });
        let mut arena = Vec::with_capacity(self.arena.len());
        for entry in &mut entries {
            let start = arena.len();
            arena.extend_from_slice(self.whole(entry).1);
            entry.start = start;
        }
        self.arena = arena;
        self.entries = entries;
    }

    /// Adds up what is there, when nothing more comes.
    pub(super) fn finish(&mut self) {
        std::mem::take(&mut self.recent).into_iter().for_each(|recent| self.keep(recent));
        self.squeeze();
        self.arena.shrink_to_fit();
        self.entries.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn a_bag_counts_as_a_map_does() {
        // Four characters fit into a key. More chunks than places for what came lately, and than are kept before equal
        // ones are added up; some with no count.
        let (mut bag, mut plain) = (Bag::new(Packing::new(60_000)), BTreeMap::new());
        let mut random = SplitMix64::new(7);
        for _ in 0..3 * SQUEEZE {
            let length = 1 + random.next() % 5;
            let chunk: Vec<u32> =
                (0..length).map(|_| 1 + (random.next() % 20) as u32 * 2999).collect();
            let count = random.next() % 3;
            bag.add(&chunk, count);
            *plain.entry(chunk).or_insert(0) += count;
        }
        bag.finish();
        let found = bag.entries.iter().map(|entry| {
            let mut chunk = vec![END; entry.length as usize];
            let packed = bag.packing.unpack(entry, &mut chunk);
            chunk[packed..].copy_from_slice(bag.whole(entry).1);
            (chunk, entry.count)
        });
        assert!(found.eq(plain));
    }
}
