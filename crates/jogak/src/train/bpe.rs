//! BPE training (Gage 1994; Sennrich, Haddow & Birch 2016).
//!
//! In words: cut every word into symbols; then again and again take the pair of neighbours with the
//! largest count (occurrences times word count), make it a piece, and replace it everywhere, left to
//! right without overlap.
//!
//! Recounting after every merge would read the corpus thousands of times. Instead:
//!
//! * the places where every kept pair stands are known, so that a merge touches only those;
//! * a merge changes the counts of the pairs left and right of those places only;
//! * the largest count is found with a queue whose entries may be out of date: counts only fall, so
//!   an entry is put right when it comes to the top;
//! * merges that come next in any case are made at once, on parts of the corpus that threads share;
//! * pairs below a threshold are not kept at all. The answer is exact as long as the best pair
//!   reaches it; when the queue runs dry, the threshold is lowered and pairs are counted anew.
//!
//! A pair whose joined text already is a piece or a special token, or is too long, is passed over
//! for good. That keeps every text at one id, and special tokens out of reach of ordinary text.

use std::ops::ControlFlow;

use super::alphabet::AlphabetLimit;
use super::corpus::Corpus;
use super::learner::Learner;
use super::rules::PieceRules;
use super::ties::Ties;
use super::view::TrainObserver;
use crate::error::{Error, Result};
use crate::symbols::Marker;
use crate::vocab::Vocab;

/// How to train.
#[derive(Debug, Clone)]
pub struct BpeConfig {
    /// Symbols are bytes rather than characters; then the marker is [`Marker::None`].
    pub bytes: bool,
    /// How borders of words are written.
    pub marker: Marker,
    /// Which characters are kept.
    pub limit: AlphabetLimit,
    /// Which of several best pairs is taken.
    pub ties: Ties,
    /// Stop after this many merges.
    pub num_merges: Option<usize>,
    /// Stop when alphabet, merges and `other_pieces` make up this many pieces.
    pub vocab_size: Option<usize>,
    /// Pieces outside of training that count for `vocab_size`; no merge makes a text of them.
    pub other_pieces: Vec<Vec<u8>>,
    /// The same, but not counted.
    pub uncounted_pieces: Vec<Vec<u8>>,
    /// Stop when the best count is below this; at least 1.
    pub min_pair_count: u64,
    /// The longest piece, in characters (bytes for an alphabet of bytes) without markers.
    pub max_piece_length: Option<u32>,
    /// What else pieces may not be.
    pub rules: PieceRules,
}

/// One merge, as it happened. Ids count the alphabet first, then the merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// Left id.
    pub left: u32,
    /// Right id.
    pub right: u32,
    /// The id of the new piece.
    pub id: u32,
    /// The count by which the pair was chosen (overlapping occurrences count: `aaa` has two).
    pub count: u64,
    /// How many occurrences were replaced; 0 before the merge is applied.
    pub replaced: u64,
    /// Change of the number of live pieces: +1, 0 or -1; 0 before the merge is applied.
    pub live_change: i8,
}

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// `num_merges` were made.
    NumMerges,
    /// `vocab_size` was reached.
    VocabSize,
    /// The best pair's count is below `min_pair_count`.
    MinPairCount,
    /// No pair is left that may be merged.
    NoPair,
    /// The observer asked for it.
    Interrupted,
}

/// What training found.
#[derive(Debug, Clone)]
pub struct BpeTrained {
    /// The bytes of every piece: the alphabet, then one piece for each merge.
    pub pieces: Vocab,
    /// How many of the pieces are the alphabet.
    pub alphabet: usize,
    /// The merges, best first.
    pub merges: Vec<Merge>,
    /// Why training ended.
    pub stop: Stop,
    /// For every piece, how often it occurs in the corpus as it is cut at the end.
    pub occurrences: Vec<u64>,
    /// Live pieces before the first merge.
    pub initial_live: usize,
    /// Symbols of the corpus before the first merge, times word counts.
    pub initial_length: u64,
    /// Distinct words.
    pub distinct_words: u64,
    /// All words.
    pub total_words: u64,
    /// Distinct characters that the alphabet's limit left out.
    pub left_out: usize,
    /// Pairs that were best but could not be merged.
    pub passed_over: Vec<(u32, u32)>,
}

impl Corpus {
    /// Learns merges.
    ///
    /// # Errors
    /// [`Error::Config`] if the alphabet and the other pieces are more than `vocab_size`.
    pub fn train(
        self,
        config: &BpeConfig,
        observer: &mut impl TrainObserver,
    ) -> Result<BpeTrained> {
        let start = self.alphabet.len() + config.other_pieces.len();
        if let Some(size) = config.vocab_size.filter(|&size| size < start) {
            return Err(Error::Config {
                option: "vocab_size",
                found: size.to_string(),
                expected: format!(
                    "at least {start}: {} for the alphabet and {} for other pieces",
                    self.alphabet.len(),
                    config.other_pieces.len()
                ),
            });
        }
        let goals = [config.num_merges, config.vocab_size.map(|size| size - start)];
        let goal = goals.into_iter().flatten().min();
        let (distinct_words, total_words) = (self.distinct_words, self.total_words);
        let initial_length = self.length;
        let (left_out, interrupted) = (self.alphabet.left_out, self.interrupted);
        let mut learner = Learner::new(self, config, goal);
        let alphabet = learner.pieces.texts.vocab.len();
        let initial_live = learner.live();
        let mut merges = Vec::new();
        let begun = if interrupted {
            ControlFlow::Break(())
        } else {
            learner.count_pairs(|| observer.progress(0, goal))
        };
        let stop = loop {
            if begun.is_break() || observer.progress(merges.len(), goal).is_break() {
                break Stop::Interrupted;
            }
            if config.num_merges == Some(merges.len()) {
                break Stop::NumMerges;
            }
            if goal == Some(merges.len()) {
                break Stop::VocabSize;
            }
            let looks = observer.looks();
            let most = goal.map_or(usize::MAX, |goal| goal - merges.len());
            let most = if looks { 1 } else { most };
            match learner.best(most, || observer.progress(merges.len(), goal)) {
                ControlFlow::Continue(true) => {}
                ControlFlow::Continue(false) => break learner.why_dry(),
                ControlFlow::Break(()) => break Stop::Interrupted,
            }
            if let Some(merge) = learner.next()
                && looks
            {
                observer.before_merge(merge, &learner.view());
            }
            merges.extend(learner.apply());
            if let Some(merge) = merges.last()
                && looks
            {
                observer.after_merge(merge, &learner.view());
            }
        };
        Ok(BpeTrained {
            pieces: learner.pieces.texts.vocab,
            alphabet,
            merges,
            stop,
            occurrences: learner.occurrences,
            initial_live,
            initial_length,
            distinct_words,
            total_words,
            left_out,
            passed_over: learner.passed_over,
        })
    }
}
