//! Words of up to 15 bytes and six ids, packed close: what most look-ups of a text find.
//!
//! Tables of words are larger than the fast memory of a processor, so that every byte that a look-up does
//! not touch counts. A word of up to seven ASCII characters takes 16 bytes, if it has up to three ids; any other
//! takes 32. Four or two of them fill a line of the cache, and are compared at once.

use super::INLINE;
use super::found::{Found, LOW_SEVEN, Sought, is_narrow};
use super::lines::{Line, Lines, number, set};
use super::packed::{OTHER, Packed};
use crate::scan::Look;

// One line of the cache: four narrow entries, or two wide ones. First stand the keys, then the ids: those of
// entry i of n are at i and 4 + i; a wide one's second halves at 2 + i and 6 + i. A narrow word with more than three ids
// takes two entries, as if it were a wide one both halves of whose key are the same. The key 0 marks a free entry:
// no word has it. A word that finds no free entry goes on to the next line. Lines are often full with no word gone on, and the
// next line would come from memory for each word that is new: so a bit of the last number, which ids do not need, says
// whether a word has gone on.

/// Number 7 of a line has this bit if a word has gone on.
const GONE_ON: u64 = OTHER;

/// Entries of a line of the narrow words, and of the wide ones.
const fn entries(narrow: bool) -> usize {
    if narrow { 4 } else { 2 }
}

/// The first entry that is free, with its second half or without one. Those without leave as much room to those with as
/// they can.
fn free(line: &Line, has_half: bool) -> Option<usize> {
    match has_half {
        true => (0..2).find(|&at| number(line, at) == 0 && number(line, 2 + at) == 0),
        false => [0, 2, 1, 3].into_iter().find(|&at| number(line, at) == 0),
    }
}

/// Writes ids to number `at` of a line. Whether words have gone on stays with the line.
fn set_ids(line: &mut Line, at: usize, ids: u64) {
    set(line, at, ids & !GONE_ON | number(line, at) & GONE_ON);
}

/// Whether the ids of a narrow entry go on in a second half.
#[inline(always)]
fn goes_on(first: u64) -> bool {
    Packed::half(first).count().is_some_and(|count| count > 3)
}

/// The entries of a line in which words begin.
fn taken(line: &Line, narrow: bool) -> impl Iterator<Item = usize> {
    let half = move |entry: usize| narrow && entry >= 2 && goes_on(number(line, 2 + entry));
    let key =
        move |entry: usize| number(line, entry) | if narrow { 0 } else { number(line, 2 + entry) };
    (0..entries(narrow)).filter(move |&entry| key(entry) != 0 && !half(entry))
}

/// The key of an entry, and how many bytes its word has.
fn key(line: &Line, entry: usize, narrow: bool) -> (u128, usize) {
    let low = number(line, entry);
    let (low, high) = match narrow {
        true => (low & LOW_SEVEN, low & !LOW_SEVEN),
        false => (low, number(line, 2 + entry)),
    };
    (u128::from(low) | u128::from(high) << 64, (high >> 56) as usize)
}

/// The ids of an entry.
#[inline(always)]
fn ids(line: &Line, entry: usize, narrow: bool) -> Packed {
    let first = number(line, 4 + entry);
    match narrow && !goes_on(first) {
        true => Packed::half(first),
        false => Packed::halves(first, number(line, 6 + entry)),
    }
}

/// A word lies in one of so many lines from its place on, or is not remembered; see [`FAR`](super::FAR).
const FAR_LINES: usize = 16;

/// One of so many words that are found behind their place is brought there: what comes often comes soon. (One of eight
/// was no better, and where a table is nearly full, as of Korean words, up to 7 % of a pass were spent on it.)
const PATIENCE: usize = 32;

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

    /// How many lines one of them lies behind another, as words go on.
    fn between(self, line: usize, behind: usize) -> usize {
        behind.wrapping_sub(line) & (self.lines - 1)
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
    /// How many words were found behind their place.
    away: usize,
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
            away: 0,
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

    /// How many words it knows, about: those that take two entries count twice.
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

    /// Lines of narrow words, and of wide ones.
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
        self.place::<L>(sought).map_or(Packed::NONE, |(ids, ..)| ids)
    }

    /// The same; a word that lies behind its place is brought there. What is asked for often is found at once then.
    #[inline(always)]
    pub(super) fn get_often<L: Look>(&mut self, sought: Sought) -> Packed {
        let Some((ids, line, entry)) = self.place::<L>(sought) else { return Packed::NONE };
        if line != sought.line as usize {
            self.away += 1;
            if self.away.is_multiple_of(PATIENCE) {
                self.bring_home(sought, line, entry);
            }
        }
        ids
    }

    /// Lets a word change places with one that lies where it should, if that takes as much room, and is found then as well.
    #[inline(never)]
    fn bring_home(&mut self, sought: Sought, from: usize, entry: usize) {
        let (narrow, region) = (self.is_narrow(sought), self.region(sought));
        let (to, lines) = (sought.line as usize, self.lines.all());
        let has_half = |line: usize, entry| !narrow || goes_on(number(&lines[line], 4 + entry));
        let step = if has_half(from, entry) { 2 } else { 4 };
        // Which one had better go is not known, so each has its turn.
        let other = self.away / PATIENCE % step;
        let suits = taken(&lines[to], narrow).any(|entry| entry == other)
            && has_half(to, other) == has_half(from, entry);
        let behind = || {
            let (key, len) = key(&lines[to], other, narrow);
            region.between(self.found().sought(key, len).line as usize, from)
        };
        if !suits || behind() >= FAR_LINES {
            return;
        }
        let lines = self.lines.all_mut();
        for half in (0..8).step_by(step) {
            let (at, away) = (half + other, half + entry);
            let (here, there) = (number(&lines[to], at), number(&lines[from], away));
            let write = if half < 4 { set } else { set_ids };
            write(&mut lines[to], at, there);
            write(&mut lines[from], away, here);
        }
    }

    /// The ids of a word, its line and its entry.
    #[inline(always)]
    fn place<L: Look>(&self, sought: Sought) -> Option<(Packed, usize, usize)> {
        let all = self.found();
        let (narrow, region) = (self.is_narrow(sought), self.region(sought));
        let mut at = sought.line as usize;
        for _ in 0..FAR_LINES {
            let here = Sought { line: at as u32, ..sought };
            if let Some((line, entry)) = all.entry::<L>(here) {
                return Some((ids(line, entry, narrow), at, entry));
            }
            if all.lines.get(at).is_none_or(|line| number(line, 7) & GONE_ON == 0) {
                break;
            }
            at = region.behind(at);
        }
        None
    }

    fn is_narrow(&self, sought: Sought) -> bool {
        (sought.line as usize) < self.wide.first
    }

    fn region(&self, sought: Sought) -> Region {
        if self.is_narrow(sought) { self.narrow } else { self.wide }
    }

    /// Enters a word of 1 to 15 bytes that is not there, by what to look for. Says whether there was room.
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

    /// Enters a word of 1 to 15 bytes that is not there, where [there is room](Self::new). Says whether there was room
    /// near its place.
    pub(super) fn enter(&mut self, sought: Sought, ids: Packed) -> bool {
        let (narrow, region) = (self.is_narrow(sought), self.region(sought));
        let has_half = !narrow || ids.as_half().is_none();
        let mut at = sought.line as usize;
        for _ in 0..FAR_LINES {
            let line = &mut self.lines.all_mut()[at];
            if let Some(entry) = free(line, has_half) {
                set(line, entry, sought.low);
                set_ids(line, 4 + entry, ids.0);
                if has_half {
                    set(line, 2 + entry, sought.high);
                    set_ids(line, 6 + entry, ids.1);
                }
                match narrow {
                    true => self.narrow.used += 1 + usize::from(has_half),
                    false => self.wide.used += 1,
                }
                return true;
            }
            set(line, 7, number(line, 7) | GONE_ON);
            at = region.behind(at);
        }
        false
    }

    /// Makes one of the regions larger, and the other one if it would have to grow soon: all words of a larger one are
    /// entered anew.
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
        for (narrow, before) in [(true, old.narrow), (false, old.wide)] {
            let lines = &old.lines.all()[before.first..][..before.lines];
            let region = if narrow { &mut self.narrow } else { &mut self.wide };
            if region.lines == before.lines {
                region.used = before.used;
                self.lines.all_mut()[region.first..][..before.lines].copy_from_slice(lines);
                continue;
            }
            for line in lines {
                for entry in taken(line, narrow) {
                    let (key, len) = key(line, entry, narrow);
                    let sought = self.found().sought(key, len);
                    self.has_lost |= !self.enter(sought, ids(line, entry, narrow));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
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

    /// A table of few lines with words of each kind: those that there was room for, with their ids, and all others.
    fn crowded(random: &mut SplitMix64) -> (ShortWords, Vec<(String, Packed)>, Vec<String>) {
        let mut table = ShortWords::with_lines(64, 64, 0, Lines::new);
        let (mut there, mut not_there) = (Vec::new(), Vec::new());
        for n in 0..600u64 {
            let word = format!("{n:x}{}", ["", ".", "é", "......"][random.next() as usize % 4]);
            let ids: Vec<u32> =
                (0..1 + random.next() % 6).map(|_| random.next() as u32 >> 12).collect();
            let Some(ids) = Packed::new(&ids) else { continue };
            let sought = table.seek(word.as_bytes(), 0, word.len());
            match table.insert(sought, word.as_bytes(), ids) {
                true => there.push((word, ids)),
                false => not_there.push(word),
            }
        }
        (table, there, not_there)
    }

    fn check_all(table: &ShortWords, there: &[(String, Packed)], not_there: &[String]) {
        let get = |word: &str| table.get::<Plain>(table.seek(word.as_bytes(), 0, word.len()));
        assert!(there.iter().all(|(word, ids)| get(word) == *ids));
        assert!(not_there.iter().all(|word| get(word) == Packed::NONE));
        let slots = |(word, ids): &(String, Packed)| match is_narrow(word.len(), word.is_ascii()) {
            true => 1 + usize::from(ids.as_half().is_none()),
            false => 1,
        };
        assert_eq!(table.len(), there.iter().map(slots).sum());
    }

    #[test]
    fn words_of_each_kind_share_lines_and_grow() {
        let mut random = SplitMix64::new(7);
        for round in 0..40 {
            let (mut table, there, not_there) = crowded(&mut random);
            assert!(there.len() > 200 && not_there.len() > 50);
            check_all(&table, &there, &not_there);
            table.limit = 1 << 10;
            table.grow(round % 2 == 0);
            assert!(!table.has_lost());
            check_all(&table, &there, &not_there);
        }
    }

    #[test]
    fn what_is_asked_for_often_comes_home() {
        let mut random = SplitMix64::new(11);
        let (mut home, mut away) = (0, 0);
        for _ in 0..40 {
            let (mut table, there, not_there) = crowded(&mut random);
            for _ in 0..20 {
                let (word, ids) = &there[random.next() as usize % there.len()];
                let sought = table.seek(word.as_bytes(), 0, word.len());
                let line = |table: &ShortWords| {
                    table.place::<Plain>(sought).map(|(_, line, _)| line as u32)
                };
                let was_away = line(&table) != Some(sought.line);
                // Not every word of a line can leave it for so far a place.
                for _ in 0..8 * PATIENCE {
                    assert!(table.get_often::<Plain>(sought) == *ids);
                }
                let is_home = line(&table) == Some(sought.line);
                assert!(is_home || was_away);
                home += usize::from(was_away && is_home);
                away += usize::from(!is_home);
                check_all(&table, &there, &not_there);
            }
        }
        assert!(home > 100 && away < home / 4, "{home} {away}");
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
