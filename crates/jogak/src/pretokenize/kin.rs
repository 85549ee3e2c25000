//! Expressions that cut nearly all texts as a scheme does that has a rule in masks.
//!
//! In words: llama.cpp cuts as GPT-2, Llama 3 and Qwen 2 do, but by the letters and numbers of Unicode 15.1; where it cuts
//! as GPT-4o does, it takes only ASCII's letters for capitals or small ones; Qwen 3.5 cuts as Qwen 2, but marks belong to
//! letters. The characters that make the difference are strangers in most texts. A text without them is cut by the scheme,
//! any other one by the expression.

use std::sync::OnceLock;

use super::classes::{LOWER, MARK, UPPER, class_at};
use super::regex::Engine;
use super::set::CharSet;
use super::{Matches, Scheme, Stage};
use crate::error::Result;

/// Such an expression.
#[derive(Debug, Clone)]
pub(super) struct Kin {
    /// What cuts most texts.
    pub(super) usual: Stage,
    strangers: Strangers,
    /// What cuts any.
    pub(super) engine: Engine,
}

/// The characters that make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strangers {
    /// Letters and numbers that came after Unicode 15.1; and `ſ`, an `s` where contractions are written in any case.
    Young,
    /// Marks.
    Marks,
    /// Both.
    YoungAndMarks,
    /// These, and capitals and small letters beyond ASCII.
    Cased,
}

/// Ranges in which all letters and numbers came after Unicode 15.1.
#[rustfmt::skip]
const AFTER_15_1: [(u32, u32); 15] = [
    (0x1C89, 0x1C8A), (0xA7CB, 0xA7CD), (0xA7DA, 0xA7DC), (0x105C0, 0x105F3), (0x10D40, 0x10D85),
    (0x10EC2, 0x10EC4), (0x11380, 0x113D3), (0x116D0, 0x116E3), (0x11BC0, 0x11BF9), (0x13460, 0x143FA),
    (0x16100, 0x16139), (0x16D40, 0x16D79), (0x18CFF, 0x18CFF), (0x1CCF0, 0x1CCF9), (0x1E5D0, 0x1E5FA),
];

const GPT_2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

macro_rules! suffix {
    () => {
        "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
    };
}

macro_rules! end {
    () => {
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    };
}

/// Contractions, letters (with what belongs to them), numbers, symbols (but for these), white space.
macro_rules! llama_3 {
    ($suffix:expr, $letters:literal, $digits:literal, $letters_again:literal) => {
        concat!(
            $suffix,
            r"|[^\r\n\p{L}\p{N}]?",
            $letters,
            "+|",
            $digits,
            "| ?[^",
            $letters_again,
            r"]+[\r\n]*",
            end!()
        )
    };
}

/// Words of capitals, then small letters; numbers, symbols, white space.
macro_rules! by_case {
    ($letters:literal, $suffix:expr, $digits:literal) => {
        concat!(
            r"[^\r\n\p{L}\p{N}]?[",
            $letters,
            "&&[^a-z]]*[",
            $letters,
            "&&[^A-Z]]+",
            $suffix,
            r"|[^\r\n\p{L}\p{N}]?[",
            $letters,
            "&&[^a-z]]+[",
            $letters,
            "&&[^A-Z]]*",
            $suffix,
            "|",
            $digits,
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
            end!()
        )
    };
}

/// Expressions, without the age of their classes.
const KINDRED: [(&str, Scheme, Strangers); 8] = [
    (GPT_2, Scheme::Gpt2, Strangers::Young),
    (
        llama_3!(suffix!(), r"\p{L}", r"\p{N}{1,3}", r"\s\p{L}\p{N}"),
        Scheme::Llama3,
        Strangers::Young,
    ),
    (llama_3!(suffix!(), r"\p{L}", r"\p{N}", r"\s\p{L}\p{N}"), Scheme::Qwen2, Strangers::Young),
    (
        llama_3!(suffix!(), r"[\p{L}\p{M}]", r"\p{N}", r"\s\p{L}\p{N}\p{M}"),
        Scheme::Qwen2,
        Strangers::YoungAndMarks,
    ),
    (
        llama_3!("(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"[\p{L}\p{M}]", r"\p{N}", r"\s\p{L}\p{M}\p{N}"),
        Scheme::Qwen2,
        Strangers::Marks,
    ),
    (by_case!(r"\p{L}", concat!(suffix!(), "?"), r"\p{N}{1,3}"), Scheme::O200k, Strangers::Cased),
    (
        by_case!(r"[\p{L}\p{M}]", concat!(suffix!(), "?"), r"\p{N}{1,3}"),
        Scheme::O200k,
        Strangers::Cased,
    ),
    (by_case!(r"\p{L}", "", r"\p{N}"), Scheme::Tekken, Strangers::Cased),
];

/// The expression without the age of its classes, as in `[\p{L}&&\p{age=15.1}]`.
fn without_age(pattern: &str) -> String {
    let mut bare = pattern.replace(r"&&\p{age=15.1}&&", "&&");
    for class in [r"\p{L}", r"\p{N}", r"\p{M}"] {
        bare = bare.replace(&format!(r"[{class}&&\p{{age=15.1}}]"), class);
    }
    bare
}

impl Kin {
    /// The expression, if it is one of these, and its matches are the words.
    ///
    /// # Errors
    /// As [`Stage::new`].
    pub(super) fn new(pattern: &str, matches: Matches, invert: bool) -> Result<Option<Self>> {
        if invert || !matches!(matches, Matches::Isolated | Matches::Only) {
            return Ok(None);
        }
        let bare = without_age(pattern);
        let Some((_, scheme, strangers)) = KINDRED.into_iter().find(|kin| kin.0 == bare) else {
            return Ok(None);
        };
        let engine = Engine::new(pattern, matches, invert)?;
        Ok(Some(Self { usual: Stage::new(&scheme)?, strangers, engine }))
    }

    /// Whether a text has none of the characters that make a difference.
    pub(super) fn is_usual(&self, text: &str) -> bool {
        text.is_ascii() || self.strangers.set().find(text, 0).is_none()
    }
}

impl Strangers {
    /// All of them.
    fn set(self) -> &'static CharSet {
        static SETS: [OnceLock<CharSet>; 4] = [const { OnceLock::new() }; 4];
        SETS[self as usize].get_or_init(|| {
            let of = |classes: super::classes::Set| {
                ('\u{80}'..=char::MAX).filter(move |c| {
                    let mut bytes = [0; 4];
                    let text = c.encode_utf8(&mut bytes).as_bytes();
                    class_at(text, 0).is_some_and(|(class, _)| classes.has(class))
                })
            };
            let young = AFTER_15_1.iter().flat_map(|&(first, last)| first..=last);
            let young = young.filter_map(char::from_u32).chain(['ſ']);
            match self {
                Strangers::Young => CharSet::new(young),
                Strangers::Marks => CharSet::new(of(MARK)),
                Strangers::YoungAndMarks => CharSet::new(of(MARK).chain(young)),
                Strangers::Cased => CharSet::new(of(MARK.or(UPPER).or(LOWER)).chain(young)),
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::regex::Account;
    use super::super::{Cut, Pretokenizer};
    use super::*;
    use crate::random::SplitMix64;

    /// Name and expression of each stage that the formats know; Python's tests hold them to what the formats say.
    fn patterns() -> impl Iterator<Item = (&'static str, &'static str)> {
        include_str!("../../tests/patterns.tsv").lines().map(|line| line.split_once('\t').unwrap())
    }

    /// What the expressions look at, and strangers.
    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "'s", "'S", "'ſ", "'t", "'ll", "'lL", "'Ve", "'re", "'", "a", "b", "A", "Z", "xyz", "ABC", "Word", "camelCase",
        "é", "É", "ß", "ǅ", "ʰ", "ª", "Ж", "ж", "ก", "가", "가나", "中", "あー", "\u{10400}", "\u{20000}", "क\u{94d}",
        "\u{300}", "\u{fe0f}", "\u{897}", "\u{1c89}", "\u{a7cb}", "\u{10d40}", "\u{10d69}", "\u{10d6e}", "\u{1ccf0}", "\u{13460}",
        "0", "9", "12", "123", "1234567", "\u{663}", "Ⅷ", "²", " ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n", " \n", "\n ",
        "\u{85}", "\u{a0}", "\u{3000}", "!", "?!", "/", "//", "\n/", "$", "_", "...", "。", "😀", "|", "(",
    ];

    fn words(cutter: &Pretokenizer, text: &str) -> Vec<(usize, usize)> {
        let mut words = Vec::new();
        cutter.for_each(text, |start, end| words.push((start, end))).unwrap();
        words
    }

    fn cuts(cut: impl FnOnce(&mut dyn FnMut(Cut<'_>)) -> bool) -> Option<Vec<(usize, usize)>> {
        let mut words = Vec::new();
        let done = cut(&mut |cut| match cut {
            Cut::Word(start, end) => words.push((start, end)),
            Cut::List(borders) => {
                words.extend(borders.windows(2).map(|word| (word[0] as usize, word[1] as usize)))
            }
            Cut::Spans(..) => panic!("blanks are words"),
        });
        done.then_some(words)
    }

    /// What all the ways of cutting make of a text, and whether there are strangers in it.
    fn check(pattern: &str, cutter: &Pretokenizer, engine: &Engine, text: &str) -> bool {
        let mut expected = Vec::new();
        engine.scan(text, 0, &Account::new(), |start, end| expected.push((start, end))).unwrap();
        assert_eq!(words(cutter, text), expected, "{pattern} {text:?}");
        let found = cuts(|each| cutter.for_each_cut(text, each).is_ok());
        assert_eq!(found.as_ref(), Some(&expected), "{pattern} {text:?}");
        let found = cuts(|each| cutter.for_each_list(text, |list| each(Cut::List(list))));
        assert!(found.is_none_or(|found| found == expected), "{pattern} {text:?}");
        let by_lines = [
            cuts(|each| cutter.for_each_line_cut(text, each)),
            cuts(|each| cutter.for_each_list_of_lines(text, |list| each(Cut::List(list)))),
        ];
        let mut expected = Vec::new();
        let mut base = 0;
        for line in text.split_inclusive('\n') {
            let each = |start, end| expected.push((base + start, base + end));
            engine.scan(line, base, &Account::new(), each).unwrap();
            base += line.len();
        }
        for found in by_lines.into_iter().flatten() {
            assert_eq!(found, expected, "lines {pattern} {text:?}");
        }
        matches!(&cutter.stages[..], [Stage::Kin(kin)] if !kin.is_usual(text))
    }

    #[test]
    fn words_are_those_of_the_expressions() {
        let mut random = SplitMix64::new(17);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let mut texts: Vec<String> = Vec::new();
        for round in 0..2500 {
            let kinds: Vec<&str> =
                (0..2 + below(10)).map(|_| PIECES[below(PIECES.len())]).collect();
            let len = if round % 40 == 0 { 600 } else { 40 };
            texts.push((0..len).map(|_| kinds[below(kinds.len())]).collect());
        }
        // Every character that may be a stranger, and some that may not.
        let mut text = String::new();
        for (number, c) in ('\0'..='\u{20000}').enumerate() {
            text.push_str(
                &["a{}1b ", " {}{}\n", "A{} 'll", "!{}B", "'{}s "][number % 5]
                    .replace("{}", &c.to_string()),
            );
            if number % 7 == 0 {
                texts.push(std::mem::take(&mut text));
            }
        }
        let mut kin = Vec::new();
        for (name, pattern) in patterns() {
            let scheme = Scheme::Regex {
                pattern: pattern.to_owned(),
                matches: Matches::Isolated,
                invert: false,
                literal: false,
            };
            let cutter = Pretokenizer::new(&[scheme]).unwrap();
            let Some(one) = Kin::new(pattern, Matches::Isolated, false).unwrap() else { continue };
            assert!(matches!(cutter.stages[..], [Stage::Kin(_)]), "{pattern}");
            kin.push(name);
            let engine = one.engine.backtracking();
            let strange =
                texts.iter().filter(|text| check(pattern, &cutter, &engine, text)).count();
            assert!(
                strange > 100 && strange < texts.len() / 2,
                "{name}: {strange} of {}",
                texts.len()
            );
        }
        // GPT-2's is the last stage of some.
        #[rustfmt::skip]
        let expected = [
            "gpt-2", "llama3", "qwen2", "laguna", "qwen35", "tekken", "gpt-4o", "granite-embed-multi-97m", "starcoder", "chameleon",
            "falcon", "default", "qwen3.5 (scheme)",
        ];
        assert_eq!(kin, expected);
    }

    #[test]
    fn young_characters_came_after_unicode_15_1() {
        let young = fancy_regex::Regex::new(r"[[\p{L}\p{N}]--\p{age=15.1}]").unwrap();
        let old = fancy_regex::Regex::new(r"[[\p{L}\p{N}]&&\p{age=15.1}--ſ]").unwrap();
        for c in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            let text: &str = c.encode_utf8(&mut bytes);
            let has = Strangers::Young.set().has(c);
            assert!(has || !young.is_match(text).unwrap(), "{c:?}");
            assert!(!has || !old.is_match(text).unwrap(), "{c:?}");
        }
    }

    #[test]
    fn other_uses_of_the_expressions_are_none() {
        for (matches, invert) in
            [(Matches::Removed, false), (Matches::Contiguous, false), (Matches::Isolated, true)]
        {
            assert!(Kin::new(GPT_2, matches, invert).unwrap().is_none());
        }
        assert!(Kin::new(GPT_2, Matches::Only, false).unwrap().is_some());
        assert!(Kin::new(&GPT_2[1..], Matches::Only, false).unwrap().is_none());
    }
}
