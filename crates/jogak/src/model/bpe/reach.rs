//! Whether merges make every piece of its own bytes.
//!
//! Naively: encode every piece, and look whether one piece is left.
//!
//! The fast way, where every piece has one derivation, from pieces of lower rank. Merges are made in the order of their
//! ranks then, so a piece comes to be unless, before its own last merge, one is made across the border between the two
//! parts of that merge. What stands left and right of the border is told by going back in time: of the two symbols that
//! meet there, the one that was made later falls into its own two parts, and the inner one of these met the other symbol
//! until then. No merge of such two may come before the one that parted them. That is a few looks a piece, half of the way
//! that merging it takes.

use super::{Bpe, Merger, PairTable, Silent, Symbols, Way};
use crate::model::pairs::NO_RANK;

impl Bpe {
    /// Whether each piece, encoded without being taken whole, stays one; never where symbols are characters.
    pub(super) fn reaches_all(&self) -> bool {
        let Symbols::Bytes { ids } = &self.symbols else { return false };
        if self.proper {
            // Which pieces have no merge is known: there is one for each piece of more than a byte.
            return Derivations::new(&self.pairs).all_hold(&self.pairs);
        }
        self.merges_leave_all(ids)
    }

    /// The same, naively.
    fn merges_leave_all(&self, ids: &[u32; 256]) -> bool {
        let mut merger = Merger::default();
        let mut way = Way::default();
        (0..self.vocab.len() as u32).filter_map(|id| self.vocab.piece(id)).all(|piece| {
            merger.clear();
            piece.iter().for_each(|&byte| merger.push(ids[usize::from(byte)]));
            self.merge_word(&mut way, &mut merger, &mut Silent);
            merger.ids.len() <= 1
        })
    }
}

/// How a piece came to be.
#[derive(Debug, Clone, Copy, Default)]
struct Derivation {
    /// One more than the rank of the merge that makes it; 0 for a byte.
    when: u32,
    left: u32,
    right: u32,
}

/// The one derivation of each piece, by id.
struct Derivations(Vec<Derivation>);

impl Derivations {
    fn new(pairs: &PairTable) -> Self {
        let largest = pairs.all().map(|merge| merge.left.max(merge.right).max(merge.product)).max();
        let mut of = vec![Derivation::default(); largest.map_or(0, |id| id as usize + 1)];
        for merge in pairs.all() {
            let (when, left, right) = (merge.rank + 1, merge.left, merge.right);
            of[merge.product as usize] = Derivation { when, left, right };
        }
        Self(of)
    }

    /// Whether no merge is made across the border that is within any piece.
    fn all_hold(&self, pairs: &PairTable) -> bool {
        self.0.iter().all(|piece| piece.when == 0 || self.holds(pairs, piece.left, piece.right))
    }

    /// Whether nothing is merged across the border between two pieces until both are there.
    fn holds(&self, pairs: &PairTable, mut left: u32, mut right: u32) -> bool {
        loop {
            let (one, other) = (self.0[left as usize], self.0[right as usize]);
            // Of two equal ones the left one was made first, and so was its last merge before an equal one here.
            let (until, first) = if one.when > other.when {
                left = one.right;
                (one.when, false)
            } else if other.when > 0 {
                right = other.left;
                (other.when, true)
            } else {
                return true;
            };
            let (rank, _) = pairs.get(left, right);
            if rank != NO_RANK && (rank + 1 < until || (first && rank + 1 == until)) {
                return false;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::BpeParts;
    use super::*;
    use crate::random::SplitMix64;
    use crate::vocab::Vocab;

    /// Merges of some letters, each of pieces that were there before.
    fn model(random: &mut SplitMix64, letters: u64, merges: usize) -> Bpe {
        let mut pieces: Vec<Vec<u8>> = (0..letters as u8).map(|at| vec![b'a' + at]).collect();
        let mut pairs = Vec::new();
        while pairs.len() < merges {
            let mut some = || (random.next() % pieces.len() as u64) as usize;
            // Early pieces more often than late ones: shallow derivations, and deep ones.
            let (left, right) = (some().min(some()), some().min(some()));
            let product = [&pieces[left][..], &pieces[right]].concat();
            if product.len() <= 12 && !pieces.contains(&product) {
                pieces.push(product);
                pairs.push((left as u32, right as u32));
            } else if random.next().is_multiple_of(64) {
                break;
            }
        }
        let parts = BpeParts { merges: Some(pairs), ..BpeParts::of_bytes(Vocab::new(&pieces)) };
        Bpe::new(parts).unwrap()
    }

    #[test]
    fn derivations_tell_what_merging_tells() {
        let mut random = SplitMix64::new(1);
        let mut reached = [0; 2];
        for round in 0..40_000 {
            let (letters, merges) = (1 + random.next() % 3, 1 + round % 9);
            let model = model(&mut random, letters, merges);
            let Symbols::Bytes { ids } = &model.symbols else { panic!() };
            assert!(model.proper);
            let expected = model.merges_leave_all(ids);
            assert_eq!(model.reaches_all(), expected, "{:?} {:?}", model.vocab, model.merges());
            reached[usize::from(expected)] += 1;
        }
        assert!(reached.iter().all(|&count| count > 5000), "{reached:?}");
    }
}
