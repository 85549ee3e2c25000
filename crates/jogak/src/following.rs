//! What the ids at the end of a text may become when the text goes on, where pieces are bytes and ids are ranks
//! (tiktoken's `encode_with_unstable`).
//!
//! In words: whatever follows may lengthen the last word, so the bytes of its ids may come to be the beginning of any piece;
//! and at each place within them a piece may begin that goes on behind their end. The bytes are encoded as they would be with
//! each such piece; as many of the ids as cover the bytes are a way.
//!
//! Rule: all ids come from the tokenizer and its merges; here is only told which texts they are asked for.

use rustc_hash::FxHashSet;

use crate::error::{Error, Result};
use crate::model::{self, Bpe, Merger, Way};
use crate::normalize::Place;
use crate::observe::Silent;
use crate::pipeline::Tokenizer;
use crate::prepare;
use crate::vocab::Vocab;

/// The pieces of a tokenizer in the order of their bytes.
#[derive(Debug, Default)]
pub struct Following {
    ids: Box<[u32]>,
    /// The bytes of the longest piece.
    longest: usize,
}

impl Following {
    /// The order of some pieces. Cost: sorts them.
    pub fn new(vocab: &Vocab) -> Self {
        let pieces = (0..vocab.len() as u32).filter_map(|id| Some((vocab.piece(id)?, id)));
        let mut pieces: Vec<(&[u8], u32)> = pieces.filter(|(piece, _)| !piece.is_empty()).collect();
        pieces.sort_unstable();
        let longest = pieces.iter().map(|(piece, _)| piece.len()).max().unwrap_or(0);
        Self { ids: pieces.into_iter().map(|(_, id)| id).collect(), longest }
    }

    /// The pieces that begin with some bytes.
    fn beginning_with<'v>(
        &self,
        vocab: &'v Vocab,
        start: &[u8],
    ) -> impl Iterator<Item = (&'v [u8], u32)> {
        let piece = |id: u32| vocab.piece(id).unwrap_or_default();
        let from = self.ids.partition_point(|&id| piece(id) < start);
        let found = &self.ids[from..];
        let end = found.partition_point(|&id| piece(id).starts_with(start));
        found[..end].iter().map(move |&id| (piece(id), id))
    }
}

impl Tokenizer {
    /// The last word of a text; nothing if it has none.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn last_word(&self, text: &str) -> Result<String> {
        let mut scratch = prepare::Scratch::default();
        let ready = self.prepare().text(text, Place::WHOLE, &mut scratch)?;
        let mut last = (0, 0);
        self.prepare().for_each(ready, |start, end| last = (start, end))?;
        Ok(ready.text[last.0..last.1].to_owned())
    }

    /// The ways in which the ids of `end`, the last bytes of a text, may go on, sorted; none of a model whose pieces are no
    /// bytes. `go_on` is asked now and then, and may stop it all.
    ///
    /// Cost: for each piece that may begin within `end` and goes on behind it, encoding as many bytes.
    ///
    /// # Errors
    /// What `go_on` says; as [`Tokenizer::encode`].
    pub fn following<E: From<Error>>(
        &self,
        pieces: &Following,
        end: &[u8],
        mut go_on: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<Vec<u32>>, E> {
        let Some(bpe) = self.model().bpe() else { return Ok(Vec::new()) };
        let vocab = bpe.vocab();
        let mut ways: FxHashSet<Vec<u32>> =
            pieces.beginning_with(vocab, end).map(|(_, id)| vec![id]).collect();
        let (mut once, mut possible, mut ids) = (Once::default(), Vec::new(), Vec::new());
        let mut unasked = 0;
        // A piece that begins earlier ends within.
        for at in end.len().saturating_sub(pieces.longest).max(1)..end.len() {
            for (piece, _) in pieces.beginning_with(vocab, &end[at..]) {
                unasked += end.len();
                if unasked >= ASKED_AFTER {
                    go_on()?;
                    unasked = 0;
                }
                possible.clear();
                possible.extend_from_slice(&end[..at]);
                possible.extend_from_slice(piece);
                ids.clear();
                once.encode(self, bpe, &possible, &mut ids)?;
                ids.truncate(covering(vocab, &ids, end.len()));
                if !ways.contains(&ids) {
                    ways.insert(ids.clone());
                }
            }
        }
        // White space at the end may come to be a word of its own.
        if let Some((before, space)) = last_space(end) {
            ids.clear();
            bpe.merged(before, &mut once.merger, &mut ids)?;
            bpe.merged(space, &mut once.merger, &mut ids)?;
            ways.insert(ids);
        }
        let mut ways: Vec<_> = ways.into_iter().collect();
        ways.sort_unstable();
        Ok(ways)
    }
}

/// So many bytes are encoded before somebody is asked whether to go on.
const ASKED_AFTER: usize = 1 << 18;

/// Encodes texts that are met but once: nothing of them is remembered.
#[derive(Default)]
struct Once {
    front: prepare::Scratch,
    way: Way,
    model: model::Scratch,
    merger: Merger,
}

impl Once {
    /// Appends the ids of a text, or of bytes that are none, which are one word.
    fn encode(
        &mut self,
        tokenizer: &Tokenizer,
        bpe: &Bpe,
        bytes: &[u8],
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let Self { front, way, model, merger } = self;
        let Ok(text) = std::str::from_utf8(bytes) else { return bpe.merged(bytes, merger, out) };
        let ready = tokenizer.prepare().text(text, Place::WHOLE, front)?;
        let mut result = Ok(());
        tokenizer.prepare().for_each(ready, |start, end| {
            if result.is_ok() {
                let word = &ready.text[start..end];
                result = tokenizer.model().word(word, way, model, out, &mut Silent);
            }
        })?;
        result
    }
}

/// How many of the first ids stand for so many bytes.
fn covering(vocab: &Vocab, ids: &[u32], bytes: usize) -> usize {
    let mut sum = 0;
    let ends = ids.iter().map(|&id| {
        sum += vocab.piece(id).map_or(0, <[u8]>::len);
        sum
    });
    ends.take_while(|&end| end < bytes).count() + 1
}

/// What stands before the last character, and that character, if it is white space and something stands before it.
fn last_space(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    (1..=bytes.len().saturating_sub(1).min(4)).find_map(|size| {
        let (before, last) = bytes.split_at(bytes.len() - size);
        let mut characters = std::str::from_utf8(last).ok()?.chars();
        Some((before, last)).filter(|_| characters.all(char::is_whitespace))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn pieces_by_their_beginnings() {
        let vocab = Vocab::new([&b"b"[..], b"", b"ab", b"a", b"a\xFF", b"abc", b"\xFF"]);
        let following = Following::new(&vocab);
        assert_eq!(following.longest, 3);
        let ids = |start: &[u8]| -> Vec<u32> {
            following.beginning_with(&vocab, start).map(|(_, id)| id).collect()
        };
        assert_eq!(ids(b"a"), [3, 2, 5, 4]);
        assert_eq!(ids(b"ab"), [2, 5]);
        assert_eq!(ids(b"a\xFF"), [4]);
        assert_eq!(ids(b"\xFF"), [6]);
        assert_eq!(ids(b"ac"), []);
        assert_eq!(ids(b"abcd"), []);
    }

    #[test]
    fn ids_that_cover() {
        let vocab = Vocab::new([&b"a"[..], b"bc"]);
        for (bytes, expected) in [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (9, 4)] {
            assert_eq!(covering(&vocab, &[0, 1, 0], bytes).min(4), expected, "{bytes}");
        }
    }

    #[test]
    fn white_space_at_the_end() {
        assert_eq!(last_space(b"a "), Some((&b"a"[..], &b" "[..])));
        assert_eq!(last_space("a\u{3000}".as_bytes()), Some((&b"a"[..], "\u{3000}".as_bytes())));
        assert_eq!(last_space(b"\x80\n"), Some((&b"\x80"[..], &b"\n"[..])));
        for none in [&b""[..], b" ", b"a", b"a\x1C", b" \x80", "\u{3000}".as_bytes()] {
            assert_eq!(last_space(none), None, "{none:?}");
        }
    }
}
