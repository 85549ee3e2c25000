//! Pairs of neighbours: a census of all in a corpus, with counts and places, and the table of those that
//! are kept, with counts. The places are kept by the sides of the corpus, see [`super::places`].

use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashMap;

use super::arena::Arena;
use super::parallel::each;
use crate::scan::written_zeros;

/// The pairs of a corpus, sorted by their ids.
#[derive(Debug)]
pub(super) struct Census {
    /// Ids and counts.
    pub(super) pairs: Vec<((u32, u32), u64)>,
    /// For every part of the corpus, where the left symbols start.
    pub(super) parts: Vec<Places>,
}

/// Places of pairs: those of the first one, ascending, those of the second one, and so on.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) places: Vec<u32>,
    /// How many each pair has.
    pub(super) lengths: Vec<u32>,
}

/// All pairs of `parts` of an arena that reach `threshold` and are wanted. Breaks if `tick`, which is
/// called now and then, does. Cost: three walks over the corpus, every part on a thread of its own.
pub(super) fn count(
    arena: &Arena,
    widths: &[u32],
    parts: &[Range<usize>],
    threshold: u64,
    wanted: impl Fn((u32, u32)) -> bool,
    mut tick: impl FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), Census> {
    let sketches = each(parts.len(), &mut tick, |part, tick| {
        let mut sketch = Sketch::new(widths.len());
        arena.while_each_pair(widths, &parts[part], tick, |_, left, right, weight| {
            sketch.add(left, right, weight);
        })?;
        ControlFlow::Continue(sketch)
    })?;
    let sketch = Sketch::sum(&sketches);
    if let Some(kept) = sketch.exact(threshold, &wanted) {
        let mut numbers = vec![u32::MAX; Sketch::SIZE];
        for (&(ids, ..), number) in kept.iter().zip(0..) {
            numbers[sketch.place(ids.0, ids.1)] = number;
        }
        let number = |left, right| {
            Some(numbers[sketch.place(left, right)]).filter(|&number| number != u32::MAX)
        };
        let lengths = |part: usize| {
            let sketch: &Sketch = &sketches[part];
            kept.iter().map(|&(ids, _)| sketch.places[sketch.place(ids.0, ids.1)]).collect()
        };
        let parts = find(arena, widths, parts, lengths, number, tick)?;
        return ControlFlow::Continue(Census { pairs: kept, parts });
    }
    drop(sketches);
    let mut tables = each(parts.len(), &mut tick, |part, tick| {
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
    let mut sums: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    sums.reserve(tables.iter().map(FxHashMap::len).max().unwrap_or(0));
    for (&ids, &(count, _)) in tables.iter().flatten() {
        *sums.entry(ids).or_default() += count;
    }
    let reach = sums.into_iter().filter(|&(ids, count)| count >= threshold && wanted(ids));
    let mut kept: Vec<_> = reach.collect();
    kept.sort_unstable();
    let lengths: Vec<Vec<u32>> = tables
        .iter()
        .map(|table| {
            kept.iter().map(|(ids, _)| table.get(ids).map_or(0, |entry| entry.1)).collect()
        })
        .collect();
    // From here on a table tells the number of a kept pair.
    let mut table = tables.swap_remove(0);
    drop(tables);
    table.clear();
    for (&(ids, _), number) in kept.iter().zip(0..) {
        table.insert(ids, (0, number));
    }
    let number = |left, right| {
        let number = || table.get(&(left, right)).map(|&(_, number)| number);
        if sketch.most(left, right) >= threshold { number() } else { None }
    };
    let parts = find(arena, widths, parts, |part| lengths[part].clone(), number, tick)?;
    ControlFlow::Continue(Census { pairs: kept, parts })
}

/// Finds the places of pairs; `number` tells which one a pair is, `lengths` how many places they have in
/// a part.
fn find(
    arena: &Arena,
    widths: &[u32],
    parts: &[Range<usize>],
    lengths: impl Fn(usize) -> Vec<u32> + Sync,
    number: impl Fn(u32, u32) -> Option<u32> + Sync,
    tick: impl FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Places>> {
    each(parts.len(), tick, |part, tick| {
        let lengths = lengths(part);
        let mut all = 0;
        let mut cursors: Vec<usize> = Vec::with_capacity(lengths.len());
        for &length in &lengths {
            cursors.push(all);
            all += length as usize;
        }
        let mut places = vec![0; all];
        arena.while_each_pair(widths, &parts[part], tick, |position, left, right, _| {
            if let Some(number) = number(left, right) {
                let cursor = &mut cursors[number as usize];
                places[*cursor] = position;
                *cursor += 1;
            }
        })?;
        ControlFlow::Continue(Places { places, lengths })
    })
}

/// The counts of all pairs, several of them thrown together where there are too many for a cache: most
/// pairs are too rare to be kept, and are told from here.
struct Sketch {
    weights: Vec<u64>,
    /// How many places; only where every pair has its own.
    places: Vec<u32>,
    symbols: usize,
}

impl Sketch {
    /// Places of a sketch; one megabyte. Pairs of fewer symbols than the root all have their own.
    const SIZE: usize = 1 << 17;

    fn new(symbols: usize) -> Self {
        let weights = written_zeros(Self::SIZE);
        let mut sketch = Self { weights, places: Vec::new(), symbols };
        if sketch.is_exact() {
            sketch.places = written_zeros(Self::SIZE);
        }
        sketch
    }

    /// Every pair has a place of its own.
    #[inline]
    fn is_exact(&self) -> bool {
        self.symbols * self.symbols <= Self::SIZE
    }

    #[inline]
    fn place(&self, left: u32, right: u32) -> usize {
        // Without a carry that is the pair's place in a square.
        let place = left as usize * self.symbols + right as usize;
        if self.is_exact() {
            return place;
        }
        ((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 17)) as usize
    }

    #[inline]
    fn add(&mut self, left: u32, right: u32, weight: u64) {
        let place = self.place(left, right);
        self.weights[place] += weight;
        if let Some(places) = self.places.get_mut(place) {
            *places += 1;
        }
    }

    /// The pairs that reach `threshold` and are wanted, if that can be told from here.
    fn exact(
        &self,
        threshold: u64,
        wanted: &impl Fn((u32, u32)) -> bool,
    ) -> Option<Vec<((u32, u32), u64)>> {
        if !self.is_exact() {
            return None;
        }
        let symbols = self.symbols as u32;
        let pairs = (0..symbols).flat_map(|left| (0..symbols).map(move |right| (left, right)));
        let kept = pairs.zip(self.weights.iter().zip(&self.places));
        let reach = kept
            .filter(|&(ids, (&weight, &places))| places > 0 && weight >= threshold && wanted(ids));
        Some(reach.map(|(ids, (&weight, _))| (ids, weight)).collect())
    }

    /// A pair does not occur more often than this.
    #[inline]
    fn most(&self, left: u32, right: u32) -> u64 {
        self.weights[self.place(left, right)]
    }

    fn sum(sketches: &[Self]) -> Self {
        let mut sum = Self::new(sketches.first().map_or(0, |sketch| sketch.symbols));
        for more in sketches {
            sum.weights.iter_mut().zip(&more.weights).for_each(|(weight, more)| *weight += more);
            sum.places.iter_mut().zip(&more.places).for_each(|(places, more)| *places += more);
        }
        sum
    }
}

/// A pair of symbols of BPE training.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// Left and right id; [`NOBODY`] for a number that is free.
    pub(super) ids: (u32, u32),
    /// Occurrences times word counts; falls as neighbours are used up, never rises.
    pub(super) count: u64,
}

/// The ids of no pair.
pub(super) const NOBODY: (u32, u32) = (u32::MAX, u32::MAX);

/// All pairs that are kept, found by their ids.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    index: FxHashMap<(u32, u32), u32>,
    pairs: Vec<Pair>,
    free: Vec<u32>,
    /// Numbers of pairs that went, whose places nobody has given back.
    gone: Vec<u32>,
}

impl Pairs {
    /// These pairs, numbered in this order.
    pub(super) fn new(counted: &[((u32, u32), u64)]) -> Self {
        let mut pairs = Self::default();
        pairs.index.reserve(counted.len());
        for &(ids, count) in counted {
            pairs.insert(ids, count);
        }
        pairs
    }

    /// Numbers below this have been given to pairs.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Adds a pair and returns its number.
    pub(super) fn insert(&mut self, ids: (u32, u32), count: u64) -> u32 {
        let pair = Pair { ids, count };
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

    pub(super) fn get(&self, number: u32) -> &Pair {
        &self.pairs[number as usize]
    }

    /// A pair has lost this weight; below `threshold` it goes.
    pub(super) fn lower(&mut self, ids: (u32, u32), weight: u64, threshold: u64) {
        let Some(&number) = self.index.get(&ids) else { return };
        let pair = &mut self.pairs[number as usize];
        debug_assert!(pair.count >= weight, "a pair lost more places than it had");
        pair.count -= weight;
        if pair.count < threshold {
            self.remove(number);
        }
    }

    /// Takes a pair out.
    pub(super) fn remove(&mut self, number: u32) {
        self.take(number);
        self.gone.push(number);
    }

    /// The same, if [`Pairs::free`] follows when nobody asks for its places any more.
    pub(super) fn take(&mut self, number: u32) {
        let pair = &mut self.pairs[number as usize];
        self.index.remove(&pair.ids);
        *pair = Pair { ids: NOBODY, count: 0 };
    }

    /// A number may be given to another pair.
    pub(super) fn free(&mut self, number: u32) {
        self.free.push(number);
    }

    /// The numbers of the pairs that were taken out. From now on they may be given to other pairs.
    pub(super) fn gone(&mut self) -> Vec<u32> {
        let gone = std::mem::take(&mut self.gone);
        self.free.extend(&gone);
        gone
    }
}
