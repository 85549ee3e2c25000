//! Unknown pieces that stand side by side become one, where the model says so.

use crate::scan::{Look, Task, fastest};

/// Ids that are looked at without a branch, many at a time.
const BLOCK: usize = 64;

/// So few are not worth asking what the machine knows.
const FEW: usize = 16;

/// Makes one of every run of unknown pieces from place `first` on.
pub(super) fn fuse(ids: &mut Vec<u32>, first: usize, unknown: u32) {
    let few = ids.len() <= first + FEW;
    let all = Fuse { ids, first, unknown };
    if few { all.fuse() } else { fastest(all) }
}

struct Fuse<'a> {
    ids: &'a mut Vec<u32>,
    first: usize,
    unknown: u32,
}

impl Task for Fuse<'_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        self.fuse();
    }
}

impl Fuse<'_> {
    #[inline(always)]
    fn fuse(self) {
        let Self { ids, first, unknown } = self;
        let Some(mut at) = next_run(ids, first, unknown) else { return };
        // The first of the run stays where it is.
        at += 1;
        let mut kept = at;
        while at < ids.len() {
            let end = ids.len().min(at + BLOCK);
            if has_run(&ids[at - 1..end], unknown) {
                // Where runs are they are many: no branch.
                let mut before = ids[at - 1];
                for at in at..end {
                    let id = ids[at];
                    ids[kept] = id;
                    kept += usize::from((id != unknown) | (before != unknown));
                    before = id;
                }
            } else {
                ids.copy_within(at..end, kept);
                kept += end - at;
            }
            at = end;
        }
        ids.truncate(kept);
    }
}

/// The same in each of several texts. The first one begins at place `first`, and the others where the one before them ends,
/// as `ends` tells; then it tells where they end when it is done.
pub(super) fn fuse_each(ids: &mut Vec<u32>, first: usize, ends: &mut [usize], unknown: u32) {
    if next_run(ids, first, unknown).is_none() {
        return;
    }
    let (mut kept, mut start) = (first, first);
    for end in ends {
        let mut before = None;
        for at in start..*end {
            let id = ids[at];
            ids[kept] = id;
            kept += usize::from(id != unknown || before != Some(id));
            before = Some(id);
        }
        (start, *end) = (*end, kept);
    }
    ids.truncate(kept);
}

/// Whether two of these ids that stand side by side are this one.
#[inline(always)]
fn has_run(ids: &[u32], this: u32) -> bool {
    let pairs = ids.iter().zip(&ids[1..]);
    pairs.fold(false, |found, (&one, &next)| found | ((one == this) & (next == this)))
}

/// Where the next two ids from place `from` on that are this one begin.
#[inline(always)]
fn next_run(ids: &[u32], from: usize, this: u32) -> Option<usize> {
    let mut at = from;
    while at < ids.len() {
        let block = &ids[at..ids.len().min(at + BLOCK + 1)];
        if has_run(block, this) {
            return Some(at + block.windows(2).position(|pair| pair == [this, this])?);
        }
        at += BLOCK;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{fuse, fuse_each};
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    #[test]
    fn of_every_run_one_is_left() {
        let mut random = SplitMix64::new(1);
        for round in 0..2000 {
            let mut below = |limit: u64| (random.next() % limit) as usize;
            let (len, rare) = (below(300), 1 + round % 60);
            let ids: Vec<u32> = (0..len).map(|_| u32::from(below(rare) == 0)).collect();
            let first = below(len as u64 + 1);
            let mut expected = ids[..first].to_vec();
            for (at, &id) in ids.iter().enumerate().skip(first) {
                if at == first || id != 1 || ids[at - 1] != 1 {
                    expected.push(id);
                }
            }
            every_way(|way| {
                let mut fused = ids.clone();
                fuse(&mut fused, first, 1);
                assert_eq!(fused, expected, "{way:?}: {ids:?} from {first}");
            });
            let places = (0..below(6)).map(|_| first + below((len - first) as u64 + 1));
            let mut ends: Vec<usize> = places.chain([len]).collect();
            ends.sort_unstable();
            let mut expected = ids[..first].to_vec();
            let mut expected_ends = Vec::new();
            for text in [&[first], &ends[..]].concat().windows(2) {
                let from = expected.len();
                expected.extend(&ids[text[0]..text[1]]);
                fuse(&mut expected, from, 1);
                expected_ends.push(expected.len());
            }
            let mut fused = ids.clone();
            fuse_each(&mut fused, first, &mut ends, 1);
            assert_eq!((fused, ends), (expected, expected_ends), "{ids:?} from {first}");
        }
    }
}
