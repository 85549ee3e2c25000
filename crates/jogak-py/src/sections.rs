//! The long parts of tokenizer files for Python: read here, handed out as what [`super::pieces`] has.

use std::ops::Range;

use jogak::beside::both;
use jogak_formats::ranks::Ranks;
use jogak_formats::{json, lines, merges, ranks, sentencepiece};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt};

use crate::ahead::{Long, found};
use crate::pieces::{PyIds, PyPairs, PyPieces};
use crate::vocabulary::Texts;

/// The pieces of a rank file; None for a file that is left to others.
#[pyfunction]
pub(crate) fn read_ranks(py: Python<'_>, data: &Bound<'_, PyBytes>) -> Option<PyIds> {
    let data = data.as_bytes();
    let bytes = match found(py, data) {
        Some(Long::Ranks(bytes)) => bytes,
        _ => py.detach(|| ranks::read(data)),
    };
    bytes.map(|bytes| PyIds::new(Texts::of_bytes(bytes), None))
}

/// The pieces of a rank file and their ranks, whatever they are, in the order of the lines; of a piece that stands twice, the
/// last rank. None for a file that is left to others.
#[pyfunction]
pub(crate) fn read_rank_table<'py>(
    data: &Bound<'py, PyBytes>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let (py, bytes) = (data.py(), data.as_bytes());
    let Some(ranks) = py.detach(|| Ranks::read(bytes)) else { return Ok(None) };
    let table = PyDict::new(py);
    for (piece, rank) in ranks.iter() {
        table.set_item(PyBytes::new(py, piece), rank)?;
    }
    Ok(Some(table))
}

/// The pieces of a table of ranks; None for what is left to others: keys and values of other types, a rank that stands
/// twice, ranks far apart.
#[pyfunction]
pub(crate) fn pieces_of_ranks(table: &Bound<'_, PyDict>) -> Option<PyPieces> {
    let mut ranks = Ranks::default();
    for (piece, rank) in table.iter() {
        let rank = rank.cast_exact::<PyInt>().ok()?.extract().ok()?;
        ranks.push(piece.cast_exact::<PyBytes>().ok()?.as_bytes(), rank);
    }
    let pieces = table.py().detach(|| ranks.into_pieces())?;
    Some(PyPieces::of(Texts::of_bytes(pieces)))
}

/// The pieces of BERT's `vocab.txt`; None for a file that is left to others.
#[pyfunction]
pub(crate) fn read_lines(py: Python<'_>, data: &Bound<'_, PyBytes>) -> Option<PyIds> {
    let data = data.as_bytes();
    let vocab = match found(py, data) {
        Some(Long::Lines(vocab)) => vocab,
        _ => py.detach(|| lines::read(data)),
    };
    vocab.map(|vocab| PyIds::new(Texts::new(vocab, None), None))
}

/// What [`read_model_pieces`] gives.
type ModelPieces = (PyIds, Vec<(u32, u8)>, usize);

/// The pieces of a SentencePiece model with their scores, the ids of those that are not NORMAL with their
/// kinds, and where the other fields begin; None for a file that is left to others.
#[pyfunction]
pub(crate) fn read_model_pieces(py: Python<'_>, data: &Bound<'_, PyBytes>) -> Option<ModelPieces> {
    let data = data.as_bytes();
    let pieces = match found(py, data) {
        Some(Long::ModelPieces(pieces)) => pieces,
        _ => py.detach(|| sentencepiece::pieces(data)),
    };
    let sentencepiece::Pieces { vocab, scores, kinds, end } = pieces?;
    Some((PyIds::new(Texts::new(vocab, None), Some(scores)), kinds, end))
}

/// The ids of `vocab.json`; None for a file that is left to others.
#[pyfunction]
pub(crate) fn read_vocab(py: Python<'_>, data: &Bound<'_, PyBytes>) -> Option<PyIds> {
    let data = data.as_bytes();
    let space = [' ', '\t', '\n', '\r'];
    let (vocab, empty) = py.detach(|| json::ids(jogak_formats::text(data)?.trim_matches(space)))?;
    empty.is_none().then(|| PyIds::new(Texts::new(vocab, None), None))
}

/// The lines of `merges.txt`; None for a file that is left to others.
#[pyfunction]
pub(crate) fn read_merges(py: Python<'_>, data: &Bound<'_, PyBytes>) -> Option<PyPairs> {
    let data = data.as_bytes();
    py.detach(|| merges::lines(jogak_formats::text(data)?)).map(PyPairs)
}

/// The SHA-256 of the bytes of a file, in hexadecimal digits.
#[pyfunction]
pub(crate) fn sha256(py: Python<'_>, data: &Bound<'_, PyBytes>) -> String {
    let data = data.as_bytes();
    py.detach(|| jogak_formats::sha256(data))
}

/// A file of JSON with null in the place of some values.
pub(crate) fn without(data: &[u8], values: impl Iterator<Item = Range<usize>>) -> Vec<u8> {
    let mut values: Vec<_> = values.collect();
    values.sort_by_key(|range| range.start);
    let (mut rest, mut from) = (Vec::new(), 0);
    for range in values {
        rest.extend_from_slice(&data[from..range.start]);
        rest.extend_from_slice(b"null");
        from = range.end;
    }
    rest.extend_from_slice(&data[from..]);
    rest
}

/// Fewer bytes of lists than these are not worth a thread.
pub(crate) const WORTH: usize = 1 << 16;

/// Where a section starts and ends.
type Section = Option<(usize, usize)>;
/// The long sections of a `tokenizer.json`; see [`read_sections`].
type PySections<'py> = (Bound<'py, PyBytes>, PyIds, Option<PyPairs>, Section);

/// The long sections of a `tokenizer.json`: the file with null in their places, the vocabulary, the texts of
/// the merges, and where the added tokens stand. None for a file that is left to others.
#[pyfunction]
pub(crate) fn read_sections<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyBytes>,
) -> Option<PySections<'py>> {
    let data = data.as_bytes();
    let found = match found(py, data) {
        Some(Long::Sections(sections)) => sections,
        _ => py.detach(|| sections(data)),
    };
    let Sections { rest, ids, merges, added } = found?;
    Some((PyBytes::new(py, &rest), ids, merges, added.map(|found| (found.start, found.end))))
}

/// What [`read_sections`] finds.
pub(crate) struct Sections {
    rest: Vec<u8>,
    ids: PyIds,
    merges: Option<PyPairs>,
    added: Option<Range<usize>>,
}

/// The long parts of a `tokenizer.json`, and the file without them; None for one that is left to others.
pub(crate) fn sections(data: &[u8]) -> Option<Sections> {
    let text = jogak_formats::text(data)?;
    let wanted: [&[&str]; 3] = [&["model", "vocab"], &["model", "merges"], &["added_tokens"]];
    let [vocab, merges, added] = <[_; 3]>::try_from(json::fields(text, &wanted)?).ok()?;
    let vocab = vocab?;
    let read_vocab = || match data[vocab.start] {
        b'{' => {
            let (vocab, empty) = json::ids(&text[vocab.clone()])?;
            Some(PyIds::new(Texts::new(vocab, empty), None))
        }
        _ => {
            let (vocab, scores) = json::scored(&text[vocab.clone()])?;
            Some(PyIds::new(Texts::new(vocab, None), Some(scores)))
        }
    };
    let lists = [merges, added].map(|found| found.filter(|found| data[found.start] == b'['));
    let [merges, added] = lists.clone();
    let (ids, pairs) =
        both(merges.as_ref().is_some_and(|found| found.len() >= WORTH), read_vocab, || {
            merges.map(|found| merges::pairs(&text[found]))
        });
    let (ids, merges) = (ids?, pairs.map_or(Some(None), |pairs| Some(Some(PyPairs(pairs?))))?);
    let rest = without(data, lists.iter().flatten().cloned().chain([vocab]));
    Some(Sections { rest, ids, merges, added })
}
