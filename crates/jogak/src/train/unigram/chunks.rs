//! Words -> chunks: the stretches of text that pieces must stay within.
//!
//! A piece never crosses a change of script, a character outside the alphabet, or (as the options
//! say) a space or a digit. So the likelihood of a word is the product of the likelihoods of the
//! chunks between those places, and chunks are met again far more often than words: there are fewer
//! of them, and they are shorter. Training knows nothing but chunks.
//!
//! Rule: the chunks are distinct, counted, and sorted by their code points. Nothing of the order or
//! the threads in which words came is left in them.

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashSet;

use super::{SeedRule, UnigramConfig};
use crate::error::{Error, Result};
use crate::pretokenize::Script;
use crate::train::parallel::share;

/// What borders words: `▁`, the visible space, and the space itself, for words that hold whole lines.
pub(super) const MARKS: [char; 2] = ['\u{2581}', ' '];
/// Ends a chunk in [`Chunks::text`].
pub(super) const END: u32 = 0;
/// A character outside the alphabet, to the cutter; it is in no chunk.
const UNKNOWN: u32 = 0;
/// Occurrences that a thread keeps before it adds up equal ones.
const SQUEEZE: usize = 1 << 21;

/// The distinct chunks of a corpus.
#[derive(Debug)]
pub(super) struct Chunks {
    /// The characters that occur in chunks, ascending. Character `alphabet[i]` has the number i + 1.
    pub(super) alphabet: Vec<char>,
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

impl Chunks {
    /// Cuts the words of all `parts`, which are iterators of (UTF-8 text, count).
    pub(super) fn new<'a, P>(parts: &[P], config: &UnigramConfig) -> Result<Self>
    where
        P: Iterator<Item = (&'a [u8], u64)> + Clone + Send + Sync,
    {
        let user_defined = matcher(&config.user_defined)?;
        let (characters, words) = count_characters(parts, user_defined.as_ref(), config)?;
        let kept: FxHashSet<char> = config
            .limit
            .apply(characters.clone())
            .into_iter()
            .chain(config.required_chars.iter().copied())
            .collect();
        let occurs =
            |wanted: &char| characters.binary_search_by_key(wanted, |(known, _)| *known).is_ok();
        let mut absent: Vec<char> =
            config.required_chars.iter().copied().filter(|character| !occurs(character)).collect();
        absent.sort_unstable();
        absent.dedup();
        let mut alphabet: Vec<char> = characters
            .iter()
            .map(|&(character, _)| character)
            .filter(|character| kept.contains(character))
            .collect();
        alphabet.sort_unstable();
        let left_out = characters.len() - alphabet.len();
        let cutter = Cutter::new(&alphabet, user_defined, config);
        let packing = Packing::new(alphabet.len());
        let bags = share(
            config.threads,
            parts.iter(),
            || Bag::new(packing),
            |bag, part| {
                for (word, count) in part.clone() {
                    if let Ok(word) = std::str::from_utf8(word) {
                        cutter.cut(word, |chunk| bag.add(chunk, count));
                    }
                }
            },
        );
        let mut chunks = Self {
            alphabet,
            absent,
            left_out,
            text: Vec::new(),
            starts: Vec::new(),
            counts: Vec::new(),
            total: 0,
            words,
            uncut: None,
        };
        if config.seeds == SeedRule::SentencePiece {
            chunks.uncut = Some(Uncut::new(parts, &cutter, chunks.alphabet.len() as u32 + 1)?);
        }
        chunks.collect(bags, packing, config.threads)?;
        Ok(chunks)
    }

    /// How many chunks there are.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The characters of chunk `index`.
    pub(super) fn chunk(&self, index: usize) -> &[u32] {
        &self.text[self.starts[index] as usize..self.starts[index + 1] as usize - 1]
    }

    /// The text of `numbers` as characters.
    pub(super) fn spell(&self, numbers: &[u32]) -> String {
        numbers.iter().map(|&number| self.alphabet[number as usize - 1]).collect()
    }

    /// Adds up what the threads have, and writes it down in order.
    fn collect(&mut self, mut bags: Vec<Bag>, packing: Packing, threads: usize) -> Result<()> {
        share(threads, bags.iter_mut(), || (), |(), bag| bag.squeeze());
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
        let merged = share(threads, ranges, Vec::new, |done, (job, from, to)| {
            let mut entries: Vec<(u32, Entry)> = Vec::new();
            for (number, bag) in (0u32..).zip(bags) {
                let low = bag.entries.partition_point(|entry| entry.key < from);
                let high = to.map_or(bag.entries.len(), |to| {
                    bag.entries.partition_point(|entry| entry.key < to)
                });
                entries.extend(bag.entries[low..high].iter().map(|entry| (number, *entry)));
            }
            let rest = |(bag, entry): &(u32, Entry)| bags[*bag as usize].rest(entry);
            // Sorted runs one behind the other: the stable sort merges them.
            entries.sort_by(|a, b| {
                (a.1.key, a.1.length.min(packing.characters))
                    .cmp(&(b.1.key, b.1.length.min(packing.characters)))
                    .then_with(|| rest(a).cmp(rest(b)))
            });
            entries.dedup_by(|b, a| {
                let same = a.1.key == b.1.key && a.1.length == b.1.length && rest(a) == rest(b);
                if same {
                    a.1.count += b.1.count;
                }
                same
            });
            done.push((job, entries));
        });
        let mut merged: Vec<_> = merged.into_iter().flatten().collect();
        merged.sort_unstable_by_key(|(job, _)| *job);
        let all = || merged.iter().flat_map(|(_, entries)| entries);
        let length: u64 = all().map(|(_, entry)| u64::from(entry.length) + 1).sum();
        fits("the text of all chunks", length)?;
        self.text.reserve_exact(length as usize);
        for (bag, entry) in all() {
            self.starts.push(self.text.len() as u32);
            self.counts.push(entry.count);
            self.total += entry.count * u64::from(entry.length);
            packing.unpack(entry, &mut self.text);
            self.text.extend_from_slice(bags[*bag as usize].rest(entry));
            self.text.push(END);
        }
        self.starts.push(self.text.len() as u32);
        Ok(())
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

/// Finds user-defined pieces, of several the longest.
fn matcher(user_defined: &[String]) -> Result<Option<AhoCorasick>> {
    if user_defined.is_empty() {
        return Ok(None);
    }
    let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(user_defined);
    built.map(Some).map_err(|_| Error::TooLarge {
        what: "the automaton of user-defined pieces",
        size: user_defined.iter().map(|text| text.len() as u64).sum(),
        limit: u64::from(u32::MAX),
    })
}

/// Calls `part` with what stands between the user-defined pieces of `word`.
fn between<'a>(user_defined: Option<&AhoCorasick>, word: &'a str, mut part: impl FnMut(&'a str)) {
    let mut from = 0;
    if let Some(matcher) = user_defined {
        for found in matcher.find_iter(word) {
            part(&word[from..found.start()]);
            from = found.end();
        }
    }
    part(&word[from..]);
}

/// Characters with counts, and (distinct words, all words).
type Characters = (Vec<(char, u128)>, (u64, u64));

/// All characters outside of user-defined pieces, ascending.
fn count_characters<'a, P>(
    parts: &[P],
    user_defined: Option<&AhoCorasick>,
    config: &UnigramConfig,
) -> Result<Characters>
where
    P: Iterator<Item = (&'a [u8], u64)> + Clone + Send + Sync,
{
    let new = || (vec![0u64; 0x11_0000], 0u128, (0u64, 0u128));
    let counted = share(config.threads, parts.iter(), new, |(table, total, words), part| {
        for (word, count) in part.clone() {
            let Ok(word) = std::str::from_utf8(word) else { continue };
            words.0 += 1;
            words.1 += u128::from(count);
            between(user_defined, word, |part| {
                for character in part.chars() {
                    let place = &mut table[character as usize];
                    // Where this could overflow, the total says so below.
                    *place = place.wrapping_add(count);
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
    let count = |character: char| -> u128 {
        counted.iter().map(|(table, _, _)| u128::from(table[character as usize])).sum()
    };
    let characters = ('\0'..=char::MAX).map(|character| (character, count(character)));
    let characters = characters.filter(|(_, count)| *count > 0).collect();
    Ok((characters, (distinct, u64::try_from(all).unwrap_or(u64::MAX))))
}

/// What a character is to the rules of cutting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mark,
    Digit,
    Written(Script),
}

/// Cuts words into chunks.
#[derive(Debug)]
pub(super) struct Cutter<'c> {
    config: &'c UnigramConfig,
    user_defined: Option<AhoCorasick>,
    /// The number of every character, 0 outside the alphabet.
    numbers: Vec<u32>,
    /// What every character of the alphabet is, by number.
    kinds: Vec<Kind>,
}

impl<'c> Cutter<'c> {
    fn new(
        alphabet: &[char],
        user_defined: Option<AhoCorasick>,
        config: &'c UnigramConfig,
    ) -> Self {
        let mut numbers = vec![0; alphabet.last().map_or(0, |&last| last as usize + 1)];
        let mut kinds = vec![Kind::Mark];
        for (&character, number) in alphabet.iter().zip(1..) {
            numbers[character as usize] = number;
            kinds.push(match character {
                _ if MARKS.contains(&character) => Kind::Mark,
                '0'..='9' => Kind::Digit,
                _ => Kind::Written(Script::of(character)),
            });
        }
        Self { config, user_defined, numbers, kinds }
    }

    /// Calls `emit` with the character numbers of every chunk of `word`, in order.
    fn cut(&self, word: &str, mut emit: impl FnMut(&[u32])) {
        let mut chunk: Vec<u32> = Vec::with_capacity(32);
        self.each(word, |number, starts| {
            if starts && !chunk.is_empty() {
                emit(&chunk);
                chunk.clear();
            }
            if number != UNKNOWN {
                chunk.push(number);
            }
        });
        if !chunk.is_empty() {
            emit(&chunk);
        }
    }

    /// Calls `step` with the number of every character of `word` and whether no piece may cross to it
    /// from the one before; user-defined pieces are an unknown character.
    fn each(&self, word: &str, mut step: impl FnMut(u32, bool)) {
        let mut first = true;
        between(self.user_defined.as_ref(), word, |part| {
            if !first {
                step(UNKNOWN, true);
            }
            first = false;
            // The character before, and the script that a following one must have.
            let mut before: Option<Kind> = None;
            let mut script: Option<Script> = None;
            for character in part.chars() {
                let number = self.numbers.get(character as usize).copied().unwrap_or(UNKNOWN);
                if number == UNKNOWN {
                    step(UNKNOWN, true);
                    (before, script) = (None, None);
                    continue;
                }
                let kind = self.kinds[number as usize];
                let own = self.script(kind, script);
                let starts = before.is_none_or(|before| self.border(before, kind))
                    || (self.config.split_by_unicode_script
                        && matches!((script, own), (Some(a), Some(b)) if a != b));
                script = if starts { self.script(kind, None) } else { own };
                before = Some(kind);
                step(number, starts);
            }
        });
    }

    /// The script that counts behind a character of this kind, where `script` counted before it.
    fn script(&self, kind: Kind, script: Option<Script>) -> Option<Script> {
        match kind {
            Kind::Mark | Kind::Written(Script::Inherited) => script,
            Kind::Digit if !self.config.split_by_number => None,
            Kind::Digit => Some(Script::Common),
            Kind::Written(own) => Some(own),
        }
    }

    /// Whether no piece may cross from `before` to `after`, scripts apart.
    fn border(&self, before: Kind, after: Kind) -> bool {
        let config = self.config;
        if config.split_digits && (before == Kind::Digit || after == Kind::Digit) {
            return true;
        }
        if !config.split_by_whitespace {
            return false;
        }
        let at_mark = if config.treat_whitespace_as_suffix { before } else { after } == Kind::Mark;
        at_mark && !(config.allow_whitespace_only_pieces && before == after)
    }
}

/// How the first characters of a chunk fit into one number that sorts like them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    /// Bits per character.
    pub(super) bits: u32,
    /// How many characters fit.
    pub(super) characters: u32,
}

impl Packing {
    /// For characters numbered from 1 to `alphabet`.
    pub(super) fn new(alphabet: usize) -> Self {
        let bits = (usize::BITS - alphabet.leading_zeros()).max(1);
        Self { bits, characters: 64 / bits }
    }

    /// The characters of `text` up to the first [`END`], as many as fit.
    #[inline(always)]
    pub(super) fn pack(self, text: &[u32]) -> u64 {
        let mut key = 0;
        let mut packed = 0;
        for &number in text.iter().take(self.characters as usize) {
            if number == END {
                break;
            }
            key = key << self.bits | u64::from(number);
            packed += 1;
        }
        if packed == 0 { 0 } else { key << (self.bits * (self.characters - packed)) }
    }

    fn unpack(self, entry: &Entry, text: &mut Vec<u32>) {
        let mask = (1u64 << self.bits) - 1;
        for place in 1..=self.characters.min(entry.length) {
            text.push((entry.key >> (self.bits * (self.characters - place)) & mask) as u32);
        }
    }
}

/// A chunk with its count.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The first characters, packed.
    key: u64,
    /// Where the other characters are in the bag.
    start: usize,
    /// Characters in all.
    length: u32,
    count: u64,
}

/// Chunks as one thread meets them.
#[derive(Debug)]
struct Bag {
    packing: Packing,
    entries: Vec<Entry>,
    /// The characters that do not fit into keys.
    arena: Vec<u32>,
    /// Equal entries are added up when there are this many.
    limit: usize,
}

impl Bag {
    fn new(packing: Packing) -> Self {
        Self { packing, entries: Vec::new(), arena: Vec::new(), limit: SQUEEZE }
    }

    fn add(&mut self, chunk: &[u32], count: u64) {
        let start = self.arena.len();
        let key = self.packing.pack(chunk);
        if let Some(rest) = chunk.get(self.packing.characters as usize..) {
            self.arena.extend_from_slice(rest);
        }
        self.entries.push(Entry { key, start, length: chunk.len() as u32, count });
        if self.entries.len() >= self.limit {
            self.squeeze();
            self.limit = SQUEEZE.max(self.entries.len() * 2);
        }
    }

    /// The characters of an entry that are not in its key.
    fn rest(&self, entry: &Entry) -> &[u32] {
        let rest = entry.length.saturating_sub(self.packing.characters) as usize;
        &self.arena[entry.start..entry.start + rest]
    }

    /// Sorts, and adds up equal entries.
    fn squeeze(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        let fits = self.packing.characters;
        entries.sort_unstable_by(|a, b| {
            (a.key, a.length.min(fits))
                .cmp(&(b.key, b.length.min(fits)))
                .then_with(|| self.rest(a).cmp(self.rest(b)))
        });
        entries.dedup_by(|b, a| {
            let same = a.key == b.key && a.length == b.length && self.rest(a) == self.rest(b);
            if same {
                a.count += b.count;
            }
            same
        });
        let mut arena = Vec::new();
        for entry in &mut entries {
            let start = arena.len();
            arena.extend_from_slice(self.rest(entry));
            entry.start = start;
        }
        self.arena = arena;
        self.entries = entries;
    }
}
