//! Lists of places, one behind the other in one room: what makes and drops lists by the million asks the
//! system for memory only when the room grows.

use crate::scan::prefetch_list;

/// A list: where it starts, and how long it is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct List {
    start: usize,
    len: usize,
}

/// Room for lists. What is given back is used again, by lists of the same size or by shorter ones.
#[derive(Debug, Default)]
pub(super) struct Store {
    places: Vec<u32>,
    /// Bin `k` has free stretches of at least 2^k and less than 2^(k + 1) places.
    bins: [Vec<(usize, usize)>; 32],
    /// Bit `k`: bin `k` has one.
    filled: u64,
}

impl Store {
    /// A room that is full of lists of these lengths.
    pub(super) fn new(places: Vec<u32>, lengths: &[u32]) -> (Self, Vec<List>) {
        let mut start = 0;
        let lists = lengths
            .iter()
            .map(|&len| {
                let list = List { start, len: len as usize };
                start += list.len;
                list
            })
            .collect();
        (Self { places, ..Self::default() }, lists)
    }

    /// The places of a list.
    pub(super) fn get(&self, list: List) -> &[u32] {
        &self.places[list.start..list.start + list.len]
    }

    /// Says that a list will be read soon.
    pub(super) fn ask(&self, list: List) {
        prefetch_list(&self.places, list.start);
    }

    /// A list of so many places, without a meaning as yet.
    pub(super) fn take(&mut self, len: u32) -> List {
        let len = len as usize;
        if len == 0 {
            return List::default();
        }
        // Whatever is in this bin, or in a later one, is long enough.
        let bin = len.next_power_of_two().ilog2();
        let filled = self.filled >> bin << bin;
        if filled == 0 {
            let start = self.places.len();
            self.places.resize(start + len, 0);
            return List { start, len };
        }
        let bin = filled.trailing_zeros() as usize;
        let (start, room) = self.bins[bin].pop().unwrap_or_default();
        if self.bins[bin].is_empty() {
            self.filled &= !(1 << bin);
        }
        self.give(List { start: start + len, len: room - len });
        List { start, len }
    }

    /// Gives a list back.
    pub(super) fn give(&mut self, list: List) {
        if let Some(bin) = list.len.checked_ilog2() {
            self.bins[bin as usize].push((list.start, list.len));
            self.filled |= 1 << bin;
        }
    }

    /// A list without its first places, which are given back.
    pub(super) fn drop_first(&mut self, list: List, count: usize) -> List {
        self.give(List { start: list.start, len: count });
        List { start: list.start + count, len: list.len - count }
    }

    /// Where a list is written to.
    pub(super) fn cursor(list: List) -> usize {
        list.start
    }

    /// Writes the next place of a list.
    #[inline]
    pub(super) fn put(&mut self, cursor: usize, place: u32) {
        self.places[cursor] = place;
    }

    /// The list, of which only what is before `cursor` was written. The rest is given back.
    pub(super) fn cut(&mut self, list: List, cursor: usize) -> List {
        let len = cursor - list.start;
        self.give(List { start: cursor, len: list.len - len });
        List { start: list.start, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Lists keep what was written, whatever is given back and taken between.
    #[test]
    fn lists_do_not_overlap() {
        let mut random = SplitMix64::new(5);
        let mut below = |limit: u64| random.next() % limit;
        let (mut store, mut lists) = Store::new(vec![0, 0, 0, 1, 1, 3], &[3, 2, 0, 1]);
        let mut next = 4;
        let mut held: Vec<(List, u32, u32)> = Vec::new();
        for (number, list) in lists.drain(..).enumerate() {
            held.push((list, number as u32, [3, 2, 0, 1][number]));
        }
        let mut largest = 0;
        for _ in 0..20_000 {
            if below(2) == 0 || held.is_empty() {
                let len = 1 << below(8);
                let len = below(len) as u32;
                let list = store.take(len);
                let used = below(u64::from(len) + 1) as u32;
                let cursor = Store::cursor(list);
                for place in cursor..cursor + used as usize {
                    store.put(place, next);
                }
                held.push((store.cut(list, cursor + used as usize), next, used));
                next += 1;
            } else {
                let (list, ..) = held.swap_remove(below(held.len() as u64) as usize);
                store.give(list);
            }
            if held.len() > 100 {
                held.drain(..50).for_each(|(list, ..)| store.give(list));
            }
            for &(list, number, len) in &held {
                assert_eq!(store.get(list), vec![number; len as usize]);
            }
            largest = largest.max(store.places.len());
        }
        assert!(largest < 100_000, "{largest}");
    }
}
