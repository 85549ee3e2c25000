//! Unknown pieces that stand side by side become one, where the model says so.

/// Makes one of every run of unknown pieces from place `first` on.
pub(super) fn fuse(ids: &mut Vec<u32>, first: usize, unknown: u32) {
    let (mut kept, mut at) = (first, first);
    // What lies between two runs moves at once.
    while let Some(run) = next_run(ids, at, unknown) {
        ids.copy_within(at..=run, kept);
        kept += run + 1 - at;
        at = run + ids[run..].iter().take_while(|&&id| id == unknown).count();
    }
    if kept < at {
        ids.copy_within(at.., kept);
        ids.truncate(kept + ids.len() - at);
    }
}

/// Where the next two ids from place `from` on that are this one begin.
fn next_run(ids: &[u32], from: usize, this: u32) -> Option<usize> {
    /// Ids that are looked at without a branch, many at a time.
    const BLOCK: usize = 64;
    let is_run = |pair: &[u32]| (pair[0] == this) & (pair[1] == this);
    let starts = (from..ids.len()).step_by(BLOCK);
    let mut blocks = starts.map(|at| (at, &ids[at..ids.len().min(at + BLOCK + 1)]));
    let (at, block) = blocks
        .find(|(_, block)| block.windows(2).fold(false, |found, pair| found | is_run(pair)))?;
    Some(at + block.windows(2).position(is_run)?)
}

#[cfg(test)]
mod tests {
    use super::fuse;
    use crate::random::SplitMix64;

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
            let mut fused = ids.clone();
            fuse(&mut fused, first, 1);
            assert_eq!(fused, expected, "{ids:?} from {first}");
        }
    }
}
