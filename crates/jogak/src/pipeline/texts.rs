//! Texts that are one word each, of SentencePiece's BPE: cut where it is certain, 64 bytes at a time; the borders of parts are
//! gathered, and looked up as those of words are.

use super::characters::Seen;
use crate::cache::{CharacterWriter, KnownWords, LearnWord, look_up_between};
use crate::model::cuts::{CharacterBlock, Cuts, WINDOW};
use crate::scan::{BLOCK, Look, Task};

/// So many borders are looked up together, and those of one more block.
const TOGETHER: usize = 1 << 9;

/// Appends the ids of a text to `out`: not empty, and of less than 4 GiB. `learn` appends those of what the table does not
/// know, and may teach it.
pub(super) struct ByBlocks<'a, 'l> {
    pub(super) cuts: &'a Cuts,
    pub(super) text: &'a [u8],
    pub(super) known: &'a mut KnownWords,
    pub(super) out: &'a mut Vec<u32>,
    pub(super) learn: &'a mut LearnWord<'l>,
    pub(super) seen: &'a mut Seen,
}

impl Task for ByBlocks<'_, '_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { cuts, text, known, out, learn, seen } = self;
        // Of the block that is cut, and of the end of the text.
        let mut borders = [0; TOGETHER + BLOCK + 1];
        let (mut at, mut listed) = (0, 1);
        loop {
            let mut padded = [0; WINDOW];
            let left = &text[at..];
            let window = left.first_chunk().unwrap_or_else(|| {
                padded[..left.len()].copy_from_slice(left);
                &padded
            });
            let count = left.len().min(BLOCK);
            let block = cuts.block_of_text::<L>(window, u64::MAX >> (BLOCK - count));
            let parts = block.starts.count_ones();
            seen.words += parts;
            seen.joined += parts - (block.starts & block.starts >> 3 & block.threes).count_ones();
            if let Some(room) = borders[listed..].first_chunk_mut() {
                L::list(block.starts, at as u32, room);
                listed += parts as usize;
            }
            let ends = count == left.len();
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
}

/// The same of a text of which most parts are single characters of three bytes, such as Chinese and Korean.
pub(super) struct TextByCharacters<'a, 'l> {
    pub(super) cuts: &'a Cuts,
    pub(super) text: &'a [u8],
    pub(super) known: &'a mut KnownWords,
    pub(super) out: &'a mut Vec<u32>,
    pub(super) learn: &'a mut LearnWord<'l>,
    pub(super) seen: &'a mut Seen,
}

impl Task for TextByCharacters<'_, '_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { cuts, text, known, out, learn, seen } = self;
        let mut writer = CharacterWriter::new(known, out);
        let mut at = 0;
        while at < text.len() {
            let mut padded = [0; WINDOW];
            let left = &text[at..];
            let window = left.first_chunk().unwrap_or_else(|| {
                padded[..left.len()].copy_from_slice(left);
                &padded
            });
            let count = left.len().min(BLOCK);
            let block = cuts.block_of_characters::<L>(window, u64::MAX >> (BLOCK - count));
            let CharacterBlock { mut listed, mut starts } = block;
            if left.len() < BLOCK {
                // The last part ends with the text: in less than a block there is room for one more.
                listed.places[listed.count] = left.len() as u32;
                starts |= 1 << listed.count;
            }
            let open = starts.ilog2() as usize;
            if open == 0 {
                let end = at + end::<L>(cuts, left);
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

/// Where the first part of a text ends, which is longer than a block.
#[inline(never)]
fn end<L: Look>(cuts: &Cuts, text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let mut padded = [0; WINDOW];
        let left = &text[at..];
        let window = left.first_chunk().unwrap_or_else(|| {
            padded[..left.len()].copy_from_slice(left);
            &padded
        });
        let count = left.len().min(BLOCK);
        let block = cuts.block_of_text::<L>(window, u64::MAX >> (BLOCK - count));
        if block.starts != 0 {
            return at + block.starts.trailing_zeros() as usize;
        }
        if count == left.len() {
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

    #[test]
    fn parts_tile_the_text_and_end_where_no_piece_lies_across() {
        let pieces: [&[u8]; 9] = [
            "▁a".as_bytes(),
            "▁▁".as_bytes(),
            "가나".as_bytes(),
            "é.".as_bytes(),
            b"==",
            b"a,",
            "я▁".as_bytes(),
            "🧩a".as_bytes(),
            "一二".as_bytes(),
        ];
        let cuts = Cuts::new(&Vocab::new(pieces));
        let letters: Vec<char> = "▁▁ab,.=B7\n가나다éя一二🧩".chars().collect();
        let mut random = SplitMix64::new(11);
        let mut below = |n: usize| (random.next() % n as u64) as usize;
        let (mut parts, mut longest) = (0, 0);
        for _ in 0..600 {
            let length = [1 + below(8), 1 + below(80), 1 + below(3_000)][below(3)];
            let few = [1, 2, letters.len()][below(3)];
            let from = below(letters.len());
            let letter = |_| letters[(from + below(few)) % letters.len()];
            let text: String = (0..length).map(letter).collect();
            // Where there is a certain cut, character by character.
            let mut certain = vec![0];
            cuts.for_each_part(text.as_bytes(), 0, text.len(), |_, end, _| certain.push(end));
            every_way(|way| {
                let (mut known, mut out, mut seen) =
                    (KnownWords::new(1 << 12), vec![7], Seen::default());
                let mut at = 0;
                fastest(ByBlocks {
                    cuts: &cuts,
                    text: text.as_bytes(),
                    known: &mut known,
                    out: &mut out,
                    learn: &mut |_, start, end, out| {
                        assert_eq!(start, at, "{way:?} {text:?}");
                        assert!(certain.binary_search(&end).is_ok(), "{way:?} {text:?} {end}");
                        at = end;
                        longest = longest.max(end - start);
                        out.push(end as u32);
                        parts += 1;
                    },
                    seen: &mut seen,
                });
                assert_eq!(at, text.len(), "{way:?} {text:?}");
                assert!(seen.joined <= seen.words && seen.words < out.len() as u32);
            });
        }
        assert!(parts > 50_000 && longest > 2 * BLOCK, "{parts} {longest}");
    }
}
