//! GPT-2 (Radford et al. 2019), also r50k_base and p50k_base:
//!
//! ```text
//! '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! ```
//!
//! Rule, in words. Looking at the first character of a word:
//! - an apostrophe with `s d m t ll ve re` (small letters) is a contraction;
//! - a space goes with what follows, if that is no white space;
//! - letters, numbers and other characters make runs;
//! - of white space, the last character is left to what follows, unless it is all there is or the
//!   text ends with it.

use super::classes::{LETTER, NUMBER, OTHER, blanks, class_at, letters, run};

/// Where the word that starts at `at` ends.
#[inline(always)]
pub(super) fn word_end(text: &[u8], at: usize) -> usize {
    if text[at] == b'\''
        && let Some(end) = contraction(text, at)
    {
        return end;
    }
    let body = if text[at] == b' ' { at + 1 } else { at };
    match class_at(text, body) {
        Some((class, next)) if LETTER.has(class) => letters(text, next),
        Some((class, next)) if NUMBER.has(class) => run(text, next, NUMBER),
        Some((class, next)) if OTHER.has(class) => run(text, next, OTHER),
        _ => blank_end(text, at),
    }
}

/// Where the contraction ends whose apostrophe stands at `at`, if it is one.
fn contraction(text: &[u8], at: usize) -> Option<usize> {
    match text[at + 1..] {
        [b's' | b'd' | b'm' | b't', ..] => Some(at + 2),
        [b'l', b'l', ..] | [b'v' | b'r', b'e', ..] => Some(at + 3),
        _ => None,
    }
}

/// `\s+(?!\S)|\s+`: where the word of white space that starts at `at` ends.
fn blank_end(text: &[u8], at: usize) -> usize {
    let blanks = blanks(text, at);
    if blanks.end == text.len() || blanks.last == at { blanks.end } else { blanks.last }
}
