//! The best path through a word, in the very order and precision of sums of the reference encoders.

use crate::error::{Error, Result};
use crate::observe::WordObserver;
use crate::symbols::UNKNOWN;
use crate::vocab::CharTree;

/// No path has come here yet.
const NOWHERE: u64 = u64::MAX;

/// A number that scores are added up in.
pub trait Number: Copy + PartialOrd + Default + Into<f64> + std::ops::Add<Output = Self> {
    /// Where this number keeps its sums.
    fn sums(lane: &mut Lane) -> &mut Vec<Self>;

    /// Starts over from 0 if the first sum has grown too large: it is taken off all that follow and
    /// that a path has come to. Gives the first sum.
    fn settle(sums: &mut [Self], back: &[u64]) -> Self {
        let _ = back;
        sums[0]
    }
}

impl Number for f64 {
    fn sums(lane: &mut Lane) -> &mut Vec<Self> {
        &mut lane.double
    }
}

impl Number for f32 {
    fn sums(lane: &mut Lane) -> &mut Vec<Self> {
        &mut lane.single
    }

    #[inline]
    fn settle(sums: &mut [Self], back: &[u64]) -> Self {
        let here = sums[0];
        if here.abs() <= LARGEST_SINGLE {
            return here;
        }
        for (sum, &back) in sums.iter_mut().zip(back) {
            if back != NOWHERE {
                *sum -= here;
            }
        }
        sums[0] = 0.0;
        0.0
    }
}

/// SentencePiece 0.2.3 starts sums over when they pass this.
pub(crate) const LARGEST_SINGLE: f32 = 100_000.0;

/// Sums of scores at every byte of a part, for one precision at a time.
#[derive(Debug, Default)]
pub struct Lane {
    single: Vec<f32>,
    double: Vec<f64>,
}

/// What one thread needs to find best paths.
#[derive(Debug, Default)]
pub struct Viterbi {
    lane: Lane,
    /// How the best path comes to every byte: where its last piece starts, and the id.
    back: Vec<u64>,
    /// The best path of the last part: id and bytes.
    path: Vec<(u32, usize, usize)>,
}

impl Viterbi {
    /// The best path that was found last: ids, and the bytes that each stands for.
    pub fn path(&self) -> &[(u32, usize, usize)] {
        &self.path
    }

    /// Finds the best path of `text`; gives its sum, begun at `base`.
    #[inline]
    pub(super) fn run<N: Number, O: WordObserver>(
        &mut self,
        tree: &CharTree,
        (scores, unknown): (&[N], N),
        text: &str,
        base: N,
        observer: &mut O,
    ) -> Result<N> {
        let bytes = text.as_bytes();
        let Self { lane, back, path } = self;
        let sums = N::sums(lane);
        // The end of a text of 4 GiB has no number.
        if u32::try_from(bytes.len()).is_err() {
            let (size, limit) = (bytes.len() as u64, u64::from(u32::MAX));
            return Err(Error::TooLarge { what: "a word", size, limit });
        }
        back.clear();
        back.resize(bytes.len() + 1, NOWHERE);
        sums.resize(bytes.len() + 1, N::default());
        sums[0] = base;
        let mut start = 0;
        // The farthest byte that a path has come to.
        let mut frontier = 0;
        while start < bytes.len() {
            let here = N::settle(&mut sums[start..=frontier], &back[start..=frontier]);
            let width = width(bytes[start]);
            let mut single = false;
            tree.prefixes(&text[start..], |length, id| {
                single |= length == width;
                let score = scores[id as usize];
                let end = start + length;
                frontier = frontier.max(end);
                let sum = here + score;
                let better = back[end] == NOWHERE || sum > sums[end];
                if O::WATCHES {
                    observer.candidate(start, end, id, score.into(), sum.into(), better);
                }
                if better {
                    sums[end] = sum;
                    back[end] = (start as u64) << 32 | u64::from(id);
                }
            });
            if !single {
                let end = start + width;
                frontier = frontier.max(end);
                let sum = here + unknown;
                let better = back[end] == NOWHERE || sum > sums[end];
                if O::WATCHES {
                    observer.candidate(start, end, UNKNOWN, unknown.into(), sum.into(), better);
                }
                if better {
                    sums[end] = sum;
                    back[end] = (start as u64) << 32 | u64::from(UNKNOWN);
                }
            }
            start += width;
        }
        path.clear();
        let mut end = bytes.len();
        while end > 0 {
            let start = (back[end] >> 32) as usize;
            path.push((back[end] as u32, start, end));
            end = start;
        }
        path.reverse();
        Ok(sums[bytes.len()])
    }
}

/// The length of a character by its first byte.
#[inline]
pub(super) fn width(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}
