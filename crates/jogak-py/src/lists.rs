//! The long lists of jogak's own file for Python, without a Python object for each item.

use std::ops::Range;

use jogak::beside::both;
use jogak_formats::{json, lists};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::pieces::PyIds;
use crate::sections::{WORTH, without};
use crate::vocabulary::Texts;

/// Whole numbers, of which not even the sum without their signs has more than 63 bits.
#[pyclass(frozen, sequence, name = "Integers", module = "jogak._core")]
pub(crate) struct PyIntegers(pub(crate) Vec<i64>);

/// Numbers of a training, as [`PyIntegers`]; those that are larger as a tuple.
pub(crate) fn column<'py, T>(py: Python<'py>, numbers: Vec<T>) -> PyResult<Bound<'py, PyAny>>
where
    T: Copy + TryInto<i64> + IntoPyObject<'py>,
{
    let fits = |sum: i64, number: &T| sum.checked_add((*number).try_into().ok()?.checked_abs()?);
    if numbers.iter().try_fold(0, fits).is_none() {
        return Ok(PyTuple::new(py, numbers)?.into_any());
    }
    let numbers = numbers.into_iter().filter_map(|number| number.try_into().ok()).collect();
    Ok(Bound::new(py, PyIntegers(numbers))?.into_any())
}

#[pymethods]
impl PyIntegers {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__(&self, place: usize) -> PyResult<i64> {
        let number = self.0.get(place).copied();
        number.ok_or_else(|| {
            PyIndexError::new_err(format!("place {place} of {} numbers", self.0.len()))
        })
    }

    /// The least and the largest of them; None where there are none.
    fn bounds(&self) -> Option<(i64, i64)> {
        Some((*self.0.iter().min()?, *self.0.iter().max()?))
    }

    /// The least and the last of the sums that come as one after the other is added to nothing.
    fn sums(&self) -> (i64, i64) {
        self.0.iter().fold((0, 0), |(least, sum), &number| {
            // None is too large: together they have no more than 63 bits.
            let sum = sum + number;
            (least.min(sum), sum)
        })
    }

    /// All of them.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0)
    }
}

/// A list of a file as it was read.
enum List {
    Texts(PyIds),
    Integers(PyIntegers),
    Numbers(Vec<f64>),
}

impl List {
    /// A list of texts and null, of whole numbers, or of numbers, as `kind` says.
    fn read(text: &str, kind: &str) -> Option<Self> {
        match kind {
            "texts" => lists::texts(text)
                .map(|vocab| Self::Texts(PyIds::new(Texts::new(vocab, None), None))),
            "integers" => lists::integers(text).map(|values| Self::Integers(PyIntegers(values))),
            "numbers" => lists::numbers(text).map(Self::Numbers),
            _ => None,
        }
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Self::Texts(ids) => Py::new(py, ids)?.into_any(),
            Self::Integers(values) => Py::new(py, values)?.into_any(),
            Self::Numbers(values) => PyTuple::new(py, values)?.into_any().unbind(),
        })
    }
}

/// What [`read_lists`] gives.
type Lists<'py> = (Bound<'py, PyBytes>, Vec<Option<Py<PyAny>>>);

/// Lists of a file of JSON, each asked for by the names on the way to it and by what is in it (`"texts"` and null:
/// `Ids`; `"integers"`: `Integers`; `"numbers"`: a tuple of them): the file with null in their places, and
/// the lists, None for what is none. None for a file that is left to others.
#[pyfunction]
pub(crate) fn read_lists<'py>(
    data: &Bound<'py, PyBytes>,
    wanted: Vec<(Vec<String>, String)>,
) -> PyResult<Option<Lists<'py>>> {
    let py = data.py();
    let data = data.as_bytes();
    let found = py.detach(|| {
        let text = jogak_formats::text(data)?;
        let paths: Vec<Vec<&str>> =
            wanted.iter().map(|(path, _)| path.iter().map(String::as_str).collect()).collect();
        let paths: Vec<&[&str]> = paths.iter().map(Vec::as_slice).collect();
        let found: Vec<Option<Range<usize>>> = json::fields(text, &paths)?
            .into_iter()
            .map(|found| found.filter(|found| data[found.start] == b'['))
            .collect();
        let read = |one: usize| {
            let range = found[one].clone();
            Some(match range {
                Some(range) => Some(List::read(&text[range], &wanted[one].1)?),
                None => None,
            })
        };
        // The first is about as long as all the others.
        let total: usize = found.iter().flatten().map(Range::len).sum();
        let (first, others) = both(
            total >= WORTH,
            || read(0),
            || (1..found.len()).map(read).collect::<Option<Vec<_>>>(),
        );
        let mut lists = vec![first?];
        lists.extend(others?);
        Some((without(data, found.into_iter().flatten()), lists))
    });
    let Some((rest, lists)) = found else { return Ok(None) };
    let lists = lists
        .into_iter()
        .map(|list| list.map(|list| list.into_python(py)).transpose())
        .collect::<PyResult<_>>()?;
    Ok(Some((PyBytes::new(py, &rest), lists)))
}
