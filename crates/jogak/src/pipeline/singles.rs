//! Raw words of a Unigram model in which no piece lies across two characters.
//!
//! In words: a word is made ready, cut where no piece lies across, and its parts are looked up ([`Parts`](super::parts)). In
//! writings that a model was not made for, and in most Chinese, each part is one character. What becomes of such a
//! character, and its id, are the same wherever it stands, so all of this is one look at a table for each.
//!
//! Rule: the same ids as by parts, or nothing.

use crate::model::cuts::Edge;
use crate::model::unigram::{Marked, NearTies, Unigram};
use crate::prepare::{Prepare, Raw, RawScratch};
use crate::scan::written_zeros;

/// Words that begin with this byte or a greater one are looked at: others have few such characters.
const FIRST: u8 = 0xC0;

/// Characters below this have entries.
const CHARACTERS: usize = 1 << 16;

/// What is known of characters as they stand in the text; each is asked for when it is first seen.
#[derive(Debug)]
pub(super) struct Singles {
    entries: Vec<u64>,
    /// What words begin with; None as long as nobody has asked.
    front: Option<Front>,
    /// How it went with words, by their first byte from [`FIRST`] on.
    trials: [Trial; 64],
}

/// How it went with words that begin alike: at least [`Trial::WAIT`] if the next one is to be looked at, else how many were
/// not since that did not pay.
#[derive(Debug, Clone, Copy)]
struct Trial(u8);

impl Trial {
    const WAIT: u8 = 32;
    const MOST: u8 = 96;
    /// One word in vain is worth so many others.
    const LOSS: u8 = 4;

    #[inline(always)]
    fn waits(&mut self) -> bool {
        let waits = self.0 < Self::WAIT;
        self.0 += u8::from(waits);
        waits
    }

    #[inline(always)]
    fn went(&mut self, well: bool) {
        self.0 = match self.0 {
            so_far if well => Self::MOST.min(so_far + 1),
            so_far if so_far < Self::WAIT + Self::LOSS => 0,
            so_far => so_far - Self::LOSS,
        };
    }
}

impl Default for Trial {
    fn default() -> Self {
        Self(Self::MOST / 2)
    }
}

/// What a character is among others, if that is certain.
///
/// ```text
/// bits  0..16   how far it takes a sum, in units of a mark; 0 if nothing is certain
/// bits 16..32   what becomes of it
/// bits 32..40   what pieces have beside that
/// bits 40..64   its id
/// ```
#[derive(Debug, Clone, Copy)]
struct Single(u64);

/// What words begin with.
#[derive(Debug, Clone, Copy)]
enum Front {
    Nothing,
    Mark(Single),
    /// What becomes of words is not known from their characters.
    Odd,
}

impl Single {
    const NEW: Single = Single(0);
    const ODD: Single = Single(1 << 16);

    #[inline(always)]
    fn extent(self) -> u64 {
        self.0 & 0xFFFF
    }

    #[inline(always)]
    fn edge(self) -> Edge {
        ((self.0 >> 16) as u32 & 0xFFFF, (self.0 >> 32) as u8)
    }

    #[inline(always)]
    fn id(self) -> u32 {
        (self.0 >> 40) as u32
    }
}

/// Whose words they are.
pub(super) struct Of<'a> {
    pub(super) model: &'a Unigram,
    pub(super) prepare: &'a Prepare,
    pub(super) raw: Raw,
    pub(super) room: &'a mut RawScratch,
    pub(super) near: &'a mut NearTies,
}

impl Of<'_> {
    fn front(&mut self) -> Front {
        match self.raw.mark(self.prepare) {
            None => Front::Odd,
            Some(None) => Front::Nothing,
            Some(Some(mark)) => self.ready(mark).map_or(Front::Odd, Front::Mark),
        }
    }

    /// A character as it stands in the text.
    #[cold]
    fn single(&mut self, c: char) -> Single {
        let ready = self.raw.character(self.prepare, c, self.room);
        ready.and_then(|c| self.ready(c)).unwrap_or(Single::ODD)
    }

    /// A character that is ready.
    fn ready(&mut self, c: char) -> Option<Single> {
        let Self { model, near, .. } = self;
        let code = u32::from(c);
        if code as usize >= CHARACTERS || model.begins_reserved(c) {
            return None;
        }
        let mut ids = Vec::new();
        let mark = near.part(model, c.encode_utf8(&mut [0; 4]), &mut ids).ok()?;
        let holds = match model.even() {
            Some(_) => mark.is_even(),
            None => mark.holds_to_the_largest(),
        };
        let extent = (mark.extent() / Marked::UNIT) as u64;
        let (&[id @ 0..=0xFF_FFFF], 1..=0xFFFF) = (ids.as_slice(), extent) else { return None };
        let (_, beside) = model.borders().edge(code);
        let ready = extent | u64::from(code) << 16 | u64::from(beside) << 32 | u64::from(id) << 40;
        Some(Single(ready)).filter(|_| holds)
    }
}

impl Default for Singles {
    fn default() -> Self {
        Self { entries: Vec::new(), front: None, trials: [Trial::default(); 64] }
    }
}

impl Singles {
    /// Appends the ids of a word, unknown pieces one by one. They hold wherever no sum starts over, or, where scores are
    /// [even](crate::model::unigram::Even), wherever none is rounded. Tells how far sums in it may be from the one before, in
    /// [units](Marked::UNIT) of a mark. None if the word is not certain; nothing is appended then.
    ///
    /// Always to be asked of the same tokenizer.
    #[inline]
    pub(super) fn word(&mut self, of: Of<'_>, word: &str, out: &mut Vec<u32>) -> Option<u64> {
        let lead = usize::from(word.as_bytes().first()?.checked_sub(FIRST)?);
        if self.trials[lead].waits() {
            return None;
        }
        let first = out.len();
        let extent = self.characters(of, word, out);
        self.trials[lead].went(extent.is_some());
        if extent.is_none() {
            out.truncate(first);
        }
        extent
    }

    /// The same, but that something may be appended.
    #[inline(never)]
    fn characters(&mut self, mut of: Of<'_>, word: &str, out: &mut Vec<u32>) -> Option<u64> {
        // Nothing is joined to what stands before a word.
        let (mut extent, mut before) = (0, (u32::MAX, 0));
        match *self.front.get_or_insert_with(|| of.front()) {
            Front::Odd => return None,
            Front::Nothing => {}
            Front::Mark(mark) => {
                out.push(mark.id());
                (extent, before) = (mark.extent(), mark.edge());
            }
        }
        if self.entries.is_empty() {
            self.entries = written_zeros(CHARACTERS);
        }
        let cuts = of.model.borders();
        for c in word.chars() {
            let entry = self.entries.get_mut(c as usize)?;
            if *entry == Single::NEW.0 {
                *entry = of.single(c).0;
            }
            let single = Single(*entry);
            if single.extent() == 0 || cuts.joined(before, single.edge()) {
                return None;
            }
            out.push(single.id());
            extent += single.extent();
            before = single.edge();
        }
        Some(extent)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;
    use crate::model::Precision;
    use crate::model::unigram::{UnigramParts, Viterbi};
    use crate::normalize::{Buffers, Rule, RuleSet, WITHIN, compile};
    use crate::observe::Silent;
    use crate::pretokenize::{Dummy, Metaspace, Scheme};
    use crate::random::SplitMix64;
    use crate::vocab::Vocab;

    const UNKNOWN: &str = "?";
    const PIECES: [&str; 24] = [
        UNKNOWN, "▁", "가", "나", "가나", "나다", "é", "éz", "z", "1", "1⁄", "▁한", "한", "글",
        "ab", "f", "fi", "。", ",", ",,", "ア", "ア゙", "中", "▁<",
    ];

    fn model(precision: Precision, even: bool, hf_rules: bool) -> Unigram {
        let score = |at: usize| {
            let score = -1.0 - (at * 7 % 5) as f64;
            if even { score / 4.0 } else { score * 1.37 }
        };
        let scores = (0..PIECES.len()).map(score).collect();
        Unigram::new(UnigramParts {
            unknown: Some(0),
            hf_rules,
            ..UnigramParts::new(Vocab::new(PIECES), scores, precision)
        })
        .unwrap()
    }

    /// Rules and schemes under which words are cut before they are normalized, and how they are marked.
    fn cases() -> Vec<(Vec<Rule>, Vec<Scheme>, &'static str)> {
        let metaspace = |dummy| Scheme::Metaspace(Metaspace { dummy, ..Metaspace::default() });
        let plain = || vec![metaspace(Dummy::Given)];
        let split = |dummy| vec![Scheme::Whitespace, metaspace(dummy)];
        let pairs = [
            ("가\u{11A8}", "각"),
            ("\u{11A8}", "ㄱ"),
            ("é中", "x"),
            ("한", "글"),
            ("中", "가나"),
            ("글", ""),
            ("나", "\u{301}"),
            ("!", "?"),
            ("«", "<"),
            ("ｚ", "z"),
            ("\t", " "),
            ("\n", " "),
            ("\r", " "),
        ];
        let pairs = pairs.map(|(key, text)| (key.to_owned(), text.to_owned()));
        let map = |graphemes| Rule::Charsmap {
            bytes: compile(&pairs).unwrap(),
            keep: if graphemes { Vec::new() } else { vec!["가ｚ".to_owned(), String::new()] },
            graphemes,
        };
        vec![
            (vec![Rule::RuleSet(RuleSet::NmtNfkc), Rule::CollapseSpaces], plain(), "▁"),
            (vec![Rule::RuleSet(RuleSet::NmtNfkcCf), Rule::CollapseSpaces], plain(), "▁"),
            (vec![], plain(), "▁"),
            (vec![map(false), Rule::CollapseSpaces], plain(), "▁"),
            (vec![map(true)], split(Dummy::Always), "▁"),
            (vec![map(true), Rule::Casefold], split(Dummy::Never), ""),
            (vec![Rule::Lowercase], plain(), "▁"),
            (vec![], split(Dummy::Always), "▁"),
        ]
    }

    /// Holds words to the normalizer and the model; how many were certain.
    fn check(words: impl Iterator<Item = String> + Clone) -> usize {
        let mut certain = 0;
        for (number, (rules, schemes, mark)) in cases().into_iter().enumerate() {
            let prepare = Prepare::new(&rules, &schemes).unwrap();
            let raw = prepare.raw().unwrap();
            for (precision, even, hf) in [
                (Precision::Single, false, false),
                (Precision::Single, true, false),
                (Precision::Double, false, true),
            ] {
                let model = model(precision, even, hf);
                assert_eq!(model.even().is_some(), even);
                let (mut room, mut near) = (RawScratch::default(), NearTies::default());
                let (mut viterbi, mut buffers) = (Viterbi::default(), Buffers::default());
                let mut singles = Singles::default();
                for word in words.clone() {
                    let mut ids = vec![7];
                    let (room, near) = (&mut room, &mut near);
                    let of = Of { model: &model, prepare: &prepare, raw, room, near };
                    singles.trials = [Trial::default(); 64];
                    let Some(extent) = singles.word(of, &word, &mut ids) else {
                        assert_eq!(ids, [7]);
                        continue;
                    };
                    certain += 1;
                    let led = format!(" {word}");
                    let ready = prepare.normalizer().text(&led, WITHIN, &mut buffers).unwrap();
                    let ready = format!("{mark}{}", ready.strip_prefix(' ').unwrap());
                    assert!(!model.has_reserved(&ready), "{word:?} {ready:?} {number}");
                    let mut expected = vec![7];
                    model.word(&ready, false, &mut viterbi, &mut expected, &mut Silent).unwrap();
                    assert_eq!(ids, expected, "{word:?} {ready:?} {number}");
                    let sum: f64 = ids[1..].iter().map(|&id| model.score(id)).sum();
                    assert!(extent as f64 * Marked::UNIT > sum.abs(), "{word:?}");
                }
            }
        }
        certain
    }

    #[test]
    fn every_character_among_others() {
        let all = (0..0x11_000u32).filter_map(char::from_u32);
        let words = all.flat_map(|c| {
            [
                format!("{c}"),
                format!("{c}{c}"),
                format!("글{c}z"),
                format!("가{c}나"),
                format!("é{c}\u{301}"),
            ]
        });
        let certain = check(words);
        assert!(certain > 2_000_000, "{certain}");
    }

    #[test]
    fn random_words() {
        let letters = [
            "가", "나", "다", "각", "한", "글", "é", "z", "ｚ", "Z", "É", "中", "。", "，", ",",
            "ア", "ｱ", "ﾞ", "½", "1", "?", "!", "«", "<", "\u{301}", "\u{11A8}", "\u{200D}", "👩",
            "ﬁ", "f", "▁", "\n", "\0", "ab",
        ];
        let mut random = SplitMix64::new(7);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let words: Vec<String> = (0..20_000)
            .map(|round| {
                let (from, kinds) = (below(letters.len()), 1 + below(letters.len()));
                let count = if round % 50 == 0 { 200 } else { 1 + below(6) };
                (0..count).map(|_| letters[(from + below(kinds)) % letters.len()]).collect()
            })
            .collect();
        let certain = check(words.iter().cloned());
        assert!(certain > 20_000, "{certain}");
    }

    #[test]
    fn words_in_vain_are_not_looked_at_for_a_while() {
        let mut trial = Trial::default();
        let mut seen = Vec::new();
        for _ in 0..200 {
            let looks = !trial.waits();
            if looks {
                trial.went(false);
            }
            seen.push(looks);
        }
        // As long as nobody knows better, then once in a while.
        let looks = seen.iter().filter(|&&looks| looks).count();
        assert!((5..20).contains(&looks), "{looks}");
        assert!(seen[199 - 40..].contains(&true));
        for _ in 0..200 {
            if !trial.waits() {
                trial.went(true);
            }
        }
        assert!(!trial.waits());
    }
}
