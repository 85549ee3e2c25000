//! Pairs of neighbours with their counts and the places where they stand.

use std::ops::{ControlFlow, Range};

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
    if let Some(kept) = sketch.exact(threshold, &wanted) {
        let mut numbers = vec![u32::MAX; Sketch::SIZE];
        for (&(ids, ..), number) in kept.iter().zip(0..) {
            numbers[sketch.place(ids.0, ids.1)] = number;
        }
        let number = |left, right| {
            Some(numbers[sketch.place(left, right)]).filter(|&number| number != u32::MAX)
        };
        return find(arena, widths, &parts, kept, number, tick);
    }
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
    let number = |left, right| {
        let number = || table.get(&(left, right)).map(|&(_, number)| number);
        if sketch.most(left, right) >= threshold { number() } else { None }
    };
    find(arena, widths, &parts, kept, number, tick)
}

/// Ids, count and number of places of pairs.
type Kept = Vec<((u32, u32), u64, u32)>;

/// Finds the places of `kept`; `number` tells where among them a pair is.
fn find(
    arena: &Arena,
    widths: &[u32],
    parts: &[Range<usize>],
    kept: Kept,
    number: impl Fn(u32, u32) -> Option<u32> + Sync,
    tick: impl FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), Vec<Counted>> {
    let lists = each(parts.len(), tick, |part, tick| {
        let room = |places| if part == 0 { places } else { 0 };
        let mut lists: Vec<Vec<u32>> =
            kept.iter().map(|pair| Vec::with_capacity(room(pair.2 as usize))).collect();
        arena.while_each_pair(widths, &parts[part], tick, |position, left, right, _| {
            if let Some(number) = number(left, right) {
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
    /// How many places; only where every pair has its own.
    places: Vec<u32>,
    symbols: usize,
}

impl Sketch {
    /// Places of a sketch; one megabyte. Pairs of fewer symbols than the root all have their own.
    const SIZE: usize = 1 << 17;

    fn new(symbols: usize) -> Self {
        let mut sketch = Self { weights: vec![0; Self::SIZE], places: Vec::new(), symbols };
        if sketch.is_exact() {
            sketch.places = vec![0; Self::SIZE];
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
    fn exact(&self, threshold: u64, wanted: &impl Fn((u32, u32)) -> bool) -> Option<Kept> {
        if !self.is_exact() {
            return None;
        }
        let symbols = self.symbols as u32;
        let pairs = (0..symbols).flat_map(|left| (0..symbols).map(move |right| (left, right)));
        let kept = pairs.zip(self.weights.iter().zip(&self.places));
        let reach = kept
            .filter(|&(ids, (&weight, &places))| places > 0 && weight >= threshold && wanted(ids));
        Some(reach.map(|(ids, (&weight, &places))| (ids, weight, places)).collect())
    }

    /// A pair does not occur more often than this.
    #[inline]
    fn most(&self, left: u32, right: u32) -> u64 {
        self.weights[self.place(left, right)]
    }

    fn sum(sketches: Vec<Self>) -> Self {
        let mut sketches = sketches.into_iter();
        let mut sum = sketches.next().unwrap_or_else(|| Self::new(0));
        for more in sketches {
            sum.weights.iter_mut().zip(more.weights).for_each(|(weight, more)| *weight += more);
            sum.places.iter_mut().zip(more.places).for_each(|(places, more)| *places += more);
        }
        sum
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
