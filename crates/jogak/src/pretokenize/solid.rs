//! Words between white space, by masks: 64 bytes at a time, for the schemes that drop it.
//!
//! In words: of every byte it is known whether it is of a word (not white space), and whether it is of a
//! character that is a word by itself (punctuation, for BERT). The rest is done by [`super::lists`].
//!
//! Of characters beyond ASCII, those whose first bytes are shared with white space or punctuation are
//! looked up one by one. [`Kind::word_end`] says the same character by character: for short texts, and as
//! the twin in the tests.

use super::classes::{SPACE, class_at};
use super::lists::{self, Masks, Solid};
use super::simple::{bert_end, is_punctuation, whitespace_end};
use crate::scan::{BLOCK, Look};

/// What cuts beside white space.
pub(super) trait Kind {
    /// ASCII punctuation does: every character of it is a word.
    const PUNCTUATION: bool;

    /// So does the character beyond ASCII from `at` to `next`, of this class.
    fn is_punctuation(text: &[u8], class: u8, at: usize, next: usize) -> bool;

    /// Where the word ends that starts at `at`, which is not white space.
    fn word_end(text: &[u8], at: usize) -> usize;
}

/// Nothing.
pub(super) struct Blanks;
/// Punctuation, of Unicode 8.0 if `OLD`.
pub(super) struct Punctuation<const OLD: bool>;
pub(super) type Bert = Punctuation<false>;
pub(super) type Bert8 = Punctuation<true>;

impl Kind for Blanks {
    const PUNCTUATION: bool = false;

    #[inline(always)]
    fn is_punctuation(_: &[u8], _: u8, _: usize, _: usize) -> bool {
        false
    }

    #[inline(always)]
    fn word_end(text: &[u8], at: usize) -> usize {
        whitespace_end(text, at)
    }
}

impl<const OLD: bool> Kind for Punctuation<OLD> {
    const PUNCTUATION: bool = true;

    #[inline(always)]
    fn is_punctuation(text: &[u8], class: u8, at: usize, next: usize) -> bool {
        is_punctuation::<OLD>(text, class, at, next)
    }

    #[inline(always)]
    fn word_end(text: &[u8], at: usize) -> usize {
        bert_end::<OLD>(text, at)
    }
}

/// Calls `words` with lists of as many starts as ends of words, left to right. The text has less than
/// 4 GiB.
#[inline(always)]
pub(super) fn for_each_list<K: Kind>(text: &[u8], mut words: impl FnMut(&[u32], &[u32])) {
    lists::for_each_list::<Cut<K>>(text, 0, |_, starts, ends| words(starts, ends));
}

/// What hangs over of a character.
struct Cut<K>(Rest, std::marker::PhantomData<K>);

impl<K> Default for Cut<K> {
    fn default() -> Self {
        Self(Rest::default(), std::marker::PhantomData)
    }
}

/// How many bytes of a character are in the next block, if it is white space or punctuation.
#[derive(Clone, Copy, Default)]
struct Rest {
    blank: u32,
    punctuation: u32,
}

impl<K: Kind> Masks for Cut<K> {
    #[inline(always)]
    fn block<L: Look>(&mut self, text: &[u8], at: usize, bytes: &[u8; BLOCK]) -> Solid {
        let ascii = L::ascii(bytes);
        let firsts = if K::PUNCTUATION { L::apart(bytes).punctuation } else { 0 };
        let mut solid = Solid { words: !ascii.blanks, firsts, alones: firsts };
        if ascii.high != 0 {
            self.beyond_ascii::<L>(text, at, bytes, &mut solid);
        }
        solid
    }
}

impl<K: Kind> Cut<K> {
    /// Finds white space and punctuation beyond ASCII.
    #[inline(always)]
    fn beyond_ascii<L: Look>(
        &mut self,
        text: &[u8],
        at: usize,
        bytes: &[u8; BLOCK],
        solid: &mut Solid,
    ) {
        let Rest { blank, punctuation } = std::mem::take(&mut self.0);
        solid.words &= !((1 << blank) - 1);
        solid.alones |= (1 << punctuation) - 1;
        let high = L::high(bytes);
        // These begin with no first byte of white space or punctuation: U+0400 to U+047F, U+4000 to U+9FFF
        // and U+B000 to U+DFFF; and of those that begin with EA, U+AC00 to U+AFFF.
        let never = high.d0 | high.d1 | high.e4 | high.e5_to_ec | high.ed;
        let never = never | high.ea & (high.from_b0 >> 1);
        let mut others = (high.two | high.three | high.four) & !never;
        while others != 0 {
            let place = others.trailing_zeros();
            others &= others - 1;
            let start = at + place as usize;
            let Some((class, end)) = class_at(text, start) else { break };
            let bits = (1 << (end - start)) - 1;
            let over = (place + (end - start) as u32).saturating_sub(BLOCK as u32);
            if SPACE.has(class) {
                solid.words &= !(bits << place);
                self.0.blank = over;
            } else if K::is_punctuation(text, class, start, end) {
                solid.firsts |= 1 << place;
                solid.alones |= bits << place;
                self.0.punctuation = over;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    type Words = Vec<(u32, u32)>;

    fn scanned<K: Kind>(text: &[u8]) -> Words {
        let (mut words, mut at) = (Vec::new(), 0);
        while let Some((class, next)) = class_at(text, at) {
            let blank = SPACE.has(class);
            let end = if blank { next } else { K::word_end(text, at) };
            if !blank {
                words.push((at as u32, end as u32));
            }
            at = end;
        }
        words
    }

    fn listed<K: Kind>(text: &[u8]) -> Words {
        let mut words = Vec::new();
        for_each_list::<K>(text, |starts, ends| {
            assert_eq!(starts.len(), ends.len());
            words.extend(starts.iter().copied().zip(ends.iter().copied()));
        });
        words
    }

    fn check<K: Kind>(text: &str) {
        let expected = scanned::<K>(text.as_bytes());
        let name = std::any::type_name::<K>();
        every_way(|way| {
            assert_eq!(listed::<K>(text.as_bytes()), expected, "{name} {text:?}, {way:?}");
        });
    }

    fn check_all(text: &str) {
        check::<Blanks>(text);
        check::<Bert>(text);
        check::<Bert8>(text);
    }

    #[test]
    fn every_code_point_at_every_place_of_a_block() {
        let mut text = String::new();
        for (number, c) in ('\0'..=char::MAX).enumerate() {
            let before = "x".repeat(number % 67);
            text.clear();
            text.push_str(&format!("{before}{c}{c}y {c}.{c}\n가{c} {c}"));
            check_all(&text);
        }
    }

    #[test]
    fn random_texts() {
        let parts = [
            "a",
            "bcd",
            " ",
            "  ",
            "\n",
            "\t\r",
            "\u{B}",
            "\u{1C}",
            ".",
            "!?",
            "$",
            "中文",
            "가나",
            "ㅋ",
            "é",
            "\u{85}",
            "\u{A0}",
            "«",
            "\u{2003}",
            "\u{3000}",
            "\u{2028}",
            "。",
            "\u{2E52}",
            "\u{61D}",
            "\u{166D}",
            "🐑",
            "\u{10100}",
            "\u{1E95E}",
            "я",
            "\u{37E}",
            "カ・",
            "\u{FF0C}",
            "\u{A673}",
        ];
        let mut random = SplitMix64::new(4);
        for round in 0..20_000 {
            let kinds = 1 + random.next() as usize % parts.len();
            let count = if round % 50 == 0 { 2000 } else { random.next() % 150 };
            let text: String = (0..count).map(|_| parts[random.next() as usize % kinds]).collect();
            check_all(&text);
        }
    }

    #[test]
    fn no_words_and_long_words() {
        for unit in ["", " ", "a", ".", "。", "\u{3000}", "가"] {
            for count in [1, 63, 64, 65, 5000] {
                check_all(&unit.repeat(count));
                check_all(&format!("a{}", unit.repeat(count)));
                check_all(&format!("{} ", unit.repeat(count)));
            }
        }
    }
}
