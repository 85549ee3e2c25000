//! Pieces as a tree of bytes in one array, to find all that start at a place of a text.
//!
//! A node is a slot. Its child by byte `b` is slot `base ^ b`, if the label there is `b`; as no two nodes
//! have the same base, the label alone tells whose child it is (Aoe 1989; one 64-bit load a step).

use super::order::in_order;
use super::room::{BLOCK, Room};
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
/// A set of byte strings with an id each.
#[derive(Debug, Clone)]
pub struct DoubleArray {
    slots: Vec<u64>,
    /// For characters of three bytes, the slots that they lead to, or 0; may be empty.
    characters: Vec<u64>,
}

impl DoubleArray {
    /// A tree of (bytes, id), the first id of bytes that stand twice. Empty bytes are left out. Cost:
    /// sorts them; then linear in their bytes.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for an id above 134 million, or a tree of more than 268 million slots.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], u32)>) -> Result<Self> {
        let mut pieces: Vec<_> = in_order(pieces.filter(|(piece, _)| !piece.is_empty())).collect();
        pieces.dedup_by_key(|&mut (piece, _)| piece);
        if let Some(&(_, id)) = pieces.iter().find(|&&(_, id)| id > LARGEST_ID) {
            let (size, limit) = (u64::from(id), u64::from(LARGEST_ID));
            return Err(Error::TooLarge { what: "ids in a tree of pieces", size, limit });
        }
        // Slots below 256 stay free, but for the root in slot 0: base 0 has no children.
        let mut builder = Builder { slots: vec![FREE; BLOCK], room: Room::new() };
        let mut todo = vec![(0, 0, pieces.len(), 0)];
        while let Some((slot, from, to, depth)) = todo.pop() {
            builder.node(&pieces, slot, from, to, depth, &mut todo)?;
        }
        Ok(Self { slots: builder.slots, characters: Vec::new() })
    }

    /// The same, faster where many pieces begin with characters of three bytes. Only for texts in UTF-8;
    /// unless a piece ends within such a character.
    pub fn with_characters(mut self) -> Self {
        let mut characters = vec![0; 1 << 16];
        for code in (0x800..=0xFFFF).filter_map(char::from_u32) {
            let mut utf8 = [0; 4];
            let mut slot = self.slots[0];
            for (at, &byte) in code.encode_utf8(&mut utf8).as_bytes().iter().enumerate() {
                if at > 0 && slot >> VALUE_SHIFT != 0 {
                    return self;
                }
                slot = self.slots[((slot & BASE) ^ u64::from(byte)) as usize];
                if slot >> BASE_BITS & LABEL != u64::from(byte) {
                    slot = 0;
                    break;
                }
            }
            characters[code as usize] = slot;
        }
        self.characters = characters;
        self
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
        self.nodes(text, |length, value| {
            if value != 0 {
                found(length, value - 1);
            }
        });
    }

    /// The same for every node on the way down: the id plus one, or 0 where no piece ends. Of a character
    /// that is looked up at once only the last node is told.
    #[inline(always)]
    pub(crate) fn nodes(&self, text: &[u8], mut each: impl FnMut(usize, u32)) {
        let mut base = self.slots[0] & BASE;
        let mut done = 0;
        if let &[a @ 0xE0..0xF0, b, c, ..] = text
            && !self.characters.is_empty()
        {
            let code = u32::from(a & 0x0F) << 12 | u32::from(b & 0x3F) << 6 | u32::from(c & 0x3F);
            let slot = self.characters[code as usize];
            if slot == 0 {
                return;
            }
            each(3, (slot >> VALUE_SHIFT) as u32);
            base = slot & BASE;
            done = 3;
        }
        for (at, &byte) in text.iter().enumerate().skip(done) {
            let slot = self.slots[(base ^ u64::from(byte)) as usize];
            if slot >> BASE_BITS & LABEL != u64::from(byte) {
                return;
            }
            each(at + 1, (slot >> VALUE_SHIFT) as u32);
            base = slot & BASE;
        }
    }

    /// How much memory the tree takes, in bytes.
    pub fn bytes(&self) -> usize {
        (self.slots.len() + self.characters.len()) * size_of::<u64>()
    }
}

struct Builder {
    slots: Vec<u64>,
    room: Room,
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
        let base = self.room.take(&labels);
        let end = (base / BLOCK + 1) * BLOCK;
        if end > self.slots.len() {
            if end > 1 << BASE_BITS {
                let (size, limit) = (end as u64, 1 << BASE_BITS);
                return Err(Error::TooLarge { what: "a tree of pieces", size, limit });
            }
            self.slots.resize(end, FREE);
        }
        self.slots[slot] |= base as u64;
        for (child, &label) in todo[first_child..].iter_mut().zip(&labels) {
            child.0 = base ^ usize::from(label);
            self.slots[child.0] = u64::from(label) << BASE_BITS;
        }
        Ok(())
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
    fn characters_are_a_short_way() {
        let pieces = ["가", "가나", "각a", "中", "é", "a가", "🐑", "\u{ffff}"];
        let tree = DoubleArray::new(pieces.iter().map(|piece| piece.as_bytes()).zip(0..)).unwrap();
        let fast = tree.clone().with_characters();
        assert!(!fast.characters.is_empty());
        for code in (0..0x11_0000).filter_map(char::from_u32) {
            for text in [format!("{code}"), format!("{code}a나"), format!("a{code}")] {
                let found = |tree: &DoubleArray| {
                    let mut found = Vec::new();
                    tree.prefixes(text.as_bytes(), |length, id| found.push((length, id)));
                    found
                };
                assert_eq!(found(&fast), found(&tree), "{text}");
            }
        }
        let pieces = [&b"\xEA\xB0"[..], "가".as_bytes()];
        let tree = DoubleArray::new(pieces.into_iter().zip(0..)).unwrap().with_characters();
        assert!(tree.characters.is_empty());
    }

    #[test]
    fn an_empty_tree_finds_nothing() {
        let tree = DoubleArray::new([(&b""[..], 3)].into_iter()).unwrap();
        tree.prefixes(b"\0abc", |_, _| panic!("found a piece"));
        assert_eq!(tree.bytes(), 2048);
    }
}
