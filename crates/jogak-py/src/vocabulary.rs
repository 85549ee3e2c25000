//! The text of every id, as files write it and as Python sees it.

use std::sync::{Arc, OnceLock};

use jogak::symbols::{Undraw, draw_as_utf8};
use jogak::vocab::Vocab;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::pieces::PyPieces;

/// The text of every id.
pub(crate) struct Texts {
    /// The texts; holes where an id has none, or an empty one. Those that draw bytes are drawn when first asked for.
    texts: OnceLock<Vocab>,
    drawn: Option<Drawn>,
    /// The id of the empty text, where there is one.
    empty: Option<u32>,
}

/// Texts that draw bytes in GPT-2's printable characters, and others behind them.
#[derive(Clone)]
struct Drawn {
    /// The bytes that they draw.
    bytes: Vocab,
    others: Vocab,
    undraw: Arc<Undraw>,
}

impl Drawn {
    /// Where an id stands among the others.
    fn behind(&self, id: u32) -> Option<u32> {
        id.checked_sub(self.bytes.len() as u32)
    }

    fn id(&self, text: &[u8]) -> Option<u32> {
        let mut bytes = Vec::new();
        let drawn = self.undraw.plain_into(text, &mut bytes).then(|| self.bytes.id(&bytes));
        let other = || Some(self.others.id(text)? + self.bytes.len() as u32);
        drawn.flatten().or_else(other)
    }

    fn texts(&self) -> Vocab {
        let Self { bytes, others, .. } = self;
        let mut texts =
            Vocab::with_capacity(bytes.len() + others.len(), 2 * bytes.total() + others.total());
        let mut text = Vec::new();
        for id in 0..bytes.len() as u32 {
            text.clear();
            draw_as_utf8(bytes.piece(id).unwrap_or_default(), &mut text);
            texts.push(&text);
        }
        (0..others.len() as u32).for_each(|id| texts.push(others.piece(id).unwrap_or_default()));
        texts
    }
}

impl Texts {
    /// These texts, with the id of the empty one.
    pub(crate) fn new(texts: Vocab, empty: Option<u32>) -> Self {
        Self { texts: OnceLock::from(texts), drawn: None, empty }
    }

    /// The texts that draw these bytes.
    pub(crate) fn of_bytes(bytes: Vocab) -> Self {
        let (others, undraw) = (Vocab::default(), Arc::default());
        let drawn = Drawn { bytes, others, undraw };
        Self { texts: OnceLock::new(), drawn: Some(drawn), empty: None }
    }

    /// The pieces of a model: a tuple of texts and None, or [`PyPieces`].
    pub(crate) fn of(pieces: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        if let Ok(pieces) = pieces.cast::<PyPieces>() {
            return Ok(Arc::clone(&pieces.get().0));
        }
        let mut texts = Vocab::default();
        let mut empty = None;
        for (piece, id) in pieces.try_iter()?.zip(0..) {
            let piece = piece?;
            let text: &str = if piece.is_none() { "" } else { piece.extract()? };
            if text.is_empty() && !piece.is_none() {
                empty = Some(id);
            }
            texts.push(text.as_bytes());
        }
        Ok(Arc::new(Self::new(texts, empty)))
    }

    /// All of them.
    pub(crate) fn all(&self) -> &Vocab {
        if let Some(texts) = self.texts.get() {
            return texts;
        }
        // Made before the lock is taken: a process forked meanwhile does not find it taken.
        let texts = self.drawn.as_ref().map(Drawn::texts).unwrap_or_default();
        self.texts.get_or_init(|| texts)
    }

    /// The bytes that the first ids draw, where that is at hand.
    pub(crate) fn drawn(&self) -> Option<&Vocab> {
        self.drawn.as_ref().map(|drawn| &drawn.bytes)
    }

    pub(crate) fn len(&self) -> usize {
        match &self.drawn {
            Some(Drawn { bytes, others, .. }) => bytes.len() + others.len(),
            None => self.all().len(),
        }
    }

    /// About how many bytes all texts have together.
    pub(crate) fn total(&self) -> usize {
        match &self.drawn {
            Some(Drawn { bytes, others, .. }) => bytes.total() + others.total(),
            None => self.all().total(),
        }
    }

    pub(crate) fn get(&self, id: u32) -> Option<&str> {
        match self.piece(id) {
            Some(piece) => std::str::from_utf8(piece).ok(),
            None => self.empty.filter(|&empty| empty == id).map(|_| ""),
        }
    }

    fn piece(&self, id: u32) -> Option<&[u8]> {
        match self.drawn.as_ref().and_then(|drawn| Some((drawn, drawn.behind(id)?))) {
            Some((drawn, behind)) => drawn.others.piece(behind),
            None => self.all().piece(id),
        }
    }

    /// Whether an id has a text.
    pub(crate) fn has(&self, id: u32) -> bool {
        match &self.drawn {
            Some(Drawn { bytes, .. }) if (id as usize) < bytes.len() => bytes.piece(id).is_some(),
            _ => self.piece(id).is_some() || self.empty == Some(id),
        }
    }

    /// The id of the empty text, where there is one.
    pub(crate) fn empty(&self) -> Option<u32> {
        self.empty
    }

    /// The bytes of the text of an id; nothing where it has none.
    pub(crate) fn bytes(&self, id: u32) -> &[u8] {
        self.piece(id).unwrap_or_default()
    }

    /// The id of a text.
    pub(crate) fn id(&self, text: &str) -> Option<u32> {
        match &self.drawn {
            _ if text.is_empty() => self.empty,
            Some(drawn) => drawn.id(text.as_bytes()),
            None => self.all().id(text.as_bytes()),
        }
    }

    /// How many texts there are.
    pub(crate) fn count(&self) -> usize {
        let distinct = match &self.drawn {
            Some(Drawn { bytes, others, .. }) => bytes.distinct() + others.distinct(),
            None => self.all().distinct(),
        };
        distinct + usize::from(self.empty.is_some())
    }

    /// The id of a text of Python; none for what is no text.
    pub(crate) fn find(&self, text: &Bound<'_, PyAny>) -> Option<u32> {
        self.id(text.cast::<PyString>().ok()?.to_str().ok()?)
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..self.len() as u32).filter_map(|id| Some((self.get(id)?, id)))
    }

    /// These and others behind them, by their ids.
    pub(crate) fn followed_by<'a>(&self, new: impl Iterator<Item = (u32, &'a str)>) -> Self {
        let mut drawn = self.drawn.clone();
        let mut texts = if drawn.is_some() { Vocab::default() } else { self.all().clone() };
        let before = drawn.as_ref().map_or(0, |drawn| drawn.bytes.len());
        let last = drawn.as_mut().map_or(&mut texts, |drawn| &mut drawn.others);
        for (id, text) in new {
            (before + last.len()..id as usize).for_each(|_| last.push(b""));
            last.push(text.as_bytes());
        }
        match drawn {
            Some(_) => Self { texts: OnceLock::new(), drawn, empty: self.empty },
            None => Self::new(texts, self.empty),
        }
    }
}
