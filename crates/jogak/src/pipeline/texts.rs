//! Texts that are one word each, of SentencePiece's BPE: cut where it is certain, 64 bytes at a time. The borders of parts are
//! gathered, and looked up as those of words are; where most parts are single characters of three bytes, their ids come from a
//! list.

use super::characters::Seen;
use crate::cache::{CharacterWriter, KnownWords, LearnWord, look_up_between};
use crate::model::cuts::{Cuts, Listed, WINDOW, window};
use crate::scan::{BLOCK, Look, Task};

/// So many borders are looked up together, and those of one more block.
const TOGETHER: usize = 1 << 9;

/// Appends the ids of a text to `out`: not empty, and of less than 4 GiB. `learn` appends those of what the table does not
/// know, and may teach it.
pub(super) struct ByBlocks<'a, 'l> {
    pub(super) cuts: &'a Cuts,
    pub(super) text: &'a [u8],
    /// Most parts are single characters of three bytes, as in Chinese and Korean.
    pub(super) characters: bool,
    pub(super) known: &'a mut KnownWords,
    pub(super) out: &'a mut Vec<u32>,
    pub(super) learn: &'a mut LearnWord<'l>,
    pub(super) seen: &'a mut Seen,
}

impl Task for ByBlocks<'_, '_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        if self.characters { self.by_characters::<L>() } else { self.by_borders::<L>() }
    }
}

impl ByBlocks<'_, '_> {
    #[inline(always)]
    fn by_borders<L: Look>(self) {
        let Self { cuts, text, known, out, learn, seen, .. } = self;
        // Of the block that is cut, and of the end of the text.
        let mut borders = [0; TOGETHER + BLOCK + 1];
        let (mut at, mut listed) = (0, 1);
        loop {
            let mut padded = [0; WINDOW];
            let (window, within) = (window(text, at, &mut padded), within(text, at));
            let block = cuts.block_of_text::<L>(window, within);
            let parts = block.starts.count_ones();
            seen.words += parts;
            seen.joined += parts - (block.starts & block.starts >> 3 & block.threes).count_ones();
            if let Some(room) = borders[listed..].first_chunk_mut() {
                L::list(block.starts, at as u32, room);
                listed += parts as usize;
            }
            let ends = text.len() - at <= BLOCK;
            if ends {
                borders[listed] = text.len() as u32;
                listed += 1;
            }
            if ends || listed >= TOGETHER {
                look_up_between(text, known, &borders[..listed], out, learn);
                borders[0] = borders[listed - 1];
                listed = 1;
            }
            if ends {
                return;
            }
            // Its last character is what stands before the next one's others.
            at += block.last;
        }
    }

    #[inline(always)]
    fn by_characters<L: Look>(self) {
        let Self { cuts, text, known, out, learn, seen, .. } = self;
        let mut writer = CharacterWriter::new(known, out);
        let mut listed = Listed::default();
        let mut at = 0;
        while at < text.len() {
            let mut padded = [0; WINDOW];
            let (window, within) = (window(text, at, &mut padded), within(text, at));
            let mut starts = cuts.block_of_characters::<L>(window, within, &mut listed);
            let left = text.len() - at;
            if left < BLOCK {
                // The last part ends with the text: in less than a block there is room for one more.
                listed.places[listed.count] = left as u32;
                starts |= 1 << listed.count;
            }
            let open = starts.ilog2() as usize;
            if open == 0 {
                let end = end::<L>(cuts, text, at);
                writer.part(text, known, at, end, learn);
                at = end;
                continue;
            }
            seen.words += starts.count_ones() - 1;
            seen.joined += (starts & !(starts >> 1)).count_ones() - 1;
            writer.characters::<L>(text, known, (at, &listed.places, &listed.codes), starts, learn);
            at += listed.places[open] as usize;
        }
        writer.finish(known);
    }
}

/// Which bytes of the block at a place are of the text.
#[inline(always)]
fn within(text: &[u8], at: usize) -> u64 {
    u64::MAX >> BLOCK.saturating_sub(text.len() - at)
}

/// Where the part ends that begins at a place, and is longer than a block.
#[inline(never)]
fn end<L: Look>(cuts: &Cuts, text: &[u8], mut at: usize) -> usize {
    loop {
        let mut padded = [0; WINDOW];
        let (window, within) = (window(text, at, &mut padded), within(text, at));
        let block = cuts.block_of_text::<L>(window, within);
        if block.starts != 0 {
            return at + block.starts.trailing_zeros() as usize;
        }
        if text.len() - at <= BLOCK {
            return text.len();
        }
        at += block.last;
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

    /// The ids of a text, and how many of its parts were not known.
    fn encoded(
        cuts: &Cuts,
        (text, certain): (&str, &[usize]),
        known: &mut KnownWords,
        (characters, teaches): (bool, bool),
        longest: &mut usize,
    ) -> (Vec<u32>, usize) {
        let (mut out, mut seen, mut new) = (vec![7], Seen::default(), 0);
        let learn = &mut |known: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
            // Where there is a certain cut, and nowhere else.
            assert!(certain.binary_search(&start).is_ok(), "{text:?} {start}");
            assert!(certain.binary_search(&end).is_ok(), "{text:?} {end}");
            let ids = ids(&text[start..end]);
            if teaches {
                known.insert(&text.as_bytes()[start..end], &ids);
            }
            out.extend(ids);
            *longest = (*longest).max(end - start);
            new += 1;
        };
        let (text, out_of, seen_of) = (text.as_bytes(), &mut out, &mut seen);
        fastest(ByBlocks { cuts, text, characters, known, out: out_of, learn, seen: seen_of });
        assert!(seen.joined <= seen.words && seen.words < 2 + text.len() as u32);
        assert_eq!(out.remove(0), 7);
        (out, new)
    }

    #[test]
    fn ids_are_those_of_the_text_and_parts_end_where_no_piece_lies_across() {
        let pieces = ["▁a", "▁▁", "가나", "é.", "==", "a,", "🧩a", "一二", "▁가", "я▁", ".▁", "▁="];
        // Something stands before a mark in none of the pieces, in one, of ASCII, too.
        let some = [9, 10, 12].map(|count| Cuts::new(&Vocab::new(&pieces[..count])));
        // The last two are one of three bytes and one of four that have the same bits in their second and third bytes.
        let letters: Vec<char> =
            "▁▁ab,.= B7\n가나다éя一二🧩\u{7E7}\u{800}\u{20000}".chars().collect();
        let mut random = SplitMix64::new(11);
        let mut below = |n: usize| (random.next() % n as u64) as usize;
        let mut tables = [(); 12].map(|()| KnownWords::new(1 << 22));
        let (mut all, mut new, mut longest) = (0, 0, 0);
        for round in 0..900 {
            let cuts = &some[round % 3];
            let length = [1 + below(8), 1 + below(80), 1 + below(3_000)][below(3)];
            let few = [1, 2, letters.len()][below(3)];
            let from = below(letters.len());
            let letter = |_| letters[(from + below(few)) % letters.len()];
            let mut text: String = (0..length).map(letter).collect();
            text.push_str(["", "", "", "▁🧩", "▁\u{20000}", "▁\u{800}"][below(6)]);
            let mut certain = vec![0];
            cuts.for_each_part(text.as_bytes(), 0, text.len(), |_, end, _| certain.push(end));
            for characters in [false, true] {
                for teaches in [false, true] {
                    every_way(|way| {
                        let number = (way as usize).min(2) * 4
                            + usize::from(characters) * 2
                            + usize::from(teaches);
                        let how = (characters, teaches);
                        let (known, text) = (&mut tables[number], (&*text, &*certain));
                        let (found, missed) = encoded(cuts, text, known, how, &mut longest);
                        assert_eq!(found, ids(text.0), "{way:?} {how:?} {text:?}");
                        (all, new) = (all + certain.len() - 1, new + missed);
                    });
                }
            }
        }
        // Some are known; small letters, marks and characters of four bytes make parts longer than they need be.
        assert!(all > 1_000_000 && (all / 10..all * 9 / 10).contains(&new), "{all} {new}");
        assert!(longest > 2 * BLOCK, "{longest}");
    }
}
