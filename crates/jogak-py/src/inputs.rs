//! Inputs of models, for Python: texts in, arrays out.

use std::mem::take;
use std::sync::{Mutex, PoisonError};

use jogak::added::Input;
use jogak::inputs::{Form, Inputs, Padding, Slot, Source, Truncation, Victim};
use jogak::pipeline::{Batch, Request};
use jogak::spans::Spans;
use numpy::{Element, PyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

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

/// All that makes inputs of ids. Most calls want the same.
#[pyclass(frozen, name = "Form", module = "jogak._core")]
pub(crate) struct PyForm(Form);

type PyTruncation = (usize, usize, String, String);
type PyPadding = (u32, u32, String, Option<usize>, Option<usize>);

#[pymethods]
impl PyForm {
    /// Truncation is `(max_length, stride, side, strategy)`, padding `(id, type_id, side, length, multiple_of)`.
    #[new]
    #[pyo3(signature = (slots, truncation, padding, overflow))]
    fn new(
        slots: Vec<PySlot>,
        truncation: Option<PyTruncation>,
        padding: Option<PyPadding>,
        overflow: bool,
    ) -> Self {
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
        Self(Form {
            slots: slots.into_iter().map(slot).collect(),
            truncation: truncation.map(cut),
            padding: padding.map(fill),
            overflow,
        })
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
            Self::Spans(parts) => {
                let texts = parts.iter().flat_map(|part| part.texts().map(move |ids| (part, ids)));
                texts.map(|(part, ids)| Source::of(part, ids)).collect()
            }
        }
    }
}

/// The inputs of texts, or of pairs of texts.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, pairs, form, special, threads, spans, trim, strategy=None, draw=None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, which names them")]
pub(crate) fn make_inputs(
    py: Python<'_>,
    tokenizer: &Bound<'_, PyTokenizer>,
    texts: Vec<Bound<'_, PyAny>>,
    pairs: Option<Vec<Bound<'_, PyAny>>>,
    form: &Bound<'_, PyForm>,
    special: &Bound<'_, PyAny>,
    threads: usize,
    spans: bool,
    trim: bool,
    strategy: Option<&str>,
    draw: Option<Draw>,
) -> PyResult<PyColumns> {
    let (tokenizer, form) = (tokenizer.get(), &form.get().0);
    let request = request(special, strategy, draw)?;
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
    Ok(PyColumns::from(made, spans))
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
            let mut texts = texts.into_iter();
            for part in &mut made {
                let of_texts: Vec<_> = part.texts().zip(texts.by_ref()).collect();
                for (ids, text) in of_texts {
                    part.trim(ids, text.text, |id| self.texts.get(id));
                }
            }
        }
        Ok(Encoded::Spans(made))
    }
}

/// Inputs as `jogak::inputs::Inputs` has them, by name. A column becomes an array when somebody asks for it: of a short
/// text, to make all of them takes longer than to encode it.
#[pyclass(frozen, name = "Columns", module = "jogak._core")]
pub(crate) struct PyColumns {
    /// What is no array yet.
    inputs: Mutex<Inputs>,
    arrays: [PyOnceLock<Py<PyAny>>; COLUMNS.len()],
    rows: usize,
    spans: bool,
}

type Column = (&'static str, fn(Python<'_>, &mut Inputs) -> Py<PyAny>);

const COLUMNS: [Column; 10] = [
    ("ids", |py, inputs| array(py, &mut inputs.ids)),
    ("type_ids", |py, inputs| array(py, &mut inputs.type_ids)),
    ("special", |py, inputs| array(py, &mut inputs.special)),
    ("attention", |py, inputs| array(py, &mut inputs.attention)),
    ("sequences", |py, inputs| array(py, &mut inputs.sequences)),
    ("offsets", |py, inputs| array(py, &mut inputs.offsets)),
    ("owners", |py, inputs| array(py, &mut inputs.owners)),
    ("words", |py, inputs| array(py, &mut inputs.words)),
    ("bytes", |py, inputs| array(py, &mut take(&mut inputs.bytes).into_flattened())),
    ("chars", |py, inputs| array(py, &mut take(&mut inputs.chars).into_flattened())),
];
/// Those behind are there only with spans.
const WITHOUT_SPANS: usize = 7;

impl PyColumns {
    fn from(inputs: Inputs, spans: bool) -> Self {
        let rows = inputs.owners.len();
        let arrays = std::array::from_fn(|_| PyOnceLock::new());
        Self { inputs: Mutex::new(inputs), arrays, rows, spans }
    }

    fn column(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        let known = if self.spans { COLUMNS.len() } else { WITHOUT_SPANS };
        let number = COLUMNS[..known].iter().position(|&(column, _)| column == name)?;
        let array = self.arrays[number].get_or_init(py, || {
            let (_, array) = COLUMNS[number];
            array(py, &mut self.inputs.lock().unwrap_or_else(PoisonError::into_inner))
        });
        Some(array.clone_ref(py))
    }
}

fn array<T: Element>(py: Python<'_>, column: &mut Vec<T>) -> Py<PyAny> {
    PyArray1::from_vec(py, take(column)).into_any().unbind()
}

#[pymethods]
impl PyColumns {
    /// Of arrays, as `__reduce__` gives them.
    #[new]
    fn new(arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let made = Self::from(Inputs::default(), arrays.contains("words")?);
        for ((name, _), known) in COLUMNS.iter().zip(&made.arrays) {
            if let Some(array) = arrays.get_item(name)? {
                let _ = known.set(arrays.py(), array.unbind());
            }
        }
        let rows = arrays.get_item("owners")?.map_or(Ok(0), |owners| owners.len())?;
        Ok(Self { rows, ..made })
    }

    /// How many inputs, parts that were cut off among them.
    fn __len__(&self) -> usize {
        self.rows
    }

    /// A column; KeyError if there is none of the name.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.column(py, name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// A column; None if there is none of the name.
    fn get(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        self.column(py, name)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyDict>,))> {
        let py = slf.py();
        let arrays = PyDict::new(py);
        for (name, _) in COLUMNS {
            if let Some(array) = slf.get().column(py, name) {
                arrays.set_item(name, array)?;
            }
        }
        Ok((slf.get_type(), (arrays,)))
    }
}
