//! Words by two lists, of their starts and of their ends, 64 bytes at a time: the loop for what leaves out
//! what stands between words.
//!
//! In words: [`Masks`] say of every byte of a block whether it is of a word, and whether it is of a character
//! that is a word by itself. Where words start and end then is arithmetic:
//!
//! ```text
//! T   bytes of words                      I   bytes of characters that are words by themselves
//! F   first bytes of those
//! a word starts   S = F | T & ~(T before) | T & ~I & (I before)
//! a word ends     E = (T before) & (~T | S)
//! ```
//!
//! The set bits become lists of places. A word that has no end yet waits for the next list.

use crate::scan::{BLOCK, Look, Task, fastest};

/// What the bytes of a block are; block after block, from where a character begins.
pub(super) trait Masks: Default {
    /// Looks at the 64 bytes from `at` on. Behind the end of the text stand spaces.
    fn block<L: Look>(&mut self, text: &[u8], at: usize, bytes: &[u8; BLOCK]) -> Solid;
}

/// Bit i is byte i.
#[derive(Debug, Clone, Copy)]
pub(super) struct Solid {
    /// Bytes of words.
    pub(super) words: u64,
    /// First bytes of characters that are words by themselves, and all bytes of those.
    pub(super) firsts: u64,
    pub(super) alones: u64,
}

/// Words to a list, at most.
pub(crate) const LIST: usize = 320;
/// So many are left free for a block.
const ROOM: usize = BLOCK;

/// Calls `words` with lists of as many starts as ends of words behind `from`, left to right. The text has less than
/// 4 GiB.
#[inline(always)]
pub(super) fn for_each_list<M: Masks>(
    text: &[u8],
    from: usize,
    mut words: impl FnMut(&mut M, &[u32], &[u32]),
) {
    let mut scan = Scan::<M>::new(text, from);
    while scan.at < text.len() {
        fastest(&mut scan);
        scan.hand_out(&mut words);
    }
}

struct Scan<'a, M> {
    text: &'a [u8],
    /// Where the next block starts.
    at: usize,
    masks: M,
    /// The last bits of T and I.
    solid: u64,
    alone: u64,
    /// The last word may have no end yet.
    starts: List,
    ends: List,
}

struct List {
    places: [u32; LIST],
    len: usize,
}

impl List {
    /// Writes down the places of bits.
    #[inline(always)]
    fn add<L: Look>(&mut self, at: usize, bits: u64) {
        if let Some(room) = self.places[self.len..self.len + ROOM].first_chunk_mut() {
            L::list(bits, at as u32, room);
            self.len += bits.count_ones() as usize;
        }
    }
}

impl<M: Masks> Task for &mut Scan<'_, M> {
    /// Fills the lists.
    #[inline(always)]
    fn run<L: Look>(self) {
        while self.at < self.text.len() && self.starts.len + ROOM <= LIST {
            let mut padded = [b' '; BLOCK];
            let bytes = match self.text[self.at..].first_chunk::<BLOCK>() {
                Some(bytes) => bytes,
                None => {
                    let left = &self.text[self.at..];
                    padded[..left.len()].copy_from_slice(left);
                    &padded
                }
            };
            self.block::<L>(bytes);
            self.at += BLOCK;
        }
    }
}

impl<'a, M: Masks> Scan<'a, M> {
    fn new(text: &'a [u8], at: usize) -> Self {
        let list = || List { places: [0; LIST], len: 0 };
        Self { text, at, masks: M::default(), solid: 0, alone: 0, starts: list(), ends: list() }
    }

    #[inline(always)]
    fn block<L: Look>(&mut self, bytes: &[u8; BLOCK]) {
        let Solid { words, firsts, alones } = self.masks.block::<L>(self.text, self.at, bytes);
        let before = words << 1 | self.solid;
        let alone_before = alones << 1 | self.alone;
        let begins = firsts | words & !before | words & !alones & alone_before;
        let ends = before & (!words | begins);
        (self.solid, self.alone) = (words >> 63, alones >> 63);
        self.starts.add::<L>(self.at, begins);
        self.ends.add::<L>(self.at, ends);
    }

    /// Calls `words` with the words that have an end, and keeps the start of the one that has none.
    #[inline(always)]
    fn hand_out(&mut self, mut words: impl FnMut(&mut M, &[u32], &[u32])) {
        if self.at >= self.text.len() && self.starts.len > self.ends.len {
            self.ends.places[self.ends.len] = self.text.len() as u32;
            self.ends.len += 1;
        }
        let done = self.ends.len;
        words(&mut self.masks, &self.starts.places[..done], &self.ends.places[..done]);
        self.starts.places[0] = self.starts.places[done];
        self.starts.len -= done;
        self.ends.len = 0;
    }
}
