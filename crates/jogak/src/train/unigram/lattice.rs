//! All ways to cut many texts into pieces, as a flat stream over the tree of their prefixes.
//!
//! Sorted texts share their beginnings with their neighbours, and what can be said about a beginning
//! is said once. A stream is the tree in depth-first order, one record for each node:
//!
//! ```text
//! u32   bits 0-6   how many pieces end here          E
//!       bit  7     whether a text ends here
//!       bits 8-    how many nodes to leave, deepest first, before this one is entered
//! u32 x E          the pieces, longest first: id << 6 | length - 1
//! ```
//!
//! A node at depth d stands behind d characters; a piece of length n that ends here starts at the
//! node n levels up. Every node can be reached, because every character is a piece, which stays: it is the
//! last piece of each node.
//!
//! Rule: streams change by taking pieces away, never otherwise. How texts fall into blocks depends on
//! the texts alone, and every block is walked by one thread from front to back, so no answer depends
//! on the threads.

use super::chunks::Chunks;
use super::seed::{NONE, Seeds};
use crate::scan::give_back_memory;
use crate::train::parallel::share;

/// Texts per block, at most.
pub(super) const BLOCK: usize = 1024;
/// Texts with more characters than this have a block of their own, for which another arithmetic is
/// used; see [`super::expect`].
pub(super) const SHORT: usize = 20;
/// The smallest power of two above [`SHORT`], so that masking an index proves it is in range.
pub(super) const STACK: usize = 32;
/// Pieces may have this many characters, so that the length fits into the bits for it.
pub(super) const LONGEST_PIECE: usize = 64;
/// Ids must be below this, to fit into the bits for them.
pub(super) const MOST_PIECES: usize = 1 << 26;
/// Chunks are done in so many portions.
const PORTIONS: usize = 8;

const PIECES: u32 = 0x7f;
const ENDS: u32 = 0x80;

/// One node of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    /// How many nodes to leave before this one is entered.
    pub(super) leave: usize,
    /// Whether a text ends here.
    pub(super) ends: bool,
    /// Where its pieces are in the stream.
    pub(super) from: usize,
    /// How many there are, at least one.
    pub(super) count: usize,
}

impl Node {
    /// The node whose record starts at `at`.
    #[inline(always)]
    pub(super) fn read(stream: &[u32], at: usize) -> Self {
        let head = stream[at];
        let count = (head & PIECES) as usize;
        Self { leave: (head >> 8) as usize, ends: head & ENDS != 0, from: at + 1, count }
    }

    /// Where the next record starts.
    #[inline(always)]
    pub(super) fn next(self) -> usize {
        self.from + self.count
    }

    /// What comes behind the last node of a stream: all that are open are left.
    pub(super) fn leaving(open: usize) -> Self {
        Self { leave: open, ..Self::default() }
    }

    /// Its pieces: the longest, but `none` if it is also the last one; those between; the last one, which is the
    /// character that the node stands behind. (One or two is what most nodes have, and which of both can not be
    /// foreseen: so nobody asks.)
    #[inline(always)]
    pub(super) fn pieces(self, stream: &[u32], none: u32) -> (u32, &[u32], u32) {
        let last = self.next() - 1;
        let longest = stream[self.from];
        let longest = if self.count > 1 { longest } else { none };
        let between = if self.count > 2 { &stream[self.from + 1..last] } else { &[] };
        (longest, between, stream[last])
    }

    #[inline(always)]
    fn piece(id: u32, length: usize) -> u32 {
        id << 6 | (length - 1) as u32
    }

    fn head(leave: usize, ends: bool, pieces: usize) -> u32 {
        (leave as u32) << 8 | if ends { ENDS } else { 0 } | pieces as u32
    }
}

/// What stands for a piece where there is none: the id behind those of all `pieces`, and [`STACK`] for a length: counted
/// modulo that, it starts at the depth where it ends, whose sums are not there yet or needed no more.
#[inline(always)]
pub(super) fn none(pieces: usize) -> u32 {
    Node::piece(pieces as u32, STACK)
}

/// The id of a piece in a stream.
#[inline(always)]
pub(super) fn id(piece: u32) -> usize {
    (piece >> 6) as usize
}

/// The length of a piece in a stream.
#[inline(always)]
pub(super) fn length(piece: u32) -> usize {
    (piece & 63) as usize + 1
}

/// Some texts, in order.
#[derive(Debug)]
pub(super) struct Block<T> {
    pub(super) stream: Vec<u32>,
    /// What belongs to each text: its count, or its id.
    pub(super) ends: Vec<T>,
    /// Depth of the deepest node.
    pub(super) depth: usize,
}

/// Texts in blocks.
#[derive(Debug)]
pub(super) struct Lattice<T> {
    pub(super) blocks: Vec<Block<T>>,
}

impl<T: Copy + Send + Sync> Lattice<T> {
    /// The lattices of texts, given as (where it stands in `text`, length, what belongs to it),
    /// sorted by their characters.
    pub(super) fn new(
        texts: impl Iterator<Item = (u32, u32, T)> + Clone + Send,
        text: &[u32],
        seeds: &Seeds,
        longest: usize,
        threads: usize,
    ) -> Self {
        let is_short = |(_, length, _): &(u32, u32, T)| *length as usize <= SHORT;
        let mut short = texts.clone().filter(is_short);
        // One block after the other: all texts at once would be much memory.
        let blocks = std::iter::from_fn(move || {
            let block: Vec<_> = short.by_ref().take(BLOCK).collect();
            (!block.is_empty()).then_some(block)
        });
        let long = texts.filter(|text| !is_short(text)).map(|text| vec![text]);
        let built = share(
            threads,
            blocks.chain(long).enumerate(),
            || (Builder::new(text, seeds, longest), Vec::new()),
            |(builder, done), (number, texts)| done.push((number, builder.block(&texts))),
        );
        let mut blocks: Vec<_> = built.into_iter().flat_map(|(_, done)| done).collect();
        blocks.sort_unstable_by_key(|(number, _)| *number);
        Self { blocks: blocks.into_iter().map(|(_, block)| block).collect() }
    }

    /// Gives every piece its new id, and takes away those that have none ([`NONE`]).
    pub(super) fn renumber(&mut self, ids: &[u32], threads: usize) {
        share(threads, self.blocks.iter_mut(), || (), |(), block| block.renumber(ids));
    }
}

impl Lattice<u32> {
    /// The same, where texts are the pieces themselves: what has no new id goes as a text too, with all that only
    /// it needs.
    pub(super) fn restrict(&mut self, ids: &[u32], threads: usize) {
        share(threads, self.blocks.iter_mut(), Vec::new, |open, block| {
            block.restrict(ids, open);
            block.renumber(ids);
        });
    }
}

impl Lattice<u64> {
    /// The lattices of all chunks, with their counts. In the end nobody knows any more where chunks start and what stands
    /// at their places; their text stays.
    ///
    /// In words: build the last ones first, and forget what is known of them. It takes about as much memory as what is
    /// built, so that there is never all of both.
    pub(super) fn of_chunks(
        chunks: &mut Chunks,
        seeds: &mut Seeds,
        longest: usize,
        threads: usize,
    ) -> Self {
        let mut portions = Vec::with_capacity(PORTIONS);
        let mut end = chunks.len();
        for start in portion_starts(chunks).into_iter().rev() {
            let text = |i| (chunks.starts[i], chunks.chunk(i).len() as u32, chunks.counts[i]);
            let texts = (start..end).map(text);
            portions.push(Self::new(texts, &chunks.text, seeds, longest, threads).blocks);
            seeds.forget_from(chunks.starts[start]);
            chunks.forget_from(start);
            give_back_memory();
            end = start;
        }
        let mut blocks: Vec<Block<u64>> = portions.into_iter().rev().flatten().collect();
        // As if all had been built at once: long texts come last.
        blocks.sort_by_key(|block| block.depth > SHORT);
        Self { blocks }
    }
}

/// The chunks that portions begin with. No block has chunks of two portions.
fn portion_starts(chunks: &Chunks) -> Vec<usize> {
    let short = (0..chunks.len()).filter(|&i| chunks.chunk(i).len() <= SHORT);
    let size = short.clone().count().div_ceil(PORTIONS).next_multiple_of(BLOCK).max(BLOCK);
    // What stands before the first short one goes with it.
    std::iter::once(0).chain(short.step_by(size).skip(1)).collect()
}

impl<T> Block<T> {
    fn renumber(&mut self, ids: &[u32]) {
        let stream = &mut self.stream;
        let (mut at, mut to) = (0, 0);
        while at < stream.len() {
            let (head, node) = (stream[at], Node::read(stream, at));
            let first = to + 1;
            at = node.next();
            to = first;
            for place in node.from..at {
                let piece = stream[place];
                let new = ids[id(piece)];
                // Written in any case: whether it stays is hard to foresee.
                stream[to] = new << 6 | piece & 63;
                to += usize::from(new != NONE);
            }
            stream[first - 1] = head & !PIECES | (to - first) as u32;
        }
        self.cut(to);
    }

    /// Forgets what stands behind so many words of the stream.
    fn cut(&mut self, size: usize) {
        self.stream.truncate(size);
        if self.stream.capacity() > size + size / 2 + 64 {
            self.stream.shrink_to_fit();
        }
    }
}

impl Block<u32> {
    /// Takes away the texts that are pieces without a new id, and nodes that no other text needs.
    fn restrict(&mut self, ids: &[u32], open: &mut Vec<Open>) {
        let stream = &mut self.stream;
        let (mut at, mut to) = (0, 0);
        let mut kept = 0;
        let mut next_end = 0;
        // How many nodes the record that is written next has to leave.
        let mut leave = 0;
        open.clear();
        while at < stream.len() {
            let node = Node::read(stream, at);
            at = node.next();
            for _ in 0..node.leave {
                close(open, &mut to, &mut leave);
            }
            let mut ends = false;
            if node.ends {
                let new = ids[self.ends[next_end] as usize];
                if new != NONE {
                    self.ends[kept] = new;
                    kept += 1;
                    ends = true;
                }
                next_end += 1;
            }
            open.push(Open { start: to, leave, needed: ends });
            stream[to] = Node::head(leave, ends, node.count);
            stream.copy_within(node.from..at, to + 1);
            to += 1 + node.count;
            leave = 0;
        }
        while !open.is_empty() {
            close(open, &mut to, &mut leave);
        }
        stream.truncate(to);
        self.ends.truncate(kept);
    }
}

/// A node on the way to the place where a walk is.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Where its record starts.
    start: usize,
    /// How many nodes its record leaves.
    leave: usize,
    /// Whether a text ends at it or below.
    needed: bool,
}

/// Leaves the deepest open node. If nothing needs it, its record is taken back.
fn close(open: &mut Vec<Open>, to: &mut usize, leave: &mut usize) {
    let Some(node) = open.pop() else { return };
    if node.needed {
        if let Some(above) = open.last_mut() {
            above.needed = true;
        }
        *leave += 1;
    } else {
        *to = node.start;
        *leave = node.leave;
    }
}

/// Writes blocks.
struct Builder<'s> {
    text: &'s [u32],
    seeds: &'s Seeds,
    longest: usize,
    /// For each of the next depths, modulo the size: the pieces that end there, as they stand in a stream.
    ending: Vec<Vec<u32>>,
    stream: Vec<u32>,
}

impl<'s> Builder<'s> {
    fn new(text: &'s [u32], seeds: &'s Seeds, longest: usize) -> Self {
        let ending = vec![Vec::new(); longest.next_power_of_two()];
        Self { text, seeds, longest, ending, stream: Vec::new() }
    }

    fn block<T: Copy>(&mut self, texts: &[(u32, u32, T)]) -> Block<T> {
        self.stream.clear();
        let mut before: &[u32] = &[];
        let mut depth = 0;
        for &(at, length, _) in texts {
            let at = at as usize;
            let here = &self.text[at..at + length as usize];
            let common = here.iter().zip(before).take_while(|(a, b)| a == b).count();
            self.nodes(at, here.len(), common, before.len() - common);
            depth = depth.max(here.len());
            before = here;
        }
        let ends = texts.iter().map(|(_, _, value)| *value).collect();
        Block { stream: self.stream.to_vec(), ends, depth }
    }

    /// Writes the nodes of a text from depth `common` + 1 on, after leaving `leave` nodes.
    fn nodes(&mut self, at: usize, length: usize, common: usize, mut leave: usize) {
        let mask = self.ending.len() - 1;
        for start in (common + 1).saturating_sub(self.longest)..common {
            self.start(at, start, common, length);
        }
        for depth in common + 1..=length {
            self.start(at, depth - 1, depth - 1, length);
            // Those that start first are longest.
            let pieces = &mut self.ending[depth & mask];
            self.stream.push(Node::head(leave, depth == length, pieces.len()));
            self.stream.append(pieces);
            leave = 0;
        }
    }

    /// Notes the pieces that start behind `start` characters, and end behind more than `passed` and at most `length`.
    fn start(&mut self, at: usize, start: usize, passed: usize, length: usize) {
        let mask = self.ending.len() - 1;
        let mut piece = self.seeds.deepest(at + start);
        while piece != NONE {
            let size = usize::from(self.seeds.length[piece as usize]);
            let end = start + size;
            if end <= passed {
                break;
            }
            if end <= length {
                self.ending[end & mask].push(Node::piece(piece, size));
            }
            piece = self.seeds.parent[piece as usize];
        }
    }
}
