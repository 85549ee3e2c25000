//! Observers receive facts from the production path and return nothing that could change it.
//!
//! Rule: training and encoding with an observer give the same answer as without. The silent
//! observers compile away.

use std::ops::ControlFlow;

use crate::train::bpe::{Merge, View};

/// Watches BPE training.
pub trait TrainObserver {
    /// The next merge has been chosen and is not yet applied. `view` shows the words as they are.
    fn before_merge(&mut self, merge: &Merge, view: &View<'_>) {
        let _ = (merge, view);
    }

    /// The merge has been applied.
    fn after_merge(&mut self, merge: &Merge, view: &View<'_>) {
        let _ = (merge, view);
    }

    /// Called often, with how many of how many merges are done (`None`: nobody knows).
    /// [`ControlFlow::Break`] ends training with the merges made so far.
    fn progress(&mut self, done: usize, goal: Option<usize>) -> ControlFlow<()> {
        let _ = (done, goal);
        ControlFlow::Continue(())
    }
}

/// Watches how one word is encoded. All positions are symbols of the word as it is then.
pub trait WordObserver {
    /// Whether anything is done with the facts. If so, words go by the ways that report each merge.
    const WATCHES: bool = true;

    /// The word's first symbols.
    fn symbols(&mut self, ids: &[u32]) {
        let _ = ids;
    }

    /// The pair of symbols `at` and `at + 1` becomes `id`; `rank` is its merge's rank.
    fn merged(&mut self, at: usize, rank: u32, id: u32) {
        let _ = (at, rank, id);
    }

    /// The pair at `at` with merge `rank` was set aside by dropout.
    fn dropped(&mut self, at: usize, rank: u32) {
        let _ = (at, rank);
    }

    /// A greedy strategy put piece `id` over the bytes `start..end` of the marked word.
    fn matched(&mut self, start: usize, end: usize, id: Option<u32>) {
        let _ = (start, end, id);
    }

    /// The word was taken whole from the vocabulary.
    fn whole(&mut self, id: u32) {
        let _ = id;
    }
}

/// Sees nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl TrainObserver for Silent {}
impl WordObserver for Silent {
    const WATCHES: bool = false;
}
