//! Where an array that holds a tree has room for the children of a node.
//!
//! The child by byte `b` of a node is slot `base ^ b`; so of 256 slots that begin at a multiple of 256, a
//! node either has all its children there or none. No two nodes have the same base.
//!
//! In words: 256 slots are asked at once. The free ones are a set of bits; where the slots that lie `b`
//! further are free is the same set with its bits exchanged, and what all these sets share is room.

/// Slots are added in blocks, so that `base ^ byte` is always inside.
pub(crate) const BLOCK: usize = 256;
/// How many of the last blocks are searched for room. More saves memory and costs time.
const SEARCHED: usize = 32;

/// Children are put only where so many times as many slots are free: elsewhere there is hardly room for
/// them. For one child that holds too, since what is free there mostly belongs to a base that a node has.
const SPARE: usize = 8;

/// A bit for every slot of a block.
type Set = [u64; BLOCK / 64];

/// What is free in an array while it is filled. Its first block is not for children.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    free: Vec<Set>,
    /// How many of each block.
    free_count: Vec<u16>,
    /// Slots that no node has as its base.
    no_base: Vec<Set>,
    /// The first block that may have room.
    from: usize,
}

impl Room {
    /// One block, for the roots.
    pub(crate) fn new() -> Self {
        let nothing = || vec![[0; BLOCK / 64]];
        Self { free: nothing(), free_count: vec![0], no_base: nothing(), from: 1 }
    }

    /// A base for a node whose children are at these bytes, at least one and all of them different; it is
    /// then taken, and so are their slots. In a block behind all others if nothing else is found.
    pub(crate) fn take(&mut self, labels: &[u8]) -> usize {
        let base = self.find(labels).unwrap_or_else(|| {
            self.free.push([!0; BLOCK / 64]);
            self.free_count.push(BLOCK as u16);
            self.no_base.push([!0; BLOCK / 64]);
            (self.free.len() - 1) * BLOCK
        });
        let block = base / BLOCK;
        remove(&mut self.no_base[block], base % BLOCK);
        for &label in labels {
            remove(&mut self.free[block], (base % BLOCK) ^ usize::from(label));
        }
        self.free_count[block] -= labels.len() as u16;
        base
    }

    fn find(&mut self, labels: &[u8]) -> Option<usize> {
        let (&first, others) = labels.split_first()?;
        self.from = self.from.max(self.free.len().saturating_sub(SEARCHED));
        while self.free_count.get(self.from).is_some_and(|&count| usize::from(count) < spare(1)) {
            self.from += 1;
        }
        (self.from..self.free.len()).find_map(|block| {
            if usize::from(self.free_count[block]) < spare(labels.len()) {
                return None;
            }
            // Bit i: the first child may be in slot i.
            let free = &self.free[block];
            let mut fits = both(free, &exchanged(&self.no_base[block], first));
            for &label in others {
                if fits == [0; BLOCK / 64] {
                    return None;
                }
                fits = both(&fits, &exchanged(free, first ^ label));
            }
            let word = fits.iter().position(|&word| word != 0)?;
            let at = 64 * word + fits[word].trailing_zeros() as usize;
            Some(block * BLOCK + (at ^ usize::from(first)))
        })
    }
}

/// How many slots of a block must be free.
fn spare(children: usize) -> usize {
    BLOCK.min(SPARE * children.max(2))
}

fn remove(set: &mut Set, bit: usize) {
    set[bit / 64] &= !(1 << (bit % 64));
}

#[inline(always)]
fn both(one: &Set, other: &Set) -> Set {
    std::array::from_fn(|word| one[word] & other[word])
}

/// The set whose bit `i` is bit `i ^ by` of this one.
#[inline(always)]
fn exchanged(set: &Set, by: u8) -> Set {
    /// Of every two runs of so many bits, the first.
    const FIRST: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0F0F_0F0F_0F0F_0F0F,
        0x00FF_00FF_00FF_00FF,
        0x0000_FFFF_0000_FFFF,
        0x0000_0000_FFFF_FFFF,
    ];
    let mut found: Set = std::array::from_fn(|word| set[word ^ usize::from(by >> 6)]);
    for (step, first) in FIRST.into_iter().enumerate() {
        if by >> step & 1 != 0 {
            for word in &mut found {
                *word = *word >> (1 << step) & first | (*word & first) << (1 << step);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use std::collections::HashSet;

    #[test]
    fn bits_are_exchanged() {
        let set: Set = [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, 0xF0, 1 << 63];
        let bit = |set: &Set, at: usize| set[at / 64] >> (at % 64) & 1;
        for by in 0..=255 {
            let found = exchanged(&set, by);
            for at in 0..BLOCK {
                assert_eq!(bit(&found, at), bit(&set, at ^ usize::from(by)), "{by} {at}");
            }
        }
    }

    /// No slot and no base is given twice, and the slot of the first child is the first that can be.
    #[test]
    fn as_a_search_slot_by_slot() {
        let mut random = SplitMix64::new(2);
        let (mut room, mut blocks) = (Room::new(), 1_usize);
        let (mut taken, mut bases): (HashSet<usize>, HashSet<usize>) = Default::default();
        for _ in 0..20_000 {
            let widest: u64 = [1, 2, 3, 20, 200][(random.next() % 5) as usize];
            let mut labels: Vec<u8> =
                (0..=random.next() % widest).map(|_| random.next() as u8).collect();
            labels.sort_unstable();
            labels.dedup();
            let first = usize::from(labels[0]);
            let fits = |at: &usize| {
                let base = at ^ first;
                !bases.contains(&base)
                    && labels.iter().all(|&label| !taken.contains(&(base ^ usize::from(label))))
            };
            let from = usize::max(1, blocks.saturating_sub(SEARCHED));
            let roomy = |block: &usize| {
                let free = |at: &usize| !taken.contains(at);
                (block * BLOCK..(block + 1) * BLOCK).filter(free).count() >= spare(labels.len())
            };
            let places = (from..blocks).filter(roomy).flat_map(|b| b * BLOCK..(b + 1) * BLOCK);
            let expected = { places }.find(fits).map_or(BLOCK * blocks, |at| at ^ first);
            blocks = blocks.max(expected / BLOCK + 1);
            let base = room.take(&labels);
            assert_eq!(base, expected);
            bases.insert(base);
            taken.extend(labels.iter().map(|&label| base ^ usize::from(label)));
        }
        assert!(blocks > 2 * SEARCHED);
    }
}
