//! Small edits: replace, prepend, strip, collapse white space.

use super::Place;
use super::align::Sink;
use crate::error::{Error, Result};
use crate::pretokenize::Finder;

/// The visible space of SentencePiece, which counts as white space at the end of a text.
const MARK: char = '▁';

/// What to look for.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Text(String),
    /// Two spaces and more.
    Spaces,
    Regex(Box<Finder>),
}

/// The expression for two spaces and more, as HF tokenizers writes it for SentencePiece's models.
pub(super) const SPACES: &str = " {2,}";

/// The expression for white space, as CLIP's file has it.
pub(super) const WHITE: &str = r"\s+";

/// Replaces every match, from the left, by a text as it stands.
#[derive(Debug, Clone)]
pub(super) struct Replacer {
    pattern: Pattern,
    with: String,
    /// Runs of white space become a space.
    merges_white: bool,
}

impl Replacer {
    pub(super) fn new(pattern: &str, with: &str, regex: bool) -> Result<Self> {
        if pattern.is_empty() {
            return Err(Error::Config {
                option: "the pattern to replace",
                found: "an empty text".to_owned(),
                expected: "at least one character".to_owned(),
            });
        }
        let merges_white = regex && pattern == WHITE && with == " ";
        let pattern = if regex && pattern == SPACES {
            Pattern::Spaces
        } else if regex {
            Pattern::Regex(Box::new(Finder::new(pattern)?))
        } else {
            Pattern::Text(pattern.to_owned())
        };
        Ok(Self { pattern, with: with.to_owned(), merges_white })
    }

    /// What is looked for.
    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// What comes in the place of matches.
    pub(super) fn with(&self) -> &str {
        &self.with
    }

    /// Whether all it does is to make a space of each run of white space.
    pub(super) fn merges_white(&self) -> bool {
        self.merges_white
    }

    /// Whether there is a match that is no longer what it was. A regular expression is not run twice: it may change everything.
    pub(super) fn changes(&self, text: &str) -> bool {
        match &self.pattern {
            Pattern::Text(pattern) => text.contains(pattern.as_str()),
            Pattern::Spaces => text.contains("  "),
            Pattern::Regex(_) if self.merges_white => has_odd_white(text),
            // There is no match in nothing, as in Hugging Face's library.
            Pattern::Regex(_) => !text.is_empty(),
        }
    }

    pub(super) fn run(&self, text: &str, out: &mut impl Sink) -> Result<()> {
        let mut done = 0;
        let mut replace = |start: usize, end: usize| {
            out.keep(text, done, start);
            let last = text[..end].chars().next_back().map(|last| end - last.len_utf8());
            out.replace(&self.with, start, end, last);
            done = end;
        };
        match &self.pattern {
            Pattern::Text(pattern) => {
                for start in memchr::memmem::find_iter(text.as_bytes(), pattern.as_bytes()) {
                    replace(start, start + pattern.len());
                }
            }
            Pattern::Spaces => {
                let bytes = text.as_bytes();
                let mut from = 0;
                while let Some(found) = memchr::memmem::find(&bytes[from..], b"  ") {
                    let start = from + found;
                    let run = bytes[start..].iter().take_while(|&&byte| byte == b' ').count();
                    from = start + run;
                    replace(start, from);
                }
            }
            Pattern::Regex(finder) => finder.for_each(text, replace)?,
        }
        out.keep(text, done, text.len());
        Ok(())
    }
}

/// Whether there is white space that is no single space.
fn has_odd_white(text: &str) -> bool {
    let mut before = false;
    text.chars().any(|c| {
        let white = c.is_whitespace();
        let odd = white && (c != ' ' || before);
        before = white;
        odd
    })
}

/// White space off the ends: where what stays starts and ends.
pub(super) fn stripped(text: &str, left: bool, right: bool) -> (usize, usize) {
    let end = if right { text.trim_end().len() } else { text.len() };
    let start = if left { text.len() - text.trim_start().len() } else { 0 };
    (start.min(end), end)
}

/// Whether there is a space too many (SentencePiece's `remove_extra_whitespaces`).
pub(super) fn has_extra_space(text: &str, place: Place) -> bool {
    (place.first && text.starts_with(' '))
        || (place.last && text.ends_with([' ', MARK]))
        || text.contains("  ")
}

/// One space for every run of them (U+0020), none at the beginning and the end of a document. At its end
/// `▁` goes too, as SentencePiece no longer tells it from a space there.
pub(super) fn collapse(text: &str, place: Place, out: &mut impl Sink) {
    let kept = if place.last { text.trim_end_matches([' ', MARK]) } else { text };
    let bytes = kept.as_bytes();
    let mut done =
        if place.first { bytes.iter().take_while(|&&byte| byte == b' ').count() } else { 0 };
    for space in memchr::memchr_iter(b' ', bytes) {
        if space < done {
            continue;
        }
        // This space stays; those behind it go.
        let run = bytes[space..].iter().take_while(|&&byte| byte == b' ').count();
        if run > 1 {
            out.keep(text, done, space + 1);
            done = space + run;
        }
    }
    out.keep(text, done, kept.len());
}
