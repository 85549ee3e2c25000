//! What an observer of training is told, and may look at.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::WordPieceMerge;
use super::learner::Learner;
use crate::observe::Silent;

/// Watches WordPiece training.
pub trait WordPieceObserver {
    /// The next merge has been chosen and is not yet applied. `view` shows the words as they are.
    fn before_merge(&mut self, merge: &WordPieceMerge, view: &WordPieceView<'_>) {
        let _ = (merge, view);
    }

    /// The merge has been applied.
    fn after_merge(&mut self, merge: &WordPieceMerge, view: &WordPieceView<'_>) {
        let _ = (merge, view);
    }

    /// Called often, with how many of how many pieces are made (`None`: nobody knows); before
    /// the first merge too, while words are cut and pairs are counted. [`ControlFlow::Break`] ends
    /// training with the pieces made so far.
    fn progress(&mut self, done: usize, goal: Option<usize>) -> ControlFlow<()> {
        let _ = (done, goal);
        ControlFlow::Continue(())
    }
}

impl WordPieceObserver for Silent {}

/// A pair that could be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Left and right id.
    pub ids: (u32, u32),
    /// How often the pair occurs.
    pub count: u64,
    /// How often its left part occurs.
    pub left_count: u64,
    /// How often its right part occurs.
    pub right_count: u64,
}

/// What an observer of training may look at. Everything is counted anew from the words as they are,
/// so that looking changes nothing and costs nothing to those who do not look.
pub struct WordPieceView<'a>(pub(super) &'a Learner<'a>);

impl WordPieceView<'_> {
    /// The bytes of a piece.
    pub fn piece(&self, id: u32) -> &[u8] {
        self.0.pieces.get(id)
    }

    /// All pairs that reach the last floor and have not been passed over, best first. Cost: reads the
    /// whole corpus.
    pub fn candidates(&self) -> Vec<Candidate> {
        let learner = self.0;
        let mut counts: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        learner.field.for_each_pair(|_, left, right, weight| {
            *counts.entry((left, right)).or_insert(0) += weight;
        });
        let mut ranked: Vec<_> = counts
            .into_iter()
            .filter(|&(ids, count)| count >= learner.last_floor() && !learner.passed(ids))
            .map(|(ids, count)| (learner.rank(ids, count), ids, count))
            .collect();
        ranked.sort_unstable_by(|(a, ..), (b, ..)| a.compare(b));
        let occurrences = |id: u32| learner.occurrences[id as usize];
        ranked
            .into_iter()
            .map(|(_, ids, count)| Candidate {
                ids,
                count,
                left_count: occurrences(ids.0),
                right_count: occurrences(ids.1),
            })
            .collect()
    }

    /// How many of the first candidates are as good as the first one, so that ids decide.
    pub fn tied(&self, candidates: &[Candidate]) -> usize {
        let rank = |candidate: &Candidate| self.0.rank(candidate.ids, candidate.count);
        let Some(first) = candidates.first().map(rank) else { return 0 };
        candidates.iter().take_while(|candidate| rank(candidate).ties_with(&first)).count()
    }

    /// Calls `word(symbols, count)` for every word of the corpus as it is cut now, in order;
    /// [`crate::symbols::UNKNOWN`] stands for a character outside the alphabet.
    pub fn for_each_word(&self, word: impl FnMut(&[u32], u64)) {
        self.0.field.for_each_word(word);
    }
}
