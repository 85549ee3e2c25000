//! Texts cut before they are normalized: words are looked up by their bytes in the text, and only those
//! that are not known are normalized, cut and encoded.
//!
//! Rule: the same ids as the plain way, or the plain way.

use std::ops::RangeInclusive;

use super::fuse::{fuse, fuse_each};
use super::parts::Parts;
use super::singles::{Of, Singles};
use super::strange::{self, StrangeWords};
use super::words::Habit;
use super::{Learned, Tokenizer, Worker};
use crate::cache::{KnownWords, LONGEST_KNOWN, Listed, Strange, look_up_spans};
use crate::model::unigram::Marked;
use crate::model::{Model, Precision, Scratch, Unigram, Way};
use crate::normalize::Place;
use crate::observe::Silent;
use crate::prepare::{Prepare, Raw, RawList, RawScratch, Ready};
use crate::scan::count;

/// Words of no more ids are remembered when they first come, where words are merged.
const FEW: usize = 6;

/// Whether words can be encoded one by one, or depend on each other only by the sums of their scores.
pub(super) fn suits(prepare: &Prepare, model: &Model) -> bool {
    let Some(raw) = prepare.raw() else { return false };
    match model {
        Model::WordPiece(_) => !raw.is_one_word(),
        Model::Unigram(model) => !raw.is_one_word() || sums(model),
        Model::Bpe(_) | Model::Codes(_) => raw.drops_blanks(),
        Model::WordLevel(_) => raw.drops_blanks() && model.fuses_words().is_none(),
        // These find more of a word than its ids.
        Model::Drawn(drawn) => {
            !matches!(**drawn, Model::WordPiece(_) | Model::Unigram(_)) && suits(prepare, drawn)
        }
    }
}

/// The pieces that a word becomes which is the same in a text, as it stands there.
pub(super) fn pieces(prepare: &Prepare, model: &Model) -> Box<[u32]> {
    let Some(raw) = prepare.raw().filter(|_| model.takes_whole_words()) else {
        return Box::default();
    };
    let vocab = model.vocab();
    let itself = |&id: &u32| {
        let piece = vocab.piece(id).and_then(|piece| std::str::from_utf8(piece).ok());
        piece.is_some_and(|piece| !piece.is_empty() && raw.is_itself(prepare, piece))
    };
    (0..vocab.len() as u32).filter(itself).collect()
}

/// The first bytes of the characters in texts of which words are better cut first, and looked up then. Where they are merged part
/// by part, that is East Asia, whose parts come again more often than its words; else, where more than blanks cuts, it is what is
/// written without spaces: what blanks leave of it is long, and seldom comes again.
pub(super) fn cut_first(prepare: &Prepare, model: &Model) -> Option<RangeInclusive<u8>> {
    model.bpe()?;
    if model.may_cut() {
        return Some(0xE0..=0xEF);
    }
    (!prepare.only_drops_blanks()).then_some(0xE3..=0xE9)
}

/// Whether half of a text are characters that begin with these bytes.
fn is_mostly(text: &[u8], firsts: &RangeInclusive<u8>) -> bool {
    let (first, last) = (*firsts.start(), *firsts.end());
    let characters = count(text, |byte| (first..=last).contains(&byte));
    characters > 0 && characters * 3 * 2 >= text.len()
}

/// Whether sums are such as `sums.rs` knows.
fn sums(model: &Unigram) -> bool {
    model.precision() == Precision::Single && model.is_cut_at_marks()
}

/// Raw words of texts that stand one behind the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Together<'a> {
    pub(super) all: &'a str,
    /// Where the words start and end.
    pub(super) starts: &'a [u32],
    pub(super) ends: &'a [u32],
    /// There may be Chinese characters by themselves among them.
    pub(super) characters: bool,
    /// How many words stand before each text, and how many there are.
    pub(super) firsts: &'a [usize],
}

/// Encodes raw words that are not known.
struct RawWords<'a> {
    tokenizer: &'a Tokenizer,
    raw: Raw,
    text: &'a str,
    way: &'a mut Way,
    room: &'a mut RawScratch,
    /// Parts of words and characters, for Unigram.
    parts: &'a mut KnownWords,
    /// Words that are ready, for those that raw ones are cut into.
    ready: &'a mut KnownWords,
    singles: &'a mut Singles,
    scratch: &'a mut Scratch,
    habit: &'a mut Habit,
    /// Whether all words were certain so far.
    sure: bool,
}

impl<'a> RawWords<'a> {
    /// And what knows words, and which of them are strange.
    fn of(
        tokenizer: &'a Tokenizer,
        raw: Raw,
        text: &'a str,
        way: &'a mut Way,
        worker: &'a mut Worker,
    ) -> (Self, &'a mut KnownWords, &'a mut StrangeWords) {
        let Worker { learned, raw_room: room, singles, strange, scratch, .. } = worker;
        let Learned { raw: known, raw_parts: parts, known: ready, habit, .. } = learned;
        let sure = true;
        let words =
            Self { tokenizer, raw, text, way, room, parts, ready, singles, scratch, habit, sure };
        (words, known, strange)
    }

    /// The words of a list that need not be looked up.
    fn strange<'s>(
        &mut self,
        strange: &'s mut StrangeWords,
        starts: &[u32],
        ends: &[u32],
    ) -> Strange<'s> {
        let Tokenizer { prepare, model, .. } = self.tokenizer;
        let Some(model) = model.wordpiece() else { return Strange::default() };
        let of = strange::Of { model, prepare, raw: self.raw, room: self.room };
        strange.find(of, self.text, starts, ends)
    }

    /// Appends the ids of the word of the text that starts and ends there, if all were certain so far. Says whether it
    /// is to be remembered.
    fn learn(&mut self, known: &KnownWords, start: usize, end: usize, ids: &mut Vec<u32>) -> bool {
        let text = self.text;
        let hash = self.habit.ask_if_large(known, text, start, end);
        let before = ids.len();
        self.sure = self.sure && self.word(&text[start..end], None, known, ids).is_some();
        // To merge a word anew takes longer than memory for a few ids.
        let is_dear = ids.len() - before <= FEW && self.tokenizer.model.bpe().is_some();
        let kept = is_dear || hash.is_none_or(|hash| self.habit.again(hash));
        self.sure && end - start <= LONGEST_KNOWN && kept
    }

    /// Appends the ids of a raw word. None if they are not certain.
    fn word(
        &mut self,
        word: &str,
        odd: Option<bool>,
        known: &KnownWords,
        ids: &mut Vec<u32>,
    ) -> Option<()> {
        let Self { tokenizer, raw, way, room, parts, ready, singles, scratch, .. } = self;
        let Tokenizer { prepare, model, .. } = tokenizer;
        if let Some(model) = model.unigram().filter(|_| odd.is_none()) {
            let of = Of { model, prepare, raw: *raw, room, near: &mut scratch.near };
            let first = ids.len();
            if let Some(extent) = singles.word(of, word, ids) {
                if Marked::to_the_largest(extent).holds_in_parts() {
                    if let Some(unknown) = model.unknown().filter(|_| model.fuses()) {
                        fuse(ids, first, unknown);
                    }
                    return Some(());
                }
                ids.truncate(first);
            }
        }
        // Errors come again on the plain way.
        let Ready { prepared, whole } = raw.ready(prepare, word, odd, room).ok()??;
        let (unigram, made) = (model.unigram(), prepared.text);
        // What became of it may be known: it is itself, as it is ready, if nothing is written before it.
        let marked = || raw.mark(prepare).flatten().is_some();
        let is_new = whole && unigram.is_none() && made != word && !marked();
        if is_new && known.get(made.as_bytes(), 0, made.len(), ids) {
            return Some(());
        }
        let mut one = |word: &str, ids: &mut Vec<u32>| {
            if let Some(model) = unigram.filter(|model| !model.has_reserved(word)) {
                let mut parts = Parts { model, known: parts, near: &mut scratch.near };
                if parts.word_by_itself(word, ids) {
                    return Some(());
                }
            }
            model.word(word, way, scratch, ids, &mut Silent).ok()
        };
        if whole {
            return one(made, ids);
        }
        let looks_up = unigram.is_none() && model.wordpiece().is_none();
        let (solid, mut covered) = (made.trim().len(), Some(()));
        let cut = prepare.for_each(prepared, |start, end| {
            if covered.is_none() || looks_up && ready.get(made.as_bytes(), start, end, ids) {
                return;
            }
            let before = ids.len();
            covered = one(&made[start..end], ids);
            // It is one of several.
            if looks_up && covered.is_some() && end - start < solid {
                tokenizer.remember(ready, &made[start..end], &ids[before..]);
            }
        });
        cut.ok().and(covered)
    }
}

impl Tokenizer {
    /// How a text is cut before it is normalized, if it is.
    #[inline]
    pub(super) fn raw_of(&self, text: &str) -> Option<Raw> {
        let raw = self.prepare.raw().filter(|_| self.looks_up_raw)?;
        (!self.cuts_first(text)).then_some(raw)
    }

    /// Whether a text is cut before its words are looked up, though it need not be.
    #[inline]
    pub(super) fn cuts_first(&self, text: &str) -> bool {
        self.cut_first.as_ref().is_some_and(|firsts| is_mostly(text.as_bytes(), firsts))
    }

    /// Appends the ids of a stretch of text to `out`. If it says no, it has appended nothing, and the
    /// stretch is to be encoded the plain way.
    pub(super) fn raw(
        &self,
        raw: Raw,
        text: &str,
        place: Place,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> bool {
        let before = out.len();
        let sure = match self.model.unigram() {
            Some(model) if raw.is_one_word() => {
                self.raw_with_sums(model, raw, text, place, worker, out)
            }
            _ => self.raw_by_lists(raw, text, place, way, worker, out),
        };
        // What nothing is left of has rules of its own.
        let done = sure && out.len() > before;
        if !done {
            out.truncate(before);
        }
        done
    }

    /// Where words depend on nothing else.
    fn raw_by_lists(
        &self,
        raw: Raw,
        text: &str,
        place: Place,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> bool {
        let (mut words, known, strange) = RawWords::of(self, raw, text, way, worker);
        let certain = raw.for_each_list(text, place, |listed| match listed {
            RawList::Words { starts, ends, characters } => {
                let strange = words.strange(strange, starts, ends);
                let mut encode =
                    |known: &KnownWords, start: usize, end: usize, ids: &mut Vec<u32>| {
                        words.learn(known, start, end, ids)
                    };
                let listed = Listed { starts, ends, characters, strange };
                look_up_spans(text.as_bytes(), known, listed, out, &mut encode, |_| ());
            }
            RawList::First { end, led } => {
                words.sure = words.word(&text[..end], Some(led), known, out).is_some();
            }
        });
        certain && words.sure
    }

    /// Appends the ids of several texts by their words, and writes to `behind` how many ids there are then behind each text.
    /// If it says no, that was in vain: what it has appended are not the ids of the texts. A text that has none by its words
    /// may have some by itself.
    pub(super) fn raw_together(
        &self,
        raw: Raw,
        texts: Together<'_>,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
        behind: &mut Vec<usize>,
    ) -> bool {
        // First behind no word, and behind each word.
        behind.clear();
        behind.push(out.len());
        let each = |ids: usize| behind.push(ids);
        let sums = self.model.unigram().filter(|_| raw.is_one_word());
        let Together { all, starts, ends, characters, firsts } = texts;
        let sure = if let Some(model) = sums {
            self.sums_together(model, raw, texts, worker, out, each)
        } else {
            let (mut words, known, strange) = RawWords::of(self, raw, all, way, worker);
            let strange = words.strange(strange, starts, ends);
            let mut encode = |known: &KnownWords, start: usize, end: usize, ids: &mut Vec<u32>| {
                words.learn(known, start, end, ids)
            };
            let listed = Listed { starts, ends, characters, strange };
            look_up_spans(all.as_bytes(), known, listed, out, &mut encode, each);
            words.sure
        };
        if !sure {
            behind.clear();
            return false;
        }
        let first = behind[0];
        let of_words = behind.len();
        for end in &firsts[1..] {
            behind.push(behind[end - firsts[0]]);
        }
        behind.drain(..of_words);
        if let Some(unknown) = sums.filter(|model| model.fuses()).and_then(Unigram::unknown) {
            fuse_each(out, first, behind, unknown);
        }
        true
    }
}
