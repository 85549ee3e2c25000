//! What one thread counts, and how the counters of several threads become one.
//!
//! Rule: `add` is called for every word of a corpus; nothing else here is.
//!
//! A table of all words of a corpus is larger than the caches, so that a look-up waits for memory, twice:
//! for the slot and for the record. So there are two rooms in front of it:
//!
//! - Half of a text is a few hundred words. A short word is first looked for in a small table where each
//!   word has one place, the *front*. If it is there, it is counted; if not, it takes the place of
//!   the word that is, which goes on to the batch with its count.
//! - Words wait in a small *batch*, and the slot of each is asked for when it comes. When the batch is full,
//!   they are counted one by one, and the records of those some ahead are asked for.

use super::hash::{SHORT, Short, hash};
use super::table::Table;
use super::{PARTITIONS, partition, total_overflow};
use crate::beside::crew;
use crate::error::{Error, Result};
use crate::pretokenize::Cut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bits of a position that number the words within a block; the rest number the blocks.
const WORD_BITS: u32 = 36;

/// Words that wait, and bytes of words: both stay in a first-level cache.
const BATCH_WORDS: usize = 128;
const BATCH_BYTES: usize = 4096;

/// So many words ahead, records are asked for.
const AHEAD: usize = 16;

/// The front goes by other bits of a hash than parts and tags do.
const FRONT_SHIFT: u32 = 20;

/// Places of the front; 128 kilobytes.
const FRONT: usize = 1 << 12;

/// A short word that was met some times.
#[derive(Debug, Clone, Copy)]
struct Met {
    first: u64,
    last: u64,
    /// The length of the word in the low eight bits, how often it was met in the others.
    times: u64,
    /// Where it was met first.
    position: u64,
}

/// Once, in [`Met::times`].
const ONCE: u64 = 1 << 8;

impl Met {
    /// No word has this length.
    const NOTHING: Self = Self { first: 0, last: 0, times: ONCE - 1, position: 0 };

    #[inline(always)]
    fn once(Short { first, last, length }: Short, position: u64) -> Self {
        Self { first, last, times: ONCE | u64::from(length), position }
    }

    #[inline(always)]
    fn is(&self, word: Short) -> bool {
        let length = (self.times ^ u64::from(word.length)) & (ONCE - 1);
        (self.first ^ word.first) | (self.last ^ word.last) | length == 0
    }

    fn waiting(self) -> Option<Waiting> {
        let Self { first, last, times, position } = self;
        let word = Short { first, last, length: (times % ONCE) as u32 };
        let count = times / ONCE;
        let waiting = || Waiting { hash: word.hash(), word: Word::Short(word), count, position };
        (count > 0).then(waiting)
    }
}

/// Words that wait to be counted.
#[derive(Debug, Clone, Copy)]
enum Word {
    Short(Short),
    /// Where its bytes are in the batch.
    Long(u32, u32),
}

/// A word that waits to be counted.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    hash: u64,
    word: Word,
    count: u64,
    position: u64,
}

/// Counts the words of one thread.
#[derive(Debug)]
pub struct Counter {
    tables: Vec<Table>,
    /// A short word by its hash; a count of 0 is an empty place. Empty until a word is counted.
    front: Vec<Met>,
    batch: Vec<Waiting>,
    /// The bytes of the long words of `batch`.
    bytes: Vec<u8>,
    /// Where the next word stands: number of its block in the corpus, then number in the block.
    position: u64,
    /// The first addition that failed. Kept aside so that `add` has nothing to return.
    failure: Option<Error>,
}

impl Counter {
    /// A counter without words. `keep_order` remembers where each word was first seen, for 8 bytes a
    /// word.
    #[must_use]
    pub fn new(keep_order: bool) -> Self {
        Self::from_tables(vec![Table::new(keep_order); PARTITIONS])
    }

    pub(super) fn from_tables(tables: Vec<Table>) -> Self {
        let batch = Vec::with_capacity(BATCH_WORDS);
        let bytes = Vec::with_capacity(BATCH_BYTES);
        Self { tables, front: Vec::new(), batch, bytes, position: 0, failure: None }
    }

    /// Says that the words to come stand in block `number` of the corpus. Only the order of first
    /// sight needs it.
    ///
    /// # Errors
    /// [`Error::TooLarge`] past 2^28 blocks.
    pub fn start_block(&mut self, number: u64) -> Result<()> {
        let limit = 1 << (64 - WORD_BITS);
        if number >= limit {
            return Err(Error::TooLarge { what: "the corpus", size: number, limit });
        }
        self.position = number << WORD_BITS;
        Ok(())
    }

    /// Counts one occurrence of `word`. Should it not fit, [`Counts::from_counters`] says so.
    ///
    /// [`Counts::from_counters`]: super::Counts::from_counters
    #[inline]
    pub fn add(&mut self, word: &[u8]) {
        if word.len() > SHORT {
            return self.add_long(word);
        }
        self.add_short(Short::new(word));
    }

    /// Counts words of `text`.
    #[inline(always)]
    pub(crate) fn add_cut(&mut self, text: &[u8], cut: Cut<'_>) {
        match cut {
            Cut::Word(start, end) => self.add_from(text, start, end),
            Cut::Spans(starts, ends) => {
                for (start, end) in starts.iter().zip(ends) {
                    self.add_from(text, *start as usize, *end as usize);
                }
            }
            Cut::List(borders) => {
                for (start, end) in borders.iter().zip(borders.iter().skip(1)) {
                    self.add_from(text, *start as usize, *end as usize);
                }
            }
        }
    }

    /// Counts a word of `text`; one that has text behind it costs less.
    #[inline(always)]
    fn add_from(&mut self, text: &[u8], start: usize, end: usize) {
        let length = end - start;
        match text.get(start..).and_then(|text| text.first_chunk::<SHORT>()) {
            Some(bytes) if length <= SHORT => self.add_short(Short::in_front(bytes, length)),
            _ => self.add(&text[start..end]),
        }
    }

    #[inline(always)]
    fn add_short(&mut self, word: Short) {
        let position = self.position;
        self.position += 1;
        let place = (word.hash() >> FRONT_SHIFT) as usize % FRONT;
        let Some(met) = self.front.get_mut(place) else { return self.add_first(word, position) };
        if met.is(word) {
            met.times += ONCE;
            return;
        }
        let before = std::mem::replace(met, Met::once(word, position));
        if let Some(waiting) = before.waiting() {
            self.wait(waiting);
        }
    }

    /// Only now is there a front.
    #[cold]
    fn add_first(&mut self, word: Short, position: u64) {
        self.front = vec![Met::NOTHING; FRONT];
        self.wait(Waiting { hash: word.hash(), word: Word::Short(word), count: 1, position });
    }

    #[inline(never)]
    fn add_long(&mut self, word: &[u8]) {
        let position = self.position;
        self.position += 1;
        let hash = hash(word);
        if word.len() > BATCH_BYTES {
            if let Err(error) = self.tables[partition(hash)].add(word, hash, 1, position) {
                self.failure.get_or_insert(error);
            }
            return;
        }
        if self.bytes.len() + word.len() > BATCH_BYTES {
            self.flush();
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(word);
        let word = Word::Long(start, self.bytes.len() as u32);
        self.wait(Waiting { hash, word, count: 1, position });
    }

    #[inline(always)]
    fn wait(&mut self, waiting: Waiting) {
        self.tables[partition(waiting.hash)].ask(waiting.hash);
        self.batch.push(waiting);
        if self.batch.len() == BATCH_WORDS {
            self.flush();
        }
    }

    /// Counts all words that were added.
    fn finish(&mut self) {
        for met in std::mem::take(&mut self.front) {
            if let Some(waiting) = met.waiting() {
                self.wait(waiting);
            }
        }
        self.flush();
    }

    /// Counts the words that wait.
    #[inline(never)]
    fn flush(&mut self) {
        for waiting in self.batch.iter().take(AHEAD) {
            self.tables[partition(waiting.hash)].ask_record(waiting.hash);
        }
        for (index, &Waiting { hash, word, count, position }) in self.batch.iter().enumerate() {
            if let Some(waiting) = self.batch.get(index + AHEAD) {
                self.tables[partition(waiting.hash)].ask_record(waiting.hash);
            }
            let table = &mut self.tables[partition(hash)];
            let added = match word {
                Word::Short(word) => table.add_short(word, hash, count, position),
                Word::Long(start, end) => {
                    table.add(&self.bytes[start as usize..end as usize], hash, count, position)
                }
            };
            if let Err(error) = added {
                self.failure.get_or_insert(error);
            }
        }
        self.batch.clear();
        self.bytes.clear();
    }

    /// Counts `n` occurrences of `word`, first seen at `position` (any numbers that grow).
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if the word's count passes `u64::MAX`.
    pub fn add_many(&mut self, word: &[u8], n: u64, position: u64) -> Result<()> {
        let hash = hash(word);
        self.tables[partition(hash)].add(word, hash, n, position)
    }
}

/// Merges counters part by part, on up to `threads` threads. Returns the parts and the total.
pub(super) fn merge(mut counters: Vec<Counter>, threads: usize) -> Result<(Vec<Table>, u64)> {
    for counter in &mut counters {
        counter.finish();
        if let Some(error) = counter.failure.take() {
            return Err(error);
        }
    }
    // Part p of everybody, to be taken once; and what came of it.
    let mut parts: Vec<Vec<Table>> = (0..PARTITIONS).map(|_| Vec::new()).collect();
    for counter in counters {
        for (part, table) in parts.iter_mut().zip(counter.tables) {
            part.push(table);
        }
    }
    let jobs: Vec<Mutex<Vec<Table>>> = parts.into_iter().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let work = |_| -> Vec<(usize, Result<(Table, u64)>)> {
        let mut done = Vec::new();
        while let Some((p, job)) = {
            let p = next.fetch_add(1, Ordering::Relaxed);
            jobs.get(p).map(|job| (p, job))
        } {
            // A poisoned lock means that another thread panicked; its panic is passed on by the scope.
            let tables = std::mem::take(&mut *job.lock().unwrap_or_else(|e| e.into_inner()));
            done.push((p, merge_part(tables)));
        }
        done
    };
    let threads = threads.min(PARTITIONS);
    let mut done: Vec<_> = crew(threads, || work(0), work).into_iter().flatten().collect();
    done.sort_by_key(|(p, _)| *p);
    let mut tables = Vec::with_capacity(PARTITIONS);
    let mut total = 0_u64;
    for (_, part) in done {
        let (table, sum) = part?;
        total = total.checked_add(sum).ok_or_else(total_overflow)?;
        tables.push(table);
    }
    Ok((tables, total))
}

/// One part: the smaller tables are added to the largest and freed one by one. If only some keep first
/// positions, all are added to a table that keeps none.
fn merge_part(mut tables: Vec<Table>) -> Result<(Table, u64)> {
    tables.sort_by_key(Table::len);
    let keep_order = !tables.is_empty() && tables.iter().all(Table::keeps_order);
    let largest = tables.pop_if(|largest| largest.keeps_order() == keep_order);
    let mut all = largest.unwrap_or_else(|| Table::new(keep_order));
    for table in tables {
        for entry in table.iter() {
            all.add(entry.word, hash(entry.word), entry.count, entry.position)?;
        }
    }
    let mut sum = 0_u64;
    for entry in all.iter() {
        sum = sum.checked_add(entry.count).ok_or_else(total_overflow)?;
    }
    Ok((all, sum))
}
