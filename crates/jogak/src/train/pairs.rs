//! Pairs of neighbours with their counts and the places where they stand.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::arena::Arena;
use super::parallel::{each, total};

/// A pair as it is found in a corpus.
#[derive(Debug)]
pub(super) struct Counted {
    /// Left and right id.
    pub(super) ids: (u32, u32),
    /// Occurrences times word counts.
    pub(super) count: u64,
    /// Where the left symbol starts, ascending.
    pub(super) places: Vec<u32>,
}

/// All pairs of `arena` that reach `threshold` and are wanted, sorted by their ids. Breaks if `tick`,
/// which is called now and then, does. Cost: three walks over the corpus, shared out among threads.
pub(super) fn count(
    arena: &Arena,
    widths: &[u32],
    threshold: u64,
    wanted: impl Fn((u32, u32)) -> bool,
    threads: usize,
    mut tick: impl FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Counted>> {
    let parts = arena.parts(threads);
    let sketches = each(parts.len(), &mut tick, |part, tick| {
        let mut sketch = Sketch::new(widths.len());
        arena.while_each_pair(widths, &parts[part], tick, |_, left, right, weight| {
            sketch.add(left, right, weight);
        })?;
        ControlFlow::Continue(sketch)
    })?;
    let sketch = Sketch::sum(sketches);
    let tables = each(parts.len(), &mut tick, |part, tick| {
        let mut table: FxHashMap<(u32, u32), (u64, u32)> = FxHashMap::default();
        arena.while_each_pair(widths, &parts[part], tick, |_, left, right, weight| {
            if sketch.most(left, right) >= threshold {
                let (count, places) = table.entry((left, right)).or_default();
                *count += weight;
                *places += 1;
            }
        })?;
        ControlFlow::Continue(table)
    })?;
    let mut tables = tables.into_iter();
    let mut table = tables.next().unwrap_or_default();
    for (ids, (count, places)) in tables.flatten() {
        let sum = table.entry(ids).or_default();
        *sum = (sum.0 + count, sum.1 + places);
    }
    table.retain(|&ids, &mut (count, _)| count >= threshold && wanted(ids));
    let mut kept: Vec<_> =
        table.iter().map(|(&ids, &(count, places))| (ids, count, places)).collect();
    kept.sort_unstable();
    // From here on the table tells the number of a kept pair.
    for (&(ids, ..), number) in kept.iter().zip(0..) {
        table.insert(ids, (0, number));
    }
    let lists = each(parts.len(), &mut tick, |part, tick| {
        let room = |places| if part == 0 { places } else { 0 };
        let mut lists: Vec<Vec<u32>> =
            kept.iter().map(|pair| Vec::with_capacity(room(pair.2 as usize))).collect();
        arena.while_each_pair(widths, &parts[part], tick, |position, left, right, _| {
            if sketch.most(left, right) >= threshold
                && let Some(&(_, number)) = table.get(&(left, right))
            {
                lists[number as usize].push(position);
            }
        })?;
        ControlFlow::Continue(lists)
    })?;
    let mut lists = lists.into_iter();
    let mut places = lists.next().unwrap_or_default();
    for more in lists {
        for (places, more) in places.iter_mut().zip(more) {
            places.extend(more);
        }
    }
    let counted = kept.into_iter().zip(places);
    ControlFlow::Continue(
        counted.map(|((ids, count, _), places)| Counted { ids, count, places }).collect(),
    )
}

/// The counts of all pairs, several of them thrown together where there are too many for a cache: most
/// pairs are too rare to be kept, and are told from here.
struct Sketch {
    weights: Vec<u64>,
    symbols: usize,
}

impl Sketch {
    /// Places of a sketch; one megabyte. Pairs of fewer symbols than the root all have their own.
    const SIZE: usize = 1 << 17;

    fn new(symbols: usize) -> Self {
        Self { weights: vec![0; Self::SIZE], symbols }
    }

    #[inline]
    fn place(&self, left: u32, right: u32) -> usize {
        // Without a carry that is the pair's place in a square.
        let place = left as usize * self.symbols + right as usize;
        if self.symbols * self.symbols <= Self::SIZE {
            return place;
        }
        ((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 17)) as usize
    }

    #[inline]
    fn add(&mut self, left: u32, right: u32, weight: u64) {
        let place = self.place(left, right);
        self.weights[place] += weight;
    }

    /// A pair does not occur more often than this.
    #[inline]
    fn most(&self, left: u32, right: u32) -> u64 {
        self.weights[self.place(left, right)]
    }

    fn sum(sketches: Vec<Self>) -> Self {
        let symbols = sketches.first().map_or(0, |sketch| sketch.symbols);
        Self {
            weights: total(sketches.into_iter().map(|sketch| sketch.weights).collect()),
            symbols,
        }
    }
}

/// A pair of symbols of BPE training.
#[derive(Debug)]
pub(super) struct Pair {
    /// Left and right id; [`NOBODY`] for a number that is free.
    pub(super) ids: (u32, u32),
    /// Occurrences times word counts; falls as neighbours are used up, never rises.
    pub(super) count: u64,
    /// Where the left symbol starts, ascending. Complete when the pair is made; from then on some
    /// go stale, which [`Arena::holds`] tells.
    pub(super) places: Vec<u32>,
    /// How many of the first places are known to be stale.
    pub(super) stale: usize,
}

/// The ids of no pair.
pub(super) const NOBODY: (u32, u32) = (u32::MAX, u32::MAX);

/// All pairs that are kept, found by their ids.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    index: FxHashMap<(u32, u32), u32>,
    pairs: Vec<Pair>,
    free: Vec<u32>,
}

impl Pairs {
    /// These pairs, numbered in this order.
    pub(super) fn new(counted: Vec<Counted>) -> Self {
        let mut pairs = Self::default();
        for Counted { ids, count, places } in counted {
            pairs.insert(ids, count, places);
        }
        pairs
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
