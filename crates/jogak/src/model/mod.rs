//! One word + a vocabulary -> ids.
//!
//! Rule: sees one word at a time. No I/O; randomness only from a seed passed in.

mod automaton;
pub mod bpe;
mod buckets;
pub mod codes;
pub(crate) mod cuts;
mod drawn;
mod greedy;
mod merge;
mod pairs;
mod ranks;
mod scored;
pub mod unigram;
pub mod word_level;
pub mod wordpiece;

pub use bpe::{Bpe, BpeParts, Strategy};
pub use codes::{Codes, CodesParts, GlossaryPattern};
pub use merge::Merger;
pub use unigram::{Precision, Unigram, UnigramParts};
pub use word_level::{WordLevel, WordLevelParts};
pub use wordpiece::{WordPiece, WordPieceParts};

use crate::error::Result;
use crate::random::SplitMix64;
use crate::vocab::Vocab;

/// Receives the pieces of words, left to right.
pub trait Sink {
    /// Whether it looks at the bytes that pieces stand for.
    const SPANS: bool = true;

    /// Piece `id` stands for the bytes `start..end` of the word; equal for a marker by itself.
    fn piece(&mut self, id: u32, start: usize, end: usize);

    /// The list that pieces are put on, and nothing else.
    fn list(&mut self) -> Option<&mut Vec<u32>> {
        None
    }

    /// The last piece also stands for the text up to `end` (fused unknown characters).
    fn extend_last(&mut self, end: usize) {
        let _ = end;
    }
}

impl Sink for Vec<u32> {
    const SPANS: bool = false;

    #[inline]
    fn piece(&mut self, id: u32, _start: usize, _end: usize) {
        self.push(id);
    }

    #[inline]
    fn list(&mut self) -> Option<&mut Vec<u32>> {
        Some(self)
    }
}

/// How words are to be cut, for one call.
#[derive(Debug, Clone, Default)]
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
    /// Words are known to be no pieces, so that nobody has to look.
    pub is_no_piece: bool,
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
    /// For words that are drawn.
    drawn: String,
}

/// The models, as a closed set.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a tokenizer has one")]
pub enum Model {
    /// Byte pair encoding and the greedy ways over its pieces.
    Bpe(Bpe),
    /// Byte pair encoding with a vocabulary and glossaries.
    Codes(Box<Codes>),
    /// Longest match, and the whole word or nothing.
    WordPiece(WordPiece),
    /// The Unigram language model.
    Unigram(Unigram),
    /// Words as they are.
    WordLevel(WordLevel),
    /// Any of these, for words whose bytes are drawn as characters.
    Drawn(Box<Model>),
}

impl Model {
    /// A BPE model whose pieces are drawn as [`draw`](crate::symbols::draw) draws bytes.
    ///
    /// # Errors
    /// As [`Bpe::new`].
    ///
    /// ```
    /// use jogak::model::{BpeParts, Model, Scratch, Way};
    /// use jogak::observe::Silent;
    /// use jogak::vocab::Vocab;
    ///
    /// // There is no piece for `c`.
    /// let pieces = Vocab::new(["a", "Ġ", "Ġa"].map(str::as_bytes));
    /// let drawn = BpeParts { bytes: false, drop_unknown: true, hf_rules: true, ..BpeParts::of_bytes(pieces) };
    /// let model = Model::of_drawn(BpeParts { merges: Some(vec![(1, 0)]), ..drawn })?;
    /// let mut ids = Vec::new();
    /// model.word(" acca", &mut Way::default(), &mut Scratch::default(), &mut ids, &mut Silent)?;
    /// assert_eq!(ids, [2, 0]);
    /// # Ok::<(), jogak::Error>(())
    /// ```
    pub fn of_drawn(parts: BpeParts) -> Result<Self> {
        Ok(match drawn::undrawn(&parts) {
            Some(pieces) => Self::Bpe(Bpe::new(BpeParts { pieces, bytes: true, ..parts })?),
            None => Self::Drawn(Box::new(Self::Bpe(Bpe::new(parts)?))),
        })
    }

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
            Model::Drawn(model) => {
                let mut drawn = std::mem::take(&mut scratch.drawn);
                drawn::draw(word, &mut drawn);
                let sink = &mut drawn::Undrawn { sink, drawn: &drawn };
                let result = model.plain_word(&drawn, way, scratch, sink, observer);
                scratch.drawn = drawn;
                result
            }
            plain => plain.plain_word(word, way, scratch, sink, observer),
        }
    }

    /// A word as it is. By itself, so that sinks are not wrapped without end.
    fn plain_word<S: Sink, O: crate::observe::WordObserver>(
        &self,
        word: &str,
        way: &mut Way,
        scratch: &mut Scratch,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        let uncovered = way.keep_uncovered;
        match self {
            Model::Bpe(bpe) => bpe.word(word, way, &mut scratch.merger, sink, observer),
            Model::Codes(codes) => codes.word(word, way, &mut scratch.merger, sink, observer),
            Model::WordPiece(model) => {
                model.word(word, uncovered, &mut scratch.found, sink, observer)
            }
            Model::Unigram(model) => match &mut way.alpha {
                None => model.word(word, uncovered, &mut scratch.viterbi, sink, observer),
                Some((alpha, random)) => {
                    let path = model.lattice(word)?.sample(*alpha, random);
                    model.write(word, path.pieces, uncovered, sink)
                }
            },
            Model::WordLevel(model) => model.word(word, uncovered, sink, observer),
            Model::Drawn(_) => Ok(()), // nobody draws twice
        }
    }

    /// All pieces that ordinary text may become.
    pub fn vocab(&self) -> &Vocab {
        match self {
            Model::Bpe(bpe) => bpe.vocab(),
            Model::Codes(codes) => codes.bpe().vocab(),
            Model::WordPiece(wordpiece) => wordpiece.vocab(),
            Model::Unigram(unigram) => unigram.vocab(),
            Model::WordLevel(words) => words.vocab(),
            Model::Drawn(model) => model.vocab(),
        }
    }

    /// The BPE model, if it is one.
    pub fn bpe(&self) -> Option<&Bpe> {
        match self {
            Model::Bpe(bpe) => Some(bpe),
            Model::Codes(codes) => Some(codes.bpe()),
            Model::Drawn(model) => model.bpe(),
            Model::WordPiece(_) | Model::Unigram(_) | Model::WordLevel(_) => None,
        }
    }

    /// The Unigram model, if it is one that sees words as they are.
    pub fn unigram(&self) -> Option<&Unigram> {
        match self {
            Model::Unigram(unigram) => Some(unigram),
            Model::Bpe(_)
            | Model::Codes(_)
            | Model::WordPiece(_)
            | Model::WordLevel(_)
            | Model::Drawn(_) => None,
        }
    }

    /// The WordPiece model, if it is one that sees words as they are.
    pub(crate) fn wordpiece(&self) -> Option<&WordPiece> {
        match self {
            Model::WordPiece(model) => Some(model),
            Model::Bpe(_)
            | Model::Codes(_)
            | Model::Unigram(_)
            | Model::WordLevel(_)
            | Model::Drawn(_) => None,
        }
    }

    /// Whether every word that is a piece is that piece, so that a table of words may know them all
    /// from the start.
    pub(crate) fn takes_whole_words(&self) -> bool {
        match self {
            Model::Bpe(bpe) => bpe.whole_word(),
            Model::WordPiece(wordpiece) => wordpiece.takes_whole_words(),
            Model::WordLevel(_) => true,
            Model::Codes(_) | Model::Unigram(_) | Model::Drawn(_) => false,
        }
    }

    /// Where words may be cut before they are encoded.
    pub(crate) fn cuts(&self) -> Option<&cuts::Cuts> {
        match self {
            Model::Bpe(bpe) => bpe.cuts(),
            Model::Codes(_)
            | Model::WordPiece(_)
            | Model::Unigram(_)
            | Model::WordLevel(_)
            | Model::Drawn(_) => None,
        }
    }

    /// Whether there may be such places.
    pub(crate) fn may_cut(&self) -> bool {
        matches!(self, Model::Bpe(bpe) if bpe.may_cut())
    }

    /// Whether words are cut there whatever they begin with; `texts` says that they are whole texts.
    pub(crate) fn cuts_all_words(&self, texts: bool) -> bool {
        matches!(self, Model::Bpe(bpe) if bpe.cuts_all_words(texts))
    }

    /// The unknown piece, where one stands for a run of unknown words.
    pub(crate) fn fuses_words(&self) -> Option<u32> {
        match self {
            Model::WordLevel(words) => words.fused(),
            Model::Drawn(model) => model.fuses_words(),
            Model::Bpe(_) | Model::Codes(_) | Model::WordPiece(_) | Model::Unigram(_) => None,
        }
    }

    /// The word as the model sees it.
    pub(crate) fn seen<'a>(&self, word: &'a str) -> std::borrow::Cow<'a, str> {
        match self {
            Model::Drawn(_) => crate::symbols::draw(word.as_bytes()).into(),
            _ => word.into(),
        }
    }

    /// Whether `strategy` is the model's own way, so that what was remembered may be used.
    pub(crate) fn is_own(&self, strategy: Option<Strategy>) -> bool {
        match self {
            Model::Bpe(bpe) => strategy.is_none_or(|strategy| strategy == bpe.strategy()),
            Model::Codes(_) => strategy.is_none_or(|strategy| strategy == Strategy::Merges),
            Model::Drawn(model) => model.is_own(strategy),
            // There is but one way, whatever is asked for.
            Model::WordPiece(_) | Model::Unigram(_) | Model::WordLevel(_) => true,
        }
    }
}
