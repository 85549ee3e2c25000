//! Which of two pairs is merged first: exact, so that rounding is no part of a tokenizer.

use std::cmp::Ordering;

use super::{Criterion, WordPieceConfig};

/// All that pairs are compared by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rank {
    /// Pairs of a greater band go first: floor(log2 of the count), or 0 where a floor does not move.
    band: u32,
    /// The score is `count / (left * right)`; where counts alone decide, both are 1.
    count: u64,
    left: u64,
    right: u64,
    /// The same, rounded: decides wherever two scores are clearly apart.
    score: f64,
    ids: (u32, u32),
}

/// Scores that differ by less than this share of the greater one are compared exactly. Rounding moves
/// a score by less than a thousandth of it.
const CLEAR: f64 = 1e-12;

/// Of keys that differ by less, ranks tell more: a step of a key is at least 2^-47 of a score, and so many
/// of them are more than [`CLEAR`].
const CLEAR_STEPS: u64 = 1 << 10;
/// Bits of a key that stand for a score.
const SCORE_BITS: u32 = 57;

/// Whether one key tells that its rank goes before that of the other.
#[inline(always)]
pub(super) fn key_above(one: u64, other: u64) -> bool {
    one > other.saturating_add(CLEAR_STEPS)
}

/// Whether one rank goes before the other, by their keys where these tell; the key 0 goes behind all others.
#[inline(always)]
pub(super) fn key_before(one: (u64, &Rank), other: (u64, &Rank)) -> bool {
    if one.0.abs_diff(other.0) > CLEAR_STEPS {
        return one.0 > other.0;
    }
    one.1.before(other.1)
}

/// Ranks pairs, for symbols that occur so and so often.
pub(super) struct Ranker<'a> {
    occurrences: &'a [u64],
    likelihood: bool,
    banded: bool,
}

impl<'a> Ranker<'a> {
    pub(super) fn new(config: &WordPieceConfig, occurrences: &'a [u64]) -> Self {
        let likelihood = config.criterion == Criterion::Likelihood;
        // Where counts alone decide, a greater band means a greater score.
        let banded = !likelihood || config.min_pair_count.is_none();
        Self { occurrences, likelihood, banded }
    }

    #[inline]
    fn band(&self, count: u64) -> u32 {
        if self.banded { count.max(1).ilog2() } else { 0 }
    }

    /// The rank of a pair that occurs `count` times.
    #[inline]
    pub(super) fn rank(&self, ids: (u32, u32), count: u64) -> Rank {
        let occurrences = |id: u32| if self.likelihood { self.occurrences[id as usize] } else { 1 };
        Rank::new(self.band(count), ids, count, (occurrences(ids.0), occurrences(ids.1)))
    }

    /// False if no pair that occurs `count` times goes before one of this key: known without its score.
    #[inline]
    pub(super) fn may_precede(&self, count: u64, key: u64) -> bool {
        u64::from(self.band(count) + 1) >= key >> SCORE_BITS
    }
}

impl Rank {
    fn new(band: u32, ids: (u32, u32), count: u64, (left, right): (u64, u64)) -> Self {
        let score = count as f64 / (left as f64 * right as f64);
        Self { band, count, left, right, score, ids }
    }

    /// A number that is greater, by more than [`CLEAR_STEPS`], only if the rank goes before the other. Never
    /// small. (Scores are positive, and so their bits are in their order.)
    #[inline(always)]
    pub(super) fn key(&self) -> u64 {
        u64::from(self.band + 1) << SCORE_BITS | self.score.to_bits() >> (64 - 1 - SCORE_BITS)
    }

    /// [`Ordering::Less`] if `self` goes first: greater band, greater score, smaller (left id, right
    /// id).
    #[inline]
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.compare_without_ids(other).then_with(|| self.ids.cmp(&other.ids))
    }

    /// Whether only their ids tell two pairs apart.
    pub(super) fn ties_with(&self, other: &Self) -> bool {
        self.compare_without_ids(other).is_eq()
    }

    #[inline]
    fn compare_without_ids(&self, other: &Self) -> Ordering {
        other.band.cmp(&self.band).then_with(|| self.compare_scores(other))
    }

    #[inline]
    fn compare_scores(&self, other: &Self) -> Ordering {
        let apart = self.score - other.score;
        let unclear = CLEAR * self.score.max(other.score);
        if apart > unclear {
            Ordering::Less
        } else if apart < -unclear {
            Ordering::Greater
        } else {
            // a / (b c) against d / (e f) is a e f against d b c.
            product(other.count, self.left, self.right).cmp(&product(
                self.count,
                other.left,
                other.right,
            ))
        }
    }

    /// Whether `self` goes before `other`.
    #[inline]
    pub(super) fn before(&self, other: &Self) -> bool {
        self.compare(other).is_lt()
    }
}

/// The product of three numbers: upper 128 bits, lower 64 bits.
fn product(a: u64, b: u64, c: u64) -> (u128, u64) {
    let both = u128::from(a) * u128::from(b);
    let low = (both & u128::from(u64::MAX)) * u128::from(c);
    let high = (both >> 64) * u128::from(c) + (low >> 64);
    (high, low as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_do_not_overflow() {
        let most = u64::MAX;
        // (2^64 - 1)^3 = 2^192 - 3 * 2^128 + 3 * 2^64 - 1
        assert_eq!(product(most, most, most), (u128::MAX - (3 << 64) + 3, most));
        assert_eq!(product(3, 5, 7), (0, 105));
        assert_eq!(product(1 << 40, 1 << 40, 1), (1 << 16, 0));
    }

    #[test]
    fn scores_that_round_to_the_same_are_told_apart() {
        let n = (1u64 << 53) + 2;
        let rank = |count, parts, ids| Rank::new(0, ids, count, parts);
        // n / (n + 1) < (n + 1) / (n + 2), by about 2^-106.
        let (low, high) = (rank(n, (n + 1, 1), (0, 0)), rank(n + 1, (n + 2, 1), (9, 9)));
        assert_eq!(high.compare(&low), Ordering::Less);
        // Equal scores go by the smaller ids.
        let (first, second) = (rank(1, (2, 3), (0, 5)), rank(2, (4, 3), (1, 0)));
        assert_eq!(first.compare(&second), Ordering::Less);
    }
}
