//! The greedy strategies: pieces by their length, no merges.
//!
//! * longest-match: from the left, the longest piece that matches; then on behind it.
//! * longest-first: of all pieces, the longest (in characters; ties: smaller id) is put wherever it
//!   occurs, left to right; then the next one, wherever nothing covers the text yet.
//!
//! Both see the word with its marker written into it (`low</w>`). With a continuation marker a piece
//! behind the word's start must carry the marker, and one at the start must not.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use super::Strategy;
use crate::error::Result;
use crate::symbols::Marker;
use crate::vocab::{PrefixTree, Vocab};

#[derive(Debug)]
pub(super) struct Greedy {
    /// Pieces that a word may begin with.
    first: PrefixTree,
    /// Pieces behind the beginning, continuation marker left out; None if they are the same.
    behind: Option<PrefixTree>,
    marker: Marker,
    /// Symbols are bytes.
    bytes: bool,
}

impl Greedy {
    pub(super) fn new(vocab: &Vocab, marker: &Marker, bytes: bool) -> Self {
        let pieces =
            || (0..vocab.len() as u32).filter_map(|id| vocab.piece(id).map(|piece| (piece, id)));
        let mark = marker.stripped().as_bytes();
        let marked = |piece: &[u8]| piece.starts_with(mark) && piece.len() > mark.len();
        if mark.is_empty() {
            let first = PrefixTree::new(pieces());
            return Self { first, behind: None, marker: marker.clone(), bytes };
        }
        Self {
            first: PrefixTree::new(pieces().filter(|(piece, _)| !marked(piece))),
            behind: Some(PrefixTree::new(
                pieces()
                    .filter(|(piece, _)| marked(piece))
                    .map(|(piece, id)| (&piece[mark.len()..], id)),
            )),
            marker: marker.clone(),
            bytes,
        }
    }

    /// Calls `piece(id, start, end)` for what covers the word, left to right; None for a character or
    /// a marker that nothing covers. Positions are bytes of the [marked](Greedy::marked) word. Cost:
    /// word length times the longest piece that matches.
    pub(super) fn word(
        &self,
        word: &str,
        strategy: Strategy,
        mut piece: impl FnMut(Option<u32>, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let (text, mark) = self.marked(word);
        let marked = Marked { text: &text, mark, bytes: self.bytes };
        match strategy {
            Strategy::LongestFirst => self.longest_first(&marked, &mut piece),
            _ => self.longest_match(&marked, &mut piece),
        }
    }

    /// The word with its marker, and where in it the marker stands.
    pub(super) fn marked<'a>(&self, word: &'a str) -> (Cow<'a, str>, Range<usize>) {
        match &self.marker {
            Marker::Suffix { text, .. } => {
                (format!("{word}{text}").into(), word.len()..word.len() + text.len())
            }
            Marker::Prefix { text } => (format!("{text}{word}").into(), 0..text.len()),
            _ => (word.into(), 0..0),
        }
    }

    fn tree(&self, at: usize) -> &PrefixTree {
        match &self.behind {
            Some(behind) if at > 0 => behind,
            _ => &self.first,
        }
    }

    /// Calls `found(length, id)` for every piece that stands at `at`, shortest first. The marker is one
    /// unit: no piece begins or ends within it.
    fn matches(&self, marked: &Marked<'_>, at: usize, mut found: impl FnMut(usize, u32)) {
        if marked.splits(at) {
            return;
        }
        self.tree(at).prefixes(&marked.text.as_bytes()[at..], |length, id| {
            if !marked.splits(at + length) {
                found(length, id);
            }
        });
    }

    fn longest_match(
        &self,
        marked: &Marked<'_>,
        put: &mut impl FnMut(Option<u32>, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        while at < marked.text.len() {
            let mut longest = None;
            self.matches(marked, at, |length, id| longest = Some((length, id)));
            let (length, id) = match longest {
                Some((length, id)) => (length, Some(id)),
                None => (marked.unit(at), None),
            };
            put(id, at, at + length)?;
            at += length;
        }
        Ok(())
    }

    fn longest_first(
        &self,
        marked: &Marked<'_>,
        put: &mut impl FnMut(Option<u32>, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let text = marked.text.as_bytes();
        // Every match, the longest first; the marker counts as one character.
        let mut matches: Vec<(Reverse<usize>, u32, usize, usize)> = Vec::new();
        for at in 0..text.len() {
            self.matches(marked, at, |length, id| {
                matches.push((Reverse(marked.units(at, at + length)), id, at, length));
            });
        }
        matches.sort_unstable();
        let mut covered = vec![false; text.len()];
        let mut placed = Vec::new();
        for (_, id, at, length) in matches {
            if !covered[at..at + length].contains(&true) {
                covered[at..at + length].fill(true);
                placed.push((at, length, id));
            }
        }
        placed.sort_unstable();
        let mut at = 0;
        for (start, length, id) in placed.into_iter().chain([(text.len(), 0, 0)]) {
            while at < start {
                let end = at + marked.unit(at);
                put(None, at, end)?;
                at = end;
            }
            if length > 0 {
                put(Some(id), start, start + length)?;
                at = start + length;
            }
        }
        Ok(())
    }
}

/// A word with its marker written into it.
struct Marked<'a> {
    text: &'a str,
    /// Where the marker stands; empty where there is none.
    mark: Range<usize>,
    /// Symbols are bytes.
    bytes: bool,
}

impl Marked<'_> {
    /// Whether `at` lies within the marker.
    fn splits(&self, at: usize) -> bool {
        self.mark.start < at && at < self.mark.end
    }

    /// The length in bytes of the marker or the character at `at`; 1 within a character.
    fn unit(&self, at: usize) -> usize {
        if at == self.mark.start && !self.mark.is_empty() {
            return self.mark.len();
        }
        if self.bytes {
            return 1;
        }
        self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    }

    /// How many characters (or bytes) lie between two places, the marker counted as one.
    fn units(&self, start: usize, end: usize) -> usize {
        if self.bytes {
            return end - start;
        }
        let characters = |from: usize, to: usize| {
            let bytes = self.text.as_bytes().get(from..to).unwrap_or_default();
            bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
        };
        let whole_mark = !self.mark.is_empty() && start <= self.mark.start && self.mark.end <= end;
        if whole_mark {
            characters(start, self.mark.start) + 1 + characters(self.mark.end, end)
        } else {
            characters(start, end)
        }
    }
}
