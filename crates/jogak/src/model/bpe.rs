//! BPE encoding: a word's symbols, merged; and the greedy strategies over the same pieces.

use std::sync::OnceLock;

use super::cuts::Cuts;
use super::greedy::Greedy;
use super::merge::Merger;
use super::pairs::{NO_RANK, PairTable};
use super::ranks::{byte_ids, ids_of_bytes, ranked};
use super::scored::{Hidden, Unused, UserDefined, scored as scored_pairs};
use super::{Sink, Way};
use crate::beside::{WORTH, both};
use crate::error::{Error, Result};
use crate::observe::{Silent, WordObserver};
use crate::symbols::{Marker, Symbol, Symbols, UNKNOWN};
use crate::vocab::Vocab;

/// How a word is cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Merges, lowest rank first, leftmost among equals.
    Merges,
    /// From the left, the longest piece that matches.
    LongestMatch,
    /// The longest pieces anywhere first.
    LongestFirst,
}

/// What a BPE model is made of; see the fields.
#[derive(Debug, Clone)]
pub struct BpeParts {
    /// The bytes of every piece that ordinary text may become. A hole for an id that stands for nothing
    /// or for a special token.
    pub pieces: Vocab,
    /// Pairs of ids, best first; None if ids are ranks, or scores (see [`Bpe::new`]).
    pub merges: Option<Vec<(u32, u32)>>,
    /// Beside each merge: the id of what it makes, as far as that is known. What is wrong here is looked up.
    pub products: Vec<u32>,
    /// Where there are no merges: the score of every piece, higher ones first.
    pub scores: Option<Vec<f32>>,
    /// Pieces that are found before anything is merged: leftmost first, and of those the longest. Only
    /// with `scores`.
    pub user_defined: Vec<u32>,
    /// Pieces that are made like others, and then taken apart again; one of a single character is
    /// unknown. Only with `scores`, and words that come with their marker.
    pub unused: Vec<u32>,
    /// Symbols are bytes.
    pub bytes: bool,
    /// How borders of words are written.
    pub marker: Marker,
    /// Whether words come with their marker already written (only for [`Marker::Prefix`]).
    pub marked: bool,
    /// The ids of the pieces for the 256 bytes, where unknown characters fall back to them.
    pub byte_fallback: Option<Box<[u32; 256]>>,
    /// The id for what nothing covers.
    pub unknown: Option<u32>,
    /// One unknown piece for a run of unknown characters.
    pub fuse_unknown: bool,
    /// The strategy, unless a call says another.
    pub strategy: Strategy,
    /// A word that is a piece is taken as it is.
    pub whole_word: bool,
    /// What nothing covers, where no piece stands for it, is left out.
    pub drop_unknown: bool,
    /// A text glued to the last character of every word, beside a continuation marker.
    pub word_suffix: Option<String>,
    /// As HF tokenizers: what stands for unknown characters is there before anything is merged; a
    /// character falls back to bytes only if there is a piece for each of them; merges of pieces that
    /// text cannot become are passed over; and the right part of a merge loses as many bytes as a
    /// continuation marker has, whichever they are.
    pub hf_rules: bool,
}

/// A BPE model, compiled.
#[derive(Debug)]
pub struct Bpe {
    vocab: Vocab,
    symbols: Symbols,
    pairs: PairTable,
    /// The marker that is written into words; [`Marker::None`] where they come with it.
    word_marker: Marker,
    byte_fallback: Option<Box<[u32; 256]>>,
    unknown: Option<u32>,
    fuse_unknown: bool,
    strategy: Strategy,
    whole_word: bool,
    drop_unknown: bool,
    hf_rules: bool,
    /// The text behind every word that is glued to its last character.
    word_suffix: String,
    /// All 256 bytes are pieces, where symbols are bytes.
    all_bytes: bool,
    /// Every piece has one derivation, from pieces of lower rank: long words may go by windows.
    proper: bool,
    greedy: OnceLock<Greedy>,
    /// Where words may be cut before they are encoded, if that is exact for this model.
    cuts: Option<Cuts>,
    /// Whether merges make every piece of its bytes; asked for where pieces are taken whole, of merges that
    /// were listed.
    reaches_all: OnceLock<bool>,
    is_listed: bool,
    /// Words may be whole texts, so that they are cut first whatever they begin with.
    scored: bool,
    user_defined: Option<UserDefined>,
    unused: Option<Unused>,
}

impl Bpe {
    /// Compiles a model.
    ///
    /// Without `merges` ids are ranks (tiktoken's files): two neighbours merge if their joined bytes
    /// are a piece, the smallest product first. Only one split of every piece can ever stand side by
    /// side, and that one becomes its merge; a piece without one is out of reach, except as a whole
    /// word.
    ///
    /// With `scores` (SentencePiece's way) any two neighbours merge whose joined text is a piece, the
    /// highest score first and the leftmost among equals, also characters that are no pieces. These have
    /// ids behind all others, in [`Bpe::merge`] too.
    ///
    /// # Errors
    /// [`Error::Config`] for a merge whose parts or product are no pieces, or that stands twice.
    pub fn new(mut parts: BpeParts) -> Result<Self> {
        let vocab = std::mem::take(&mut parts.pieces);
        let hidden = Hidden::new(&parts, &vocab);
        let symbols = symbols(&parts, &vocab, &hidden);
        let scored = parts.merges.is_none() && parts.scores.is_some();
        let all_bytes = match &symbols {
            Symbols::Bytes { ids } => ids.iter().all(|&id| (id as usize) < vocab.len()),
            Symbols::Chars(_) => false,
        };
        let plain = parts.bytes || (scored && parts.marked);
        // What an unused piece is taken apart into depends on the whole text.
        let plain = plain && parts.unused.is_empty();
        let exact = plain && (all_bytes || !parts.bytes) && parts.strategy == Strategy::Merges;
        let table = || match (&parts.merges, &parts.scores) {
            (Some(merges), _) => listed(merges, &vocab, &parts),
            (None, Some(scores)) => Ok((scored_pairs(&vocab, scores, &hidden)?, false)),
            (None, None) => {
                let found = ranked(&vocab, &byte_ids(&vocab));
                Ok((found.pairs, found.proper))
            }
        };
        let rest = || {
            if parts.whole_word {
                vocab.make_ready();
            }
            exact.then(|| Cuts::new(&vocab))
        };
        let (table, cuts) = both(vocab.len() >= WORTH, table, rest);
        let (pairs, proper) = table?;
        let is_listed = parts.merges.is_some();
        let user_defined = UserDefined::new(&vocab, &parts.user_defined)?;
        let unused = Unused::new(&parts, &vocab, hidden)?;
        // A piece that merges do not make is no merge's product, so a part of a word must not be taken
        // whole for it.
        let pieces = (0..vocab.len() as u32).filter_map(|id| vocab.piece(id));
        let made = pieces.filter(|piece| piece.len() > 1).count() == pairs.len();
        let cuts = cuts.filter(|_| made || !parts.whole_word);
        Ok(Self {
            cuts,
            reaches_all: OnceLock::new(),
            is_listed,
            scored,
            user_defined,
            unused,
            vocab,
            symbols,
            pairs,
            word_marker: if parts.marked { Marker::None } else { parts.marker },
            byte_fallback: parts.byte_fallback,
            unknown: parts.unknown,
            fuse_unknown: parts.fuse_unknown,
            strategy: parts.strategy,
            whole_word: parts.whole_word,
            drop_unknown: parts.drop_unknown,
            hf_rules: parts.hf_rules,
            word_suffix: parts.word_suffix.unwrap_or_default(),
            all_bytes,
            proper,
            greedy: OnceLock::new(),
        })
    }

    /// The pieces.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The strategy, unless a call says another.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Whether a word that is a piece is taken as it is.
    pub fn whole_word(&self) -> bool {
        self.whole_word
    }

    /// Where words may be cut before they are encoded. Cost: where words that are pieces are taken whole and
    /// merges were listed, all pieces are encoded the first time, since a part must not be taken for a piece that
    /// other merges always prevent.
    pub(crate) fn cuts(&self) -> Option<&Cuts> {
        let certain = !(self.whole_word && self.is_listed)
            || *self.reaches_all.get_or_init(|| self.reaches_all());
        self.cuts.as_ref().filter(|_| certain)
    }

    fn reaches_all(&self) -> bool {
        let Symbols::Bytes { ids } = &self.symbols else { return false };
        if self.cuts.is_none() {
            return false;
        }
        let mut merger = Merger::default();
        let mut way = Way { strategy: None, dropout: None, alpha: None, keep_uncovered: false };
        (0..self.vocab.len() as u32).filter_map(|id| self.vocab.piece(id)).all(|piece| {
            merger.clear();
            piece.iter().for_each(|&byte| merger.push(ids[usize::from(byte)]));
            self.merge_word(&mut way, &mut merger, &mut Silent);
            merger.ids.len() <= 1
        })
    }

    /// Whether words are cut there whatever they begin with.
    pub(crate) fn cuts_all_words(&self) -> bool {
        self.scored && self.cuts.is_some()
    }

    /// The unknown piece, where one stands for a run of unknown characters.
    pub(crate) fn fused(&self) -> Option<u32> {
        self.unknown.filter(|_| self.fuse_unknown && self.byte_fallback.is_none())
    }

    /// The rank and the product of a pair of ids, if it merges.
    pub fn merge(&self, left: u32, right: u32) -> Option<(u32, u32)> {
        let (rank, product) = self.pairs.get(left, right);
        (rank != super::pairs::NO_RANK).then_some((rank, product))
    }

    /// All merges as (rank, left, right), best first. Cost: sorts them.
    pub fn merges(&self) -> Vec<(u32, u32, u32)> {
        self.pairs.sorted()
    }

    pub(super) fn word<S: Sink, O: WordObserver>(
        &self,
        word: &str,
        way: &mut Way,
        merger: &mut Merger,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        // The symbols of a word are numbered.
        if u32::try_from(word.len()).is_err() {
            let (size, limit) = (word.len() as u64, u64::from(u32::MAX));
            return Err(Error::TooLarge { what: "a word", size, limit });
        }
        if let Some(unused) = &self.unused
            && way.strategy.unwrap_or(self.strategy) == Strategy::Merges
        {
            return self.word_with_unused(unused, word, way, merger, sink, observer);
        }
        let Some(user) = &self.user_defined else {
            return self.plain_word(word, way, merger, sink, observer);
        };
        let mut from = 0;
        for (number, start, end) in user.find(word) {
            let between = &word[from..start];
            self.plain_word(between, way, merger, &mut Shifted { sink, by: from }, observer)?;
            user.id(number).into_iter().for_each(|id| sink.piece(id, start, end));
            from = end;
        }
        self.plain_word(&word[from..], way, merger, &mut Shifted { sink, by: from }, observer)
    }

    /// A part of a word that nothing covers.
    pub(super) fn uncovered<S: Sink>(
        &self,
        word: &str,
        (start, end): (usize, usize),
        way: &Way,
        sink: &mut S,
    ) -> Result<()> {
        Pieces::new(self, word, way, sink).push(UNKNOWN, start, end)
    }

    fn plain_word<S: Sink, O: WordObserver>(
        &self,
        word: &str,
        way: &mut Way,
        merger: &mut Merger,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        if self.whole_word
            && way.dropout.is_none()
            && let Some(id) = self.vocab.id(word.as_bytes())
        {
            observer.whole(id);
            sink.piece(id, 0, word.len());
            return Ok(());
        }
        let strategy = way.strategy.unwrap_or(self.strategy);
        if strategy != Strategy::Merges {
            let bytes = matches!(self.symbols, Symbols::Bytes { .. });
            let greedy = self.greedy.get_or_init(|| match &self.unused {
                None => Greedy::new(&self.vocab, &self.word_marker, bytes),
                Some(unused) => Greedy::new(&unused.others(&self.vocab), &self.word_marker, bytes),
            });
            let shift = match &self.word_marker {
                Marker::Prefix { text } => text.len(),
                _ => 0,
            };
            let mut pieces = Pieces::new(self, word, way, sink);
            greedy.word(word, strategy, |id, start, end| {
                observer.matched(start, end, id);
                let place = |at: usize| at.saturating_sub(shift).min(word.len());
                pieces.push(id.unwrap_or(UNKNOWN), place(start), place(end))
            })?;
            return Ok(());
        }
        merger.clear();
        if let Symbols::Bytes { ids } = &self.symbols
            && self.all_bytes
        {
            word.bytes().for_each(|byte| merger.push(ids[usize::from(byte)]));
            self.merge_word(way, merger, observer);
            let ends = merger.starts[1..].iter().copied().chain([word.len() as u32]);
            for ((&id, &start), end) in merger.ids.iter().zip(&merger.starts).zip(ends) {
                sink.piece(id, start as usize, end as usize);
            }
            return Ok(());
        }
        let mut symbols: Vec<Symbol> = std::mem::take(&mut merger.symbols);
        symbols.clear();
        if self.hf_rules {
            self.hf_symbols(word, way.keep_uncovered, &mut symbols)?;
        } else {
            self.symbols.for_each(word, |symbol| symbols.push(symbol));
        }
        symbols.iter().for_each(|symbol| merger.push(symbol.id));
        self.merge_word(way, merger, observer);
        let mut pieces = Pieces::new(self, word, way, sink);
        let mut starts = merger.starts.iter().skip(1);
        let mut result = Ok(());
        for (&id, &start) in merger.ids.iter().zip(&merger.starts) {
            let last = starts.next().map_or(symbols.len(), |&next| next as usize) - 1;
            let id = if self.is_piece(id) { id } else { UNKNOWN };
            result = pieces.push(id, symbols[start as usize].start, symbols[last].end);
            if result.is_err() {
                break;
            }
        }
        merger.symbols = symbols;
        result
    }

    /// A word of a model with unused pieces: user-defined ones stand among its symbols, where nothing
    /// merges with them.
    fn word_with_unused<S: Sink, O: WordObserver>(
        &self,
        unused: &Unused,
        word: &str,
        way: &mut Way,
        merger: &mut Merger,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        let mut symbols: Vec<Symbol> = std::mem::take(&mut merger.symbols);
        symbols.clear();
        let between = |from: usize, to: usize, symbols: &mut Vec<Symbol>| {
            self.symbols.for_each(&word[from..to], |Symbol { id, start, end }| {
                symbols.push(Symbol { id, start: from + start, end: from + end });
            });
        };
        let mut from = 0;
        if let Some(user) = &self.user_defined {
            for (number, start, end) in user.find(word) {
                between(from, start, &mut symbols);
                symbols.push(Symbol { id: unused.frozen(number), start, end });
                from = end;
            }
        }
        between(from, word.len(), &mut symbols);
        merger.clear();
        symbols.iter().for_each(|symbol| merger.push(symbol.id));
        let mut watcher = unused.watch(&self.pairs, &merger.ids, observer);
        self.merge_word(way, merger, &mut watcher);
        let splits = watcher.splits();
        let mut pieces = Pieces::new(self, word, way, sink);
        let mut starts = merger.starts.iter().skip(1);
        let mut result = Ok(());
        for (&id, &start) in merger.ids.iter().zip(&merger.starts) {
            let last = starts.next().map_or(symbols.len(), |&next| next as usize) - 1;
            let (start, end) = (symbols[start as usize].start, symbols[last].end);
            result = unused.apart(&self.vocab, &splits, id, start, end, |id, start, end| {
                let user = self.user_defined.as_ref().and_then(|user| user.id(unused.thawed(id)?));
                let id = if self.is_piece(id) { id } else { user.unwrap_or(UNKNOWN) };
                pieces.push(id, start, end)
            });
            if result.is_err() {
                break;
            }
        }
        merger.symbols = symbols;
        result
    }

    /// The symbols of a word with what stands for unknown ones, as HF tokenizers puts them down: an
    /// unknown piece waits for the next known character, and bytes do not wait.
    fn hf_symbols(
        &self,
        word: &str,
        keep_uncovered: bool,
        symbols: &mut Vec<Symbol>,
    ) -> Result<()> {
        let mut waiting: Option<Symbol> = None;
        let mut result = Ok(());
        self.symbols.for_each(word, |symbol| {
            if symbol.id != UNKNOWN {
                symbols.extend(waiting.take());
                symbols.push(symbol);
                return;
            }
            if let Some(ids) = &self.byte_fallback {
                let text = self.marked_symbol(word, symbol);
                let bytes = || text.bytes().map(|byte| ids[usize::from(byte)]);
                if bytes().all(|id| id != UNKNOWN) {
                    // The bytes of a marker stand for nothing in the word.
                    let within = symbol.start..symbol.end;
                    let before = text.len() - within.len() - self.end_of(word, symbol).len();
                    symbols.extend(bytes().zip(0..).map(|(id, at): (u32, usize)| {
                        let start = (within.start + at.saturating_sub(before)).min(within.end);
                        let end = if at < before { start } else { (start + 1).min(within.end) };
                        Symbol { id, start, end }
                    }));
                    return;
                }
            }
            let id = match self.unknown {
                Some(id) => id,
                None if self.drop_unknown => return,
                None if keep_uncovered => {
                    symbols.push(symbol);
                    return;
                }
                None => {
                    let text = word.get(symbol.start..symbol.end);
                    let text = text.unwrap_or("part of a character").to_owned();
                    result = Err(Error::NotCovered { text });
                    return;
                }
            };
            match &mut waiting {
                Some(run) if self.fuse_unknown => run.end = symbol.end,
                _ => symbols.extend(waiting.replace(Symbol { id, ..symbol })),
            }
        });
        symbols.extend(waiting);
        result
    }

    /// What is glued to the end of a symbol.
    fn end_of(&self, word: &str, symbol: Symbol) -> &str {
        if symbol.end < word.len() {
            return "";
        }
        match &self.word_marker {
            Marker::Suffix { text, joined: true } => text,
            _ => &self.word_suffix,
        }
    }

    /// The text of a symbol with its markers.
    fn marked_symbol<'a>(&self, word: &'a str, symbol: Symbol) -> std::borrow::Cow<'a, str> {
        let before = if symbol.start > 0 { self.word_marker.stripped() } else { "" };
        let text = word.get(symbol.start..symbol.end).unwrap_or_default();
        let end = self.end_of(word, symbol);
        if before.is_empty() && end.is_empty() {
            return text.into();
        }
        [before, text, end].concat().into()
    }

    /// Whether a symbol is a piece. Where ids are ranks, bytes that are none have ids behind all others.
    fn is_piece(&self, id: u32) -> bool {
        (id as usize) < self.vocab.len()
    }

    fn merge_word<O: WordObserver>(&self, way: &mut Way, merger: &mut Merger, observer: &mut O) {
        if O::WATCHES {
            let known = |&id: &u32| if self.is_piece(id) { id } else { UNKNOWN };
            observer.symbols(&merger.ids.iter().map(known).collect::<Vec<_>>());
        }
        match &mut way.dropout {
            None => merger.run(&self.pairs, self.proper && !O::WATCHES, observer),
            Some((p, random)) => merger.run_dropout(&self.pairs, *p, random, observer),
        }
    }
}

/// Hands on the pieces of a part of a word.
struct Shifted<'a, S> {
    sink: &'a mut S,
    /// Where the part starts.
    by: usize,
}

impl<S: Sink> Sink for Shifted<'_, S> {
    fn piece(&mut self, id: u32, start: usize, end: usize) {
        self.sink.piece(id, start + self.by, end + self.by);
    }

    fn extend_last(&mut self, end: usize) {
        self.sink.extend_last(end + self.by);
    }
}

/// Hands pieces on to a sink, putting something in the place of unknown characters.
struct Pieces<'a, S> {
    model: &'a Bpe,
    word: &'a str,
    sink: &'a mut S,
    keep_uncovered: bool,
    /// Where the run of unknown characters that is being fused began.
    run: Option<usize>,
}

impl<'a, S: Sink> Pieces<'a, S> {
    fn new(model: &'a Bpe, word: &'a str, way: &Way, sink: &'a mut S) -> Self {
        Self { model, word, sink, keep_uncovered: way.keep_uncovered, run: None }
    }

    #[inline]
    fn push(&mut self, id: u32, start: usize, end: usize) -> Result<()> {
        if id != UNKNOWN {
            self.run = None;
            self.sink.piece(id, start, end);
            return Ok(());
        }
        if let Some(ids) = &self.model.byte_fallback {
            let bytes = &self.word.as_bytes()[start..end];
            if bytes.iter().all(|&byte| ids[usize::from(byte)] != UNKNOWN) {
                for (at, &byte) in (start..end).zip(bytes) {
                    self.sink.piece(ids[usize::from(byte)], at, at + 1);
                }
                return Ok(());
            }
        }
        let unknown = match self.model.unknown {
            Some(unknown) => unknown,
            None if self.model.drop_unknown => return Ok(()),
            None if self.keep_uncovered => UNKNOWN,
            None => {
                let text = self.word.get(start..end).unwrap_or("part of a character").to_owned();
                return Err(Error::NotCovered { text });
            }
        };
        if self.model.fuse_unknown && self.run.is_some() {
            self.sink.extend_last(end);
        } else {
            self.run = Some(start);
            self.sink.piece(unknown, start, end);
        }
        Ok(())
    }
}

fn symbols(parts: &BpeParts, vocab: &Vocab, hidden: &Hidden) -> Symbols {
    if parts.bytes && parts.merges.is_none() && parts.scores.is_none() {
        return Symbols::bytes(byte_ids(vocab));
    }
    if parts.bytes {
        return Symbols::bytes(ids_of_bytes(vocab).map(|id| id.unwrap_or(UNKNOWN)));
    }
    let marker = if parts.marked { Marker::None } else { parts.marker.clone() };
    let end = parts.word_suffix.clone().unwrap_or_default();
    let pieces = || (0..vocab.len() as u32).filter_map(|id| vocab.piece(id));
    let mut characters: Vec<char> =
        pieces().filter_map(|piece| symbol_character(piece, &marker)).collect();
    if !end.is_empty() {
        let bare = pieces().filter_map(|piece| piece.strip_suffix(end.as_bytes()));
        characters.extend(bare.filter_map(|piece| symbol_character(piece, &marker)));
    }
    characters.extend(hidden.characters());
    let id_of = |text: &str| vocab.id(text.as_bytes()).or_else(|| hidden.id(text.as_bytes()));
    Symbols::chars_with_end(marker, end, characters.into_iter(), id_of)
}

/// The character of a piece that is one character, with or without a marker glued to it.
fn symbol_character(piece: &[u8], marker: &Marker) -> Option<char> {
    let text = std::str::from_utf8(piece).ok()?;
    let bare = match marker {
        Marker::Suffix { text: mark, joined: true } => text.strip_suffix(mark.as_str()),
        Marker::Continuation { text: mark } => text.strip_prefix(mark.as_str()),
        _ => None,
    };
    [Some(text), bare].into_iter().flatten().find_map(|candidate| {
        let mut rest = candidate.chars();
        rest.next().filter(|_| rest.next().is_none())
    })
}

/// Merges as listed. Also tells whether every piece has one derivation, from pieces of lower rank.
fn listed(merges: &[(u32, u32)], vocab: &Vocab, parts: &BpeParts) -> Result<(PairTable, bool)> {
    let marker = &parts.marker;
    let mut pairs = PairTable::with_capacity(merges.len());
    // (rank, left, right, product)
    let mut found = Vec::with_capacity(merges.len());
    let mut joined = Vec::new();
    for (rank, &(left, right)) in merges.iter().enumerate() {
        let part = |id| {
            vocab.piece(id).ok_or_else(|| Error::Config {
                option: "merges",
                found: format!("id {id} in merge {rank}"),
                expected: "ids of pieces that text can become".into(),
            })
        };
        let (one, other) = match (part(left), part(right)) {
            (Ok(one), Ok(other)) => (one, other),
            _ if parts.hf_rules => continue,
            (one, other) => (one?, other?),
        };
        let mark = marker.stripped().as_bytes();
        let bare = if parts.hf_rules {
            other.get(mark.len()..).unwrap_or_default()
        } else {
            other.strip_prefix(mark).unwrap_or(other)
        };
        joined.clear();
        joined.extend_from_slice(one);
        joined.extend_from_slice(bare);
        let told = parts.products.get(rank).copied();
        let told = told.filter(|&product| vocab.piece(product) == Some(&joined));
        match told.or_else(|| vocab.id(&joined)) {
            Some(product) => found.push((rank as u32, left, right, product)),
            None if parts.hf_rules => {}
            None => {
                return Err(Error::Config {
                    option: "merges",
                    found: format!(
                        "merge {rank}, which makes {:?}",
                        String::from_utf8_lossy(&joined)
                    ),
                    expected: "products that are pieces".into(),
                });
            }
        }
    }
    // id -> the rank that makes it.
    let mut made = vec![NO_RANK; vocab.len()];
    let mut proper = true;
    for &(rank, left, right, product) in &found {
        if !pairs.insert(left, right, rank, product) {
            return Err(Error::Config {
                option: "merges",
                found: format!("merge {rank}, which stands before already"),
                expected: "every pair once".into(),
            });
        }
        proper &= std::mem::replace(&mut made[product as usize], rank) == NO_RANK;
    }
    let before = |id: u32, rank: u32| made[id as usize] == NO_RANK || made[id as usize] < rank;
    proper = proper
        && found.iter().all(|&(rank, left, right, _)| before(left, rank) && before(right, rank))
        // A symbol of the alphabet that merges also make has two derivations.
        && found.iter().filter_map(|merge| vocab.piece(merge.3)).all(|piece| {
            if parts.bytes { piece.len() > 1 } else { !is_symbol(piece, parts) }
        })
        // So has a piece that stands for unknown characters.
        && !found.iter().any(|&(_, left, right, product)| {
            [left, right, product].into_iter().any(|id| stands_for_unknown(id, parts))
        });
    Ok((pairs, proper))
}

fn stands_for_unknown(id: u32, parts: &BpeParts) -> bool {
    let bytes = parts.byte_fallback.as_deref();
    parts.unknown == Some(id) || bytes.is_some_and(|ids| ids.contains(&id))
}

/// Whether a piece is a character, with or without what is glued to it.
fn is_symbol(piece: &[u8], parts: &BpeParts) -> bool {
    let end = parts.word_suffix.as_deref().unwrap_or_default();
    let bare = piece.strip_suffix(end.as_bytes()).filter(|_| !end.is_empty());
    [Some(piece), bare]
        .into_iter()
        .flatten()
        .any(|piece| symbol_character(piece, &parts.marker).is_some())
}
