//! WordPiece training (Schuster & Nakajima 2012; Wu et al. 2016).
//!
//! In words: cut every word into symbols; then again and again take the pair of neighbours whose
//! merge raises the likelihood of the corpus most, and merge it everywhere, left to right without
//! overlap. With # for occurrences in the corpus as it is cut now, and n symbols in all, that is the
//! pair with the largest
//!
//! ```text
//! (#ab/n) / ((#a/n) (#b/n))          ties: the smaller (left id, right id)
//! ```
//!
//! Left to itself this score loves what is rare: two letters that occur once, side by side, have the
//! largest score there can be. So a pair must also occur often enough. That floor is a fixed number,
//! or it moves: it is the largest power of two that any pair reaches, and so falls by halves when no
//! pair is left above it. `Criterion::Count` takes the pair with the largest count instead, which is
//! what HF tokenizers do under the name of WordPiece.
//!
//! A word of which one character is unknown is unknown as a whole, so every character is a symbol as it
//! is, also where it only occurs inside of words.
//!
//! As in BPE a pair whose joined text already is a piece or a special token, or is too long, is passed
//! over for good.
//!
//! Fast ways:
//!
//! * words, places and counts are kept as in BPE training ([`super::bpe`]): a merge touches only
//!   the places where it happens;
//! * the best pair is found by rows and a tournament of them (`rows`), since scores also rise;
//! * pairs below a threshold sleep (`asleep`), and still rarer ones are not kept; when those that have
//!   rows run out, the threshold is lowered, and sleepers wake up, or pairs are counted anew. With a
//!   moving floor that is exact, since pairs of greater bands go first.

mod asleep;
mod census;
mod learner;
mod lists;
mod rows;
mod score;
mod view;

pub use view::{Candidate, WordPieceObserver, WordPieceView};

use std::ops::ControlFlow;

use super::alphabet::AlphabetLimit;
use super::bpe::Stop;
use super::corpus::{Corpus, Start};
use super::gather::gather;
use crate::count::Counts;
use crate::error::{Error, Result};
use crate::symbols::Marker;
use crate::vocab::Vocab;
use learner::Learner;

/// What the best pair is best at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// The likelihood of the corpus, for how often the pair's parts occur.
    Likelihood,
    /// Its count.
    Count,
}

/// How to train.
#[derive(Debug, Clone)]
pub struct WordPieceConfig {
    /// What pairs are compared by.
    pub criterion: Criterion,
    /// How borders of words are written.
    pub marker: Marker,
    /// Which characters are kept.
    pub limit: AlphabetLimit,
    /// Stop when alphabet, merged pieces and `other_pieces` are this many.
    pub vocab_size: Option<usize>,
    /// Pieces outside of training that count for `vocab_size`; no merge makes a text of them.
    pub other_pieces: Vec<Vec<u8>>,
    /// The same, but not counted.
    pub uncounted_pieces: Vec<Vec<u8>>,
    /// Pairs below this count are never merged. None: a floor that moves, from the largest power of
    /// two that a pair reaches down to 2.
    pub min_pair_count: Option<u64>,
    /// The longest piece, in characters without markers.
    pub max_piece_length: Option<u32>,
}

/// The last floor of one that moves: a pair that occurs once is never merged.
pub(super) const LAST_FLOOR: u64 = 2;

/// One merge, as it happened. Ids count the alphabet first, then the new pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordPieceMerge {
    /// Left id.
    pub left: u32,
    /// Right id.
    pub right: u32,
    /// The id of the new piece.
    pub id: u32,
    /// How often the pair occurred (`aaa` has the pair twice).
    pub count: u64,
    /// How often the left part occurred.
    pub left_count: u64,
    /// How often the right part occurred.
    pub right_count: u64,
    /// How many symbols the corpus had, unknown ones among them.
    pub length: u64,
    /// How many occurrences were replaced; 0 before the merge is applied.
    pub replaced: u64,
    /// Change of the number of live pieces: +1, 0 or -1; 0 before the merge is applied.
    pub live_change: i8,
}

/// What training found.
#[derive(Debug, Clone)]
pub struct WordPieceTrained {
    /// The bytes of every piece: the alphabet, then the new pieces in order.
    pub pieces: Vocab,
    /// How many of the pieces are the alphabet.
    pub alphabet: usize,
    /// The merges, in order.
    pub merges: Vec<WordPieceMerge>,
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
    /// Cuts words into characters, for [`Corpus::train_wordpiece`]; every part on a thread of its own,
    /// and as many threads work later on. Speed and memory are best if the words come sorted by count;
    /// the result depends neither on the order nor on the parts.
    ///
    /// If `observer` asks to stop, the words read until then are the corpus, and nothing is learned.
    ///
    /// # Errors
    /// As [`Corpus::new`].
    pub fn of_characters<'a, W: Iterator<Item = (&'a str, u64)> + Clone + Sync>(
        parts: &[W],
        config: &WordPieceConfig,
        observer: &mut impl WordPieceObserver,
    ) -> Result<Self> {
        let start = Start::Chars(&config.marker, &config.limit, true);
        Self::cut(parts, &start, || observer.progress(0, None))
    }

    /// The same for all words of `counts`, on up to `threads` threads.
    ///
    /// # Errors
    /// As [`Corpus::new`].
    pub fn characters_of(
        counts: &Counts,
        threads: usize,
        config: &WordPieceConfig,
        observer: &mut impl WordPieceObserver,
    ) -> Result<Self> {
        let start = Start::Chars(&config.marker, &config.limit, true);
        let cut = gather(counts, &start, threads, || observer.progress(0, None))?;
        Ok(cut.into_corpus(&start, threads))
    }

    /// Learns pieces; see [`crate::train::wordpiece`].
    ///
    /// # Errors
    /// [`Error::Config`] if the alphabet and the other pieces are more than `vocab_size`.
    pub fn train_wordpiece(
        self,
        config: &WordPieceConfig,
        observer: &mut impl WordPieceObserver,
    ) -> Result<WordPieceTrained> {
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
        let goal = config.vocab_size.map(|size| size - start);
        let (distinct_words, total_words) = (self.distinct_words, self.total_words);
        let (initial_length, left_out) = (self.length, self.alphabet.left_out);
        let (alphabet, interrupted) = (self.alphabet.len(), self.interrupted);
        let mut learner = Learner::new(self, config, goal);
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
            if goal == Some(merges.len()) {
                break Stop::VocabSize;
            }
            let best = learner.best(|| observer.progress(merges.len(), goal));
            let (number, mut merge) = match best {
                ControlFlow::Continue(Some(best)) => best,
                ControlFlow::Continue(None) => break learner.why_dry(),
                ControlFlow::Break(()) => break Stop::Interrupted,
            };
            observer.before_merge(&merge, &learner.view());
            learner.apply(number, &mut merge);
            observer.after_merge(&merge, &learner.view());
            merges.push(merge);
        };
        Ok(WordPieceTrained {
            pieces: learner.pieces.vocab,
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
