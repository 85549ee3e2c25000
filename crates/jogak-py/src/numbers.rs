//! The numbers of a list of Python, and those of a string: its code points.
//!
//! Rule: the only room with `unsafe` on this side of the core, and nothing else in it.
//!
//! In words, of a list: take every object of the list, and ask it for its number. To take one is to count its references up
//! and down, which writes to memory that was only to be read: most of the time of decoding a list went there. Where
//! one lock holds Python still, objects are looked at where they lie. Without it, somebody could take one out of the
//! list meanwhile, and lists are read as any other sequence is (`Vec::extract`): the twin.

use pyo3::ffi::{PyList_GetItem, PyLong_AsUnsignedLongLong, PyUnicode_AsUCS4};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// Reads a list of whole numbers from 0 to 4294967295 behind others; false if something else is in it, or if it cannot
/// be read so, and then some of them may have been read. Cost: two calls of Python a number.
#[expect(
    unsafe_code,
    reason = "PyO3 lends nothing of a list, and counting references takes as long as all the rest of decoding"
)]
pub(crate) fn read_list(list: &Bound<'_, PyList>, found: &mut Vec<u32>) -> bool {
    if cfg!(Py_GIL_DISABLED) {
        return false;
    }
    found.reserve(list.len());
    for index in 0..list.len() as isize {
        // SAFETY: it is a list, the interpreter is attached, and its lock is held. The object stays in the list until
        // Python code runs, and neither call runs any: both answer a wrong place, or an object that is no number,
        // with an error.
        let number = unsafe { PyLong_AsUnsignedLongLong(PyList_GetItem(list.as_ptr(), index)) };
        // An error has the greatest number.
        let Ok(number) = u32::try_from(number) else {
            drop(PyErr::take(list.py()));
            return false;
        };
        found.push(number);
    }
    true
}

/// Copies the code points of a string, one behind the other. False if there is not room for all of them.
#[expect(
    unsafe_code,
    reason = "PyO3 knows strings as UTF-8 alone, which Python makes slowly, and keeps"
)]
pub(crate) fn read_points(text: &Bound<'_, PyString>, room: &mut [u32]) -> bool {
    // SAFETY: it is a string, the interpreter is attached, and no more is written than there is room for: without room for
    // all, it is an error. The last argument asks for no zero behind them.
    let written =
        unsafe { PyUnicode_AsUCS4(text.as_ptr(), room.as_mut_ptr(), room.len() as isize, 0) };
    if written.is_null() {
        drop(PyErr::take(text.py()));
    }
    !written.is_null()
}
