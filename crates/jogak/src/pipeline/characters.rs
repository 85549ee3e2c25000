//! Words of Chinese and Korean, which mostly fall into single characters: cut and looked up 64 bytes at a time.
//!
//! A block begins where a part of a word does, so that nothing is carried from one to the next.

use crate::cache::{CharacterWriter, Characters, KnownWords, LearnWord};
use crate::model::cuts::{Cuts, Listed, WINDOW, window};
use crate::scan::{BLOCK, Look, Task};

/// What was seen of words, or of the parts of a text that is one word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Words that begin with a character of three bytes, or with a space and such a one, but for the first; or parts.
    pub(super) words: u32,
    /// Parts of them that are more than one character, or other than one of three bytes.
    pub(super) joined: u32,
}

/// Appends the ids of the words between `borders` to `out`. `learn` appends those of what the table does not know, and may
/// teach it.
pub(super) struct ByCharacters<'a, 'l> {
    pub(super) cuts: &'a Cuts,
    pub(super) text: &'a [u8],
    pub(super) borders: &'a [u32],
    pub(super) known: &'a mut KnownWords,
    pub(super) out: &'a mut Vec<u32>,
    pub(super) learn: &'a mut LearnWord<'l>,
    pub(super) seen: &'a mut Seen,
}

impl Task for ByCharacters<'_, '_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { cuts, text, borders, known, out, learn, seen } = self;
        let (Some(&first), Some(&last)) = (borders.first(), borders.last()) else { return };
        let mut writer = CharacterWriter::new(known, out);
        let look_up =
            &mut |known: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
                if !known.get(text, start, end, out) {
                    learn(known, start, end, out);
                }
            };
        let mut listed = Listed::default();
        let (mut at, mut next) = (first, 1);
        while at < last {
            let mut padded = [0; WINDOW];
            let window = window(text, at as usize, &mut padded);
            let (words, count) = L::bits(&borders[next..], at);
            let words = words | 1;
            next += count;
            // Behind the last border, nothing is asked.
            let asked = u64::MAX.unbounded_shr((BLOCK as u32 - 1).saturating_sub(last - at));
            let block = cuts.block::<L>(window, words, asked, &mut listed);
            let joined = block.joined;
            seen.words += (words & !1 & (block.threes | block.threes >> 1)).count_ones();
            seen.joined += (joined & !(joined << 3)).count_ones();
            let open = block.starts.ilog2();
            if open == 0 {
                // Longer than a block: to the end of its word.
                let end = borders[next];
                writer.part(known, at as usize, end as usize, look_up);
                at = end;
                continue;
            }
            let parts = Characters {
                at,
                starts: block.starts,
                spaces: window.first_chunk().map_or(0, |bytes| L::apart(bytes).spaces),
                threes: block.threes,
                codes: listed.codes(),
            };
            writer.block::<L>(text, known, parts, look_up);
            at += open;
        }
        writer.finish(known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::{every_way, fastest};
    use crate::vocab::Vocab;

    /// Ids of a text that are those of its parts: of each so many as its bytes say, up to nine.
    fn ids(cuts: &Cuts, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        if !text.is_empty() {
            cuts.for_each_part(text.as_bytes(), 0, text.len(), |start, end, _| {
                let part = &text.as_bytes()[start..end];
                let sum = part.iter().fold(7u32, |sum, &byte| sum * 31 % 65_521 + u32::from(byte));
                ids.extend((0..1 + [0, 0, 0, 1, 1, 2, 3, 8][sum as usize % 8]).map(|id| sum + id));
            });
        }
        ids
    }

    #[test]
    fn ids_are_those_of_the_words() {
        let pieces: [&[u8]; 9] = [
            "가나".as_bytes(),
            "나가".as_bytes(),
            "라가나다".as_bytes(),
            b" \xEB",
            &[0x98, 0xB6],
            &[0x80, 0xEB],
            "一二".as_bytes(),
            " 가나".as_bytes(),
            "a가".as_bytes(),
        ];
        let cuts = Cuts::new(&Vocab::new(pieces));
        let letters: Vec<char> = "가나다라一二三あい각".chars().collect();
        let mut random = SplitMix64::new(7);
        let mut below = |n: usize| (random.next() % n as u64) as usize;
        let mut tables = [(); 3].map(|()| KnownWords::new(1 << 22));
        let (mut known, mut learned, mut longest, mut joined) = (0, 0, 0, 0);
        for _ in 0..400 {
            let (mut text, mut borders) = (String::new(), vec![0]);
            for _ in 0..below(60) {
                text.push_str(["", "", "", "", " ", " ", "x", "!"][below(8)]);
                let most = if below(20) == 0 { 70 } else { 6 };
                // These two always belong together: parts that are longer than a block.
                let few = if below(9) == 0 { 2 } else { letters.len() };
                let from = below(few);
                for number in 0..1 + below(most) {
                    let letter = if few == 2 { (from + number) % 2 } else { below(few) };
                    text.push(letters[letter]);
                }
                text.push_str(["", "", "", "", "", "", "a", "abc", "é", "\u{20000}"][below(10)]);
                borders.push(text.len() as u32);
            }
            // Only some of the words: there is text before and behind them.
            let borders = &borders[below(2).min(borders.len() - 1)..];
            let borders = &borders[..(borders.len() - below(2)).max(1)];
            let words = borders.windows(2).map(|word| &text[word[0] as usize..word[1] as usize]);
            let expected: Vec<u32> = words.flat_map(|word| ids(&cuts, word)).collect();
            let teaches = below(3) > 0;
            every_way(|way| {
                let table = &mut tables[(way as usize).min(2)];
                let (mut out, mut seen) = (vec![7], Seen::default());
                let mut missed = 0;
                fastest(ByCharacters {
                    cuts: &cuts,
                    text: text.as_bytes(),
                    borders,
                    known: table,
                    out: &mut out,
                    learn: &mut |table, start, end, out| {
                        let ids = ids(&cuts, &text[start..end]);
                        if teaches {
                            table.insert(&text.as_bytes()[start..end], &ids);
                        }
                        longest = longest.max(end - start);
                        missed += ids.len();
                        out.extend(ids);
                    },
                    seen: &mut seen,
                });
                assert_eq!((out[0], &out[1..]), (7, &expected[..]), "{way:?} {text:?} {borders:?}");
                assert!(seen.words <= borders.len() as u32);
                (known, learned) = (known + out.len() - 1 - missed, learned + missed);
                joined += seen.joined;
            });
        }
        assert!(known > 10_000 && learned > 5_000 && joined > 10_000, "{known} {learned} {joined}");
        assert!(longest > BLOCK, "{longest}");
    }
}
