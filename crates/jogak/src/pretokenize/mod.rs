//! Text -> word spans.
//!
//! Rule: knows no model. Every valid text has an answer; the cost is linear in its bytes (an
//! arbitrary regular expression is as fast as its engine).
//!
//! ```text
//! scheme.rs    the names, their patterns                what a user chooses
//! stage.rs     schemes ready to run, and what runs them
//! gpt2.rs cl100k.rs o200k.rs deepseek.rs simple.rs script.rs        one scanner per scheme: plain branches
//! hf_scripts.rs                                         scripts as HF tokenizers tell them apart
//! borders.rs   words by masks of 64 bytes: the loop     for gpt2, cl100k, o200k and their kin, whose files
//! blocks.rs carry.rs     what 64 bytes are, and runs     have the rule in masks beside the scanner
//! lists.rs     words by masks with what is between left out: the loop
//! solid.rs     words between white space                   for bert and whitespace
//! between.rs   words between spaces                        for subword-nmt
//! spaces.rs    the options of metaspace
//! matches.rs   what matches are
//! regex.rs                                              the fallback for everything else
//! plain.rs     expressions that need no backtracking
//! kin.rs       what mostly cuts as something with a rule in masks
//! set.rs       sets of characters, looked for from afar
//! apart.rs                                              where text may be cut before it is normalized
//! classes.rs   what a character is, runs of characters  the toolkit of the scanners
//! tables.rs script_ranges.rs                            written by examples/unicode_tables.rs
//! ```
//!
//! A scanner is a function "the word that starts here ends where?", compiled into a loop of its own
//! with the caller's closure in it: the scheme is looked at once per call, not once per word. Where there is a
//! rule in masks, the scanner is for short texts, for what is hard to say in masks, and for the tests.
//!
//! The tables are Unicode 16.0, as are those of the `regex-syntax` beside them and of tiktoken 0.14,
//! so words are the same as theirs for every text, new characters included. Libraries on other
//! versions (Python's `regex`, HF tokenizers) differ on the characters that came between.

mod apart;
mod between;
mod blocks;
mod borders;
mod carry;
mod cl100k;
mod classes;
mod deepseek;
mod gpt2;
mod hf_script_ranges;
mod hf_scripts;
mod kin;
mod lists;
mod matches;
mod o200k;
mod plain;
mod regex;
mod scheme;
mod script;
mod script_ranges;
mod set;
mod simple;
mod solid;
mod spaces;
mod stage;
#[allow(dead_code, reason = "the list of classes is whole, needed or not")]
mod tables;

pub use matches::Matches;
pub use scheme::Scheme;
pub use script::Script;
pub use spaces::{Dummy, Metaspace};

pub(crate) use apart::Apart;
#[cfg(test)]
pub(crate) use apart::CHINESE as APART_CHINESE;
pub(crate) use between::{inner as between_ends, is as is_between_spaces};
pub(crate) use gpt2::for_each_between_runs;
pub(crate) use lists::LIST;
pub(crate) use regex::Finder;
pub(crate) use set::CharSet;

use crate::error::Result;
use stage::{FEW, Stage, borders, run_sequence};

/// A sequence of schemes, compiled. Each stage cuts the words of the stage before it further, and
/// sees nothing beyond the word it cuts: the end of that word is an end of text to it.
///
/// ```
/// use jogak::pretokenize::{Matches, Pretokenizer, Scheme};
///
/// let lines = Scheme::Regex { pattern: "\n".to_owned(), matches: Matches::Removed,
///     invert: false, literal: false };
/// let cutter = Pretokenizer::new(&[lines, Scheme::Digits { group: 1, unicode_17: false }])?;
/// let text = "room 42\nfloor 3";
/// let mut words = Vec::new();
/// cutter.for_each(text, |start, end| words.push(&text[start..end]))?;
/// assert_eq!(words, ["room ", "4", "2", "floor ", "3"]);
/// # Ok::<(), jogak::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pretokenizer {
    schemes: Vec<Scheme>,
    stages: Vec<Stage>,
    /// Words are all there is of any text, of which there may be several, and there is no error.
    tiles: bool,
}

impl Pretokenizer {
    /// Compiles `schemes`, applied first to last. No scheme at all is [`Scheme::None`].
    ///
    /// # Errors
    /// [`Error::Pattern`] if a regular expression does not compile; [`Error::Config`] if digits
    /// are to be grouped by another number than 0, 1 or 3, or words to have no character.
    pub fn new(schemes: &[Scheme]) -> Result<Self> {
        let mut stages = Vec::new();
        let mut rest = schemes;
        while let Some((scheme, others)) = rest.split_first() {
            if let Some((stage, len)) = Stage::of_several(rest)? {
                stages.push(stage);
                rest = &rest[len..];
                continue;
            }
            if !matches!(scheme, Scheme::None | Scheme::PrefixSpace | Scheme::DrawBytes) {
                stages.push(Stage::new(scheme)?);
            }
            rest = others;
        }
        let tiles = schemes.iter().all(Scheme::is_lossless) && stages.iter().all(Stage::is_certain);
        let mut cutter = Self { schemes: schemes.to_vec(), stages, tiles };
        cutter.tiles &= !cutter.leaves_whole();
        Ok(cutter)
    }

    /// Whether every text is one word.
    pub(crate) fn leaves_whole(&self) -> bool {
        self.schemes.iter().all(|scheme| match scheme {
            Scheme::None | Scheme::PrefixSpace | Scheme::DrawBytes => true,
            Scheme::Metaspace(spaces) => !spaces.split,
            _ => false,
        })
    }

    /// The schemes as given.
    #[must_use]
    pub fn schemes(&self) -> &[Scheme] {
        &self.schemes
    }

    /// Calls `word` with the byte range (start, end) of every word of `text`, in order. Words are
    /// never empty and never overlap, and their borders are character borders.
    ///
    /// # Errors
    /// [`Error::PatternGaveUp`] if a regular expression backtracks without end on this text. The
    /// words before that place have been handed out.
    pub fn for_each(&self, text: &str, word: impl FnMut(usize, usize)) -> Result<()> {
        let account = &regex::Account::new();
        match self.stages.as_slice() {
            [] => Stage::Whole.run(text, 0, account, word),
            [only] => only.of(text).run(text, 0, account, word),
            [first, rest @ ..] => {
                let mut word = word;
                run_sequence(first, rest, text, 0, account, &mut word)
            }
        }
    }

    /// The same, as many words at a time as the scheme finds at once.
    ///
    /// # Errors
    /// As [`Pretokenizer::for_each`].
    #[inline]
    pub(crate) fn for_each_cut(&self, text: &str, mut words: impl FnMut(Cut<'_>)) -> Result<()> {
        if text.len() >= FEW && self.lists::<false>(text, &mut words) {
            return Ok(());
        }
        self.for_each(text, |start, end| words(Cut::Word(start, end)))
    }
}

impl Pretokenizer {
    /// Cuts a text whose every line is one by itself. False, and nothing is done, where lines are better
    /// cut one by one.
    #[inline]
    pub(crate) fn for_each_line_cut(&self, lines: &str, words: impl FnMut(Cut<'_>)) -> bool {
        self.lists::<true>(lines, words)
    }

    /// Calls `words` with lists, if the scheme has a rule in masks.
    #[inline]
    fn lists<const LINES: bool>(&self, text: &str, mut words: impl FnMut(Cut<'_>)) -> bool {
        if u32::try_from(text.len()).is_err() {
            return false;
        }
        let [stage] = self.stages.as_slice() else {
            return !LINES && self.listed(text, |list| words(Cut::List(list)));
        };
        let stage = stage.of(text);
        let (whole, text) = (text, text.as_bytes());
        // No word of these goes on behind the end of a line.
        let spans = |starts: &[u32], ends: &[u32]| words(Cut::Spans(starts, ends));
        match stage {
            Stage::Whitespace => {
                solid::for_each_list::<solid::Blanks>(text, spans);
                return true;
            }
            Stage::Bert => {
                solid::for_each_list::<solid::Bert>(text, spans);
                return true;
            }
            Stage::Bert8 => {
                solid::for_each_list::<solid::Bert8>(text, spans);
                return true;
            }
            // Of a line by itself, other ends would go.
            Stage::Between if !LINES => {
                between::for_each_list(whole, spans);
                return true;
            }
            _ => {}
        }
        borders::<LINES>(stage, text, |list| words(Cut::List(list)))
            || !LINES && self.listed(whole, |list| words(Cut::List(list)))
    }

    /// Calls `words` with lists of borders as the stages find them one by one, if they leave nothing out. Else it does nothing and
    /// says false. The text has less than 4 GiB.
    fn listed(&self, text: &str, mut words: impl FnMut(&[u32])) -> bool {
        if !self.tiles {
            return false;
        }
        let mut list = [0; LISTED];
        let mut len = 1;
        let done = self.for_each(text, |_, end| {
            list[len % LISTED] = end as u32;
            len += 1;
            if len == LISTED {
                words(&list);
                list[0] = end as u32;
                len = 1;
            }
        });
        debug_assert!(done.is_ok(), "what is certain has no errors");
        if len > 1 {
            words(&list[..len]);
        }
        true
    }
}

/// Borders to a list of those that are found one by one.
const LISTED: usize = 256;

/// Words of a text, as they are found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut<'a> {
    /// One, from here to there.
    Word(usize, usize),
    /// Those between each two neighbours.
    List(&'a [u32]),
    /// Those from each of these to its counterpart.
    Spans(&'a [u32], &'a [u32]),
}

impl Pretokenizer {
    /// Where words are all there is of a text: calls `words` with lists of borders, between each two
    /// neighbours of which a word lies, and the next list begins with the border that the last one ended
    /// with. Else it does nothing and says false.
    #[inline]
    pub(crate) fn for_each_list(&self, text: &str, mut words: impl FnMut(&[u32])) -> bool {
        if text.len() < FEW || u32::try_from(text.len()).is_err() {
            return false;
        }
        if let [stage] = self.stages.as_slice()
            && borders::<false>(stage.of(text), text.as_bytes(), &mut words)
        {
            return true;
        }
        self.listed(text, words)
    }

    /// Whether the words of a text are found by masks, mostly, and all it is made of are words.
    pub(crate) fn has_rule(&self) -> bool {
        use Stage::{Cl100k, DeepSeek, Gpt2, Kin, Llama3, O200k, Qwen2, StarCoder, Tekken};
        matches!(
            *self.stages,
            [Gpt2 | StarCoder | Cl100k | O200k | Llama3 | Qwen2 | Tekken | DeepSeek | Kin(_)]
        )
    }

    /// Whether words are what blanks leave of a text.
    pub(crate) fn only_drops_blanks(&self) -> bool {
        matches!(*self.stages, [Stage::Whitespace | Stage::Between])
    }

    /// As [`Pretokenizer::for_each_list`], by masks, where every line, with its line end, is a text. Without it, its words are the
    /// same: that of the line end, or the one that ends with it, ends before it.
    pub(crate) fn for_each_list_of_lines(&self, lines: &str, words: impl FnMut(&[u32])) -> bool {
        let [stage] = self.stages.as_slice() else { return false };
        u32::try_from(lines.len()).is_ok()
            && borders::<true>(stage.of(lines), lines.as_bytes(), words)
    }

    /// Cuts parts of a text: as [`Pretokenizer::for_each`] on each of them, but with one account of
    /// how long regular expressions may take.
    pub(crate) fn for_each_part(
        &self,
        text: &str,
        parts: &[(usize, usize)],
        word: &mut dyn FnMut(usize, usize),
    ) -> Result<()> {
        let account = &regex::Account::new();
        let (first, rest) = match self.stages.split_first() {
            Some((first, rest)) => (first, rest),
            None => (&Stage::Whole, &[][..]),
        };
        for &(start, end) in parts {
            run_sequence(first, rest, &text[start..end], start, account, word)?;
        }
        Ok(())
    }
}
