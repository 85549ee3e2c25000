//! All suffixes of all chunks in order, and how much neighbours have in common.
//!
//! Rule: no suffix is compared beyond the longest piece and one character more, so that the cost does
//! not depend on how repetitive the text is: O(n log n) for n characters.

use std::sync::atomic::{AtomicU32, Ordering};

use super::chunks::{END, Packing};
use crate::scan::prefetch;
use crate::train::parallel::share;

/// So many suffixes are asked for before the first of them is needed.
const AHEAD: usize = 16;

/// How chunks end, to one who asks whether two suffixes go on alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// Every end is an end of its own: two suffixes that both end there go on differently.
    Differ,
    /// All ends are one character, which two suffixes may have in common.
    Alike,
}

/// Suffixes in the order of their characters.
#[derive(Debug)]
pub(super) struct Suffixes {
    /// Where in the text each suffix starts.
    pub(super) order: Vec<u32>,
    /// Characters that a suffix shares with the one before it (0 for the first of a bucket), counted
    /// up to one more than the longest piece.
    pub(super) shared: Vec<u8>,
    /// The suffixes that start with character c are `order[buckets[c]..buckets[c + 1]]`.
    pub(super) buckets: Vec<usize>,
}

impl Suffixes {
    /// Sorts the suffixes of `text`, whose characters are numbered from 1 to `alphabet`.
    pub(super) fn new(
        text: &[u32],
        alphabet: usize,
        longest: usize,
        ends: Ends,
        threads: usize,
    ) -> Self {
        let (mut order, buckets) = by_character(text, alphabet, threads);
        let mut shared = vec![0u8; order.len()];
        let sorter = Sorter { text, packing: Packing::new(alphabet), limit: longest + 1, ends };
        let mut jobs: Vec<(&mut [u32], &mut [u8])> = Vec::new();
        let (mut order_left, mut shared_left) = (&mut order[..], &mut shared[..]);
        for pair in buckets.windows(2) {
            let size = pair[1] - pair[0];
            let (order_here, shared_here);
            (order_here, order_left) = order_left.split_at_mut(size);
            (shared_here, shared_left) = shared_left.split_at_mut(size);
            if size > 1 {
                jobs.push((order_here, shared_here));
            }
        }
        // The largest first, so that none is left over when all others are done.
        jobs.sort_by_key(|(order, _)| std::cmp::Reverse(order.len()));
        share(threads, jobs.into_iter(), Vec::new, |keyed, (order, shared)| {
            sorter.sort(order, shared, 1, keyed);
        });
        Self { order, shared, buckets }
    }
}

/// The places of all characters but ends, those of each character together and in order; and where those of each
/// begin.
///
/// Each thread counts the characters of a part of the text. Then it is known where it may write their places: behind those
/// that other threads have of the parts before.
fn by_character(text: &[u32], alphabet: usize, threads: usize) -> (Vec<u32>, Vec<usize>) {
    let size = text.len().div_ceil(threads.max(1)).max(1);
    let parts = || text.chunks(size).enumerate();
    let mut counts = vec![vec![0usize; alphabet + 1]; parts().len()];
    share(
        threads,
        parts().zip(&mut counts),
        || (),
        |(), ((_, part), counts)| {
            for &character in part {
                counts[character as usize] += 1;
            }
        },
    );
    let mut buckets = vec![0; alphabet + 2];
    let mut total = 0;
    for character in 1..=alphabet {
        buckets[character] = total;
        for counts in &mut counts {
            // From here on it is the place of the next one.
            total += std::mem::replace(&mut counts[character], total);
        }
    }
    buckets[alphabet + 1] = total;
    let order: Vec<AtomicU32> = std::iter::repeat_with(AtomicU32::default).take(total).collect();
    share(
        threads,
        parts().zip(&mut counts),
        || (),
        |(), ((number, part), next)| {
            for (&character, at) in part.iter().zip((number * size) as u32..) {
                if character != END {
                    let place = &mut next[character as usize];
                    order[*place].store(at, Ordering::Relaxed);
                    *place += 1;
                }
            }
        },
    );
    (order.into_iter().map(AtomicU32::into_inner).collect(), buckets)
}

struct Sorter<'t> {
    text: &'t [u32],
    packing: Packing,
    /// Suffixes that agree on this many characters count as equal.
    limit: usize,
    ends: Ends,
}

impl Sorter<'_> {
    /// Sorts suffixes that agree on their first `depth` characters, none of them an end, by as many
    /// characters as fit into a number, and groups that agree on those by the next. `keyed` is
    /// scratch space.
    fn sort(
        &self,
        order: &mut [u32],
        shared: &mut [u8],
        depth: usize,
        keyed: &mut Vec<(u64, u32)>,
    ) {
        let base = keyed.len();
        let fits = self.packing.characters as usize;
        keyed.extend(order.iter().enumerate().map(|(number, &at)| {
            if let Some(&soon) = order.get(number + AHEAD) {
                prefetch(self.text, soon as usize + depth);
            }
            (self.packing.pack(&self.text[at as usize + depth..]), at)
        }));
        keyed[base..].sort_unstable();
        for (place, &(_, at)) in order.iter_mut().zip(&keyed[base..]) {
            *place = at;
        }
        let mut start = 0;
        while start < order.len() {
            let key = keyed[base + start].0;
            let size = keyed[base + start..].iter().take_while(|(other, _)| *other == key).count();
            if start > 0 {
                let differs = (key ^ keyed[base + start - 1].0).leading_zeros();
                let unused = 64 - self.packing.bits * self.packing.characters;
                let agree = (differs - unused) / self.packing.bits;
                shared[start] = (depth + agree as usize).min(self.limit) as u8;
            }
            if size > 1 {
                let group = start..start + size;
                let length = self.packing.length(key) as usize;
                if length < fits {
                    let agree = depth + length + usize::from(self.ends == Ends::Alike);
                    shared[start + 1..group.end].fill(agree.min(self.limit) as u8);
                } else if depth + fits >= self.limit {
                    shared[start + 1..group.end].fill(self.limit as u8);
                } else {
                    let first = shared[start];
                    self.sort(&mut order[group.clone()], &mut shared[group], depth + fits, keyed);
                    shared[start] = first;
                }
            }
            start += size;
        }
        keyed.truncate(base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_come_in_order() {
        // ab | abab | b, with a = 1 and b = 2.
        let text = [1, 2, 0, 1, 2, 1, 2, 0, 2, 0];
        for threads in [1, 2] {
            let suffixes = Suffixes::new(&text, 2, 3, Ends::Differ, threads);
            assert_eq!(suffixes.order, [0, 5, 3, 1, 6, 8, 4]);
            // ab ab abab | b b b bab
            assert_eq!(suffixes.shared, [0, 2, 2, 0, 1, 1, 1]);
            assert_eq!(suffixes.buckets, [0, 0, 3, 7]);
            let suffixes = Suffixes::new(&text, 2, 3, Ends::Alike, threads);
            assert_eq!(suffixes.shared, [0, 3, 2, 0, 2, 2, 1]);
        }
    }

    #[test]
    fn repetition_is_cut_off_at_the_limit() {
        let mut text = vec![1; 1000];
        text.push(0);
        let suffixes = Suffixes::new(&text, 1, 4, Ends::Differ, 1);
        assert_eq!(suffixes.order[0], 999);
        assert_eq!(suffixes.shared[..6], [0, 1, 2, 3, 4, 5]);
        assert!(suffixes.shared[6..].iter().all(|&shared| shared == 5));
    }
}
