//! Tokens of line ends and tabs, which Gemma's files have for each run of them: they come in every text, and leave short stretches
//! of it.
//!
//! In words: a text that is one word is cut where no piece lies across, and its parts are looked up. A token that is a piece, too, is
//! in one of these parts whole. So such tokens need not be found before, and are looked for only in parts that are new.
//!
//! That is exact where nothing is done to a text but that its spaces become marks: what stands between two tokens becomes the same by
//! itself or in the text. No other token touches these, and a text in which the mark itself stands goes the other way, as there are
//! tokens of it.
//!
//! Rule: finds what is found before texts are cut, once all parts are together.

use memchr::memmem;

use super::{AddedToken, Search};
use crate::error::Result;
use crate::vocab::Vocab;

/// Tokens that are looked for in parts, and the others.
#[derive(Debug, Clone)]
pub(crate) struct Inner {
    search: Search,
    /// The others, in a text without the mark.
    pub(super) outer: Search,
    mark: memmem::Finder<'static>,
    ids: Vec<u32>,
}

/// Line ends and tabs.
fn is_inner(byte: u8) -> bool {
    byte.is_ascii_whitespace() && byte != b' '
}

impl Inner {
    /// None if there are no such tokens, or others are in their way.
    pub(super) fn new(tokens: &[AddedToken], mark: char, vocab: &Vocab) -> Result<Option<Self>> {
        let plain = |token: &AddedToken| !token.normalized;
        let strips = |token: &AddedToken| token.lstrip || token.rstrip;
        let inner = |token: &AddedToken| {
            let asks = token.special || token.single_word || strips(token);
            let text = token.text.as_bytes();
            !asks && text.iter().all(|&byte| is_inner(byte)) && vocab.id(text).is_some()
        };
        let apart = |token: &AddedToken| !strips(token) && !token.text.bytes().any(is_inner);
        if !tokens.iter().filter(|token| plain(token)).all(|token| inner(token) || apart(token)) {
            return Ok(None);
        }
        let itself = |token: &AddedToken| Ok(token.text.clone());
        let (search, _) = Search::new(tokens, |token| plain(token) && inner(token), itself)?;
        let others =
            |token: &AddedToken| plain(token) && !inner(token) && !token.text.contains(mark);
        let (outer, _) = Search::new(tokens, others, itself)?;
        let ids = search.tokens.iter().map(|&number| tokens[number as usize].id).collect();
        let mark = memmem::Finder::new(mark.encode_utf8(&mut [0; 4])).into_owned();
        Ok(search.finder.is_some().then_some(Self { search, outer, mark, ids }))
    }

    /// Whether tokens may be left in a text, if nothing is looked for in its normalized form.
    pub(crate) fn suits(&self, text: &str) -> bool {
        self.mark.find(text.as_bytes()).is_none()
    }

    /// Whether a token of this text is one of them.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.find_iter(text).next().is_some()
    }

    /// Whether one may be in a part.
    #[inline]
    pub(crate) fn may_be_in(&self, part: &str) -> bool {
        part.bytes().any(is_inner)
    }

    /// The tokens of a part: their ids, and where they start and end.
    pub(crate) fn find_iter(&self, part: &str) -> impl Iterator<Item = (u32, usize, usize)> {
        let found =
            self.search.finder.iter().flat_map(|finder| finder.find_iter(part, 0..part.len()));
        found.map(|found| (self.ids[found.number], found.start, found.end))
    }
}
