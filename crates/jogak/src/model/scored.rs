//! BPE by scores, SentencePiece's way (Kudo & Richardson 2018): what merges, what is found before
//! anything does, and what is taken apart again afterwards.
//!
//! Rule: a pair merges if its joined text is a piece; its parts need not be any. Of a piece, made or not,
//! is remembered the last pair that was looked at for it, anywhere in the word: if the piece is unused,
//! it is taken apart there, and its parts in the same way.

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashMap;

use super::bpe::BpeParts;
use super::pairs::PairTable;
use crate::beside::{WORTH, both};
use crate::error::{Error, Result};
use crate::observe::WordObserver;
use crate::symbols::Marker;
use crate::vocab::Vocab;

/// Characters that are no pieces, but part of some: ids behind those of all pieces.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    first: u32,
    characters: Vec<char>,
    ids: FxHashMap<char, u32>,
}

impl Hidden {
    /// None where merges are listed, or where a character has other forms than its own.
    pub(super) fn new(parts: &BpeParts, vocab: &Vocab) -> Self {
        let glued = matches!(parts.marker, Marker::Suffix { .. } | Marker::Continuation { .. });
        let first = vocab.len() as u32;
        if parts.scores.is_none() || parts.merges.is_some() || parts.bytes {
            return Self { first, ..Self::default() };
        }
        if glued && !parts.marked {
            return Self { first, ..Self::default() };
        }
        let mut characters: Vec<char> = Vec::new();
        let mut ids = FxHashMap::default();
        let mut is_seen = vec![false; char::MAX as usize + 1];
        for id in 0..first {
            let text = vocab.piece(id).and_then(|piece| std::str::from_utf8(piece).ok());
            for c in text.unwrap_or_default().chars() {
                if std::mem::replace(&mut is_seen[c as usize], true) {
                    continue;
                }
                if vocab.id(c.encode_utf8(&mut [0; 4]).as_bytes()).is_none() {
                    ids.insert(c, first + characters.len() as u32);
                    characters.push(c);
                }
            }
        }
        Self { first, characters, ids }
    }

    pub(super) fn characters(&self) -> impl Iterator<Item = char> + '_ {
        self.characters.iter().copied()
    }

    /// The id of a text that is such a character.
    pub(super) fn id(&self, text: &[u8]) -> Option<u32> {
        if self.ids.is_empty() || text.len() > 4 {
            return None;
        }
        let mut characters = std::str::from_utf8(text).ok()?.chars();
        let c = characters.next()?;
        characters.next().is_none().then(|| self.ids.get(&c).copied())?
    }

    /// How many ids there are, those of pieces counted.
    fn end(&self) -> u32 {
        self.first + self.characters.len() as u32
    }
}

/// All pairs whose joined text is a piece; equal scores are equal ranks.
pub(super) fn scored(vocab: &Vocab, scores: &[f32], hidden: &Hidden) -> Result<PairTable> {
    if scores.len() != vocab.len() {
        return Err(Error::Config {
            option: "scores",
            found: format!("a list of {}", scores.len()),
            expected: format!("as many as pieces ({})", vocab.len()),
        });
    }
    let mut order: Vec<u32> = (0..vocab.len() as u32).collect();
    order.sort_by(|&one, &other| scores[other as usize].total_cmp(&scores[one as usize]));
    let mut rank = 0;
    let ranked: Vec<(u32, u32)> = (0..order.len())
        .map(|place| {
            let (id, before) = (order[place], order[place.saturating_sub(1)]);
            rank += u32::from(scores[before as usize].total_cmp(&scores[id as usize]).is_ne());
            (id, rank)
        })
        .collect();
    vocab.make_ready();
    let (one, other) = ranked.split_at(ranked.len() / 2);
    let (one, other) = both(
        ranked.len() >= WORTH,
        || ways_to_make(one, vocab, hidden),
        || ways_to_make(other, vocab, hidden),
    );
    let mut pairs = PairTable::with_capacity(one.len() + other.len(), vocab.first_character());
    for (left, right, rank, id) in one.into_iter().chain(other) {
        pairs.insert(left, right, rank, id);
    }
    Ok(pairs)
}

/// Of pieces with their ranks, all pairs that make them: left, right, rank, piece.
fn ways_to_make(
    ranked: &[(u32, u32)],
    vocab: &Vocab,
    hidden: &Hidden,
) -> Vec<(u32, u32, u32, u32)> {
    let part = |text: &[u8]| vocab.id(text).or_else(|| hidden.id(text));
    let mut merges = Vec::with_capacity(2 * ranked.len());
    for &(id, rank) in ranked {
        let piece = vocab.piece(id).unwrap_or_default();
        for at in (1..piece.len()).filter(|&at| piece[at] & 0xC0 != 0x80) {
            if let Some(left) = part(&piece[..at])
                && let Some(right) = part(&piece[at..])
            {
                merges.push((left, right, rank, id));
            }
        }
    }
    merges
}

/// Finds the pieces that are found before anything is merged.
#[derive(Debug)]
pub(super) struct UserDefined {
    finder: AhoCorasick,
    /// Pattern -> id.
    ids: Vec<u32>,
}

impl UserDefined {
    /// None for no pieces.
    pub(super) fn new(vocab: &Vocab, ids: &[u32]) -> Result<Option<Self>> {
        if ids.is_empty() {
            return Ok(None);
        }
        let pieces: Vec<&[u8]> = ids.iter().filter_map(|&id| vocab.piece(id)).collect();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&pieces);
        match finder {
            Ok(finder) if pieces.len() == ids.len() => Ok(Some(Self { finder, ids: ids.to_vec() })),
            Ok(_) => Err(without_piece("user_defined")),
            Err(_) => Err(Error::TooLarge {
                what: "the finder of user-defined pieces",
                size: ids.len() as u64,
                limit: i32::MAX as u64,
            }),
        }
    }

    /// Number, start and end of those in a word.
    pub(super) fn find<'a>(
        &'a self,
        word: &'a str,
    ) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
        let found = self.finder.find_iter(word);
        found.map(|found| (found.pattern().as_usize(), found.start(), found.end()))
    }

    /// The id of one, by its number.
    pub(super) fn id(&self, number: usize) -> Option<u32> {
        self.ids.get(number).copied()
    }
}

fn without_piece(option: &'static str) -> Error {
    Error::Config {
        option,
        found: "an id without a piece".into(),
        expected: "ids of pieces that text can become".into(),
    }
}

/// The pieces that are taken apart again.
#[derive(Debug)]
pub(super) struct Unused {
    /// By id, whether it is one.
    is: Vec<bool>,
    hidden: Hidden,
}

/// A pair for each unused piece.
type Splits = FxHashMap<u32, (u32, u32)>;

impl Unused {
    /// None for no pieces.
    pub(super) fn new(parts: &BpeParts, vocab: &Vocab, hidden: Hidden) -> Result<Option<Self>> {
        if parts.unused.is_empty() {
            return Ok(None);
        }
        let mut is = vec![false; vocab.len()];
        for &id in &parts.unused {
            vocab.piece(id).ok_or_else(|| without_piece("unused"))?;
            is[id as usize] = true;
        }
        if parts.scores.is_none() || !(parts.marked || parts.marker == Marker::None) {
            return Err(Error::Config {
                option: "unused",
                found: format!("{} pieces", parts.unused.len()),
                expected: "none without scores, or where the model writes a marker".into(),
            });
        }
        Ok(Some(Self { is, hidden }))
    }

    /// The vocabulary without them; ids stay.
    pub(super) fn others(&self, vocab: &Vocab) -> Vocab {
        let piece = |id: u32| vocab.piece(id).filter(|_| !self.is[id as usize]);
        let pieces: Vec<Vec<u8>> =
            (0..vocab.len() as u32).map(|id| piece(id).unwrap_or_default().to_vec()).collect();
        Vocab::new(&pieces)
    }

    /// A symbol for the user-defined piece of a number. It is part of no pair.
    pub(super) fn frozen(&self, number: usize) -> u32 {
        self.hidden.end() + number as u32
    }

    /// The number of the user-defined piece that a symbol stands for.
    pub(super) fn thawed(&self, id: u32) -> Option<usize> {
        id.checked_sub(self.hidden.end()).map(|number| number as usize)
    }

    fn has(&self, id: u32) -> bool {
        self.is.get(id as usize).copied().unwrap_or(false)
    }

    /// Watches over a word, to know afterwards where unused pieces come apart.
    pub(super) fn watch<'a, O>(
        &'a self,
        pairs: &'a PairTable,
        ids: &[u32],
        observer: &'a mut O,
    ) -> Watcher<'a, O> {
        let len = ids.len() as u32;
        let mut watcher = Watcher {
            unused: self,
            pairs,
            observer,
            ids: ids.to_vec(),
            before: (0..len).map(|at| at.wrapping_sub(1)).collect(),
            behind: (1..=len).map(|at| if at < len { at } else { NOWHERE }).collect(),
            splits: Splits::default(),
        };
        for at in 1..len {
            watcher.look(at - 1, at);
        }
        watcher
    }

    /// Calls `piece` for the parts of what came out, which stands for the bytes `start..end`, left to
    /// right. Cost: twice its characters.
    pub(super) fn apart(
        &self,
        vocab: &Vocab,
        splits: &Splits,
        id: u32,
        start: usize,
        end: usize,
        mut piece: impl FnMut(u32, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let mut stack = vec![(id, start, end)];
        while let Some((id, start, end)) = stack.pop() {
            if !self.has(id) {
                piece(id, start, end)?;
                continue;
            }
            let Some(&(left, right)) = splits.get(&id) else {
                piece(crate::symbols::UNKNOWN, start, end)?;
                continue;
            };
            let hidden = |id: u32| {
                let number = id.checked_sub(self.hidden.first)?;
                self.hidden.characters.get(number as usize)
            };
            let len = match vocab.piece(left) {
                Some(piece) => piece.len(),
                None => hidden(left).map_or(0, |c| c.len_utf8()),
            };
            stack.push((right, start + len, end));
            stack.push((left, start, start + len));
        }
        Ok(())
    }
}

/// No position.
const NOWHERE: u32 = u32::MAX;

/// Follows the merges of a word, and tells the other observer of them.
pub(super) struct Watcher<'a, O> {
    unused: &'a Unused,
    pairs: &'a PairTable,
    observer: &'a mut O,
    /// For each of the first symbols: what begins there now, and where its neighbours begin.
    ids: Vec<u32>,
    before: Vec<u32>,
    behind: Vec<u32>,
    splits: Splits,
}

impl<O> Watcher<'_, O> {
    /// Two neighbours might merge now.
    fn look(&mut self, left: u32, right: u32) {
        if left == NOWHERE || right == NOWHERE {
            return;
        }
        let (left, right) = (self.ids[left as usize], self.ids[right as usize]);
        let (rank, product) = self.pairs.get(left, right);
        if rank != super::pairs::NO_RANK && self.unused.has(product) {
            self.splits.insert(product, (left, right));
        }
    }

    pub(super) fn splits(self) -> Splits {
        self.splits
    }
}

impl<O: WordObserver> WordObserver for Watcher<'_, O> {
    const WATCHES: bool = O::WATCHES;

    fn symbols(&mut self, ids: &[u32]) {
        self.observer.symbols(ids);
    }

    fn merged(&mut self, at: usize, rank: u32, id: u32) {
        self.observer.merged(at, rank, id);
        let right = self.behind[at] as usize;
        let behind = self.behind[right];
        self.behind[at] = behind;
        if behind != NOWHERE {
            self.before[behind as usize] = at as u32;
        }
        self.ids[at] = id;
        self.look(self.before[at], at as u32);
        self.look(at as u32, behind);
    }

    fn dropped(&mut self, at: usize, rank: u32) {
        self.observer.dropped(at, rank);
    }
}
