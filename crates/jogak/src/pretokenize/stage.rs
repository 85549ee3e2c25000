//! Schemes, ready to run, and what runs them: the scheme is looked at once per call, not once per word.

use super::borders::{Rule, for_each_list};
use super::classes::{self, SPACE};
use super::kin::Kin;
use super::{
    Matches, Metaspace, Scheme, between, cl100k, deepseek, gpt2, hf_scripts, o200k, regex, script,
    simple, solid,
};
use crate::error::{Error, Result};

/// A scheme, ready to run.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    Whole,
    Whitespace,
    Gpt2,
    /// Every number by itself, then GPT-2's.
    StarCoder,
    Cl100k,
    O200k,
    Llama3,
    Qwen2,
    Tekken,
    Bert,
    Bert8,
    Metaspace {
        escape: bool,
        suffix: bool,
    },
    Mark {
        mark: char,
        suffix: bool,
    },
    Punctuation,
    /// Punctuation of Unicode 8.0 or 16.0 with any [`Matches`].
    Marks {
        matches: Matches,
        unicode_8: bool,
    },
    Digits,
    ThreeDigits,
    /// Numbers by groups of any size, by Unicode 17.0 or 16.0.
    Numbers {
        group: usize,
        unicode_17: bool,
    },
    Script,
    HfScripts,
    Fixed {
        length: usize,
    },
    /// What is between spaces, of a line.
    Between,
    Regex(Box<regex::Engine>),
    /// Three expressions, one behind the other.
    DeepSeek,
    /// What mostly cuts as another stage.
    Kin(Box<Kin>),
}

/// Cuts `text`, which starts at `base` of the whole text, with `first`, and every word with `rest`.
pub(super) fn run_sequence(
    first: &Stage,
    rest: &[Stage],
    text: &str,
    base: usize,
    account: &regex::Account,
    word: &mut dyn FnMut(usize, usize),
) -> Result<()> {
    let Some((second, rest)) = rest.split_first() else {
        let word = |start, end| word(base + start, base + end);
        return first.of(text).run(text, base, account, word);
    };
    let mut inner = Ok(());
    let outer = first.of(text).run(text, base, account, |start, end| {
        if inner.is_ok() {
            inner = run_sequence(second, rest, &text[start..end], base + start, account, word);
        }
    });
    inner.and(outer)
}

impl Stage {
    /// Whether it has an answer for every text.
    pub(super) fn is_certain(&self) -> bool {
        match self {
            Stage::Regex(engine) => engine.is_certain(),
            Stage::Kin(kin) => kin.any.iter().all(Stage::is_certain),
            _ => true,
        }
    }

    /// What cuts this text.
    #[inline]
    pub(super) fn of(&self, text: &str) -> &Self {
        match self {
            Stage::Kin(kin) if kin.is_usual(text) => &kin.usual,
            _ => self,
        }
    }

    /// What the first of these schemes are together, and how many of them, if there is something better than one behind the other.
    pub(super) fn of_several(schemes: &[Scheme]) -> Result<Option<(Self, usize)>> {
        if deepseek::begins(schemes) {
            return Ok(Some((Stage::DeepSeek, deepseek::SCHEMES)));
        }
        if let [Scheme::Digits { group: 1, unicode_17: false }, Scheme::Gpt2, ..] = schemes {
            return Ok(Some((Stage::StarCoder, 2)));
        }
        Ok(Kin::new(schemes)?.map(|(kin, len)| (Stage::Kin(Box::new(kin)), len)))
    }

    pub(super) fn new(scheme: &Scheme) -> Result<Self> {
        Ok(match scheme {
            Scheme::None | Scheme::PrefixSpace | Scheme::DrawBytes => Stage::Whole,
            Scheme::Whitespace => Stage::Whitespace,
            Scheme::Gpt2 => Stage::Gpt2,
            Scheme::Cl100k => Stage::Cl100k,
            Scheme::O200k => Stage::O200k,
            Scheme::Llama3 => Stage::Llama3,
            Scheme::Qwen2 => Stage::Qwen2,
            Scheme::Tekken => Stage::Tekken,
            Scheme::Bert => Stage::Bert,
            Scheme::Bert8 => Stage::Bert8,
            Scheme::Metaspace(Metaspace { split: false, .. }) => Stage::Whole,
            Scheme::Metaspace(spaces) if matches!(spaces.mark(), '▁' | ' ') => {
                Stage::Metaspace { escape: spaces.mark() == '▁', suffix: spaces.suffix }
            }
            Scheme::Metaspace(spaces) => Stage::Mark { mark: spaces.mark(), suffix: spaces.suffix },
            Scheme::Punctuation { matches: Matches::Isolated, unicode_8: false } => {
                Stage::Punctuation
            }
            &Scheme::Punctuation { matches, unicode_8 } => Stage::Marks { matches, unicode_8 },
            Scheme::Digits { group: 1, unicode_17: false } => Stage::Digits,
            Scheme::Digits { group: 3, unicode_17: false } => Stage::ThreeDigits,
            &Scheme::Digits { group: group @ (0 | 1 | 3), unicode_17 } => {
                let group = if group == 0 { usize::MAX } else { usize::from(group) };
                Stage::Numbers { group, unicode_17 }
            }
            Scheme::Digits { group, .. } => {
                return Err(Error::Config {
                    option: "digits group",
                    found: group.to_string(),
                    expected: "1, 3, or 0 for no limit".to_owned(),
                });
            }
            Scheme::Script => Stage::Script,
            Scheme::HfScripts => Stage::HfScripts,
            &Scheme::Fixed { length } => {
                if length == 0 {
                    return Err(Error::Config {
                        option: "the length of words",
                        found: "0".to_owned(),
                        expected: "at least 1".to_owned(),
                    });
                }
                Stage::Fixed { length }
            }
            Scheme::Words => {
                let pattern = scheme.pattern().unwrap_or_default();
                Stage::Regex(Box::new(regex::Engine::new(pattern, Matches::Only, false)?))
            }
            scheme if between::is(scheme) => Stage::Between,
            Scheme::Regex { pattern, matches, invert, literal } => {
                let pattern = if *literal { &*fancy_regex::escape(pattern) } else { pattern };
                Stage::Regex(Box::new(regex::Engine::new(pattern, *matches, *invert)?))
            }
        })
    }

    /// Calls `word` with every word of `text`, which starts at `base` of the whole text.
    #[inline(always)]
    pub(super) fn run(
        &self,
        text: &str,
        base: usize,
        account: &regex::Account,
        mut word: impl FnMut(usize, usize),
    ) -> Result<()> {
        match self {
            Stage::Whole => tile(text, |text, _| text.len(), word),
            Stage::Whitespace => between_blanks::<solid::Blanks>(text, word),
            Stage::Gpt2 => by_rule::<gpt2::Gpt2>(text, word),
            Stage::StarCoder => by_rule::<gpt2::StarCoder>(text, word),
            Stage::Cl100k => by_rule::<cl100k::Cl100k>(text, word),
            Stage::O200k => by_rule::<o200k::O200k>(text, word),
            Stage::Llama3 => by_rule::<cl100k::Llama3>(text, word),
            Stage::Qwen2 => by_rule::<cl100k::Qwen2>(text, word),
            Stage::Tekken => by_rule::<o200k::Tekken>(text, word),
            Stage::Bert => between_blanks::<solid::Bert>(text, word),
            Stage::Bert8 => between_blanks::<solid::Bert8>(text, word),
            &Stage::Mark { mark, suffix } => {
                tile(text, |text, at| simple::mark_end(text, at, mark, suffix), word);
            }
            &Stage::Marks { matches, unicode_8 } => {
                simple::punctuation(text, matches, unicode_8, word);
            }
            &Stage::Numbers { group, unicode_17 } => {
                tile(text, |text, at| simple::number_end(text, at, group, unicode_17), word);
            }
            Stage::HfScripts => hf_scripts::scan(text, word),
            &Stage::Fixed { length } => {
                tile(text, |text, at| simple::fixed_end(text, at, length), word);
            }
            Stage::Metaspace { escape: true, suffix: false } => {
                tile(text, simple::metaspace_end, word);
            }
            Stage::Metaspace { escape: true, suffix: true } => {
                tile(text, simple::metaspace_suffix_end, word);
            }
            Stage::Metaspace { escape: false, suffix: false } => {
                tile(text, simple::space_end, word);
            }
            Stage::Metaspace { escape: false, suffix: true } => {
                tile(text, simple::space_suffix_end, word);
            }
            Stage::DeepSeek => by_rule::<deepseek::DeepSeek>(text, word),
            Stage::Punctuation => tile(text, simple::punctuation_end, word),
            Stage::Digits => tile(text, simple::digit_end, word),
            Stage::ThreeDigits => tile(text, simple::three_digits_end, word),
            Stage::Script => script::scan(text, word),
            Stage::Between => between::for_each(text, word),
            Stage::Regex(engine) => return engine.scan(text, base, account, word),
            Stage::Kin(kin) => {
                let (first, rest) = kin.any.split_first().unwrap_or((&Stage::Whole, &[]));
                let word = &mut |start, end| word(start - base, end - base);
                return run_sequence(first, rest, text, base, account, word);
            }
        }
        Ok(())
    }
}

/// Calls `words` with lists of borders, if the stage has a rule of that kind. The text has less than 4 GiB.
#[inline(always)]
pub(super) fn borders<const LINES: bool>(
    stage: &Stage,
    text: &[u8],
    words: impl FnMut(&[u32]),
) -> bool {
    match stage {
        // No word is empty.
        _ if text.is_empty() => return false,
        Stage::Gpt2 => for_each_list::<gpt2::Gpt2<LINES>>(text, words),
        Stage::StarCoder => for_each_list::<gpt2::StarCoder<LINES>>(text, words),
        Stage::DeepSeek => for_each_list::<deepseek::DeepSeek<LINES>>(text, words),
        Stage::Cl100k => for_each_list::<cl100k::Cl100k<LINES>>(text, words),
        Stage::O200k => for_each_list::<o200k::O200k<LINES>>(text, words),
        Stage::Llama3 => for_each_list::<cl100k::Llama3<LINES>>(text, words),
        Stage::Qwen2 => for_each_list::<cl100k::Qwen2<LINES>>(text, words),
        Stage::Tekken => for_each_list::<o200k::Tekken<LINES>>(text, words),
        _ => return false,
    }
    true
}

/// Shorter texts are cut character by character: a block costs as much, however little is in it.
pub(super) const FEW: usize = 24;

/// The words of a scheme that has a rule.
#[inline(always)]
fn by_rule<R: Rule>(text: &str, mut word: impl FnMut(usize, usize)) {
    if text.len() < FEW || u32::try_from(text.len()).is_err() {
        return tile(text, R::word_end, word);
    }
    for_each_list::<R>(text.as_bytes(), |borders| {
        for pair in borders.windows(2) {
            word(pair[0] as usize, pair[1] as usize);
        }
    });
}

/// Words one after the other, from the start of the text to its end.
#[inline(always)]
fn tile(text: &str, word_end: impl Fn(&[u8], usize) -> usize, mut word: impl FnMut(usize, usize)) {
    let text = text.as_bytes();
    let mut at = 0;
    while at < text.len() {
        let end = word_end(text, at);
        debug_assert!(at < end, "a scanner must move on");
        word(at, end);
        at = end;
    }
}

/// Words with the white space between them dropped.
#[inline(always)]
fn between_blanks<K: solid::Kind>(text: &str, mut word: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    if text.len() >= FEW && u32::try_from(text.len()).is_ok() {
        return solid::for_each_list::<K>(bytes, |starts, ends| {
            for (start, end) in starts.iter().zip(ends) {
                word(*start as usize, *end as usize);
            }
        });
    }
    let mut at = classes::run(bytes, 0, SPACE);
    while at < bytes.len() {
        let end = K::word_end(bytes, at);
        debug_assert!(at < end, "a scanner must move on");
        word(at, end);
        at = classes::run(bytes, end, SPACE);
    }
}
