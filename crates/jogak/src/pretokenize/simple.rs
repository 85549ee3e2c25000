//! The schemes of one short rule: white space, BERT, punctuation, digits, metaspace, fixed length.
//!
//! Rule: `*_end` says where the word that starts at a place ends. For the schemes that drop white
//! space the place is never white space.

use super::classes::{MARK, NUMBER, PUNCTUATION, SPACE, SYMBOL, Set};
use super::classes::{class_at, code_point_at, letters, run, short_run};
use super::matches::{Joiner, Matches};
use super::tables::CN;

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

/// `[punctuation]|[^\s punctuation]+`, by Unicode 8.0 if `OLD`.
#[inline(always)]
pub(super) fn bert_end<const OLD: bool>(text: &[u8], at: usize) -> usize {
    punctuation_or_run::<OLD>(text, at, SPACE)
}

/// `[punctuation]|[^punctuation]+`
#[inline(always)]
pub(super) fn punctuation_end(text: &[u8], at: usize) -> usize {
    punctuation_or_run::<false>(text, at, Set::EMPTY)
}

/// Punctuation of Unicode 16.0 that HF tokenizers do not know, whose table is that of Unicode 8.0.
#[rustfmt::skip]
static AFTER_8: [(u32, u32); 39] = [
    (0x61D, 0x61D), (0x9FD, 0x9FD), (0xA76, 0xA76), (0xC77, 0xC77), (0xC84, 0xC84),
    (0x1B4E, 0x1B4F), (0x1B7D, 0x1B7F), (0x2E43, 0x2E4F), (0x2E52, 0x2E5D), (0x10D6E, 0x10D6E),
    (0x10EAD, 0x10EAD), (0x10F55, 0x10F59), (0x10F86, 0x10F89), (0x113D4, 0x113D5),
    (0x113D7, 0x113D8), (0x1144B, 0x1144F), (0x1145A, 0x1145B), (0x1145D, 0x1145D),
    (0x11660, 0x1166C), (0x116B9, 0x116B9), (0x1183B, 0x1183B), (0x11944, 0x11946),
    (0x119E2, 0x119E2), (0x11A3F, 0x11A46), (0x11A9A, 0x11A9C), (0x11A9E, 0x11AA2),
    (0x11B00, 0x11B09), (0x11BE1, 0x11BE1), (0x11C41, 0x11C45), (0x11C70, 0x11C71),
    (0x11EF7, 0x11EF8), (0x11F43, 0x11F4F), (0x11FFF, 0x11FFF), (0x12FF1, 0x12FF2),
    (0x16D6D, 0x16D6F), (0x16E97, 0x16E9A), (0x16FE2, 0x16FE2), (0x1E5FF, 0x1E5FF),
    (0x1E95E, 0x1E95F),
];

/// Characters that were punctuation in Unicode 8.0 and no longer are.
const UNTIL_8: [u32; 2] = [0x166D, 0x111C9];

/// Numbers that came with Unicode 17.0.
pub(super) const NUMBERS_OF_17: [(u32, u32); 2] = [(0x11DE0, 0x11DE9), (0x16FF4, 0x16FF6)];

/// Whether the character from `at` to `next`, of this class, is punctuation.
#[inline(always)]
pub(super) fn is_punctuation<const OLD: bool>(
    text: &[u8],
    class: u8,
    at: usize,
    next: usize,
) -> bool {
    // One byte long is ASCII, whose symbols count as punctuation too.
    let now = PUNCTUATION.has(class) || (SYMBOL.has(class) && next == at + 1);
    if !OLD || next == at + 1 || !PUNCTUATION.or(SYMBOL).or(MARK).has(class) {
        return now;
    }
    let code = code_point_at(text, at).map_or(0, |(code, _)| code);
    if now {
        let after = AFTER_8.partition_point(|range| range.1 < code);
        AFTER_8.get(after).is_none_or(|range| code < range.0)
    } else {
        UNTIL_8.contains(&code)
    }
}

/// One punctuation character, or the run of characters up to the next one or to one of `stop`.
#[inline(always)]
fn punctuation_or_run<const OLD: bool>(text: &[u8], at: usize, stop: Set) -> usize {
    let mut end = at;
    while let Some((class, next)) = class_at(text, end) {
        if is_punctuation::<OLD>(text, class, end, next) {
            return if end == at { next } else { end };
        }
        if stop.has(class) {
            break;
        }
        end = letters(text, next);
    }
    end
}

/// Punctuation characters as `matches` says, and what stands between.
pub(super) fn punctuation(
    text: &str,
    matches: Matches,
    unicode_8: bool,
    word: impl FnMut(usize, usize),
) {
    let mut joiner = Joiner::new(matches, false, word);
    let text = text.as_bytes();
    let (mut cut, mut at) = (0, 0);
    while let Some((class, next)) = class_at(text, at) {
        let found = if unicode_8 {
            is_punctuation::<true>(text, class, at, next)
        } else {
            is_punctuation::<false>(text, class, at, next)
        };
        if found {
            joiner.gap(cut, at);
            joiner.found(at, next);
            cut = next;
        }
        at = next;
    }
    joiner.gap(cut, text.len());
    joiner.finish();
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

/// Up to `group` numbers, or the characters up to the next number.
#[inline]
pub(super) fn number_end(text: &[u8], at: usize, group: usize, unicode_17: bool) -> usize {
    let is_number = |class: u8, at: usize| {
        NUMBER.has(class)
            || (unicode_17
                && class == CN
                && code_point_at(text, at).is_some_and(|(code, _)| {
                    NUMBERS_OF_17.iter().any(|range| range.0 <= code && code <= range.1)
                }))
    };
    let (mut end, mut count) = (at, 0);
    let mut numbers = false;
    while let Some((class, next)) = class_at(text, end) {
        let number = is_number(class, end);
        if end == at {
            numbers = number;
        }
        if number != numbers || (numbers && count == group) {
            break;
        }
        (end, count) = (next, count + 1);
    }
    end
}

/// So many characters, or what is left.
#[inline]
pub(super) fn fixed_end(text: &[u8], at: usize, length: usize) -> usize {
    let mut end = at;
    for _ in 0..length {
        let Some((_, next)) = class_at(text, end) else { break };
        end = next;
    }
    end
}

/// As [`metaspace_end`] and [`metaspace_suffix_end`], with another mark.
#[inline]
pub(super) fn mark_end(text: &[u8], at: usize, mark: char, suffix: bool) -> usize {
    let mut utf8 = [0; 4];
    let mark = mark.encode_utf8(&mut utf8).as_bytes();
    let from = if suffix { at } else { at + 1 };
    // What starts within a character is no character.
    match memchr::memmem::find(&text[from..], mark) {
        Some(skip) if suffix => from + skip + mark.len(),
        Some(skip) => from + skip,
        None => text.len(),
    }
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
