//! Ids that Python has: lists, arrays and other sequences of numbers, and batches of them.

use std::ops::Range;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyTuple};

use crate::errors::raise;
use crate::numbers::read_list;
use crate::tokenizer::in_list;

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

/// Where each list of a batch lies among so many ids.
pub(crate) fn ranges_of(
    offsets: &PyReadonlyArray1<'_, i64>,
    count: usize,
) -> PyResult<Vec<Range<usize>>> {
    let offsets: Vec<usize> =
        offsets.as_array().iter().map(|&at| usize::try_from(at).unwrap_or(usize::MAX)).collect();
    let ranges: Vec<_> = offsets.windows(2).map(|pair| pair[0]..pair[1]).collect();
    if ranges.iter().any(|range| range.start > range.end || range.end > count) {
        let message = format!(
            "the offsets of a batch go beyond its {count} ids, or backwards; expected them to grow"
        );
        return Err(raise("DecodeError", message, &[]));
    }
    Ok(ranges)
}

/// The lists of a batch, one after the other.
pub(crate) enum Lists<'py> {
    /// Each a list or an array; how many have come.
    Each(Bound<'py, PyIterator>, usize),
    /// All in one array.
    Array(PyReadonlyArray1<'py, u32>, std::vec::IntoIter<Range<usize>>),
    /// The same, of other numbers.
    Copied(Vec<u32>, std::vec::IntoIter<Range<usize>>),
}

impl<'py> Lists<'py> {
    /// Those of a batch, and about how many ids they have; with offsets, they stand in one array.
    pub(crate) fn of(
        batch: &Bound<'py, PyAny>,
        offsets: Option<&PyReadonlyArray1<'py, i64>>,
    ) -> PyResult<(Self, usize)> {
        let Some(offsets) = offsets else {
            return Ok((Self::Each(batch.try_iter()?, 0), about(batch)));
        };
        if let Ok(array) = batch.cast::<PyArray1<u32>>() {
            let array = array.readonly();
            if array.as_slice().is_ok() {
                let count = array.len()?;
                return Ok((Self::Array(array, ranges_of(offsets, count)?.into_iter()), count));
            }
        }
        let ids = ids_of(batch)?;
        let (count, ranges) = (ids.len(), ranges_of(offsets, ids.len())?);
        Ok((Self::Copied(ids, ranges.into_iter()), count))
    }

    /// Appends the ids of the next list, and says whether there was one.
    pub(crate) fn next(&mut self, into: &mut Vec<u32>) -> PyResult<bool> {
        let (ids, range) = match self {
            Self::Each(lists, come) => {
                let Some(list) = lists.next().transpose()? else { return Ok(false) };
                ids_into(&list, into).map_err(|error| in_list(*come, error))?;
                *come += 1;
                return Ok(true);
            }
            // Asked each time, as Python may have changed it meanwhile.
            Self::Array(ids, ranges) => (ids.as_slice()?, ranges.next()),
            Self::Copied(ids, ranges) => (&**ids, ranges.next()),
        };
        let Some(range) = range else { return Ok(false) };
        into.extend_from_slice(ids.get(range).unwrap_or_default());
        Ok(true)
    }
}

/// About how many ids the lists of a batch have, if it is known before they come.
fn about(batch: &Bound<'_, PyAny>) -> usize {
    let lengths = |items: &mut dyn Iterator<Item = Bound<'_, PyAny>>| {
        items.map(|list| list.len().unwrap_or(0)).fold(0, usize::saturating_add)
    };
    if let Ok(lists) = batch.cast::<PyList>() {
        lengths(&mut lists.iter())
    } else if let Ok(lists) = batch.cast::<PyTuple>() {
        lengths(&mut lists.iter())
    } else {
        usize::MAX
    }
}
