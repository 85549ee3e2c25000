//! Files -> ids, some documents at a time.

use std::sync::{Mutex, PoisonError};

use jogak::pipeline::Arriving;
use jogak_corpus::{Documents, Source, Texts};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::counts::{PlainSource, corpus_error, errors, report_dict, source};
use crate::errors::Failed;
use crate::tokenizer::{Draw, PyTokenizer, in_document, request};

/// Reads the documents of files.
#[pyclass(frozen, name = "Documents", module = "jogak._core")]
pub(crate) struct PyDocuments(Mutex<State>);

struct State {
    documents: Documents,
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
        Ok(Self(Mutex::new(State { documents, number: 0 })))
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
        let batch = py.detach(|| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let State { documents, number } = &mut *state;
            request.first = *number;
            let bytes = documents.ahead(size);
            let mut count = 0;
            let items = documents.portion(size).map(|texts| {
                count += texts.as_ref().map_or(0, Texts::len) as u64;
                texts.map_err(|error| Failed::Coming(Python::attach(|py| corpus_error(py, error))))
            });
            let core = tokenizer.core();
            let encoded = core.encode_stretches(Arriving::all(items), bytes, &request, threads);
            *number += count;
            let document = |index: usize, error| in_document(request.first + index as u64, error);
            let (batch, texts) = encoded.map_err(|failed| failed.told(document))?;
            documents.take_back(texts);
            Ok::<_, PyErr>(Some(batch).filter(|_| count > 0))
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
