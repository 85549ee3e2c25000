//! All pairs of a corpus that occur often enough, with their places: row by row.
//!
//! In words: note for every left symbol where it stands and what stands behind it; then go through one left
//! symbol after the other and add up what stands behind it. So sums are looked for in an array as
//! long as there are symbols, which is near, and not in a table of all pairs, which is not; rare pairs and
//! frequent ones cost the same.
//!
//! Threads first note what is in a part of the words each, then add up a part of the symbols each.

use std::ops::{ControlFlow, Range};

use crate::scan::wish_large_pages;
use crate::train::arena::Arena;
use crate::train::pairs::Places;
use crate::train::parallel::{Tick, each};

/// Pairs in the order of their ids, and where they stand.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// Ids and counts.
    pub(super) pairs: Vec<((u32, u32), u64)>,
    pub(super) places: Places,
}

/// What stands behind every symbol, in one part of the words.
struct Behind {
    /// Where in `pairs` those of a symbol start; one more for the end.
    starts: Vec<u32>,
    /// Where the left symbol starts, ascending for each symbol, and the right symbol.
    pairs: Vec<(u32, u32)>,
}

/// All pairs of `parts` of an arena that reach `threshold` and are wanted. Breaks if `tick`, which is
/// called now and then, does. Cost: two walks over the corpus and two over its pairs, and 8 bytes a pair.
pub(super) fn count(
    arena: &Arena,
    widths: &[u32],
    parts: &[Range<usize>],
    threshold: u64,
    wanted: impl Fn((u32, u32)) -> bool + Sync,
    mut tick: impl FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), Census> {
    let behind =
        each(parts.len(), &mut tick, |part, tick| Behind::new(arena, widths, &parts[part], tick))?;
    let shares = shares(&behind, widths.len(), parts.len());
    // At most so many places; to the first share's those of all others are added.
    let room = |share: usize| {
        let Range { start, end } =
            if share == 0 { 0..widths.len() as u32 } else { shares[share].clone() };
        behind
            .iter()
            .map(|part| (part.starts[end as usize] - part.starts[start as usize]) as usize)
            .sum()
    };
    let mut counted = each(shares.len(), &mut tick, |share, tick| {
        let mut adder = Adder { arena, threshold, sums: vec![Sum::default(); widths.len()] };
        let mut census = Census::default();
        let places = &mut census.places.places;
        // Room that is not used is not touched; without it, all comes out the same.
        let _ = places.try_reserve_exact(room(share));
        wish_large_pages(places);
        for left in shares[share].clone() {
            if left % ROWS_PER_TICK == 0 {
                tick()?;
            }
            adder.add_up(left, &behind, &wanted, &mut census);
        }
        ControlFlow::Continue(census)
    })?
    .into_iter();
    drop(behind);
    let mut census = counted.next().unwrap_or_default();
    for more in counted {
        census.pairs.extend(more.pairs);
        census.places.places.extend(more.places.places);
        census.places.lengths.extend(more.places.lengths);
    }
    ControlFlow::Continue(census)
}

/// Symbols between two ticks.
const ROWS_PER_TICK: u32 = 256;

/// The symbols in as many shares, which have about the same number of pairs.
fn shares(behind: &[Behind], symbols: usize, count: usize) -> Vec<Range<u32>> {
    let before = |symbol: usize| behind.iter().map(|part| part.starts[symbol] as usize).sum();
    let all: usize = before(symbols);
    let mut from = 0;
    (1..=count)
        .map(|share| {
            let mut to = from as usize;
            while to < symbols && (share == count || before(to) < all / count * share) {
                to += 1;
            }
            std::mem::replace(&mut from, to as u32)..to as u32
        })
        .collect()
}

impl Behind {
    fn new(
        arena: &Arena,
        widths: &[u32],
        part: &Range<usize>,
        tick: Tick<'_>,
    ) -> ControlFlow<(), Self> {
        let mut starts = vec![0; widths.len() + 1];
        arena.while_each_pair(widths, part, &mut *tick, |_, left, _, _| {
            starts[left as usize + 1] += 1;
        })?;
        for symbol in 0..widths.len() {
            starts[symbol + 1] += starts[symbol];
        }
        let mut cursors = starts.clone();
        let mut pairs = vec![(0, 0); starts[widths.len()] as usize];
        wish_large_pages(&mut pairs);
        arena.while_each_pair(widths, part, tick, |position, left, right, _| {
            let cursor = &mut cursors[left as usize];
            pairs[*cursor as usize] = (position, right);
            *cursor += 1;
        })?;
        ControlFlow::Continue(Self { starts, pairs })
    }

    fn of(&self, left: u32) -> &[(u32, u32)] {
        let left = left as usize;
        &self.pairs[self.starts[left] as usize..self.starts[left + 1] as usize]
    }
}

/// Of a right symbol.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    weight: u64,
    places: u32,
    /// Where its next place is written to, plus one; 0 for nowhere.
    cursor: usize,
}

struct Adder<'a> {
    arena: &'a Arena,
    threshold: u64,
    sums: Vec<Sum>,
}

impl Adder<'_> {
    /// Adds the pairs of a left symbol to a census.
    fn add_up(
        &mut self,
        left: u32,
        behind: &[Behind],
        wanted: &impl Fn((u32, u32)) -> bool,
        census: &mut Census,
    ) {
        let sums = &mut self.sums;
        let mut seen = Vec::new();
        let (mut weight, mut weight_end) = (0, 0);
        for &(position, right) in behind.iter().flat_map(|part| part.of(left)) {
            if position >= weight_end {
                (weight, weight_end) = self.arena.weight(position);
            }
            let sum = &mut sums[right as usize];
            if sum.places == 0 {
                seen.push(right);
            }
            sum.weight += weight;
            sum.places += 1;
        }
        let reaches =
            |right: &u32| sums[*right as usize].weight >= self.threshold && wanted((left, *right));
        let mut kept: Vec<u32> = seen.iter().copied().filter(reaches).collect();
        kept.sort_unstable();
        let Places { places, lengths } = &mut census.places;
        let mut end = places.len();
        for &right in &kept {
            let sum = &mut sums[right as usize];
            census.pairs.push(((left, right), sum.weight));
            lengths.push(sum.places);
            sum.cursor = end + 1;
            end += sum.places as usize;
        }
        if !kept.is_empty() {
            places.resize(end, 0);
            for &(position, right) in behind.iter().flat_map(|part| part.of(left)) {
                let cursor = &mut sums[right as usize].cursor;
                if *cursor > 0 {
                    places[*cursor - 1] = position;
                    *cursor += 1;
                }
            }
        }
        for right in seen {
            sums[right as usize] = Sum::default();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use std::collections::BTreeMap;

    /// However the words are shared out, the pairs and their places are those that a plain look finds.
    #[test]
    fn parts_cannot_be_seen() {
        let mut random = SplitMix64::new(6);
        let symbols = 40;
        let (mut arena, mut borders) = (Arena::default(), vec![0]);
        for word in 0..3000_u64 {
            for _ in 0..random.next() % 9 {
                arena.push((random.next() % symbols * (random.next() % symbols) / symbols) as u32);
            }
            arena.end_word(1 + (3000 - word) / 300).unwrap();
            borders.push(arena.len() - 1);
        }
        arena.finish();
        let widths = vec![1; symbols as usize];
        let mut plain: BTreeMap<(u32, u32), (u64, Vec<u32>)> = BTreeMap::new();
        arena.for_each_pair(&widths, |position, left, right, weight| {
            let pair = plain.entry((left, right)).or_default();
            pair.0 += weight;
            pair.1.push(position);
        });
        let go_on = || ControlFlow::Continue(());
        for threshold in [1, 50, 1_000_000] {
            let wanted = |(left, right): (u32, u32)| (left + right) % 7 != 0;
            let kept: Vec<_> = plain
                .iter()
                .filter(|&(&ids, &(count, _))| count >= threshold && wanted(ids))
                .collect();
            assert!(kept.len() < plain.len());
            for cuts in [vec![], vec![1500], vec![1, 2999], vec![700, 700, 2000]] {
                let ends = cuts.iter().map(|&word| borders[word]).chain([arena.size()]);
                let mut from = 0;
                let parts: Vec<_> =
                    ends.map(|end| std::mem::replace(&mut from, end)..end).collect();
                let found = count(&arena, &widths, &parts, threshold, wanted, go_on);
                let Census { pairs, places } = found.continue_value().unwrap();
                let expected: Vec<_> =
                    kept.iter().map(|&(&ids, &(count, _))| (ids, count)).collect();
                assert_eq!(pairs, expected, "{parts:?}");
                let expected: Vec<u32> = kept.iter().flat_map(|(_, (_, at))| at.clone()).collect();
                assert_eq!(places.places, expected, "{parts:?}");
                let lengths: Vec<u32> = kept.iter().map(|(_, (_, at))| at.len() as u32).collect();
                assert_eq!(places.lengths, lengths, "{parts:?}");
            }
        }
    }
}
