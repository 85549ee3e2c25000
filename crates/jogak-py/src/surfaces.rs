//! What SentencePiece says of a text, for Python: normalized texts with their places, and pieces with their surfaces.

use std::ops::Range;
use std::sync::OnceLock;

use jogak::surfaces::{Counted, Ids, Kind, Options, Part, Pieces, Rules, characters};
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
        3 | 5 => Kind::Never,
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

    /// The pieces of the texts of a batch, by their ids, with one for unknown characters that follow each other. None for a text
    /// whose ids do not tell where these end. `names` are those of all ids, as texts or as bytes.
    fn pieces<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyString>>,
        ids: &Bound<'py, PyAny>,
        offsets: PyReadonlyArray1<'py, i64>,
        names: &Bound<'py, PyTuple>,
        in_bytes: bool,
    ) -> PyResult<Vec<Option<Bound<'py, PyList>>>> {
        let ids = ids_of(ids)?;
        let ranges = ranges_of(&offsets, ids.len())?;
        let one = |(text, range): (Bound<'py, PyString>, Range<usize>)| {
            let ids = &ids[range];
            if ids.iter().all(|&id| self.pieces.kind(id) != Some(Kind::Unknown)) {
                let names = ids.iter().map(|&id| names.get_borrowed_item(id as usize));
                return PyList::new(py, names.collect::<PyResult<Vec<_>>>()?).map(Some);
            }
            let text = self.rules.text(text.to_str()?.as_bytes());
            let parts = self.pieces.cut_text(&text, Ids::Fused(ids));
            let listed = |parts: Vec<Part>| self.listed(py, &text, &parts, names, in_bytes);
            parts.map(listed).transpose()
        };
        texts.into_iter().zip(ranges).map(one).collect()
    }
}

impl PySurfaces {
    /// The pieces of a text, as texts or as bytes.
    fn listed<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        parts: &[Part],
        names: &Bound<'py, PyTuple>,
        in_bytes: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let one = |part: &Part| match self.pieces.kind(part.id) {
            Some(Kind::Unknown) => Ok(named(py, self.pieces.text(part, text), in_bytes)),
            _ => names.get_item(part.id as usize),
        };
        PyList::new(py, parts.iter().map(one).collect::<PyResult<Vec<_>>>()?)
    }
}

/// A normalized text.
#[pyclass(frozen, name = "Counted", module = "jogak._core")]
pub(crate) struct PyCounted {
    of: Py<PySurfaces>,
    raw: Py<PyBytes>,
    counted: Counted,
    /// Of each byte of the original, and of the end.
    characters: OnceLock<Vec<usize>>,
}

impl PyCounted {
    /// The number of the character at a byte, or of the byte itself.
    fn place(&self, py: Python<'_>, byte: usize, in_bytes: bool) -> usize {
        if in_bytes {
            return byte;
        }
        self.characters.get_or_init(|| characters(self.raw.as_bytes(py)))[byte]
    }
}

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

    /// What its ids say of it: each unknown character has one, or, if `fused`, those that follow each other. None if these
    /// do not tell where unknown characters end.
    fn cut(slf: Bound<'_, Self>, ids: &Bound<'_, PyAny>, fused: bool) -> PyResult<Option<PyCut>> {
        let Self { of, counted, .. } = slf.get();
        let ids = ids_of(ids)?;
        let ids = if fused { Ids::Fused(&ids) } else { Ids::Single(&ids) };
        let parts = of.get().pieces.cut(counted, ids);
        if parts.is_none() && !fused {
            let message = "these are not the ids of the normalized text";
            return Err(raise("EncodeError", message.into(), &[]));
        }
        Ok(parts.map(|parts| PyCut { of: slf.unbind(), parts }))
    }
}

/// A text, cut into pieces.
#[pyclass(frozen, name = "Cut", module = "jogak._core")]
pub(crate) struct PyCut {
    of: Py<PyCounted>,
    parts: Vec<Part>,
}

/// The text of a piece, as text or as bytes.
fn named<'py>(py: Python<'py>, piece: &str, in_bytes: bool) -> Bound<'py, PyAny> {
    if in_bytes {
        PyBytes::new(py, piece.as_bytes()).into_any()
    } else {
        PyString::new(py, piece).into_any()
    }
}

/// A piece: its text, its id, its surface, and where that is.
type Row<'py> = (Bound<'py, PyBytes>, u32, Option<Bound<'py, PyBytes>>, usize, usize);
/// Ids, pieces, and where their surfaces are.
type Mapping<'py> = (Vec<u32>, Vec<Bound<'py, PyAny>>, Vec<(usize, usize)>);

impl PyCut {
    /// The text of a part.
    fn text(&self, part: &Part) -> &str {
        let counted = self.of.get();
        counted.of.get().pieces.text(part, &counted.counted.text)
    }
}

#[pymethods]
impl PyCut {
    /// The ids, with one for unknown characters that follow each other.
    fn ids(&self) -> Vec<u32> {
        self.parts.iter().map(|part| part.id).collect()
    }

    /// The pieces, as texts or as bytes. `names` are those of all ids.
    fn pieces<'py>(
        &self,
        py: Python<'py>,
        names: &Bound<'py, PyTuple>,
        in_bytes: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let counted = self.of.get();
        counted.of.get().listed(py, &counted.counted.text, &self.parts, names, in_bytes)
    }

    /// Ids, pieces and places, in bytes or characters.
    fn mapping<'py>(&self, py: Python<'py>, in_bytes: bool) -> Mapping<'py> {
        let place = |byte| self.of.get().place(py, byte, in_bytes);
        (
            self.ids(),
            self.parts.iter().map(|part| named(py, self.text(part), in_bytes)).collect(),
            self.parts.iter().map(|part| (place(part.begin), place(part.end))).collect(),
        )
    }

    /// All of it as the bytes of a `SentencePieceText`.
    #[pyo3(signature = (score))]
    fn serialized<'py>(&self, py: Python<'py>, score: Option<f64>) -> Bound<'py, PyBytes> {
        let PyCounted { of, raw, counted, .. } = self.of.get();
        let (raw, score) = (raw.as_bytes(py), score.map(|score| score as f32));
        let pieces = &of.get().pieces;
        PyBytes::new(py, &pieces.serialized(raw, &counted.text, &self.parts, score))
    }

    /// All pieces in bytes, one behind the other.
    fn rows<'py>(&self, py: Python<'py>) -> Vec<Row<'py>> {
        let raw = self.of.get().raw.as_bytes(py);
        let row = |part: &Part| {
            let surface = raw.get(part.begin..part.end).unwrap_or_default();
            let surface = part.is_last.then(|| PyBytes::new(py, surface));
            let piece = PyBytes::new(py, self.text(part).as_bytes());
            (piece, part.id, surface, part.begin, part.end)
        };
        self.parts.iter().map(row).collect()
    }
}
