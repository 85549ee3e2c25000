//! What a Unigram model is made of -> the model: scores are checked, and those of pieces that are no ordinary ones
//! worked out.

use memchr::memmem;

use super::even::Even;
use super::marks::Cuts;
use super::near::Extents;
use super::{HfRules, Precision, Unigram};
use crate::beside::{WORTH, both};
use crate::error::{Error, Result};
use crate::model::cuts::Cuts as Borders;
use crate::symbols::UNKNOWN;
use crate::vocab::{CharTree, Vocab};

/// The score of an unknown character lies this far below the lowest score of a piece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// What a Unigram model is made of; see the fields.
#[derive(Debug, Clone)]
pub struct UnigramParts {
    /// The bytes of every piece that ordinary text may become. A hole for an id that stands for nothing
    /// or for a special token.
    pub pieces: Vocab,
    /// Natural log-probabilities, one for every id; those of ids without a piece are not looked at.
    pub scores: Vec<f64>,
    /// Pieces that are to be found wherever they stand: their score is not the listed one, but a
    /// tenth of their length less one, in bytes, which is above any log-probability.
    pub user_defined: Vec<u32>,
    /// The ids of the pieces for the 256 bytes, where unknown characters fall back to them.
    pub byte_fallback: Option<Box<[u32; 256]>>,
    /// The id for what nothing covers.
    pub unknown: Option<u32>,
    /// One unknown piece for a run of unknown characters.
    pub fuse_unknown: bool,
    /// How sums are rounded.
    pub precision: Precision,
    /// The score of an unknown character; None for the lowest of all pieces less 10.
    pub unknown_score: Option<f64>,
    /// As HF tokenizers: the unknown piece and those of bytes may also be found in text, and a run of
    /// unknown characters falls back to bytes only if there is a piece for each of them.
    pub hf_rules: bool,
}

impl UnigramParts {
    /// Of pieces and their scores alone: nothing is defined by a user, stands for what is unknown, or goes by HF's rules.
    pub fn new(pieces: Vocab, scores: Vec<f64>, precision: Precision) -> Self {
        Self {
            pieces,
            scores,
            user_defined: Vec::new(),
            byte_fallback: None,
            unknown: None,
            fuse_unknown: false,
            precision,
            unknown_score: None,
            hf_rules: false,
        }
    }
}

impl Unigram {
    /// Compiles a model.
    ///
    /// # Errors
    /// [`Error::Config`] if there are not as many scores as pieces, or one is not finite, or no text
    /// has a piece; [`Error::TooLarge`] for more pieces than the tree can hold.
    pub fn new(parts: UnigramParts) -> Result<Self> {
        let UnigramParts { pieces: vocab, mut scores, user_defined, .. } = parts;
        if scores.len() != vocab.len() {
            return Err(Error::Config {
                option: "scores",
                found: format!("a list of {}", scores.len()),
                expected: format!("as many as pieces ({})", vocab.len()),
            });
        }
        let mut normal: Vec<bool> =
            (0..vocab.len() as u32).map(|id| vocab.piece(id).is_some()).collect();
        for (id, score) in scores.iter().enumerate().filter(|&(id, _)| normal[id]) {
            // A sum of 32 bits must have a number too.
            if !score.is_finite() || score.abs() > f64::from(f32::MAX) / 2.0 {
                return Err(Error::Config {
                    option: "scores",
                    found: format!("{score} for id {id}"),
                    expected: "finite numbers, the logarithms of probabilities".into(),
                });
            }
        }
        for &id in &user_defined {
            let Some(piece) = vocab.piece(id) else {
                return Err(Error::Config {
                    option: "user_defined",
                    found: format!("id {id}"),
                    expected: "ids of pieces that text can become".into(),
                });
            };
            normal[id as usize] = false;
            // SentencePiece computes in 64 bits and keeps 32.
            scores[id as usize] = f64::from((0.1 * (piece.len() as f64 - 1.0)) as f32);
        }
        let lowest = scores.iter().zip(&normal).filter(|&(_, &is)| is).map(|(&score, _)| score);
        let lowest = lowest.fold(f64::INFINITY, f64::min);
        let lowest = if lowest.is_finite() { lowest } else { 0.0 };
        let texts = || (0..vocab.len() as u32).map(|id| (vocab.piece(id).unwrap_or_default(), id));
        let unknown_score = parts.unknown_score.unwrap_or(lowest - UNKNOWN_PENALTY);
        if !unknown_score.is_finite() || unknown_score.abs() > f64::from(f32::MAX) / 2.0 {
            return Err(Error::Config {
                option: "unknown_score",
                found: unknown_score.to_string(),
                expected: "a finite number, the logarithm of a probability".into(),
            });
        }
        let mut single: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        let unknown_single = match parts.unknown_score {
            Some(score) => score as f32,
            None => lowest as f32 - UNKNOWN_PENALTY as f32,
        };
        let found = parts.hf_rules.then(|| (scores.clone(), single.clone()));
        let mut set = |id: u32, known: bool| {
            if let Some(score) = scores.get_mut(id as usize) {
                *score = if known { 0.0 } else { unknown_score };
                single[id as usize] = if known { 0.0 } else { unknown_single };
            }
        };
        parts.unknown.iter().for_each(|&id| set(id, false));
        // A character counts once, with the first of its bytes.
        for (byte, &id) in (0..=255u8).zip(parts.byte_fallback.iter().flat_map(|ids| ids.iter())) {
            set(id, byte & 0xC0 == 0x80);
        }
        let defined = parts.precision == Precision::Single && !user_defined.is_empty();
        let among_ways = defined.then(|| {
            let mut among = scores.clone();
            for &id in &user_defined {
                let piece = vocab.piece(id).unwrap_or_default();
                let characters = piece.iter().filter(|&byte| byte & 0xC0 != 0x80);
                among[id as usize] = f64::from((0.1 * (characters.count() as f64 - 1.0)) as f32);
            }
            among
        });
        let bytes = parts.byte_fallback.as_deref();
        let text_of = |id: u32| vocab.piece(id);
        let hf = found.map(|(scores, single)| HfRules {
            scores,
            single,
            unknown: parts
                .unknown
                .and_then(text_of)
                .map(|piece| memmem::Finder::new(piece).into_owned()),
            bytes: bytes.is_some_and(|ids| ids.iter().any(|&id| text_of(id).is_some())),
            always: bytes.is_some_and(|ids| ids.contains(&UNKNOWN)),
            strict: parts.unknown.is_none(),
        });
        let characters = |id| {
            let piece = vocab.piece(id).unwrap_or_default();
            piece.iter().filter(|&byte| byte & 0xC0 != 0x80).count()
        };
        let longest = (0..vocab.len() as u32).map(characters).max().unwrap_or(0);
        let even = (parts.precision == Precision::Single && hf.is_none())
            .then(|| Even::new(&single, unknown_single, &user_defined, longest));
        let many = vocab.len() >= WORTH;
        let (tree, (cuts, borders)) = both(
            many,
            || CharTree::new(texts()),
            || (Cuts::new(texts().map(|(piece, _)| piece)), Borders::new(&vocab)),
        );
        let tree = tree?;
        let extent_of = |character: char| {
            let mut extent = unknown_single.abs();
            tree.prefixes(character.encode_utf8(&mut [0; 4]), |_, id| {
                extent = single[id as usize].abs();
            });
            f64::from(extent)
        };
        let extents = Extents::new(extent_of);
        Ok(Self {
            even: even.flatten(),
            hf: hf.map(Box::new),
            among_ways,
            tree,
            extents,
            cuts,
            borders,
            offered: std::iter::once(f32::NEG_INFINITY).chain(single.iter().copied()).collect(),
            single,
            unknown_score,
            unknown_single,
            unknown: parts.unknown,
            fuse_unknown: parts.fuse_unknown,
            byte_fallback: parts.byte_fallback,
            precision: parts.precision,
            vocab,
            scores,
        })
    }
}
