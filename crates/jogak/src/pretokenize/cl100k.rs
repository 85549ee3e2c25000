//! cl100k_base of tiktoken:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//! |\s++$|\s*[\r\n]|\s+(?!\S)|\s
//! ```
//!
//! Rule, in words. Looking at the first character of a word:
//! - an apostrophe with `s d m t ll ve re` in any case is a contraction;
//! - letters make a run, and one character that is neither letter, number nor line end may stand
//!   before it;
//! - numbers come in threes from the left;
//! - other characters make a run, with a space before them if there is one, and with the line ends
//!   right after them;
//! - white space at the end of the text is one word; else it ends after its last line end; else
//!   its last character is left to what follows, unless it is all there is.

use super::classes::{LETTER, LINE_END, NUMBER, OTHER, SPACE};
use super::classes::{blanks, class_at, letters, run, short_run};
use super::o200k;

/// Where the word that starts at `at` ends.
#[inline(always)]
pub(super) fn word_end(text: &[u8], at: usize) -> usize {
    end::<3>(text, at, blank_end)
}

/// The same for Llama 3: `\s*[\r\n]+|\s+(?!\S)|\s+` at the end.
#[inline(always)]
pub(super) fn llama3_word_end(text: &[u8], at: usize) -> usize {
    end::<3>(text, at, o200k::blank_end)
}

/// The same for Qwen 2: `\p{N}` for `\p{N}{1,3}`.
#[inline(always)]
pub(super) fn qwen2_word_end(text: &[u8], at: usize) -> usize {
    end::<1>(text, at, o200k::blank_end)
}

#[inline(always)]
fn end<const DIGITS: usize>(
    text: &[u8],
    at: usize,
    blank_end: impl Fn(&[u8], usize) -> usize,
) -> usize {
    let Some((first, next)) = class_at(text, at) else { return at };
    if LETTER.has(first) {
        return letters(text, next);
    }
    if NUMBER.has(first) {
        return short_run(text, next, NUMBER, DIGITS - 1);
    }
    if text[at] == b'\''
        && let Some(end) = contraction(text, at)
    {
        return end;
    }
    let second = class_at(text, next);
    match second {
        Some((class, end)) if LETTER.has(class) && !LINE_END.has(first) => letters(text, end),
        Some((class, end)) if OTHER.has(class) && text[at] == b' ' => symbol_end(text, end),
        _ if SPACE.has(first) => blank_end(text, at),
        _ => symbol_end(text, next),
    }
}

/// `[^\s\p{L}\p{N}]*+[\r\n]*+`: where the symbols that go on at `at` end, with their line ends.
#[inline(always)]
fn symbol_end(text: &[u8], at: usize) -> usize {
    run(text, run(text, at, OTHER), LINE_END)
}

/// Where the contraction ends whose apostrophe stands at `at`, if it is one.
///
/// In any case means simple case folding: `ſ` (U+017F) is an `s`.
#[inline]
pub(super) fn contraction(text: &[u8], at: usize) -> Option<usize> {
    match text[at + 1..] {
        [b's' | b'd' | b'm' | b't' | b'S' | b'D' | b'M' | b'T', ..] => Some(at + 2),
        [b'l' | b'L', b'l' | b'L', ..] | [b'v' | b'V' | b'r' | b'R', b'e' | b'E', ..] => {
            Some(at + 3)
        }
        [0xC5, 0xBF, ..] => Some(at + 3),
        _ => None,
    }
}

/// `\s++$|\s*[\r\n]|\s+(?!\S)|\s`: where the word of white space that starts at `at` ends.
fn blank_end(text: &[u8], at: usize) -> usize {
    let blanks = blanks(text, at);
    match blanks.line_end {
        _ if blanks.end == text.len() => blanks.end,
        Some(line_end) => line_end,
        None if blanks.last == at => blanks.end,
        None => blanks.last,
    }
}
