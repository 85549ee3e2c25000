//! Merges of a vocabulary whose ids are the ranks, as tiktoken's files are.
//!
//! The rule is tiktoken's: two neighbours merge if their joined bytes are a piece, the smallest product
//! first. What happens inside a span does not depend on what stands around it, as long as nothing
//! grows across its border. So every piece is made of one pair only: the two parts that are left of its
//! own bytes before they become one. Ordinary files have ranks in the order of training, so that
//! smaller ranks leave those two parts; where they leave more of some piece, and a part of greater rank
//! may come in between, all pairs are looked at.

use super::merge::Merger;
use super::pairs::PairTable;
use crate::observe::{Silent, WordObserver};
use crate::symbols::UNKNOWN;
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
    let mut ids = [UNKNOWN; 256];
    for byte in 0..=255u8 {
        let none = vocab.len() as u32 + u32::from(byte);
        ids[usize::from(byte)] = vocab.id(&[byte]).unwrap_or(none);
    }
    ids
}

/// The merges of pieces that are made of these bytes.
pub(super) fn ranked(vocab: &Vocab, bytes: &[u32; 256]) -> Ranked {
    let mut pairs = PairTable::with_capacity(vocab.len());
    let mut merger = Merger::default();
    let mut all: Option<AllPairs> = None;
    for (id, piece) in long_pieces(vocab) {
        start(&mut merger, piece, bytes);
        merger.run(&pairs, true, &mut Silent);
        if let [left, right] = merger.ids[..] {
            pairs.insert(left, right, id, id);
        } else {
            // Only a part that is made later can bring the others together.
            let all = all.get_or_insert_with(|| AllPairs::new(vocab));
            let late = |part: u32| part > id && vocab.piece(part).is_some_and(|one| one.len() > 1);
            if all.splits(piece, bytes).any(|(left, right)| late(left) || late(right)) {
                return Ranked { pairs: by_all_pairs(vocab, bytes, all), proper: false };
            }
        }
    }
    Ranked { pairs, proper: true }
}

/// The pair that makes each piece, found by doing what the rule says.
fn by_all_pairs(vocab: &Vocab, bytes: &[u32; 256], all: &AllPairs) -> PairTable {
    let any: Vec<_> = long_pieces(vocab)
        .flat_map(|(id, piece)| all.splits(piece, bytes).map(move |pair| (pair, id)))
        .collect();
    let mut table = PairTable::with_capacity(any.len());
    for ((left, right), id) in any {
        table.insert(left, right, id, id);
    }
    let mut pairs = PairTable::with_capacity(vocab.len());
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
