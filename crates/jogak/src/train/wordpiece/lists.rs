//! Lists that grow, one behind the other in one room: millions of short ones, and nobody asks the system for
//! memory of each.

use crate::scan::{prefetch, prefetch_list};

/// Where a list lies, how long it is, and how much room it has: nothing, or a power of two.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    start: usize,
    len: u32,
    room: u32,
}

/// The room of a list that gets its first number.
const FIRST: u32 = 4;

/// Numbered lists of numbers.
#[derive(Debug, Default)]
pub(super) struct Lists {
    lists: Vec<List>,
    numbers: Vec<u32>,
    /// Stretches of 2^k numbers that nobody uses any more.
    free: [Vec<usize>; 32],
}

impl Lists {
    /// Makes lists, empty ones, for all numbers below `count`.
    pub(super) fn grow(&mut self, count: usize) {
        self.lists.resize(count, List::default());
    }

    #[inline]
    pub(super) fn len(&self, list: u32) -> usize {
        self.lists[list as usize].len as usize
    }

    #[inline]
    pub(super) fn get(&self, list: u32, at: usize) -> u32 {
        self.numbers[self.lists[list as usize].start + at]
    }

    /// Says that a list will be walked soon.
    pub(super) fn ask(&self, list: u32) {
        prefetch(&self.lists, list as usize);
    }

    /// Says that the numbers of a list will be read soon.
    pub(super) fn ask_numbers(&self, list: u32) {
        if let Some(list) = self.lists.get(list as usize) {
            prefetch_list(&self.numbers, list.start);
        }
    }

    /// Puts another number at a place of a list that it has.
    #[inline]
    pub(super) fn set(&mut self, list: u32, at: usize, number: u32) {
        let start = self.lists[list as usize].start;
        self.numbers[start + at] = number;
    }

    /// Keeps the first `len` numbers of a list.
    #[inline]
    pub(super) fn truncate(&mut self, list: u32, len: usize) {
        self.lists[list as usize].len = len as u32;
    }

    #[inline]
    pub(super) fn push(&mut self, list: u32, number: u32) {
        let List { start, len, room } = self.lists[list as usize];
        let start = if len < room { start } else { self.widen(list) };
        self.numbers[start + len as usize] = number;
        self.lists[list as usize].len = len + 1;
    }

    /// Moves a list to where it has twice the room, and returns where that is.
    #[cold]
    fn widen(&mut self, list: u32) -> usize {
        let List { start, len, room } = self.lists[list as usize];
        let wider = if room == 0 { FIRST } else { 2 * room };
        let to = self.free[wider.ilog2() as usize].pop().unwrap_or_else(|| {
            let to = self.numbers.len();
            self.numbers.resize(to + wider as usize, 0);
            to
        });
        self.numbers.copy_within(start..start + len as usize, to);
        if room > 0 {
            self.free[room.ilog2() as usize].push(start);
        }
        self.lists[list as usize] = List { start: to, len, room: wider };
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// As many vectors: no list writes into another one.
    #[test]
    fn as_vectors() {
        let mut random = SplitMix64::new(11);
        let mut below = |limit: u64| (random.next() % limit) as usize;
        let (mut lists, mut plain) = (Lists::default(), Vec::<Vec<u32>>::new());
        for number in 0..50_000 {
            if below(100) == 0 || plain.is_empty() {
                plain.push(Vec::new());
                lists.grow(plain.len());
            }
            let list = below(plain.len() as u64);
            match below(20) {
                0 => {
                    let len = below(plain[list].len() as u64 + 1);
                    plain[list].truncate(len);
                    lists.truncate(list as u32, len);
                }
                1 if !plain[list].is_empty() => {
                    let at = below(plain[list].len() as u64);
                    plain[list][at] = number;
                    lists.set(list as u32, at, number);
                }
                _ => {
                    plain[list].push(number);
                    lists.push(list as u32, number);
                }
            }
        }
        for (list, plain) in (0..).zip(&plain) {
            let found: Vec<u32> = (0..lists.len(list)).map(|at| lists.get(list, at)).collect();
            assert_eq!(&found, plain);
        }
        assert!(plain.iter().any(|list| list.len() > 64));
    }
}
