//! Raw words of a Unigram model whose scores are [`Even`], where sums run through the whole text (SentencePiece).
//!
//! In words: ids are looked up, or found, as if no sum were rounded, for many words at a time. Then the scores of their
//! pieces are added up, which tells for each word whether that holds. One for which it does not, or that has a piece with
//! another score, is cut from the sum before it, unless its best way leads by so much that no rounding turns that
//! ([`Marked`]). Where the sum may have started over it is made when it is asked for, which it need not be as long as it is even.

use std::ops::Range;

use super::fuse::fuse;
use super::parts::{DENSE, Parts};
use super::raw::Together;
use super::singles::{Of, Singles};
use super::sums::{WORDS, cut_exactly};
use super::words::Habit;
use super::{Learned, Tokenizer, Worker};
use crate::cache::{KnownWords, LONGEST_KNOWN, Listed, LongWords, hash_at, look_up_spans};
use crate::model::unigram::{Behind, Even, EvenSum, Marked, Running, Unigram};
use crate::model::{Precision, Scratch};
use crate::normalize::Place;
use crate::prepare::{Raw, RawList, RawScratch};

/// A stretch of text on its way.
struct Stretch<'a> {
    known: &'a mut KnownWords,
    out: &'a mut Vec<u32>,
    words: Words<'a>,
    /// The sum behind all words that were looked up but the last.
    sum: EvenSum,
    /// The last words. If there are any, the sum behind them is even.
    last: Vec<Last>,
    /// Room for the ids of a word.
    exact: Vec<u32>,
    /// Room for the sums of many.
    sums: Vec<f32>,
}

/// A word behind which the sum may have started over: where it starts and ends, and its ids among all of the text.
struct Last {
    start: u32,
    end: u32,
    ids: Range<usize>,
}

/// Encodes words.
struct Words<'a> {
    tokenizer: &'a Tokenizer,
    model: &'a Unigram,
    even: &'a Even,
    raw: Raw,
    text: &'a str,
    scratch: &'a mut Scratch,
    room: &'a mut RawScratch,
    /// Parts of words, and characters.
    parts: &'a mut KnownWords,
    singles: &'a mut Singles,
    /// Of words of which sums do not tell: behind which sums their ids hold.
    marked: &'a mut LongWords,
    /// Room for such a mark, and for ids.
    mark: Vec<u32>,
    ids: Vec<u32>,
    habit: &'a mut Habit,
    /// Where words start that are to be cut exactly, of those that are looked up, though their ids do not tell.
    odd: Vec<u32>,
    /// Whether all words were certain so far.
    sure: bool,
}

impl Tokenizer {
    /// As [`Tokenizer::raw_with_sums`].
    pub(super) fn raw_with_even_sums(
        &self,
        model: (&Unigram, &Even),
        raw: Raw,
        text: &str,
        place: Place,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> bool {
        let first = out.len();
        let mut stretch = Stretch::of(self, model, raw, text, worker, out);
        let certain = raw.for_each_list(text, place, |listed| match listed {
            RawList::Words { starts, ends, .. } => stretch.list(starts, ends),
            RawList::First { end, led } => stretch.odd(0, end, led),
        });
        let sure = certain && stretch.words.sure;
        if let Some(unknown) = model.0.unknown().filter(|_| sure && model.0.fuses()) {
            fuse(out, first, unknown);
        }
        sure
    }

    /// As [`Tokenizer::sums_together`]. In each text the sum begins with 0, which is even: no word needs to be cut exactly
    /// as long as there is none with another score.
    pub(super) fn even_sums_together(
        &self,
        model: (&Unigram, &Even),
        raw: Raw,
        texts: Together<'_>,
        worker: &mut Worker,
        out: &mut Vec<u32>,
        behind: impl FnMut(usize),
    ) -> bool {
        let first = out.len();
        let Together { all, starts, ends, .. } = texts;
        let Stretch { known, out, mut words, .. } = Stretch::of(self, model, raw, all, worker, out);
        words.look_up(starts, ends, known, out, behind);
        words.sure && words.odd.is_empty() && !out[first..].iter().any(|&id| model.1.is_other(id))
    }
}

impl<'a> Stretch<'a> {
    fn of(
        tokenizer: &'a Tokenizer,
        (model, even): (&'a Unigram, &'a Even),
        raw: Raw,
        text: &'a str,
        worker: &'a mut Worker,
        out: &'a mut Vec<u32>,
    ) -> Self {
        let Worker { learned, raw_room: room, singles, scratch, .. } = worker;
        let Learned { raw: known, raw_parts: parts, marked, habit, .. } = learned;
        let limit = || tokenizer.shares().marked;
        let marked = marked.get_or_insert_with(|| Box::new(LongWords::new(limit())));
        let exact = Vec::new();
        let words = Words {
            tokenizer,
            model,
            even,
            raw,
            text,
            scratch,
            room,
            parts,
            singles,
            marked,
            mark: Vec::new(),
            ids: Vec::new(),
            habit,
            odd: Vec::new(),
            sure: true,
        };
        Self {
            known,
            out,
            words,
            sum: EvenSum::default(),
            last: Vec::new(),
            exact,
            sums: Vec::new(),
        }
    }

    /// Encodes a word of which more is to be known than its bytes: whether it stands behind a space.
    fn odd(&mut self, start: usize, end: usize, led: bool) {
        let Self { words, out, sum, last, exact, .. } = self;
        let before = known_sum(words, *sum, last, out, exact);
        *sum = words.exactly(start, end, Some(led), before, out);
    }

    /// Encodes words.
    fn list(&mut self, starts: &[u32], ends: &[u32]) {
        for (starts, ends) in starts.chunks(WORDS).zip(ends.chunks(WORDS)) {
            self.look_up(starts, ends);
        }
    }

    /// Looks up to 64 words up.
    #[inline(never)]
    fn look_up(&mut self, starts: &[u32], ends: &[u32]) {
        let Self { known, out, words, sum, last, exact, sums } = self;
        let mut first = out.len();
        let (mut behind, mut count) = ([0; WORDS], 0);
        words.look_up(starts, ends, known, out, |ids| {
            behind[count] = ids;
            count += 1;
        });
        let mut odd = std::mem::take(&mut words.odd);
        let mut next = odd.iter().peekable();
        let mut at = 0;
        while at < count {
            if last.is_empty() {
                let until = next.peek().map_or(count, |&&odd| {
                    at + starts[at..count].partition_point(|&start| start < odd)
                });
                let these = &behind[at..until];
                let ids = &out[first..these.last().copied().unwrap_or(first)];
                let ends = these.iter().map(|behind| behind - first);
                let held = words.even.behind_words(sum, ids, ends, sums);
                first = these[..held].last().copied().unwrap_or(first);
                at += held;
                if at == count {
                    break;
                }
            }
            let (start, end) = (starts[at], ends[at]);
            let ids = &out[first..behind[at]];
            let is_odd = next.next_if_eq(&&start).is_some();
            match words.even.behind(last.is_empty().then_some(*sum), ids) {
                Behind::Sum(behind) if !is_odd => *sum = behind,
                Behind::Even if !is_odd => last.push(Last { start, end, ids: first..behind[at] }),
                _ => {
                    let before = known_sum(words, *sum, last, out, exact);
                    let (start, end) = (start as usize, end as usize);
                    if let Some(behind) = words.surely(start, end, ids, before) {
                        *sum = behind;
                    } else {
                        *sum = words.exactly(start, end, None, before, exact);
                        if *exact != ids {
                            let moved = exact.len().wrapping_sub(ids.len());
                            out.splice(first..behind[at], exact.iter().copied());
                            let later = &mut behind[at..count];
                            later.iter_mut().for_each(|place| *place = place.wrapping_add(moved));
                        }
                        exact.clear();
                    }
                }
            }
            first = behind[at];
            at += 1;
        }
        odd.clear();
        words.odd = odd;
    }
}

/// The sum behind the last words, which are no longer the last: but near to where it starts over, that of their ids. `room`
/// stays empty.
fn known_sum(
    words: &mut Words<'_>,
    mut sum: EvenSum,
    last: &mut Vec<Last>,
    out: &[u32],
    room: &mut Vec<u32>,
) -> EvenSum {
    for Last { start, end, ids } in last.drain(..) {
        sum = match words.even.behind(Some(sum), &out[ids]) {
            Behind::Sum(behind) => behind,
            _ => words.exactly(start as usize, end as usize, None, sum, room),
        };
        room.clear();
    }
    sum
}

impl Words<'_> {
    /// Appends the ids that words have if no sum is rounded.
    fn look_up(
        &mut self,
        starts: &[u32],
        ends: &[u32],
        known: &mut KnownWords,
        out: &mut Vec<u32>,
        behind: impl FnMut(usize),
    ) {
        let text = self.text.as_bytes();
        let mut encode = |known: &KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
            self.learn(known, start, end, out)
        };
        look_up_spans(text, known, Listed::new(starts, ends), out, &mut encode, behind);
    }

    /// Appends the ids of a word that is not known. Says whether it is to be remembered.
    #[inline(never)]
    fn learn(&mut self, table: &KnownWords, start: usize, end: usize, out: &mut Vec<u32>) -> bool {
        if !self.sure {
            return false;
        }
        let Self { tokenizer, model, even, raw, text, scratch, room, parts, singles, .. } = self;
        let (word, before) = (&text[start..end], out.len());
        let hash = self.habit.ask_if_large(table, text, start, end);
        let prepare = &tokenizer.prepare;
        let of = Of { model, prepare, raw: *raw, room, near: &mut scratch.near };
        if singles.word(of, word, out).is_some() {
            return word.len() <= LONGEST_KNOWN && hash.is_none_or(|hash| self.habit.again(hash));
        }
        let ready = raw.ready(prepare, word, None, room).ok().flatten();
        let mut parts = Parts { model, known: parts, near: &mut scratch.near };
        // Nearly all parts of Chinese are single characters: there is nothing to ask for ahead.
        let is_dense = word.as_bytes().first().is_some_and(|&byte| byte >= DENSE);
        let mark = ready.and_then(|ready| match is_dense {
            true => Some(parts.by_characters(ready.prepared.text, out)?.0),
            false => parts.word(ready.prepared.text, out),
        });
        let Some(mark) = mark else {
            self.sure = false;
            return false;
        };
        if !mark.is_even() && !out[before..].iter().any(|&id| even.is_other(id)) {
            self.odd.push(start as u32);
            return false;
        }
        word.len() <= LONGEST_KNOWN && hash.is_none_or(|hash| self.habit.again(hash))
    }

    /// If a word has these ids behind the sum before it, for none other comes near, the sum behind it.
    fn surely(
        &mut self,
        start: usize,
        end: usize,
        ids: &[u32],
        before: EvenSum,
    ) -> Option<EvenSum> {
        let word = &self.text.as_bytes()[start..end];
        if word.len() > LONGEST_KNOWN {
            return None;
        }
        let hash = hash_at(self.text.as_bytes(), start, end);
        let known = self.marked.get_hashed(hash, word, &mut self.mark);
        let mark = match self.mark.pop().filter(|_| known) {
            Some(mark) => Marked(mark),
            // To find out costs as much as to cut it twice.
            None if !self.habit.again(hash.rotate_left(32)) => return None,
            None => {
                let mark = self.mark(start, end, ids).unwrap_or(Marked::NOWHERE);
                if self.marked.is_full() {
                    self.marked.clear();
                }
                self.marked.insert(word, &[mark.0]);
                mark
            }
        };
        if !mark.holds(f64::from(before.sum().abs()), Precision::Single) {
            return None;
        }
        let mut running = Running { single: before.sum(), double: 0.0 };
        self.model.advance(&mut running, ids);
        Some(EvenSum::new(running.single))
    }

    /// For which sums these are the ids of a word; None if that is not certain.
    fn mark(&mut self, start: usize, end: usize, ids: &[u32]) -> Option<Marked> {
        let Self { tokenizer, model, raw, text, scratch, room, ids: found, .. } = self;
        found.clear();
        let ready = raw.ready(&tokenizer.prepare, &text[start..end], None, room).ok()??;
        let text = ready.prepared.text;
        let mut mark = Some(Marked::NOTHING);
        model.for_each_part(text, |from, to| {
            let part = scratch.near.part(model, &text[from..to], found).ok();
            mark = mark.and_then(|mark| Some(mark.then(part?)));
        });
        mark.filter(|_| found == ids)
    }

    /// Appends the ids of a word, cut from the true sum before it; tells the sum behind it.
    fn exactly(
        &mut self,
        start: usize,
        end: usize,
        odd: Option<bool>,
        before: EvenSum,
        out: &mut Vec<u32>,
    ) -> EvenSum {
        let Self { tokenizer, model, raw, text, scratch, room, .. } = self;
        let mut running = Running { single: before.sum(), double: 0.0 };
        let word = (&text[start..end], odd);
        let cut = cut_exactly((*tokenizer, *model, *raw), word, (room, scratch), &mut running, out);
        self.sure &= cut.is_some();
        EvenSum::new(running.single)
    }
}
