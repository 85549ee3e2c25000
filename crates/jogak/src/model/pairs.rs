//! Which two pieces merge into which, and how early.

use crate::scan::{prefetch, written_zeros};

/// "No merge": greater than every rank.
pub(super) const NO_RANK: u32 = u32::MAX;

/// Two pieces that become one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merge {
    pub(super) left: u32,
    pub(super) right: u32,
    /// Lower ones go first; [`NO_RANK`] marks a free slot.
    pub(super) rank: u32,
    pub(super) product: u32,
}

/// (left id, right id) -> (rank, id of the product): open addressing, at most four fifths full. What is not there is
/// mostly told without a look at the slots, so that it is better to have few of them.
#[derive(Debug, Clone)]
pub(super) struct PairTable {
    slots: Vec<Merge>,
    /// Eight bits to a slot, by hash: a pair may be there if its bit is set. Most pairs that are asked for are not
    /// there, and this is small enough to stay near the processor.
    marks: Vec<u64>,
    /// The pairs of [`FIRST`] symbols from `first` on, once more, where nothing has to be looked for:
    /// left, right -> (rank + 1, product), zeros where they do not merge. Most letters merge with most others, and a
    /// word begins with a look at each two.
    firsts: Vec<(u32, u32)>,
    first: u32,
    shift: u32,
    len: usize,
    ranks: usize,
}

/// Symbols whose pairs have a table of their own: all bytes, or the letters of some languages.
const FIRST: u32 = 256;
const FIRSTS: usize = (FIRST * FIRST) as usize;

impl PairTable {
    /// Room for so many pairs. Symbols that words are made of mostly have numbers from `first` on.
    pub(super) fn with_capacity(pairs: usize, first: u32) -> Self {
        let size = (pairs * 5 / 4).next_power_of_two().max(16);
        let free = Merge { left: 0, right: 0, rank: NO_RANK, product: 0 };
        Self {
            slots: vec![free; size],
            marks: written_zeros(size / 8),
            firsts: Vec::new(),
            first,
            shift: 64 - size.trailing_zeros(),
            len: 0,
            ranks: 0,
        }
    }

    /// The bit of a pair; the slot where it should be is an eighth of it.
    #[inline]
    fn mark(&self, left: u32, right: u32) -> usize {
        let key = u64::from(left) << 32 | u64::from(right);
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(32)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
            >> (self.shift - 3)) as usize
    }

    /// Enters a merge unless the pair is there already; false if it was. There must be room.
    pub(super) fn insert(&mut self, left: u32, right: u32, rank: u32, product: u32) -> bool {
        debug_assert!(self.len * 8 <= self.slots.len() * 7);
        let mask = self.slots.len() - 1;
        let mark = self.mark(left, right);
        let mut at = mark / 8;
        while self.slots[at].rank != NO_RANK {
            if (self.slots[at].left, self.slots[at].right) == (left, right) {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = Merge { left, right, rank, product };
        self.marks[mark / 64] |= 1 << (mark % 64);
        let (one, other) = (left.wrapping_sub(self.first), right.wrapping_sub(self.first));
        if one | other < FIRST {
            if self.firsts.is_empty() {
                self.firsts = written_zeros(FIRSTS);
            }
            self.firsts[(one * FIRST + other) as usize] = (rank + 1, product);
        }
        self.len += 1;
        self.ranks = self.ranks.max(rank as usize + 1);
        true
    }

    /// Asks for the memory that [`PairTable::get`] will look at.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let mark = self.mark(left, right);
        prefetch(&self.marks, mark / 64);
        prefetch(&self.slots, mark / 8);
    }

    /// The rank and the product of a pair; the rank is [`NO_RANK`] if it does not merge.
    #[inline]
    pub(super) fn get(&self, left: u32, right: u32) -> (u32, u32) {
        let mask = self.slots.len() - 1;
        let mark = self.mark(left, right);
        if self.marks[mark / 64] >> (mark % 64) & 1 == 0 {
            return (NO_RANK, 0);
        }
        let mut at = mark / 8;
        loop {
            let slot = &self.slots[at & mask];
            if slot.rank == NO_RANK || (slot.left == left && slot.right == right) {
                return (slot.rank, slot.product);
            }
            at += 1;
        }
    }

    /// Calls `found` for each two neighbours: the place of the left one, and what [`PairTable::get`] tells of them.
    #[inline(always)]
    pub(super) fn get_all(&self, symbols: &[u32], mut found: impl FnMut(usize, (u32, u32))) {
        let all = symbols.iter().fold(0, |all, &id| all | id.wrapping_sub(self.first));
        if all < FIRST
            && let Ok(firsts) = <&[(u32, u32); FIRSTS]>::try_from(&self.firsts[..])
        {
            for (place, two) in symbols.windows(2).enumerate() {
                let [left, right] = [two[0], two[1]].map(|id| id.wrapping_sub(self.first));
                let (above, product) = firsts[(left * FIRST + right) as usize % FIRSTS];
                found(place, (above.wrapping_sub(1), product));
            }
            return;
        }
        for (place, two) in symbols.windows(2).enumerate() {
            found(place, self.get(two[0], two[1]));
        }
    }

    /// How many merges there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All ranks are below this.
    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// All merges, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = &Merge> {
        self.slots.iter().filter(|slot| slot.rank != NO_RANK)
    }

    /// All merges as (rank, left, right), by rank.
    pub(super) fn sorted(&self) -> Vec<(u32, u32, u32)> {
        let mut merges: Vec<_> =
            self.all().map(|slot| (slot.rank, slot.left, slot.right)).collect();
        merges.sort_unstable();
        merges
    }

    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        self.get(left, right).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn neighbours_are_told_as_pairs_are() {
        let mut random = SplitMix64::new(5);
        let mut below = |n: u32| (random.next() % u64::from(n)) as u32;
        for first in [0, 3, 700, u32::MAX - 300] {
            let mut pairs = PairTable::with_capacity(3000, first);
            // Around the first symbols, and far from them.
            let mut symbol = || match below(8) {
                0 => u32::MAX,
                1 => below(1000),
                2 => first.wrapping_sub(below(3)),
                3 => first.saturating_add(FIRST - 2 + below(4)),
                _ => first.saturating_add(below(40)),
            };
            for rank in 0..3000 {
                pairs.insert(symbol(), symbol(), rank, rank ^ 77);
            }
            let mut merging = 0;
            for length in (0..12).cycle().take(5000) {
                let symbols: Vec<u32> = (0..length).map(|_| symbol()).collect();
                let mut found = Vec::new();
                pairs.get_all(&symbols, |place, pair| {
                    assert_eq!(place, found.len());
                    found.push(pair);
                });
                let expected: Vec<_> =
                    symbols.windows(2).map(|two| pairs.get(two[0], two[1])).collect();
                assert_eq!(found, expected, "{symbols:?}");
                merging += found.iter().filter(|pair| pair.0 != NO_RANK).count();
            }
            assert!(merging > 1000, "{merging}");
        }
    }
}
