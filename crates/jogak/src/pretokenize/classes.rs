//! What a character is: the alphabet all scanners are written in.
//!
//! Rule: a class is a Unicode general category, with the white space among the controls set apart;
//! 31 classes, so that a [`Set`] of them is one `u32` and membership one bit test. The tables are
//! those of the regular-expression engine (see [`super::tables`]), and a test holds them to it on
//! every code point.
//!
//! Every function here reads the UTF-8 bytes of a `&str` and takes and gives byte offsets that stand
//! on character borders.

use super::tables::{BLANK_CONTROL, NEWLINE, ZL, ZP, ZS};
use super::tables::{BLOCK_RUNS, BLOCKS, LL, LM, LO, LT, LU, MC, ME, MN};
use super::tables::{ND, NL, NO, PC, PD, PE, PF, PI, PO, PS, SC, SK, SM, SO};

/// Set of classes: bit `class & 31` is set for each member.
#[derive(Clone, Copy)]
pub(super) struct Set(u32);

impl Set {
    /// The set of the given classes.
    const fn of(classes: &[u8]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < classes.len() {
            bits |= 1 << (classes[i] & 31);
            i += 1;
        }
        Set(bits)
    }

    /// Nothing.
    pub(super) const EMPTY: Set = Set(0);

    /// What is in this set or in `other`.
    pub(super) const fn or(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    /// Every character that is not in this set.
    pub(super) const fn not(self) -> Set {
        Set(!self.0 & !(1 << (MULTI_BYTE & 31)))
    }

    /// Whether `class` is a member.
    #[inline(always)]
    pub(super) const fn has(self, class: u8) -> bool {
        (self.0 >> (class & 31)) & 1 != 0
    }
}

/// `\p{L}`
pub(super) const LETTER: Set = Set::of(&[LU, LL, LT, LM, LO]);
/// `\p{M}`
pub(super) const MARK: Set = Set::of(&[MN, MC, ME]);
/// `\p{N}`
pub(super) const NUMBER: Set = Set::of(&[ND, NL, NO]);
/// `\p{P}`
pub(super) const PUNCTUATION: Set = Set::of(&[PC, PD, PS, PE, PI, PF, PO]);
/// `\p{S}`
pub(super) const SYMBOL: Set = Set::of(&[SM, SC, SK, SO]);
/// `[\r\n]`
pub(super) const LINE_END: Set = Set::of(&[NEWLINE]);
/// `\s`: the property `White_Space`.
pub(super) const SPACE: Set = Set::of(&[ZS, ZL, ZP, NEWLINE, BLANK_CONTROL]);
/// `[^\s\p{L}\p{N}]`
pub(super) const OTHER: Set = SPACE.or(LETTER).or(NUMBER).not();
/// Letters that can open a word in capitals: `[\p{Lu}\p{Lt}]`.
pub(super) const UPPER: Set = Set::of(&[LU, LT]);
/// `\p{Ll}`
pub(super) const LOWER: Set = Set::of(&[LL]);
/// Neither upper nor lower, and welcome beside both: `[\p{Lm}\p{Lo}\p{M}]`.
pub(super) const CASELESS: Set = Set::of(&[LM, LO]).or(MARK);

/// The class that stands in [`BYTE_CLASS`] for every byte of a longer character. No set has it.
const MULTI_BYTE: u8 = b'\\';

/// Number of the block (of 256 code points) that holds the classes of `code point / 256`.
static BLOCK_OF: [u8; 0x1100] = {
    let mut blocks = [0; 0x1100];
    let mut at = 0;
    let mut run = 0;
    while run < BLOCK_RUNS.len() {
        let (times, block) = BLOCK_RUNS[run];
        let end = at + times as usize;
        while at < end {
            blocks[at] = block;
            at += 1;
        }
        run += 1;
    }
    blocks
};

/// Class of every ASCII byte; [`MULTI_BYTE`] for the others.
static BYTE_CLASS: [u8; 256] = {
    let mut classes = [MULTI_BYTE; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = BLOCKS[BLOCK_RUNS[0].1 as usize][byte];
        byte += 1;
    }
    classes
};

/// The class of a code point.
#[inline(always)]
fn class_of(code_point: u32) -> u8 {
    let block = BLOCK_OF.get((code_point >> 8) as usize).map_or(0, |block| *block);
    BLOCKS[block as usize][(code_point & 0xFF) as usize]
}

/// Code point and length in bytes of the character at `at`, which is not ASCII.
///
/// A `&str` has nothing but whole characters, so the last arm is never taken there.
#[inline(always)]
fn decode(text: &[u8], at: usize) -> (u32, usize) {
    let low = |byte: u8| u32::from(byte & 0x3F);
    match text[at..] {
        [a @ 0xC0..=0xDF, b, ..] => (u32::from(a & 0x1F) << 6 | low(b), 2),
        [a @ 0xE0..=0xEF, b, c, ..] => (u32::from(a & 0x0F) << 12 | low(b) << 6 | low(c), 3),
        [a @ 0xF0..=0xFF, b, c, d, ..] => {
            (u32::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d), 4)
        }
        _ => (0xFFFD, 1),
    }
}

/// Class of the character at `at` and where the next one starts, or `None` at the end of the text.
#[inline(always)]
pub(super) fn class_at(text: &[u8], at: usize) -> Option<(u8, usize)> {
    let class = BYTE_CLASS[usize::from(*text.get(at)?)];
    if class != MULTI_BYTE {
        return Some((class, at + 1));
    }
    let (code_point, len) = decode(text, at);
    Some((class_of(code_point), at + len))
}

/// The character at `at` as a code point and where the next one starts, or `None` at the end.
#[inline(always)]
pub(super) fn code_point_at(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let byte = *text.get(at)?;
    if byte < 0x80 {
        return Some((u32::from(byte), at + 1));
    }
    let (code_point, len) = decode(text, at);
    Some((code_point, at + len))
}

/// Where the run of characters of `set` that starts at `at` ends (`at` itself if it is empty).
#[inline(always)]
pub(super) fn run(text: &[u8], mut at: usize, set: Set) -> usize {
    while let Some((class, next)) = class_at(text, at) {
        if !set.has(class) {
            break;
        }
        at = next;
    }
    at
}

/// Where the run of at most `limit` characters of `set` that starts at `at` ends.
#[inline(always)]
pub(super) fn short_run(text: &[u8], mut at: usize, set: Set, limit: usize) -> usize {
    for _ in 0..limit {
        match class_at(text, at) {
            Some((class, next)) if set.has(class) => at = next,
            _ => break,
        }
    }
    at
}

/// Where the run of letters that starts at `at` ends: [`run`] of [`LETTER`], eight ASCII letters at
/// a time.
#[inline(always)]
pub(super) fn letters(text: &[u8], at: usize) -> usize {
    let (end, ascii) = ascii_letters::<0x20>(text, at);
    if ascii { end } else { run(text, end, LETTER) }
}

/// Where the run of lower and caseless characters that starts at `at` ends: [`run`] of both sets,
/// eight ASCII letters at a time. (No ASCII character is caseless.)
#[inline(always)]
pub(super) fn small_letters(text: &[u8], at: usize) -> usize {
    const SMALL: Set = LOWER.or(CASELESS);
    let (end, ascii) = ascii_letters::<0>(text, at);
    if ascii { end } else { run(text, end, SMALL) }
}

/// Skips ASCII letters from `at` on, eight bytes at a time. Gives where it stopped and whether an
/// ASCII byte stopped it (else: a longer character, or too few bytes are left).
///
/// `FOLD` is or-ed to every byte: `0x20` makes capitals small, `0` lets small letters pass only.
///
/// All eight are asked at once: adding `0x80 - 'a'` sets the high bit of a byte from `a` on, adding
/// `0x7F - 'z'` that of a byte above `z`. The bytes are cut to seven bits before, so that no sum
/// spills into its neighbour; the eighth bit itself says "not ASCII".
#[inline(always)]
pub(super) fn ascii_letters<const FOLD: u8>(text: &[u8], mut at: usize) -> (usize, bool) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let bytes = u64::from_le_bytes(*eight);
        let folded = (bytes | (u64::from(FOLD) * ONES)) & (0x7F * ONES);
        let from_a = folded + (0x80 - u64::from(b'a')) * ONES;
        let above_z = folded + (0x7F - u64::from(b'z')) * ONES;
        let others = (bytes | above_z | !from_a) & (0x80 * ONES);
        if others != 0 {
            let len = others.trailing_zeros() / 8;
            return (at + len as usize, (bytes >> (8 * len)) & 0x80 == 0);
        }
        at += 8;
    }
    (at, false)
}

/// The white space that starts at `at`, which has at least one character.
pub(super) struct Blanks {
    /// Where its last character starts.
    pub(super) last: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Where its last carriage return or line feed ends, if it has one.
    pub(super) line_end: Option<usize>,
}

/// The run of white space that starts at `at`.
#[inline(always)]
pub(super) fn blanks(text: &[u8], at: usize) -> Blanks {
    let mut run = Blanks { last: at, end: at, line_end: None };
    while let Some((class, next)) = class_at(text, run.end) {
        if !SPACE.has(class) {
            break;
        }
        (run.last, run.end) = (run.end, next);
        if class == NEWLINE {
            run.line_end = Some(next);
        }
    }
    run
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::tables::{CC, CF, CN, CO};
    use super::*;
    use fancy_regex::Regex;

    /// Every set that has a pattern equals it, on every code point.
    #[test]
    fn sets_are_what_the_engine_says() {
        let sets = [
            (LETTER, r"\p{L}"),
            (MARK, r"\p{M}"),
            (NUMBER, r"\p{N}"),
            (PUNCTUATION, r"\p{P}"),
            (SYMBOL, r"\p{S}"),
            (LINE_END, r"[\r\n]"),
            (SPACE, r"\s"),
            (OTHER, r"[^\s\p{L}\p{N}]"),
            (UPPER, r"[\p{Lu}\p{Lt}]"),
            (LOWER, r"\p{Ll}"),
            (CASELESS, r"[\p{Lm}\p{Lo}\p{M}]"),
        ];
        for (set, pattern) in sets {
            let regex = Regex::new(pattern).unwrap();
            for c in '\0'..=char::MAX {
                let mut utf8 = [0; 4];
                let text: &str = c.encode_utf8(&mut utf8);
                let (class, end) = class_at(text.as_bytes(), 0).unwrap();
                assert_eq!(end, text.len());
                assert_eq!(set.has(class), regex.is_match(text).unwrap(), "{pattern} {c:?}");
            }
        }
    }

    /// Every class is what its category says: no two were exchanged.
    #[test]
    fn classes_are_general_categories() {
        let categories = [
            (CN, r"\p{Cn}"),
            (CC, r"[\p{Cc}--\s]"),
            (CF, r"\p{Cf}"),
            (CO, r"\p{Co}"),
            (LM, r"\p{Lm}"),
            (LT, r"\p{Lt}"),
            (ME, r"\p{Me}"),
            (ND, r"\p{Nd}"),
            (SO, r"\p{So}"),
            (BLANK_CONTROL, r"[\t\x0B\x0C\x{85}]"),
        ];
        for (class, pattern) in categories {
            let regex = Regex::new(pattern).unwrap();
            for c in '\0'..=char::MAX {
                let text = c.to_string();
                let found = class_of(c as u32) == class;
                assert_eq!(found, regex.is_match(&text).unwrap(), "{pattern} {c:?}");
            }
        }
    }

    /// The eight-at-a-time run of letters ends where the plain one does, for every byte at every
    /// place.
    #[test]
    fn letters_equal_the_plain_run() {
        for c in '\0'..='\u{7FF}' {
            for before in 0..20 {
                let text = format!("{}{c}xyzXYZ{c}", "aZzA".repeat(5).split_at(before).0);
                let text = text.as_bytes();
                assert_eq!(letters(text, 0), run(text, 0, LETTER), "{text:?}");
            }
        }
    }
}
