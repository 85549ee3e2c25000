//! Where texts of tokens stand in another text.
//!
//! In words: at each place, is one of them there? The first place at which one is, is found, and of those there the longest;
//! then on behind it. An automaton (Aho and Corasick 1975) answers in one pass, byte by byte. Most bytes begin no token,
//! and a few bytes at a time tell which may: by vectors where there are any. So the automaton runs from such a place until
//! it is back where it began, and time is linear whatever the text holds.

use std::ops::Range;

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::packed::{self, Searcher};
use aho_corasick::{Anchored, MatchKind};
use memchr::{memchr, memchr3};

use crate::error::{Error, Result};

/// Texts of so many bytes together have a table of all transitions; more of them have small states.
const FEW: usize = 1 << 11;
/// By so many bytes it is told where a text may begin.
const HEAD: usize = 3;

/// A text that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Which one.
    pub(super) number: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Finds texts, leftmost first, and of those the longest.
#[derive(Debug, Clone)]
pub(super) struct Finder {
    heads: Heads,
    automaton: States,
}

#[derive(Debug, Clone)]
enum States {
    Few(DFA),
    Many(NFA),
}

/// Where a text may begin.
#[derive(Debug, Clone)]
enum Heads {
    /// At a byte that is rare in texts.
    Byte(u8),
    /// At one of up to three such bytes.
    Bytes([u8; 3]),
    /// At some bytes side by side.
    Sides(Searcher),
    /// At these bytes.
    Table(Box<[bool; 256]>),
}

impl Heads {
    fn new(texts: &[String]) -> Self {
        let heads = |longest: usize| {
            let head = |text: &String| text.as_bytes()[..text.len().min(longest)].to_vec();
            let mut heads: Vec<Vec<u8>> = texts.iter().map(head).collect();
            heads.sort_unstable();
            heads.dedup();
            heads
        };
        let firsts: Vec<u8> = heads(1).concat();
        if firsts.iter().all(u8::is_ascii_punctuation) {
            match firsts[..] {
                [one] => return Self::Byte(one),
                [one, other] => return Self::Bytes([one, other, other]),
                [one, other, third] => return Self::Bytes([one, other, third]),
                _ => {}
            }
        }
        let searcher = packed::Config::new().builder().extend(heads(HEAD)).build();
        searcher.map_or_else(|| Self::table(&firsts), Self::Sides)
    }

    fn table(firsts: &[u8]) -> Self {
        let mut table = Box::new([false; 256]);
        firsts.iter().for_each(|&byte| table[usize::from(byte)] = true);
        Self::Table(table)
    }

    /// The first place in a part of `bytes` where a text may begin.
    #[inline]
    fn next(&self, bytes: &[u8], within: Range<usize>) -> Option<usize> {
        let Range { start, end } = within;
        let part = &bytes[start..end];
        let at = match self {
            &Self::Byte(byte) => memchr(byte, part),
            &Self::Bytes([one, other, third]) => memchr3(one, other, third, part),
            Self::Sides(searcher) => {
                return Some(searcher.find_in(bytes, (start..end).into())?.start());
            }
            Self::Table(table) => part.iter().position(|&byte| table[usize::from(byte)]),
        };
        Some(start + at?)
    }
}

impl Finder {
    /// None of the texts is empty. Of equal ones the first is found.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if they are too many.
    pub(super) fn new(texts: &[String]) -> Result<Self> {
        let kind = MatchKind::LeftmostLongest;
        let automaton = if texts.iter().map(String::len).sum::<usize>() <= FEW {
            let mut builder = DFA::builder();
            builder.match_kind(kind).prefilter(false).build(texts).map(States::Few)
        } else {
            let mut builder = NFA::builder();
            builder.match_kind(kind).prefilter(false).build(texts).map(States::Many)
        };
        let automaton = automaton.map_err(|_| Error::TooLarge {
            what: "the finder of added tokens",
            size: texts.len() as u64,
            limit: i32::MAX as u64,
        })?;
        Ok(Self { heads: Heads::new(texts), automaton })
    }

    /// The first one in a part of a text, which begins and ends at characters.
    #[inline]
    pub(super) fn find(&self, text: &str, within: Range<usize>) -> Option<Found> {
        match &self.automaton {
            States::Few(states) => self.run(states, text.as_bytes(), within),
            States::Many(states) => self.run(states, text.as_bytes(), within),
        }
    }

    /// All in a part of a text that do not overlap, left to right.
    pub(super) fn find_iter(
        &self,
        text: &str,
        within: Range<usize>,
    ) -> impl Iterator<Item = Found> {
        let mut from = within.start;
        std::iter::from_fn(move || {
            let found = self.find(text, from..within.end)?;
            from = found.end;
            Some(found)
        })
    }

    /// Whether there is one in a text.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.find(text, 0..text.len()).is_some()
    }

    #[inline(always)]
    fn run(&self, states: &impl Automaton, bytes: &[u8], within: Range<usize>) -> Option<Found> {
        let Range { start: mut at, end } = within;
        let first = states.start_state(Anchored::No).ok()?;
        let mut found = None;
        while found.is_none() {
            at = self.heads.next(bytes, at..end)?;
            let mut state = first;
            for &byte in &bytes[at..end] {
                state = states.next_state(Anchored::No, state, byte);
                at += 1;
                if states.is_match(state) {
                    let number = states.match_pattern(state, 0);
                    let start = at - states.pattern_len(number);
                    found = Some(Found { number: number.as_usize(), start, end: at });
                } else if states.is_dead(state) || state == first {
                    break;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// At each place, all texts.
    fn naive(texts: &[String], text: &str) -> Vec<Found> {
        let (mut all, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let here = texts
                .iter()
                .enumerate()
                .filter(|(_, each)| text.as_bytes()[at..].starts_with(each.as_bytes()));
            // Of the longest ones the first.
            let longest = here.rev().max_by_key(|(_, each)| each.len());
            let Some((number, each)) = longest else {
                at += 1;
                continue;
            };
            all.push(Found { number, start: at, end: at + each.len() });
            at += each.len();
        }
        all
    }

    fn check(finder: &Finder, texts: &[String], text: &str) -> usize {
        let found: Vec<Found> = finder.find_iter(text, 0..text.len()).collect();
        assert_eq!(found, naive(texts, text), "{texts:?} in {text:?}");
        assert_eq!(finder.is_match(text), !found.is_empty());
        found.len()
    }

    /// Texts and what they are looked for in, of one alphabet; each way to tell where one may begin, few texts and many.
    #[test]
    fn finds_what_stands_there() {
        let mut random = SplitMix64::new(11);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let alphabets =
            [vec!["<", "|", ">", "a"], vec![" ", "\t", "a", "<"], vec!["<", "｜", "가", "～", "["]];
        let mut ways = [0; 4];
        let mut hits = 0;
        for round in 0..3000 {
            let letters = &alphabets[below(alphabets.len())];
            let firsts = 1 + below(letters.len());
            let mut word = |longest: usize| -> String {
                let first = letters[below(firsts)];
                let rest = (0..below(longest)).map(|_| letters[below(letters.len())]);
                std::iter::once(first).chain(rest.collect::<Vec<_>>()).collect()
            };
            let many = if round % 25 == 0 { FEW } else { 6 };
            let texts: Vec<String> = (0..many).map(|_| word(6)).collect();
            let text: String = (0..4).map(|_| word(40)).collect();
            let mut finder = Finder::new(&texts).unwrap();
            ways[match finder.heads {
                Heads::Byte(_) => 0,
                Heads::Bytes(_) => 1,
                Heads::Sides(_) => 2,
                Heads::Table(_) => 3,
            }] += 1;
            hits += check(&finder, &texts, &text);
            finder.heads =
                Heads::table(&texts.iter().map(|text| text.as_bytes()[0]).collect::<Vec<_>>());
            check(&finder, &texts, &text);
        }
        // Where there are no vectors, the table stands for them.
        assert!(
            ways[..2].iter().all(|&rounds| rounds > 100) && ways[2] + ways[3] > 100,
            "{ways:?}"
        );
        assert!(hits > 3000, "{hits}");
    }

    #[test]
    fn finds_within_a_part() {
        let finder = Finder::new(&["<a>".to_owned(), "<a".to_owned()]).unwrap();
        let text = "<a>b<a>";
        assert_eq!(finder.find(text, 0..2), Some(Found { number: 1, start: 0, end: 2 }));
        assert_eq!(finder.find(text, 1..7), Some(Found { number: 0, start: 4, end: 7 }));
        assert_eq!(finder.find(text, 1..5), None);
    }

    /// What nearly is one, at each place: linear all the same.
    #[test]
    fn nearly_one_at_each_place() {
        let token = "<".repeat(1000) + ">";
        let finder = Finder::new(std::slice::from_ref(&token)).unwrap();
        let text = "<".repeat(1 << 20) + ">";
        let start = text.len() - token.len();
        assert_eq!(
            finder.find(&text, 0..text.len()),
            Some(Found { number: 0, start, end: text.len() })
        );
    }
}
