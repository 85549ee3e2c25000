//! Words of writings that a WordPiece model was not made for: Korean, say, for an English one.
//!
//! In words: a word is unknown if no pieces cover it, and so is one that has a character that is in no piece. Texts of such a
//! writing have as many words as others, all with the same id, and to remember them all would be to forget the others. So it is
//! asked of single characters whether they stay as they are among others, and whether a piece has them. A writing is all
//! characters side by side that stay so; a word of these need not be looked up if its first or its second one is in no piece.
//!
//! Rule: unknown for certain, or not said.

use std::ops::Range;

use crate::cache::Strange;
use crate::model::WordPiece;
use crate::prepare::{Prepare, Raw, RawScratch};
use crate::scan::{EIGHT, Look, Task, fastest, written_zeros};

/// Characters of three bytes are below this.
const CHARACTERS: usize = 1 << 16;
/// And not below this.
const FIRST: usize = 0x800;

/// What a character is; more says more.
type Kind = u8;
/// Nobody has asked.
const NEW: Kind = 0;
/// What becomes of words that have it is not certain.
const ODD: Kind = 1;
/// It is one character among others.
const PLAIN: Kind = 2;
/// And what it becomes is in no piece.
const NOWHERE: Kind = 3;

/// One of so many words is looked at, to see whether there may be many.
const SAMPLE: usize = 32;
/// One of so many words is strange, or they are few.
const FEW: usize = 8;
/// Lists of words that are passed over where one after the other had few: at most so many.
const PAUSE: u8 = 64;

/// What is known of characters as they stand in the text; each is asked for when it is first wanted.
#[derive(Debug, Default)]
pub(super) struct StrangeWords {
    kinds: Vec<Kind>,
    /// Bit by character: a piece has it.
    in_pieces: Vec<u64>,
    /// The writing that was met last: all of it is plain.
    writing: Range<usize>,
    /// Of the words of a list.
    words: Vec<u64>,
    /// So many lists are passed over, and were the last time.
    pause: u8,
    paused: u8,
}

/// Whose words they are.
pub(super) struct Of<'a> {
    pub(super) model: &'a WordPiece,
    pub(super) prepare: &'a Prepare,
    pub(super) raw: Raw,
    pub(super) room: &'a mut RawScratch,
}

impl Of<'_> {
    /// The characters of pieces; None if some pieces are not made of characters.
    fn in_pieces(&self) -> Option<Vec<u64>> {
        let mut bits = vec![0; CHARACTERS / 64];
        for piece in self.model.vocab().iter() {
            for c in std::str::from_utf8(piece).ok()?.chars().map(|c| c as usize) {
                if let Some(bits) = bits.get_mut(c / 64) {
                    *bits |= 1 << (c % 64);
                }
            }
        }
        Some(bits)
    }

    fn kind(&mut self, code: usize, in_pieces: &[u64]) -> Kind {
        let Self { prepare, raw, room, .. } = self;
        let c = u32::try_from(code).ok().and_then(char::from_u32);
        let Some(c) = c.and_then(|c| raw.character(prepare, c, room)) else { return ODD };
        let c = c as usize;
        match in_pieces.get(c / 64) {
            Some(bits) if bits >> (c % 64) & 1 == 0 => NOWHERE,
            _ => PLAIN,
        }
    }
}

impl StrangeWords {
    /// The words of a list that are unknown for certain, if many of them may be. The list has none that is
    /// [odd](crate::prepare::RawList::First).
    ///
    /// Always to be asked of the same tokenizer.
    #[inline]
    pub(super) fn find(
        &mut self,
        of: Of<'_>,
        text: &str,
        starts: &[u32],
        ends: &[u32],
    ) -> Strange<'_> {
        if self.pause > 0 {
            self.pause -= 1;
            return Strange::default();
        }
        let text = text.as_bytes();
        let sample = || starts.iter().step_by(SAMPLE).map(|&start| start as usize);
        let may_be = || sample().filter(|&start| matches!(text[start], 0xE0..0xF0));
        if may_be().count() * FEW <= sample().len() {
            return Strange::default();
        }
        self.look(of, text, starts, ends, may_be().map(|start| code(text, start)))
    }

    /// The same, without asking whether there may be many; some begin with these characters.
    #[inline(never)]
    fn look(
        &mut self,
        mut of: Of<'_>,
        text: &[u8],
        starts: &[u32],
        ends: &[u32],
        firsts: impl Iterator<Item = usize> + Clone,
    ) -> Strange<'_> {
        let Some(id) = of.model.unknown() else { return Strange::default() };
        if self.kinds.is_empty() {
            self.kinds = written_zeros(CHARACTERS);
            self.in_pieces = of.in_pieces().unwrap_or_default();
        }
        // Another writing, if it is not that of half of them; that of the one in the middle, as there may be more than one.
        let (many, still) = (
            firsts.clone().count(),
            firsts.clone().filter(|first| self.writing.contains(first)).count(),
        );
        if still * 2 < many
            && let Some(first) = firsts.clone().nth(many / 2)
        {
            self.writing = self.around(&mut of, first);
        }
        let Self { kinds, writing, words, pause, paused, .. } = self;
        words.clear();
        if writing.start < writing.end {
            fastest(Find { kinds, writing, text, starts, ends, words });
        }
        let found: usize = words.iter().map(|bits| bits.count_ones() as usize).sum();
        let few = starts.len() > FEW * (FEW + found);
        *paused = if few { PAUSE.min(2 * *paused + 1) } else { 0 };
        *pause = *paused;
        if few { Strange::default() } else { Strange { words, id } }
    }

    /// All characters around one that are plain, without one that is not between them.
    fn around(&mut self, of: &mut Of<'_>, code: usize) -> Range<usize> {
        let Self { kinds, in_pieces, .. } = self;
        let mut is_plain = |code: &usize| {
            let kind = &mut kinds[*code];
            if *kind == NEW {
                *kind = of.kind(*code, in_pieces);
            }
            *kind >= PLAIN
        };
        let before = (FIRST..code).rev().take_while(&mut is_plain).count();
        let behind = (code..CHARACTERS).take_while(&mut is_plain).count();
        code - before..code + behind
    }
}

/// The code point of a character of three bytes, which stands there.
fn code(text: &[u8], at: usize) -> usize {
    let [a, b, c] = text[at..].first_chunk().copied().unwrap_or_default();
    usize::from(a & 0x0F) << 12 | usize::from(b & 0x3F) << 6 | usize::from(c & 0x3F)
}

/// Words of a list, on their way.
struct Find<'a> {
    kinds: &'a [Kind],
    /// All of it has been asked for.
    writing: &'a Range<usize>,
    text: &'a [u8],
    starts: &'a [u32],
    ends: &'a [u32],
    /// Gets 64 bits at a time.
    words: &'a mut Vec<u64>,
}

impl Task for Find<'_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { kinds, writing, text, starts, ends, words } = self;
        let Some(kinds) = kinds.first_chunk() else { return };
        for (starts, ends) in starts.chunks(64).zip(ends.chunks(64)) {
            let mut bits = 0;
            let ((starts, rest), (ends, rest_ends)) = (starts.as_chunks(), ends.as_chunks());
            for (number, (starts, ends)) in starts.iter().zip(ends).enumerate() {
                let strange = eight::<L>(kinds, writing, text, starts, ends);
                bits |= u64::from(strange) << (number * EIGHT);
            }
            let done = starts.len() * EIGHT;
            for (at, (&start, &end)) in (done..).zip(rest.iter().zip(rest_ends)) {
                let word = &text[start as usize..end as usize];
                bits |= u64::from(is_strange(kinds, writing, word)) << at;
            }
            words.push(bits);
        }
    }
}

/// Bit n: a word of so many bytes may be some of these characters, but more than one, which is found without a hash anyway.
const LENGTHS: u32 = 1 << 6 | 1 << 9 | 1 << 12 | 1 << 15;

/// The three bytes of a character as one number, in the order of code points.
fn number(code: usize) -> u32 {
    let code = code as u32;
    0xE0_8080 | (code & 0xF000) << 4 | (code & 0xFC0) << 2 | code & 0x3F
}

/// Which of eight words are strange, as [`is_strange`] says: the same steps for all of them, without a branch.
#[inline(always)]
fn eight<L: Look>(
    kinds: &[Kind; CHARACTERS],
    writing: &Range<usize>,
    text: &[u8],
    starts: &[u32; EIGHT],
    ends: &[u32; EIGHT],
) -> u8 {
    let (mut strange, mut by_itself) = (0u8, u8::MAX);
    if let Some((low, high)) = L::sixteens(text, starts) {
        // Bytes of another length are in no such number, as the first of them tells how many there are.
        let from = number(writing.start);
        let many = number(writing.end - 1) - from + 1;
        let (mut first_two, mut fits, mut is_long) =
            ([[0u32; EIGHT]; 2], [0u32; EIGHT], [0u32; EIGHT]);
        for word in 0..EIGHT {
            let (low, high) = (low[word], high[word]);
            let len = ends[word].wrapping_sub(starts[word]);
            let characters =
                [low, low >> 24, low >> 48 | high << 16, high >> 8, high >> 32].map(|c| c as u32);
            let mut all = LENGTHS.unbounded_shr(len);
            for (at, c) in characters.iter().enumerate() {
                let number = (c & 0xFF) << 16 | c & 0xFF00 | c >> 16 & 0xFF;
                let is_in = number.wrapping_sub(from) < many;
                all &= u32::from(is_in | (len <= 3 * at as u32));
            }
            for (codes, c) in first_two.iter_mut().zip(characters) {
                codes[word] = (c & 0x0F) << 12 | (c >> 2 & 0xFC0) | c >> 16 & 0x3F;
            }
            fits[word] = all;
            is_long[word] = u32::from(len > 15);
        }
        by_itself = 0;
        for word in 0..EIGHT {
            let is_nowhere = |code: u32| kinds[code as usize % CHARACTERS] == NOWHERE;
            let is_unknown = is_nowhere(first_two[0][word]) | is_nowhere(first_two[1][word]);
            strange |= (fits[word] as u8 & u8::from(is_unknown)) << word;
            by_itself |= (is_long[word] as u8) << word;
        }
    }
    while by_itself != 0 {
        let word = by_itself.trailing_zeros() as usize;
        let there = starts[word] as usize..ends[word] as usize;
        strange |= u8::from(is_strange(kinds, writing, &text[there])) << word;
        by_itself &= by_itself - 1;
    }
    strange
}

/// Whether a word, which is UTF-8, is nothing but characters of a writing, more than one of them, and one of the first two is in
/// no piece.
#[inline(never)]
fn is_strange(kinds: &[Kind; CHARACTERS], writing: &Range<usize>, word: &[u8]) -> bool {
    let is_in = |at| word[at] & 0xF0 == 0xE0 && writing.contains(&code(word, at));
    let is_nowhere = |at| kinds[code(word, at)] == NOWHERE;
    let is_long = word.len() > 3 && word.len().is_multiple_of(3);
    is_long && (0..word.len()).step_by(3).all(is_in) && (is_nowhere(0) || is_nowhere(3))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;
    use crate::model::{Model, Scratch, Way, WordPieceParts};
    use crate::normalize::{Form, Rule, WITHIN};
    use crate::observe::Silent;
    use crate::prepare;
    use crate::pretokenize::{Dummy, Metaspace, Scheme};
    use crate::random::SplitMix64;
    use crate::scan::every_way;
    use crate::symbols::Marker;
    use crate::vocab::Vocab;

    const UNKNOWN: u32 = 0;
    const PIECES: [&str; 16] = [
        "[UNK]", "a", "##a", "가", "##나", "##다라", "あ", "##い", "ᄀ", "##ᅡ", "ก", "##ข", "ཀ",
        "ﬁ", "中", "…",
    ];

    fn model(unknown: Option<u32>, pieces: Vocab) -> Model {
        Model::WordPiece(WordPiece::new(WordPieceParts {
            pieces,
            marker: Marker::Continuation { text: "##".to_owned() },
            marked: false,
            unknown,
            max_chars_per_word: 20,
        }))
    }

    /// Texts put one behind the other, with where they start and end.
    fn together(words: &[String]) -> (String, Vec<u32>, Vec<u32>) {
        let (mut text, mut starts, mut ends) = (String::new(), Vec::new(), Vec::new());
        for word in words {
            starts.push(text.len() as u32);
            text.push_str(word);
            ends.push(text.len() as u32);
            text.push(' ');
        }
        text.pop();
        (text, starts, ends)
    }

    /// Rules and schemes under which words are cut before they are normalized.
    fn cases() -> Vec<(Vec<Rule>, Vec<Scheme>)> {
        let bert = |lowercase| Rule::Bert {
            clean_text: true,
            chinese_chars: true,
            strip_accents: lowercase,
            lowercase,
        };
        let marked = Metaspace { dummy: Dummy::Always, ..Metaspace::default() };
        vec![
            (vec![bert(false)], vec![Scheme::Bert]),
            (vec![bert(true)], vec![Scheme::Bert]),
            (vec![], vec![Scheme::Bert8]),
            (vec![bert(true), Rule::Form(Form::Nfkd)], vec![Scheme::Bert]),
            (vec![], vec![Scheme::Whitespace, Scheme::Metaspace(marked)]),
        ]
    }

    /// What is made of a word without being told that it is strange.
    fn plainly(prepare: &Prepare, model: &Model, word: &str) -> Vec<u32> {
        let (mut buffers, mut ids) = (prepare::Scratch::default(), Vec::new());
        let (mut way, mut scratch) = (Way::default(), Scratch::default());
        let ready = prepare.text(word, WITHIN, &mut buffers).unwrap();
        let cut = prepare.for_each(ready, |start, end| {
            let word = &ready.text[start..end];
            model.word(word, &mut way, &mut scratch, &mut ids, &mut Silent).unwrap();
        });
        cut.unwrap();
        ids
    }

    /// Holds lists of words, each by whatever was met before it, to the plain way; how many words were strange.
    fn check(lists: impl Iterator<Item = Vec<String>> + Clone) -> usize {
        let mut found = 0;
        for (rules, schemes) in cases() {
            let prepare = Prepare::new(&rules, &schemes).unwrap();
            let model = model(Some(UNKNOWN), Vocab::new(PIECES));
            let (mut room, mut strange) = (RawScratch::default(), StrangeWords::default());
            for words in lists.clone() {
                let (text, starts, ends) = together(&words);
                strange.pause = 0;
                let of = Of {
                    model: model.wordpiece().unwrap(),
                    prepare: &prepare,
                    raw: prepare.raw().unwrap(),
                    room: &mut room,
                };
                let Strange { words: bits, id } = strange.find(of, &text, &starts, &ends);
                for (at, word) in words.iter().enumerate() {
                    if bits.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1) {
                        found += 1;
                        assert_eq!(id, UNKNOWN);
                        assert_eq!(plainly(&prepare, &model, word), [id], "{word:?} {rules:?}");
                    }
                }
            }
        }
        found
    }

    #[test]
    fn every_character_among_others() {
        let all = (0..0x11_000u32).filter_map(char::from_u32);
        let lists = all.map(|c| {
            let others =
                ["", "나", "각", "가가", "힣", "い", "ข", "a", "é", "\u{301}", "🐑", "글글글글글"];
            let words = others.map(|other| {
                [format!("{c}{c}{other}"), format!("{c}{other}{c}"), format!("{c}{other}")]
            });
            words.into_iter().flatten().collect::<Vec<String>>()
        });
        let found = check(lists);
        assert!(found > 1_000_000, "{found}");
    }

    #[test]
    fn random_words() {
        let letters = [
            "가", "나", "다", "라", "각", "힣", "ㅋ", "あ", "い", "う", "ア", "ก", "ข", "ค", "ཀ",
            "中", "文", "—", "…", "a", "é", "1", "\u{200B}", "\u{FFFD}", "\u{3000}", "\u{37E}",
            "🐑", "\u{AD}", "\u{1100}",
        ];
        let mut random = SplitMix64::new(7);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let lists: Vec<Vec<String>> = (0..3_000)
            .map(|_| {
                let (from, kinds) = (below(letters.len()), 1 + below(6));
                let mut word = || {
                    let count = 1 + below(7);
                    (0..count).map(|_| letters[(from + below(kinds)) % letters.len()]).collect()
                };
                (0..150).map(|_| word()).collect()
            })
            .collect();
        let found = check(lists.iter().cloned());
        assert!(found > 100_000, "{found}");
    }

    /// All words of one writing with a character in front that no piece has are found, however the machine looks at them.
    #[test]
    fn words_of_a_writing_are_found_in_any_way() {
        let prepare = Prepare::new(&cases()[0].0, &cases()[0].1).unwrap();
        let model = model(Some(UNKNOWN), Vocab::new(PIECES));
        let mut random = SplitMix64::new(3);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        for _ in 0..300 {
            let many = 1 + below(150);
            let mut word = || {
                let (syllables, end) = (1 + below(8), ["", "", "", "a", "é", "中"][below(6)]);
                let all = (0..syllables).map(|_| ["가", "나", "각", "힣", "글"][below(5)]);
                all.chain([end]).collect::<String>()
            };
            let words: Vec<String> = (0..many).map(|_| word()).collect();
            let (text, starts, ends) = together(&words);
            let expected: Vec<bool> = words
                .iter()
                .map(|word| {
                    let is_written = |c: char| ('가'..='힣').contains(&c);
                    let is_nowhere = |c: &char| is_written(*c) && !"가나다라".contains(*c);
                    let first = word.chars().take(2).find(is_nowhere);
                    word.chars().count() > 1 && word.chars().all(is_written) && first.is_some()
                })
                .collect();
            every_way(|way| {
                let (mut room, mut strange) = (RawScratch::default(), StrangeWords::default());
                let raw = prepare.raw().unwrap();
                let of = Of {
                    model: model.wordpiece().unwrap(),
                    prepare: &prepare,
                    raw,
                    room: &mut room,
                };
                let bits = strange.find(of, &text, &starts, &ends).words;
                let found: Vec<bool> = (0..words.len())
                    .map(|at| bits.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1))
                    .collect();
                assert_eq!(found, expected, "{way:?} {text:?}");
                // Wherever a writing ends.
                let kinds = strange.kinds.first_chunk().unwrap();
                for writing in [0xAC00..0xAC01, 0xAC00..0xB098, 0xAC01..0xB099, 0xB098..0xD7A3] {
                    let (text, mut words) = (text.as_bytes(), Vec::new());
                    let (starts, ends, words) = (&starts, &ends, &mut words);
                    fastest(Find { kinds, writing: &writing, text, starts, ends, words });
                    for (at, (&start, &end)) in starts.iter().zip(ends).enumerate() {
                        let word = &text[start as usize..end as usize];
                        let found = words[at / 64] >> (at % 64) & 1 == 1;
                        assert_eq!(found, is_strange(kinds, &writing, word), "{way:?} {writing:?}");
                    }
                }
            });
        }
    }

    #[test]
    fn none_where_nothing_stands_for_the_unknown_or_pieces_are_bytes() {
        let prepare = Prepare::new(&cases()[0].0, &cases()[0].1).unwrap();
        let words = vec!["한글".to_owned(); 100];
        let (text, starts, ends) = together(&words);
        let bytes = [b"[UNK]".as_slice(), b"\xED"];
        for (unknown, pieces, many) in [
            (Some(0), Vocab::new(PIECES), 100),
            (None, Vocab::new(PIECES), 0),
            (Some(0), Vocab::new(bytes), 0),
        ] {
            let (model, raw) = (model(unknown, pieces), prepare.raw().unwrap());
            let (mut room, mut strange) = (RawScratch::default(), StrangeWords::default());
            let of =
                Of { model: model.wordpiece().unwrap(), prepare: &prepare, raw, room: &mut room };
            let Strange { words, .. } = strange.find(of, &text, &starts, &ends);
            assert_eq!(words.iter().map(|bits| bits.count_ones()).sum::<u32>(), many);
        }
    }

    #[test]
    fn lists_in_vain_are_passed_over_for_a_while() {
        let prepare = Prepare::new(&cases()[0].0, &cases()[0].1).unwrap();
        let model = model(Some(UNKNOWN), Vocab::new(PIECES));
        let (mut room, mut strange) = (RawScratch::default(), StrangeWords::default());
        let mut many = |word: &str| {
            let (text, starts, ends) = together(&vec![word.to_owned(); 100]);
            let raw = prepare.raw().unwrap();
            let of =
                Of { model: model.wordpiece().unwrap(), prepare: &prepare, raw, room: &mut room };
            let Strange { words, .. } = strange.find(of, &text, &starts, &ends);
            words.iter().map(|bits| bits.count_ones()).sum::<u32>()
        };
        assert_eq!(many("한글"), 100);
        // Their characters are in pieces: more and more such lists are passed over.
        for _ in 0..200 {
            assert_eq!(many("다라"), 0);
        }
        let waited = (0..1000).find(|_| many("한글") == 100).unwrap();
        assert!((1..=usize::from(PAUSE)).contains(&waited), "{waited}");
        // From then on none is.
        assert_eq!(many("한글"), 100);
    }
}
