//! The only piece table: id <-> bytes, exact look-up, prefix walk.
//!
//! Rule: knows no model. Pieces are plain bytes here; how they are drawn is a matter of formats.

mod char_tree;
mod order;
pub(crate) mod room;

use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

pub use char_tree::CharTree;
pub(crate) use order::in_order;

/// Pieces, numbered. Ids may have holes.
#[derive(Debug, Clone)]
pub struct Vocab {
    /// The bytes of all pieces, one behind the other.
    bytes: Vec<u8>,
    /// Where piece `id` ends in `bytes`; it starts where the one before it ends. An empty piece is
    /// an id that stands for nothing.
    ends: Vec<usize>,
    /// Ids, found by the hash of their bytes; made when it is first asked for, since not all need it.
    index: OnceLock<HashTable<u32>>,
}

impl PartialEq for Vocab {
    fn eq(&self, other: &Self) -> bool {
        (&self.ends, &self.bytes) == (&other.ends, &other.bytes)
    }
}

impl Eq for Vocab {}

impl Default for Vocab {
    fn default() -> Self {
        Self::with_capacity(0, 0)
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

impl Vocab {
    /// A vocabulary of `pieces`; the id is the position, an empty piece makes a hole. Of several
    /// ids with the same bytes, [`Vocab::id`] finds the first.
    ///
    /// ```
    /// let vocab = jogak::vocab::Vocab::new(["lo", "w", "low"]);
    /// assert_eq!(vocab.id(b"low"), Some(2));
    /// assert_eq!(vocab.piece(1), Some(&b"w"[..]));
    /// assert_eq!(vocab.piece(3), None);
    /// ```
    pub fn new(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let pieces = pieces.into_iter();
        let mut vocab = Self::with_capacity(pieces.size_hint().0, 0);
        pieces.for_each(|piece| vocab.push(piece.as_ref()));
        vocab
    }

    /// An empty vocabulary with room for so many pieces of so many bytes together.
    pub fn with_capacity(pieces: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(pieces),
            index: OnceLock::new(),
        }
    }

    /// The pieces that stand one behind the other in `bytes`, by where each ends: the last with `bytes`, none before the one before
    /// it. An empty piece makes a hole.
    ///
    /// ```
    /// let vocab = jogak::vocab::Vocab::of_parts(b"low".to_vec(), vec![2, 2, 3]);
    /// assert_eq!((vocab.piece(0), vocab.piece(1), vocab.id(b"w")), (Some(&b"lo"[..]), None, Some(2)));
    /// ```
    pub fn of_parts(bytes: Vec<u8>, ends: Vec<usize>) -> Self {
        debug_assert!(ends.is_sorted() && ends.last().map_or(0, |&end| end) == bytes.len());
        Self { bytes, ends, index: OnceLock::new() }
    }

    /// Adds a piece behind all others; an empty one makes a hole.
    #[inline]
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        self.ends.push(self.bytes.len());
        let Self { bytes, ends, index } = self;
        if let Some(index) = index.get_mut() {
            enter((bytes, ends), ends.len() as u32 - 1, index);
        }
    }

    /// Makes ready for [`Vocab::id`], which otherwise does so the first time.
    pub fn make_ready(&self) {
        self.index();
    }

    /// The bytes of all pieces together.
    pub fn total(&self) -> usize {
        self.bytes.len()
    }

    fn index(&self) -> &HashTable<u32> {
        if let Some(index) = self.index.get() {
            return index;
        }
        // Made before the lock is taken: a process forked meanwhile does not find it taken.
        let mut index = HashTable::with_capacity(self.ends.len());
        let pieces = (&self.bytes[..], &self.ends[..]);
        (0..self.ends.len() as u32).for_each(|id| enter(pieces, id, &mut index));
        self.index.get_or_init(|| index)
    }

    /// How many different pieces there are.
    pub fn distinct(&self) -> usize {
        self.index().len()
    }

    /// One more than the largest id.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no id at all.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a piece; None for an id that stands for nothing.
    #[inline]
    pub fn piece(&self, id: u32) -> Option<&[u8]> {
        piece((&self.bytes, &self.ends), id)
    }

    /// The first id of a piece that is one byte or one character; 0 if there is none.
    pub(crate) fn first_character(&self) -> u32 {
        let inner = |&byte: &u8| byte & 0xC0 == 0x80;
        let is_one =
            |piece: &[u8]| piece.len() == 1 || piece.len() < 5 && piece.iter().skip(1).all(inner);
        let is_first = |&id: &u32| self.piece(id).is_some_and(is_one);
        (0..self.len() as u32).find(is_first).unwrap_or(0)
    }

    /// All pieces in the order of their ids; an id that stands for nothing has an empty one.
    ///
    /// ```
    /// let vocab = jogak::vocab::Vocab::new(["lo", "", "w"]);
    /// assert!(vocab.iter().eq([&b"lo"[..], b"", b"w"]));
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }

    /// The id of a piece.
    pub fn id(&self, piece: &[u8]) -> Option<u32> {
        self.index().find(hash(piece), |&id| self.piece(id) == Some(piece)).copied()
    }
}

/// One of the pieces that stand one behind the other, by where each ends.
#[inline]
fn piece<'a>((bytes, ends): (&'a [u8], &[usize]), id: u32) -> Option<&'a [u8]> {
    let id = id as usize;
    let end = *ends.get(id)?;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    (start < end).then(|| &bytes[start..end])
}

/// Enters a piece into the index, unless there is one of the same bytes.
fn enter(pieces: (&[u8], &[usize]), id: u32, index: &mut HashTable<u32>) {
    let Some(bytes) = piece(pieces, id) else { return };
    let equal = |&other: &u32| piece(pieces, other) == Some(bytes);
    let rehash = |&other: &u32| hash(piece(pieces, other).unwrap_or_default());
    index.entry(hash(bytes), equal, rehash).or_insert(id);
}

/// Pieces as a tree of bytes, to find all that start at a place of a text.
#[derive(Debug, Clone, Default)]
pub struct PrefixTree {
    /// (node, byte) -> node; the root is 0.
    next: FxHashMap<(u32, u8), u32>,
    /// Node -> the id that ends there, plus one; 0 for none.
    ends: Vec<u32>,
}

impl PrefixTree {
    /// A tree of (bytes, id). Cost: linear in the bytes.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], u32)>) -> Self {
        let mut tree = Self { next: FxHashMap::default(), ends: vec![0] };
        for (piece, id) in pieces {
            let mut node = 0;
            for &byte in piece {
                let fresh = tree.ends.len() as u32;
                node = *tree.next.entry((node, byte)).or_insert(fresh);
                if node == fresh {
                    tree.ends.push(0);
                }
            }
            tree.ends[node as usize] = id + 1;
        }
        tree
    }

    /// Calls `found(length, id)` for every piece that `text` starts with, shortest first.
    ///
    /// ```
    /// let tree = jogak::vocab::PrefixTree::new([(&b"lo"[..], 0), (b"low", 1)].into_iter());
    /// let mut found = Vec::new();
    /// tree.prefixes(b"lower", |length, id| found.push((length, id)));
    /// assert_eq!(found, [(2, 0), (3, 1)]);
    /// ```
    pub fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let mut node = 0;
        for (at, &byte) in text.iter().enumerate() {
            match self.next.get(&(node, byte)) {
                None => return,
                Some(&next) => node = next,
            }
            if let Some(id) = self.ends[node as usize].checked_sub(1) {
                found(at + 1, id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_come_later_are_found() {
        let mut vocab = Vocab::new(["a", "", "b"]);
        assert_eq!(vocab.id(b"c"), None);
        for piece in ["", "c", "a"] {
            vocab.push(piece.as_bytes());
        }
        let ids = ["a", "b", "c", ""].map(|piece| vocab.id(piece.as_bytes()));
        assert_eq!(ids, [Some(0), Some(2), Some(4), None]);
        assert_eq!((vocab.distinct(), vocab.len()), (3, 6));
        let twin = vocab.clone();
        assert_eq!((twin.id(b"c"), twin.piece(5)), (Some(4), Some(&b"a"[..])));
    }
}
