//! ids -> bytes or text: the way back, for lists of ids, for many lists, and for streams.
//!
//! Rule: three ways, `native` (what the markers tell), `chain` (what a file says) and
//! `sentencepiece`, and each has one code, which takes an id at a time. A list is a stream that ends.

mod batch;
mod chain;
mod flat;
mod ids;
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
use flat::{But, Copied, Flat};
use native::{Draft, Native};

pub use batch::{Apart, BatchOptions, Text};
pub use chain::Rule;
pub use ids::Ids;
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
    pub fn bytes(&self, ids: &(impl Ids + ?Sized), skip_specials: bool) -> Result<Vec<u8>> {
        self.bytes_in(Vec::new(), ids, skip_specials)
    }

    fn bytes_in(
        &self,
        room: Vec<u8>,
        ids: &(impl Ids + ?Sized),
        skip_specials: bool,
    ) -> Result<Vec<u8>> {
        match &self.way {
            Way::Native(native) => {
                let mut draft = Draft::default();
                draft.bytes = made_ready(room, ids);
                let but = But { specials: skip_specials, bytes: false };
                let mut at = 0;
                while let Some(id) = ids.id(at) {
                    if native.is_settled(&draft) {
                        let copied = self.flat.copy(ids, at, but, &mut draft.bytes);
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
            Way::Chain(chain) => self.stepwise(room, || chain.walk(true), ids, skip_specials, true),
            Way::SentencePiece(way) => {
                self.stepwise(room, || way.walk(true), ids, skip_specials, true)
            }
        }
    }

    /// The text that `ids` stand for; what is no UTF-8 is replaced. See [`Decoder::bytes`].
    ///
    /// # Errors
    /// As [`Decoder::bytes`].
    pub fn text(&self, ids: &(impl Ids + ?Sized), skip_specials: bool) -> Result<String> {
        self.raw_text(ids, skip_specials).map(into_text)
    }

    /// The bytes of the text, which [`as_text`] looks at: other than [`Decoder::bytes`] where bytes are no way
    /// back.
    ///
    /// # Errors
    /// As [`Decoder::bytes`].
    pub fn raw_text(&self, ids: &(impl Ids + ?Sized), skip_specials: bool) -> Result<Vec<u8>> {
        self.raw_text_in(Vec::new(), ids, skip_specials)
    }

    /// The same in memory that somebody has; what is in it goes.
    ///
    /// ```
    /// use jogak::decode::Decoder;
    /// use jogak::symbols::Marker;
    /// use jogak::vocab::Vocab;
    ///
    /// let decoder = Decoder::new(Vocab::new(["lo", "w", "er"]), &[], None, Marker::None, None);
    /// let text = decoder.raw_text_in(Vec::new(), &[0, 1, 2][..], false)?;
    /// assert_eq!(text, b"lower");
    /// assert_eq!(decoder.raw_text_in(text, &[0, 1][..], false)?, b"low");
    /// # Ok::<(), jogak::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Decoder::bytes`]; then the memory is gone.
    pub fn raw_text_in(
        &self,
        room: Vec<u8>,
        ids: &(impl Ids + ?Sized),
        skip_specials: bool,
    ) -> Result<Vec<u8>> {
        match &self.way {
            Way::Chain(chain) if !chain.is_bytes() => {
                self.stepwise(room, || chain.walk(false), ids, skip_specials, false)
            }
            Way::SentencePiece(way) => {
                self.stepwise(room, || way.walk(false), ids, skip_specials, false)
            }
            _ => self.bytes_in(room, ids, skip_specials),
        }
    }

    /// Takes an id at a time where there is something to look at, and copies where there is not.
    ///
    /// Bytes of characters are copied as well, in the hope that all of it turns out to be UTF-8: then every run of them is,
    /// because whole characters stand around it. If not, all is decoded again, and bytes are looked at. `raw` asks
    /// for bytes as they are.
    fn stepwise<W: Walk>(
        &self,
        mut room: Vec<u8>,
        start: impl Fn() -> W,
        ids: &(impl Ids + ?Sized),
        skip: bool,
        raw: bool,
    ) -> Result<Vec<u8>> {
        let but = But { specials: skip, bytes: false };
        if self.flat.has_bytes() {
            let whole = |out: &[u8]| raw || simdutf8::basic::from_utf8(out).is_ok();
            if let Some(out) = self.walked(std::mem::take(&mut room), start(), ids, but, whole)? {
                return Ok(out);
            }
        }
        let but = But { bytes: true, ..but };
        Ok(self.walked(room, start(), ids, but, |_| true)?.unwrap_or_default())
    }

    /// The same; nothing if `is_whole` says no of a text that ids were copied to, where it ends or something is to be looked
    /// at.
    fn walked(
        &self,
        room: Vec<u8>,
        mut walk: impl Walk,
        ids: &(impl Ids + ?Sized),
        but: But,
        is_whole: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Vec<u8>>> {
        let mut out = made_ready(room, ids);
        let mut at = 0;
        while let Some(id) = ids.id(at) {
            if walk.is_settled() {
                let copied = self.flat.copy(ids, at, but, &mut out);
                if copied > 0 {
                    at += copied;
                    walk.copied();
                    continue;
                }
            }
            let piece = self.piece(id, at)?;
            if !self.is_skipped(id, but.specials) {
                if !is_whole(last_character(&out)) {
                    return Ok(None);
                }
                walk.push(id, piece, &mut out)?;
            }
            at += 1;
        }
        walk.finish(&mut out)?;
        Ok(is_whole(&out).then_some(out))
    }
}

/// Memory for the texts of ids.
fn made_ready(mut room: Vec<u8>, ids: &(impl Ids + ?Sized)) -> Vec<u8> {
    room.clear();
    room.reserve(flat::room(ids.count()));
    room
}

/// The bytes of the last character of a text, or what there is of it. No more than a character has are looked at, as somebody
/// may have written many that begin none.
fn last_character(text: &[u8]) -> &[u8] {
    let last = &text[text.len().saturating_sub(char::MAX.len_utf8())..];
    let begins = last.iter().rposition(|&byte| (byte as i8) >= -0x40);
    &last[begins.unwrap_or(0)..]
}

/// A way of decoding at work, an id at a time.
trait Walk {
    /// Whether the texts of ids may be copied from here on.
    fn is_settled(&self) -> bool;
    /// Texts were copied.
    fn copied(&mut self);
    /// Takes a piece of the vocabulary.
    fn push(&mut self, id: u32, piece: &[u8], out: &mut Vec<u8>) -> Result<()>;
    /// All pieces have come.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()>;
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Bytes of characters, with what may stand between them: texts, nothing, and special tokens, of which one is such a byte.
    const PIECES: [&str; 14] = [
        "<0xEA>", "<0xB0>", "<0x80>", "<0x41>", "a", "▁가", "각", "<s>", "</s>", "<pad>", "▁",
        "<0xEB>", "<0xBC>", "",
    ];

    fn decoders(specials: &[u32]) -> [Decoder; 3] {
        let vocab = || Vocab::new(PIECES);
        let spaces = Rule::Replace { pattern: "▁".into(), with: " ".into(), regex: false };
        let strip = Rule::Strip { content: ' ', start: 1, stop: 0 };
        let chain = [spaces, Rule::ByteFallback, Rule::Fuse, strip];
        let sentencepiece = Rule::SentencePiece(SentencePiece {
            unknown: Some("<pad>".into()),
            surface: " ⁇ ".into(),
            control: vec!["<s>".into(), "</s>".into()],
            bytes: true,
            strip: Strip::First,
            charsmap: Vec::new(),
        });
        [&chain[..], &[Rule::ByteFallback], &[sentencepiece]]
            .map(|rules| Decoder::chain(vocab(), specials, rules).unwrap().with_empty(Some(13)))
    }

    #[test]
    fn the_last_character_is_no_more_than_one() {
        for (text, last) in [("", ""), ("a", "a"), ("ab", "b"), ("a각", "각"), ("각🧩", "🧩")]
        {
            assert_eq!(last_character(text.as_bytes()), last.as_bytes());
        }
        let cut = |text: &'static str| &text.as_bytes()[..text.len() - 1];
        assert_eq!(last_character(cut("a각")), cut("각"));
        assert_eq!(last_character(&[0x80; 1000]), [0x80; 4]);
    }

    /// A list of ids is copied where it can be; a stream takes every id by itself.
    #[test]
    fn lists_are_streams_that_end() {
        let mut random = SplitMix64::new(11);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        // Whole characters and what stands alone, mostly.
        let parts: [&[u32]; 8] =
            [&[0, 1, 2], &[11, 12, 2], &[3], &[4], &[5], &[6], &[10], &[0, 1, 2, 11, 12, 1]];
        let (mut whole, mut broken) = (0, 0);
        for specials in [&[7, 8, 9][..], &[8, 11]] {
            for (decoder, other) in decoders(specials).into_iter().zip(decoders(specials)) {
                let by_one = Decoder { flat: Flat::with_capacity(0), ..other };
                for round in 0..2000 {
                    let mut ids = Vec::new();
                    for _ in 0..below(12) {
                        ids.extend_from_slice(parts[below(parts.len())]);
                        // Something between, in every other list within characters too.
                        for _ in 0..usize::from(below(4) == 0) {
                            let at = if round % 2 == 0 { ids.len() } else { below(ids.len() + 1) };
                            ids.insert(at, below(PIECES.len()) as u32);
                        }
                    }
                    for skip in [false, true] {
                        let mut stream = Stream::new(&decoder, skip);
                        let mut expected = stream.push(&decoder, &ids).unwrap();
                        expected += &stream.finish(&decoder).unwrap();
                        assert_eq!(decoder.text(&ids, skip).unwrap(), expected, "{ids:?}, {skip}");
                        let bytes = decoder.bytes(&ids, skip).unwrap();
                        assert_eq!(bytes, by_one.bytes(&ids, skip).unwrap(), "{ids:?}, {skip}");
                        let is_broken = expected.contains('\u{FFFD}');
                        if is_broken { broken += 1 } else { whole += 1 }
                    }
                }
            }
        }
        assert!(whole > 4000 && broken > 4000, "{whole} {broken}");
    }
}
