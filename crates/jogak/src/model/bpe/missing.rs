//! Bytes that texts may have and a vocabulary of bytes has not: SmolLM's lacks eight that no text of its corpus had.
//!
//! In words: such a byte is dropped, or something stands for it, before anything is merged or behind that. What stands left and
//! right of a byte that is dropped may merge, though nothing lies across in the vocabulary. So words are cut, but not there:
//!
//! ```text
//! missing                           not cut
//! a character of ASCII              before and behind it
//! the first byte of longer ones     before these (behind them stands another of their bytes, as in any text)
//! a byte within characters          anywhere: it may be the last one of nearly any
//! ```

use super::super::cuts::Cuts;
use crate::symbols::{Symbols, is_of_text};
use crate::vocab::Vocab;

/// So many characters may be missing, if words are to be cut in spite of them.
const FEW: usize = 64;

/// The bytes of texts that are no pieces, where symbols are bytes.
#[derive(Debug, Default)]
pub(super) struct Missing {
    /// Characters of ASCII.
    ascii: Vec<u8>,
    /// First bytes of longer characters.
    firsts: Vec<u8>,
    /// Whether there are others.
    within: bool,
}

impl Missing {
    pub(super) fn new(symbols: &Symbols, vocab: &Vocab) -> Self {
        let mut missing = Self::default();
        let Symbols::Bytes { ids } = symbols else { return missing };
        for byte in (0..=u8::MAX).filter(|&byte| is_of_text(byte)) {
            if (ids[usize::from(byte)] as usize) < vocab.len() {
                continue;
            }
            match byte {
                ..0x80 => missing.ascii.push(byte),
                0x80..0xC0 => missing.within = true,
                0xC0.. => missing.firsts.push(byte),
            }
        }
        missing
    }

    /// Whether all bytes are there.
    pub(super) fn is_none(&self) -> bool {
        self.ascii.is_empty() && self.firsts.is_empty() && !self.within
    }

    /// Whether there are places that nothing missing is seen across.
    pub(super) fn is_cut_off(&self) -> bool {
        !self.within && self.ascii.len() <= FEW
    }

    /// Where words may be cut, not beside what is missing, and not beside any of `pieces`.
    pub(super) fn cuts(&self, pieces: &[&[u8]], vocab: &Vocab) -> Cuts {
        if pieces.is_empty() && self.is_none() {
            return Cuts::new(vocab);
        }
        let missing = self.ascii.chunks(1);
        let pieces: Vec<&[u8]> = pieces.iter().copied().chain(missing).collect();
        Cuts::not_beside(&pieces, &self.firsts, vocab)
    }
}
