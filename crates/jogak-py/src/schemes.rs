//! Pre-tokenizers as plain data -> the core's schemes.

use jogak::pretokenize::{Dummy, Matches, Metaspace, Scheme};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::raise;

/// `[{"type": "digits", "group": 3}, ...]` -> schemes.
pub(crate) fn parse_pretokenizer(stages: &Bound<'_, PyAny>) -> PyResult<Vec<Scheme>> {
    stages.try_iter()?.map(|stage| parse_stage(stage?.cast::<PyDict>()?)).collect()
}

fn parse_stage(stage: &Bound<'_, PyDict>) -> PyResult<Scheme> {
    let option = |name: &str| {
        stage.get_item(name)?.ok_or_else(|| {
            raise("ConfigError", format!("pre-tokenizer {stage} has no {name:?}"), &[])
        })
    };
    let unknown = |name: &str, value: &str| {
        raise("ConfigError", format!("pre-tokenizer {stage}: {name} {value:?} is not known"), &[])
    };
    let kind: String = option("type")?.extract()?;
    Ok(match kind.as_str() {
        "none" => Scheme::None,
        "whitespace" => Scheme::Whitespace,
        "gpt2" => Scheme::Gpt2,
        "cl100k" => Scheme::Cl100k,
        "o200k" => Scheme::O200k,
        "bert" => Scheme::Bert,
        "metaspace" => Scheme::Metaspace(Metaspace {
            dummy: match option("prepend")?.extract::<String>()?.as_str() {
                "always" => Dummy::Always,
                "first" => Dummy::First,
                "never" => Dummy::Never,
                other => return Err(unknown("prepend", other)),
            },
            only_missing: option("only_missing")?.extract()?,
            suffix: option("suffix")?.extract()?,
            escape: option("escape")?.extract()?,
            split: option("split")?.extract()?,
        }),
        "punctuation" => Scheme::Punctuation,
        "script" => Scheme::Script,
        "digits" => Scheme::Digits { group: option("group")?.extract()? },
        "regex" => {
            let matches: String = option("matches")?.extract()?;
            let matches = match matches.as_str() {
                "isolated" => Matches::Isolated,
                "removed" => Matches::Removed,
                "only" => Matches::Only,
                other => return Err(unknown("matches", other)),
            };
            Scheme::Regex { pattern: option("pattern")?.extract()?, matches }
        }
        other => return Err(unknown("type", other)),
    })
}
