//! What the ids at the end of a text may become, for Python.

use jogak::following::Following;
use jogak::model::{Bpe, Merger};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::to_py;
use crate::integers;
use crate::tokenizer::PyTokenizer;

/// The pieces of a tokenizer of bytes, in the order of these.
#[pyclass(frozen, name = "Following", module = "jogak._core")]
pub(crate) struct PyFollowing {
    of: Py<PyTokenizer>,
    pieces: Following,
}

/// Why ways are no longer looked for.
enum Stopped {
    Failed(jogak::Error),
    By(PyErr),
}

impl From<jogak::Error> for Stopped {
    fn from(error: jogak::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Stopped> for PyErr {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Failed(error) => to_py(error),
            Stopped::By(error) => error,
        }
    }
}

#[pymethods]
impl PyFollowing {
    #[new]
    fn new(tokenizer: Bound<'_, PyTokenizer>) -> Self {
        let core = tokenizer.get().core();
        let pieces = tokenizer.py().detach(|| {
            core.model().bpe().map_or_else(Following::default, |bpe| Following::new(bpe.vocab()))
        });
        Self { of: tokenizer.unbind(), pieces }
    }

    /// The last word of a text.
    fn last_word(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        let core = self.of.get().core();
        py.detach(|| core.last_word(text)).map_err(to_py)
    }

    /// What merges leave of any bytes.
    fn merged<'py>(
        &self,
        py: Python<'py>,
        bytes: &Bound<'_, PyBytes>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (bytes, mut ids) = (bytes.as_bytes(), Vec::new());
        let bpe = self.of.get().core().model().bpe();
        let merge = |bpe: &Bpe| bpe.merged(bytes, &mut Merger::default(), &mut ids);
        py.detach(|| bpe.map_or(Ok(()), merge)).map_err(to_py)?;
        integers::list(py, &ids)
    }

    /// The ways in which the ids of the last bytes of a text may go on, sorted.
    fn ways<'py>(
        &self,
        py: Python<'py>,
        end: &Bound<'_, PyBytes>,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let (core, end) = (self.of.get().core(), end.as_bytes());
        let go_on = || Python::attach(|py| py.check_signals()).map_err(Stopped::By);
        let ways = py.detach(|| core.following(&self.pieces, end, go_on))?;
        integers::lists(py, &ways)
    }
}
