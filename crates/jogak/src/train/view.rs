//! What an observer of training is told, and may look at.

use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::bpe::{BpeConfig, Merge};
use super::learner::{Entry, tied};
use super::pieces::Pieces;
use super::places::Field;
use crate::observe::Silent;

/// Watches BPE training.
pub trait TrainObserver {
    /// Whether it wants to see every merge. If not, it is told of none, and several merges may be made
    /// at once. Asked now and then.
    fn looks(&self) -> bool {
        true
    }

    /// The next merge has been chosen and is not yet applied. `view` shows the words as they are.
    fn before_merge(&mut self, merge: &Merge, view: &View<'_>) {
        let _ = (merge, view);
    }

    /// The merge has been applied.
    fn after_merge(&mut self, merge: &Merge, view: &View<'_>) {
        let _ = (merge, view);
    }

    /// Called often, with how many of how many merges are done (`None`: nobody knows); before the
    /// first merge too, while words are cut and pairs are counted. [`ControlFlow::Break`] ends
    /// training with the merges made so far.
    fn progress(&mut self, done: usize, goal: Option<usize>) -> ControlFlow<()> {
        let _ = (done, goal);
        ControlFlow::Continue(())
    }
}

impl TrainObserver for Silent {
    fn looks(&self) -> bool {
        false
    }
}

/// What an observer of training may look at. Everything is counted anew from the words as they are,
/// so that looking changes nothing and costs nothing to those who do not look.
pub struct View<'a> {
    field: &'a Field,
    pieces: &'a Pieces,
    config: &'a BpeConfig,
    passed: &'a FxHashSet<(u32, u32)>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        field: &'a Field,
        pieces: &'a Pieces,
        config: &'a BpeConfig,
        passed: &'a FxHashSet<(u32, u32)>,
    ) -> Self {
        Self { field, pieces, config, passed }
    }

    /// The bytes of a piece.
    pub fn piece(&self, id: u32) -> &[u8] {
        self.pieces.texts.get(id)
    }

    /// All pairs that the rules of pieces let be merged and that were not passed over, with counts, best
    /// first by count and the rule for ties: so the first one is the one taken.
    /// Cost: reads the whole corpus.
    pub fn candidates(&self) -> Vec<((u32, u32), u64)> {
        let mut counts: FxHashMap<(u32, u32), (u64, u32)> = FxHashMap::default();
        self.field.for_each_pair(|position, left, right, weight| {
            counts.entry((left, right)).or_insert((0, position)).0 += weight;
        });
        let mut entries: Vec<Entry> = counts
            .into_iter()
            .filter(|&(ids, _)| {
                !self.passed.contains(&ids) && self.pieces.allowed(self.config, ids)
            })
            .map(|(ids, (count, first))| Entry { count, ids, number: 0, first })
            .collect();
        entries.sort_by(|a, b| {
            b.count.cmp(&a.count).then_with(|| {
                self.config.ties.compare(&tied(self.pieces, a), &tied(self.pieces, b))
            })
        });
        entries.into_iter().map(|entry| (entry.ids, entry.count)).collect()
    }

    /// Calls `word(symbols, count)` for every word of the corpus as it is cut now, in order;
    /// [`crate::symbols::UNKNOWN`] stands for a character outside the alphabet.
    pub fn for_each_word(&self, word: impl FnMut(&[u32], u64)) {
        self.field.for_each_word(word);
    }
}
