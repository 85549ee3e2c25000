//! The one front half: text -> words, for encoding and for counting alike.
//!
//! Rule: the only path for real text. If training and encoding ever cut differently, the fault is here.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::count::Words;
use crate::error::{Error, Result};
use crate::normalize::{Aligned, Buffers, Normalizer, Origins, Place, Rule, metaspace};
use crate::pretokenize::{Metaspace, Pretokenizer, Scheme};

/// Normalizes and pre-tokenizes.
#[derive(Debug, Clone)]
pub struct Prepare {
    normalizer: Normalizer,
    metaspace: Option<Metaspace>,
    pretokenizer: Pretokenizer,
}

/// Room for a text on its way to the pre-tokenizer, to be used again.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    normalized: Buffers,
    spaced: String,
}

impl Prepare {
    /// Compiles rules of normalization and a sequence of schemes. [`Scheme::Metaspace`] at its beginning
    /// also rewrites spaces, behind the rules.
    ///
    /// # Errors
    /// As [`Normalizer::new`] and [`Pretokenizer::new`].
    pub fn new(rules: &[Rule], schemes: &[Scheme]) -> Result<Self> {
        Ok(Self {
            normalizer: Normalizer::new(rules)?,
            metaspace: match schemes.first() {
                Some(&Scheme::Metaspace(spaces)) => Some(spaces),
                _ => None,
            },
            pretokenizer: Pretokenizer::new(schemes)?,
        })
    }

    /// The normalizer.
    pub fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    /// The pre-tokenizer, which cuts what [`Prepare::text`] returns.
    #[inline]
    pub fn pretokenizer(&self) -> &Pretokenizer {
        &self.pretokenizer
    }

    /// How spaces are written into the words, if they are.
    pub fn metaspace(&self) -> Option<Metaspace> {
        self.metaspace
    }

    /// The text as the pre-tokenizer is to see it: `text` itself, or rewritten in `scratch`.
    ///
    /// # Errors
    /// As [`Normalizer::text`].
    #[inline]
    pub fn text<'a>(
        &self,
        text: &'a str,
        place: Place,
        scratch: &'a mut Scratch,
    ) -> Result<&'a str> {
        let text = if self.normalizer.is_empty() {
            text
        } else {
            self.normalizer.text(text, place, &mut scratch.normalized)?
        };
        match self.metaspace {
            Some(spaces) if metaspace::changes(spaces, text, place) => {
                scratch.spaced.clear();
                metaspace::run(spaces, text, place, &mut scratch.spaced);
                Ok(&scratch.spaced)
            }
            _ => Ok(text),
        }
    }

    /// The same text, with the bytes that each of its bytes stands for.
    ///
    /// # Errors
    /// As [`Normalizer::text`].
    pub fn aligned(&self, text: &str, place: Place) -> Result<(String, Origins)> {
        let (text, origins) = self.normalizer.aligned(text, place)?;
        match self.metaspace {
            Some(spaces) if metaspace::changes(spaces, &text, place) => {
                let mut out = Aligned::default();
                metaspace::run(spaces, &text, place, &mut out);
                Ok(origins.then(out))
            }
            _ => Ok((text, origins)),
        }
    }
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
        let text = self.text(document, Place::WHOLE, scratch)?;
        self.pretokenizer.for_each(text, |start, end| word(&text[start..end]))
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
