//! Certain cuts within words of Chinese and Korean, 64 bytes at a time.
//!
//! In words: where a character of three bytes stands behind another one, within a word, a piece may lie across or not. Flags
//! of both tell that mostly none does; for the others the entries are asked. All that is not joined so is a border, and so
//! are those of the words. Other characters stay with those around them.
//!
//! ```text
//! W   where words begin                   T   first bytes of characters of three bytes
//! J   those of T & T << 3 & ~W where a piece may lie across
//! a part begins   W | T & T << 3 & ~J
//! ```

use super::{Cuts, KINDS};
use crate::scan::{BLOCK, EIGHT, Look, PICKED};

/// A block, and what its last characters need behind it.
pub(crate) const WINDOW: usize = BLOCK + PICKED;
/// Characters of three bytes in a block, at most, in eights.
const CHARACTERS: usize = 24;

/// The parts of the words of a block; bit i is byte i.
pub(crate) struct Block {
    /// Where parts begin.
    pub(crate) starts: u64,
    /// Where characters of three bytes begin, and those before which a piece may lie across.
    pub(crate) threes: u64,
    pub(crate) joined: u64,
    /// For each of these characters where it begins, and its code point.
    pub(crate) places: [u32; BLOCK],
    pub(crate) codes: [u16; CHARACTERS],
}

impl Cuts {
    /// Cuts the words that begin at `words` and before the block; nothing is asked of what is not `asked`.
    #[inline(always)]
    pub(crate) fn block<L: Look>(&self, window: &[u8; WINDOW], words: u64, asked: u64) -> Block {
        let threes = window.first_chunk().map_or(0, |bytes| L::high(bytes).three);
        let (mut places, mut codes) = ([0; BLOCK], [0; CHARACTERS]);
        L::list(threes, 0, &mut places);
        let count = (threes.count_ones() as usize).min(CHARACTERS);
        let eights = places.as_chunks::<EIGHT>().0.iter().zip(codes.as_chunks_mut::<EIGHT>().0);
        for (places, codes) in eights.take(count.div_ceil(EIGHT)) {
            // What is listed behind the last one means nothing.
            let places = places.map(|place| place.min(BLOCK as u32 - 1));
            if let Some((bytes, _)) = L::sixteens(window, &places) {
                *codes = bytes.map(code);
            }
        }
        let (mut suspects, mut before) = (0, 0);
        for (&place, &code) in places.iter().zip(&codes[..count]) {
            let flags = self.flags[usize::from(code)];
            suspects |= u64::from(before & flags >> KINDS != 0) << (place % 64);
            before = flags;
        }
        let behind = threes & threes << 3 & asked;
        let (mut joined, mut suspects) = (0, suspects & behind & !words);
        while suspects != 0 {
            let one = suspects & suspects.wrapping_neg();
            suspects ^= one;
            let number = (threes & (one - 1)).count_ones() as usize % CHARACTERS;
            let (left, right) = (codes[number.saturating_sub(1)], codes[number]);
            let kinds = self.flags[usize::from(left)] & self.flags[usize::from(right)] >> KINDS;
            if self.entered(u32::from(left), u32::from(right), kinds) {
                joined |= one;
            }
        }
        Block { starts: words | behind & !joined, threes, joined, places, codes }
    }
}

/// The code point of the character that the lowest three bytes are.
#[inline(always)]
fn code(bytes: u64) -> u16 {
    ((bytes & 0x0F) << 12 | (bytes >> 8 & 0x3F) << 6 | bytes >> 16 & 0x3F) as u16
}
