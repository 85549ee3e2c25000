//! Expectation and maximisation: how often is every piece used, if texts are cut at random as the
//! probabilities say; and which probabilities follow from that (Kudo 2018; Dempster, Laird & Rubin
//! 1977).
//!
//! Forward, a[d] is the probability of all ways to cut the first d characters. Backward, b[d] is the
//! probability of all ways to cut what follows, divided by that of the whole text, times its count.
//! A piece between f and d is then expected a[f] * p * b[d] times. Since b is a sum, the texts below
//! a common beginning are added up, and the beginning is walked back over once for all of them.
//!
//! Products of hundreds of probabilities leave the range of floating-point numbers. So every
//! probability is multiplied by [`SCALE`] to the power of the piece's length, which keeps products
//! near 1 and cancels out. That holds for texts of up to [`SHORT`](super::lattice::SHORT)
//! characters, whatever the probabilities are; for longer ones every a[d] has an exponent of its own.
//! Both use powers of two only, so nothing is rounded but what would be anyway.
//!
//! Rule: expected counts are whole numbers of a small unit ([`Unit`]). Whole numbers may be added in
//! any order, and so the answer has the same bits on any number of threads.

use super::lattice::{Block, Lattice, Node, SHORT, STACK, id, length, none};
use super::numbers::{exp_digamma, ln_parts, pow2, split};
use super::seed::NONE;
use crate::train::parallel::share;

/// Probabilities are never below 2 to this power.
pub(super) const LEAST: i32 = -50;
/// The power of two that every character's worth of probability is multiplied by.
pub(super) const SCALE: i32 = 4;
/// A multi-character piece that is expected less often than this is dropped.
pub(super) const RARE: f64 = 0.5;
/// What stands for the probability of a character that is expected less often than [`RARE`]: this
/// times the smallest other one; exp(-10).
pub(super) const GHOST: f64 = 4.539_992_976_248_485e-5;

/// The unit of expected counts: 2^-20, or more if the corpus is so large that sums could overflow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    bits: i32,
}

impl Unit {
    /// For a corpus of `total` characters.
    pub(super) fn new(total: u64) -> Self {
        Self { bits: (total.leading_zeros() as i32 - 2).min(20) }
    }

    /// How many units make up 1.
    #[inline(always)]
    pub(super) fn per_one(self) -> f64 {
        pow2(self.bits)
    }

    /// An expected count as a number.
    #[inline(always)]
    pub(super) fn value(self, units: u64) -> f64 {
        units as f64 * pow2(-self.bits)
    }
}

/// The nearest whole number; it is neither negative nor more than 2^62, see [`Unit`]. (By way of signed numbers, which
/// every processor has an instruction for.)
#[inline(always)]
fn units(number: f64) -> u64 {
    (number + 0.5) as i64 as u64
}

/// Probability times [`SCALE`] to the power of the length, for every piece.
pub(super) fn scaled(probabilities: &[f64], lengths: &[u8]) -> Vec<f64> {
    let scale = |(p, length): (&f64, &u8)| p * pow2(SCALE * i32::from(*length));
    probabilities.iter().zip(lengths).map(scale).collect()
}

/// What a walk asks for together.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// See [`scaled`]; 0 for [`none`], which stands behind all pieces.
    scaled: f64,
    /// In units, so far.
    expected: u64,
}

/// The expected count of every piece in units, and the log-likelihood of the corpus if it is asked
/// for (else 0).
pub(super) fn expect<const LIKELIHOOD: bool>(
    lattice: &Lattice<u64>,
    scaled: &[f64],
    unit: Unit,
    threads: usize,
) -> (Vec<u64>, f64) {
    let new = || {
        let pieces = scaled.iter().chain([&0.0]).map(|&scaled| Piece { scaled, expected: 0 });
        (pieces.collect::<Vec<_>>(), Vec::new(), Long::default())
    };
    let done = share(
        threads,
        lattice.blocks.iter().enumerate(),
        new,
        |(pieces, likelihoods, long), (number, block)| {
            let likelihood = if block.depth <= SHORT {
                short::<LIKELIHOOD>(block, unit, pieces)
            } else {
                long.block::<LIKELIHOOD>(block, unit, pieces)
            };
            if LIKELIHOOD {
                likelihoods.push((number, likelihood));
            }
        },
    );
    let mut expected: Vec<u64> = Vec::new();
    let mut likelihoods = Vec::new();
    for (pieces, part, _) in done {
        let of_thread = pieces[..scaled.len()].iter().map(|piece| piece.expected);
        if expected.is_empty() {
            // Written before anything is added to it.
            expected.extend(of_thread);
        } else {
            expected.iter_mut().zip(of_thread).for_each(|(sum, units)| *sum += units);
        }
        likelihoods.extend(part);
    }
    likelihoods.sort_unstable_by_key(|(number, _)| *number);
    (expected, likelihoods.iter().map(|(_, likelihood)| likelihood).sum())
}

/// A block of short texts.
fn short<const LIKELIHOOD: bool>(block: &Block<u64>, unit: Unit, pieces: &mut [Piece]) -> f64 {
    let stream = &block.stream[..];
    let per_one = unit.per_one();
    let none = none(pieces.len() - 1);
    let mut forward = [0f64; STACK];
    let mut backward = [0f64; STACK];
    let mut nodes = [Node::default(); STACK];
    forward[0] = 1.0;
    // forward[depth]: what comes next needs it first, and would wait for memory.
    let mut above = 1.0;
    let mut depth = 0;
    let mut ends = block.ends.iter();
    let mut likelihood = 0.0;
    let mut at = 0;
    loop {
        let node = if at < stream.len() { Node::read(stream, at) } else { Node::leaving(depth) };
        if node.leave > 0 {
            // backward[depth], likewise.
            let mut behind = backward[depth & (STACK - 1)];
            for _ in 0..node.leave {
                let mut pass = |piece, start: usize| {
                    let Piece { scaled, expected } = &mut pieces[id(piece)];
                    let term = *scaled * behind;
                    *expected += units(forward[start] * term * per_one);
                    term
                };
                let (longest, between, character) = nodes[depth & (STACK - 1)].pieces(stream, none);
                let mut pass_longer = |piece| {
                    let start = depth.wrapping_sub(length(piece)) & (STACK - 1);
                    backward[start] += pass(piece, start);
                };
                pass_longer(longest);
                between.iter().copied().for_each(pass_longer);
                depth = depth.wrapping_sub(1);
                let start = depth & (STACK - 1);
                behind = backward[start] + pass(character, start);
            }
            backward[depth & (STACK - 1)] = behind;
            above = forward[depth & (STACK - 1)];
        }
        if at >= stream.len() {
            return likelihood;
        }
        depth += 1;
        let (longest, between, character) = node.pieces(stream, none);
        let mut sum = 0.0;
        let mut add = |piece| {
            let start = depth.wrapping_sub(length(piece)) & (STACK - 1);
            sum += forward[start] * pieces[id(piece)].scaled;
        };
        add(longest);
        between.iter().copied().for_each(add);
        sum += above * pieces[id(character)].scaled;
        above = sum;
        let here = depth & (STACK - 1);
        forward[here] = sum;
        nodes[here] = node;
        backward[here] = 0.0;
        if node.ends
            && let Some(&count) = ends.next()
        {
            backward[here] = count as f64 / sum;
            if LIKELIHOOD {
                let (mantissa, exponent) = split(sum);
                likelihood += count as f64 * ln_parts(mantissa, exponent - SCALE * depth as i32);
            }
        }
        at = node.next();
    }
}

/// Sums between 1 / this and this keep the exponent of the sum before them.
const FAR: i32 = 256;

/// Space for a long text.
#[derive(Debug, Default)]
struct Long {
    /// a[d] = forward * 2^exponent, and forward is not far from 1, see [`FAR`].
    forward: Vec<f64>,
    exponents: Vec<i32>,
    /// b[d] = backward / 2^exponent, with the exponent of a[d]: so it is not far from the count.
    backward: Vec<f64>,
    /// Where the pieces of each depth are in the stream, and whether all of them start where the exponent is the same.
    places: Vec<(usize, usize, bool)>,
}

impl Long {
    /// A block of one text.
    fn block<const LIKELIHOOD: bool>(
        &mut self,
        block: &Block<u64>,
        unit: Unit,
        table: &mut [Piece],
    ) -> f64 {
        let stream = &block.stream[..];
        let per_one = unit.per_one();
        self.forward.clear();
        self.forward.push(0.5);
        self.exponents.clear();
        self.exponents.push(1);
        self.places.clear();
        self.places.push((0, 0, true));
        // From this depth on the exponent is the same.
        let mut since = 0;
        let mut at = 0;
        while at < stream.len() {
            let node = Node::read(stream, at);
            at = node.next();
            let depth = self.forward.len();
            let pieces = &stream[node.from..at];
            let exponents = &self.exponents;
            // The first is the longest.
            let plain = depth - length(pieces[0]) >= since;
            let mut sum = 0.0;
            let highest = if plain {
                for &piece in pieces {
                    sum += self.forward[depth - length(piece)] * table[id(piece)].scaled;
                }
                exponents[since]
            } else {
                let possible = pieces.iter().filter(|&&piece| table[id(piece)].scaled > 0.0);
                let highest = possible.map(|&piece| exponents[depth - length(piece)]).max();
                let highest = highest.unwrap_or(0);
                for &piece in pieces {
                    let start = depth - length(piece);
                    let shifted = table[id(piece)].scaled * pow2(exponents[start] - highest);
                    sum += self.forward[start] * shifted;
                }
                highest
            };
            let (mut mantissa, mut exponent) = (sum, highest);
            if !(pow2(-FAR)..pow2(FAR)).contains(&sum) {
                (mantissa, exponent) = split(sum);
                exponent += highest;
            }
            if exponent != exponents[depth - 1] {
                since = depth;
            }
            self.forward.push(mantissa);
            self.exponents.push(exponent);
            self.places.push((node.from, at, plain && since < depth));
        }
        let depth = self.forward.len() - 1;
        let count = block.ends.first().copied().unwrap_or(0) as f64;
        self.backward.clear();
        self.backward.resize(depth + 1, 0.0);
        self.backward[depth] = count / self.forward[depth];
        for d in (1..=depth).rev() {
            let (from, to, plain) = self.places[d];
            let behind = self.backward[d];
            let mut pass = |piece, shift| {
                let start = d - length(piece);
                let Piece { scaled, expected } = &mut table[id(piece)];
                let term = *scaled * shift * behind;
                self.backward[start] += term;
                *expected += units(self.forward[start] * term * per_one);
            };
            if plain {
                stream[from..to].iter().for_each(|&piece| pass(piece, 1.0));
            } else {
                for &piece in &stream[from..to] {
                    let exponents = &self.exponents;
                    pass(piece, pow2(exponents[d - length(piece)] - exponents[d]));
                }
            }
        }
        if LIKELIHOOD {
            let (mantissa, exponent) = split(self.forward[depth]);
            let exponent = i64::from(exponent) + i64::from(self.exponents[depth])
                - i64::from(SCALE) * depth as i64;
            let exponent = i32::try_from(exponent).unwrap_or(i32::MIN);
            count * ln_parts(mantissa, exponent)
        } else {
            0.0
        }
    }
}

/// New probabilities from expected counts: exp(digamma(count)) in proportion. Pieces expected less
/// often than [`RARE`] get 0, characters a trace of the smallest other one. Returns how many pieces
/// were not [`RARE`].
pub(super) fn maximise(
    expected: &[u64],
    lengths: &[u8],
    unit: Unit,
    probabilities: &mut [f64],
    threads: usize,
) -> usize {
    let usual = |units: &u64| unit.value(*units) >= RARE;
    let size = expected.iter().filter(|units| usual(units)).count();
    let sum: u64 = expected.iter().filter(|units| usual(units)).sum();
    let all = exp_digamma(unit.value(sum));
    let least = expected.iter().filter(|units| usual(units)).min().copied().unwrap_or(0);
    let ghost = (exp_digamma(unit.value(least)) / all * GHOST).max(pow2(LEAST));
    let jobs = probabilities
        .chunks_mut(1 << 14)
        .zip(expected.chunks(1 << 14).zip(lengths.chunks(1 << 14)));
    share(
        threads,
        jobs,
        || (),
        |(), (probabilities, (expected, lengths))| {
            for ((p, units), length) in probabilities.iter_mut().zip(expected).zip(lengths) {
                *p = if usual(units) {
                    (exp_digamma(unit.value(*units)) / all).max(pow2(LEAST))
                } else if *length == 1 {
                    ghost
                } else {
                    0.0
                };
            }
        },
    );
    size
}

/// New probabilities from expected counts: the counts in proportion, each at least [`RARE`], so that
/// no piece is without.
pub(super) fn proportions(expected: &[u64], unit: Unit, probabilities: &mut [f64]) {
    let least = ((unit.per_one() * RARE) as u64).max(1);
    let sum: u64 = expected.iter().map(|&units| units.max(least)).sum();
    let all = unit.value(sum);
    for (p, &units) in probabilities.iter_mut().zip(expected) {
        *p = (unit.value(units.max(least)) / all).max(pow2(LEAST));
    }
}

/// Which pieces stay, and their new ids: `kept` are ascending old ids of `size`.
pub(super) fn new_ids(kept: &[u32], size: usize) -> Vec<u32> {
    let mut ids = vec![NONE; size];
    for (&old, new) in kept.iter().zip(0..) {
        ids[old as usize] = new;
    }
    ids
}
