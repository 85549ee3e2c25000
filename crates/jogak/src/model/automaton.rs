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

use crate::vocab::Vocab;

/// No node, no piece, no cell.
const NONE: u32 = u32::MAX;
/// The tree of pieces behind the first one.
const BEHIND: u32 = 0;
/// The tree of pieces that a word may begin with.
const FIRST: u32 = 1;

#[derive(Debug, Clone, Copy)]
struct Node {
    /// Where its [`Steps`] start.
    base: u32,
    /// The piece that ends here, or [`NONE`].
    piece: u32,
    /// Where to go on when no child fits, or [`NONE`].
    fail: u32,
    /// The last cell of the pieces to put before going there.
    pops: u32,
}

/// One piece of a list, which is read from its end.
#[derive(Debug, Clone, Copy)]
struct Cell {
    before: u32,
    piece: u32,
}

/// The trees of pieces with their ways out.
#[derive(Debug)]
pub(super) struct Automaton {
    /// Breadth first.
    nodes: Vec<Node>,
    /// The byte that leads to each node.
    labels: Vec<u8>,
    steps: Steps,
    /// The children of the two roots, by byte.
    roots: Box<[[u32; 256]; 2]>,
    /// Lists share their beginnings; so there are at most as many cells as the pieces have bytes.
    cells: Vec<Cell>,
}

/// The child of a node by byte `b` is in slot `base ^ b`, with the node beside it to tell whose child it
/// is (Aoe 1989).
#[derive(Debug)]
struct Steps {
    /// Node, then child.
    slots: Vec<(u32, u32)>,
    /// The first slot that may be free.
    from: usize,
}

/// Slots are added in blocks, so that `base ^ byte` is always inside.
const BLOCK: usize = 256;
/// How many of the last blocks are searched for room.
const SEARCHED: usize = 32;

impl Steps {
    #[inline(always)]
    fn child(&self, base: u32, node: u32, byte: u8) -> u32 {
        match self.slots.get((base ^ u32::from(byte)) as usize) {
            Some(&(parent, child)) if parent == node => child,
            _ => NONE,
        }
    }

    /// Enters the children of a node, whose numbers count up from `first`; gives its base.
    fn enter(&mut self, node: u32, labels: &[u8], first: u32) -> u32 {
        let Some(&label) = labels.first() else { return 0 };
        let free = |slots: &[(u32, u32)], at: usize| slots[at].0 == NONE;
        self.from = self.from.max(self.slots.len().saturating_sub(SEARCHED * BLOCK));
        while self.from < self.slots.len() && !free(&self.slots, self.from) {
            self.from += 1;
        }
        let fits = |at: &usize| {
            let base = at ^ usize::from(label);
            labels.iter().all(|&label| free(&self.slots, base ^ usize::from(label)))
        };
        let found = (self.from..self.slots.len()).find(fits);
        let base = found.map_or(self.slots.len(), |at| at ^ usize::from(label));
        if found.is_none() {
            self.slots.resize(base + BLOCK, (NONE, NONE));
        }
        for (&label, child) in labels.iter().zip(first..) {
            self.slots[base ^ usize::from(label)] = (node, child);
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
        // In the order of the roots' numbers.
        let mut trees: [Vec<Branch<'a>>; 2] =
            [behind.filter(|(bytes, _)| !bytes.is_empty()).collect(), first.collect()];
        for tree in &mut trees {
            tree.sort_unstable();
            tree.dedup_by_key(|&mut (bytes, _)| bytes);
        }
        let mut automaton = Self {
            nodes: Vec::new(),
            labels: vec![0; 2],
            steps: Steps { slots: Vec::new(), from: 0 },
            roots: Box::new([[NONE; 256]; 2]),
            cells: Vec::new(),
        };
        let parents = automaton.grow(&trees);
        automaton.connect(&parents);
        automaton
    }

    /// Makes the nodes, breadth first. Returns the parent of each.
    fn grow(&mut self, trees: &[Vec<Branch<'_>>; 2]) -> Vec<u32> {
        // What stands below a node: branches of a tree that share their first `depth` bytes.
        let mut below: Vec<(usize, std::ops::Range<usize>)> =
            trees.iter().map(Vec::len).enumerate().map(|(tree, len)| (tree, 0..len)).collect();
        let mut parents = vec![NONE; 2];
        let (mut depth, mut depth_end) = (0, 2);
        let mut at = 0;
        while at < below.len() {
            if at == depth_end {
                (depth, depth_end) = (depth + 1, below.len());
            }
            let (tree, mut range) = below[at].clone();
            let branches = &trees[tree];
            let mut node = Node { base: 0, piece: NONE, fail: NONE, pops: NONE };
            let first_child = below.len();
            if let Some(&(_, id)) =
                branches[range.clone()].first().filter(|(bytes, _)| bytes.len() == depth)
            {
                node.piece = id;
                range.start += 1;
            }
            while let Some(&byte) = branches[range.clone()].first().map(|(bytes, _)| &bytes[depth])
            {
                let len =
                    branches[range.clone()].partition_point(|(bytes, _)| bytes[depth] == byte);
                if at < 2 {
                    self.roots[at][usize::from(byte)] = below.len() as u32;
                }
                below.push((tree, range.start..range.start + len));
                self.labels.push(byte);
                parents.push(at as u32);
                range.start += len;
            }
            let labels = &self.labels[first_child..];
            node.base = self.steps.enter(at as u32, labels, first_child as u32);
            self.nodes.push(node);
            at += 1;
        }
        parents
    }

    /// Finds the way out of every node. Those of the nodes before it are known: what is left behind a
    /// piece is shorter, or as long and in the other tree, which goes first.
    fn connect(&mut self, parents: &[u32]) {
        for (at, &parent) in parents.iter().enumerate() {
            let piece = self.nodes[at].piece;
            if piece != NONE {
                self.nodes[at].pops = self.cell(NONE, piece);
                self.nodes[at].fail = BEHIND;
                continue;
            }
            let Some(parent) = self.nodes.get(parent as usize).copied() else { continue };
            let byte = self.labels[at];
            // From the parent's way out on, until this byte fits.
            let mut last = parent.fail;
            while last != NONE && self.child(last, byte) == NONE {
                last = self.nodes[last as usize].fail;
            }
            if last == NONE {
                continue;
            }
            let (mut pops, mut hop) = (parent.pops, parent.fail);
            let mut pieces = Vec::new();
            while hop != last {
                pieces.clear();
                self.put(hop, &mut pieces);
                for &piece in &pieces {
                    pops = self.cell(pops, piece);
                }
                hop = self.nodes[hop as usize].fail;
            }
            self.nodes[at].pops = pops;
            self.nodes[at].fail = self.child(last, byte);
        }
    }

    fn cell(&mut self, before: u32, piece: u32) -> u32 {
        self.cells.push(Cell { before, piece });
        (self.cells.len() - 1) as u32
    }

    #[inline]
    fn child(&self, node: u32, byte: u8) -> u32 {
        if node < 2 {
            return self.roots[node as usize][usize::from(byte)];
        }
        self.steps.child(self.nodes[node as usize].base, node, byte)
    }

    /// Appends the pieces of a node's way out to `found`.
    #[inline]
    fn put(&self, node: u32, found: &mut Vec<u32>) {
        let from = found.len();
        let mut cell = self.nodes[node as usize].pops;
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
        let mut node = FIRST;
        for &byte in word {
            loop {
                let child = self.child(node, byte);
                if child != NONE {
                    node = child;
                    break;
                }
                if !self.leave(&mut node, found) {
                    return false;
                }
            }
        }
        while node != BEHIND {
            if !self.leave(&mut node, found) {
                return false;
            }
        }
        true
    }

    #[inline]
    fn leave(&self, node: &mut u32, found: &mut Vec<u32>) -> bool {
        let fail = self.nodes[*node as usize].fail;
        if fail == NONE {
            return false;
        }
        self.put(*node, found);
        *node = fail;
        true
    }

    /// Calls `tried(length, id)` for every piece that `rest` starts with, shortest first; `first` tells
    /// whether a word begins there.
    pub(super) fn matches(&self, rest: &[u8], first: bool, mut tried: impl FnMut(usize, u32)) {
        let mut node = if first { FIRST } else { BEHIND };
        for (length, byte) in rest.iter().copied().map(Some).chain([None]).enumerate() {
            let piece = self.nodes[node as usize].piece;
            if piece != NONE {
                tried(length, piece);
            }
            node = byte.map_or(NONE, |byte| self.child(node, byte));
            if node == NONE {
                return;
            }
        }
    }

    /// The tree of a vocabulary whose pieces stand anywhere.
    #[cfg(test)]
    fn plain(pieces: &[&str]) -> Self {
        let branches = || pieces.iter().map(|piece| piece.as_bytes()).zip(0..);
        Self::new(branches(), branches())
    }
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
