//! Texts that are one word each, of SentencePiece's BPE: cut where it is certain, 64 bytes at a time. The borders of parts are
//! gathered, and looked up as those of words are; where most parts are single characters of three bytes, their ids come from a
//! list.
//!
//! Spaces stand for the marks that the model knows: a text needs hardly be touched before it is cut, and its words are short. Only
//! parts that are new have their marks written ([`write_marks`]).
//!
//! Characters are what this list goes by, and what a string of Python is. So a text that comes as code points needs not become
//! UTF-8 first, but for the few parts that are looked up by themselves.
//!
//! Short texts stand one behind the other, so that no block is nearly empty: where one ends, a part ends.

use std::ops::Range;

use super::characters::Seen;
use crate::cache::{CharacterWriter, KnownWords, LearnWord, look_up_between};
use crate::model::cuts::{Cuts, Listed, MARK, WINDOW, window};
use crate::scan::{BLOCK, Look, Task};

/// So many borders are looked up together, and those of one more block.
const TOGETHER: usize = 1 << 9;

/// The part as the model sees it, in `room`.
pub(super) fn write_marks<'r>(part: &str, room: &'r mut String) -> &'r str {
    room.clear();
    let mut from = 0;
    for at in memchr::memchr_iter(b' ', part.as_bytes()) {
        room.push_str(&part[from..at]);
        room.push(MARK);
        from = at + 1;
    }
    room.push_str(&part[from..]);
    room
}

/// What is done behind a text, when all its ids are there.
type Behind<'b> = dyn FnMut(&mut Vec<u32>) + 'b;

/// Appends the ids of texts to `out`, which stand one behind the other: not empty together, and of less than 4 GiB. `learn` appends
/// those of what the table does not know, and may teach it.
pub(super) struct ByBlocks<'a, 'l> {
    pub(super) cuts: &'a Cuts,
    pub(super) text: &'a [u8],
    /// Where each text ends; the last one does where all bytes do.
    pub(super) ends: &'a [u32],
    /// Spaces stand for marks, of which others may be there: they mean the same.
    pub(super) spaced: bool,
    /// Most parts are single characters of three bytes, as in Chinese and Korean.
    pub(super) characters: bool,
    pub(super) known: &'a mut KnownWords,
    pub(super) out: &'a mut Vec<u32>,
    pub(super) learn: &'a mut LearnWord<'l>,
    pub(super) seen: &'a mut Seen,
    pub(super) behind: &'a mut Behind<'l>,
}

impl Task for ByBlocks<'_, '_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        match (self.spaced, self.characters) {
            (true, true) => self.by_characters::<L, true>(),
            (true, false) => self.by_borders::<L, true>(),
            (false, true) => self.by_characters::<L, false>(),
            (false, false) => self.by_borders::<L, false>(),
        }
    }
}

impl ByBlocks<'_, '_> {
    #[inline(always)]
    fn by_borders<L: Look, const MARKS: bool>(self) {
        let Self { cuts, text, mut ends, known, out, learn, seen, behind, .. } = self;
        // Of the block that is cut, and of the end of all.
        let mut borders = [0; TOGETHER + BLOCK + 1];
        let (mut at, mut listed) = (0, 1);
        // Those that end behind the block that is cut.
        let mut later = ends;
        loop {
            let mut padded = [0; WINDOW];
            let (window, within) = (window(text, at, &mut padded), within(text.len(), at));
            let block = cuts.block_of_text::<L, MARKS>(window, within);
            let (ended, many) = L::bits(later, at as u32);
            // The first one has begun already, whatever ended before it.
            let starts = (block.starts | ended) & within & !1;
            later = &later[many..];
            let parts = starts.count_ones();
            seen.words += parts;
            seen.joined += parts - (starts & starts >> 3 & block.threes).count_ones();
            if let Some(room) = borders[listed..].first_chunk_mut() {
                L::list(starts, at as u32, room);
                listed += parts as usize;
            }
            let is_last = text.len() - at <= BLOCK;
            if is_last {
                borders[listed] = text.len() as u32;
                listed += 1;
            }
            if is_last || listed >= TOGETHER {
                let mut borders_of_one = &borders[..listed];
                while let Some((&end, others)) = ends.split_first()
                    && end <= borders[listed - 1]
                {
                    let parts = borders_of_one.iter().take_while(|&&border| border < end).count();
                    look_up_between(text, known, &borders_of_one[..=parts], out, learn);
                    behind(out);
                    (ends, borders_of_one) = (others, &borders_of_one[parts..]);
                }
                look_up_between(text, known, borders_of_one, out, learn);
                borders[0] = borders[listed - 1];
                listed = 1;
            }
            if is_last {
                return;
            }
            // Its last character is what stands before the next one's others.
            at += block.last;
        }
    }

    #[inline(always)]
    fn by_characters<L: Look, const MARKS: bool>(self) {
        let Self { cuts, text, ends, known, out, learn, seen, behind, .. } = self;
        let look_up =
            &mut |known: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
                if !known.get(text, start, end, out) {
                    learn(known, start, end, out);
                }
            };
        by_characters::<L, MARKS>(cuts, (&text, ends), known, out, look_up, (seen, behind));
    }
}

/// A text that is cut character by character. Places are counted in whatever it is made of.
trait Characters {
    /// Lists the characters from a place on up to an end, or a block of whatever the text is made of; places are counted from there.
    fn list<L: Look>(&self, at: usize, end: usize, listed: &mut Listed);
}

/// So many bytes are looked at together.
const BEHIND: usize = 16;

/// UTF-8.
impl Characters for &[u8] {
    #[inline(always)]
    fn list<L: Look>(&self, at: usize, end: usize, listed: &mut Listed) {
        listed.text::<L>(window(self, at, &mut [0; WINDOW]), within(end, at));
    }
}

/// Code points, of which spaces stand for `▁`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Points<'a> {
    pub(super) points: &'a [u32],
    /// One more space stands before them.
    pub(super) mark: bool,
}

impl Points<'_> {
    fn len(&self) -> usize {
        usize::from(self.mark) + self.points.len()
    }

    /// The UTF-8 of a part, from the front of `room` on, and how many bytes it has. Something may stand behind it.
    pub(super) fn utf8<'r>(&self, part: Range<usize>, room: &'r mut Vec<u8>) -> (&'r [u8], usize) {
        let needed = 4 * (part.end - part.start) + BEHIND;
        if room.len() < needed {
            room.resize(needed, 0);
        }
        let before = usize::from(self.mark);
        let points = &self.points[part.start.saturating_sub(before)..part.end - before];
        let mut at = 0;
        let mut write = |character: char| at += character.encode_utf8(&mut room[at..]).len();
        if part.start < before {
            write(' ');
        }
        for &point in points {
            write(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        (room, at)
    }
}

impl Characters for Points<'_> {
    #[inline(always)]
    fn list<L: Look>(&self, at: usize, end: usize, listed: &mut Listed) {
        let mut padded = [0; BLOCK];
        let points = if at == 0 && self.mark {
            padded[0] = u32::from(b' ');
            let some = self.points.len().min(BLOCK - 1);
            padded[1..=some].copy_from_slice(&self.points[..some]);
            &padded
        } else {
            let left = &self.points[at - usize::from(self.mark)..];
            left.first_chunk().unwrap_or_else(|| {
                padded[..left.len()].copy_from_slice(left);
                &padded
            })
        };
        listed.points(points, (end - at).min(BLOCK));
    }
}

/// Appends the ids of a text that comes as code points to `out`: not empty. `look_up` appends those of parts that are not in the
/// list.
pub(super) struct ByPoints<'a, 'l> {
    pub(super) cuts: &'a Cuts,
    pub(super) text: Points<'a>,
    pub(super) known: &'a mut KnownWords,
    pub(super) out: &'a mut Vec<u32>,
    pub(super) look_up: &'a mut LearnWord<'l>,
    pub(super) seen: &'a mut Seen,
}

impl Task for ByPoints<'_, '_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { cuts, text, known, out, look_up, seen } = self;
        let texts = (&text, &[text.len() as u32][..]);
        by_characters::<L, true>(cuts, texts, known, out, look_up, (seen, &mut |_| {}));
    }
}

#[inline(always)]
fn by_characters<L: Look, const MARKS: bool>(
    cuts: &Cuts,
    (text, ends): (&impl Characters, &[u32]),
    known: &mut KnownWords,
    out: &mut Vec<u32>,
    look_up: &mut LearnWord<'_>,
    (seen, behind): (&mut Seen, &mut Behind<'_>),
) {
    let mut writer = CharacterWriter::new(known, out);
    let mut listed = Listed::default();
    let mut at = 0;
    for &text_end in ends {
        let text_end = text_end as usize;
        while at < text_end {
            text.list::<L>(at, text_end, &mut listed);
            let mut starts = cuts.parts_of::<MARKS>(&listed);
            let left = text_end - at;
            if left < BLOCK {
                // The last part ends with the text: in less than a block there is room for one more.
                listed.places[listed.count] = left as u32;
                starts |= 1 << listed.count;
            }
            let open = starts.ilog2() as usize;
            if open == 0 {
                let end = end::<L, MARKS>(cuts, text, (at, text_end), &mut listed);
                writer.part(known, at, end, look_up);
                at = end;
                continue;
            }
            seen.words += starts.count_ones() - 1;
            seen.joined += (starts & !(starts >> 1)).count_ones() - 1;
            writer.characters::<L>(known, (at, &listed.places, &listed.codes), starts, look_up);
            at += listed.places[open] as usize;
        }
        writer.ended(behind);
    }
    writer.finish(known);
}

/// Which bytes of the block at a place are of a text that ends there.
#[inline(always)]
fn within(end: usize, at: usize) -> u64 {
    u64::MAX >> BLOCK.saturating_sub(end - at)
}

/// Where the part ends that begins at a place of a text, and is longer than a block.
#[inline(never)]
fn end<L: Look, const MARKS: bool>(
    cuts: &Cuts,
    text: &impl Characters,
    (mut at, text_end): (usize, usize),
    listed: &mut Listed,
) -> usize {
    loop {
        text.list::<L>(at, text_end, listed);
        // The first one begins none: it was asked for as the last of the block before.
        let starts = cuts.parts_of::<MARKS>(listed) & !1;
        if starts != 0 {
            return at + listed.places[starts.trailing_zeros() as usize] as usize;
        }
        if text_end - at <= BLOCK {
            return text_end;
        }
        at += listed.places[listed.count - 1] as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::{every_way, fastest};
    use crate::vocab::Vocab;

    /// Ids of a text that are those of its characters, however it is cut.
    fn ids(text: &str) -> Vec<u32> {
        let of_one =
            |one: char| (0..1 + one as u32 % 3).map(move |id| (one as u32 + id) % 0xF_FFFF);
        text.chars().flat_map(of_one).collect()
    }

    /// Texts that stand one behind the other, as words are remembered: with spaces for marks, or as they are.
    struct Texts {
        text: String,
        ends: Vec<u32>,
        spaced: bool,
        /// Where there is a certain cut.
        certain: Vec<usize>,
    }

    impl Texts {
        /// `marked` are the texts as the model sees them.
        fn new(cuts: &Cuts, marked: &str, ends: &[usize], spaced: bool) -> Self {
            let (mut certain, mut from) = (vec![0], 0);
            for &end in ends.iter() {
                if from < end {
                    let push = |_, end, _| certain.push(end);
                    cuts.for_each_part(marked.as_bytes(), from, end, push);
                }
                from = end;
            }
            // A mark in five stays one.
            let mut text = String::new();
            let mut places = vec![0; marked.len() + 1];
            let mut marks = 0;
            for (at, one) in marked.char_indices() {
                places[at] = text.len();
                marks += usize::from(one == MARK);
                text.push(if spaced && one == MARK && marks % 5 > 0 { ' ' } else { one });
            }
            places[marked.len()] = text.len();
            let place = |at: usize| places[at];
            let ends = ends.iter().map(|&end| place(end) as u32).collect();
            Self { text, ends, spaced, certain: certain.into_iter().map(place).collect() }
        }

        /// The ids of a part.
        fn ids(&self, start: usize, end: usize) -> Vec<u32> {
            let part = &self.text[start..end];
            if self.spaced { ids(write_marks(part, &mut String::new())) } else { ids(part) }
        }

        /// From a certain cut to another one.
        fn is_cut(&self, start: usize, end: usize) {
            for at in [start, end] {
                assert!(self.certain.binary_search(&at).is_ok(), "{:?} {at}", self.text);
            }
        }
    }

    /// The ids of texts, and how many of their parts were not known.
    fn encoded(
        cuts: &Cuts,
        texts: &Texts,
        known: &mut KnownWords,
        (characters, teaches): (bool, bool),
        longest: &mut usize,
    ) -> (Vec<u32>, usize) {
        let Texts { text, ends, spaced, .. } = texts;
        let (mut out, mut seen, mut new) = (vec![7], Seen::default(), 0);
        let learn = &mut |known: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
            texts.is_cut(start, end);
            let ids = texts.ids(start, end);
            if teaches {
                known.insert(&text.as_bytes()[start..end], &ids);
            }
            out.extend(ids);
            *longest = (*longest).max(end - start);
            new += 1;
        };
        let mut lengths = Vec::new();
        fastest(ByBlocks {
            cuts,
            text: text.as_bytes(),
            ends,
            spaced: *spaced,
            characters,
            known,
            out: &mut out,
            learn,
            seen: &mut seen,
            behind: &mut |out| lengths.push(out.len() - 1),
        });
        assert!(seen.joined <= seen.words && seen.words < 2 + text.len() as u32);
        let expected = ends.iter().map(|&end| texts.ids(0, end as usize).len());
        assert!(lengths.iter().copied().eq(expected), "{text:?} {ends:?}");
        assert_eq!(out.remove(0), 7);
        (out, new)
    }

    /// The same of a text that comes as code points, with the first space beside them.
    fn encoded_points(
        cuts: &Cuts,
        text: &Texts,
        known: &mut KnownWords,
        teaches: bool,
    ) -> (Vec<u32>, usize) {
        let points: Vec<u32> = text.text.chars().map(u32::from).collect();
        let mark = points.len() > 1 && text.text.starts_with(' ');
        let points = Points { points: &points[usize::from(mark)..], mark };
        let mut places: Vec<usize> = text.text.char_indices().map(|(at, _)| at).collect();
        places.push(text.text.len());
        let (mut out, mut seen, mut new, mut room) = (vec![7], Seen::default(), 0, Vec::new());
        let look_up =
            &mut |known: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
                let (utf8, length) = points.utf8(start..end, &mut room);
                let (start, end) = (places[start], places[end]);
                text.is_cut(start, end);
                let part = &text.text[start..end];
                assert_eq!(part.as_bytes(), &utf8[..length], "{part:?}");
                if !known.get(utf8, 0, length, out) {
                    let ids = text.ids(start, end);
                    if teaches {
                        known.insert(part.as_bytes(), &ids);
                    }
                    out.extend(ids);
                    new += 1;
                }
            };
        let (text, out_of, seen_of) = (points, &mut out, &mut seen);
        fastest(ByPoints { cuts, text, known, out: out_of, look_up, seen: seen_of });
        assert!(seen.joined <= seen.words);
        assert_eq!(out.remove(0), 7);
        (out, new)
    }

    #[test]
    fn ids_are_those_of_the_text_and_parts_end_where_no_piece_lies_across() {
        let pieces = [
            "▁一", "▁a", "▁▁", "가나", "é.", "==", "a,", "🧩a", "一二", "▁가", " 나", "я▁", ".▁",
            "▁=", ". ", " a",
        ];
        // Something stands before a mark in none of the pieces, in one, of ASCII, too; the last two have spaces, which are no marks.
        let some = [11, 12, 16].map(|count| Cuts::new(&Vocab::new(&pieces[..count])));
        // The last two are one of three bytes and one of four that have the same bits in their second and third bytes.
        let letters: Vec<char> =
            "▁▁ab,.= B7\n가나다éя一二🧩\u{7E7}\u{800}\u{20000}".chars().collect();
        let mut random = SplitMix64::new(11);
        let mut below = |n: usize| (random.next() % n as u64) as usize;
        let mut tables = [(); 24].map(|()| KnownWords::new(1 << 22));
        let (mut all, mut new, mut longest) = (0, 0, 0);
        for round in 0..900 {
            let cuts = &some[round % 3];
            let length = [1 + below(8), 1 + below(80), 1 + below(3_000)][below(3)];
            let few = [1, 2, letters.len()][below(3)];
            let from = below(letters.len());
            let letter = |_| letters[(from + below(few)) % letters.len()];
            let mut text: String = (0..length).map(letter).collect();
            text.push_str(["", "", "", "▁🧩", "▁\u{20000}", "▁\u{800}"][below(6)]);
            // Where spaces stand for marks, others mean nothing else.
            let marked = text.replace(' ', "▁");
            // One text, or some, which may be empty.
            let ends = |text: &str, below: &mut dyn FnMut(usize) -> usize| {
                let mut ends: Vec<usize> = vec![text.len()];
                for _ in 0..[0, below(4), below(1 + length)][below(3)] {
                    let end = below(1 + text.len());
                    ends.extend(text.is_char_boundary(end).then_some(end));
                }
                ends.sort_unstable();
                ends
            };
            let ends_of_marked = ends(&marked, &mut below);
            let texts = [
                Texts::new(cuts, &text, &ends(&text, &mut below), false),
                Texts::new(cuts, &marked, &ends_of_marked, true),
            ];
            let whole = Texts::new(cuts, &marked, &[marked.len()], true);
            let all_ids = [ids(&text), ids(&marked)];
            for (texts, expected) in texts.iter().zip(&all_ids) {
                for (characters, teaches) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    every_way(|way| {
                        let number = (way as usize).min(2) * 8
                            + usize::from(texts.spaced) * 4
                            + characters * 2
                            + teaches;
                        let (known, teaches) = (&mut tables[number], teaches == 1);
                        if characters == 1 && texts.spaced {
                            let (found, missed) = encoded_points(cuts, &whole, known, teaches);
                            assert_eq!(&found, expected, "{way:?} {teaches} {text:?}");
                            (all, new) = (all + whole.certain.len() - 1, new + missed);
                        }
                        let how = (characters == 1, teaches);
                        let (found, missed) = encoded(cuts, texts, known, how, &mut longest);
                        assert_eq!(&found, expected, "{way:?} {how:?} {text:?}");
                        (all, new) = (all + texts.certain.len() - 1, new + missed);
                    });
                }
            }
        }
        // Some are known; small letters, marks and characters of four bytes make parts longer than they need be.
        assert!(all > 1_000_000 && (all / 10..all * 9 / 10).contains(&new), "{all} {new}");
        assert!(longest > 2 * BLOCK, "{longest}");
    }
}
