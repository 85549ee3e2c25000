//! Word -> ids, per worker, bounded. A result never depends on it.
//!
//! [`KnownWords`] holds the vocabulary's own words and what has been learned from texts since, and looks them up many at
//! a time. [`WordTable`] is the plain one, for words that are asked for one by one: a word of up to 15 bytes is its own
//! key, 16 bytes with the length in the last one, compared at once. Up to three ids lie beside the key; more, and
//! longer words, live in side tables.

mod characters;
mod found;
mod known;
mod lines;
mod long;
mod packed;
mod places;
mod queue;
mod short;

pub(crate) use characters::{Parts as Characters, Writer as CharacterWriter};
pub use known::KnownWords;
pub(crate) use long::hash_at;
pub use long::{LONGEST_KNOWN, LongWords};
pub use packed::MOST;
pub(crate) use queue::Learn as LearnWord;
pub use queue::{Listed, Queue, Strange, look_up_between, look_up_spans};

use hashbrown::HashTable;

/// Longest word that is its own key.
const INLINE: usize = 15;
/// Longest word that a [`WordTable`] remembers, in bytes.
pub const LONGEST: usize = 64;
/// Marks a free slot.
const FREE: u32 = u32::MAX;
/// A word lies at most this far from its place: beyond, it is not remembered. Words that chance brings together lie
/// much closer, so this is for words that somebody has chosen to have one hash: each would be compared with all.
const FAR: usize = 64;
/// Fewest slots of a table.
const SMALLEST: usize = 1 << 10;

/// Aligned, so that it lies in one line of a processor's cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Slot {
    key: u128,
    /// The ids; with more than three, where they start in `more`.
    ids: [u32; 3],
    /// How many ids, or [`FREE`].
    len: u32,
}

#[derive(Debug, Clone, Copy)]
struct LongWord {
    hash: u64,
    /// Where the word starts in `text`, and its length.
    start: u32,
    len: u32,
    /// Where its ids start in `more`, and how many they are.
    ids: u32,
    ids_len: u32,
}

/// Remembers the ids of words.
#[derive(Debug, Clone)]
pub struct WordTable {
    slots: Vec<Slot>,
    used: usize,
    shift: u32,
    /// Slots to begin with, and at most.
    first_slots: usize,
    most_slots: usize,
    /// Ids of words that have more than three, or are long.
    more: Vec<u32>,
    text: Vec<u8>,
    long: HashTable<LongWord>,
    /// Bytes that `more`, `text` and `long` may take together.
    side_limit: usize,
}

/// Masks that keep the first n bytes of a key.
const MASKS: [u128; 16] = {
    let mut masks = [0u128; 16];
    let mut n = 1;
    while n < 16 {
        masks[n] = (1 << (8 * n)) - 1;
        n += 1;
    }
    masks
};

/// The key of `text[start..end]`, which has 1 to 15 bytes.
#[inline]
fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    let bytes = match text.get(start..start + 16).and_then(|bytes| bytes.try_into().ok()) {
        Some(bytes) => u128::from_le_bytes(bytes) & MASKS[len & 15],
        None => {
            let mut bytes = [0; 16];
            bytes[..len].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(bytes)
        }
    };
    bytes | (len as u128) << 120
}

#[inline]
fn fold(key: u128) -> u64 {
    let low = key as u64 ^ 0x9E37_79B9_7F4A_7C15;
    let high = (key >> 64) as u64 ^ 0xE703_7ED1_A0B4_28DB;
    let product = u128::from(low) * u128::from(high);
    product as u64 ^ (product >> 64) as u64
}

fn hash_long(word: &[u8]) -> u64 {
    word.chunks(15).fold(word.len() as u64, |hash, chunk| {
        fold(key(chunk, 0, chunk.len()) ^ u128::from(hash) << 32).wrapping_add(hash.rotate_left(17))
    })
}

impl WordTable {
    /// An empty table that takes at most about `limit` bytes, but always has room for `words`.
    pub fn new(words: usize, limit: usize) -> Self {
        let first_slots = (words * 4).next_power_of_two().max(SMALLEST);
        let wanted = limit / 2 / size_of::<Slot>();
        let most_slots = first_slots.max((wanted / 2 + 1).next_power_of_two());
        let mut table = Self {
            slots: Vec::new(),
            used: 0,
            shift: 0,
            first_slots,
            most_slots,
            more: Vec::new(),
            text: Vec::new(),
            long: HashTable::new(),
            side_limit: limit / 2,
        };
        table.clear();
        table
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.resize(self.first_slots);
        self.used = 0;
        self.more.clear();
        self.text.clear();
        self.long.clear();
    }

    /// Whether there is no room left and the table should be cleared.
    pub fn is_full(&self) -> bool {
        self.used * 8 >= self.most_slots * 5
            || self.more.len() * 4 + self.text.len() + self.long.len() * 48 > self.side_limit
    }

    fn resize(&mut self, slots: usize) {
        let free = Slot { key: 0, ids: [0; 3], len: FREE };
        self.slots.clear();
        self.slots.resize(slots, free);
        self.shift = 64 - slots.trailing_zeros();
    }

    /// Appends the ids of `text[start..end]` to `out`; false if the word is not known.
    #[inline]
    pub fn get(&self, text: &[u8], start: usize, end: usize, out: &mut Vec<u32>) -> bool {
        let len = end - start;
        if len > INLINE {
            return self.get_long(&text[start..end], out);
        }
        let key = key(text, start, end);
        let mask = self.slots.len() - 1;
        let first = (fold(key) >> self.shift) as usize;
        for at in first..first + FAR {
            let slot = &self.slots[at & mask];
            if slot.key == key {
                match slot.len {
                    1 => out.push(slot.ids[0]),
                    2 => out.extend_from_slice(&slot.ids[..2]),
                    3 => out.extend_from_slice(&slot.ids),
                    0 => {}
                    len => {
                        let from = slot.ids[0] as usize;
                        out.extend_from_slice(&self.more[from..from + len as usize]);
                    }
                }
                return true;
            }
            // A free slot has key 0, which no word has: its length would be 0.
            if slot.len == FREE {
                return false;
            }
        }
        false
    }

    #[cold]
    fn get_long(&self, word: &[u8], out: &mut Vec<u32>) -> bool {
        if word.len() > LONGEST {
            return false;
        }
        let hash = hash_long(word);
        let found = self.long.find(hash, |entry| self.long_text(entry) == word);
        if let Some(entry) = found {
            let from = entry.ids as usize;
            out.extend_from_slice(&self.more[from..from + entry.ids_len as usize]);
        }
        found.is_some()
    }

    fn long_text(&self, entry: &LongWord) -> &[u8] {
        &self.text[entry.start as usize..(entry.start + entry.len) as usize]
    }

    /// Remembers the ids of a word that [`WordTable::get`] did not know. Long words, and all when the
    /// table [is full](WordTable::is_full), are let go.
    pub fn insert(&mut self, word: &[u8], ids: &[u32]) {
        if word.is_empty() || word.len() > LONGEST || self.is_full() {
            return;
        }
        let more = self.more.len() as u32;
        if word.len() > INLINE {
            let hash = hash_long(word);
            let entry = LongWord {
                hash,
                start: self.text.len() as u32,
                len: word.len() as u32,
                ids: more,
                ids_len: ids.len() as u32,
            };
            self.text.extend_from_slice(word);
            self.more.extend_from_slice(ids);
            self.long.insert_unique(hash, entry, |entry| entry.hash);
            return;
        }
        if self.used * 8 >= self.slots.len() * 5 {
            self.grow();
        }
        let mut slot = Slot { key: key(word, 0, word.len()), ids: [0; 3], len: ids.len() as u32 };
        if ids.len() <= 3 {
            slot.ids[..ids.len()].copy_from_slice(ids);
        } else {
            slot.ids[0] = more;
            self.more.extend_from_slice(ids);
        }
        self.place(slot);
        self.used += 1;
    }

    fn place(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let first = (fold(slot.key) >> self.shift) as usize;
        let mut near = first..first + FAR;
        if let Some(at) = near.find(|at| self.slots[at & mask].len == FREE) {
            self.slots[at & mask] = slot;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.resize(old.len() * 2);
        for slot in old.into_iter().filter(|slot| slot.len != FREE) {
            self.place(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_words_of_all_lengths() {
        let mut table = WordTable::new(0, 1 << 22);
        let word = |n: usize| format!("{n}{}", "x\0".repeat(n % 40)).into_bytes();
        let ids = |n: usize| (0..n as u32 % 7).collect::<Vec<u32>>();
        for n in 0..5000 {
            assert!(!table.get(&word(n), 0, word(n).len(), &mut Vec::new()));
            table.insert(&word(n), &ids(n));
        }
        for n in 0..5000 {
            let mut out = Vec::new();
            let mut text = b"before".to_vec();
            text.extend(word(n));
            let known = table.get(&text, 6, text.len(), &mut out);
            assert_eq!(known, word(n).len() <= LONGEST);
            assert_eq!(out, if known { ids(n) } else { Vec::new() });
        }
    }

    #[test]
    fn stays_within_its_limit() {
        let mut table = WordTable::new(0, 1 << 16);
        for n in 0..100_000u32 {
            table.insert(format!("{n}").as_bytes(), &[n; 5]);
        }
        let bytes = table.slots.len() * 32 + table.more.capacity() * 4 + table.text.capacity();
        assert!(bytes <= 1 << 17, "{bytes}");
    }
}
