//! Scores that are added up without rounding.
//!
//! Most models' scores are logarithms, and nearly every sum of them is rounded. Those of some are set by hand, -10 for a
//! word and -100 for a character: ways to cut a text tie everywhere, and which one is the best hangs on a single
//! rounding. But whole numbers are not rounded, nor are parts of 64 ([even](Even) numbers, here), as long as sums are not
//! too large. So the ids of a word whose pieces' scores are even, and not above 0, do not depend on the sum before it
//!
//! - if that sum is even: no sum in the word is rounded;
//! - or if the sum behind the word passes no more than one power of two. Before that no sum is rounded, for even numbers
//!   are multiples of what neighbours of that size differ by. Behind it each is the first sum, rounded, less an even
//!   number, whatever way it has come: these are multiples of twice what neighbours differ by there, so that halves go
//!   the same way. Sums that fall farther are worse than all that, and to round them takes them to a power of two at most.
//!   (Where two are passed, one way may round twice what another rounds once.)
//!
//! In both, sums must not start over ([`LARGEST_SINGLE`]) in the word. A few pieces, those that a user has defined, may
//! have other scores; a word that may have one is cut from the true sum before it.

use super::viterbi::LARGEST_SINGLE;

/// Even numbers are multiples of one part of this: twice what neighbours below 2^17 differ by. Up to 2^18 they have 24
/// bits.
const PARTS: f32 = 64.0;
/// No score is farther from 0: what is added to a sum that has not started over yet stays below 2^18.
const LARGEST_SCORE: f32 = 65_536.0;

/// A sum that may be farther from 0 than this, give or take what rounding did, is taken to start over.
const LIMIT: f32 = LARGEST_SINGLE - 1000.0;

/// The scores of a model that has such.
#[derive(Debug)]
pub struct Even {
    /// Of each id; no number for those that are other.
    scores: Vec<f32>,
    has_others: bool,
    /// The best sum at no place is farther than this below the last: a piece's length, every character of which is the
    /// dearest.
    reach: f32,
}

/// The sum of scores before some place, and whether it is even.
#[derive(Debug, Clone, Copy)]
pub struct EvenSum {
    sum: f32,
    is_even: bool,
}

impl Default for EvenSum {
    fn default() -> Self {
        Self::new(0.0)
    }
}

impl EvenSum {
    /// Of a sum that is known.
    pub fn new(sum: f32) -> Self {
        Self { sum, is_even: is_even(sum) }
    }

    /// The sum itself.
    pub fn sum(self) -> f32 {
        self.sum
    }

    /// Whether the ids of a word behind it hold, behind which this is the sum, if none starts over.
    #[inline]
    fn holds_up_to(self, sum: f32) -> bool {
        // The first bit of a number tells whether it is below 0, the eight that follow its power of two.
        let power = |sum: f32| sum.to_bits() >> 23;
        self.is_even || power(sum) <= power(self.sum) + 1
    }
}

/// What is known behind a word.
#[derive(Debug, Clone, Copy)]
pub enum Behind {
    /// Its ids hold, and this is the sum.
    Sum(EvenSum),
    /// Its ids hold, and the sum is even. It may have started over.
    Even,
    /// Its ids may be others.
    Nothing,
}

fn is_even(number: f32) -> bool {
    (number * PARTS).fract() == 0.0
}

impl Even {
    /// Of the scores of all ids and that of an unknown character; none if one is not even, or above 0, but those of
    /// `defined`. Pieces have up to `longest` characters.
    pub(super) fn new(
        scores: &[f32],
        unknown: f32,
        defined: &[u32],
        longest: usize,
    ) -> Option<Self> {
        let is_good = |score: f32| (-LARGEST_SCORE..=0.0).contains(&score) && is_even(score);
        let mut even = scores.to_vec();
        for &id in defined {
            let score = even.get_mut(id as usize)?;
            if score.abs() > LARGEST_SCORE {
                return None;
            }
            if !is_good(*score) {
                *score = f32::NAN;
            }
        }
        let mut dearest = -unknown;
        for &score in even.iter().filter(|score| !score.is_nan()) {
            if !is_good(score) {
                return None;
            }
            dearest = dearest.max(-score);
        }
        let has_others = even.iter().any(|score| score.is_nan());
        let reach = dearest * longest as f32;
        is_good(unknown).then_some(Self { scores: even, has_others, reach })
    }

    /// Whether there are other scores.
    pub(super) fn has_others(&self) -> bool {
        self.has_others
    }

    /// Whether the score of an id is not even, or above 0.
    #[inline]
    pub fn is_other(&self, id: u32) -> bool {
        self.scores.get(id as usize).is_none_or(|score| score.is_nan())
    }

    /// What is known behind a word that has these ids if no sum is rounded; before it stands a sum, or if none is given,
    /// one that is even. A word with a candidate that is [other](Even::is_other) must have such an id.
    #[inline]
    pub fn behind(&self, before: Option<EvenSum>, ids: &[u32]) -> Behind {
        let first = before.unwrap_or_default();
        let sum = ids.iter().fold(first.sum, |sum, &id| sum + self.scores[id as usize]);
        if sum.is_nan() || !first.holds_up_to(sum) {
            return Behind::Nothing;
        }
        match before {
            Some(_) if self.is_near(sum) => Behind::Sum(EvenSum { sum, ..first }),
            _ if first.is_even => Behind::Even,
            _ => Behind::Nothing,
        }
    }

    /// The same for words one behind the other, of all of which these are the ids, up to the first one behind which the sum
    /// is not known; says how many that are. `ends` tells how many ids there are up to the end of each word. What is in `room`
    /// does not matter.
    #[inline]
    pub fn behind_words(
        &self,
        before: &mut EvenSum,
        ids: &[u32],
        ends: impl Iterator<Item = usize>,
        room: &mut Vec<f32>,
    ) -> usize {
        // How many ids a word has cannot be foreseen: all are added up first.
        if room.len() <= ids.len() {
            room.resize(ids.len() + 1, 0.0);
        }
        let (mut sum, mut added) = (before.sum, 0);
        room[0] = sum;
        for (&id, place) in ids.iter().zip(&mut room[1..]) {
            sum += self.scores[id as usize];
            if sum.is_nan() {
                break;
            }
            *place = sum;
            added += 1;
        }
        let sums = &room[..=added];
        let mut words = 0;
        for sum in ends.map_while(|end| sums.get(end).copied()) {
            if !(before.holds_up_to(sum) && self.is_near(sum)) {
                break;
            }
            before.sum = sum;
            words += 1;
        }
        words
    }

    /// Whether no sum starts over before this one.
    #[inline]
    fn is_near(&self, sum: f32) -> bool {
        self.reach - sum < LIMIT
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::super::{NearTies, Precision, Running, Unigram, UnigramParts, Viterbi};
    use super::*;
    use crate::observe::Silent;
    use crate::random::SplitMix64;
    use crate::symbols::UNKNOWN;
    use crate::vocab::Vocab;

    const PIECES: [&str; 14] =
        ["<unk>", "a", "b", "c", "d", "ab", "bc", "abc", "bcd", "cd", "dd", "dab", "xyz", "xyzxyz"];
    /// The last two, whose scores are 0.2, which is not even, and 0.5.
    const DEFINED: [u32; 2] = [12, 13];

    fn model(score: impl FnMut(&str) -> f64) -> Unigram {
        let scores = PIECES.into_iter().map(score).collect();
        let parts = UnigramParts {
            user_defined: DEFINED.to_vec(),
            unknown: Some(0),
            ..UnigramParts::new(Vocab::new(PIECES), scores, Precision::Single)
        };
        Unigram::new(parts).unwrap()
    }

    #[test]
    fn words_hold_behind_sums_that_are_said_to_be_right() {
        let mut random = SplitMix64::new(7);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let (mut sums, mut evens, mut nothings, mut again) = (0, 0, 0, 0);
        for _ in 0..600 {
            // Few scores: ways tie.
            let part = [1.0, 8.0, 64.0][below(3)];
            let most = [9, 9, 40, 50_000][below(4)];
            let model = model(|_| -((1 + below(most)) as f64) / part);
            let even = model.even().unwrap();
            let (mut near, mut viterbi) = (NearTies::default(), Viterbi::default());
            for _ in 0..400 {
                let letters = ["a", "b", "c", "d", "ab", "☃", "xyz", "xyzxyz"];
                let kinds = if below(4) == 0 { letters.len() } else { 6 };
                let word: String = (0..1 + below(20)).map(|_| letters[below(kinds)]).collect();
                let mut ids = Vec::new();
                let mark = near.part(&model, &word, &mut ids).unwrap();
                if !mark.is_even() && !ids.iter().any(|&id| even.is_other(id)) {
                    continue;
                }
                // Often close to a power of two, or to where sums start over.
                let power = 2.0_f64.powi(below(18) as i32) - below(30) as f64;
                let over = 99_950.0 + below(50) as f64;
                let from = [power, below(3) as f64, over, below(100_000) as f64][below(4)];
                let fraction = [0.0, 0.2, 0.9, 1.0 / 64.0, 1.0 / 128.0][below(5)];
                let sign = if below(30) == 0 { 1.0 } else { -1.0 };
                let before = EvenSum::new((sign * (from.min(100_000.0) - fraction)) as f32);
                let mut running = Running { single: before.sum(), double: 0.0 };
                model.part(&word, &mut running, &mut viterbi, &mut Silent).unwrap();
                let exact =
                    viterbi.path().iter().map(|&(id, ..)| if id == UNKNOWN { 0 } else { id });
                let is_same = exact.eq(ids.iter().copied());
                match even.behind(Some(before), &ids) {
                    Behind::Sum(behind) => {
                        sums += 1;
                        assert!(is_same, "{word} from {before:?}");
                        assert_eq!(behind.sum().to_bits(), running.single.to_bits());
                        // What says that it is even must be.
                        assert!(!behind.is_even || is_even(behind.sum()));
                    }
                    Behind::Even => {
                        evens += 1;
                        assert!(is_same && is_even(running.single), "{word} from {before:?}");
                        again += u32::from(running.single > before.sum());
                    }
                    Behind::Nothing => nothings += 1,
                }
                // What is known of a sum that is even is known of all such.
                let of_any = matches!(even.behind(None, &ids), Behind::Even);
                assert_eq!(of_any, mark.is_even());
            }
        }
        let counts = [sums, evens, nothings, again];
        assert!(counts.into_iter().all(|count| count > 5000), "{counts:?}");
    }

    /// What is known behind many words is what is known behind each.
    #[test]
    fn many_words_are_words() {
        let mut random = SplitMix64::new(11);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let mut room = Vec::new();
        let (mut all, mut some) = (0, 0);
        for round in 0..3000 {
            let score = [1.0, 100.0, 3000.0][round % 3];
            let model = model(|piece| match piece {
                "xyz" => -0.2,
                _ => -score - below(9) as f64 / 8.0,
            });
            let even = model.even().unwrap();
            let ids = if round % 2 == 0 { 12 } else { 14 };
            let mut word = |_| (0..below(7)).map(|_| below(ids) as u32).collect();
            let words: Vec<Vec<u32>> = (0..round % 40).map(&mut word).collect();
            let from = -(below(2000) as f32) - [0.0, 0.2][below(2)];
            let (mut expected, mut many) = (EvenSum::new(from), EvenSum::new(from));
            let mut count = 0;
            while let Some(Behind::Sum(sum)) =
                words.get(count).map(|word| even.behind(Some(expected), word))
            {
                (expected, count) = (sum, count + 1);
            }
            let ends = words.iter().scan(0, |end, word| {
                *end += word.len();
                Some(*end)
            });
            assert_eq!(even.behind_words(&mut many, &words.concat(), ends, &mut room), count);
            assert_eq!(many.sum.to_bits(), expected.sum.to_bits());
            assert_eq!(many.is_even, expected.is_even);
            all += usize::from(count == words.len());
            some += usize::from(count < words.len());
        }
        assert!(all > 800 && some > 800, "{all} {some}");
    }

    #[test]
    fn what_one_way_rounds_twice_another_rounds_once() {
        let scores = |piece: &str| match piece {
            "a" => -1.0,
            "b" => -11.0,
            _ => -12.0,
        };
        let model = model(scores);
        let (even, mut viterbi, mut ids) = (model.even().unwrap(), Viterbi::default(), Vec::new());
        NearTies::default().part(&model, "ab", &mut ids).unwrap();
        assert_eq!(ids, [5]);
        let path = |sum: f32, viterbi: &mut Viterbi| {
            let mut running = Running { single: sum, double: 0.0 };
            model.part("ab", &mut running, viterbi, &mut Silent).unwrap();
            viterbi.path().len()
        };
        // One step passes 2, 4 and 8, of two the first passes 2.
        let odd = -1.0 - 5.0 * 2.0_f32.powi(-23);
        assert_eq!(path(odd, &mut viterbi), 2);
        assert!(matches!(even.behind(Some(EvenSum::new(odd)), &ids), Behind::Nothing));
        // They pass 16, both.
        let odd = -9.0 - 5.0 * 2.0_f32.powi(-20);
        assert_eq!(path(odd, &mut viterbi), 1);
        assert!(matches!(even.behind(Some(EvenSum::new(odd)), &ids), Behind::Sum(_)));
    }

    #[test]
    fn scores_are_even_or_there_are_none() {
        let is_even =
            |score: f64| model(|piece| if piece == "cd" { score } else { -1.0 }).even().is_some();
        assert!(is_even(-3.0) && is_even(-0.015_625) && is_even(0.0) && is_even(-65_526.0));
        assert!(!is_even(-0.1) && !is_even(1.0) && !is_even(-1.0 / 128.0) && !is_even(-65_537.0));
        // An unknown character costs ten more.
        assert!(!is_even(-65_536.0));
    }
}
