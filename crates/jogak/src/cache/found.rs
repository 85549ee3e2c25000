//! How a word of up to 15 bytes is found in the lines of [`ShortWords`](super::short): what to look for, where, and its ids.

use std::hint::select_unpredictable;

use super::lines::{Line, number};
use super::packed::Packed;
use super::{INLINE, key};
use crate::scan::{Look, prefetch};

/// Longest word of the narrow table, in bytes; it is ASCII.
const NARROW: usize = 7;

/// Whether a word of so many bytes is narrow.
#[inline(always)]
pub(super) fn is_narrow(len: usize, ascii: bool) -> bool {
    (len <= NARROW) & ascii
}

/// A word that is looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sought {
    pub(super) low: u64,
    /// Of a narrow word the same as `low`.
    pub(super) high: u64,
    /// This tells which kind of word it is, too.
    pub(super) line: u32,
}

impl Sought {
    /// A word that is [elsewhere](super::long), by its hash.
    #[inline(always)]
    pub(super) fn long(hash: u64) -> Self {
        Self { low: hash, line: u32::MAX, ..Self::default() }
    }

    /// Whether it is one of those.
    #[inline(always)]
    pub(super) fn is_long(self) -> bool {
        self.line == u32::MAX
    }

    /// Its hash.
    #[inline(always)]
    pub(super) fn as_long(self) -> u64 {
        self.low
    }

    /// A character that is kept beside.
    #[inline(always)]
    pub(super) fn character(character: u32) -> Self {
        Self { low: u64::from(character), line: u32::MAX - 1, ..Self::default() }
    }

    /// Whether it is one of those.
    #[inline(always)]
    pub(super) fn is_character(self) -> bool {
        self.line == u32::MAX - 1
    }

    /// Its code point.
    #[inline(always)]
    pub(super) fn as_character(self) -> u32 {
        self.low as u32
    }
}

/// Where words are found: all that a look-up needs, to be kept in registers.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) lines: &'a [Line],
    pub(super) narrow_shift: u32,
    pub(super) wide_shift: u32,
    /// The narrow ones begin at 0.
    pub(super) first_wide: usize,
}

impl<'a> Found<'a> {
    /// What to look for, to find `text[start..end]`. Nothing is found of a word of more than 15 bytes.
    #[inline(always)]
    pub(super) fn seek(self, text: &[u8], start: usize, end: usize) -> Sought {
        let key = if end - start > INLINE { u128::MAX } else { key(text, start, end) };
        self.sought(key, end - start)
    }

    /// What to look for, to find the word of this key and length.
    #[inline(always)]
    pub(super) fn sought(self, key: u128, len: usize) -> Sought {
        self.halves(key as u64, (key >> 64) as u64, len as u32)
    }

    /// The same by the halves of the key: arithmetic without a branch, of which vectors can do several at once.
    #[inline(always)]
    pub(super) fn halves(self, low: u64, high: u64, len: u32) -> Sought {
        let hash = hash(low, high);
        let narrow = is_narrow(len as usize, low & BEYOND_ASCII == 0);
        // Of a narrow word, the first seven bytes, and the length from the other half.
        let both = low | high;
        let first = select_unpredictable(narrow, 0, self.first_wide as u32);
        let shift = select_unpredictable(narrow, self.narrow_shift, self.wide_shift);
        Sought {
            low: select_unpredictable(narrow, both, low),
            high: select_unpredictable(narrow, both, high),
            line: first + (hash >> (shift & 63)) as u32,
        }
    }

    /// Has a line fetched.
    #[inline(always)]
    pub(super) fn prefetch(self, line: u32) {
        prefetch(self.lines, line as usize);
    }

    /// The ids of a word if they are in that line.
    #[inline(always)]
    pub(super) fn in_line<L: Look>(self, sought: Sought) -> Spot<'a> {
        match self.entry::<L>(sought) {
            Some((line, entry)) => Spot { half: number(line, 4 + entry), line, entry },
            None => Spot::of(Packed::NONE),
        }
    }

    /// The entry of that line that has these keys.
    #[inline(always)]
    pub(super) fn entry<L: Look>(self, sought: Sought) -> Option<(&'a Line, usize)> {
        let at = sought.line as usize;
        let line = self.lines.get(at)?;
        // Which entry it is cannot be foreseen: no branches. A wide word has to be found in both halves.
        let same = L::same(line, sought.low, sought.high);
        let narrow = at < self.first_wide;
        let entries = select_unpredictable(narrow, same, same & same >> 2);
        (entries != 0).then(|| (line, entries.trailing_zeros() as usize))
    }
}

/// Where the ids of a word were found: the second half is looked at only if it is needed.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    half: u64,
    line: &'a Line,
    entry: usize,
}

static NO_LINE: Line = [0; 64];

impl Spot<'_> {
    /// These, which are one half, or none.
    #[inline(always)]
    pub(super) fn of(ids: Packed) -> Self {
        Self { half: ids.0, line: &NO_LINE, entry: 0 }
    }

    /// All of them.
    #[inline(always)]
    pub(super) fn packed(self) -> Packed {
        Packed::halves(self.half, self.more())
    }

    /// The second half; 0 where there is none.
    #[inline(always)]
    fn more(self) -> u64 {
        // There are two entries that may have more than three ids, wide ones or two narrow ones together.
        let many = Packed(self.half, 0).count().is_some_and(|count| count > 3);
        if many { number(self.line, 6 + self.entry % 2) } else { 0 }
    }

    /// As [`Packed::put`].
    #[inline(always)]
    pub(super) fn put<L: Look>(self, stage: &mut [u32], at: usize) -> Option<usize> {
        Packed::put::<L>(self.half, || self.more(), stage, at)
    }
}

/// Where a word lies, by the halves of its key; the upper bits are the ones that count.
///
/// In words: of each half, the first four bytes are multiplied by the last four, as all processors can do with several numbers
/// at once; and as the middle of a product depends on all of both, the products are folded there.
#[inline(always)]
fn hash(low: u64, high: u64) -> u64 {
    let product = |half: u64| (half & 0xFFFF_FFFF) * (half >> 32);
    let low = product(low ^ 0x9E37_79B9_F4A7_C15D);
    let high = product(high ^ 0xE703_7ED1_A0B4_28DB);
    let both = low ^ high.rotate_left(17);
    (both ^ both >> 32) << 32
}

/// The bytes of a narrow key, without the length.
pub(super) const LOW_SEVEN: u64 = u64::MAX >> 8;
/// The bits that bytes beyond ASCII have. Words that have them among their first eight bytes are wide: they
/// often have more than three ids.
const BEYOND_ASCII: u64 = 0x8080_8080_8080_8080;

#[cfg(test)]
mod tests {
    use super::*;

    /// As many words share a line as chance would have it, also where they differ in few bytes: in the first ones, the last
    /// ones, those in between.
    #[test]
    fn words_of_a_kind_lie_apart() {
        const WORDS: u64 = 1 << 16;
        let letters = |n: u32| {
            let letter = |of: u32| char::from(b'a' + (n / 26u32.pow(of) % 26) as u8);
            [3, 2, 1, 0].map(letter).iter().collect::<String>()
        };
        let syllables = |n: u32| {
            let syllable = |n: u32| char::from_u32(0xAC00 + n).unwrap_or('가');
            [syllable(n >> 8), syllable(n & 0xFF)].iter().collect::<String>()
        };
        let kinds: [(&str, &dyn Fn(u32) -> String); 10] = [
            ("numbers", &|n| format!("{n}")),
            ("numbers of one length", &|n| format!(" {n:06}")),
            ("the first four", &|n| letters(n)),
            ("the first of seven", &|n| format!("{}ing", letters(n))),
            ("the last of seven", &|n| format!("con{}", letters(n))),
            ("the first of fifteen", &|n| format!("{}onstitution", letters(n))),
            ("in between", &|n| format!("inter{}lity", letters(n))),
            ("the last of fifteen", &|n| format!("hexadecimal{}", letters(n))),
            ("Korean", &|n| format!(" {}", syllables(n))),
            ("more Korean", &|n| format!("{}하다", syllables(n))),
        ];
        for lines in [1usize << 6, 1 << 10, 1 << 14, 1 << 16, 1 << 19] {
            let shift = 64 - lines.trailing_zeros();
            let found =
                Found { lines: &[], narrow_shift: shift, wide_shift: shift, first_wide: lines };
            for (name, word) in kinds {
                let mut words = vec![0u64; 2 * lines];
                for n in 0..WORDS as u32 {
                    let word = word(n);
                    words[found.seek(word.as_bytes(), 0, word.len()).line as usize] += 1;
                }
                // Pairs of words on one line, and how many chance makes: a quarter more is too many.
                let pairs: u64 = words.iter().map(|many| many * many.saturating_sub(1) / 2).sum();
                let chance = WORDS * (WORDS - 1) / 2 / lines as u64;
                assert!(
                    pairs < chance * 5 / 4 + 500,
                    "{lines} lines, {name}: {pairs}, not {chance}"
                );
            }
        }
    }
}
