//! Texts that come as code points, of models that go by characters: no UTF-8 is made of them but that of parts that are looked up.
//!
//! In words: a text of SentencePiece's BPE is one word, and nothing is done to it but that spaces become `▁`. In Chinese and Korean
//! most of its parts are single characters, and their ids stand in a list by code point. A string of Python is code points; so all
//! that is asked before is whether a token is in the text that is found before it is cut.

use std::sync::atomic::{AtomicU32, Ordering};

use super::characters;
use super::texts::{ByPoints, Points};
use super::words::{Learner, is_nearly_all};
use super::{Learned, Request, Tokenizer, Worker};
use crate::added::{Added, Inner, SpecialPolicy};
use crate::cache::KnownWords;
use crate::error::Result;
use crate::model::Model;
use crate::model::cuts::MARK;
use crate::prepare::{Marks, Prepare};
use crate::scan::{Look, Task, fastest};

/// Characters that tokens may begin with, at most.
const FEW: usize = 4;
/// So many tokens are looked for where one may begin; if there are more, one may be there.
const TOKENS: usize = 64;
/// The first of Chinese characters, Hangul and Japanese syllables, and what stands around them.
pub const EASTERN: u32 = 0x3000;
/// Characters that are looked at together.
const TOGETHER: usize = 64;
/// Stretches of texts that go by characters, one behind the other, until it is taken for certain that the next ones do.
const WARY: u32 = 64;
/// Stands for no character.
const NONE: u32 = u32::MAX;

/// How a tokenizer reads code points.
#[derive(Debug)]
pub(super) struct Reads {
    marks: Marks,
    /// The tokens that are found in texts, and what they begin with.
    tokens: Vec<Vec<u32>>,
    firsts: [u32; FEW],
    /// More than 0 if parts were more than single characters of late, so that UTF-8 was made after all: how many stretches of texts
    /// have to go by characters until those that come again do.
    wary: AtomicU32,
}

impl Reads {
    /// None if it does not.
    pub(super) fn new(
        prepare: &Prepare,
        added: &Added,
        inner: Option<&Inner>,
        model: &Model,
    ) -> Option<Self> {
        let marks = prepare.only_marks(MARK)?;
        let one_word = prepare.leaves_whole();
        if !one_word || !model.cuts_all_words(one_word) || model.cuts().is_none() {
            return None;
        }
        let points = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
        let found = |text: &&str| inner.is_none_or(|inner| !inner.has(text));
        let tokens: Vec<Vec<u32>> = added.plain_texts().filter(found).map(points).collect();
        let mut all: Vec<u32> = tokens.iter().filter_map(|token| token.first().copied()).collect();
        all.sort_unstable();
        all.dedup();
        let mut firsts = [NONE; FEW];
        firsts.get_mut(..all.len())?.copy_from_slice(&all);
        Some(Self { marks, tokens, firsts, wary: AtomicU32::new(0) })
    }

    /// How many bytes a text has, if it may be read so: all of it are characters, nearly all of East Asia, and no token is in it
    /// if one is looked for.
    fn suits(&self, points: &[u32], looks: bool) -> Option<usize> {
        let mut seen = Seen::default();
        let firsts = if looks { self.firsts } else { [NONE; FEW] };
        fastest(Check { points, firsts, seen: &mut seen });
        let suits = !seen.other && !points.is_empty() && is_nearly_all(seen.eastern, seen.bytes);
        (suits && !(seen.first && may_have_one(points, &self.tokens, firsts))).then_some(seen.bytes)
    }
}

/// Whether one of the tokens, which begin with `firsts`, may be in a text.
fn may_have_one(points: &[u32], tokens: &[Vec<u32>], firsts: [u32; FEW]) -> bool {
    let begins = |at: usize| tokens.iter().any(|token| points[at..].starts_with(token));
    let mut places = (0..points.len()).filter(|&at| firsts.contains(&points[at]));
    tokens.len() > TOKENS || places.any(begins)
}

/// What was seen of code points.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// How many are of East Asia.
    eastern: usize,
    /// How many bytes their UTF-8 has.
    bytes: usize,
    /// Some are none of characters.
    other: bool,
    /// Some may begin a token.
    first: bool,
}

/// Looks at all of them.
struct Check<'a> {
    points: &'a [u32],
    firsts: [u32; FEW],
    seen: &'a mut Seen,
}

impl Task for Check<'_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { points, firsts, seen } = self;
        for points in points.chunks(TOGETHER) {
            let (mut eastern, mut bytes, mut other, mut first) = (0, 0, 0, 0);
            for &point in points {
                let beyond = |first: u32| u32::from(point >= first);
                eastern += beyond(EASTERN);
                bytes += 1 + beyond(0x80) + beyond(0x800) + beyond(0x1_0000);
                other |= u32::from(point.wrapping_sub(0xD800) < 0x800) | beyond(0x11_0000);
                for one in firsts {
                    first |= u32::from(point == one);
                }
            }
            seen.eastern += eastern as usize;
            seen.bytes += bytes as usize;
            seen.other |= other != 0;
            seen.first |= first != 0;
        }
    }
}

impl Tokenizer {
    /// Whether texts of East Asia that came before had better come as code points once more, as most of them will stay so.
    pub fn reads_points(&self, request: &Request) -> bool {
        self.reads(request).is_some_and(|reads| reads.wary.load(Ordering::Relaxed) == 0)
    }

    fn reads(&self, request: &Request) -> Option<&Reads> {
        let Request { strategy, dropout, alpha, specials, .. } = request;
        let drawn = dropout.is_some() || alpha.is_some();
        // What a choice refuses may be any text, and what is looked for in normalized text may begin with anything.
        let chosen = matches!(specials, SpecialPolicy::Chosen(_));
        let found = chosen || self.added.looks_twice(specials, false);
        let plain = !drawn && self.model.is_own(*strategy) && !found;
        self.reads.as_ref().filter(|_| plain)
    }

    /// Which texts stay code points for this worker.
    pub(super) fn stays<'a>(
        &'a self,
        request: &Request,
        worker: &Worker,
    ) -> impl Fn(&[u32]) -> Option<usize> + use<'a> {
        let reads = self.reads(request);
        let characters = worker.learned.habit.takes_characters();
        if let Some(reads) = reads {
            let wary = reads.wary.load(Ordering::Relaxed).saturating_sub(1);
            reads.wary.store(if characters { wary } else { WARY }, Ordering::Relaxed);
        }
        let looks = !self.added.is_idle(&request.specials);
        move |points| reads.filter(|_| characters)?.suits(points, looks)
    }

    /// Appends the ids of a text by its code points; None if it does not stay so, and nothing is appended.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_points(
        &self,
        points: &[u32],
        request: &Request,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Option<Result<()>> {
        self.stays(request, worker)(points)?;
        Some(self.by_points(points, request, 0, worker, out))
    }

    /// Appends the ids of a text that stays code points.
    pub(super) fn by_points(
        &self,
        points: &[u32],
        request: &Request,
        index: u64,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let (Some(reads), Some(cuts)) = (&self.reads, self.model.cuts()) else {
            unreachable!("none stays code points")
        };
        let mut way = self.way(request, request.first.wrapping_add(index));
        let first = points.first().and_then(|&first| char::from_u32(first)).unwrap_or_default();
        let text = Points { points, mark: reads.marks.before(first) };
        let Worker { learned: Learned { known, habit, .. }, scratch, marked, .. } = worker;
        let mut learner = Learner::new(self, "", &mut way, scratch).of_spaced(marked);
        let (mut part, before) = (Vec::new(), out.len());
        let mut seen = characters::Seen::default();
        let look_up =
            &mut |known: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
                let (utf8, length) = text.utf8(start..end, &mut part);
                if !known.get(utf8, 0, length, out) {
                    // Characters, all of them.
                    let part = std::str::from_utf8(&utf8[..length]).unwrap_or_default();
                    learner.learn_word(known, part, out);
                }
            };
        fastest(ByPoints { cuts, text, known, out, look_up, seen: &mut seen });
        habit.saw(seen.words, seen.joined);
        self.fuse_all(before, out);
        learner.result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    #[test]
    fn tokens_are_told_from_what_begins_like_them() {
        let points = |text: &str| text.chars().map(u32::from).collect::<Vec<u32>>();
        let tokens = ["<s>", "</s>", "<unk>", "각각"].map(points);
        let firsts = ['<', '각', '<', '<'].map(u32::from);
        let letters = ["<", "s", ">", "/", "unk", "각", "나", "<s", "<unk", "</s"];
        let mut random = SplitMix64::new(5);
        let mut below = |n: usize| (random.next() % n as u64) as usize;
        let mut counts = [0; 2];
        for _ in 0..5000 {
            let text: String = (0..below(9)).map(|_| letters[below(letters.len())]).collect();
            let has = ["<s>", "</s>", "<unk>", "각각"].iter().any(|&token| text.contains(token));
            assert_eq!(may_have_one(&points(&text), &tokens, firsts), has, "{text}");
            counts[usize::from(has)] += 1;
        }
        assert!(counts[0] > 500 && counts[1] > 500, "{counts:?}");
        let many = vec![points("<s>"); TOKENS + 1];
        assert!(may_have_one(&points("<"), &many, firsts));
    }

    #[test]
    fn all_code_points_are_seen_as_one_by_one() {
        let kinds = [
            0,
            0x20,
            0x3C,
            0x7F,
            0x80,
            0x7FF,
            0x800,
            0x2581,
            0x2FFF,
            0x3000,
            0xAC00,
            0xD7FF,
            0xD800,
            0xDFFF,
            0xE000,
            0xFFFF,
            0x1_0000,
            0x10_FFFF,
            0x11_0000,
            u32::MAX - 1,
        ];
        let firsts = [0x3C, 0xAC00, NONE, NONE];
        let mut random = SplitMix64::new(2);
        let mut below = |n: usize| (random.next() % n as u64) as usize;
        let (mut good, mut all) = (0, 0);
        for length in (0..200).chain([1_000]) {
            for few in [1, 2, kinds.len()] {
                let from = below(kinds.len());
                let points: Vec<u32> =
                    (0..length).map(|_| kinds[(from + below(few)) % kinds.len()]).collect();
                let text: Option<String> = points.iter().map(|&one| char::from_u32(one)).collect();
                let expected = Seen {
                    eastern: points.iter().filter(|&&one| one >= EASTERN).count(),
                    bytes: text.as_ref().map_or(0, String::len),
                    other: text.is_none(),
                    first: points.iter().any(|one| firsts.contains(one)),
                };
                every_way(|way| {
                    let mut seen = Seen::default();
                    fastest(Check { points: &points, firsts, seen: &mut seen });
                    if text.is_none() {
                        seen.bytes = 0;
                    }
                    assert_eq!(seen, expected, "{way:?} {points:X?}");
                });
                (good, all) = (good + u32::from(!expected.other && !expected.first), all + 1);
            }
        }
        assert!(good > all / 5 && good < all * 4 / 5, "{good} {all}");
    }
}
