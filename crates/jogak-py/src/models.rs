//! Plain data -> a model of the core, by its type.

use jogak::decode::Decoder;
use jogak::model::{
    Bpe, BpeParts, Model, Precision, Strategy, Unigram, UnigramParts, WordPiece, WordPieceParts,
};
use jogak::pretokenize::Metaspace;
use jogak::symbols::{Marker, Undraw};
use jogak::vocab::Vocab;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{raise, to_py};

/// A model and what belongs to it.
pub(crate) struct Compiled {
    pub(crate) model: Model,
    pub(crate) decoder: Decoder,
    /// The text of every id.
    pub(crate) texts: Vec<Option<String>>,
}

/// Compiles what a model's `to_core()` says. `special` are the ids of special tokens, `outside` those
/// of pieces that the model does not know. `spaces` tells how spaces come written in
/// the words.
pub(crate) fn compile(
    options: &Options<'_, '_>,
    special: &[u32],
    outside: &[u32],
    spaces: Option<Metaspace>,
) -> PyResult<Compiled> {
    let kind: String = options.get("type")?;
    match kind.as_str() {
        "bpe" | "scored-bpe" => bpe(options, special, outside, spaces),
        "unigram" => unigram(options, special, outside, spaces),
        "wordpiece" => wordpiece(options, special, outside, spaces),
        other => Err(raise("ConfigError", format!("model type {other:?} is not known"), &[])),
    }
}

fn bpe(
    options: &Options<'_, '_>,
    special: &[u32],
    outside: &[u32],
    spaces: Option<Metaspace>,
) -> PyResult<Compiled> {
    let texts: Vec<Option<String>> = options.get("pieces")?;
    let marker = marker(options)?;
    let scored = options.get::<String>("type")? == "scored-bpe";
    let bytes = options.get::<String>("alphabet")? == "bytes";
    let undraw = Undraw::default();
    let mut ordinary = vec![true; texts.len()];
    outside.iter().for_each(|&id| ordinary[id as usize] = false);
    let unknown: Option<String> = options.get("unknown")?;
    let mut pieces = Vec::with_capacity(texts.len());
    let mut all = Vec::with_capacity(texts.len());
    for (id, text) in texts.iter().enumerate() {
        let text = text.as_deref().unwrap_or_default();
        let is_unknown = unknown.as_deref() == Some(text);
        let piece = if bytes && ordinary[id] {
            undraw.bytes(text).map_err(|character| {
                let message = format!(
                    "piece {id} is {text:?}, where {character:?} stands for no byte; expected \
                     GPT-2's printable characters"
                );
                raise("ConfigError", message, &[])
            })?
        } else {
            text.as_bytes().to_vec()
        };
        pieces.push(if ordinary[id] && !is_unknown { piece.clone() } else { Vec::new() });
        all.push(piece);
    }
    let find = |wanted: &str| texts.iter().position(|text| text.as_deref() == Some(wanted));
    let byte_fallback = byte_pieces(options, &find)?;
    for &id in byte_fallback.as_deref().into_iter().flatten() {
        pieces[id as usize] = Vec::new();
    }
    let decoder =
        Decoder::new(Vocab::new(&all), special, byte_fallback.as_deref(), marker.clone(), spaces);
    let bpe = Bpe::new(BpeParts {
        pieces,
        merges: options.get("merges")?,
        scores: if scored { Some(options.get("scores")?) } else { None },
        user_defined: if scored { options.get("user_defined")? } else { Vec::new() },
        bytes,
        marked: !options.get::<bool>("mark_words")?,
        marker,
        byte_fallback,
        unknown: unknown.as_deref().and_then(find).map(|id| id as u32),
        fuse_unknown: options.get("fuse_unknown")?,
        strategy: strategy(&options.get::<String>("strategy")?)?,
        whole_word: options.get("whole_word")?,
    })
    .map_err(to_py)?;
    Ok(Compiled { model: Model::Bpe(bpe), decoder, texts })
}

fn wordpiece(
    options: &Options<'_, '_>,
    special: &[u32],
    outside: &[u32],
    spaces: Option<Metaspace>,
) -> PyResult<Compiled> {
    let texts: Vec<Option<String>> = options.get("pieces")?;
    let marker = marker(options)?;
    let unknown: Option<String> = options.get("unknown")?;
    let all: Vec<Vec<u8>> =
        texts.iter().map(|text| text.as_deref().unwrap_or_default().into()).collect();
    let mut pieces = all.clone();
    outside.iter().for_each(|&id| pieces[id as usize] = Vec::new());
    let unknown = texts.iter().position(|text| text.is_some() && *text == unknown);
    if let Some(id) = unknown {
        pieces[id] = Vec::new();
    }
    let decoder = Decoder::new(Vocab::new(&all), special, None, marker.clone(), spaces);
    let model = WordPiece::new(WordPieceParts {
        pieces,
        marker,
        marked: !options.get::<bool>("mark_words")?,
        unknown: unknown.map(|id| id as u32),
        max_chars_per_word: options.get("max_chars_per_word")?,
    });
    Ok(Compiled { model: Model::WordPiece(model), decoder, texts })
}

fn unigram(
    options: &Options<'_, '_>,
    special: &[u32],
    outside: &[u32],
    spaces: Option<Metaspace>,
) -> PyResult<Compiled> {
    let texts: Vec<Option<String>> = options.get("pieces")?;
    let all: Vec<Vec<u8>> =
        texts.iter().map(|text| text.clone().unwrap_or_default().into_bytes()).collect();
    let find = |wanted: &str| texts.iter().position(|text| text.as_deref() == Some(wanted));
    let unknown: Option<String> = options.get("unknown")?;
    let unknown = unknown.as_deref().and_then(find).map(|id| id as u32);
    let byte_fallback = byte_pieces(options, &find)?;
    let unused: Vec<u32> = options.get("unused")?;
    let mut pieces = all.clone();
    let bytes = byte_fallback.as_deref().into_iter().flatten();
    for &id in bytes.chain(outside).chain(&unknown).chain(&unused) {
        if let Some(piece) = pieces.get_mut(id as usize) {
            piece.clear();
        }
    }
    let decoder =
        Decoder::new(Vocab::new(&all), special, byte_fallback.as_deref(), marker(options)?, spaces);
    let precision = match options.get::<String>("precision")?.as_str() {
        "single" => Precision::Single,
        _ => Precision::Double,
    };
    let model = Unigram::new(UnigramParts {
        pieces,
        scores: options.get("scores")?,
        user_defined: options.get("user_defined")?,
        byte_fallback,
        unknown,
        fuse_unknown: options.get("fuse_unknown")?,
        precision,
    })
    .map_err(to_py)?;
    Ok(Compiled { model: Model::Unigram(model), decoder, texts })
}

/// The ids of `<0x00>` to `<0xFF>`, where the model falls back to bytes.
fn byte_pieces(
    options: &Options<'_, '_>,
    find: &impl Fn(&str) -> Option<usize>,
) -> PyResult<Option<Box<[u32; 256]>>> {
    if !options.get("byte_fallback")? {
        return Ok(None);
    }
    let mut ids = Box::new([0; 256]);
    for (byte, slot) in ids.iter_mut().enumerate() {
        let name = format!("<0x{byte:02X}>");
        let id = find(&name).ok_or_else(|| {
            raise("ConfigError", format!("byte fallback needs the piece {name:?}"), &[])
        })?;
        *slot = id as u32;
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
