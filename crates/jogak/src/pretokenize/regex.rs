//! Any regular expression, run by `fancy-regex`.
//!
//! Rule: a pattern that backtracks without end is an error, never a hang. The engine counts its
//! backtracking steps and can be told to stop a search after so many; it cannot be told a limit for
//! all searches in a text. So every search is tried with a small limit, then with 32 times the
//! limit, and so on, and what it may have used is paid from an account: a text starts with
//! [`SAVINGS`] steps and earns [`WAGE`] with every byte that a search goes forward. Honest patterns
//! need a few steps per byte. Under look-around the engine may still read a stretch of text more
//! than once per step; that is polynomial in the length of the text, and the pattern's own doing.

use std::cell::Cell;
use std::sync::OnceLock;

use fancy_regex::{Error as EngineError, Regex, RegexBuilder, RuntimeError};

use super::Matches;
use crate::error::{Error, Result};

/// Steps a text may use beyond what it earns.
const SAVINGS: usize = 32_000_000;

/// Steps earned with every byte. The smallest limit is not charged, so that it is a wage too.
const WAGE: usize = 1_000;

/// The limits that are tried in turn.
const LIMITS: [usize; 5] = [1_000, 32_000, 1_024_000, 32_768_000, 1_048_576_000];

/// The largest limit for a search in a text of `len` bytes: to pass over a byte takes a few steps.
fn largest_limit(len: usize) -> usize {
    LIMITS[2].max(len.saturating_mul(128))
}

/// What is left on the account of one text.
pub(super) struct Account(Cell<usize>);

impl Account {
    pub(super) fn new() -> Self {
        Self(Cell::new(SAVINGS))
    }

    /// Pays for `steps`; `None` if there are not as many left.
    fn pay(&self, steps: usize) -> Option<()> {
        self.0.set(self.0.get().checked_sub(steps)?);
        Some(())
    }

    /// Earns for a search that went `bytes` forward.
    fn earn(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_add(bytes.saturating_mul(WAGE)));
    }
}

/// A compiled expression and what its matches are.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    pattern: String,
    matches: Matches,
    /// The expression with each of [`LIMITS`], compiled when first needed.
    regexes: [OnceLock<Regex>; LIMITS.len()],
}

impl Engine {
    /// Compiles `pattern`; [`Error::Pattern`] if that fails.
    pub(super) fn new(pattern: &str, matches: Matches) -> Result<Self> {
        let engine = Self { pattern: pattern.to_owned(), matches, regexes: Default::default() };
        engine.regex(0)?;
        Ok(engine)
    }

    /// The expression with the limit number `rung`.
    fn regex(&self, rung: usize) -> Result<&Regex> {
        if let Some(regex) = self.regexes[rung].get() {
            return Ok(regex);
        }
        let compiled = RegexBuilder::new(&self.pattern).backtrack_limit(LIMITS[rung]).build();
        let compiled = compiled.map_err(|error| Error::Pattern {
            pattern: self.pattern.clone(),
            reason: error.to_string(),
        })?;
        Ok(self.regexes[rung].get_or_init(|| compiled))
    }

    /// Calls `word` with every word of `text`. `base` is where `text` starts in the whole text, for
    /// errors.
    pub(super) fn scan(
        &self,
        text: &str,
        base: usize,
        account: &Account,
        mut word: impl FnMut(usize, usize),
    ) -> Result<()> {
        let mut word = |start: usize, end: usize| {
            if start < end {
                word(start, end);
            }
        };
        let mut cut = 0; // everything before is done
        let mut at = 0; // where the next search starts
        while at <= text.len() {
            let Some((start, end)) = self.find(text, at, base, account)? else { break };
            if self.matches != Matches::Only {
                word(cut, start);
            }
            if self.matches != Matches::Removed {
                word(start, end);
            }
            cut = end;
            // After an empty match, go on behind the next character.
            at = if start < end {
                end
            } else {
                end + text[end..].chars().next().map_or(1, char::len_utf8)
            };
        }
        if self.matches != Matches::Only {
            word(cut, text.len());
        }
        Ok(())
    }

    /// The first match at or after `at`.
    fn find(
        &self,
        text: &str,
        at: usize,
        base: usize,
        account: &Account,
    ) -> Result<Option<(usize, usize)>> {
        let gave_up = |reason: String| Error::PatternGaveUp {
            pattern: self.pattern.clone(),
            at: base + at,
            reason,
        };
        for (rung, &limit) in LIMITS.iter().enumerate() {
            if limit > largest_limit(text.len() - at) {
                break;
            }
            if rung > 0 {
                account.pay(limit).ok_or_else(|| {
                    gave_up("too much backtracking in too many places".to_owned())
                })?;
            }
            match self.regex(rung)?.find_from_pos(text, at) {
                Ok(found) => {
                    let found = found.map(|found| (found.start(), found.end()));
                    let forward = found.map_or(text.len(), |found| found.1) - at;
                    account.earn(forward);
                    return Ok(found);
                }
                Err(EngineError::RuntimeError(RuntimeError::BacktrackLimitExceeded)) => {}
                Err(other) => return Err(gave_up(other.to_string())),
            }
        }
        Err(gave_up("too much backtracking".to_owned()))
    }
}
