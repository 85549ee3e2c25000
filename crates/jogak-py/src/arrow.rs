//! Ids of many texts as an Arrow array, handed over by the PyCapsule interface.

use std::ffi::CStr;

use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// A `large_list<uint32>` of `ids` cut at `offsets`, as (schema, array) capsules. Copies the ids.
#[pyfunction]
pub(crate) fn arrow_list<'py>(
    py: Python<'py>,
    ids: PyReadonlyArray1<'py, u32>,
    offsets: PyReadonlyArray1<'py, i64>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let (schema, array) = list(ids.as_slice()?, offsets.as_slice()?)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((
        PyCapsule::new(py, schema, Some(SCHEMA.to_owned()))?,
        PyCapsule::new(py, array, Some(ARRAY.to_owned()))?,
    ))
}

fn list(ids: &[u32], offsets: &[i64]) -> Result<(FFI_ArrowSchema, FFI_ArrowArray), ArrowError> {
    let item = Field::new("item", DataType::UInt32, false);
    let list = DataType::LargeList(item.into());
    let values = ArrayData::builder(DataType::UInt32)
        .len(ids.len())
        .add_buffer(Buffer::from_slice_ref(ids))
        .build()?;
    let data = ArrayData::builder(list.clone())
        .len(offsets.len().saturating_sub(1))
        .add_buffer(Buffer::from_slice_ref(offsets))
        .add_child_data(values)
        .build()?;
    Ok((FFI_ArrowSchema::try_from(&list)?, FFI_ArrowArray::new(&data)))
}
