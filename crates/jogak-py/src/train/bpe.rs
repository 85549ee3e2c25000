//! Training BPE: words and a config in, pieces and merges out.

use std::ops::ControlFlow;

use jogak::count::Order;

use jogak::symbols::draw;
use jogak::train::{BpeConfig, BpeTrained, Corpus, Merge, PieceRules, Ties, TrainObserver, View};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::counts::Counts;
use crate::errors::{raise, to_py};
use crate::lists::column;
use crate::models::{Options, marker};
use crate::pieces::{PyMerges, PyPieces};
use crate::train::trace::{Change, Choice, Record, Trace, Words};
use crate::train::{Reporter, alphabet_limit, stop};

/// Trains BPE on `counts`. `config` is `BPE` as a dict, flattened; `other_pieces` are the texts of
/// special tokens and byte pieces. `consume` leaves `counts` without words, so that their memory is
/// free while merges are learned. `progress(done, goal)` is called now and then. `trace` is how many
/// merges are traced, with up to `candidates` pairs and `words` words each. With `around`, the texts
/// before and behind what is learned, pieces and merges come as tables of all ids.
#[pyfunction]
#[pyo3(signature = (counts, config, other_pieces, threads, consume=false, progress=None, trace=0, candidates=20, words=50, around=None))]
#[expect(clippy::too_many_arguments, reason = "Python sees keywords")]
pub(crate) fn train_bpe<'py>(
    py: Python<'py>,
    counts: &Bound<'py, Counts>,
    config: &Bound<'py, PyDict>,
    other_pieces: Vec<String>,
    threads: usize,
    consume: bool,
    progress: Option<Py<PyAny>>,
    trace: usize,
    candidates: usize,
    words: usize,
    around: Option<(Vec<String>, Vec<String>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let config = parse(config, other_pieces)?;
    let bytes = config.bytes;
    let mut watcher = Watcher {
        reporter: Reporter::new(progress),
        bytes: config.bytes,
        trace: Trace::new(trace, candidates, words),
    };
    let watching = &mut watcher;
    let counts = if consume { counts.get().take() } else { counts.get().share() };
    let trained = py
        .detach(move || {
            // Traces show words in order, and first sight is an order.
            let corpus = match config.ties {
                Ties::FirstSeen => in_order(&counts, Order::FirstSeen, threads, &config, watching),
                _ if watching.trace.is_full() => {
                    Corpus::of_counts(&counts, threads, &config, watching)
                }
                _ => in_order(&counts, Order::Canonical, threads, &config, watching),
            }?;
            drop(counts);
            corpus.train(&config, watching)
        })
        .map_err(to_py)?;
    watcher.reporter.check()?;
    result(py, &trained, bytes, watcher.trace.records, around)
}

fn in_order(
    counts: &jogak::count::Counts,
    order: Order,
    threads: usize,
    config: &BpeConfig,
    watcher: &mut Watcher,
) -> jogak::Result<Corpus> {
    let words = counts.inventory(order, threads);
    // Counts hold nothing but text, so no word is lost here.
    let text = |(word, count)| Some((std::str::from_utf8(word).ok()?, count));
    let parts: Vec<_> =
        words.parts(threads).into_iter().map(|part| part.filter_map(text)).collect();
    Corpus::new(&parts, config, watcher)
}

fn result<'py>(
    py: Python<'py>,
    trained: &BpeTrained,
    bytes: bool,
    records: Vec<Record<Candidate>>,
    around: Option<(Vec<String>, Vec<String>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let texts = trained.pieces.iter().map(|piece| text(piece, bytes));
    dict.set_item("alphabet", trained.alphabet)?;
    let merges = trained.merges.iter();
    if let Some((before, behind)) = around {
        let first = before.len() as u32;
        let all = before.into_iter().chain(texts).chain(behind);
        dict.set_item("pieces", Bound::new(py, PyPieces::new(all))?)?;
        let pairs = merges.clone().map(|merge| (first + merge.left, first + merge.right)).collect();
        let products = merges.clone().map(|merge| first + merge.id).collect();
        dict.set_item("merges", Bound::new(py, PyMerges::new(pairs, products))?)?;
    } else {
        let pairs: Vec<_> = merges.clone().map(|merge| (merge.left, merge.right)).collect();
        dict.set_item("merges", pairs)?;
        dict.set_item("pieces", texts.collect::<Vec<_>>())?;
    }
    let all = |of: fn(&Merge) -> u64| column(py, trained.merges.iter().map(of).collect());
    dict.set_item("counts", all(|merge| merge.count)?)?;
    dict.set_item("occurrences", all(|merge| merge.replaced)?)?;
    dict.set_item("live_changes", column(py, merges.map(|merge| merge.live_change).collect())?)?;
    dict.set_item("stop", stop(trained.stop))?;
    let dead: Vec<bool> = trained.occurrences.iter().map(|&count| count == 0).collect();
    dict.set_item("dead", dead)?;
    dict.set_item("initial_live", trained.initial_live)?;
    dict.set_item("initial_length", trained.initial_length)?;
    dict.set_item("distinct_words", trained.distinct_words)?;
    dict.set_item("total_words", trained.total_words)?;
    dict.set_item("left_out", trained.left_out)?;
    dict.set_item("passed_over", &trained.passed_over)?;
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
        uncounted_pieces: options
            .get::<Vec<String>>("uncounted_pieces")?
            .into_iter()
            .map(String::into_bytes)
            .collect(),
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
    bytes: bool,
    trace: Trace<Candidate>,
}

/// Texts and count of a pair.
type Candidate = (String, String, u64);

struct Look<'a, 'v> {
    view: &'a View<'v>,
    bytes: bool,
}

impl Words for Look<'_, '_> {
    fn name(&self, id: u32) -> String {
        text(self.view.piece(id), self.bytes)
    }

    fn for_each_word(&self, word: impl FnMut(&[u32], u64)) {
        self.view.for_each_word(word);
    }
}

impl TrainObserver for Watcher {
    fn looks(&self) -> bool {
        !self.trace.is_full()
    }

    fn before_merge(&mut self, merge: &Merge, view: &View<'_>) {
        let look = Look { view, bytes: self.bytes };
        let candidates = view.candidates();
        let tied = candidates.iter().filter(|(_, count)| *count == merge.count).count();
        let named = |&((left, right), count): &((u32, u32), u64)| {
            (look.name(left), look.name(right), count)
        };
        let shown = candidates.iter().take(self.trace.candidates).map(named).collect();
        let choice = Choice { shown, total: candidates.len(), tied };
        self.trace.before((merge.left, merge.right), &look, choice);
    }

    fn after_merge(&mut self, merge: &Merge, view: &View<'_>) {
        let change =
            Change { count: merge.count, replaced: merge.replaced, live: merge.live_change };
        self.trace.after(merge.id, change, &Look { view, bytes: self.bytes });
    }

    fn progress(&mut self, done: usize, goal: Option<usize>) -> ControlFlow<()> {
        self.reporter.tick(done, goal)
    }
}
