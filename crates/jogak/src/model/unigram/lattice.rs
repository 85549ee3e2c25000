//! All ways to cut a word at once: the n best, the sum over all, one drawn at random.
//!
//! A lattice has a node at every border between characters and an edge for every piece that lies
//! between two of them (Kudo 2018). Everything here adds in 64 bits, from the left.

use crate::error::{Error, Result};
use crate::random::SplitMix64;
use crate::symbols::UNKNOWN;
use crate::vocab::CharTree;

use super::viterbi::width;

/// A piece that may stand somewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The byte where it starts.
    pub start: u32,
    /// The piece; [`UNKNOWN`] for an unknown character.
    pub id: u32,
    /// Its score.
    pub score: f64,
}

/// One way to cut a word.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The sum of its scores.
    pub score: f64,
    /// Its pieces, and the bytes that each stands for.
    pub pieces: Vec<(u32, usize, usize)>,
}

/// All ways to cut a word.
#[derive(Debug, Clone)]
pub struct Lattice {
    /// By the byte where they end, and of those with the same end by the one where they start.
    edges: Vec<Edge>,
    /// The edges that end at byte `i` are those from `from[i]` to `from[i + 1]`.
    from: Vec<usize>,
}

/// Most hypotheses that the n best paths may take, at 16 bytes each.
pub(super) const MOST_HYPOTHESES: usize = 1 << 27;

/// The beginning of a path, up to some border.
#[derive(Debug, Clone, Copy)]
struct Hypothesis {
    score: f64,
    /// Its last edge.
    edge: u32,
    /// Which of the hypotheses at that edge's start it goes on from.
    rank: u32,
}

impl Lattice {
    pub(super) fn new(tree: &CharTree, scores: &[f64], unknown: f64, word: &str) -> Result<Self> {
        let bytes = word.as_bytes();
        let mut found: Vec<(u32, Edge)> = Vec::new();
        if u32::try_from(bytes.len()).is_err() {
            let (size, limit) = (bytes.len() as u64, u64::from(u32::MAX));
            return Err(Error::TooLarge { what: "a word", size, limit });
        }
        let mut from = vec![0; bytes.len() + 2];
        let mut start = 0;
        while start < bytes.len() {
            let width = width(bytes[start]);
            let mut covered = false;
            let mut add = |length: usize, id: u32, score: f64| {
                let end = start + length;
                from[end + 1] += 1;
                found.push((end as u32, Edge { start: start as u32, id, score }));
            };
            tree.prefixes(&word[start..], |length, id| {
                covered |= length == width;
                add(length, id, scores[id as usize]);
            });
            if !covered {
                add(width, UNKNOWN, unknown);
            }
            start += width;
        }
        for end in 1..from.len() {
            from[end] += from[end - 1];
        }
        let mut next = from.clone();
        let mut edges = vec![Edge { start: 0, id: 0, score: 0.0 }; found.len()];
        for (end, edge) in found {
            edges[next[end as usize]] = edge;
            next[end as usize] += 1;
        }
        Ok(Self { edges, from })
    }

    /// The length of the word in bytes.
    pub fn len(&self) -> usize {
        self.from.len() - 2
    }

    /// Whether the word is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All edges, by their ends.
    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges that end at a byte, with their numbers.
    pub(super) fn numbered_to(&self, end: usize) -> impl Iterator<Item = (&Edge, usize)> {
        self.edges_to(end).iter().zip(self.from[end]..)
    }

    /// The edges that end at a byte, the earliest start first.
    pub fn edges_to(&self, end: usize) -> &[Edge] {
        &self.edges[self.from[end]..self.from[end + 1]]
    }

    /// The `n` paths of the highest sums, best first; fewer if there are no more. Of equal sums the
    /// path whose last piece starts earlier comes first, then the one whose last but one does, and so
    /// on. Cost: n times the edges.
    ///
    /// # Errors
    /// [`Error::Config`] if that takes more than 2 GiB.
    pub fn best(&self, n: usize) -> Result<Vec<Path>> {
        let size = (self.len() + 1).saturating_mul(n);
        if size > MOST_HYPOTHESES {
            let most = MOST_HYPOTHESES / (self.len() + 1);
            return Err(Error::Config {
                option: "n",
                found: format!("{n} for a word of {} bytes", self.len()),
                expected: format!("at most {most} for one so long, which take 2 GiB"),
            });
        }
        let mut lists: Vec<Vec<Hypothesis>> = vec![Vec::new(); self.len() + 1];
        lists[0].push(Hypothesis { score: 0.0, edge: u32::MAX, rank: 0 });
        for end in 1..=self.len() {
            let mut list = Vec::new();
            for (edge, number) in self.edges_to(end).iter().zip(self.from[end]..) {
                for (before, rank) in lists[edge.start as usize].iter().take(n).zip(0..) {
                    let score = before.score + edge.score;
                    list.push(Hypothesis { score, edge: number as u32, rank });
                }
            }
            // Stable: equal sums stay in the order of their starts, then ranks.
            list.sort_by(|one, other| other.score.total_cmp(&one.score));
            list.truncate(n);
            list.shrink_to_fit();
            lists[end] = list;
        }
        let path = |last: &Hypothesis| {
            let mut pieces = Vec::new();
            let (mut end, mut at) = (self.len(), *last);
            while end > 0 {
                let edge = self.edges[at.edge as usize];
                pieces.push((edge.id, edge.start as usize, end));
                end = edge.start as usize;
                at = lists[end][at.rank as usize];
            }
            pieces.reverse();
            Path { score: last.score, pieces }
        };
        Ok(lists[self.len()].iter().take(n).map(path).collect())
    }

    /// For every byte, the logarithm of the summed probabilities of all ways to come there, each to
    /// the power of `alpha`.
    pub fn forward(&self, alpha: f64) -> Vec<f64> {
        let mut sums = vec![f64::NEG_INFINITY; self.len() + 1];
        sums[0] = 0.0;
        for end in 1..=self.len() {
            let edges = self.edges_to(end);
            let sum = |edge: &Edge| sums[edge.start as usize] + alpha * edge.score;
            let most = edges.iter().map(sum).fold(f64::NEG_INFINITY, f64::max);
            if most > f64::NEG_INFINITY {
                let rest: f64 = edges.iter().map(|edge| (sum(edge) - most).exp()).sum();
                sums[end] = most + rest.ln();
            }
        }
        sums
    }

    /// The logarithm of the word's probability: that of all its segmentations together.
    pub fn marginal(&self) -> f64 {
        self.forward(1.0)[self.len()]
    }

    /// The entropy of the segmentations, in nats, drawn as [`Lattice::sample`] does.
    pub fn entropy(&self, alpha: f64) -> f64 {
        let sums = self.forward(alpha);
        let mut entropies = vec![0.0; self.len() + 1];
        for end in 1..=self.len() {
            let part = |edge: &Edge| {
                let start = edge.start as usize;
                let log = sums[start] + alpha * edge.score - sums[end];
                let probability = log.exp();
                if probability > 0.0 { probability * (entropies[start] - log) } else { 0.0 }
            };
            if sums[end] > f64::NEG_INFINITY {
                entropies[end] = self.edges_to(end).iter().map(part).sum();
            }
        }
        entropies[self.len()]
    }

    /// A segmentation drawn with a probability in proportion to its own to the power of `alpha`
    /// (forward filtering, backward sampling): 1 draws from the model, 0 from all ways alike, large
    /// numbers near the best one. Takes one number of `random` for each piece, from the last piece on.
    pub fn sample(&self, alpha: f64, random: &mut SplitMix64) -> Path {
        let sums = self.forward(alpha);
        let mut path = Path { score: 0.0, pieces: Vec::new() };
        let mut scores = Vec::new();
        let mut end = self.len();
        while end > 0 {
            let drawn = random.fraction();
            let mut below = 0.0;
            let mut chosen = None;
            for edge in self.edges_to(end) {
                let log = sums[edge.start as usize] + alpha * edge.score - sums[end];
                if log == f64::NEG_INFINITY {
                    continue; // nothing comes to its start
                }
                below += log.exp();
                chosen = Some(edge);
                if drawn < below {
                    break;
                }
            }
            // Every border of a character can be come to, by unknown characters if need be.
            let Some(edge) = chosen else { break };
            path.pieces.push((edge.id, edge.start as usize, end));
            scores.push(edge.score);
            end = edge.start as usize;
        }
        path.pieces.reverse();
        path.score = scores.iter().rev().fold(0.0, |sum, score| sum + score);
        path
    }
}
