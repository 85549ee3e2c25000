//! Words that are made ready character by character: each becomes what it becomes by itself.
//!
//! Rule: says yes only of what is certain. Where no rule sees the neighbours of a character but to sort marks
//! ([`Normalizer::goes_by_characters`]), and what all characters of a word become is [quiet](Quiet), then that in a row
//! is what the word becomes: no rule changes quiet characters, or their order, and nothing cuts between them. So a
//! capital, an accent, a Hangul syllable that falls into letters, or a control that vanishes costs one look at a table.

use super::quiet::Quiet;
use crate::normalize::{Buffers, Normalizer, WITHIN};

/// Bytes that a character may become.
const MOST: usize = 16;
/// Longest word, in bytes.
const LONGEST: usize = 1 << 12;

/// What characters below U+10000 become; each is asked for when it is first seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Mapped {
    /// By code point: 0 for one that was not seen, [`ODD`], or where its text starts in `texts` and how long it is.
    characters: Vec<u32>,
    /// One behind the other; a byte before them, so that no entry is 0, and some behind.
    texts: Vec<u8>,
    /// Room for a word.
    word: Vec<u8>,
    buffers: Buffers,
}

/// Nothing is certain.
const ODD: u32 = 1;
/// Bits for the length, above the lowest one.
const LENGTH_BITS: u32 = 5;

impl Mapped {
    /// What becomes of `word`, which is one word then; None if that is not certain. Always to be asked with the same
    /// normalizer, which goes by characters.
    pub(super) fn word(
        &mut self,
        normalizer: &Normalizer,
        quiet: &Quiet,
        word: &str,
    ) -> Option<&str> {
        if word.len() > LONGEST {
            return None;
        }
        if self.characters.is_empty() {
            self.characters.resize(1 << 16, 0);
            self.texts.resize(1 + MOST, 0);
        }
        let room = (1 + word.len()) * MOST;
        if self.word.len() < room {
            self.word.resize(room, 0);
        }
        let mark = quiet.mark().map_or(0, |mark| mark.encode_utf8(&mut self.word).len());
        let mut at = mark;
        for c in word.chars() {
            let mut entry = *self.characters.get(c as usize)?;
            if entry == 0 {
                entry = self.learn(normalizer, quiet, c);
            }
            if entry == ODD {
                return None;
            }
            // All of the bytes are written, however many there are.
            let from = (entry >> (LENGTH_BITS + 1)) as usize;
            let text = self.texts.get(from..)?.first_chunk::<MOST>()?;
            *self.word.get_mut(at..)?.first_chunk_mut::<MOST>()? = *text;
            at += (entry >> 1 & ((1 << LENGTH_BITS) - 1)) as usize;
        }
        std::str::from_utf8(&self.word[..at]).ok().filter(|_| at > mark)
    }

    /// The entry of a character that was not seen.
    #[cold]
    fn learn(&mut self, normalizer: &Normalizer, quiet: &Quiet, c: char) -> u32 {
        let Self { characters, texts, buffers, .. } = self;
        let mut utf8 = [0; 4];
        let made = normalizer.text(c.encode_utf8(&mut utf8), WITHIN, buffers);
        let certain = |made: &&str| !normalizer.joins(c) && made.len() <= MOST && quiet.holds(made);
        let sure = made.ok().filter(certain);
        let entry = sure.map_or(ODD, |made| {
            let from = texts.len() - MOST;
            texts.truncate(from);
            texts.extend_from_slice(made.as_bytes());
            texts.resize(texts.len() + MOST, 0);
            // At most 2^16 texts of 2^4 bytes.
            (from as u32) << (LENGTH_BITS + 1) | (made.len() as u32) << 1
        });
        characters[c as usize] = entry;
        entry
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;
    use crate::normalize::{Form, Rule, RuleSet, compile};
    use crate::pretokenize::{Metaspace, Pretokenizer, Scheme};
    use crate::random::SplitMix64;

    fn bert(lowercase: bool) -> Rule {
        Rule::Bert { clean_text: true, chinese_chars: true, strip_accents: lowercase, lowercase }
    }

    /// Holds words to the normalizer and the scheme; how many were certain.
    fn check(rules: &[Rule], scheme: &Scheme, words: impl Iterator<Item = String>) -> usize {
        let normalizer = Normalizer::new(rules).unwrap();
        assert!(normalizer.goes_by_characters());
        let quiet = Quiet::new(&normalizer, std::slice::from_ref(scheme)).unwrap();
        let cutter = Pretokenizer::new(std::slice::from_ref(scheme)).unwrap();
        let (mut mapped, mut buffers, mut certain) = (Mapped::default(), Buffers::default(), 0);
        for word in words {
            let Some(made) = mapped.word(&normalizer, &quiet, &word) else { continue };
            certain += 1;
            let expected = normalizer.text(&word, WITHIN, &mut buffers).unwrap();
            let mark = quiet.mark().map(String::from).unwrap_or_default();
            assert_eq!(made, mark + expected, "{word:?}");
            let mut found = Vec::new();
            cutter.for_each(made, |start, end| found.push((start, end))).unwrap();
            assert_eq!(found, [(0, made.len())], "{word:?}");
        }
        certain
    }

    #[test]
    fn every_character_between_others() {
        let words = || {
            let all = (0..0x11_0000).filter_map(char::from_u32);
            all.flat_map(|c| {
                ["", "a", "É", "\u{301}", "한", "\u{302E}\u{AD}"].map(|other| {
                    format!("{other}{c}{}", ["", "Z", "\u{327}", "\u{345}"][c as usize % 4])
                })
            })
        };
        for (rules, least) in [
            (vec![bert(true)], 100_000),
            (vec![bert(false)], 200_000),
            (vec![Rule::Form(Form::Nfd), Rule::StripMarks, Rule::Lowercase], 100_000),
            (vec![Rule::Lowercase, Rule::Form9(Form::Nfkd)], 80_000),
        ] {
            for scheme in [Scheme::Bert, Scheme::Bert8] {
                let certain = check(&rules, &scheme, words());
                assert!(certain > least, "{certain} {rules:?}");
            }
        }
        for set in [RuleSet::NmtNfkc, RuleSet::NmtNfkcCf] {
            let rules = [Rule::RuleSet(set), Rule::CollapseSpaces];
            let certain = check(&rules, &Scheme::Metaspace(Metaspace::default()), words());
            assert!(certain > 150_000, "{certain}");
        }
    }

    #[test]
    fn charsmaps_that_see_neighbours() {
        let keys =
            [("ab", "x"), ("b", "y"), ("가\u{11A8}", "각"), ("É", "e"), ("c", ""), ("d", " ")];
        let keys = keys.map(|(key, text)| (key.to_owned(), text.to_owned()));
        let map = |graphemes| Rule::Charsmap {
            bytes: compile(&keys).unwrap(),
            keep: if graphemes { Vec::new() } else { vec!["zb".to_owned(), String::new()] },
            graphemes,
        };
        let letters =
            ["a", "b", "가", "\u{11A8}", "\u{301}", "É", "e", "z", "c", "d", "\u{200D}", "👩"];
        let words = || {
            let two = letters.map(|one| letters.map(|two| format!("{one}{two}")));
            let two = two.into_iter().flatten();
            two.flat_map(|two| letters.map(|three| format!("{two}{three}")))
        };
        for graphemes in [false, true] {
            let scheme = Scheme::Metaspace(Metaspace::default());
            let certain = check(&[map(graphemes), Rule::CollapseSpaces], &scheme, words());
            assert!((100..1_000).contains(&certain), "{certain}");
        }
    }

    #[test]
    fn random_words() {
        let letters = [
            "a",
            "B",
            "É",
            "e\u{301}",
            "\u{327}\u{301}",
            "\u{345}",
            "\u{302E}",
            "İ",
            "ǅ",
            "한글",
            "ㄱ",
            "\u{1100}\u{1161}",
            "が",
            "\u{3099}",
            "й",
            "Ё",
            "Σ",
            "ß",
            "ﬁ",
            "\u{AD}",
            "\u{200B}",
            "\0",
            "\u{1D165}",
            "🐑",
            "\u{37E}",
            "\u{F900}",
            "\u{94D}",
            "\u{9BC}",
            "\u{F74}",
            "\u{1DF6}",
            "ᾼ",
        ];
        let mut random = SplitMix64::new(9);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let words: Vec<String> = (0..40_000)
            .map(|round| {
                let kinds = 1 + below(letters.len());
                let count = if round % 50 == 0 { 60 } else { 1 + below(6) };
                (0..count).map(|_| letters[below(kinds)]).collect()
            })
            .collect();
        for lowercase in [true, false] {
            let certain = check(&[bert(lowercase)], &Scheme::Bert, words.iter().cloned());
            assert!(certain > 2000, "{certain}");
        }
    }

    #[test]
    fn says_no_where_neighbours_are_seen() {
        for rule in [Rule::Form(Form::Nfc), Rule::Casefold, Rule::CollapseSpaces] {
            assert!(!Normalizer::new(&[rule]).unwrap().goes_by_characters());
        }
    }
}
