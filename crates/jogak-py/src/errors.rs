//! Errors of the core -> the exceptions of `jogak.errors`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An exception of `jogak.errors` by its name, with keyword arguments besides the message.
pub(crate) fn raise(name: &str, message: String, fields: &[(&str, Option<String>)]) -> PyErr {
    Python::attach(|py| {
        let make = || -> PyResult<PyErr> {
            let keywords = PyDict::new(py);
            for (field, value) in fields {
                keywords.set_item(field, value)?;
            }
            let class = py.import("jogak.errors")?.getattr(name)?;
            Ok(PyErr::from_value(class.call((message,), Some(&keywords))?))
        };
        make().unwrap_or_else(|error| error)
    })
}

/// The exception for an error of the core.
pub(crate) fn to_py(error: jogak::Error) -> PyErr {
    use jogak::Error as E;
    let name = match &error {
        E::Pattern { .. } | E::Config { .. } => "ConfigError",
        E::PatternGaveUp { .. }
        | E::NotCovered { .. }
        | E::NoText
        | E::NoSegmentation { .. }
        | E::TooShortToCut { .. }
        | E::TooManyParts { .. }
        | E::NoCut { .. } => "EncodeError",
        E::CountOverflow { .. } => "CorpusError",
        E::TooLarge { .. } => "TrainingError",
        E::UnknownId { .. } => "DecodeError",
        E::SpecialInText { .. } => "SpecialTokenError",
        E::EmptyToken { .. } => "UnsupportedFeature",
        E::Charsmap { place, .. } => {
            return raise("FormatError", error.to_string(), &[("place", Some(place.clone()))]);
        }
    };
    let raised = raise(name, advised(&error, &error.to_string()), &[]);
    match error {
        E::SpecialInText { token, at } => Python::attach(|py| {
            let value = raised.value(py);
            let told = value.setattr("token", token).and_then(|()| value.setattr("at", at));
            told.map_or_else(|failure| failure, |()| raised)
        }),
        _ => raised,
    }
}

/// `message`, which tells of `error`, and what to do.
pub(crate) fn advised(error: &jogak::Error, message: &str) -> String {
    use jogak::Error as E;
    let remedy = match error {
        E::Pattern { .. } => "see https://docs.rs/fancy-regex for the syntax",
        E::PatternGaveUp { .. } => "write it so that two parts cannot match the same characters",
        E::CountOverflow { .. } => "divide all counts by a common number",
        E::TooLarge { .. } => "take less text, or leave rare words out with limited(min_count=2)",
        E::UnknownId { .. } => "was it made by another tokenizer?",
        E::NotCovered { .. } => {
            "train with unknown=\"<unk>\" or byte_fallback=True, or with marker=\"byte-level\"; give a \
             file of another library an unknown piece (unk_token, unk_id)"
        }
        E::NoText => "take it out, or replace it with text.encode('utf-8', 'replace').decode()",
        E::NoSegmentation { .. } => {
            "ask for the score of ids that encode or nbest gave for this very text"
        }
        E::TooShortToCut { .. } => "take strategy=\"longest-first\", or a larger max_length",
        E::TooManyParts { .. } => {
            "pass overflow=False to leave out the parts that are cut off, or take a larger max_length, a \
             smaller stride, or less padding"
        }
        E::NoCut { .. } => "let parts have more tokens",
        E::EmptyToken { .. } => "give it normalized=False, or take it out of the file",
        E::SpecialInText { .. } => {
            "pass special=\"parse\" to make it the special token, special=\"text\" to read it as \
             ordinary text, or take it out of the text"
        }
        // It says itself what is expected.
        E::Config { .. } | E::Charsmap { .. } => return message.to_owned(),
    };
    format!("{message}; {remedy}")
}

/// What is wrong with texts, or lists of ids, that come one by one.
pub(crate) enum Failed {
    /// One cannot be had.
    Coming(PyErr),
    /// The one with this number cannot be encoded, or decoded.
    Done(usize, jogak::Error),
}

impl From<(usize, jogak::Error)> for Failed {
    fn from((index, error): (usize, jogak::Error)) -> Self {
        Self::Done(index, error)
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self::Coming(error)
    }
}

impl Failed {
    /// The error; `place` says where a text or a list stands.
    pub(crate) fn told(self, place: impl FnOnce(usize, PyErr) -> PyErr) -> PyErr {
        match self {
            Self::Coming(error) => error,
            Self::Done(index, error) => place(index, to_py(error)),
        }
    }
}
