//! Expressions, and sequences of schemes, that cut nearly all texts as something does that has a rule in masks.
//!
//! In words: llama.cpp cuts as GPT-2, Llama 3, Qwen 2 and StarCoder do, but by the letters and numbers of Unicode 15.1; where it
//! cuts as GPT-4o does, it takes only ASCII's letters for capitals or small ones; Qwen 3.5 cuts as Qwen 2, but marks belong
//! to letters; StarCoder's numbers are those of Unicode 17.0 to HF tokenizers. The characters that make the difference are
//! strangers in most texts. A text without them is cut by the rule, any other one by what was asked for.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, HirKind};

use super::deepseek;
use super::set::CharSet;
use super::simple::NUMBERS_OF_17;
use super::{Matches, Scheme, Stage};
use crate::error::Result;

/// Such an expression or sequence.
#[derive(Debug, Clone)]
pub(super) struct Kin {
    /// What cuts most texts.
    pub(super) usual: Stage,
    strangers: Strangers,
    /// What cuts any, one behind the other.
    pub(super) any: Vec<Stage>,
}

/// The characters that make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strangers {
    /// Letters and numbers that came after Unicode 15.1; and `ſ`, an `s` where contractions are written in any case.
    Young,
    /// The same with marks, punctuation and symbols, and without the `ſ`.
    YoungOfAnyKind,
    /// Marks.
    Marks,
    /// The first and these.
    YoungAndMarks,
    /// Both, and capitals and small letters beyond ASCII.
    Cased,
    /// Numbers that came with Unicode 17.0.
    Numbers,
}

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

/// Expressions one behind the other, without the age of their classes; what cuts as they do, but for whom.
#[rustfmt::skip]
const KINDRED: [(&[&str], Stage, Strangers); 9] = [
    (&[GPT_2], Stage::Gpt2, Strangers::Young),
    (&[r"\p{N}", GPT_2], Stage::StarCoder, Strangers::Young),
    (&[llama_3!(suffix!(), r"\p{L}", r"\p{N}{1,3}", r"\s\p{L}\p{N}")], Stage::Llama3, Strangers::Young),
    (&[llama_3!(suffix!(), r"\p{L}", r"\p{N}", r"\s\p{L}\p{N}")], Stage::Qwen2, Strangers::Young),
    (&[llama_3!(suffix!(), r"[\p{L}\p{M}]", r"\p{N}", r"\s\p{L}\p{N}\p{M}")], Stage::Qwen2, Strangers::YoungAndMarks),
    (&[llama_3!("(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"[\p{L}\p{M}]", r"\p{N}", r"\s\p{L}\p{M}\p{N}")], Stage::Qwen2, Strangers::Marks),
    (&[by_case!(r"\p{L}", concat!(suffix!(), "?"), r"\p{N}{1,3}")], Stage::O200k, Strangers::Cased),
    (&[by_case!(r"[\p{L}\p{M}]", concat!(suffix!(), "?"), r"\p{N}{1,3}")], Stage::O200k, Strangers::Cased),
    (&[by_case!(r"\p{L}", "", r"\p{N}")], Stage::Tekken, Strangers::Cased),
];

/// How many of the first of these schemes are kin, of what, and who makes the difference.
fn kin_of(schemes: &[Scheme]) -> Option<(usize, Stage, Strangers)> {
    if let [Scheme::Digits { group: 1, unicode_17: true }, Scheme::Gpt2, ..] = schemes {
        return Some((2, Stage::StarCoder, Strangers::Numbers));
    }
    let bare: Vec<Scheme> = schemes.iter().map_while(bare).take(deepseek::SCHEMES).collect();
    if deepseek::begins(&bare) {
        return Some((deepseek::SCHEMES, Stage::DeepSeek, Strangers::YoungOfAnyKind));
    }
    let all_are = |patterns: &[&str]| {
        // Between the matches of the last one there is nothing.
        let is = |(at, expected): (usize, &&str)| match bare.get(at) {
            Some(Scheme::Regex { pattern, matches: Matches::Isolated, .. }) => pattern == expected,
            Some(Scheme::Regex { pattern, matches: Matches::Only, .. }) => {
                at + 1 == patterns.len() && pattern == expected
            }
            _ => false,
        };
        patterns.iter().enumerate().all(is)
    };
    let (patterns, usual, strangers) = KINDRED.into_iter().find(|kin| all_are(kin.0))?;
    Some((patterns.len(), usual, strangers))
}

/// The expression without the age of its classes, as in `[\p{L}&&\p{age=15.1}]`.
fn without_age(pattern: &str) -> String {
    let mut bare = pattern.replace(r"&&\p{age=15.1}&&", "&&");
    for class in [r"\p{L}", r"\p{N}", r"\p{M}", r"\p{P}", r"\p{S}"] {
        bare = bare.replace(&format!(r"[{class}&&\p{{age=15.1}}]"), class);
    }
    bare
}

/// The same expression without the age of its classes.
fn bare(scheme: &Scheme) -> Option<Scheme> {
    let Scheme::Regex { pattern, matches, invert: false, literal: false } = scheme else {
        return None;
    };
    let pattern = without_age(pattern);
    Some(Scheme::Regex { pattern, matches: *matches, invert: false, literal: false })
}

impl Kin {
    /// The first of these schemes, if they are such an expression or sequence, and how many of them are.
    ///
    /// # Errors
    /// As [`Stage::new`].
    pub(super) fn new(schemes: &[Scheme]) -> Result<Option<(Self, usize)>> {
        let Some((len, usual, strangers)) = kin_of(schemes) else { return Ok(None) };
        let any = schemes[..len].iter().map(Stage::new).collect::<Result<_>>()?;
        Ok(Some((Self { usual, strangers, any }, len)))
    }

    /// Whether a text has none of the characters that make a difference.
    pub(super) fn is_usual(&self, text: &str) -> bool {
        text.is_ascii() || self.strangers.set().find(text, 0).is_none()
    }
}

impl Strangers {
    /// All of them.
    fn set(self) -> &'static CharSet {
        static SETS: [OnceLock<CharSet>; 6] = [const { OnceLock::new() }; 6];
        SETS[self as usize].get_or_init(|| match self {
            Strangers::Young => of_class(r"[[\p{L}\p{N}--\p{age=15.1}]ſ]"),
            Strangers::YoungOfAnyKind => of_class(r"[\p{L}\p{M}\p{N}\p{P}\p{S}--\p{age=15.1}]"),
            Strangers::Marks => of_class(r"\p{M}"),
            Strangers::YoungAndMarks => of_class(r"[[\p{L}\p{N}--\p{age=15.1}]\p{M}ſ]"),
            Strangers::Cased => {
                of_class(r"[[\p{L}\p{N}--\p{age=15.1}]\p{M}[\p{Lu}\p{Lt}\p{Ll}--\p{ascii}]]")
            }
            Strangers::Numbers => CharSet::of_ranges(&NUMBERS_OF_17),
        })
    }
}

/// The characters of a class.
fn of_class(class: &str) -> CharSet {
    let Ok(HirKind::Class(Class::Unicode(members))) =
        regex_syntax::parse(class).map(regex_syntax::hir::Hir::into_kind)
    else {
        unreachable!("{class} is a class of characters");
    };
    CharSet::new(members.iter().flat_map(|range| range.start()..=range.end()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::regex::{Account, Engine};
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
        "\u{85}", "\u{a0}", "\u{3000}", "!", "?!", "/", "//", "\n/", "$", "_", "...", "。", "😀", "|", "(", "\u{11de0}", "\u{16ff6}",
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

    /// Cuts a text by one of several schemes.
    type Cutter = Box<dyn Fn(&str) -> Vec<(usize, usize)>>;

    /// The words of each of the words of the cutters before.
    fn one_by_one(cutters: &[Cutter], text: &str) -> Vec<(usize, usize)> {
        let mut words = vec![(0, text.len())];
        for cut in cutters {
            let parts = |(start, end): (usize, usize)| {
                let inner = cut(&text[start..end]).into_iter();
                inner.map(move |(from, to)| (start + from, start + to))
            };
            words = words.into_iter().flat_map(parts).collect();
        }
        words
    }

    /// What all the ways of cutting make of a text, and whether there are strangers in it.
    fn check(name: &str, cutter: &Pretokenizer, plain: &[Cutter], text: &str) -> bool {
        let expected = one_by_one(plain, text);
        assert_eq!(words(cutter, text), expected, "{name} {text:?}");
        let found = cuts(|each| cutter.for_each_cut(text, each).is_ok());
        assert_eq!(found.as_ref(), Some(&expected), "{name} {text:?}");
        let found = cuts(|each| cutter.for_each_list(text, |list| each(Cut::List(list))));
        assert!(found.is_none_or(|found| found == expected), "{name} {text:?}");
        let by_lines = [
            cuts(|each| cutter.for_each_line_cut(text, each)),
            cuts(|each| cutter.for_each_list_of_lines(text, |list| each(Cut::List(list)))),
        ];
        let mut expected = Vec::new();
        let mut base = 0;
        for line in text.split_inclusive('\n') {
            let words = one_by_one(plain, line).into_iter();
            expected.extend(words.map(|(start, end)| (base + start, base + end)));
            base += line.len();
        }
        for found in by_lines.into_iter().flatten() {
            assert_eq!(found, expected, "lines {name} {text:?}");
        }
        matches!(&cutter.stages[..], [Stage::Kin(kin)] if !kin.is_usual(text))
    }

    /// Random texts, and such of every character that may be a stranger, and some that may not.
    fn texts() -> Vec<String> {
        let mut random = SplitMix64::new(17);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let mut texts: Vec<String> = Vec::new();
        for round in 0..2500 {
            let kinds: Vec<&str> =
                (0..2 + below(10)).map(|_| PIECES[below(PIECES.len())]).collect();
            let len = if round % 40 == 0 { 600 } else { 40 };
            texts.push((0..len).map(|_| kinds[below(kinds.len())]).collect());
        }
        let mut text = String::new();
        for (number, c) in ('\0'..='\u{20000}').enumerate() {
            text.push_str(
                &["a{}1b ", " {}{}\n", "A{} 'll", "!{}B", "'{}s ", "  {}", "\t{} ."][number % 7]
                    .replace("{}", &c.to_string()),
            );
            if number % 11 == 0 {
                texts.push(std::mem::take(&mut text));
            }
        }
        texts
    }

    fn regex(pattern: &str, matches: Matches) -> Scheme {
        Scheme::Regex { pattern: pattern.to_owned(), matches, invert: false, literal: false }
    }

    /// By the expression alone.
    fn by_pattern(pattern: &str) -> Cutter {
        let engine = Engine::new(pattern, Matches::Isolated, false).unwrap().backtracking();
        Box::new(move |text| {
            let mut words = Vec::new();
            engine.scan(text, 0, &Account::new(), |start, end| words.push((start, end))).unwrap();
            words
        })
    }

    #[test]
    fn words_are_those_of_the_expressions() {
        let texts = texts();
        let mut kin = Vec::new();
        let patterns: Vec<_> = patterns().collect();
        for group in patterns.chunk_by(|one, other| one.0 == other.0) {
            let name = group[0].0;
            let schemes: Vec<_> =
                group.iter().map(|(_, pattern)| regex(pattern, Matches::Isolated)).collect();
            for from in 0..schemes.len() {
                let Some((_, len)) = Kin::new(&schemes[from..]).unwrap() else { continue };
                let cutter = Pretokenizer::new(&schemes[from..from + len]).unwrap();
                assert!(matches!(cutter.stages[..], [Stage::Kin(_) | Stage::DeepSeek]), "{name}");
                kin.push((name, len));
                let plain: Vec<_> = group[from..from + len]
                    .iter()
                    .map(|(_, pattern)| by_pattern(pattern))
                    .collect();
                let strange =
                    texts.iter().filter(|text| check(name, &cutter, &plain, text)).count();
                let few = match cutter.stages[..] {
                    [Stage::DeepSeek] => 0..1,
                    _ => 100..texts.len() / 2,
                };
                assert!(few.contains(&strange), "{name}: {strange} of {}", texts.len());
            }
        }
        // GPT-2's is the last stage of some.
        #[rustfmt::skip]
        let expected = [
            ("gpt-2", 1), ("llama3", 1), ("qwen2", 1), ("laguna", 1), ("qwen35", 1), ("tekken", 1), ("gpt-4o", 1),
            ("granite-embed-multi-97m", 1), ("starcoder", 2), ("starcoder", 1), ("chameleon", 1),
            ("deepseek-v3", 3), ("falcon", 1), ("default", 1),
            ("deepseek-v3 (scheme)", 3), ("qwen3.5 (scheme)", 1),
        ];
        assert_eq!(kin, expected);
    }

    #[test]
    fn numbers_one_by_one_and_then_gpt_2() {
        let texts = texts();
        for unicode_17 in [false, true] {
            let schemes = [Scheme::Digits { group: 1, unicode_17 }, Scheme::Gpt2];
            let cutter = Pretokenizer::new(&schemes).unwrap();
            match (&cutter.stages[..], unicode_17) {
                ([Stage::StarCoder], false) | ([Stage::Kin(_)], true) => {}
                (others, _) => panic!("{others:?}"),
            }
            let digits = Pretokenizer::new(&schemes[..1]).unwrap();
            let plain: [Cutter; 2] =
                [Box::new(move |text| words(&digits, text)), by_pattern(GPT_2)];
            let strange =
                texts.iter().filter(|text| check("digits", &cutter, &plain, text)).count();
            assert_eq!(strange > 20, unicode_17);
        }
        // Other numbers, or another order.
        for schemes in [
            [Scheme::Digits { group: 3, unicode_17: true }, Scheme::Gpt2],
            [Scheme::Gpt2, Scheme::Digits { group: 1, unicode_17: false }],
        ] {
            assert_eq!(Pretokenizer::new(&schemes).unwrap().stages.len(), 2);
        }
    }

    #[test]
    fn strangers_are_characters_of_their_kind() {
        let young = fancy_regex::Regex::new(r"[[\p{L}\p{N}]--\p{age=15.1}]").unwrap();
        let mut counts = [0; 6];
        for c in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            let text: &str = c.encode_utf8(&mut bytes);
            let all = [
                Strangers::Young,
                Strangers::YoungOfAnyKind,
                Strangers::Marks,
                Strangers::YoungAndMarks,
                Strangers::Cased,
                Strangers::Numbers,
            ];
            for (strangers, count) in all.into_iter().zip(&mut counts) {
                *count += usize::from(strangers.set().has(c));
            }
            let is_young = young.is_match(text).unwrap();
            assert_eq!(Strangers::Young.set().has(c), is_young || c == 'ſ', "{c:?}");
        }
        assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
    }

    #[test]
    fn other_uses_of_the_expressions_are_none() {
        let is_kin = |schemes: &[Scheme]| Kin::new(schemes).unwrap().map(|(_, len)| len);
        for matches in [Matches::Removed, Matches::Contiguous] {
            assert_eq!(is_kin(&[regex(GPT_2, matches)]), None);
        }
        let inverted = Scheme::Regex {
            pattern: GPT_2.to_owned(),
            matches: Matches::Isolated,
            invert: true,
            literal: false,
        };
        assert_eq!(is_kin(&[inverted]), None);
        let only = regex(GPT_2, Matches::Only);
        assert_eq!(is_kin(std::slice::from_ref(&only)), Some(1));
        assert_eq!(is_kin(&[regex(&GPT_2[1..], Matches::Only)]), None);
        let numbers = |matches| regex(r"\p{N}", matches);
        assert_eq!(is_kin(&[numbers(Matches::Isolated), only.clone()]), Some(2));
        assert_eq!(is_kin(&[numbers(Matches::Only), only]), None);
        assert_eq!(is_kin(&[numbers(Matches::Isolated)]), None);
    }
}
