//! Places where a word can be cut before it is encoded, because no piece lies across them.
//!
//! If no piece of the vocabulary has two characters side by side, then no merge can ever join them, and
//! the word's pieces are the pieces of both parts. Most neighbours in Chinese and many in Korean are of
//! this kind, so long words, which are seldom seen twice, fall into short parts that are.
//!
//! For every piece, every border between two characters within it is entered: by both characters where
//! the piece has them whole, else by the last byte of the left or the first byte of the right one. The
//! entries go into a bit set by hash; a false hit costs a cut, not exactness. Before that, four flags
//! per character tell which kinds of entries it has at all, and mostly there are none.

mod block;

pub(crate) use block::{Listed, WINDOW, window};

use crate::vocab::Vocab;

/// The kinds of entries: are the left and the right character whole in the piece?
const KINDS: u8 = 4;
const BITS: u32 = 19;
const SPACED: u32 = 1 << 16;

/// Tells certain cuts; see above.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// For characters below U+10000: bit k says that the character is left in an entry of kind k, bit
    /// 4 + k that it is right in one.
    flags: Box<[u8; 1 << 16]>,
    /// The same where whole texts are cut ([`OF_MARKS`]); a space has those of a mark, too.
    in_texts: Box<[u8; 1 << 16]>,
    entries: Vec<u64>,
    /// The same for ASCII: row left, bit right, in two halves.
    ascii: Box<[[u64; 2]; 128]>,
    /// Which of ASCII a piece may have before a mark, and which behind it.
    before_mark: u128,
    behind_mark: u128,
}

/// SentencePiece's mark of a space. Runs of it are pieces, so that it may be right in one; but behind nothing else, mostly. So
/// where all borders are between whole characters, two marks have a kind of their own: what stands before a mark need not
/// be asked for.
pub(crate) const MARK: char = '▁';
/// That kind.
const OF_MARKS: u8 = 3;

/// A character, and which kinds of entries it has.
pub(crate) type Edge = (u32, u8);

/// What is known of one side of a border.
#[derive(Clone, Copy)]
enum Side {
    Whole(char),
    Byte(u8),
}

impl Side {
    fn key(self) -> u32 {
        match self {
            Side::Whole(character) => u32::from(character),
            Side::Byte(byte) => 1 << 24 | u32::from(byte),
        }
    }
}

#[inline]
fn bit(left: u32, right: u32) -> usize {
    let key = u64::from(left) << 32 | u64::from(right);
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize
}

/// The last byte of a character in UTF-8.
#[inline]
fn last_byte(code: u32) -> u8 {
    if code < 0x80 { code as u8 } else { 0x80 | (code & 0x3F) as u8 }
}

/// The first byte of a character in UTF-8.
#[inline]
fn first_byte(code: u32) -> u8 {
    match code {
        0..0x80 => code as u8,
        0x80..0x800 => 0xC0 | (code >> 6) as u8,
        0x800..0x1_0000 => 0xE0 | (code >> 12) as u8,
        _ => 0xF0 | (code >> 18) as u8,
    }
}

impl Cuts {
    pub(crate) fn new(vocab: &Vocab) -> Self {
        let mut cuts = Self {
            flags: Box::new([0; 1 << 16]),
            in_texts: Box::new([0; 1 << 16]),
            entries: vec![0; 1 << (BITS - 6)],
            ascii: Box::new([[0; 2]; 128]),
            before_mark: 0,
            behind_mark: 0,
        };
        // Bytes that are the last of a cut-off left character, or the first of a cut-off right one.
        let mut by_byte = [0u8; 256];
        // Letters side by side come again and again.
        let mut seen = [0u128; 128];
        // Whether two marks meet, and whether one follows something else.
        let (mut marks, mut behind_others) = (false, false);
        for id in 0..vocab.len() as u32 {
            let piece = vocab.piece(id).unwrap_or_default();
            let starts = (1..piece.len()).filter(|&at| piece[at] & 0xC0 != 0x80);
            for at in starts {
                if let (one @ ..0x80, other @ ..0x80) = (piece[at - 1], piece[at]) {
                    let row = &mut seen[usize::from(one)];
                    if *row >> other & 1 == 1 {
                        continue;
                    }
                    *row |= 1 << other;
                }
                let (left, right) = (left_of(&piece[..at]), right_of(&piece[at..]));
                if let Side::Whole(MARK) = right {
                    let two = matches!(left, Side::Whole(MARK));
                    marks |= two;
                    behind_others |= !two;
                }
                let place = bit(left.key(), right.key());
                cuts.entries[place / 64] |= 1 << (place % 64);
                let kind = match (left, right) {
                    (Side::Whole(_), Side::Whole(_)) => 0,
                    (Side::Whole(_), Side::Byte(_)) => 1,
                    (Side::Byte(_), Side::Whole(_)) => 2,
                    (Side::Byte(_), Side::Byte(_)) => 3,
                };
                for (side, flag) in [(left, 1 << kind), (right, 1 << (kind + KINDS))] {
                    match side {
                        Side::Whole(character) => {
                            if let Some(flags) = cuts.flags.get_mut(character as usize) {
                                *flags |= flag;
                            }
                        }
                        Side::Byte(byte) => by_byte[usize::from(byte)] |= flag,
                    }
                }
            }
        }
        for code in 0..1u32 << 16 {
            // A byte is a left side as a last byte, and a right side as a first one.
            cuts.flags[code as usize] |= by_byte[usize::from(last_byte(code))] & 0x0F
                | by_byte[usize::from(first_byte(code))] & 0xF0;
        }
        cuts.in_texts.copy_from_slice(&*cuts.flags);
        if marks && by_byte == [0; 256] {
            let mark = &mut cuts.in_texts[MARK as usize];
            if !behind_others {
                *mark &= !(1 << KINDS);
            }
            *mark |= 1 << OF_MARKS | 1 << (OF_MARKS + KINDS);
        }
        // A space may stand for a mark there.
        cuts.in_texts[usize::from(b' ')] |= cuts.in_texts[MARK as usize];
        let entered = |cuts: &Self, left: u32, right: u32| {
            let kinds = cuts.flags(left) & cuts.flags(right) >> KINDS;
            cuts.entered(left, right, kinds)
        };
        for left in 0..0x80 {
            for right in 0..0x80 {
                let joined = u64::from(entered(&cuts, left, right)) << (right % 64);
                cuts.ascii[left as usize][right as usize / 64] |= joined;
            }
            cuts.before_mark |= u128::from(entered(&cuts, left, u32::from(MARK))) << left;
            cuts.behind_mark |= u128::from(entered(&cuts, u32::from(MARK), left)) << left;
        }
        cuts
    }

    /// The same, but that no word is cut beside one of these pieces: each of them is a word, or lies within a part. Nor is one
    /// cut before a character that begins with one of the bytes `firsts`.
    pub(crate) fn not_beside(pieces: &[&[u8]], firsts: &[u8], vocab: &Vocab) -> Self {
        // As if there were pieces of each of its ends and anything beside it.
        let mut entered = vocab.clone();
        for &first in firsts {
            (0..=u8::MAX).for_each(|byte| entered.push(&[byte, first]));
        }
        // Parts are whole characters: a piece that is none is no part.
        for piece in pieces.iter().filter_map(|piece| std::str::from_utf8(piece).ok()) {
            let first = piece.chars().next().map_or(0, char::len_utf8);
            let last = piece.chars().next_back().map_or(0, char::len_utf8);
            for byte in 0..=u8::MAX {
                entered.push(&[&[byte], &piece.as_bytes()[..first]].concat());
                entered.push(&[&piece.as_bytes()[piece.len() - last..], &[byte]].concat());
            }
        }
        Self::new(&entered)
    }

    /// What [`Cuts::joined`] asks for of a character.
    #[inline(always)]
    pub(crate) fn edge(&self, character: u32) -> Edge {
        (character, self.flags(character))
    }

    #[inline(always)]
    fn flags(&self, character: u32) -> u8 {
        self.flags.get(character as usize).copied().unwrap_or(0xFF)
    }

    /// The character at `at` of a text, which there is, with its flags, and where the next one starts.
    #[inline(always)]
    fn flagged(&self, text: &[u8], at: usize) -> (Edge, usize) {
        let (character, next) = character(text, at);
        (self.edge(character), next)
    }

    /// Whether a piece may lie across the border of two characters whose flags meet in `kinds`.
    #[inline(always)]
    fn entered(&self, left: u32, right: u32, kinds: u8) -> bool {
        let sides = |kind: u8| {
            let left = if kind < 2 { left } else { Side::Byte(last_byte(left)).key() };
            let right = if kind & 1 == 0 { right } else { Side::Byte(first_byte(right)).key() };
            bit(left, right)
        };
        // Mostly there is one kind, and whether it holds can not be foreseen.
        let (mut kinds, mut entered) = (kinds, false);
        while kinds != 0 {
            entered |= self.entry(sides(kinds.trailing_zeros() as u8));
            kinds &= kinds - 1;
        }
        entered
    }

    #[inline(always)]
    fn entry(&self, place: usize) -> bool {
        self.entries[place / 64] >> (place % 64) & 1 == 1
    }

    /// Writes where the parts of `word[start..]` begin, left to right, and where the last one ends, as far as there is room;
    /// gives back what was written. `borders` has room for four at least. A word has whole characters.
    #[inline]
    pub(crate) fn list_parts<'b>(
        &self,
        word: &[u8],
        start: usize,
        borders: &'b mut [u32],
    ) -> &'b [u32] {
        borders[0] = start as u32;
        let (mut count, mut at) = (1, start);
        let left = &word[start..];
        let behind_mark = left.strip_prefix(MARK.encode_utf8(&mut [0; 3]).as_bytes());
        if let Some(&first @ ..0x80) = behind_mark.and_then(<[u8]>::first) {
            at += MARK.len_utf8();
            borders[count] = at as u32;
            count += usize::from(self.behind_mark >> first & 1 == 0);
        }
        // Where parts end can not be foreseen: no branch.
        if word[at..].is_ascii() {
            for pair in word[at..].windows(2) {
                if count + 1 == borders.len() {
                    break;
                }
                at += 1;
                borders[count] = at as u32;
                count += usize::from(!self.joined_ascii(pair[0], pair[1]));
            }
            at += 1;
        } else {
            let (mut left, mut right);
            (left, at) = self.flagged(word, at);
            while at < word.len() && count + 1 < borders.len() {
                borders[count] = at as u32;
                (right, at) = self.flagged(word, at);
                count += usize::from(!self.joined(left, right));
                left = right;
            }
        }
        if at < word.len() {
            // The last part that was begun may go on.
            return &borders[..count];
        }
        borders[count] = word.len() as u32;
        &borders[..=count]
    }

    /// Whether a piece may lie across the border of two characters.
    #[inline(always)]
    pub(crate) fn joined(&self, (left, left_flags): Edge, (right, right_flags): Edge) -> bool {
        if (left | right) < 0x80 {
            return self.joined_ascii(left as u8, right as u8);
        }
        let kinds = left_flags & right_flags >> KINDS;
        kinds != 0 && self.entered(left, right, kinds)
    }

    /// The same for two characters of ASCII.
    #[inline(always)]
    fn joined_ascii(&self, left: u8, right: u8) -> bool {
        let half = self.ascii[usize::from(left & 0x7F)][usize::from(right >> 6 & 1)];
        half >> (right & 63) & 1 == 1
    }

    /// Calls `part(start, end, character)` with the parts of the word `text[start..end]`, left to right, in bytes
    /// of the text; `character` is the [code](alone) of a part that is one character, with or without a
    /// space before it, else 0. A word has whole characters.
    #[inline]
    pub(crate) fn for_each_part(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        mut part: impl FnMut(usize, usize, u32),
    ) {
        let word = &text[..end];
        let (mut left, mut at) = self.flagged(word, start);
        let mut from = start;
        let mut single = alone(left.0);
        while at < end {
            let (right, next) = self.flagged(word, at);
            if self.joined(left, right) {
                single = if single == u32::from(b' ') { spaced(right.0) } else { 0 };
            } else {
                part(from, at, single);
                (from, single) = (at, alone(right.0));
            }
            (left, at) = (right, next);
        }
        part(from, end, single);
    }
}

/// The code of a character, where a part is told; 0 for what is not kept.
#[inline(always)]
fn alone(character: u32) -> u32 {
    if character < SPACED { character } else { 0 }
}

/// What a space and a character are together, where a part is [told](Cuts::for_each_part): most words of Korean begin
/// so. 0 for what is not kept.
#[inline(always)]
fn spaced(character: u32) -> u32 {
    if (0x800..SPACED).contains(&character) { SPACED | character } else { 0 }
}

/// The character at `at` of a text, which there is, and where the next one starts.
#[inline(always)]
fn character(text: &[u8], at: usize) -> (u32, usize) {
    let low = |byte: u8| u32::from(byte & 0x3F);
    match text[at..] {
        [a @ 0..0x80, ..] => (u32::from(a), at + 1),
        [a @ 0xE0..0xF0, b, c, ..] => (u32::from(a & 0x0F) << 12 | low(b) << 6 | low(c), at + 3),
        [a @ 0xC0..0xE0, b, ..] => (u32::from(a & 0x1F) << 6 | low(b), at + 2),
        [a, b, c, d, ..] => {
            (u32::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d), at + 4)
        }
        // Not in a text.
        _ => (0xFFFD, at + 1),
    }
}

/// The character that `bytes` end with, or its last byte if it begins before them.
fn left_of(bytes: &[u8]) -> Side {
    let last = bytes[bytes.len() - 1];
    if last < 0x80 {
        return Side::Whole(char::from(last));
    }
    for len in 1..=bytes.len().min(4) {
        if let Ok(text) = std::str::from_utf8(&bytes[bytes.len() - len..])
            && let Some(character) = text.chars().next()
        {
            return Side::Whole(character);
        }
    }
    Side::Byte(last)
}

/// The character that `bytes` begin with, or its first byte if it ends behind them.
fn right_of(bytes: &[u8]) -> Side {
    if bytes[0] < 0x80 {
        return Side::Whole(char::from(bytes[0]));
    }
    for len in 1..=bytes.len().min(4) {
        if let Ok(text) = std::str::from_utf8(&bytes[..len])
            && let Some(character) = text.chars().next()
        {
            return Side::Whole(character);
        }
    }
    Side::Byte(bytes[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn first_and_last_bytes_are_those_of_utf8() {
        for code in (0..0x11_0000).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let bytes = code.encode_utf8(&mut bytes).as_bytes();
            assert_eq!(character(bytes, 0), (u32::from(code), bytes.len()));
            let code = u32::from(code);
            assert_eq!(Some(&first_byte(code)), bytes.first());
            assert_eq!(Some(&last_byte(code)), bytes.last());
        }
    }

    /// Listed are the parts that are told one by one, wherever the room ends.
    #[test]
    fn lists_the_same_parts() {
        let mut random = SplitMix64::new(4);
        let mut text = |longest: u64| -> String {
            let all = ["a", "b", "~", "\0", ".", "▁", "▁", "é", "ж", "가", "나", "🐑"];
            let some = 1 + random.next() % all.len() as u64;
            let letters = 1 + random.next() % longest;
            (0..letters).map(|_| all[(random.next() % some) as usize]).collect()
        };
        let mut ended = 0;
        for _ in 0..200 {
            let pieces: Vec<String> = (0..12).map(|_| text(3)).collect();
            let cuts = Cuts::new(&Vocab::new(pieces.iter().map(String::as_bytes)));
            for room in [4, 5, 9, 100] {
                let word = text(60);
                let mut expected = vec![0];
                cuts.for_each_part(word.as_bytes(), 0, word.len(), |_, end, _| {
                    expected.push(end as u32);
                });
                let mut listed = vec![0];
                while listed[listed.len() - 1] < word.len() as u32 {
                    let mut borders = vec![u32::MAX; room];
                    let from = listed.pop().unwrap_or(0) as usize;
                    let borders = cuts.list_parts(word.as_bytes(), from, &mut borders);
                    assert!(borders.len() > 1, "{word:?}");
                    ended += usize::from(borders[borders.len() - 1] < word.len() as u32);
                    listed.extend_from_slice(borders);
                }
                assert_eq!(listed, expected, "{word:?} {pieces:?}");
            }
        }
        assert!(ended > 1000, "{ended}");
    }

    #[test]
    fn cuts_where_no_piece_lies_across() {
        let pieces: [&[u8]; 5] = ["가나".as_bytes(), b" \xEB", &[0x98, 0xB6], b"ab", &[0x80, b'x']];
        let cuts = Cuts::new(&Vocab::new(pieces));
        let parts = |word: &str| {
            let mut parts = Vec::new();
            cuts.for_each_part(word.as_bytes(), 0, word.len(), |start, end, _| {
                parts.push(word[start..end].to_owned());
            });
            parts
        };
        assert_eq!(parts("가나가"), ["가나", "가"]);
        // Both 나 and 다 begin with EB; 가 does not.
        assert_eq!(parts("나 나 가"), ["나", " 나", " ", "가"]);
        assert_eq!(parts("abba"), ["ab", "b", "a"]);
        // 각 is EA B0 81, 가 is EA B0 80: its last byte may join an x.
        assert_eq!(parts("각x가x"), ["각", "x", "가x"]);
    }
}
