//! Counts in an order: what a file, a person, or a trainer with order-dependent ties reads.
//!
//! Rule: the canonical order is a function of the words and counts alone; first sight is a function of
//! the corpus alone.

use super::Counts;
use super::table::{Entry, Table};
use crate::beside::both;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};

/// Words that are looked up at once.
const GROUP: usize = 16;

/// Words that are worth the start of a thread.
const WORDS_PER_THREAD: usize = 1 << 14;

/// In which order words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Count descending, then bytes ascending.
    Canonical,
    /// As the words first occurred in the corpus; canonical if that was not kept.
    FirstSeen,
}

/// Words with counts, in an order.
#[derive(Debug)]
pub struct Inventory<'a> {
    tables: Cow<'a, [Table]>,
    /// (partition << 40 | offset) of each word.
    refs: Vec<u64>,
}

impl<'a> Inventory<'a> {
    pub(super) fn borrowed(counts: &'a Counts, order: Order, threads: usize) -> Self {
        let refs = sorted(&counts.tables, counts.len(), order, threads);
        Self { tables: Cow::Borrowed(&counts.tables), refs }
    }
}

impl Inventory<'static> {
    pub(super) fn owned(mut counts: Counts, order: Order, threads: usize) -> Self {
        for table in &mut counts.tables {
            table.freeze();
        }
        let refs = sorted(&counts.tables, counts.len, order, threads);
        Self { tables: Cow::Owned(counts.tables), refs }
    }
}

impl Inventory<'_> {
    /// How many words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.refs.len()
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.refs.is_empty()
    }

    /// Word number `index` with its count; None past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<(&[u8], u64)> {
        let entry = resolve(&self.tables, *self.refs.get(index)?);
        Some((entry.word, entry.count))
    }

    /// All words with their counts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> + Clone {
        self.words(&self.refs)
    }

    /// The words in up to `parts` parts of about the same number, one after the other in order: so that
    /// several threads can read them at a time.
    #[must_use]
    pub fn parts(&self, parts: usize) -> Vec<impl Iterator<Item = (&[u8], u64)> + Clone + Sync> {
        let size = self.refs.len().div_ceil(parts.max(1)).max(WORDS_PER_THREAD);
        self.refs.chunks(size).map(|refs| self.words(refs)).collect()
    }

    fn words<'a>(
        &'a self,
        refs: &'a [u64],
    ) -> impl Iterator<Item = (&'a [u8], u64)> + Clone + Sync {
        // Words lie in another order than they are read. A group is looked up at once, so that the
        // processor waits for several of them at the same time.
        refs.chunks(GROUP).flat_map(|refs| {
            let mut group = [(&[][..], 0); GROUP];
            for (slot, &reference) in group.iter_mut().zip(refs) {
                let entry = resolve(&self.tables, reference);
                *slot = (entry.word, entry.count);
            }
            group.into_iter().take(refs.len())
        })
    }

    /// The references alone: 8 bytes a word, for a holder that keeps the counts elsewhere.
    #[must_use]
    pub fn into_references(self) -> Vec<u64> {
        self.refs
    }

    /// The inverse of [`Inventory::into_references`], over the same counts.
    #[must_use]
    pub fn from_references(counts: &Counts, refs: Vec<u64>) -> Inventory<'_> {
        Inventory { tables: Cow::Borrowed(&counts.tables), refs }
    }
}

fn reference(partition: usize, entry: &Entry<'_>) -> u64 {
    (partition as u64) << 40 | entry.offset
}

fn resolve(tables: &[Table], reference: u64) -> Entry<'_> {
    tables[(reference >> 40) as usize].entry((reference & ((1 << 40) - 1)) as usize)
}

/// The first eight bytes of a word as a number that sorts like them (a shorter word ends in zeros).
fn prefix(word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let n = word.len().min(8);
    bytes[..n].copy_from_slice(&word[..n]);
    u64::from_be_bytes(bytes)
}

/// References to all words, in order. Sorts by numbers that are read once from front to back; only
/// words of equal count and equal first eight bytes are looked up again.
fn sorted(tables: &[Table], len: usize, order: Order, threads: usize) -> Vec<u64> {
    let entries = tables
        .iter()
        .enumerate()
        .flat_map(|(p, table)| table.iter().map(move |entry| (reference(p, &entry), entry)));
    if order == Order::FirstSeen && tables.iter().all(Table::keeps_order) {
        let mut keyed = Vec::with_capacity(len);
        keyed.extend(entries.map(|(reference, entry)| (entry.position, reference)));
        sort(&mut keyed, threads, &Ord::cmp);
        return keyed.into_iter().map(|(_, reference)| reference).collect();
    }
    let mut keyed = Vec::with_capacity(len);
    keyed.extend(entries.map(|(r, entry)| (Reverse(entry.count), prefix(entry.word), r)));
    sort(&mut keyed, threads, &|a: &(Reverse<u64>, u64, u64), b| {
        (a.0, a.1)
            .cmp(&(b.0, b.1))
            .then_with(|| resolve(tables, a.2).word.cmp(resolve(tables, b.2).word))
    });
    keyed.into_iter().map(|(_, _, reference)| reference).collect()
}

/// Sorts on up to `threads` threads. No two items may be equal.
fn sort<T: Send>(items: &mut [T], threads: usize, compare: &(impl Fn(&T, &T) -> Ordering + Sync)) {
    if threads <= 1 || items.len() <= WORDS_PER_THREAD {
        return items.sort_unstable_by(compare);
    }
    let (low, _, high) = items.select_nth_unstable_by(items.len() / 2, compare);
    let one = || sort(high, threads - threads / 2, compare);
    both(true, one, || sort(low, threads / 2, compare));
}
