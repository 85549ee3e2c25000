//! cl100k_base of tiktoken:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//! |\s++$|\s*[\r\n]|\s+(?!\S)|\s
//! ```
//!
//! Rule, in words. Looking at the first character of a word:
//! - an apostrophe with `s d m t ll ve re` in any case is a contraction;
//! - letters make a run, and one character that is neither letter, number nor line end may stand
//!   before it;
//! - numbers come in threes from the left;
//! - other characters make a run, with a space before them if there is one, and with the line ends
//!   right after them;
//! - white space at the end of the text is one word; else it ends after its last line end; else
//!   its last character is left to what follows, unless it is all there is.

use super::blocks::Block;
use super::borders::{Rule, Starts};
use super::carry::{Behind, Doubtful, Judged, Runs};
use super::classes::{LETTER, LINE_END, NUMBER, OTHER, SPACE};
use super::classes::{blanks, class_at, letters, run, short_run};
use super::o200k;

#[inline(always)]
fn end<const DIGITS: usize>(
    text: &[u8],
    at: usize,
    blank_end: impl Fn(&[u8], usize) -> usize,
) -> usize {
    let Some((first, next)) = class_at(text, at) else { return at };
    if LETTER.has(first) {
        return letters(text, next);
    }
    if NUMBER.has(first) {
        return short_run(text, next, NUMBER, DIGITS - 1);
    }
    if text[at] == b'\''
        && let Some(end) = contraction(text, at)
    {
        return end;
    }
    let second = class_at(text, next);
    match second {
        Some((class, end)) if LETTER.has(class) && !LINE_END.has(first) => letters(text, end),
        Some((class, end)) if OTHER.has(class) && text[at] == b' ' => symbol_end(text, end),
        _ if SPACE.has(first) => blank_end(text, at),
        _ => symbol_end(text, next),
    }
}

/// `[^\s\p{L}\p{N}]*+[\r\n]*+`: where the symbols that go on at `at` end, with their line ends.
#[inline(always)]
fn symbol_end(text: &[u8], at: usize) -> usize {
    run(text, run(text, at, OTHER), LINE_END)
}

/// Where the contraction ends whose apostrophe stands at `at`, if it is one.
///
/// In any case means simple case folding: `ſ` (U+017F) is an `s`.
#[inline]
pub(super) fn contraction(text: &[u8], at: usize) -> Option<usize> {
    match text[at + 1..] {
        [b's' | b'd' | b'm' | b't' | b'S' | b'D' | b'M' | b'T', ..] => Some(at + 2),
        [b'l' | b'L', b'l' | b'L', ..] | [b'v' | b'V' | b'r' | b'R', b'e' | b'E', ..] => {
            Some(at + 3)
        }
        [0xC5, 0xBF, ..] => Some(at + 3),
        _ => None,
    }
}

/// `\s++$|\s*[\r\n]|\s+(?!\S)|\s`: where the word of white space that starts at `at` ends.
fn blank_end(text: &[u8], at: usize) -> usize {
    let blanks = blanks(text, at);
    match blanks.line_end {
        _ if blanks.end == text.len() => blanks.end,
        Some(line_end) => line_end,
        None if blanks.last == at => blanks.end,
        None => blanks.last,
    }
}

/// The same by masks; `LAST` is what stands behind the text: a line end makes all white space there one
/// word, a space cuts it behind its last line end. With `LINES`, every line is a text. See [`Cut`].
#[derive(Default)]
pub(super) struct Masks<const DIGITS: usize, const PAD: u8, const LINES: bool> {
    cut: Cut<DIGITS, LINES>,
    /// Borders behind contractions, in the next block.
    behind_contraction: u64,
}

/// cl100k_base.
pub(super) type Cl100k<const LINES: bool = false> = Masks<3, b'\n', LINES>;
/// Llama 3.
pub(super) type Llama3<const LINES: bool = false> = Masks<3, b' ', LINES>;
/// Qwen 2.
pub(super) type Qwen2<const LINES: bool = false> = Masks<1, b' ', LINES>;

impl<const DIGITS: usize, const PAD: u8, const LINES: bool> Rule for Masks<DIGITS, PAD, LINES> {
    const PAD: u8 = PAD;
    const LINES: bool = LINES;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], at: usize, now: &Block, next: &Block) -> Starts {
        let cut = self.cut.starts(text, at, now, Kinds::of(now, next));
        let mut bits = cut.bits | std::mem::take(&mut self.behind_contraction);
        let mut apostrophes = cut.single & now.apostrophe;
        while apostrophes != 0 {
            let place = at + apostrophes.trailing_zeros() as usize;
            apostrophes &= apostrophes - 1;
            // What is no letter begins a word there anyway.
            if let Some(end) = contraction(text, place)
                && class_at(text, end).is_some_and(|(class, _)| LETTER.has(class))
            {
                match (end - at) as u32 {
                    here @ 0..64 => bits |= 1 << here,
                    there => self.behind_contraction |= 1 << (there - 64),
                }
            }
        }
        Starts { bits, take_back: cut.doubts.take_back, ..Starts::default() }
    }

    #[inline(always)]
    fn word_end(text: &[u8], at: usize) -> usize {
        match PAD {
            b'\n' => end::<DIGITS>(text, at, blank_end),
            _ => end::<DIGITS>(text, at, o200k::blank_end),
        }
    }
}

/// What cl100k, o200k and DeepSeek have in common: everything but letters in capitals, contractions and regions.
///
/// Line ends right behind symbols belong to them, and what is said of white space holds for the rest.
/// - Symbols: a word begins where a run of them does, or at the space before it.
/// - Letters: where a run of them does, unless white space that is no line end or a single symbol
///   (with no space before) is there to begin the word.
/// - Numbers: where a run of them does, and then after so many.
/// - White space: where a run of it does; behind its last line end; and at its last character, if that
///   is no line end.
#[derive(Default)]
pub(super) struct Cut<const DIGITS: usize, const LINES: bool> {
    newlines: Behind,
    letters: Behind,
    numbers: Behind,
    symbols: Behind,
    spaces: Behind,
    blanks: Behind,
    soft: Behind,
    hard: Behind,
    /// Line ends behind symbols.
    swallowed: Runs,
    /// Borders behind line ends: no line end may follow in the same run.
    behind_line_ends: Doubtful,
    /// A single symbol stood at the end of the block before: where it ends in this one.
    joined: u64,
    count: Count,
}

/// What [`Cut`] looks at beside what there is to any block.
pub(super) struct Kinds {
    /// Letters.
    pub(super) letter: u64,
    /// Symbols.
    pub(super) symbol: u64,
    /// Characters before a letter that a single symbol takes.
    pub(super) before_letter: u64,
    /// Characters before one that white space leaves nothing to.
    pub(super) before_end: u64,
}

impl Kinds {
    #[inline(always)]
    pub(super) fn of(now: &Block, next: &Block) -> Self {
        let letter = now.letter();
        Kinds {
            letter,
            symbol: now.other(),
            before_letter: now.before(letter, next.letter()),
            before_end: now.before(now.blank, next.blank),
        }
    }
}

/// What [`Cut`] says of a block.
pub(super) struct Parts {
    /// Where words begin.
    pub(super) bits: u64,
    /// Single symbols that begin a word of letters.
    pub(super) single: u64,
    /// Where letters go on behind such ones.
    pub(super) joined: u64,
    /// Line ends that belong to symbols.
    pub(super) swallowed: u64,
    /// The borders behind line ends.
    pub(super) doubts: Judged,
    /// Ends of texts, with `LINES`.
    pub(super) newlines: u64,
}

impl<const DIGITS: usize, const LINES: bool> Cut<DIGITS, LINES> {
    #[inline(always)]
    pub(super) fn starts(&mut self, text: &[u8], at: usize, now: &Block, kinds: Kinds) -> Parts {
        let Kinds { letter, symbol, before_letter, before_end } = kinds;
        let (number, blank) = (now.number, now.blank);
        let behind_symbol = self.symbols.next(symbol);
        // Behind the end of a text, nothing belongs to what was before.
        let newlines = if LINES { now.newlines(text, at) } else { 0 };
        let behind_newline = if LINES { self.newlines.next(newlines) } else { 0 };
        let line_ends = now.line_end & !behind_newline;
        let swallowed = self.swallowed.follow(line_ends, now.line_end & behind_symbol).run;
        let free = blank & !swallowed;
        let line_end = free & now.line_end;
        let soft = free & !line_end;
        let behind_line_end = self.hard.next(line_end & !newlines);
        let doubts = self.behind_line_ends.judge(soft, soft & behind_line_end, line_end);
        let last = soft & now.first & !before_end;
        let symbols = symbol & !behind_symbol & !self.spaces.next(now.space);
        let single = symbols & before_letter;
        let (joined, rest) = now.behind(single);
        let joined = joined | std::mem::replace(&mut self.joined, rest);
        let letters = letter & !self.letters.next(letter) & !self.soft.next(soft) & !joined;
        let behind_number = self.numbers.next(number);
        let numbers = match DIGITS {
            1 => number & now.first,
            _ => self.count.groups(number, behind_number, now.first),
        };
        let blanks = free & !self.blanks.next(free);
        let bits = symbols | letters | numbers | blanks | doubts.borders | last | behind_newline;
        Parts { bits, single, joined, swallowed, doubts, newlines }
    }
}

/// Numbers in threes from the left.
#[derive(Default)]
struct Count {
    /// How many numbers since the last border, where the block before ended with one: 1 to 3.
    before: u32,
}

impl Count {
    /// Where groups begin.
    #[inline(always)]
    fn groups(&mut self, number: u64, behind_number: u64, first: u64) -> u64 {
        if number == 0 {
            return 0;
        }
        // Four bytes in a row, or a run that goes on: may be more than three characters.
        let four = number & number << 1 & number << 2 & number << 3;
        let goes_on = number & behind_number & 1;
        if four | goes_on == 0 {
            let last_run = !(u64::MAX >> number.leading_ones());
            self.before = (number & first & last_run).count_ones();
            return number & !behind_number;
        }
        self.long_groups(number, goes_on != 0, first)
    }

    #[cold]
    #[inline(never)]
    fn long_groups(&mut self, number: u64, goes_on: bool, first: u64) -> u64 {
        let mut starts = 0;
        let mut rest = number & first;
        let mut count = if goes_on { self.before } else { 0 };
        let mut behind = if goes_on { 0 } else { u32::MAX };
        // A character that goes on from the block before has been counted.
        if goes_on {
            behind = (number & !first).trailing_ones();
        }
        while rest != 0 {
            let place = rest.trailing_zeros();
            rest &= rest - 1;
            if place != behind || count == 3 {
                starts |= 1 << place;
                count = 0;
            }
            count += 1;
            let bytes = (number & !first) >> place >> 1;
            behind = place + 1 + bytes.trailing_ones();
        }
        self.before = count;
        starts
    }
}
