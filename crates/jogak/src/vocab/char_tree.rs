//! Pieces as a tree of characters in one array, to find all that start at a place of a text.
//!
//! A node is a slot. Its child by the character of number `n` is slot `base + n`, if the number there is `n`; as no two nodes
//! have the same base, the number alone tells whose child it is (Aoe 1989; one 64-bit load a step). Characters are numbered
//! by how often pieces have them, so that children lie close together, and a step is a character in every script.

use super::order::in_order;
use crate::error::{Error, Result};

/// Bits of a slot, from the lowest: base, number, value.
const BASE_BITS: u32 = 24;
const NUMBER_BITS: u32 = 17;
const BASE: u64 = (1 << BASE_BITS) - 1;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
/// Values are ids plus one; 0 for a node where no piece ends.
const VALUE_SHIFT: u32 = BASE_BITS + NUMBER_BITS;
const LARGEST_ID: u32 = (1 << (64 - VALUE_SHIFT)) - 2;
/// No character has this number: that of a slot that is nobody's child.
const NO_NUMBER: u64 = NUMBER;
const FREE: u64 = NO_NUMBER << BASE_BITS;
/// Characters to a page.
const PAGE: usize = 256;

/// Characters by number, from 1 on; 0 is all that no piece has.
#[derive(Debug, Clone)]
struct Numbers {
    /// Which page of `numbers` is that of a page of characters; the first is empty.
    pages: Box<[u16; 0x11_0000 / PAGE]>,
    numbers: Vec<u32>,
}

impl Numbers {
    fn new<'a>(pieces: impl Iterator<Item = &'a str>) -> Result<Self> {
        let mut all = Self { pages: Box::new([0; 0x11_0000 / PAGE]), numbers: vec![0; PAGE] };
        // First how often each comes.
        for piece in pieces {
            for character in piece.chars() {
                *all.entry(character) += 1;
            }
        }
        let mut counted: Vec<(u32, usize)> = (0..)
            .zip(&all.numbers)
            .filter(|&(_, &count)| count != 0)
            .map(|(place, &count)| (u32::MAX - count, place))
            .collect();
        if counted.len() >= NO_NUMBER as usize {
            let (size, limit) = (counted.len() as u64, NO_NUMBER - 1);
            return Err(Error::TooLarge { what: "characters of a tree of pieces", size, limit });
        }
        counted.sort_unstable();
        for (number, (_, place)) in (1..).zip(counted) {
            all.numbers[place] = number;
        }
        Ok(all)
    }

    fn entry(&mut self, character: char) -> &mut u32 {
        let code = character as usize;
        let page = &mut self.pages[code / PAGE];
        if *page == 0 {
            *page = (self.numbers.len() / PAGE) as u16;
            self.numbers.resize(self.numbers.len() + PAGE, 0);
        }
        &mut self.numbers[usize::from(*page) * PAGE + code % PAGE]
    }

    #[inline(always)]
    fn of(&self, character: char) -> u32 {
        let code = character as usize;
        self.numbers[usize::from(self.pages[code / PAGE]) * PAGE + code % PAGE]
    }
}

/// A node of a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node(u64);

impl Node {
    /// The id plus one of the piece that ends there, or 0.
    #[inline(always)]
    pub(crate) fn value(self) -> u32 {
        (self.0 >> VALUE_SHIFT) as u32
    }
}

/// A set of texts with an id each.
#[derive(Debug, Clone)]
pub struct CharTree {
    slots: Vec<u64>,
    numbers: Numbers,
}

impl CharTree {
    /// A tree of (text, id), the first id of texts that stand twice. What is empty, or not UTF-8, is left out: no text begins
    /// with it. Cost: sorts them; then linear in their characters.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for an id above 8 million, or a tree of more than 131,000 different characters or 16 million slots, which is
    /// 128 MiB.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], u32)>) -> Result<Self> {
        let pieces = in_order(pieces.filter(|(piece, _)| !piece.is_empty()));
        let mut pieces: Vec<(&str, u32)> =
            pieces.filter_map(|(piece, id)| Some((std::str::from_utf8(piece).ok()?, id))).collect();
        pieces.dedup_by_key(|&mut (piece, _)| piece);
        if let Some(&(_, id)) = pieces.iter().find(|&&(_, id)| id > LARGEST_ID) {
            let (size, limit) = (u64::from(id), u64::from(LARGEST_ID));
            return Err(Error::TooLarge { what: "ids in a tree of pieces", size, limit });
        }
        let numbers = Numbers::new(pieces.iter().map(|&(piece, _)| piece))?;
        // The root is in slot 0, which is nobody's child.
        let mut builder = Builder { slots: vec![FREE], room: Room::new(), numbers };
        let mut todo = vec![(0, 0, pieces.len(), 0)];
        let mut labels = Vec::new();
        while let Some(node) = todo.pop() {
            builder.node(&pieces, node, &mut todo, &mut labels)?;
        }
        Ok(Self { slots: builder.slots, numbers: builder.numbers })
    }

    /// The number of a character, by which [`CharTree::child`] knows it.
    #[inline(always)]
    pub(crate) fn number(&self, character: char) -> u32 {
        self.numbers.of(character)
    }

    /// Where all begin.
    #[inline(always)]
    pub(crate) fn root(&self) -> Node {
        Node(self.slots[0])
    }

    /// The child of a node by the number of a character.
    #[inline(always)]
    pub(crate) fn child(&self, node: Node, number: u32) -> Option<Node> {
        let at = (node.0 & BASE) as usize + number as usize;
        let slot = *self.slots.get(at)?;
        (slot >> BASE_BITS & NUMBER == u64::from(number)).then_some(Node(slot))
    }

    /// Calls `found(length, id)` for every piece that `text` starts with, shortest first; lengths are in bytes. Cost: one
    /// step for each character up to the longest match, and one more.
    ///
    /// ```
    /// let pieces = [(&b"lo"[..], 0), (b"low", 1)];
    /// let tree = jogak::vocab::CharTree::new(pieces.into_iter())?;
    /// let mut found = Vec::new();
    /// tree.prefixes("lower", |length, id| found.push((length, id)));
    /// assert_eq!(found, [(2, 0), (3, 1)]);
    /// # Ok::<(), jogak::Error>(())
    /// ```
    #[inline]
    pub fn prefixes(&self, text: &str, mut found: impl FnMut(usize, u32)) {
        let (mut node, mut length) = (self.root(), 0);
        for character in text.chars() {
            let Some(child) = self.child(node, self.number(character)) else { return };
            length += character.len_utf8();
            if let Some(id) = child.value().checked_sub(1) {
                found(length, id);
            }
            node = child;
        }
    }

    /// How much memory the tree takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.len() * size_of::<u64>()
            + self.numbers.numbers.len() * size_of::<u32>()
            + self.numbers.pages.len() * size_of::<u16>()
    }
}

struct Builder {
    slots: Vec<u64>,
    room: Room,
    numbers: Numbers,
}

/// A node that waits for its children: slot, range of pieces below it, bytes of its text.
type Todo = (usize, usize, usize, usize);

impl Builder {
    /// Gives a node its value and its children, which go to `todo`. `labels` is room.
    fn node(
        &mut self,
        pieces: &[(&str, u32)],
        (slot, mut from, to, depth): Todo,
        todo: &mut Vec<Todo>,
        labels: &mut Vec<u32>,
    ) -> Result<()> {
        if from < to && pieces[from].0.len() == depth && depth > 0 {
            self.slots[slot] |= (u64::from(pieces[from].1) + 1) << VALUE_SHIFT;
            from += 1;
        }
        labels.clear();
        let first_child = todo.len();
        while from < to {
            let text = &pieces[from].0[depth..];
            let Some(character) = text.chars().next() else { break };
            let label = &text[..character.len_utf8()];
            let end = from
                + pieces[from..to].partition_point(|(piece, _)| piece[depth..].starts_with(label));
            labels.push(self.numbers.of(character));
            todo.push((0, from, end, depth + label.len()));
            from = end;
        }
        if labels.is_empty() {
            return Ok(());
        }
        let base = self.room.take(labels);
        let end = base + labels.iter().max().map_or(0, |&label| label as usize) + 1;
        if end > 1 << BASE_BITS {
            let (size, limit) = (end as u64, 1 << BASE_BITS);
            return Err(Error::TooLarge { what: "a tree of pieces", size, limit });
        }
        if end > self.slots.len() {
            self.slots.resize(end, FREE);
        }
        self.slots[slot] |= base as u64;
        for (child, &label) in todo[first_child..].iter_mut().zip(&*labels) {
            child.0 = base + label as usize;
            self.slots[child.0] = u64::from(label) << BASE_BITS;
        }
        Ok(())
    }
}

/// What is free in an array while it is filled.
///
/// In words: for the child of the smallest number, 64 slots in a row are asked at once. The free ones are a set of bits; where
/// the slots that the other children would then have are free is the same set, further on; and what all share is room. Nodes
/// with many children hardly find room where those with few still do, so each kind goes on where it last found some.
struct Room {
    /// Slots that are taken, by bit; all behind them are free.
    taken: Vec<u64>,
    /// Slots that some node has as its base, and the first one: base 0 is that of leaves.
    bases: Vec<u64>,
    /// Where each kind goes on: a word of `taken`.
    from: [usize; KINDS],
}

/// Kinds of nodes: of one child, of two or three, of up to seven, and so on.
const KINDS: usize = NUMBER_BITS as usize + 1;

/// 64 bits of a set from one on; there is nothing behind the set.
fn bits(set: &[u64], from: usize) -> u64 {
    let word = |at: usize| set.get(at).copied().unwrap_or(0);
    let low = word(from / 64) >> (from % 64);
    low | word(from / 64 + 1).unbounded_shl(64 - (from % 64) as u32)
}

fn add(set: &mut Vec<u64>, bit: usize) {
    if set.len() <= bit / 64 {
        set.resize(bit / 64 + 1, 0);
    }
    set[bit / 64] |= 1 << (bit % 64);
}

impl Room {
    /// All but the root's slot is free.
    fn new() -> Self {
        Self { taken: vec![1], bases: vec![1], from: [0; KINDS] }
    }

    /// A base for a node with children of these numbers, at least one, all different and above 0. It is then taken, and so are
    /// their slots.
    fn take(&mut self, numbers: &[u32]) -> usize {
        let first = numbers.iter().min().map_or(0, |&number| number as usize);
        let Self { taken, bases, from } = self;
        let from = &mut from[numbers.len().ilog2() as usize % KINDS];
        // The first child is in no slot up to its number.
        let mut word = (*from).max((first + 1) / 64);
        let base = loop {
            let at = word * 64;
            let mut fits = match at.checked_sub(first) {
                Some(base) => !bits(bases, base),
                None => (!bits(bases, 0)).unbounded_shl((first - at) as u32),
            };
            for &number in numbers {
                fits &= !bits(taken, at + number as usize - first);
                if fits == 0 {
                    break;
                }
            }
            if fits != 0 {
                break at + fits.trailing_zeros() as usize - first;
            }
            word += 1;
        };
        *from = word;
        add(bases, base);
        numbers.iter().for_each(|&number| add(taken, base + number as usize));
        base
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use std::collections::HashSet;

    #[test]
    fn finds_what_a_plain_search_finds() {
        let mut random = SplitMix64::new(1);
        let all = ['a', 'b', '\0', 'é', 'ж', '가', '각', '中', '▁', '\u{ffff}', '🐑', '\u{10ffff}'];
        let mut word = |letters: u64, longest: u64| -> String {
            let mut letter = || random.next() % letters;
            (0..letter() % (longest + 1)).map(|_| all[letter() as usize]).collect()
        };
        for letters in [1, 2, 5, all.len() as u64] {
            let pieces: Vec<String> = (0..700).map(|_| word(letters, 9)).collect();
            let numbered = pieces.iter().map(String::as_bytes).zip(0..);
            let tree = CharTree::new(numbered).unwrap();
            for text in pieces.iter().cloned().chain((0..300).map(|_| word(letters, 20) + "z")) {
                let mut found = Vec::new();
                tree.prefixes(&text, |length, id| found.push((length, id)));
                let expected: Vec<_> = (1..=text.len())
                    .filter_map(|length| {
                        let text = text.get(..length)?;
                        let id = pieces.iter().position(|piece| piece == text)?;
                        Some((length, id as u32))
                    })
                    .collect();
                assert_eq!(found, expected);
            }
        }
    }

    /// Of all characters, only those that pieces have are found, and each is itself.
    #[test]
    fn tells_all_characters_apart() {
        let odd = |code: &u32| code % 3 == 1;
        let codes = || (0..0x11_0000).step_by(11).filter(odd);
        let pieces: Vec<String> = codes().filter_map(char::from_u32).map(String::from).collect();
        let tree = CharTree::new(pieces.iter().map(String::as_bytes).zip(0..)).unwrap();
        let mut all = 0;
        for code in (0..0x11_0000).filter_map(char::from_u32) {
            let mut found = Vec::new();
            tree.prefixes(&format!("{code}{code}"), |length, id| found.push((length, id)));
            let is_piece = u32::from(code) % 11 == 0 && odd(&u32::from(code));
            assert_eq!(found.len(), usize::from(is_piece));
            assert!(found.iter().all(|&(_, id)| pieces[id as usize] == String::from(code)));
            all += found.len();
        }
        assert_eq!(all, pieces.len());
    }

    #[test]
    fn what_is_not_text_is_left_out() {
        let pieces = [&b"\xEA\xB0"[..], b"", "가".as_bytes(), b"a\xFF", "가".as_bytes()];
        let tree = CharTree::new(pieces.into_iter().zip(0..)).unwrap();
        let mut found = Vec::new();
        tree.prefixes("가나", |length, id| found.push((length, id)));
        assert_eq!(found, [(3, 2)]);
        tree.prefixes("a", |_, _| panic!("found a piece"));
        let tree = CharTree::new([(&b""[..], 3)].into_iter()).unwrap();
        tree.prefixes("\0abc", |_, _| panic!("found a piece"));
    }

    /// Hardly a slot is free where pieces are as in a language: few characters are in most of them.
    #[test]
    fn lies_close_together() {
        let mut random = SplitMix64::new(3);
        let mut letter = || {
            let rank = 1.0 / (0.0005 + random.fraction());
            char::from_u32(0xAC00 + rank as u32).unwrap()
        };
        let pieces: Vec<String> =
            (0..20_000).map(|at| (0..1 + at % 7).map(|_| letter()).collect()).collect();
        let tree = CharTree::new(pieces.iter().map(String::as_bytes).zip(0..)).unwrap();
        let free = tree.slots.iter().filter(|&&slot| slot >> BASE_BITS & NUMBER == NO_NUMBER);
        let (free, all) = (free.count(), tree.slots.len());
        assert!(all > 20_000 && free * 20 < all, "{free} of {all}");
    }

    #[test]
    fn ids_have_a_limit() {
        let tree = |id| CharTree::new([(&b"a"[..], id)].into_iter());
        let mut found = Vec::new();
        tree(LARGEST_ID).unwrap().prefixes("a", |_, id| found.push(id));
        assert_eq!(found, [LARGEST_ID]);
        assert!(matches!(tree(LARGEST_ID + 1), Err(Error::TooLarge { .. })));
    }

    /// No slot and no base is given twice, and 64 slots at once are as good as one by one.
    #[test]
    fn room_is_found_as_slot_by_slot() {
        let mut random = SplitMix64::new(2);
        let mut room = Room::new();
        let (mut taken, mut bases) = (HashSet::from([0]), HashSet::from([0]));
        let mut from = [0; KINDS];
        for _ in 0..5000 {
            let widest: u64 = [1, 2, 3, 20, 200][(random.next() % 5) as usize];
            let highest = [70, 300, 5000][(random.next() % 3) as usize];
            let mut numbers: Vec<u32> = (0..=random.next() % widest)
                .map(|_| 1 + (random.next() % highest) as u32)
                .collect();
            numbers.sort_unstable();
            numbers.dedup();
            let first = numbers[0] as usize;
            let kind = &mut from[numbers.len().ilog2() as usize];
            let fits = |&base: &usize| {
                !bases.contains(&base)
                    && numbers.iter().all(|&number| !taken.contains(&(base + number as usize)))
            };
            let lowest = (*kind * 64_usize).saturating_sub(first);
            let expected = (lowest..).find(fits).unwrap();
            *kind = (expected + first) / 64;
            numbers.reverse();
            assert_eq!(room.take(&numbers), expected);
            bases.insert(expected);
            taken.extend(numbers.iter().map(|&number| expected + number as usize));
        }
    }
}
