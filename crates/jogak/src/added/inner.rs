//! Tokens of blanks, which come in every text, or in every line of code, and leave short stretches: of line ends and of tabs in
//! Gemma's files, of spaces in GPT-NeoX's and Phi-2's.
//!
//! In words: such tokens need not be found before a text is cut. They are left in it, it is cut so that each of them lies within one
//! part, and they are looked for only in parts that are new.
//!
//! ```text
//! Gemma's      a text is one word, and is cut where no piece lies across: a token that is a piece, too, is in one part
//! GPT-NeoX's   words are GPT-2's of what runs of two spaces or more leave, and these runs
//! ```
//!
//! That is exact where nothing is done to texts after the search that would see the tokens: to Gemma's, nothing but that spaces become
//! marks; a text in which the mark itself stands goes the other way, as there are tokens of it. GPT-NeoX's tokens are found in
//! normalized text, which then is only cut. No other token of the same search touches these.
//!
//! Rule: finds what is found before texts are cut, once all parts are together; what it cannot, it tells.

use memchr::memmem;

use super::{AddedToken, Search, SpecialPolicy};
use crate::error::{Error, Result};
use crate::normalize::{Buffers, Normalizer, Place};

/// Tokens that are looked for in parts, and the others.
#[derive(Debug, Clone)]
pub(crate) struct Inner {
    search: Search,
    ids: Vec<u32>,
    /// The others, which are found before: in a text as it comes, and in normalized text.
    pub(super) plain: Search,
    pub(super) normalized: Search,
    kind: Kind,
}

/// Whether runs are of tabs, too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tabs(pub(crate) bool);

#[derive(Debug, Clone)]
enum Kind {
    /// In parts of a text that is one word and has no mark.
    Parts { mark: Box<memmem::Finder<'static>> },
    /// Runs of spaces, and of tabs if there are tokens of these.
    Runs { tabs: bool },
}

/// Whether what a token takes is its text and nothing else.
fn is_bare(token: &AddedToken) -> bool {
    !token.lstrip && !token.rstrip
}

/// Whether it is found wherever it stands.
fn is_free(token: &AddedToken) -> bool {
    is_bare(token) && !token.special && !token.single_word
}

fn is_line_end_or_tab(byte: u8) -> bool {
    byte.is_ascii_whitespace() && byte != b' '
}

/// The blank that a text has two or more of, and nothing else.
fn run_of(text: &str) -> Option<u8> {
    let bytes = text.as_bytes();
    let (&first, rest) = bytes.split_first()?;
    let is_run = matches!(first, b' ' | b'\t') && !rest.is_empty();
    (is_run && rest.iter().all(|&byte| byte == first)).then_some(first)
}

impl Inner {
    /// Of texts that are one word each, whose spaces become marks and to which nothing else is done; None if there are no such
    /// tokens, or others are in their way.
    pub(super) fn of_parts(
        tokens: &[AddedToken],
        normalizer: &Normalizer,
        mark: char,
        is_piece: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Self>> {
        let inner = |token: &AddedToken| {
            let text = token.text.as_bytes();
            let blank = text.iter().all(|&byte| is_line_end_or_tab(byte));
            !token.normalized && is_free(token) && blank && is_piece(text)
        };
        let apart =
            |token: &AddedToken| is_bare(token) && !token.text.bytes().any(is_line_end_or_tab);
        if !tokens.iter().all(|token| inner(token) || apart(token)) {
            return Ok(None);
        }
        let finder = memmem::Finder::new(mark.encode_utf8(&mut [0; 4])).into_owned();
        // Of what is found before, nothing has the mark: no text that suits has.
        let absent = |token: &AddedToken| !token.normalized && token.text.contains(mark);
        Self::new(tokens, normalizer, inner, absent, Kind::Parts { mark: Box::new(finder) })
    }

    /// Of texts that GPT-2's scheme cuts, and to which nothing else is done where these tokens are looked for. None as above.
    pub(super) fn of_runs(tokens: &[AddedToken], normalizer: &Normalizer) -> Result<Option<Self>> {
        let run = |token: &AddedToken| run_of(&token.text).filter(|_| is_free(token));
        let Some(first) = tokens.iter().find(|token| run(token).is_some()) else {
            return Ok(None);
        };
        let (late, tabs) = (first.normalized, tokens.iter().any(|token| run(token) == Some(b'\t')));
        let inner = |token: &AddedToken| run(token).is_some() && token.normalized == late;
        // One of each length, so that only of a run that is longer than all something may be left.
        let whole = |blank: u8| {
            let of_it = tokens.iter().filter(|token| run(token) == Some(blank) && inner(token));
            let mut lengths: Vec<usize> = of_it.map(|token| token.text.len()).collect();
            lengths.sort_unstable();
            lengths.dedup();
            !lengths.is_empty() && lengths.iter().copied().eq(2..lengths.len() + 2)
        };
        let apart = |token: &AddedToken| {
            let before = late && !token.normalized && run(token).is_none();
            before || is_bare(token) && !token.text.contains([' ', '\t'])
        };
        let mut buffers = Buffers::default();
        let mut stays = normalizer.is_empty() || late;
        for token in tokens.iter().filter(|token| inner(token)) {
            stays &= normalizer.text(&token.text, Place::WHOLE, &mut buffers)? == token.text;
        }
        let suits = stays && whole(b' ') && (!tabs || whole(b'\t'));
        if !suits || !tokens.iter().all(|token| inner(token) || apart(token)) {
            return Ok(None);
        }
        Self::new(tokens, normalizer, inner, |_| false, Kind::Runs { tabs })
    }

    /// The tokens that are `inner`, and all others but for those that are `absent`. `normalizer` writes those that are looked for in
    /// normalized text.
    fn new(
        tokens: &[AddedToken],
        normalizer: &Normalizer,
        inner: impl Fn(&AddedToken) -> bool,
        absent: impl Fn(&AddedToken) -> bool,
        kind: Kind,
    ) -> Result<Option<Self>> {
        let mut buffers = Buffers::default();
        let mut search = |takes: &dyn Fn(&AddedToken) -> bool| {
            let text = |token: &AddedToken| match token.normalized {
                true => Ok(normalizer.text(&token.text, Place::WHOLE, &mut buffers)?.to_owned()),
                false => Ok(token.text.clone()),
            };
            Ok::<Search, Error>(Search::new(tokens, takes, text)?.0)
        };
        let other = |token: &AddedToken| !inner(token) && !absent(token);
        let plain = search(&|token| other(token) && !token.normalized)?;
        let normalized = search(&|token| other(token) && token.normalized)?;
        let search = search(&inner)?;
        let ids = search.tokens.iter().map(|&number| tokens[number as usize].id).collect();
        let is_some = search.finder.is_some();
        Ok(is_some.then_some(Self { search, ids, plain, normalized, kind }))
    }

    /// Whether tokens may be left in a text.
    pub(crate) fn suits(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Parts { mark } => mark.find(text.as_bytes()).is_none(),
            Kind::Runs { .. } => true,
        }
    }

    /// Whether anything is looked for in normalized text.
    pub(crate) fn looks_twice(&self, policy: &SpecialPolicy) -> bool {
        !self.normalized.is_idle(policy, false)
    }

    /// If tokens are runs of blanks: whether also of tabs. Where each such run is a word by itself, they lie within words.
    pub(crate) fn runs(&self) -> Option<Tabs> {
        match self.kind {
            Kind::Parts { .. } => None,
            Kind::Runs { tabs } => Some(Tabs(tabs)),
        }
    }

    /// Whether no other token is in a text that no rule changes, nor in any part of it.
    pub(crate) fn has_none_of_others(&self, text: &str, policy: &SpecialPolicy) -> bool {
        let chosen = matches!(policy, SpecialPolicy::Chosen(_));
        let mut searches = [&self.plain, &self.normalized].into_iter();
        !chosen && !searches.any(|search| search.has_one(text, policy))
    }

    /// Whether a token of this text is one of them.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.find_iter(text).next().is_some()
    }

    /// Whether one may be in a part.
    #[inline]
    pub(crate) fn may_be_in(&self, part: &str) -> bool {
        match (&self.kind, part.as_bytes()) {
            (Kind::Parts { .. }, part) => part.iter().any(|&byte| is_line_end_or_tab(byte)),
            (Kind::Runs { .. }, part) => matches!(part, [b' ', b' ', ..] | [b'\t', b'\t', ..]),
        }
    }

    /// The tokens of a part: their ids, and where they start and end.
    pub(crate) fn find_iter(&self, part: &str) -> impl Iterator<Item = (u32, usize, usize)> {
        let finder = self.search.finder.iter();
        let found = finder.flat_map(|finder| finder.find_iter(part, 0..part.len()));
        found.map(|found| (self.ids[found.number], found.start, found.end))
    }
}
