//! Ids as lists of Python's whole numbers, and as lines of text.
//!
//! In words: to make a number, Python asks for memory and writes it, which takes longer than to encode the text that an id
//! stands for. A number never changes, so each is made once and handed out again: a list takes 8 bytes an id then, not 40.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard};

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList};

use crate::ids::{ids_of, ranges_of};

/// Numbers below this are kept: all ids of nearly all models, 10 MiB if all of them come.
const KEPT: usize = 1 << 18;

/// The numbers that were handed out, each in its place. Never waited for: who finds them taken makes new ones.
static MADE: Mutex<Vec<Option<Py<PyInt>>>> = Mutex::new(Vec::new());

/// Who makes numbers, one after the other.
struct Numbers<'py> {
    py: Python<'py>,
    made: Option<MutexGuard<'static, Vec<Option<Py<PyInt>>>>>,
}

impl<'py> Numbers<'py> {
    fn new(py: Python<'py>) -> Self {
        // Without one lock, threads would count references to the same numbers, and wait for each other.
        let made = if cfg!(Py_GIL_DISABLED) { None } else { MADE.try_lock().ok() };
        Self { py, made }
    }

    #[inline]
    fn number(&mut self, id: u32) -> Py<PyInt> {
        let Some(made) = self.made.as_mut().filter(|_| (id as usize) < KEPT) else {
            return new(self.py, id);
        };
        if id as usize >= made.len() {
            made.resize_with(id as usize + 1, || None);
        }
        made[id as usize].get_or_insert_with(|| new(self.py, id)).clone_ref(self.py)
    }

    fn list(&mut self, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        PyList::new(self.py, ids.iter().map(|&id| self.number(id)))
    }
}

fn new(py: Python<'_>, id: u32) -> Py<PyInt> {
    let Ok(number) = id.into_pyobject(py);
    number.unbind()
}

/// Ids as a list.
pub(crate) fn list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
    Numbers::new(py).list(ids)
}

/// Some lists of ids.
pub(crate) fn lists<'py>(py: Python<'py>, all: &[Vec<u32>]) -> PyResult<Vec<Bound<'py, PyList>>> {
    let mut numbers = Numbers::new(py);
    all.iter().map(|ids| numbers.list(ids)).collect()
}

/// The ids of a batch as a list for each text.
#[pyfunction]
pub(crate) fn id_lists<'py>(
    py: Python<'py>,
    ids: &Bound<'py, PyAny>,
    offsets: PyReadonlyArray1<'py, i64>,
) -> PyResult<Vec<Bound<'py, PyList>>> {
    let ids = ids_of(ids)?;
    let ranges = ranges_of(&offsets, ids.len())?;
    let mut numbers = Numbers::new(py);
    ranges.into_iter().map(|range| numbers.list(&ids[range])).collect()
}

/// The ids of a batch as text: for each text a line of its ids with spaces between, what `written` has for them or else numbers.
#[pyfunction]
pub(crate) fn id_lines<'py>(
    py: Python<'py>,
    ids: &Bound<'py, PyAny>,
    offsets: PyReadonlyArray1<'py, i64>,
    written: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let ids = ids_of(ids)?;
    // Asked once for each id that occurs.
    let mut known: HashMap<u32, Bound<'py, PyBytes>> = HashMap::new();
    let mut lines = Vec::new();
    for range in ranges_of(&offsets, ids.len())? {
        for (at, &id) in ids[range].iter().enumerate() {
            if at > 0 {
                lines.push(b' ');
            }
            let Some(written) = &written else {
                number(id, &mut lines);
                continue;
            };
            let one = match known.entry(id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(written.get_item(id)?.cast_into()?),
            };
            lines.extend_from_slice(one.as_bytes());
        }
        lines.push(b'\n');
    }
    Ok(PyBytes::new(py, &lines))
}

/// Writes a number behind what is there.
fn number(mut number: u32, lines: &mut Vec<u8>) {
    let mut digits = [0; 10];
    let mut first = digits.len();
    while first == digits.len() || number > 0 {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    lines.extend_from_slice(&digits[first..]);
}
