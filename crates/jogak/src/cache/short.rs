//! Words of up to 15 bytes and six ids, packed close: what most look-ups of a text find.
//!
//! Tables of words are larger than the fast memory of a processor, so that every byte that a look-up does
//! not touch counts. A word of up to seven ASCII characters takes 16 bytes, with up to three ids; any other
//! takes 32. Four or two of them fill a line of the cache, and are compared at once.

use super::INLINE;
use super::found::{Found, LOW_SEVEN, Sought, is_narrow};
use super::lines::{Line, Lines, number, set};
use super::packed::{OTHER, Packed};
use crate::scan::Look;

// One line of the cache: four narrow entries, or two wide ones. First stand the keys, then the ids: those of
// entry i of n are at i and 4 + i; a wide one's second halves at 2 + i and 6 + i. The key 0 marks a free entry:
// no word has it. A word that finds no free entry goes on to the next line. Lines are often full with no word gone on, and the
// next line would come from memory for each word that is new: so a bit of the last number, which ids do not need, says
// whether a word has gone on.

/// Number 7 of a line has this bit if a word has gone on.
const GONE_ON: u64 = OTHER;

/// Entries of a line of the narrow words, and of the wide ones.
const fn entries(narrow: bool) -> usize {
    if narrow { 4 } else { 2 }
}

/// The first free entry.
fn free(line: &Line, narrow: bool) -> Option<usize> {
    (0..entries(narrow)).find(|&at| number(line, at) == 0 && (narrow || number(line, 2 + at) == 0))
}

/// The ids of an entry.
#[inline(always)]
fn ids(line: &Line, entry: usize, narrow: bool) -> Packed {
    let first = number(line, 4 + entry);
    if narrow { Packed::half(first) } else { Packed::halves(first, number(line, 6 + entry)) }
}

/// A word lies in one of so many lines from its place on, or is not remembered; see [`FAR`](super::FAR).
const FAR_LINES: usize = 16;

/// A line is told by 32 bits, of which a few numbers say other things: more than anybody has memory for.
const MOST_LINES: usize = 1 << 30;

/// A table of fewer bytes grows faster.
const FEW: usize = 256 << 10;

/// Lines for one width: a power of two of them.
#[derive(Debug, Clone, Copy)]
struct Region {
    first: usize,
    lines: usize,
    /// Bits of a hash that do not count.
    shift: u32,
    used: usize,
}

impl Region {
    fn new(first: usize, lines: usize) -> Self {
        // Two at least, so that a shift is less than the width.
        Self { first, lines, shift: 64 - lines.trailing_zeros(), used: 0 }
    }

    fn behind(self, line: usize) -> usize {
        if line + 1 == self.first + self.lines { self.first } else { line + 1 }
    }

    /// Whether it should grow, if it may.
    fn is_full(self, entries: usize) -> bool {
        self.used * 8 >= self.lines * entries * 5
    }

    /// Whether it can take no more: what is looked for, and is not there, would take many lines.
    fn is_packed(self, entries: usize) -> bool {
        self.used * 8 >= self.lines * entries * 7
    }

    /// Whether it has half of the words that it may have.
    fn is_half_full(self, entries: usize) -> bool {
        self.used * 16 >= self.lines * entries * 5
    }
}

/// Words of up to 15 bytes: first the lines of the narrow ones, then those of the wide ones.
#[derive(Debug, Clone)]
pub(super) struct ShortWords {
    lines: Lines,
    narrow: Region,
    wide: Region,
    /// Lines, at most.
    limit: usize,
    /// A word found no place when all were entered anew.
    has_lost: bool,
}

impl ShortWords {
    /// Empty, with room for `times` as many as these words at least.
    pub(super) fn new<'a>(
        words: impl Iterator<Item = &'a [u8]>,
        times: usize,
        limit: usize,
    ) -> Self {
        let (mut narrow, mut wide) = (0, 0);
        for word in words.filter(|word| word.len() <= INLINE) {
            if is_narrow(word.len(), word.is_ascii()) { narrow += 1 } else { wide += 1 }
        }
        let (narrow, wide) = (times * narrow / entries(true), times * wide / entries(false));
        let lines = |count: usize| count.next_power_of_two().max(16);
        let words =
            Self::with_lines(lines(narrow), lines(wide), limit / size_of::<Line>(), Lines::new);
        Self { limit: words.limit.max(words.lines.all().len()), ..words }
    }

    fn with_lines(
        narrow: usize,
        wide: usize,
        limit: usize,
        lines: impl Fn(usize) -> Lines,
    ) -> Self {
        Self {
            lines: lines(narrow + wide),
            narrow: Region::new(0, narrow),
            wide: Region::new(narrow, wide),
            limit: limit.min(MOST_LINES),
            has_lost: false,
        }
    }

    /// Whether a word that was entered may be gone. It takes words that somebody has chosen to lie close together.
    pub(super) fn has_lost(&self) -> bool {
        self.has_lost
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        (self.narrow.lines + self.wide.lines) * size_of::<Line>()
    }

    /// How many words it knows.
    pub(super) fn len(&self) -> usize {
        self.narrow.used + self.wide.used
    }

    /// Whether there is room for a word.
    pub(super) fn has_room(&self, sought: Sought) -> bool {
        let region = self.region(sought);
        !region.is_packed(entries(self.is_narrow(sought))) || self.may_grow(region)
    }

    /// Whether one of the regions may become twice as large.
    fn may_grow(&self, region: Region) -> bool {
        self.narrow.lines + self.wide.lines + region.lines <= self.limit
    }

    /// Whether what can be done without should not be entered any more: more than half of the last room that
    /// there will be is taken.
    pub(super) fn is_crowded(&self) -> bool {
        let crowded = |region: Region, entries| {
            region.used * 8 >= region.lines * entries * 3 && !self.may_grow(region)
        };
        crowded(self.narrow, entries(true)) || crowded(self.wide, entries(false))
    }

    /// What it looks like; words are to be sought anew if that changes.
    #[inline(always)]
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.narrow.lines, self.wide.lines)
    }

    /// Where words are found.
    #[inline(always)]
    pub(super) fn found(&self) -> Found<'_> {
        Found {
            lines: self.lines.all(),
            narrow_shift: self.narrow.shift,
            wide_shift: self.wide.shift,
            first_wide: self.wide.first,
        }
    }

    /// What to look for, to find `text[start..end]`, as [`Found::seek`].
    pub(super) fn seek(&self, text: &[u8], start: usize, end: usize) -> Sought {
        self.found().seek(text, start, end)
    }

    /// The ids of a word.
    #[inline(always)]
    pub(super) fn get<L: Look>(&self, sought: Sought) -> Packed {
        let all = self.found();
        let (narrow, region) = (self.is_narrow(sought), self.region(sought));
        let mut at = sought.line as usize;
        for _ in 0..FAR_LINES {
            let here = Sought { line: at as u32, ..sought };
            if let Some((line, entry)) = all.entry::<L>(here) {
                return ids(line, entry, narrow);
            }
            if all.lines.get(at).is_none_or(|line| number(line, 7) & GONE_ON == 0) {
                break;
            }
            at = region.behind(at);
        }
        Packed::NONE
    }

    fn is_narrow(&self, sought: Sought) -> bool {
        (sought.line as usize) < self.wide.first
    }

    /// Whether these ids have room beside a word.
    pub(super) fn fits(&self, sought: Sought, ids: Packed) -> bool {
        !self.is_narrow(sought) || ids.as_half().is_some()
    }

    fn region(&self, sought: Sought) -> Region {
        if self.is_narrow(sought) { self.narrow } else { self.wide }
    }

    /// Enters a word of 1 to 15 bytes that is not there, by what to look for, with ids that [fit](Self::fits). Says
    /// whether there was room.
    pub(super) fn insert(&mut self, mut sought: Sought, word: &[u8], ids: Packed) -> bool {
        if !self.has_room(sought) {
            return false;
        }
        let narrow = self.is_narrow(sought);
        let region = self.region(sought);
        if region.is_full(entries(narrow)) && self.may_grow(region) {
            self.grow(narrow);
            sought = self.seek(word, 0, word.len());
        }
        self.enter(sought, ids)
    }

    /// Enters a word of 1 to 15 bytes that is not there, where [there is room](Self::new), with ids that
    /// [fit](Self::fits). Says whether there was room near its place.
    pub(super) fn enter(&mut self, sought: Sought, ids: Packed) -> bool {
        let (narrow, region) = (self.is_narrow(sought), self.region(sought));
        let mut at = sought.line as usize;
        for _ in 0..FAR_LINES {
            let line = &mut self.lines.all_mut()[at];
            if let Some(entry) = free(line, narrow) {
                set(line, entry, sought.low);
                set(line, 4 + entry, ids.0);
                if narrow {
                    self.narrow.used += 1;
                } else {
                    set(line, 2 + entry, sought.high);
                    set(line, 6 + entry, ids.1);
                    self.wide.used += 1;
                }
                return true;
            }
            set(line, 7, number(line, 7) | GONE_ON);
            at = region.behind(at);
        }
        false
    }

    /// Makes one of the regions larger, and the other one if it would have to grow soon: all words are entered anew.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, narrow: bool) {
        let (narrow_lines, wide_lines) = self.shape();
        let grown = |times: usize| {
            let times = |region: Region, entries, this| {
                if this || region.is_half_full(entries) { times } else { 1 }
            };
            (
                narrow_lines * times(self.narrow, entries(true), narrow),
                wide_lines * times(self.wide, entries(false), !narrow),
            )
        };
        let fits = |&(narrow, wide): &(usize, usize)| narrow + wide <= self.limit;
        let many = if self.bytes() < FEW { 8 } else { 2 };
        // There is room for twice this one.
        let alone = (narrow_lines << usize::from(narrow), wide_lines << usize::from(!narrow));
        let (narrow, wide) = [grown(many), grown(2)].into_iter().find(fits).unwrap_or(alone);
        let larger = Self::with_lines(narrow, wide, self.limit, Lines::written);
        let old = std::mem::replace(self, larger);
        self.has_lost = old.has_lost;
        let (narrow_lines, wide_lines) = old.lines.all().split_at(narrow_lines);
        for line in narrow_lines {
            for entry in (0..entries(true)).filter(|&entry| number(line, entry) != 0) {
                let low = number(line, entry);
                let key = u128::from(low & LOW_SEVEN) | u128::from(low & !LOW_SEVEN) << 64;
                let sought = self.found().sought(key, (low >> 56) as usize);
                self.has_lost |= !self.enter(sought, ids(line, entry, true));
            }
        }
        for line in wide_lines {
            for entry in 0..entries(false) {
                let (low, high) = (number(line, entry), number(line, 2 + entry));
                if (low, high) != (0, 0) {
                    let key = u128::from(low) | u128::from(high) << 64;
                    let sought = self.found().sought(key, (high >> 56) as usize);
                    self.has_lost |= !self.enter(sought, ids(line, entry, false));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Plain;

    /// Words whose places in a table of so many narrow lines are this one.
    fn words_at(line: usize, lines: usize, count: usize) -> Vec<String> {
        let table = ShortWords::with_lines(lines, 16, 0, Lines::new);
        let words = (0..).map(|n: u32| format!("{n:x}"));
        words
            .filter(|word| table.seek(word.as_bytes(), 0, word.len()).line as usize == line)
            .take(count)
            .collect()
    }

    #[test]
    fn full_lines_end_a_search_until_a_word_goes_on() {
        let [three, six] = [&[1 << 19, 0, (1 << 20) - 1][..], &[(1 << 20) - 1; 6]];
        for (wide, entries, ids) in [("", 4, three), ("....", 2, six)] {
            let ids = Packed::new(ids).unwrap_or(Packed::NONE);
            let mut table = ShortWords::with_lines(64, 64, 0, Lines::new);
            let seek = |table: &ShortWords, word: &str| table.seek(word.as_bytes(), 0, word.len());
            let first = seek(&table, &format!("0000{wide}")).line;
            let words: Vec<String> = (0..=0xFFFF_u32)
                .map(|n| format!("{n:04x}{wide}"))
                .filter(|word| seek(&table, word).line == first)
                .take(entries + 2)
                .collect();
            let (there, new) = words.split_at(entries + 1);
            for (count, word) in (1..).zip(there) {
                let sought = seek(&table, word);
                assert!(table.enter(sought, ids));
                let has_gone_on = number(&table.lines.all()[first as usize], 7) & GONE_ON != 0;
                assert_eq!(has_gone_on, count > entries);
                for (at, word) in words.iter().enumerate() {
                    let expected = if at < count { ids } else { Packed::NONE };
                    assert!(
                        table.get::<Plain>(seek(&table, word)) == expected,
                        "{word} of {count}"
                    );
                }
            }
            assert_eq!((there.len(), new.len()), (entries + 1, 1));
        }
    }

    #[test]
    fn words_that_lose_their_place_are_told() {
        let ids = Packed::new(&[7]).unwrap_or(Packed::NONE);
        for crowded in [false, true] {
            let mut table = ShortWords::with_lines(64, 16, 1 << 12, Lines::new);
            // Sixteen lines of one place, and words of the next one, which lie behind the last line: at the front. In the
            // larger table these come first, in the midst of the lines of the others.
            let many = if crowded { 4 * FAR_LINES } else { 4 * FAR_LINES - 4 };
            let words = [words_at(48 * 8 + 7, 64 * 8, many), words_at(49 * 8, 64 * 8, 4)].concat();
            for word in &words {
                assert!(table.insert(
                    table.seek(word.as_bytes(), 0, word.len()),
                    word.as_bytes(),
                    ids
                ));
            }
            table.grow(true);
            assert_eq!(table.shape(), (64 * 8, 16));
            let is_there = |word: &&String| {
                table.get::<Plain>(table.seek(word.as_bytes(), 0, word.len())) != Packed::NONE
            };
            let there = words.iter().filter(is_there).count();
            assert_eq!((there < words.len(), table.has_lost()), (crowded, crowded));
        }
    }
}
