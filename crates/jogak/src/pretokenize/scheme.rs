//! The ways to cut a text, by name, and the pattern each named one equals.
//!
//! Adding a named scheme: a variant here with its doc, a row in `NAMED` and in
//! [`Scheme::pattern`]; a scanner in the file of its family with the rule in words; an arm in
//! `run` (mod.rs). The law tests find it through [`Scheme::NAMED`] and hold it to its pattern.

use super::{Matches, Metaspace, plain};

/// One way to cut a text into words.
///
/// A scheme with a [pattern](Scheme::pattern) cuts exactly as that regular expression does when it
/// is applied again and again from left to right: the matches are the words.
///
/// ```
/// use jogak::pretokenize::{Pretokenizer, Scheme};
///
/// let words = |scheme: Scheme, text: &'static str| -> jogak::Result<Vec<&'static str>> {
///     let mut words = Vec::new();
///     Pretokenizer::new(&[scheme])?.for_each(text, |start, end| words.push(&text[start..end]))?;
///     Ok(words)
/// };
/// assert_eq!(words(Scheme::Gpt2, "I'll pay $12345")?, ["I", "'ll", " pay", " $", "12345"]);
/// assert_eq!(words(Scheme::Cl100k, "I'll pay $12345")?, ["I", "'ll", " pay", " $", "123", "45"]);
/// assert_eq!(words(Scheme::O200k, "I'll pay $12345")?, ["I'll", " pay", " $", "123", "45"]);
/// assert_eq!(words(Scheme::Bert, "I'll pay $12345")?, ["I", "'", "ll", "pay", "$", "12345"]);
/// # Ok::<(), jogak::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheme {
    /// The whole text is one word (an empty text has none).
    None,
    /// Words between Unicode `White_Space`, which is dropped.
    Whitespace,
    /// GPT-2 (Radford et al. 2019): English contractions, then runs of letters, of numbers and of
    /// other characters, each with one space before it if there is one.
    Gpt2,
    /// cl100k_base of tiktoken: contractions in any case, letters with any one character before
    /// them, numbers in threes from the left, symbols with the line ends after them.
    Cl100k,
    /// o200k_base of tiktoken: as cl100k, but capitals start a new word after small letters, marks
    /// belong to letters, and a contraction stays with its word.
    O200k,
    /// BERT (Devlin et al. 2019): white space is dropped, every punctuation character is its own
    /// word. Punctuation is ASCII punctuation (symbols like `$` and `^` too) and `\p{P}`.
    ///
    /// This is the cut alone: putting spaces around Chinese characters, lower case and the removal
    /// of accents are BERT's normalization and come before.
    Bert,
    /// The same with the punctuation of Unicode 8.0, as in HF tokenizers.
    Bert8,
    /// Words (`\w+`), and what stands between them and white space; white space is dropped. The
    /// `Whitespace` of HF tokenizers.
    Words,
    /// Llama 3, which is the older cl100k: white space at the end of a text is cut behind its last line
    /// end.
    Llama3,
    /// Qwen 2: as Llama 3, but numbers one by one.
    Qwen2,
    /// Mistral's tekken: as o200k, but without contractions, and numbers one by one.
    Tekken,
    /// Cut before every `▁` (U+2581), or behind it where spaces belong to the word before them. The
    /// spaces have been replaced by `▁` before.
    Metaspace(Metaspace),
    /// Punctuation as in [`Scheme::Bert`], and what stands between.
    Punctuation {
        /// What a punctuation character is.
        matches: Matches,
        /// What is punctuation: by Unicode 8.0 or 16.0.
        unicode_8: bool,
    },
    /// Numbers (`\p{N}`: digits of all scripts, Roman numerals, fractions) are cut off from the
    /// rest, in groups from the left.
    Digits {
        /// Largest number of characters in a group: 1 or 3; 0 for no limit.
        group: u8,
        /// What is a number: by Unicode 17.0 or 16.0.
        unicode_17: bool,
    },
    /// Cut where the Unicode script changes. It has no pattern; the rule:
    ///
    /// 1. Hiragana, Katakana and `ー` (U+30FC) count as Han, so that Japanese is not cut to pieces.
    /// 2. A character of no script of its own (Common, Inherited, unknown: digits, punctuation,
    ///    combining marks, emoji) belongs to the character before it; at the start of a text, to
    ///    the first that has a script.
    /// 3. Spaces (U+0020) and `▁` right before the character that changes the script go with it.
    ///
    /// SentencePiece's training and the `UnicodeScripts` of HF tokenizers share rule 1, but there
    /// Common is a script by itself (`Yes.` is two words) and a space stays with what precedes it.
    /// Here it takes a change between two real scripts to cut, and a space opens a word as in the
    /// other schemes; [`Scheme::Punctuation`] and [`Scheme::Digits`] cut the rest where wanted.
    Script,
    /// Cut where the script changes as in HF tokenizers (`UnicodeScripts`): characters of no script of
    /// their own are a script, Common, and so are combining marks, Inherited. What stands before the
    /// first character that is neither a space nor unknown is dropped.
    HfScripts,
    /// So many characters to a word.
    Fixed {
        /// How many; above 0.
        length: usize,
    },
    /// A space before every word that does not begin with one. Rewrites, and cuts nothing.
    PrefixSpace,
    /// Every byte becomes the character that GPT-2 draws it with (`Ġ` for a space). Rewrites, and cuts
    /// nothing.
    DrawBytes,
    /// Any regular expression, in the syntax of the `fancy-regex` crate (look-around, possessive
    /// repeats and back references included).
    Regex {
        /// The regular expression.
        pattern: String,
        /// What its matches are.
        matches: Matches,
        /// The gaps are taken for matches, and matches for gaps.
        invert: bool,
        /// The pattern is a text, and no expression.
        literal: bool,
    },
}

/// ASCII punctuation and `\p{P}`, for use inside brackets.
macro_rules! punctuation {
    () => {
        r"!-/:-@\[-`{-~\p{P}"
    };
}

impl Scheme {
    /// Every scheme that has a name, with it.
    pub const NAMED: [(&'static str, Scheme); 17] = [
        ("none", Scheme::None),
        ("whitespace", Scheme::Whitespace),
        ("gpt2", Scheme::Gpt2),
        ("cl100k", Scheme::Cl100k),
        ("o200k", Scheme::O200k),
        ("bert", Scheme::Bert),
        ("metaspace", Scheme::Metaspace(Metaspace::DEFAULT)),
        ("bert-8.0", Scheme::Bert8),
        ("punctuation", Scheme::Punctuation { matches: Matches::Isolated, unicode_8: false }),
        ("digits", Scheme::Digits { group: 1, unicode_17: false }),
        ("digits-3", Scheme::Digits { group: 3, unicode_17: false }),
        ("script", Scheme::Script),
        ("words", Scheme::Words),
        ("llama-3", Scheme::Llama3),
        ("qwen2", Scheme::Qwen2),
        ("tekken", Scheme::Tekken),
        ("unicode-scripts", Scheme::HfScripts),
    ];

    /// The scheme called `name`, or `None` if there is none.
    ///
    /// ```
    /// use jogak::pretokenize::Scheme;
    /// assert_eq!(Scheme::from_name("digits-3"), Some(Scheme::Digits { group: 3, unicode_17: false }));
    /// assert_eq!(Scheme::from_name("gpt-2"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Scheme> {
        Self::NAMED.into_iter().find(|(other, _)| *other == name).map(|(_, scheme)| scheme)
    }

    /// The name, or `None` for a [`Scheme::Regex`].
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        Self::NAMED.into_iter().find(|(_, other)| other == self).map(|(name, _)| name)
    }

    /// The regular expression (for `fancy-regex`) whose successive matches are the words of this
    /// scheme. `None` for [`Scheme::Script`] and others that no short expression says, and for
    /// [`Scheme::Regex`], which has its own.
    ///
    /// The patterns of cl100k and o200k are those of tiktoken, that of GPT-2 is OpenAI's release
    /// with the contractions gathered in one group.
    ///
    /// ```
    /// use jogak::pretokenize::Scheme;
    /// assert_eq!(Scheme::Whitespace.pattern(), Some(r"\S+"));
    /// assert_eq!(Scheme::Script.pattern(), None);
    /// ```
    #[must_use]
    pub fn pattern(&self) -> Option<&'static str> {
        Some(match self {
            Scheme::None => r"(?s:.+)",
            Scheme::Whitespace => r"\S+",
            Scheme::Gpt2 => {
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
            }
            Scheme::Cl100k => concat!(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+",
                r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
            ),
            Scheme::O200k => concat!(
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Scheme::Bert => {
                concat!("[", punctuation!(), r"]|[^\s", punctuation!(), "]+")
            }
            Scheme::Metaspace(Metaspace { split: false, .. }) => r"(?s:.+)",
            Scheme::Metaspace(spaces) => match (spaces.escape, spaces.suffix) {
                (true, false) => "▁[^▁]*|[^▁]+",
                (true, true) => "[^▁]*▁|[^▁]+",
                (false, false) => " [^ ]*|[^ ]+",
                (false, true) => "[^ ]* |[^ ]+",
            },
            Scheme::Punctuation { matches: Matches::Isolated, unicode_8: false } => {
                concat!("[", punctuation!(), "]|[^", punctuation!(), "]+")
            }
            Scheme::Digits { unicode_17: true, .. } => return None,
            Scheme::Digits { group: 1, .. } => r"\p{N}|\P{N}+",
            Scheme::Digits { group: 0, .. } => r"\p{N}+|\P{N}+",
            Scheme::Digits { .. } => r"\p{N}{1,3}|\P{N}+",
            Scheme::Words => r"\w+|[^\w\s]+",
            Scheme::Llama3 => concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Scheme::Qwen2 => concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Scheme::Tekken => concat!(
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
                r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
                r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Scheme::PrefixSpace | Scheme::DrawBytes => r"(?s:.+)",
            Scheme::Bert8
            | Scheme::Punctuation { .. }
            | Scheme::Script
            | Scheme::HfScripts
            | Scheme::Fixed { .. }
            | Scheme::Regex { .. } => return None,
        })
    }

    /// Whether it also rewrites what it is given: nothing that stands behind it sees the text itself.
    #[must_use]
    pub fn rewrites(&self) -> bool {
        matches!(self, Scheme::Metaspace(_) | Scheme::PrefixSpace | Scheme::DrawBytes)
    }

    /// Whether what it makes of a text is what it makes of each of the parts that blanks (space, tab, line feed, carriage
    /// return) leave of it: no word has a blank, and none depends on what is beyond one.
    pub(crate) fn drops_blanks(&self) -> bool {
        match self {
            Scheme::Whitespace | Scheme::Bert | Scheme::Bert8 | Scheme::Words => true,
            Scheme::Regex { pattern, matches, invert, literal: false } => {
                let words =
                    matches!((matches, invert), (Matches::Only, false) | (Matches::Removed, true));
                words && plain::sees_no(&[' ', '\t', '\n', '\r'], pattern)
            }
            _ => false,
        }
    }

    /// Whether the words of any text, put together, are the text: nothing is dropped.
    #[must_use]
    pub fn is_lossless(&self) -> bool {
        match self {
            Scheme::Whitespace | Scheme::Bert | Scheme::Bert8 | Scheme::Words => false,
            Scheme::HfScripts => false,
            Scheme::Regex { matches, .. } | Scheme::Punctuation { matches, .. } => {
                !matches!(matches, Matches::Removed | Matches::Only)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::Pretokenizer;
    use super::*;
    use crate::random::SplitMix64;

    fn regex(pattern: &str, matches: Matches, invert: bool) -> Scheme {
        Scheme::Regex { pattern: pattern.to_owned(), matches, invert, literal: false }
    }

    fn words<'a>(cutter: &Pretokenizer, text: &'a str) -> Vec<&'a str> {
        let mut words = Vec::new();
        cutter.for_each(text, |start, end| words.push(&text[start..end])).unwrap();
        words
    }

    #[test]
    fn words_without_blanks_are_those_of_the_parts() {
        let patterns = [
            r"'s|'t|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+",
            r"\w+|[^\w\s]",
            r"(?i:ab|a)(?:c|bcd)*",
            r"[^\s]{2}",
            "x*",
        ];
        let mut schemes: Vec<Scheme> =
            patterns.iter().map(|pattern| regex(pattern, Matches::Only, false)).collect();
        schemes.extend(patterns.iter().map(|pattern| regex(pattern, Matches::Removed, true)));
        schemes.extend([Scheme::Whitespace, Scheme::Bert, Scheme::Bert8, Scheme::Words]);
        let pieces = [
            "a", "b", "cd", "x", "'s", "7", "!", "é", "가", " ", "\t", "\n", "\r", "\u{a0}",
            "\u{3000}",
        ];
        let mut random = SplitMix64::new(5);
        for scheme in schemes {
            assert!(scheme.drops_blanks(), "{scheme:?}");
            let cutter = Pretokenizer::new(std::slice::from_ref(&scheme)).unwrap();
            for _ in 0..2000 {
                let len = random.next() % 40;
                let piece = || pieces[random.next() as usize % pieces.len()];
                let text: String = std::iter::repeat_with(piece).take(len as usize).collect();
                let parts = text.split([' ', '\t', '\n', '\r']);
                let expected: Vec<&str> = parts.flat_map(|part| words(&cutter, part)).collect();
                assert_eq!(words(&cutter, &text), expected, "{scheme:?} {text:?}");
            }
        }
    }

    #[test]
    fn some_see_blanks_or_beyond() {
        for (pattern, matches, invert) in [
            (r"\w+", Matches::Isolated, false),
            (r"\w+", Matches::Removed, false),
            (r"\w+", Matches::Only, true),
            ("[^a]+", Matches::Only, false),
            ("a b", Matches::Only, false),
            (r"\w+\r", Matches::Only, false),
            (r"\w+|\s", Matches::Only, false),
            (r"(?s:.)", Matches::Only, false),
            (r"\w+$", Matches::Only, false),
            (r"^\w", Matches::Only, false),
            (r"\w+(?= )", Matches::Only, false),
            (r"(?<!\s)a", Matches::Only, false),
            (r"\b\w", Matches::Only, false),
            (r"a|\s+(?!\S)|\s+", Matches::Only, false),
        ] {
            let scheme = regex(pattern, matches, invert);
            assert!(!scheme.drops_blanks(), "{scheme:?}");
        }
        let literal = Scheme::Regex {
            pattern: "a".to_owned(),
            matches: Matches::Only,
            invert: false,
            literal: true,
        };
        assert!(!literal.drops_blanks() && !Scheme::Script.drops_blanks());
    }
}
