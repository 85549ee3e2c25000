//! BPE encoding: a word's symbols, merged; and the greedy strategies over the same pieces.

mod derivations;
mod missing;
mod parts;
mod pieces;
mod unknown;

use std::sync::OnceLock;

use super::cuts::Cuts;
use super::greedy::Greedy;
use super::merge::Merger;
use super::pairs::{Merge, NO_RANK, PairTable};
use super::ranks::{byte_ids, ranked};
use super::scored::{Hidden, Unused, UserDefined, scored as scored_pairs};
use super::{Sink, Way};
use crate::beside::{WORTH, both};
use crate::error::{Error, Result};
use crate::observe::{Silent, WordObserver};
use crate::symbols::{Marker, Symbol, Symbols, UNKNOWN};
use crate::vocab::Vocab;

use derivations::unmade;
use missing::Missing;
pub use parts::BpeParts;
use parts::{Table, by_characters, listed, symbols};
use pieces::{Pieces, Shifted};

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

/// A BPE model, compiled.
#[derive(Debug)]
pub struct Bpe {
    vocab: Vocab,
    symbols: Symbols,
    pairs: PairTable,
    /// Merges that were listed, and happen only where others are skipped.
    idle: Vec<Merge>,
    /// The pairs and these, where there are some; made when they are first asked for.
    with_idle: OnceLock<PairTable>,
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
    /// All bytes that a text can have are pieces, where symbols are bytes.
    all_bytes: bool,
    /// Every piece has one derivation, from pieces of lower rank: long words may go by windows.
    proper: bool,
    greedy: OnceLock<Greedy>,
    /// Where words may be cut before they are encoded, if that is exact for this model.
    cuts: Option<Cuts>,
    /// Whether each piece that a merge makes is what merges leave of its bytes; asked for where pieces are taken whole, of
    /// merges that were listed. Known where some are idle: the others happen.
    reaches_all: OnceLock<bool>,
    is_listed: bool,
    /// Words may be whole texts, so that they are cut first whatever they begin with.
    scored: bool,
    /// Symbols are characters, and their merges were listed: words may be cut as well, if they are whole texts
    /// whatever they begin with.
    by_characters: bool,
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
        let missing = Missing::new(&symbols, &vocab);
        let all_bytes = parts.bytes && missing.is_none();
        let by_characters = by_characters(&parts, &vocab);
        let plain = parts.bytes || (scored && parts.marked) || by_characters;
        // What an unused piece is taken apart into depends on the whole text.
        let plain = plain && parts.unused.is_empty();
        let exact = plain && missing.is_cut_off() && parts.strategy == Strategy::Merges;
        let table = || match (&parts.merges, &parts.scores) {
            (Some(merges), _) => listed(merges, &vocab, &parts),
            (None, Some(scores)) => Ok(Table::new(scored_pairs(&vocab, scores, &hidden)?, false)),
            (None, None) => {
                let found = ranked(&vocab, &byte_ids(&vocab));
                Ok(Table::new(found.pairs, found.proper))
            }
        };
        let rest = || exact.then(|| missing.cuts(&[], &vocab));
        let (table, cuts) = both(vocab.len() >= WORTH, table, rest);
        let Table { pairs, idle, proper } = table?;
        let is_listed = parts.merges.is_some();
        let user_defined = UserDefined::new(&vocab, &parts.user_defined)?;
        let unused = Unused::new(&parts, &vocab, hidden)?;
        let cuts = if parts.whole_word {
            cuts.and_then(|cuts| beside_unmade(cuts, &missing, &vocab, &pairs))
        } else {
            cuts
        };
        Ok(Self {
            cuts,
            reaches_all: if idle.is_empty() { OnceLock::new() } else { OnceLock::from(true) },
            is_listed,
            scored,
            by_characters,
            user_defined,
            unused,
            vocab,
            symbols,
            pairs,
            idle,
            with_idle: OnceLock::new(),
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

    /// Whether the pieces of a word, one behind the other, are the bytes of the word.
    pub(crate) fn leaves_bytes(&self) -> bool {
        let plain = self.user_defined.is_none() && self.unused.is_none();
        self.all_bytes && plain && self.word_suffix.is_empty()
    }

    /// Where words may be cut before they are encoded. Cost: where words that are pieces are taken whole and
    /// merges were listed, all pieces are looked at the first time, since a part must not be taken for a piece that
    /// other merges always prevent.
    pub(crate) fn cuts(&self) -> Option<&Cuts> {
        let cuts = self.cuts.as_ref()?;
        let certain = !(self.whole_word && self.is_listed)
            || *self.reaches_all.get_or_init(|| self.reaches_all());
        certain.then_some(cuts)
    }

    /// Whether there may be such places.
    pub(crate) fn may_cut(&self) -> bool {
        self.cuts.is_some()
    }

    /// Whether words are cut there whatever they begin with; `texts` says that they are whole texts.
    pub(crate) fn cuts_all_words(&self, texts: bool) -> bool {
        self.cuts.is_some() && (self.scored || (texts && self.by_characters))
    }

    /// The unknown piece, where one stands for a run of unknown characters.
    pub(crate) fn fused(&self) -> Option<u32> {
        self.unknown.filter(|_| self.fuse_unknown && self.byte_fallback.is_none())
    }

    /// The rank and the product of a pair of ids, if it merges.
    pub fn merge(&self, left: u32, right: u32) -> Option<(u32, u32)> {
        let (rank, product) = self.all_pairs().get(left, right);
        (rank != NO_RANK).then_some((rank, product))
    }

    /// All merges as (rank, left, right), best first. Cost: sorts them.
    pub fn merges(&self) -> Vec<(u32, u32, u32)> {
        self.all_pairs().sorted()
    }

    /// The pairs, with those that only meet where merges are skipped.
    fn all_pairs(&self) -> &PairTable {
        if self.idle.is_empty() {
            return &self.pairs;
        }
        self.with_idle.get_or_init(|| {
            let merges = self.pairs.len() + self.idle.len();
            let mut all = PairTable::with_capacity(merges, self.vocab.first_character());
            for merge in self.pairs.all().chain(&self.idle) {
                all.insert(merge.left, merge.right, merge.rank, merge.product);
            }
            all
        })
    }

    /// Appends what merges leave of any bytes, be they a piece or no text at all.
    ///
    /// # Errors
    /// [`Error::NotCovered`] where a byte that is left is no piece, as all are where symbols are characters;
    /// [`Error::TooLarge`].
    pub fn merged(&self, bytes: &[u8], merger: &mut Merger, out: &mut Vec<u32>) -> Result<()> {
        let uncovered = || Error::NotCovered { text: String::from_utf8_lossy(bytes).into_owned() };
        let Symbols::Bytes { ids } = &self.symbols else { return Err(uncovered()) };
        numbered(bytes)?;
        merger.clear();
        bytes.iter().for_each(|&byte| merger.push(ids[usize::from(byte)]));
        self.merge_word(&mut Way::default(), merger, &mut Silent);
        if !merger.ids.iter().all(|&id| self.is_piece(id)) {
            return Err(uncovered());
        }
        out.extend_from_slice(&merger.ids);
        Ok(())
    }

    pub(super) fn word<S: Sink, O: WordObserver>(
        &self,
        word: &str,
        way: &mut Way,
        merger: &mut Merger,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        numbered(word.as_bytes())?;
        if let Some(unused) = &self.unused
            && way.strategy.unwrap_or(self.strategy) == Strategy::Merges
        {
            return self.word_with_unused(unused, word, way, merger, sink, observer);
        }
        let Some(user) = &self.user_defined else {
            return self.part(word, !way.is_no_piece, way, merger, sink, observer);
        };
        let mut from = 0;
        for (number, start, end) in user.find(word) {
            let between = &word[from..start];
            let shifted = &mut Shifted { sink, by: from };
            self.part(between, true, way, merger, shifted, observer)?;
            user.id(number).into_iter().for_each(|id| sink.piece(id, start, end));
            from = end;
        }
        self.part(&word[from..], true, way, merger, &mut Shifted { sink, by: from }, observer)
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

    /// A word, or a part of one between user-defined pieces.
    fn part<S: Sink, O: WordObserver>(
        &self,
        word: &str,
        may_be_piece: bool,
        way: &mut Way,
        merger: &mut Merger,
        sink: &mut S,
        observer: &mut O,
    ) -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        if self.whole_word
            && may_be_piece
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
            && self.bytes_are_pieces(word, ids, merger)
        {
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

    /// Puts the bytes of a word down; if one is no piece, nothing.
    #[inline]
    fn bytes_are_pieces(&self, word: &str, ids: &[u32; 256], merger: &mut Merger) -> bool {
        let mut highest = 0;
        for byte in word.bytes() {
            let id = ids[usize::from(byte)];
            highest = highest.max(id);
            merger.push(id);
        }
        let are_pieces = self.all_bytes || self.is_piece(highest);
        if !are_pieces {
            merger.clear();
        }
        are_pieces
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
            Some((p, random)) => merger.run_dropout(self.all_pairs(), *p, random, observer),
        }
    }
}

/// As many pieces that no merge makes may there be, if words are to be cut in spite of them.
const FEW_UNMADE: usize = 64;

/// Where words may be cut if pieces that no merge makes are taken for whole words: not beside such a piece, since it must be
/// no part of a word. None if there are many.
fn beside_unmade(cuts: Cuts, missing: &Missing, vocab: &Vocab, pairs: &PairTable) -> Option<Cuts> {
    let unmade: Vec<_> = unmade(vocab, pairs).take(FEW_UNMADE + 1).collect();
    match unmade.len() {
        0 => Some(cuts),
        1..=FEW_UNMADE => Some(missing.cuts(&unmade, vocab)),
        _ => None,
    }
}

/// Whether the symbols of a word can be numbered.
fn numbered(word: &[u8]) -> Result<()> {
    let (size, limit) = (word.len() as u64, u64::from(u32::MAX));
    if size > limit { Err(Error::TooLarge { what: "a word", size, limit }) } else { Ok(()) }
}
