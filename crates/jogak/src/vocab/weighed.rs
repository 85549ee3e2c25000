//! The tree of pieces with their scores in it, for those who look at the score of whatever they find.
//!
//! A vocabulary's scores are more than the fast memory of a processor keeps, and so is its tree. Side by side they
//! are waited for once.

use super::double_array::{BASE, BASE_BITS, DoubleArray, LABEL, VALUE_SHIFT};

/// As [`DoubleArray`], with a score for each piece.
#[derive(Debug)]
pub(crate) struct Weighed {
    slots: Vec<Slot>,
    /// For characters of three bytes, the slots that they lead to, or [`NOWHERE`]; may be empty.
    characters: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// As there.
    packed: u64,
    /// Of the piece that ends here; below all others if there is none.
    score: f64,
}

const NOWHERE: u64 = 0;

impl Weighed {
    /// The same tree; `score` tells that of an id.
    pub(crate) fn new(tree: &DoubleArray, score: impl Fn(u32) -> f64) -> Self {
        let slot = |&packed: &u64| {
            let piece = ((packed >> VALUE_SHIFT) as u32).checked_sub(1);
            Slot { packed, score: piece.map_or(f64::NEG_INFINITY, &score) }
        };
        let (slots, characters) = tree.lists();
        Self {
            slots: slots.iter().map(slot).collect(),
            characters: characters.iter().map(slot).collect(),
        }
    }

    /// Calls `each(length, value, score)` for every node on the way down: the id plus one, or 0 where no piece ends,
    /// and its score. Of a character that is looked up at once only the last node is told.
    #[inline(always)]
    pub(crate) fn nodes(&self, text: &[u8], mut each: impl FnMut(usize, u32, f64)) {
        let mut base = self.slots[0].packed & BASE;
        let mut done = 0;
        if let &[a @ 0xE0..0xF0, b, c, ..] = text
            && !self.characters.is_empty()
        {
            let code = u32::from(a & 0x0F) << 12 | u32::from(b & 0x3F) << 6 | u32::from(c & 0x3F);
            let Slot { packed, score } = self.characters[code as usize];
            if packed == NOWHERE {
                return;
            }
            each(3, (packed >> VALUE_SHIFT) as u32, score);
            base = packed & BASE;
            done = 3;
        }
        for (at, &byte) in text.iter().enumerate().skip(done) {
            let Slot { packed, score } = self.slots[(base ^ u64::from(byte)) as usize];
            if packed >> BASE_BITS & LABEL != u64::from(byte) {
                return;
            }
            each(at + 1, (packed >> VALUE_SHIFT) as u32, score);
            base = packed & BASE;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;

    #[test]
    fn finds_what_the_tree_finds_with_its_score() {
        let pieces = ["가", "가나", "각a", "中", "é", "a", "ab", "abcd", "a가", "🐑", "\u{ffff}"];
        let tree = DoubleArray::new(pieces.iter().map(|piece| piece.as_bytes()).zip(0..)).unwrap();
        for tree in [tree.clone(), tree.with_characters()] {
            let weighed = Weighed::new(&tree, |id| -f64::from(id) - 1.0);
            for text in
                ["가나다", "각ab", "abcde", "abc", "éa", "🐑", "\u{ffff}가", "b", "", "中中"]
            {
                let (mut expected, mut found) = (Vec::new(), Vec::new());
                tree.prefixes(text.as_bytes(), |length, id| expected.push((length, id)));
                weighed.nodes(text.as_bytes(), |length, value, score| match value {
                    0 => assert_eq!(score, f64::NEG_INFINITY),
                    _ => {
                        assert_eq!(score, -f64::from(value));
                        found.push((length, value - 1));
                    }
                });
                assert_eq!(found, expected, "{text}");
            }
        }
    }
}
