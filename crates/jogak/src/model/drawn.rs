//! Words in GPT-2's printable characters: every byte is drawn as a character before the model sees it.
//!
//! For models whose pieces are drawn, but that need more than bytes as symbols: pieces for whole words,
//! markers glued to the last byte. Where they need no more, nothing is drawn: a vocabulary without some of the bytes is
//! one of bytes all the same.

use super::{BpeParts, Sink, Strategy};
use crate::symbols::{Marker, Undraw, draw_into};
use crate::vocab::Vocab;

/// The bytes of pieces that are drawn, if a model of bytes does to words what this one does to drawn ones. A piece that no
/// bytes are drawn as is none of a word.
pub(super) fn undrawn(parts: &BpeParts) -> Option<Vocab> {
    let plain = parts.hf_rules && !parts.bytes && parts.marker == Marker::None;
    let plain = plain && parts.word_suffix.is_none() && parts.byte_fallback.is_none();
    if !plain || parts.merges.is_none() || parts.strategy != Strategy::Merges {
        return None;
    }
    let vocab = &parts.pieces;
    let (undraw, mut bytes) = (Undraw::default(), Vec::new());
    let mut pieces = Vocab::with_capacity(vocab.len(), vocab.total());
    for id in 0..vocab.len() as u32 {
        bytes.clear();
        undraw.plain_into(vocab.piece(id).unwrap_or_default(), &mut bytes);
        pieces.push(&bytes);
    }
    Some(pieces)
}

/// The word as the model sees it.
pub(super) fn draw(word: &str, drawn: &mut String) {
    drawn.clear();
    draw_into(word.as_bytes(), drawn);
}

/// Hands pieces on with the bytes of the word rather than those of the drawn one.
pub(super) struct Undrawn<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) drawn: &'a str,
}

impl<S> Undrawn<'_, S> {
    /// Each character that is drawn is a byte.
    fn byte(&self, at: usize) -> usize {
        let before = self.drawn.as_bytes().get(..at).unwrap_or(self.drawn.as_bytes());
        before.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
    }
}

impl<S: Sink> Sink for Undrawn<'_, S> {
    const SPANS: bool = S::SPANS;

    fn piece(&mut self, id: u32, start: usize, end: usize) {
        if S::SPANS {
            let (start, end) = (self.byte(start), self.byte(end));
            self.sink.piece(id, start, end);
        } else {
            self.sink.piece(id, 0, 0);
        }
    }

    fn extend_last(&mut self, end: usize) {
        if S::SPANS {
            let end = self.byte(end);
            self.sink.extend_last(end);
        }
    }
}
