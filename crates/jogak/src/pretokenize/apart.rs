//! Where a text that nobody has normalized yet may be cut for certain: at blanks, and for BERT at ASCII
//! punctuation and Chinese characters too.
//!
//! Rule: what lies between two cuts is for others to normalize and to cut further. Whether the cuts are
//! certain for all that follows is theirs to know; here they are found, 64 bytes at a time.
//!
//! Where words start and end then, [`super::lists`] says.

use super::lists::{self, Masks, Solid};
use crate::scan::{Apart as Bytes, BLOCK, Chinese, Look, Task, fastest};

/// What cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Apart {
    /// Spaces.
    Spaces,
    /// Blanks: spaces, tabs, line feeds, carriage returns.
    Blanks,
    /// Blanks; and ASCII punctuation, every character of which is a word.
    Punctuation,
    /// The same, and so are Chinese characters from U+4E00 to U+9FBF.
    Chinese,
}

/// Characters that [`Apart::Chinese`] tells.
pub(crate) const CHINESE: std::ops::RangeInclusive<u32> = 0x4E00..=0x9FBF;

impl Apart {
    /// Whether [`Apart::Chinese`] tells a character.
    #[inline]
    pub(crate) fn is_chinese(c: char) -> bool {
        CHINESE.contains(&u32::from(c))
    }

    /// The same as [`Apart::for_each`] gives, in lists of as many starts as ends. Says beside each whether there may be
    /// Chinese characters by themselves among the words. The text has less than 4 GiB.
    #[inline]
    pub(crate) fn for_each_list(self, text: &[u8], words: impl FnMut(&[u32], &[u32], bool)) {
        match self {
            Apart::Spaces => listed::<0>(text, words),
            Apart::Blanks => listed::<1>(text, words),
            Apart::Punctuation => listed::<2>(text, words),
            Apart::Chinese => listed::<3>(text, words),
        }
    }

    /// Calls `word` with the start and end of every word, left to right. Blanks are in none.
    #[inline]
    pub(crate) fn for_each(self, text: &[u8], word: impl FnMut(usize, usize)) {
        fastest(Run { apart: self, text, word });
    }
}

struct Run<'a, W> {
    apart: Apart,
    text: &'a [u8],
    word: W,
}

impl<W: FnMut(usize, usize)> Task for Run<'_, W> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Run { apart, text, word } = self;
        match apart {
            Apart::Spaces => each::<L, 0>(text, word),
            Apart::Blanks => each::<L, 1>(text, word),
            Apart::Punctuation => each::<L, 2>(text, word),
            Apart::Chinese => each::<L, 3>(text, word),
        }
    }
}

/// First bytes of Chinese characters.
#[inline(always)]
fn chinese<L: Look>(text: &[u8], at: usize, bytes: &[u8; BLOCK]) -> u64 {
    let Chinese { always, e4, e9, upper, last } = L::chinese(bytes);
    let next = text.get(at + BLOCK).copied().unwrap_or(0);
    let upper_next = upper >> 1 | u64::from(matches!(next, 0xB8..=0xBF)) << 63;
    let last_next = last >> 1 | u64::from(next == 0xBF) << 63;
    always | e4 & upper_next | e9 & !last_next
}

#[inline(always)]
fn listed<const KIND: u8>(text: &[u8], mut words: impl FnMut(&[u32], &[u32], bool)) {
    lists::for_each_list::<Kinds<KIND>>(text, |kinds, starts, ends| {
        words(starts, ends, std::mem::take(&mut kinds.chinese));
    });
}

/// What is known of the blocks before, for each [`Apart`] by its number.
#[derive(Default)]
struct Kinds<const KIND: u8> {
    /// Which of the first two bytes belong to a Chinese character that began before.
    rest: u64,
    /// There was one.
    chinese: bool,
}

impl<const KIND: u8> Masks for Kinds<KIND> {
    #[inline(always)]
    fn block<L: Look>(&mut self, text: &[u8], at: usize, bytes: &[u8; BLOCK]) -> Solid {
        let Bytes { blanks, spaces, punctuation, high } = L::apart(bytes);
        let words = if KIND == 0 { !spaces } else { !blanks };
        let firsts = if KIND >= 2 { punctuation } else { 0 };
        let mut solid = Solid { words, firsts, alones: firsts };
        if KIND == 3 && high != 0 {
            let chinese = chinese::<L>(text, at, bytes);
            solid.firsts |= chinese;
            solid.alones |= chinese | chinese << 1 | chinese << 2 | self.rest;
            self.rest = chinese >> 62 | chinese >> 63;
            self.chinese |= chinese != 0;
        } else {
            self.rest = 0;
        }
        solid
    }
}

#[inline(always)]
fn each<L: Look, const KIND: u8>(text: &[u8], mut word: impl FnMut(usize, usize)) {
    // A word may have begun in the block before: then that is the first of its starts.
    let mut starts = [0; BLOCK + 1];
    let mut open = 0;
    // Whether the byte before is of a word (T) and of a character by itself (I).
    let (mut solid, mut alone) = (0, 0);
    let mut kinds = Kinds::<KIND>::default();
    let mut at = 0;
    while at < text.len() {
        let mut padded = [b' '; BLOCK];
        let bytes = match text[at..].first_chunk::<BLOCK>() {
            Some(bytes) => bytes,
            None => {
                padded[..text.len() - at].copy_from_slice(&text[at..]);
                &padded
            }
        };
        let Solid { words, firsts, alones } = kinds.block::<L>(text, at, bytes);
        let before = words << 1 | solid;
        let alone_before = alones << 1 | alone;
        let mut begins = firsts | words & !before | words & !alones & alone_before;
        let mut ends = before & (!words | begins);
        (solid, alone) = (words >> 63, alones >> 63);
        while begins != 0 {
            starts[open] = at + begins.trailing_zeros() as usize;
            open += 1;
            begins &= begins - 1;
        }
        let mut done = 0;
        while ends != 0 {
            word(starts[done], at + ends.trailing_zeros() as usize);
            done += 1;
            ends &= ends - 1;
        }
        starts[0] = starts[done];
        open -= done;
        at += BLOCK;
    }
    if open > 0 {
        word(starts[0], text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::every_way;

    /// What the documentation says, character by character.
    fn naive(apart: Apart, text: &str) -> Vec<(usize, usize)> {
        let (mut words, mut from) = (Vec::new(), None::<usize>);
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let blank = match apart {
                Apart::Spaces => c == ' ',
                _ => matches!(c, ' ' | '\t' | '\n' | '\r'),
            };
            let alone = match apart {
                Apart::Spaces | Apart::Blanks => false,
                Apart::Punctuation => c.is_ascii_punctuation(),
                Apart::Chinese => c.is_ascii_punctuation() || CHINESE.contains(&u32::from(c)),
            };
            if blank || alone {
                words.extend(from.take().map(|from| (from, at)));
            }
            if alone {
                words.push((at, end));
            } else if !blank {
                from = from.or(Some(at));
            }
        }
        words.extend(from.map(|from| (from, text.len())));
        words
    }

    fn compare(text: &str) {
        for apart in [Apart::Spaces, Apart::Blanks, Apart::Punctuation, Apart::Chinese] {
            let expected = naive(apart, text);
            every_way(|way| {
                let mut found = Vec::new();
                apart.for_each(text.as_bytes(), |start, end| found.push((start, end)));
                assert_eq!(found, expected, "{apart:?} {text:?}, {way:?}");
            });
            let mut found = Vec::new();
            apart.for_each_list(text.as_bytes(), |starts, ends, chinese| {
                let list =
                    starts.iter().zip(ends).map(|(&start, &end)| (start as usize, end as usize));
                let by_itself = |(start, _): (usize, usize)| {
                    text[start..].starts_with(|c| CHINESE.contains(&u32::from(c)))
                };
                assert!(
                    chinese || apart != Apart::Chinese || !list.clone().any(by_itself),
                    "{text:?}"
                );
                found.extend(list);
            });
            assert_eq!(found, expected, "{apart:?} {text:?}, lists");
        }
    }

    #[test]
    fn every_character_in_every_place() {
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            let before = "x".repeat(u32::from(c) as usize % 67);
            compare(&format!("{before}{c}{c}y {c}中{c}"));
        }
    }

    #[test]
    fn random_texts() {
        let parts = [
            "a", "bc", " ", "  ", "\n", "\t\r", ".", "!?", "中", "文字", "가나", "é", "鿿", "䷿",
            "🐑",
        ];
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..state >> 57 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                text.push_str(parts[(state >> 33) as usize % parts.len()]);
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            compare(&text);
        }
    }
}
