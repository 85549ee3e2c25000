//! Short texts, many at once.
//!
//! In words: what a short text costs is mostly what every text costs, a block of masks that is nearly empty above all. So
//! texts are put one behind the other, and where their words are is found for all at once.
//!
//! ```text
//! words                    texts            what stands between them
//! of a scheme with lines   lines            a line end, as if the text had it; taken away again when words are known
//! raw ones (raw.rs)        of any kind      a space, which is in no raw word
//! the text itself          of any kind      nothing, or the space that a text gets: where it ends is told (texts.rs)
//! ```
//!
//! Rule: the same ids as text by text, or text by text.

use std::ops::Range;

use super::raw::Together;
use super::{Request, Text, Tokenizer, Worker};
use crate::added::{Inner, Input, Tabs};
use crate::error::Error;
use crate::model::cuts::MARK;
use crate::normalize::Place;
use crate::prepare::{Marks, Raw, RawList, for_each_between_runs};
use crate::scan::prefetch;

/// Longer texts, in bytes, are encoded by themselves.
const LONGEST: usize = 1 << 9;
/// Texts are put together up to so many bytes, which stay in the first-level cache with what is made of them.
const FULL: usize = 1 << 12;
/// So many bytes of a text are fetched before its turn.
const AHEAD: usize = 1 << 10;
/// Where words are looked up as they stand, texts of so many words are encoded at once.
const WORDS: usize = 1 << 6;

/// How the words of texts are found together.
#[derive(Debug, Clone, Copy)]
enum Joint {
    /// By a scheme that tells lines.
    Lines,
    /// As they stand in the text.
    Raw(Raw),
    /// Each text is one, and has these marks for its spaces.
    Whole(Marks),
}

/// Texts that wait to be encoded together.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// The texts, and what stands between them.
    all: String,
    /// Where each starts and ends.
    texts: Vec<(u32, u32)>,
    /// Room for the borders of words, or for where they start.
    starts: Vec<u32>,
    /// Where they end, or texts that are one word each do.
    ends: Vec<u32>,
    /// Which is the first word of each text, and how many words there are.
    firsts: Vec<usize>,
    /// How many ids there are behind each text.
    behind: Vec<usize>,
}

impl Joined {
    /// Takes a text, if it can go with others and there is room for it.
    #[inline]
    fn take(&mut self, tokenizer: &Tokenizer, text: Text<'_>, joint: Joint) -> bool {
        let Text::Utf8(Input { text, trusted }) = text else { return false };
        let room = FULL.saturating_sub(self.all.len());
        if text.len() > LONGEST.min(room) || trusted.is_some() {
            return false;
        }
        let (mut before, mut behind) = (None, None);
        match joint {
            Joint::Raw(raw) if !raw.is_same_between(text) => return false,
            Joint::Raw(_) if tokenizer.cuts_first(text) => return false,
            Joint::Raw(_) => behind = Some(' '),
            Joint::Whole(marks) => before = marks.adds(text, Place::WHOLE).then_some(' '),
            Joint::Lines => {
                let line_end = memchr::memchr(b'\n', text.as_bytes());
                if line_end.is_some_and(|at| at + 1 < text.len()) {
                    return false;
                }
                behind = line_end.is_none().then_some('\n');
            }
        }
        self.all.extend(before);
        let start = self.all.len() as u32;
        self.all.push_str(text);
        self.texts.push((start, self.all.len() as u32));
        self.all.extend(behind);
        true
    }

    fn clear(&mut self) {
        let Self { all, texts, starts, ends, firsts, behind } = self;
        all.clear();
        texts.clear();
        starts.clear();
        ends.clear();
        firsts.clear();
        behind.clear();
    }

    /// Text number `index`.
    fn text(&self, index: usize) -> Input<'_> {
        let (start, end) = self.texts[index];
        Input::from(&self.all[start as usize..end as usize])
    }
}

/// What texts of a part of a batch become.
struct Encoding<'a, E> {
    tokenizer: &'a Tokenizer,
    request: &'a Request,
    worker: &'a mut Worker,
    ids: &'a mut Vec<u32>,
    end: E,
}

impl<E: FnMut(usize)> Encoding<'_, E> {
    /// Encodes a text by itself.
    fn alone<'t>(
        &mut self,
        text: impl Into<Text<'t>>,
        number: usize,
    ) -> Result<(), (usize, Error)> {
        let Self { tokenizer, request, worker, ids, end } = self;
        let index = number as u64;
        let done = match text.into() {
            Text::Utf8(input) => tokenizer.encode_numbered(input, request, index, worker, ids),
            Text::Points(points, _) => tokenizer.by_points(points, request, index, worker, ids),
        };
        done.map_err(|error| (number, error))?;
        end(ids.len());
        Ok(())
    }

    /// Encodes the texts that wait, the last of which stands before the text number `next`.
    fn all(
        &mut self,
        joined: &mut Joined,
        joint: Joint,
        next: usize,
    ) -> Result<(), (usize, Error)> {
        let first = next - joined.texts.len();
        let Tokenizer { added, inner, .. } = self.tokenizer;
        let (all, specials) = (&joined.all, &self.request.specials);
        let together = joined.texts.len() > 1
            && match inner.as_deref().filter(|inner| inner.suits(all)) {
                Some(inner) => inner.has_none_of_others(all, specials),
                None => added.has_none(all, specials),
            };
        let done = match joint {
            _ if !together => 0,
            Joint::Lines => self.lines(joined),
            Joint::Whole(_) => self.whole(joined),
            Joint::Raw(raw) => {
                self.raw(joined, raw, first)?;
                joined.texts.len()
            }
        };
        for index in done..joined.texts.len() {
            self.alone(joined.text(index), first + index)?;
        }
        joined.clear();
        Ok(())
    }

    /// Tokens that are left in lines, if these are runs of blanks.
    fn runs(&self) -> Option<(&Inner, Tabs)> {
        let inner = self.tokenizer.inner.as_deref()?;
        Some((inner, inner.runs()?))
    }

    /// Encodes lines that are to be cut and nothing else. Returns how many: up to the first one that has an error, or that goes
    /// another way.
    fn lines(&mut self, joined: &mut Joined) -> usize {
        let Joined { all, texts, starts: borders, .. } = joined;
        let mut list = |list: &[u32]| {
            borders.extend_from_slice(&list[usize::from(!borders.is_empty())..]);
        };
        let prepare = &self.tokenizer.prepare;
        let listed = match self.runs() {
            Some((_, Tabs(tabs))) => {
                let stays = prepare.leaves(all);
                if stays {
                    for_each_between_runs::<true>(all, tabs, &mut list);
                }
                stays
            }
            None => prepare.for_each_list_of_lines(all, &mut list),
        };
        if !listed {
            return 0;
        }
        let Self { tokenizer, request, worker, ids, end } = self;
        let mut way = tokenizer.way(request, 0);
        let (mut words, known) = tokenizer.words_of(all, &mut way, worker);
        let mut first = 0;
        for (number, &(start, until)) in texts.iter().enumerate() {
            first += usize::from(borders[first] < start);
            let count = borders[first..].iter().take_while(|&&border| border < until).count();
            // The line end may belong to the last word.
            let last = &mut borders[first + count];
            let behind = std::mem::replace(last, until);
            let before = ids.len();
            words.list(known, &borders[first..=first + count], ids);
            if words.has_failed() || words.broke_run() {
                ids.truncate(before);
                return number;
            }
            end(ids.len());
            first += count;
            borders[first] = behind;
        }
        texts.len()
    }

    /// Encodes texts each of which is one word. Returns how many: all, or none if one of them has an error.
    fn whole(&mut self, joined: &mut Joined) -> usize {
        let Joined { all, texts, ends, behind, .. } = joined;
        ends.extend(texts.iter().map(|&(_, end)| end));
        let Self { tokenizer, request, worker, ids, end } = self;
        let mut way = tokenizer.way(request, 0);
        let (first, mut before) = (ids.len(), ids.len());
        let mut ended = |ids: &mut Vec<u32>| {
            tokenizer.fuse_all(before, ids);
            before = ids.len();
            behind.push(before);
        };
        if tokenizer.by_texts((all, ends), &mut way, worker, ids, &mut ended).is_err() {
            ids.truncate(first);
            return 0;
        }
        behind.iter().for_each(|&ids| end(ids));
        texts.len()
    }

    /// Encodes texts whose words are looked up as they stand there, the first of which has the number `number`.
    fn raw(&mut self, joined: &mut Joined, raw: Raw, number: usize) -> Result<(), (usize, Error)> {
        let mut characters = false;
        let Joined { all, texts, starts, ends, firsts, .. } = joined;
        raw.for_each_list(all, Place::WHOLE, |listed| {
            // They depend on their bytes alone.
            let RawList::Words { starts: theirs, ends: their_ends, characters: are } = listed
            else {
                return;
            };
            starts.extend_from_slice(theirs);
            ends.extend_from_slice(their_ends);
            characters |= are;
        });
        let mut word = 0;
        firsts.push(0);
        for &(_, until) in texts.iter() {
            word += starts[word..].iter().take_while(|&&start| start < until).count();
            firsts.push(word);
        }
        let mut from = 0;
        while from < joined.texts.len() {
            let before = joined.firsts[from];
            let fit = joined.firsts[from + 1..].iter().take_while(|&&word| word - before <= WORDS);
            let to = from + fit.count().max(1);
            if !self.words_of(joined, raw, characters, from..to) {
                for index in from..to {
                    self.alone(joined.text(index), number + index)?;
                }
            }
            from = to;
        }
        Ok(())
    }

    /// Encodes texts by the words that they have together. If it says no, nothing is done.
    fn words_of(
        &mut self,
        joined: &mut Joined,
        raw: Raw,
        characters: bool,
        these: Range<usize>,
    ) -> bool {
        let Self { tokenizer, request, worker, ids, .. } = self;
        let mut behind = std::mem::take(&mut joined.behind);
        let Joined { all, starts, ends, firsts, .. } = &*joined;
        let firsts = &firsts[these.start..=these.end];
        let words = firsts[0]..firsts[these.len()];
        let (starts, ends) = (&starts[words.clone()], &ends[words]);
        let texts = Together { all, starts, ends, characters, firsts };
        let mut way = tokenizer.way(request, 0);
        let before = ids.len();
        let mut sure = tokenizer.raw_together(raw, texts, &mut way, worker, ids, &mut behind);
        let mut start = before;
        for (text, &ids) in these.zip(&behind) {
            // What nothing is left of has rules of its own.
            sure = sure && (ids > start || self.is_nothing(joined.text(text)));
            start = ids;
        }
        if sure {
            behind.iter().for_each(|&ids| (self.end)(ids));
        } else {
            self.ids.truncate(before);
        }
        joined.behind = behind;
        sure
    }

    /// Whether a text by itself has no ids.
    fn is_nothing(&mut self, text: Input<'_>) -> bool {
        let Self { tokenizer, request, worker, ids, .. } = self;
        let before = ids.len();
        let done = tokenizer.encode_numbered(text, request, 0, worker, ids);
        let is_nothing = done.is_ok() && ids.len() == before;
        ids.truncate(before);
        is_nothing
    }
}

/// The same, each while the next one is told.
fn with_next<T>(
    items: impl Iterator<Item = T>,
    mut tell: impl FnMut(&T),
) -> impl Iterator<Item = T> {
    let mut items = items.peekable();
    std::iter::from_fn(move || {
        let item = items.next();
        items.peek().map(&mut tell);
        item
    })
}

/// Has the beginning of a text fetched: where one text ends, nothing tells the processor where the next one is.
fn fetch(text: Text<'_>) {
    const LINE: usize = 64;
    // Code points were read just before.
    let Text::Utf8(Input { text, .. }) = text else { return };
    let bytes = text.as_bytes();
    for at in (0..bytes.len().min(AHEAD)).step_by(LINE) {
        prefetch(bytes, at);
    }
}

impl Tokenizer {
    /// How short texts are encoded together, if they are.
    fn joint(&self, request: &Request) -> Option<Joint> {
        let Request { strategy, dropout, alpha, specials, .. } = request;
        let drawn = dropout.is_some() || alpha.is_some();
        if drawn || !self.model.is_own(*strategy) {
            return None;
        }
        let added = &self.added;
        let told = || !added.looks_twice(specials, false) || added.tells_absent(specials);
        if let Some(raw) = self.prepare.raw().filter(|_| self.looks_up_raw) {
            return (told() && raw.is_by_itself()).then_some(Joint::Raw(raw));
        }
        if self.spaced.is_some() {
            return self.prepare.only_marks(MARK).filter(|_| told()).map(Joint::Whole);
        }
        let words = !self.cuts_all_words && self.model.fuses_words().is_none();
        (words && self.model.unigram().is_none() && self.prepare.has_lines())
            .then_some(Joint::Lines)
    }

    /// Appends the ids of texts to `ids`, and calls `end` with how many there are then, text by text. Each has its
    /// number beside it; they count up.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], with the number of the first text that has one.
    pub(super) fn encode_part<'t>(
        &self,
        texts: impl Iterator<Item = (Text<'t>, usize)>,
        request: &Request,
        worker: &mut Worker,
        ids: &mut Vec<u32>,
        end: impl FnMut(usize),
    ) -> Result<(), (usize, Error)> {
        let mut encoding = Encoding { tokenizer: self, request, worker, ids, end };
        let texts = with_next(texts, |(next, _)| fetch(*next));
        let Some(joint) = self.joint(request) else {
            for (text, number) in texts {
                encoding.alone(text, number)?;
            }
            return Ok(());
        };
        let mut joined = std::mem::take(&mut encoding.worker.joined);
        let mut next = 0;
        for (text, number) in texts {
            next = number + 1;
            if joined.take(self, text, joint) {
                continue;
            }
            encoding.all(&mut joined, joint, number)?;
            if !joined.take(self, text, joint) {
                encoding.alone(text, number)?;
            }
        }
        encoding.all(&mut joined, joint, next)?;
        encoding.worker.joined = joined;
        Ok(())
    }
}
