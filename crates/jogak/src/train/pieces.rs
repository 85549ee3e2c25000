//! The pieces that training has found so far, and the texts that no merge may make again.

use rustc_hash::FxHashSet;

use super::bpe::BpeConfig;
use super::rules::Shape;
use super::ties::Ties;
use crate::vocab::Vocab;

/// The texts of the pieces so far, and those of pieces outside of training.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) vocab: Vocab,
    others: FxHashSet<Vec<u8>>,
}

impl Texts {
    pub(super) fn new<'a>(
        alphabet: Vec<Vec<u8>>,
        others: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Self {
        Self { vocab: Vocab::new(alphabet), others: others.cloned().collect() }
    }

    /// The text of a piece that there is.
    #[inline]
    pub(super) fn get(&self, id: u32) -> &[u8] {
        text(&self.vocab, id)
    }

    /// Whether some piece is this text.
    pub(super) fn know(&self, text: &[u8]) -> bool {
        self.vocab.id(text).is_some() || !self.others.is_empty() && self.others.contains(text)
    }
}

/// The bytes of a piece that there is.
fn text(texts: &Vocab, id: u32) -> &[u8] {
    texts.piece(id).unwrap_or_default()
}

/// The pieces that BPE training has found so far.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) texts: Texts,
    /// The texts as ties compare them, where that is another order; see [`super::ties::Tied::texts`].
    drawn: Option<Vocab>,
    pub(super) bytes: bool,
    /// The marker that a merge strips from its right part, or nothing.
    strip: Vec<u8>,
    /// How pieces look from outside; empty where no rule looks at that.
    shapes: Vec<Shape>,
}

impl Pieces {
    pub(super) fn new(alphabet: Vec<Vec<u8>>, config: &BpeConfig) -> Self {
        // The alphabet comes in the order of its printable characters.
        let by_text = !matches!(config.ties, Ties::LowestId | Ties::FirstSeen);
        let drawn = (config.bytes && by_text).then(|| Vocab::new((0..=255u8).map(|place| [place])));
        let shapes = match config.rules.any() {
            true => alphabet.iter().map(|text| config.rules.symbol(text)).collect(),
            false => Vec::new(),
        };
        Self {
            shapes,
            drawn,
            bytes: config.bytes,
            strip: config.marker.stripped().as_bytes().to_vec(),
            texts: Texts::new(alphabet, config.other_pieces.iter().chain(&config.uncounted_pieces)),
        }
    }

    /// The text of a piece as ties compare it.
    pub(super) fn compared(&self, id: u32) -> &[u8] {
        text(self.drawn.as_ref().unwrap_or(&self.texts.vocab), id)
    }

    /// How many bytes of a right part a merge strips.
    pub(super) fn stripped(&self, right: u32) -> usize {
        if self.texts.get(right).starts_with(&self.strip) { self.strip.len() } else { 0 }
    }

    fn joined(&self, texts: &Vocab, (left, right): (u32, u32)) -> Vec<u8> {
        let behind = &text(texts, right)[self.stripped(right)..];
        [text(texts, left), behind].concat()
    }

    /// Makes a pair one piece. `text` is what [`Pieces::may_merge`] says.
    pub(super) fn join(&mut self, ids: (u32, u32), text: &[u8]) {
        if let Some(texts) = &self.drawn {
            let drawn = self.joined(texts, ids);
            self.drawn.get_or_insert_default().push(&drawn);
        }
        if !self.shapes.is_empty() {
            let shape = self.shapes[ids.0 as usize].join(self.shapes[ids.1 as usize]);
            self.shapes.push(shape);
        }
        self.texts.vocab.push(text);
    }

    /// Whether the rules let both be one piece.
    pub(super) fn allowed(&self, config: &BpeConfig, (left, right): (u32, u32)) -> bool {
        let shapes = &self.shapes;
        shapes.is_empty() || config.rules.may_join(&shapes[left as usize], &shapes[right as usize])
    }

    /// The text of both as one piece, if they may be one: the same, and it is not too long and no piece
    /// yet.
    pub(super) fn may_merge(&self, config: &BpeConfig, ids: (u32, u32)) -> Option<Vec<u8>> {
        if !self.allowed(config, ids) {
            return None;
        }
        let text = self.joined(&self.texts.vocab, ids);
        let fits = |longest| config.marker.length(&text, self.bytes) <= longest;
        let new = config.max_piece_length.is_none_or(fits) && !self.texts.know(&text);
        new.then_some(text)
    }
}
