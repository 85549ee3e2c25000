//! Words in GPT-2's printable characters: every byte is drawn as a character before the model sees it.
//!
//! For models whose pieces are drawn, but that need more than bytes as symbols: pieces for whole words,
//! markers glued to the last byte, vocabularies without some of the bytes.

use super::Sink;
use crate::symbols::draw_into;

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
