//! Texts, and what their special tokens are to be, as Python gives them.

use std::sync::Arc;

use jogak::Error;
use jogak::added::{Chosen, Input, SpecialPolicy};
use jogak::decode::{as_text, code_points, wide_characters};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::errors::{raise, to_py};

/// Some special tokens are parsed, some are refused, the others are text: compiled.
#[pyclass(frozen, name = "Chosen", module = "jogak._core")]
pub(crate) struct PyChosen(pub(crate) Arc<Chosen>);

/// `"text"`, `"parse"`, `"error"` or a choice.
pub(crate) fn policy(special: &Bound<'_, PyAny>) -> PyResult<SpecialPolicy> {
    let name = special.cast::<PyString>().ok().and_then(|name| name.to_str().ok());
    match name {
        Some("text") => Ok(SpecialPolicy::Text),
        Some("parse") => Ok(SpecialPolicy::Parse),
        Some("error") => Ok(SpecialPolicy::Error),
        _ => {
            if let Ok(chosen) = special.cast::<PyChosen>() {
                return Ok(SpecialPolicy::Chosen(Arc::clone(&chosen.get().0)));
            }
            let found = special.repr()?;
            let message = format!("special is {found}; expected 'text', 'parse' or 'error'");
            Err(raise("ConfigError", message, &[]))
        }
    }
}

/// A text that is held while it is read, or several that were joined.
pub(crate) enum Text {
    One(PyBackedStr),
    Joined(String, Vec<(usize, usize)>),
}

impl Text {
    /// A `str`, or a list of `(str, trusted)`. `index` is its number in a batch.
    pub(crate) fn new(text: &Bound<'_, PyAny>, index: Option<usize>) -> PyResult<Self> {
        let held = |text: &Bound<'_, PyString>| {
            PyBackedStr::try_from(text.clone()).map_err(|_| no_utf8(index))
        };
        if let Ok(text) = text.cast::<PyString>() {
            return Ok(Self::One(held(text)?));
        }
        let (mut joined, mut trusted) = (String::new(), Vec::new());
        for (part, is_trusted) in text.extract::<Vec<(Bound<'_, PyString>, bool)>>()? {
            let start = joined.len();
            joined.push_str(&held(&part)?);
            if is_trusted {
                trusted.push((start, joined.len()));
            }
        }
        Ok(Self::Joined(joined, trusted))
    }

    pub(crate) fn input(&self) -> Input<'_> {
        match self {
            Self::One(text) => Input { text, trusted: None },
            Self::Joined(text, trusted) => Input { text, trusted: Some(trusted) },
        }
    }
}

/// Texts of a batch.
pub(crate) fn held(texts: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Text>> {
    texts.iter().enumerate().map(|(index, text)| Text::new(text, Some(index))).collect()
}

/// Whether all are texts: none is a list of parts, or something else.
#[pyfunction]
pub(crate) fn are_texts(texts: &Bound<'_, PyTuple>) -> bool {
    texts.iter_borrowed().all(|text| text.is_instance_of::<PyString>())
}

/// A text of a batch: as Python gave it, or joined of the parts that it gave.
enum GivenText<'t, 'py> {
    Plain(Borrowed<'t, 'py, PyString>),
    Joined(Text),
}

/// Texts of a batch that are read one after the other: to make UTF-8 of them takes a while, in Korean and Chinese, and
/// Python has to be held meanwhile. The tuple keeps them; nobody can change it.
pub(crate) struct Given<'t, 'py>(Vec<GivenText<'t, 'py>>);

impl<'t, 'py> Given<'t, 'py> {
    pub(crate) fn new(texts: &'t Bound<'py, PyTuple>) -> PyResult<Self> {
        let given = |(index, text): (usize, Borrowed<'t, 'py, PyAny>)| {
            text.cast::<PyString>()
                .map(GivenText::Plain)
                .or_else(|_| Text::new(&text, Some(index)).map(GivenText::Joined))
        };
        texts.iter_borrowed().enumerate().map(given).collect::<PyResult<_>>().map(Self)
    }

    pub(crate) fn inputs(&self) -> impl ExactSizeIterator<Item = Result<Input<'_>, Failed>> {
        self.0.iter().enumerate().map(|(index, given)| match given {
            GivenText::Plain(text) => {
                text.to_str().map(Input::from).map_err(|_| Failed::Coming(no_utf8(Some(index))))
            }
            GivenText::Joined(text) => Ok(text.input()),
        })
    }

    /// About how many bytes all have, by how many characters they have, and by the bytes of the first ones.
    pub(crate) fn about_bytes(&self) -> usize {
        let (mut bytes, mut characters, mut all) = (0, 0, 0_usize);
        for given in &self.0 {
            let length = match given {
                // Who inherits from `str` may say anything.
                GivenText::Plain(text) => text.len().unwrap_or(0),
                GivenText::Joined(text) => text.input().text.len(),
            };
            all = all.saturating_add(length);
            if bytes < SAMPLE {
                let text = match given {
                    // What is no UTF-8 is told when its turn comes.
                    GivenText::Plain(text) => text.to_str().unwrap_or_default(),
                    GivenText::Joined(text) => text.input().text,
                };
                bytes += text.len();
                characters += text.chars().count();
            }
        }
        let bytes = all as u128 * bytes as u128 / characters.max(1) as u128;
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}

/// So many bytes tell how many there are to a character.
const SAMPLE: usize = 1 << 12;

/// What is wrong with texts that come one by one.
pub(crate) enum Failed {
    /// One cannot be had.
    Coming(PyErr),
    /// The one with this number cannot be encoded.
    Encoding(usize, Error),
}

impl From<(usize, Error)> for Failed {
    fn from((index, error): (usize, Error)) -> Self {
        Self::Encoding(index, error)
    }
}

impl Failed {
    /// The error; `place` says where a text stands.
    pub(crate) fn told(self, place: impl FnOnce(usize, PyErr) -> PyErr) -> PyErr {
        match self {
            Self::Coming(error) => error,
            Self::Encoding(index, error) => place(index, to_py(error)),
        }
    }
}

pub(crate) fn no_utf8(index: Option<usize>) -> PyErr {
    let which = index.map_or("the text".to_owned(), |index| format!("text {index}"));
    let message = format!(
        "{which} has a surrogate code point (U+D800 to U+DFFF), which is no character; take it out, \
         or replace it with text.encode('utf-8', 'replace').decode()"
    );
    raise("EncodeError", message, &[])
}

/// Texts of fewer bytes are not worth a look at how to make them a string.
const SHORT: usize = 1 << 8;

/// Bytes as a string; what is no UTF-8 is replaced.
///
/// Python reads UTF-8 character by character, which for Korean takes longer than decoding its ids. Where that is so,
/// it gets the code points, which it has but to copy.
pub(crate) fn string<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    let text = as_text(text);
    let characters = if text.len() < SHORT { None } else { wide_characters(&text) };
    let Some(characters) = characters else { return Ok(PyString::new(py, &text)) };
    let points = PyBytes::new_with(py, 4 * (characters + 1), |room| {
        if let ([mark, points @ ..], _) = room.as_chunks_mut::<4>() {
            // The mark says in which order the bytes stand, and is no part of the text.
            *mark = u32::from('\u{FEFF}').to_ne_bytes();
            code_points(&text, points);
        }
        Ok(())
    })?;
    PyString::from_encoded_object(&points, Some(c"utf-32"), None)
}
