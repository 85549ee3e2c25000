//! A path -> pieces: what is put in the place of characters that are unknown, by each library's rules.

use super::Unigram;
use crate::error::{Error, Result};
use crate::model::Sink;
use crate::observe::WordObserver;
use crate::symbols::UNKNOWN;

/// Sees the first unknown character by which a place is come to best.
pub(super) struct Uncovered<'a, O> {
    pub(super) inner: &'a mut O,
    pub(super) met: Option<(usize, usize)>,
}

impl<O: WordObserver> WordObserver for Uncovered<'_, O> {
    fn candidate(&mut self, start: usize, end: usize, id: u32, score: f64, sum: f64, best: bool) {
        if id == UNKNOWN && best && self.met.is_none() {
            self.met = Some((start, end));
        }
        if O::WATCHES {
            self.inner.candidate(start, end, id, score, sum, best);
        }
    }
}

/// Hands pieces on to a sink, putting something in the place of unknown characters.
pub(super) struct Pieces<'a, S> {
    model: &'a Unigram,
    word: &'a str,
    sink: &'a mut S,
    keep_uncovered: bool,
    /// The last piece was an unknown one.
    in_run: bool,
    /// What is unknown and has no piece yet, where it may fall back to bytes as a whole.
    waiting: Option<(usize, usize)>,
}

impl<'a, S: Sink> Pieces<'a, S> {
    pub(super) fn new(
        model: &'a Unigram,
        word: &'a str,
        keep_uncovered: bool,
        sink: &'a mut S,
    ) -> Self {
        Self { model, word, sink, keep_uncovered, in_run: false, waiting: None }
    }

    #[inline]
    pub(super) fn push(&mut self, id: u32, start: usize, end: usize) -> Result<()> {
        if self.model.hf.is_some() {
            return self.hf_push(id, start, end);
        }
        self.put(id, start, end)
    }

    /// A piece by HF's rules: a run of unknown characters, or one of them, is looked at as a whole.
    fn hf_push(&mut self, id: u32, start: usize, end: usize) -> Result<()> {
        let unknown = id == UNKNOWN || Some(id) == self.model.unknown;
        if unknown && self.model.fuse_unknown && self.waiting.is_some() {
            if let Some(run) = &mut self.waiting {
                run.1 = end;
            }
            return Ok(());
        }
        self.finish()?;
        if unknown && (id == UNKNOWN || self.model.fuse_unknown) {
            self.waiting = Some((start, end));
            return Ok(());
        }
        self.sink.piece(id, start, end);
        Ok(())
    }

    /// Puts down what waits.
    pub(super) fn finish(&mut self) -> Result<()> {
        let Some((start, end)) = self.waiting.take() else { return Ok(()) };
        let bytes = &self.word.as_bytes()[start..end];
        let unknown = self.model.unknown.and_then(|id| self.model.vocab.piece(id));
        let id = match &self.model.byte_fallback {
            // The unknown piece itself, as it is written.
            _ if unknown == Some(bytes) => self.model.unknown.unwrap_or(UNKNOWN),
            Some(ids) if bytes.iter().all(|&byte| ids[usize::from(byte)] != UNKNOWN) => {
                for (at, &byte) in (start..end).zip(bytes) {
                    self.sink.piece(ids[usize::from(byte)], at, at + 1);
                }
                return Ok(());
            }
            _ => match self.model.unknown {
                Some(unknown) => unknown,
                None if self.keep_uncovered => UNKNOWN,
                None => return Err(Error::NotCovered { text: self.word[start..end].to_owned() }),
            },
        };
        self.sink.piece(id, start, end);
        Ok(())
    }

    #[inline]
    fn put(&mut self, id: u32, start: usize, end: usize) -> Result<()> {
        if id != UNKNOWN {
            self.in_run = false;
            self.sink.piece(id, start, end);
            return Ok(());
        }
        if let Some(ids) = &self.model.byte_fallback {
            for (at, byte) in (start..end).zip(self.word[start..end].bytes()) {
                self.sink.piece(ids[usize::from(byte)], at, at + 1);
            }
            return Ok(());
        }
        let unknown = match self.model.unknown {
            Some(unknown) => unknown,
            None if self.keep_uncovered => UNKNOWN,
            None => return Err(Error::NotCovered { text: self.word[start..end].to_owned() }),
        };
        if self.model.fuse_unknown && self.in_run {
            self.sink.extend_last(end);
        } else {
            self.in_run = true;
            self.sink.piece(unknown, start, end);
        }
        Ok(())
    }
}
