//! The greedy strategies: pieces by their length, no merges.
//!
//! * longest-match: from the left, the longest piece that matches; then on behind it.
//! * longest-first: of all pieces, the longest (in characters; ties: smaller id) is put wherever it
//!   occurs, left to right; then the next one, wherever nothing covers the text yet.
//!
//! Both see the word with its marker written into it (`low</w>`). With a continuation marker a piece
//! behind the word's start must carry the marker, and one at the start must not.

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
}

impl Greedy {
    pub(super) fn new(vocab: &Vocab, marker: &Marker) -> Self {
        let pieces =
            || (0..vocab.len() as u32).filter_map(|id| vocab.piece(id).map(|piece| (piece, id)));
        let mark = marker.stripped().as_bytes();
        let marked = |piece: &[u8]| piece.starts_with(mark) && piece.len() > mark.len();
        if mark.is_empty() {
            let first = PrefixTree::new(pieces());
            return Self { first, behind: None, marker: marker.clone() };
        }
        Self {
            first: PrefixTree::new(pieces().filter(|(piece, _)| !marked(piece))),
            behind: Some(PrefixTree::new(
                pieces().filter(|(piece, _)| marked(piece)).map(|(piece, id)| (&piece[mark.len()..], id)),
            )),
            marker: marker.clone(),
        }
    }

    /// Calls `piece(id, start, end)` for what covers the word, left to right; None for a character
    /// that nothing covers. Positions are bytes of the word with its marker, less what the marker
    /// takes in front. Cost: word length times the longest piece that matches.
    pub(super) fn word(
        &self,
        word: &str,
        strategy: Strategy,
        mut piece: impl FnMut(Option<u32>, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let (text, shift) = match &self.marker {
            Marker::Suffix { text, .. } => (format!("{word}{text}"), 0),
            Marker::Prefix { text } => (format!("{text}{word}"), text.len()),
            _ => (word.to_owned(), 0),
        };
        let mut put = |id, start: usize, end: usize| {
            piece(id, start.saturating_sub(shift), end.saturating_sub(shift))
        };
        match strategy {
            Strategy::LongestFirst => self.longest_first(&text, &mut put),
            _ => self.longest_match(&text, &mut put),
        }
    }

    fn tree(&self, at: usize) -> &PrefixTree {
        match &self.behind {
            Some(behind) if at > 0 => behind,
            _ => &self.first,
        }
    }

    fn longest_match(
        &self,
        text: &str,
        put: &mut impl FnMut(Option<u32>, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        while at < text.len() {
            let mut longest = None;
            self.tree(at).prefixes(&text.as_bytes()[at..], |length, id| longest = Some((length, id)));
            let (length, id) = match longest {
                Some((length, id)) => (length, Some(id)),
                None => (next_character(text, at), None),
            };
            put(id, at, at + length)?;
            at += length;
        }
        Ok(())
    }

    fn longest_first(
        &self,
        text: &str,
        put: &mut impl FnMut(Option<u32>, usize, usize) -> Result<()>,
    ) -> Result<()> {
        // Every match, the longest first.
        let mut matches: Vec<(std::cmp::Reverse<usize>, u32, usize, usize)> = Vec::new();
        for at in 0..text.len() {
            self.tree(at).prefixes(&text.as_bytes()[at..], |length, id| {
                let characters =
                    text.as_bytes()[at..at + length].iter().filter(|&&byte| byte & 0xC0 != 0x80);
                matches.push((std::cmp::Reverse(characters.count()), id, at, length));
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
                let end = at + next_character(text, at);
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

/// The length in bytes of the character at `at`; 1 within a character.
fn next_character(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}
