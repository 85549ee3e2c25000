//! Sets of characters, and the search for their next member: what lets a text that has none of them
//! pass without being looked at character by character.

/// A set of characters: one bit each, and what tells from afar that no member can be in a text.
#[derive(Debug, Clone)]
pub(crate) struct CharSet {
    /// Bit `c % 64` of word `c / 64` says whether `c` is in the set.
    bits: Vec<u64>,
    /// Runs of bytes that no member begins with, in UTF-8: where each begins, and how many there are.
    quiet: [(u8, u8); COMMON.len()],
    /// Nor does one begin with 0xEA and this byte or a greater one: the first Hangul syllables lie there, behind
    /// scripts that have marks.
    quiet_behind: u8,
    /// No member is ASCII.
    beyond_ascii: bool,
}

/// Bytes that are looked at together while no member can be among them.
const STRIDE: usize = 32;
/// Bytes that much text is full of: letters of English, Russian, Chinese, Korean. The runs of quiet bytes around them count.
const COMMON: [u8; 4] = [b'e', 0xD0, 0xE6, 0xEC];

impl CharSet {
    pub(crate) fn new(members: impl IntoIterator<Item = char>) -> Self {
        let mut bits = Vec::new();
        let mut loud = [false; 256];
        let mut quiet_behind = 0x80;
        for c in members {
            let word = c as usize / 64;
            if bits.len() <= word {
                bits.resize(word + 1, 0);
            }
            bits[word] |= 1 << (c as usize % 64);
            let [first, second, ..] = {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes);
                bytes
            };
            loud[usize::from(first)] = true;
            if first == 0xEA {
                quiet_behind = quiet_behind.max(second + 1);
            }
        }
        let quiet = COMMON.map(|common| {
            let is_quiet = |&byte: &u8| !loud[usize::from(byte)];
            let width = (common..=u8::MAX).take_while(is_quiet).count();
            let before = (0..common).rev().take_while(is_quiet).count();
            let width = if width == 0 { 0 } else { width + before };
            // All 256 are as good as 255: no text has the last one.
            (common - before as u8, width.min(255) as u8)
        });
        let beyond_ascii = !loud[..0x80].contains(&true);
        Self { bits, quiet, quiet_behind, beyond_ascii }
    }

    /// The characters from `first` to `last` of every range. Surrogates are no characters.
    pub(crate) fn of_ranges(ranges: &[(u32, u32)]) -> Self {
        let ranges = ranges.iter().flat_map(|&(first, last)| first..=last);
        Self::new(ranges.filter_map(char::from_u32))
    }

    #[inline]
    pub(crate) fn has(&self, c: char) -> bool {
        let word = self.bits.get(c as usize / 64).copied().unwrap_or(0);
        word >> (c as usize % 64) & 1 != 0
    }

    /// Takes the members out of a set of as many bits as there are.
    pub(crate) fn take_from(&self, bits: &mut [u64]) {
        bits.iter_mut().zip(&self.bits).for_each(|(bits, members)| *bits &= !members);
    }

    /// The first member at or after byte `from`: the character, where it starts and where it ends.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<(char, usize, usize)> {
        let bytes = text.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            while let Some(stride) = bytes.get(at..=at + STRIDE)
                && (self.beyond_ascii && stride.is_ascii() || self.is_quiet(stride))
            {
                at += STRIDE;
            }
            let end = bytes.len().min(at + STRIDE);
            while at < end {
                let low = |byte: u8| u32::from(byte & 0x3F);
                let (code, width) = match bytes[at..] {
                    [a @ 0..0x80, ..] => (u32::from(a), 1),
                    [a @ 0xE0..0xF0, b, c, ..] => {
                        (u32::from(a & 0x0F) << 12 | low(b) << 6 | low(c), 3)
                    }
                    [a @ 0xC0..0xE0, b, ..] => (u32::from(a & 0x1F) << 6 | low(b), 2),
                    [a @ 0xF0..=0xFF, b, c, d, ..] => {
                        (u32::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d), 4)
                    }
                    // A stride may have ended within a character, which is no member.
                    _ => {
                        at += 1;
                        continue;
                    }
                };
                if let Some(&word) = self.bits.get(code as usize / 64)
                    && word >> (code % 64) & 1 != 0
                    && let Some(c) = char::from_u32(code)
                {
                    return Some((c, at, at + width));
                }
                at += width;
            }
        }
        None
    }

    /// Whether no member begins in a stride, behind which there is a byte more.
    fn is_quiet(&self, stride: &[u8]) -> bool {
        stride.iter().zip(&stride[1..]).fold(true, |all, (&byte, &next)| {
            let quiet = self
                .quiet
                .iter()
                .fold(false, |quiet, &(first, width)| quiet | (byte.wrapping_sub(first) < width));
            all & (quiet | ((byte == 0xEA) & (next >= self.quiet_behind)))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;

    /// What `find` finds, one after the other.
    fn found(set: &CharSet, text: &str) -> Vec<(char, usize, usize)> {
        let mut at = 0;
        let next = || {
            let hit = set.find(text, at)?;
            at = hit.2;
            Some(hit)
        };
        std::iter::from_fn(next).collect()
    }

    fn found_plainly(members: &[char], text: &str) -> Vec<(char, usize, usize)> {
        let hits = text.char_indices().filter(|(_, c)| members.contains(c));
        hits.map(|(at, c)| (c, at, at + c.len_utf8())).collect()
    }

    #[test]
    fn finds_what_a_plain_search_finds() {
        let members = ['A', 'é', '가', '😀', '\u{10ffff}'];
        for skip in 0..=members.len() {
            let members = &members[skip..];
            let set = CharSet::new(members.iter().copied());
            let mut text = String::new();
            for round in 0..90 {
                text.extend(std::iter::repeat_n("xÿ힣😁".chars().nth(round % 4).unwrap(), round));
                text.push(['A', 'é', '가', '😀', '\u{10ffff}'][round % 5]);
            }
            assert_eq!(found(&set, &text), found_plainly(members, &text));
        }
    }

    #[test]
    fn finds_each_character_among_all_others() {
        let all: String = ('\0'..=char::MAX).collect();
        let (jamo, first, last) = ('\u{a9ff}', '\u{abff}', '\u{ac00}');
        let kinds: [&[char]; 9] = [
            &[],
            &['\n', '\u{7f}', '\u{300}', '\u{3099}'],
            &['\u{301}', '\u{483}', '\u{a66f}', '\u{10a0f}'],
            &[jamo],
            &[first],
            &[last],
            &['\u{bfff}', '\u{d7ff}', '\u{e000}'],
            &['\u{4e00}', '\u{8000}', '\u{9fff}'],
            &['\0', '\u{80}', '\u{7ff}', '\u{800}', '\u{ffff}', '\u{10000}', char::MAX],
        ];
        for members in kinds {
            let set = CharSet::new(members.iter().copied());
            // Strides begin at all kinds of places.
            for skip in (0..STRIDE).step_by(7) {
                let text = format!("{}{all}", "x".repeat(skip));
                assert_eq!(found(&set, &text), found_plainly(members, &text));
            }
        }
    }

    #[test]
    fn common_texts_are_quiet() {
        let marks = CharSet::new("\u{301}\u{a66f}".chars());
        for letter in ["e", "é", "д", "字", "각", "귝", "글", "힣"] {
            assert!(marks.is_quiet(letter.repeat(40).as_bytes()), "{letter}");
        }
        assert!(!CharSet::new(['가']).is_quiet("각".repeat(40).as_bytes()));
    }
}
