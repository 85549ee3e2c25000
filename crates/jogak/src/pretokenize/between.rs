//! Words between spaces (U+0020 alone), as subword-nmt cuts a line: what it has of spaces and line ends at its own ends is dropped
//! first. Everything else belongs to words.
//!
//! The expression is how tokenizers of its codes say so. To run it takes looking behind; here it is known.

use super::apart::Apart;
use super::{Matches, Scheme};

const PATTERN: &str = r"\A[\r\n ]+|(?<![\r\n ])[\r\n ]++\z| +";
/// What is dropped at the ends of a line.
const ENDS: [char; 3] = ['\r', '\n', ' '];

/// Whether a scheme is this one.
pub(crate) fn is(scheme: &Scheme) -> bool {
    matches!(
        scheme,
        Scheme::Regex { pattern, matches: Matches::Removed, invert: false, literal: false } if pattern == PATTERN
    )
}

/// Where a text starts and ends without what is dropped at its ends.
pub(crate) fn inner(text: &str) -> (usize, usize) {
    let end = text.trim_end_matches(ENDS).len();
    let start = end - text[..end].trim_start_matches(ENDS).len();
    (start, end)
}

/// Calls `words` with lists of as many starts as ends of words, left to right. The text has less than 4 GiB.
#[inline(always)]
pub(super) fn for_each_list(text: &str, mut words: impl FnMut(&[u32], &[u32])) {
    let (start, end) = inner(text);
    let text = &text.as_bytes()[..end];
    Apart::Spaces.for_each_list(text, start, |starts, ends, _| words(starts, ends));
}

/// Calls `word` with every word.
#[inline(always)]
pub(super) fn for_each(text: &str, mut word: impl FnMut(usize, usize)) {
    let (mut at, end) = inner(text);
    let text = &text.as_bytes()[..end];
    while at < end {
        let len = memchr::memchr(b' ', &text[at..]).unwrap_or(end - at);
        if len > 0 {
            word(at, at + len);
        }
        at += len + 1;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::Pretokenizer;
    use super::super::regex::{Account, Engine};
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    fn check(cutter: &Pretokenizer, engine: &Engine, text: &str) {
        let mut expected = Vec::new();
        engine.scan(text, 0, &Account::new(), |start, end| expected.push((start, end))).unwrap();
        let mut words = Vec::new();
        cutter.for_each(text, |start, end| words.push((start, end))).unwrap();
        assert_eq!(words, expected, "{text:?}");
        every_way(|way| {
            let mut words = Vec::new();
            for_each_list(text, |starts, ends| {
                let list = starts.iter().zip(ends);
                words.extend(list.map(|(&start, &end)| (start as usize, end as usize)));
            });
            assert_eq!(words, expected, "{text:?}, {way:?}");
        });
    }

    #[test]
    fn words_are_those_of_the_expression() {
        let (pattern, matches) = (PATTERN.to_owned(), Matches::Removed);
        let scheme = Scheme::Regex { pattern, matches, invert: false, literal: false };
        assert!(is(&scheme));
        let cutter = Pretokenizer::new(std::slice::from_ref(&scheme)).unwrap();
        assert!(!cutter.stages.iter().any(|stage| matches!(stage, super::super::Stage::Regex(_))));
        let engine = Engine::new(PATTERN, matches, false).unwrap().backtracking();
        let parts = [
            "a", "word", " ", " ", "  ", "\n", "\r", "\r\n", "\t", "\u{a0}", "\u{3000}", "가나",
            "é", "\u{85}", "🐑",
        ];
        let mut random = SplitMix64::new(30);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        for round in 0..20_000 {
            let kinds = 1 + below(parts.len());
            let count = if round % 100 == 0 { 1000 } else { below(60) };
            let text: String = (0..count).map(|_| parts[below(kinds)]).collect();
            check(&cutter, &engine, &text);
        }
        for c in '\0'..=char::MAX {
            check(&cutter, &engine, &format!("{c}a {c} {c}b{c}"));
        }
    }
}
