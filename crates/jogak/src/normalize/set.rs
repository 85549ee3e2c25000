//! Sets of characters, and the search for their next member: what lets a text that has none of them
//! pass without being copied.

use super::align::Sink;

/// A set of characters: one bit each, and the least first byte of a member.
#[derive(Debug, Clone)]
pub(super) struct CharSet {
    /// Bit `c % 64` of word `c / 64` says whether `c` is in the set.
    bits: Vec<u64>,
    /// No member starts with a smaller byte in UTF-8; 0xFF for the empty set.
    least: u8,
}

/// Bytes that are looked at together while no member can be among them.
const STRIDE: usize = 32;

impl CharSet {
    pub(super) fn new(members: impl IntoIterator<Item = char>) -> Self {
        let mut set = Self { bits: Vec::new(), least: 0xFF };
        for c in members {
            let word = c as usize / 64;
            if set.bits.len() <= word {
                set.bits.resize(word + 1, 0);
            }
            set.bits[word] |= 1 << (c as usize % 64);
            set.least = set.least.min(c.encode_utf8(&mut [0; 4]).as_bytes()[0]);
        }
        set
    }

    /// The characters from `first` to `last` of every range. Surrogates are no characters.
    pub(super) fn of_ranges(ranges: &[(u32, u32)]) -> Self {
        let ranges = ranges.iter().flat_map(|&(first, last)| first..=last);
        Self::new(ranges.filter_map(char::from_u32))
    }

    #[inline]
    pub(super) fn has(&self, c: char) -> bool {
        let word = self.bits.get(c as usize / 64).copied().unwrap_or(0);
        word >> (c as usize % 64) & 1 != 0
    }

    /// Takes the members out of a set of as many bits as there are.
    pub(super) fn take_from(&self, bits: &mut [u64]) {
        bits.iter_mut().zip(&self.bits).for_each(|(bits, members)| *bits &= !members);
    }

    /// The first member at or after byte `from`: the character, where it starts and where it ends.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<(char, usize, usize)> {
        let bytes = text.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            // Every character's first byte is its greatest, so that the bytes behind it do no harm.
            while let Some(stride) = bytes.get(at..at + STRIDE)
                && stride.iter().fold(0, |max: u8, &byte| max.max(byte)) < self.least
            {
                at += STRIDE;
            }
            let low = |byte: u8| u32::from(byte & 0x3F);
            let (code, width) = match bytes[at..] {
                // A stride may have ended within a character, all of whose bytes are too small.
                [a, ..] if a < self.least || a & 0xC0 == 0x80 => {
                    at += 1;
                    continue;
                }
                [a @ 0..0x80, ..] => (u32::from(a), 1),
                [a @ 0xE0..0xF0, b, c, ..] => (u32::from(a & 0x0F) << 12 | low(b) << 6 | low(c), 3),
                [a @ 0xC0..0xE0, b, ..] => (u32::from(a & 0x1F) << 6 | low(b), 2),
                [a, b, c, d, ..] => {
                    (u32::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d), 4)
                }
                _ => break,
            };
            if let Some(&word) = self.bits.get(code as usize / 64)
                && word >> (code % 64) & 1 != 0
                && let Some(c) = char::from_u32(code)
            {
                return Some((c, at, at + width));
            }
            at += width;
        }
        None
    }

    /// Keeps what is no member, and calls `each` with every member, its start and its end.
    #[inline]
    pub(super) fn rewrite<S: Sink>(
        &self,
        text: &str,
        out: &mut S,
        mut each: impl FnMut(char, usize, usize, &mut S),
    ) {
        let mut done = 0;
        while let Some((c, start, end)) = self.find(text, done) {
            if done < start {
                out.keep(text, done, start);
            }
            each(c, start, end, out);
            done = end;
        }
        out.keep(text, done, text.len());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_plain_search_finds() {
        let members = ['A', 'é', '가', '😀', '\u{10ffff}'];
        for skip in 0..members.len() {
            let set = CharSet::new(members[skip..].iter().copied());
            let mut text = String::new();
            for round in 0..90 {
                text.extend(std::iter::repeat_n("xÿ힣😁".chars().nth(round % 4).unwrap(), round));
                text.push(members[round % 5]);
            }
            let plain: Vec<_> = text
                .char_indices()
                .filter(|(_, c)| members[skip..].contains(c))
                .map(|(at, c)| (c, at, at + c.len_utf8()))
                .collect();
            let mut found = Vec::new();
            let mut at = 0;
            while let Some(hit) = set.find(&text, at) {
                at = hit.2;
                found.push(hit);
            }
            assert_eq!(found, plain);
        }
        assert_eq!(CharSet::new([]).find("abc\u{10ffff}", 0), None);
    }
}
