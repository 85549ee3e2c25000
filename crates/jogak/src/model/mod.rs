//! One word + a vocabulary -> ids.
//!
//! Rule: sees one word at a time. No I/O; randomness only from a seed passed in.

mod automaton;
pub mod bpe;
pub(crate) mod cuts;
mod greedy;
mod merge;
mod pairs;
pub mod unigram;
pub mod wordpiece;

pub use bpe::{Bpe, BpeParts, Strategy};
pub use merge::Merger;
pub use unigram::{Precision, Unigram, UnigramParts};
pub use wordpiece::{WordPiece, WordPieceParts};

use crate::error::Result;
use crate::random::SplitMix64;
use crate::vocab::Vocab;

/// Receives the pieces of words, left to right.
pub trait Sink {
    /// Piece `id` stands for the bytes `start..end` of the word; equal for a marker by itself.
    fn piece(&mut self, id: u32, start: usize, end: usize);

    /// The last piece also stands for the text up to `end` (fused unknown characters).
    fn extend_last(&mut self, end: usize) {
        let _ = end;
    }
}

impl Sink for Vec<u32> {
    #[inline]
    fn piece(&mut self, id: u32, _start: usize, _end: usize) {
        self.push(id);
    }
}

/// How words are to be cut, for one call.
#[derive(Debug, Clone)]
pub struct Way {
    /// Another strategy than the model's own.
    pub strategy: Option<Strategy>,
    /// The probability with which a merge is dropped, 0 for none, and the stream to draw from.
    pub dropout: Option<(f64, SplitMix64)>,
    /// The power of probabilities with which a segmentation is drawn (Unigram), and the stream to draw
    /// from; None for the best one.
    pub alpha: Option<(f64, SplitMix64)>,
    /// What nothing covers goes to the sink as [`crate::symbols::UNKNOWN`] rather than being an error,
    /// where there is no unknown piece.
    pub keep_uncovered: bool,
}

/// The room that models work in, one for each thread, so that no word allocates.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For BPE.
    pub(crate) merger: Merger,
    /// For WordPiece: the pieces of a word that may yet turn out to be unknown.
    pub(crate) found: Vec<u32>,
    /// For Unigram.
    pub(crate) viterbi: unigram::Viterbi,
    /// For Unigram with a memory of words.
    pub(crate) near: unigram::NearTies,
}

/// The models, as a closed set.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a tokenizer has one")]
pub enum Model {
    /// Byte pair encoding and the greedy ways over its pieces.
    Bpe(Bpe),
    /// Longest match, and the whole word or nothing.
    WordPiece(WordPiece),
    /// The Unigram language model.
    Unigram(Unigram),
}

impl Model {
    /// Cuts one word into pieces.
    ///
    /// # Errors
    /// [`crate::Error::NotCovered`] if a character has no piece and nothing stands for unknowns.
    pub fn word<S: Sink, O: crate::observe::WordObserver>(
        &self,
        word: &str,
        way: &mut Way,
        scratch: &mut Scratch,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        match self {
            Model::Bpe(bpe) => bpe.word(word, way, &mut scratch.merger, sink, observer),
            Model::WordPiece(wordpiece) => {
                wordpiece.word(word, way.keep_uncovered, &mut scratch.found, sink, observer)
            }
            Model::Unigram(unigram) => match &mut way.alpha {
                None => {
                    let viterbi = &mut scratch.viterbi;
                    unigram.word(word, way.keep_uncovered, viterbi, sink, observer)
                }
                Some((alpha, random)) => {
                    let path = unigram.lattice(word)?.sample(*alpha, random);
                    unigram.write(word, path.pieces, way.keep_uncovered, sink)
                }
            },
        }
    }

    /// All pieces that ordinary text may become.
    pub fn vocab(&self) -> &Vocab {
        match self {
            Model::Bpe(bpe) => bpe.vocab(),
            Model::WordPiece(wordpiece) => wordpiece.vocab(),
            Model::Unigram(unigram) => unigram.vocab(),
        }
    }

    /// The BPE model, if it is one.
    pub fn bpe(&self) -> Option<&Bpe> {
        match self {
            Model::Bpe(bpe) => Some(bpe),
            Model::WordPiece(_) => None,
            Model::Unigram(_) => None,
        }
    }

    /// The Unigram model, if it is one.
    pub fn unigram(&self) -> Option<&Unigram> {
        match self {
            Model::Unigram(unigram) => Some(unigram),
            Model::Bpe(_) | Model::WordPiece(_) => None,
        }
    }

    /// Whether every word that is a piece is that piece, so that a table of words may know them all
    /// from the start.
    pub(crate) fn takes_whole_words(&self) -> bool {
        match self {
            Model::Bpe(bpe) => bpe.whole_word(),
            Model::WordPiece(wordpiece) => wordpiece.takes_whole_words(),
            Model::Unigram(_) => false,
        }
    }

    /// Where words may be cut before they are encoded.
    pub(crate) fn cuts(&self) -> Option<&cuts::Cuts> {
        match self {
            Model::Bpe(bpe) => bpe.cuts(),
            Model::WordPiece(_) => None,
            Model::Unigram(_) => None,
        }
    }

    /// Whether words are cut there whatever they begin with.
    pub(crate) fn cuts_all_words(&self) -> bool {
        self.bpe().is_some_and(Bpe::cuts_all_words)
    }

    /// Whether `strategy` is the model's own way, so that what was remembered may be used.
    pub(crate) fn is_own(&self, strategy: Option<Strategy>) -> bool {
        match self {
            Model::Bpe(bpe) => strategy.is_none_or(|strategy| strategy == bpe.strategy()),
            // There is but one way, whatever is asked for.
            Model::WordPiece(_) => true,
            Model::Unigram(_) => true,
        }
    }
}
