//! Merges of a vocabulary whose ids are the ranks, as tiktoken's files are.
//!
//! The rule is tiktoken's: two neighbours merge if their joined bytes are a piece, the smallest product
//! first. What happens inside a span does not depend on what stands around it, as long as nothing
//! grows across its border. So every piece is made of one pair only: the two parts that are left of its
//! own bytes before they become one. Ordinary files have ranks in the order of training, so that
//! smaller ranks leave those two parts; where they leave more of some piece, and a part of greater rank
//! may come in between, all pairs are looked at.

use std::ops::Range;

use super::merge::Merger;
use super::pairs::{NO_RANK, PairTable};
use crate::beside::both;
use crate::observe::{Silent, WordObserver};
use crate::vocab::Vocab;

/// The merges that ranks come to.
pub(super) struct Ranked {
    /// Pair -> the piece, whose id is the rank.
    pub pairs: PairTable,
    /// Every piece is made from pieces of lower rank.
    pub proper: bool,
}

/// The ids of the 256 bytes. A byte that is no piece gets one behind all others, so that it can be part
/// of a merge.
pub(super) fn byte_ids(vocab: &Vocab) -> [u32; 256] {
    let ids = ids_of_bytes(vocab);
    std::array::from_fn(|byte| ids[byte].unwrap_or((vocab.len() + byte) as u32))
}

/// The ids of the 256 bytes, where they are pieces.
pub(super) fn ids_of_bytes(vocab: &Vocab) -> [Option<u32>; 256] {
    let mut ids = [None; 256];
    for id in 0..vocab.len() as u32 {
        if let Some(&[byte]) = vocab.piece(id) {
            ids[usize::from(byte)].get_or_insert(id);
        }
    }
    ids
}

/// The merges of pieces that are made of these bytes.
///
/// Pieces are looked at one after the other, as each may be part of the next one. But most are made of pieces long
/// before them: what the merges up to some rank leave of the pieces that follow can be found on two threads, and where
/// that is two parts, no later merge comes in between. Whatever is left in more parts is looked at again in its turn.
pub(super) fn ranked(vocab: &Vocab, bytes: &[u32; 256]) -> Ranked {
    let mut so_far =
        SoFar { bytes, pairs: PairTable::with_capacity(vocab.len(), vocab.first_character()) };
    let mut merger = Merger::default();
    let mut all: Option<AllPairs> = None;
    let (mut done, end) = (0, vocab.len() as u32);
    while done < end {
        let next = end.min(done + (done / 8).max(SMALLEST_PART));
        let middle = done.midpoint(next);
        let ahead = |ids: Range<u32>| -> Vec<_> {
            let mut merger = Merger::default();
            let pieces = ids.map(|id| vocab.piece(id).unwrap_or_default());
            pieces.map(|piece| so_far.halves(piece, &mut merger)).collect()
        };
        let (mut found, other) =
            both(next - done >= SMALLEST_PART, || ahead(done..middle), || ahead(middle..next));
        found.extend(other);
        for (place, id) in (done..next).enumerate() {
            if let Some(&Some([left, right])) = found.get(place + AHEAD) {
                so_far.pairs.prefetch(left, right);
            }
            let Some(piece) = vocab.piece(id).filter(|piece| piece.len() > 1) else { continue };
            if let Some([left, right]) = found[place].or_else(|| so_far.halves(piece, &mut merger))
                && so_far.pairs.insert(left, right, id, id)
            {
                continue;
            }
            // Only a part that is made later can bring the others together.
            let all = all.get_or_insert_with(|| AllPairs::new(vocab));
            let late = |part: u32| part > id && vocab.piece(part).is_some_and(|one| one.len() > 1);
            if all.splits(piece, bytes).any(|(left, right)| late(left) || late(right)) {
                return Ranked { pairs: by_all_pairs(vocab, bytes, all), proper: false };
            }
        }
        done = next;
    }
    Ranked { pairs: so_far.pairs, proper: true }
}

/// Pieces that are looked at ahead at once: more than that the start of a thread takes as long.
const SMALLEST_PART: u32 = 1 << 12;

/// So many merges before it is entered, the memory for one is asked for.
const AHEAD: usize = 8;

/// The merges up to some rank.
struct SoFar<'a> {
    bytes: &'a [u32; 256],
    pairs: PairTable,
}

impl SoFar<'_> {
    /// The two parts that they leave of a piece; None if they leave more, or if it is a byte.
    fn halves(&self, piece: &[u8], merger: &mut Merger) -> Option<[u32; 2]> {
        if (2..=SHORT).contains(&piece.len()) {
            return halves(piece, self.bytes, &self.pairs);
        }
        start(merger, piece, self.bytes);
        merger.run(&self.pairs, true, &mut Silent);
        <[u32; 2]>::try_from(&merger.ids[..]).ok()
    }
}

/// The longest pieces that are looked at without a [`Merger`], in bytes.
const SHORT: usize = 24;

/// The two parts that the merges so far leave of a short piece of two bytes or more; None if they leave
/// more. What [`Merger`] does, without going on when two are left; a rank is the id of what it makes.
fn halves(piece: &[u8], bytes: &[u32; 256], pairs: &PairTable) -> Option<[u32; 2]> {
    let mut ids = [0; SHORT];
    let mut ranks = [NO_RANK; SHORT];
    for (slot, &byte) in ids.iter_mut().zip(piece) {
        *slot = bytes[usize::from(byte)];
    }
    pairs.get_all(&ids[..piece.len()], |at, (rank, _)| ranks[at] = rank);
    for len in (2..piece.len()).rev() {
        let (mut at, mut best) = (0, NO_RANK);
        for (place, &rank) in ranks[..len].iter().enumerate() {
            if rank < best {
                (at, best) = (place, rank);
            }
        }
        if best == NO_RANK {
            return None;
        }
        ids[at] = best;
        for place in at + 1..len {
            ids[place] = ids[place + 1];
            ranks[place] = ranks[place + 1];
        }
        // Between the last two nothing is looked for.
        if len > 2 {
            ranks[at] = if at + 1 < len { pairs.rank(best, ids[at + 1]) } else { NO_RANK };
            if at > 0 {
                ranks[at - 1] = pairs.rank(ids[at - 1], best);
            }
        }
    }
    Some([ids[0], ids[1]])
}

/// The pair that makes each piece, found by doing what the rule says.
fn by_all_pairs(vocab: &Vocab, bytes: &[u32; 256], all: &AllPairs) -> PairTable {
    let any: Vec<_> = long_pieces(vocab)
        .flat_map(|(id, piece)| all.splits(piece, bytes).map(move |pair| (pair, id)))
        .collect();
    let mut table = PairTable::with_capacity(any.len(), vocab.first_character());
    for ((left, right), id) in any {
        table.insert(left, right, id, id);
    }
    let mut pairs = PairTable::with_capacity(vocab.len(), vocab.first_character());
    let mut merger = Merger::default();
    let mut borders = Borders::default();
    for (id, piece) in long_pieces(vocab) {
        start(&mut merger, piece, bytes);
        borders.last = None;
        borders.next.clear();
        borders.next.extend(1..=piece.len());
        merger.run(&table, false, &mut borders);
        if let Some(at) = borders.last
            && let Some((left, right)) = all.pair(piece, at, bytes)
        {
            pairs.insert(left, right, id, id);
        }
    }
    pairs
}

/// All pieces of more than one byte, by rank.
fn long_pieces(vocab: &Vocab) -> impl Iterator<Item = (u32, &[u8])> {
    let pieces = (0..vocab.len() as u32).filter_map(|id| Some((id, vocab.piece(id)?)));
    pieces.filter(|(_, piece)| piece.len() > 1)
}

fn start(merger: &mut Merger, piece: &[u8], bytes: &[u32; 256]) {
    merger.clear();
    piece.iter().for_each(|&byte| merger.push(bytes[usize::from(byte)]));
}

/// Finds the pairs of pieces that a piece may be cut into.
struct AllPairs<'a> {
    vocab: &'a Vocab,
    /// The lengths that pieces have, so that a very long one is not looked up at every byte.
    lengths: Vec<usize>,
}

impl<'a> AllPairs<'a> {
    fn new(vocab: &'a Vocab) -> Self {
        let mut lengths: Vec<usize> = long_pieces(vocab).map(|(_, piece)| piece.len()).collect();
        lengths.push(1);
        lengths.sort_unstable();
        lengths.dedup();
        Self { vocab, lengths }
    }

    fn splits<'b>(
        &'b self,
        piece: &'b [u8],
        bytes: &'b [u32; 256],
    ) -> impl Iterator<Item = (u32, u32)> + 'b {
        let places = self.lengths.iter().copied().take_while(|&at| at < piece.len());
        let places = places.filter(|at| self.lengths.binary_search(&(piece.len() - at)).is_ok());
        places.filter_map(|at| self.pair(piece, at, bytes))
    }

    fn pair(&self, piece: &[u8], at: usize, bytes: &[u32; 256]) -> Option<(u32, u32)> {
        let id = |part: &[u8]| match part {
            &[byte] => Some(bytes[usize::from(byte)]),
            part => self.vocab.id(part),
        };
        Some((id(&piece[..at])?, id(&piece[at..])?))
    }
}

/// Watches where the last two parts of a piece meet.
#[derive(Default)]
struct Borders {
    /// Where a part starts -> where the next one does.
    next: Vec<usize>,
    last: Option<usize>,
}

impl WordObserver for Borders {
    fn merged(&mut self, at: usize, _rank: u32, _id: u32) {
        let right = self.next[at];
        self.next[at] = self.next[right];
        if at == 0 && self.next[0] == self.next.len() {
            self.last = Some(right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// A piece after the other, and nothing ahead.
    fn one_by_one(vocab: &Vocab, bytes: &[u32; 256]) -> (PairTable, bool) {
        let mut pairs = PairTable::with_capacity(vocab.len(), vocab.first_character());
        let mut merger = Merger::default();
        let all = AllPairs::new(vocab);
        for (id, piece) in long_pieces(vocab) {
            start(&mut merger, piece, bytes);
            merger.run(&pairs, true, &mut Silent);
            let made = match merger.ids[..] {
                [left, right] => pairs.insert(left, right, id, id),
                _ => false,
            };
            let late = |part: u32| part > id && vocab.piece(part).is_some_and(|one| one.len() > 1);
            if !made && all.splits(piece, bytes).any(|(left, right)| late(left) || late(right)) {
                return (by_all_pairs(vocab, bytes, &all), false);
            }
        }
        (pairs, true)
    }

    #[test]
    fn what_is_looked_at_ahead_changes_nothing() {
        let mut random = SplitMix64::new(11);
        let mut proper = [0; 2];
        for round in 0..9 {
            let mut vocab = Vocab::new((0..=255).map(|byte| [byte]));
            let bytes = byte_ids(&vocab);
            let (mut merger, mut pairs) =
                (Merger::default(), PairTable::with_capacity(4 * SMALLEST_PART as usize, 0));
            let mut seen = std::collections::HashSet::new();
            let mut below = |n: usize| random.next() as usize % n;
            let letters = 10 + below(40);
            while vocab.len() < 3 * SMALLEST_PART as usize + 1000 {
                // As in training: two neighbours in a text.
                let text: Vec<u8> =
                    (0..40).map(|_| b'a'.wrapping_add(below(letters) as u8)).collect();
                start(&mut merger, &text, &bytes);
                merger.run(&pairs, true, &mut Silent);
                let at = below(merger.ids.len() - 1);
                let (left, right) = (merger.ids[at], merger.ids[at + 1]);
                let text_of = |id| vocab.piece(id).unwrap_or_default();
                let mut piece = [text_of(left), text_of(right)].concat();
                let id = vocab.len() as u32;
                // Some that nothing makes, and in some vocabularies some that only later pieces do.
                if round % 3 > 0 && below(50) == 0 {
                    piece.remove(below(piece.len()));
                } else if round % 3 < 2 || below(500) > 0 {
                    pairs.insert(left, right, id, id);
                }
                if piece.len() > 1 && seen.insert(piece.clone()) {
                    vocab.push(&piece);
                }
            }
            let found = ranked(&vocab, &bytes);
            let expected = one_by_one(&vocab, &bytes);
            assert_eq!((found.pairs.sorted(), found.proper), (expected.0.sorted(), expected.1));
            proper[usize::from(found.proper)] += 1;
        }
        assert!(proper.iter().all(|&times| times > 0), "{proper:?}");
    }
}
