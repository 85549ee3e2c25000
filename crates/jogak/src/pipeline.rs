//! prepare -> model -> ids: the tokenizer that runs.
//!
//! Rule: composes and decides nothing. A [`Tokenizer`] is immutable and shared between threads; what
//! changes while encoding lives in a [`Worker`], one for each thread.

mod answer;
mod batch;
mod characters;
mod even;
mod fuse;
mod joined;
mod parts;
mod points;
mod raw;
mod runs;
mod share;
mod singles;
mod strange;
mod sums;
mod texts;
mod unigram;
mod words;
mod worker;

use std::ops::RangeInclusive;
use std::sync::Mutex;

use crate::added::{Added, Inner, Input, Part, SpecialPolicy, trusted_images};
use crate::cache::WordTable;
use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::model::cuts::MARK;
use crate::model::{Model, Strategy, Way};
use crate::normalize::{Origins, Place};
use crate::observe::Silent;
use crate::prepare::{self, Marks, Prepare, Prepared};
use crate::random::SplitMix64;

pub use batch::{Batch, Stretch, Text, divided};
pub(crate) use batch::{numbered, stretches};
use fuse::fuse;
pub use points::EASTERN;
pub use share::{Arriving, Rest};
pub use worker::{CACHE_LIMIT, Worker, taught};
use worker::{Idle, Learned};

/// Texts up to so many bytes are cut as one word with spaces for marks: whatever rules make of them has less than 4 GiB.
const LONGEST_TEXT: usize = 1 << 28;

/// A tokenizer, compiled.
#[derive(Debug)]
pub struct Tokenizer {
    prepare: Prepare,
    added: Added,
    model: Model,
    decoder: Decoder,
    cache_limit: usize,
    /// Whether words are looked up as they stand in the text.
    looks_up_raw: bool,
    /// Words are cut whatever they begin with.
    cuts_all_words: bool,
    /// First bytes of the characters in texts that are cut before words are looked up.
    cut_first: Option<RangeInclusive<u8>>,
    /// Each text is one word.
    leaves_whole: bool,
    /// Each text is one word that is cut, and remembered with spaces where these marks are to be.
    spaced: Option<Marks>,
    /// Tokens that are left in texts and found in parts of them.
    inner: Option<Box<Inner>>,
    /// The pieces that are words as they stand in the text, in order.
    raw_pieces: Box<[u32]>,
    /// How code points are read, if they are.
    reads: Option<points::Reads>,
    density: batch::Density,
    /// Workers that nobody uses at the moment. Never waited for: who finds the list taken makes a
    /// new worker, so that a process forked at the wrong moment does not hang.
    idle: Mutex<Idle>,
}

/// How to encode, for one call.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Another strategy than the tokenizer's own.
    pub strategy: Option<Strategy>,
    /// The probability with which a merge is dropped, and the seed to draw from.
    pub dropout: Option<(f64, u64)>,
    /// The power of probabilities with which a segmentation is drawn (Unigram), and the seed.
    pub alpha: Option<(f64, u64)>,
    /// What to do with the texts of special tokens.
    pub specials: SpecialPolicy,
    /// The number of the first text: each is drawn for by its own number.
    pub first: u64,
}

impl Tokenizer {
    /// Puts the rooms together. There is no way back from ids before [`Tokenizer::with_decoder`].
    pub fn new(prepare: Prepare, added: Added, model: Model, cache_limit: usize) -> Self {
        let looks_up_raw = raw::suits(&prepare, &model);
        let leaves_whole = prepare.leaves_whole();
        let cuts_all_words = model.cuts_all_words(leaves_whole);
        let cut_first = raw::cut_first(&prepare, &model).filter(|_| looks_up_raw);
        let spaced = prepare.marks(MARK).filter(|_| {
            let is_cut = leaves_whole && cuts_all_words && model.cuts().is_some();
            is_cut && !looks_up_raw
        });
        let inner = words::inner(&prepare, &added, &model);
        let reads = points::Reads::new(&prepare, &added, inner.as_deref(), &model)
            .filter(|_| !looks_up_raw);
        let raw_pieces = if looks_up_raw { raw::pieces(&prepare, &model) } else { Box::default() };
        Self {
            prepare,
            added,
            model,
            decoder: Decoder::default(),
            cache_limit,
            looks_up_raw,
            cuts_all_words,
            cut_first,
            leaves_whole,
            spaced,
            inner,
            raw_pieces,
            reads,
            density: batch::Density::default(),
            idle: Mutex::default(),
        }
    }

    /// The same with a way back.
    #[must_use]
    pub fn with_decoder(self, decoder: Decoder) -> Self {
        Self { decoder, ..self }
    }

    /// The way back from ids.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The front half.
    pub fn prepare(&self) -> &Prepare {
        &self.prepare
    }

    /// The tokens that are found in texts.
    pub fn added(&self) -> &Added {
        &self.added
    }

    /// The way of a request for the text number `index` of a batch (each has its own stream).
    pub(crate) fn way(&self, request: &Request, index: u64) -> Way {
        let stream =
            |seed: u64| SplitMix64::new(seed.wrapping_add(index.wrapping_mul(0x9E37_79B9)));
        Way {
            strategy: request.strategy,
            dropout: request.dropout.map(|(p, seed)| (p, stream(seed))),
            alpha: request.alpha.map(|(alpha, seed)| (alpha, stream(seed))),
            keep_uncovered: false,
            is_no_piece: false,
        }
    }

    /// Appends the ids of `text` to `out`.
    ///
    /// # Errors
    /// [`crate::Error::NotCovered`], [`crate::Error::SpecialInText`],
    /// [`crate::Error::PatternGaveUp`]; `out` then holds part of the answer.
    pub fn encode<'a>(
        &self,
        text: impl Into<Input<'a>>,
        request: &Request,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        self.encode_numbered(text.into(), request, 0, worker, out)
    }

    fn encode_numbered(
        &self,
        input: Input<'_>,
        request: &Request,
        index: u64,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let mut way = self.way(request, request.first.wrapping_add(index));
        let drawn = way.dropout.is_some() || way.alpha.is_some();
        let remember = !drawn && self.model.is_own(way.strategy);
        let policy = &request.specials;
        let left = self.inner.as_deref().filter(|_| remember);
        let left = left.filter(|inner| may_leave(inner, input, policy));
        let looks_twice = match left {
            Some(inner) => inner.looks_twice(policy),
            None => self.looks_twice(input, policy),
        };
        let raw = self.raw_of(input.text).filter(|_| remember && !looks_twice);
        let spaced = self.spaced.filter(|_| remember && input.text.len() <= LONGEST_TEXT);
        // What rules do is done without them.
        let unruled = spaced.is_some_and(|marks| marks.are_by_rules() && !looks_twice);
        // Lent to the words while they are cut.
        let mut prepared = std::mem::take(&mut worker.prepared);
        let prepare::Scratch { normalized, written } = &mut prepared;
        let words = |ready: Prepared<'_>,
                     way: &mut Way,
                     worker: &mut Worker,
                     out: &mut Vec<u32>| {
            match left.and_then(|inner| Some((inner, inner.runs()?))) {
                Some((inner, tabs)) => self.by_runs(inner, tabs, ready.text, way, worker, out),
                None if remember => self.remembered(ready, way, worker, out),
                None => self.plainly(ready, way, worker, out),
            }
        };
        let result = self.added.for_each_but(left, input, policy, |part| {
            let (part, place, base) = match part {
                Part::Token(id, ..) => {
                    out.push(id);
                    return Ok(());
                }
                Part::Text(part, place, base) => (part, place, base),
            };
            if let Some(raw) = raw
                && self.raw(raw, part, place, &mut way, worker, out)
            {
                return Ok(());
            }
            let text = match unruled {
                true => part,
                false => self.prepare.normalized(part, place, normalized)?,
            };
            if !looks_twice || text.is_empty() {
                let place = self.prepare.place(part, text, place)?;
                if let Some(marks) = spaced {
                    let text = marks.spaced(text, place, unruled, written);
                    return self.by_text(text, &mut way, worker, out);
                }
                let origins = || Ok(self.prepare.normalizer().aligned(part, place)?.1);
                let ready = self.prepare.written(text, place, written, origins)?;
                return words(ready, &mut way, worker, out);
            }
            let images = self.images(input, part, place, base)?;
            let inner = Input { text, trusted: images.as_deref() };
            let found = self.added.for_each_normalized_but(left, inner, place, policy, |found| {
                match found {
                    Part::Token(id, ..) => {
                        out.push(id);
                        Ok(())
                    }
                    Part::Text(text, inner, _) if let Some(marks) = spaced => {
                        let text = marks.spaced(text, inner, false, written);
                        self.by_text(text, &mut way, worker, out)
                    }
                    Part::Text(text, inner, from) => {
                        // The start of the text is asked for, and only the first stretch can be there.
                        let origins = || {
                            if from > 0 {
                                return Ok(Origins::same(text.len()));
                            }
                            let (_, origins) = self.prepare.normalizer().aligned(part, place)?;
                            Ok(origins.part(0, text.len()).0)
                        };
                        let ready = self.prepare.written(text, inner, written, origins)?;
                        words(ready, &mut way, worker, out)
                    }
                }
            });
            found.map_err(|error| self.in_original(error, part, place, base))
        });
        worker.prepared = prepared;
        result.map_err(|error| in_characters(error, input.text))
    }

    /// Appends the ids of a text that was made ready but that it has spaces for marks.
    fn by_text(
        &self,
        text: &str,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let before = out.len();
        let ends = [text.len() as u32];
        let mut fuse_all = |out: &mut Vec<u32>| self.fuse_all(before, out);
        self.by_texts((text, &ends), way, worker, out, &mut fuse_all)
    }

    /// Whether tokens are to be looked for in what becomes of a text.
    #[inline]
    fn looks_twice(&self, input: Input<'_>, policy: &SpecialPolicy) -> bool {
        match input.trusted {
            Some(_) => self.added.looks_twice(policy, true),
            None => self.added.may_look_twice(input.text, policy),
        }
    }

    /// Where the trusted stretches of a text are in the normalized form of a part of it.
    pub(crate) fn images(
        &self,
        input: Input<'_>,
        part: &str,
        place: Place,
        base: usize,
    ) -> Result<Option<Vec<(usize, usize)>>> {
        let Some(trusted) = input.trusted else { return Ok(None) };
        let (text, origins) = self.prepare.normalizer().aligned(part, place)?;
        Ok(Some(trusted_images(trusted, &text, &origins, base, part.len())))
    }

    /// An error about the normalized form of the part of a text that starts at `base`, as one about the
    /// text.
    #[cold]
    pub(crate) fn in_original(&self, error: Error, part: &str, place: Place, base: usize) -> Error {
        match error {
            Error::SpecialInText { token, at } => {
                let origins = self.prepare.normalizer().aligned(part, place);
                let at = origins.map_or(0, |(_, origins)| origins.span(at, at).0);
                Error::SpecialInText { token, at: base + at }
            }
            other => other,
        }
    }

    /// Encodes with the worker's memory of words.
    fn remembered(
        &self,
        ready: Prepared<'_>,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if let Some(model) = self.model.unigram() {
            let (text, Worker { learned: Learned { parts, .. }, scratch, .. }) =
                (ready.text, worker);
            // Where pieces that stand for unknown characters are written out, nothing is remembered.
            let reserved = model.has_reserved(text);
            let limit = || self.shares().parts;
            let table = parts.get_or_insert_with(|| Box::new(WordTable::new(0, limit())));
            let mut result = Ok(());
            self.prepare.for_each(ready, |start, end| {
                if result.is_ok() {
                    result = if reserved {
                        self.model.word(&text[start..end], way, scratch, out, &mut Silent)
                    } else {
                        unigram::word(model, text, start, end, table, scratch, out)
                    };
                }
            })?;
            return result;
        }
        self.by_words(ready, way, worker, out)
    }

    fn plainly(
        &self,
        ready: Prepared<'_>,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let Worker { scratch, .. } = worker;
        let before = out.len();
        let text = ready.text;
        let mut result = Ok(());
        self.prepare.for_each(ready, |start, end| {
            if result.is_ok() {
                result = self.model.word(&text[start..end], way, scratch, out, &mut Silent);
            }
        })?;
        if let Some(unknown) = self.model.fuses_words() {
            fuse(out, before, unknown);
        }
        result
    }
}

/// Whether tokens may be left in a text.
fn may_leave(inner: &Inner, input: Input<'_>, policy: &SpecialPolicy) -> bool {
    let chosen = matches!(policy, SpecialPolicy::Chosen(_));
    !chosen && input.trusted.is_none() && inner.suits(input.text)
}

/// The error with its place in characters rather than bytes of `text`.
#[cold]
pub(crate) fn in_characters(error: Error, text: &str) -> Error {
    match error {
        Error::SpecialInText { token, at } => {
            let at = text.char_indices().take_while(|&(byte, _)| byte < at).count();
            Error::SpecialInText { token, at }
        }
        other => other,
    }
}
