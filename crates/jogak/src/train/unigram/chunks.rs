//! Words -> chunks: the stretches of text that pieces must stay within.
//!
//! A piece never crosses a change of script, a character outside the alphabet, or (as the options
//! say) a space or a digit. So the likelihood of a word is the product of the likelihoods of the
//! chunks between those places, and chunks are met again far more often than words: there are fewer
//! of them, and they are shorter. Training knows nothing but chunks.
//!
//! Rule: the chunks are distinct, counted, and sorted by their code points. Nothing of the order or
//! the threads in which words came is left in them.

mod bag;
mod cutter;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashSet;

use super::{SeedRule, UnigramConfig};
use crate::error::{Error, Result};
use crate::train::parallel::share;
use crate::train::tally::Tally;

pub(super) use bag::Packing;
use bag::{Bag, Whole};
pub(super) use cutter::MARKS;
use cutter::{Cutter, UNKNOWN, between, matcher};

/// Ends a chunk in [`Chunks::text`].
pub(super) const END: u32 = 0;

/// The distinct chunks of a corpus.
#[derive(Debug)]
pub(super) struct Chunks {
    /// The characters that occur in chunks, ascending. Character `alphabet[i]` has the number i + 1.
    pub(super) alphabet: Vec<char>,
    /// How often each of them occurs.
    pub(super) occurrences: Vec<u64>,
    /// Required characters that occur in no chunk, ascending.
    pub(super) absent: Vec<char>,
    /// How many distinct characters of the corpus the alphabet leaves out.
    pub(super) left_out: usize,
    /// The characters of all chunks, by number, with an [`END`] behind each chunk.
    pub(super) text: Vec<u32>,
    /// Where each chunk starts in `text`; one entry more than there are chunks.
    pub(super) starts: Vec<u32>,
    /// How often each chunk occurs.
    pub(super) counts: Vec<u64>,
    /// Characters of all chunks, times their counts.
    pub(super) total: u64,
    /// Distinct words, and all words.
    pub(super) words: (u64, u64),
    /// The words uncut, for the seed rule that looks beyond chunks.
    pub(super) uncut: Option<Uncut>,
}

/// Whole words as text.
#[derive(Debug)]
pub(super) struct Uncut {
    /// The characters of all words, by number, with an [`END`] behind each word; characters outside
    /// the alphabet have one number above all others.
    pub(super) text: Vec<u32>,
    /// Where each word starts, and its count.
    pub(super) words: Vec<(u32, u64)>,
    /// For every place, how many characters are left of its chunk; 255 for more.
    pub(super) left: Vec<u8>,
}

/// Chunks as threads met them. (The words are needed no more, and the chunks' text is not there yet.)
#[derive(Debug)]
pub(super) struct Gathered {
    /// All but the chunks themselves.
    chunks: Chunks,
    bags: Vec<Bag>,
    packing: Packing,
}

impl Gathered {
    /// Cuts the words of all `parts`, which are iterators of (UTF-8 text, count).
    pub(super) fn new<'a, P>(parts: &[P], config: &UnigramConfig) -> Result<Self>
    where
        P: Iterator<Item = (&'a [u8], u64)> + Clone + Send + Sync,
    {
        let user_defined = matcher(&config.user_defined)?;
        let (characters, words) = count_characters(parts, user_defined.as_ref(), config)?;
        let kept: FxHashSet<char> = config
            .limit
            .apply(characters.iter().map(|&(known, count)| (known, u128::from(count))).collect())
            .into_iter()
            .chain(config.required_chars.iter().copied())
            .collect();
        let occurs =
            |wanted: &char| characters.binary_search_by_key(wanted, |(known, _)| *known).is_ok();
        let mut absent: Vec<char> =
            config.required_chars.iter().copied().filter(|character| !occurs(character)).collect();
        absent.sort_unstable();
        absent.dedup();
        // Ascending.
        let (alphabet, occurrences): (Vec<char>, Vec<u64>) =
            characters.iter().filter(|(character, _)| kept.contains(character)).copied().unzip();
        let left_out = characters.len() - alphabet.len();
        let cutter = Cutter::new(&alphabet, user_defined, config);
        let packing = Packing::new(alphabet.len());
        let bags = share(
            config.threads,
            parts.iter(),
            || (Bag::new(packing), Vec::new()),
            |(bag, chunk), part| {
                for (word, count) in part.clone() {
                    if let Ok(word) = std::str::from_utf8(word) {
                        cutter.cut(word, chunk, |chunk| bag.add(chunk, count));
                    }
                }
            },
        );
        let bags = bags.into_iter().map(|(bag, _)| bag).collect();
        let uncut = match config.seeds {
            SeedRule::SentencePiece => Some(Uncut::new(parts, &cutter, alphabet.len() as u32 + 1)?),
            SeedRule::Suffix => None,
        };
        let chunks = Chunks {
            alphabet,
            occurrences,
            absent,
            left_out,
            text: Vec::new(),
            starts: Vec::new(),
            counts: Vec::new(),
            total: 0,
            words,
            uncut,
        };
        Ok(Self { chunks, bags, packing })
    }

    /// The chunks, distinct and in order.
    pub(super) fn collect(self, threads: usize) -> Result<Chunks> {
        let Self { mut chunks, bags, packing } = self;
        chunks.write(bags, packing, threads)?;
        Ok(chunks)
    }
}

impl Chunks {
    /// How many chunks there are.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The characters of chunk `index`.
    pub(super) fn chunk(&self, index: usize) -> &[u32] {
        &self.text[self.starts[index] as usize..self.starts[index + 1] as usize - 1]
    }

    /// Forgets where a chunk and those behind it are, and their counts.
    pub(super) fn forget_from(&mut self, index: usize) {
        self.starts.truncate(index + 1);
        self.starts.shrink_to_fit();
        self.counts.truncate(index);
        self.counts.shrink_to_fit();
    }

    /// Forgets all but the text of pieces, which stand at these places: each is then told its new one. (If their texts
    /// together are longer than all that there is, the whole text stays.)
    pub(super) fn keep_pieces(&mut self, places: &mut [u32], lengths: &[u8]) {
        self.starts = Vec::new();
        self.counts = Vec::new();
        self.uncut = None;
        let size: usize = lengths.iter().map(|&length| usize::from(length)).sum();
        if size >= self.text.len() {
            return;
        }
        let mut text = Vec::with_capacity(size);
        for (place, &length) in places.iter_mut().zip(lengths) {
            let piece = *place as usize..*place as usize + usize::from(length);
            *place = text.len() as u32;
            text.extend_from_slice(&self.text[piece]);
        }
        self.text = text;
    }

    /// The text of `numbers` as characters.
    pub(super) fn spell(&self, numbers: &[u32]) -> String {
        numbers.iter().map(|&number| self.alphabet[number as usize - 1]).collect()
    }

    /// Adds up what the threads have, and writes it down in order.
    fn write(&mut self, mut bags: Vec<Bag>, packing: Packing, threads: usize) -> Result<()> {
        share(threads, bags.iter_mut(), || (), |(), bag| bag.finish());
        // Jobs are ranges of keys, about equal in the longest list.
        let longest = bags.iter().map(|bag| &bag.entries).max_by_key(|entries| entries.len());
        let jobs = threads.max(1) * 8;
        let mut borders: Vec<u64> = Vec::new();
        if let Some(entries) = longest.filter(|entries| !entries.is_empty()) {
            borders.extend((1..jobs).map(|job| entries[job * entries.len() / jobs].key));
            borders.dedup();
        }
        let ranges = (0..=borders.len()).map(|job| {
            let from = job.checked_sub(1).map_or(0, |before| borders[before]);
            (job, from, borders.get(job).copied())
        });
        let bags = &bags;
        for bag in bags {
            fits("the text of all chunks", bag.entries.len() as u64)?;
        }
        let merged = share(threads, ranges, Vec::new, |done, (job, from, to)| {
            let of_bags = bags.iter().map(|bag| {
                let before = |key| bag.entries.partition_point(|entry| entry.key < key);
                before(from)..to.map_or(bag.entries.len(), before)
            });
            let mut chunks = Vec::with_capacity(of_bags.clone().map(|range| range.len()).sum());
            for (bag, range) in (0u32..).zip(of_bags) {
                let entries = (range.start as u32..).zip(&bags[bag as usize].entries[range]);
                chunks.extend(entries.map(|(at, entry)| Merged { bag, at, count: entry.count }));
            }
            // Sorted runs one behind the other: the stable sort merges them.
            let order = |a: &Merged, b: &Merged| packing.order(a.whole(bags), b.whole(bags));
            chunks.sort_by(order);
            chunks.dedup_by(|b, a| {
                let same = order(a, b).is_eq();
                if same {
                    a.count += b.count;
                }
                same
            });
            done.push((job, chunks));
        });
        let mut merged: Vec<_> = merged.into_iter().flatten().collect();
        merged.sort_unstable_by_key(|(job, _)| *job);
        let length = |chunk: &Merged| chunk.whole(bags).0.length;
        let lengths: Vec<usize> = merged
            .iter()
            .map(|(_, chunks)| chunks.iter().map(|chunk| length(chunk) as usize + 1).sum())
            .collect();
        let all = lengths.iter().sum();
        fits("the text of all chunks", all as u64)?;
        self.text = vec![END; all];
        let distinct = merged.iter().map(|(_, chunks)| chunks.len()).sum();
        self.starts.reserve_exact(distinct + 1);
        self.counts.reserve_exact(distinct);
        let mut left = &mut self.text[..];
        let mut places = Vec::with_capacity(merged.len());
        let mut from = 0;
        for (size, (_, chunks)) in lengths.into_iter().zip(&merged) {
            let (text, rest) = left.split_at_mut(size);
            left = rest;
            places.push((text, chunks));
            for chunk in chunks {
                self.starts.push(from);
                self.counts.push(chunk.count);
                self.total += chunk.count * u64::from(length(chunk));
                from += length(chunk) + 1;
            }
        }
        self.starts.push(from);
        share(
            threads,
            places.into_iter(),
            || (),
            |(), (mut text, chunks)| {
                for chunk in chunks {
                    let (entry, rest) = chunk.whole(bags);
                    // The end is there.
                    let (chunk, behind) = text.split_at_mut(entry.length as usize + 1);
                    text = behind;
                    let packed = packing.unpack(entry, chunk);
                    chunk[packed..packed + rest.len()].copy_from_slice(rest);
                }
            },
        );
        Ok(())
    }
}

/// A chunk of all threads: where one of them has it, and its count. (The chunks themselves would be the largest thing in
/// memory at that moment.)
#[derive(Debug, Clone, Copy)]
struct Merged {
    bag: u32,
    at: u32,
    count: u64,
}

impl Merged {
    fn whole<'b>(&self, bags: &'b [Bag]) -> Whole<'b> {
        let bag = &bags[self.bag as usize];
        bag.whole(&bag.entries[self.at as usize])
    }
}

impl Uncut {
    fn new<'a, P>(parts: &[P], cutter: &Cutter<'_>, unknown: u32) -> Result<Self>
    where
        P: Iterator<Item = (&'a [u8], u64)> + Clone + Send + Sync,
    {
        let mut sorted: Vec<(&[u8], u64)> = parts.iter().flat_map(Clone::clone).collect();
        sorted.sort_unstable();
        let (mut text, mut words, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for (word, count) in sorted {
            let Ok(word) = std::str::from_utf8(word) else { continue };
            fits("the text of all words", (text.len() + word.len() + 1) as u64)?;
            words.push((text.len() as u32, count));
            let first = text.len();
            cutter.each(word, |number, starts| {
                text.push(if number == UNKNOWN { unknown } else { number });
                // For now, whether a chunk starts here.
                left.push(u8::from(starts));
            });
            text.push(END);
            left.push(0);
            let mut after = 0;
            for place in (first..text.len() - 1).rev() {
                let starts = left[place] == 1;
                left[place] = if text[place] == unknown { 0 } else { u8::saturating_add(after, 1) };
                after = if starts { 0 } else { left[place] };
            }
        }
        Ok(Self { text, words, left })
    }
}

/// Places of texts have 32 bits.
fn fits(what: &'static str, size: u64) -> Result<()> {
    let limit = u64::from(u32::MAX) - 1;
    if size > limit { Err(Error::TooLarge { what, size, limit }) } else { Ok(()) }
}

/// Characters with counts, and (distinct words, all words).
type Characters = (Vec<(char, u64)>, (u64, u64));

/// All characters outside of user-defined pieces, ascending.
fn count_characters<'a, P>(
    parts: &[P],
    user_defined: Option<&AhoCorasick>,
    config: &UnigramConfig,
) -> Result<Characters>
where
    P: Iterator<Item = (&'a [u8], u64)> + Clone + Send + Sync,
{
    let new = || (Tally::default(), 0u128, (0u64, 0u128));
    let counted = share(config.threads, parts.iter(), new, |(tally, total, words), part| {
        for (word, count) in part.clone() {
            let Ok(word) = std::str::from_utf8(word) else { continue };
            words.0 += 1;
            words.1 += u128::from(count);
            between(user_defined, word, |part| {
                for character in part.chars() {
                    tally.add(character as u32, count);
                    *total += u128::from(count);
                }
            });
        }
    });
    let total: u128 = counted.iter().map(|(_, total, _)| total).sum();
    // Seeds are scored by count times length, in 64 bits.
    if total.saturating_mul(config.max_piece_length.max(1) as u128) > u128::from(u64::MAX) {
        return Err(Error::CountOverflow {
            what: "the number of characters in the corpus times max_piece_length".into(),
        });
    }
    let distinct = counted.iter().map(|(_, _, words)| words.0).sum();
    let all: u128 = counted.iter().map(|(_, _, words)| words.1).sum();
    let mut tally = Tally::default();
    counted.iter().for_each(|(other, _, _)| tally.append(other));
    let characters = tally.seen().into_iter().filter_map(|code| {
        let count = tally.count(code);
        char::from_u32(code).filter(|_| count > 0).map(|character| (character, count))
    });
    Ok((characters.collect(), (distinct, u64::try_from(all).unwrap_or(u64::MAX))))
}
