//! The way back that the markers tell, for tokenizers without a decoder chain.

use super::Kind;
use super::flat::{Copied, Flat};
use crate::normalize::Normalizer;
use crate::pretokenize::{Dummy, Metaspace};
use crate::symbols::Marker;
use crate::vocab::Vocab;

/// What is undone.
#[derive(Debug)]
pub(super) struct Native {
    pub(super) marker: Marker,
    /// How spaces were rewritten in the whole text, if they were.
    pub(super) spaces: Option<Metaspace>,
    pub(super) normalizer: Normalizer,
}

/// A text on its way. Special tokens cut it into stretches, as they did when it was encoded.
#[derive(Debug, Default, Clone)]
pub(super) struct Draft {
    pub(super) bytes: Vec<u8>,
    /// Where the stretch begins that is being written.
    stretch: usize,
    /// The beginning of the stretch has been given away.
    given: bool,
    /// A special token stands before the stretch, skipped or not.
    behind_special: bool,
    /// A piece was written: tokens that are left out count for nothing.
    begun: bool,
    /// A suffix marker is a space, but not behind the last word.
    owes_space: bool,
    /// Where the space of a trailing mark stands, if that was the last piece's.
    trailing: Option<usize>,
    /// The stretch is looked at again when it has so many bytes.
    patience: usize,
}

impl Draft {
    /// Pieces were copied behind what is there.
    pub(super) fn copied(&mut self) {
        (self.begun, self.behind_special, self.trailing) = (true, false, None);
    }
}

impl Native {
    /// What pieces become once a text has begun, where nothing that comes before or behind matters.
    pub(super) fn flat(&self, vocab: &Vocab, kinds: &[Kind]) -> Flat {
        let mut flat = Flat::with_capacity(vocab.len());
        let settled = Draft { begun: true, ..Draft::default() };
        if !self.may_settle() || !self.is_settled(&settled) {
            return flat;
        }
        let mut draft = settled.clone();
        for (id, &kind) in kinds.iter().enumerate() {
            let Some(piece) = vocab.piece(id as u32) else {
                flat.push(b"", Copied::Never);
                continue;
            };
            draft.bytes.clear();
            draft.stretch = 0;
            self.push(kind, piece, false, &mut draft);
            // Behind a special token, the next piece may be another.
            let copied = if self.is_settled(&draft) { kind.copied() } else { Copied::Never };
            flat.push(&draft.bytes, copied);
            draft.copied();
        }
        flat
    }

    /// Whether there are times when pieces may be copied.
    fn may_settle(&self) -> bool {
        let spaces = self.spaces.is_none_or(|spaces| !spaces.suffix);
        spaces && !matches!(self.marker, Marker::Suffix { .. }) && !self.normalizer.has_way_back()
    }

    /// Whether pieces may be copied from here on.
    pub(super) fn is_settled(&self, draft: &Draft) -> bool {
        match (self.spaces, &self.marker) {
            (Some(spaces), _) => {
                draft.begun && !(draft.behind_special && spaces.dummy == Dummy::Always)
            }
            (None, Marker::None) => true,
            (None, _) => draft.begun,
        }
    }

    /// Writes a piece; `skip` leaves special tokens out.
    pub(super) fn push(&self, kind: Kind, piece: &[u8], skip: bool, draft: &mut Draft) {
        if kind == Kind::Special && skip {
            self.end_stretch(draft, false);
            draft.behind_special = true;
            return;
        }
        if std::mem::take(&mut draft.owes_space) {
            draft.bytes.push(b' ');
        }
        match kind {
            Kind::Special => {
                self.end_stretch(draft, false);
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
                draft.behind_special = false;
                draft.bytes.push(byte);
            }
            Kind::Text => self.text(piece, draft),
        }
        draft.begun = true;
    }

    /// Hands out what can no longer change. Never more than once every few bytes: cost is linear.
    pub(super) fn give(&self, draft: &mut Draft, out: &mut Vec<u8>) {
        let sure = draft.trailing.unwrap_or(draft.bytes.len());
        if !self.normalizer.has_way_back() {
            out.extend(draft.bytes.drain(..sure));
            draft.stretch = 0;
            draft.trailing = draft.trailing.map(|at| at - sure);
            return;
        }
        // Looked at anew only when it has grown by half.
        let stretch = draft.stretch;
        if sure - stretch >= draft.patience {
            let cut = self.normalizer.settled(&draft.bytes[stretch..sure], !draft.given);
            if cut > 0 {
                let done =
                    self.normalizer.undone(&draft.bytes[stretch..stretch + cut], !draft.given);
                draft.bytes.splice(stretch..stretch + cut, done.iter().copied());
                draft.given = true;
                let moved = stretch + done.len();
                draft.stretch = moved;
                draft.trailing = draft.trailing.map(|at| at - cut + done.len());
            }
            draft.patience = (sure - stretch - cut) * 3 / 2;
        }
        let ready = draft.stretch;
        out.extend(draft.bytes.drain(..ready));
        draft.trailing = draft.trailing.map(|at| at - ready);
        draft.stretch = 0;
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
    pub(super) fn end_stretch(&self, draft: &mut Draft, last: bool) {
        if let Some(spaces) = self.spaces
            && spaces.suffix
            && (spaces.dummy == Dummy::Always || (spaces.dummy != Dummy::Never && last))
            && let Some(space) = draft.trailing.take()
        {
            draft.bytes.truncate(space);
        }
        draft.trailing = None;
        if self.normalizer.has_way_back() && draft.stretch < draft.bytes.len() {
            let stretch = self.normalizer.undone(&draft.bytes[draft.stretch..], !draft.given);
            draft.bytes.truncate(draft.stretch);
            draft.bytes.extend_from_slice(&stretch);
        }
        draft.stretch = draft.bytes.len();
        (draft.given, draft.patience) = (false, 0);
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
            Dummy::Always => !draft.begun || draft.behind_special,
            Dummy::First | Dummy::Given | Dummy::Start => !draft.begun,
            Dummy::Never => false,
        };
    if may_begin && let Some(bare) = rest.strip_prefix(mark) {
        rest = bare;
    }
    draft.behind_special = false;
    draft.trailing = None;
    let mut from = 0;
    while let Some(at) = super::find(rest, mark, from) {
        out.extend_from_slice(&rest[from..at]);
        draft.trailing = Some(out.len()).filter(|_| at + mark.len() == rest.len());
        out.push(b' ');
        from = at + mark.len();
    }
    out.extend_from_slice(&rest[from..]);
}
