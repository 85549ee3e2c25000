//! Which two pieces merge into which, and how early.

use crate::scan::prefetch;

/// "No merge": greater than every rank.
pub(super) const NO_RANK: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Slot {
    left: u32,
    right: u32,
    /// [`NO_RANK`] marks a free slot.
    rank: u32,
    product: u32,
}

/// (left id, right id) -> (rank, id of the product): open addressing, at most four fifths full. What is not there is
/// mostly told without a look at the slots, so that it is better to have few of them.
#[derive(Debug, Clone)]
pub(super) struct PairTable {
    slots: Vec<Slot>,
    /// Eight bits to a slot, by hash: a pair may be there if its bit is set. Most pairs that are asked for are not
    /// there, and this is small enough to stay near the processor.
    marks: Vec<u64>,
    shift: u32,
    len: usize,
    ranks: usize,
}

impl PairTable {
    pub(super) fn with_capacity(pairs: usize) -> Self {
        let size = (pairs * 5 / 4).next_power_of_two().max(16);
        let free = Slot { left: 0, right: 0, rank: NO_RANK, product: 0 };
        Self {
            slots: vec![free; size],
            marks: vec![0; size / 8],
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
        self.slots[at] = Slot { left, right, rank, product };
        self.marks[mark / 64] |= 1 << (mark % 64);
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

    /// How many merges there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All ranks are below this.
    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// All merges as (rank, left, right), by rank.
    pub(super) fn sorted(&self) -> Vec<(u32, u32, u32)> {
        let taken = self.slots.iter().filter(|slot| slot.rank != NO_RANK);
        let mut merges: Vec<_> = taken.map(|slot| (slot.rank, slot.left, slot.right)).collect();
        merges.sort_unstable();
        merges
    }

    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        self.get(left, right).0
    }
}
