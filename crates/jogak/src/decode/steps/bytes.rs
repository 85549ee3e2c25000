//! The step that reads runs of `<0x..>` as bytes.

use super::{Flow, State};
use crate::decode::lossy::REPLACEMENT;
use crate::error::Result;

/// The byte that `<0x..>` stands for. As HF reads it: two hexadecimal digits, or `+` and one.
pub(in crate::decode) fn byte_of(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 2)?;
    u8::from_str_radix(digits, 16).ok()
}

pub(super) fn bytes(state: &mut State, text: &[u8], last: bool, next: &mut Flow<'_>) -> Result<()> {
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

pub(super) fn end_run(state: &mut State, next: &mut Flow<'_>) -> Result<()> {
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
