//! The words of a corpus as trainers that merge see them: cut into symbols, in one array.

use std::ops::ControlFlow;

use super::alphabet::{Alphabet, AlphabetLimit};
use super::arena::{Arena, SLOTS_PER_TICK};
use super::bpe::BpeConfig;
use super::view::TrainObserver;
use crate::error::{Error, Result};
use crate::symbols::Marker;

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
    /// How many threads may work on it.
    pub(super) threads: usize,
    /// The observer asked to stop before all words were cut.
    pub(super) interrupted: bool,
}

/// What the first symbols are.
pub(super) enum Start<'a> {
    Bytes,
    /// The last one says whether every character is a symbol without its marker too.
    Chars(&'a Marker, &'a AlphabetLimit, bool),
}

impl Corpus {
    /// Cuts `words` into symbols. Speed and memory are best if they come sorted by count; the order
    /// matters for [`super::Ties::FirstSeen`] only.
    ///
    /// If `observer` asks to stop, the words read until then are the corpus, and
    /// [`Corpus::train`] makes no merge.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if the number of symbols times counts passes `u64::MAX`;
    /// [`Error::TooLarge`] for more than 2^32 symbols.
    pub fn new<'a>(
        words: impl Iterator<Item = (&'a str, u64)> + Clone,
        config: &BpeConfig,
        observer: &mut impl TrainObserver,
    ) -> Result<Self> {
        // How many merges `vocab_size` leaves room for is known when the alphabet is.
        let goal = config.num_merges.filter(|_| config.vocab_size.is_none());
        let start = if config.bytes {
            Start::Bytes
        } else {
            Start::Chars(&config.marker, &config.limit, false)
        };
        Self::cut(words, &start, || observer.progress(0, goal))
    }

    /// Cuts `words` into symbols, as long as `tick` says so.
    ///
    /// # Errors
    /// As [`Corpus::new`].
    pub(super) fn cut<'a>(
        words: impl Iterator<Item = (&'a str, u64)> + Clone,
        start: &Start<'_>,
        mut tick: impl FnMut() -> ControlFlow<()>,
    ) -> Result<Self> {
        let mut stopped = ControlFlow::Continue(());
        let alphabet = match start {
            Start::Bytes => Alphabet::bytes(),
            Start::Chars(marker, limit, every_plain) => {
                let mut bytes = 0;
                let known = words.clone().take_while(|(word, _)| {
                    bytes += word.len();
                    if bytes >= SLOTS_PER_TICK {
                        bytes = 0;
                        stopped = tick();
                    }
                    stopped.is_continue()
                });
                Alphabet::chars(known, marker, limit, *every_plain)
            }
        };
        let mut arena = Arena::new();
        let (mut distinct_words, mut total_words, mut length) = (0, 0u64, 0u64);
        let mut next_tick = SLOTS_PER_TICK;
        for (word, count) in words {
            if arena.len() >= next_tick && stopped.is_continue() {
                next_tick = arena.len() + SLOTS_PER_TICK;
                stopped = tick();
            }
            if stopped.is_break() {
                break;
            }
            let before = arena.len();
            alphabet.symbols.for_each(word, |symbol| arena.push(symbol.id));
            let symbols = (arena.len() - before) as u64;
            length = count.checked_mul(symbols).and_then(|n| length.checked_add(n)).ok_or_else(
                || Error::CountOverflow { what: "the number of symbols in the corpus".into() },
            )?;
            total_words = total_words.saturating_add(count);
            distinct_words += 1;
            arena.end_word(count)?;
        }
        arena.finish();
        let interrupted = stopped.is_break();
        Ok(Self { alphabet, arena, distinct_words, total_words, length, threads: 2, interrupted })
    }
}
