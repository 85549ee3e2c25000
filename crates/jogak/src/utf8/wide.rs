//! UTF-8 -> code points of four bytes each: the form from which strings that are mostly no ASCII are made soonest.
//!
//! In words: take the bytes of a character, and put their bits together. Here up to four characters at a time:
//! which of the next twelve bytes begin a character says, by a table, where the bytes of each go in a number of
//! its own; what is left is arithmetic, the same for all characters, without a branch.

use std::sync::LazyLock;

use crate::scan::{BLOCK, Look, NOWHERE, PICKED, Task, count, fastest};

/// Characters that are taken at once, at most.
const MOST: usize = 4;
/// Bytes that they have, at most; of four-byte characters there are three.
const WINDOW: usize = 12;

static STEPS: LazyLock<Steps> = LazyLock::new(Steps::new);

/// Which of [`WINDOW`] bytes behind the first one begin a character -> what to take. How many bytes that are is by
/// itself, as the next step waits for it.
struct Steps {
    bytes: Box<[u8]>,
    characters: Box<[u8]>,
    /// Where the bytes of each character are, the last one first.
    places: Box<[[u8; PICKED]]>,
}

impl Steps {
    const ALL: usize = 1 << WINDOW;

    fn new() -> Self {
        let (mut all_bytes, mut all_characters, mut all_places) = (vec![], vec![], vec![]);
        for starts in 0..Self::ALL {
            let (mut bytes, mut characters, mut places) = (0, 0, [NOWHERE; PICKED]);
            let ends = (1..=WINDOW as u8).filter(|end| starts >> (end - 1) & 1 == 1);
            for (end, lane) in ends.zip(places.as_chunks_mut::<4>().0) {
                for (place, byte) in lane.iter_mut().zip((bytes..end).rev()) {
                    *place = byte;
                }
                (bytes, characters) = (end, characters + 1);
            }
            // Characters have at most four bytes, so that none of 0 is asked for.
            all_bytes.push(bytes.max(1));
            all_characters.push(characters);
            all_places.push(places);
        }
        let (bytes, characters) = (all_bytes.into(), all_characters.into());
        Self { bytes, characters, places: all_places.into() }
    }
}

/// The code point of a character, by its bytes: the last one lowest, 0 for those that it has not.
#[inline(always)]
fn code_point(bytes: u32) -> u32 {
    // The third last byte begins a character of three bytes, and has one bit more than those within.
    let first_of_three = (bytes & 0x40_0000) >> 5;
    (bytes & 0x7F)
        | (bytes >> 2 & 0x3F << 6)
        | ((bytes >> 4 & 0x3F << 12) ^ first_of_three)
        | (bytes >> 6 & 0x07 << 18)
}

/// How many characters `text` has, if [`code_points`] is the sooner way to a string: one in eight bytes at least is
/// not the first of its character.
///
/// ```
/// assert_eq!(jogak::utf8::wide_characters("조각"), Some(2));
/// assert_eq!(jogak::utf8::wide_characters("a piece – of a text"), None);
/// ```
pub fn wide_characters(text: &str) -> Option<usize> {
    if text.is_ascii() {
        return None;
    }
    let within = count(text.as_bytes(), |byte| (byte as i8) < -0x40);
    (within * 8 >= text.len() && within > 0).then(|| text.len() - within)
}

/// Writes the first code points of `text` to `out`, each as the bytes of a number of this machine, until `out` is
/// full. What there is no character for becomes 0.
///
/// ```
/// let mut out = [[0; 4]; 2];
/// jogak::utf8::code_points("조각", &mut out);
/// assert_eq!(out.map(u32::from_ne_bytes), ['조', '각'].map(u32::from));
/// ```
pub fn code_points(text: &str, out: &mut [[u8; 4]]) {
    fastest(Widen { bytes: text.as_bytes(), out });
}

struct Widen<'a> {
    bytes: &'a [u8],
    out: &'a mut [[u8; 4]],
}

impl Task for Widen<'_> {
    fn run<L: Look>(self) {
        let Self { mut bytes, mut out } = self;
        let Steps { bytes: lengths, characters, places } = &*STEPS;
        let (lengths, characters) = (&lengths[..Steps::ALL], &characters[..Steps::ALL]);
        let places = &places[..Steps::ALL];
        while !out.is_empty() {
            if bytes.is_empty() {
                return out.fill([0; 4]);
            }
            let mut last = [0; BLOCK];
            let block = bytes.first_chunk().unwrap_or_else(|| {
                last[..bytes.len()].copy_from_slice(bytes);
                &last
            });
            let (mut at, mut starts) = (0, L::starts(block) >> 1);
            // Behind it, all is of this block.
            while at <= BLOCK - PICKED {
                let step = starts as usize & (Steps::ALL - 1);
                let Some(window) = block[at..].first_chunk() else { break };
                at += usize::from(lengths[step]);
                starts >>= lengths[step] & 15;
                let picked = L::pick(window, &places[step]);
                let (lanes, _) = picked.as_chunks::<4>();
                let points: [[u8; 4]; MOST] = std::array::from_fn(|lane| {
                    code_point(u32::from_le_bytes(lanes[lane])).to_ne_bytes()
                });
                let characters = usize::from(characters[step]);
                let Some(room) = out.first_chunk_mut() else {
                    // The last ones, and perhaps what the block is filled up with.
                    let characters = characters.min(out.len());
                    out[..characters].copy_from_slice(&points[..characters]);
                    out = &mut out[characters..];
                    if out.is_empty() {
                        return;
                    }
                    continue;
                };
                *room = points;
                out = &mut out[characters..];
            }
            bytes = bytes.get(at..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    fn check(text: &str) {
        let expected: Vec<u32> = text.chars().map(u32::from).collect();
        let mut found = vec![[0; 4]; expected.len()];
        every_way(|way| {
            found.fill([1; 4]);
            code_points(text, &mut found);
            let found = found.iter().map(|&bytes| u32::from_ne_bytes(bytes));
            assert!(found.eq(expected.iter().copied()), "{way:?}");
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
        let mut out = [[0; 4]; 5];
        code_points(&"조각 piece".repeat(20), &mut out);
        assert_eq!(out.map(u32::from_ne_bytes), ['조', '각', ' ', 'p', 'i'].map(u32::from));
    }

    #[test]
    fn nothing_behind_the_last_one() {
        let mut out = [[1; 4]; 200];
        code_points("조각", &mut out);
        assert_eq!(out[2..], [[0; 4]; 198]);
    }
}
