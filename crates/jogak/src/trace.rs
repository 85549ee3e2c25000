//! Encoding, written down: an observer of the production path that keeps what it sees.

use crate::error::Result;
use crate::model::{Scratch, Sink};
use crate::observe::{Silent, WordObserver};
use crate::pipeline::{Request, Tokenizer};
use crate::prepare::Part;

/// What happened to one word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordRecord {
    /// The word as the model saw it, or the text of a special token.
    pub text: String,
    /// The bytes of the original text that it came from.
    pub span: (usize, usize),
    /// The id of the special token that it is.
    pub special: Option<u32>,
    /// The first symbols; [`crate::symbols::UNKNOWN`] for a character outside the alphabet.
    pub symbols: Vec<u32>,
    /// Merges, and merges that dropout set aside, in order.
    pub steps: Vec<MergeRecord>,
    /// What a greedy strategy put where: id (None: nothing covers this) and bytes of the word.
    pub matches: Vec<(Option<u32>, usize, usize)>,
    /// The word was taken whole from the vocabulary.
    pub whole: bool,
    /// For each of the matches, the ids of all pieces that match there, shortest first, where the
    /// model looks at them.
    pub tried: Vec<Vec<u32>>,
    /// The byte of the word where no piece matches, so that all of it is unknown.
    pub stuck: Option<usize>,
    /// How many characters the word has, and how many it may have, where that made it unknown.
    pub too_long: Option<(usize, usize)>,
    /// The pieces that came out, with the bytes of the original text that each stands for.
    pub pieces: Vec<(u32, usize, usize)>,
}

/// One step of merging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeRecord {
    /// The pieces of the word before the step.
    pub before: Vec<u32>,
    /// Index of the left piece of the pair.
    pub at: usize,
    /// The merge's rank.
    pub rank: u32,
    /// The product; None if dropout set the pair aside.
    pub product: Option<u32>,
}

/// Keeps what happens to a word.
#[derive(Debug, Default)]
struct Recorder {
    record: WordRecord,
    /// The word as it is now: id, and the first symbol it starts with.
    now: Vec<(u32, usize)>,
    /// What matches at the place that is being looked at.
    here: Vec<u32>,
}

impl Recorder {
    fn step(&mut self, start: usize, rank: u32, product: Option<u32>) {
        let Some(at) = self.now.iter().position(|&(_, first)| first == start) else { return };
        let before = self.now.iter().map(|&(id, _)| id).collect();
        self.record.steps.push(MergeRecord { before, at, rank, product });
        if let Some(product) = product {
            self.now[at].0 = product;
            self.now.remove(at + 1);
        }
    }
}

impl WordObserver for Recorder {
    fn symbols(&mut self, ids: &[u32]) {
        self.record.symbols = ids.to_vec();
        self.now = ids.iter().copied().zip(0..).collect();
    }

    fn merged(&mut self, at: usize, rank: u32, id: u32) {
        self.step(at, rank, Some(id));
    }

    fn dropped(&mut self, at: usize, rank: u32) {
        self.step(at, rank, None);
    }

    fn matched(&mut self, start: usize, end: usize, id: Option<u32>) {
        self.record.matches.push((id, start, end));
        self.record.tried.push(std::mem::take(&mut self.here));
    }

    fn whole(&mut self, _id: u32) {
        self.record.whole = true;
    }

    fn tried(&mut self, _start: usize, _end: usize, id: u32) {
        self.here.push(id);
    }

    fn stuck(&mut self, at: usize) {
        self.record.stuck = Some(at);
    }

    fn too_long(&mut self, characters: usize, limit: usize) {
        self.record.too_long = Some((characters, limit));
    }
}

/// The spans of pieces, kept apart from the observer: one is lent as a sink, the other as observer.
#[derive(Debug, Default)]
struct Spans(Vec<(u32, usize, usize)>);

impl Sink for Spans {
    fn piece(&mut self, id: u32, start: usize, end: usize) {
        self.0.push((id, start, end));
    }

    fn extend_last(&mut self, end: usize) {
        if let Some(last) = self.0.last_mut() {
            last.2 = end;
        }
    }
}

impl Tokenizer {
    /// The pieces of a text with the bytes of the text that each stands for. Where nothing covers a
    /// character and there is no unknown piece, it comes as [`crate::symbols::UNKNOWN`].
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], but for uncovered characters.
    pub fn pieces(&self, text: &str, request: &Request) -> Result<Vec<(u32, usize, usize)>> {
        let mut way = self.way(request, 0);
        way.keep_uncovered = true;
        let mut scratch = Scratch::default();
        let mut pieces = Vec::new();
        self.for_each_word(text, request, |part| {
            let (word, origin) = match part {
                WordPart::Special(id, start, end) => {
                    pieces.push((id, start, end));
                    return Ok(());
                }
                WordPart::Word(word, origin) => (word, origin),
            };
            let mut spans = Spans::default();
            self.model().word(word, &mut way, &mut scratch, &mut spans, &mut Silent)?;
            pieces.extend(spans.0.iter().map(|&(id, from, to)| (id, origin(from), origin(to))));
            Ok(())
        })?;
        Ok(pieces)
    }

    /// Encodes `text` as [`Tokenizer::encode`] does and tells what happened. Cost: quadratic in the
    /// length of a word.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn explain(&self, text: &str, request: &Request) -> Result<Vec<WordRecord>> {
        let mut way = self.way(request, 0);
        let mut scratch = Scratch::default();
        let mut words = Vec::new();
        self.for_each_word(text, request, |part| {
            let (word, origin) = match part {
                WordPart::Special(id, start, end) => {
                    words.push(WordRecord {
                        text: text[start..end].to_owned(),
                        span: (start, end),
                        special: Some(id),
                        pieces: vec![(id, start, end)],
                        ..WordRecord::default()
                    });
                    return Ok(());
                }
                WordPart::Word(word, origin) => (word, origin),
            };
            let mut recorder = Recorder::default();
            let mut spans = Spans::default();
            self.model().word(word, &mut way, &mut scratch, &mut spans, &mut recorder)?;
            recorder.record.text = word.to_owned();
            recorder.record.span = (origin(0), origin(word.len()));
            recorder.record.pieces =
                spans.0.iter().map(|&(id, from, to)| (id, origin(from), origin(to))).collect();
            words.push(recorder.record);
            Ok(())
        })?;
        Ok(words)
    }

    /// Calls `each` with every word and special token, and the way from a byte of the word to the byte
    /// of the text that it came from.
    fn for_each_word(
        &self,
        text: &str,
        request: &Request,
        mut each: impl FnMut(WordPart<'_>) -> Result<()>,
    ) -> Result<()> {
        self.specials().for_each(text, request.specials, |part| {
            let (part, base) = match part {
                Part::Special(id, start, end) => return each(WordPart::Special(id, start, end)),
                Part::Text(part, base) => (part, base),
            };
            let mut scratch = String::new();
            let origins = self.prepare().origins(part, base == 0);
            let prepared = self.prepare().text(part, base == 0, &mut scratch);
            let mut result = Ok(());
            self.prepare().pretokenizer().for_each(prepared, |start, end| {
                if result.is_ok() {
                    let origin = |at: usize| base + origins[start + at];
                    result = each(WordPart::Word(&prepared[start..end], &origin));
                }
            })?;
            result
        })
    }

    /// The rank of the merge of two pieces, if they merge.
    pub fn rank(&self, left: u32, right: u32) -> Option<u32> {
        self.model().bpe().and_then(|bpe| bpe.merge(left, right)).map(|(rank, _)| rank)
    }
}

/// A word, or a special token's id with its place.
enum WordPart<'a> {
    Word(&'a str, &'a dyn Fn(usize) -> usize),
    Special(u32, usize, usize),
}
