//! What decoder chains are made of: steps that rewrite a list of texts, a fragment at a time.
//!
//! Rule: a step hands on what can no longer change, and holds back the rest. So the answer is the same
//! however a list of texts comes in, and a stream of ids is decoded by the same code as a list.
//!
//! Texts come as fragments; the last fragment of a text says so. A step sees its own state and hands
//! fragments to the steps behind it. Texts are bytes: whole characters of UTF-8, unless bytes are
//! asked for as they are.

mod bytes;
mod rewrite;

use super::lossy::Lossy;
use crate::error::Result;
use crate::pretokenize::Finder;
use crate::symbols::Undraw;

pub(super) use bytes::byte_of;
use bytes::{bytes, end_run};
use rewrite::{between, owed, replace, strip, whole_text, words};

/// One step.
#[derive(Debug)]
pub(super) enum Step {
    /// A space before every text but the first.
    Spaces,
    /// GPT-2's characters back to bytes; a text with any other character stays.
    Undraw(Undraw),
    /// All texts as one, in which bytes that are no UTF-8 are replaced.
    Utf8,
    /// Runs of `<0x..>` as the text of their bytes.
    Bytes,
    /// All texts as one.
    Fuse,
    /// The prefix off, a space before texts without it; the first text stays.
    Words { prefix: Vec<u8> },
    /// A mark as a space, in the first text as nothing.
    Marks(Literal),
    /// A suffix as a space, in the last text as nothing.
    Suffix { suffix: Vec<u8> },
    /// A text replaced by another.
    Replace { what: Literal, with: Vec<u8> },
    /// A text between all characters and at both ends; also in an empty text, if so told.
    Between { with: Vec<u8>, empty: bool },
    /// Matches of an expression replaced.
    Regex { finder: Box<Finder>, with: Vec<u8> },
    /// At most so many of a character off the ends.
    Strip { content: Vec<u8>, start: usize, stop: usize },
    /// Equal neighbours once.
    Dedup,
    /// No empty texts.
    DropEmpty,
}

/// A text to look for, with the table of Knuth, Morris and Pratt.
#[derive(Debug)]
pub(super) struct Literal {
    text: Vec<u8>,
    /// A byte of it that few texts have.
    rare: u8,
    /// Of the first n bytes: the longest proper prefix that is a suffix too.
    borders: Vec<usize>,
}

impl Literal {
    pub(super) fn new(text: &str) -> Self {
        let text = text.as_bytes().to_vec();
        let mut borders = vec![0; text.len() + 1];
        let mut known = 0;
        for at in 1..text.len() {
            while known > 0 && text[at] != text[known] {
                known = borders[known];
            }
            known += usize::from(text[at] == text[known]);
            borders[at + 1] = known;
        }
        let of = |is: fn(&u8) -> bool| text.iter().rev().copied().find(is);
        let rare = of(u8::is_ascii_punctuation).or_else(|| of(|&byte| byte != b' '));
        Self { rare: rare.unwrap_or(b' '), text, borders }
    }
}

/// What a step remembers between fragments.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    /// A text has ended before.
    begun: bool,
    /// A text has begun that has not ended.
    inside: bool,
    /// What was held back.
    held: Vec<u8>,
    /// The text before, or a run of bytes.
    other: Vec<u8>,
    number: usize,
    trail: usize,
    /// Nothing more is to be done to the text that has begun.
    passing: bool,
    /// A run of bytes that is no UTF-8, whatever comes.
    broken: bool,
}

impl State {
    /// Of [`Step::Bytes`]: no run of bytes has begun (a broken one goes on), and no text.
    pub(super) fn has_no_run(&self) -> bool {
        self.other.is_empty() && self.held.is_empty() && !self.inside && !self.broken
    }

    /// Of [`Step::Strip`]: within a text, of which nothing more is taken off the start.
    pub(super) fn is_stripped(&self) -> bool {
        self.inside && self.number == 0
    }
}

/// Steps at work.
pub(super) struct Flow<'a> {
    pub(super) steps: &'a [Step],
    pub(super) states: &'a mut [State],
    /// Bytes that are no UTF-8 stay as they are.
    pub(super) raw: bool,
    pub(super) out: &'a mut Vec<u8>,
}

impl Flow<'_> {
    /// Takes a fragment of a text, and says whether it is the last one.
    pub(super) fn push(&mut self, text: &[u8], last: bool) -> Result<()> {
        let raw = self.raw;
        let (Some((step, steps)), Some((state, states))) =
            (self.steps.split_first(), self.states.split_first_mut())
        else {
            self.out.extend_from_slice(text);
            return Ok(());
        };
        let next = &mut Flow { steps, states, raw, out: self.out };
        match step {
            Step::Fuse => return next.push(text, false),
            Step::Utf8 if raw => return next.push(text, false),
            Step::Utf8 => {
                let mut lossy = Lossy(std::mem::take(&mut state.held));
                let result = lossy.push(text, |text| next.push(text, false));
                state.held = lossy.0;
                return result;
            }
            Step::Bytes => bytes(state, text, last, next)?,
            Step::Words { prefix } => words(prefix, state, text, last, next)?,
            Step::Spaces => {
                if state.begun && !state.inside {
                    next.push(b" ", false)?;
                }
                next.push(text, last)?;
            }
            Step::Marks(mark) => {
                let with: &[u8] = if state.begun { b" " } else { b"" };
                replace(mark, with, state, text, last, next)?;
            }
            Step::Replace { what, with } => replace(what, with, state, text, last, next)?,
            Step::Between { with, empty } => between(with, *empty, state, text, last, next)?,
            Step::Strip { content, start, stop } => {
                strip(content, *start, *stop, state, text, last, next)?;
            }
            Step::DropEmpty => {
                state.passing |= !text.is_empty();
                if state.passing {
                    next.push(text, last)?;
                }
            }
            // These look at whole texts.
            Step::Undraw(_) | Step::Regex { .. } | Step::Dedup | Step::Suffix { .. } => {
                if matches!(step, Step::Suffix { .. }) && !state.inside {
                    owed(step, state, b" ", next)?;
                }
                if state.inside || !last {
                    state.held.extend_from_slice(text);
                }
                if last {
                    let mut whole = std::mem::take(&mut state.held);
                    let text = if state.inside { &whole[..] } else { text };
                    whole_text(step, state, text, next)?;
                    whole.clear();
                    if state.held.is_empty() {
                        state.held = whole;
                    }
                }
            }
        }
        state.inside = !last;
        if last {
            state.begun = true;
            state.passing = false;
        }
        Ok(())
    }

    /// All texts have come.
    pub(super) fn finish(&mut self) -> Result<()> {
        let raw = self.raw;
        let (Some((step, steps)), Some((state, states))) =
            (self.steps.split_first(), self.states.split_first_mut())
        else {
            return Ok(());
        };
        let next = &mut Flow { steps, states, raw, out: self.out };
        match step {
            Step::Fuse => next.push(b"", true)?,
            Step::Utf8 => {
                let cut = Lossy(std::mem::take(&mut state.held)).finish();
                next.push(cut, true)?;
            }
            Step::Bytes => end_run(state, next)?,
            Step::Suffix { .. } => owed(step, state, b"", next)?,
            _ => {}
        }
        next.finish()
    }
}
