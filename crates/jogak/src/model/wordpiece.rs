//! WordPiece encoding (Schuster & Nakajima 2012): longest match, and the whole word or nothing.
//!
//! From the left the longest piece that matches, then on behind it. If anywhere nothing matches, or if
//! the word is too long, the whole word is unknown.
//!
//! With a continuation marker (`##`) pieces behind the first one must carry it. The first one is looked
//! up as it is written: a word that itself begins with the marker's characters may begin with a piece
//! that carries it, as in BERT's own code and in HF tokenizers.

use super::Sink;
use super::automaton::{Automaton, pieces};
use crate::error::{Error, Result};
use crate::observe::WordObserver;
use crate::symbols::{Marker, UNKNOWN};
use crate::vocab::Vocab;

/// What a WordPiece model is made of.
#[derive(Debug, Clone)]
pub struct WordPieceParts {
    /// The bytes of every piece that ordinary text may become. A hole for an id that stands for nothing
    /// or for a special token.
    pub pieces: Vocab,
    /// How borders of words are written.
    pub marker: Marker,
    /// Whether words come with their marker already written (only for [`Marker::Prefix`]).
    pub marked: bool,
    /// The id for what nothing covers.
    pub unknown: Option<u32>,
    /// Words of more characters are unknown.
    pub max_chars_per_word: usize,
}

/// A WordPiece model, compiled.
#[derive(Debug)]
pub struct WordPiece {
    vocab: Vocab,
    automaton: Automaton,
    /// Bytes of the marker that a word's first piece has more than it stands for, and those that
    /// every other piece has.
    extra: (usize, usize),
    unknown: Option<u32>,
    max_chars_per_word: usize,
    whole_words: bool,
}

impl WordPiece {
    /// Compiles a model. Cost: sorts the pieces.
    pub fn new(parts: WordPieceParts) -> Self {
        let vocab = parts.pieces;
        let marker = if parts.marked { Marker::None } else { parts.marker };
        let marked = |mark: &str| {
            let bare = |(piece, id): (_, u32)| {
                <[u8]>::strip_prefix(piece, mark.as_bytes()).map(|bare| (bare, id))
            };
            pieces(&vocab).filter_map(bare).collect::<Vec<_>>().into_iter()
        };
        let (automaton, extra) = match &marker {
            Marker::Continuation { text } => {
                (Automaton::new(pieces(&vocab), marked(text)), (0, text.len()))
            }
            // Every word begins with the marker: only pieces that have it may stand there.
            Marker::Prefix { text } => {
                (Automaton::new(marked(text), pieces(&vocab)), (text.len(), 0))
            }
            _ => (Automaton::new(pieces(&vocab), pieces(&vocab)), (0, 0)),
        };
        let longest = pieces(&vocab).map(|(piece, _)| characters(piece)).max().unwrap_or(0);
        let prefixed = matches!(marker, Marker::Prefix { .. });
        Self {
            automaton,
            extra,
            unknown: parts.unknown,
            max_chars_per_word: parts.max_chars_per_word,
            whole_words: !prefixed && longest <= parts.max_chars_per_word,
            vocab,
        }
    }

    /// The pieces.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// Whether every word that is a piece is that piece.
    pub(super) fn takes_whole_words(&self) -> bool {
        self.whole_words
    }

    /// The id for what nothing covers.
    pub(crate) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Cuts one word; `found` is room for its pieces. Cost: linear in the word.
    pub(super) fn word<S: Sink, O: WordObserver>(
        &self,
        word: &str,
        keep_uncovered: bool,
        found: &mut Vec<u32>,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        if O::WATCHES {
            self.tell(word, observer);
        }
        found.clear();
        let known = !self.is_long(word);
        if let Some(list) = sink.list() {
            let before = list.len();
            if known && (word.is_empty() || self.automaton.cut(word.as_bytes(), list)) {
                return Ok(());
            }
            list.truncate(before);
        } else if known && (word.is_empty() || self.automaton.cut(word.as_bytes(), found)) {
            let (mut at, mut extra) = (0, self.extra.0);
            for &id in found.iter() {
                let end = at + self.length(id, extra);
                sink.piece(id, at, end);
                (at, extra) = (end, self.extra.1);
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

    /// How many bytes of a word a piece stands for.
    fn length(&self, id: u32, extra: usize) -> usize {
        self.vocab.piece(id).map_or(0, |piece| piece.len().saturating_sub(extra))
    }

    fn is_long(&self, word: &str) -> bool {
        let most = self.max_chars_per_word;
        word.len() > most && characters(word.as_bytes()) > most
    }

    /// Tells what matches where, and what is taken; or why there is nothing to take.
    fn tell<O: WordObserver>(&self, word: &str, observer: &mut O) {
        if self.is_long(word) {
            observer.too_long(characters(word.as_bytes()), self.max_chars_per_word);
            return;
        }
        let (mut at, mut first) = (0, true);
        while at < word.len() {
            let mut longest = None;
            self.automaton.matches(&word.as_bytes()[at..], first, |length, id| {
                observer.tried(at, at + length, id);
                longest = Some((at + length, id));
            });
            let Some((end, id)) = longest else {
                observer.stuck(at);
                return;
            };
            observer.matched(at, end, Some(id));
            (at, first) = (end, false);
        }
    }
}

/// Bytes that do not continue a character.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
