//! Words as they are: a word that is a piece is that piece, any other word is unknown.

use super::Sink;
use crate::error::{Error, Result};
use crate::observe::WordObserver;
use crate::symbols::UNKNOWN;
use crate::vocab::Vocab;

/// What a model of whole words is made of.
#[derive(Debug, Clone)]
pub struct WordLevelParts {
    /// The bytes of every piece that ordinary text may become. A hole for an id that stands for nothing
    /// or for a special token.
    pub pieces: Vocab,
    /// The ids of the pieces for the 256 bytes, where unknown words fall back to them.
    pub byte_fallback: Option<Box<[u32; 256]>>,
    /// The id for other words.
    pub unknown: Option<u32>,
    /// One unknown piece for a run of unknown words.
    pub fuse_unknown: bool,
}

/// A model of whole words, compiled.
#[derive(Debug)]
pub struct WordLevel {
    vocab: Vocab,
    byte_fallback: Option<Box<[u32; 256]>>,
    unknown: Option<u32>,
    fuse_unknown: bool,
}

impl WordLevel {
    /// Compiles a model.
    pub fn new(parts: WordLevelParts) -> Self {
        Self {
            vocab: parts.pieces,
            byte_fallback: parts.byte_fallback,
            unknown: parts.unknown,
            fuse_unknown: parts.fuse_unknown,
        }
    }

    /// The pieces.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The unknown piece, where one stands for a run of unknown words.
    pub(crate) fn fused(&self) -> Option<u32> {
        self.unknown.filter(|_| self.fuse_unknown && self.byte_fallback.is_none())
    }

    pub(super) fn word<S: Sink, O: WordObserver>(
        &self,
        word: &str,
        keep_uncovered: bool,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        if let Some(id) = self.vocab.id(word.as_bytes()) {
            observer.whole(id);
            sink.piece(id, 0, word.len());
            return Ok(());
        }
        observer.stuck(0);
        if let Some(ids) = &self.byte_fallback {
            for (at, byte) in word.bytes().enumerate() {
                sink.piece(ids[usize::from(byte)], at, at + 1);
            }
            return Ok(());
        }
        match self.unknown {
            Some(unknown) => sink.piece(unknown, 0, word.len()),
            None if keep_uncovered => sink.piece(UNKNOWN, 0, word.len()),
            None => return Err(Error::NotCovered { text: word.to_owned() }),
        }
        Ok(())
    }
}
