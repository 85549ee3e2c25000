//! The compiled tokenizer, for Python.

use std::collections::HashSet;
use std::sync::Arc;

use jogak::added::{Added, decoded};
use jogak::beside::{WORTH, both};
use jogak::decode::{BatchOptions, Decoder, Stream, Text as Decoded};
use jogak::model::Bpe;
use jogak::pipeline::{Arriving, CACHE_LIMIT, Request, Rest, Tokenizer, divided, taught};
use jogak::prepare::Prepare;
use jogak::symbols::UNKNOWN;
use jogak::trace::WordRecord;
use jogak::vocab::Vocab;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::decoders::{PyStream, parse_rules};
use crate::errors::{Failed, to_py};
use crate::ids::{Lists, ids_of};
use crate::integers;
use crate::models::{Options, Pieces, compile, marker, strategy};
use crate::normalizers::parse_normalizer;
use crate::numbers::{WIDE, read_along};
use crate::pieces::tokens_of;
use crate::schemes::parse_pretokenizer;
use crate::strings::{eastern_points, string_of_text, written};
use crate::texts::{Given, PyChosen, Text, no_utf8, policy};
use crate::vocabulary::Texts;

/// A tokenizer, compiled from the plain data of a Spec.
#[pyclass(frozen, name = "Tokenizer", module = "jogak._core")]
pub(crate) struct PyTokenizer {
    pub(crate) core: Tokenizer,
    /// The text of every id.
    pub(crate) texts: Arc<Texts>,
    /// The ids of the special tokens.
    special: HashSet<u32>,
}

#[pymethods]
impl PyTokenizer {
    /// `model` is a model's `to_core()`; `pretokenizer`, `normalizer` and `decoder` are lists of dicts;
    /// `added_tokens` are those that are found in texts by rules, `special_tokens` text and id of the
    /// special ones.
    #[new]
    #[pyo3(signature = (model, pretokenizer, added_tokens, special_tokens, normalizer, decoder=None))]
    fn new(
        model: &Bound<'_, PyDict>,
        pretokenizer: &Bound<'_, PyAny>,
        added_tokens: &Bound<'_, PyAny>,
        special_tokens: &Bound<'_, PyDict>,
        normalizer: &Bound<'_, PyAny>,
        decoder: Option<Vec<Bound<'_, PyDict>>>,
    ) -> PyResult<Self> {
        let (added_tokens, outside) = tokens_of(added_tokens, special_tokens)?;
        let special: Vec<u32> =
            added_tokens.iter().filter(|token| token.special).map(|token| token.id).collect();
        let prepare =
            Prepare::new(&parse_normalizer(normalizer)?, &parse_pretokenizer(pretokenizer)?)
                .map_err(to_py)?;
        let options = Options(model);
        let (pieces, written) = Pieces::new(&options, &special, &outside)?;
        let (bytes, marker) = (pieces.byte_fallback.clone(), marker(&options)?);
        let rules = decoder.map(|stages| parse_rules(&stages)).transpose()?;
        let texts = Arc::clone(&pieces.texts);
        let at_once = texts.len() >= WORTH;
        let (spaces, normalizer) = (prepare.metaspace(), prepare.normalizer().clone());
        let tokens = added_tokens.clone();
        let teaches = written.whole_words && at_once;
        let way_forth = || -> PyResult<Tokenizer> {
            let model = compile(&options, pieces)?;
            let added = Added::new(tokens, prepare.normalizer()).map_err(to_py)?;
            let core = Tokenizer::new(prepare, added, model, CACHE_LIMIT);
            if at_once && !teaches {
                core.make_ready(None);
            }
            Ok(core)
        };
        // Made at the same time; what is wrong with the way forth is told first.
        let way_back = || {
            let Some(rules) = &rules else {
                let way = Decoder::new(written.vocab(), &special, bytes.as_deref(), marker, spaces);
                return Ok(way.behind(normalizer).with_empty(texts.empty()));
            };
            let text_of = |id: u32| texts.get(id).unwrap_or_default();
            let (changed, skipped) = decoded(&added_tokens, &normalizer, texts.len(), text_of)?;
            let mut written = Vocab::with_capacity(texts.len(), texts.total());
            for id in 0..texts.len() as u32 {
                let bytes =
                    changed.get(&id).map_or_else(|| texts.bytes(id), |text| text.as_bytes());
                written.push(bytes);
            }
            Ok(Decoder::chain(written, &skipped, rules)?.with_empty(texts.empty()))
        };
        let way_back = || {
            let words = written.found.as_ref().filter(|_| teaches);
            (way_back(), words.map(|vocab| taught(vocab, CACHE_LIMIT)))
        };
        let (core, (decoder, known)) = both(at_once, way_forth, way_back);
        let core = core?.with_decoder(decoder.map_err(to_py)?);
        if known.is_some() {
            core.make_ready(known);
        }
        Ok(Self { core, texts, special: special.into_iter().collect() })
    }

    /// The choice to parse the special tokens `taken` and to refuse texts that have one of `refused`.
    fn choose(&self, taken: Vec<String>, refused: Vec<String>) -> PyResult<PyChosen> {
        let normalizer = self.core.prepare().normalizer();
        let chosen = self.core.added().choose(&taken, refused, normalizer).map_err(to_py)?;
        Ok(PyChosen(Arc::new(chosen)))
    }

    /// The ids of one text, as a list.
    #[pyo3(signature = (text, special, strategy=None, draw=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'_, PyAny>,
        special: &Bound<'_, PyAny>,
        strategy: Option<&str>,
        draw: Option<Draw>,
    ) -> PyResult<Bound<'py, PyList>> {
        let ids = self.ids(py, text, special, strategy, draw)?;
        integers::list(py, &ids)
    }

    /// The ids of one text, as a numpy array.
    #[pyo3(signature = (text, special, strategy=None, draw=None))]
    fn encode_array<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'_, PyAny>,
        special: &Bound<'_, PyAny>,
        strategy: Option<&str>,
        draw: Option<Draw>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let ids = self.ids(py, text, special, strategy, draw)?;
        Ok(PyArray1::from_vec(py, ids))
    }

    /// How many ids one text has.
    #[pyo3(signature = (text, special, strategy=None, draw=None))]
    fn count(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        special: &Bound<'_, PyAny>,
        strategy: Option<&str>,
        draw: Option<Draw>,
    ) -> PyResult<usize> {
        Ok(self.ids(py, text, special, strategy, draw)?.len())
    }

    /// The pieces of one text, as texts; what nothing covers stands for itself.
    #[pyo3(signature = (text, special, strategy=None, draw=None))]
    fn tokens<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'_, PyAny>,
        special: &Bound<'_, PyAny>,
        strategy: Option<&str>,
        draw: Option<Draw>,
    ) -> PyResult<Bound<'py, PyList>> {
        // Ids tell texts, unless something is not covered.
        if let Ok(ids) = self.ids(py, text, special, strategy, draw.clone()) {
            let names: Option<Vec<_>> = ids.into_iter().map(|id| self.texts.get(id)).collect();
            if let Some(names) = names {
                return PyList::new(py, names);
            }
        }
        let request = request(special, strategy, draw)?;
        let held = Text::new(text, None)?;
        let text = held.input().text;
        let pieces = py.detach(|| self.core.pieces(held.input(), &request)).map_err(to_py)?;
        let name = |(id, start, end): (u32, usize, usize)| {
            let known = self.texts.get(id).or_else(|| text.get(start..end));
            known.unwrap_or("\u{FFFD}")
        };
        PyList::new(py, pieces.into_iter().map(name).collect::<Vec<_>>())
    }

    /// The ids of many texts, with the offset of each.
    #[pyo3(signature = (texts, special, threads, strategy=None, draw=None))]
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyTuple>,
        special: &Bound<'_, PyAny>,
        threads: usize,
        strategy: Option<&str>,
        draw: Option<Draw>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>)> {
        let request = request(special, strategy, draw)?;
        let texts = Given::new(texts)?;
        let bytes = texts.about_bytes();
        let (threads, size) = divided(texts.len(), bytes, threads);
        let items = texts.stretches(size, self.core.reads_points(&request));
        let arriving = Arriving { items, then: |rest: Rest<'_>| py.detach(rest) };
        let (batch, _) = (self.core.encode_stretches(arriving, bytes, &request, threads))
            .map_err(|failed: Failed| texts.error().unwrap_or_else(|| failed.told(in_text)))?;
        Ok((PyArray1::from_vec(py, batch.ids), PyArray1::from_vec(py, batch.offsets)))
    }

    /// The bytes that ids stand for.
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ids = ids_of(ids)?;
        let bytes = py.detach(|| self.core.decoder().bytes(&ids, skip_special)).map_err(to_py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The text that ids stand for.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let decoder = self.core.decoder();
        let text = written(py, |room| {
            let text = read_along(ids, |ids| decoder.raw_text_in(room, ids, skip_special));
            text.and_then(Result::ok).ok_or(())
        });
        if let Ok(text) = text {
            return Ok(text);
        }
        // What is wrong is told of all ids.
        let ids = ids_of(ids)?;
        let text = written(py, |room| {
            let run = || decoder.raw_text_in(room, &ids, skip_special);
            // Letting go of the interpreter costs more than a few ids.
            if ids.len() < 1024 { run() } else { py.detach(run) }
        });
        text.map_err(to_py)
    }

    /// The texts of many lists of ids; with offsets, they stand in one array.
    #[pyo3(signature = (ids, offsets, skip_special, threads))]
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        offsets: Option<PyReadonlyArray1<'py, i64>>,
        skip_special: bool,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        let (mut lists, ids) = Lists::of(ids, offsets.as_ref())?;
        let options = BatchOptions { skip_specials: skip_special, points: WIDE, threads, ids };
        let mut texts = Vec::new();
        let read = |ids: &mut Vec<u32>| lists.next(ids).map_err(Failed::Coming);
        let take = |text: Decoded<'_>| {
            texts.push(string_of_text(py, text)?);
            Ok(py.check_signals()?)
        };
        let decoded = self.core.decoder().batch(options, read, take, |work| py.detach(work));
        decoded.map_err(|failed: Failed| failed.told(in_list))?;
        Ok(texts)
    }

    /// A stream that takes ids and gives text.
    fn stream(slf: Bound<'_, Self>, skip_special: bool) -> PyStream {
        let stream = Stream::new(slf.get().core.decoder(), skip_special);
        PyStream::new(slf.unbind(), stream)
    }

    /// All merges as pairs of ids, best first.
    fn merges(&self) -> Vec<(u32, u32)> {
        let merges = self.core.model().bpe().map(Bpe::merges).unwrap_or_default();
        merges.into_iter().map(|(_, left, right)| (left, right)).collect()
    }

    /// The n most likely ways to cut a text, with their scores; None without probabilities.
    fn n_best(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        n: usize,
        special: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Vec<ScoredIds>>> {
        let request = request(special, None, None)?;
        let text = text.to_str().map_err(|_| no_utf8(None))?;
        let ways = py.detach(|| self.core.n_best(text, n, &request)).map_err(to_py)?;
        Ok(ways.map(|ways| ways.into_iter().map(|way| (way.score, way.ids)).collect()))
    }

    /// The score of a way to cut a text, that of the text, and the entropy of all ways; None without
    /// probabilities.
    fn likelihood(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        ids: Vec<u32>,
        alpha: f64,
        special: &Bound<'_, PyAny>,
    ) -> PyResult<Option<(f64, f64, f64)>> {
        let request = request(special, None, None)?;
        let text = text.to_str().map_err(|_| no_utf8(None))?;
        let found =
            py.detach(|| self.core.likelihood(text, &ids, alpha, &request)).map_err(to_py)?;
        Ok(found.map(|found| (found.way, found.text, found.entropy)))
    }

    /// The text as the normalizer leaves it, None where that is the text itself.
    fn normalized(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        special: &Bound<'_, PyAny>,
    ) -> PyResult<Option<String>> {
        let request = request(special, None, None)?;
        let text = text.to_str().map_err(|_| no_utf8(None))?;
        py.detach(|| self.core.normalized(text, &request.specials)).map_err(to_py)
    }

    /// The longest beginning of a text for which at most `limit` of its tokens stand.
    #[pyo3(signature = (text, limit, special, strategy=None))]
    fn truncate<'py>(
        &self,
        py: Python<'py>,
        text: &'py Bound<'py, PyString>,
        limit: usize,
        special: &Bound<'_, PyAny>,
        strategy: Option<&str>,
    ) -> PyResult<&'py str> {
        let request = request(special, strategy, None)?;
        let text = text.to_str().map_err(|_| no_utf8(None))?;
        let end = py.detach(|| self.core.truncated(text, limit, &request)).map_err(to_py)?;
        Ok(&text[..end])
    }

    /// The parts of a text, for each of which at most `limit` of its tokens stand.
    #[pyo3(signature = (text, limit, special, strategy=None))]
    fn split<'py>(
        &self,
        py: Python<'py>,
        text: &'py Bound<'py, PyString>,
        limit: usize,
        special: &Bound<'_, PyAny>,
        strategy: Option<&str>,
    ) -> PyResult<Vec<&'py str>> {
        let request = request(special, strategy, None)?;
        let text = text.to_str().map_err(|_| no_utf8(None))?;
        let ends = py.detach(|| self.core.split(text, limit, &request)).map_err(to_py)?;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let ends = ends.iter().copied().chain(std::iter::once(text.len()));
        let parts = starts.zip(ends).map(|(start, end)| &text[start..end]);
        Ok(parts.filter(|part| !part.is_empty()).collect())
    }

    /// What happened to every word of a text: a list of dicts.
    #[pyo3(signature = (text, special, strategy=None, draw=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyString>,
        special: &Bound<'_, PyAny>,
        strategy: Option<&str>,
        draw: Option<Draw>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let request = request(special, strategy, draw)?;
        let text = text.to_str().map_err(|_| no_utf8(None))?;
        let words = py.detach(|| self.core.explain(text, &request)).map_err(to_py)?;
        words.into_iter().map(|word| self.word_dict(py, word)).collect()
    }
}

impl PyTokenizer {
    /// The tokenizer of the core.
    pub(crate) fn core(&self) -> &Tokenizer {
        &self.core
    }

    fn ids(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        special: &Bound<'_, PyAny>,
        strategy: Option<&str>,
        draw: Option<Draw>,
    ) -> PyResult<Vec<u32>> {
        let request = request(special, strategy, draw)?;
        let points = if self.core.reads_points(&request) { eastern_points(text) } else { None };
        if let Some(points) = points
            && let Some(ids) = py.detach(|| self.ids_of_points(&points, &request))
        {
            return ids.map_err(to_py);
        }
        let held = Text::new(text, None)?;
        let input = held.input();
        let run = || {
            let mut worker = self.core.worker();
            let mut ids = Vec::with_capacity(input.text.len() / 3 + 4);
            let result = self.core.encode(input, &request, &mut worker, &mut ids);
            self.core.give_back(worker);
            result.map(|()| ids)
        };
        // Letting go of the interpreter costs more than a short text.
        if input.text.len() < 2048 { run() } else { py.detach(run) }.map_err(to_py)
    }

    /// The ids of a text that stays code points; None if it does not.
    fn ids_of_points(
        &self,
        points: &[u32],
        request: &Request,
    ) -> Option<Result<Vec<u32>, jogak::Error>> {
        let (mut worker, mut ids) = (self.core.worker(), Vec::with_capacity(points.len()));
        let result = self.core.encode_points(points, request, &mut worker, &mut ids);
        self.core.give_back(worker);
        Some(result?.map(|()| ids))
    }

    fn word_dict<'py>(&self, py: Python<'py>, word: WordRecord) -> PyResult<Bound<'py, PyDict>> {
        let name = |id: u32| self.texts.get(id);
        let names = |ids: &[u32]| ids.iter().map(|&id| name(id)).collect::<Vec<_>>();
        let dict = PyDict::new(py);
        dict.set_item("text", &word.text)?;
        dict.set_item("span", word.span)?;
        dict.set_item("special", word.added.is_some_and(|id| self.special.contains(&id)))?;
        dict.set_item("added", word.added.is_some())?;
        dict.set_item("whole", word.whole)?;
        dict.set_item("symbols", names(&word.symbols))?;
        dict.set_item("ids", word.pieces.iter().map(|piece| piece.0).collect::<Vec<_>>())?;
        dict.set_item("tokens", word.pieces.iter().map(|piece| name(piece.0)).collect::<Vec<_>>())?;
        let spans: Vec<_> = word.pieces.iter().map(|piece| (piece.1, piece.2)).collect();
        dict.set_item("spans", spans)?;
        let rank = |left: u32, right: u32| {
            if left == UNKNOWN || right == UNKNOWN { None } else { self.core.rank(left, right) }
        };
        let ranks =
            |ids: &[u32]| -> Vec<_> { ids.windows(2).map(|pair| rank(pair[0], pair[1])).collect() };
        let mut last = word.symbols.clone();
        let mut steps = Vec::new();
        for step in &word.steps {
            let entry = PyDict::new(py);
            entry.set_item("before", names(&step.before))?;
            entry.set_item("ranks", ranks(&step.before))?;
            entry.set_item("at", step.at)?;
            entry.set_item("rank", step.rank)?;
            entry.set_item("product", step.product.and_then(name))?;
            steps.push(entry);
            last.clone_from(&step.before);
            if let Some(product) = step.product {
                last[step.at] = product;
                last.remove(step.at + 1);
            }
        }
        dict.set_item("steps", steps)?;
        dict.set_item("last", names(&last))?;
        dict.set_item("last_ranks", ranks(&last))?;
        let matches: Vec<_> =
            word.matches.iter().map(|&(id, start, end)| (id.and_then(name), start, end)).collect();
        dict.set_item("matches", matches)?;
        let tried: Vec<_> = word.tried.iter().map(|ids| names(ids)).collect();
        dict.set_item("tried", tried)?;
        dict.set_item("stuck", word.stuck)?;
        dict.set_item("too_long", word.too_long)?;
        let candidates: Vec<_> = word
            .candidates
            .iter()
            .map(|one| (name(one.id), one.start, one.end, one.score, one.sum, one.better))
            .collect();
        dict.set_item("candidates", candidates)?;
        let best: Vec<_> = word
            .best
            .into_iter()
            .map(|path| {
                let pieces = path.pieces.into_iter().map(|(id, start, end)| (name(id), start, end));
                (path.score, pieces.collect::<Vec<_>>())
            })
            .collect();
        dict.set_item("best", best)?;
        Ok(dict)
    }
}

/// A way to cut a text: its score and its ids.
type ScoredIds = (f64, Vec<u32>);

/// What is drawn at random, `"dropout"` or `"alpha"`; the number that belongs to it; the seed.
pub(crate) type Draw = (String, f64, u64);

pub(crate) fn request(
    special: &Bound<'_, PyAny>,
    strategy_name: Option<&str>,
    draw: Option<Draw>,
) -> PyResult<Request> {
    let mut request = Request {
        strategy: strategy_name.map(strategy).transpose()?,
        specials: policy(special)?,
        ..Request::default()
    };
    if let Some((what, number, seed)) = draw {
        match what.as_str() {
            "dropout" => request.dropout = Some((number, seed)),
            _ => request.alpha = Some((number, seed)),
        }
    }
    Ok(request)
}

/// The error, saying which text of a batch it is about.
pub(crate) fn in_text(index: usize, error: PyErr) -> PyErr {
    in_batch("text", index, error)
}

/// The error, saying which list of ids it is about.
pub(crate) fn in_list(index: usize, error: PyErr) -> PyErr {
    in_batch("list", index, error)
}

/// The error, saying which document of a corpus it is about.
pub(crate) fn in_document(number: u64, error: PyErr) -> PyErr {
    told(error, &format!("document {number} of the corpus"))
}

fn in_batch(what: &str, index: usize, error: PyErr) -> PyErr {
    told(error, &format!("{what} {index} of the batch"))
}

/// The error, with its place before its message.
fn told(error: PyErr, place: &str) -> PyErr {
    Python::attach(|py| {
        let value = error.value(py);
        let told = format!("{place}: {value}");
        value.setattr("args", (told,)).map_or_else(|failure| failure, |()| error)
    })
}
