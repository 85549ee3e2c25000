//! Words of a Unigram model by their parts: where no piece lies across two characters, all ways to cut a word
//! have a border.
//!
//! Words that are new are made of parts that are not: `foo.bar(baz)` of five, most of them seen before. The ids
//! of a part depend on what stands before it by rounding alone ([`Marked`]), so parts are remembered whose
//! ids hold for all sums up to the largest. What such a part adds to the sum is bounded by its length. Of a model
//! whose scores are [even](crate::model::unigram::Even), parts are remembered whose ids hold wherever sums are not rounded.

use std::ops::Range;

use super::characters::Seen;
use super::fuse;
use super::texts::ByBlocks;
use crate::cache::{KnownWords, Listed, look_up_spans};
use crate::model::cuts::MARK;
use crate::model::unigram::{Marked, NearTies, Unigram};
use crate::scan::fastest;

/// Parts that are listed at once, at most.
const LISTED: usize = 64;

/// Words of so many bytes that are looked up by their characters go by blocks of these: for fewer, blocks cost more than they save.
const BY_BLOCKS: Range<usize> = 32..u32::MAX as usize;

/// Words up to this length, with the mark, are short: where nearly all parts are single characters, cutting one whole costs no
/// more than looking these up.
pub(super) const SHORT: usize = 64;

/// Words that begin with this byte or a greater one are mostly of Chinese, Korean or Japanese.
pub(super) const DENSE: u8 = 0xE0;

/// Words are looked up in so much room if they leave so many bytes of it: parts are read sixteen bytes at a time.
const ROOM: usize = 128;
const BEHIND: usize = 16;

/// Whether a part with these ids may be remembered.
fn holds(model: &Unigram, mark: Marked, part: &[u8], character: u32, ids: &[u32]) -> bool {
    let holds = match model.even() {
        Some(_) => mark.is_even(),
        None => {
            let most = extent_of_known(model, part) as f64 * Marked::UNIT;
            mark.holds_to_the_largest() && mark.extent() <= most
        }
    };
    holds && (character == 0 || KnownWords::keeps_beside(part, ids))
}

/// What is needed to cut words so.
pub(super) struct Parts<'a> {
    pub(super) model: &'a Unigram,
    pub(super) known: &'a mut KnownWords,
    pub(super) near: &'a mut NearTies,
}

/// How far sums in known parts of these bytes may be from the one before them, in [`Marked::UNIT`]s.
fn extent_of_known(model: &Unigram, bytes: &[u8]) -> u64 {
    // Where scores are even, nobody asks.
    if model.even().is_some() { 0 } else { model.extent_of_known(bytes) }
}

/// What is known of the parts so far.
struct Sum {
    /// Of what has been cut; None if that is not certain.
    new: Option<Marked>,
    /// How far the other parts, which are known, may take a sum: what all may, less what new ones may.
    extent: u64,
    known_bytes: usize,
}

impl Sum {
    /// Nothing is new of a word.
    fn new(model: &Unigram, word: &[u8]) -> Self {
        let extent = extent_of_known(model, word);
        Self { new: Some(Marked::NOTHING), extent, known_bytes: word.len() }
    }

    /// A part is new.
    fn knows_not(&mut self, model: &Unigram, part: &[u8]) {
        self.extent -= extent_of_known(model, part);
        self.known_bytes -= part.len();
    }

    fn mark(&self, model: &Unigram) -> Option<Marked> {
        match model.even() {
            // More is not known of known parts.
            Some(_) => Some(self.new?.only_even()),
            None => Some(self.new?.then(Marked::to_the_largest(self.extent))),
        }
    }
}

impl Parts<'_> {
    /// Appends the ids of a word; None if that is not certain. Tells for which sums before it they hold; where
    /// scores are even, only whether for all that are.
    #[inline]
    pub(super) fn word(&mut self, word: &str, out: &mut Vec<u32>) -> Option<Marked> {
        let Self { model, known, near } = self;
        let bytes = word.as_bytes();
        // Parts are told by numbers of 32 bits; the plain way says what is wrong.
        u32::try_from(bytes.len()).ok()?;
        let sum = &mut Sum::new(model, bytes);
        let mut padded = [0; ROOM];
        let text = if bytes.len() + BEHIND <= ROOM {
            padded[..bytes.len()].copy_from_slice(bytes);
            &padded
        } else {
            bytes
        };
        let mut from = 0;
        while from < bytes.len() {
            let mut borders = [0; LISTED + 1];
            let borders = model.borders().list_parts(bytes, from, &mut borders);
            let Some((&end, starts)) = borders.split_last() else { break };
            let ends = &borders[1..];
            let mut encode = |_: &KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
                let part = &word[start..end];
                let mut characters = part.chars();
                let character = characters.next().filter(|_| characters.next().is_none());
                let character = character.map(u32::from).filter(|&code| code < 0x1_0000);
                cut(model, near, part, character.unwrap_or(0), sum, out)
            };
            look_up_spans(text, known, Listed::new(starts, ends), out, &mut encode, |_| ());
            from = end as usize;
        }
        sum.mark(model)
    }

    /// The same for a word that is nearly all single characters, whose ids stand in a list. Other parts are remembered only
    /// where scores are even: cutting them anew costs no more, in Korean. Tells how many bytes the known ones have, too.
    pub(super) fn by_characters(
        &mut self,
        word: &str,
        out: &mut Vec<u32>,
    ) -> Option<(Marked, usize)> {
        let Self { model, known, near } = self;
        let (bytes, cuts) = (word.as_bytes(), model.borders());
        let sum = &mut Sum::new(model, bytes);
        let all = model.even().is_some();
        let learn = &mut |known: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
            let (part, first) = (&word[start..end], out.len());
            if cut(model, near, part, 0, sum, out) && (all || part.chars().nth(1).is_none()) {
                if known.is_stale() {
                    known.clear();
                }
                known.insert(part.as_bytes(), &out[first..]);
            }
        };
        if BY_BLOCKS.contains(&bytes.len()) {
            let seen = &mut Seen::default();
            let ends = &[bytes.len() as u32];
            fastest(ByBlocks {
                cuts,
                text: bytes,
                ends,
                spaced: false,
                characters: true,
                known,
                out,
                learn,
                seen,
                behind: &mut |_| {},
            });
        } else {
            cuts.for_each_part(bytes, 0, bytes.len(), |start, end, character| {
                let listed = character != 0 && known.append_character(character, out).is_some();
                if !listed && !known.get(bytes, start, end, out) {
                    learn(known, start, end, out);
                }
            });
        }
        Some((sum.mark(model)?, sum.known_bytes))
    }

    /// The same, whatever the word is made of.
    fn as_it_fits(&mut self, word: &str, out: &mut Vec<u32>) -> Option<Marked> {
        let behind_mark = word.strip_prefix(MARK).unwrap_or(word);
        if behind_mark.as_bytes().first().is_none_or(|&byte| byte < DENSE) {
            return self.word(word, out);
        }
        if word.len() <= SHORT && self.model.even().is_none() {
            return self.near.part(self.model, word, out).ok();
        }
        Some(self.by_characters(word, out)?.0)
    }

    /// Appends the ids of a word before which the sum is 0. If it says no, they may not be those, and nothing
    /// is appended.
    pub(super) fn word_by_itself(&mut self, word: &str, out: &mut Vec<u32>) -> bool {
        let first = out.len();
        let holds = match self.as_it_fits(word, out) {
            // The sum before it is even.
            Some(mark) if self.model.even().is_some() => mark.is_even(),
            Some(mark) => mark.holds_in_parts(),
            None => false,
        };
        if !holds {
            out.truncate(first);
        } else if let Some(unknown) = self.model.unknown().filter(|_| self.model.fuses()) {
            fuse(out, first, unknown);
        }
        holds
    }
}

/// Appends the ids of a part that is not known; says whether they hold, so that they are to be remembered.
fn cut(
    model: &Unigram,
    near: &mut NearTies,
    part: &str,
    character: u32,
    sum: &mut Sum,
    out: &mut Vec<u32>,
) -> bool {
    let Some(before) = sum.new else { return false };
    sum.knows_not(model, part.as_bytes());
    let first = out.len();
    let mark = near.part(model, part, out).ok();
    sum.new = mark.map(|mark| before.then(mark));
    mark.is_some_and(|mark| holds(model, mark, part.as_bytes(), character, &out[first..]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;
    use crate::model::Precision;
    use crate::model::unigram::{Running, UnigramParts, Viterbi};
    use crate::observe::Silent;
    use crate::random::SplitMix64;
    use crate::symbols::UNKNOWN;
    use crate::vocab::Vocab;

    const PIECES: [&str; 16] = [
        "▁", "a", "b", "ab", "ba", "▁a", "aba", ".", "..", ")", "가", "가나", "나", "é", "ж", "жa",
    ];

    /// Scores that nearly tie, and one character that costs much.
    fn model(precision: Precision, round: u64, fuse_unknown: bool) -> Unigram {
        let mut random = SplitMix64::new(round);
        let near = 2.0_f64.powi(-((round % 40) as i32));
        let score = |piece: &str| {
            let tie = -1.75 * piece.chars().count() as f64;
            if piece == ")" { -60.0 } else { tie + near * (random.fraction() - 0.5) }
        };
        scored(score, precision, fuse_unknown)
    }

    fn scored(score: impl FnMut(&str) -> f64, precision: Precision, fuse_unknown: bool) -> Unigram {
        let mut scores: Vec<f64> = PIECES.into_iter().map(score).collect();
        scores.push(0.0);
        let pieces = PIECES.map(Some).into_iter().chain([None]);
        let vocab = Vocab::new(pieces.map(Option::unwrap_or_default));
        let parts = UnigramParts {
            unknown: Some(PIECES.len() as u32),
            fuse_unknown,
            ..UnigramParts::new(vocab, scores, precision)
        };
        Unigram::new(parts).unwrap()
    }

    #[test]
    fn words_by_characters_of_even_scores_are_words_cut_whole() {
        let letters =
            ["a", "b", ".", "가", "나", "가나", "é", "ж", "🐑", "中", "\0", "ab", "▁", "▁a"];
        let (mut even, mut learned) = (0, 0);
        for round in 0..60 {
            let mut random = SplitMix64::new(round);
            let whole = |piece: &str| -((1 + random.next() % 3) as f64) - piece.len() as f64 / 4.0;
            let model = scored(whole, Precision::Single, round % 3 == 0);
            assert!(model.even().is_some());
            let mut below = |limit: usize| (random.next() % limit as u64) as usize;
            let mut known = KnownWords::new(if round % 5 == 0 { 1 << 12 } else { 1 << 20 });
            let (mut near, mut viterbi) = (NearTies::default(), Viterbi::default());
            for _ in 0..200 {
                let (from, few) = (below(letters.len()), [2, letters.len()][below(2)]);
                let letter = |_| letters[(from + below(few)) % letters.len()];
                let word: String = (0..1 + 3 * (round as usize % 30)).map(letter).collect();
                let word = format!("▁{word}");
                let mut expected = vec![7];
                model.word(&word, false, &mut viterbi, &mut expected, &mut Silent).unwrap();
                for _ in 0..2 {
                    let (known, near) = (&mut known, &mut near);
                    let mut ids = vec![7];
                    let mut parts = Parts { model: &model, known, near };
                    let (mark, bytes) = parts.by_characters(&word, &mut ids).unwrap();
                    assert!(bytes <= word.len());
                    if let Some(unknown) = model.unknown().filter(|_| model.fuses()) {
                        fuse(&mut ids, 1, unknown);
                    }
                    if mark.is_even() {
                        even += 1;
                        assert_eq!(ids, expected, "{word}");
                    }
                    learned += usize::from(bytes < word.len());
                }
            }
        }
        assert!(even > 10_000 && learned > 1_000, "{even} {learned}");
    }

    #[test]
    fn words_by_parts_are_words_cut_whole() {
        let (mut held, mut not) = (0, 0);
        for round in 0..240 {
            let precision = [Precision::Single, Precision::Double][round % 2];
            let model = model(precision, round as u64, round % 3 == 0);
            let mut random = SplitMix64::new(round as u64);
            let mut below = |limit: usize| (random.next() % limit as u64) as usize;
            // Some forget everything again and again.
            let mut known = KnownWords::new(if round % 5 == 0 { 1 << 12 } else { 1 << 20 });
            let mut near = NearTies::default();
            let mut viterbi = Viterbi::default();
            let letters = ["a", "b", ".", ")", "가", "나", "é", "ж", "{", "🐑", "中", "\0", "ab"];
            for _ in 0..400 {
                let word: String =
                    (0..1 + below(90)).map(|_| letters[below(letters.len())]).collect();
                let word = format!("▁{word}");
                let (known, near) = (&mut known, &mut near);
                let mut parts = Parts { model: &model, known, near };
                let (mut ids, mut expected) = (vec![7], vec![7]);
                model.word(&word, false, &mut viterbi, &mut expected, &mut Silent).unwrap();
                if parts.word_by_itself(&word, &mut ids) {
                    held += 1;
                    assert_eq!(ids, expected, "{word}");
                } else {
                    not += 1;
                    assert_eq!(ids, [7]);
                }
                // From another sum, one by one.
                let base = -(below(99_000) as f64) - 0.1;
                for long in [false, true] {
                    let mut ids = Vec::new();
                    let mark = match long {
                        false => parts.word(&word, &mut ids).unwrap(),
                        true => parts.by_characters(&word, &mut ids).unwrap().0,
                    };
                    if mark.holds(base.abs() + 1.0, precision) {
                        let mut running = Running { single: base as f32, double: base };
                        model.part(&word, &mut running, &mut viterbi, &mut Silent).unwrap();
                        let unknown = PIECES.len() as u32;
                        let path = viterbi.path().iter();
                        let exact: Vec<u32> = path
                            .map(|&(id, ..)| if id == UNKNOWN { unknown } else { id })
                            .collect();
                        assert_eq!(ids, exact, "{word} from {base}");
                        let moved = match precision {
                            Precision::Single => f64::from(running.single) - base,
                            Precision::Double => running.double - base,
                        };
                        assert!(moved.abs() <= mark.extent() + 1.0, "{word}");
                    }
                }
            }
        }
        assert!(held > 10_000 && not > 1000, "{held} {not}");
    }
}
