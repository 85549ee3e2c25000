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
//!
//! Where runs of spaces are tokens, as in GPT-NeoX's file, words are these of what runs of two or more leave of a text, and these runs.

use super::blocks::Block;
use super::borders::{Rule, Starts, for_each_list};
use super::carry::Behind;
use super::classes::{LETTER, NUMBER, OTHER, blanks, class_at, letters, run};
use super::stage::FEW;
use crate::scan::BLOCK;

/// The rule by masks; with `LINES`, every line is a text; with `ALONE`, every number is a word by itself before anything is cut; so
/// are runs of one kind of blank, of the first `RUNS` of [`RUNS_OF`].
#[derive(Default)]
pub(super) struct Gpt2<const LINES: bool = false, const ALONE: bool = false, const RUNS: usize = 0>
{
    newlines: Behind,
    letters: Behind,
    numbers: Behind,
    symbols: Behind,
    spaces: Behind,
    blanks: Behind,
    /// Blanks of each kind of which runs may be words.
    run_of: [Behind; RUNS_OF.len()],
    /// What contractions at the end of a block change in the next one: borders, and letters that are
    /// none.
    behind_contraction: u64,
    in_contraction: u64,
}

/// Blanks whose runs may be words by themselves.
const RUNS_OF: [u8; 2] = *b" \t";

/// StarCoder.
pub(super) type StarCoder<const LINES: bool = false> = Gpt2<LINES, true>;

impl<const LINES: bool, const ALONE: bool, const RUNS: usize> Gpt2<LINES, ALONE, RUNS> {
    /// Blanks in runs of two or more of one kind, and where these begin.
    #[inline(always)]
    fn runs(&mut self, text: &[u8], at: usize, now: &Block) -> (u64, u64) {
        let (mut all, mut starts) = (0, 0);
        for (&blank, behind) in RUNS_OF.iter().zip(&mut self.run_of).take(RUNS) {
            let there = |at: usize| text.get(at) == Some(&blank);
            let mut of = now.space;
            if blank != b' ' {
                of = 0;
                let mut others = now.blank & !now.space & !now.line_end & now.ascii();
                while others != 0 {
                    let place = others.trailing_zeros();
                    others &= others - 1;
                    of |= u64::from(there(at + place as usize)) << place;
                }
            }
            // Behind the end of the text there are none.
            let left = text.len() - at;
            if left < BLOCK {
                of &= (1 << left) - 1;
            }
            let before = behind.next(of);
            let next = of >> 1 | u64::from(there(at + BLOCK)) << (BLOCK - 1);
            all |= of & (before | next);
            starts |= of & next & !before;
        }
        (all, starts)
    }
}

impl<const LINES: bool, const ALONE: bool, const RUNS: usize> Rule for Gpt2<LINES, ALONE, RUNS> {
    const PAD: u8 = b' ';
    const LINES: bool = LINES;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], at: usize, now: &Block, next: &Block) -> Starts {
        let (letter, number, other) = (now.letter(), now.number, now.other());
        let (runs, run_starts) = if RUNS > 0 { self.runs(text, at, now) } else { (0, 0) };
        let blank = now.blank & !runs;
        let behind_space = self.spaces.next(now.space & !runs);
        let symbols = other & !self.symbols.next(other) & !behind_space;
        let letters = letter & !self.letters.next(letter) & !behind_space;
        let numbers = match ALONE {
            true => number & now.first,
            false => number & !self.numbers.next(number) & !behind_space,
        };
        let blanks = blank & !self.blanks.next(blank);
        // White space leaves nothing to these.
        let (ends, next_ends) = match ALONE {
            true => (now.blank | number, next.blank | next.number),
            false => (now.blank, next.blank),
        };
        let mut last = blank & now.first & !now.before(ends, next_ends);
        let mut bits = symbols | letters | numbers | blanks | run_starts;
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
        let until = if RUNS > 0 { run_from(&RUNS_OF[..RUNS], text, at) } else { text.len() };
        if until == at {
            return at + text[at..].iter().take_while(|&&byte| byte == text[at]).count();
        }
        word_end::<ALONE>(&text[..until], at)
    }
}

/// Where the first run of two or more blanks of one of these kinds begins, from `at` on; the end of the text if there is none.
fn run_from(kinds: &[u8], text: &[u8], at: usize) -> usize {
    let is_run = |pair: &[u8]| pair[0] == pair[1] && kinds.contains(&pair[0]);
    text[at..].windows(2).position(is_run).map_or(text.len(), |start| at + start)
}

/// Calls `words` with lists of borders, as [`super::Pretokenizer::for_each_list`] does, of runs of two or more spaces, or of tabs
/// with `tabs`, and of the words of what they leave; with `LINES`, every line is a text. The text has less than 4 GiB.
pub(crate) fn for_each_between_runs<const LINES: bool>(
    text: &str,
    tabs: bool,
    mut words: impl FnMut(&[u32]),
) {
    let text = text.as_bytes();
    if text.len() >= FEW || LINES && !text.is_empty() {
        return match tabs {
            false => for_each_list::<Gpt2<LINES, false, 1>>(text, words),
            true => for_each_list::<Gpt2<LINES, false, 2>>(text, words),
        };
    }
    let (mut borders, mut count) = ([0; FEW], 1);
    while (borders[count - 1] as usize) < text.len() {
        let at = borders[count - 1] as usize;
        let end = match tabs {
            false => Gpt2::<false, false, 1>::word_end(text, at),
            true => Gpt2::<false, false, 2>::word_end(text, at),
        };
        borders[count] = end as u32;
        count += 1;
    }
    if count > 1 {
        words(&borders[..count]);
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
