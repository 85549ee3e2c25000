//! Plain data -> a model of the core, by its type.

use std::sync::Arc;

use jogak::model::{
    Bpe, BpeParts, Codes, CodesParts, GlossaryPattern, Model, Precision, Strategy, Unigram,
    UnigramParts, WordLevel, WordLevelParts, WordPiece, WordPieceParts,
};
use jogak::symbols::{Marker, UNKNOWN, Undraw};
use jogak::vocab::Vocab;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{raise, to_py};
use crate::pieces::merges_of;
use crate::vocabulary::Texts;

/// Compiles what a model's `to_core()` says, whose pieces these are.
pub(crate) fn compile(options: &Options<'_, '_>, pieces: Pieces) -> PyResult<Model> {
    let kind: String = options.get("type")?;
    match kind.as_str() {
        "bpe" | "scored-bpe" | "codes" => bpe(options, pieces),
        "unigram" => unigram(options, pieces),
        "wordpiece" => wordpiece(options, pieces),
        "word-level" => word_level(options, pieces),
        other => Err(raise("ConfigError", format!("model type {other:?} is not known"), &[])),
    }
}

/// The vocabulary of a model, as all families have it.
pub(crate) struct Pieces {
    pub(crate) texts: Arc<Texts>,
    /// The bytes that text is made of; holes where it is not.
    found: Vocab,
    unknown: Option<u32>,
    pub(crate) byte_fallback: Option<Box<[u32; 256]>>,
    /// Pieces are drawn, and so are the words that the model is to see.
    drawn: bool,
}

/// What ids are written as, those of special tokens too.
pub(crate) struct Written {
    texts: Arc<Texts>,
    /// Texts are drawn.
    drawn: bool,
    is_special: Vec<bool>,
    /// What the model finds, if these are the bytes that texts draw, or are taken whole.
    pub(crate) found: Option<Vocab>,
    /// Words that are pieces are taken whole by merges.
    pub(crate) whole_words: bool,
}

impl Written {
    /// The bytes of every id.
    pub(crate) fn vocab(&self) -> Vocab {
        let undraw = Undraw::default();
        let mut vocab = Vocab::with_capacity(self.texts.len(), self.texts.total());
        let mut undrawn = Vec::new();
        for (id, is_special) in (0..).zip(&self.is_special) {
            let found = self.found.as_ref().and_then(|found| found.piece(id));
            if let Some(found) = found.filter(|_| !is_special) {
                vocab.push(found);
                continue;
            }
            let plain = self.texts.bytes(id);
            undrawn.clear();
            let is_drawn = self.drawn && !is_special && undraw.plain_into(plain, &mut undrawn);
            vocab.push(if is_drawn { &undrawn } else { plain });
        }
        vocab
    }
}

impl Pieces {
    /// What `options` say of them, and what is written. `specials` are the ids of special tokens, `outside` those of all pieces that
    /// the model does not know.
    pub(crate) fn new(
        options: &Options<'_, '_>,
        specials: &[u32],
        outside: &[u32],
    ) -> PyResult<(Self, Written)> {
        let texts = Texts::of(&options.get::<Bound<'_, PyAny>>("pieces")?)?;
        let hf_rules: bool = options.get_or("hf_rules", false)?;
        let drawn: bool = options.get_or("drawn", false)?;
        let bytes = options.get_or("alphabet", String::new())? == "bytes";
        let unknown: Option<String> = options.get("unknown")?;
        let unknown = unknown.and_then(|unknown| texts.id(&unknown));
        let byte_fallback = byte_pieces(options, &texts, hf_rules)?;
        let mut is_found = vec![true; texts.len()];
        let mut is_special = vec![false; texts.len()];
        let set = |flags: &mut [bool], id: u32, to: bool| {
            if let Some(flag) = flags.get_mut(id as usize) {
                *flag = to;
            }
        };
        let reserved = byte_fallback.iter().flat_map(|ids| ids.iter().copied());
        let reserved = reserved.chain(unknown).filter(|_| !hf_rules);
        reserved.chain(outside.iter().copied()).for_each(|id| set(&mut is_found, id, false));
        // BPE by scores takes unused pieces apart again.
        let kind: String = options.get("type")?;
        if matches!(kind.as_str(), "unigram" | "word-level") {
            let unused: Vec<u32> = options.get("unused")?;
            unused.into_iter().for_each(|id| set(&mut is_found, id, false));
        }
        specials.iter().chain(outside).for_each(|&id| set(&mut is_special, id, true));
        let undraw = Undraw::default();
        // Bytes that are at hand are not drawn and undrawn again.
        let mut found = match texts.drawn() {
            Some(drawn) if bytes && is_found.iter().take(drawn.len()).all(|&is| is) => {
                drawn.clone()
            }
            _ => Vocab::with_capacity(texts.len(), texts.total()),
        };
        let mut undrawn = Vec::new();
        for (id, &is_found) in (0..).zip(&is_found).skip(found.len()) {
            if !is_found {
                found.push(b"");
                continue;
            }
            let plain = texts.bytes(id);
            // Special tokens are written as they are, but may be pieces of the model as well.
            undrawn.clear();
            if (!bytes && !drawn) || undraw.plain_into(plain, &mut undrawn) {
                found.push(if drawn || !bytes { plain } else { &undrawn });
                continue;
            }
            if !hf_rules && !drawn {
                let text = texts.get(id).unwrap_or_default();
                let character = text.chars().find(|&one| undraw.byte(one).is_none());
                let character = character.unwrap_or_default();
                let message = format!(
                    "piece {id} is {text:?}, where {character:?} stands for no byte; expected GPT-2's \
                     printable characters"
                );
                return Err(raise("ConfigError", message, &[]));
            }
            // No text becomes it.
            found.push(b"");
        }
        let whole_words = kind == "bpe" && !drawn && options.get("whole_word")?;
        let written = Written {
            texts: Arc::clone(&texts),
            drawn: bytes || drawn,
            is_special,
            found: (bytes || whole_words).then(|| found.clone()),
            whole_words,
        };
        Ok((Self { texts, found, unknown, byte_fallback, drawn }, written))
    }

    fn compiled(&self, model: Model) -> Model {
        if self.drawn { Model::Drawn(Box::new(model)) } else { model }
    }
}

fn bpe(options: &Options<'_, '_>, mut pieces: Pieces) -> PyResult<Model> {
    let kind: String = options.get("type")?;
    let scored = kind == "scored-bpe";
    let (merges, products) = merges_of(&options.get::<Bound<'_, PyAny>>("merges")?)?;
    let parts = BpeParts {
        pieces: std::mem::take(&mut pieces.found),
        merges,
        products,
        scores: if scored { Some(options.get("scores")?) } else { None },
        user_defined: if scored { options.get("user_defined")? } else { Vec::new() },
        unused: if scored { options.get("unused")? } else { Vec::new() },
        bytes: options.get::<String>("alphabet")? == "bytes",
        marked: !options.get::<bool>("mark_words")?,
        marker: marker(options)?,
        byte_fallback: pieces.byte_fallback.take(),
        unknown: pieces.unknown,
        fuse_unknown: options.get("fuse_unknown")?,
        strategy: strategy(&options.get::<String>("strategy")?)?,
        whole_word: options.get("whole_word")?,
        drop_unknown: options.get("drop_unknown")?,
        word_suffix: options.get("word_suffix")?,
        hf_rules: options.get("hf_rules")?,
    };
    if pieces.drawn && kind != "codes" {
        return Model::of_drawn(parts).map_err(to_py);
    }
    let bpe = Bpe::new(parts).map_err(to_py)?;
    if kind != "codes" {
        return Ok(Model::Bpe(bpe));
    }
    let glossaries: Vec<(String, String)> = options.get("glossaries")?;
    let parts = CodesParts {
        kept: options.get("kept")?,
        glossaries: glossaries
            .into_iter()
            .map(|(inside, alone)| GlossaryPattern { inside, alone })
            .collect(),
        whole: options.get("whole")?,
    };
    let codes = Codes::new(bpe, &marker(options)?, parts).map_err(to_py)?;
    Ok(pieces.compiled(Model::Codes(Box::new(codes))))
}

fn wordpiece(options: &Options<'_, '_>, mut pieces: Pieces) -> PyResult<Model> {
    let model = WordPiece::new(WordPieceParts {
        pieces: std::mem::take(&mut pieces.found),
        marker: marker(options)?,
        marked: !options.get::<bool>("mark_words")?,
        unknown: pieces.unknown,
        max_chars_per_word: options.get("max_chars_per_word")?,
    });
    Ok(pieces.compiled(Model::WordPiece(model)))
}

fn word_level(options: &Options<'_, '_>, mut pieces: Pieces) -> PyResult<Model> {
    let model = WordLevel::new(WordLevelParts {
        pieces: std::mem::take(&mut pieces.found),
        byte_fallback: pieces.byte_fallback.take(),
        unknown: pieces.unknown,
        fuse_unknown: options.get("fuse_unknown")?,
    });
    Ok(pieces.compiled(Model::WordLevel(model)))
}

fn unigram(options: &Options<'_, '_>, mut pieces: Pieces) -> PyResult<Model> {
    let precision = match options.get::<String>("precision")?.as_str() {
        "single" => Precision::Single,
        _ => Precision::Double,
    };
    let model = Unigram::new(UnigramParts {
        pieces: std::mem::take(&mut pieces.found),
        scores: options.get("scores")?,
        user_defined: options.get("user_defined")?,
        byte_fallback: pieces.byte_fallback.take(),
        unknown: pieces.unknown,
        fuse_unknown: options.get("fuse_unknown")?,
        precision,
        unknown_score: options.get("unknown_score")?,
        hf_rules: options.get("hf_rules")?,
    })
    .map_err(to_py)?;
    Ok(pieces.compiled(Model::Unigram(model)))
}

/// The ids of `<0x00>` to `<0xFF>`, where the model falls back to bytes. Only by HF's rules may some of
/// them be no pieces; their id is [`UNKNOWN`].
fn byte_pieces(
    options: &Options<'_, '_>,
    texts: &Texts,
    some: bool,
) -> PyResult<Option<Box<[u32; 256]>>> {
    if !options.get_or("byte_fallback", false)? {
        return Ok(None);
    }
    let mut ids = Box::new([UNKNOWN; 256]);
    for byte in 0..=255u8 {
        if let Some(id) = texts.id(&format!("<0x{byte:02X}>")) {
            ids[usize::from(byte)] = id;
        }
    }
    if let Some(byte) = ids.iter().position(|&id| id == UNKNOWN).filter(|_| !some) {
        let name = format!("<0x{byte:02X}>");
        return Err(raise("ConfigError", format!("byte fallback needs the piece {name:?}"), &[]));
    }
    Ok(Some(ids))
}

/// Options of a model, by name.
pub(crate) struct Options<'a, 'py>(pub(crate) &'a Bound<'py, PyDict>);

impl<'py> Options<'_, 'py> {
    pub(crate) fn get<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        let value = self
            .0
            .get_item(name)?
            .ok_or_else(|| raise("ConfigError", format!("option {name:?} is missing"), &[]))?;
        value.extract().map_err(Into::into)
    }

    /// The same, for options that not all families have.
    fn get_or<T>(&self, name: &str, missing: T) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        if self.0.contains(name)? { self.get(name) } else { Ok(missing) }
    }
}

/// The marker of a model or a config: options `marker_kind`, `marker_text`, `marker_joined`.
pub(crate) fn marker(options: &Options<'_, '_>) -> PyResult<Marker> {
    let kind: String = options.get("marker_kind")?;
    let text: Option<String> = options.get("marker_text")?;
    let text = text.unwrap_or_default();
    Ok(match kind.as_str() {
        "suffix" => Marker::Suffix { text, joined: options.get("marker_joined")? },
        "prefix" => Marker::Prefix { text },
        "continuation" => Marker::Continuation { text },
        _ => Marker::None,
    })
}

/// A strategy by its name.
pub(crate) fn strategy(name: &str) -> PyResult<Strategy> {
    match name {
        "merges" => Ok(Strategy::Merges),
        "longest-match" => Ok(Strategy::LongestMatch),
        "longest-first" => Ok(Strategy::LongestFirst),
        other => {
            let message = format!(
                "strategy is {other:?}; expected 'merges', 'longest-match' or 'longest-first'"
            );
            Err(raise("ConfigError", message, &[]))
        }
    }
}
