//! The schemes of one short rule: white space, BERT, punctuation, digits, metaspace.
//!
//! Rule: `*_end` says where the word that starts at a place ends. For the schemes that drop white
//! space the place is never white space.

use super::classes::{NUMBER, PUNCTUATION, SPACE, SYMBOL, Set, class_at, letters, run, short_run};

/// `▁`, U+2581 LOWER ONE EIGHTH BLOCK: what SentencePiece writes for a space.
const META: [u8; 3] = [0xE2, 0x96, 0x81];

/// Everything but white space.
const SOLID: Set = SPACE.not();

/// Everything but numbers.
const NO_NUMBER: Set = NUMBER.not();

/// `\S+`
#[inline(always)]
pub(super) fn whitespace_end(text: &[u8], at: usize) -> usize {
    run(text, letters(text, at), SOLID)
}

/// `[punctuation]|[^\s punctuation]+`
#[inline(always)]
pub(super) fn bert_end(text: &[u8], at: usize) -> usize {
    punctuation_or_run(text, at, SPACE)
}

/// `[punctuation]|[^punctuation]+`
#[inline(always)]
pub(super) fn punctuation_end(text: &[u8], at: usize) -> usize {
    punctuation_or_run(text, at, Set::EMPTY)
}

/// One punctuation character, or the run of characters up to the next one or to one of `stop`.
#[inline(always)]
fn punctuation_or_run(text: &[u8], at: usize, stop: Set) -> usize {
    // One byte long is ASCII, whose symbols count as punctuation too.
    let is_punctuation = |class: u8, at: usize, next: usize| {
        PUNCTUATION.has(class) || (SYMBOL.has(class) && next == at + 1)
    };
    let mut end = at;
    while let Some((class, next)) = class_at(text, end) {
        if is_punctuation(class, end, next) {
            return if end == at { next } else { end };
        }
        if stop.has(class) {
            break;
        }
        end = letters(text, next);
    }
    end
}

/// `\p{N}|\P{N}+`
#[inline(always)]
pub(super) fn digit_end(text: &[u8], at: usize) -> usize {
    digits_or_run(text, at, 1)
}

/// `\p{N}{1,3}|\P{N}+`
#[inline(always)]
pub(super) fn three_digits_end(text: &[u8], at: usize) -> usize {
    digits_or_run(text, at, 3)
}

#[inline(always)]
fn digits_or_run(text: &[u8], at: usize, group: usize) -> usize {
    let digits = short_run(text, at, NUMBER, group);
    if digits > at { digits } else { run(text, letters(text, at), NO_NUMBER) }
}

/// `▁[^▁]*|[^▁]+`
#[inline(always)]
pub(super) fn metaspace_end(text: &[u8], at: usize) -> usize {
    mark(text, at + 1).unwrap_or(text.len())
}

/// `[^▁]*▁|[^▁]+`
#[inline(always)]
pub(super) fn metaspace_suffix_end(text: &[u8], at: usize) -> usize {
    mark(text, at).map_or(text.len(), |mark| mark + META.len())
}

/// ` [^ ]*|[^ ]+`
#[inline(always)]
pub(super) fn space_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b' ', &text[at + 1..]).map_or(text.len(), |skip| at + 1 + skip)
}

/// `[^ ]* |[^ ]+`
#[inline(always)]
pub(super) fn space_suffix_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b' ', &text[at..]).map_or(text.len(), |skip| at + skip + 1)
}

/// The first `▁` at or after `at`.
#[inline(always)]
fn mark(text: &[u8], mut at: usize) -> Option<usize> {
    // No character but one that starts with this byte can be `▁`, and it starts nowhere else.
    while let Some(skip) = memchr::memchr(META[0], &text[at..]) {
        at += skip;
        if text[at..].starts_with(&META) {
            return Some(at);
        }
        at += 1;
    }
    None
}
