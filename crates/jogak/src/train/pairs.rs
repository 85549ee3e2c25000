//! Pairs of neighbours with their counts and the places where they stand.

use rustc_hash::FxHashMap;

/// A pair of symbols that is counted.
#[derive(Debug)]
pub(super) struct Pair {
    /// Left and right id; [`NOBODY`] for a number that is free.
    pub(super) ids: (u32, u32),
    /// Occurrences times word counts; falls as neighbours are used up, never rises.
    pub(super) count: u64,
    /// Where the left symbol starts, ascending. Complete when the pair is made; from then on some
    /// go stale, which [`super::arena::Arena::holds`] tells.
    pub(super) places: Vec<u32>,
    /// How many of the first places are known to be stale.
    pub(super) stale: usize,
}

/// The ids of no pair.
const NOBODY: (u32, u32) = (u32::MAX, u32::MAX);

/// All pairs that are counted, found by their ids.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    index: FxHashMap<(u32, u32), u32>,
    pairs: Vec<Pair>,
    free: Vec<u32>,
}

impl Pairs {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a pair and returns its number.
    pub(super) fn insert(&mut self, ids: (u32, u32), count: u64, places: Vec<u32>) -> u32 {
        let pair = Pair { ids, count, places, stale: 0 };
        let number = match self.free.pop() {
            Some(number) => {
                self.pairs[number as usize] = pair;
                number
            }
            None => {
                self.pairs.push(pair);
                (self.pairs.len() - 1) as u32
            }
        };
        self.index.insert(ids, number);
        number
    }

    pub(super) fn number(&self, ids: (u32, u32)) -> Option<u32> {
        self.index.get(&ids).copied()
    }

    pub(super) fn get(&self, number: u32) -> &Pair {
        &self.pairs[number as usize]
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Pair {
        &mut self.pairs[number as usize]
    }

    /// Takes a pair out; its number may be given to another pair.
    pub(super) fn remove(&mut self, number: u32) -> Pair {
        let pair = std::mem::replace(
            &mut self.pairs[number as usize],
            Pair { ids: NOBODY, count: 0, places: Vec::new(), stale: 0 },
        );
        self.index.remove(&pair.ids);
        self.free.push(number);
        pair
    }
}
