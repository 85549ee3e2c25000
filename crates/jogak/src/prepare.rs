//! The one front half: text -> words, for encoding and for counting alike.
//!
//! Rule: the only path for real text. If training and encoding ever cut differently, the fault is here.

use crate::count::Words;
use crate::error::Result;
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
    /// What rules of normalization write to.
    pub normalized: Buffers,
    /// What [`Prepare::spaced`] writes to.
    pub spaced: String,
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
        let text = self.normalized(text, place, &mut scratch.normalized)?;
        Ok(self.spaced(text, place, &mut scratch.spaced))
    }

    /// The first half of [`Prepare::text`]: what the rules of normalization make of a text.
    ///
    /// # Errors
    /// As [`Normalizer::text`].
    #[inline]
    pub fn normalized<'a>(
        &self,
        text: &'a str,
        place: Place,
        buffers: &'a mut Buffers,
    ) -> Result<&'a str> {
        if self.normalizer.is_empty() {
            return Ok(text);
        }
        self.normalizer.text(text, place, buffers)
    }

    /// The second half: spaces written as the words have them.
    #[inline]
    pub fn spaced<'a>(&self, text: &'a str, place: Place, buffer: &'a mut String) -> &'a str {
        match self.metaspace {
            Some(spaces) if metaspace::changes(spaces, text, place) => {
                buffer.clear();
                metaspace::run(spaces, text, place, buffer);
                buffer
            }
            _ => text,
        }
    }

    /// The same text, with the bytes that each of its bytes stands for.
    ///
    /// # Errors
    /// As [`Normalizer::text`].
    pub fn aligned(&self, text: &str, place: Place) -> Result<(String, Origins)> {
        let (text, origins) = self.normalizer.aligned(text, place)?;
        Ok(self.spaced_aligned(text, origins, place))
    }

    /// As [`Prepare::spaced`], of a text that knows where it came from.
    pub fn spaced_aligned(
        &self,
        text: String,
        origins: Origins,
        place: Place,
    ) -> (String, Origins) {
        match self.metaspace {
            Some(spaces) if metaspace::changes(spaces, &text, place) => {
                let mut out = Aligned::default();
                metaspace::run(spaces, &text, place, &mut out);
                origins.then(out)
            }
            _ => (text, origins),
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
