//! The first merges of a training, written down: the choice, and what it changed.

use std::collections::BTreeSet;

use jogak::symbols::UNKNOWN;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The words of a corpus as they are cut at the moment.
pub(super) trait Words {
    /// The text of a piece.
    fn name(&self, id: u32) -> String;
    /// Calls `word(symbols, count)` for every word, in order.
    fn for_each_word(&self, word: impl FnMut(&[u32], u64));
}

/// Words by name: (pieces, count).
type Entries = Vec<(Vec<String>, u64)>;

/// What there was to choose from.
#[derive(Default)]
pub(super) struct Choice<C> {
    /// The best candidates, best first.
    pub(super) shown: Vec<C>,
    /// How many there were.
    pub(super) total: usize,
    /// How many were as good as the best one.
    pub(super) tied: usize,
}

/// What the merge did.
#[derive(Default)]
pub(super) struct Change {
    pub(super) count: u64,
    pub(super) replaced: u64,
    pub(super) live: i8,
}

/// Traces the first merges; `C` is a candidate as Python sees it.
pub(super) struct Trace<C> {
    /// How many merges are traced, and with how many candidates and changed words each.
    merges: usize,
    pub(super) candidates: usize,
    words: usize,
    pub(super) records: Vec<Record<C>>,
    /// The record of the merge that is being applied, and which words it changes.
    now: Option<(Record<C>, Vec<usize>)>,
    live: i64,
}

pub(super) struct Record<C> {
    change: Change,
    texts: (String, String, String),
    choice: Choice<C>,
    before: Entries,
    after: Entries,
    changed_total: usize,
    live: i64,
    lengths: (u64, u64),
}

fn names(look: &impl Words, symbols: &[u32]) -> Vec<String> {
    let name = |&id: &u32| if id == UNKNOWN { "<unk>".into() } else { look.name(id) };
    symbols.iter().map(name).collect()
}

impl<C> Trace<C> {
    pub(super) fn new(merges: usize, candidates: usize, words: usize) -> Self {
        Self { merges, candidates, words, records: Vec::new(), now: None, live: 0 }
    }

    /// Whether no more merges are traced.
    pub(super) fn is_full(&self) -> bool {
        self.records.len() >= self.merges
    }

    pub(super) fn before(&mut self, pair: (u32, u32), look: &impl Words, choice: Choice<C>) {
        let mut seen = BTreeSet::new();
        let (mut length, mut changed_total) = (0, 0);
        let (mut changed, mut before) = (Vec::new(), Vec::new());
        let mut index = 0;
        look.for_each_word(|symbols, count| {
            seen.extend(symbols.iter().copied().filter(|&id| id != UNKNOWN));
            length += symbols.len() as u64 * count;
            if symbols.windows(2).any(|two| two == [pair.0, pair.1]) {
                changed_total += 1;
                if changed.len() < self.words {
                    changed.push(index);
                    before.push((names(look, symbols), count));
                }
            }
            index += 1;
        });
        self.live = seen.len() as i64;
        let record = Record {
            change: Change::default(),
            texts: (look.name(pair.0), look.name(pair.1), String::new()),
            choice,
            before,
            after: Vec::new(),
            changed_total,
            live: 0,
            lengths: (length, 0),
        };
        self.now = Some((record, changed));
    }

    pub(super) fn after(&mut self, id: u32, change: Change, look: &impl Words) {
        let Some((mut record, changed)) = self.now.take() else { return };
        let mut changed = changed.into_iter().peekable();
        let mut index = 0;
        look.for_each_word(|symbols, count| {
            record.lengths.1 += symbols.len() as u64 * count;
            if changed.next_if_eq(&index).is_some() {
                record.after.push((names(look, symbols), count));
            }
            index += 1;
        });
        record.live = self.live + i64::from(change.live);
        record.texts.2 = look.name(id);
        record.change = change;
        self.records.push(record);
    }
}

impl<C> Record<C> {
    pub(super) fn dict<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>>
    where
        C: IntoPyObjectExt<'py>,
    {
        let dict = PyDict::new(py);
        dict.set_item("count", self.change.count)?;
        dict.set_item("occurrences", self.change.replaced)?;
        dict.set_item("live_change", self.change.live)?;
        dict.set_item("left", self.texts.0)?;
        dict.set_item("right", self.texts.1)?;
        dict.set_item("piece", self.texts.2)?;
        let shown: Vec<_> = self
            .choice
            .shown
            .into_iter()
            .map(|candidate| candidate.into_bound_py_any(py))
            .collect::<PyResult<_>>()?;
        dict.set_item("candidates", shown)?;
        dict.set_item("candidates_total", self.choice.total)?;
        dict.set_item("tied", self.choice.tied)?;
        dict.set_item("before", self.before)?;
        dict.set_item("after", self.after)?;
        dict.set_item("changed_total", self.changed_total)?;
        dict.set_item("live", self.live)?;
        dict.set_item("length_before", self.lengths.0)?;
        dict.set_item("length_after", self.lengths.1)?;
        Ok(dict)
    }
}
