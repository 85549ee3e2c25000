//! Parts of words of which most are one character of three bytes, with or without a space before it: what certain cuts make
//! of Chinese and Korean, 64 bytes at a time.
//!
//! In words: a character has its ids in a list, by its code point, and is found without a hash. So where characters begin is told,
//! and which of them are a part by themselves is arithmetic on masks. The ids of each go to the place that the part has among all of
//! the block, those of other parts are looked up as words are, and then all are written in their order, wherever they came from.
//!
//! ```text
//! R   where parts begin, S spaces         T   first bytes of characters of three bytes
//! a character is a part                   T & R >> 3 & (R | (R & S) << 1)
//! ```

use std::ops::Range;

use super::known::{KnownWords, MARK, MARKED, SPACED};
use super::packed::{MOST, Packed};
use super::places::{BlockRoom, WORDS};
use super::queue::{Learn, fetch_behind};
use crate::scan::{BLOCK, Look};

/// Parts of a block; bit i is byte i.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// Where the block begins in the text.
    pub(crate) at: u32,
    /// Where parts begin; the last one ends elsewhere, and is left.
    pub(crate) starts: u64,
    /// The spaces.
    pub(crate) spaces: u64,
    /// Where characters of three bytes begin, and by number what they are.
    pub(crate) threes: u64,
    pub(crate) codes: &'a [u16],
}

const SPACE: u32 = ' ' as u32;
const MARK_CODE: u32 = MARK as u32;

/// So many characters are told together.
const HALF: usize = BLOCK / 2;

/// Room for ids that are handed on together: not much, as it is made ready for each short text.
const STAGE: usize = 1 << 8;

/// Ids on their way.
pub(crate) struct Writer<'a> {
    stage: [u32; STAGE],
    at: usize,
    out: &'a mut Vec<u32>,
    room: Box<BlockRoom>,
    /// Both halves of the ids of each part of a block. The second ones mean nothing where the first say all.
    ids: [u64; BLOCK + 1],
    more: [u64; BLOCK],
    /// Where parts that are looked up begin and end.
    froms: [u32; WORDS],
    tos: [u32; WORDS],
    /// The code of the part that begins with each character of a block.
    parts: [u32; BLOCK],
}

impl<'a> Writer<'a> {
    /// Appends to `out`.
    pub(crate) fn new(table: &mut KnownWords, out: &'a mut Vec<u32>) -> Self {
        let room = table.take_room();
        let (ids, more, stage) = ([0; BLOCK + 1], [0; BLOCK], [0; STAGE]);
        let (froms, tos, parts) = ([0; WORDS], [0; WORDS], [0; BLOCK]);
        Self { stage, at: 0, out, room, ids, more, froms, tos, parts }
    }

    /// Hands on what is left.
    pub(crate) fn finish(mut self, table: &mut KnownWords) {
        self.hand_on();
        table.give_room(self.room);
    }

    /// Hands on what there is of a text, and says so.
    #[inline]
    pub(crate) fn ended(&mut self, behind: &mut (impl FnMut(&mut Vec<u32>) + ?Sized)) {
        self.hand_on();
        behind(self.out);
    }

    fn hand_on(&mut self) {
        self.out.extend_from_slice(&self.stage[..self.at]);
        self.at = 0;
        fetch_behind(self.out);
    }

    /// Has the ids of a part written by whoever looks it up by itself.
    #[inline(never)]
    pub(crate) fn part(
        &mut self,
        table: &mut KnownWords,
        start: usize,
        end: usize,
        look_up: &mut Learn<'_>,
    ) {
        self.hand_on();
        look_up(table, start, end, self.out);
    }

    /// Writes the ids of all parts that end in a block.
    #[inline(always)]
    pub(crate) fn block<L: Look>(
        &mut self,
        text: &[u8],
        table: &mut KnownWords,
        parts: Parts<'_>,
        look_up: &mut Learn<'_>,
    ) {
        let Parts { at, starts, spaces, threes, codes } = parts;
        let closed = starts & !(1 << starts.ilog2());
        let characters = threes & starts >> 3 & (closed | (closed & spaces) << 1);
        let spaced = characters & !starts;
        let others = closed & !characters & !(spaced >> 1);
        // Where each part is told among all of them: a character with a space by its own place.
        let all = characters | others;
        let number = |place: u32| (all & ((1 << (place % 64)) - 1)).count_ones() as usize;
        // Their memory is on its way while the characters are written.
        if others != 0 {
            self.seek_others::<L>(text, table, at, (starts, others));
        }
        // One bit after the other: eight at once would gather and scatter, which takes longer.
        let (mut rest, beside) = (threes, table.characters());
        for &code in codes {
            let place = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            let code = u32::from(code) + ((spaced >> (place % 64)) as u32 & 1) * SPACED;
            // What is no part by itself writes where the next one will.
            self.ids[number(place)] = beside.get(code as usize).copied().unwrap_or(0);
        }
        if others != 0 {
            self.read_others::<L>(table, at, others, number);
        }
        let many = all.count_ones() as usize;
        let mut done = 0;
        while done < many {
            done += self.write::<L>(done..many);
            if done == many {
                break;
            }
            if self.at + MOST > STAGE {
                self.hand_on();
                continue;
            }
            // It is not known.
            let rest = (0..done).fold(all, |all, _| all & (all - 1));
            let place = rest.trailing_zeros() % BLOCK as u32;
            let start = at + place - (spaced >> place & 1) as u32;
            let end = at + place + 1 + (starts >> place >> 1).trailing_zeros();
            self.part(table, start as usize, end as usize, look_up);
            done += 1;
        }
    }

    /// Writes the ids of all parts that end among characters: of the text from `at` on, each by its place and its code point, which
    /// is 0 for those from U+10000 on. Bit i of `starts` says that a part begins with character i; the last one is left.
    #[inline(always)]
    pub(crate) fn characters<L: Look>(
        &mut self,
        table: &mut KnownWords,
        (at, places, codes): (usize, &[u32; BLOCK], &[u16; BLOCK]),
        starts: u64,
        look_up: &mut Learn<'_>,
    ) {
        part_codes(starts, codes, &mut self.parts);
        let (mut rest, mut beside) = (starts & !(1 << starts.ilog2()), table.characters());
        let mut written = self.at;
        while rest != 0 {
            let from = rest.trailing_zeros() as usize % BLOCK;
            rest &= rest - 1;
            let half = beside.get(self.parts[from] as usize).copied().unwrap_or(0);
            if let Some(count) = Packed::put::<L>(half, || 0, &mut self.stage, written) {
                written += count;
                continue;
            }
            let to = from + 1 + (starts >> from >> 1).trailing_zeros() as usize;
            let (start, end) = (at + places[from] as usize, at + places[to % BLOCK] as usize);
            self.at = written;
            self.part(table, start, end, look_up);
            (written, beside) = (self.at, table.characters());
        }
        self.at = written;
    }

    /// Writes the ids of these parts, up to the first one that has none here, or until there is no room. How many parts they
    /// are.
    #[inline(always)]
    fn write<L: Look>(&mut self, range: Range<usize>) -> usize {
        let Self { stage, ids, more, .. } = self;
        let (mut at, mut done) = (self.at, 0);
        for (&half, &more) in ids[range.clone()].iter().zip(&more[range]) {
            let Some(count) = Packed::put::<L>(half, || more, stage, at) else { break };
            at += count;
            done += 1;
        }
        self.at = at;
        done
    }

    /// Looks for the parts that begin at `others`.
    #[inline(always)]
    fn seek_others<L: Look>(
        &mut self,
        text: &[u8],
        table: &KnownWords,
        at: u32,
        (starts, others): (u64, u64),
    ) {
        // One is added to all bits that begin no part, behind the first byte of each: what is carried ends where the next begins.
        let ends = (!starts).wrapping_add(others << 1) & starts;
        let Self { froms, tos, room, .. } = self;
        L::list(others, at, froms);
        L::list(ends, at, tos);
        let count = others.count_ones() as usize;
        room.places.seek::<L>(text, table, &froms[..count], &tos[..count]);
    }

    /// Writes the ids of these, each of which has its number.
    #[inline(always)]
    fn read_others<L: Look>(
        &mut self,
        table: &KnownWords,
        at: u32,
        others: u64,
        number: impl Fn(u32) -> usize,
    ) {
        let short = table.short().found();
        let Self { froms, ids, more, room, .. } = self;
        for (word, &from) in froms[..others.count_ones() as usize].iter().enumerate() {
            let Packed(half, behind) = short.in_line::<L>(room.places.get(word)).packed();
            let number = number(from - at);
            (ids[number], more[number % BLOCK]) = (half, behind);
        }
    }
}

/// Writes the code of the part that begins with each of these characters, if it is one character, with or without a space or `▁`
/// before it; else 0. Bit i of `starts` says that a part begins with character i; what is written from the last one on means nothing.
#[inline(always)]
fn part_codes(starts: u64, codes: &[u16; BLOCK], parts: &mut [u32; BLOCK]) {
    for (half, parts) in parts.as_chunks_mut::<HALF>().0.iter_mut().enumerate() {
        let from = half * HALF;
        if starts >> from == 0 {
            break;
        }
        // Whether parts begin with the next ones.
        let (next, second) = ((starts >> from >> 1) as u32, (starts >> from >> 2) as u32);
        // Which of them holds is not foreseen: so both are made, and none is taken by a branch. Vectors do many at once.
        for (at, part) in parts.iter_mut().enumerate() {
            let (one, other) = (codes[from + at], codes[(from + at + 1) % BLOCK]);
            let (one, other) = (u32::from(one), u32::from(other));
            let all = |holds: bool| u32::from(holds).wrapping_neg();
            let kind = all(one == SPACE) & SPACED | all(one == MARK_CODE) & MARKED;
            let two = all(kind != 0) & all(second >> at & 1 == 1) & (kind | other);
            let is_one = all(next >> at & 1 == 1);
            *part = is_one & one | !is_one & two;
        }
    }
}
