//! What an observer of Unigram training is told, and may look at.

use std::ops::ControlFlow;

use super::chunks::Chunks;
use super::prune::Worth;
use crate::observe::Silent;

/// What training is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Choosing the first pieces.
    Seeding,
    /// Estimating and removing pieces; counted in pieces that have gone.
    Pruning,
}

/// Watches Unigram training.
pub trait UnigramObserver {
    /// Whether anything is done with the facts. If not, they are not worked out.
    const WATCHES: bool = true;

    /// Probabilities were estimated anew.
    fn estimated(&mut self, facts: &Estimation<'_>) {
        let _ = facts;
    }

    /// Pieces are about to be removed.
    fn pruned(&mut self, facts: &Pruning<'_>) {
        let _ = facts;
    }

    /// Called between steps, each a walk over all chunks. [`ControlFlow::Break`] ends training with
    /// the likeliest pieces of that moment.
    fn progress(&mut self, stage: Stage, done: u64, total: Option<u64>) -> ControlFlow<()> {
        let _ = (stage, done, total);
        ControlFlow::Continue(())
    }
}

impl UnigramObserver for Silent {
    const WATCHES: bool = false;
}

/// The pieces of a moment, by id; sorted by their text.
#[derive(Debug, Clone, Copy)]
pub struct PieceView<'a> {
    chunks: &'a Chunks,
    at: &'a [u32],
    lengths: &'a [u8],
    probabilities: &'a [f64],
}

impl<'a> PieceView<'a> {
    pub(super) fn new(
        chunks: &'a Chunks,
        at: &'a [u32],
        lengths: &'a [u8],
        probabilities: &'a [f64],
    ) -> Self {
        Self { chunks, at, lengths, probabilities }
    }

    /// How many pieces there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The text of a piece.
    #[must_use]
    pub fn text(&self, id: usize) -> String {
        let at = self.at[id] as usize;
        self.chunks.spell(&self.chunks.text[at..at + usize::from(self.lengths[id])])
    }

    /// The probability of a piece; 0 for one that was expected too rarely and will go.
    #[must_use]
    pub fn probability(&self, id: usize) -> f64 {
        self.probabilities[id]
    }
}

/// One step of expectation and maximisation.
#[derive(Debug)]
pub struct Estimation<'a> {
    /// Which round, from 0.
    pub round: usize,
    /// Which estimation of the round, from 0.
    pub iteration: usize,
    /// The pieces with their new probabilities.
    pub pieces: PieceView<'a>,
    /// The probabilities before this step, which the next two facts were worked out with.
    pub before: &'a [f64],
    /// How often each piece is expected in the corpus.
    pub expected: &'a [f64],
    /// The natural logarithm of the corpus's probability, all ways to cut it together.
    pub log_likelihood: f64,
    /// How many pieces were expected often enough to stay.
    pub size: usize,
}

/// One removal.
#[derive(Debug)]
pub struct Pruning<'a> {
    /// Which round, from 0.
    pub round: usize,
    /// The pieces, those that go included.
    pub pieces: PieceView<'a>,
    /// How often each piece is used if everything is cut in its best way.
    pub used: &'a [u64],
    /// What speaks for each piece.
    pub worths: &'a [Worth],
    /// The ids that stay, ascending.
    pub kept: &'a [u32],
}
