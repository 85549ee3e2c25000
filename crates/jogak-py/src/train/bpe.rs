//! Training BPE: words and a config in, pieces and merges out.

use std::ops::ControlFlow;
use std::sync::Arc;

use jogak::count::{Inventory, Order};

use jogak::symbols::{UNKNOWN, draw};
use jogak::train::{
    BpeConfig, BpeTrained, Corpus, Merge, PieceRules, Stop, Ties, TrainObserver, View,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::counts::Counts;
use crate::errors::{raise, to_py};
use crate::models::{Options, marker};
use crate::train::{Reporter, alphabet_limit};

/// Trains BPE on `counts`. `config` is `BPE` as a dict, flattened; `other_pieces` are the texts of
/// special tokens and byte pieces. `consume` leaves `counts` without words, so that their memory is
/// free while merges are learned. `progress(done, goal)` is called now and then. `trace` is how many
/// merges are traced, with up to `candidates` pairs and `words` words each.
#[pyfunction]
#[pyo3(signature = (counts, config, other_pieces, consume=false, progress=None, trace=0, candidates=20, words=50))]
#[expect(clippy::too_many_arguments, reason = "Python sees keywords")]
pub(crate) fn train_bpe<'py>(
    py: Python<'py>,
    counts: &Bound<'py, Counts>,
    config: &Bound<'py, PyDict>,
    other_pieces: Vec<String>,
    consume: bool,
    progress: Option<Py<PyAny>>,
    trace: usize,
    candidates: usize,
    words: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let config = parse(config, other_pieces)?;
    let bytes = config.bytes;
    let mut watcher = Watcher {
        reporter: Reporter::new(progress),
        trace: Trace {
            bytes: config.bytes,
            merges: trace,
            candidates,
            words,
            records: Vec::new(),
            now: None,
            live: 0,
        },
    };
    let watching = &mut watcher;
    let counts = if consume { counts.get().take() } else { counts.get().share() };
    let trained = py
        .detach(move || {
            let order = match config.ties {
                Ties::FirstSeen => Order::FirstSeen,
                _ => Order::Canonical,
            };
            let corpus = match Arc::try_unwrap(counts) {
                Ok(counts) => corpus(&counts.into_inventory(order), &config, watching),
                Err(counts) => corpus(&counts.inventory(order), &config, watching),
            }?;
            corpus.train(&config, watching)
        })
        .map_err(to_py)?;
    watcher.reporter.check()?;
    result(py, &trained, bytes, watcher.trace.records)
}

fn corpus(
    words: &Inventory<'_>,
    config: &BpeConfig,
    watcher: &mut Watcher,
) -> jogak::Result<Corpus> {
    // Counts hold nothing but text, so no word is lost here.
    let words =
        words.iter().filter_map(|(word, count)| Some((std::str::from_utf8(word).ok()?, count)));
    Corpus::new(words, config, watcher)
}

fn result<'py>(
    py: Python<'py>,
    trained: &BpeTrained,
    bytes: bool,
    records: Vec<Record>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let texts: Vec<String> = trained.pieces.iter().map(|piece| text(piece, bytes)).collect();
    dict.set_item("alphabet", trained.alphabet)?;
    let column = |of: fn(&Merge) -> u64| trained.merges.iter().map(of).collect::<Vec<_>>();
    let pairs: Vec<_> = trained.merges.iter().map(|merge| (merge.left, merge.right)).collect();
    dict.set_item("merges", pairs)?;
    dict.set_item("counts", column(|merge| merge.count))?;
    dict.set_item("occurrences", column(|merge| merge.replaced))?;
    let live: Vec<i8> = trained.merges.iter().map(|merge| merge.live_change).collect();
    dict.set_item("live_changes", live)?;
    let stop = match trained.stop {
        Stop::NumMerges => "num-merges",
        Stop::VocabSize => "vocab-size",
        Stop::MinPairCount => "min-pair-count",
        Stop::NoPair => "no-pair",
        Stop::Interrupted => "interrupted",
    };
    dict.set_item("stop", stop)?;
    let dead: Vec<bool> = trained.occurrences.iter().map(|&count| count == 0).collect();
    dict.set_item("dead", dead)?;
    dict.set_item("initial_live", trained.initial_live)?;
    dict.set_item("initial_length", trained.initial_length)?;
    dict.set_item("distinct_words", trained.distinct_words)?;
    dict.set_item("total_words", trained.total_words)?;
    dict.set_item("left_out", trained.left_out)?;
    dict.set_item("passed_over", &trained.passed_over)?;
    dict.set_item("pieces", texts)?;
    let records =
        records.into_iter().map(|record| record.dict(py)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("trace", records)?;
    Ok(dict)
}

/// A piece as Python names it.
fn text(piece: &[u8], bytes: bool) -> String {
    if bytes { draw(piece) } else { String::from_utf8_lossy(piece).into_owned() }
}

fn parse(config: &Bound<'_, PyDict>, other_pieces: Vec<String>) -> PyResult<BpeConfig> {
    let options = Options(config);
    let ties: String = options.get("ties")?;
    let limit = alphabet_limit(&options)?;
    Ok(BpeConfig {
        bytes: options.get::<String>("alphabet")? == "bytes",
        marker: marker(&options)?,
        limit,
        ties: match ties.as_str() {
            "first-seen" => Ties::FirstSeen,
            "lexicographic" => Ties::Lexicographic,
            "lowest-id" => Ties::LowestId,
            "greatest" => Ties::Greatest,
            "sentencepiece" => Ties::SentencePiece,
            other => return Err(raise("ConfigError", format!("ties {other:?} is not known"), &[])),
        },
        num_merges: options.get("num_merges")?,
        vocab_size: options.get("vocab_size")?,
        other_pieces: other_pieces.into_iter().map(String::into_bytes).collect(),
        min_pair_count: options.get("min_pair_count")?,
        max_piece_length: options.get("max_piece_length")?,
        rules: PieceRules {
            split_by_unicode_script: options.get("split_by_unicode_script")?,
            split_by_number: options.get("split_by_number")?,
            split_digits: options.get("split_digits")?,
            split_by_whitespace: options.get("split_by_whitespace")?,
            allow_whitespace_only_pieces: options.get("allow_whitespace_only_pieces")?,
            treat_whitespace_as_suffix: options.get("treat_whitespace_as_suffix")?,
            spaces: options.get("space_rules")?,
        },
    })
}

/// Watches training on behalf of Python.
struct Watcher {
    reporter: Reporter,
    trace: Trace,
}

impl TrainObserver for Watcher {
    fn before_merge(&mut self, merge: &Merge, view: &View<'_>) {
        self.trace.before(merge, view);
    }

    fn after_merge(&mut self, merge: &Merge, view: &View<'_>) {
        self.trace.after(merge, view);
    }

    fn progress(&mut self, done: usize, goal: Option<usize>) -> ControlFlow<()> {
        self.reporter.tick(done, goal)
    }
}

/// Words as they are cut: (pieces, count).
type Words = Vec<(Vec<String>, u64)>;

/// Traces the first merges.
struct Trace {
    bytes: bool,
    /// How many merges are traced, and with how many candidates and changed words each.
    merges: usize,
    candidates: usize,
    words: usize,
    records: Vec<Record>,
    /// The record of the merge that is being applied, and which words it changes.
    now: Option<(Record, Vec<usize>)>,
    live: i64,
}

#[derive(Default)]
struct Record {
    merge: Option<Merge>,
    texts: (String, String, String),
    candidates: Vec<(String, String, u64)>,
    candidates_total: usize,
    tied: usize,
    before: Words,
    after: Words,
    changed_total: usize,
    live: i64,
    lengths: (u64, u64),
}

impl Trace {
    fn name(&self, view: &View<'_>, id: u32) -> String {
        if id == UNKNOWN { "<unk>".into() } else { text(view.piece(id), self.bytes) }
    }

    fn before(&mut self, merge: &Merge, view: &View<'_>) {
        if self.records.len() >= self.merges {
            return;
        }
        let mut record = Record::default();
        let mut seen = std::collections::BTreeSet::new();
        let mut changed = Vec::new();
        let mut index = 0;
        view.for_each_word(|symbols, count| {
            seen.extend(symbols.iter().copied().filter(|&id| id != UNKNOWN));
            record.lengths.0 += symbols.len() as u64 * count;
            if symbols.windows(2).any(|pair| pair == [merge.left, merge.right]) {
                record.changed_total += 1;
                if changed.len() < self.words {
                    changed.push(index);
                    let names = symbols.iter().map(|&id| self.name(view, id)).collect();
                    record.before.push((names, count));
                }
            }
            index += 1;
        });
        self.live = seen.len() as i64;
        let candidates = view.candidates();
        record.candidates_total = candidates.len();
        record.tied = candidates.iter().filter(|(_, count)| *count == merge.count).count();
        record.candidates = candidates
            .iter()
            .take(self.candidates)
            .map(|&((left, right), count)| (self.name(view, left), self.name(view, right), count))
            .collect();
        record.texts.0 = self.name(view, merge.left);
        record.texts.1 = self.name(view, merge.right);
        self.now = Some((record, changed));
    }

    fn after(&mut self, merge: &Merge, view: &View<'_>) {
        let Some((mut record, changed)) = self.now.take() else { return };
        let mut changed = changed.into_iter().peekable();
        let mut index = 0;
        view.for_each_word(|symbols, count| {
            record.lengths.1 += symbols.len() as u64 * count;
            if changed.next_if_eq(&index).is_some() {
                let names = symbols.iter().map(|&id| self.name(view, id)).collect();
                record.after.push((names, count));
            }
            index += 1;
        });
        record.live = self.live + i64::from(merge.live_change);
        record.texts.2 = self.name(view, merge.id);
        record.merge = Some(*merge);
        self.records.push(record);
    }
}

impl Record {
    fn dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        if let Some(merge) = self.merge {
            dict.set_item("count", merge.count)?;
            dict.set_item("occurrences", merge.replaced)?;
            dict.set_item("live_change", merge.live_change)?;
        }
        dict.set_item("left", self.texts.0)?;
        dict.set_item("right", self.texts.1)?;
        dict.set_item("piece", self.texts.2)?;
        dict.set_item("candidates", self.candidates)?;
        dict.set_item("candidates_total", self.candidates_total)?;
        dict.set_item("tied", self.tied)?;
        dict.set_item("before", self.before)?;
        dict.set_item("after", self.after)?;
        dict.set_item("changed_total", self.changed_total)?;
        dict.set_item("live", self.live)?;
        dict.set_item("length_before", self.lengths.0)?;
        dict.set_item("length_after", self.lengths.1)?;
        Ok(dict)
    }
}
