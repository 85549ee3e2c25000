//! What the steps do to texts that are not single bytes: look for something, and write something else.

use super::{Flow, Literal, State, Step};
use crate::error::Result;
use crate::pretokenize::Finder;

/// Texts of so many bytes are searched before anything is copied.
const SHORT: usize = 64;

/// The steps that look at whole texts.
pub(super) fn whole_text(
    step: &Step,
    state: &mut State,
    text: &[u8],
    next: &mut Flow<'_>,
) -> Result<()> {
    match step {
        Step::Undraw(undraw) => {
            // What is held is for others to look at; this step has no text before it to keep.
            state.other.clear();
            let is_drawn = undraw.plain_into(text, &mut state.other);
            next.push(if is_drawn { &state.other } else { text }, true)
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
pub(super) fn owed(step: &Step, state: &mut State, with: &[u8], next: &mut Flow<'_>) -> Result<()> {
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

pub(super) fn replace(
    what: &Literal,
    with: &[u8],
    state: &mut State,
    text: &[u8],
    last: bool,
    next: &mut Flow<'_>,
) -> Result<()> {
    let Literal { text: needle, borders, rare } = what;
    if state.number == 0 && memchr::memchr(needle[0], text).is_none() {
        return next.push(text, last);
    }
    // Vocabularies are rewritten piece by piece when a tokenizer is made.
    let found = || text.contains(rare) && super::super::find(text, needle, 0).is_some();
    if state.number == 0 && last && text.len() <= SHORT && !found() {
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

pub(super) fn between(
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

pub(super) fn strip(
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

pub(super) fn words(
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
    let mut held = std::mem::take(&mut state.held);
    if let Some(bare) = held.strip_prefix(prefix) {
        state.passing = true;
        next.push(bare, last)?;
    } else if last || !prefix.starts_with(&held) {
        state.passing = true;
        held.insert(0, b' ');
        next.push(&held, last)?;
    } else {
        state.held = held;
        return Ok(());
    }
    state.held = held;
    state.held.clear();
    Ok(())
}
