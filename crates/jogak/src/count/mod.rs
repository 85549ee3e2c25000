//! Words and how often they occur.
//!
//! Rule: a commutative monoid. Counts merge in any order and any grouping to the same answer; how many
//! threads counted, and how the corpus was cut for them, cannot be seen in it.
//!
//! ```text
//! documents -> Words (front half) -> one Counter per thread -> Counts -> Inventory -> a trainer
//! ```
//!
//! Every [`Counter`] is cut into the same [`PARTITIONS`] parts by the top bits of the word's hash. So
//! counters merge part by part, on as many threads as there are, and no part exists twice for longer
//! than its own merging takes.

mod counter;
mod cut;
mod hash;
mod inventory;
mod table;

pub use counter::Counter;
pub use inventory::{Inventory, Order};

use crate::error::{Error, Result};
use crate::pretokenize::Pretokenizer;
use hash::hash;
use table::{Entry, Table};

/// Parts of a counter; bits of a hash that choose one.
pub const PARTITIONS: usize = 1 << PARTITION_BITS;
const PARTITION_BITS: u32 = 5;

/// The part that words with this hash belong to.
#[inline(always)]
fn partition(hash: u64) -> usize {
    (hash >> (64 - PARTITION_BITS)) as usize
}

/// What feeds the words of a document to a counter: the front half of a tokenizer.
///
/// Counting is compiled once for every implementation, so that there is no call through a pointer per
/// word.
pub trait Words: Sync {
    /// Room for a document that is rewritten, to be used again.
    type Scratch: Default;

    /// Counts every word of `document`, in order. What is in `scratch` before and after has no
    /// meaning.
    ///
    /// # Errors
    /// What the front half says of a document that it cannot cut.
    fn count(
        &self,
        document: &str,
        scratch: &mut Self::Scratch,
        counter: &mut Counter,
    ) -> Result<()>;

    /// The same for a text whose every line, with its `\n`, is a document. False, and nothing is done,
    /// where that is no faster than line by line.
    fn count_lines(&self, lines: &str, counter: &mut Counter) -> bool {
        let _ = (lines, counter);
        false
    }
}

impl Words for Pretokenizer {
    type Scratch = ();

    #[inline]
    fn count(&self, document: &str, (): &mut (), counter: &mut Counter) -> Result<()> {
        self.for_each_cut(document, |cut| counter.add_cut(document.as_bytes(), cut))
    }

    #[inline]
    fn count_lines(&self, lines: &str, counter: &mut Counter) -> bool {
        self.for_each_line_cut(lines, |cut| counter.add_cut(lines.as_bytes(), cut))
    }
}

/// Distinct words with their counts (unsigned 64-bit).
///
/// Two `Counts` are equal if they have the same words with the same counts, whatever order is kept.
///
/// ```
/// use jogak::count::{Counter, Counts, Order};
///
/// let mut counter = Counter::new(false);
/// for word in ["to", "be", "or", "not", "to", "be"] {
///     counter.add(word.as_bytes());
/// }
/// let counts = Counts::from_counters(vec![counter], 1)?;
/// assert_eq!((counts.len(), counts.total()), (4, 6));
/// assert_eq!(counts.get(b"be"), Some(2));
/// let words: Vec<_> = counts.inventory(Order::Canonical, 1).iter().map(|(w, n)| (w.to_vec(), n)).collect();
/// assert_eq!(words[0], (b"be".to_vec(), 2)); // count descending, then bytes ascending
/// # Ok::<(), jogak::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Counts {
    /// `PARTITIONS` tables; all keep first positions, or none does.
    tables: Vec<Table>,
    len: usize,
    total: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self::from_tables(vec![Table::new(false); PARTITIONS], 0)
    }
}

impl Counts {
    /// Merges what threads counted, on up to `threads` threads. First positions stay if all counters
    /// kept them.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if a count or the total passes `u64::MAX`, [`Error::TooLarge`] if a table
    /// cannot address its words; also what a counter could not say while it was counting.
    pub fn from_counters(counters: Vec<Counter>, threads: usize) -> Result<Self> {
        let (tables, total) = counter::merge(counters, threads)?;
        Ok(Self::from_tables(tables, total))
    }

    fn from_tables(tables: Vec<Table>, total: u64) -> Self {
        let len = tables.iter().map(Table::len).sum();
        Self { tables, len, total }
    }

    /// How many distinct words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The sum of all counts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The count of `word`; None if it never occurred.
    #[must_use]
    pub fn get(&self, word: &[u8]) -> Option<u64> {
        self.tables[partition(hash(word))].get(word)
    }

    /// Whether it is known which word was seen first.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        self.tables.iter().all(Table::keeps_order)
    }

    /// Bytes that the tables hold.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.tables.iter().map(Table::memory).sum()
    }

    /// Adds `other`. The order of first sight is lost: a sum has no first corpus. (A sum with counts
    /// that have no word is no sum and keeps it.)
    ///
    /// # Errors
    /// [`Error::CountOverflow`], [`Error::TooLarge`] as in [`Counts::from_counters`].
    pub fn merge(self, other: Self) -> Result<Self> {
        if self.is_empty() || other.is_empty() {
            return Ok(if self.is_empty() { other } else { self });
        }
        let counters = [self.forget_order()?, other.forget_order()?];
        Self::from_counters(counters.map(|counts| Counter::from_tables(counts.tables)).into(), 1)
    }

    fn forget_order(mut self) -> Result<Self> {
        for table in &mut self.tables {
            if table.keeps_order() {
                let mut plain = Table::new(false);
                for entry in table.iter() {
                    plain.add(entry.word, hash(entry.word), entry.count, 0)?;
                }
                *table = plain;
            }
        }
        Ok(self)
    }

    /// Only the words that occur at least `min_count` times and have at least `min_length` characters
    /// (Unicode code points). An order that was kept stays.
    ///
    /// # Errors
    /// None that a part of a sum that fits can cause; the type is that of all additions.
    pub fn limited(&self, min_count: u64, min_length: usize) -> Result<Self> {
        let mut tables = Vec::with_capacity(PARTITIONS);
        let mut total = 0;
        for table in &self.tables {
            let mut kept = Table::new(table.keeps_order());
            for Entry { word, count, position, .. } in table.iter() {
                if count >= min_count && has_characters(word, min_length) {
                    kept.add(word, hash(word), count, position)?;
                    total += count;
                }
            }
            tables.push(kept);
        }
        Ok(Self::from_tables(tables, total))
    }

    /// All words with their counts, in an order that means nothing (but is the same every time for
    /// counts that were made the same way). The cheapest way to read them.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.tables.iter().flat_map(Table::iter).map(|entry| (entry.word, entry.count))
    }

    /// The words in parts, as [`Counts::iter`] without an order that means anything: so that several
    /// threads can read them at a time.
    #[must_use]
    pub fn parts(&self) -> Vec<impl Iterator<Item = (&[u8], u64)> + Clone + Send + Sync> {
        self.tables
            .iter()
            .map(|table| table.iter().map(|entry| (entry.word, entry.count)))
            .collect()
    }

    /// The same in up to `shares` parts of about the same size.
    #[must_use]
    pub fn shares(
        &self,
        shares: usize,
    ) -> Vec<impl Iterator<Item = (&[u8], u64)> + Clone + Send + Sync> {
        let size = PARTITIONS.div_ceil(shares.clamp(1, PARTITIONS));
        let words = |table| Table::iter(table).map(|entry| (entry.word, entry.count));
        self.tables.chunks(size).map(|tables| tables.iter().flat_map(words)).collect()
    }

    /// Takes the counts apart, for a trainer that brings the words into an order of its own: part by
    /// part, each freed when it is dropped. Sizes for allocation come from [`Counts::iter`] before.
    pub fn into_parts(self) -> impl Iterator<Item = Part> {
        self.tables.into_iter().map(|mut table| {
            table.freeze();
            Part { table }
        })
    }

    /// The words in `order`, borrowed; sorted on up to `threads` threads. Takes 8 bytes a word, and while
    /// sorting 24.
    #[must_use]
    pub fn inventory(&self, order: Order, threads: usize) -> Inventory<'_> {
        Inventory::borrowed(self, order, threads)
    }

    /// The words in `order`; sorted on up to `threads` threads. Frees at once what only look-ups need.
    #[must_use]
    pub fn into_inventory(self, order: Order, threads: usize) -> Inventory<'static> {
        Inventory::owned(self, order, threads)
    }
}

impl PartialEq for Counts {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len
            && self.total == other.total
            && self.iter().all(|(word, count)| other.get(word) == Some(count))
    }
}

impl Eq for Counts {}

/// One part of [`Counts::into_parts`].
#[derive(Debug)]
pub struct Part {
    table: Table,
}

impl Part {
    /// The words of this part with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.table.iter().map(|entry| (entry.word, entry.count))
    }
}

/// Whether `word` has at least `least` characters: bytes that do not continue one.
fn has_characters(word: &[u8], least: usize) -> bool {
    word.len() >= least
        && (least <= 1 || word.iter().filter(|byte| **byte & 0xc0 != 0x80).count() >= least)
}

#[cold]
fn total_overflow() -> Error {
    Error::CountOverflow { what: "the sum of all counts".into() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;

    fn counts(text: &str, keep_order: bool, threads: usize) -> Counts {
        let words: Vec<&str> = text.split(' ').collect();
        let mut counters: Vec<Counter> = (0..threads).map(|_| Counter::new(keep_order)).collect();
        for (i, word) in words.iter().enumerate() {
            // Later words go to earlier counters, so that order cannot come from the threads.
            let counter = &mut counters[threads - 1 - i % threads];
            counter.start_block(i as u64).unwrap();
            counter.add(word.as_bytes());
        }
        Counts::from_counters(counters, threads).unwrap()
    }

    fn listed(counts: &Counts, order: Order) -> Vec<(String, u64)> {
        let inventory = counts.inventory(order, 2);
        inventory.iter().map(|(w, n)| (String::from_utf8(w.to_vec()).unwrap(), n)).collect()
    }

    const TEXT: &str = "나 는 간장 밥 b a 밥 이 좋 다 a 나 a 밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥밥";

    #[test]
    fn an_order_is_kept_if_all_keep_it() {
        let filled = |keep_order, words: usize| {
            let mut counter = Counter::new(keep_order);
            for number in 0..words {
                counter.add(format!("word {number}").as_bytes());
            }
            counter
        };
        // Whichever is the larger one, in all parts.
        for (kept, other) in [(2000, 10), (10, 2000), (500, 500), (0, 10), (10, 0)] {
            let mixed = vec![filled(true, kept), filled(false, other)];
            let mixed = Counts::from_counters(mixed, 2).unwrap();
            assert!(!mixed.keeps_order(), "{kept} {other}");
            assert!(mixed.tables.iter().all(|table| !table.keeps_order()));
            let plain = vec![filled(false, kept), filled(false, other)];
            assert_eq!(mixed, Counts::from_counters(plain, 1).unwrap());
            let all = vec![filled(true, kept), filled(true, other)];
            assert!(Counts::from_counters(all, 2).unwrap().keeps_order());
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same() {
        for keep_order in [false, true] {
            let one = counts(TEXT, keep_order, 1);
            for threads in 2..6 {
                let many = counts(TEXT, keep_order, threads);
                assert_eq!(one, many);
                for order in [Order::Canonical, Order::FirstSeen] {
                    assert_eq!(listed(&one, order), listed(&many, order));
                }
            }
        }
    }

    #[test]
    fn orders() {
        let kept = counts(TEXT, true, 3);
        let first: Vec<String> =
            listed(&kept, Order::FirstSeen).into_iter().map(|(w, _)| w).collect();
        assert_eq!(first[..6], ["나", "는", "간장", "밥", "b", "a"]);
        let canonical = listed(&kept, Order::Canonical);
        assert_eq!(canonical[0], ("a".into(), 3));
        assert!(canonical.is_sorted_by_key(|(w, n)| (std::cmp::Reverse(*n), w.clone())));
        // Without a kept order "first seen" means canonical.
        let plain = counts(TEXT, false, 3);
        assert_eq!(listed(&plain, Order::FirstSeen), canonical);
    }

    #[test]
    fn sums() {
        let a = counts("a b a", true, 1);
        let b = counts("c b", true, 1);
        let sum = a.clone().merge(b.clone()).unwrap();
        assert_eq!(sum, b.clone().merge(a.clone()).unwrap());
        assert_eq!(sum, counts("a b a c b", false, 2));
        assert!(!sum.keeps_order());
        assert_eq!(sum.total(), 5);
        assert!(a.clone().merge(Counts::default()).unwrap().keeps_order());
        assert_ne!(a, b);
    }

    #[test]
    fn sums_that_do_not_fit_are_errors() {
        let mut counter = Counter::new(false);
        counter.add_many(b"a", u64::MAX, 0).unwrap();
        let huge = Counts::from_counters(vec![counter], 1).unwrap();
        assert!(matches!(huge.clone().merge(huge.clone()), Err(Error::CountOverflow { .. })));
        let one = counts("b", false, 1);
        assert_eq!(huge.merge(one), Err(total_overflow()));
    }

    #[test]
    fn limits() {
        let all = counts(TEXT, true, 2);
        let some = all.limited(1, 2).unwrap();
        assert_eq!(listed(&some, Order::FirstSeen)[0], ("간장".into(), 1));
        assert_eq!(some.len(), 2);
        assert_eq!(all.limited(3, 1).unwrap().total(), 3);
        assert_eq!(all.limited(0, 0).unwrap(), all);
    }

    #[test]
    fn parts_have_every_word_once() {
        let all = counts(TEXT, false, 2);
        let mut counter = Counter::new(false);
        for part in all.clone().into_parts() {
            for (word, count) in part.iter() {
                counter.add_many(word, count, 0).unwrap();
            }
        }
        assert_eq!(Counts::from_counters(vec![counter], 1).unwrap(), all);
    }
}
