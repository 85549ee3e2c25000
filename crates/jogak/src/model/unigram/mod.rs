//! Unigram language model (Kudo 2018): the most likely way to cut a word into pieces.
//!
//! Every piece has a score, the natural logarithm of its probability, and a segmentation has the sum
//! of its pieces' scores. A character that is no piece by itself may be an unknown one, at the lowest
//! score less 10 (or at what the model says).
//!
//! ```text
//! best[0] = 0
//! for every border `start` between characters, left to right:
//!     for every piece that starts there, shortest first:
//!         if best[start] + score > best[end]: best[end] = that, by this piece
//!     if none of them was one character: the same for that character, unknown
//! ```
//!
//! So of candidates with equal sums the one that starts earliest wins. Near-ties depend on how sums
//! are rounded, which is therefore part of the model ([`Precision`]):
//!
//! | precision | numbers | who |
//! |---|---|---|
//! | double | 64 bits | HF tokenizers 0.23 |
//! | single | 32 bits; a sum beyond ±100,000 starts over from 0 | SentencePiece 0.2.3 |
//!
//! Both add from the start of the word, and SentencePiece's word is the whole text.
//!
//! ```text
//! parts.rs    what a model is made of -> the model
//! marks.rs    where a word falls into parts
//! viterbi.rs  the best path of a part
//! near.rs     the same, and for which sums before the part it holds
//! pieces.rs   a path -> pieces
//! lattice.rs  all paths; agenda.rs: the n best of them, as SentencePiece finds them
//! ```

mod agenda;
mod even;
mod lattice;
mod marks;
mod near;
mod parts;
mod pieces;
mod viterbi;

pub use even::{Behind, Even, EvenSum};
pub use lattice::{Lattice, Path};
pub use near::{Marked, NearTies, Running};
pub use parts::UnigramParts;
pub(crate) use viterbi::LARGEST_SINGLE;
pub use viterbi::{Lane, Viterbi};

use memchr::memmem;

use super::Sink;
use super::cuts::Cuts as Borders;
use crate::error::{Error, Result};
use crate::observe::WordObserver;
use crate::vocab::{CharTree, Vocab};
use marks::Cuts;
use near::Extents;
use pieces::{Pieces, Uncovered};

/// How sums of scores are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits: HF tokenizers.
    Double,
    /// 32 bits, starting over beyond ±100,000: SentencePiece.
    Single,
}

/// A Unigram model, compiled.
#[derive(Debug)]
pub struct Unigram {
    vocab: Vocab,
    tree: CharTree,
    /// The score of every id, so that those of a path add up to its sum: a user-defined piece has its
    /// own, the unknown piece that of one unknown character, and so has the first byte of one.
    scores: Vec<f64>,
    /// The same in 32 bits.
    single: Vec<f32>,
    /// The same, each one place on; nothing can be had for the first.
    offered: Vec<f32>,
    /// Scores among all ways to cut a word, where they are others: SentencePiece scores a user-defined
    /// piece by its bytes when it looks for the best way, and by its characters among all ways.
    among_ways: Option<Vec<f64>>,
    unknown_score: f64,
    unknown_single: f32,
    /// How far parts take a sum that are remembered.
    extents: Extents,
    unknown: Option<u32>,
    fuse_unknown: bool,
    byte_fallback: Option<Box<[u32; 256]>>,
    precision: Precision,
    cuts: Cuts,
    /// Certain cuts between characters.
    borders: Borders,
    /// If scores are such.
    even: Option<Even>,
    /// For [`UnigramParts::hf_rules`].
    hf: Option<Box<HfRules>>,
}

/// What is needed where pieces that stand for unknown characters may be found in text.
#[derive(Debug)]
struct HfRules {
    /// Scores of pieces where they are found in text.
    scores: Vec<f64>,
    single: Vec<f32>,
    /// What text has to have for one of these pieces to be found; a byte without a piece is looked for
    /// nowhere, so then every text has it.
    unknown: Option<memmem::Finder<'static>>,
    bytes: bool,
    always: bool,
    /// Nothing stands for an unknown character, which is an error as soon as it is the best way to come
    /// to a place, even where the best way to cut the word passes that place over.
    strict: bool,
}

impl Unigram {
    /// The pieces that text can become.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// Whether a text may have one of the pieces that stand for unknown characters, written out, so that
    /// sums cannot be told from ids; or whether more is to be known of it than its ids.
    pub fn has_reserved(&self, text: &str) -> bool {
        self.hf.as_ref().is_some_and(|hf| {
            let text = text.as_bytes();
            // Mostly not even its first byte is there, which is seen at once.
            let begins = |finder: &memmem::Finder<'_>| {
                finder.needle().first().is_none_or(|&first| memchr::memchr(first, text).is_some())
            };
            let has = |finder: &memmem::Finder<'_>| begins(finder) && finder.find(text).is_some();
            hf.always
                || hf.strict
                || hf.unknown.as_ref().is_some_and(has)
                || (hf.bytes && memmem::find(text, b"<0x").is_some())
        })
    }

    /// Whether a text that [has such a piece](Unigram::has_reserved) may have it from this character on.
    pub(crate) fn begins_reserved(&self, c: char) -> bool {
        self.hf.as_ref().is_some_and(|hf| {
            let first = c.encode_utf8(&mut [0; 4]).as_bytes()[0];
            let begins = |finder: &memmem::Finder<'_>| {
                finder.needle().first().is_none_or(|&unknown| unknown == first)
            };
            hf.always
                || hf.strict
                || (hf.bytes && c == '<')
                || hf.unknown.as_ref().is_some_and(begins)
        })
    }

    /// How sums are rounded.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The score of a piece, or of one unknown character.
    pub fn score(&self, id: u32) -> f64 {
        self.scores.get(id as usize).copied().unwrap_or(self.unknown_score)
    }

    /// The id for what nothing covers.
    pub fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Whether unknown characters become the pieces of their bytes.
    pub fn falls_back(&self) -> bool {
        self.byte_fallback.is_some()
    }

    /// The piece of a byte, where unknown characters fall back to them.
    pub fn byte_id(&self, byte: u8) -> Option<u32> {
        self.byte_fallback.as_ref().map(|ids| ids[usize::from(byte)])
    }

    /// Whether a run of unknown characters becomes one piece.
    pub fn fuses(&self) -> bool {
        self.fuse_unknown && self.byte_fallback.is_none() && self.unknown.is_some()
    }

    /// The score of an unknown character.
    pub fn unknown_score(&self) -> f64 {
        self.unknown_score
    }

    /// Cuts one word into pieces.
    ///
    /// # Errors
    /// [`Error::NotCovered`] for an unknown character where nothing stands for it, unless
    /// `keep_uncovered`; [`Error::TooLarge`] for a word of 4 GiB.
    pub fn word<S: Sink, O: WordObserver>(
        &self,
        word: &str,
        keep_uncovered: bool,
        viterbi: &mut Viterbi,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        let mut pieces = Pieces::new(self, word, keep_uncovered, sink);
        let mut running = Running::default();
        let mut result = Ok(());
        let strict = !keep_uncovered && self.hf.as_ref().is_some_and(|hf| hf.strict);
        self.for_each_part(word, |start, end| {
            if result.is_ok() {
                let part = &word[start..end];
                result = if strict {
                    self.covered_part(part, &mut running, viterbi, observer)
                } else {
                    self.part(part, &mut running, viterbi, observer)
                };
                for &(id, from, to) in viterbi.path() {
                    if result.is_ok() {
                        result = pieces.push(id, start + from, start + to);
                    }
                }
            }
        });
        result.and_then(|()| pieces.finish())
    }

    /// The best path of one [part](Unigram::for_each_part) of a word, into `viterbi`; `running` is the
    /// sum so far, and then with the part. Unknown characters are
    /// [`UNKNOWN`](crate::symbols::UNKNOWN), one by one.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a part of 4 GiB.
    pub fn part<O: WordObserver>(
        &self,
        part: &str,
        running: &mut Running,
        viterbi: &mut Viterbi,
        observer: &mut O,
    ) -> Result<()> {
        match self.precision {
            Precision::Double => {
                let found = self.hf.as_ref().map_or(&self.scores, |hf| &hf.scores);
                let scores = (&found[..], self.unknown_score);
                running.double = viterbi.run(&self.tree, scores, part, running.double, observer)?;
            }
            Precision::Single => {
                let found = self.hf.as_ref().map_or(&self.single, |hf| &hf.single);
                let scores = (&found[..], self.unknown_single);
                running.single = viterbi.run(&self.tree, scores, part, running.single, observer)?;
            }
        }
        Ok(())
    }

    /// As [`Unigram::part`], where no place may be come to best by an unknown character.
    fn covered_part<O: WordObserver>(
        &self,
        part: &str,
        running: &mut Running,
        viterbi: &mut Viterbi,
        observer: &mut O,
    ) -> Result<()> {
        let mut watch = Uncovered { inner: observer, met: None };
        self.part(part, running, viterbi, &mut watch)?;
        match watch.met {
            None => Ok(()),
            Some((start, end)) => Err(Error::NotCovered { text: part[start..end].to_owned() }),
        }
    }

    /// Calls `each` with the parts of a word that no piece connects. Each can be cut by itself, given
    /// the sum of the scores before it. Cost: linear in the word.
    #[inline]
    pub fn for_each_part(&self, word: &str, each: impl FnMut(usize, usize)) {
        self.cuts.for_each_part(word, each);
    }

    /// Where no piece lies across two characters.
    pub(crate) fn borders(&self) -> &Borders {
        &self.borders
    }

    /// Whether a word always falls apart before a run of `▁`, and each part's ids tell the sum of its
    /// scores.
    pub(crate) fn is_cut_at_marks(&self) -> bool {
        self.cuts != Cuts::Never && self.hf.is_none()
    }

    /// If scores are added up without rounding.
    pub(crate) fn even(&self) -> Option<&Even> {
        self.even.as_ref()
    }

    /// All ways to cut a word.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a word of 4 GiB.
    pub fn lattice(&self, word: &str) -> Result<Lattice> {
        let scores = self.among_ways.as_ref().unwrap_or(&self.scores);
        Lattice::new(&self.tree, scores, self.unknown_score, word)
    }

    /// The same with the scores by which [`Unigram::word`] finds the best one.
    ///
    /// # Errors
    /// As [`Unigram::lattice`].
    pub fn lattice_of_search(&self, word: &str) -> Result<Lattice> {
        Lattice::new(&self.tree, &self.scores, self.unknown_score, word)
    }

    /// The `n` best ways to cut a word: as SentencePiece finds them where sums have 32 bits.
    ///
    /// # Errors
    /// As [`Unigram::lattice`] and [`Lattice::best`].
    pub fn best(&self, word: &str, n: usize) -> Result<Vec<Path>> {
        match self.precision {
            Precision::Single => self.lattice(word)?.best_of_agenda(n),
            Precision::Double => self.lattice(word)?.best(n),
        }
    }

    /// The score of a piece among all ways to cut a word.
    pub fn score_among_ways(&self, id: u32) -> f64 {
        let scores = self.among_ways.as_ref().unwrap_or(&self.scores);
        scores.get(id as usize).copied().unwrap_or(self.unknown_score)
    }

    /// Hands the pieces of a path over `word` to a sink, with what stands for unknown characters.
    ///
    /// # Errors
    /// [`Error::NotCovered`] as [`Unigram::word`].
    pub fn write<S: Sink>(
        &self,
        word: &str,
        path: impl IntoIterator<Item = (u32, usize, usize)>,
        keep_uncovered: bool,
        sink: &mut S,
    ) -> Result<()> {
        let mut pieces = Pieces::new(self, word, keep_uncovered, sink);
        path.into_iter().try_for_each(|(id, start, end)| pieces.push(id, start, end))?;
        pieces.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;
    use crate::random::SplitMix64;

    fn model(pieces: &[(&str, f64)], precision: Precision) -> Unigram {
        let (texts, scores): (Vec<_>, Vec<_>) =
            pieces.iter().map(|&(text, score)| (text.as_bytes().to_vec(), score)).unzip();
        Unigram::new(UnigramParts::new(Vocab::new(texts), scores, precision)).unwrap()
    }

    #[test]
    fn parts_hold_wherever_their_mark_says_so() {
        // Near-ties at every distance: the scores of "ab" and of "a" + "b" differ by little.
        let mut random = SplitMix64::new(3);
        let (mut held, mut not) = (0, 0);
        for round in 0..3000 {
            let near = 2.0_f64.powi(-(round % 30));
            let scores = [-1.5 - random.fraction(), -2.5 - random.fraction()];
            let both = scores[0] + scores[1] + near * (random.fraction() - 0.5);
            let pieces = [("a", scores[0]), ("b", scores[1]), ("ab", both)];
            for precision in [Precision::Single, Precision::Double] {
                let model = model(&pieces, precision);
                let base = -100_000.0 * random.fraction();
                let mut ids = Vec::new();
                let mark = NearTies::default().part(&model, "abab", &mut ids).unwrap();
                let mut running = Running { single: base as f32, double: base };
                if !mark.holds(model.magnitude(running), precision) {
                    not += 1;
                    continue;
                }
                held += 1;
                let mut summed = running;
                let mut viterbi = Viterbi::default();
                model.part("abab", &mut running, &mut viterbi, &mut Silent).unwrap();
                let exact: Vec<u32> = viterbi.path().iter().map(|piece| piece.0).collect();
                assert_eq!(exact, ids, "{pieces:?} from {base}");
                model.advance(&mut summed, &ids);
                assert_eq!(summed.single.to_bits(), running.single.to_bits());
                assert_eq!(summed.double.to_bits(), running.double.to_bits());
            }
        }
        assert!(held > 1000 && not > 1000, "{held} {not}");
    }

    #[test]
    fn words_are_cut_where_no_piece_lies_across() {
        let parts = |pieces: &[(&str, f64)], word: &str| {
            let mut parts = Vec::new();
            model(pieces, Precision::Double)
                .for_each_part(word, |from, to| parts.push(word[from..to].to_owned()));
            parts
        };
        let word = "▁a▁▁b★";
        assert_eq!(parts(&[("▁a", -1.0)], word), ["▁a", "▁", "▁b★"]);
        assert_eq!(parts(&[("▁▁", -1.0)], word), ["▁a", "▁▁b★"]);
        assert_eq!(parts(&[("a▁", -1.0)], word), [word]);
    }
}
