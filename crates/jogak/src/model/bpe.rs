//! BPE encoding: a word's symbols, merged; and the greedy strategies over the same pieces.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashMap;

use super::cuts::Cuts;
use super::greedy::Greedy;
use super::merge::Merger;
use super::pairs::PairTable;
use super::{Sink, Way};
use crate::error::{Error, Result};
use crate::observe::WordObserver;
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
    /// The bytes of every piece that ordinary text may become; the id is the position. Empty for an
    /// id that stands for nothing or for a special token.
    pub pieces: Vec<Vec<u8>>,
    /// Pairs of ids, best first; None if ids are ranks, or scores (see [`Bpe::new`]).
    pub merges: Option<Vec<(u32, u32)>>,
    /// Where there are no merges: the score of every piece, higher ones first.
    pub scores: Option<Vec<f32>>,
    /// Pieces that are found before anything is merged: leftmost first, and of those the longest. Only
    /// with `scores`.
    pub user_defined: Vec<u32>,
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
    /// Every piece has one derivation, from pieces of lower rank: long words may go by windows.
    proper: bool,
    greedy: OnceLock<Greedy>,
    /// Where words may be cut before they are encoded, if that is exact for this model.
    cuts: Option<Cuts>,
    /// Words may be whole texts, so that they are cut first whatever they begin with.
    scored: bool,
    user_defined: Option<UserDefined>,
}

/// Finds the pieces that are found before anything is merged.
#[derive(Debug)]
struct UserDefined {
    finder: AhoCorasick,
    /// Pattern -> id.
    ids: Vec<u32>,
}

impl Bpe {
    /// Compiles a model.
    ///
    /// Without `merges` ids are ranks (tiktoken's files): two neighbours merge if their joined bytes
    /// are a piece, the smallest product first. Only one split of every piece can ever stand side by
    /// side: the one that the smaller pieces make of it. That one becomes its merge; a piece of
    /// which they make more than two pieces is out of reach, except as a whole word.
    ///
    /// With `scores` (SentencePiece's way) any two neighbours merge whose joined text is a piece, the
    /// highest score first and the leftmost among equals.
    ///
    /// # Errors
    /// [`Error::Config`] for a merge whose parts or product are no pieces, or that stands twice.
    pub fn new(parts: BpeParts) -> Result<Self> {
        let vocab = Vocab::new(&parts.pieces);
        let symbols = symbols(&parts, &vocab);
        let (pairs, proper) = match (&parts.merges, &parts.scores) {
            (Some(merges), _) => listed(merges, &vocab, &parts)?,
            (None, Some(scores)) => (scored(&vocab, scores)?, false),
            (None, None) => (ranked(&vocab, &symbols), true),
        };
        let scored = parts.merges.is_none() && parts.scores.is_some();
        let user_defined = user_defined(&vocab, &parts.user_defined)?;
        // A piece that merges do not make is no merge's product, so a part of a word must not be taken
        // whole for it.
        let pieces = (0..vocab.len() as u32).filter_map(|id| vocab.piece(id));
        let made = pieces.filter(|piece| piece.len() > 1).count() == pairs.len();
        let plain = parts.bytes || (scored && parts.marked);
        let exact = plain && parts.strategy == Strategy::Merges;
        let cuts = (exact && (made || !parts.whole_word)).then(|| Cuts::new(&vocab));
        Ok(Self {
            cuts,
            scored,
            user_defined,
            vocab,
            symbols,
            pairs,
            word_marker: if parts.marked { Marker::None } else { parts.marker },
            byte_fallback: parts.byte_fallback,
            unknown: parts.unknown,
            fuse_unknown: parts.fuse_unknown,
            strategy: parts.strategy,
            whole_word: parts.whole_word,
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

    /// Where words may be cut before they are encoded.
    pub(crate) fn cuts(&self) -> Option<&Cuts> {
        self.cuts.as_ref()
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
        let Some(user) = &self.user_defined else {
            return self.plain_word(word, way, merger, sink, observer);
        };
        let mut from = 0;
        for found in user.finder.find_iter(word) {
            let between = &word[from..found.start()];
            self.plain_word(between, way, merger, &mut Shifted { sink, by: from }, observer)?;
            sink.piece(user.ids[found.pattern().as_usize()], found.start(), found.end());
            from = found.end();
        }
        self.plain_word(&word[from..], way, merger, &mut Shifted { sink, by: from }, observer)
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
            let greedy =
                self.greedy.get_or_init(|| Greedy::new(&self.vocab, &self.word_marker, bytes));
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
        if let Symbols::Bytes { ids } = &self.symbols {
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
        self.symbols.for_each(word, |symbol| {
            merger.push(symbol.id);
            symbols.push(symbol);
        });
        self.merge_word(way, merger, observer);
        let mut pieces = Pieces::new(self, word, way, sink);
        let mut starts = merger.starts.iter().skip(1);
        let mut result = Ok(());
        for (&id, &start) in merger.ids.iter().zip(&merger.starts) {
            let last = starts.next().map_or(symbols.len(), |&next| next as usize) - 1;
            result = pieces.push(id, symbols[start as usize].start, symbols[last].end);
            if result.is_err() {
                break;
            }
        }
        merger.symbols = symbols;
        result
    }

    fn merge_word<O: WordObserver>(&self, way: &mut Way, merger: &mut Merger, observer: &mut O) {
        observer.symbols(&merger.ids);
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
            for (at, byte) in (start..end).zip(self.word[start..end].bytes()) {
                self.sink.piece(ids[usize::from(byte)], at, at + 1);
            }
            return Ok(());
        }
        let unknown = match self.model.unknown {
            Some(unknown) => unknown,
            None if self.keep_uncovered => UNKNOWN,
            None => return Err(Error::NotCovered { text: self.word[start..end].to_owned() }),
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

fn symbols(parts: &BpeParts, vocab: &Vocab) -> Symbols {
    if parts.bytes {
        let mut ids = [UNKNOWN; 256];
        for byte in 0..=255u8 {
            ids[usize::from(byte)] = vocab.id(&[byte]).unwrap_or(UNKNOWN);
        }
        return Symbols::bytes(ids);
    }
    let marker = if parts.marked { Marker::None } else { parts.marker.clone() };
    let characters: Vec<char> =
        parts.pieces.iter().filter_map(|piece| symbol_character(piece, &marker)).collect();
    Symbols::chars(marker, characters.into_iter(), |text| vocab.id(text.as_bytes()))
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
    let products: Vec<u32> = merges
        .iter()
        .enumerate()
        .map(|(rank, &(left, right))| {
            let part = |id| {
                vocab.piece(id).ok_or_else(|| Error::Config {
                    option: "merges",
                    found: format!("id {id} in merge {rank}"),
                    expected: "ids of pieces that text can become".into(),
                })
            };
            let (left, right) = (part(left)?, part(right)?);
            let right = right.strip_prefix(marker.stripped().as_bytes()).unwrap_or(right);
            let joined = [left, right].concat();
            vocab.id(&joined).ok_or_else(|| Error::Config {
                option: "merges",
                found: format!("merge {rank}, which makes {:?}", String::from_utf8_lossy(&joined)),
                expected: "products that are pieces".into(),
            })
        })
        .collect::<Result<_>>()?;
    // id -> the rank that makes it, plus one.
    let mut made: FxHashMap<u32, usize> = FxHashMap::default();
    let mut proper = true;
    for (rank, (&(left, right), &product)) in merges.iter().zip(&products).enumerate() {
        if !pairs.insert(left, right, rank as u32, product) {
            return Err(Error::Config {
                option: "merges",
                found: format!("merge {rank}, which stands before already"),
                expected: "every pair once".into(),
            });
        }
        proper &= made.insert(product, rank).is_none();
    }
    let before = |id: u32, rank: usize| made.get(&id).is_none_or(|&other| other < rank);
    proper = proper
        && merges
            .iter()
            .enumerate()
            .all(|(rank, &(left, right))| before(left, rank) && before(right, rank))
        // A symbol of the alphabet that merges also make has two derivations.
        && products.iter().filter_map(|&id| vocab.piece(id)).all(|piece| {
            if parts.bytes { piece.len() > 1 } else { symbol_character(piece, marker).is_none() }
        });
    Ok((pairs, proper))
}

/// All pairs of pieces whose joined text is a piece; equal scores are equal ranks.
fn scored(vocab: &Vocab, scores: &[f32]) -> Result<PairTable> {
    if scores.len() != vocab.len() {
        return Err(Error::Config {
            option: "scores",
            found: format!("a list of {}", scores.len()),
            expected: format!("as many as pieces ({})", vocab.len()),
        });
    }
    let mut order: Vec<u32> = (0..vocab.len() as u32).collect();
    order.sort_by(|&one, &other| scores[other as usize].total_cmp(&scores[one as usize]));
    let mut merges = Vec::new();
    let mut rank = 0;
    for (place, &id) in order.iter().enumerate() {
        if place > 0 && scores[order[place - 1] as usize].total_cmp(&scores[id as usize]).is_ne() {
            rank += 1;
        }
        let piece = vocab.piece(id).unwrap_or_default();
        for at in (1..piece.len()).filter(|&at| piece[at] & 0xC0 != 0x80) {
            if let (Some(left), Some(right)) = (vocab.id(&piece[..at]), vocab.id(&piece[at..])) {
                merges.push((left, right, rank, id));
            }
        }
    }
    let mut pairs = PairTable::with_capacity(merges.len());
    for (left, right, rank, id) in merges {
        pairs.insert(left, right, rank, id);
    }
    Ok(pairs)
}

fn user_defined(vocab: &Vocab, ids: &[u32]) -> Result<Option<UserDefined>> {
    if ids.is_empty() {
        return Ok(None);
    }
    let pieces: Vec<&[u8]> = ids.iter().filter_map(|&id| vocab.piece(id)).collect();
    let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&pieces);
    match finder {
        Ok(finder) if pieces.len() == ids.len() => {
            Ok(Some(UserDefined { finder, ids: ids.to_vec() }))
        }
        Ok(_) => Err(Error::Config {
            option: "user_defined",
            found: "an id without a piece".into(),
            expected: "ids of pieces that text can become".into(),
        }),
        Err(_) => Err(Error::TooLarge {
            what: "the finder of user-defined pieces",
            size: ids.len() as u64,
            limit: i32::MAX as u64,
        }),
    }
}

/// Merges of a vocabulary whose ids are the ranks.
fn ranked(vocab: &Vocab, symbols: &Symbols) -> PairTable {
    let mut pairs = PairTable::with_capacity(vocab.len());
    let mut merger = Merger::default();
    for id in 0..vocab.len() as u32 {
        let Some(piece) = vocab.piece(id).filter(|piece| piece.len() > 1) else { continue };
        merger.clear();
        if let Symbols::Bytes { ids } = symbols {
            piece.iter().for_each(|&byte| merger.push(ids[usize::from(byte)]));
        }
        merger.run(&pairs, true, &mut crate::observe::Silent);
        if let [left, right] = merger.ids[..] {
            pairs.insert(left, right, id, id);
        }
    }
    pairs
}
