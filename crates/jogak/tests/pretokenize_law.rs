//! The law of the named schemes: a scanner cuts where its regular expression does.
//!
//! Held against `fancy-regex` over every code point in several surroundings, over every short text
//! of the characters that the patterns tell apart, and over random mixtures of all that is hard.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use fancy_regex::Regex;
use jogak::pretokenize::{Matches, Metaspace, Pretokenizer, Scheme};

type Span = (usize, usize);

struct Law {
    scheme: Scheme,
    scanner: Pretokenizer,
    regex: Regex,
}

impl Law {
    fn of(scheme: Scheme) -> Self {
        let scanner = Pretokenizer::new(std::slice::from_ref(&scheme)).unwrap();
        let regex = Regex::new(scheme.pattern().unwrap()).unwrap();
        Self { scheme, scanner, regex }
    }

    fn check(&self, text: &str) {
        let mut words: Vec<Span> = Vec::new();
        self.scanner.for_each(text, |start, end| words.push((start, end))).unwrap();
        let expected = self.regex.find_iter(text).map(|found| {
            let found = found.unwrap();
            (found.start(), found.end())
        });
        assert!(
            words.iter().copied().eq(expected),
            "{:?} of {}: {words:?}",
            self.scheme,
            text.escape_unicode()
        );
        if self.scheme.is_lossless() {
            assert_tiles(&words, text);
        }
    }
}

fn assert_tiles(words: &[Span], text: &str) {
    let mut at = 0;
    for &(start, end) in words {
        assert_eq!(start, at, "a gap in {text:?}");
        assert!(end > start, "an empty word in {text:?}");
        at = end;
    }
    assert_eq!(at, text.len(), "{text:?}");
}

/// `{}` stands for the code point.
const SURROUNDINGS: [&str; 9] =
    ["1{}a", "{}{}\n", " {}'s", "{}", "'{}s", "A{} {}", " {}\n\n", "!{}/", "{}\u{301}A"];

/// Every code point in every surrounding, each of them a text of its own. From plane 4 on almost
/// all is unassigned or private: a third of the surroundings is enough there.
fn every_code_point(law: &Law) {
    let mut text = String::new();
    for c in '\0'..=char::MAX {
        let mut utf8 = [0; 4];
        let c: &str = c.encode_utf8(&mut utf8);
        let enough = if c < "\u{40000}" { SURROUNDINGS.len() } else { 3 };
        for surrounding in &SURROUNDINGS[..enough] {
            text.clear();
            let mut parts = surrounding.split("{}");
            text.push_str(parts.next().unwrap());
            for part in parts {
                text.push_str(c);
                text.push_str(part);
            }
            law.check(&text);
        }
    }
}

/// A small generator of random numbers (SplitMix64): the same texts on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}

/// What texts are mixed from: everything some pattern looks at, and its neighbours.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    // contractions, U+017F long s, U+212A Kelvin sign
    "'s", "'S", "'\u{17F}", "'t", "'D", "'m", "'ll", "'LL", "'lL", "'Ve", "'ve", "'rE", "'re", "'l",
    "'v", "'", "''", "\u{2019}s", "'\u{212A}", "\u{17F}", "\u{212A}",
    // letters: small, capital, title case, modifier, other
    "a", "b", "z", "A", "Z", "xyz", "ABC", "Word", "camelCase", "ABCdef", "extraordinarily", "\u{DF}",
    "\u{E9}", "\u{C9}", "\u{1C5}", "\u{1F88}", "\u{2B0}", "\u{2C7}", "\u{AA}", "\u{416}", "\u{436}",
    "\u{5D0}", "\u{627}\u{644}", "\u{E01}", "\u{AC00}\u{B098}", "\u{4E2D}\u{3042}\u{30FC}",
    // marks
    "\u{915}\u{94D}", "\u{300}", "\u{301}\u{302}", "\u{93E}", "\u{20DD}", "\u{FE0F}",
    // numbers
    "0", "9", "12", "123", "1234567", "\u{663}", "\u{967}", "\u{2167}", "\u{BD}", "\u{B2}",
    "\u{1D7D8}",
    // white space, and controls that are none
    " ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n", " \n", "\n ", "\u{B}", "\u{C}", "\u{85}",
    "\u{A0}", "\u{1680}", "\u{2003}", "\u{2028}", "\u{3000}", "\u{1C}", "\u{1}", "\u{200B}",
    "\u{FEFF}",
    // the rest
    "!", "?!", "/", "//", "$", "^", "_", "...", "\u{3002}", "\u{2581}", "\u{2582}", "\u{1F600}",
];

/// Short texts of random pieces, now and then with a random character between them.
fn random_mixtures(law: &Law, count: usize) {
    let mut random = Random(1);
    let mut text = String::new();
    for _ in 0..count {
        text.clear();
        for _ in 0..=random.below(14) {
            if random.below(16) == 0 {
                text.extend(char::from_u32(u32::try_from(random.below(0x3_2000)).unwrap()));
            } else {
                text.push_str(PIECES[random.below(PIECES.len())]);
            }
        }
        law.check(&text);
    }
}

/// One letter of each kind, a mark, a digit, blanks, line ends, symbols.
const ALPHABET: [char; 14] =
    ['a', 'A', '\u{1C5}', '中', 'é', '\u{301}', '1', ' ', '\t', '\n', '\r', '\'', '/', '!'];

/// All texts of `len` characters of the alphabet.
fn every_short_text(law: &Law, len: u32) {
    let mut text = String::new();
    for number in 0..ALPHABET.len().pow(len) {
        text.clear();
        let mut rest = number;
        for _ in 0..len {
            text.push(ALPHABET[rest % ALPHABET.len()]);
            rest /= ALPHABET.len();
        }
        law.check(&text);
    }
}

macro_rules! laws {
    ($($name:ident: $scheme:expr,)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn holds_at_every_code_point() {
                every_code_point(&Law::of($scheme));
            }

            #[test]
            fn holds_on_random_mixtures() {
                random_mixtures(&Law::of($scheme), 100_000);
            }

            #[test]
            fn holds_on_every_short_text() {
                (0..=4).for_each(|len| every_short_text(&Law::of($scheme), len));
            }
        })*

        #[test]
        fn every_pattern_has_its_law() {
            let held = [$($scheme),*];
            for (name, scheme) in Scheme::NAMED {
                assert_eq!(scheme.pattern().is_some(), held.contains(&scheme), "{name}");
            }
        }
    };
}

laws! {
    none: Scheme::None,
    whitespace: Scheme::Whitespace,
    gpt2: Scheme::Gpt2,
    cl100k: Scheme::Cl100k,
    o200k: Scheme::O200k,
    bert: Scheme::Bert,
    metaspace: Scheme::Metaspace(Metaspace::DEFAULT),
    punctuation: Scheme::Punctuation { matches: Matches::Isolated, unicode_8: false },
    digits: Scheme::Digits { group: 1, unicode_17: false },
    three_digits: Scheme::Digits { group: 3, unicode_17: false },
    words: Scheme::Words,
    llama_3: Scheme::Llama3,
    qwen_2: Scheme::Qwen2,
    tekken: Scheme::Tekken,
}
