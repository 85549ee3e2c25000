//! GPT-2 (Radford et al. 2019), also r50k_base and p50k_base:
//!
//! ```text
//! '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! ```
//!
//! Rule, in words. Looking at the first character of a word:
//! - an apostrophe with `s d m t ll ve re` (small letters) is a contraction;
//! - a space goes with what follows, if that is no white space;
//! - letters, numbers and other characters make runs;
//! - of white space, the last character is left to what follows, unless it is all there is or the
//!   text ends with it.
//!
//! StarCoder's, Command R's and SmolLM's words are these of what is left of a text when every number is a word by itself:
//! to the white space before a number, the text ends there.

use super::blocks::Block;
use super::borders::{Rule, Starts};
use super::carry::Behind;
use super::classes::{LETTER, NUMBER, OTHER, blanks, class_at, letters, run};

/// The rule by masks; with `LINES`, every line is a text; with `ALONE`, every number is a word by itself before anything is cut.
#[derive(Default)]
pub(super) struct Gpt2<const LINES: bool = false, const ALONE: bool = false> {
    newlines: Behind,
    letters: Behind,
    numbers: Behind,
    symbols: Behind,
    spaces: Behind,
    blanks: Behind,
    /// What contractions at the end of a block change in the next one: borders, and letters that are
    /// none.
    behind_contraction: u64,
    in_contraction: u64,
}

/// StarCoder.
pub(super) type StarCoder<const LINES: bool = false> = Gpt2<LINES, true>;

impl<const LINES: bool, const ALONE: bool> Rule for Gpt2<LINES, ALONE> {
    const PAD: u8 = b' ';
    const LINES: bool = LINES;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], at: usize, now: &Block, next: &Block) -> Starts {
        let (letter, number, other, blank) = (now.letter(), now.number, now.other(), now.blank);
        let behind_space = self.spaces.next(now.space);
        let symbols = other & !self.symbols.next(other) & !behind_space;
        let letters = letter & !self.letters.next(letter) & !behind_space;
        let numbers = match ALONE {
            true => number & now.first,
            false => number & !self.numbers.next(number) & !behind_space,
        };
        let blanks = blank & !self.blanks.next(blank);
        // White space leaves nothing to these.
        let (ends, next_ends) = match ALONE {
            true => (blank | number, next.blank | next.number),
            false => (blank, next.blank),
        };
        let mut last = blank & now.first & !now.before(ends, next_ends);
        let mut bits = symbols | letters | numbers | blanks;
        if LINES {
            // The last white space of a text is left to nothing.
            let newlines = now.newlines(text, at);
            last &= !newlines;
            bits |= self.newlines.next(newlines);
        }
        bits |= last;
        bits &= !std::mem::take(&mut self.in_contraction);
        bits |= std::mem::take(&mut self.behind_contraction);
        let mut apostrophes = symbols & now.apostrophe;
        while apostrophes != 0 {
            let place = apostrophes.trailing_zeros();
            apostrophes &= apostrophes - 1;
            let Some(end) = contraction(text, at + place as usize) else { continue };
            match place + 1 {
                here @ 0..64 => bits &= !(1 << here),
                _ => self.in_contraction = 1,
            }
            // What is no letter begins a word there anyway.
            if class_at(text, end).is_some_and(|(class, _)| LETTER.has(class)) {
                match (end - at) as u32 {
                    here @ 0..64 => bits |= 1 << here,
                    there => self.behind_contraction |= 1 << (there - 64),
                }
            }
        }
        Starts { bits, ..Starts::default() }
    }

    #[inline(always)]
    fn word_end(text: &[u8], at: usize) -> usize {
        word_end::<ALONE>(text, at)
    }
}

/// Where the word that starts at `at` ends.
#[inline(always)]
fn word_end<const ALONE: bool>(text: &[u8], at: usize) -> usize {
    if text[at] == b'\''
        && let Some(end) = contraction(text, at)
    {
        return end;
    }
    let body = if text[at] == b' ' { at + 1 } else { at };
    match class_at(text, body) {
        Some((class, next)) if LETTER.has(class) => letters(text, next),
        Some((class, next)) if NUMBER.has(class) => match ALONE {
            true if body == at => next,
            true => body,
            false => run(text, next, NUMBER),
        },
        Some((class, next)) if OTHER.has(class) => run(text, next, OTHER),
        _ => blank_end::<ALONE>(text, at),
    }
}

/// Where the contraction ends whose apostrophe stands at `at`, if it is one.
fn contraction(text: &[u8], at: usize) -> Option<usize> {
    match text[at + 1..] {
        [b's' | b'd' | b'm' | b't', ..] => Some(at + 2),
        [b'l', b'l', ..] | [b'v' | b'r', b'e', ..] => Some(at + 3),
        _ => None,
    }
}

/// `\s+(?!\S)|\s+`: where the word of white space that starts at `at` ends.
fn blank_end<const ALONE: bool>(text: &[u8], at: usize) -> usize {
    let blanks = blanks(text, at);
    let ends = match class_at(text, blanks.end) {
        None => true,
        Some((class, _)) => ALONE && NUMBER.has(class),
    };
    if ends || blanks.last == at { blanks.end } else { blanks.last }
}
