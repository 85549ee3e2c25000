//! The words of a corpus as trainers that merge see them: cut into symbols, in one array.

use super::alphabet::Alphabet;
use super::arena::Arena;
use super::bpe::BpeConfig;
use crate::error::{Error, Result};

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
}

impl Corpus {
    /// Cuts `words` into symbols. Speed and memory are best if they come sorted by count; the order
    /// matters for [`Ties::FirstSeen`] only.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if the number of symbols times counts passes `u64::MAX`;
    /// [`Error::TooLarge`] for more than 2^32 symbols.
    pub fn new<'a>(
        words: impl Iterator<Item = (&'a str, u64)> + Clone,
        config: &BpeConfig,
    ) -> Result<Self> {
        let alphabet = if config.bytes {
            Alphabet::bytes()
        } else {
            Alphabet::chars(words.clone(), &config.marker, config.limit)
        };
        Self::cut(words, alphabet)
    }

    /// Cuts `words` into the symbols of `alphabet`.
    ///
    /// # Errors
    /// As [`Corpus::new`].
    pub(super) fn cut<'a>(
        words: impl Iterator<Item = (&'a str, u64)>,
        alphabet: Alphabet,
    ) -> Result<Self> {
        let mut arena = Arena::new();
        let (mut distinct_words, mut total_words, mut length) = (0, 0u64, 0u64);
        for (word, count) in words {
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
        Ok(Self { alphabet, arena, distinct_words, total_words, length })
    }
}
