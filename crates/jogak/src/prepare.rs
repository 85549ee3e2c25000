//! The one front half: text -> words, for encoding and for counting alike.
//!
//! Rule: the only path for real text. If training and encoding ever cut differently, the fault is here.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::count::Words;
use crate::error::{Error, Result};
use crate::normalize::metaspace;
use crate::pretokenize::{Pretokenizer, Scheme};

/// Normalizes and pre-tokenizes.
#[derive(Debug, Clone)]
pub struct Prepare {
    metaspace: bool,
    pretokenizer: Pretokenizer,
}

impl Prepare {
    /// Compiles a sequence of schemes. [`Scheme::Metaspace`] at its beginning also rewrites spaces.
    ///
    /// # Errors
    /// As [`Pretokenizer::new`].
    pub fn new(schemes: &[Scheme]) -> Result<Self> {
        Ok(Self {
            metaspace: schemes.first() == Some(&Scheme::Metaspace),
            pretokenizer: Pretokenizer::new(schemes)?,
        })
    }

    /// The pre-tokenizer, which cuts what [`Prepare::text`] returns.
    #[inline]
    pub fn pretokenizer(&self) -> &Pretokenizer {
        &self.pretokenizer
    }

    /// Whether words come with `▁` written into them.
    pub fn writes_prefix(&self) -> bool {
        self.metaspace
    }

    /// The text as the pre-tokenizer is to see it: `text` itself, or rewritten in `scratch`. `first`
    /// says that a document begins here.
    #[inline]
    pub fn text<'a>(&self, text: &'a str, first: bool, scratch: &'a mut String) -> &'a str {
        if self.metaspace {
            metaspace::write(text, first, scratch);
            scratch
        } else {
            text
        }
    }

    /// For every byte border of the prepared text, the byte of `text` that it lies at.
    pub fn origins(&self, text: &str, first: bool) -> Vec<usize> {
        if self.metaspace { metaspace::origins(text, first) } else { (0..=text.len()).collect() }
    }
}

impl Words for Prepare {
    #[inline]
    fn for_each(
        &self,
        document: &str,
        scratch: &mut String,
        word: &mut impl FnMut(&str),
    ) -> Result<()> {
        let text = self.text(document, true, scratch);
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
    /// Ordinary text, and the byte where it starts.
    Text(&'a str, usize),
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
                    part(Part::Text(&text[from..found.start()], from))?;
                }
                part(Part::Special(self.ids[token], found.start(), found.end()))?;
                from = found.end();
            }
        }
        if from < text.len() { part(Part::Text(&text[from..], from)) } else { Ok(()) }
    }
}
