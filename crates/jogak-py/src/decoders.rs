//! The way back, for Python: rules of decoder chains, ids from lists and arrays, streams.

use std::ops::Range;

use jogak::decode::{Rule, SentencePiece, Stream, Strip};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{raise, to_py};
use crate::models::Options;
use crate::numbers::{are_known, read_list};
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

/// Ids from a list or an array.
pub(crate) fn ids_of(ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let mut found = Vec::new();
    ids_into(ids, &mut found)?;
    Ok(found)
}

/// Ids from a list or an array, behind others.
fn ids_into(ids: &Bound<'_, PyAny>, found: &mut Vec<u32>) -> PyResult<()> {
    let before = found.len();
    if let Ok(list) = ids.cast::<PyList>() {
        if read_list(list, found) {
            return Ok(());
        }
        found.truncate(before);
    } else if read_array(ids, found) {
        return Ok(());
    }
    // Anything else that has numbers, and what is wrong.
    let others = ids.extract::<Vec<u32>>().map_err(|_| {
        let message = "ids must be whole numbers from 0 to 4294967295, in a list or an array";
        raise("DecodeError", message.into(), &[])
    })?;
    found.extend(others);
    Ok(())
}

/// Reads a numpy array of whole numbers, whatever its strides; false if it is none, or has a number that
/// is no id.
fn read_array(ids: &Bound<'_, PyAny>, found: &mut Vec<u32>) -> bool {
    if let Ok(array) = ids.cast::<PyArray1<u32>>() {
        let array = array.readonly();
        match array.as_slice() {
            Ok(ids) => found.extend_from_slice(ids),
            Err(_) => found.extend(array.as_array()),
        }
        return true;
    }
    let before = found.len();
    let fits = wider::<i64>(ids, found)
        .or_else(|| wider::<i32>(ids, found))
        .or_else(|| wider::<u64>(ids, found))
        .or_else(|| wider::<u16>(ids, found));
    if fits != Some(true) {
        found.truncate(before);
    }
    fits == Some(true)
}

/// Reads an array of other numbers: whether all are ids; None if it is no such array.
fn wider<T>(ids: &Bound<'_, PyAny>, found: &mut Vec<u32>) -> Option<bool>
where
    T: numpy::Element + Copy,
    u32: TryFrom<T>,
{
    let array = ids.cast::<PyArray1<T>>().ok()?.readonly();
    let ids = array.as_array();
    found.reserve(ids.len());
    Some(ids.iter().all(|&id| u32::try_from(id).map(|id| found.push(id)).is_ok()))
}

/// Many lists of ids, one behind the other, and where each of them is: from lists, or from an array with
/// offsets.
pub(crate) fn batch_of(
    ids: &Bound<'_, PyAny>,
    offsets: Option<PyReadonlyArray1<'_, i64>>,
) -> PyResult<(Vec<u32>, Vec<Range<usize>>)> {
    let Some(offsets) = offsets else {
        let mut all = Vec::new();
        let mut ranges = Vec::new();
        for list in ids.try_iter()? {
            let from = all.len();
            ids_into(&list?, &mut all)?;
            ranges.push(from..all.len());
        }
        return Ok((all, ranges));
    };
    let ids = ids_of(ids)?;
    let offsets: Vec<usize> =
        offsets.as_array().iter().map(|&at| usize::try_from(at).unwrap_or(usize::MAX)).collect();
    let ranges: Vec<_> = offsets.windows(2).map(|pair| pair[0]..pair[1]).collect();
    if ranges.iter().any(|range| range.start > range.end || range.end > ids.len()) {
        let message = format!(
            "the offsets of a batch go beyond its {} ids, or backwards; expected them to grow",
            ids.len()
        );
        return Err(raise("DecodeError", message, &[]));
    }
    Ok((ids, ranges))
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
