//! Files -> ids, some documents at a time.

use std::sync::{Mutex, PoisonError};

use jogak::added::Input;
use jogak_corpus::{Documents, Source, Texts};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::counts::{PlainSource, corpus_error, errors, report_dict, source};
use crate::errors::to_py;
use crate::tokenizer::{Draw, PyTokenizer, in_document, request};

/// Reads the documents of files.
#[pyclass(frozen, name = "Documents", module = "jogak._core")]
pub(crate) struct PyDocuments(Mutex<State>);

struct State {
    documents: Documents,
    texts: Texts,
    /// The number of the next document.
    number: u64,
}

/// Ids, and the offset of each document.
type Ids<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl PyDocuments {
    #[new]
    fn new(sources: Vec<PlainSource<'_>>, on_error: &str) -> PyResult<Self> {
        let sources: Vec<Source> = sources.into_iter().map(source).collect::<PyResult<_>>()?;
        let documents = Documents::new(sources, errors(on_error));
        Ok(Self(Mutex::new(State { documents, texts: Texts::default(), number: 0 })))
    }

    /// The ids of the next documents, until these have `size` bytes; None at the end.
    #[pyo3(signature = (tokenizer, special, threads, size, strategy=None, draw=None))]
    #[expect(clippy::too_many_arguments, reason = "all that a call says")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        tokenizer: &PyTokenizer,
        special: &Bound<'_, PyAny>,
        threads: usize,
        size: usize,
        strategy: Option<&str>,
        draw: Option<Draw>,
    ) -> PyResult<Option<Ids<'py>>> {
        py.check_signals()?;
        let mut request = request(special, strategy, draw)?;
        let batch =
            py.detach(|| {
                let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let State { documents, texts, number } = &mut *state;
                let read = documents.next(size, texts);
                if !read.map_err(|error| Python::attach(|py| corpus_error(py, error)))? {
                    return Ok(None);
                }
                request.first = *number;
                *number += texts.len() as u64;
                let inputs: Vec<Input<'_>> = texts.iter().map(Input::from).collect();
                tokenizer.core().encode_batch(&inputs, &request, threads).map(Some).map_err(
                    |(index, error)| in_document(request.first + index as u64, to_py(error)),
                )
            })?;
        Ok(batch.map(|batch: jogak::pipeline::Batch| {
            (PyArray1::from_vec(py, batch.ids), PyArray1::from_vec(py, batch.offsets))
        }))
    }

    /// What was read and what was left out so far.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = py.detach(|| self.state(|state| state.documents.report()));
        report_dict(py, &report)
    }

    /// Bytes that were read, and how many there are, None where that cannot be known.
    fn progress(&self, py: Python<'_>) -> (u64, Option<u64>) {
        py.detach(|| {
            self.state(|state| {
                let progress = state.documents.progress();
                (progress.done(), progress.total())
            })
        })
    }
}

impl PyDocuments {
    fn state<R>(&self, with: impl FnOnce(&State) -> R) -> R {
        with(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
