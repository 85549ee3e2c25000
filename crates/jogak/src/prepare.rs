//! The one front half: text -> words, for encoding and for counting alike.
//!
//! Rule: the only path for real text. If training and encoding ever cut differently, the fault is here.

mod steps;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::count::Words;
use crate::error::{Error, Result};
use crate::normalize::{Aligned, Buffers, Normalizer, Origins, Place, Rule, metaspace};
use crate::pretokenize::{Dummy, Metaspace, Pretokenizer, Scheme};
use steps::Step;

/// Normalizes and pre-tokenizes.
#[derive(Debug, Clone)]
pub struct Prepare {
    normalizer: Normalizer,
    /// How spaces are written, anywhere in the sequence.
    spaces: Option<Metaspace>,
    front: Front,
    /// What cuts behind the last rewriting.
    pretokenizer: Pretokenizer,
}

/// What rewrites the text before it is cut for the last time.
#[derive(Debug, Clone)]
enum Front {
    Nothing,
    /// The spaces of the whole text.
    Spaces(Metaspace),
    /// Its words, in turn with cutting. Some step asks where words begin in the original, or none does.
    Steps(Vec<Step>, bool),
}

/// Room for a text on its way to the pre-tokenizer, to be used again.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    normalized: Buffers,
    spaced: String,
    /// The other of two texts, where words are rewritten several times.
    spare: String,
    parts: Vec<(usize, usize)>,
}

/// A text as the pre-tokenizer is to see it.
#[derive(Debug, Clone, Copy)]
pub struct Prepared<'a> {
    /// The text.
    pub text: &'a str,
    /// Its parts, which are cut each by itself; None for the whole.
    parts: Option<&'a [(usize, usize)]>,
}

/// A [`Prepared`] text that is kept, with the bytes of the original that each of its bytes stands for.
#[derive(Debug, Clone)]
pub struct AlignedText {
    text: String,
    parts: Option<Vec<(usize, usize)>>,
    /// Where the text came from.
    pub origins: Origins,
}

impl AlignedText {
    /// The text, to be cut.
    pub fn prepared(&self) -> Prepared<'_> {
        Prepared { text: &self.text, parts: self.parts.as_deref() }
    }
}

impl Prepare {
    /// Compiles rules of normalization and a sequence of schemes, some of which rewrite the words that
    /// they are given ([`Scheme::rewrites`]).
    ///
    /// # Errors
    /// As [`Normalizer::new`] and [`Pretokenizer::new`].
    pub fn new(rules: &[Rule], schemes: &[Scheme]) -> Result<Self> {
        let normalizer = Normalizer::new(rules)?;
        let spaces = schemes.iter().find_map(|scheme| match scheme {
            &Scheme::Metaspace(spaces) => Some(spaces),
            _ => None,
        });
        let rewriting = schemes.iter().filter(|scheme| scheme.rewrites()).count();
        let (front, pretokenizer) = match schemes.first() {
            _ if rewriting == 0 => (Front::Nothing, Pretokenizer::new(schemes)?),
            // Nothing moves the beginning of the text, if there are no rules.
            Some(&Scheme::Metaspace(spaces))
                if rewriting == 1 && (spaces.dummy != Dummy::Start || normalizer.is_empty()) =>
            {
                (Front::Spaces(spaces), Pretokenizer::new(schemes)?)
            }
            _ => {
                let (steps, pretokenizer) = steps::compile(schemes)?;
                let asks = steps.iter().enumerate().any(|(number, step)| {
                    let moved = number > 1 || !normalizer.is_empty();
                    moved && matches!(step, Step::Rewrite(rewriter) if rewriter.asks_for_origin())
                });
                (Front::Steps(steps, asks), pretokenizer)
            }
        };
        Ok(Self { normalizer, spaces, front, pretokenizer })
    }

    /// The normalizer.
    pub fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    /// How spaces are written into the words, if they are.
    pub fn metaspace(&self) -> Option<Metaspace> {
        self.spaces
    }

    /// The text as the pre-tokenizer is to see it: `text` itself, or rewritten in `scratch`.
    ///
    /// # Errors
    /// As [`Normalizer::text`] and [`Pretokenizer::for_each`].
    #[inline]
    pub fn text<'a>(
        &self,
        text: &'a str,
        place: Place,
        scratch: &'a mut Scratch,
    ) -> Result<Prepared<'a>> {
        let original = text;
        let Scratch { normalized, spaced, spare, parts } = scratch;
        let text = if self.normalizer.is_empty() {
            text
        } else {
            self.normalizer.text(text, place, normalized)?
        };
        match &self.front {
            &Front::Spaces(spaces) if metaspace::changes(spaces, text, place) => {
                spaced.clear();
                metaspace::run(spaces, text, place, spaced);
                Ok(Prepared { text: spaced, parts: None })
            }
            Front::Steps(steps, asks) => {
                if *asks {
                    let aligned = self.aligned(original, place)?;
                    *spaced = aligned.text;
                    *parts = aligned.parts.unwrap_or_default();
                } else {
                    run_steps(steps, text, place, parts, spaced, spare)?;
                }
                Ok(Prepared { text: spaced, parts: Some(parts) })
            }
            _ => Ok(Prepared { text, parts: None }),
        }
    }

    /// Calls `word` with the byte range of every word of a text that was made ready here.
    ///
    /// # Errors
    /// As [`Pretokenizer::for_each`].
    #[inline]
    pub fn for_each(
        &self,
        prepared: Prepared<'_>,
        mut word: impl FnMut(usize, usize),
    ) -> Result<()> {
        match prepared.parts {
            None => self.pretokenizer.for_each(prepared.text, word),
            Some(parts) => self.pretokenizer.for_each_part(prepared.text, parts, &mut word),
        }
    }

    /// The same text as [`Prepare::text`] gives, with the bytes that each of its bytes stands for.
    ///
    /// # Errors
    /// As [`Prepare::text`].
    pub fn aligned(&self, text: &str, place: Place) -> Result<AlignedText> {
        let (mut text, mut origins) = self.normalizer.aligned(text, place)?;
        match &self.front {
            &Front::Spaces(spaces) if metaspace::changes(spaces, &text, place) => {
                let mut out = Aligned::default();
                metaspace::run(spaces, &text, place, &mut out);
                let (text, origins) = origins.then(out);
                Ok(AlignedText { text, parts: None, origins })
            }
            Front::Steps(steps, _) => {
                let mut parts = vec![(0, text.len())];
                for step in steps {
                    match step {
                        Step::Cut(cutter) => steps::cut(cutter, &text, &mut parts)?,
                        Step::Rewrite(rewriter) => {
                            let mut out = Aligned::default();
                            let origin = |at| origins.span(at, at).0;
                            rewriter.run(&text, &mut parts, place, origin, &mut out);
                            (text, origins) = origins.then(out);
                        }
                    }
                }
                Ok(AlignedText { text, parts: Some(parts), origins })
            }
            _ => Ok(AlignedText { text, parts: None, origins }),
        }
    }
}

/// Takes the steps; the text is then in `out`, and `parts` are its parts. No step may ask for origins
/// that are not those of `text`.
fn run_steps(
    steps: &[Step],
    text: &str,
    place: Place,
    parts: &mut Vec<(usize, usize)>,
    out: &mut String,
    spare: &mut String,
) -> Result<()> {
    parts.clear();
    parts.push((0, text.len()));
    let mut rewritten = false;
    for step in steps {
        match step {
            Step::Cut(cutter) => {
                steps::cut(cutter, if rewritten { out.as_str() } else { text }, parts)?;
            }
            Step::Rewrite(rewriter) => {
                std::mem::swap(out, spare);
                out.clear();
                let from = if rewritten { spare.as_str() } else { text };
                rewriter.run(from, parts, place, |at| at, out);
                rewritten = true;
            }
        }
    }
    Ok(())
}

impl Words for Prepare {
    type Scratch = Scratch;

    #[inline]
    fn for_each(
        &self,
        document: &str,
        scratch: &mut Scratch,
        word: &mut impl FnMut(&str),
    ) -> Result<()> {
        let prepared = self.text(document, Place::WHOLE, scratch)?;
        self.for_each(prepared, |start, end| word(&prepared.text[start..end]))
    }
}

/// What to do with text that looks like a special token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialPolicy {
    /// It is text like any other.
    Text,
    /// It becomes the special token.
    Parse,
    /// It is an error.
    Error,
}

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Ordinary text, where in the document it stands, and the byte where it starts.
    Text(&'a str, Place, usize),
    /// A special token's id, and the bytes where it starts and ends.
    Special(u32, usize, usize),
}

/// Finds special tokens in text: leftmost first, and of those the longest.
#[derive(Debug, Clone)]
pub struct Specials {
    texts: Vec<String>,
    ids: Vec<u32>,
    finder: Option<AhoCorasick>,
}

impl Specials {
    /// A finder of (text, id).
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the texts are too many for the finder.
    pub fn new(tokens: &[(String, u32)]) -> Result<Self> {
        let texts: Vec<String> = tokens.iter().map(|(text, _)| text.clone()).collect();
        let finder = if texts.is_empty() {
            None
        } else {
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&texts);
            Some(built.map_err(|_| Error::TooLarge {
                what: "the finder of special tokens",
                size: texts.len() as u64,
                limit: i32::MAX as u64,
            })?)
        };
        Ok(Self { ids: tokens.iter().map(|&(_, id)| id).collect(), texts, finder })
    }

    /// Calls `part` with the stretches of `text`, in order; empty ones are left out.
    ///
    /// # Errors
    /// [`Error::SpecialInText`] under [`SpecialPolicy::Error`]; what `part` returns.
    pub fn for_each<'a>(
        &self,
        text: &'a str,
        policy: SpecialPolicy,
        mut part: impl FnMut(Part<'a>) -> Result<()>,
    ) -> Result<()> {
        let mut from = 0;
        if let Some(finder) = self.finder.as_ref().filter(|_| policy != SpecialPolicy::Text) {
            for found in finder.find_iter(text) {
                let token = found.pattern().as_usize();
                if policy == SpecialPolicy::Error {
                    let token = self.texts[token].clone();
                    return Err(Error::SpecialInText { token, at: found.start() });
                }
                if from < found.start() {
                    let place = Place { first: from == 0, last: false };
                    part(Part::Text(&text[from..found.start()], place, from))?;
                }
                part(Part::Special(self.ids[token], found.start(), found.end()))?;
                from = found.end();
            }
        }
        if from == text.len() {
            return Ok(());
        }
        part(Part::Text(&text[from..], Place { first: from == 0, last: true }, from))
    }
}
