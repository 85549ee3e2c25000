//! ids -> bytes or text: the way back, for lists of ids, for many lists, and for streams.
//!
//! Rule: three ways, `native` (what the markers tell), `chain` (what a file says) and
//! `sentencepiece`, and each has one code, which takes an id at a time. A list is a stream that ends.

mod batch;
mod chain;
mod flat;
mod lossy;
mod native;
mod sentencepiece;
mod steps;
mod stream;

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::normalize::Normalizer;
use crate::pretokenize::Metaspace;
use crate::symbols::Marker;
use crate::vocab::Vocab;
use chain::Chain;
use flat::{Copied, Flat};
use native::{Draft, Native};

pub use chain::Rule;
pub use sentencepiece::{SentencePiece, Strip};
pub use stream::Stream;

/// What a piece stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// One byte (byte fallback).
    Byte(u8),
    Special,
}

#[derive(Debug)]
enum Way {
    Native(Native),
    Chain(Chain),
    SentencePiece(sentencepiece::Way),
}

/// Turns ids into bytes.
#[derive(Debug)]
pub struct Decoder {
    vocab: Vocab,
    /// The id that stands for an empty text; the vocabulary has a hole there.
    empty: Option<u32>,
    kinds: Vec<Kind>,
    way: Way,
    /// What the ids become that need no look.
    flat: Flat,
}

impl Default for Decoder {
    /// That of no pieces.
    fn default() -> Self {
        Self::new(Vocab::default(), &[], None, Marker::None, None)
    }
}

impl Decoder {
    /// A decoder of `vocab`, which has special tokens too (`specials` are their ids). `spaces` says how
    /// spaces were written into the words.
    pub fn new(
        vocab: Vocab,
        specials: &[u32],
        byte_fallback: Option<&[u32; 256]>,
        marker: Marker,
        spaces: Option<Metaspace>,
    ) -> Self {
        let mut kinds = vec![Kind::Text; vocab.len()];
        for (byte, &id) in (0..=255u8).zip(byte_fallback.into_iter().flatten()) {
            if let Some(kind) = kinds.get_mut(id as usize) {
                *kind = Kind::Byte(byte);
            }
        }
        for &id in specials {
            if let Some(kind) = kinds.get_mut(id as usize) {
                *kind = Kind::Special;
            }
        }
        let normalizer = Normalizer::default();
        let native = Native { marker, spaces, normalizer };
        let flat = native.flat(&vocab, &kinds);
        Self { vocab, empty: None, kinds, way: Way::Native(native), flat }
    }

    /// The same, behind a normalizer: what of it has a way back is taken back.
    #[must_use]
    pub fn behind(mut self, normalizer: Normalizer) -> Self {
        if let Way::Native(native) = &mut self.way {
            native.normalizer = normalizer;
            if native.normalizer.has_way_back() {
                self.flat = native.flat(&self.vocab, &self.kinds);
            }
        }
        self
    }

    /// A decoder that goes by a chain of rules over the texts of tokens; without any rule they are
    /// joined with spaces. The vocabulary has the texts as they are written in files.
    ///
    /// # Errors
    /// [`Error::Pattern`], [`Error::PatternGaveUp`] for a regular expression; [`Error::TooLarge`] for
    /// too many rules; [`Error::Config`] if [`Rule::SentencePiece`] is not alone, [`Error::Charsmap`]
    /// for a broken one.
    pub fn chain(vocab: Vocab, specials: &[u32], rules: &[Rule]) -> Result<Self> {
        let mut kinds = vec![Kind::Text; vocab.len()];
        for &id in specials {
            if let Some(kind) = kinds.get_mut(id as usize) {
                *kind = Kind::Special;
            }
        }
        let (way, flat) = match sentencepiece::alone(rules)? {
            Some(rule) => {
                let way = sentencepiece::Way::new(rule, &vocab)?;
                let flat = way.flat(&vocab, &kinds);
                (Way::SentencePiece(way), flat)
            }
            None => {
                let chain = Chain::new(rules, &vocab)?;
                let flat = chain.flat(&vocab, &kinds);
                (Way::Chain(chain), flat)
            }
        };
        Ok(Self { vocab, empty: None, kinds, way, flat })
    }

    /// The same, where an id stands for an empty text rather than for nothing.
    #[must_use]
    pub fn with_empty(self, empty: Option<u32>) -> Self {
        Self { empty, ..self }
    }

    /// All pieces, special tokens included.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The piece of the id at place `at`.
    fn piece(&self, id: u32, at: usize) -> Result<&[u8]> {
        let empty = || self.empty.filter(|&empty| empty == id).map(|_| &[][..]);
        let piece = self.vocab.piece(id).or_else(empty);
        piece.ok_or(Error::UnknownId { id, at, len: self.vocab.len() })
    }

    fn is_skipped(&self, id: u32, skip_specials: bool) -> bool {
        skip_specials && self.kinds[id as usize] == Kind::Special
    }

    /// The bytes that `ids` stand for. Special tokens are written as their text unless they are
    /// skipped. Cost: linear in the ids and the bytes.
    ///
    /// # Errors
    /// [`Error::UnknownId`] for an id without a piece; [`Error::PatternGaveUp`].
    pub fn bytes(&self, ids: &[u32], skip_specials: bool) -> Result<Vec<u8>> {
        match &self.way {
            Way::Native(native) => {
                let mut draft = Draft::default();
                draft.bytes.reserve(flat::room(ids.len()));
                let mut at = 0;
                while let Some(&id) = ids.get(at) {
                    if native.is_settled(&draft) {
                        let copied = self.flat.copy(&ids[at..], skip_specials, &mut draft.bytes);
                        if copied > 0 {
                            at += copied;
                            draft.copied();
                            continue;
                        }
                    }
                    let piece = self.piece(id, at)?;
                    native.push(self.kinds[id as usize], piece, skip_specials, &mut draft);
                    at += 1;
                }
                native.end_stretch(&mut draft, true);
                Ok(draft.bytes)
            }
            Way::Chain(chain) => self.chained(chain, ids, skip_specials, true),
            Way::SentencePiece(way) => self.by_type(way, ids, skip_specials, true),
        }
    }

    /// The text that `ids` stand for; what is no UTF-8 is replaced. See [`Decoder::bytes`].
    ///
    /// # Errors
    /// As [`Decoder::bytes`].
    pub fn text(&self, ids: &[u32], skip_specials: bool) -> Result<String> {
        self.raw_text(ids, skip_specials).map(into_text)
    }

    /// The bytes of the text, which [`as_text`] looks at: other than [`Decoder::bytes`] where bytes are no way
    /// back.
    ///
    /// # Errors
    /// As [`Decoder::bytes`].
    pub fn raw_text(&self, ids: &[u32], skip_specials: bool) -> Result<Vec<u8>> {
        match &self.way {
            Way::Chain(chain) if !chain.is_bytes() => {
                self.chained(chain, ids, skip_specials, false)
            }
            Way::SentencePiece(way) => self.by_type(way, ids, skip_specials, false),
            _ => self.bytes(ids, skip_specials),
        }
    }

    fn chained(&self, chain: &Chain, ids: &[u32], skip: bool, raw: bool) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(flat::room(ids.len()));
        let mut progress = chain.start(raw);
        let mut at = 0;
        while let Some(&id) = ids.get(at) {
            if chain.is_settled(&progress) {
                let copied = self.flat.copy(&ids[at..], skip, &mut out);
                at += copied;
                if copied > 0 {
                    continue;
                }
            }
            let piece = self.piece(id, at)?;
            if !self.is_skipped(id, skip) {
                chain.push(id, piece, &mut progress, &mut out)?;
            }
            at += 1;
        }
        chain.finish(&mut progress, &mut out)?;
        Ok(out)
    }

    fn by_type(
        &self,
        way: &sentencepiece::Way,
        ids: &[u32],
        skip: bool,
        raw: bool,
    ) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(flat::room(ids.len()));
        let mut progress = way.start(raw);
        let mut at = 0;
        while let Some(&id) = ids.get(at) {
            if way.is_settled(&progress) {
                let copied = self.flat.copy(&ids[at..], skip, &mut out);
                if copied > 0 {
                    at += copied;
                    progress.copied();
                    continue;
                }
            }
            self.piece(id, at)?;
            if !self.is_skipped(id, skip) {
                way.push(id, &mut progress, &mut out);
            }
            at += 1;
        }
        way.finish(&mut progress, &mut out)?;
        Ok(out)
    }
}

impl Kind {
    /// Whether a piece of this kind is copied, where nothing else is to be seen.
    fn copied(self) -> Copied {
        if self == Kind::Special { Copied::Special } else { Copied::Always }
    }
}

/// Where a mark stands in a piece from a place on. Pieces are so short that making ready to search takes longer.
fn find(piece: &[u8], mark: &[u8], from: usize) -> Option<usize> {
    let first = mark.first();
    let mut windows = piece[from..].windows(mark.len());
    let found = windows.position(|window| window.first() == first && window == mark);
    found.map(|at| from + at)
}

/// Bytes as text; what is no UTF-8 is replaced by U+FFFD, as much of it at a time as could have begun a character.
///
/// ```
/// assert_eq!(jogak::decode::as_text("조각".as_bytes()), "조각");
/// assert_eq!(jogak::decode::as_text(b"\xEC\xA1 \xFF"), "\u{FFFD} \u{FFFD}");
/// ```
pub fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The same, of bytes that nobody else needs.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
