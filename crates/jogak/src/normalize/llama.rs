//! What llama.cpp does to a text for BERT models, in one step per character.
//!
//! ```text
//! c -> accents off: the first character of its canonical decomposition; nothing if that is a mark
//!      white space: a space      a control, U+FFFD: nothing
//!      punctuation, an ASCII symbol, a Chinese character: with spaces around it
//!      lower case: the first character of its lower case
//! ```
//!
//! Rule: equal to llama.cpp on every text. It looks at one character at a time, so 가 keeps its first
//! letter only; and its tables stand at Unicode 15.1: what came later is text like any other. (The classes
//! are asked out of the regular-expression engine, which knows the age of characters.)

use std::sync::OnceLock;

use unicode_normalization::char::decompose_canonical;

use super::align::Sink;
use super::bert::CHINESE;
use super::case::lower;
use super::set::{CharSet, Rewrite};
use crate::error::Result;
use crate::pretokenize::Finder;

/// Classes of Unicode 15.1.
#[derive(Debug)]
struct Classes {
    assigned: CharSet,
    spaces: CharSet,
    dropped: CharSet,
    marks: CharSet,
    /// What is a word by itself.
    alone: CharSet,
}

static CLASSES: OnceLock<Classes> = OnceLock::new();

/// What changes: without and with accents taken off, then without and with lower case.
static TOUCHED: [[OnceLock<CharSet>; 2]; 2] = [const { [const { OnceLock::new() }; 2] }; 2];

impl Classes {
    fn new() -> Result<Self> {
        let all: String = ('\0'..=char::MAX).collect();
        let matching = |pattern: &str| -> Result<CharSet> {
            let mut found = Vec::new();
            Finder::new(pattern)?.for_each(&all, |start, end| found.push((start, end)))?;
            Ok(CharSet::new(found.iter().flat_map(|&(start, end)| all[start..end].chars())))
        };
        let punctuation = matching(r"[\p{P}&&\p{age=15.1}]+")?;
        let chinese =
            |c: char| CHINESE.iter().any(|&(first, last)| first <= c as u32 && c as u32 <= last);
        Ok(Self {
            assigned: matching(r"\p{age=15.1}+")?,
            spaces: matching(r"\s+")?,
            dropped: matching(r"[[\p{Cc}\p{Cf}\p{Co}\x{fffd}]&&\p{age=15.1}]+")?,
            marks: matching(r"[\p{M}&&\p{age=15.1}]+")?,
            alone: CharSet::new(
                all.chars()
                    .filter(|&c| punctuation.has(c) || "$+<=>^`|~".contains(c) || chinese(c)),
            ),
        })
    }

    fn get() -> Result<&'static Self> {
        if let Some(classes) = CLASSES.get() {
            return Ok(classes);
        }
        let classes = Self::new()?;
        Ok(CLASSES.get_or_init(|| classes))
    }
}

/// What becomes of a character.
#[derive(Debug, PartialEq, Eq)]
enum Made {
    Nothing,
    Space,
    Letter(char),
    Alone(char),
}

/// The normalizer, with its options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Llama {
    accents: bool,
    lowercase: bool,
    classes: &'static Classes,
    touched: &'static CharSet,
}

impl Llama {
    pub(super) fn new(strip_accents: bool, lowercase: bool) -> Result<Self> {
        let classes = Classes::get()?;
        let touched =
            TOUCHED[usize::from(strip_accents)][usize::from(lowercase)].get_or_init(|| {
                let made = |c| classes.made(c, strip_accents, lowercase);
                CharSet::new(('\0'..=char::MAX).filter(|&c| made(c) != Made::Letter(c)))
            });
        Ok(Self { accents: strip_accents, lowercase, classes, touched })
    }

    pub(super) fn changes(&self, text: &str) -> bool {
        self.touched.find(text, 0).is_some()
    }

    pub(super) fn run(&self, text: &str, out: &mut impl Sink) {
        self.touched.rewrite(text, out, |c, start, end, out| {
            match self.classes.made(c, self.accents, self.lowercase) {
                Made::Nothing => {}
                Made::Space => out.write(" ", start, end),
                Made::Letter(new) => out.write(new.encode_utf8(&mut [0; 4]), start, end),
                Made::Alone(new) => {
                    out.write(" ", start, start);
                    out.write(new.encode_utf8(&mut [0; 4]), start, end);
                    out.write(" ", end, end);
                }
            }
        });
    }
}

impl Classes {
    fn made(&self, c: char, accents: bool, lowercase: bool) -> Made {
        let old = self.assigned.has(c);
        let mut base = c;
        if accents && old {
            let mut first = None;
            decompose_canonical(c, |part| {
                first.get_or_insert(part);
            });
            base = first.unwrap_or(c);
        }
        if self.spaces.has(base) {
            return Made::Space;
        }
        if self.dropped.has(base) || (accents && self.marks.has(base)) {
            return Made::Nothing;
        }
        let letter = match base {
            // Its lower case is two characters.
            '\u{130}' if lowercase => 'i',
            _ if lowercase && old => lower(base),
            _ => base,
        };
        if self.alone.has(base) { Made::Alone(letter) } else { Made::Letter(letter) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use crate::normalize::{Buffers, Normalizer, Place, Rule};

    #[test]
    fn one_character_at_a_time() {
        let text = |text: &str, strip_accents: bool, lowercase: bool| {
            let rule = Rule::LlamaBert { strip_accents, lowercase };
            let normalizer = Normalizer::new(&[rule]).unwrap();
            let mut buffers = Buffers::default();
            normalizer.text(text, Place::WHOLE, &mut buffers).unwrap().to_owned()
        };
        assert_eq!(text("Ça 가É\u{301}", true, true), "ca \u{1100}e");
        assert_eq!(text("Ça 가É\u{301}İ", false, true), "ça 가é\u{301}i");
        assert_eq!(text("Ça\u{85}a\0\u{200b}b中~", false, false), "Ça ab 中  ~ ");
        // Letters with a decomposition, a mark and a capital of Unicode 16.0.
        assert_eq!(text("\u{16121}\u{897}\u{1c89}", true, true), "\u{16121}\u{897}\u{1c89}");
    }
}
