//! Tokens that are found in texts before anything is cut: special ones, and added words.
//!
//! Rule: finds the same tokens as the added vocabulary of HF tokenizers 0.23.3, in linear time. There are
//! two searches: one in the text as it comes, then one in what is left of it after normalization. In
//! each, of tokens that overlap the one that begins first is found, and of those the longest:
//!
//! - What was found counts only if its rules allow it, but is passed over either way: no other token is
//!   looked for inside it. So it is for a `single_word` token within a word, and for a special token
//!   where special tokens are text.
//! - White space that `rstrip` takes is looked at again: a token in it is found, and stands for the same
//!   bytes. White space that `lstrip` would take is taken once only, and a token all of whose bytes
//!   are taken already is left out. (HF panics where less than nothing would be left of one.)
//! - A text in which some stretches are trusted: see [`Input`].

mod absent;
mod finder;
mod inner;

use std::sync::Arc;

use fancy_regex::Regex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Error, Result};
use crate::normalize::{Buffers, Normalizer, Origins, Place};
use absent::Suspects;
use finder::{Finder, Found};
pub(crate) use inner::{Inner, Tabs};

/// A token to be found, and the rules of finding it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedToken {
    /// Its text, not normalized.
    pub text: String,
    /// Its id.
    pub id: u32,
    /// Found only where the policy says so.
    pub special: bool,
    /// Only where no word character (`\w`) stands before or behind it.
    pub single_word: bool,
    /// White space before it belongs to it.
    pub lstrip: bool,
    /// White space behind it belongs to it.
    pub rstrip: bool,
    /// Normalized, and looked for in normalized text.
    pub normalized: bool,
    /// White space is that of ASCII alone, for `lstrip` and `rstrip`.
    pub ascii_spaces: bool,
}

impl AddedToken {
    fn is_space(&self, c: char) -> bool {
        if self.ascii_spaces { matches!(c, ' ' | '\t'..='\r') } else { c.is_whitespace() }
    }
}

/// What to do with text that looks like a special token.
#[derive(Debug, Clone, Default)]
pub enum SpecialPolicy {
    /// It is text like any other.
    #[default]
    Text,
    /// It becomes the special token.
    Parse,
    /// It is an error.
    Error,
    /// It depends on the token.
    Chosen(Arc<Chosen>),
}

/// A choice of special tokens: some are parsed, some texts are errors, the other special tokens are text
/// and are not looked for.
#[derive(Debug)]
pub struct Chosen {
    taken: Added,
    refused: Option<(Finder, Vec<String>)>,
}

/// A text, and which of its stretches may hold special tokens: as the policy says, if none are named.
///
/// Special tokens are looked for in each trusted stretch as if it were all there is, and what is found
/// there stands, whatever is around it. The text between them is then read as one, borders or not, with
/// special tokens as text, whatever the policy; only [`SpecialPolicy::Error`] refuses them there.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The text.
    pub text: &'a str,
    /// Start and end of the trusted stretches, in order, on character borders.
    pub trusted: Option<&'a [(usize, usize)]>,
}

impl<'a> From<&'a str> for Input<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, trusted: None }
    }
}

/// A stretch of a text in which tokens were looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Ordinary text, where in the document it stands, and the byte where it starts.
    Text(&'a str, Place, usize),
    /// A token's id, and the bytes where it starts and ends.
    Token(u32, usize, usize),
}

/// All tokens that are found in texts.
#[derive(Debug, Clone)]
pub struct Added {
    tokens: Vec<AddedToken>,
    /// `\w`, for the tokens that ask for it.
    word: Option<Regex>,
    plain: Search,
    normalized: Search,
    /// Tells where nothing of the second search is found, before a text is normalized.
    suspects: Option<Suspects>,
    /// Normalized text is the text as it comes.
    as_it_comes: bool,
}

/// One of the two searches.
#[derive(Debug, Clone, Default)]
struct Search {
    finder: Option<Finder>,
    /// The token of each pattern.
    tokens: Vec<u32>,
    has_special: bool,
    has_ordinary: bool,
}

/// What a chain of decoders gets for the ids of `tokens`: one that is looked for in normalized text is
/// written normalized, and skipped only if that is the text of a special token (as HF does).
///
/// `text` tells the text of each of the ids below `size`. Returns the texts that are others now, by id, and
/// the ids that are skipped as special.
///
/// # Errors
/// As [`Normalizer::text`].
pub fn decoded<'a>(
    tokens: &[AddedToken],
    normalizer: &Normalizer,
    size: usize,
    text: impl Fn(u32) -> &'a str,
) -> Result<(FxHashMap<u32, String>, Vec<u32>)> {
    let mut buffers = Buffers::default();
    let mut changed = FxHashMap::default();
    for token in tokens.iter().filter(|token| token.normalized && (token.id as usize) < size) {
        let text = normalizer.text(&token.text, Place::WHOLE, &mut buffers)?;
        changed.insert(token.id, text.to_owned());
    }
    let special: FxHashSet<&str> =
        tokens.iter().filter(|token| token.special).map(|token| token.text.as_str()).collect();
    let is_skipped = |token: &&AddedToken| {
        let id = token.id;
        let written = || changed.get(&id).map_or_else(|| text(id), String::as_str);
        (id as usize) < size && special.contains(written())
    };
    let skipped = tokens.iter().filter(is_skipped).map(|token| token.id).collect();
    Ok((changed, skipped))
}

impl Added {
    /// A finder of `tokens`. Of those whose texts are equal, once normalized, the first is found.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the texts are too many; [`Error::EmptyToken`]; as [`Normalizer::text`].
    pub fn new(mut tokens: Vec<AddedToken>, normalizer: &Normalizer) -> Result<Self> {
        if normalizer.is_empty() && tokens.iter().all(|token| token.normalized) {
            // Normalized text is the text as it comes, and nothing is found in it before.
            tokens.iter_mut().for_each(|token| token.normalized = false);
        }
        let mut buffers = Buffers::default();
        let normalized = |token: &AddedToken| -> Result<String> {
            let text = normalizer.text(&token.text, Place::WHOLE, &mut buffers)?;
            if text.is_empty() && !token.text.is_empty() {
                // Hugging Face's library would find it between any two bytes.
                return Err(Error::EmptyToken { text: token.text.clone() });
            }
            Ok(text.to_owned())
        };
        let word = if tokens.iter().any(|token| token.single_word) {
            Some(Regex::new(r"\w").map_err(|error| Error::Pattern {
                pattern: r"\w".to_owned(),
                reason: error.to_string(),
            })?)
        } else {
            None
        };
        let (plain, _) =
            Search::new(&tokens, |token| !token.normalized, |token| Ok(token.text.clone()))?;
        let (normalized, texts) = Search::new(&tokens, |token| token.normalized, normalized)?;
        let as_it_comes = normalizer.is_empty();
        let suspects = if as_it_comes { None } else { Suspects::new(&texts, normalizer)? };
        Ok(Self { plain, normalized, suspects, as_it_comes, word, tokens })
    }

    /// The choice to parse the special tokens `taken`, by their texts, and to refuse texts that have one
    /// of `refused`.
    ///
    /// # Errors
    /// As [`Added::new`].
    pub fn choose(
        &self,
        taken: &[String],
        refused: Vec<String>,
        normalizer: &Normalizer,
    ) -> Result<Chosen> {
        let taken: rustc_hash::FxHashSet<&str> = taken.iter().map(String::as_str).collect();
        let kept = |token: &&AddedToken| !token.special || taken.contains(token.text.as_str());
        let taken = Added::new(self.tokens.iter().filter(kept).cloned().collect(), normalizer)?;
        let refused: Vec<String> = refused.into_iter().filter(|text| !text.is_empty()).collect();
        let refused =
            if refused.is_empty() { None } else { Some((Finder::new(&refused)?, refused)) };
        Ok(Chosen { taken, refused })
    }

    /// The tokens in the text as it comes, and the stretches between them; empty ones are left out.
    ///
    /// # Errors
    /// [`Error::SpecialInText`] where the policy refuses a token; what `part` returns.
    pub fn for_each<'a>(
        &self,
        input: Input<'a>,
        policy: &SpecialPolicy,
        part: impl FnMut(Part<'a>) -> Result<()>,
    ) -> Result<()> {
        self.for_each_but(None, input, policy, part)
    }

    /// The tokens that may be left in texts that are one word each, if their spaces become `mark` and nothing else is done to them.
    pub(crate) fn inner_of_parts(
        &self,
        normalizer: &Normalizer,
        mark: char,
        is_piece: impl Fn(&[u8]) -> bool,
    ) -> Option<Box<Inner>> {
        Inner::of_parts(&self.tokens, normalizer, mark, is_piece).ok()?.map(Box::new)
    }

    /// The tokens that may be left in texts that are cut by GPT-2's scheme, once they are normalized, and to which nothing else is
    /// done then.
    pub(crate) fn inner_of_runs(&self, normalizer: &Normalizer) -> Option<Box<Inner>> {
        Inner::of_runs(&self.tokens, normalizer).ok()?.map(Box::new)
    }

    /// As [`Added::for_each`], but that some are left in the text. Of a choice, none are.
    pub(crate) fn for_each_but<'a>(
        &self,
        inner: Option<&Inner>,
        input: Input<'a>,
        policy: &SpecialPolicy,
        mut part: impl FnMut(Part<'a>) -> Result<()>,
    ) -> Result<()> {
        let Input { text, trusted } = input;
        if let SpecialPolicy::Chosen(chosen) = policy {
            if let Some((finder, texts)) = &chosen.refused
                && let Some(found) = finder.find(text, 0..text.len())
            {
                return Err(in_text(&texts[found.number], found.start));
            }
            return chosen.taken.for_each(input, &SpecialPolicy::Parse, part);
        }
        if text.is_empty() {
            return Ok(());
        }
        let search = inner.map_or(&self.plain, |inner| &inner.plain);
        if search.is_idle(policy, trusted.is_some()) {
            return part(Part::Text(text, Place::WHOLE, 0));
        }
        self.run(search, text, trusted, Place::WHOLE, policy, &mut part)
    }

    /// The texts of the tokens that may be found in a text as it comes.
    pub(crate) fn plain_texts(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter(|token| !token.normalized).map(|token| token.text.as_str())
    }

    /// Whether no text of a token that is looked for is in a text, nor in any part of it.
    pub(crate) fn has_none(&self, text: &str, policy: &SpecialPolicy) -> bool {
        if let SpecialPolicy::Chosen(chosen) = policy {
            let refused = chosen.refused.as_ref().is_some_and(|(finder, _)| finder.is_match(text));
            return !refused && chosen.taken.has_none(text, &SpecialPolicy::Parse);
        }
        !self.plain.has_one(text, policy) && !self.may_look_twice(text, policy)
    }

    /// Whether [`Added::for_each_normalized`] may find anything in what becomes of a text, whatever is trusted. False is certain.
    pub(crate) fn may_look_twice(&self, text: &str, policy: &SpecialPolicy) -> bool {
        if let SpecialPolicy::Chosen(chosen) = policy {
            return chosen.taken.may_look_twice(text, &SpecialPolicy::Parse);
        }
        if self.normalized.is_idle(policy, false) {
            return false;
        }
        match (&self.suspects, &self.normalized.finder) {
            (Some(suspects), _) => suspects.may_be_in(text),
            (None, Some(finder)) if self.as_it_comes => finder.is_match(text),
            _ => true,
        }
    }

    /// Whether that is told by each text.
    pub(crate) fn tells_absent(&self, policy: &SpecialPolicy) -> bool {
        match policy {
            SpecialPolicy::Chosen(chosen) => chosen.taken.tells_absent(&SpecialPolicy::Parse),
            _ => self.as_it_comes || self.suspects.is_some(),
        }
    }

    /// Whether there is nothing to look for in any text that comes.
    pub(crate) fn is_idle(&self, policy: &SpecialPolicy) -> bool {
        let chosen = matches!(policy, SpecialPolicy::Chosen(_));
        !chosen
            && [&self.plain, &self.normalized].iter().all(|search| search.is_idle(policy, false))
    }

    /// Whether [`Added::for_each_normalized`] has anything to look for.
    #[inline]
    pub fn looks_twice(&self, policy: &SpecialPolicy, trusted: bool) -> bool {
        match policy {
            SpecialPolicy::Chosen(chosen) => {
                chosen.taken.looks_twice(&SpecialPolicy::Parse, trusted)
            }
            _ => !self.normalized.is_idle(policy, trusted),
        }
    }

    /// As [`Added::for_each`], in a stretch of normalized text that stands at `place`.
    ///
    /// # Errors
    /// As [`Added::for_each`].
    pub fn for_each_normalized<'a>(
        &self,
        input: Input<'a>,
        place: Place,
        policy: &SpecialPolicy,
        part: impl FnMut(Part<'a>) -> Result<()>,
    ) -> Result<()> {
        self.for_each_normalized_but(None, input, place, policy, part)
    }

    /// The same, but that some are left in the text. Of a choice, none are.
    pub(crate) fn for_each_normalized_but<'a>(
        &self,
        inner: Option<&Inner>,
        input: Input<'a>,
        place: Place,
        policy: &SpecialPolicy,
        mut part: impl FnMut(Part<'a>) -> Result<()>,
    ) -> Result<()> {
        let Input { text, trusted } = input;
        if let SpecialPolicy::Chosen(chosen) = policy {
            let taken = &chosen.taken;
            return taken.for_each_normalized(input, place, &SpecialPolicy::Parse, part);
        }
        if text.is_empty() {
            return Ok(());
        }
        let search = inner.map_or(&self.normalized, |inner| &inner.normalized);
        self.run(search, text, trusted, place, policy, &mut part)
    }

    fn run<'a>(
        &self,
        search: &Search,
        text: &'a str,
        trusted: Option<&[(usize, usize)]>,
        place: Place,
        policy: &SpecialPolicy,
        part: &mut impl FnMut(Part<'a>) -> Result<()>,
    ) -> Result<()> {
        let Some(finder) = &search.finder else {
            return part(Part::Text(text, place, 0));
        };
        let mut cutter =
            Cutter { added: self, text, place, from: 0, blank: [(0, 0); 2], part: &mut *part };
        let whole = (0, text.len());
        let token = |found: &Found| &self.tokens[search.tokens[found.number] as usize];
        let Some(trusted) = trusted else {
            for found in finder.find_iter(text, 0..text.len()) {
                cutter.found(token(&found), found.start, found.end, whole, policy)?;
            }
            return cutter.finish();
        };
        let parse = &SpecialPolicy::Parse;
        let mut gap = 0;
        let between = |cutter: &mut Cutter<'a, '_, _>, from: usize, to: usize| -> Result<()> {
            for found in finder.find_iter(text, from..to) {
                let Found { start, end, .. } = found;
                let token = token(&found);
                // What was not found in a trusted stretch by itself is text there, and no attack.
                let at = trusted.partition_point(|&(_, to)| to < end);
                let harmless = trusted.get(at).is_some_and(|&(from, _)| from <= start);
                let refused = !harmless && matches!(policy, SpecialPolicy::Error);
                let policy = if refused { policy } else { &SpecialPolicy::Text };
                cutter.found(token, start, end, whole, policy)?;
            }
            Ok(())
        };
        for &(from, to) in trusted {
            for found in finder.find_iter(text, from..to) {
                let Found { start, end, .. } = found;
                let token = token(&found);
                if token.special && cutter.added.stands_alone(token, text, start, end, (from, to)) {
                    between(&mut cutter, gap, start)?;
                    cutter.found(token, start, end, (from, to), parse)?;
                    gap = end;
                }
            }
        }
        between(&mut cutter, gap, text.len())?;
        cutter.finish()
    }

    /// Whether the rule `single_word` of a token allows it at `start..end`; `bounds` are what it sees.
    fn stands_alone(
        &self,
        token: &AddedToken,
        text: &str,
        start: usize,
        end: usize,
        bounds: (usize, usize),
    ) -> bool {
        let Some(word) = self.word.as_ref().filter(|_| token.single_word) else { return true };
        let is_word = |c: char| word.is_match(c.encode_utf8(&mut [0; 4])).unwrap_or(false);
        !text[bounds.0..start].chars().next_back().is_some_and(is_word)
            && !text[end..bounds.1].chars().next().is_some_and(is_word)
    }
}

/// Cuts a text at what is found.
struct Cutter<'a, 'b, F> {
    added: &'b Added,
    text: &'a str,
    place: Place,
    /// Where the text begins that is not cut yet.
    from: usize,
    /// A run of white space that was looked at, up to its end: of any, and of ASCII alone.
    blank: [(usize, usize); 2],
    part: &'b mut F,
}

impl<'a, F: FnMut(Part<'a>) -> Result<()>> Cutter<'a, '_, F> {
    fn found(
        &mut self,
        token: &AddedToken,
        mut start: usize,
        mut end: usize,
        bounds: (usize, usize),
        policy: &SpecialPolicy,
    ) -> Result<()> {
        if token.special && matches!(policy, SpecialPolicy::Text) {
            return Ok(());
        }
        let text = self.text;
        if !self.added.stands_alone(token, text, start, end, bounds) {
            return Ok(());
        }
        if token.special && matches!(policy, SpecialPolicy::Error) {
            return Err(in_text(&token.text, start));
        }
        if token.lstrip {
            // What lies before `from` is taken already.
            let free = self.from.max(bounds.0);
            let trimmed = |before: &str| before.trim_end_matches(|c| token.is_space(c)).len();
            start = free + text.get(free..start).map_or(0, trimmed);
        }
        if token.rstrip {
            let blank = &mut self.blank[usize::from(token.ascii_spaces)];
            if !(blank.0 <= end && end <= blank.1) {
                let behind = text[end..].trim_start_matches(|c| token.is_space(c));
                *blank = (end, text.len() - behind.len());
            }
            end = end.max(blank.1.min(bounds.1));
        }
        if start >= end {
            return Ok(());
        }
        self.text_until(start)?;
        (self.part)(Part::Token(token.id, start, end))?;
        self.from = end;
        Ok(())
    }

    fn text_until(&mut self, end: usize) -> Result<()> {
        if self.from >= end {
            return Ok(());
        }
        let first = self.place.first && self.from == 0;
        let last = self.place.last && end == self.text.len();
        (self.part)(Part::Text(
            &self.text[self.from..end],
            Place { first, last, bare: false },
            self.from,
        ))
    }

    fn finish(mut self) -> Result<()> {
        self.text_until(self.text.len())
    }
}

impl Search {
    fn new(
        tokens: &[AddedToken],
        takes: impl Fn(&AddedToken) -> bool,
        mut text: impl FnMut(&AddedToken) -> Result<String>,
    ) -> Result<(Self, Vec<String>)> {
        let mut search = Self::default();
        let mut texts = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            if !takes(token) {
                continue;
            }
            let text = text(token)?;
            if text.is_empty() {
                continue; // Nothing is left of it, and nothing is found nowhere.
            }
            texts.push((text, number as u32));
            search.has_special |= token.special;
            search.has_ordinary |= !token.special;
        }
        // In order, since neighbours then are neighbours in memory: many are made twice as fast. Of
        // equal texts the first token stays the first.
        texts.sort();
        let (texts, numbers): (Vec<String>, Vec<u32>) = texts.into_iter().unzip();
        search.tokens = numbers;
        if !texts.is_empty() {
            search.finder = Some(Finder::new(&texts)?);
        }
        Ok((search, texts))
    }

    /// Whether the text of one that is looked for is in a text, of which nothing is trusted.
    fn has_one(&self, text: &str, policy: &SpecialPolicy) -> bool {
        let finder = self.finder.as_ref().filter(|_| !self.is_idle(policy, false));
        finder.is_some_and(|finder| finder.is_match(text))
    }

    /// Whether nothing can be found: then the search costs nothing.
    #[inline]
    fn is_idle(&self, policy: &SpecialPolicy, trusted: bool) -> bool {
        let special = trusted || !matches!(policy, SpecialPolicy::Text);
        !(self.has_ordinary || (self.has_special && special))
    }
}

fn in_text(token: &str, at: usize) -> Error {
    Error::SpecialInText { token: token.to_owned(), at }
}

/// The stretches of a normalized text that came from trusted stretches of the original alone.
///
/// `text` is the normalized form of the `len` bytes from `base` on. What was put in at the border of a
/// trusted stretch belongs to it only where the original ends there too, and a character that came of
/// both sides of a border belongs to nobody.
pub fn trusted_images(
    trusted: &[(usize, usize)],
    text: &str,
    origins: &Origins,
    base: usize,
    len: usize,
) -> Vec<(usize, usize)> {
    let end_of_all = base + len;
    let mut stretches = trusted
        .iter()
        .map(|&(from, to)| (from.max(base), to.min(end_of_all)))
        .filter(|(from, to)| from < to);
    let mut images: Vec<(usize, usize)> = Vec::new();
    let Some(mut stretch) = stretches.next() else { return images };
    let mut goes_on = false;
    for (at, c) in text.char_indices() {
        let (start, end) = origins.span(at, at + c.len_utf8());
        let (start, end) = (base + start, base + end);
        while stretch.1 <= start
            && let Some(next) = stretches.next()
        {
            (stretch, goes_on) = (next, false);
        }
        let (from, to) = stretch;
        let touches = (from < start || from == base) && (start < to || to == end_of_all);
        if from <= start && end <= to && (start < end || touches) {
            match images.last_mut().filter(|_| goes_on) {
                Some(last) => last.1 = at + c.len_utf8(),
                None => images.push((at, at + c.len_utf8())),
            }
            goes_on = true;
        } else {
            goes_on = false;
        }
    }
    images
}
