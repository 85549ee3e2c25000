//! Raw words of a Unigram model whose sums run through the whole text (SentencePiece).
//!
//! The ids of a word depend on the sum before it by rounding alone ([`Marked`]). Most hold for all sums up to
//! the largest, behind which a sum starts over; those are looked up many at a time, and of the sum
//! only a bound is kept up, by the lengths of words. The others have their mark beside them. Where the
//! bound is too large for a mark, the sum is made from the ids since it was last known; if that is too
//! large as well, the word is cut anew from it.

use super::fuse::fuse;
use super::parts::{DENSE, Parts, SHORT};
use super::raw::Together;
use super::singles::{Of, Singles};
use super::words::Habit;
use super::{Learned, Tokenizer, Worker};
use crate::cache::{KnownWords, LONGEST_KNOWN, Listed, LongWords, hash_at, look_up_spans};
use crate::model::unigram::{LARGEST_SINGLE, Marked, Running, Unigram};
use crate::model::{Precision, Scratch};
use crate::normalize::Place;
use crate::observe::Silent;
use crate::prepare::{Raw, RawList, RawScratch, Ready};
use crate::symbols::UNKNOWN;

/// Sums of words that are looked up many at a time stay below this.
const LIMIT: usize = 90_000;

/// So many words are not cut after one where it did not pay.
const UNCUT_WORDS: u32 = 30;

/// How far a byte may take a sum, of a word that is looked up with others.
const A_BYTE: usize = 13;

/// How far sums in such a word of so many bytes may be from the one before it. It may have a few characters that cost more.
fn extent(bytes: usize) -> usize {
    A_BYTE * (bytes + 4)
}

/// The same for words that stand in so many bytes: as if they were as long as all of these, the blanks between them included.
fn far(bytes: usize, words: usize) -> usize {
    extent(bytes) + (extent(0) - A_BYTE) * words
}

/// Words that are looked up at once.
pub(super) const WORDS: usize = 64;

/// Words that wait to be looked up, by where they start and end.
struct Waiting {
    starts: [u32; WORDS],
    ends: [u32; WORDS],
    len: usize,
}

impl Waiting {
    /// None.
    const NONE: Waiting = Waiting { starts: [0; WORDS], ends: [0; WORDS], len: 0 };

    /// Takes a word, for which there is room. Says whether there is none for another.
    #[inline(always)]
    fn take(&mut self, start: usize, end: usize) -> bool {
        (self.starts[self.len], self.ends[self.len]) = (start as u32, end as u32);
        self.len += 1;
        self.len == WORDS
    }

    /// Those that wait, if any; none does then.
    fn leave(&mut self) -> Option<Self> {
        (self.len > 0).then(|| std::mem::replace(self, Self::NONE))
    }

    /// Where they start and end.
    fn spans(&self) -> (&[u32], &[u32]) {
        (&self.starts[..self.len], &self.ends[..self.len])
    }
}

/// A stretch of text on its way.
struct Stretch<'a> {
    known: &'a mut KnownWords,
    out: &'a mut Vec<u32>,
    sums: Sums<'a>,
    waiting: Waiting,
    /// How far the sum can be from 0 before the words that wait, and behind them.
    before: usize,
    behind: usize,
}

/// What is known of the sums in a stretch.
struct Sums<'a> {
    tokenizer: &'a Tokenizer,
    model: &'a Unigram,
    raw: Raw,
    text: &'a str,
    scratch: &'a mut Scratch,
    room: &'a mut RawScratch,
    /// Parts of words, and characters.
    parts: &'a mut KnownWords,
    singles: &'a mut Singles,
    /// So many words are not cut into parts, for it did not pay.
    uncut: u32,
    marked: &'a mut LongWords,
    habit: &'a mut Habit,
    /// The sum of the scores of all ids before `summed`.
    running: Running,
    summed: usize,
    /// How far the sum can be from 0 behind all words that are looked up now, and how much of that is
    /// because of their lengths.
    bound: f64,
    slack: f64,
    /// The words are those of several texts, in each of which sums start over: where they do is not known here.
    together: bool,
    /// Whether all words were certain so far.
    sure: bool,
}

impl Tokenizer {
    /// Where the sum of scores runs through all words.
    pub(super) fn raw_with_sums(
        &self,
        model: &Unigram,
        raw: Raw,
        text: &str,
        place: Place,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> bool {
        if let Some(even) = model.even() {
            return self.raw_with_even_sums((model, even), raw, text, place, worker, out);
        }
        let first = out.len();
        let mut stretch = Stretch::of(self, model, raw, text, worker, out);
        let certain = raw.for_each_list(text, place, |listed| match listed {
            RawList::Words { starts, ends, .. } => stretch.list(starts, ends),
            RawList::First { end, led } => stretch.by_itself(0, end, Some(led)),
        });
        // Nothing may wait for the next text.
        stretch.finish();
        let sure = certain && stretch.sums.sure;
        if let Some(unknown) = model.unknown().filter(|_| sure && model.fuses()) {
            fuse(out, first, unknown);
        }
        sure
    }

    /// Looks up the words of several texts. As [`Tokenizer::raw_together`], but that `behind` is told how many ids there
    /// are behind each word, and that unknown pieces stand by themselves.
    pub(super) fn sums_together(
        &self,
        model: &Unigram,
        raw: Raw,
        texts: Together<'_>,
        worker: &mut Worker,
        out: &mut Vec<u32>,
        behind: impl FnMut(usize),
    ) -> bool {
        if let Some(even) = model.even() {
            return self.even_sums_together((model, even), raw, texts, worker, out, behind);
        }
        let Together { all, starts, ends, firsts, .. } = texts;
        let mut stretch = Stretch::of(self, model, raw, all, worker, out);
        stretch.sums.together = true;
        // The text that has the longest sum.
        let of = |text: &[usize]| {
            let (first, last) = (text[0] - firsts[0], text[1] - firsts[0]);
            if first == last {
                0
            } else {
                far((ends[last - 1] - starts[first]) as usize, last - first)
            }
        };
        stretch.behind = firsts.windows(2).map(of).max().unwrap_or(0);
        if stretch.behind >= LIMIT {
            return false;
        }
        stretch.look_up(starts, ends, behind);
        stretch.sums.sure
    }
}

impl<'a> Stretch<'a> {
    fn of(
        tokenizer: &'a Tokenizer,
        model: &'a Unigram,
        raw: Raw,
        text: &'a str,
        worker: &'a mut Worker,
        out: &'a mut Vec<u32>,
    ) -> Self {
        let Worker { learned, raw_room: room, singles, scratch, .. } = worker;
        let Learned { raw: known, raw_parts: parts, marked, habit, .. } = learned;
        let limit = || tokenizer.shares().marked;
        let marked = marked.get_or_insert_with(|| Box::new(LongWords::new(limit())));
        let sums = Sums {
            tokenizer,
            model,
            raw,
            text,
            scratch,
            room,
            parts,
            singles,
            uncut: 0,
            marked,
            habit,
            running: Running::default(),
            summed: out.len(),
            bound: 0.0,
            slack: 0.0,
            together: false,
            sure: true,
        };
        Stretch { known, out, sums, waiting: Waiting::NONE, before: 0, behind: 0 }
    }

    fn word(&mut self, start: usize, end: usize) {
        let behind = self.behind + extent(end - start);
        if behind >= LIMIT {
            return self.by_itself(start, end, None);
        }
        self.behind = behind;
        if self.waiting.take(start, end) {
            self.finish();
        }
    }

    /// The same for many. Some at once: the fewer there are, the better is the bound.
    fn list(&mut self, starts: &[u32], ends: &[u32]) {
        for (starts, ends) in starts.chunks(WORDS).zip(ends.chunks(WORDS)) {
            self.finish();
            let (Some(&start), Some(&end)) = (starts.first(), ends.last()) else { return };
            let behind = self.behind + far((end - start) as usize, starts.len());
            if behind < LIMIT {
                self.behind = behind;
                self.look_up(starts, ends, |_| ());
                continue;
            }
            for (&start, &end) in starts.iter().zip(ends) {
                self.word(start as usize, end as usize);
            }
        }
    }

    /// Looks up what waits.
    fn finish(&mut self) {
        if let Some(waiting) = self.waiting.leave() {
            let (starts, ends) = waiting.spans();
            self.look_up(starts, ends, |_| ());
        }
    }

    #[inline(never)]
    fn look_up(&mut self, starts: &[u32], ends: &[u32], ids_behind: impl FnMut(usize)) {
        let Self { known, out, sums, .. } = self;
        sums.bound = self.behind as f64;
        sums.slack = (self.behind - self.before) as f64;
        let text = sums.text.as_bytes();
        let mut encode = |known: &KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
            let again = sums.learn(known, start, end, out);
            // The words that follow here count on it.
            if sums.bound >= f64::from(LARGEST_SINGLE) {
                sums.sure = false;
            }
            again
        };
        look_up_spans(text, known, Listed::new(starts, ends), out, &mut encode, ids_behind);
        self.before = sums.bound.ceil() as usize;
        self.behind = self.before;
    }

    /// A word that must not wait.
    #[cold]
    fn by_itself(&mut self, start: usize, end: usize, odd: Option<bool>) {
        self.finish();
        let Self { known, out, sums, .. } = self;
        if !sums.sure {
            return;
        }
        sums.slack = extent(end - start) as f64;
        sums.bound = sums.true_bound(out) + sums.slack;
        if odd.is_some() || sums.bound >= f64::from(LARGEST_SINGLE) {
            sums.slack = 0.0;
            sums.exactly(start, end, odd, out);
        } else if !known.get(sums.text.as_bytes(), start, end, out) {
            // It is remembered when it comes with others.
            sums.learn(known, start, end, out);
        }
        self.before = sums.bound.ceil() as usize;
        self.behind = self.before;
    }
}

impl Sums<'_> {
    /// Appends the ids of a word that is not known and not too long. What a known word of its length may add
    /// to the sum is part of the bound already. Says whether it is to be remembered.
    #[inline(never)]
    fn learn(&mut self, table: &KnownWords, start: usize, end: usize, out: &mut Vec<u32>) -> bool {
        if !self.sure {
            return false;
        }
        let (bytes, before) = (self.text.as_bytes(), out.len());
        let word = &bytes[start..end];
        // Longer ones are not remembered.
        let hash = (word.len() <= LONGEST_KNOWN).then(|| hash_at(bytes, start, end));
        if let Some(hash) = hash {
            self.habit.ask(hash);
        }
        let most = extent(word.len()) as f64;
        if let Some(mark) = self.by_characters(start, end, out) {
            if mark.extent() <= most {
                return self.is_to_be_remembered(table, hash);
            }
            out.truncate(before);
        }
        // What is not of known characters is cut but once.
        if hash.is_none() && self.uncut > 0 {
            self.uncut -= 1;
            self.exactly(start, end, None, out);
            return false;
        }
        let known = hash.is_some_and(|hash| self.marked.get_hashed(hash, word, out));
        let mark = if known {
            Marked(out.pop().unwrap_or_default())
        } else {
            let Some(mark) = self.near(start, end, out) else {
                self.sure = false;
                return false;
            };
            if mark.holds_to_the_largest() && mark.extent() <= most {
                return self.is_to_be_remembered(table, hash);
            }
            if hash.is_some() {
                if self.marked.is_full() {
                    self.marked.clear();
                }
                out.push(mark.0);
                self.marked.insert(word, &out[before..]);
                out.pop();
            }
            mark
        };
        if !mark.holds(self.bound, Precision::Single) {
            if !self.together {
                self.bound = self.true_bound(&out[..before]) + self.slack;
            }
            if !mark.holds(self.bound, Precision::Single) {
                out.truncate(before);
                self.exactly(start, end, None, out);
                return false;
            }
        }
        self.bound += mark.extent();
        false
    }

    /// Whether a word of this hash, if it has one, is to be remembered among those that are looked up together.
    #[inline(always)]
    fn is_to_be_remembered(&mut self, table: &KnownWords, hash: Option<u64>) -> bool {
        hash.is_some_and(|hash| !table.is_large() || self.habit.again(hash))
    }

    /// As [`Sums::near`], for a word that falls into [single characters](Singles); else None, and nothing is appended.
    #[inline]
    fn by_characters(&mut self, start: usize, end: usize, out: &mut Vec<u32>) -> Option<Marked> {
        let Self { tokenizer, model, raw, text, scratch, room, singles, .. } = self;
        let (prepare, near) = (&tokenizer.prepare, &mut scratch.near);
        let of = Of { model, prepare, raw: *raw, room, near };
        singles.word(of, &text[start..end], out).map(Marked::to_the_largest)
    }

    /// The ids of a word, and for which sums they hold; None if that is not certain.
    fn near(&mut self, start: usize, end: usize, out: &mut Vec<u32>) -> Option<Marked> {
        let Self { tokenizer, model, raw, text, scratch, room, parts, uncut, .. } = self;
        let is_ascii = text[start..end].is_ascii();
        let is_dense = text.as_bytes()[start] >= DENSE;
        let ready = raw.ready(&tokenizer.prepare, &text[start..end], None, room).ok()??;
        let Ready { prepared: ready, whole } = ready;
        let mut part = |part: &str, out: &mut Vec<u32>| {
            let is_short = part.len() <= SHORT;
            if (is_short && is_dense) || (!is_short && !is_ascii && *uncut > 0) {
                *uncut = uncut.saturating_sub(1);
                return scratch.near.part(model, part, out).ok();
            }
            let mut parts = Parts { model, known: parts, near: &mut scratch.near };
            // Of these, all parts are looked up; of ASCII, those of all words that are remembered.
            if is_short || (is_ascii && part.len() <= LONGEST_KNOWN) {
                return parts.word(part, out);
            }
            let (mark, known) = parts.by_characters(part, out)?;
            if known * 2 < part.len() {
                *uncut = UNCUT_WORDS;
            }
            Some(mark)
        };
        if whole {
            return part(ready.text, out);
        }
        let mut mark = Some(Marked::NOTHING);
        model.for_each_part(ready.text, |from, to| {
            let part = part(&ready.text[from..to], out);
            mark = mark.and_then(|mark| Some(mark.then(part?)));
        });
        mark
    }

    /// How far the sum behind all ids is from 0.
    fn true_bound(&mut self, out: &[u32]) -> f64 {
        self.model.advance(&mut self.running, &out[self.summed..]);
        self.summed = out.len();
        self.model.magnitude(self.running)
    }

    /// Appends the ids of a word, cut from the true sum before it.
    fn exactly(&mut self, start: usize, end: usize, odd: Option<bool>, out: &mut Vec<u32>) {
        if self.together {
            self.sure = false;
            return;
        }
        self.true_bound(out);
        let Self { tokenizer, model, raw, text, scratch, room, running, .. } = self;
        let word = (&text[start..end], odd);
        let cut = cut_exactly((*tokenizer, *model, *raw), word, (room, scratch), running, out);
        self.sure = cut.is_some();
        self.summed = out.len();
        self.bound = self.model.magnitude(self.running) + self.slack;
    }
}

/// Appends the ids of a raw word, cut from the true sum before it, and adds them to it; None if that is not certain.
pub(super) fn cut_exactly(
    (tokenizer, model, raw): (&Tokenizer, &Unigram, Raw),
    (word, odd): (&str, Option<bool>),
    (room, scratch): (&mut RawScratch, &mut Scratch),
    running: &mut Running,
    out: &mut Vec<u32>,
) -> Option<()> {
    let ready = raw.ready(&tokenizer.prepare, word, odd, room).ok()??.prepared;
    let mut done = Some(());
    model.for_each_part(ready.text, |from, to| {
        let part = &ready.text[from..to];
        if model.part(part, running, &mut scratch.viterbi, &mut Silent).is_err() {
            done = None;
            return;
        }
        for &(id, from, to) in scratch.viterbi.path() {
            if id != UNKNOWN {
                out.push(id);
            } else if model.stands_for(&part[from..to], |id| out.push(id)).is_none() {
                done = None;
            }
        }
    });
    done
}
