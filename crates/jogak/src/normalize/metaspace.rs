//! SentencePiece's way with spaces (Kudo & Richardson 2018): every space becomes `▁` (U+2581), and one
//! `▁` goes before the text, so that a word looks the same at the start of a text and behind a space.
//!
//! Going back is exact for every text without a `▁` of its own: take one `▁` off the front, turn the
//! others into spaces.

use super::Place;
use super::align::Sink;

/// The visible space.
pub const MARK: &str = "▁";

/// Where a space is added that the text does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dummy {
    /// To every stretch of text: at the start of a document and behind every special token.
    Always,
    /// To the document alone.
    First,
    /// Nowhere.
    Never,
}

/// How spaces are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metaspace {
    /// Where a space is added.
    pub dummy: Dummy,
    /// Not if the text begins with a space already (Hugging Face's way; what was a space and what was
    /// added cannot be told apart afterwards).
    pub only_missing: bool,
    /// Spaces belong to the word before them, and the one that is added goes behind the text
    /// (`treat_whitespace_as_suffix`).
    pub suffix: bool,
    /// Spaces become `▁`; otherwise they stay spaces.
    pub escape: bool,
}

impl Default for Metaspace {
    fn default() -> Self {
        Self { dummy: Dummy::First, only_missing: false, suffix: false, escape: true }
    }
}

impl Metaspace {
    /// What a space is written as.
    pub fn mark(&self) -> &'static str {
        if self.escape { MARK } else { " " }
    }

    /// Whether a space is added to `text`.
    pub fn adds(&self, text: &str, place: Place) -> bool {
        let here = match self.dummy {
            Dummy::Always => true,
            Dummy::First if self.suffix => place.last,
            Dummy::First => place.first,
            Dummy::Never => false,
        };
        let present = |text: &str| {
            if self.suffix {
                text.ends_with(' ') || text.ends_with(self.mark())
            } else {
                text.starts_with(' ') || text.starts_with(self.mark())
            }
        };
        here && !text.is_empty() && !(self.only_missing && present(text))
    }

    pub(crate) fn changes(&self, text: &str, place: Place) -> bool {
        self.adds(text, place) || (self.escape && memchr::memchr(b' ', text.as_bytes()).is_some())
    }

    pub(crate) fn run(&self, text: &str, place: Place, out: &mut impl Sink) {
        let adds = self.adds(text, place);
        if adds && !self.suffix {
            out.write(self.mark(), 0, 0);
        }
        let mut done = 0;
        if self.escape {
            for at in memchr::memchr_iter(b' ', text.as_bytes()) {
                out.keep(text, done, at);
                out.write(MARK, at, at + 1);
                done = at + 1;
            }
        }
        out.keep(text, done, text.len());
        if adds && self.suffix {
            out.write(self.mark(), text.len(), text.len());
        }
    }
}
