//! Training, for Python: one file for each family.

mod bpe;
mod trace;
mod unigram;
mod wordpiece;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jogak::train::{AlphabetLimit, Stop};
use pyo3::prelude::*;

use crate::models::Options;

pub(crate) use bpe::train_bpe;
pub(crate) use unigram::train_unigram;
pub(crate) use wordpiece::train_wordpiece;

/// How often Python is asked for signals and told of progress.
const TICK: Duration = Duration::from_millis(80);

/// Tells Python how far a training is, and asks it now and then whether to go on.
struct Reporter {
    progress: Option<Py<PyAny>>,
    last: Instant,
    /// What a callback raised; training then ends.
    failure: Option<PyErr>,
}

impl Reporter {
    fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { progress, last: Instant::now(), failure: None }
    }

    /// `done` of `goal` steps are made. Breaks on Ctrl-C and if the callback raises.
    fn tick(&mut self, done: usize, goal: Option<usize>) -> ControlFlow<()> {
        if self.last.elapsed() < TICK && Some(done) != goal {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        Python::attach(|py| {
            if py.check_signals().is_err() {
                return ControlFlow::Break(());
            }
            if let Some(progress) = &self.progress
                && let Err(error) = progress.call1(py, (done, goal))
            {
                if !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
                    self.failure = Some(error);
                }
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
    }

    /// What the callback raised, raised again.
    fn check(self) -> PyResult<()> {
        self.failure.map_or(Ok(()), Err)
    }
}

/// Which characters are kept.
fn alphabet_limit(options: &Options<'_, '_>) -> PyResult<AlphabetLimit> {
    if let Some(characters) = options.get::<Option<String>>("characters")? {
        return Ok(AlphabetLimit::Given(characters.chars().collect()));
    }
    Ok(match (options.get("alphabet_size")?, options.get("character_coverage")?) {
        (Some(size), _) => AlphabetLimit::Size(size),
        (None, Some(share)) => AlphabetLimit::Coverage(share),
        (None, None) => AlphabetLimit::All,
    })
}

/// Why training ended, as Python names it.
fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::NumMerges => "num-merges",
        Stop::VocabSize => "vocab-size",
        Stop::MinPairCount => "min-pair-count",
        Stop::NoPair => "no-pair",
        Stop::Interrupted => "interrupted",
    }
}
