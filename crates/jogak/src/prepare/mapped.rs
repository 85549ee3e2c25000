//! Words that are made ready character by character: each becomes what it becomes by itself.
//!
//! Rule: says yes only of what is certain. Where no rule sees the neighbours of a character but to sort marks
//! ([`Normalizer::goes_by_characters`]), and what all characters of a word become is [quiet](Quiet), then that in a row
//! is what the word becomes: no rule changes quiet characters, or their order, and nothing cuts between them. So a
//! capital, an accent, a Hangul syllable that falls into letters, or a control that vanishes costs one look at a table.

use super::quiet::Quiet;
use crate::normalize::{Buffers, Normalizer, WITHIN};

/// Bytes that a character may become.
const MOST: usize = 16;
/// Longest word, in bytes.
const LONGEST: usize = 128;

/// What characters below U+10000 become; each is asked for when it is first seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Mapped {
    /// By code point: 0 for one that was not seen, [`ODD`], or where its text starts in `texts` and how long it is.
    characters: Vec<u32>,
    /// One behind the other; a byte before them, so that no entry is 0, and some behind.
    texts: Vec<u8>,
    /// Room for a word.
    word: Vec<u8>,
    buffers: Buffers,
}

/// Nothing is certain.
const ODD: u32 = 1;
/// Bits for the length, above the lowest one.
const LENGTH_BITS: u32 = 5;

impl Mapped {
    /// What becomes of `word`, which is one word then; None if that is not certain. Always to be asked with the same
    /// normalizer, which goes by characters.
    pub(super) fn word(
        &mut self,
        normalizer: &Normalizer,
        quiet: &Quiet,
        word: &str,
    ) -> Option<&str> {
        if word.len() > LONGEST || quiet.mark().is_some() {
            return None;
        }
        if self.characters.is_empty() {
            self.characters.resize(1 << 16, 0);
            self.texts.resize(1 + MOST, 0);
            self.word.resize(LONGEST * MOST, 0);
        }
        let mut at = 0;
        for c in word.chars() {
            let mut entry = *self.characters.get(c as usize)?;
            if entry == 0 {
                entry = self.learn(normalizer, quiet, c);
            }
            if entry == ODD {
                return None;
            }
            // All of the bytes are written, however many there are.
            let from = (entry >> (LENGTH_BITS + 1)) as usize;
            let text = self.texts.get(from..)?.first_chunk::<MOST>()?;
            *self.word.get_mut(at..)?.first_chunk_mut::<MOST>()? = *text;
            at += (entry >> 1 & ((1 << LENGTH_BITS) - 1)) as usize;
        }
        std::str::from_utf8(&self.word[..at]).ok().filter(|word| !word.is_empty())
    }

    /// The entry of a character that was not seen.
    #[cold]
    fn learn(&mut self, normalizer: &Normalizer, quiet: &Quiet, c: char) -> u32 {
        let Self { characters, texts, buffers, .. } = self;
        let mut utf8 = [0; 4];
        let made = normalizer.text(c.encode_utf8(&mut utf8), WITHIN, buffers);
        let sure = made.ok().filter(|made| made.len() <= MOST && quiet.holds(made));
        let entry = sure.map_or(ODD, |made| {
            let from = texts.len() - MOST;
            texts.truncate(from);
            texts.extend_from_slice(made.as_bytes());
            texts.resize(texts.len() + MOST, 0);
            // At most 2^16 texts of 2^4 bytes.
            (from as u32) << (LENGTH_BITS + 1) | (made.len() as u32) << 1
        });
        characters[c as usize] = entry;
        entry
    }
}
