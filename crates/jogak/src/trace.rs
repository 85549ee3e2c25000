//! Encoding, written down: an observer of the production path that keeps what it sees.

use crate::added::{Input, Part, SpecialPolicy};
use crate::error::Result;
use crate::model::unigram::{Path, Running};
use crate::model::{Scratch, Sink, Unigram, Way};
use crate::normalize::{Buffers, Origins, Place};
use crate::observe::{Silent, WordObserver};
use crate::pipeline::{Request, Tokenizer, in_characters};

/// What happened to one word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordRecord {
    /// The word as the model saw it, or the text of a token that was found before.
    pub text: String,
    /// The bytes of the original text that it came from.
    pub span: (usize, usize),
    /// The id of the token that it is, where one was found before the text was cut.
    pub added: Option<u32>,
    /// The first symbols; [`crate::symbols::UNKNOWN`] for a character outside the alphabet.
    pub symbols: Vec<u32>,
    /// Merges, and merges that dropout set aside, in order.
    pub steps: Vec<MergeRecord>,
    /// What a greedy strategy put where: id (None: nothing covers this) and bytes of the word.
    pub matches: Vec<(Option<u32>, usize, usize)>,
    /// Every piece that may stand in the word, in the order in which they were looked at (Unigram).
    pub candidates: Vec<CandidateRecord>,
    /// The best way and the next best one, if there is one, in sums of 64 bits (Unigram, where nothing
    /// is drawn at random).
    pub best: Vec<Path>,
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

/// A piece that may stand somewhere in a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateRecord {
    /// The piece; [`crate::symbols::UNKNOWN`] for an unknown character.
    pub id: u32,
    /// The bytes of the word that it stands for.
    pub start: usize,
    /// Where they end.
    pub end: usize,
    /// Its score.
    pub score: f64,
    /// The best sum of scores from the start of the text to its end that ends with it.
    pub sum: f64,
    /// Whether that was the best sum so far at this place.
    pub better: bool,
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

    fn candidate(&mut self, start: usize, end: usize, id: u32, score: f64, sum: f64, better: bool) {
        let candidate = CandidateRecord { id, start, end, score, sum, better };
        self.record.candidates.push(candidate);
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
    pub fn pieces<'a>(
        &self,
        text: impl Into<Input<'a>>,
        request: &Request,
    ) -> Result<Vec<(u32, usize, usize)>> {
        let mut pieces = Vec::new();
        self.run_pieces(text.into(), request, true, |piece| {
            pieces.push(piece);
            true
        })?;
        Ok(pieces)
    }

    /// As [`Tokenizer::pieces`], one by one until `each` returns false; what nothing covers is an error.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn for_each_piece(
        &self,
        input: Input<'_>,
        request: &Request,
        each: impl FnMut((u32, usize, usize)) -> bool,
    ) -> Result<()> {
        self.run_pieces(input, request, false, each)
    }

    fn run_pieces(
        &self,
        input: Input<'_>,
        request: &Request,
        keep_uncovered: bool,
        mut each: impl FnMut((u32, usize, usize)) -> bool,
    ) -> Result<()> {
        let mut way = self.way(request, 0);
        way.keep_uncovered = keep_uncovered;
        let mut scratch = Scratch::default();
        let mut spans = Spans::default();
        let mut goes_on = true;
        // A run of unknown words has one piece, where the model says so; it ends with what follows.
        let fused = self.model().fuses_words();
        let mut held: Option<(u32, usize, usize)> = None;
        self.for_each_word(input, request, |part| {
            let (word, span) = match part {
                _ if !goes_on => return Ok(()),
                WordPart::Token(id, start, end) => {
                    goes_on = held.take().is_none_or(&mut each) && each((id, start, end));
                    return Ok(());
                }
                WordPart::Word(word, span) => (word, span),
            };
            spans.0.clear();
            self.model().word(word, &mut way, &mut scratch, &mut spans, &mut Silent)?;
            for (number, &piece) in spans.0.iter().enumerate() {
                let piece = with_origin(piece, span);
                if let Some(last) = held.as_mut().filter(|last| number == 0 && last.0 == piece.0) {
                    last.2 = piece.2;
                    continue;
                }
                goes_on = goes_on && held.take().is_none_or(&mut each);
                if fused == Some(piece.0) {
                    held = Some(piece);
                } else {
                    goes_on = goes_on && each(piece);
                }
            }
            Ok(())
        })?;
        if goes_on && let Some(last) = held {
            each(last);
        }
        Ok(())
    }

    /// A run of unknown words has one piece, where the model says so: that of its first word.
    fn fuse_words(
        &self,
        found: &mut Vec<(u32, usize, usize)>,
        last: Option<&mut (u32, usize, usize)>,
    ) {
        if let (Some(unknown), Some(last), Some(&(id, _, end))) =
            (self.model().fuses_words(), last, found.first())
            && unknown == id
            && unknown == last.0
        {
            last.2 = end;
            found.remove(0);
        }
    }

    /// Encodes `text` as [`Tokenizer::encode`] does and tells what happened. Cost: quadratic in the
    /// length of a word.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn explain(&self, text: &str, request: &Request) -> Result<Vec<WordRecord>> {
        let mut way = self.way(request, 0);
        let mut scratch = Scratch::default();
        let mut words: Vec<WordRecord> = Vec::new();
        // The last word of this stretch of text that has pieces.
        let mut last: Option<usize> = None;
        self.for_each_word(text.into(), request, |part| {
            let (word, span) = match part {
                WordPart::Token(id, start, end) => {
                    last = None;
                    words.push(WordRecord {
                        text: text[start..end].to_owned(),
                        span: (start, end),
                        added: Some(id),
                        pieces: vec![(id, start, end)],
                        ..WordRecord::default()
                    });
                    return Ok(());
                }
                WordPart::Word(word, span) => (word, span),
            };
            if let Some(model) = self.model().unigram() {
                return unigram_word(model, word, span, &mut way, &mut scratch, &mut words);
            }
            let mut recorder = Recorder::default();
            let mut spans = Spans::default();
            self.model().word(word, &mut way, &mut scratch, &mut spans, &mut recorder)?;
            recorder.record.text = self.model().seen(word).into_owned();
            recorder.record.span = span(0, word.len());
            recorder.record.pieces =
                spans.0.iter().map(|&piece| with_origin(piece, span)).collect();
            let before = last.and_then(|at| words[at].pieces.last_mut());
            self.fuse_words(&mut recorder.record.pieces, before);
            if !recorder.record.pieces.is_empty() {
                last = Some(words.len());
            }
            words.push(recorder.record);
            Ok(())
        })?;
        Ok(words)
    }

    /// The text as the rules of normalization leave it, tokens that are found before as they stand; None if that is
    /// the text itself. What a pre-tokenizer writes into words (`▁`) is no part of it.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn normalized(&self, text: &str, policy: &SpecialPolicy) -> Result<Option<String>> {
        let mut buffers = Buffers::default();
        let mut out = String::new();
        let result = self.added().for_each(text.into(), policy, |part| {
            match part {
                Part::Token(_, start, end) => out.push_str(&text[start..end]),
                Part::Text(part, place, _) => {
                    let rules = self.prepare().normalizer();
                    out.push_str(rules.text(part, place, &mut buffers)?);
                }
            }
            Ok(())
        });
        result.map_err(|error| in_characters(error, text))?;
        Ok((out != text).then_some(out))
    }

    /// Calls `each` with every word and every token that is found before, and the way from bytes of the
    /// word to the bytes of the text that they stand for.
    pub(crate) fn for_each_word(
        &self,
        input: Input<'_>,
        request: &Request,
        mut each: impl FnMut(WordPart<'_>) -> Result<()>,
    ) -> Result<()> {
        let (added, policy) = (self.added(), &request.specials);
        let looks_twice = added.looks_twice(policy, input.trusted.is_some());
        let result = added.for_each(input, policy, |part| {
            let (part, place, base) = match part {
                Part::Token(id, start, end) => return each(WordPart::Token(id, start, end)),
                Part::Text(part, place, base) => (part, place, base),
            };
            let (text, origins) = self.prepare().normalizer().aligned(part, place)?;
            if !looks_twice || text.is_empty() {
                let place = self.prepare().place(part, &text, place)?;
                return self.stretch(text, origins, place, base, &mut each);
            }
            let images = self.images(input, part, place, base)?;
            let inner = Input { text: &text, trusted: images.as_deref() };
            let found = added.for_each_normalized(inner, place, policy, |part| match part {
                Part::Token(id, from, to) => {
                    let (start, end) = origins.span(from, to);
                    each(WordPart::Token(id, base + start, base + end))
                }
                Part::Text(text, place, from) => {
                    let (origins, shift) = origins.part(from, from + text.len());
                    self.stretch(text.to_owned(), origins, place, base + shift, &mut each)
                }
            });
            found.map_err(|error| self.in_original(error, part, place, base))
        });
        result.map_err(|error| in_characters(error, input.text))
    }

    /// As [`Tokenizer::for_each_word`], of a stretch of normalized text without tokens.
    fn stretch(
        &self,
        text: String,
        origins: Origins,
        place: Place,
        base: usize,
        each: &mut impl FnMut(WordPart<'_>) -> Result<()>,
    ) -> Result<()> {
        let aligned = self.prepare().written_aligned(text, origins, place)?;
        let (ready, origins) = (aligned.prepared(), &aligned.origins);
        let mut result = Ok(());
        self.prepare().for_each(ready, |start, end| {
            if result.is_ok() {
                let span = |from: usize, to: usize| {
                    let (from, to) = origins.span(start + from, start + to);
                    (base + from, base + to)
                };
                result = each(WordPart::Word(&ready.text[start..end], &span));
            }
        })?;
        result
    }

    /// The rank of the merge of two pieces, if they merge.
    pub fn rank(&self, left: u32, right: u32) -> Option<u32> {
        self.model().bpe().and_then(|bpe| bpe.merge(left, right)).map(|(rank, _)| rank)
    }
}

/// The bytes of the text that the bytes `from..to` of a word stand for.
pub(crate) type SpanOf<'a> = &'a dyn Fn(usize, usize) -> (usize, usize);

fn with_origin((id, from, to): (u32, usize, usize), span: SpanOf<'_>) -> (u32, usize, usize) {
    let (start, end) = span(from, to);
    (id, start, end)
}

/// Writes down a word that a Unigram model cuts, each part that no piece connects as one of its own; all
/// of it as one where a segmentation is drawn.
fn unigram_word(
    model: &Unigram,
    word: &str,
    span: SpanOf<'_>,
    way: &mut Way,
    scratch: &mut Scratch,
    words: &mut Vec<WordRecord>,
) -> Result<()> {
    let mut parts = Vec::new();
    match way.alpha {
        None => model.for_each_part(word, |start, end| parts.push((start, end))),
        Some(_) => parts.push((0, word.len())),
    }
    let mut running = Running::default();
    // The last part that has pieces.
    let mut before: Option<usize> = None;
    for (start, end) in parts {
        let part = &word[start..end];
        let mut recorder = Recorder::default();
        let mut spans = Spans::default();
        let mut best = Vec::new();
        match &mut way.alpha {
            None => {
                model.part(part, &mut running, &mut scratch.viterbi, &mut recorder)?;
                let path = scratch.viterbi.path().iter().copied();
                model.write(part, path, way.keep_uncovered, &mut spans)?;
                best = model.lattice_of_search(part)?.best(2)?;
            }
            Some((alpha, random)) => {
                let path = model.lattice(part)?.sample(*alpha, random);
                model.write(part, path.pieces, way.keep_uncovered, &mut spans)?;
            }
        }
        let mut pieces: Vec<_> = spans
            .0
            .iter()
            .map(|&(id, from, to)| with_origin((id, start + from, start + to), span))
            .collect();
        // A run of unknown characters may go on from the part before.
        let unknown = |piece: Option<&(u32, usize, usize)>| {
            model.fuses() && piece.is_some_and(|piece| Some(piece.0) == model.unknown())
        };
        if unknown(pieces.first())
            && let Some(last) = before.and_then(|at: usize| words[at].pieces.last_mut())
            && unknown(Some(last))
        {
            last.2 = pieces.remove(0).2;
        }
        if !pieces.is_empty() {
            before = Some(words.len());
        }
        let record = recorder.record;
        let text = part.to_owned();
        words.push(WordRecord { text, span: span(start, end), pieces, best, ..record });
    }
    Ok(())
}

/// A word, or the id of a token that was found before, with its place.
pub(crate) enum WordPart<'a> {
    Word(&'a str, SpanOf<'a>),
    Token(u32, usize, usize),
}
