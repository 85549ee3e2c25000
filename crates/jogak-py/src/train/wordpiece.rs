//! Training WordPiece: words and a config in, pieces out.

use std::borrow::Cow;
use std::ops::ControlFlow;

use jogak::count::Order;
use jogak::train::{
    AlphabetLimit, Corpus, Criterion, WordPieceConfig, WordPieceMerge, WordPieceObserver,
    WordPieceTrained, WordPieceView,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::counts::Counts;
use crate::errors::{raise, to_py};
use crate::lists::column;
use crate::models::{Options, marker};
use crate::pieces::PyPieces;
use crate::train::trace::{Change, Choice, Record, Trace, Words};
use crate::train::{Reporter, stop};

/// Trains WordPiece on `counts`. `config` is `WordPiece` as a dict, flattened, where a `min_pair_count`
/// of None means `"auto"`; the other arguments are those of `train_bpe`.
#[pyfunction]
#[pyo3(signature = (counts, config, other_pieces, threads, consume=false, progress=None, trace=0, candidates=20, words=50, around=None))]
#[expect(clippy::too_many_arguments, reason = "Python sees keywords")]
pub(crate) fn train_wordpiece<'py>(
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
    let mut watcher =
        Watcher { reporter: Reporter::new(progress), trace: Trace::new(trace, candidates, words) };
    let watching = &mut watcher;
    let counts = if consume { counts.get().take() } else { counts.get().share() };
    let trained = py
        .detach(move || {
            // Traces show words in order.
            let corpus = if watching.trace.is_full() {
                Corpus::characters_of(&counts, threads, &config, watching)
            } else {
                in_order(&counts, threads, &config, watching)
            }?;
            drop(counts);
            corpus.train_wordpiece(&config, watching)
        })
        .map_err(to_py)?;
    watcher.reporter.check()?;
    result(py, &trained, watcher.trace.records, around)
}

fn in_order(
    counts: &jogak::count::Counts,
    threads: usize,
    config: &WordPieceConfig,
    watcher: &mut Watcher,
) -> jogak::Result<Corpus> {
    let words = counts.inventory(Order::Canonical, threads);
    // Counts hold nothing but text, so no word is lost here.
    let text = |(word, count)| Some((std::str::from_utf8(word).ok()?, count));
    let parts: Vec<_> =
        words.parts(threads).into_iter().map(|part| part.filter_map(text)).collect();
    Corpus::of_characters(&parts, config, watcher)
}

fn result<'py>(
    py: Python<'py>,
    trained: &WordPieceTrained,
    records: Vec<Record<Candidate>>,
    around: Option<(Vec<String>, Vec<String>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("alphabet", trained.alphabet)?;
    let merges = trained.merges.iter();
    let all = |of: fn(&WordPieceMerge) -> u64| column(py, merges.clone().map(of).collect());
    dict.set_item("counts", all(|merge| merge.count)?)?;
    dict.set_item("left_counts", all(|merge| merge.left_count)?)?;
    dict.set_item("right_counts", all(|merge| merge.right_count)?)?;
    dict.set_item("occurrences", all(|merge| merge.replaced)?)?;
    let live = merges.clone().map(|merge| merge.live_change).collect();
    dict.set_item("live_changes", column(py, live)?)?;
    dict.set_item("stop", stop(trained.stop))?;
    dict.set_item("initial_live", trained.initial_live)?;
    dict.set_item("initial_length", trained.initial_length)?;
    dict.set_item("distinct_words", trained.distinct_words)?;
    dict.set_item("total_words", trained.total_words)?;
    dict.set_item("passed_over", &trained.passed_over)?;
    let texts = trained.pieces.iter().map(String::from_utf8_lossy);
    if let Some((before, behind)) = around {
        let own = |texts: Vec<String>| texts.into_iter().map(Cow::Owned);
        let all = own(before).chain(texts).chain(own(behind));
        dict.set_item("pieces", Bound::new(py, PyPieces::new(all))?)?;
    } else {
        dict.set_item("pieces", texts.collect::<Vec<_>>())?;
    }
    let records =
        records.into_iter().map(|record| record.dict(py)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("trace", records)?;
    Ok(dict)
}

fn text(piece: &[u8]) -> String {
    String::from_utf8_lossy(piece).into_owned()
}

fn parse(config: &Bound<'_, PyDict>, other_pieces: Vec<String>) -> PyResult<WordPieceConfig> {
    let options = Options(config);
    let criterion: String = options.get("criterion")?;
    let size: Option<usize> = options.get("alphabet_size")?;
    Ok(WordPieceConfig {
        criterion: match criterion.as_str() {
            "likelihood" => Criterion::Likelihood,
            "count" => Criterion::Count,
            other => {
                let message = format!("criterion is {other:?}; expected 'likelihood' or 'count'");
                return Err(raise("ConfigError", message, &[]));
            }
        },
        marker: marker(&options)?,
        limit: size.map_or(AlphabetLimit::All, AlphabetLimit::Size),
        vocab_size: options.get("vocab_size")?,
        other_pieces: other_pieces.into_iter().map(String::into_bytes).collect(),
        uncounted_pieces: options
            .get::<Vec<String>>("uncounted_pieces")?
            .into_iter()
            .map(String::into_bytes)
            .collect(),
        min_pair_count: options.get("min_pair_count")?,
        max_piece_length: options.get("max_piece_length")?,
    })
}

/// Watches training on behalf of Python.
struct Watcher {
    reporter: Reporter,
    trace: Trace<Candidate>,
}

/// Texts of a pair, how often it occurs, and how often its parts do.
type Candidate = (String, String, u64, u64, u64);

struct Look<'a, 'v>(&'a WordPieceView<'v>);

impl Words for Look<'_, '_> {
    fn name(&self, id: u32) -> String {
        text(self.0.piece(id))
    }

    fn for_each_word(&self, word: impl FnMut(&[u32], u64)) {
        self.0.for_each_word(word);
    }
}

impl WordPieceObserver for Watcher {
    fn before_merge(&mut self, merge: &WordPieceMerge, view: &WordPieceView<'_>) {
        if self.trace.is_full() {
            return;
        }
        let look = Look(view);
        let candidates = view.candidates();
        let shown = candidates
            .iter()
            .take(self.trace.candidates)
            .map(|candidate| {
                let (left, right) = candidate.ids;
                let (left, right) = (look.name(left), look.name(right));
                (left, right, candidate.count, candidate.left_count, candidate.right_count)
            })
            .collect();
        let choice = Choice { shown, total: candidates.len(), tied: view.tied(&candidates) };
        self.trace.before((merge.left, merge.right), &look, choice);
    }

    fn after_merge(&mut self, merge: &WordPieceMerge, view: &WordPieceView<'_>) {
        let change =
            Change { count: merge.count, replaced: merge.replaced, live: merge.live_change };
        self.trace.after(merge.id, change, &Look(view));
    }

    fn progress(&mut self, done: usize, goal: Option<usize>) -> ControlFlow<()> {
        self.reporter.tick(done, goal)
    }
}
