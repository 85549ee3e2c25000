//! What is best is asked of a heap; most of what waits is never asked.
//!
//! Counts only fall, and most pairs never come to the top. So a heap holds only those of the band of counts
//! that is asked now; all others wait in a list for their band, in no order. When the heap is empty, the
//! next lower band that has something is looked at: what fell further goes on waiting, what has gone is
//! dropped, the rest becomes the heap.

use super::learner::Entry;
use super::queue::Queue;

/// Entries by count, the best first.
#[derive(Debug)]
pub(super) struct Bands {
    heap: Queue<Entry>,
    /// The band that the heap holds, and all above.
    band: usize,
    waiting: Vec<Vec<Entry>>,
}

/// The band of a count: small counts have one each, larger ones share it with those that differ by an
/// eighth.
fn band(count: u64) -> usize {
    match count.checked_ilog2() {
        Some(log @ 4..) => {
            let eighth = (count >> (log - 3)) & 7;
            8 * (log as usize - 2) + eighth as usize
        }
        _ => count as usize,
    }
}

impl Bands {
    pub(super) fn new() -> Self {
        let count = band(u64::MAX) + 1;
        Self { heap: Queue::new(), band: count, waiting: vec![Vec::new(); count] }
    }

    pub(super) fn push(&mut self, entry: Entry, before: impl Fn(&Entry, &Entry) -> bool) {
        let band = band(entry.count);
        match self.waiting.get_mut(band) {
            Some(waiting) if band < self.band => waiting.push(entry),
            _ => self.heap.push(entry, before),
        }
    }

    /// The best entry. `now` tells what an entry is by now, if it has not gone.
    pub(super) fn peek(
        &mut self,
        now: impl Fn(&Entry) -> Option<Entry>,
        before: impl Fn(&Entry, &Entry) -> bool,
    ) -> Option<Entry> {
        loop {
            if let Some(top) = self.heap.peek() {
                return Some(top);
            }
            let next = self.waiting[..self.band].iter().rposition(|band| !band.is_empty())?;
            self.band = next;
            for entry in std::mem::take(&mut self.waiting[next]) {
                if let Some(entry) = now(&entry) {
                    self.push(entry, &before);
                }
            }
        }
    }

    /// Takes the best entry out.
    pub(super) fn pop(&mut self, before: impl Fn(&Entry, &Entry) -> bool) {
        self.heap.pop(before);
    }

    /// The best entry has become another one, no better.
    pub(super) fn replace_first(&mut self, entry: Entry, before: impl Fn(&Entry, &Entry) -> bool) {
        if band(entry.count) < self.band {
            self.heap.pop(&before);
            self.push(entry, before);
        } else {
            self.heap.replace_first(entry, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn bands_follow_each_other() {
        let counts = (0..100_000).chain((0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit]));
        for count in counts.chain([u64::MAX]) {
            assert!(band(count) <= band(count.saturating_add(1)), "{count}");
        }
        let singles: Vec<usize> = (0..17).map(band).collect();
        assert_eq!(singles, (0..17).collect::<Vec<_>>());
    }

    /// Entries come out best first, whatever they fell to meanwhile.
    #[test]
    fn the_best_comes_first() {
        let mut random = SplitMix64::new(11);
        let mut counts: Vec<u64> =
            (0..3000).map(|_| random.next() >> (random.next() % 60)).collect();
        let before = |a: &Entry, b: &Entry| (b.count, a.ids) < (a.count, b.ids);
        let entry = |number: u32, count| Entry { count, ids: (number, number), number, first: 0 };
        let mut bands = Bands::new();
        for (number, &count) in (0..).zip(&counts) {
            bands.push(entry(number, count), before);
        }
        let mut gone = vec![false; counts.len()];
        for _ in 0..counts.len() / 2 {
            for _ in 0..5 {
                let fallen = (random.next() % 3000) as usize;
                counts[fallen] -= counts[fallen] / 7;
            }
            gone[(random.next() % 3000) as usize] = true;
            let best = (0..).zip(&counts).filter(|&(number, _)| !gone[number as usize]);
            let Some(best) = best.map(|(number, &count)| (count, !number)).max() else { break };
            let now = |old: &Entry| {
                (!gone[old.number as usize]).then(|| entry(old.number, counts[old.number as usize]))
            };
            let found = loop {
                let top = bands.peek(now, before).expect("there is one");
                match now(&top) {
                    None => bands.pop(before),
                    Some(now) if now.count == top.count => break top,
                    Some(now) => bands.replace_first(now, before),
                }
            };
            bands.pop(before);
            assert_eq!((found.count, !found.number), best);
            gone[found.number as usize] = true;
        }
    }
}
