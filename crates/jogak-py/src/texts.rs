//! Texts, and what their special tokens are to be, as Python gives them.

use std::sync::Arc;

use jogak::Error;
use jogak::added::{Chosen, Input, SpecialPolicy};
use jogak::pipeline::{Stretch, Text as OfBatch};
use jogak::utf8::{Read, Room};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PySlice, PyString, PyTuple};

use crate::errors::{Failed, advised, raise};
use crate::numbers::read_points;
use crate::strings::{copied, to_copy, was_to_copy};

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

/// A text that is held while it is read, or a copy, or several that were joined.
pub(crate) enum Text {
    One(PyBackedStr),
    Copied(String),
    Joined(String, Vec<(usize, usize)>),
}

impl Text {
    /// A `str`, or a list of `(str, trusted)`. `index` is its number in a batch.
    pub(crate) fn new(text: &Bound<'_, PyAny>, index: Option<usize>) -> PyResult<Self> {
        let held = |text: &Bound<'_, PyString>| {
            PyBackedStr::try_from(text.clone()).map_err(|_| no_utf8(index))
        };
        if let Ok(text) = text.cast::<PyString>() {
            return match to_copy(text, false) {
                Some(count) => copied(text, count).map(Self::Copied).map_err(|_| no_utf8(index)),
                None => held(text).map(Self::One),
            };
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
            Self::One(text) => Input::from(&**text),
            Self::Copied(text) => Input::from(&**text),
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

/// Texts of a batch. The tuple keeps them; nobody can change it.
pub(crate) struct Given<'t, 'py> {
    tuple: &'t Py<PyTuple>,
    texts: Vec<GivenText<'t, 'py>>,
}

impl<'t, 'py> Given<'t, 'py> {
    pub(crate) fn new(tuple: &'t Bound<'py, PyTuple>) -> PyResult<Self> {
        // All at once: results that may be errors are collected without asking how many there are.
        let mut texts = Vec::with_capacity(tuple.len());
        for (index, text) in tuple.iter_borrowed().enumerate() {
            texts.push(match text.cast::<PyString>() {
                Ok(text) => GivenText::Plain(text),
                Err(_) => GivenText::Joined(Text::new(&text, Some(index))?),
            });
        }
        Ok(Self { tuple: tuple.as_unbound(), texts })
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The texts in stretches of about `size` bytes, less where there is much to copy. What is not to be copied becomes
    /// UTF-8 here, one after the other. Code points may `stay` what they are.
    ///
    /// Who encodes the same texts again gets the same stretches, though less is to be copied then: so each thread meets the
    /// texts whose words it knows.
    pub(crate) fn stretches(
        &self,
        size: usize,
        stay: bool,
    ) -> impl Iterator<Item = Result<TextsOfBatch<'_>, Failed>> {
        let mut texts = self.texts.iter().enumerate();
        std::iter::from_fn(move || {
            let mut stretch =
                TextsOfBatch { tuple: self.tuple, texts: Vec::new(), bytes: 0, points: 0 };
            // As if no text had come before: bytes, and characters to copy.
            let (mut bytes, mut points) = (0, 0);
            while bytes < size
                && points < POINTS
                && let Some((index, text)) = texts.next()
            {
                let (text, was_to_copy) = match text {
                    GivenText::Joined(text) => (OneText::Utf8(text.input()), None),
                    GivenText::Plain(string) => {
                        if let Some(count) = to_copy(string, stay) {
                            (OneText::Points { index, count }, Some(count))
                        } else if let Ok(text) = string.to_str() {
                            (OneText::Utf8(Input::from(text)), was_to_copy(string, text.len()))
                        } else {
                            return Some(Err(Failed::Coming(no_utf8(Some(index)))));
                        }
                    }
                };
                bytes += was_to_copy.map_or(text.about_bytes(), about_bytes);
                points += was_to_copy.unwrap_or(0);
                stretch.bytes += text.about_bytes();
                if let OneText::Points { count, .. } = text {
                    stretch.points += count;
                }
                stretch.texts.push(text);
            }
            (!stretch.texts.is_empty()).then_some(Ok(stretch))
        })
    }

    /// The error of the first text that is no UTF-8, if there is one.
    pub(crate) fn error(&self) -> Option<PyErr> {
        let is_none = |given: &GivenText<'_, '_>| match given {
            GivenText::Plain(text) => text.to_str().is_err(),
            GivenText::Joined(_) => false,
        };
        self.texts.iter().position(is_none).map(|index| no_utf8(Some(index)))
    }

    /// About how many bytes all have, by how many characters they have, and by the first ones of some.
    pub(crate) fn about_bytes(&self) -> usize {
        let (mut bytes, mut characters, mut all) = (0, 0, 0_usize);
        let every = self.texts.len().div_ceil(SAMPLES).max(1);
        for (index, given) in self.texts.iter().enumerate() {
            all = all.saturating_add(match given {
                // Who inherits from `str` may say anything.
                GivenText::Plain(text) => text.len().unwrap_or(0),
                GivenText::Joined(text) => text.input().text.chars().count(),
            });
            if let GivenText::Plain(text) = given
                && index.is_multiple_of(every)
            {
                // Less than all, which would be the string itself: that keeps the UTF-8 that it is asked for.
                let some = text.len().map_or(0, |count| SAMPLE.min(count as isize - 1));
                let first = text.get_item(PySlice::new(text.py(), 0, some.max(0), 1)).ok();
                let first = first.and_then(|first| first.cast_into::<PyString>().ok());
                // What is no UTF-8 is told when its turn comes.
                let first =
                    first.as_ref().and_then(|first| first.to_str().ok()).unwrap_or_default();
                bytes += first.len();
                characters += first.chars().count();
            }
        }
        let bytes = all as u128 * bytes.max(1) as u128 / characters.max(1) as u128;
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}

/// So many characters, of so many texts, tell how many bytes there are to one.
const SAMPLE: isize = 1 << 10;
const SAMPLES: usize = 16;

/// A stretch with so many characters to copy, or more, ends: what is made of them stays in the second-level cache.
const POINTS: usize = 1 << 15;

/// A text of a stretch: its UTF-8, or where a string stands, with so many characters, that is to be copied.
enum OneText<'s> {
    Utf8(Input<'s>),
    Points { index: usize, count: usize },
}

/// How many bytes so many characters may have, if some are not ASCII: most are Chinese, Japanese or Korean.
const fn about_bytes(count: usize) -> usize {
    3 * count
}

impl OneText<'_> {
    fn about_bytes(&self) -> usize {
        match self {
            Self::Utf8(input) => input.text.len(),
            Self::Points { count, .. } => about_bytes(*count),
        }
    }
}

/// Some texts of a batch, one behind the other.
pub(crate) struct TextsOfBatch<'s> {
    tuple: &'s Py<PyTuple>,
    texts: Vec<OneText<'s>>,
    bytes: usize,
    points: usize,
}

impl TextsOfBatch<'_> {
    /// Those that are to be copied: their numbers in the stretch and in the batch, and how many characters they have.
    fn copied(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        self.texts.iter().enumerate().filter_map(|(number, text)| match *text {
            OneText::Points { index, count } => Some((number, index, count)),
            OneText::Utf8(_) => None,
        })
    }

    /// Their texts.
    fn copies<'r>(
        &self,
        room: &'r mut Room,
        stay: impl Fn(&[u32]) -> Option<usize>,
    ) -> Result<Vec<Read<'r>>, (usize, Error)> {
        if self.points == 0 {
            return Ok(Vec::new());
        }
        let mut points = room.points(self.points);
        Python::attach(|py| {
            let tuple = self.tuple.bind(py);
            for (number, index, count) in self.copied() {
                let (own, behind) = std::mem::take(&mut points).split_at_mut(count);
                points = behind;
                let text = tuple.get_borrowed_item(index).ok();
                let text = text.as_ref().and_then(|text| text.cast::<PyString>().ok());
                if !text.is_some_and(|text| read_points(&text, own)) {
                    return Err((number, Error::NoText));
                }
            }
            Ok(())
        })?;
        room.texts(self.copied().map(|(.., count)| count), stay).map_err(|(which, error)| {
            let number = self.copied().nth(which).map_or(0, |(number, ..)| number);
            (number, error)
        })
    }
}

impl Stretch for TextsOfBatch<'_> {
    fn texts<'s>(
        &'s self,
        room: &'s mut Room,
        stay: impl Fn(&[u32]) -> Option<usize>,
    ) -> Result<impl Iterator<Item = OfBatch<'s>>, (usize, Error)> {
        let mut copies = self.copies(room, stay)?.into_iter();
        Ok(self.texts.iter().map(move |text| match text {
            OneText::Utf8(input) => OfBatch::Utf8(*input),
            OneText::Points { .. } => copies.next().unwrap_or(Read::Utf8("")).into(),
        }))
    }

    fn count(&self) -> usize {
        self.texts.len()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The error of a string that is no text: the one with this number, if it has one.
pub(crate) fn no_utf8(index: Option<usize>) -> PyErr {
    let told = Error::NoText.to_string();
    let told =
        index.map_or(told.clone(), |index| told.replace("the text", &format!("text {index}")));
    raise("EncodeError", advised(&Error::NoText, &told), &[])
}
