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
    let flag = |name: &str| option(name)?.extract::<bool>();
    let text = |name: &str| option(name)?.extract::<String>();
    let matches = || {
        Ok(match text("matches")?.as_str() {
            "isolated" => Matches::Isolated,
            "removed" => Matches::Removed,
            "only" => Matches::Only,
            "merged_with_previous" => Matches::MergedWithPrevious,
            "merged_with_next" => Matches::MergedWithNext,
            "contiguous" => Matches::Contiguous,
            other => return Err(unknown("matches", other)),
        })
    };
    let kind = text("type")?;
    Ok(match kind.as_str() {
        "metaspace" => Scheme::Metaspace(Metaspace {
            dummy: match text("prepend")?.as_str() {
                "always" => Dummy::Always,
                "first" => Dummy::First,
                "given" => Dummy::Given,
                "start" => Dummy::Start,
                "never" => Dummy::Never,
                other => return Err(unknown("prepend", other)),
            },
            only_missing: flag("only_missing")?,
            suffix: flag("suffix")?,
            escape: flag("escape")?,
            split: flag("split")?,
            mark: option("mark")?.extract()?,
        }),
        "punctuation" if stage.contains("matches")? => {
            Scheme::Punctuation { matches: matches()?, unicode_8: text("version")? == "8.0" }
        }
        "digits" => Scheme::Digits {
            group: option("group")?.extract::<Option<u8>>()?.unwrap_or(0),
            unicode_17: text("version")? == "17.0",
        },
        "fixed" => Scheme::Fixed { length: option("length")?.extract()? },
        "prefix_space" => Scheme::PrefixSpace,
        "draw_bytes" => Scheme::DrawBytes,
        "regex" => Scheme::Regex {
            pattern: text("pattern")?,
            matches: matches()?,
            invert: flag("invert")?,
            literal: !flag("regex")?,
        },
        named => match Scheme::from_name(named) {
            Some(scheme) => scheme,
            None => return Err(unknown("type", named)),
        },
    })
}
