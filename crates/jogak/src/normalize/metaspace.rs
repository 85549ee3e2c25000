//! SentencePiece's way with spaces (Kudo & Richardson 2018): every space becomes `▁` (U+2581), and one
//! `▁` goes before the text, so that a word looks the same at the start of a text and behind a space.
//!
//! Going back is exact for every text without a `▁` of its own: take one `▁` off the front, turn the
//! others into spaces.

use super::Place;
use super::align::Sink;
use crate::pretokenize::{Dummy, Metaspace};

/// Whether a space is added to `text`.
fn adds(spaces: Metaspace, text: &str, place: Place) -> bool {
    let here = match spaces.dummy {
        Dummy::Always => true,
        Dummy::First | Dummy::Given | Dummy::Start if spaces.suffix => place.last,
        Dummy::First | Dummy::Given | Dummy::Start => place.first,
        Dummy::Never => false,
    };
    let present = |text: &str| {
        if spaces.suffix {
            text.ends_with(' ') || text.ends_with(spaces.mark())
        } else {
            text.starts_with(' ') || text.starts_with(spaces.mark())
        }
    };
    if text.is_empty() {
        return here && place.bare && spaces.dummy == Dummy::Given;
    }
    here && !(spaces.only_missing && present(text))
}

/// Whether [`run`] would change `text`.
pub(crate) fn changes(spaces: Metaspace, text: &str, place: Place) -> bool {
    adds(spaces, text, place) || (spaces.escape && memchr::memchr(b' ', text.as_bytes()).is_some())
}

/// Writes `text` with its spaces as asked.
pub(crate) fn run(spaces: Metaspace, text: &str, place: Place, out: &mut impl Sink) {
    let adds = adds(spaces, text, place);
    let mut utf8 = [0; 4];
    let mark: &str = spaces.mark().encode_utf8(&mut utf8);
    if adds && !spaces.suffix {
        out.write(mark, 0, 0);
    }
    let mut done = 0;
    if spaces.escape {
        for at in memchr::memchr_iter(b' ', text.as_bytes()) {
            out.keep(text, done, at);
            out.write(mark, at, at + 1);
            done = at + 1;
        }
    }
    out.keep(text, done, text.len());
    if adds && spaces.suffix {
        out.write(mark, text.len(), text.len());
    }
}
