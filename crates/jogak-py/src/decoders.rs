//! The way back, for Python: rules of decoder chains, streams.

use jogak::decode::{Rule, SentencePiece, Stream, Strip};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{raise, to_py};
use crate::ids::ids_of;
use crate::models::Options;
use crate::numbers::are_known;
use crate::tokenizer::PyTokenizer;

/// The rules of a decoder: a list of dicts, as `to_dict()` of the stages gives them.
pub(crate) fn parse_rules(stages: &[Bound<'_, PyDict>]) -> PyResult<Vec<Rule>> {
    stages.iter().map(|stage| parse_rule(&Options(stage))).collect()
}

fn parse_rule(options: &Options<'_, '_>) -> PyResult<Rule> {
    let kind: String = options.get("type")?;
    Ok(match kind.as_str() {
        "byte-level" => Rule::ByteLevel,
        "byte-fallback" => Rule::ByteFallback,
        "fuse" => Rule::Fuse,
        "wordpiece" => {
            Rule::WordPiece { prefix: options.get("prefix")?, cleanup: options.get("cleanup")? }
        }
        "metaspace" => Rule::Metaspace {
            mark: options.get("replacement")?,
            first: options.get::<String>("prepend")? != "never",
        },
        "suffix" => Rule::Suffix(options.get("suffix")?),
        "replace" => Rule::Replace {
            pattern: options.get("pattern")?,
            with: options.get("replacement")?,
            regex: options.get("regex")?,
        },
        "strip" => Rule::Strip {
            content: options.get("content")?,
            start: options.get("start")?,
            stop: options.get("stop")?,
        },
        "ctc" => Rule::Ctc {
            pad: options.get("pad_token")?,
            delimiter: options.get("word_delimiter_token")?,
            cleanup: options.get("cleanup")?,
        },
        "sentencepiece" => Rule::SentencePiece(SentencePiece {
            unknown: options.get("unknown")?,
            surface: options.get("unknown_surface")?,
            control: options.get("control")?,
            bytes: options.get("byte_fallback")?,
            strip: match options.get::<String>("strip")?.as_str() {
                "none" => Strip::None,
                "first" => Strip::First,
                _ => Strip::All,
            },
            charsmap: options.get("charsmap")?,
        }),
        other => {
            return Err(raise("ConfigError", format!("decoder {other:?} is not known"), &[]));
        }
    })
}

/// Whether lists of numbers are read where they lie, as in all versions of CPython that are known; else Python is asked for
/// each number, which gives the same.
#[pyfunction]
pub(crate) fn reads_in_place(py: Python<'_>) -> bool {
    are_known(py)
}

/// A stream of ids on its way to text.
#[pyclass(name = "DecodeStream", module = "jogak._core")]
pub(crate) struct PyStream {
    tokenizer: Py<PyTokenizer>,
    stream: Stream,
}

impl PyStream {
    pub(crate) fn new(tokenizer: Py<PyTokenizer>, stream: Stream) -> Self {
        Self { tokenizer, stream }
    }
}

#[pymethods]
impl PyStream {
    /// Takes an id, or a list of ids, and gives the text that can no longer change.
    fn push(&mut self, ids: &Bound<'_, PyAny>) -> PyResult<String> {
        let ids = match ids.extract::<u32>() {
            Ok(id) => vec![id],
            Err(_) => ids_of(ids)?,
        };
        let core = self.tokenizer.get().core();
        self.stream.push(core.decoder(), &ids).map_err(to_py)
    }

    /// Gives the rest of the text, and begins anew.
    fn finish(&mut self) -> PyResult<String> {
        let core = self.tokenizer.get().core();
        self.stream.finish(core.decoder()).map_err(to_py)
    }

    /// A stream that stands where this one stands.
    fn copy(&self, py: Python<'_>) -> Self {
        Self { tokenizer: self.tokenizer.clone_ref(py), stream: self.stream.clone() }
    }
}
