//! Words of models whose ids of a word depend on nothing else, with the worker's memory of words.
//!
//! In words: where words are found by masks, they come in lists, and each is looked up whole. A word that
//! begins with other than ASCII (Chinese, Korean, Russian) may fall into parts, where no piece lies across
//! two characters; its parts are the pieces of words seen before, even if it is new. So, if it is not known whole, it
//! goes by its parts, and is remembered whole when it comes a second time. Where nearly all parts are single characters
//! (Chinese, Korean), words are not looked up whole at all, but by their characters (`characters.rs`).
//!
//! What is remembered, and when, is never seen in a result.

use super::characters::{ByCharacters, Seen};
use super::texts::{ByBlocks, write_marks};
use super::{Learned, Tokenizer, Worker, fuse};
use crate::added::{Added, Inner};
use crate::cache::{KnownWords, LONGEST_KNOWN, Queue, hash_at, look_up_between};
use crate::error::Result;
use crate::model::cuts::{Cuts, MARK};
use crate::model::{Bpe, Model, Scratch, Way};
use crate::observe::Silent;
use crate::prepare::{Prepare, Prepared};
use crate::scan::{count, fastest, prefetch, written_zeros};

/// Fewer words than this are looked up one by one.
const FEW: usize = 8;

/// What a worker has seen of words that may be cut into parts.
#[derive(Debug, Default, Clone)]
pub(super) struct Habit {
    /// Words of Chinese, Korean and their kind, and how many of their parts were more than a character; of late.
    words: u32,
    joined: u32,
    /// Bit by hash: the word was seen once. A false hit costs a little memory. Made when first asked for.
    seen: Vec<u64>,
    /// How many bits are set. When it is half of them, all is forgotten: hits would mostly be false.
    marked: usize,
}

/// Bits of a hash that say where a word's bit is.
const SEEN_BITS: u32 = 22;
/// Words that a habit is made of.
const LATE: u32 = 1 << 12;

impl Habit {
    /// Whether parts are nearly all single characters, whose ids are found sooner than those of a word.
    pub(super) fn takes_characters(&self) -> bool {
        self.joined * 2 <= self.words
    }

    /// So many words with so many parts that are more than one character.
    pub(super) fn saw(&mut self, words: u32, joined: u32) {
        self.words += words;
        self.joined = self.joined.saturating_add(joined);
        if self.words >= LATE {
            (self.words, self.joined) = (self.words / 2, self.joined / 2);
        }
    }

    /// The hash of `text[start..end]`, if `table` is so large that words are remembered only if they come again. Its bit is
    /// asked for, so that it is there when the word is encoded.
    #[inline]
    pub(super) fn ask_if_large(
        &self,
        table: &KnownWords,
        text: &str,
        start: usize,
        end: usize,
    ) -> Option<u64> {
        let hash = table.is_large().then(|| hash_at(text.as_bytes(), start, end))?;
        self.ask(hash);
        Some(hash)
    }

    /// Asks for the memory that [`Habit::again`] will look at.
    #[inline]
    pub(super) fn ask(&self, hash: u64) {
        prefetch(&self.seen, (hash >> (64 - SEEN_BITS)) as usize / 64);
    }

    /// Whether a word of this hash was seen before; it is now.
    pub(super) fn again(&mut self, hash: u64) -> bool {
        if self.seen.is_empty() {
            self.seen = written_zeros(1 << (SEEN_BITS - 6));
        }
        if self.marked >= 1 << (SEEN_BITS - 1) {
            self.seen.fill(0);
            self.marked = 0;
        }
        let bit = (hash >> (64 - SEEN_BITS)) as usize;
        let seen = &mut self.seen[bit / 64];
        let before = *seen >> (bit % 64) & 1 == 1;
        *seen |= 1 << (bit % 64);
        self.marked += usize::from(!before);
        before
    }
}

/// Encodes what is not known.
pub(super) struct Learner<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a str,
    way: &'a mut Way,
    scratch: &'a mut Scratch,
    /// Room for a part with its marks, if words have spaces for them.
    marked: Option<&'a mut String>,
    /// The first error; nothing is encoded after it.
    pub(super) result: Result<()>,
    /// Of a run of blanks tokens left some.
    pub(super) broke_run: bool,
}

impl<'a> Learner<'a> {
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        text: &'a str,
        way: &'a mut Way,
        scratch: &'a mut Scratch,
    ) -> Self {
        let (marked, result) = (None, Ok(()));
        Self { tokenizer, text, way, scratch, marked, result, broke_run: false }
    }

    /// The same of words that have spaces for marks, which are written in `room` as the model sees them.
    pub(super) fn of_spaced(self, room: &'a mut String) -> Self {
        Self { marked: Some(room), ..self }
    }

    /// Appends the ids of `text[start..end]`, and teaches them.
    fn learn(&mut self, table: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>) {
        self.learn_word(table, &self.text[start..end], out);
    }

    /// The same of a word that stands elsewhere.
    pub(super) fn learn_word(&mut self, table: &mut KnownWords, word: &str, out: &mut Vec<u32>) {
        if self.result.is_err() {
            return;
        }
        let before = out.len();
        let mut room = self.marked.take();
        // The pieces are what it was taught, as they are.
        let is_no_piece = room.is_none() && table.knows_all(word.len());
        let seen = room.as_mut().map_or(word, |room| write_marks(word, room));
        let inner = self.tokenizer.inner.as_deref().filter(|inner| inner.may_be_in(seen));
        if let Some(inner) = inner {
            self.result = self.around(inner, seen, out);
        } else {
            self.way.is_no_piece = is_no_piece;
            self.result = self.tokenizer.model.word(seen, self.way, self.scratch, out, &mut Silent);
            self.way.is_no_piece = false;
        }
        self.marked = room;
        // Of a run that tokens break, these are not all.
        if self.result.is_ok() && !self.broke_run {
            self.tokenizer.remember(table, word, &out[before..]);
        }
    }

    /// Appends the ids of tokens that were left in a part, and of what stands around them.
    fn around(&mut self, inner: &Inner, part: &str, out: &mut Vec<u32>) -> Result<()> {
        let Self { tokenizer, way, scratch, .. } = self;
        let mut between = |from: usize, to: usize, out: &mut Vec<u32>| {
            if from == to {
                return Ok(());
            }
            tokenizer.model.word(&part[from..to], way, scratch, out, &mut Silent)
        };
        let mut from = 0;
        for (id, start, end) in inner.find_iter(part) {
            between(from, start, out)?;
            out.push(id);
            from = end;
        }
        self.broke_run |= inner.runs().is_some() && (1..part.len()).contains(&from);
        between(from, part.len(), out)
    }
}

/// Tokens that may be left in texts and found in parts of them.
pub(super) fn inner(prepare: &Prepare, added: &Added, model: &Model) -> Option<Box<Inner>> {
    let normalizer = prepare.normalizer();
    // Pieces that are known as words might be other ids.
    if model.takes_whole_words() {
        return None;
    }
    if prepare.only_cuts_as_gpt2() && model.bpe().is_some() {
        return added.inner_of_runs(normalizer);
    }
    prepare.only_marks(MARK).filter(|marks| marks.never())?;
    let leaves_whole = prepare.leaves_whole();
    model.cuts().filter(|_| leaves_whole && model.cuts_all_words(leaves_whole))?;
    added.inner_of_parts(normalizer, MARK, |text| model.vocab().id(text).is_some())
}

/// Looks words up, and learns those that are not known.
struct Looking<'a, L> {
    bytes: &'a [u8],
    known: &'a mut KnownWords,
    queue: &'a mut Queue,
    out: &'a mut Vec<u32>,
    learn: L,
}

impl<L: FnMut(&mut KnownWords, usize, usize, &mut Vec<u32>)> Looking<'_, L> {
    #[inline(always)]
    fn word(&mut self, start: usize, end: usize, character: u32) {
        if self.queue.push(self.bytes, self.known, start, end, character) {
            self.finish();
        }
    }

    /// What still waits.
    #[inline(never)]
    fn finish(&mut self) {
        self.queue.look_up(self.bytes, self.known, self.out, &mut self.learn);
    }
}

/// The words of a text on their way.
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    cuts: Option<&'a Cuts>,
    /// Every word may be cut, whatever it begins with.
    all: bool,
    /// Spaces stand for marks.
    spaced: bool,
    queue: &'a mut Queue,
    habit: &'a mut Habit,
    learner: Learner<'a>,
}

impl<'a> Words<'a> {
    /// Where the word that starts at `start` may be cut.
    #[inline(always)]
    fn cuts(&self, start: usize) -> Option<&'a Cuts> {
        let ascii = |at: usize| self.bytes.get(at).is_none_or(|&byte| byte < 0x80);
        self.cuts.filter(|_| self.all || !ascii(start) || !ascii(start + 1))
    }

    /// Appends the ids of words between borders. Nothing waits before and behind.
    #[inline]
    pub(super) fn list(&mut self, known: &mut KnownWords, borders: &[u32], out: &mut Vec<u32>) {
        let bytes = self.bytes;
        let characters = || self.habit.takes_characters() && self.has_characters(borders);
        let Some(cuts) = self.cuts.filter(|_| characters()) else {
            return self.whole(known, borders, out);
        };
        let mut seen = Seen::default();
        fastest(ByCharacters {
            cuts,
            text: bytes,
            borders,
            known,
            out,
            learn: &mut |known, start, end, ids| self.new_part(known, start, end, ids),
            seen: &mut seen,
        });
        self.habit.saw(seen.words, seen.joined);
    }

    /// Appends the ids of texts that stand one behind the other, each as one word that is cut whatever it begins with; `behind` is
    /// called behind each, and they end at `ends`. If it says no, nothing is done.
    pub(super) fn texts(
        &mut self,
        known: &mut KnownWords,
        ends: &[u32],
        out: &mut Vec<u32>,
        behind: &mut dyn FnMut(&mut Vec<u32>),
    ) -> bool {
        let Self { bytes, all, spaced, ref mut learner, .. } = *self;
        let Some(cuts) = self.cuts.filter(|_| all && (1..u32::MAX as usize).contains(&bytes.len()))
        else {
            return false;
        };
        let mut seen = Seen::default();
        let mut learn = |known: &mut KnownWords, start: usize, end: usize, ids: &mut Vec<u32>| {
            learner.learn(known, start, end, ids);
        };
        let characters = self.habit.takes_characters() && is_of_characters(bytes);
        fastest(ByBlocks {
            cuts,
            text: bytes,
            ends,
            spaced,
            characters,
            known,
            out,
            learn: &mut learn,
            seen: &mut seen,
            behind,
        });
        self.habit.saw(seen.words, seen.joined);
        true
    }

    /// Appends the ids of a part of a word that is not known.
    fn new_part(&mut self, known: &mut KnownWords, start: usize, end: usize, ids: &mut Vec<u32>) {
        if end - start <= LONGEST_KNOWN && self.is_of_characters(start) {
            self.learner.learn(known, start, end, ids);
        } else {
            self.new_word(known, start, end, ids);
        }
    }

    /// Whether there was an error.
    pub(super) fn has_failed(&self) -> bool {
        self.learner.result.is_err()
    }

    /// The first error, if there was one.
    pub(super) fn result(self) -> Result<()> {
        self.learner.result
    }

    /// Whether tokens left some of a run of blanks.
    pub(super) fn broke_run(&self) -> bool {
        self.learner.broke_run
    }

    /// Whether the word that starts at `start` begins with a character of three bytes, with or without a space
    /// before it.
    #[inline(always)]
    fn is_of_characters(&self, start: usize) -> bool {
        let byte = |at: usize| self.bytes.get(at).copied().unwrap_or(0);
        let long = |byte: u8| byte & 0xF0 == 0xE0;
        long(byte(start)) || byte(start) == b' ' && long(byte(start + 1))
    }

    /// Whether a quarter of the bytes between the first and the last border are of such characters.
    fn has_characters(&self, borders: &[u32]) -> bool {
        let (Some(&first), Some(&last)) = (borders.first(), borders.last()) else { return false };
        has_characters(&self.bytes[first as usize..last as usize])
    }

    /// Appends the ids of words that are looked up whole.
    #[inline]
    fn whole(&mut self, known: &mut KnownWords, borders: &[u32], out: &mut Vec<u32>) {
        if borders.len() > FEW {
            look_up_between(self.bytes, known, borders, out, &mut |known, start, end, ids| {
                self.new_word(known, start, end, ids);
            });
            return;
        }
        for pair in borders.windows(2) {
            let (start, end) = (pair[0] as usize, pair[1] as usize);
            if !known.get(self.bytes, start, end, out) {
                self.new_word(known, start, end, out);
            }
        }
    }

    /// Appends the ids of a word that is not known.
    fn new_word(&mut self, known: &mut KnownWords, start: usize, end: usize, ids: &mut Vec<u32>) {
        let bytes = self.bytes;
        let Some(cuts) = self.cuts(start) else {
            return self.learner.learn(known, start, end, ids);
        };
        let of_characters = self.is_of_characters(start);
        let Self { queue, habit, learner, .. } = self;
        let (before, mut parts, mut joined) = (ids.len(), 0, 0);
        let may_be_kept = end - start <= LONGEST_KNOWN && !known.is_crowded();
        let hash = may_be_kept.then(|| hash_at(bytes, start, end));
        hash.into_iter().for_each(|hash| habit.ask(hash));
        cuts.for_each_part(bytes, start, end, |start, end, character| {
            parts += 1;
            joined += u32::from(character == 0);
            if queue.push(bytes, known, start, end, character) {
                queue.look_up(bytes, known, ids, |known, start, end, ids| {
                    learner.learn(known, start, end, ids);
                });
            }
        });
        queue.look_up(bytes, known, ids, |known, start, end, ids| {
            learner.learn(known, start, end, ids);
        });
        if of_characters {
            habit.saw(1, joined);
        }
        if let Some(hash) = hash
            && parts > 1
            && learner.result.is_ok()
            && habit.again(hash)
        {
            learner.tokenizer.remember(known, &learner.text[start..end], &ids[before..]);
        }
    }
}

/// Whether a quarter of some bytes are of characters of three bytes.
pub(super) fn has_characters(bytes: &[u8]) -> bool {
    let characters = count(bytes, |byte| byte & 0xF0 == 0xE0);
    characters > 0 && characters * 3 * 4 >= bytes.len()
}

/// Whether nearly all of so many bytes are of `characters` of three bytes. With fewer, a text that is one word falls into so many
/// other parts that it is better to look up all of them together.
pub(super) fn is_nearly_all(characters: usize, bytes: usize) -> bool {
    characters * 3 * 5 >= bytes * 4
}

/// The same of a text, but for those of which `▁` is one.
fn is_of_characters(text: &[u8]) -> bool {
    is_nearly_all(count(text, |byte| matches!(byte, 0xE3..=0xEF)), text.len())
}

impl Tokenizer {
    /// Teaches the ids of a word that is ready.
    pub(super) fn remember(&self, table: &mut KnownWords, word: &str, ids: &[u32]) {
        if table.is_stale() {
            *table = self.taught(table.limit());
        }
        table.insert(word.as_bytes(), ids);
    }

    /// The words of a text, on their way to what the worker knows.
    pub(super) fn words_of<'a>(
        &'a self,
        text: &'a str,
        way: &'a mut Way,
        worker: &'a mut Worker,
    ) -> (Words<'a>, &'a mut KnownWords) {
        let Worker { learned, queue, scratch, .. } = worker;
        let Learned { known, habit, .. } = learned;
        let (bytes, all) = (text.as_bytes(), self.cuts_all_words);
        let cuts = if all || !text.is_ascii() { self.model.cuts() } else { None };
        let learner = Learner::new(self, text, way, scratch);
        (Words { bytes, cuts, all, spaced: false, queue, habit, learner }, known)
    }

    /// Appends the ids of texts that were made ready but that they have spaces for marks. They stand one behind the other, and end
    /// at `ends`; `behind` is called behind each. Together they have less than 4 GiB.
    pub(super) fn by_texts(
        &self,
        (texts, ends): (&str, &[u32]),
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
        behind: &mut dyn FnMut(&mut Vec<u32>),
    ) -> Result<()> {
        let mut room = std::mem::take(&mut worker.marked);
        let (mut words, known) = self.words_of(texts, way, worker);
        words.learner = words.learner.of_spaced(&mut room);
        words.spaced = true;
        if !words.texts(known, ends, out, behind) {
            // They are empty.
            ends.iter().for_each(|_| behind(out));
        }
        let result = words.result();
        worker.marked = room;
        result
    }

    /// Appends the ids of a text that was made ready.
    pub(super) fn by_words(
        &self,
        ready: Prepared<'_>,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let before = out.len();
        let (mut words, known) = self.words_of(ready.text, way, worker);
        let Words { bytes, cuts, all, .. } = words;
        let listed =
            !all && self.prepare.for_each_list(ready, |borders| words.list(known, borders, out));
        let listed = listed
            || self.leaves_whole && words.texts(known, &[bytes.len() as u32], out, &mut |_| {});
        let mut cut = Ok(());
        if !listed {
            let Words { queue, ref mut learner, ref mut habit, .. } = words;
            let mut seen = Seen::default();
            let learn = |known: &mut KnownWords, start: usize, end: usize, out: &mut Vec<u32>| {
                learner.learn(known, start, end, out);
            };
            let mut looking = Looking { bytes, known, queue, out, learn };
            let ascii = |at: usize| bytes.get(at).is_none_or(|&byte| byte < 0x80);
            cut = match cuts {
                Some(cuts) => self.prepare.for_each(ready, |start, end| {
                    if ascii(start) && ascii(start + 1) && !all {
                        return looking.word(start, end, 0);
                    }
                    cuts.for_each_part(bytes, start, end, |start, end, character| {
                        seen.words += 1;
                        seen.joined += u32::from(character == 0);
                        looking.word(start, end, character);
                    });
                }),
                None => self.prepare.for_each(ready, |start, end| looking.word(start, end, 0)),
            };
            // Nothing may wait for the next text, whatever became of this one.
            looking.finish();
            if all {
                habit.saw(seen.words, seen.joined);
            }
        }
        let result = words.learner.result;
        cut?;
        self.fuse_all(before, out);
        result
    }

    /// One unknown piece for a run of them, where that is so, among the ids of a text.
    pub(super) fn fuse_all(&self, before: usize, out: &mut Vec<u32>) {
        if let Some(unknown) = self.model.fuses_words() {
            fuse(out, before, unknown);
        }
        // Parts are fused by themselves.
        let parts = self.model.bpe().filter(|_| self.cuts_all_words);
        if let Some(unknown) = parts.and_then(Bpe::fused) {
            fuse(out, before, unknown);
        }
    }
}
