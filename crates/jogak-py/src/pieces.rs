//! The pieces of a vocabulary for Python, without a Python object for each: `Ids`, `Pieces`, `Merges`.
//!
//! The long parts of files become these (`jogak_formats` reads them), specs hold them, and tokenizers are
//! compiled from them. Texts are made of them only when somebody asks.

use std::collections::HashSet;
use std::sync::Arc;

use jogak::added::AddedToken;
use jogak::symbols::Undraw;
use jogak::vocab::Vocab;
use jogak_formats::{json, merges};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lists::PyIntegers;
use crate::vocabulary::Texts;

/// Texts and their ids, as a mapping; every text and every id stands once.
#[pyclass(frozen, mapping, name = "Ids", module = "jogak._core")]
pub(crate) struct PyIds {
    texts: Arc<Texts>,
    scores: Option<Vec<f64>>,
}

impl PyIds {
    pub(crate) fn new(texts: Texts, scores: Option<Vec<f64>>) -> Self {
        Self { texts: Arc::new(texts), scores }
    }
}

#[pymethods]
impl PyIds {
    fn __len__(&self) -> usize {
        self.texts.count()
    }

    fn __contains__(&self, text: &Bound<'_, PyAny>) -> bool {
        self.texts.find(text).is_some()
    }

    fn __getitem__(&self, text: &Bound<'_, PyAny>) -> PyResult<u32> {
        self.texts.find(text).ok_or_else(|| PyKeyError::new_err(text.clone().unbind()))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.keys(py)?.try_iter()?.into_any())
    }

    /// The id of a text, or what is said for none.
    #[pyo3(signature = (text, default=None))]
    fn get<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.texts.find(text) {
            Some(id) => Ok(Some(id.into_pyobject(text.py())?.into_any())),
            None => Ok(default),
        }
    }

    /// The texts, in the order of their ids.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.texts.items().map(|(text, _)| text).collect::<Vec<_>>())
    }

    /// The ids in their order.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.texts.items().map(|(_, id)| id).collect::<Vec<_>>())
    }

    /// Texts and ids, in the order of the ids.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.texts.items().collect::<Vec<_>>())
    }

    /// The text of an id, or None.
    fn text(&self, id: u32) -> Option<&str> {
        self.texts.get(id)
    }

    /// The first text with a character that stands for no byte in GPT-2's way, but for these; or None.
    fn first_foreign(&self, besides: HashSet<String>) -> Option<&str> {
        let (undraw, mut bytes) = (Undraw::default(), Vec::new());
        self.texts.items().map(|(text, _)| text).find(|text| {
            bytes.clear();
            !undraw.plain_into(text.as_bytes(), &mut bytes) && !besides.contains(*text)
        })
    }

    /// The score of every id, where the file says them.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.scores.as_ref().map(|scores| PyTuple::new(py, scores)).transpose()
    }

    /// The pieces of all ids, with `added` ones. None if one of these has the id of another text, or if a
    /// text has another id.
    fn pieces(&self, added: Vec<(String, u32)>) -> Option<PyPieces> {
        const MOST_HOLES: usize = 1_000_000;
        let mut new: Vec<(u32, &str)> = Vec::new();
        for (text, id) in &added {
            match self.texts.id(text) {
                Some(known) if known == *id => {}
                None if !text.is_empty() && !self.texts.has(*id) => new.push((*id, text)),
                _ => return None,
            }
        }
        if new.is_empty() {
            return Some(PyPieces(Arc::clone(&self.texts)));
        }
        new.sort_unstable();
        new.dedup();
        if new.windows(2).any(|two| two[0].0 == two[1].0) {
            return None;
        }
        let size = new.last().map_or(0, |&(id, _)| id as usize + 1).max(self.texts.len());
        let count = self.texts.count() + new.len();
        if size > count + MOST_HOLES {
            return None;
        }
        let bytes = self.texts.total() + new.iter().map(|(_, text)| text.len()).sum::<usize>();
        if new[0].0 as usize >= self.texts.len() {
            // All of them stand behind the others: those are taken as they are.
            let texts = self.texts.followed_by(new.into_iter());
            return (texts.count() == count).then(|| PyPieces(Arc::new(texts)));
        }
        let mut vocab = Vocab::with_capacity(size, bytes);
        let mut new = new.into_iter().peekable();
        for id in 0..size as u32 {
            let added = new.next_if(|&(other, _)| other == id).map(|(_, text)| text.as_bytes());
            vocab.push(added.unwrap_or_else(|| self.texts.bytes(id)));
        }
        let texts = Texts::new(vocab, self.texts.empty());
        (texts.count() == count).then(|| PyPieces(Arc::new(texts)))
    }

    /// The added tokens of a section that [`read_sections`] found: text -> id of all of them, and of the
    /// special ones; and the rules of looking. `size` is the first id for texts that are not the model's.
    /// None for a section that is left to others.
    fn added<'py>(
        &self,
        data: &Bound<'py, PyBytes>,
        section: (usize, usize),
        size: u32,
    ) -> PyResult<Option<AddedOf<'py>>> {
        let py = data.py();
        let Some(entries) = section_of(data, section).and_then(json::added) else {
            return Ok(None);
        };
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        let mut tokens: Vec<Token> = Vec::with_capacity(entries.len());
        let mut following = size;
        for json::Entry { text, special, flags } in entries {
            if text.is_empty() {
                continue;
            }
            if let Some(&place) = places.get(&text) {
                // Once special, always special: the library never forgets it.
                tokens[place].special |= special;
                tokens[place].flags = flags;
                continue;
            }
            let known = self.texts.id(&text);
            let id = known.unwrap_or(following);
            if known.is_none() {
                if self.texts.has(id) {
                    return Ok(None);
                }
                following += 1;
            }
            places.insert(text.clone(), tokens.len());
            tokens.push(Token { text, id, special, flags, known: known.is_some() });
        }
        let (ids, special) = (PyDict::new(py), PyDict::new(py));
        for token in &tokens {
            let text = PyString::new(py, &token.text);
            ids.set_item(&text, token.id)?;
            if token.special {
                special.set_item(&text, token.id)?;
            }
        }
        tokens.sort_unstable_by_key(|token| token.id);
        Ok(Some((ids, special, PyAddedTokens(tokens))))
    }

    /// The merges of these texts; None for what is left to others.
    fn merges(&self, py: Python<'_>, pairs: &PyPairs, prefix: usize) -> Option<PyMerges> {
        let merges = py.detach(|| pairs.0.merges(self.texts.all(), prefix))?;
        Some(PyMerges { merges: Arc::new(merges) })
    }

    /// The merges of pieces that are given by their ids, left before right; with `make`, each makes a piece. None
    /// for what is left to others.
    fn merges_of(&self, py: Python<'_>, ids: &PyIntegers, make: bool) -> Option<PyMerges> {
        let merges = py.detach(|| merges::Merges::of(&ids.0, self.texts.all(), make))?;
        Some(PyMerges { merges: Arc::new(merges) })
    }
}

/// What [`PyIds::added`] gives.
type AddedOf<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>, PyAddedTokens);

/// An added token.
#[derive(Clone)]
struct Token {
    text: String,
    id: u32,
    special: bool,
    /// `single_word`, `lstrip`, `rstrip`, `normalized`.
    flags: [bool; 4],
    /// The model knows the text.
    known: bool,
}

/// Added tokens by their ids, each text once.
#[pyclass(frozen, sequence, name = "AddedTokens", module = "jogak._core")]
pub(crate) struct PyAddedTokens(Vec<Token>);

#[pymethods]
impl PyAddedTokens {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The texts that the model knows.
    fn known(&self) -> Vec<&str> {
        self.0.iter().filter(|token| token.known).map(|token| token.text.as_str()).collect()
    }

    /// Those that have rules of their own or are not special, of the known texts only `made` being the
    /// model's too.
    fn with_rules(&self, made: HashSet<String>) -> Self {
        let known = self.0.iter().map(|token| Token {
            known: token.known && made.contains(&token.text),
            ..token.clone()
        });
        Self(
            known
                .filter(|token| !token.special || token.known || token.flags.contains(&true))
                .collect(),
        )
    }

    /// All of them: text, flags, whether the model knows the text.
    fn tokens(&self) -> Vec<(&str, [bool; 4], bool)> {
        self.0.iter().map(|token| (token.text.as_str(), token.flags, token.known)).collect()
    }
}

/// A token as Python gives it: text, id, the flags `single_word`, `lstrip`, `rstrip`, normalized and
/// `ascii_spaces`, and whether the model knows it.
type PlainToken = (String, u32, [bool; 5], bool);

/// The tokens that are found in texts, and the ids of those that the model does not know: tokens with
/// rules (a list, or [`PyAddedTokens`]), and special tokens, of which others have no rules.
pub(crate) fn tokens_of(
    rules: &Bound<'_, PyAny>,
    special: &Bound<'_, PyDict>,
) -> PyResult<(Vec<AddedToken>, Vec<u32>)> {
    let token = |text: String, id: u32, special: bool, flags: [bool; 5]| {
        let [single_word, lstrip, rstrip, normalized, ascii_spaces] = flags;
        AddedToken { text, id, special, single_word, lstrip, rstrip, normalized, ascii_spaces }
    };
    let (mut tokens, mut outside) = (Vec::new(), Vec::new());
    if let Ok(held) = rules.cast::<PyAddedTokens>() {
        for Token { text, id, flags: [one, two, three, four], known, .. } in &held.get().0 {
            let is_special = special.contains(text)?;
            let flags = [*one, *two, *three, *four, false];
            tokens.push(token(text.clone(), *id, is_special, flags));
            outside.extend((!known).then_some(*id));
        }
    } else {
        for (text, id, flags, known) in rules.extract::<Vec<PlainToken>>()? {
            let is_special = special.contains(&text)?;
            tokens.push(token(text, id, is_special, flags));
            outside.extend((!known).then_some(id));
        }
    }
    let with_rules: FxHashSet<String> = tokens.iter().map(|token| token.text.clone()).collect();
    for (text, id) in special.iter() {
        let (text, id): (String, u32) = (text.extract()?, id.extract()?);
        if !text.is_empty() && !with_rules.contains(&text) {
            tokens.push(token(text, id, true, [false; 5]));
            outside.push(id);
        }
    }
    Ok((tokens, outside))
}

/// The text of every id, None where an id stands for nothing. Every text stands once.
#[pyclass(frozen, sequence, name = "Pieces", module = "jogak._core")]
pub(crate) struct PyPieces(pub(crate) Arc<Texts>);

impl PyPieces {
    /// These texts.
    pub(crate) fn of(texts: Texts) -> Self {
        Self(Arc::new(texts))
    }

    /// These texts; no two are the same, and none is empty.
    pub(crate) fn new(texts: impl Iterator<Item = impl AsRef<str>>) -> Self {
        let mut vocab = Vocab::default();
        texts.for_each(|text| vocab.push(text.as_ref().as_bytes()));
        Self(Arc::new(Texts::new(vocab, None)))
    }
}

#[pymethods]
impl PyPieces {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__(&self, id: isize) -> PyResult<Option<&str>> {
        match u32::try_from(id) {
            Ok(id) if (id as usize) < self.0.len() => Ok(self.0.get(id)),
            _ => Err(PyIndexError::new_err(format!("id {id} of {} pieces", self.0.len()))),
        }
    }

    fn __contains__(&self, text: &Bound<'_, PyAny>) -> bool {
        self.0.find(text).is_some()
    }

    /// The id of a text, or None.
    fn find(&self, text: &Bound<'_, PyAny>) -> Option<u32> {
        self.0.find(text)
    }

    /// All of them, as texts.
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, (0..self.0.len() as u32).map(|id| self.0.get(id)).collect::<Vec<_>>())
    }
}

/// The texts of merges, as a file has them.
#[pyclass(frozen, name = "Pairs", module = "jogak._core")]
pub(crate) struct PyPairs(pub(crate) merges::Pairs);

/// Pairs of ids, best first.
#[pyclass(frozen, sequence, name = "Merges", module = "jogak._core")]
pub(crate) struct PyMerges {
    merges: Arc<merges::Merges>,
}

impl PyMerges {
    /// These pairs of ids, and the ids of what they make.
    pub(crate) fn new(pairs: Vec<(u32, u32)>, products: Vec<u32>) -> Self {
        Self { merges: Arc::new(merges::Merges { pairs, products }) }
    }
}

#[pymethods]
impl PyMerges {
    fn __len__(&self) -> usize {
        self.merges.pairs.len()
    }

    fn __getitem__(&self, rank: usize) -> PyResult<(u32, u32)> {
        let pair = self.merges.pairs.get(rank).copied();
        pair.ok_or_else(|| {
            PyIndexError::new_err(format!("rank {rank} of {} merges", self.merges.pairs.len()))
        })
    }

    /// One more than the largest id.
    fn size(&self) -> usize {
        let ids = self.merges.pairs.iter().map(|&(left, right)| left.max(right));
        ids.max().map_or(0, |id| id as usize + 1)
    }

    /// All of them, as pairs of numbers.
    fn pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.merges.pairs)
    }

    /// The ids of what they make.
    fn products(&self) -> HashSet<u32> {
        self.merges.products.iter().copied().collect()
    }
}

/// Pairs of ids, and what each of them makes.
type MergesOf = (Option<Vec<(u32, u32)>>, Vec<u32>);

/// The merges of a model: pairs of ids, [`PyMerges`], or None. And what they make, where that is known.
pub(crate) fn merges_of(merges: &Bound<'_, PyAny>) -> PyResult<MergesOf> {
    if let Ok(merges) = merges.cast::<PyMerges>() {
        let merges::Merges { pairs, products } = &*merges.get().merges;
        return Ok((Some(pairs.clone()), products.clone()));
    }
    Ok((merges.extract()?, Vec::new()))
}

/// A section of a file.
fn section_of<'a>(data: &'a Bound<'_, PyBytes>, (start, end): (usize, usize)) -> Option<&'a str> {
    jogak_formats::text(data.as_bytes().get(start..end)?)
}
