//! Code points of four bytes each -> UTF-8.
//!
//! In words: how many bytes a character has, its code point says; put its bits into them. Here four characters at a
//! time: arithmetic, the same for all of them and without a branch, gives four bytes each, of which the last may be none,
//! and a table tells by how many each has where to pick them.

use std::ops::Range;
use std::sync::LazyLock;

use crate::error::Error;
use crate::scan::{Look, NOWHERE, PICKED, Task, fastest};

/// Characters that are put together at once.
const FOUR: usize = PICKED / 4;
/// Characters whose bytes are made at once.
const SIXTEEN: usize = 4 * FOUR;
/// A character has so many bytes at most.
const MOST: usize = 4;
/// Room for more code points than this is not kept.
const KEPT: usize = 1 << 18;

static STEPS: LazyLock<Steps> = LazyLock::new(Steps::new);

/// By how many bytes four characters have, two bits each, one less than there are: all together, and where they are.
struct Steps {
    bytes: Box<[u8; Self::ALL]>,
    places: Box<[[u8; PICKED]; Self::ALL]>,
}

impl Steps {
    const ALL: usize = 1 << (2 * FOUR);

    fn new() -> Self {
        let mut steps = Self {
            bytes: Box::new([0; Self::ALL]),
            places: Box::new([[NOWHERE; PICKED]; Self::ALL]),
        };
        for step in 0..Self::ALL {
            let of_one =
                |one: usize| (0..=step >> (2 * one) & 3).map(move |byte| MOST * one + byte);
            let there = (0..FOUR).flat_map(of_one);
            for (place, at) in steps.places[step].iter_mut().zip(there) {
                *place = at as u8;
                steps.bytes[step] += 1;
            }
        }
        steps
    }
}

/// The bytes of a character, the first one lowest, and one less than there are.
#[inline(always)]
fn bytes_of(point: u32) -> (u32, u32) {
    // Beyond all characters, it is what no character has for its first byte that stays.
    let point = point.min(0x1F_FFFF);
    let within = |shift: u32| point >> shift & 0x3F | 0x80;
    let two = 0xC0 | point >> 6 | within(0) << 8;
    let three = 0xE0 | point >> 12 | within(6) << 8 | within(0) << 16;
    let four = 0xF0 | point >> 18 | within(12) << 8 | within(6) << 16 | within(0) << 24;
    let bytes = match point {
        0..0x80 => point,
        0x80..0x800 => two,
        0x800..0x1_0000 => three,
        _ => four,
    };
    let beyond = |first: u32| u32::from(point >= first);
    (bytes, beyond(0x80) + beyond(0x800) + beyond(0x1_0000))
}

/// Writes code points to the front of `room`, and says where it ends there. What is no character becomes what is no
/// UTF-8.
struct Narrow<'a> {
    points: &'a [u32],
    room: &'a mut [u8],
    end: &'a mut usize,
}

impl Task for Narrow<'_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { points, room, end } = self;
        let Steps { bytes: lengths, places } = &*STEPS;
        let mut at = 0;
        let (sixteens, rest) = points.as_chunks::<SIXTEEN>();
        let mut last = [0; SIXTEEN];
        last[..rest.len()].copy_from_slice(rest);
        for points in sixteens.iter().chain((!rest.is_empty()).then_some(&last)) {
            let (mut bytes, mut more) = ([[0; MOST]; SIXTEEN], [0; SIXTEEN]);
            for (&point, (bytes, more)) in points.iter().zip(bytes.iter_mut().zip(&mut more)) {
                let (all, one_less) = bytes_of(point);
                (*bytes, *more) = (all.to_le_bytes(), one_less as u8);
            }
            let fours = bytes.as_flattened().as_chunks::<PICKED>().0;
            for (four, more) in fours.iter().zip(more.as_chunks::<FOUR>().0) {
                // The lowest two bits of each byte, side by side.
                let side_by_side =
                    u32::from_le_bytes(*more).wrapping_mul(1 << 18 | 1 << 12 | 1 << 6 | 1);
                let step = (side_by_side >> 18) as usize % Steps::ALL;
                let Some(room) = room[at..].first_chunk_mut() else { break };
                *room = L::pick(four, &places[step]);
                at += usize::from(lengths[step]);
            }
        }
        // What the last ones were filled up with has a byte each.
        *end = at - (points.len().next_multiple_of(SIXTEEN) - points.len());
    }
}

/// A text that came as code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read<'r> {
    /// What was made of them.
    Utf8(&'r str),
    /// They themselves: characters, all of them, as whoever asked for them has seen; and how many bytes their UTF-8 would have.
    Points(&'r [u32], usize),
}

/// Room in which texts are made of code points, used again and again.
///
/// ```
/// use jogak::utf8::{Read, Room};
///
/// let mut room = Room::default();
/// let points = ['조', '각', 'p', 'i', 'e', 'c', 'e'].map(u32::from);
/// room.points(7).copy_from_slice(&points);
/// let read = room.texts([2, 5], |points| (points.len() < 3).then_some(6))?;
/// assert_eq!(read, [Read::Points(&points[..2], 6), Read::Utf8("piece")]);
/// # Ok::<(), (usize, jogak::Error)>(())
/// ```
#[derive(Debug, Default)]
pub struct Room {
    points: Vec<u32>,
    bytes: Vec<u8>,
}

impl Room {
    /// Room for so many code points, in which something may stand.
    pub fn points(&mut self, count: usize) -> &mut [u32] {
        self.points.resize(count, 0);
        &mut self.points
    }

    /// The texts that the code points are, so many each; those for which `stay` says how many bytes they have stay what they are.
    ///
    /// # Errors
    /// [`Error::NoText`] with the number of the first text that has other than characters.
    ///
    /// # Panics
    /// If more code points are asked for than there are.
    pub fn texts(
        &mut self,
        counts: impl IntoIterator<Item = usize>,
        stay: impl Fn(&[u32]) -> Option<usize>,
    ) -> Result<Vec<Read<'_>>, (usize, Error)> {
        let Self { points, bytes } = self;
        let (mut start, mut from) = (0, 0);
        let mut texts = Vec::new();
        for count in counts {
            let points = &points[from..from + count];
            from += count;
            if let Some(bytes) = stay(points) {
                texts.push(Err((points, bytes)));
                continue;
            }
            // Whatever is written is written whole.
            let needed = start + points.len() * MOST + SIXTEEN * MOST;
            if bytes.len() < needed {
                bytes.resize(needed, 0);
            }
            let mut length = 0;
            fastest(Narrow { points, room: &mut bytes[start..], end: &mut length });
            texts.push(Ok(start..start + length));
            start += length;
        }
        // All at once, as that is sooner.
        let Ok(all) = simdutf8::basic::from_utf8(&bytes[..start]) else {
            let none = |text: &Result<Range<usize>, _>| {
                text.as_ref().is_ok_and(|range| std::str::from_utf8(&bytes[range.clone()]).is_err())
            };
            return Err((texts.iter().take_while(|text| !none(text)).count(), Error::NoText));
        };
        let read = |text| match text {
            Ok(range) => Read::Utf8(&all[range]),
            Err((points, bytes)) => Read::Points(points, bytes),
        };
        Ok(texts.into_iter().map(read).collect())
    }

    /// Gives room back that is more than most need.
    pub fn shrink(&mut self) {
        if self.points.len() > KEPT {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    /// Texts from code points that are those of characters, compared with what the standard library makes of them.
    fn check(texts: &[Vec<char>]) {
        let expected: Vec<String> = texts.iter().map(|text| text.iter().collect()).collect();
        let points: Vec<u32> = texts.iter().flatten().map(|&one| u32::from(one)).collect();
        let mut room = Room::default();
        every_way(|way| {
            room.points(points.len()).copy_from_slice(&points);
            room.bytes.fill(0xFF);
            let found = room.texts(texts.iter().map(Vec::len), |points| {
                (points.len() % 5 == 4).then_some(points.len())
            });
            let mut from = 0;
            let expected: Vec<Read<'_>> = (texts.iter().zip(&expected))
                .map(|(text, expected)| {
                    from += text.len();
                    let points = &points[from - text.len()..from];
                    if points.len() % 5 == 4 {
                        Read::Points(points, points.len())
                    } else {
                        Read::Utf8(expected)
                    }
                })
                .collect();
            assert_eq!(found, Ok(expected), "{way:?}");
        });
    }

    #[test]
    fn every_character_at_every_place() {
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for before in 0..SIXTEEN {
            let mut text = vec!['x'; before];
            text.extend(&all);
            check(&[text]);
        }
    }

    #[test]
    fn random_texts_of_all_lengths() {
        let mut random = SplitMix64::new(5);
        let kinds = ['a', ' ', '\0', 'é', 'я', '조', '각', '\u{FEFF}', '\u{FFFF}', '🧩', char::MAX];
        for length in 0..200 {
            for few in [1, 3, kinds.len()] {
                let mut text = |length: usize| -> Vec<char> {
                    let from = random.next() as usize % kinds.len();
                    let kind = |_| kinds[(from + (random.next() as usize % few)) % kinds.len()];
                    (0..length).map(kind).collect()
                };
                check(&[text(length), text(length / 3), text(0), text(length % 7)]);
            }
        }
    }

    #[test]
    fn what_is_no_character_is_told() {
        let mut room = Room::default();
        for none in (0xD800..0xE000).chain([0x11_0000, 0x1F_FFFF, 0x20_0000, 0x41_0000, u32::MAX]) {
            for at in [0, 5, 30] {
                every_way(|way| {
                    room.points(40).fill(u32::from('조'));
                    room.points(40)[at] = none;
                    let found = room.texts([5, 25, 10], |_| None);
                    let text = usize::from(at >= 5) + usize::from(at >= 30);
                    assert_eq!(found, Err((text, Error::NoText)), "{way:?} {none:X}");
                });
            }
        }
    }

    #[test]
    fn much_room_is_given_back() {
        let mut room = Room::default();
        room.points(KEPT);
        room.shrink();
        assert_eq!(room.points.len(), KEPT);
        room.points(KEPT + 1);
        room.shrink();
        assert_eq!(room.points.capacity(), 0);
    }
}
