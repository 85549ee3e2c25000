//! Pre-tokenizers across the border: a list of dicts -> schemes.

use crate::counts::raise;
use jogak::pretokenize::Scheme;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Reads `[{"type": "gpt2"}, ...]`.
///
/// # Errors
/// `ConfigError` for a type that is not known.
pub fn parse_pretokenizer(value: &Bound<'_, PyAny>) -> PyResult<Vec<Scheme>> {
    let stages: Vec<Bound<'_, PyDict>> = value.extract()?;
    let scheme = |stage: &Bound<'_, PyDict>| {
        let kind: Option<String> =
            stage.get_item("type")?.map(|kind| kind.extract()).transpose()?;
        match kind.as_deref() {
            Some("none") => Ok(Scheme::None),
            Some("whitespace") => Ok(Scheme::Whitespace),
            _ => {
                let message =
                    format!("pretokenizer {stage} is not known; expected none or whitespace");
                Err(raise(stage.py(), "ConfigError", (message,)))
            }
        }
    };
    stages.iter().map(scheme).collect()
}
