//! Where a text that nobody has normalized yet may be cut for certain: at blanks, and for BERT at ASCII
//! punctuation and Chinese characters too.
//!
//! Rule: what lies between two cuts is for others to normalize and to cut further. Whether the cuts are
//! certain for all that follows is theirs to know; here they are found, 64 bytes at a time.
//!
//! Where words start and end then, [`super::lists`] says.

use super::lists::{self, Masks, Solid};
use crate::scan::{Apart as Bytes, BLOCK, Chinese, Look};

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

    /// Calls `words` with lists of as many starts as ends of words behind `from`, left to right, and whether there may be Chinese
    /// characters by themselves among them. Blanks are in no word. The text has less than 4 GiB.
    #[inline]
    pub(crate) fn for_each_list(
        self,
        text: &[u8],
        from: usize,
        words: impl FnMut(&[u32], &[u32], bool),
    ) {
        match self {
            Apart::Spaces => listed::<0>(text, from, words),
            Apart::Blanks => listed::<1>(text, from, words),
            Apart::Punctuation => listed::<2>(text, from, words),
            Apart::Chinese => listed::<3>(text, from, words),
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
fn listed<const KIND: u8>(text: &[u8], from: usize, mut words: impl FnMut(&[u32], &[u32], bool)) {
    lists::for_each_list::<Kinds<KIND>>(text, from, |kinds, starts, ends| {
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
                apart.for_each_list(text.as_bytes(), 0, |starts, ends, chinese| {
                    let list = starts
                        .iter()
                        .zip(ends)
                        .map(|(&start, &end)| (start as usize, end as usize));
                    let by_itself = |(start, _): (usize, usize)| {
                        text[start..].starts_with(|c| CHINESE.contains(&u32::from(c)))
                    };
                    assert!(
                        chinese || apart != Apart::Chinese || !list.clone().any(by_itself),
                        "{text:?}"
                    );
                    found.extend(list);
                });
                assert_eq!(found, expected, "{apart:?} {text:?}, {way:?}");
            });
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
