//! Normalizers as plain data -> the core's rules; and what Python asks of them alone.

use jogak::normalize::{
    Charsmap, Form, Jamo, Normalizer, Place, Rule, RuleSet, compile, parse_rules,
};
use jogak::prepare::Prepare;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{raise, to_py};
use crate::schemes::parse_pretokenizer;

/// `[{"type": "lowercase"}, ...]` -> rules.
pub(crate) fn parse_normalizer(stages: &Bound<'_, PyAny>) -> PyResult<Vec<Rule>> {
    stages.try_iter()?.map(|stage| parse_stage(stage?.cast::<PyDict>()?)).collect()
}

fn parse_stage(stage: &Bound<'_, PyDict>) -> PyResult<Rule> {
    let option = |name: &str| {
        stage
            .get_item(name)?
            .ok_or_else(|| raise("ConfigError", format!("normalizer {stage} has no {name:?}"), &[]))
    };
    let flag = |name: &str| option(name)?.extract::<bool>();
    let text = |name: &str| option(name)?.extract::<String>();
    let unknown = |name: &str, value: &str| {
        raise("ConfigError", format!("normalizer {stage}: {name} {value:?} is not known"), &[])
    };
    let kind = text("type")?;
    Ok(match kind.as_str() {
        "unicode" => {
            let form = text("form")?;
            let form = match form.as_str() {
                "nfc" => Form::Nfc,
                "nfd" => Form::Nfd,
                "nfkc" => Form::Nfkc,
                "nfkd" => Form::Nfkd,
                other => return Err(unknown("form", other)),
            };
            match text("version")?.as_str() {
                "17.0" => Rule::Form(form),
                "9.0" => Rule::Form9(form),
                other => return Err(unknown("version", other)),
            }
        }
        "rules" => Rule::RuleSet(rule_set(&text("name")?)?),
        "charsmap" => Rule::Charsmap {
            bytes: option("data")?.extract()?,
            keep: option("keep")?.extract()?,
            graphemes: flag("graphemes")?,
        },
        "lowercase" => Rule::Lowercase,
        "casefold" => Rule::Casefold,
        "strip_marks" => Rule::StripMarks,
        "draw_bytes" => Rule::DrawBytes,
        "hf_nmt" => Rule::HfNmt,
        "collapse_spaces" => Rule::CollapseSpaces,
        "prepend" => Rule::Prepend(text("text")?),
        "replace" => Rule::Replace {
            pattern: text("pattern")?,
            with: text("replacement")?,
            regex: flag("regex")?,
        },
        "strip" => Rule::Strip { left: flag("left")?, right: flag("right")? },
        "bert" => Rule::Bert {
            clean_text: flag("clean_text")?,
            chinese_chars: flag("chinese_chars")?,
            strip_accents: flag("strip_accents")?,
            lowercase: flag("lowercase")?,
        },
        "llama_bert" => {
            Rule::LlamaBert { strip_accents: flag("strip_accents")?, lowercase: flag("lowercase")? }
        }
        "jamo" => match text("form")?.as_str() {
            "conjoining" => Rule::Jamo(Jamo::Conjoining),
            "compatibility" => Rule::Jamo(Jamo::Compatibility),
            other => return Err(unknown("form", other)),
        },
        other => return Err(unknown("type", other)),
    })
}

fn rule_set(name: &str) -> PyResult<RuleSet> {
    RuleSet::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, set)| set).ok_or_else(
        || {
            let known = RuleSet::NAMED.map(|(known, _)| known).join(", ");
            raise(
                "ConfigError",
                format!("rule set {name:?} is not known; expected one of {known}"),
                &[],
            )
        },
    )
}

/// Rules of normalization, compiled once for many texts.
#[pyclass(frozen, name = "Normalizer", module = "jogak._core")]
pub(crate) struct PyNormalizer(Normalizer);

#[pymethods]
impl PyNormalizer {
    #[new]
    fn new(py: Python<'_>, normalizer: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rules = parse_normalizer(normalizer)?;
        py.detach(|| Normalizer::new(&rules)).map(Self).map_err(to_py)
    }

    /// `text` normalized, and for each of its characters the characters of the original: (start, end).
    fn run(&self, py: Python<'_>, text: &str) -> PyResult<(String, Vec<(usize, usize)>)> {
        py.detach(|| {
            let (new, origins) = self.0.aligned(text, Place::WHOLE)?;
            let number = characters(text);
            // A border within a character cannot be: every stage keeps or writes whole ones.
            let spans = new.char_indices().map(|(at, c)| {
                let (start, end) = origins.span(at, at + c.len_utf8());
                (number[start], number[end])
            });
            let spans = spans.collect();
            Ok((new, spans))
        })
        .map_err(to_py)
    }
}

/// For every byte of a text, the number of the character that it begins.
fn characters(text: &str) -> Vec<usize> {
    let mut count = 0;
    (0..=text.len())
        .map(|at| {
            let number = count;
            count += usize::from(text.is_char_boundary(at));
            number
        })
        .collect()
}

/// The words of `text` as a model sees them, each with the characters of the original: (start, end).
#[pyfunction]
pub(crate) fn pretokenize(
    py: Python<'_>,
    text: &str,
    pretokenizer: &Bound<'_, PyAny>,
    normalizer: &Bound<'_, PyAny>,
) -> PyResult<Vec<(String, (usize, usize))>> {
    let (rules, schemes) = (parse_normalizer(normalizer)?, parse_pretokenizer(pretokenizer)?);
    py.detach(|| {
        let prepare = Prepare::new(&rules, &schemes)?;
        let aligned = prepare.aligned(text, Place::WHOLE)?;
        let (ready, number) = (aligned.prepared(), characters(text));
        let mut words = Vec::new();
        prepare.for_each(ready, |start, end| {
            let span = aligned.origins.span(start, end);
            words.push((ready.text[start..end].to_owned(), (number[span.0], number[span.1])));
        })?;
        Ok(words)
    })
    .map_err(to_py)
}

/// A charsmap of SentencePiece's format, from pairs (key, replacement).
#[pyfunction]
pub(crate) fn compile_charsmap<'py>(
    py: Python<'py>,
    rules: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| compile(&rules)).map_err(to_py)?;
    Ok(PyBytes::new(py, &bytes))
}

/// The charsmap of a named rule set.
#[pyfunction]
pub(crate) fn named_charsmap<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let set = rule_set(name)?;
    let bytes = py.detach(|| set.bytes()).map_err(to_py)?;
    Ok(PyBytes::new(py, bytes))
}

/// The rules of a charsmap, by key; None if there are more than `limit`.
#[pyfunction]
pub(crate) fn charsmap_rules(
    py: Python<'_>,
    data: &[u8],
    limit: usize,
) -> PyResult<Option<Vec<(String, String)>>> {
    py.detach(|| Ok(Charsmap::read(data)?.entries(limit))).map_err(to_py)
}

/// The rules of a `normalization_rule_tsv`.
#[pyfunction]
pub(crate) fn parse_rule_tsv(text: &str) -> PyResult<Vec<(String, String)>> {
    parse_rules(text).map_err(to_py)
}
