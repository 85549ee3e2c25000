//! What the pre-tokenizers promise beyond their patterns: worked examples, the rule of scripts,
//! sequences, arbitrary regular expressions, errors, and time that is linear in the text.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use jogak::Error;
use jogak::pretokenize::{Matches, Metaspace, Pretokenizer, Scheme};

fn cut<'t>(schemes: &[Scheme], text: &'t str) -> jogak::Result<Vec<&'t str>> {
    let mut words = Vec::new();
    Pretokenizer::new(schemes)?.for_each(text, |start, end| words.push(&text[start..end]))?;
    Ok(words)
}

fn regex(pattern: &str, matches: Matches) -> Scheme {
    Scheme::Regex { pattern: pattern.to_owned(), matches, invert: false, literal: false }
}

fn punctuation() -> Scheme {
    Scheme::Punctuation { matches: Matches::Isolated, unicode_8: false }
}

#[test]
fn worked_examples() {
    let digits = |group| Scheme::Digits { group, unicode_17: false };
    let cases: &[(Scheme, &str, &[&str])] = &[
        (Scheme::None, " a b\n", &[" a b\n"]),
        (Scheme::Whitespace, "\u{3000}최고의 \u{A0}영화\n", &["최고의", "영화"]),
        (Scheme::Gpt2, "it's\n\n  12345.", &["it", "'s", "\n\n ", " 12345", "."]),
        (Scheme::Cl100k, "IT'S\n\n  12345.\n", &["IT", "'S", "\n\n", " ", " ", "123", "45", ".\n"]),
        (Scheme::O200k, "helloWorld's/a //\n", &["hello", "World's", "/a", " //\n"]),
        (Scheme::O200k, "ABあCD,", &["ABあ", "CD", ","]),
        (Scheme::Bert, "Hey, (you)!? 5$", &["Hey", ",", "(", "you", ")", "!", "?", "5", "$"]),
        (Scheme::Metaspace(Metaspace::DEFAULT), "▁최고의▁▁영화", &["▁최고의", "▁", "▁영화"]),
        (Scheme::Metaspace(Metaspace::DEFAULT), "a▁b", &["a", "▁b"]),
        (punctuation(), "Hey, you!?", &["Hey", ",", " you", "!", "?"]),
        (Scheme::Llama3, "a12345\n\n  ", &["a", "123", "45", "\n\n", "  "]),
        (Scheme::Qwen2, "I'LL 12", &["I", "'LL", " ", "1", "2"]),
        (Scheme::Tekken, "It's 12", &["It", "'s", " ", "1", "2"]),
        (Scheme::Words, " a_1--b ", &["a_1", "--", "b"]),
        (Scheme::Bert8, "a\u{61d}b ,", &["a\u{61d}b", ","]),
        (Scheme::HfScripts, " 가a1 b", &["가", "a", "1 ", "b"]),
        (Scheme::Fixed { length: 2 }, "가나다", &["가나", "다"]),
        (digits(0), "in 2026년", &["in ", "2026", "년"]),
        (digits(1), "in 2026년", &["in ", "2", "0", "2", "6", "년"]),
        (digits(3), "in 2026년Ⅷ½", &["in ", "202", "6", "년", "Ⅷ½"]),
    ];
    for (scheme, text, words) in cases {
        assert_eq!(cut(std::slice::from_ref(scheme), text).unwrap(), *words, "{scheme:?} {text:?}");
    }
}

#[test]
fn an_empty_text_has_no_word() {
    for (name, scheme) in Scheme::NAMED {
        assert!(cut(&[scheme], "").unwrap().is_empty(), "{name}");
    }
    for matches in [Matches::Isolated, Matches::Removed, Matches::Only] {
        assert!(cut(&[regex("a*", matches)], "").unwrap().is_empty());
    }
}

#[test]
fn names_lead_to_schemes_and_back() {
    for (name, scheme) in Scheme::NAMED {
        assert_eq!(scheme.name(), Some(name));
        assert_eq!(Scheme::from_name(name), Some(scheme));
    }
    assert_eq!(regex("a", Matches::Only).name(), None);
}

#[test]
fn scripts_change_where_the_rule_says() {
    let cases: &[(&str, &[&str])] = &[
        // Rule 1: kana are Han.
        ("中文カタカナーひらがなabc", &["中文カタカナーひらがな", "abc"]),
        ("한국어English中文", &["한국어", "English", "中文"]),
        // Rule 2: what has no script stays with what is before it, or opens the text.
        ("Yes. 12, e\u{301}\u{1F600}", &["Yes. 12, e\u{301}\u{1F600}"]),
        ("123가abc456나", &["123가", "abc456", "나"]),
        ("  1. \u{301}", &["  1. \u{301}"]),
        ("abc\u{378}\u{E000}가", &["abc\u{378}\u{E000}", "가"]),
        // Rule 3: spaces go with what follows, other white space does not.
        ("Apples are りんご 林檎", &["Apples are", " りんご 林檎"]),
        ("abc, ▁ 가 - 나", &["abc,", " ▁ 가 - 나"]),
        ("abc\t\n 가 ", &["abc\t\n", " 가 "]),
    ];
    for (text, words) in cases {
        assert_eq!(cut(&[Scheme::Script], text).unwrap(), *words);
    }
}

/// Between letters of real scripts there is a cut exactly where the engine says the script changes.
#[test]
fn scripts_are_what_the_engine_says() {
    let scripts = [
        r"\p{sc=Latin}",
        r"\p{sc=Greek}",
        r"\p{sc=Cyrillic}",
        r"\p{sc=Hangul}",
        r"\p{sc=Arabic}",
        r"[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]",
        r"\p{sc=Thai}",
        r"\p{sc=Egyptian_Hieroglyphs}",
    ];
    let members = ['z', 'ω', 'я', '나', 'ب', '中', 'ก', '\u{13000}'];
    let scriptless =
        fancy_regex::Regex::new(r"[\p{sc=Common}\p{sc=Inherited}\p{Cn}\p{Co}&&[^ー]]").unwrap();
    let scanner = Pretokenizer::new(&[Scheme::Script]).unwrap();
    for (script, member) in scripts.iter().zip(members) {
        let script = fancy_regex::Regex::new(script).unwrap();
        for c in '\0'..=char::MAX {
            let text = format!("{member}{c}{member}");
            let mut words = 0;
            scanner.for_each(&text, |_, _| words += 1).unwrap();
            let c = &text[member.len_utf8()..text.len() - member.len_utf8()];
            let stays = script.is_match(c).unwrap() || scriptless.is_match(c).unwrap();
            assert_eq!(words, if stays { 1 } else { 3 }, "{text:?}");
        }
    }
}

#[test]
fn every_stage_cuts_the_words_of_the_one_before() {
    let thirds = Scheme::Digits { group: 3, unicode_17: false };
    let both = [Scheme::Whitespace, thirds.clone()];
    assert_eq!(cut(&both, " a1234 b").unwrap(), ["a", "123", "4", "b"]);
    let three = [punctuation(), Scheme::None, Scheme::Whitespace, thirds];
    assert_eq!(cut(&three, "x: 1234,5 ").unwrap(), ["x", ":", "123", "4", ",", "5"]);
    // A word's end is an end of text for the next stage: the last blank is not left over.
    let lines = regex("\n", Matches::Removed);
    assert_eq!(cut(&[lines, Scheme::Gpt2], "a  \nb").unwrap(), ["a", "  ", "b"]);
    assert_eq!(cut(&[], "a b").unwrap(), ["a b"]);
    assert_eq!(cut(&[Scheme::None, Scheme::None], "a b").unwrap(), ["a b"]);
}

#[test]
fn matches_are_what_was_asked_for() {
    use Matches::{Isolated, Only, Removed};
    let cases: &[(&str, Matches, &str, &[&str])] = &[
        ("[0-9]+", Isolated, "a12b3", &["a", "12", "b", "3"]),
        ("[0-9]+", Removed, "a12b3", &["a", "b"]),
        ("[0-9]+", Only, "a12b3", &["12", "3"]),
        ("x", Isolated, "abc", &["abc"]),
        ("x", Removed, "xx", &[]),
        ("x", Only, "abc", &[]),
        // Empty matches cut, but are no words.
        ("(?=[A-Z])", Isolated, "camelCaseWord", &["camel", "Case", "Word"]),
        ("(?=[A-Z])", Removed, "camelCaseWord", &["camel", "Case", "Word"]),
        ("(?=[A-Z])", Only, "camelCaseWord", &[]),
        ("a*", Isolated, "aab각a", &["aa", "b", "각", "a"]),
        ("$", Isolated, "ab", &["ab"]),
        // Look-around sees the text around a match.
        (r"(?<=a)b+(?!c)", Only, "abbc bb ab", &["b", "b"]),
    ];
    for (pattern, matches, text, words) in cases {
        let scheme = regex(pattern, *matches);
        assert_eq!(cut(&[scheme], text).unwrap(), *words, "{pattern} {matches:?} {text}");
    }
}

/// The pattern of a named scheme, given as a regular expression, gives the same words.
#[test]
fn a_pattern_can_stand_for_its_scheme() {
    let text = "We're 1234 최고의\r\n\r\n  영화!! ABCdef\t\t'tis\n ";
    for (name, scheme) in Scheme::NAMED {
        if let Some(pattern) = scheme.pattern() {
            let by_hand = cut(&[scheme], text).unwrap();
            assert_eq!(by_hand, cut(&[regex(pattern, Matches::Only)], text).unwrap(), "{name}");
        }
    }
}

#[test]
fn matches_are_joined_to_what_stands_beside_them() {
    let text = "--a--b-";
    for (matches, invert, words) in [
        (Matches::MergedWithPrevious, false, &["-", "-", "a-", "-", "b-"][..]),
        (Matches::MergedWithNext, false, &["-", "-a", "-", "-b", "-"]),
        (Matches::Contiguous, false, &["--", "a", "--", "b", "-"]),
        (Matches::MergedWithPrevious, true, &["-", "-a", "-", "-b", "-"]),
        (Matches::MergedWithNext, true, &["-", "-", "a-", "-", "b-"]),
        (Matches::Removed, true, &["-", "-", "-", "-", "-"]),
        (Matches::Only, true, &["a", "b"]),
    ] {
        let scheme = Scheme::Regex { pattern: "-".to_owned(), matches, invert, literal: true };
        assert_eq!(cut(&[scheme], text).unwrap(), words, "{matches:?} {invert}");
    }
}

#[test]
fn a_wrong_pattern_is_named() {
    let error = Pretokenizer::new(&[regex("a(b", Matches::Only)]).unwrap_err();
    assert!(
        matches!(&error, Error::Pattern { pattern, reason } if pattern == "a(b" && !reason.is_empty())
    );
}

#[test]
fn digits_are_grouped_by_one_or_three() {
    for group in [2, 4, u8::MAX] {
        let error = Pretokenizer::new(&[Scheme::Digits { group, unicode_17: false }]).unwrap_err();
        let found = group.to_string();
        assert_eq!(
            error,
            Error::Config {
                option: "digits group",
                found,
                expected: "1, 3, or 0 for no limit".to_owned()
            }
        );
    }
}

/// Patterns that backtrack without end, in one search or in very many, give up soon.
#[test]
fn a_catastrophic_pattern_gives_up() {
    let long = "a".repeat(100_000);
    let costly_everywhere = format!("{} ", "a".repeat(1000)).repeat(1000);
    let cases = [
        (r"(?=a)(a+)+(?!a)b", &long),
        (r"(?:a|a)*(?!x)b|a", &long),
        (r"(\w+)\1+(?!\w)!|.", &long),
        (r"a*a*(?!a)b|a", &costly_everywhere),
    ];
    for (pattern, text) in cases {
        let started = Instant::now();
        let outcome = cut(&[regex(pattern, Matches::Only)], text);
        assert!(
            matches!(&outcome, Err(Error::PatternGaveUp { pattern: p, .. }) if p == pattern),
            "{pattern}: {outcome:?}"
        );
        assert!(started.elapsed() < Duration::from_secs(300), "{pattern} {:?}", started.elapsed());
    }
}

/// Where it gave up is counted in the whole text, not in the word of the stage before.
#[test]
fn giving_up_says_where() {
    let schemes = [Scheme::Whitespace, regex(r"(?:a|a)*(?!x)b|a", Matches::Only)];
    let error = cut(&schemes, &format!("b bb {}", "a".repeat(50))).unwrap_err();
    assert!(matches!(error, Error::PatternGaveUp { at: 5, .. }), "{error:?}");
}

/// A long way to the next match is no endless backtracking.
#[test]
fn an_honest_pattern_never_gives_up() {
    let text = format!("{}b", "a".repeat(5_000_000));
    assert_eq!(cut(&[regex(r"(?<!x)b", Matches::Only)], &text).unwrap(), ["b"]);
    let text = format!("b{}", "a ".repeat(60_000)).repeat(30);
    assert_eq!(cut(&[regex(r"(?<!x)b", Matches::Only)], &text).unwrap().len(), 30);
}

/// Hostile texts of a million characters: time grows with the text, not with its square (which
/// would be hours).
#[test]
fn time_is_linear_on_hostile_texts() {
    const MANY: usize = 1_000_000;
    let bodies = [
        " ",
        "\n",
        " \n",
        "\r",
        "'",
        "'s",
        "\u{301}",
        "A",
        "a",
        "Aa",
        "aA",
        "1",
        "!",
        "/",
        "!\n",
        "\u{301}A",
        "あA",
        "가",
        "é",
        "É",
        "\t!",
        "▁",
        " ▁",
        "\u{2582}",
        "가a",
        "\u{1F600}",
        "ſ",
    ];
    for (name, scheme) in Scheme::NAMED {
        let scanner = Pretokenizer::new(&[scheme]).unwrap();
        for body in bodies {
            for (start, end) in [("", ""), ("\n", "x"), ("\u{301}", "!"), ("あ", "\n"), ("x", " ")]
            {
                let text = format!("{start}{}{end}", body.repeat(MANY / body.chars().count()));
                let started = Instant::now();
                let mut last = 0;
                scanner.for_each(&text, |_, end| last = end).unwrap();
                assert!(last <= text.len());
                let time = started.elapsed();
                assert!(time < Duration::from_secs(5), "{name} on {start:?} {body:?}: {time:?}");
            }
        }
    }
}
