//! From the pieces of a word to where they go: places in the word, and something in the place of what is unknown.

use super::super::{Sink, Way};
use super::Bpe;
use crate::error::{Error, Result};
use crate::symbols::UNKNOWN;

/// Hands on the pieces of a part of a word.
pub(super) struct Shifted<'a, S> {
    pub(super) sink: &'a mut S,
    /// Where the part starts.
    pub(super) by: usize,
}

impl<S: Sink> Sink for Shifted<'_, S> {
    fn piece(&mut self, id: u32, start: usize, end: usize) {
        self.sink.piece(id, start + self.by, end + self.by);
    }

    fn extend_last(&mut self, end: usize) {
        self.sink.extend_last(end + self.by);
    }
}

/// Hands pieces on to a sink, putting something in the place of unknown characters.
pub(super) struct Pieces<'a, S> {
    model: &'a Bpe,
    word: &'a str,
    sink: &'a mut S,
    keep_uncovered: bool,
    /// Where the run of unknown characters that is being fused began.
    run: Option<usize>,
}

impl<'a, S: Sink> Pieces<'a, S> {
    pub(super) fn new(model: &'a Bpe, word: &'a str, way: &Way, sink: &'a mut S) -> Self {
        Self { model, word, sink, keep_uncovered: way.keep_uncovered, run: None }
    }

    #[inline]
    pub(super) fn push(&mut self, id: u32, start: usize, end: usize) -> Result<()> {
        if id != UNKNOWN {
            self.run = None;
            self.sink.piece(id, start, end);
            return Ok(());
        }
        if let Some(ids) = &self.model.byte_fallback {
            let bytes = &self.word.as_bytes()[start..end];
            if bytes.iter().all(|&byte| ids[usize::from(byte)] != UNKNOWN) {
                for (at, &byte) in (start..end).zip(bytes) {
                    self.sink.piece(ids[usize::from(byte)], at, at + 1);
                }
                return Ok(());
            }
        }
        let unknown = match self.model.unknown {
            Some(unknown) => unknown,
            None if self.model.drop_unknown => return Ok(()),
            None if self.keep_uncovered => UNKNOWN,
            None => {
                let text = self.word.get(start..end).unwrap_or("part of a character").to_owned();
                return Err(Error::NotCovered { text });
            }
        };
        if self.model.fuse_unknown && self.run.is_some() {
            self.sink.extend_last(end);
        } else {
            self.run = Some(start);
            self.sink.piece(unknown, start, end);
        }
        Ok(())
    }
}
