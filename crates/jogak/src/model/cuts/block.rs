//! Certain cuts within words of Chinese and Korean, and within whole texts, 64 bytes at a time.
//!
//! In words: where a character of three bytes stands behind another one, within a word, a piece may lie across or not. Flags
//! of both tell that mostly none does; for the others the entries are asked. All that is not joined so is a border, and so
//! are those of the words. Other characters stay with those around them.
//!
//! A text that is one word may be cut between any two characters. Where most are ASCII, these are told by a table of pairs, and
//! spaces that stand for marks by masks; all others are listed, with what stands before them, and asked as above. Where most are
//! of three bytes, all are listed.
//!
//! ```text
//! W   where words begin                   T   first bytes of characters of three bytes
//! J   those of T & T << 3 & ~W where a piece may lie across
//! a part begins   W | T & T << 3 & ~J
//! ```

use super::{Cuts, KINDS, MARK, bit};
use crate::scan::{BLOCK, EIGHT, Look, PICKED};

/// So many characters are told together.
const SOME: usize = 32;

/// A block, and what its last characters need behind it.
pub(crate) const WINDOW: usize = BLOCK + PICKED;

/// The window of a text from a place on, where there are bytes; behind the end it is filled up with 0, in `padded`.
#[inline(always)]
pub(crate) fn window<'w>(
    text: &'w [u8],
    at: usize,
    padded: &'w mut [u8; WINDOW],
) -> &'w [u8; WINDOW] {
    let left = &text[at..];
    left.first_chunk().unwrap_or_else(|| {
        *padded = [0; WINDOW];
        padded[..left.len()].copy_from_slice(left);
        padded
    })
}

/// The parts of the words of a block; bit i is byte i.
pub(crate) struct Block {
    /// Where parts begin.
    pub(crate) starts: u64,
    /// Where characters of three bytes begin, and those before which a piece may lie across.
    pub(crate) threes: u64,
    pub(crate) joined: u64,
}

/// Where characters of a block begin, by number, and their code points, which are 0 for those from U+10000 on; what stands behind
/// the last one means nothing.
pub(crate) struct Listed {
    pub(crate) places: [u32; BLOCK],
    pub(crate) codes: [u16; BLOCK],
    pub(crate) count: usize,
    /// Those from U+10000 on, if all characters of a text are listed; bit i is character i.
    beyond: u64,
}

/// The parts of a text in a block; bit i is byte i.
pub(crate) struct TextBlock {
    /// Where parts begin, as far as that was asked.
    pub(crate) starts: u64,
    /// Where characters of three bytes begin.
    pub(crate) threes: u64,
    /// Where its last character begins.
    pub(crate) last: usize,
}

impl Default for Listed {
    fn default() -> Self {
        Self { places: [0; BLOCK], codes: [0; BLOCK], count: 0, beyond: 0 }
    }
}

impl Listed {
    /// Lists those that begin at `starts`; `code` tells a character by its first four bytes.
    #[inline(always)]
    fn list<L: Look>(&mut self, window: &[u8; WINDOW], starts: u64, code: impl Fn(u32) -> u16) {
        let mut bytes = [0; BLOCK];
        L::list(starts, 0, &mut self.places);
        self.count = starts.count_ones() as usize;
        L::fours(window, starts, &mut bytes);
        let some = bytes.as_chunks::<SOME>().0.iter().zip(self.codes.as_chunks_mut::<SOME>().0);
        for (bytes, codes) in some.take(self.count.div_ceil(SOME)) {
            for (&bytes, code_of) in bytes.iter().zip(codes) {
                *code_of = code(bytes);
            }
        }
    }

    /// Lists the characters of a text that begin among the bytes `within` of a window.
    #[inline(always)]
    pub(crate) fn text<L: Look>(&mut self, window: &[u8; WINDOW], within: u64) {
        let bytes = window.first_chunk().unwrap_or(&[0; BLOCK]);
        self.list::<L>(window, L::starts(bytes) & within, of_three);
        let four = L::high(bytes).four;
        let mut beyond = 0;
        if four != 0 {
            for (number, &place) in self.places().iter().enumerate() {
                beyond |= (four >> (place % 64) & 1) << (number % BLOCK);
            }
        }
        self.beyond = beyond;
    }

    /// Lists the first `count` of these code points.
    #[inline(always)]
    pub(crate) fn points(&mut self, points: &[u32; BLOCK], count: usize) {
        let mut high = 0;
        let all = self.places.iter_mut().zip(&mut self.codes).enumerate();
        for ((number, (place, code)), &point) in all.zip(points) {
            high |= point >> 16;
            *code = if point < 0x1_0000 { point as u16 } else { 0 };
            *place = number as u32;
        }
        (self.count, self.beyond) = (count, 0);
        if high != 0 {
            for (number, &point) in points[..count].iter().enumerate() {
                self.beyond |= u64::from(point > 0xFFFF) << (number % BLOCK);
            }
        }
    }

    /// Where they begin.
    #[inline(always)]
    pub(crate) fn places(&self) -> &[u32] {
        &self.places[..self.count.min(BLOCK)]
    }

    /// Their code points.
    #[inline(always)]
    pub(crate) fn codes(&self) -> &[u16] {
        &self.codes[..self.count.min(BLOCK)]
    }

    /// Which of them meet what is listed before them, by flags of both; bit i is character i. The first one meets nothing.
    #[inline(always)]
    fn meeting(&self, flags: &[u8; 1 << 16]) -> u64 {
        let (mut meeting, mut behind) = (0, 0);
        let eights = &self.codes.as_chunks::<EIGHT>().0[..self.count.div_ceil(EIGHT)];
        // Eight at once, whether there are so many or not, and the last ones first: each bit moves those behind it.
        for eight in eights.iter().rev() {
            for &code in eight.iter().rev() {
                let flags = flags[usize::from(code)];
                meeting = meeting << 1 | u64::from(flags & behind != 0);
                behind = flags >> KINDS;
            }
        }
        meeting << 1 & u64::MAX.unbounded_shr((BLOCK - self.count) as u32)
    }
}

impl Cuts {
    /// Cuts the words that begin at `words` and before the block, and lists their characters of three bytes; nothing is asked
    /// of what is not `asked`.
    #[inline(always)]
    pub(crate) fn block<L: Look>(
        &self,
        window: &[u8; WINDOW],
        words: u64,
        asked: u64,
        listed: &mut Listed,
    ) -> Block {
        let threes = window.first_chunk().map_or(0, |bytes| L::high(bytes).three);
        listed.list::<L>(window, threes, three);
        let behind = threes & threes << 3 & asked;
        let mut joined = 0;
        // Also of those that stand behind something else: to pass over them would be a branch.
        for number in Bits(listed.meeting(&self.flags)) {
            let codes = &listed.codes;
            let (left, right) = (codes[number.saturating_sub(1)], codes[number]);
            let kinds = self.flags[usize::from(left)] & self.flags[usize::from(right)] >> KINDS;
            let across = self.entered(u32::from(left), u32::from(right), kinds);
            joined |= u64::from(across) << (listed.places[number] % 64);
        }
        joined &= behind & !words;
        Block { starts: words | behind & !joined, threes, joined }
    }

    /// Cuts a text that is one word, of which the characters of a block are listed, from the beginning of a part on. Which of them
    /// begin a part: bit i is character i. Those from U+10000 on stay with those around them. Spaces may stand for `MARKS`.
    #[inline(always)]
    pub(crate) fn parts_of<const MARKS: bool>(&self, listed: &Listed) -> u64 {
        let mut joined = listed.beyond | listed.beyond << 1;
        for number in Bits(listed.meeting(&self.in_texts)) {
            let codes = &listed.codes;
            let (left, right) = (codes[number.saturating_sub(1)], codes[number]);
            joined |= u64::from(self.joined_in_text::<MARKS>(left, right)) << number;
        }
        let all = u64::MAX.unbounded_shr((BLOCK - listed.count) as u32);
        all & !joined | 1
    }

    /// Whether a piece may lie across two characters of a text whose flags meet.
    #[inline(always)]
    fn joined_in_text<const MARKS: bool>(&self, left: u16, right: u16) -> bool {
        let (left, right) = (meant::<MARKS>(left), meant::<MARKS>(right));
        let kinds = self.in_texts[usize::from(left)] & self.in_texts[usize::from(right)] >> KINDS;
        let (left, right) = (u32::from(left), u32::from(right));
        match kinds {
            // Mostly it is whole characters.
            1 => self.entry(bit(left, right)),
            _ => left == MARK as u32 && right == left || self.entered(left, right, kinds),
        }
    }

    /// Cuts a text that is one word, from the beginning of a character on that no one asks about; nothing is asked of what
    /// is not `asked`. Not at every certain cut: small letters stay together, also with a mark before them, as do marks, and
    /// characters of four bytes with those around them. Spaces may stand for `MARKS`, of which others may be
    /// there.
    #[inline(always)]
    pub(crate) fn block_of_text<L: Look, const MARKS: bool>(
        &self,
        window: &[u8; WINDOW],
        asked: u64,
    ) -> TextBlock {
        let bytes = window.first_chunk().unwrap_or(&[0; BLOCK]);
        let kinds = L::high(bytes);
        let letters = L::ascii(bytes).lower;
        let begun = L::starts(bytes);
        let apart = L::apart(bytes);
        let marks = if MARKS { apart.spaces } else { 0 };
        let plain = !apart.high & !marks;
        let asked = asked & !1;
        // Between two of ASCII.
        let mut cut = 0;
        for at in Bits(plain & plain << 1 & !(letters & letters << 1) & asked) {
            cut |= u64::from(!self.joined_ascii(bytes[at.saturating_sub(1)], bytes[at])) << at;
        }
        // Between one of ASCII and a mark.
        let before = marks & plain << 1 & asked;
        if self.before_mark == 0 {
            cut |= before;
        } else {
            for at in Bits(before) {
                let one = bytes[at.saturating_sub(1)] % 0x80;
                cut |= u64::from(self.before_mark >> one & 1 == 0) << at;
            }
        }
        for at in Bits(plain & marks << 1 & !letters & asked) {
            cut |= u64::from(self.behind_mark >> (bytes[at] % 0x80) & 1 == 0) << at;
        }
        // Before and behind all others. What stands before one is of ASCII, or is the one listed before it.
        let others = begun & apart.high;
        let behind_others = !apart.high & apart.high << 1;
        let asked = asked & (others | behind_others) & !(kinds.four | kinds.four << 4);
        if asked != 0 {
            cut |= asked & !self.joined_around::<L, MARKS>(window, others | behind_others, asked);
        }
        let last = begun.checked_ilog2().unwrap_or(0) as usize;
        TextBlock { starts: cut, threes: kinds.three, last }
    }

    /// Before which of the characters that are `asked` a piece may lie across; they are among those that begin at `around`,
    /// as is what stands before each of them if it is not of ASCII.
    #[inline(always)]
    fn joined_around<L: Look, const MARKS: bool>(
        &self,
        window: &[u8; WINDOW],
        around: u64,
        asked: u64,
    ) -> u64 {
        let mut listed = Listed::default();
        listed.list::<L>(window, around, of_three);
        let (mut suspects, mut before) = (0, 0);
        let mut lefts = [0; BLOCK];
        let all = listed.places().iter().zip(listed.codes());
        for ((&place, &code), before_it) in all.zip(&mut lefts) {
            let byte = window[place.saturating_sub(1) as usize % BLOCK];
            let left = if byte < 0x80 { u16::from(byte) } else { before };
            *before_it = left;
            let meet = self.in_texts[usize::from(left)] & self.in_texts[usize::from(code)] >> KINDS;
            suspects |= u64::from(meet != 0) << (place % 64);
            before = code;
        }
        let mut joined = 0;
        for at in Bits(suspects & asked) {
            let number = (around & ((1 << at) - 1)).count_ones() as usize % BLOCK;
            let (left, right) = (lefts[number], listed.codes[number]);
            joined |= u64::from(self.joined_in_text::<MARKS>(left, right)) << at;
        }
        joined
    }
}

/// What a character of a text is to the vocabulary.
#[inline(always)]
fn meant<const MARKS: bool>(code: u16) -> u16 {
    if MARKS && code == u16::from(b' ') { MARK as u16 } else { code }
}

/// The place of each bit, the lowest first.
struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let place = self.0.trailing_zeros() as usize % BLOCK;
        self.0 &= self.0 - 1;
        Some(place)
    }
}

/// The code point of the character of three bytes that the lowest ones are.
#[inline(always)]
fn three(bytes: u32) -> u16 {
    ((bytes & 0x0F) << 12 | (bytes >> 2 & 0x0FC0) | bytes >> 16 & 0x3F) as u16
}

/// The code point of the character of up to three bytes that the lowest ones are; 0 for one of four.
#[inline(always)]
fn of_three(bytes: u32) -> u16 {
    let first = bytes & 0xFF;
    let two = ((bytes & 0x1F) << 6 | bytes >> 8 & 0x3F) as u16;
    let three = if first < 0xF0 { three(bytes) } else { 0 };
    let more = if first < 0xE0 { two } else { three };
    if first < 0x80 { first as u16 } else { more }
}
