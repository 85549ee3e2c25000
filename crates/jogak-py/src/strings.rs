//! Strings of Python: made of UTF-8, and read as it.
//!
//! In words: a string of Python is code points. Asked for its UTF-8, Python makes it character by character, holding
//! everybody, and keeps it as long as the string. That pays if somebody asks again, and most texts are read once: so a long
//! one is copied as code points first, of which UTF-8 is made here, and Python is asked when it comes a second time.
//!
//! Which way a text goes is never seen in a result.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use jogak::Error;
use jogak::decode::{Text as Decoded, as_text};
use jogak::pipeline::EASTERN;
use jogak::utf8::{Read, Room, code_points, wide_characters};
use pyo3::exceptions::PyMemoryError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::numbers::{read_point, read_points, string_of};

/// Of strings with fewer or more characters Python is asked for UTF-8 at once: what there is to be gained, or how much
/// memory the code points take, is not worth it.
const COPIED: std::ops::RangeInclusive<usize> = 1 << 8..=1 << 18;

/// How many characters a string has, if it is to be read by [`copied`] rather than as UTF-8: it is long, has others than
/// ASCII, and does not seem to have come before. If code points `stay` what they are, no matter how often, in East Asia.
pub(crate) fn to_copy(text: &Bound<'_, PyString>, stay: bool) -> Option<usize> {
    // Who inherits from `str` may say anything.
    if !text.is_exact_instance_of::<PyString>() {
        return None;
    }
    let count = text.len().ok().filter(|count| COPIED.contains(count))?;
    if stay && is_eastern(text, count) {
        return Some(count);
    }
    if came_before(text.as_ptr() as usize, count) {
        return None;
    }
    let is_ascii = text.call_method0(intern!(text.py(), "isascii")).ok()?;
    (!is_ascii.is_truthy().ok()?).then_some(count)
}

/// How many characters a string of so many bytes has, if it was to be copied when it came the first time.
pub(crate) fn was_to_copy(text: &Bound<'_, PyString>, bytes: usize) -> Option<usize> {
    if !text.is_exact_instance_of::<PyString>() {
        return None;
    }
    text.len().ok().filter(|&count| count != bytes && COPIED.contains(&count))
}

/// So many characters are looked at to tell what a string is written in.
const SOME: usize = 16;

/// Whether most of the characters of a string of so many seem to be of East Asia.
fn is_eastern(text: &Bound<'_, PyString>, count: usize) -> bool {
    let some = (0..SOME).filter_map(|number| read_point(text, count / SOME * number));
    some.filter(|&point| point >= EASTERN).count() >= SOME / 2
}

/// Bits of a hash that say where a string is marked.
const PLACES: u32 = 16;
/// Strings that came last, by where they lie and how long they are. A false mark, or one that is lost, costs time alone.
static CAME: [AtomicU32; 1 << PLACES] = [const { AtomicU32::new(0) }; 1 << PLACES];

/// Whether a string of this address and length has come before; it has now.
fn came_before(address: usize, count: usize) -> bool {
    let hash = (address as u64 ^ (count as u64) << 48).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    // Nothing is marked with 0.
    let mark = hash as u32 | 1;
    CAME[(hash >> (64 - PLACES)) as usize].swap(mark, Ordering::Relaxed) == mark
}

/// The text of a string with so many characters.
///
/// # Errors
/// [`Error::NoText`].
pub(crate) fn copied(text: &Bound<'_, PyString>, count: usize) -> Result<String, Error> {
    let mut room = Room::default();
    if !read_points(text, room.points(count)) {
        return Err(Error::NoText);
    }
    match *room.texts([count], |_| None).map_err(|(_, error)| error)? {
        [Read::Utf8(text)] => Ok(text.to_owned()),
        _ => Err(Error::NoText),
    }
}

/// The code points of a text, if they may stay what they are: as [`to_copy`] has it for texts of East Asia.
pub(crate) fn eastern_points(text: &Bound<'_, PyAny>) -> Option<Vec<u32>> {
    let text = text.cast_exact::<PyString>().ok()?;
    let count = text.len().ok().filter(|count| COPIED.contains(count))?;
    if !is_eastern(text, count) {
        return None;
    }
    let mut points = vec![0; count];
    read_points(text, &mut points).then_some(points)
}

thread_local! {
    /// Room for the code points of a string.
    static POINTS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
    /// Room for a text before it is a string.
    static TEXT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// So much room at most is kept of each, in numbers and in bytes.
const KEPT: usize = 1 << 16;

/// A string of the bytes that `write` gives. It gets memory for them: what would be free again between one string and
/// the next is a hole that the one behind it may not fit.
///
/// # Errors
/// As `write`.
pub(crate) fn written<'py, E>(
    py: Python<'py>,
    write: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, E>,
) -> Result<Bound<'py, PyString>, E> {
    let text = write(TEXT.take())?;
    let made = string(py, &text);
    if text.capacity() <= KEPT {
        TEXT.set(text);
    }
    Ok(made)
}

/// Bytes as a string; what is no UTF-8 is replaced.
///
/// Python reads UTF-8 character by character, which for Korean takes longer than decoding its ids. Where that is so,
/// it gets the code points, which it has but to copy.
fn string<'py>(py: Python<'py>, text: &[u8]) -> Bound<'py, PyString> {
    let text = as_text(text);
    let wide = wide_characters(&text).and_then(|characters| {
        let mut points = POINTS.take();
        points.resize(characters.max(points.len()), 0);
        code_points(&text, &mut points[..characters]);
        let made = string_of(py, &points[..characters]);
        if points.len() <= KEPT {
            POINTS.set(points);
        }
        made
    });
    wide.unwrap_or_else(|| PyString::new(py, &text))
}

/// A text of a batch as a string.
///
/// # Errors
/// There is no memory for it.
pub(crate) fn string_of_text<'py>(
    py: Python<'py>,
    text: Decoded<'_>,
) -> PyResult<Bound<'py, PyString>> {
    match text {
        Decoded::Utf8(text) => Ok(PyString::new(py, text)),
        Decoded::Points(points) => {
            string_of(py, points).ok_or_else(|| PyMemoryError::new_err("no memory for a text"))
        }
    }
}
