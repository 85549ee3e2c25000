//! What a BPE model is made of, and the tables that come of it: symbols, and pairs that merge.

use super::super::pairs::{Merge, NO_RANK, PairTable};
use super::super::ranks::{byte_ids, ids_of_bytes};
use super::super::scored::Hidden;
use super::Strategy;
use super::derivations::told;
use crate::error::{Error, Result};
use crate::symbols::{Marker, Symbols, UNKNOWN};
use crate::vocab::Vocab;

/// What a BPE model is made of; see the fields.
#[derive(Debug, Clone)]
pub struct BpeParts {
    /// The bytes of every piece that ordinary text may become. A hole for an id that stands for nothing
    /// or for a special token.
    pub pieces: Vocab,
    /// Pairs of ids, best first; None if ids are ranks, or scores (see [`Bpe::new`](super::Bpe::new)).
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

impl BpeParts {
    /// Pieces of bytes whose ids are their ranks, and nothing special about them.
    ///
    /// ```
    /// use jogak::model::{Bpe, BpeParts};
    /// use jogak::vocab::Vocab;
    ///
    /// let pieces = Vocab::new([&b"a"[..], b"b", b"ab"]);
    /// let model = Bpe::new(BpeParts { merges: Some(vec![(0, 1)]), ..BpeParts::of_bytes(pieces) })?;
    /// assert_eq!(model.merge(0, 1), Some((0, 2)));
    /// # Ok::<(), jogak::Error>(())
    /// ```
    #[must_use]
    pub fn of_bytes(pieces: Vocab) -> Self {
        Self {
            pieces,
            merges: None,
            products: Vec::new(),
            scores: None,
            user_defined: Vec::new(),
            unused: Vec::new(),
            bytes: true,
            marker: Marker::None,
            marked: false,
            byte_fallback: None,
            unknown: None,
            fuse_unknown: false,
            strategy: Strategy::Merges,
            whole_word: false,
            drop_unknown: false,
            word_suffix: None,
            hf_rules: false,
        }
    }
}

/// Whether merges were listed, symbols are characters without markers, and what an unknown one becomes depends on none
/// around it, nor they on it: something stands for it, which no merge takes, and no run of them has one unknown piece.
/// (If nothing stood for it, those around it would be neighbours.)
pub(super) fn by_characters(parts: &BpeParts, vocab: &Vocab) -> bool {
    let Some(merges) = &parts.merges else { return false };
    let suffix = parts.word_suffix.as_deref().unwrap_or_default();
    if parts.bytes || parts.marker != Marker::None || !suffix.is_empty() {
        return false;
    }
    let by_themselves = match &parts.byte_fallback {
        Some(bytes) => !bytes.contains(&UNKNOWN),
        None => parts.unknown.is_some() && !parts.fuse_unknown,
    };
    let mut stands_in = vec![false; vocab.len()];
    let fallen_back = parts.byte_fallback.iter().flat_map(|bytes| bytes.iter().copied());
    for id in fallen_back.chain(parts.unknown) {
        if let Some(stands_in) = stands_in.get_mut(id as usize) {
            *stands_in = true;
        }
    }
    let taken = |id: u32| stands_in.get(id as usize).copied().unwrap_or(false);
    by_themselves && !merges.iter().any(|&(left, right)| taken(left) || taken(right))
}

/// How words become symbols.
pub(super) fn symbols(parts: &BpeParts, vocab: &Vocab, hidden: &Hidden) -> Symbols {
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

/// Which pairs merge.
pub(super) struct Table {
    pub(super) pairs: PairTable,
    /// Merges whose two parts never stand side by side, unless others are skipped; they are not among the pairs.
    pub(super) idle: Vec<Merge>,
    /// Every piece has one derivation, from pieces of lower rank.
    pub(super) proper: bool,
}

impl Table {
    pub(super) fn new(pairs: PairTable, proper: bool) -> Self {
        Self { pairs, idle: Vec::new(), proper }
    }
}

/// Merges as listed.
pub(super) fn listed(merges: &[(u32, u32)], vocab: &Vocab, parts: &BpeParts) -> Result<Table> {
    let marker = &parts.marker;
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
            Some(product) => found.push(Merge { left, right, rank: rank as u32, product }),
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
    let twice = |rank: u32| Error::Config {
        option: "merges",
        found: format!("merge {rank}, which stands before already"),
        expected: "every pair once".into(),
    };
    let of_unknown = found.iter().any(|merge| {
        let all = [merge.left, merge.right, merge.product];
        all.into_iter().any(|id| stands_for_unknown(id, parts))
    });
    if parts.bytes
        && marker.stripped().is_empty()
        && !of_unknown
        && let Some(table) = told(&found, vocab)
    {
        return match repeated(&found) {
            Some(rank) => Err(twice(rank)),
            None => Ok(table),
        };
    }
    let mut pairs = PairTable::with_capacity(found.len(), vocab.first_character());
    // id -> the rank that makes it.
    let mut made = vec![NO_RANK; vocab.len()];
    let mut proper = !of_unknown; // what stands for unknown characters has two derivations
    for &Merge { left, right, rank, product } in &found {
        if !pairs.insert(left, right, rank, product) {
            return Err(twice(rank));
        }
        proper &= std::mem::replace(&mut made[product as usize], rank) == NO_RANK;
    }
    let before = |id: u32, rank: u32| made[id as usize] == NO_RANK || made[id as usize] < rank;
    proper = proper
        && found.iter().all(|&Merge { left, right, rank, .. }| before(left, rank) && before(right, rank))
        // So has a symbol of the alphabet that merges also make.
        && found.iter().filter_map(|merge| vocab.piece(merge.product)).all(|piece| {
            if parts.bytes { piece.len() > 1 } else { !is_symbol(piece, parts) }
        });
    Ok(Table::new(pairs, proper))
}

/// The rank of a merge that stands twice among those of one piece, which stand together.
fn repeated(listed: &[Merge]) -> Option<u32> {
    listed.chunk_by(|one, next| one.product == next.product).find_map(|group| {
        let mut of_piece: Vec<_> =
            group.iter().map(|merge| (merge.left, merge.right, merge.rank)).collect();
        of_piece.sort_unstable();
        let same = |two: &&[(u32, u32, u32)]| (two[0].0, two[0].1) == (two[1].0, two[1].1);
        of_piece.windows(2).find(same).map(|two| two[1].2)
    })
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
