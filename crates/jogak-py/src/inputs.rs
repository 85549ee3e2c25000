//! Inputs of models, for Python: texts in, arrays out.

use jogak::added::Input;
use jogak::inputs::{Form, Inputs, Padding, Slot, Source, Truncation, Victim};
use jogak::pipeline::{Batch, Request};
use jogak::spans::Spans;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{raise, to_py};
use crate::texts::{Text, held};
use crate::tokenizer::{Draw, PyTokenizer, in_text, request};

/// A part of a template: a text ("A", "B") or ids; and its type id.
#[derive(FromPyObject)]
pub(crate) struct PySlot(What, u32);

#[derive(FromPyObject)]
pub(crate) enum What {
    Text(String),
    Ids(Vec<u32>),
}

/// `(slots, truncation, padding, overflow)`; truncation is `(max_length, stride, side, strategy)`, padding
/// `(id, type_id, side, length, multiple_of)`.
#[derive(FromPyObject)]
pub(crate) struct PyForm(Vec<PySlot>, Option<PyTruncation>, Option<PyPadding>, bool);

pub(crate) type PyTruncation = (usize, usize, String, String);
pub(crate) type PyPadding = (u32, u32, String, Option<usize>, Option<usize>);

impl From<PyForm> for Form {
    fn from(PyForm(slots, truncation, padding, overflow): PyForm) -> Self {
        let slot = |PySlot(what, type_id)| match what {
            What::Text(text) => Slot::Text(usize::from(text == "B"), type_id),
            What::Ids(ids) => Slot::Ids(ids, type_id),
        };
        let cut = |(max_length, stride, side, strategy): PyTruncation| Truncation {
            max_length,
            stride,
            left: side == "left",
            victim: match strategy.as_str() {
                "only-first" => Victim::Only(0),
                "only-second" => Victim::Only(1),
                _ => Victim::Longest,
            },
        };
        let fill = |(id, type_id, side, length, multiple_of): PyPadding| Padding {
            id,
            type_id,
            left: side == "left",
            length,
            multiple_of,
        };
        Self {
            slots: slots.into_iter().map(slot).collect(),
            truncation: truncation.map(cut),
            padding: padding.map(fill),
            overflow,
        }
    }
}

/// What many texts became.
enum Encoded {
    Ids(Batch),
    Spans(Vec<Spans>),
}

impl Encoded {
    fn sources(&self) -> Vec<Source<'_>> {
        match self {
            Self::Ids(batch) => batch
                .offsets
                .windows(2)
                .map(|ends| &batch.ids[ends[0] as usize..ends[1] as usize])
                .map(|ids| Source { ids, ..Source::default() })
                .collect(),
            Self::Spans(texts) => texts
                .iter()
                .map(|Spans { ids, bytes, chars, words }| Source { ids, bytes, chars, words })
                .collect(),
        }
    }
}

/// The inputs of texts, or of pairs of texts: a dict of arrays, see `jogak::inputs::Inputs`.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, pairs, form, special, threads, spans, trim, strategy=None, draw=None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, which names them")]
pub(crate) fn make_inputs<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, PyTokenizer>,
    texts: Vec<Bound<'py, PyAny>>,
    pairs: Option<Vec<Bound<'py, PyAny>>>,
    form: PyForm,
    special: &Bound<'py, PyAny>,
    threads: usize,
    spans: bool,
    trim: bool,
    strategy: Option<&str>,
    draw: Option<Draw>,
) -> PyResult<Bound<'py, PyDict>> {
    let tokenizer = tokenizer.get();
    let request = request(special, strategy, draw)?;
    let form = Form::from(form);
    let (texts, pairs) = (held(texts)?, pairs.map(held).transpose()?);
    if pairs.as_ref().is_some_and(|pairs| pairs.len() != texts.len()) {
        let message = "as many second texts are expected as there are first ones".to_owned();
        return Err(raise("ConfigError", message, &[]));
    }
    let one = texts.len() == 1;
    let run = || {
        let encode =
            |texts: &[Text], first| tokenizer.encoded(texts, &request, first, threads, spans, trim);
        let first = encode(&texts, 0)?;
        let second = pairs.as_ref().map(|pairs| encode(pairs, texts.len() as u64)).transpose()?;
        let second = second.as_ref().map(Encoded::sources);
        form.inputs(&first.sources(), second.as_deref(), spans)
    };
    // Letting go of the interpreter costs more than a short text.
    let short = one && texts[0].input().text.len() < 2048 && pairs.is_none();
    let made = if short { run() } else { py.detach(run) };
    let made = made.map_err(|(index, error)| {
        let error = to_py(error);
        if one { error } else { in_text(index, error) }
    })?;
    arrays(py, made, spans)
}

impl PyTokenizer {
    /// The number of the first text is that of its random numbers.
    fn encoded(
        &self,
        texts: &[Text],
        request: &Request,
        first: u64,
        threads: usize,
        spans: bool,
        trim: bool,
    ) -> Result<Encoded, (usize, jogak::Error)> {
        let texts: Vec<Input<'_>> = texts.iter().map(Text::input).collect();
        // Batches number their texts from 0.
        let drawn = request.dropout.is_some() || request.alpha.is_some();
        let numbered = drawn && first > 0;
        if !spans && !numbered {
            return self.core.encode_batch(&texts, request, threads).map(Encoded::Ids);
        }
        let mut made = self.core.spans_batch(&texts, request, first, threads)?;
        if trim {
            for (spans, text) in made.iter_mut().zip(texts) {
                spans.trim(text.text, |id| self.texts.get(id));
            }
        }
        Ok(Encoded::Spans(made))
    }
}

fn arrays(py: Python<'_>, made: Inputs, spans: bool) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("ids", PyArray1::from_vec(py, made.ids))?;
    dict.set_item("type_ids", PyArray1::from_vec(py, made.type_ids))?;
    dict.set_item("special", PyArray1::from_vec(py, made.special))?;
    dict.set_item("attention", PyArray1::from_vec(py, made.attention))?;
    dict.set_item("sequences", PyArray1::from_vec(py, made.sequences))?;
    dict.set_item("offsets", PyArray1::from_vec(py, made.offsets))?;
    dict.set_item("owners", PyArray1::from_vec(py, made.owners))?;
    if spans {
        dict.set_item("words", PyArray1::from_vec(py, made.words))?;
        dict.set_item("bytes", PyArray1::from_vec(py, made.bytes))?;
        dict.set_item("chars", PyArray1::from_vec(py, made.chars))?;
    }
    Ok(dict)
}
