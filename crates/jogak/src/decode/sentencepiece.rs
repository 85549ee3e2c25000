//! SentencePiece's way back (0.2.3): every piece by its type, and marks in front of the text.
//!
//! Rule: what a piece becomes is written down when the decoder is made, so that decoding copies bytes.
//! Only three things are looked at while decoding: whether text has begun, a run of bytes, and, where
//! there is a denormalizer, the whole text.

use rustc_hash::FxHashMap;

use super::Walk;
use super::flat::{Copied, Flat};
use crate::error::{Error, Result};
use crate::normalize::{Buffers, Normalizer, Place, Rule as Rewrite};
use crate::vocab::Vocab;

/// How SentencePiece decodes; see the fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentencePiece {
    /// The text of the unknown piece.
    pub unknown: Option<String>,
    /// What stands for it.
    pub surface: String,
    /// The texts of pieces that become nothing.
    pub control: Vec<String>,
    /// Whether pieces `<0x00>` to `<0xFF>` are bytes.
    pub bytes: bool,
    /// Marks that are left out.
    pub strip: Strip,
    /// A compiled charsmap that rewrites the text; empty for none.
    pub charsmap: Vec<u8>,
}

/// Which marks become nothing rather than a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strip {
    /// None.
    None,
    /// The one that the text begins with.
    First,
    /// The first one of every piece, as long as there is no text.
    All,
}

const MARK: &str = "▁";

/// What a piece is.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Its text, as written down.
    Plain,
    /// The same, with a mark in front, which is written down as a space.
    Marked,
    /// A text that takes no mark away from others: nothing, or what stands for the unknown piece.
    Fixed,
    Byte(u8),
}

/// The way back, compiled for a vocabulary.
#[derive(Debug)]
pub(super) struct Way {
    kinds: Vec<Kind>,
    /// What the pieces become, one behind the other.
    texts: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    strip: Strip,
    denormalizer: Option<Normalizer>,
}

/// A decoding at work.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// Bytes are handed on as they are.
    raw: bool,
    /// The beginning of a character, in bytes.
    cut: [u8; 4],
    cut_len: usize,
    /// There is text.
    written: bool,
    /// The one mark in front was left out by the last piece.
    taken: bool,
    /// Marks are spaces from here on.
    begun: bool,
    /// What waits for the denormalizer.
    held: Vec<u8>,
}

impl Way {
    pub(super) fn new(rule: &SentencePiece, vocab: &Vocab) -> Result<Self> {
        let denormalizer = match &rule.charsmap {
            bytes if bytes.is_empty() => None,
            bytes => Some(Normalizer::new(&[Rewrite::Charsmap {
                bytes: bytes.clone(),
                keep: Vec::new(),
                graphemes: false,
            }])?),
        };
        let mut named: FxHashMap<&[u8], (Kind, &[u8])> = FxHashMap::default();
        let bytes: Vec<String> = (0..=255u8).map(|byte| format!("<0x{byte:02X}>")).collect();
        if rule.bytes {
            let kinds = (0..=255u8).map(|byte| (Kind::Byte(byte), &b""[..]));
            named.extend(bytes.iter().map(String::as_bytes).zip(kinds));
        }
        named.extend(rule.control.iter().map(|text| (text.as_bytes(), (Kind::Fixed, &b""[..]))));
        let unknown = (Kind::Fixed, rule.surface.as_bytes());
        named.extend(rule.unknown.iter().map(|text| (text.as_bytes(), unknown)));
        let mut way = Self {
            kinds: Vec::with_capacity(vocab.len()),
            texts: Vec::new(),
            ends: Vec::with_capacity(vocab.len()),
            strip: rule.strip,
            denormalizer,
        };
        for id in 0..vocab.len() as u32 {
            let piece = vocab.piece(id).unwrap_or_default();
            let kind = match named.get(piece) {
                Some(&(kind, text)) => {
                    way.texts.extend_from_slice(text);
                    kind
                }
                None => {
                    let mut from = 0;
                    while let Some(at) = super::find(piece, MARK.as_bytes(), from) {
                        way.texts.extend_from_slice(&piece[from..at]);
                        way.texts.push(b' ');
                        from = at + MARK.len();
                    }
                    way.texts.extend_from_slice(&piece[from..]);
                    let marked = piece.starts_with(MARK.as_bytes());
                    if marked { Kind::Marked } else { Kind::Plain }
                }
            };
            way.kinds.push(kind);
            way.ends.push(way.texts.len());
        }
        Ok(way)
    }

    /// What pieces become once a text has begun.
    pub(super) fn flat(&self, vocab: &Vocab, kinds: &[super::Kind]) -> Flat {
        let there = |id: u32| vocab.piece(id).is_some().then(|| kinds[id as usize].copied());
        Flat::with_bytes(
            (&self.texts, &self.ends),
            |id| there(id).unwrap_or(Copied::Never),
            |id, _| match self.kinds[id as usize] {
                Kind::Byte(byte) => Some(byte),
                _ => None,
            },
        )
    }

    /// A decoding that begins; see [`Way::start`].
    pub(super) fn walk(&self, raw: bool) -> impl Walk {
        (self, self.start(raw))
    }

    /// Whether texts may be copied from here on.
    pub(super) fn is_settled(&self, progress: &Progress) -> bool {
        let begun = progress.begun || progress.written || progress.taken;
        begun && progress.cut_len == 0 && self.denormalizer.is_none()
    }

    /// A decoding that begins. `raw` hands on bytes that are no UTF-8, unless there is a denormalizer,
    /// which rewrites text.
    pub(super) fn start(&self, raw: bool) -> Progress {
        Progress { raw: raw && self.denormalizer.is_none(), ..Progress::default() }
    }

    /// Takes a piece of the vocabulary.
    pub(super) fn push(&self, id: u32, progress: &mut Progress, out: &mut Vec<u8>) {
        if self.denormalizer.is_none() {
            return self.write(id, progress, out);
        }
        let mut held = std::mem::take(&mut progress.held);
        self.write(id, progress, &mut held);
        progress.held = held;
    }

    fn write(&self, id: u32, progress: &mut Progress, out: &mut Vec<u8>) {
        let id = id as usize;
        let kind = self.kinds[id];
        if let Kind::Byte(byte) = kind {
            progress.written = true;
            return progress.byte(byte, out);
        }
        progress.end_run(out);
        progress.begun |= progress.taken || progress.written;
        progress.taken = false;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        let mut text = &self.texts[start..self.ends[id]];
        if matches!(kind, Kind::Marked) && !progress.begun && self.strip != Strip::None {
            text = &text[1..];
            progress.taken = self.strip == Strip::First;
        }
        progress.written |= !text.is_empty();
        out.extend_from_slice(text);
    }

    /// All pieces have come.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a text that the denormalizer cannot take.
    pub(super) fn finish(&self, progress: &mut Progress, out: &mut Vec<u8>) -> Result<()> {
        let Some(denormalizer) = &self.denormalizer else {
            progress.end_run(out);
            return Ok(());
        };
        let mut held = std::mem::take(&mut progress.held);
        progress.end_run(&mut held);
        let text = super::into_text(held);
        let mut buffers = Buffers::default();
        let text = denormalizer.text(&text, Place::WHOLE, &mut buffers)?;
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl Walk for (&Way, Progress) {
    fn is_settled(&self) -> bool {
        self.0.is_settled(&self.1)
    }

    fn copied(&mut self) {
        let progress = &mut self.1;
        (progress.begun, progress.taken, progress.written) = (true, false, true);
    }

    fn push(&mut self, id: u32, _: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.0.push(id, &mut self.1, out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.0.finish(&mut self.1, out)
    }
}

impl Progress {
    /// One more byte of a run: hands on whole characters, and a replacement for every byte of none.
    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.raw {
            return out.push(byte);
        }
        self.cut[self.cut_len] = byte;
        self.cut_len += 1;
        while self.cut_len > 0 {
            let error = match std::str::from_utf8(&self.cut[..self.cut_len]) {
                Ok(character) => {
                    out.extend_from_slice(character.as_bytes());
                    self.cut_len = 0;
                    return;
                }
                Err(error) => error,
            };
            let mut gone = error.valid_up_to();
            out.extend_from_slice(&self.cut[..gone]);
            if error.error_len().is_some() {
                out.extend_from_slice(super::lossy::REPLACEMENT.as_bytes());
                gone += 1;
            }
            self.cut.copy_within(gone..self.cut_len, 0);
            self.cut_len -= gone;
            if error.error_len().is_none() {
                return;
            }
        }
    }

    fn end_run(&mut self, out: &mut Vec<u8>) {
        for _ in 0..std::mem::take(&mut self.cut_len) {
            out.extend_from_slice(super::lossy::REPLACEMENT.as_bytes());
        }
    }
}

/// The one rule of a decoder, if it is this; an error if it stands among others.
pub(super) fn alone(rules: &[super::Rule]) -> Result<Option<&SentencePiece>> {
    match rules {
        [super::Rule::SentencePiece(rule)] => Ok(Some(rule)),
        _ if rules.iter().any(|rule| matches!(rule, super::Rule::SentencePiece(_))) => {
            Err(Error::Config {
                option: "decoder",
                found: format!("SentencePiece's stage among {} stages", rules.len()),
                expected: "that stage alone".into(),
            })
        }
        _ => Ok(None),
    }
}
