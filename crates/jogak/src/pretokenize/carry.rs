//! Runs of bits that go on from one block to the next.

/// The bits moved up by one: what was said of a byte is said of the next one. Keeps the last bit for the
/// next block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Behind(u64);

impl Behind {
    #[inline(always)]
    pub(super) fn next(&mut self, mask: u64) -> u64 {
        let behind = mask << 1 | self.0;
        self.0 = mask >> 63;
        behind
    }
}

/// Follows runs from places within them to their ends: an addition carries through set bits and stops at
/// the first that is not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Runs {
    /// A run that is followed goes on in the next block.
    open: u64,
}

/// What became of runs in a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Followed {
    /// The bits of the runs from the places that they were followed from.
    pub(super) run: u64,
    /// The bits behind their ends.
    pub(super) ends: u64,
}

impl Runs {
    /// Follows the runs of `mask` from `places`, at most one to a run, and those that are open.
    #[inline(always)]
    pub(super) fn follow(&mut self, mask: u64, places: u64) -> Followed {
        let (sum, one) = mask.overflowing_add(places);
        let (sum, two) = sum.overflowing_add(self.open);
        self.open = u64::from(one | two);
        Followed { run: mask & !sum, ends: sum & !mask }
    }
}

/// Borders at the beginnings of runs that hold only until it is seen how the run ends.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Doubtful {
    runs: Runs,
}

/// What is left of doubtful borders.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    /// Those that are not taken back, as far as is known.
    pub(super) borders: u64,
    /// The one that was open in the block before is taken back.
    pub(super) take_back: bool,
    /// One was open when the block began.
    pub(super) was_open: bool,
}

impl Doubtful {
    /// Takes back those of `borders`, and of the open one, whose run of `mask` ends where `refuted` is.
    #[inline(always)]
    pub(super) fn judge(&mut self, mask: u64, mut borders: u64, refuted: u64) -> Judged {
        let was_open = self.runs.open != 0;
        let mut take_back = false;
        let mut ends = self.runs.follow(mask, borders).ends & refuted;
        while ends != 0 {
            let below = borders & (ends ^ (ends - 1));
            if below == 0 {
                take_back = true;
            } else {
                borders &= !(1 << below.ilog2());
            }
            ends &= ends - 1;
        }
        Judged { borders, take_back, was_open }
    }
}
