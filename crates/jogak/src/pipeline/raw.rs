//! Texts cut before they are normalized: words are looked up by their bytes in the text, and only those
//! that are not known are normalized, cut and encoded.
//!
//! Rule: the same ids as the plain way, or the plain way.

use std::cell::Cell;

use super::parts::Parts;
use super::words::Habit;
use super::{Learned, Looking, Tokenizer, Worker};
use crate::cache::{KnownWords, LONGEST_KNOWN, character, hash, hash_at, look_up_spans};
use crate::model::{Model, Precision, Scratch, Unigram, Way};
use crate::normalize::Place;
use crate::observe::Silent;
use crate::prepare::{Prepare, Raw, RawScratch, RawWord, Ready};

/// Whether words can be encoded one by one, or depend on each other only by the sums of their scores.
pub(super) fn suits(prepare: &Prepare, model: &Model) -> bool {
    let Some(raw) = prepare.raw() else { return false };
    match model {
        Model::WordPiece(_) => !raw.is_one_word(),
        Model::Unigram(model) => !raw.is_one_word() || sums(model),
        Model::Bpe(_) | Model::Codes(_) | Model::WordLevel(_) | Model::Drawn(_) => false,
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

/// Whether sums are such as `sums.rs` knows.
fn sums(model: &Unigram) -> bool {
    model.precision() == Precision::Single && model.is_cut_at_marks()
}

/// Remembers a raw word; once the table is large, only if it comes again.
pub(super) fn remember(table: &mut KnownWords, habit: &mut Habit, word: &[u8], ids: &[u32]) {
    if word.len() > LONGEST_KNOWN || (table.is_large() && !habit.again(hash(word))) {
        return;
    }
    if table.is_stale() {
        table.clear();
    }
    table.insert(word, ids);
}

/// Encodes raw words that are not known.
struct RawWords<'a> {
    tokenizer: &'a Tokenizer,
    raw: Raw,
    way: &'a mut Way,
    room: &'a mut RawScratch,
    /// Parts of words, for Unigram.
    parts: &'a mut KnownWords,
    scratch: &'a mut Scratch,
}

impl RawWords<'_> {
    /// Appends the ids of a raw word. None if they are not certain.
    fn word(
        &mut self,
        word: &str,
        odd: Option<bool>,
        known: &KnownWords,
        ids: &mut Vec<u32>,
    ) -> Option<()> {
        let Self { tokenizer, raw, way, room, parts, scratch } = self;
        let Tokenizer { prepare, model, .. } = tokenizer;
        // Errors come again on the plain way.
        let Ready { prepared, whole } = raw.ready(prepare, word, odd, room).ok()??;
        let (unigram, made) = (model.unigram(), prepared.text);
        // What became of it may be known: it is itself, as it is ready.
        let is_new = whole && unigram.is_none() && made != word;
        if is_new && known.get(made.as_bytes(), 0, made.len(), ids) {
            return Some(());
        }
        let mut one = |word: &str| {
            if let Some(model) = unigram.filter(|model| !model.has_reserved(word)) {
                let mut parts = Parts { model, known: parts, near: &mut scratch.near };
                if parts.word_by_itself(word, ids) {
                    return Some(());
                }
            }
            model.word(word, way, scratch, ids, &mut Silent).ok()
        };
        if whole {
            return one(made);
        }
        let mut covered = Some(());
        let cut = prepare.for_each(prepared, |start, end| {
            covered = covered.and_then(|()| one(&prepared.text[start..end]));
        });
        cut.ok().and(covered)
    }
}

impl Tokenizer {
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
            _ if raw.is_listed(text, place) => self.raw_by_lists(raw, text, way, worker, out),
            _ => self.raw_by_words(raw, text, place, way, worker, out),
        };
        // What nothing is left of has rules of its own.
        let done = sure && out.len() > before;
        if !done {
            out.truncate(before);
        }
        done
    }

    /// Where words depend on nothing else, and their borders come in lists.
    fn raw_by_lists(
        &self,
        raw: Raw,
        text: &str,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> bool {
        let Worker { learned, raw_room: room, scratch, .. } = worker;
        let Learned { raw: known, raw_parts: parts, habit, .. } = learned;
        let (bytes, mut sure) = (text.as_bytes(), true);
        let mut words = RawWords { tokenizer: self, raw, way, room, parts, scratch };
        let mut encode = |known: &KnownWords, start: usize, end: usize, ids: &mut Vec<u32>| {
            let word = &text[start..end];
            sure = sure && words.word(word, None, known, ids).is_some();
            sure && word.len() <= LONGEST_KNOWN
                && (!known.is_large() || habit.again(hash_at(bytes, start, end)))
        };
        raw.for_each_list(text, |starts, ends, characters| {
            look_up_spans(bytes, known, (starts, ends), characters, out, &mut encode);
        });
        sure
    }

    /// Where words are encoded one by one.
    fn raw_by_words(
        &self,
        raw: Raw,
        text: &str,
        place: Place,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> bool {
        let Worker { learned, raw_room: room, queue, scratch, .. } = worker;
        let Learned { raw: known, raw_parts: parts, habit, .. } = learned;
        let mut raw_words = RawWords { tokenizer: self, raw, way, room, parts, scratch };
        let (sure, odd) = (Cell::new(true), Cell::new(None));
        let learn = |table: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
            if !sure.get() {
                return;
            }
            let (word, before) = (&text[start..end], out.len());
            sure.set(raw_words.word(word, odd.get(), table, out).is_some());
            if sure.get() && odd.get().is_none() {
                remember(table, habit, word.as_bytes(), &out[before..]);
            }
        };
        let bytes = text.as_bytes();
        let mut words = Looking { bytes, known, queue, out, learn };
        let certain = raw.for_each(text, place, |RawWord { start, end, odd: first }| {
            if first.is_none() {
                return words.word(start, end, character(bytes, start, end));
            }
            words.finish();
            odd.set(first);
            (words.learn)(words.known, start, end, words.out);
            odd.set(None);
        });
        // Nothing may wait for the next text.
        words.finish();
        certain && sure.get()
    }
}
