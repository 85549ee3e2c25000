//! Pairs of neighbours with their counts and the places where they stand.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::arena::Arena;

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
    /// All pairs of `arena` that reach `threshold` and are wanted. Their numbers follow their ids.
    /// Breaks if `tick`, which is called now and then, does. Cost: two walks over the
    /// corpus.
    pub(super) fn count(
        arena: &Arena,
        widths: &[u32],
        threshold: u64,
        wanted: impl Fn((u32, u32)) -> bool,
        mut tick: impl FnMut() -> ControlFlow<()>,
    ) -> ControlFlow<(), Self> {
        let mut pairs = Self::default();
        let size = widths.len();
        // (weight, places) of every pair: in a square while that is small, else in a table.
        let dense = size * size <= 1 << 20;
        let mut square = vec![(0u64, 0u32); if dense { size * size } else { 0 }];
        let mut table: FxHashMap<(u32, u32), (u64, u32)> = FxHashMap::default();
        arena.while_each_pair(widths, &mut tick, |_, left, right, weight| {
            let cell = if dense {
                &mut square[left as usize * size + right as usize]
            } else {
                table.entry((left, right)).or_default()
            };
            cell.0 += weight;
            cell.1 += 1;
        })?;
        let mut kept: Vec<((u32, u32), u64, u32)> = if dense {
            let cells = square.iter().enumerate();
            cells
                .map(|(cell, &(count, places))| {
                    (((cell / size) as u32, (cell % size) as u32), count, places)
                })
                .filter(|pair| pair.2 > 0 && pair.1 >= threshold)
                .collect()
        } else {
            table
                .into_iter()
                .map(|(ids, (count, places))| (ids, count, places))
                .filter(|pair| pair.1 >= threshold)
                .collect()
        };
        kept.retain(|pair| wanted(pair.0));
        kept.sort_unstable();
        for &(ids, count, places) in &kept {
            pairs.insert(ids, count, Vec::with_capacity(places as usize));
        }
        if dense {
            // The square now tells the number of a kept pair, plus one.
            square.fill((0, 0));
            for (&(ids, ..), number) in kept.iter().zip(1..) {
                square[ids.0 as usize * size + ids.1 as usize].1 = number;
            }
        }
        arena.while_each_pair(widths, &mut tick, |position, left, right, _| {
            let number = if dense {
                square[left as usize * size + right as usize].1.checked_sub(1)
            } else {
                pairs.number((left, right))
            };
            if let Some(number) = number {
                pairs.get_mut(number).places.push(position);
            }
        })?;
        ControlFlow::Continue(pairs)
    }

    /// Numbers below this have been given to pairs.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
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
