//! How pieces of bytes come to be: by which merge, and whether it ever happens.
//!
//! Naively: encode a piece by the merges before its own, and see which two parts are left. What happens within a piece
//! does not depend on what stands around it, as long as nothing is merged across its ends. So of all merges that would
//! make a piece only one ever does, that of these two parts, and if it is not listed or more are left, none does.
//!
//! The fast way, where merges are listed in such an order that all that make one piece stand together, and one of them
//! happens by parts that were made before it. Merges happen in the order of the list then, so two parts become a piece
//! unless, before both are there, something is merged across the border between them. What stands left and right of the
//! border is told by going back in time: of the two symbols that meet there, the one that was made later falls into its own
//! two parts, and the inner one of these met the other symbol until then. If no merge of such two comes before the one that
//! parted them, none is made across the border. That is a few looks a merge, and asks for nothing but how the parts were
//! made.

use super::super::pairs::{Merge, NO_RANK, PairTable};
use super::{Bpe, Merger, Silent, Symbols, Table, Way};
use crate::vocab::Vocab;

/// The last merge of a piece.
#[derive(Debug, Clone, Copy, Default)]
struct Derivation {
    /// One more than its rank; 0 for a byte, and for what no merge makes.
    when: u32,
    left: u32,
    right: u32,
}

/// The one derivation of each piece, by id.
struct Derivations(Vec<Derivation>);

impl Derivations {
    /// Nothing is made yet; ids are below `end`.
    fn new(end: usize) -> Self {
        Self(vec![Derivation::default(); end])
    }

    fn enter(&mut self, merge: &Merge) {
        let (when, left, right) = (merge.rank + 1, merge.left, merge.right);
        self.0[merge.product as usize] = Derivation { when, left, right };
    }

    fn is_made(&self, id: u32) -> bool {
        self.0[id as usize].when > 0
    }

    /// Whether no merge of `pairs` is made across the border between two pieces until both are there.
    fn meet(&self, pairs: &PairTable, mut left: u32, mut right: u32) -> bool {
        loop {
            let (one, other) = (self.0[left as usize], self.0[right as usize]);
            // Of two equal ones the left one was made first; of two equal merges that overlap, the left one is.
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

/// Which of the listed merges of bytes ever happen, where several make one piece: as in files that have ranks, when other
/// libraries' converters list any two pieces that make a third one. None where each piece has one merge at most, or where
/// the order is another than the fast way needs.
pub(super) fn told(listed: &[Merge], vocab: &Vocab) -> Option<Table> {
    let groups = || listed.chunk_by(|one, next| one.product == next.product);
    // Which pieces are made by merges that are still to come.
    let mut coming = vec![false; vocab.len()];
    let mut several = false;
    for group in groups() {
        if std::mem::replace(&mut coming[group[0].product as usize], true) {
            return None;
        }
        several |= group.len() > 1;
    }
    if !several {
        return None;
    }
    let mut pairs = PairTable::with_capacity(vocab.len(), vocab.first_character());
    let mut idle = Vec::with_capacity(listed.len() / 2);
    let mut derivations = Derivations::new(vocab.len());
    let is_byte = |id: u32| vocab.piece(id).is_some_and(|piece| piece.len() == 1);
    for group in groups() {
        let product = group[0].product;
        let mut late = false;
        for merge in group {
            let parts = [merge.left, merge.right];
            late |= parts.into_iter().any(|part| coming[part as usize]);
            let there = |part: u32| is_byte(part) || derivations.is_made(part);
            let happens = !derivations.is_made(product)
                && parts.into_iter().all(there)
                && derivations.meet(&pairs, merge.left, merge.right);
            if happens {
                derivations.enter(merge);
                pairs.insert(merge.left, merge.right, merge.rank, merge.product);
            } else {
                idle.push(*merge);
            }
        }
        // Its bytes become the piece before any part that comes later, or such a part may bring the others together.
        if late && !derivations.is_made(product) {
            return None;
        }
        coming[product as usize] = false;
    }
    Some(Table { pairs, idle, proper: true })
}

/// The pieces of more than one byte that no merge makes.
pub(super) fn unmade<'v>(vocab: &'v Vocab, pairs: &PairTable) -> impl Iterator<Item = &'v [u8]> {
    let mut made = vec![false; vocab.len()];
    for merge in pairs.all() {
        // What SentencePiece's merges make may be no piece.
        if let Some(made) = made.get_mut(merge.product as usize) {
            *made = true;
        }
    }
    vocab.iter().zip(made).filter_map(|(piece, made)| (piece.len() > 1 && !made).then_some(piece))
}

impl Bpe {
    /// Whether each piece that a merge makes, encoded without being taken whole, stays one; never where symbols are
    /// characters.
    pub(super) fn reaches_all(&self) -> bool {
        let Symbols::Bytes { ids } = &self.symbols else { return false };
        if !self.proper {
            return self.merges_leave_all(ids);
        }
        let mut derivations = Derivations::new(self.vocab.len());
        self.pairs.all().for_each(|merge| derivations.enter(merge));
        self.pairs.all().all(|merge| derivations.meet(&self.pairs, merge.left, merge.right))
    }

    /// The same, naively.
    fn merges_leave_all(&self, ids: &[u32; 256]) -> bool {
        let mut merger = Merger::default();
        let mut way = Way::default();
        let made = self.pairs.all().filter_map(|merge| self.vocab.piece(merge.product));
        made.into_iter().all(|piece| {
            merger.clear();
            piece.iter().for_each(|&byte| merger.push(ids[usize::from(byte)]));
            self.merge_word(&mut way, &mut merger, &mut Silent);
            merger.ids.len() <= 1
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::BpeParts;
    use super::*;
    use crate::random::SplitMix64;

    /// Pieces of some letters, each of two that were there before, and the merges that make them so.
    fn pieces(
        random: &mut SplitMix64,
        letters: u8,
        merges: usize,
    ) -> (Vec<Vec<u8>>, Vec<(u32, u32)>) {
        let mut pieces: Vec<Vec<u8>> = (0..letters).map(|at| vec![b'a' + at]).collect();
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
        (pieces, pairs)
    }

    fn model(pieces: &[Vec<u8>], merges: Vec<(u32, u32)>) -> Bpe {
        let parts = BpeParts::of_bytes(Vocab::new(pieces));
        Bpe::new(BpeParts { merges: Some(merges), whole_word: true, ..parts }).unwrap()
    }

    #[test]
    fn derivations_tell_what_merging_tells() {
        let mut random = SplitMix64::new(1);
        let mut reached = [0; 2];
        for round in 0..40_000 {
            let (letters, merges) = (1 + random.next() % 3, 1 + round % 9);
            let (pieces, merges) = pieces(&mut random, letters as u8, merges);
            let model = model(&pieces, merges);
            let Symbols::Bytes { ids } = &model.symbols else { panic!() };
            assert!(model.proper);
            let expected = model.merges_leave_all(ids);
            assert_eq!(model.reaches_all(), expected, "{pieces:?} {:?}", model.merges());
            reached[usize::from(expected)] += 1;
        }
        assert!(reached.iter().all(|&count| count > 5000), "{reached:?}");
    }

    #[test]
    fn a_merge_that_stands_twice_is_told() {
        let pieces = ["a", "b", "c", "ab", "bc", "abc"].map(|piece| piece.as_bytes().to_vec());
        // With one merge for each piece, and with two.
        for merges in [vec![(0, 1), (1, 2), (0, 1)], vec![(0, 1), (1, 2), (3, 2), (0, 4), (3, 2)]] {
            let parts = BpeParts::of_bytes(Vocab::new(&pieces));
            let twice = merges.len() - 1;
            let error = Bpe::new(BpeParts { merges: Some(merges), ..parts }).unwrap_err();
            let told = error.to_string();
            assert!(told.contains(&format!("merge {twice}, which stands before")), "{told}");
        }
    }

    /// What merges leave of a word, by the list alone.
    fn naively(word: &[u8], letters: &[Vec<u8>], merges: &[(u32, u32, u32)]) -> Vec<u32> {
        let id = |byte: &u8| letters.iter().position(|letter| letter[0] == *byte).unwrap() as u32;
        let mut ids: Vec<u32> = word.iter().map(id).collect();
        loop {
            let rank = |two: &[u32]| {
                merges.iter().position(|&(left, right, _)| (left, right) == (two[0], two[1]))
            };
            let places = ids.windows(2).enumerate();
            let next = places.filter_map(|(at, two)| Some((rank(two)?, at))).min();
            let Some((rank, at)) = next else { return ids };
            ids.splice(at..at + 2, [merges[rank].2]);
        }
    }

    /// Lists of several merges for a piece: any two pieces that make a third one, or some of them, some of which are
    /// never made otherwise.
    #[test]
    fn idle_merges_never_happen() {
        let mut random = SplitMix64::new(3);
        let mut seen = [0; 4];
        for round in 0..20_000 {
            // Where parts may be made behind what is made of them, merges stay as they are.
            let ordered = round % 4 > 0;
            let letters = 1 + random.next() % 3;
            let (mut pieces, _) = pieces(&mut random, letters as u8, 2 + round % 9);
            if round % 3 == 0 {
                // One that may have no parts, or no merge that happens.
                let longer = [&pieces[pieces.len() - 1][..], b"a"].concat();
                let more = [longer, b"abcab"[..1 + round % 5].to_vec()];
                for piece in more {
                    if letters == 3 && !pieces.contains(&piece) {
                        pieces.push(piece);
                    }
                }
            }
            let find = |part: &[u8]| pieces.iter().position(|piece| piece == part);
            let mut merges = Vec::new();
            for (product, piece) in pieces.iter().enumerate() {
                for at in 1..piece.len() {
                    let two = find(&piece[..at]).zip(find(&piece[at..]));
                    let Some((left, right)) = two else { continue };
                    let before = !ordered || left.max(right) < product;
                    if before && !random.next().is_multiple_of(8) {
                        merges.push((left as u32, right as u32, product as u32));
                    }
                }
            }
            let listed: Vec<_> = merges.iter().map(|&(left, right, _)| (left, right)).collect();
            let model = model(&pieces, listed);
            assert!(model.proper || !ordered);
            let idle = model.idle.len();
            assert_eq!(idle + model.pairs.len(), merges.len());
            // Idle ones are still told, and happen where others are skipped.
            let all = (0..).zip(&merges).map(|(rank, &(left, right, _))| (rank, left, right));
            assert_eq!(model.merges(), all.collect::<Vec<_>>());
            let word = |random: &mut SplitMix64| -> Vec<u8> {
                let letters =
                    (0..random.next() % 30).map(|_| b'a' + (random.next() % letters) as u8);
                letters.collect()
            };
            let mut words: Vec<Vec<u8>> = (0..8).map(|_| word(&mut random)).collect();
            if round % 100 == 0 {
                // Long ones are merged in another way.
                words.push((0..50).flat_map(|_| word(&mut random)).collect());
            }
            words.extend(pieces.iter().cloned());
            for word in words {
                let (mut merger, mut found) = (Merger::default(), Vec::new());
                model.merged(&word, &mut merger, &mut found).unwrap();
                assert_eq!(
                    found,
                    naively(&word, &pieces, &merges),
                    "{pieces:?} {merges:?} {word:?}"
                );
            }
            let unmade = pieces.len() as i64 - letters as i64 - model.pairs.len() as i64;
            seen[3] += usize::from(!model.proper);
            seen[0] += usize::from(idle > 0);
            seen[1] += usize::from(unmade > 0);
            seen[2] += usize::from(idle > 0 && unmade > 0);
        }
        assert!(seen.iter().all(|&count| count > 500), "{seen:?}");
    }
}
