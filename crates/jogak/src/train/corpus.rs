//! The words of a corpus as trainers that merge see them: cut into symbols, in one array.

use std::ops::ControlFlow;

use super::alphabet::{Alphabet, AlphabetLimit};
use super::arena::{Arena, SLOTS_PER_TICK};
use super::bpe::BpeConfig;
use super::gather::gather;
use super::parallel::{Tick, each};
use super::tally::{MOST, Tally};
use super::view::TrainObserver;
use crate::count::Counts;
use crate::error::{Error, Result};
use crate::symbols::{Form, Marker, Sign, Symbols, UNKNOWN};

/// The words of a corpus, cut into symbols: ready for training. Built from any iterator of
/// (word, count), after which the source of the words is needed no more.
#[derive(Debug)]
pub struct Corpus {
    pub(super) alphabet: Alphabet,
    pub(super) arena: Arena,
    pub(super) distinct_words: u64,
    pub(super) total_words: u64,
    /// Symbols times word counts, unknown ones among them.
    pub(super) length: u64,
    /// How often every symbol occurs.
    pub(super) occurrences: Vec<u64>,
    /// How many threads may work on it; a trainer may take fewer.
    pub(super) threads: usize,
    /// The observer asked to stop before all words were cut.
    pub(super) interrupted: bool,
}

/// What the first symbols are.
pub(super) enum Start<'a> {
    /// The id of every byte.
    Bytes(Box<[u32; 256]>),
    /// The last one says whether every character is a symbol without its marker too.
    Chars(&'a Marker, &'a AlphabetLimit, bool),
}

impl Corpus {
    /// Cuts words into symbols, every part on a thread of its own. Training may take as many threads
    /// later on; BPE takes at most four, for pairs and for merges, and one for a small corpus. Speed and
    /// memory are best if the words come sorted by count; the order matters for
    /// [`super::Ties::FirstSeen`] only.
    ///
    /// If `observer` asks to stop, the words read until then are the corpus, and
    /// [`Corpus::train`] makes no merge.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if the number of symbols times counts passes `u64::MAX`;
    /// [`Error::TooLarge`] for more than 2^32 symbols.
    pub fn new<'a, W: Iterator<Item = (&'a str, u64)> + Clone + Sync>(
        parts: &[W],
        config: &BpeConfig,
        observer: &mut impl TrainObserver,
    ) -> Result<Self> {
        // How many merges `vocab_size` leaves room for is known when the alphabet is.
        let goal = config.num_merges.filter(|_| config.vocab_size.is_none());
        Self::cut(parts, &Start::of(config), || observer.progress(0, goal))
    }

    /// The same for all words of `counts`, cut on up to `threads` threads; in an order that has no
    /// meaning, so not for [`super::Ties::FirstSeen`]. If `observer` asks to stop, [`Corpus::train`] makes no
    /// merge.
    ///
    /// # Errors
    /// As [`Corpus::new`].
    pub fn of_counts(
        counts: &Counts,
        threads: usize,
        config: &BpeConfig,
        observer: &mut impl TrainObserver,
    ) -> Result<Self> {
        let goal = config.num_merges.filter(|_| config.vocab_size.is_none());
        let cut = gather(counts, &Start::of(config), threads, || observer.progress(0, goal))?;
        Ok(cut.into_corpus(&Start::of(config), threads))
    }

    /// Cuts words into symbols, as long as `tick` says so.
    ///
    /// # Errors
    /// As [`Corpus::new`].
    pub(super) fn cut<'a, W: Iterator<Item = (&'a str, u64)> + Clone + Sync>(
        parts: &[W],
        start: &Start<'_>,
        tick: impl FnMut() -> ControlFlow<()>,
    ) -> Result<Self> {
        let cut = each(parts.len().max(1), tick, |part, tick| {
            let words = parts.get(part).cloned().into_iter().flatten();
            ControlFlow::Continue(Cut::new(words, start, tick))
        });
        let mut all = Cut::default();
        for part in cut.continue_value().into_iter().flatten() {
            all.append(part?)?;
        }
        Ok(all.into_corpus(start, parts.len()))
    }
}

impl<'a> Start<'a> {
    fn bytes() -> Self {
        match Alphabet::bytes().symbols {
            Symbols::Bytes { ids } => Start::Bytes(ids),
            Symbols::Chars(_) => unreachable!("bytes are bytes"),
        }
    }

    fn of(config: &'a BpeConfig) -> Self {
        if config.bytes {
            Start::bytes()
        } else {
            Start::Chars(&config.marker, &config.limit, false)
        }
    }
}

/// A sign as a number: its code point, with a bit for the form. Bytes are their own codes.
const MARKED: u32 = 1 << 21;
const OWN: u32 = MOST;

pub(super) fn code(sign: Sign) -> u32 {
    match sign {
        Sign::Character(character, Form::Plain) => character as u32,
        Sign::Character(character, Form::Marked) => character as u32 | MARKED,
        Sign::Own => OWN,
    }
}

fn sign(code: u32) -> Sign {
    let form = if code & MARKED == 0 { Form::Plain } else { Form::Marked };
    char::from_u32(code & !MARKED).map_or(Sign::Own, |character| Sign::Character(character, form))
}

/// Words, cut.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) arena: Arena,
    pub(super) tally: Tally,
    pub(super) distinct_words: u64,
    pub(super) total_words: u64,
    pub(super) length: u64,
    pub(super) interrupted: bool,
}

impl Cut {
    fn new<'a>(
        words: impl Iterator<Item = (&'a str, u64)>,
        start: &Start<'_>,
        tick: Tick<'_>,
    ) -> Result<Self> {
        let mut cut = Self::default();
        let mut next_tick = SLOTS_PER_TICK;
        for (word, count) in words {
            let before = cut.arena.len();
            if before >= next_tick {
                next_tick = before + SLOTS_PER_TICK;
                if tick().is_break() {
                    cut.interrupted = true;
                    break;
                }
            }
            match start {
                Start::Bytes(ids) => {
                    for byte in word.bytes() {
                        cut.arena.push(ids[usize::from(byte)]);
                        cut.tally.add(u32::from(byte), count);
                    }
                }
                Start::Chars(marker, ..) => marker.for_each(word, |sign, _, _| {
                    cut.arena.push(code(sign));
                    cut.tally.add(code(sign), count);
                }),
            }
            let symbols = (cut.arena.len() - before) as u64;
            cut.lengthen(count.checked_mul(symbols))?;
            cut.total_words = cut.total_words.saturating_add(count);
            cut.distinct_words += 1;
            cut.arena.end_word(count)?;
        }
        Ok(cut)
    }

    pub(super) fn lengthen(&mut self, by: Option<u64>) -> Result<()> {
        self.length = by.and_then(|by| self.length.checked_add(by)).ok_or_else(|| {
            Error::CountOverflow { what: "the number of symbols in the corpus".into() }
        })?;
        Ok(())
    }

    /// Appends the words of another part.
    fn append(&mut self, other: Self) -> Result<()> {
        if self.distinct_words == 0 {
            let interrupted = self.interrupted || other.interrupted;
            *self = Self { interrupted, ..other };
            return Ok(());
        }
        self.lengthen(Some(other.length))?;
        self.tally.append(&other.tally);
        self.total_words = self.total_words.saturating_add(other.total_words);
        self.distinct_words += other.distinct_words;
        self.interrupted |= other.interrupted;
        self.arena.append(other.arena)
    }

    /// Numbers the symbols.
    pub(super) fn into_corpus(self, start: &Start<'_>, threads: usize) -> Corpus {
        let Cut { mut arena, mut tally, distinct_words, total_words, length, interrupted } = self;
        let seen = tally.seen();
        let alphabet = match start {
            Start::Bytes(_) => Alphabet::bytes(),
            Start::Chars(marker, limit, every_plain) => {
                let signs = seen.iter().map(|&code| (sign(code), tally.count(code)));
                Alphabet::chars(signs, marker, limit, *every_plain)
            }
        };
        let mut occurrences = vec![0; alphabet.len()];
        for code in seen {
            let id = match &alphabet.symbols {
                Symbols::Bytes { ids } => ids[code as usize],
                symbols => symbols.id(sign(code)),
            };
            if id != UNKNOWN {
                occurrences[id as usize] += tally.count(code);
            }
            // From here on the tally tells the id.
            *tally.count_mut(code) = u64::from(id);
        }
        if !matches!(start, Start::Bytes(_)) {
            arena.renumber(threads, |code| tally.count(code) as u32);
        }
        arena.finish();
        Corpus {
            alphabet,
            arena,
            distinct_words,
            total_words,
            length,
            occurrences,
            threads,
            interrupted,
        }
    }
}
