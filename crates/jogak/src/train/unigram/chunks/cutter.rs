//! Where no piece may cross: user-defined pieces, scripts, spaces and digits, as the options say.

use aho_corasick::{AhoCorasick, MatchKind};

use super::super::UnigramConfig;
use crate::error::{Error, Result};
use crate::pretokenize::Script;

/// What borders words: `▁`, the visible space, and the space itself, for words that hold whole lines.
pub(in crate::train::unigram) const MARKS: [char; 2] = ['\u{2581}', ' '];
/// A character outside the alphabet, to the cutter; it is in no chunk.
pub(super) const UNKNOWN: u32 = 0;

/// Finds user-defined pieces, of several the longest.
pub(super) fn matcher(user_defined: &[String]) -> Result<Option<AhoCorasick>> {
    if user_defined.is_empty() {
        return Ok(None);
    }
    let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(user_defined);
    built.map(Some).map_err(|_| Error::TooLarge {
        what: "the automaton of user-defined pieces",
        size: user_defined.iter().map(|text| text.len() as u64).sum(),
        limit: u64::from(u32::MAX),
    })
}

/// Calls `part` with what stands between the user-defined pieces of `word`.
pub(super) fn between<'a>(
    user_defined: Option<&AhoCorasick>,
    word: &'a str,
    mut part: impl FnMut(&'a str),
) {
    let mut from = 0;
    if let Some(matcher) = user_defined {
        for found in matcher.find_iter(word) {
            part(&word[from..found.start()]);
            from = found.end();
        }
    }
    part(&word[from..]);
}

/// What a character is to the rules of cutting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mark,
    Digit,
    Written(Script),
}

/// Cuts words into chunks.
#[derive(Debug)]
pub(super) struct Cutter<'c> {
    config: &'c UnigramConfig,
    user_defined: Option<AhoCorasick>,
    /// The number of every character, 0 outside the alphabet.
    numbers: Vec<u32>,
    /// What every character of the alphabet is, by number.
    kinds: Vec<Kind>,
}

impl<'c> Cutter<'c> {
    pub(super) fn new(
        alphabet: &[char],
        user_defined: Option<AhoCorasick>,
        config: &'c UnigramConfig,
    ) -> Self {
        let mut numbers = vec![0; alphabet.last().map_or(0, |&last| last as usize + 1)];
        let mut kinds = vec![Kind::Mark];
        for (&character, number) in alphabet.iter().zip(1..) {
            numbers[character as usize] = number;
            kinds.push(match character {
                _ if MARKS.contains(&character) => Kind::Mark,
                '0'..='9' => Kind::Digit,
                _ => Kind::Written(Script::of(character)),
            });
        }
        Self { config, user_defined, numbers, kinds }
    }

    /// Calls `emit` with the character numbers of every chunk of `word`, in order.
    /// `chunk` is room to write them in.
    pub(super) fn cut(&self, word: &str, chunk: &mut Vec<u32>, mut emit: impl FnMut(&[u32])) {
        chunk.clear();
        self.each(word, |number, starts| {
            if starts && !chunk.is_empty() {
                emit(chunk);
                chunk.clear();
            }
            if number != UNKNOWN {
                chunk.push(number);
            }
        });
        if !chunk.is_empty() {
            emit(chunk);
        }
    }

    /// Calls `step` with the number of every character of `word` and whether no piece may cross to it
    /// from the one before; user-defined pieces are an unknown character.
    pub(super) fn each(&self, word: &str, mut step: impl FnMut(u32, bool)) {
        let mut first = true;
        between(self.user_defined.as_ref(), word, |part| {
            if !first {
                step(UNKNOWN, true);
            }
            first = false;
            // The character before, and the script that a following one must have.
            let mut before: Option<Kind> = None;
            let mut script: Option<Script> = None;
            for character in part.chars() {
                let number = self.numbers.get(character as usize).copied().unwrap_or(UNKNOWN);
                if number == UNKNOWN {
                    step(UNKNOWN, true);
                    (before, script) = (None, None);
                    continue;
                }
                let kind = self.kinds[number as usize];
                // What most are: written as the one before, whose script counts.
                if before == Some(kind) && matches!(kind, Kind::Written(own) if script == Some(own))
                {
                    step(number, false);
                    continue;
                }
                let own = self.script(kind, script);
                let starts = before.is_none_or(|before| self.border(before, kind))
                    || (self.config.split_by_unicode_script
                        && matches!((script, own), (Some(a), Some(b)) if a != b));
                script = if starts { self.script(kind, None) } else { own };
                before = Some(kind);
                step(number, starts);
            }
        });
    }

    /// The script that counts behind a character of this kind, where `script` counted before it.
    fn script(&self, kind: Kind, script: Option<Script>) -> Option<Script> {
        match kind {
            Kind::Mark | Kind::Written(Script::Inherited) => script,
            Kind::Digit if !self.config.split_by_number => None,
            Kind::Digit => Some(Script::Common),
            Kind::Written(own) => Some(own),
        }
    }

    /// Whether no piece may cross from `before` to `after`, scripts apart.
    fn border(&self, before: Kind, after: Kind) -> bool {
        let config = self.config;
        if config.split_digits && (before == Kind::Digit || after == Kind::Digit) {
            return true;
        }
        if !config.split_by_whitespace {
            return false;
        }
        let at_mark = if config.treat_whitespace_as_suffix { before } else { after } == Kind::Mark;
        at_mark && !(config.allow_whitespace_only_pieces && before == after)
    }
}
