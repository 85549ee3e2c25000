//! What decoder chains are made of: steps that rewrite a list of texts, a fragment at a time.
//!
//! Rule: a step hands on what can no longer change, and holds back the rest. So the answer is the same
//! however a list of texts comes in, and a stream of ids is decoded by the same code as a list.
//!
//! Texts come as fragments; the last fragment of a text says so. A step sees its own state and hands
//! fragments to the steps behind it. Texts are bytes: whole characters of UTF-8, unless bytes are
//! asked for as they are.

use crate::error::Result;
use crate::pretokenize::Finder;
use crate::symbols::Undraw;

/// What stands for bytes that are no UTF-8.
pub(super) const REPLACEMENT: &str = "\u{FFFD}";

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
        Self { text, borders }
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

/// Incremental UTF-8: holds back the beginning of a character.
#[derive(Debug, Default, Clone)]
pub(super) struct Lossy(Vec<u8>);

impl Lossy {
    /// Calls `emit` with the whole characters of what is there, and a replacement for what is none.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        mut emit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if self.0.is_empty() && std::str::from_utf8(bytes).is_ok() {
            return emit(bytes);
        }
        self.0.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.0);
        let mut rest = &all[..];
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(_) => return emit(rest),
                Err(error) => error,
            };
            emit(&rest[..error.valid_up_to()])?;
            rest = &rest[error.valid_up_to()..];
            let Some(length) = error.error_len() else {
                self.0 = rest.to_vec();
                return Ok(());
            };
            emit(REPLACEMENT.as_bytes())?;
            rest = &rest[length..];
        }
    }

    /// What stands for a character that nothing completes.
    pub(super) fn finish(&mut self) -> &'static [u8] {
        let cut = !std::mem::take(&mut self.0).is_empty();
        if cut { REPLACEMENT.as_bytes() } else { b"" }
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

fn whole_text(step: &Step, state: &mut State, text: &[u8], next: &mut Flow<'_>) -> Result<()> {
    match step {
        Step::Undraw(undraw) => {
            let drawn = std::str::from_utf8(text).ok();
            match drawn.and_then(|text| undraw.bytes(text).ok()) {
                Some(bytes) => next.push(&bytes, true),
                None => next.push(text, true),
            }
        }
        Step::Regex { finder, with } => {
            for chunk in text.utf8_chunks() {
                substitute(finder, with, chunk.valid(), next)?;
                next.push(chunk.invalid(), false)?;
            }
            next.push(b"", true)
        }
        Step::Dedup => {
            if state.begun && state.other == text {
                return Ok(());
            }
            state.other.clear();
            state.other.extend_from_slice(text);
            next.push(text, true)
        }
        Step::Suffix { suffix } => match memchr::memmem::find(text, suffix) {
            None => next.push(text, true),
            Some(at) => {
                // What the suffix becomes is known when another text begins, or none does.
                state.passing = false;
                state.broken = true;
                next.push(&text[..at], false)?;
                state.held = text[at..].to_vec();
                Ok(())
            }
        },
        _ => next.push(text, true),
    }
}

/// Writes the end of a text with suffixes, which become `with`.
fn owed(step: &Step, state: &mut State, with: &[u8], next: &mut Flow<'_>) -> Result<()> {
    let Step::Suffix { suffix } = step else { return Ok(()) };
    if !std::mem::take(&mut state.broken) {
        return Ok(());
    }
    let held = std::mem::take(&mut state.held);
    if suffix.is_empty() {
        for &byte in &held {
            if byte & 0xC0 != 0x80 {
                next.push(with, false)?;
            }
            next.push(&[byte], false)?;
        }
        return next.push(with, true);
    }
    let mut from = 0;
    for at in memchr::memmem::find_iter(&held, suffix) {
        next.push(&held[from..at], false)?;
        next.push(with, false)?;
        from = at + suffix.len();
    }
    next.push(&held[from..], true)
}

fn substitute(finder: &Finder, with: &[u8], text: &str, next: &mut Flow<'_>) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let (mut from, mut behind) = (0, None);
    let mut result = Ok(());
    finder.for_each(text, |start, end| {
        // No empty match right behind another match.
        if result.is_err() || (start == end && behind == Some(start)) {
            return;
        }
        result =
            next.push(&text.as_bytes()[from..start], false).and_then(|()| next.push(with, false));
        (from, behind) = (end, Some(end));
    })?;
    result?;
    next.push(&text.as_bytes()[from..], false)
}

fn replace(
    what: &Literal,
    with: &[u8],
    state: &mut State,
    text: &[u8],
    last: bool,
    next: &mut Flow<'_>,
) -> Result<()> {
    let Literal { text: needle, borders } = what;
    if state.number == 0 && memchr::memchr(needle[0], text).is_none() {
        return next.push(text, last);
    }
    let mut out = std::mem::take(&mut state.held);
    let mut known = state.number;
    for &byte in text {
        while known > 0 && needle[known] != byte {
            let border = borders[known];
            out.extend_from_slice(&needle[..known - border]);
            known = border;
        }
        if needle[known] != byte {
            out.push(byte);
            continue;
        }
        known += 1;
        if known == needle.len() {
            out.extend_from_slice(with);
            known = 0;
        }
    }
    if last {
        out.extend_from_slice(&needle[..known]);
        known = 0;
    }
    state.number = known;
    next.push(&out, last)?;
    out.clear();
    state.held = out;
    Ok(())
}

fn between(
    with: &[u8],
    empty: bool,
    state: &mut State,
    text: &[u8],
    last: bool,
    next: &mut Flow<'_>,
) -> Result<()> {
    state.passing |= !text.is_empty();
    for character in text.chunk_by(|_, &byte| byte & 0xC0 == 0x80) {
        if character[0] & 0xC0 != 0x80 {
            next.push(with, false)?;
        }
        next.push(character, false)?;
    }
    if last {
        next.push(if state.passing || empty { with } else { b"" }, true)?;
    }
    Ok(())
}

fn strip(
    content: &[u8],
    start: usize,
    stop: usize,
    state: &mut State,
    text: &[u8],
    last: bool,
    next: &mut Flow<'_>,
) -> Result<()> {
    if !state.inside {
        (state.number, state.trail) = (start, 0);
    }
    let mut rest = text;
    while state.number > 0 && !rest.is_empty() {
        match rest.strip_prefix(content) {
            Some(bare) => (rest, state.number) = (bare, state.number - 1),
            None => state.number = 0,
        }
    }
    let mut body = rest;
    if stop > 0 {
        let mut more = 0;
        while let Some(bare) = body.strip_suffix(content) {
            (body, more) = (bare, more + 1);
        }
        if !body.is_empty() {
            for _ in 0..std::mem::take(&mut state.trail) {
                next.push(content, false)?;
            }
        }
        next.push(body, false)?;
        state.trail += more;
        for _ in stop..state.trail {
            next.push(content, false)?;
        }
        state.trail = state.trail.min(stop);
        body = b"";
    }
    next.push(body, last)
}

fn words(
    prefix: &[u8],
    state: &mut State,
    text: &[u8],
    last: bool,
    next: &mut Flow<'_>,
) -> Result<()> {
    if state.passing || !state.begun {
        return next.push(text, last);
    }
    state.held.extend_from_slice(text);
    let held = std::mem::take(&mut state.held);
    if let Some(bare) = held.strip_prefix(prefix) {
        state.passing = true;
        next.push(bare, last)?;
    } else if last || !prefix.starts_with(&held) {
        state.passing = true;
        next.push(b" ", false)?;
        next.push(&held, last)?;
    } else {
        state.held = held;
        return Ok(());
    }
    state.held = held;
    state.held.clear();
    Ok(())
}

/// The byte that `<0x..>` stands for. As HF reads it: two hexadecimal digits, or `+` and one.
pub(super) fn byte_of(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 2)?;
    u8::from_str_radix(digits, 16).ok()
}

fn bytes(state: &mut State, text: &[u8], last: bool, next: &mut Flow<'_>) -> Result<()> {
    if state.passing {
        return next.push(text, last);
    }
    if !state.inside && last {
        let Some(byte) = byte_of(text) else {
            end_run(state, next)?;
            return next.push(text, true);
        };
        return push_byte(byte, state, next);
    }
    state.held.extend_from_slice(text);
    let head = &state.held[..state.held.len().min(3)];
    let may_be = state.held.len() <= 6 && b"<0x".starts_with(head);
    if !last && may_be {
        return Ok(());
    }
    let held = std::mem::take(&mut state.held);
    match byte_of(&held).filter(|_| last) {
        Some(byte) => push_byte(byte, state, next),
        None => {
            end_run(state, next)?;
            state.passing = true;
            next.push(&held, last)
        }
    }
}

/// One more byte of a run. What of it is UTF-8 so far is counted in `number`.
fn push_byte(byte: u8, state: &mut State, next: &mut Flow<'_>) -> Result<()> {
    state.other.push(byte);
    if !state.broken {
        match std::str::from_utf8(&state.other[state.number..]) {
            Ok(_) => state.number = state.other.len(),
            Err(error) => {
                state.number += error.valid_up_to();
                state.broken = error.error_len().is_some();
            }
        }
    }
    if state.broken { broken_run(state, next) } else { Ok(()) }
}

/// Each byte of a run that is no UTF-8 is a text of its own.
fn broken_run(state: &mut State, next: &mut Flow<'_>) -> Result<()> {
    let mut run = std::mem::take(&mut state.other);
    for byte in &run {
        let one = if next.raw { std::slice::from_ref(byte) } else { REPLACEMENT.as_bytes() };
        next.push(one, true)?;
    }
    run.clear();
    state.other = run;
    Ok(())
}

fn end_run(state: &mut State, next: &mut Flow<'_>) -> Result<()> {
    if !state.other.is_empty() {
        if state.number < state.other.len() {
            broken_run(state, next)?;
        } else {
            let mut run = std::mem::take(&mut state.other);
            next.push(&run, true)?;
            run.clear();
            state.other = run;
        }
    }
    (state.number, state.broken) = (0, false);
    Ok(())
}
