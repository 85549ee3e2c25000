//! The pieces that BPE training has found so far, and the texts that no merge may make again.

use rustc_hash::FxHashSet;

use super::bpe::BpeConfig;
use super::rules::Shape;

/// The pieces so far.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) texts: Vec<Vec<u8>>,
    /// The texts as ties compare them; see [`super::ties::Tied::texts`].
    pub(super) compared: Vec<Vec<u8>>,
    pub(super) bytes: bool,
    /// The marker that a merge strips from its right part, or nothing.
    strip: Vec<u8>,
    /// How pieces look from outside; empty where no rule looks at that.
    shapes: Vec<Shape>,
    /// All texts that exist, other pieces included.
    taken: FxHashSet<Vec<u8>>,
}

impl Pieces {
    pub(super) fn new(alphabet: Vec<Vec<u8>>, config: &BpeConfig) -> Self {
        let mut taken: FxHashSet<Vec<u8>> = alphabet.iter().cloned().collect();
        taken.extend(config.other_pieces.iter().chain(&config.uncounted_pieces).cloned());
        let compared = if config.bytes {
            // The alphabet comes in the order of its printable characters.
            (0..=255u8).map(|place| vec![place]).collect()
        } else {
            alphabet.clone()
        };
        let shapes = match config.rules.any() {
            true => alphabet.iter().map(|text| config.rules.symbol(text)).collect(),
            false => Vec::new(),
        };
        Self {
            shapes,
            compared,
            bytes: config.bytes,
            strip: config.marker.stripped().as_bytes().to_vec(),
            texts: alphabet,
            taken,
        }
    }

    /// How many bytes of a right part a merge strips.
    pub(super) fn stripped(&self, right: u32) -> usize {
        if self.texts[right as usize].starts_with(&self.strip) { self.strip.len() } else { 0 }
    }

    fn joined(&self, (left, right): (u32, u32)) -> Vec<u8> {
        let behind = &self.texts[right as usize][self.stripped(right)..];
        [&self.texts[left as usize], behind].concat()
    }

    fn compared(&self, (left, right): (u32, u32)) -> Vec<u8> {
        let behind = &self.compared[right as usize][self.stripped(right)..];
        [&self.compared[left as usize], behind].concat()
    }

    /// Makes a pair one piece.
    pub(super) fn join(&mut self, ids: (u32, u32)) {
        let compared = self.compared(ids);
        self.compared.push(compared);
        if !self.shapes.is_empty() {
            let shape = self.shapes[ids.0 as usize].join(self.shapes[ids.1 as usize]);
            self.shapes.push(shape);
        }
        let text = self.joined(ids);
        self.taken.insert(text.clone());
        self.texts.push(text);
    }

    /// Whether the rules let both be one piece.
    pub(super) fn allowed(&self, config: &BpeConfig, (left, right): (u32, u32)) -> bool {
        let shapes = &self.shapes;
        shapes.is_empty() || config.rules.may_join(&shapes[left as usize], &shapes[right as usize])
    }

    /// The same, and the text is not too long and no piece yet.
    pub(super) fn may_merge(&self, config: &BpeConfig, ids: (u32, u32)) -> bool {
        if !self.allowed(config, ids) {
            return false;
        }
        let text = self.joined(ids);
        let fits = |longest| config.marker.length(&text, self.bytes) <= longest;
        config.max_piece_length.is_none_or(fits) && !self.taken.contains(&text)
    }
}
