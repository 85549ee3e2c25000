//! Any regular expression, run by `fancy-regex`.
//!
//! Rule: a pattern that backtracks without end is an error, never a hang. The engine counts its
//! backtracking steps and can be told to stop one search after so many, but not all searches of a
//! text together. So every search is tried with a small limit, then with four times the limit, and
//! so on, and each of those limits is charged to an account: a text starts with [`SAVINGS`] steps
//! and earns [`WAGE`] with every byte a search goes forward. Honest patterns need a few steps per
//! byte, however far away their next match is. What the engine does within one step is not counted:
//! a pattern that looks far ahead at every place takes time quadratic in the length of the text.

use std::cell::Cell;
use std::sync::OnceLock;

use fancy_regex::{Error as EngineError, Regex, RegexBuilder, RuntimeError};

use super::matches::{Joiner, Matches};
use crate::error::{Error, Result};

/// Steps a text may use beyond what it earns.
const SAVINGS: i64 = 32_000_000;

/// Steps earned with every byte.
const WAGE: u64 = 1_000;

/// How many limits there are to be tried in turn.
const RUNGS: usize = 11;

/// The limits, in steps: from a thousand to a thousand million. The first is not charged.
fn limit(rung: usize) -> usize {
    1_000 << (2 * rung)
}

/// The largest limit for a search over `len` bytes: a million steps (what the engine itself takes
/// for enough), or some to pass over every byte.
fn largest_limit(len: usize) -> usize {
    len.saturating_mul(32).max(limit(5))
}

/// Steps left to one text. A search that is going on may run into debt; the next then may not.
pub(super) struct Account(Cell<i64>);

impl Account {
    pub(super) fn new() -> Self {
        Self(Cell::new(SAVINGS))
    }

    fn is_in_debt(&self) -> bool {
        self.0.get() < 0
    }

    fn pay(&self, steps: usize) {
        self.0.set(self.0.get().saturating_sub_unsigned(steps as u64));
    }

    fn earn(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_add_unsigned(bytes as u64 * WAGE));
    }
}

/// Finds the matches of an expression, one behind the other.
#[derive(Debug, Clone)]
pub(crate) struct Finder(Engine);

impl Finder {
    /// Compiles `pattern`; [`Error::Pattern`] if that fails.
    pub(crate) fn new(pattern: &str) -> Result<Self> {
        Ok(Self(Engine::new(pattern, Matches::Only, false)?))
    }

    /// Calls `each` with the byte range of every match; matches may be empty.
    ///
    /// # Errors
    /// [`Error::PatternGaveUp`]
    pub(crate) fn for_each(&self, text: &str, mut each: impl FnMut(usize, usize)) -> Result<()> {
        let account = Account::new();
        self.0.each_match(text, 0, &account, &mut each)
    }
}

/// Where to search on behind a match: after an empty one, behind the next character.
fn behind(text: &str, start: usize, end: usize) -> usize {
    if start < end { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) }
}

/// A compiled expression and what its matches are.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    pattern: String,
    matches: Matches,
    invert: bool,
    /// The expression with each [`limit`], compiled when first needed.
    regexes: [OnceLock<Regex>; RUNGS],
}

impl Engine {
    /// Compiles `pattern`; [`Error::Pattern`] if that fails.
    pub(super) fn new(pattern: &str, matches: Matches, invert: bool) -> Result<Self> {
        let pattern = pattern.to_owned();
        let engine = Self { pattern, matches, invert, regexes: Default::default() };
        engine.regex(0)?;
        Ok(engine)
    }

    /// The expression with the limit number `rung`.
    fn regex(&self, rung: usize) -> Result<&Regex> {
        if let Some(regex) = self.regexes[rung].get() {
            return Ok(regex);
        }
        let compiled = RegexBuilder::new(&self.pattern).backtrack_limit(limit(rung)).build();
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
        word: impl FnMut(usize, usize),
    ) -> Result<()> {
        let mut joiner = Joiner::new(self.matches, self.invert, word);
        let mut cut = 0; // everything before is done
        let done = self.each_match(text, base, account, |start, end| {
            joiner.gap(cut, start);
            joiner.found(start, end);
            cut = end;
        });
        if done.is_ok() {
            joiner.gap(cut, text.len());
        }
        joiner.finish();
        done
    }

    /// Calls `each` with the byte range of every match. A match may be empty, but not where the match
    /// before it ends.
    #[inline(always)]
    fn each_match(
        &self,
        text: &str,
        base: usize,
        account: &Account,
        mut each: impl FnMut(usize, usize),
    ) -> Result<()> {
        let mut at = 0; // where the next search starts
        let mut last = None; // where the last match ended
        while at <= text.len() {
            let Some((start, end)) = self.find(text, at, base, account)? else { break };
            if start < end || last != Some(end) {
                each(start, end);
            }
            last = Some(end);
            at = behind(text, start, end);
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
        let may_climb = !account.is_in_debt();
        for rung in 0..RUNGS {
            if rung > 0 {
                if !may_climb || limit(rung) > largest_limit(text.len() - at) {
                    break;
                }
                account.pay(limit(rung));
            }
            match self.regex(rung)?.find_from_pos(text, at) {
                Ok(found) => {
                    let found = found.map(|found| (found.start(), found.end()));
                    account.earn(found.map_or(text.len(), |(_, end)| end) - at);
                    return Ok(found);
                }
                Err(EngineError::RuntimeError(RuntimeError::BacktrackLimitExceeded)) => {}
                Err(other) => return Err(gave_up(other.to_string())),
            }
        }
        Err(gave_up("too much backtracking".to_owned()))
    }
}
