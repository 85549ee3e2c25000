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
    let (name, remedy) = match &error {
        E::Pattern { .. } => ("ConfigError", "see https://docs.rs/fancy-regex for the syntax"),
        E::PatternGaveUp { .. } => {
            ("EncodeError", "write it so that two parts cannot match the same characters")
        }
        E::CountOverflow { .. } => ("CorpusError", "train on smaller counts"),
        E::Config { .. } => ("ConfigError", ""),
        E::Charsmap { .. } => ("FormatError", ""),
        E::TooLarge { .. } => {
            ("TrainingError", "train on less text, or limit the words by min_count")
        }
        E::UnknownId { .. } => ("DecodeError", "was it made by another tokenizer?"),
        E::NotCovered { .. } => (
            "EncodeError",
            "train with unknown=\"<unk>\" or byte_fallback=True, or with marker=\"byte-level\"",
        ),
        E::SpecialInText { .. } => (
            "SpecialTokenError",
            "pass special=\"text\" to read it as ordinary text, special=\"parse\" to make it the \
             special token, or take it out of the text",
        ),
    };
    let message = if remedy.is_empty() { error.to_string() } else { format!("{error}; {remedy}") };
    match error {
        E::Charsmap { place, .. } => raise(name, message, &[("place", Some(place))]),
        _ => raise(name, message, &[]),
    }
}
