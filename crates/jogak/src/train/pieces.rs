//! The pieces that BPE training has found so far, and the texts that no merge may make again.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::bpe::BpeConfig;
use super::rules::Shape;
use super::ties::Ties;

/// The pieces so far.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) texts: Vec<Vec<u8>>,
    /// The ids of `texts`, by text.
    index: HashTable<u32>,
    /// Pieces outside of training.
    others: FxHashSet<Vec<u8>>,
    /// The texts as ties compare them, where that is another order; see [`super::ties::Tied::texts`].
    drawn: Option<Vec<Vec<u8>>>,
    pub(super) bytes: bool,
    /// The marker that a merge strips from its right part, or nothing.
    strip: Vec<u8>,
    /// How pieces look from outside; empty where no rule looks at that.
    shapes: Vec<Shape>,
}

fn hash(text: &[u8]) -> u64 {
    FxBuildHasher.hash_one(text)
}

impl Pieces {
    pub(super) fn new(alphabet: Vec<Vec<u8>>, config: &BpeConfig) -> Self {
        // The alphabet comes in the order of its printable characters.
        let by_text = !matches!(config.ties, Ties::LowestId | Ties::FirstSeen);
        let drawn =
            (config.bytes && by_text).then(|| (0..=255u8).map(|place| vec![place]).collect());
        let shapes = match config.rules.any() {
            true => alphabet.iter().map(|text| config.rules.symbol(text)).collect(),
            false => Vec::new(),
        };
        let mut pieces = Self {
            shapes,
            drawn,
            bytes: config.bytes,
            strip: config.marker.stripped().as_bytes().to_vec(),
            texts: Vec::with_capacity(alphabet.len()),
            index: HashTable::new(),
            others: config.other_pieces.iter().chain(&config.uncounted_pieces).cloned().collect(),
        };
        for text in alphabet {
            pieces.add(text);
        }
        pieces
    }

    fn add(&mut self, text: Vec<u8>) {
        let texts = &self.texts;
        let id = texts.len() as u32;
        self.index.insert_unique(hash(&text), id, |&id| {
            // The new one is not among them yet.
            hash(texts.get(id as usize).unwrap_or(&text))
        });
        self.texts.push(text);
    }

    /// The text of a piece as ties compare it.
    pub(super) fn compared(&self, id: u32) -> &[u8] {
        &self.drawn.as_ref().unwrap_or(&self.texts)[id as usize]
    }

    /// How many bytes of a right part a merge strips.
    pub(super) fn stripped(&self, right: u32) -> usize {
        if self.texts[right as usize].starts_with(&self.strip) { self.strip.len() } else { 0 }
    }

    fn joined(&self, texts: &[Vec<u8>], (left, right): (u32, u32)) -> Vec<u8> {
        let behind = &texts[right as usize][self.stripped(right)..];
        [&texts[left as usize], behind].concat()
    }

    /// Makes a pair one piece. `text` is what [`Pieces::may_merge`] says.
    pub(super) fn join(&mut self, ids: (u32, u32), text: Vec<u8>) {
        if let Some(texts) = &self.drawn {
            let drawn = self.joined(texts, ids);
            self.drawn.get_or_insert_default().push(drawn);
        }
        if !self.shapes.is_empty() {
            let shape = self.shapes[ids.0 as usize].join(self.shapes[ids.1 as usize]);
            self.shapes.push(shape);
        }
        self.add(text);
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
        let text = self.joined(&self.texts, ids);
        let fits = |longest| config.marker.length(&text, self.bytes) <= longest;
        let known =
            || self.index.find(hash(&text), |&id| self.texts[id as usize] == text).is_some();
        let new = config.max_piece_length.is_none_or(fits)
            && !known()
            && (self.others.is_empty() || !self.others.contains(&text));
        new.then_some(text)
    }
}
