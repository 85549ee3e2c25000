//! What SentencePiece says of a text, for Python: normalized texts with their places, and pieces with their surfaces.

use std::ops::Range;
use std::sync::OnceLock;

use jogak::surfaces::{Counted, Cut, Kind, Options, Part, Pieces, Rules, characters};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::errors::{raise, to_py};
use crate::ids::{ids_of, ranges_of};

/// The rules and the pieces of a model.
#[pyclass(frozen, name = "Surfaces", module = "jogak._core")]
pub(crate) struct PySurfaces {
    rules: Rules,
    pieces: Pieces,
}

/// The number that a file has for a kind of pieces.
fn kind(number: u8) -> Kind {
    match number {
        2 => Kind::Unknown,
        6 => Kind::Byte,
        _ => Kind::Text,
    }
}

#[pymethods]
impl PySurfaces {
    /// `types` are the numbers that a `.model` has for the kinds of its `pieces`.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "all that a model says")]
    fn new(
        charsmap: &[u8],
        kept: Vec<String>,
        squeeze: bool,
        escape: bool,
        prefix: bool,
        suffix: bool,
        pieces: Vec<pyo3::pybacked::PyBackedStr>,
        types: Vec<u8>,
    ) -> PyResult<Self> {
        let options = Options { squeeze, escape, prefix, suffix };
        let rules = Rules::new(charsmap, &kept, options).map_err(to_py)?;
        let pieces = pieces.iter().zip(types).map(|(piece, number)| (&**piece, kind(number)));
        Ok(Self { rules, pieces: pieces.collect() })
    }

    /// A text, normalized.
    fn normalize(slf: Bound<'_, Self>, data: &Bound<'_, PyBytes>) -> PyCounted {
        let (raw, rules) = (data.as_bytes(), &slf.get().rules);
        let counted = slf.py().detach(|| rules.normalize(raw));
        PyCounted {
            of: slf.unbind(),
            raw: data.clone().unbind(),
            counted,
            characters: OnceLock::new(),
        }
    }

    /// Texts, normalized, without their places.
    fn texts(&self, py: Python<'_>, texts: Vec<Bound<'_, PyBytes>>) -> Vec<String> {
        let raw: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        py.detach(|| raw.into_iter().map(|data| self.rules.text(data)).collect())
    }

    /// The pieces of normalized texts, whose ids tell each unknown character by itself. `names` are those of all ids, as texts
    /// or as bytes.
    fn pieces<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyString>>,
        ids: &Bound<'py, PyAny>,
        offsets: PyReadonlyArray1<'py, i64>,
        names: &Bound<'py, PyTuple>,
        in_bytes: bool,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let ids = ids_of(ids)?;
        let ranges = ranges_of(&offsets, ids.len())?;
        let one = |(text, range): (Bound<'py, PyString>, Range<usize>)| {
            let text = text.to_str()?;
            let cut = self.pieces.cut_text(text, &ids[range]).ok_or_else(not_the_ids)?;
            PyList::new(py, listed(py, &self.pieces, &cut, names, in_bytes)?)
        };
        texts.into_iter().zip(ranges).map(one).collect()
    }

    /// The names of the ids of each text of a batch, None for one with an unknown piece. `names` are those of all ids.
    fn names<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        offsets: PyReadonlyArray1<'py, i64>,
        names: &Bound<'py, PyTuple>,
    ) -> PyResult<Vec<Option<Bound<'py, PyList>>>> {
        let ids = ids_of(ids)?;
        let one = |ids: &[u32]| {
            if ids.iter().any(|&id| self.pieces.kind(id) == Some(Kind::Unknown)) {
                return Ok(None);
            }
            let names = ids.iter().map(|&id| names.get_borrowed_item(id as usize));
            PyList::new(py, names.collect::<PyResult<Vec<_>>>()?).map(Some)
        };
        ranges_of(&offsets, ids.len())?.into_iter().map(|range| one(&ids[range])).collect()
    }
}

/// A normalized text, and what its ids say of it. These tell each unknown character by itself.
#[pyclass(frozen, name = "Counted", module = "jogak._core")]
pub(crate) struct PyCounted {
    of: Py<PySurfaces>,
    raw: Py<PyBytes>,
    counted: Counted,
    /// Of each byte of the original, and of the end.
    characters: OnceLock<Vec<usize>>,
}

impl PyCounted {
    fn cut(&self, ids: &Bound<'_, PyAny>) -> PyResult<Cut<'_>> {
        self.of.get().pieces.cut(&self.counted, &ids_of(ids)?).ok_or_else(not_the_ids)
    }

    /// The number of the character at a byte, or of the byte itself.
    fn place(&self, py: Python<'_>, byte: usize, in_bytes: bool) -> usize {
        if in_bytes {
            return byte;
        }
        self.characters.get_or_init(|| characters(self.raw.as_bytes(py)))[byte]
    }
}

/// The text of a piece, as text or as bytes.
fn named<'py>(py: Python<'py>, piece: &str, in_bytes: bool) -> Bound<'py, PyAny> {
    if in_bytes {
        PyBytes::new(py, piece.as_bytes()).into_any()
    } else {
        PyString::new(py, piece).into_any()
    }
}

fn not_the_ids() -> PyErr {
    raise("EncodeError", "these are not the ids of the normalized text".into(), &[])
}

/// The pieces of a text, as texts or as bytes.
fn listed<'py>(
    py: Python<'py>,
    pieces: &Pieces,
    cut: &Cut<'_>,
    names: &Bound<'py, PyTuple>,
    in_bytes: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let one = |part: &Part| match pieces.kind(part.id) {
        Some(Kind::Unknown) => Ok(named(py, cut.piece(part), in_bytes)),
        _ => names.get_item(part.id as usize),
    };
    cut.parts().iter().map(one).collect()
}

/// A piece: its text, its id, its surface, and where that is.
type Row<'py> = (Bound<'py, PyBytes>, u32, Option<Bound<'py, PyBytes>>, usize, usize);
/// Ids, pieces, and where their surfaces are.
type Mapping<'py> = (Vec<u32>, Vec<Bound<'py, PyAny>>, Vec<(usize, usize)>);

#[pymethods]
impl PyCounted {
    /// The normalized text.
    #[getter]
    fn text(&self) -> &str {
        &self.counted.text
    }

    /// The byte of the original for each byte of the text and its end, or the character for each character.
    fn origins(&self, py: Python<'_>, in_bytes: bool) -> Vec<usize> {
        let Counted { text, origins } = &self.counted;
        if in_bytes {
            return origins.clone();
        }
        let starts = text.char_indices().map(|(at, _)| origins[at]);
        let all = starts.chain(origins.last().copied());
        all.map(|byte| self.place(py, byte, false)).collect()
    }

    /// The ids, with one for unknown characters that follow each other.
    fn ids(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        Ok(self.cut(ids)?.parts().iter().map(|part| part.id).collect())
    }

    /// The pieces, as texts or as bytes. `names` are those of all ids.
    fn pieces<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        names: &Bound<'py, PyTuple>,
        in_bytes: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        listed(py, &self.of.get().pieces, &self.cut(ids)?, names, in_bytes)
    }

    /// Ids, pieces and places, in bytes or characters.
    fn mapping<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        in_bytes: bool,
    ) -> PyResult<Mapping<'py>> {
        let cut = self.cut(ids)?;
        let place = |byte| self.place(py, byte, in_bytes);
        let parts = cut.parts();
        Ok((
            parts.iter().map(|part| part.id).collect(),
            parts.iter().map(|part| named(py, cut.piece(part), in_bytes)).collect(),
            parts.iter().map(|part| (place(part.begin), place(part.end))).collect(),
        ))
    }

    /// All of it as the bytes of a `SentencePieceText`.
    #[pyo3(signature = (ids, score))]
    fn serialized<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        score: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let score = score.map(|score| score as f32);
        Ok(PyBytes::new(py, &self.cut(ids)?.serialized(self.raw.as_bytes(py), score)))
    }

    /// All pieces in bytes, one behind the other.
    fn rows<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Vec<Row<'py>>> {
        let (cut, raw) = (self.cut(ids)?, self.raw.as_bytes(py));
        let row = |part: &Part| {
            let surface = raw.get(part.begin..part.end).unwrap_or_default();
            let surface = part.is_last.then(|| PyBytes::new(py, surface));
            let piece = PyBytes::new(py, cut.piece(part).as_bytes());
            (piece, part.id, surface, part.begin, part.end)
        };
        Ok(cut.parts().iter().map(row).collect())
    }
}
