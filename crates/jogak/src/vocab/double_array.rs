//! Pieces as a tree of bytes in one array, to find all that start at a place of a text.
//!
//! A node is a slot. Its child by byte `b` is slot `base ^ b`, if the label there is `b`; as no two nodes
//! have the same base, the label alone tells whose child it is (Aoe 1989; one 64-bit load a step).

use crate::error::{Error, Result};

/// Bits of a slot, from the lowest: base, label, value.
const BASE_BITS: u32 = 28;
const LABEL_BITS: u32 = 9;
const BASE: u64 = (1 << BASE_BITS) - 1;
const LABEL: u64 = (1 << LABEL_BITS) - 1;
/// The label of a slot that is nobody's child.
const NO_LABEL: u64 = 256;
/// Values are ids plus one; 0 for a node where no piece ends.
const VALUE_SHIFT: u32 = BASE_BITS + LABEL_BITS;
const LARGEST_ID: u32 = (1 << (64 - VALUE_SHIFT)) - 2;
const FREE: u64 = NO_LABEL << BASE_BITS;
/// Slots are added in blocks, so that `base ^ byte` is always inside.
const BLOCK: usize = 256;
/// How many of the last blocks are searched for room. More saves memory and costs time.
const SEARCHED: usize = 32;

/// A set of byte strings with an id each.
#[derive(Debug, Clone)]
pub struct DoubleArray {
    slots: Vec<u64>,
}

impl DoubleArray {
    /// A tree of (bytes, id), the first id of bytes that stand twice. Empty bytes are left out. Cost:
    /// sorts them; then linear in their bytes.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for an id above 134 million, or a tree of more than 268 million slots.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], u32)>) -> Result<Self> {
        let mut pieces: Vec<_> = pieces.filter(|(piece, _)| !piece.is_empty()).collect();
        pieces.sort_by_key(|&(piece, _)| piece); // stable, so the first id stays in front
        pieces.dedup_by_key(|&mut (piece, _)| piece);
        if let Some(&(_, id)) = pieces.iter().find(|&&(_, id)| id > LARGEST_ID) {
            let (size, limit) = (u64::from(id), u64::from(LARGEST_ID));
            return Err(Error::TooLarge { what: "ids in a tree of pieces", size, limit });
        }
        // Slots below 256 stay free, but for the root in slot 0: base 0 has no children.
        let mut builder = Builder { slots: vec![FREE; BLOCK], based: vec![true; BLOCK], from: 0 };
        let mut todo = vec![(0, 0, pieces.len(), 0)];
        while let Some((slot, from, to, depth)) = todo.pop() {
            builder.node(&pieces, slot, from, to, depth, &mut todo)?;
        }
        Ok(Self { slots: builder.slots })
    }

    /// Calls `found(length, id)` for every piece that `text` starts with, shortest first. Cost: one
    /// step for each byte up to the longest match, and one more.
    ///
    /// ```
    /// let pieces = [(&b"lo"[..], 0), (b"low", 1)];
    /// let tree = jogak::vocab::DoubleArray::new(pieces.into_iter())?;
    /// let mut found = Vec::new();
    /// tree.prefixes(b"lower", |length, id| found.push((length, id)));
    /// assert_eq!(found, [(2, 0), (3, 1)]);
    /// # Ok::<(), jogak::Error>(())
    /// ```
    #[inline]
    pub fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let mut base = self.slots[0] & BASE;
        for (at, &byte) in text.iter().enumerate() {
            let slot = self.slots[(base ^ u64::from(byte)) as usize];
            if slot >> BASE_BITS & LABEL != u64::from(byte) {
                return;
            }
            let value = slot >> VALUE_SHIFT;
            if value != 0 {
                found(at + 1, value as u32 - 1);
            }
            base = slot & BASE;
        }
    }

    /// How much memory the tree takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.len() * size_of::<u64>()
    }
}

struct Builder {
    slots: Vec<u64>,
    /// Whether some node has this base.
    based: Vec<bool>,
    /// The first slot that may be free.
    from: usize,
}

/// A node that waits for its children: slot, range of pieces below it, length of its text.
type Todo = (usize, usize, usize, usize);

impl Builder {
    /// Gives the node in `slot` its value and its children, which go to `todo`.
    fn node(
        &mut self,
        pieces: &[(&[u8], u32)],
        slot: usize,
        mut from: usize,
        to: usize,
        depth: usize,
        todo: &mut Vec<Todo>,
    ) -> Result<()> {
        if from < to && pieces[from].0.len() == depth && depth > 0 {
            self.slots[slot] |= (u64::from(pieces[from].1) + 1) << VALUE_SHIFT;
            from += 1;
        }
        let mut labels = Vec::new();
        let first_child = todo.len();
        while from < to {
            let label = pieces[from].0[depth];
            let end = from + pieces[from..to].partition_point(|(piece, _)| piece[depth] == label);
            labels.push(label);
            todo.push((0, from, end, depth + 1));
            from = end;
        }
        if labels.is_empty() {
            return Ok(());
        }
        let base = self.room(&labels)?;
        self.based[base] = true;
        self.slots[slot] |= base as u64;
        for (child, &label) in todo[first_child..].iter_mut().zip(&labels) {
            child.0 = base ^ usize::from(label);
            self.slots[child.0] = u64::from(label) << BASE_BITS;
        }
        Ok(())
    }

    /// A base that no node has, whose slots for all labels are free.
    fn room(&mut self, labels: &[u8]) -> Result<usize> {
        let free = |slots: &[u64], at: usize| slots[at] == FREE;
        let oldest = self.slots.len().saturating_sub(SEARCHED * BLOCK).max(BLOCK);
        self.from = self.from.max(oldest);
        while self.from < self.slots.len() && !free(&self.slots, self.from) {
            self.from += 1;
        }
        for at in self.from..self.slots.len() {
            if !free(&self.slots, at) {
                continue;
            }
            let base = at ^ usize::from(labels[0]);
            if !self.based[base]
                && labels[1..].iter().all(|&label| free(&self.slots, base ^ usize::from(label)))
            {
                return Ok(base);
            }
        }
        let base = self.slots.len();
        if base + BLOCK > 1 << BASE_BITS {
            let (size, limit) = ((base + BLOCK) as u64, 1 << BASE_BITS);
            return Err(Error::TooLarge { what: "a tree of pieces", size, limit });
        }
        self.slots.resize(base + BLOCK, FREE);
        self.based.resize(base + BLOCK, false);
        Ok(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn finds_what_a_plain_search_finds() {
        let mut random = SplitMix64::new(1);
        let mut word = |letters: u64, longest: u64| -> Vec<u8> {
            (0..random.next() % (longest + 1)).map(|_| (random.next() % letters) as u8).collect()
        };
        for letters in [1, 2, 5, 256] {
            let pieces: Vec<Vec<u8>> = (0..700).map(|_| word(letters, 9)).collect();
            let numbered = pieces.iter().map(Vec::as_slice).zip(0..);
            let tree = DoubleArray::new(numbered).unwrap();
            for text in pieces.iter().cloned().chain((0..300).map(|_| word(letters, 20))) {
                let mut found = Vec::new();
                tree.prefixes(&text, |length, id| found.push((length, id)));
                let expected: Vec<_> = (1..=text.len())
                    .filter_map(|length| {
                        let id = pieces.iter().position(|piece| *piece == text[..length])?;
                        Some((length, id as u32))
                    })
                    .collect();
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn an_empty_tree_finds_nothing() {
        let tree = DoubleArray::new([(&b""[..], 3)].into_iter()).unwrap();
        tree.prefixes(b"\0abc", |_, _| panic!("found a piece"));
        assert_eq!(tree.bytes(), 2048);
    }
}
