//! UTF-8 -> code points of four bytes each: the form from which strings that are mostly no ASCII are made soonest.
//!
//! In words: take the bytes of a character, and put their bits together. Here 64 bytes at a time: which of them begin a
//! character is a mask, the places of its bits are a list, and four bytes are taken from each place, whether the character
//! has so many or not. What is left is arithmetic, the same for all characters, without a branch.

use crate::scan::{BLOCK, Look, PICKED, Task, count, fastest};

/// Characters that are written at once.
const SIXTEEN: usize = 16;

/// Texts of fewer bytes are not worth a look at how to make them a string.
const SHORT: usize = 1 << 4;

/// The code point of a character by four bytes, the first one lowest. Bytes behind the character count for nothing.
#[inline(always)]
fn code_point(bytes: u32) -> u32 {
    let first = bytes & 0xFF;
    let within = |byte: u32| bytes >> (8 * byte) & 0x3F;
    let two = (first & 0x1F) << 6 | within(1);
    let three = (first & 0x0F) << 12 | within(1) << 6 | within(2);
    let four = (first & 0x07) << 18 | within(1) << 12 | within(2) << 6 | within(3);
    match first {
        0..0x80 => first,
        0x80..0xE0 => two,
        0xE0..0xF0 => three,
        _ => four,
    }
}

/// How many characters `text` has, if [`code_points`] is the sooner way to a string: one in eight bytes at least is
/// not the first of its character, and it is not short.
///
/// ```
/// use jogak::utf8::wide_characters;
///
/// assert_eq!(wide_characters(&"조각".repeat(99)), Some(198));
/// assert_eq!(wide_characters(&"a piece – of a text".repeat(99)), None);
/// assert_eq!(wide_characters("조각"), None);
/// ```
pub fn wide_characters(text: &str) -> Option<usize> {
    if text.len() < SHORT || text.is_ascii() {
        return None;
    }
    let within = count(text.as_bytes(), |byte| (byte as i8) < -0x40);
    (within * 8 >= text.len() && within > 0).then(|| text.len() - within)
}

/// Writes the first code points of `text` to `out`, until that is full. What there is no character for becomes 0.
///
/// ```
/// let mut out = [0; 2];
/// jogak::utf8::code_points("조각", &mut out);
/// assert_eq!(out, ['조', '각'].map(u32::from));
/// ```
pub fn code_points(text: &str, out: &mut [u32]) {
    fastest(Widen { bytes: text.as_bytes(), out });
}

struct Widen<'a> {
    bytes: &'a [u8],
    out: &'a mut [u32],
}

impl Task for Widen<'_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { bytes, mut out } = self;
        let mut fours = [0; BLOCK];
        for at in (0..bytes.len()).step_by(BLOCK) {
            let rest = &bytes[at..];
            let mut last = [0; BLOCK + PICKED];
            let block = rest.first_chunk().unwrap_or_else(|| {
                let there = rest.len().min(last.len());
                last[..there].copy_from_slice(&rest[..there]);
                &last
            });
            let Some(here) = block.first_chunk() else { break };
            let starts = L::starts(here) & u64::MAX >> BLOCK.saturating_sub(rest.len());
            let mut left = (starts.count_ones() as usize).min(out.len());
            L::fours(block, starts, &mut fours);
            for fours in fours.as_chunks::<SIXTEEN>().0 {
                let mut points = [0; SIXTEEN];
                for (point, &four) in points.iter_mut().zip(fours) {
                    *point = code_point(four);
                }
                // Sixteen at once, whether there are so many or not.
                let count = left.min(SIXTEEN);
                match out.first_chunk_mut() {
                    Some(room) => *room = points,
                    None => out[..count].copy_from_slice(&points[..count]),
                }
                (out, left) = (&mut out[count..], left - count);
                if left == 0 {
                    break;
                }
            }
        }
        out.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    fn check(text: &str) {
        let expected: Vec<u32> = text.chars().map(u32::from).collect();
        let mut found = vec![0; expected.len()];
        every_way(|way| {
            found.fill(1);
            code_points(text, &mut found);
            assert_eq!(found, expected, "{way:?}");
        });
    }

    #[test]
    fn every_character_at_every_place() {
        let all: String = ('\0'..=char::MAX).collect();
        for before in 0..4 {
            check(&format!("{}{all}", "x".repeat(before)));
        }
    }

    #[test]
    fn random_texts_of_all_lengths() {
        let mut random = SplitMix64::new(5);
        let kinds =
            ["a", " ", "\0", "é", "я", "조", "각", "\u{FEFF}", "\u{FFFF}", "🧩", "\u{10FFFF}"];
        for length in 0..400 {
            for few in [1, 3, kinds.len()] {
                let from = random.next() as usize % kinds.len();
                let kind = |_| kinds[(from + (random.next() as usize % few)) % kinds.len()];
                check(&(0..length).map(kind).collect::<String>());
            }
        }
    }

    #[test]
    fn the_first_ones_if_there_is_no_room() {
        let mut out = [0; 5];
        code_points(&"조각 piece".repeat(20), &mut out);
        assert_eq!(out, ['조', '각', ' ', 'p', 'i'].map(u32::from));
    }

    #[test]
    fn nothing_behind_the_last_one() {
        let mut out = [1; 200];
        code_points("조각", &mut out);
        assert_eq!(out[2..], [0; 198]);
    }
}
