//! Counting, seen from Python.
//!
//! Rule: the interpreter is held only to pull documents, to look for signals and to report progress;
//! all reading and counting runs without it.

use crate::errors::advised;
use crate::normalizers::parse_normalizer;
use crate::schemes::parse_pretokenizer;
use jogak::count::{self, Counter, Inventory, Order};
use jogak::prepare::Prepare;
use jogak_corpus::{
    Batch, Errors, Format, Front, Input, LoadError, Options, Place, Progress, Report, Source, Split,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyString, PyTuple};
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The exception `name` of `jogak.errors`, made with `arguments`: places have numbers among them.
fn raise<'py>(py: Python<'py>, name: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = || py.import("jogak.errors")?.getattr(name)?.call1(arguments);
    made().map_or_else(|error| error, PyErr::from_value)
}

/// An error of the core as an exception. `message` tells of it, and perhaps of the `place` in the
/// corpus where it happened.
fn core_error(py: Python<'_>, error: &jogak::Error, message: &str, place: Option<&Place>) -> PyErr {
    let message = advised(error, message);
    match error {
        jogak::Error::Config { .. } | jogak::Error::Pattern { .. } => {
            raise(py, "ConfigError", (message,))
        }
        _ => raise(py, "CorpusError", corpus_arguments(message, place)),
    }
}

type CorpusArguments = (String, Option<String>, Option<u64>, Option<u64>);

fn corpus_arguments(message: String, place: Option<&Place>) -> CorpusArguments {
    let file = place.and_then(|place| place.file.clone());
    (message, file, place.and_then(|place| place.line), place.map(|place| place.byte))
}

pub(crate) fn corpus_error(py: Python<'_>, error: jogak_corpus::Error) -> PyErr {
    let message = error.to_string();
    match error {
        // What Python code raised while it was being read from stays what it was.
        jogak_corpus::Error::Read { reason, .. }
            if reason.get_ref().is_some_and(|e| e.is::<PyErr>()) =>
        {
            reason.into()
        }
        jogak_corpus::Error::Read { file, byte, .. } => {
            raise(py, "CorpusError", (message, Some(file), None::<u64>, Some(byte)))
        }
        jogak_corpus::Error::Document { place, .. } => {
            raise(py, "CorpusError", corpus_arguments(message, Some(&place)))
        }
        jogak_corpus::Error::Core { place, error } => {
            core_error(py, &error, &message, place.as_deref())
        }
        jogak_corpus::Error::Threads { .. } | jogak_corpus::Error::Cancelled => {
            raise(py, "CorpusError", (message,))
        }
    }
}

/// An error of the system that says which file it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Distinct words with their counts.
#[pyclass(frozen, module = "jogak._core")]
pub struct Counts {
    inner: Mutex<Arc<count::Counts>>,
}

impl Counts {
    fn new(counts: count::Counts) -> Self {
        Self { inner: Mutex::new(Arc::new(counts)) }
    }

    /// The counts, shared with this object.
    pub fn share(&self) -> Arc<count::Counts> {
        Arc::clone(&self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The counts, leaving this object without words: for a trainer whose caller has no further use for
    /// them, so that their memory can be freed while it works.
    pub fn take(&self) -> Arc<count::Counts> {
        std::mem::take(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Counts {
    /// Words with counts, as a list of pairs in the order to keep.
    #[staticmethod]
    fn from_items(py: Python<'_>, items: Vec<(String, u64)>) -> PyResult<Self> {
        let counts = py.detach(|| {
            let mut counter = Counter::new(true);
            for (position, (word, count)) in items.iter().enumerate() {
                counter.add_many(word.as_bytes(), *count, position as u64)?;
            }
            count::Counts::from_counters(vec![counter], 1)
        });
        counts.map(Self::new).map_err(|error| core_error(py, &error, &error.to_string(), None))
    }

    fn __len__(&self) -> usize {
        self.share().len()
    }

    #[getter]
    fn total(&self) -> u64 {
        self.share().total()
    }

    #[getter]
    fn keeps_order(&self) -> bool {
        self.share().keeps_order()
    }

    /// Bytes that the tables hold.
    #[getter]
    fn memory(&self) -> usize {
        self.share().memory()
    }

    fn get(&self, word: &str) -> Option<u64> {
        self.share().get(word.as_bytes())
    }

    fn add(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let (a, b) = (self.share(), other.share());
        let sum = py.detach(|| count::Counts::clone(&a).merge(count::Counts::clone(&b)));
        sum.map(Self::new).map_err(|error| core_error(py, &error, &error.to_string(), None))
    }

    fn equals(&self, py: Python<'_>, other: &Self) -> bool {
        let (a, b) = (self.share(), other.share());
        py.detach(|| a == b)
    }

    /// The words cut at all of `texts` and without them, and how many were found.
    fn without(&self, py: Python<'_>, texts: Vec<String>) -> PyResult<(Self, u64)> {
        let counts = self.share();
        let cut = py.detach(|| counts.without(&texts));
        cut.map(|(cut, found)| (Self::new(cut), found))
            .map_err(|error| core_error(py, &error, &error.to_string(), None))
    }

    /// Every character with its count, most frequent first.
    fn characters(&self, py: Python<'_>) -> PyResult<Vec<(char, u64)>> {
        let counts = self.share();
        let characters = py.detach(|| counts.characters());
        characters.map_err(|error| core_error(py, &error, &error.to_string(), None))
    }

    fn limited(&self, py: Python<'_>, min_count: u64, min_word_length: usize) -> PyResult<Self> {
        let counts = self.share();
        let limited = py.detach(|| counts.limited(min_count, min_word_length));
        limited.map(Self::new).map_err(|error| core_error(py, &error, &error.to_string(), None))
    }

    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        pretokenizer: String,
        normalizer: String,
    ) -> PyResult<()> {
        let front = Front { normalizer, pretokenizer };
        let counts = self.share();
        py.detach(|| jogak_corpus::save(&counts, &front, &path))
            .map_err(|error| named(&path, &error).into())
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<(Self, String, String)> {
        match py.detach(|| jogak_corpus::load(&path)) {
            Ok((counts, front)) => Ok((Self::new(counts), front.pretokenizer, front.normalizer)),
            Err(LoadError::Io(error)) => Err(named(&path, &error).into()),
            Err(LoadError::Format { place, message }) => {
                let file = path.to_string_lossy().into_owned();
                let message = format!("{file}, {place}: {message}");
                Err(raise(py, "FormatError", (message, file, place)))
            }
        }
    }

    /// The words in canonical order (`first_seen=False`) or in the order that was kept.
    fn cursor(&self, py: Python<'_>, first_seen: bool) -> Cursor {
        let counts = self.share();
        let order = if first_seen { Order::FirstSeen } else { Order::Canonical };
        let references = py.detach(|| counts.inventory(order, 1).into_references());
        Cursor { counts, references: Mutex::new((references, 0)) }
    }
}

/// Reads counts in an order, some words at a time.
#[pyclass(frozen, module = "jogak._core")]
pub struct Cursor {
    counts: Arc<count::Counts>,
    /// All words in order, and how many were read.
    references: Mutex<(Vec<u64>, usize)>,
}

#[pymethods]
impl Cursor {
    /// The next `n` words with their counts; fewer at the end.
    fn next<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let mut guard = self.references.lock().unwrap_or_else(PoisonError::into_inner);
        let (references, read) = &mut *guard;
        let some: Vec<u64> = references[*read..].iter().take(n).copied().collect();
        *read += some.len();
        let inventory = Inventory::from_references(&self.counts, some);
        let pair = |(word, count)| {
            let word = PyString::from_bytes(py, word)?;
            (word, count).into_pyobject(py)
        };
        inventory.iter().map(pair).collect()
    }
}

/// What to do about a document that cannot be read, by its name.
pub(crate) fn errors(name: &str) -> Errors {
    match name {
        "replace" => Errors::Replace,
        "skip" => Errors::Skip,
        _ => Errors::Strict,
    }
}

/// What Python says about counting.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request<'py> {
    normalizer: Bound<'py, PyAny>,
    pretokenizer: Bound<'py, PyAny>,
    errors: String,
    keep_order: bool,
    min_word_length: usize,
    threads: Option<NonZero<usize>>,
    block_size: Option<usize>,
    progress: Option<Py<PyAny>>,
}

impl Request<'_> {
    fn options(&self) -> Options {
        let default = Options::default();
        Options {
            errors: errors(&self.errors),
            keep_order: self.keep_order,
            min_word_length: self.min_word_length,
            threads: self.threads,
            block_size: self.block_size.unwrap_or(default.block_size),
        }
    }

    fn words(&self) -> PyResult<Prepare> {
        let py = self.pretokenizer.py();
        let rules = parse_normalizer(&self.normalizer)?;
        let schemes = parse_pretokenizer(&self.pretokenizer)?;
        Prepare::new(&rules, &schemes)
            .map_err(|error| core_error(py, &error, &error.to_string(), None))
    }
}

/// The first exception of a run; it stops the run.
struct Stop {
    progress: Arc<Progress>,
    error: Mutex<Option<PyErr>>,
    callback: Option<Py<PyAny>>,
}

impl Stop {
    fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { progress: Arc::default(), error: Mutex::default(), callback }
    }

    fn with(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.progress.cancel();
    }

    /// Looks for signals and reports progress.
    fn tick(&self, progress: &Progress) {
        let ticked = Python::attach(|py| {
            py.check_signals()?;
            if let Some(callback) = &self.callback {
                callback.call1(py, (progress.done(), progress.total()))?;
            }
            Ok(())
        });
        if let Err(error) = ticked {
            self.with(error);
        }
    }

    /// What a run came to: the exception that stopped it goes before what it caused.
    fn finish<'py>(
        self,
        py: Python<'py>,
        result: jogak_corpus::Result<(count::Counts, Report)>,
    ) -> PyResult<(Counts, Bound<'py, PyDict>)> {
        if let Some(error) = self.error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let (counts, report) = result.map_err(|error| corpus_error(py, error))?;
        if let Some(callback) = &self.callback {
            callback.call1(py, (self.progress.done(), self.progress.total()))?;
        }
        Ok((Counts::new(counts), report_dict(py, &report)?))
    }
}

pub(crate) fn report_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("files", report.files)?;
    dict.set_item("documents", report.documents)?;
    dict.set_item("bytes", report.bytes)?;
    dict.set_item("empty_documents", report.empty_documents)?;
    dict.set_item("replaced", report.replaced)?;
    dict.set_item("skipped_documents", report.skipped_documents)?;
    dict.set_item("skipped_bytes", report.skipped_bytes)?;
    dict.set_item("short_words", report.short_words)?;
    Ok(dict)
}

/// Counts the words of files.
#[pyfunction]
pub fn count_sources<'py>(
    py: Python<'py>,
    sources: Vec<PlainSource<'py>>,
    request: Request<'py>,
) -> PyResult<(Counts, Bound<'py, PyDict>)> {
    let sources: Vec<Source> = sources.into_iter().map(source).collect::<PyResult<_>>()?;
    let (words, options) = (request.words()?, request.options());
    let stop = Stop::new(request.progress);
    let result = py.detach(|| {
        let mut tick = |progress: &Progress| stop.tick(progress);
        jogak_corpus::count_sources(sources, &words, &options, &stop.progress, &mut tick)
    });
    stop.finish(py, result)
}

/// A file as Python names it: `(name, path | file object | None for stdin, format, argument)`.
pub(crate) type PlainSource<'py> = (String, Option<Bound<'py, PyAny>>, String, String);

pub(crate) fn source((name, input, format, argument): PlainSource<'_>) -> PyResult<Source> {
    let input = match input {
        None => Input::Stdin,
        Some(input) if input.hasattr("read")? => Input::Stream(Box::new(PythonFile {
            file: input.unbind(),
            rest: io::Cursor::default(),
        })),
        Some(path) => Input::Path(path.extract::<PathBuf>()?),
    };
    let format = match format.as_str() {
        "line" => Format::Text(Split::Line { keep_newline: argument == "keep" }),
        "file" => Format::Text(Split::File),
        "separator" => Format::Text(Split::Separator(argument)),
        "jsonl" => Format::Jsonl { field: argument },
        "csv" => Format::Csv { column: argument },
        "tsv" => Format::Tsv { column: argument },
        _ => return Err(PyTypeError::new_err(format!("format {format:?}"))),
    };
    Ok(Source { name, input, format })
}

/// A Python object with `read`, binary or text.
struct PythonFile {
    file: Py<PyAny>,
    rest: io::Cursor<Vec<u8>>,
}

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.rest.read(buffer)?;
        if n > 0 {
            return Ok(n);
        }
        let size = buffer.len();
        let bytes = Python::attach(|py| {
            let read = self.file.bind(py).call_method1("read", (size,))?;
            let mut bytes = Vec::new();
            with_bytes(&read, |text| bytes.extend_from_slice(text)).unwrap_or_else(|| {
                let kind = read.get_type();
                Err(PyTypeError::new_err(format!("read() gave {kind}; expected bytes or str")))
            })?;
            Ok::<_, PyErr>(bytes)
        });
        self.rest = io::Cursor::new(bytes.map_err(io::Error::other)?);
        self.rest.read(buffer)
    }
}

/// Calls `with` with the bytes of a str or bytes object; None for anything else. Halves of surrogate
/// pairs pass as the three bytes that they are, so that they are treated as broken UTF-8 is.
fn with_bytes(object: &Bound<'_, PyAny>, with: impl FnOnce(&[u8])) -> Option<PyResult<()>> {
    if let Ok(text) = object.cast::<PyString>() {
        return Some(match text.to_str() {
            Ok(text) => {
                with(text.as_bytes());
                Ok(())
            }
            Err(_) => text.call_method1("encode", ("utf-8", "surrogatepass")).and_then(|bytes| {
                with(bytes.cast::<PyBytes>()?.as_bytes());
                Ok(())
            }),
        });
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        with(bytes.as_bytes());
        return Some(Ok(()));
    }
    let bytes = object.cast::<PyByteArray>().ok()?;
    with(&bytes.to_vec());
    Some(Ok(()))
}

/// Counts the words of documents that an iterable gives: str or bytes.
#[pyfunction]
pub fn count_documents<'py>(
    py: Python<'py>,
    documents: Bound<'py, PyAny>,
    request: Request<'py>,
) -> PyResult<(Counts, Bound<'py, PyDict>)> {
    let documents: Py<PyIterator> = documents.try_iter()?.unbind();
    let (words, options) = (request.words()?, request.options());
    let stop = Stop::new(request.progress);
    let mut number = 0_u64;
    let result = py.detach(|| {
        let mut tick = |progress: &Progress| stop.tick(progress);
        let mut fill = |batch: &mut Batch| {
            let filled = Python::attach(|py| pull(documents.bind(py), batch, &mut number));
            filled.unwrap_or_else(|error| {
                stop.with(error);
                false
            })
        };
        jogak_corpus::count_documents(&mut fill, &words, &options, &stop.progress, &mut tick)
    });
    stop.finish(py, result)
}

/// Fills a batch; false at the end.
fn pull(documents: &Bound<'_, PyIterator>, batch: &mut Batch, number: &mut u64) -> PyResult<bool> {
    let py = documents.py();
    let mut documents = documents.clone();
    while !batch.is_full() {
        let Some(document) = documents.next() else { return Ok(false) };
        let document = document?;
        match with_bytes(&document, |bytes| batch.push(bytes)) {
            Some(pushed) => pushed?,
            None => {
                let kind = document.get_type().name()?;
                let message = format!("document {number} is of type {kind}; expected str or bytes");
                return Err(raise(py, "CorpusError", (message,)));
            }
        }
        *number += 1;
        if number.is_multiple_of(1024) {
            py.check_signals()?;
        }
    }
    Ok(true)
}
