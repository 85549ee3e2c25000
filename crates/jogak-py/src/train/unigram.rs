//! Training the Unigram model: words and a config in, pieces with scores out.

use std::ops::ControlFlow;

use jogak::train::unigram::{
    Estimation, Pruning, SeedRule, Stage, UnigramObserver, UnigramStop, Worth,
};
use jogak::train::{UnigramConfig, UnigramCorpus, UnigramTrained};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::counts::Counts;
use crate::errors::{raise, to_py};
use crate::models::Options;
use crate::train::{Reporter, alphabet_limit};

/// Trains a Unigram model on `counts`. `config` is `Unigram` as a dict; `other_pieces` are the texts
/// of special tokens and byte pieces. `consume` leaves `counts` without words, so that their memory is
/// free while pieces are estimated. `progress(done, goal)` is called now and then. `trace` is how many
/// rounds are traced, with up to `top` pieces in each list.
#[pyfunction]
#[pyo3(signature = (counts, config, other_pieces, threads, consume=false, progress=None, trace=0, top=20))]
#[expect(clippy::too_many_arguments, reason = "Python sees keywords")]
pub(crate) fn train_unigram<'py>(
    py: Python<'py>,
    counts: &Bound<'py, Counts>,
    config: &Bound<'py, PyDict>,
    other_pieces: Vec<String>,
    threads: usize,
    consume: bool,
    progress: Option<Py<PyAny>>,
    trace: usize,
    top: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let config = parse(config, other_pieces, threads)?;
    let mut reporter = Reporter::new(progress);
    let reporting = &mut reporter;
    let mut records = Vec::new();
    let recording = &mut records;
    let counts = if consume { counts.get().take() } else { counts.get().share() };
    let trained = py
        .detach(move || {
            let corpus = UnigramCorpus::new(&counts.parts(), &config)?;
            drop(counts);
            if trace > 0 {
                let mut tracer =
                    Tracer { reporter: reporting, rounds: trace, top, records: recording };
                corpus.train(&config, &mut tracer)
            } else {
                corpus.train(&config, &mut Quiet(reporting))
            }
        })
        .map_err(to_py)?;
    reporter.check()?;
    result(py, &trained, records)
}

fn result<'py>(
    py: Python<'py>,
    trained: &UnigramTrained,
    records: Vec<Record>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("pieces", &trained.pieces)?;
    dict.set_item("scores", &trained.scores)?;
    let rounds: Vec<_> =
        trained.rounds.iter().map(|round| (round.start, round.estimated, round.kept)).collect();
    dict.set_item("rounds", rounds)?;
    let stop = match trained.stop {
        UnigramStop::VocabSize => "vocab-size",
        UnigramStop::Interrupted => "interrupted",
    };
    dict.set_item("stop", stop)?;
    dict.set_item("alphabet", trained.alphabet)?;
    dict.set_item("left_out", trained.left_out)?;
    dict.set_item("seeds", trained.seeds)?;
    dict.set_item("distinct_words", trained.distinct_words)?;
    dict.set_item("total_words", trained.total_words)?;
    dict.set_item("distinct_chunks", trained.distinct_chunks)?;
    dict.set_item("total_characters", trained.total_characters)?;
    let records =
        records.into_iter().map(|record| record.dict(py)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("trace", records)?;
    Ok(dict)
}

fn parse(
    config: &Bound<'_, PyDict>,
    other_pieces: Vec<String>,
    threads: usize,
) -> PyResult<UnigramConfig> {
    let options = Options(config);
    let limit = alphabet_limit(&options)?;
    let seeds: String = options.get("seeds")?;
    Ok(UnigramConfig {
        vocab_size: options.get("vocab_size")?,
        other_pieces,
        user_defined: options.get("user_defined")?,
        limit,
        hard_vocab_limit: options.get("hard_vocab_limit")?,
        required_chars: options.get::<String>("required_chars")?.chars().collect(),
        seeds: match seeds.as_str() {
            "suffix" => SeedRule::Suffix,
            "sentencepiece" => SeedRule::SentencePiece,
            other => {
                return Err(raise("ConfigError", format!("seeds {other:?} is not known"), &[]));
            }
        },
        seed_size: options.get("seed_size")?,
        shrinking_factor: options.get("shrinking_factor")?,
        num_sub_iterations: options.get("num_sub_iterations")?,
        max_piece_length: options.get("max_piece_length")?,
        split_by_unicode_script: options.get("split_by_unicode_script")?,
        split_by_number: options.get("split_by_number")?,
        split_digits: options.get("split_digits")?,
        split_by_whitespace: options.get("split_by_whitespace")?,
        allow_whitespace_only_pieces: options.get("allow_whitespace_only_pieces")?,
        treat_whitespace_as_suffix: options.get("treat_whitespace_as_suffix")?,
        threads,
    })
}

fn tick(reporter: &mut Reporter, done: u64, total: Option<u64>) -> ControlFlow<()> {
    reporter.tick(done as usize, total.map(|total| total as usize))
}

/// Tells how far training is, and nothing else.
struct Quiet<'r>(&'r mut Reporter);

impl UnigramObserver for Quiet<'_> {
    const WATCHES: bool = false;

    fn progress(&mut self, _: Stage, done: u64, total: Option<u64>) -> ControlFlow<()> {
        tick(self.0, done, total)
    }
}

/// Writes down what happens in the first rounds.
struct Tracer<'r> {
    reporter: &'r mut Reporter,
    rounds: usize,
    top: usize,
    records: &'r mut Vec<Record>,
}

/// (text, expected count, probability before, after).
type Estimated = Vec<(String, f64, f64, f64)>;
/// (text, loss, times used, probability).
type Pruned = Vec<(String, Option<f64>, u64, f64)>;

enum Record {
    Estimation {
        round: usize,
        iteration: usize,
        pieces: usize,
        size: usize,
        log_likelihood: f64,
        /// The largest counts.
        expected: Estimated,
        /// Those that go, as they are expected too rarely.
        rare: Estimated,
        rare_total: usize,
    },
    Pruning {
        round: usize,
        pieces: usize,
        kept: usize,
        /// Largest and smallest loss of what stays, largest loss of what goes, and what goes as it is
        /// used nowhere or its parts are better.
        largest: Pruned,
        smallest: Pruned,
        removed: Pruned,
        removed_total: usize,
        unused: Pruned,
        unused_total: usize,
        split: Pruned,
        split_total: usize,
    },
}

impl UnigramObserver for Tracer<'_> {
    fn estimated(&mut self, facts: &Estimation<'_>) {
        if facts.round >= self.rounds {
            return;
        }
        let entry = |&id: &usize| {
            let (before, after) = (facts.before[id], facts.pieces.probability(id));
            (facts.pieces.text(id), facts.expected[id], before, after)
        };
        let mut ids: Vec<usize> = (0..facts.pieces.len()).collect();
        ids.sort_by(|&a, &b| facts.expected[b].total_cmp(&facts.expected[a]));
        let gone = |id: &&usize| facts.pieces.probability(**id) == 0.0 && facts.before[**id] > 0.0;
        self.records.push(Record::Estimation {
            round: facts.round,
            iteration: facts.iteration,
            pieces: facts.before.iter().filter(|p| **p > 0.0).count(),
            size: facts.size,
            log_likelihood: facts.log_likelihood,
            expected: ids.iter().take(self.top).map(entry).collect(),
            rare: ids.iter().filter(gone).take(self.top).map(entry).collect(),
            rare_total: ids.iter().filter(gone).count(),
        });
    }

    fn pruned(&mut self, facts: &Pruning<'_>) {
        if facts.round >= self.rounds {
            return;
        }
        let mut stays = vec![false; facts.worths.len()];
        for &id in facts.kept {
            stays[id as usize] = true;
        }
        let mut by_loss: Vec<(f64, usize)> =
            (0..stays.len()).filter_map(|id| Some((loss(facts, id)?, id))).collect();
        by_loss.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let list = |ids: &mut dyn Iterator<Item = usize>| -> Pruned {
            ids.take(self.top).map(|id| entry(facts, id)).collect()
        };
        let of = |worth: Worth| {
            (0..stays.len())
                .filter(move |&id| facts.worths[id] == worth && facts.pieces.probability(id) > 0.0)
        };
        let kept = || by_loss.iter().map(|e| e.1).filter(|&id| stays[id]);
        let gone = || by_loss.iter().map(|e| e.1).filter(|&id| !stays[id]);
        let record = Record::Pruning {
            round: facts.round,
            pieces: facts.pieces.len(),
            kept: facts.kept.len(),
            largest: list(&mut kept()),
            smallest: list(&mut kept().rev()),
            removed: list(&mut gone()),
            removed_total: gone().count(),
            unused: list(&mut of(Worth::Unused)),
            unused_total: of(Worth::Unused).count(),
            split: list(&mut of(Worth::SplitIsBetter)),
            split_total: of(Worth::SplitIsBetter).count(),
        };
        self.records.push(record);
    }

    fn progress(&mut self, _: Stage, done: u64, total: Option<u64>) -> ControlFlow<()> {
        tick(self.reporter, done, total)
    }
}

fn loss(facts: &Pruning<'_>, id: usize) -> Option<f64> {
    match facts.worths[id] {
        Worth::Loss(loss) => Some(loss),
        _ => None,
    }
}

fn entry(facts: &Pruning<'_>, id: usize) -> (String, Option<f64>, u64, f64) {
    (facts.pieces.text(id), loss(facts, id), facts.used[id], facts.pieces.probability(id))
}

impl Record {
    fn dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        match self {
            Record::Estimation {
                round,
                iteration,
                pieces,
                size,
                log_likelihood,
                expected,
                rare,
                rare_total,
            } => {
                dict.set_item("kind", "estimation")?;
                dict.set_item("round", round)?;
                dict.set_item("iteration", iteration)?;
                dict.set_item("pieces", pieces)?;
                dict.set_item("size", size)?;
                dict.set_item("log_likelihood", log_likelihood)?;
                dict.set_item("expected", expected)?;
                dict.set_item("rare", rare)?;
                dict.set_item("rare_total", rare_total)?;
            }
            Record::Pruning {
                round,
                pieces,
                kept,
                largest,
                smallest,
                removed,
                removed_total,
                unused,
                unused_total,
                split,
                split_total,
            } => {
                dict.set_item("kind", "pruning")?;
                dict.set_item("round", round)?;
                dict.set_item("pieces", pieces)?;
                dict.set_item("kept", kept)?;
                dict.set_item("largest", largest)?;
                dict.set_item("smallest", smallest)?;
                dict.set_item("removed", removed)?;
                dict.set_item("removed_total", removed_total)?;
                dict.set_item("unused", unused)?;
                dict.set_item("unused_total", unused_total)?;
                dict.set_item("split", split)?;
                dict.set_item("split_total", split_total)?;
            }
        }
        Ok(dict)
    }
}
