//! Any regular expression: run by an automaton if it needs no more ([`super::plain`]), else by `fancy-regex`.
//!
//! Rule: a pattern that backtracks without end is an error, never a hang. The engine counts its
//! backtracking steps and can be told to stop one search after so many, but not all searches of a
//! text together. So every search is tried with a small limit, then with four times the limit, and
//! so on, and each of those limits is charged to an account: a text starts with [`SAVINGS`] steps
//! and earns [`WAGE`] with every byte a search goes forward. Honest patterns need a few steps per
//! byte, however far away their next match is. What the engine does within one step is not counted:
//! a pattern that looks far ahead at every place takes time quadratic in the length of the text.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use fancy_regex::{Error as EngineError, Regex, RegexBuilder, RuntimeError};

use super::matches::{Joiner, Matches};
use super::plain::Plain;
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

/// Calls `each` with the matches that `find` finds, each the first at or behind a place.
#[inline(always)]
fn one_by_one(
    text: &str,
    mut each: impl FnMut(usize, usize),
    mut find: impl FnMut(usize) -> Result<Option<(usize, usize)>>,
) -> Result<()> {
    let mut at = 0; // where the next search starts
    let mut last = None; // where the last match ended
    while at <= text.len() {
        let Some((start, end)) = find(at)? else { break };
        if start < end || last != Some(end) {
            each(start, end);
        }
        last = Some(end);
        at = behind(text, start, end);
    }
    Ok(())
}

/// A compiled expression and what its matches are.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    pattern: String,
    matches: Matches,
    invert: bool,
    /// The expression, if an automaton can run it.
    plain: Option<Arc<Plain>>,
    /// Else the expression with each [`limit`], compiled when first needed.
    regexes: [OnceLock<Regex>; RUNGS],
}

impl Engine {
    /// Compiles `pattern`; [`Error::Pattern`] if that fails.
    pub(super) fn new(pattern: &str, matches: Matches, invert: bool) -> Result<Self> {
        let plain = Plain::new(pattern);
        let pattern = pattern.to_owned();
        let engine = Self { pattern, matches, invert, plain, regexes: Default::default() };
        if engine.plain.is_none() {
            engine.regex(0)?;
        }
        Ok(engine)
    }

    /// The same expression, never run by an automaton.
    #[cfg(test)]
    pub(super) fn backtracking(&self) -> Self {
        Self { plain: None, regexes: Default::default(), ..self.clone() }
    }

    /// Whether no search can give up.
    pub(super) fn is_certain(&self) -> bool {
        self.plain.is_some()
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
        each: impl FnMut(usize, usize),
    ) -> Result<()> {
        let Some(plain) = &self.plain else {
            return one_by_one(text, each, |at| self.find(text, at, base, account));
        };
        // Most words that another stage has cut have no match.
        if plain.begin(text, 0).is_none() {
            return Ok(());
        }
        let mut search = plain.search();
        one_by_one(text, each, |at| Ok(search.find(text, at)))
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// What tokenizers cut with, and what the two readers of expressions might read in two ways.
    #[rustfmt::skip]
    const PATTERNS: &[&str] = &[
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}&&\p{age=15.1}]+| ?[\p{N}&&\p{age=15.1}]+| ?[^\s[\p{L}&&\p{age=15.1}][\p{N}&&\p{age=15.1}]]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s",
        r"[!-/:-~]?[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r" ?[^(\s|.,!?…。，、।۔،)]+",
        r"[\p{P}$+<=>^~|`]+",
        r"\p{N}{1,3}",
        "[\u{4e00}-\u{9fa5}\u{3040}-\u{30ff}]+",
        r"\s?[^\s\p{L}]+$",
        r"[0-9][0-9][0-9]",
        r"\s+$",
        r"[\r\n]",
        r"(?:ab|a)(?:c|bcd)(?:d*)",
        r"\w+|[^\w\s]+",
        r"[^\S\n]+|[a&&b]|[\w--a]|[]a]",
        r"x*",
        r"a*?b??|\x41\u0062\x{e9}|\u{e9}",
        r"^a|b$|.",
        r"a{2}|b{1,}",
        r"\p{Han}+|\p{Script=Hangul}|\P{L}",
    ];

    /// What only one of the two reads, or each in its own way.
    #[rustfmt::skip]
    const OTHERS: &[&str] = &[
        r"\p{^L}", r"\p{alnum}+", r"[[:alpha:]]", r"c{,2}", "a++b", "a?+a", "(?>a|ab)c", "a(?=b)", "(?<!a)b", r"\bab\b",
        r"(a)\1", r"\Ka", "(?i)S", "(?s:.)", "(?<name>a)", "(?P<name>a)", r"\<a", r"\h", r"\x{110000}", r"\xe9", "|a",
        r"(\s+(?!\S)|\s+)", r"\s+(?!\S)|\s*", r"[\P{L}\P{N}]",
    ];

    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "a", "b", "c", "d", "x", "ab", "aab", "A", "S", "word", "Word", "'s", "'S", "'\u{17f}", "'ll", "'", "\u{e9}",
        "\u{df}", "0", "12", "123456", "\u{663}", "\u{2167}", " ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", " \n",
        "\u{85}", "\u{a0}", "\u{3000}", "!", "?!", "/", "...", "(", "|", "$", "`", "\u{300}", "\u{4e2d}",
        "\u{3042}\u{30fc}", "\u{ac00}", "\u{1f600}", "\u{105c0}", "\u{20000}", "]", "[", "&", "-", "_", "^",
        "\u{e01}",
    ];

    fn matches(engine: &Engine, text: &str) -> Option<Vec<(usize, usize)>> {
        let mut found = Vec::new();
        let done =
            engine.each_match(text, 0, &Account::new(), |start, end| found.push((start, end)));
        done.ok().map(|()| found)
    }

    /// Whether an automaton runs the pattern, and then it finds what the other engine finds.
    fn is_plain(pattern: &str, texts: &[String]) -> bool {
        let Ok(engine) = Engine::new(pattern, Matches::Isolated, false) else { return false };
        if engine.plain.is_none() {
            return false;
        }
        let other = engine.backtracking();
        assert!(other.regex(0).is_ok(), "{pattern}");
        for text in texts {
            if let Some(expected) = matches(&other, text) {
                assert_eq!(matches(&engine, text).unwrap(), expected, "{pattern} {text:?}");
            }
        }
        true
    }

    fn some<'a>(random: &mut SplitMix64, from: &[&'a str]) -> &'a str {
        from[(random.next() % from.len() as u64) as usize]
    }

    fn texts(random: &mut SplitMix64, count: usize) -> Vec<String> {
        let mut text = |number: usize| {
            let kinds: Vec<&str> = (0..1 + number % 9).map(|_| some(random, PIECES)).collect();
            (0..number % 40).map(|_| some(random, &kinds)).collect()
        };
        (0..count).map(&mut text).collect()
    }

    #[test]
    fn large_expressions_are_an_error_as_before() {
        for pattern in [r"(?:\p{L}{1,900}){900}", r"(?:\p{L}{1,900}){900}|\s+(?!\S)|\s+"] {
            assert!(Plain::new(pattern).is_none());
            let found = Engine::new(pattern, Matches::Isolated, false);
            assert!(matches!(found, Err(Error::Pattern { .. })));
        }
    }

    /// States are forgotten again and again where there is no room for all of them.
    #[test]
    fn the_automaton_forgets_states() {
        let pattern = r"(?:[ab]*a[ab]{14}c|[ab]+|c)|\s+(?!\S)|\s+";
        let mut random = SplitMix64::new(23);
        let mut letters = ["a", "b"].repeat(20);
        letters.extend(["c", "  ", " "]);
        let text: String = (0..60_000).map(|_| some(&mut random, &letters)).collect();
        let texts = [text, "ab".repeat(2000) + "  c"];
        assert!(is_plain(pattern, &texts));
        let plain = Plain::new(pattern).unwrap();
        let mut search = plain.search();
        let mut at = 0;
        while let Some((start, end)) = search.find(&texts[0], at) {
            at = behind(&texts[0], start, end);
        }
        assert!(search.forgot() > 0);
    }

    #[test]
    fn the_automaton_finds_what_the_other_engine_finds() {
        let mut random = SplitMix64::new(5);
        let texts = texts(&mut random, 1500);
        for pattern in PATTERNS {
            assert!(is_plain(pattern, &texts), "{pattern}");
        }
        for pattern in OTHERS {
            assert!(!is_plain(pattern, &texts), "{pattern}");
        }
        let known = include_str!("../../tests/patterns.tsv").lines();
        let known: Vec<_> = known.map(|line| line.split_once('\t').unwrap()).collect();
        let others = known.iter().filter(|(_, pattern)| !is_plain(pattern, &texts));
        let names: Vec<_> = others.map(|(name, _)| *name).collect();
        assert_eq!(names, ["jais-2", "tiny_aya", "afmoe"]);
    }

    #[test]
    fn the_automaton_finds_what_the_other_engine_finds_of_any_pattern() {
        #[rustfmt::skip]
        const ATOMS: &[&str] = &[
            "a", "b", "ab", r"\p{L}", r"\pN", r"\P{Lu}", r"[\p{L}\p{M}]", r"[^\s\p{L}\p{N}]", r"\s", r"\S", r"\w",
            r"\d", r"[^\r\n]", " ", "'", r"[a-c]", r"[^a]", ".", r"\n", r"\/", r"\.", r"\x61", "é", r"[\w&&[^a-z]]",
            r"[!-/]", r"(?i:s|ll)", r"(ab|a)", r"(?:a|)", r"\p{age=15.1}", "^", "$", r"\b", "]", "-", r"[\S]",
            r"[\D]", "(?i)a", r"\-",
        ];
        #[rustfmt::skip]
        const REPEATS: &[&str] = &[
            "", "", "", "", "?", "*", "+", "{1,3}", "{2}", "+?", "*?", "++", "?+", "{2,}",
        ];
        let mut random = SplitMix64::new(11);
        let texts = texts(&mut random, 120);
        let mut plain = 0;
        for _ in 0..4000 {
            let mut pattern = String::new();
            for alternative in 0..1 + random.next() % 4 {
                if alternative > 0 {
                    pattern.push('|');
                }
                for _ in 0..1 + random.next() % 3 {
                    pattern.push_str(some(&mut random, ATOMS));
                    pattern.push_str(some(&mut random, REPEATS));
                }
            }
            pattern.push_str(some(&mut random, &["", "", r"|\s+(?!\S)|\s+", r"|\s+(?!\S)|\s"]));
            plain += u32::from(is_plain(&pattern, &texts));
        }
        assert!(plain > 1000, "{plain}");
    }
}
