//! Observers receive facts from the production path and return nothing that could change it.
//!
//! Rule: encoding with an observer gives the same answer as without; so does training, whose observer
//! is [`crate::train::TrainObserver`]. The silent observer compiles away.

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

    /// Longest match looks at piece `id`, which matches the bytes `start..end` of the word; shorter ones
    /// come first, and the last one is taken.
    fn tried(&mut self, start: usize, end: usize, id: u32) {
        let _ = (start, end, id);
    }

    /// No piece matches at byte `at`, so the whole word is unknown.
    fn stuck(&mut self, at: usize) {
        let _ = at;
    }

    /// The word has more characters than the limit, so it is unknown.
    fn too_long(&mut self, characters: usize, limit: usize) {
        let _ = (characters, limit);
    }

    /// Piece `id` with this `score` may stand for the bytes `start..end` of a part of the word
    /// (Unigram); the best path that ends with it has the sum `sum`, and so far it is the `best` to end
    /// there. [`crate::symbols::UNKNOWN`] for an unknown character.
    fn candidate(&mut self, start: usize, end: usize, id: u32, score: f64, sum: f64, best: bool) {
        let _ = (start, end, id, score, sum, best);
    }

    /// The word was taken whole from the vocabulary.
    fn whole(&mut self, id: u32) {
        let _ = id;
    }
}

/// Sees nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl WordObserver for Silent {
    const WATCHES: bool = false;
}
