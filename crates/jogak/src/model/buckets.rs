//! What is to be merged next: entries of a rank and a position, the lowest rank first, the leftmost among equals.
//!
//! In words: a bucket for every rank. Merges go through the ranks upwards, and what they bring about mostly ranks
//! higher, so a bucket is taken out as a whole, sorted by position, and handed out. That goes through a long word
//! from left to right again and again, where a heap would jump about in it. An entry of a rank that is passed
//! already, or is being handed out, waits in a small heap, which comes first.
//!
//! Which buckets hold something is written down in bits, and in bits about those, so that empty ones cost
//! nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::scan::written_zeros;

/// The entries; the same memory for one word after the other.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    /// Rank -> the number of its last block in `blocks`, counted from one, if there are some.
    last: Vec<u32>,
    /// Bit by rank: there are some.
    any: Vec<u64>,
    /// Bit by place in `any`: it is not zero.
    any_of_64: Vec<u64>,
    blocks: Vec<Block>,
    /// The lowest rank whose bucket was not taken out yet.
    next: u32,
    /// Positions of the rank before that, still to be handed out, the last one first.
    now: Vec<u32>,
    /// Entries of ranks below `next` that came too late for their bucket.
    late: BinaryHeap<Reverse<u64>>,
}

/// A few entries of one rank: of a list entry by entry each one would be waited for by itself.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The block before it of the same rank, as in `last`.
    before: u32,
    len: u32,
    at: [u32; 6],
}

impl Buckets {
    /// Begins anew, for ranks below `ranks`.
    pub(super) fn clear(&mut self, ranks: usize) {
        // Nobody leaves any; if somebody does, it is gone.
        while self.take_next(|_, _| false) {}
        if self.last.len() < ranks {
            // While merges are found, they grow one by one.
            let ranks = ranks.next_power_of_two();
            self.last = vec![0; ranks];
            self.any = written_zeros(ranks.div_ceil(64));
            self.any_of_64 = vec![0; ranks.div_ceil(64 * 64)];
        }
        self.blocks.clear();
        self.now.clear();
        self.late.clear();
        self.next = 0;
    }

    #[inline]
    pub(super) fn push(&mut self, rank: u32, at: u32) {
        if rank < self.next {
            self.late.push(Reverse(u64::from(rank) << 32 | u64::from(at)));
            return;
        }
        let bucket = rank as usize;
        let (any, bit) = (&mut self.any[bucket / 64], 1 << (bucket % 64));
        // What is read here was written before: a page of `last` that is first read would be given twice.
        let before = if *any & bit == 0 { 0 } else { self.last[bucket] };
        *any |= bit;
        self.any_of_64[bucket / (64 * 64)] |= 1 << (bucket / 64 % 64);
        if let Some(block) = self.blocks.get_mut((before as usize).wrapping_sub(1))
            && let Some(place) = block.at.get_mut(block.len as usize)
        {
            *place = at;
            block.len += 1;
            return;
        }
        self.blocks.push(Block { before, len: 1, at: [at; 6] });
        self.last[bucket] = self.blocks.len() as u32;
    }

    /// The next one as (rank, position). `stands` may say of some that they are not worth handing out; it is
    /// asked for a whole bucket at once, so that what it looks at is waited for once.
    #[inline]
    pub(super) fn pop(&mut self, stands: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
        if let Some(&Reverse(late)) = self.late.peek() {
            let now = self.now.last().map(|&at| u64::from(self.next - 1) << 32 | u64::from(at));
            if now.is_none_or(|now| late <= now) {
                self.late.pop();
                return Some(((late >> 32) as u32, late as u32));
            }
        }
        while self.now.is_empty() {
            if !self.take_next(&stands) {
                return None;
            }
        }
        self.now.pop().map(|at| (self.next - 1, at))
    }

    /// Takes out the next bucket; false if all are empty.
    #[inline]
    fn take_next(&mut self, stands: impl Fn(u32, u32) -> bool) -> bool {
        let from = self.next as usize / (64 * 64);
        let many = self.any_of_64.iter().enumerate().skip(from).find(|(_, bits)| **bits != 0);
        let Some((place, &bits)) = many else { return false };
        let place = place * 64 + bits.trailing_zeros() as usize;
        let bucket = place * 64 + self.any[place].trailing_zeros() as usize;
        self.any[place] &= self.any[place] - 1;
        if self.any[place] == 0 {
            self.any_of_64[place / 64] &= bits - 1;
        }
        let mut number = self.last[bucket] as usize;
        while number != 0 {
            let block = &self.blocks[number - 1];
            self.now.extend(block.at[..block.len as usize].iter().rev());
            number = block.before as usize;
        }
        self.now.retain(|&at| stands(bucket as u32, at));
        // Mostly they are sorted.
        self.now.sort_unstable_by_key(|&at| Reverse(at));
        self.next = bucket as u32 + 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn hands_out_what_a_heap_does() {
        let mut random = SplitMix64::new(5);
        let mut buckets = Buckets::default();
        for ranks in [1, 2, 63, 64, 65, 4096, 4097, 100_000] {
            for spread in [1, 40, ranks] {
                buckets.clear(ranks as usize);
                let mut heap = BinaryHeap::new();
                let mut low = 0;
                let mut below = |n: u64| (random.next() % n) as u32;
                for step in 0..3000 {
                    if step < 500 || (step < 2500 && below(2) == 0) {
                        // Around what came out last: later, earlier, or the same.
                        let rank =
                            (low + below(spread)).saturating_sub(below(3)).min(ranks as u32 - 1);
                        let at = below(50);
                        buckets.push(rank, at);
                        heap.push(Reverse((rank, at)));
                    } else {
                        let found = buckets.pop(|_, _| true);
                        assert_eq!(found, heap.pop().map(|Reverse(top)| top));
                        low = found.map_or(0, |(rank, _)| rank);
                    }
                }
                // Sometimes something is left for the next `clear`.
                if below(2) == 0 {
                    while let Some(Reverse(top)) = heap.pop() {
                        assert_eq!(buckets.pop(|_, _| true), Some(top));
                    }
                    assert_eq!(buckets.pop(|_, _| true), None);
                }
            }
        }
    }
}
