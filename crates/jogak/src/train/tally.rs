//! How often characters occur, whatever script they are of.
//!
//! Rule: memory is taken where a script has its characters, and nowhere else. A table of all of Unicode is nine
//! megabytes, most of which would be made ready and looked at for nothing.

/// The highest code.
pub(super) const MOST: u32 = 1 << 22;
/// Codes whose counts lie together.
const BLOCK: usize = 1 << 8;
/// How many blocks of codes there are.
const BLOCKS: usize = MOST as usize / BLOCK + 1;

/// How often every code occurs; a code point is one.
#[derive(Debug)]
pub(super) struct Tally {
    /// By code, a block where a script has its characters.
    counts: Vec<Option<Box<[u64; BLOCK]>>>,
    /// The codes that occur; some more than once.
    seen: Vec<u32>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { counts: vec![None; BLOCKS], seen: Vec::new() }
    }
}

impl Tally {
    /// How often a code occurs.
    pub(super) fn count(&self, code: u32) -> u64 {
        let code = code as usize;
        self.counts[code / BLOCK].as_ref().map_or(0, |block| block[code % BLOCK])
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn count_mut(&mut self, code: u32) -> &mut u64 {
        let code = code as usize;
        let block = self.counts[code / BLOCK].get_or_insert_with(|| Box::new([0; BLOCK]));
        &mut block[code % BLOCK]
    }

    /// Adds what another one has.
    pub(super) fn append(&mut self, other: &Self) {
        for &code in &other.seen {
            self.add(code, other.count(code));
        }
    }

    /// Sums that pass `u64::MAX` stay there: who adds up all that is counted has to refuse them.
    #[inline]
    pub(super) fn add(&mut self, code: u32, count: u64) {
        let sum = self.count_mut(code);
        let before = *sum;
        *sum = sum.saturating_add(count);
        if before == 0 {
            self.seen.push(code);
        }
    }

    /// The codes that occur, ascending; from now on nobody else knows them.
    pub(super) fn seen(&mut self) -> Vec<u32> {
        let mut seen = std::mem::take(&mut self.seen);
        seen.sort_unstable();
        seen.dedup();
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up_in_any_order() {
        let counts = [(97, 3), (0, 1), (0x10_ffff, 2), (97, 1), (MOST, 5), (500, 0)];
        let mut one = Tally::default();
        let (mut some, mut others) = (Tally::default(), Tally::default());
        for (number, (code, count)) in counts.into_iter().enumerate() {
            one.add(code, count);
            if number % 2 == 0 { &mut some } else { &mut others }.add(code, count);
        }
        others.append(&some);
        for mut tally in [one, others] {
            let known = |&code: &u32| tally.count(code) > 0;
            assert_eq!(
                [0, 97, 98, 500, 0x10_ffff, MOST].map(|code| tally.count(code)),
                [1, 4, 0, 0, 2, 5]
            );
            assert!([0, 97, 0x10_ffff, MOST].iter().all(known));
            let seen: Vec<u32> =
                tally.seen().into_iter().filter(|&code| tally.count(code) > 0).collect();
            assert_eq!(seen, [0, 97, 0x10_ffff, MOST]);
        }
        let mut much = Tally::default();
        much.add(1, u64::MAX);
        much.add(1, 1);
        assert_eq!(much.count(1), u64::MAX);
    }
}
