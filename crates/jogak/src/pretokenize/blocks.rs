//! What the characters of a text are, 64 bytes at a time: Unicode on top of [`crate::scan`].
//!
//! Every byte of a character has the class of the character, so that the class of the character before
//! is that of the byte before, and a run of characters is a run of bits. ASCII is classed by vectors,
//! Chinese, Hangul, Japanese and Russian by their bytes, every other character by its entry in the tables.

use super::classes::{CASELESS, LETTER, LOWER, NUMBER, PUNCTUATION, SPACE, SYMBOL, UPPER};
use super::classes::{class_at, code_point_at};
use crate::scan::{BLOCK, Look};

/// The characters of 64 bytes; bit i is byte i.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    /// `[\p{Lu}\p{Lt}]`
    pub(super) upper: u64,
    /// `\p{Ll}`
    pub(super) lower: u64,
    /// `[\p{Lm}\p{Lo}]`
    pub(super) caseless: u64,
    /// `\p{M}`
    pub(super) mark: u64,
    /// `\p{N}`
    pub(super) number: u64,
    /// `\s`
    pub(super) blank: u64,
    /// `[\r\n]`
    pub(super) line_end: u64,
    /// The space.
    pub(super) space: u64,
    /// `'`
    pub(super) apostrophe: u64,
    /// `/`
    pub(super) slash: u64,
    /// For who looks finely: neither letter, mark, number, white space, punctuation nor symbol.
    pub(super) strange: u64,
    /// For who looks finely: [`is_eastern`].
    pub(super) eastern: u64,
    /// First bytes of characters, and those of characters of one byte, of two, three and four.
    pub(super) first: u64,
    lengths: [u64; 4],
}

/// A character that began in the block before: its kind, and how many bytes of it are here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rest {
    kind: u8,
    bytes: u32,
}

/// Kinds of characters beyond ASCII, as three bits.
const OTHER_KIND: u8 = 0;
const UPPER_KIND: u8 = 1;
const LOWER_KIND: u8 = 2;
const CASELESS_KIND: u8 = 3;
const MARK_KIND: u8 = 4;
const NUMBER_KIND: u8 = 5;
const BLANK_KIND: u8 = 6;
const STRANGE_KIND: u8 = 7;
/// And a fourth one.
const EASTERN: u8 = 8;

/// Class (its low five bits) -> kind.
static KIND: [u8; 32] = {
    let mut kinds = [OTHER_KIND; 32];
    let mut class = 0;
    while class < 32 {
        kinds[class as usize] = match class {
            _ if UPPER.has(class) => UPPER_KIND,
            _ if LOWER.has(class) => LOWER_KIND,
            _ if CASELESS.has(class) && LETTER.has(class) => CASELESS_KIND,
            _ if CASELESS.has(class) => MARK_KIND,
            _ if NUMBER.has(class) => NUMBER_KIND,
            _ if SPACE.has(class) => BLANK_KIND,
            _ if PUNCTUATION.or(SYMBOL).has(class) => OTHER_KIND,
            _ => STRANGE_KIND,
        };
        class += 1;
    }
    kinds
};

/// Chinese and Japanese characters, as DeepSeek has them: U+3040 to U+30FF, U+4E00 to U+9FA5.
#[inline(always)]
pub(super) fn is_eastern(code: u32) -> bool {
    matches!(code, 0x3040..=0x30FF | 0x4E00..=0x9FA5)
}

/// How to look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// What stands behind the end of the text, again and again.
    pub(super) pad: u8,
    /// Whether all masks are asked for.
    pub(super) finely: bool,
}

impl Block {
    /// Classes the 64 bytes from `at` on. `rest` is that of the block before, and becomes that of this one.
    #[inline(always)]
    pub(super) fn at<L: Look>(text: &[u8], at: usize, manner: Manner, rest: &mut Rest) -> Block {
        match text.get(at..).and_then(|text| text.first_chunk::<BLOCK>()) {
            Some(bytes) => Self::of::<L>(text, at, bytes, manner.finely, rest),
            None => Self::last::<L>(text, at, manner, rest),
        }
    }

    #[inline(never)]
    fn last<L: Look>(text: &[u8], at: usize, manner: Manner, rest: &mut Rest) -> Block {
        let mut bytes = [manner.pad; BLOCK];
        let left = text.get(at..).unwrap_or_default();
        bytes[..left.len()].copy_from_slice(left);
        Self::of::<L>(text, at, &bytes, manner.finely, rest)
    }

    #[inline(always)]
    fn of<L: Look>(
        text: &[u8],
        at: usize,
        bytes: &[u8; BLOCK],
        finely: bool,
        rest: &mut Rest,
    ) -> Block {
        let ascii = L::ascii(bytes);
        let mut block = Block {
            upper: ascii.upper,
            lower: ascii.lower,
            number: ascii.digits,
            blank: ascii.blanks,
            line_end: ascii.line_ends,
            space: ascii.spaces,
            apostrophe: ascii.apostrophes,
            slash: ascii.slashes,
            first: !0,
            lengths: [!0, 0, 0, 0],
            ..Block::default()
        };
        if finely {
            let signs = L::apart(bytes).punctuation;
            block.strange =
                !(ascii.upper | ascii.lower | ascii.digits | ascii.blanks | signs | ascii.high);
        }
        if ascii.high != 0 {
            block.beyond_ascii::<L>(text, at, bytes, finely, ascii.high, rest);
        }
        block
    }

    /// Adds the characters beyond ASCII.
    #[inline(always)]
    fn beyond_ascii<L: Look>(
        &mut self,
        text: &[u8],
        at: usize,
        bytes: &[u8; BLOCK],
        finely: bool,
        not_ascii: u64,
        rest: &mut Rest,
    ) {
        let high = L::high(bytes);
        let firsts = high.two | high.three | high.four;
        self.lengths = [!not_ascii, high.two, high.three, high.four];
        self.first = !not_ascii | firsts;
        // The bits of the kind of every byte.
        let mut kinds = [0u64; 4];
        let mut add = |kind: u8, bits: u64| {
            for (number, mask) in kinds.iter_mut().enumerate() {
                *mask |= bits & u64::from(kind >> number & 1).wrapping_neg();
            }
        };
        add(rest.kind, (1 << rest.bytes) - 1);
        *rest = Rest::default();
        // Chinese (U+4E00 to U+9FFF) and Hangul (U+AC00 to U+D77F), by their first bytes and some of the
        // second ones.
        let solid = high.e5_to_ec
            | high.e4 & (high.from_b8 >> 1)
            | high.ea & (high.from_b0 >> 1)
            | high.ed & (high.to_9d >> 1);
        add(CASELESS_KIND, solid | solid << 1 | solid << 2);
        let chinese = if finely { chinese::<L>(text, at, bytes) } else { 0 };
        add(EASTERN, chinese | chinese << 1 | chinese << 2);
        if solid >> 62 != 0 {
            let eastern = if chinese >> 62 != 0 { EASTERN } else { 0 };
            *rest = Rest { kind: CASELESS_KIND | eastern, bytes: 1 + (solid >> 63) as u32 };
        }
        // Russian: U+0400 to U+042F and U+0430 to U+045F.
        let capital = high.d0 & (high.to_af >> 1);
        add(UPPER_KIND, capital | capital << 1);
        let small = high.d0 & (high.from_b0 >> 1) | high.d1 & (high.to_9f >> 1);
        add(LOWER_KIND, small | small << 1);
        let mut others = firsts & !(solid | capital | small);
        if others & high.three != 0 {
            let (kana, punctuation) = eastern::<L>(bytes);
            add(CASELESS_KIND | EASTERN, kana | kana << 1 | kana << 2);
            others &= !(kana | punctuation);
        }
        while others != 0 {
            let place = others.trailing_zeros();
            others &= others - 1;
            let start = at + place as usize;
            let Some((class, end)) = class_at(text, start) else { break };
            let (mut kind, len) = (KIND[usize::from(class & 31)], (end - start) as u32);
            if finely && code_point_at(text, start).is_some_and(|(code, _)| is_eastern(code)) {
                kind |= EASTERN;
            }
            add(kind, ((1 << len) - 1) << place);
            if place + len > BLOCK as u32 {
                *rest = Rest { kind, bytes: place + len - BLOCK as u32 };
            }
        }
        let [one, two, four, eastern] = kinds;
        self.upper |= one & !two & !four;
        self.lower |= two & !one & !four;
        self.caseless = one & two & !four;
        self.mark = four & !one & !two;
        self.number |= four & one & !two;
        self.blank |= four & two & !one;
        self.strange |= four & two & one;
        self.eastern |= eastern;
    }

    /// The `\n` of the block that starts at `at`.
    #[inline(always)]
    pub(super) fn newlines(&self, text: &[u8], at: usize) -> u64 {
        let mut newlines = 0;
        let mut ends = self.line_end;
        while ends != 0 {
            let place = ends & ends.wrapping_neg();
            ends ^= place;
            if text.get(at + place.trailing_zeros() as usize) == Some(&b'\n') {
                newlines |= place;
            }
        }
        newlines
    }

    /// Characters of one byte.
    #[inline(always)]
    pub(super) fn ascii(&self) -> u64 {
        self.lengths[0]
    }

    /// Letters.
    #[inline(always)]
    pub(super) fn letter(&self) -> u64 {
        self.upper | self.lower | self.caseless
    }

    /// Neither letter nor number nor white space: marks and symbols.
    #[inline(always)]
    pub(super) fn other(&self) -> u64 {
        !(self.letter() | self.number | self.blank)
    }

    /// Characters before one of `set`, at their first bytes; `next` is the set in the next block.
    #[inline(always)]
    pub(super) fn before(&self, set: u64, next: u64) -> u64 {
        let one = set >> 1 | next << 63;
        if self.lengths[0] == !0 {
            return one;
        }
        let more = |len: usize| (set >> len | next << (64 - len)) & self.lengths[len - 1];
        one & self.lengths[0] | more(2) | more(3) | more(4)
    }

    /// Where the characters end that begin at `firsts`: here, and in the next block.
    #[inline(always)]
    pub(super) fn behind(&self, firsts: u64) -> (u64, u64) {
        if self.lengths[0] == !0 {
            return (firsts << 1, firsts >> 63);
        }
        let mut ends = (0, 0);
        for (firsts, len) in self.lengths.iter().map(|mask| firsts & mask).zip(1..) {
            ends.0 |= firsts << len;
            ends.1 |= firsts >> (64 - len);
        }
        ends
    }
}

/// First bytes of the Chinese characters that are [`is_eastern`]; without those of E4 whose second byte is in the next block.
#[inline(always)]
fn chinese<L: Look>(text: &[u8], at: usize, bytes: &[u8; BLOCK]) -> u64 {
    let here = L::chinese(bytes);
    let mut found = here.always | here.e9 | here.e4 & (here.upper >> 1);
    // Some of these are too new.
    let mut late = here.e9 & (here.upper >> 1 | 1 << 63);
    while late != 0 {
        let place = late.trailing_zeros();
        late &= late - 1;
        if code_point_at(text, at + place as usize).is_none_or(|(code, _)| !is_eastern(code)) {
            found &= !(1 << place);
        }
    }
    found
}

/// First bytes of Japanese syllables (U+3041 to U+30FF, but for what is no letter there), and of punctuation and symbols
/// (U+3001 to U+3020 and U+FF01 to U+FF20, but for what is something else there). Those that reach into the next block
/// are left out.
#[inline(always)]
fn eastern<L: Look>(bytes: &[u8; BLOCK]) -> (u64, u64) {
    let here = L::eastern(bytes);
    // Second and third bytes, as seen from the first one.
    let two = |second: u64, third: u64| second >> 1 & third >> 2;
    let kana =
        two(here.at_81, here.of_81) | two(here.at_82, here.of_82) | two(here.at_83, here.of_83);
    let punctuation = here.e3 & two(here.at_80, here.of_80) | here.ef & two(here.at_bc, here.of_bc);
    (here.e3 & kana, punctuation)
}

#[cfg(test)]
mod tests {
    use super::super::classes::{LINE_END, MARK, OTHER};
    use super::*;
    use crate::scan::{Task, every_way, fastest};

    struct Check<'a>(&'a str);

    impl Task for Check<'_> {
        fn run<L: Look>(self) {
            let text = self.0.as_bytes();
            let mut rest = Rest::default();
            let blocks: Vec<Block> = (0..text.len() + BLOCK)
                .step_by(BLOCK)
                .map(|at| Block::at::<L>(text, at, Manner { pad: b'\n', finely: true }, &mut rest))
                .collect();
            let mut at = 0;
            while let Some((class, end)) = class_at(text, at) {
                for byte in at..end {
                    let block = &blocks[byte / BLOCK];
                    let has = |mask: u64| mask >> (byte % BLOCK) & 1 == 1;
                    let place = || format!("byte {byte} of {:?}", self.0);
                    assert_eq!(has(block.upper), UPPER.has(class), "{}", place());
                    assert_eq!(has(block.lower), LOWER.has(class), "{}", place());
                    assert_eq!(has(block.letter()), LETTER.has(class), "{}", place());
                    assert_eq!(has(block.mark), MARK.has(class), "{}", place());
                    assert_eq!(has(block.number), NUMBER.has(class), "{}", place());
                    assert_eq!(has(block.blank), SPACE.has(class), "{}", place());
                    assert_eq!(has(block.line_end), LINE_END.has(class), "{}", place());
                    assert_eq!(has(block.first), byte == at, "{}", place());
                    let strange = OTHER.has(class) && !MARK.or(PUNCTUATION).or(SYMBOL).has(class);
                    assert_eq!(has(block.strange), strange, "{}", place());
                    let eastern = code_point_at(text, at).is_some_and(|(code, _)| is_eastern(code));
                    assert_eq!(has(block.eastern), eastern, "{}", place());
                    assert_eq!(has(block.ascii()), text[at] < 0x80, "{}", place());
                    // Every character is before itself's end, and nothing else is.
                    let next = blocks.get(byte / BLOCK + 1);
                    let ends = |block: &Block, first: u64| block.behind(first);
                    if byte == at {
                        let (here, there) = ends(block, 1 << (byte % BLOCK));
                        let (end_here, end_there) = match end / BLOCK == byte / BLOCK {
                            true => (1 << (end % BLOCK), 0),
                            false => (0, 1 << (end % BLOCK)),
                        };
                        assert_eq!((here, there), (end_here, end_there), "{}", place());
                        if next.is_some() {
                            let before = block.before(end_here, end_there);
                            assert_eq!(before & block.first, 1 << (byte % BLOCK), "{}", place());
                        }
                    }
                }
                at = end;
            }
        }
    }

    #[test]
    fn every_code_point_at_every_place_of_a_block() {
        let mut text = String::new();
        for (number, c) in ('\0'..=char::MAX).enumerate() {
            text.clear();
            text.push_str(&"a".repeat(number % 67));
            text.push(c);
            text.push(c);
            text.push_str(if number % 2 == 0 { "1" } else { "가" });
            every_way(|_| fastest(Check(&text)));
        }
    }
}
