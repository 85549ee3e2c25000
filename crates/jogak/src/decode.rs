//! ids -> bytes: the way back.

use crate::error::{Error, Result};
use crate::normalize::Normalizer;
use crate::pretokenize::{Dummy, Metaspace};
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
    /// How spaces were rewritten in the whole text, if they were.
    spaces: Option<Metaspace>,
    normalizer: Normalizer,
}

/// A text on its way. Special tokens cut it into stretches, as they did when it was encoded.
#[derive(Debug, Default)]
struct Draft {
    bytes: Vec<u8>,
    /// Where the stretch begins that is being written.
    stretch: usize,
    /// A special token stands before the stretch, skipped or not.
    behind_special: bool,
    /// A piece was written: tokens that are left out count for nothing.
    begun: bool,
    /// A suffix marker is a space, but not behind the last word.
    owes_space: bool,
    /// Where the space of a trailing mark stands, if that was the last piece's.
    trailing: Option<usize>,
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
        Self { vocab, kinds, marker, spaces, normalizer: Normalizer::default() }
    }

    /// The same, behind a normalizer: what of it has a way back is taken back.
    #[must_use]
    pub fn behind(mut self, normalizer: Normalizer) -> Self {
        self.normalizer = normalizer;
        self
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
        let mut draft = Draft { bytes: Vec::with_capacity(ids.len() * 4), ..Draft::default() };
        for (at, &id) in ids.iter().enumerate() {
            let len = self.vocab.len();
            let piece = self.vocab.piece(id).ok_or(Error::UnknownId { id, at, len })?;
            let kind = self.kinds[id as usize];
            if kind == Kind::Special && skip_specials {
                self.end_stretch(&mut draft, false);
                draft.behind_special = true;
                continue;
            }
            if std::mem::take(&mut draft.owes_space) {
                draft.bytes.push(b' ');
            }
            match kind {
                Kind::Special => {
                    self.end_stretch(&mut draft, false);
                    if matches!(self.marker, Marker::Continuation { .. }) && draft.begun {
                        // A word of its own, as every piece without the marker.
                        draft.bytes.push(b' ');
                    }
                    draft.bytes.extend_from_slice(piece);
                    draft.stretch = draft.bytes.len();
                    draft.behind_special = true;
                }
                Kind::Byte(byte) => {
                    draft.trailing = None;
                    draft.bytes.push(byte);
                }
                Kind::Text => self.text(piece, &mut draft),
            }
            draft.begun = true;
        }
        self.end_stretch(&mut draft, true);
        Ok(draft.bytes)
    }

    fn text(&self, piece: &[u8], draft: &mut Draft) {
        if let Some(spaces) = self.spaces {
            return spaced(spaces, piece, draft);
        }
        let out = &mut draft.bytes;
        match &self.marker {
            Marker::None => out.extend_from_slice(piece),
            Marker::Suffix { text, .. } => {
                let bare = piece.strip_suffix(text.as_bytes());
                draft.owes_space = bare.is_some();
                out.extend_from_slice(bare.unwrap_or(piece));
            }
            Marker::Prefix { text } => {
                let bare = piece.strip_prefix(text.as_bytes());
                if bare.is_some() && draft.begun {
                    out.push(b' ');
                }
                out.extend_from_slice(bare.unwrap_or(piece));
            }
            Marker::Continuation { text } => {
                let bare = piece.strip_prefix(text.as_bytes());
                if bare.is_none() && draft.begun {
                    out.push(b' ');
                }
                out.extend_from_slice(bare.unwrap_or(piece));
            }
        }
    }

    /// Finishes what was written since the last special token.
    fn end_stretch(&self, draft: &mut Draft, last: bool) {
        if let Some(spaces) = self.spaces
            && spaces.suffix
            && (spaces.dummy == Dummy::Always || (spaces.dummy != Dummy::Never && last))
            && let Some(space) = draft.trailing.take()
        {
            draft.bytes.truncate(space);
        }
        draft.trailing = None;
        if self.normalizer.has_way_back() && draft.stretch < draft.bytes.len() {
            let stretch = self.normalizer.undone(&draft.bytes[draft.stretch..]);
            draft.bytes.truncate(draft.stretch);
            draft.bytes.extend_from_slice(&stretch);
        }
        draft.stretch = draft.bytes.len();
    }
}

/// Writes a piece in which marks stand for spaces.
fn spaced(spaces: Metaspace, piece: &[u8], draft: &mut Draft) {
    let mut utf8 = [0; 4];
    let mark = spaces.mark().encode_utf8(&mut utf8).as_bytes();
    let out = &mut draft.bytes;
    let mut rest = piece;
    let may_begin = !spaces.suffix
        && match spaces.dummy {
            Dummy::Always => !draft.begun || (draft.behind_special && out.len() == draft.stretch),
            Dummy::First | Dummy::Start => !draft.begun,
            Dummy::Never => false,
        };
    if may_begin && let Some(bare) = rest.strip_prefix(mark) {
        rest = bare;
    }
    draft.behind_special = false;
    draft.trailing = None;
    let mut from = 0;
    for at in memchr::memmem::find_iter(rest, mark) {
        out.extend_from_slice(&rest[from..at]);
        draft.trailing = Some(out.len()).filter(|_| at + mark.len() == rest.len());
        out.push(b' ');
        from = at + mark.len();
    }
    out.extend_from_slice(&rest[from..]);
}
