//! ids -> bytes: the way back.

use crate::error::{Error, Result};
use crate::symbols::Marker;
use crate::vocab::Vocab;

/// What a piece stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// One byte (byte fallback).
    Byte(u8),
    Special,
}

/// Turns ids into bytes.
#[derive(Debug)]
pub struct Decoder {
    vocab: Vocab,
    kinds: Vec<Kind>,
    marker: Marker,
    /// Spaces were rewritten in the whole text, not only before words.
    metaspace: bool,
}

impl Decoder {
    /// A decoder of `vocab`, which has special tokens too (`specials` are their ids).
    pub fn new(
        vocab: Vocab,
        specials: &[u32],
        byte_fallback: Option<&[u32; 256]>,
        marker: Marker,
        metaspace: bool,
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
        Self { vocab, kinds, marker, metaspace }
    }

    /// All pieces, special tokens included.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The bytes that `ids` stand for. Special tokens are written as their text unless they are
    /// skipped. Cost: linear in the ids and the bytes.
    ///
    /// # Errors
    /// [`Error::UnknownId`] for an id without a piece.
    pub fn bytes(&self, ids: &[u32], skip_specials: bool) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(ids.len() * 4);
        // A suffix marker is a space, but not behind the last word.
        let mut owed = false;
        // Nothing was written yet: tokens that are left out count for nothing.
        let mut first = true;
        for (at, &id) in ids.iter().enumerate() {
            let len = self.vocab.len();
            let piece = self.vocab.piece(id).ok_or(Error::UnknownId { id, at, len })?;
            let kind = self.kinds[id as usize];
            if kind == Kind::Special && skip_specials {
                continue;
            }
            if std::mem::take(&mut owed) {
                out.push(b' ');
            }
            match (kind, &self.marker) {
                (Kind::Byte(byte), _) => out.push(byte),
                (Kind::Special, Marker::Continuation { .. }) => {
                    // A word of its own, as every piece without the marker.
                    out.extend_from_slice(if first { b"" } else { b" " });
                    out.extend_from_slice(piece);
                }
                (Kind::Special, _) | (Kind::Text, Marker::None) => out.extend_from_slice(piece),
                (Kind::Text, Marker::Suffix { text, .. }) => {
                    let bare = piece.strip_suffix(text.as_bytes());
                    owed = bare.is_some();
                    out.extend_from_slice(bare.unwrap_or(piece));
                }
                (Kind::Text, Marker::Prefix { text }) => {
                    self.prefixed(piece, text.as_bytes(), first, &mut out);
                }
                (Kind::Text, Marker::Continuation { text }) => {
                    let bare = piece.strip_prefix(text.as_bytes());
                    if bare.is_none() && !first {
                        out.push(b' ');
                    }
                    out.extend_from_slice(bare.unwrap_or(piece));
                }
            }
            first = false;
        }
        Ok(out)
    }

    fn prefixed(&self, piece: &[u8], mark: &[u8], first: bool, out: &mut Vec<u8>) {
        let mut rest = piece;
        if let Some(bare) = rest.strip_prefix(mark) {
            if !first {
                out.push(b' ');
            }
            rest = bare;
        }
        if self.metaspace {
            for (at, part) in
                memchr::memmem::find_iter(rest, mark).chain([rest.len()]).scan(0, |from, at| {
                    let part = &rest[*from..at];
                    *from = (at + mark.len()).min(rest.len());
                    Some((at, part))
                })
            {
                out.extend_from_slice(part);
                if at < rest.len() {
                    out.push(b' ');
                }
            }
        } else {
            out.extend_from_slice(rest);
        }
    }
}
