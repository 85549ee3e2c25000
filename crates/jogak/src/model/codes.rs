//! BPE as subword-nmt runs it with a vocabulary and glossaries: merges whose piece is not kept are undone,
//! and what a glossary names stays whole, wherever it stands in a word.
//!
//! Rule: merges are [`Bpe`]'s; what is done before and after them stands here.

use rustc_hash::FxHashMap;

use super::bpe::Bpe;
use super::merge::Merger;
use super::{Sink, Strategy, Way};
use crate::error::{Error, Result};
use crate::observe::WordObserver;
use crate::pretokenize::Finder;
use crate::symbols::Marker;

/// One glossary as expressions.
#[derive(Debug, Clone)]
pub struct GlossaryPattern {
    /// Finds the glossary.
    pub inside: String,
    /// Matches at the start of what the glossary is all of.
    pub alone: String,
}

/// What a model of codes has beside its BPE.
#[derive(Debug, Clone, Default)]
pub struct CodesParts {
    /// The ids that may come out of merges; None for all.
    pub kept: Option<Vec<u32>>,
    /// What stays whole.
    pub glossaries: Vec<GlossaryPattern>,
    /// Matches at the start of what any of the glossaries is all of.
    pub whole: String,
}

/// A glossary, compiled.
#[derive(Debug)]
struct Glossary {
    inside: Finder,
    alone: Finder,
}

/// BPE with a vocabulary and glossaries, compiled.
#[derive(Debug)]
pub struct Codes {
    bpe: Bpe,
    /// Pieces that are not kept -> what they were merged of.
    undone: FxHashMap<u32, (u32, u32)>,
    /// Pieces that end a word -> the same within a word; None if nothing is left of it.
    inner: FxHashMap<u32, Option<u32>>,
    glossaries: Vec<Glossary>,
    whole: Option<Finder>,
    /// What ends a word, and whether it is glued to the last character.
    end: (String, bool),
}

impl Codes {
    /// Compiles the model; `marker` is that of `bpe`, and ends words.
    ///
    /// # Errors
    /// [`Error::Pattern`] for an expression that is none; [`Error::Config`] if a piece that ends a word
    /// has no other piece to stand for it before a glossary.
    pub fn new(bpe: Bpe, marker: &Marker, parts: CodesParts) -> Result<Self> {
        let Marker::Suffix { text, joined } = marker else {
            return Err(Error::Config {
                option: "marker",
                found: "none that ends words".into(),
                expected: "a suffix".into(),
            });
        };
        let vocab = bpe.vocab();
        let mut undone = FxHashMap::default();
        if let Some(kept) = &parts.kept {
            let mut is_kept = vec![false; vocab.len()];
            for &id in kept {
                if let Some(is_kept) = is_kept.get_mut(id as usize) {
                    *is_kept = true;
                }
            }
            for (_, left, right) in bpe.merges() {
                let product = bpe.merge(left, right).map(|(_, product)| product);
                if let Some(product) = product.filter(|&id| !is_kept[id as usize]) {
                    // Of several merges that make a piece the first is undone.
                    undone.entry(product).or_insert((left, right));
                }
            }
        }
        let mut inner = FxHashMap::default();
        if !parts.glossaries.is_empty() {
            for id in 0..vocab.len() as u32 {
                let bare = vocab.piece(id).and_then(|piece| piece.strip_suffix(text.as_bytes()));
                let Some(bare) = bare else { continue };
                let within = vocab.id(bare).filter(|_| !bare.is_empty());
                if within.is_none() && (*joined || !bare.is_empty()) {
                    return Err(Error::Config {
                        option: "pieces",
                        found: format!("a list without {:?}", String::from_utf8_lossy(bare)),
                        expected: "every piece that ends a word also without the mark".into(),
                    });
                }
                inner.insert(id, within);
            }
        }
        let compiled = |pattern: &GlossaryPattern| {
            let (inside, alone) = (Finder::new(&pattern.inside)?, Finder::new(&pattern.alone)?);
            Ok(Glossary { inside, alone })
        };
        let glossaries = parts.glossaries.iter().map(compiled).collect::<Result<Vec<_>>>()?;
        let whole = if glossaries.is_empty() { None } else { Some(Finder::new(&parts.whole)?) };
        Ok(Self { undone, inner, glossaries, whole, end: (text.clone(), *joined), bpe })
    }

    /// The merges and their pieces.
    pub fn bpe(&self) -> &Bpe {
        &self.bpe
    }

    pub(super) fn word<S: Sink, O: WordObserver>(
        &self,
        word: &str,
        way: &mut Way,
        merger: &mut Merger,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        if let Some(other) = way.strategy.filter(|&strategy| strategy != Strategy::Merges) {
            return Err(Error::Config {
                option: "strategy",
                found: format!("{other:?}, with a vocabulary or glossaries"),
                expected: "merges, which are undone by the vocabulary".into(),
            });
        }
        let Some(whole) = &self.whole else {
            let mut sink = Undone { model: self, sink, by: 0, inner: false };
            return self.bpe.word(word, way, merger, &mut sink, observer);
        };
        let segments = self.segments(word)?;
        for (number, &(start, end)) in segments.iter().enumerate() {
            let (segment, inner) = (&word[start..end], number + 1 < segments.len());
            if is_all(whole, segment)? {
                self.glossary(word, (start, end), inner, way, sink)?;
                continue;
            }
            let mut sink = Undone { model: self, sink, by: start, inner };
            self.bpe.word(segment, way, merger, &mut sink, observer)?;
        }
        Ok(())
    }

    /// A word, cut around what glossaries name, one glossary after the other.
    fn segments(&self, word: &str) -> Result<Vec<(usize, usize)>> {
        let mut segments = vec![(0, word.len())];
        for glossary in &self.glossaries {
            let mut next = Vec::with_capacity(segments.len());
            for (start, end) in segments {
                let segment = &word[start..end];
                if is_all(&glossary.alone, segment)? {
                    next.push((start, end));
                    continue;
                }
                let mut cut = 0;
                glossary.inside.for_each(segment, |from, to| {
                    next.extend([(cut, from), (from, to)].map(|(a, b)| (start + a, start + b)));
                    cut = to;
                })?;
                // subword-nmt strips what is behind the last one, and a segment without any is let be.
                let (mut from, mut to) = (start + cut, end);
                if cut > 0 {
                    let ending = &word[from..to];
                    let bare = ending.trim_start_matches(STRIPPED);
                    from = to - bare.len();
                    to = from + bare.trim_end_matches(STRIPPED).len();
                }
                next.push((from, to));
            }
            next.retain(|(start, end)| start < end);
            segments = next;
        }
        Ok(segments)
    }

    /// What a glossary names: the piece of its text, or the unknown piece.
    fn glossary<S: Sink>(
        &self,
        word: &str,
        (start, end): (usize, usize),
        inner: bool,
        way: &Way,
        sink: &mut S,
    ) -> Result<()> {
        let (text, (mark, joined)) = (&word[start..end], &self.end);
        let vocab = self.bpe.vocab();
        let id = if !inner && *joined {
            vocab.id([text, mark].concat().as_bytes())
        } else {
            vocab.id(text.as_bytes())
        };
        match id {
            Some(id) => sink.piece(id, start, end),
            None => self.bpe.uncovered(word, (start, end), way, sink)?,
        }
        if let Some(mark) = vocab.id(mark.as_bytes()).filter(|_| !inner && !joined) {
            sink.piece(mark, end, end);
        }
        Ok(())
    }
}

/// What subword-nmt strips from the ends of lines.
const STRIPPED: [char; 3] = ['\r', '\n', ' '];

/// Whether a match begins where the text does: expressions of this kind end at its end.
fn is_all(pattern: &Finder, text: &str) -> Result<bool> {
    let mut found = false;
    pattern.for_each(text, |start, _| found |= start == 0)?;
    Ok(found)
}

/// Hands pieces on, undone where they are not kept, and without their end where something follows.
struct Undone<'a, S> {
    model: &'a Codes,
    sink: &'a mut S,
    /// Where the segment starts in the word.
    by: usize,
    /// A segment follows.
    inner: bool,
}

impl<S: Sink> Undone<'_, S> {
    fn put(&mut self, id: u32, start: usize, end: usize) {
        let id = if self.inner {
            self.model.inner.get(&id).copied().unwrap_or(Some(id))
        } else {
            Some(id)
        };
        if let Some(id) = id {
            self.sink.piece(id, start + self.by, end + self.by);
        }
    }
}

impl<S: Sink> Sink for Undone<'_, S> {
    fn piece(&mut self, id: u32, start: usize, end: usize) {
        if !self.model.undone.contains_key(&id) {
            return self.put(id, start, end);
        }
        // A stack, since pieces may be long. Parts are shorter than what they make, so this ends.
        let mut waiting = vec![(id, start, end)];
        while let Some((id, start, end)) = waiting.pop() {
            let Some(&(left, right)) = self.model.undone.get(&id) else {
                self.put(id, start, end);
                continue;
            };
            let middle = start + self.model.bpe.vocab().piece(left).map_or(0, <[u8]>::len);
            waiting.push((right, middle, end));
            waiting.push((left, start, middle));
        }
    }

    fn extend_last(&mut self, end: usize) {
        self.sink.extend_last(end + self.by);
    }
}
