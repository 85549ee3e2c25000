//! Texts that are cut before they are normalized, so that a word that was seen before need not be
//! normalized again.
//!
//! Rule: exact or not at all. The words of a text, made ready one by one, are those of the whole text made
//! ready at once. Where that depends on what words hold, the word says so when it is made ready, and the
//! text goes the plain way.
//!
//! ```text
//! schemes                   a raw word                               as it is made ready
//! BERT                      what blanks, punctuation and Chinese     by itself
//!                           characters leave
//! words without blanks,     what blanks leave                        by itself
//! then others
//! words between spaces      what spaces leave of a line              as it stands
//! metaspace                 what one blank leaves (collapsed: any    behind one space, which is what
//!                           run of them), which it stands behind;    the start of a text counts for
//!                           if there are more, it has them with it
//! ```
//!
//! So the bytes of a raw word tell all: one that begins with a blank has its blanks, one that does not
//! stands behind one blank or where a mark is put.

use super::mapped::Mapped;
use super::{Prepare, Prepared, Scratch, Written};
use crate::error::Result;
use crate::normalize::{Normalizer, Place, Squeeze, WITHIN, metaspace};
use crate::pretokenize::{Apart, Dummy, LIST, Metaspace, Scheme, between_ends, is_between_spaces};

/// How texts are cut before they are normalized.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw {
    apart: Apart,
    /// Clusters of characters are looked at, and what they have to do with blanks is told by each word.
    graphemes: bool,
    /// They are looked at behind other rules.
    later: bool,
    collapse: bool,
    /// Runs of blanks become one, as this says.
    squeeze: Option<Squeeze>,
    /// How spaces are written, where they are not dropped.
    spaces: Option<Metaspace>,
    /// A text is a line: spaces and line ends at its ends are dropped, and words are what spaces leave of it, as they stand.
    is_line: bool,
}

/// Raw words by their bytes in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RawList<'a> {
    /// As many starts as ends.
    Words {
        starts: &'a [u32],
        ends: &'a [u32],
        /// There may be Chinese characters by themselves among them.
        characters: bool,
    },
    /// The first word, up to there, if what is made of it does not depend on its bytes alone: it may not be remembered.
    First {
        end: usize,
        /// It stands behind a space.
        led: bool,
    },
}

/// A raw word as the pre-tokenizer is to see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready<'a> {
    pub(crate) prepared: Prepared<'a>,
    /// It is one word for certain, and with marks one part of one.
    pub(crate) whole: bool,
}

/// Whether a space is put before a stretch of text that stands there.
fn adds(spaces: Metaspace, place: Place) -> bool {
    match spaces.dummy {
        Dummy::Always => true,
        Dummy::Never => false,
        Dummy::First | Dummy::Given | Dummy::Start => place.first,
    }
}

/// Room to make raw words ready, to be used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawScratch {
    led: String,
    clusters: String,
    ready: Scratch,
    mapped: Mapped,
}

const MARK: char = '▁';

/// Where a word begins that keeps its blanks, of which all stand behind the word before: behind one, or with all.
#[inline(always)]
fn with_blanks(before: u32, start: u32) -> u32 {
    if start - before == 1 { start } else { before }
}

/// Whether there is no white space at the ends of a text.
fn is_solid(text: &str) -> bool {
    text.trim() == text
}

impl Raw {
    /// None if it is not certain that this is exact.
    pub(super) fn new(normalizer: &Normalizer, schemes: &[Scheme]) -> Option<Raw> {
        let blanks = normalizer.at_blanks()?;
        let raw = |apart, spaces| {
            let (graphemes, later) = (blanks.graphemes, blanks.later);
            let collapse = blanks.collapse || blanks.squeeze.is_some();
            let (squeeze, is_line) = (blanks.squeeze, false);
            Some(Raw { apart, graphemes, later, collapse, squeeze, spaces, is_line })
        };
        // Words see nothing of each other once white space is dropped.
        let joined = blanks.squeeze.is_some_and(|squeeze| squeeze.to_mark);
        let dropped = (blanks.white || normalizer.is_empty()) && !joined;
        match schemes {
            [Scheme::Bert | Scheme::Bert8] if dropped && !blanks.collapse => {
                match (blanks.punctuation, blanks.chinese) {
                    (true, true) => raw(Apart::Chinese, None),
                    (true, false) => raw(Apart::Punctuation, None),
                    (false, _) => raw(Apart::Blanks, None),
                }
            }
            [first, rest @ ..] if dropped && !blanks.collapse && first.drops_blanks() => {
                // What cuts words further sees one of them.
                let alone = |scheme: &Scheme| match scheme {
                    Scheme::Metaspace(spaces) => {
                        matches!(spaces.dummy, Dummy::Always | Dummy::Never)
                    }
                    other => !other.rewrites(),
                };
                if rest.iter().all(alone) { raw(Apart::Blanks, None) } else { None }
            }
            _ if blanks.merges_white => None,
            [scheme] if normalizer.is_empty() && is_between_spaces(scheme) => {
                raw(Apart::Spaces, None).map(|raw| Raw { is_line: true, ..raw })
            }
            // What stands at the very start of the original is told by the whole text only.
            &[Scheme::Metaspace(Metaspace { dummy: Dummy::Start, .. })]
                if !normalizer.is_empty() =>
            {
                None
            }
            // The start of a text must count for a space, whether one is there or not.
            &[Scheme::Metaspace(spaces)] if blanks.squeeze.is_some() && !spaces.only_missing => {
                None
            }
            &[Scheme::Metaspace(spaces)]
                if spaces.escape && spaces.mark == MARK && !spaces.suffix =>
            {
                raw(if blanks.all { Apart::Blanks } else { Apart::Spaces }, Some(spaces))
            }
            _ => None,
        }
    }

    /// Whether the text that is made ready is one word, however many raw ones it has.
    pub(crate) fn is_one_word(&self) -> bool {
        self.spaces.is_some_and(|spaces| !spaces.split)
    }

    /// Whether blanks are in no word.
    pub(crate) fn drops_blanks(&self) -> bool {
        self.spaces.is_none()
    }

    /// Whether a text of the kind that [is by itself](Raw::is_by_itself) is: nothing is dropped at its ends that would stay
    /// between others.
    pub(crate) fn is_same_between(&self, text: &str) -> bool {
        if !self.is_line {
            return !(self.keeps_end() && self.ends_blank(text));
        }
        let ends = |c| matches!(c, '\r' | '\n');
        let text = text.trim_matches(' ');
        !text.starts_with(ends) && !text.ends_with(ends)
    }

    /// Whether a text has the same words if others stand before and behind it, with blanks between.
    pub(crate) fn is_by_itself(&self) -> bool {
        self.spaces.is_none_or(|spaces| self.collapse && adds(spaces, Place::WHOLE))
    }

    /// Whether runs of blanks become one, at the end of a text as well.
    fn keeps_end(&self) -> bool {
        self.spaces.is_some() && self.squeeze.is_some_and(|squeeze| !squeeze.right)
    }

    fn ends_blank(&self, text: &str) -> bool {
        text.bytes().next_back().is_some_and(|byte| self.is_blank(byte))
    }

    /// Calls `each` with the raw words of a stretch of text, left to right; false if they are not certain for a stretch that
    /// stands there.
    #[inline]
    pub(crate) fn for_each_list(
        &self,
        text: &str,
        place: Place,
        mut each: impl FnMut(RawList<'_>),
    ) -> bool {
        let bytes = text.as_bytes();
        // Places of words are of 32 bits.
        let Ok(length) = u32::try_from(bytes.len()) else { return false };
        let Some(spaces) = self.spaces.filter(|_| !self.collapse) else {
            let is_certain = self.spaces.is_none_or(|spaces| {
                adds(spaces, place) && (self.squeeze.is_some() || place.first && place.last)
            });
            if !is_certain {
                return false;
            }
            let (from, to) = if self.is_line { between_ends(text) } else { (0, bytes.len()) };
            let mut done = 0;
            self.apart.for_each_list(&bytes[..to], from, |starts, ends, characters| {
                done = ends.last().copied().unwrap_or(done);
                each(RawList::Words { starts, ends, characters });
            });
            if self.keeps_end() && done < length {
                // Blanks at the end are a word; what has no other has rules of its own.
                each(RawList::Words { starts: &[done], ends: &[length], characters: false });
                return done > 0;
            }
            return true;
        };
        let adds = adds(spaces, place);
        let odd = |start: u32| match start {
            0 if adds => None,
            0 => Some(false),
            _ => Some(adds && !spaces.only_missing),
        };
        let (mut room, mut done) = ([0; LIST], 0);
        self.apart.for_each_list(bytes, 0, |starts, ends, _| {
            let (Some(&first), Some(&end), Some(&last)) =
                (starts.first(), ends.first(), ends.last())
            else {
                return;
            };
            let begins = &mut room[..starts.len()];
            begins[0] = with_blanks(done, first);
            let others = begins[1..].iter_mut().zip(&starts[1..]).zip(ends);
            others.for_each(|((begin, &start), &before)| *begin = with_blanks(before, start));
            let mut listed = 0;
            if let (0, Some(led)) = (done, odd(first)) {
                each(RawList::First { end: end as usize, led });
                listed = 1;
            }
            let (starts, ends) = (&begins[listed..], &ends[listed..]);
            each(RawList::Words { starts, ends, characters: false });
            done = last;
        });
        // Blanks at the end are a word.
        if done < length {
            match (done, odd(length)) {
                (0, Some(led)) => each(RawList::First { end: bytes.len(), led }),
                _ => each(RawList::Words { starts: &[done], ends: &[length], characters: false }),
            }
        }
        true
    }

    fn is_blank(&self, byte: u8) -> bool {
        byte == b' ' || (self.apart != Apart::Spaces && matches!(byte, b'\t' | b'\n' | b'\r'))
    }

    /// Whether a text, which is not empty, becomes itself as a raw word, and one word, for certain.
    pub(crate) fn is_itself(&self, prepare: &Prepare, text: &str) -> bool {
        let quiet = || {
            prepare.quiet.as_ref().is_some_and(|quiet| quiet.mark().is_none() && quiet.holds(text))
        };
        self.spaces.is_none() && !self.graphemes && (self.is_alone(text) || quiet())
    }

    /// Whether a raw word is a character that is cut off because it stays a word by itself.
    #[inline]
    fn is_alone(&self, word: &str) -> bool {
        match (self.apart, word.as_bytes()) {
            (Apart::Punctuation | Apart::Chinese, [byte]) => byte.is_ascii_punctuation(),
            (Apart::Chinese, [0xE4..=0xE9, _, _]) => word.chars().all(Apart::is_chinese),
            _ => false,
        }
    }

    /// A raw word as the pre-tokenizer is to see it; None if that is not certain.
    ///
    /// # Errors
    /// As [`Prepare::text`].
    pub(crate) fn ready<'a>(
        &self,
        prepare: &'a Prepare,
        word: &'a str,
        odd: Option<bool>,
        room: &'a mut RawScratch,
    ) -> Result<Option<Ready<'a>>> {
        let RawScratch { led: text, clusters, ready, mapped } = room;
        if self.is_line || self.is_alone(word) {
            let prepared = Prepared { text: word, parts: None };
            return Ok(Some(Ready { prepared, whole: true }));
        }
        if odd.is_none()
            && let Some(quiet) = &prepare.quiet
            && (!self.graphemes || Normalizer::is_surely_apart(word))
            && quiet.holds(word)
        {
            let Some(mark) = quiet.mark() else {
                let prepared = Prepared { text: word, parts: None };
                return Ok(Some(Ready { prepared, whole: true }));
            };
            text.clear();
            text.push(mark);
            text.push_str(word);
            return Ok(Some(Ready { prepared: Prepared { text, parts: None }, whole: true }));
        }
        if odd.is_none()
            && let Some(quiet) = &prepare.quiet
            && prepare.goes_by_characters
            && let Some(text) = mapped.word(prepare.of_words(), quiet, word)
        {
            return Ok(Some(Ready { prepared: Prepared { text, parts: None }, whole: true }));
        }
        let has_blanks = word.bytes().next().is_some_and(|byte| self.is_blank(byte));
        let led = odd.unwrap_or(!has_blanks);
        text.clear();
        if led {
            text.push(' ');
        }
        text.push_str(word);
        if self.graphemes && !Normalizer::is_apart(text, clusters) {
            return Ok(None);
        }
        let same = || prepare.quiet.as_ref().is_some_and(|quiet| quiet.holds(word));
        if self.later && !Normalizer::is_surely_apart(word) && !same() {
            return Ok(None);
        }
        let Scratch { normalized, written } = ready;
        let text = match &prepare.words {
            // White space that may be stripped at the ends of a text.
            Some(_) if !is_solid(word) => return Ok(None),
            Some(words) => words.text(text, WITHIN, normalized)?,
            None => prepare.normalized(text, WITHIN, normalized)?,
        };
        let prepared = match self.spaces {
            None => {
                let origins = || Ok(prepare.normalizer.aligned(text, WITHIN)?.1);
                Some(prepare.written(text, WITHIN, written, origins)?)
            }
            Some(spaces) => self.spaced(spaces, word, text, led, written),
        };
        Ok(prepared.map(|prepared| Ready { prepared, whole: false }))
    }

    /// What is written before words that [`Raw::character`] knows, if anything; None if it knows none.
    pub(crate) fn mark(&self, prepare: &Prepare) -> Option<Option<char>> {
        Some(prepare.quiet.as_ref()?.mark())
    }

    /// The character that one becomes in any word that is not the odd one and has no others than such characters; None if that
    /// is not certain. Such a word is one word, behind [a mark](Raw::mark), when it is ready.
    pub(crate) fn character(
        &self,
        prepare: &Prepare,
        c: char,
        room: &mut RawScratch,
    ) -> Option<char> {
        let quiet = prepare.quiet.as_ref()?;
        let utf8 = &mut [0; 4];
        let text = &*c.encode_utf8(utf8);
        // What is quiet among its like may be part of something with others.
        if prepare.goes_by_characters && prepare.of_words().joins(c) {
            return None;
        }
        if (!self.graphemes || Normalizer::is_surely_apart(text)) && quiet.holds(text) {
            return Some(c);
        }
        if !prepare.goes_by_characters {
            return None;
        }
        let made = room.mapped.word(prepare.of_words(), quiet, text)?;
        let mut made = made.chars().skip(usize::from(quiet.mark().is_some()));
        made.next().filter(|_| made.next().is_none())
    }

    /// As [`Raw::ready`] where spaces are not dropped; `text` is normalized.
    fn spaced<'a>(
        &self,
        spaces: Metaspace,
        word: &str,
        text: &'a str,
        led: bool,
        written: &'a mut Written,
    ) -> Option<Prepared<'a>> {
        // Blanks at the end of a text are a word.
        let all_blank = word.bytes().all(|byte| self.is_blank(byte));
        let has_blanks = word.bytes().next().is_some_and(|byte| self.is_blank(byte));
        let mut kept = text;
        if self.squeeze.is_some() {
            if !is_solid(text.strip_prefix(' ').unwrap_or(text)) {
                return None;
            }
        } else if self.collapse {
            kept = text.trim_end_matches(' ');
            if kept.is_empty() {
                return Some(Prepared { text: "", parts: None });
            }
        }
        // What it begins and ends with would join what is around it, or what the start of a text adds.
        let begins = if led { kept.strip_prefix(' ')? } else { kept };
        if led && !has_blanks && (begins.is_empty() || begins.starts_with([' ', MARK])) {
            return None;
        }
        if !all_blank && (kept.is_empty() || kept.ends_with([' ', MARK])) {
            return None;
        }
        let spaces = Metaspace { dummy: Dummy::Never, ..spaces };
        if !metaspace::changes(spaces, kept, WITHIN) {
            return Some(Prepared { text: kept, parts: None });
        }
        written.spaced.clear();
        metaspace::run(spaces, kept, WITHIN, &mut written.spaced);
        Some(Prepared { text: &written.spaced, parts: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::Metaspace;
    use crate::random::SplitMix64;

    /// Where a word starts and ends, and, of a first one that is not certain, whether it stands behind a space.
    type Word = (usize, usize, Option<bool>);

    /// Words that keep their blanks, as the documentation says.
    fn naive(text: &str, spaces: Metaspace, place: Place) -> Vec<Word> {
        let adds = adds(spaces, place);
        let mut words: Vec<Word> = Vec::new();
        let mut done = 0;
        while done < text.len() {
            let rest = &text[done..];
            let solid = done + rest.find(|c| c != ' ').unwrap_or(rest.len());
            let end = solid + text[solid..].find(' ').unwrap_or(text.len() - solid);
            let is_behind_one = solid - done == 1 && solid < text.len();
            words.push(match (done, solid) {
                (0, 0) if adds => (0, end, None),
                (0, 0) => (0, end, Some(false)),
                (0, _) => (0, end, Some(adds && !spaces.only_missing)),
                _ if is_behind_one => (solid, end, None),
                _ => (done, end, None),
            });
            done = end;
        }
        words
    }

    #[test]
    fn words_with_their_blanks_in_lists() {
        let mut random = SplitMix64::new(7);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let (mut lists, mut firsts) = (0, 0);
        for round in 0..4000 {
            let dummy = [Dummy::Always, Dummy::Never, Dummy::First][below(3)];
            let spaces = Metaspace { dummy, only_missing: below(2) == 0, ..Metaspace::DEFAULT };
            let place = Place { first: below(2) == 0, ..Place::WHOLE };
            // Some have more words than a list.
            let parts = [3, 30, 3 * LIST][round % 3];
            let text: String = (0..below(parts + 1))
                .map(|_| [" ", " ", "a", "bc ", "\n", "  ", "가", "x y "][below(8)])
                .collect();
            let raw = Raw {
                apart: Apart::Spaces,
                graphemes: false,
                later: false,
                collapse: false,
                squeeze: None,
                is_line: false,
                spaces: Some(spaces),
            };
            let mut found: Vec<Word> = Vec::new();
            let is_certain = raw.for_each_list(&text, place, |list| match list {
                RawList::Words { starts, ends, .. } => {
                    lists += 1;
                    assert_eq!(starts.len(), ends.len());
                    let words = starts.iter().zip(ends);
                    found.extend(words.map(|(&start, &end)| (start as usize, end as usize, None)));
                }
                RawList::First { end, led } => {
                    firsts += 1;
                    assert!(found.is_empty(), "{text:?}");
                    found.push((0, end, Some(led)));
                }
            });
            assert!(is_certain);
            assert_eq!(found, naive(&text, spaces, place), "{text:?} {spaces:?} {place:?}");
        }
        assert!(lists > 5000 && firsts > 1000, "{lists} {firsts}");
    }
}
