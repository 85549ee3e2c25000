//! Pairs of neighbours with their counts and the places where they stand.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::arena::Arena;
use super::parallel::each;

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
/// which is called now and then, does. Cost: two walks over the corpus.
///
/// Every thread walks over the whole corpus and looks at the pairs whose left symbol is its own, so that
/// there is nothing to put together.
pub(super) fn count(
    arena: &Arena,
    widths: &[u32],
    threshold: u64,
    wanted: impl Fn((u32, u32)) -> bool + Sync,
    threads: usize,
    tick: impl FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Counted>> {
    let bits = threads.clamp(1, arena.len() / SLOTS_PER_THREAD + 1).ilog2();
    let mask = (1 << bits) - 1;
    let parts = each(1 << bits, tick, |thread, tick| {
        let thread = thread as u32;
        let mut cells = Cells::new(widths.len(), bits);
        arena.while_each_pair(widths, &mut *tick, |_, left, right, weight| {
            if left & mask == thread {
                let cell = cells.get_mut((left, right));
                cell.weight += weight;
                cell.places += 1;
            }
        })?;
        let mut kept = Vec::new();
        cells.for_each(thread, |ids, cell| {
            let keep = cell.places > 0 && cell.weight >= threshold && wanted(ids);
            if keep {
                let places = Vec::with_capacity(cell.places as usize);
                kept.push(Counted { ids, count: cell.weight, places });
            }
            // From here on cells hold the number of a kept pair, plus one.
            cell.places = if keep { kept.len() as u32 } else { 0 };
        });
        arena.while_each_pair(widths, tick, |position, left, right, _| {
            if left & mask == thread
                && let Some(number) = cells.get_mut((left, right)).places.checked_sub(1)
            {
                kept[number as usize].places.push(position);
            }
        })?;
        ControlFlow::Continue(kept)
    })?;
    let mut pairs: Vec<Counted> = parts.into_iter().flatten().collect();
    pairs.sort_unstable_by_key(|pair| pair.ids);
    ControlFlow::Continue(pairs)
}

/// Slots that are worth the start of a thread.
const SLOTS_PER_THREAD: usize = 1 << 16;

/// What a thread notes of one pair.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    weight: u64,
    places: u32,
}

/// The cells of a thread's pairs: in a rectangle while that is small, else in a table.
enum Cells {
    /// One row for every `1 << bits` symbols.
    Rectangle {
        cells: Vec<Cell>,
        symbols: usize,
        bits: u32,
    },
    Table(FxHashMap<(u32, u32), Cell>),
}

impl Cells {
    fn new(symbols: usize, bits: u32) -> Self {
        if symbols * symbols > 1 << 20 {
            return Self::Table(FxHashMap::default());
        }
        let cells = vec![Cell::default(); ((symbols >> bits) + 1) * symbols];
        Self::Rectangle { cells, symbols, bits }
    }

    #[inline]
    fn get_mut(&mut self, (left, right): (u32, u32)) -> &mut Cell {
        match self {
            Self::Rectangle { cells, symbols, bits } => {
                &mut cells[(left >> *bits) as usize * *symbols + right as usize]
            }
            Self::Table(table) => table.entry((left, right)).or_default(),
        }
    }

    fn for_each(&mut self, thread: u32, mut work: impl FnMut((u32, u32), &mut Cell)) {
        match self {
            Self::Rectangle { cells, symbols, bits } => {
                for (cell, place) in cells.iter_mut().zip(0..) {
                    let left = ((place / *symbols) as u32) << *bits | thread;
                    work((left, (place % *symbols) as u32), cell);
                }
            }
            Self::Table(table) => table.iter_mut().for_each(|(&ids, cell)| work(ids, cell)),
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
