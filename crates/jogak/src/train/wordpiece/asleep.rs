//! Pairs that are too rare to be merged as yet.
//!
//! Their places are known, their counts only as what they once were: counts never rise. So as long as a pair
//! sleeps, no merge has to look at it; when its band comes, its places are counted.

/// A pair that is kept, but has no row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sleeper {
    pub(super) ids: (u32, u32),
    pub(super) number: u32,
}

/// Pairs that sleep, by the band of the last count that is known of them: floor(log2 of it).
#[derive(Debug)]
pub(super) struct Asleep {
    bands: [Vec<Sleeper>; 64],
    /// Pairs below this count are not kept at all.
    least: u64,
}

impl Asleep {
    /// Nobody sleeps as yet.
    pub(super) fn new(least: u64) -> Self {
        Self { bands: [const { Vec::new() }; 64], least }
    }

    /// A pair falls asleep, if it occurs often enough to be kept. Returns whether it does.
    #[inline]
    pub(super) fn push(&mut self, sleeper: Sleeper, count: u64) -> bool {
        let keeps = count >= self.least;
        if keeps {
            self.bands[count.max(1).ilog2() as usize].push(sleeper);
        }
        keeps
    }

    /// Takes out all that may occur `threshold` times.
    pub(super) fn wake(&mut self, threshold: u64) -> Vec<Sleeper> {
        let from = threshold.max(1).ilog2() as usize;
        self.bands[from..].iter_mut().flat_map(std::mem::take).collect()
    }

    /// Pairs below this count are not kept at all.
    pub(super) fn least(&self) -> u64 {
        self.least
    }
}
