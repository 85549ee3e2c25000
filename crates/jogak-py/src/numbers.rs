//! The numbers of a list of Python, and those of a string: its code points, and a string of such.
//!
//! Rule: the only room with `unsafe` on this side of the core, and nothing else in it.
//!
//! In words, of a list: take every object of the list, and ask it for its number. To take one is to count its references up
//! and down, which writes to memory that was only to be read: most of the time of decoding a list went there. Where
//! one lock holds Python still, objects are looked at where they lie. Without it, somebody could take one out of the
//! list meanwhile, and lists are read as any other sequence is (`Vec::extract`): the twin.
//!
//! To ask Python for an object, and for its number, are two calls, which took more time than to copy the text of an id. The
//! versions of CPython that are known keep lists and numbers alike, so a number is a look at the object ([`Form`]). In any
//! other version, and of an object that does not look like a number of one digit, Python is asked.

use std::cell::Cell;

use jogak::decode::Ids;
use pyo3::PyTypeInfo;
use pyo3::ffi::{
    PyList_GetItem, PyLong_AsUnsignedLongLong, PyObject, PyTypeObject, PyUnicode_AsUCS4,
    PyUnicode_FromWideChar, PyUnicode_ReadChar,
};
use pyo3::marker::Ungil;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyString};

/// Reads a list of whole numbers from 0 to 4294967295 behind others; false if something else is in it, or if it cannot
/// be read so, and then some of them may have been read. Cost: two calls of Python for a number that is not read where it
/// lies.
pub(crate) fn read_list(list: &Bound<'_, PyList>, found: &mut Vec<u32>) -> bool {
    if cfg!(Py_GIL_DISABLED) {
        return false;
    }
    let (length, before) = (list.len(), found.len());
    found.resize(before + length, 0);
    let numbers = &mut found[before..];
    // To ask runs no Python code either.
    let objects = Objects::of(list);
    let mut index = 0;
    for slot in numbers {
        let lies = objects.as_ref().and_then(|objects| objects.number(index));
        let Some(number) = lies.or_else(|| ask(list, index)) else { break };
        *slot = number;
        index += 1;
    }
    found.truncate(before + index);
    index == length
}

/// Whether numbers are read where they lie.
pub(crate) fn are_known(py: Python<'_>) -> bool {
    !cfg!(Py_GIL_DISABLED) && Form::of_this(py).is_some()
}

/// The number in a place of a list, if it is from 0 to 4294967295.
#[expect(
    unsafe_code,
    reason = "PyO3 lends nothing of a list, and counting references takes as long as all the rest of decoding"
)]
fn ask(list: &Bound<'_, PyList>, index: usize) -> Option<u32> {
    // SAFETY: it is a list, the interpreter is attached, and its lock is held. The object stays in the list until
    // Python code runs, and neither call runs any: both answer a wrong place, or an object that is no number,
    // with an error.
    let number =
        unsafe { PyLong_AsUnsignedLongLong(PyList_GetItem(list.as_ptr(), index as isize)) };
    // An error has the greatest number.
    let number = u32::try_from(number).ok();
    if number.is_none() {
        drop(PyErr::take(list.py()));
    }
    number
}

/// What every object begins with.
#[repr(C)]
struct Head {
    references: isize,
    kind: *mut PyTypeObject,
}

#[repr(C)]
struct List {
    head: Head,
    length: isize,
    objects: *const *const Number,
}

/// A whole number of one digit, which has 30 bits; it has a digit even if it is 0.
#[repr(C)]
struct Number {
    head: Head,
    /// How many digits there are, and the sign.
    form: usize,
    digit: u32,
}

/// The versions of CPython that keep lists and numbers so.
const KNOWN: std::ops::RangeInclusive<(u8, u8)> = (3, 10)..=(3, 14);
/// What one digit does not hold.
const BEYOND: i64 = 1 << 30;

/// What [`Number::form`] is of 0, of 1 to 256, and of all others of one digit that are not negative. What it says is not
/// the same in all versions (3.12 put the sign beside the number of digits, 3.14 what is kept for good), and is found out.
#[derive(Debug, Clone, Copy)]
struct Form {
    zero: usize,
    small: usize,
    great: usize,
}

impl Form {
    /// The form of numbers in this Python, if they are kept as is known.
    fn of_this(py: Python<'_>) -> Option<Self> {
        static FOUND: PyOnceLock<Option<Form>> = PyOnceLock::new();
        *FOUND.get_or_init(py, || Self::find(py))
    }

    fn find(py: Python<'_>) -> Option<Self> {
        let version = py.version_info();
        let known = KNOWN.contains(&(version.major, version.minor));
        if !known || cfg!(any(not(target_pointer_width = "64"), PyPy, GraalPy)) {
            return None;
        }
        let form = |number| Some(look(&PyInt::new(py, number))?.0);
        let forms = Self { zero: form(0)?, small: form(1)?, great: form(257)? };
        let agrees = |&number: &i64| {
            let expected = u32::try_from(number).ok().filter(|_| number < BEYOND);
            look(&PyInt::new(py, number))
                .is_some_and(|(form, digit)| forms.number(form, || digit) == expected)
        };
        let numbers = [BEYOND - 1, 1 << 20, 1 << 15, 257, 256, 7, 1, 0];
        let others = [-1, -256, -257, 1 - BEYOND, -BEYOND, BEYOND, BEYOND + 7, 1 << 32, i64::MAX];
        numbers.iter().chain(&others).all(agrees).then_some(forms)
    }

    /// The number of this form that has this digit; none if it has others.
    #[inline(always)]
    fn number(self, form: usize, digit: impl FnOnce() -> u32) -> Option<u32> {
        if form == self.great || form == self.small {
            Some(digit())
        } else {
            (form == self.zero).then_some(0)
        }
    }
}

/// The objects of a list, looked at where they lie. Of use as long as the interpreter's lock is held and no Python code
/// runs: then the list stays what it is.
struct Objects {
    first: *const *const Number,
    count: usize,
    kind: *mut PyTypeObject,
    form: Form,
}

impl Objects {
    /// Those of a list, if lists are kept as is known.
    #[expect(unsafe_code, reason = "PyO3 lends nothing of a list")]
    fn of(list: &Bound<'_, PyList>) -> Option<Self> {
        if cfg!(Py_GIL_DISABLED) {
            return None;
        }
        let form = Form::of_this(list.py())?;
        let (count, kind) = (list.len(), PyInt::type_object_raw(list.py()));
        // SAFETY: it is a list, kept as is known ([`Form::find`]).
        let first = unsafe { (*list.as_ptr().cast::<List>()).objects };
        Some(Self { first, count, kind, form })
    }

    /// The number in a place, if there is one of such a form.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "two calls a number take longer than what it stands for; the twin is what asks Python"
    )]
    fn number(&self, index: usize) -> Option<u32> {
        if index >= self.count {
            return None;
        }
        // SAFETY: the list has so many objects, each of which begins with its head. (Nothing stands in a place of a list
        // that is being made.) A number of such a form has a digit, which is looked at only then.
        unsafe {
            let object = *self.first.add(index);
            if object.is_null() || (*object).head.kind != self.kind {
                return None;
            }
            self.form.number((*object).form, || (*object).digit)
        }
    }

    /// Asks for the memory of the number in a place, if there is one.
    #[inline(always)]
    #[expect(unsafe_code, reason = "memory that comes while other work is done is not waited for")]
    fn ask_ahead(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        if index < self.count {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: the list has so many objects, and nothing is read of this one.
            unsafe { _mm_prefetch::<_MM_HINT_T0>((*self.first.add(index)).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }
}

/// Longer lists are read before they are decoded, as others may have the interpreter meanwhile.
const LONGEST: usize = 1 << 13;
/// The memory of a number is asked for so many places ahead.
const AHEAD: usize = 128;

/// The numbers of a list, each read when it is decoded, and those farther on asked for ahead: so memory is waited for
/// and texts are copied at the same time.
pub(crate) struct Reading {
    objects: Objects,
    /// Something that cannot be read so was asked for.
    is_broken: Cell<bool>,
}

impl Ids for Reading {
    fn count(&self) -> usize {
        self.objects.count
    }

    #[inline(always)]
    fn id(&self, place: usize) -> Option<u32> {
        self.objects.ask_ahead(place + AHEAD);
        let id = self.objects.number(place);
        if id.is_none() && place < self.objects.count {
            self.is_broken.set(true);
        }
        id
    }
}

/// What `decode` makes of the numbers of a list; none if it is no list, or too long, or if something in it is no number
/// that can be read so.
///
/// `decode` has nothing of Python, so no Python code runs meanwhile, which could change the list.
pub(crate) fn read_along<R>(
    ids: &Bound<'_, PyAny>,
    decode: impl FnOnce(&Reading) -> R + Ungil,
) -> Option<R> {
    let list = ids.cast::<PyList>().ok().filter(|list| list.len() <= LONGEST)?;
    let reading = Reading { objects: Objects::of(list)?, is_broken: Cell::new(false) };
    for index in 0..AHEAD {
        reading.objects.ask_ahead(index);
    }
    let decoded = decode(&reading);
    (!reading.is_broken.get()).then_some(decoded)
}

/// The form and the first digit of a number, if its head is where it is thought to be.
#[expect(unsafe_code, reason = "this is how it is found out whether numbers are kept as is known")]
fn look(number: &Bound<'_, PyInt>) -> Option<(usize, u32)> {
    let object = number.as_ptr().cast::<Number>();
    // SAFETY: all known versions of CPython give a number as much memory as this, if it was made of one of C's.
    let (kind, form, digit) = unsafe { ((*object).head.kind, (*object).form, (*object).digit) };
    (kind == PyInt::type_object_raw(number.py())).then_some((form, digit))
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

/// The code point of a character of a string, if there is one.
#[expect(unsafe_code, reason = "PyO3 has no such function")]
pub(crate) fn read_point(text: &Bound<'_, PyString>, at: usize) -> Option<u32> {
    // SAFETY: it is a string, and the interpreter is attached. Where there is no such character, it is an error.
    let point = unsafe { PyUnicode_ReadChar(text.as_ptr(), at as isize) };
    if point == u32::MAX {
        drop(PyErr::take(text.py()));
    }
    (point != u32::MAX).then_some(point)
}

/// How many bytes a wide character of C has: the type that this function of Python takes.
const fn width<W>(_: unsafe extern "C" fn(*const W, isize) -> *mut PyObject) -> usize {
    size_of::<W>()
}

/// Whether wide characters are code points. On Windows they have 16 bits.
pub(crate) const WIDE: bool = width(PyUnicode_FromWideChar) == size_of::<u32>();

/// A string of code points; none if they are not characters, where C's wide characters are not code points, or without
/// memory. The twin is a string of UTF-8.
#[expect(unsafe_code, reason = "PyO3 makes strings of UTF-8 alone, which Python reads slowly")]
pub(crate) fn string_of<'py>(py: Python<'py>, points: &[u32]) -> Option<Bound<'py, PyString>> {
    if !WIDE {
        return None;
    }
    // SAFETY: the interpreter is attached, there are so many points, each as large as a wide character, and Python
    // copies them. It gives a new reference, or nothing and an error.
    let made = unsafe {
        let made = PyUnicode_FromWideChar(points.as_ptr().cast(), points.len() as isize);
        Bound::from_owned_ptr_or_opt(py, made)
    };
    if made.is_none() {
        drop(PyErr::take(py));
    }
    made?.cast_into().ok()
}
