//! Longest match, again and again, in linear time (Song et al. 2021, LinMaxMatch).
//!
//! In words: from the left take the longest piece that matches, then go on behind it.
//!
//! Done plainly, every byte may be read as often as the longest piece is long: a piece is only known to
//! have ended when the walk down the tree of pieces runs dead, and then it begins again behind the
//! piece. Here a node of the tree knows what to do in that case, for what was read on the way to the
//! node says which pieces come first and where in the tree the rest leads:
//!
//! ```text
//! no child for the next byte:   put the node's `pops`, go to its `fail`, try the same byte again
//! no `fail`:                    nothing matches here, whatever comes
//! ```
//!
//! Every such step puts a piece, so a word of n bytes takes at most 2n steps.

use crate::vocab::room::{BLOCK, Room};
use crate::vocab::{Vocab, in_order};

/// No node, no piece, no cell.
const NONE: u32 = u32::MAX;
/// The tree of pieces behind the first one.
const BEHIND: u32 = 0;
/// The tree of pieces that a word may begin with.
const FIRST: u32 = 1;

/// What to do in a slot when no child fits.
#[derive(Debug, Clone, Copy)]
struct Out {
    /// Where to go on, or [`NONE`].
    fail: u32,
    /// The pieces to put before going there: the last cell of their list; or [`SINGLE`] and the only one.
    pops: u32,
}

/// Marks a piece by itself.
const SINGLE: u32 = 1 << 31;

const DEAD: Out = Out { fail: NONE, pops: NONE };

#[derive(Debug, Clone, Copy)]
struct Slot {
    bits: u64,
    out: Out,
}

/// One piece of a list, which is read from its end.
#[derive(Debug, Clone, Copy)]
struct Cell {
    before: u32,
    piece: u32,
}

/// The trees of pieces with their ways out. A node is a slot of one array; the roots are the first two.
///
/// ```text
/// bits  0..32   base: the child by byte b is slot base ^ b, if the label there is b
/// bits 32..41   label: the byte that leads here; 256 for nobody's child
/// bits 41..64   the piece that ends here, plus one, if it fits; 0 for none
/// ```
///
/// No two nodes have the same base, so the label alone tells whose child it is (Aoe 1989): a step is one
/// look at memory.
///
/// Beside it stands what to do when no child fits: memory is waited for once.
#[derive(Debug)]
pub(super) struct Automaton {
    slots: Vec<Slot>,
    /// Lists share their beginnings; so there are at most as many cells as the pieces have bytes.
    cells: Vec<Cell>,
    /// Slots with pieces whose ids do not fit, in order.
    large: Vec<(u32, u32)>,
    /// By root, the slots that characters of three bytes lead to, or 0; empty where none does.
    characters: [Vec<u32>; 2],
    /// By root, whether such a character that leads nowhere is the end: no piece ends within one.
    whole: [bool; 2],
}

const LABEL_SHIFT: u32 = 32;
const PIECE_SHIFT: u32 = 41;
const LABEL: u64 = 0x1FF;
const FREE: u64 = 256 << LABEL_SHIFT;
/// Larger ids stand beside.
const LARGEST_PIECE: u32 = (1 << (64 - PIECE_SHIFT)) - 2;

#[inline(always)]
fn base(slot: u64) -> u32 {
    slot as u32
}

#[inline(always)]
fn label(slot: u64) -> u64 {
    slot >> LABEL_SHIFT & LABEL
}

/// The array while it is filled.
struct Slots {
    slots: Vec<u64>,
    room: Room,
}

impl Slots {
    /// Enters the children of a node; gives their base.
    fn enter(&mut self, node: u32, labels: &[u8]) -> u32 {
        if labels.is_empty() {
            return 0;
        }
        let base = self.room.take(labels);
        let blocks = base / BLOCK + 1;
        self.slots.resize(self.slots.len().max(blocks * BLOCK), FREE);
        self.slots[node as usize] |= base as u64;
        for &label in labels {
            self.slots[base ^ usize::from(label)] = u64::from(label) << LABEL_SHIFT;
        }
        base as u32
    }
}

/// A piece of a tree: its bytes there, and its id.
type Branch<'a> = (&'a [u8], u32);

impl Automaton {
    /// Trees of (bytes, id). Only a piece of `first` may be empty: it then stands before every word.
    /// Of pieces with the same bytes the smallest id counts. Cost: sorts the pieces, then linear in
    /// their bytes.
    pub(super) fn new<'a>(
        first: impl Iterator<Item = Branch<'a>>,
        behind: impl Iterator<Item = Branch<'a>>,
    ) -> Self {
        let mut trees = Grown::new(BEHIND, behind.filter(|(bytes, _)| !bytes.is_empty()));
        trees.append(Grown::new(FIRST, first));
        let Grown { slots, nodes } = trees;
        let slots = slots.into_iter().map(|bits| Slot { bits, out: DEAD }).collect();
        let large = nodes.iter().filter(|node| node.piece != NONE && node.piece > LARGEST_PIECE);
        let mut large: Vec<_> = large.map(|node| (node.slot, node.piece)).collect();
        large.sort_unstable();
        let (cells, characters, whole) = (Vec::new(), Default::default(), [false; 2]);
        let mut automaton = Self { slots, cells, large, characters, whole };
        automaton.connect(&nodes);
        automaton.shorten();
        automaton.characters = [BEHIND, FIRST].map(|root| automaton.by_character(root));
        automaton.whole = [BEHIND, FIRST].map(|root| {
            let characters = !automaton.characters[root as usize].is_empty();
            characters && !automaton.ends_within(root)
        });
        automaton
    }

    /// The slots that characters of three bytes lead to from a root.
    fn by_character(&self, root: u32) -> Vec<u32> {
        let mut found = Vec::new();
        for first in 0xE0..=0xEF {
            let Some(one) = self.child(root, first) else { continue };
            for (second, third) in (0x80..=0xBF).flat_map(|b| (0x80..=0xBF).map(move |c| (b, c))) {
                let Some(two) = self.child(one, second) else { continue };
                let Some(three) = self.child(two, third) else { continue };
                if found.is_empty() {
                    found.resize(1 << 16, 0);
                }
                found[code(first, second, third)] = three;
            }
        }
        found
    }

    /// Whether a piece ends within a character of three bytes, from a root.
    fn ends_within(&self, root: u32) -> bool {
        (0xE0..=0xEF).filter_map(|first| self.child(root, first)).any(|one| {
            let mut twos = (0x80..=0xBF).filter_map(|second| self.child(one, second));
            self.piece(one).is_some() || twos.any(|two| self.piece(two).is_some())
        })
    }

    /// Finds the way out of every node. Those of the nodes before it are known: what is left behind a
    /// piece is shorter, or as long and in the other tree, which goes first.
    fn connect(&mut self, nodes: &[Node]) {
        for &Node { slot, parent, piece } in nodes {
            let at = slot as usize;
            if piece != NONE {
                self.slots[at].out = Out { fail: BEHIND, pops: self.cell(NONE, piece) };
                continue;
            }
            if parent == NONE {
                continue;
            }
            let out = self.slots[parent as usize].out;
            let byte = label(self.slots[at].bits) as u8;
            // From the parent's way out on, until this byte fits.
            let (mut last, mut fail) = (out.fail, None);
            while last != NONE {
                fail = self.child(last, byte);
                if fail.is_some() {
                    break;
                }
                last = self.slots[last as usize].out.fail;
            }
            let Some(fail) = fail else { continue };
            let (mut pops, mut hop) = (out.pops, out.fail);
            let mut pieces = Vec::new();
            while hop != last {
                pieces.clear();
                self.put(self.slots[hop as usize].out, &mut pieces);
                for &piece in &pieces {
                    pops = self.cell(pops, piece);
                }
                hop = self.slots[hop as usize].out.fail;
            }
            self.slots[at].out = Out { fail, pops };
        }
    }

    /// Takes lists of one piece for that piece.
    fn shorten(&mut self) {
        let Self { slots, cells, .. } = self;
        for out in slots.iter_mut().map(|slot| &mut slot.out).filter(|out| out.pops != NONE) {
            let Cell { before, piece } = cells[out.pops as usize];
            if before == NONE && piece < SINGLE - 1 {
                out.pops = SINGLE | piece;
            }
        }
    }

    fn cell(&mut self, before: u32, piece: u32) -> u32 {
        self.cells.push(Cell { before, piece });
        (self.cells.len() - 1) as u32
    }

    #[inline(always)]
    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let slot = self.slots.get(node as usize)?;
        let child = base(slot.bits) ^ u32::from(byte);
        let found = self.slots.get(child as usize)?;
        (label(found.bits) == u64::from(byte)).then_some(child)
    }

    /// Appends the pieces of a node's way out to `found`.
    #[inline]
    fn put(&self, out: Out, found: &mut Vec<u32>) {
        if out.pops & SINGLE != 0 && out.pops != NONE {
            return found.push(out.pops & !SINGLE);
        }
        let from = found.len();
        let mut cell = out.pops;
        while cell != NONE {
            let Cell { before, piece } = self.cells[cell as usize];
            found.push(piece);
            cell = before;
        }
        found[from..].reverse();
    }

    /// Appends the pieces of `word`, which is not empty, to `found`; false if somewhere nothing
    /// matches. Cost: linear in the word.
    pub(super) fn cut(&self, word: &[u8], found: &mut Vec<u32>) -> bool {
        let slots = &self.slots[..];
        let mut at = 0;
        let mut node = FIRST;
        let mut slot = slots[FIRST as usize];
        loop {
            // From a root the three bytes of a character are one step.
            if node < 2
                && let Some(&[a @ 0xE0..0xF0, b, c]) = word.get(at..at + 3)
                && let Some(&to) = self.characters[node as usize].get(code(a, b, c))
            {
                if to != 0 {
                    (node, slot) = (to, slots[to as usize]);
                    at += 3;
                    continue;
                }
                // No root has a piece to put, but for an empty one that stands before every word.
                if self.whole[node as usize] && self.piece(node).is_none() {
                    return false;
                }
            }
            if let Some(&byte) = word.get(at) {
                let child = base(slot.bits) ^ u32::from(byte);
                let next = slots[child as usize];
                if label(next.bits) == u64::from(byte) {
                    (node, slot) = (child, next);
                    at += 1;
                    continue;
                }
            } else if node == BEHIND {
                return true;
            }
            // Mostly a piece ends here.
            let piece = (slot.bits >> PIECE_SHIFT) as u32;
            if piece != 0 {
                found.push(piece - 1);
                node = BEHIND;
            } else {
                let out = slot.out;
                if out.fail == NONE {
                    return false;
                }
                self.put(out, found);
                node = out.fail;
            }
            slot = slots[node as usize];
        }
    }

    /// Calls `tried(length, id)` for every piece that `rest` starts with, shortest first; `first` tells
    /// whether a word begins there.
    pub(super) fn matches(&self, rest: &[u8], first: bool, mut tried: impl FnMut(usize, u32)) {
        let mut node = if first { FIRST } else { BEHIND };
        for (length, byte) in rest.iter().copied().map(Some).chain([None]).enumerate() {
            if let Some(piece) = self.piece(node) {
                tried(length, piece);
            }
            match byte.and_then(|byte| self.child(node, byte)) {
                Some(child) => node = child,
                None => return,
            }
        }
    }

    /// The piece that ends in a slot.
    fn piece(&self, node: u32) -> Option<u32> {
        let piece = (self.slots[node as usize].bits >> PIECE_SHIFT) as u32;
        let large = || {
            let at = self.large.binary_search_by_key(&node, |&(slot, _)| slot).ok()?;
            Some(self.large[at].1)
        };
        piece.checked_sub(1).or_else(large)
    }

    /// The tree of a vocabulary whose pieces stand anywhere.
    #[cfg(test)]
    fn plain(pieces: &[&str]) -> Self {
        let branches = || pieces.iter().map(|piece| piece.as_bytes()).zip(0..);
        Self::new(branches(), branches())
    }
}

/// A node while the trees are made.
struct Node {
    slot: u32,
    /// The slot of the parent; [`NONE`] for a root.
    parent: u32,
    /// The piece that ends here, or [`NONE`].
    piece: u32,
}

/// An array with one tree, or with both.
struct Grown {
    slots: Vec<u64>,
    /// Each tree's breadth first; those behind the first piece stand before the others, so that every way out is
    /// known before it is asked for.
    nodes: Vec<Node>,
}

impl Grown {
    /// The tree of these branches below `root`, which alone is in the first block.
    fn new<'a>(root: u32, branches: impl Iterator<Item = Branch<'a>>) -> Self {
        let mut branches: Vec<_> = in_order(branches).collect();
        branches.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.min(next.1);
            }
            same
        });
        let mut slots = Slots { slots: vec![FREE; BLOCK], room: Room::new() };
        let mut nodes = vec![Node { slot: root, parent: NONE, piece: NONE }];
        // What stands below a node: branches that share their first `depth` bytes.
        let mut below = vec![&branches[..]];
        let (mut depth, mut depth_end) = (0, 1);
        let (mut at, mut labels) = (0, Vec::new());
        while at < below.len() {
            if at == depth_end {
                (depth, depth_end) = (depth + 1, below.len());
            }
            let mut rest = below[at];
            let slot = nodes[at].slot;
            if let Some((&(_, id), others)) =
                rest.split_first().filter(|((bytes, _), _)| bytes.len() == depth)
            {
                nodes[at].piece = id;
                if id <= LARGEST_PIECE {
                    slots.slots[slot as usize] |= (u64::from(id) + 1) << PIECE_SHIFT;
                }
                rest = others;
            }
            labels.clear();
            while let [(first, _), ..] = rest {
                let byte = first[depth];
                let same = |(bytes, _): &Branch<'_>| bytes[depth] == byte;
                // Mostly all of them go on with the same byte.
                let all = rest.last().is_some_and(same);
                let len = if all { rest.len() } else { rest.partition_point(same) };
                labels.push(byte);
                below.push(&rest[..len]);
                rest = &rest[len..];
            }
            let base = slots.enter(slot, &labels);
            let child =
                |&label: &u8| Node { slot: base ^ u32::from(label), parent: slot, piece: NONE };
            nodes.extend(labels.iter().map(child));
            at += 1;
        }
        Self { slots: slots.slots, nodes }
    }

    /// Puts the tree of first pieces behind this one, which is the other.
    fn append(&mut self, first: Self) {
        // By whole blocks: `base ^ byte` stays what it is within one.
        let shift = (self.slots.len() - BLOCK) as u32;
        let moved =
            |slot: u32| if slot < BLOCK as u32 || slot == NONE { slot } else { slot + shift };
        let moved_base = |bits: u64| bits - u64::from(base(bits)) + u64::from(moved(base(bits)));
        self.slots[FIRST as usize] = moved_base(first.slots[FIRST as usize]);
        self.slots.extend(first.slots[BLOCK..].iter().map(|&bits| moved_base(bits)));
        self.nodes.extend(first.nodes.iter().map(|&Node { slot, parent, piece }| Node {
            slot: moved(slot),
            parent: moved(parent),
            piece,
        }));
    }
}

/// The code point of a character of three bytes.
#[inline(always)]
fn code(a: u8, b: u8, c: u8) -> usize {
    usize::from(a & 0x0F) << 12 | usize::from(b & 0x3F) << 6 | usize::from(c & 0x3F)
}

/// The pieces of a vocabulary with their ids.
pub(super) fn pieces(vocab: &Vocab) -> impl Iterator<Item = Branch<'_>> {
    (0..vocab.len() as u32).filter_map(|id| vocab.piece(id).map(|piece| (piece, id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(automaton: &Automaton, word: &[u8]) -> Option<Vec<u32>> {
        let (mut at, mut found) = (0, Vec::new());
        while at < word.len() {
            let mut longest = None;
            automaton.matches(&word[at..], found.is_empty(), |length, id| {
                longest = Some((length, id));
            });
            let (length, id) = longest?;
            found.push(id);
            at += length;
        }
        Some(found)
    }

    #[test]
    fn equals_the_plain_walk() {
        let mut seed = 11u64;
        let mut below = |limit: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % limit
        };
        for _ in 0..2000 {
            let mut texts = |count: u64, longest: u64| -> Vec<Vec<u8>> {
                (0..count)
                    .map(|_| (0..=below(longest)).map(|_| b'a' + below(2) as u8).collect())
                    .collect()
            };
            let (first, behind) = (texts(5, 6), texts(5, 6));
            let words = texts(20, 14);
            let ids = |texts: &'_ [Vec<u8>], from| {
                texts.iter().cloned().zip(from..).collect::<Vec<(Vec<u8>, u32)>>()
            };
            let (first, behind) = (ids(&first, 0), ids(&behind, 100));
            let automaton = Automaton::new(
                first.iter().map(|(text, id)| (&text[..], *id)),
                behind.iter().map(|(text, id)| (&text[..], *id)),
            );
            for word in &words {
                let mut found = Vec::new();
                let got = automaton.cut(word, &mut found).then_some(found);
                assert_eq!(got, naive(&automaton, word), "{first:?} {behind:?} {word:?}");
            }
        }
    }

    #[test]
    fn characters_and_large_ids() {
        let texts =
            ["가", "가나", "나\u{1F600}", "中a", "a中", "é가", "\u{ffff}", "b", "\u{800}가나"];
        let largest = LARGEST_PIECE;
        let first = texts.iter().map(|text| text.as_bytes()).zip(largest - 3..);
        let behind = texts.iter().rev().map(|text| text.as_bytes()).zip(largest - 5..);
        // A piece that ends within a character.
        let automaton = Automaton::new(first.chain([(&b"\xEA\xB0"[..], 7)]), behind);
        assert!(
            automaton.large.len() > 5 && automaton.characters.iter().all(|list| !list.is_empty())
        );
        let letters = ["가", "나", "각", "a", "b", "中", "é", "\u{1F600}", "\u{ffff}", "\u{800}"];
        let mut seed = 5u64;
        let mut covered = 0;
        for _ in 0..20_000 {
            let mut word = String::new();
            for _ in 0..=seed >> 62 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                word.push_str(letters[(seed >> 33) as usize % letters.len()]);
            }
            let mut found = Vec::new();
            let got = automaton.cut(word.as_bytes(), &mut found).then_some(found);
            covered += usize::from(got.is_some());
            assert_eq!(got, naive(&automaton, word.as_bytes()), "{word}");
        }
        assert!(covered > 1000, "{covered}");
    }

    #[test]
    fn a_hostile_vocabulary_takes_no_more_room_than_its_bytes() {
        let long = "a".repeat(20_000);
        let more = format!("{long}b");
        let automaton = Automaton::plain(&["a", &long, &more]);
        assert!(automaton.cells.len() <= 4 * more.len() + 8, "{}", automaton.cells.len());
        let word = "a".repeat(19_999) + "c";
        let mut found = Vec::new();
        assert!(!automaton.cut(word.as_bytes(), &mut found));
        assert!(automaton.cut(&word.as_bytes()[..19_999], &mut Vec::new()));
    }
}
