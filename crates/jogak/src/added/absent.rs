//! Whether tokens that are looked for in normalized text are surely in none of it, told by the text as it comes: then it need not
//! be normalized as a whole.
//!
//! In words: the first character of such a token came of one of a few; behind it, characters of ASCII stay what they are, or
//! become small. So where one that it may have come of stands, and behind it the letters of the token as far as there is
//! ASCII, the token may be there. (What is not of ASCII may become anything, several characters as well, or go.) A few letters
//! are enough: false alarms cost time alone.

use super::finder::{Finder, Found};
use crate::error::Result;
use crate::normalize::Normalizer;

/// What may be such a token.
#[derive(Debug, Clone)]
pub(super) struct Suspects {
    /// What tokens may begin with.
    firsts: Finder,
    /// What stands behind the first character of normalized tokens, as far as it is looked at.
    rests: Vec<String>,
}

/// So many letters of a token are looked at, behind its first one.
const LETTERS: usize = 4;
/// With more that differ, nobody looks at all of them wherever a token may begin.
const MOST: usize = 32;

impl Suspects {
    /// None if nothing is certain of these tokens, as they stand in normalized text.
    pub(super) fn new(tokens: &[String], normalizer: &Normalizer) -> Result<Option<Self>> {
        let (mut firsts, mut rests): (Vec<char>, Vec<String>) = Default::default();
        for token in tokens {
            let mut rest = token.chars();
            let Some(first) =
                rest.next().filter(|_| token.bytes().all(|byte| byte.is_ascii_graphic()))
            else {
                return Ok(None);
            };
            rests.push(rest.take(LETTERS).collect());
            if !firsts.contains(&first) {
                let Some(sources) = normalizer.sources(first) else { return Ok(None) };
                firsts.extend(sources);
            }
        }
        rests.sort_unstable();
        rests.dedup();
        if firsts.is_empty() || rests.len() > MOST {
            return Ok(None);
        }
        let firsts: Vec<String> = firsts.into_iter().map(String::from).collect();
        Ok(Some(Self { firsts: Finder::new(&firsts)?, rests }))
    }

    /// Whether one may be in what becomes of a text, or of any part of it. False is certain.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        let behind = |rest: &String, first: &Found| {
            if first.end - first.start > 1 {
                return true;
            }
            let there = &text.as_bytes()[first.end..];
            let mut pairs = rest.as_bytes().iter().zip(there);
            // Up to what may become anything.
            let other = pairs.find(|(byte, there)| !byte.eq_ignore_ascii_case(there));
            match other {
                Some((_, there)) => !there.is_ascii_graphic() && *there != b' ',
                None => there.len() >= rest.len(),
            }
        };
        let mut found = self.firsts.find_iter(text, 0..text.len());
        found.any(|first| self.rests.iter().any(|rest| behind(rest, &first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::{Buffers, Form, Place, Rule};
    use crate::random::SplitMix64;

    /// What is told to be absent is found in nothing that a text becomes.
    #[test]
    fn what_is_absent_is_not_there() {
        let bert = Rule::Bert {
            clean_text: true,
            chinese_chars: true,
            strip_accents: true,
            lowercase: true,
        };
        let white = Rule::Replace { pattern: r"\s+".into(), with: " ".into(), regex: true };
        let rules = [
            vec![bert],
            vec![Rule::Form(Form::Nfc), white, Rule::Lowercase],
            vec![Rule::Form(Form::Nfkd), Rule::StripMarks, Rule::CollapseSpaces],
        ];
        let tokens = ["<unk>", "<|u|>", "..k"].map(str::to_owned);
        #[rustfmt::skip]
        let letters = [
            "<", "<", "＜", "≮", ".", "…", "u", "U", "ｕ", "ű", "n", "k", "K", ">", "|", "|", "\u{338}", "\0", "\u{AD}", " ", "\n", "中",
        ];
        let mut random = SplitMix64::new(3);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let mut buffers = Buffers::default();
        let (mut there, mut absent) = (0, 0);
        for rules in rules {
            let normalizer = Normalizer::new(&rules).unwrap();
            let suspects = Suspects::new(&tokens, &normalizer).unwrap().expect("known rules");
            for _ in 0..40_000 {
                let mut text: String =
                    (0..1 + below(7)).map(|_| letters[below(letters.len())]).collect();
                if below(4) == 0 {
                    // Nearly one.
                    let mut token: Vec<char> = tokens[below(3)].chars().collect();
                    let letter = letters[below(letters.len())].chars();
                    let at = below(token.len());
                    token.splice(at..at + below(2), letter);
                    text.extend(token);
                }
                let made = normalizer.text(&text, Place::WHOLE, &mut buffers).unwrap();
                let is_there = tokens.iter().any(|token| made.contains(token.as_str()));
                there += usize::from(is_there);
                let may_be = suspects.may_be_in(&text);
                absent += usize::from(!may_be);
                assert!(may_be || !is_there, "{text:?} -> {made:?}");
            }
        }
        assert!(there > 1000 && absent > 20_000, "{there} {absent}");
    }

    #[test]
    fn nothing_is_told_of_letters() {
        let told = |token: &str| {
            Suspects::new(&[token.to_owned()], &Normalizer::default()).unwrap().is_some()
        };
        assert!(told("<mask>"));
        assert!(!told("mask") && !told("<a b>") && !told("<é>"));
    }
}
