//! Short texts, many at once.
//!
//! In words: what a short text costs is mostly what every text costs, a block of masks that is nearly empty above all. So
//! texts that are lines are put one behind the other, and where their words begin is found for all at once, each line
//! being a text by itself. A text that has no line end gets one, which is taken away again when its words are known.
//!
//! Rule: the same ids as text by text, or text by text.

use super::{Request, Tokenizer, Worker};
use crate::added::Input;
use crate::error::Error;

/// Longer texts, in bytes, are encoded by themselves.
const LONGEST: usize = 1 << 9;
/// Texts are put together up to so many bytes, which stay in the first-level cache with what is made of them.
const FULL: usize = 1 << 12;

/// Texts that wait to be encoded together.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// The texts, each with a line end at its end or behind it.
    lines: String,
    /// Where each starts and ends.
    texts: Vec<(u32, u32)>,
    /// Room for the borders of their words.
    borders: Vec<u32>,
}

impl Joined {
    /// Takes a text, if it is a line and there is room for it.
    #[inline]
    fn take(&mut self, input: Input<'_>) -> bool {
        let Input { text, trusted } = input;
        let room = FULL.saturating_sub(self.lines.len());
        if text.len() > LONGEST.min(room) || trusted.is_some() {
            return false;
        }
        let line_end = memchr::memchr(b'\n', text.as_bytes());
        if line_end.is_some_and(|at| at + 1 < text.len()) {
            return false;
        }
        let start = self.lines.len() as u32;
        self.lines.push_str(text);
        self.texts.push((start, self.lines.len() as u32));
        if line_end.is_none() {
            self.lines.push('\n');
        }
        true
    }

    fn clear(&mut self) {
        let Self { lines, texts, borders } = self;
        lines.clear();
        texts.clear();
        borders.clear();
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
    fn alone(&mut self, input: Input<'_>, number: usize) -> Result<(), (usize, Error)> {
        let Self { tokenizer, request, worker, ids, end } = self;
        tokenizer
            .encode_numbered(input, request, number as u64, worker, ids)
            .map_err(|error| (number, error))?;
        end(ids.len());
        Ok(())
    }

    /// Encodes the texts that wait, the last of which stands before the text number `next`.
    fn all(&mut self, joined: &mut Joined, next: usize) -> Result<(), (usize, Error)> {
        let first = next - joined.texts.len();
        let done = if joined.texts.len() > 1 { self.together(joined) } else { 0 };
        for (&(start, end), number) in joined.texts.iter().zip(first..).skip(done) {
            self.alone(Input::from(&joined.lines[start as usize..end as usize]), number)?;
        }
        joined.clear();
        Ok(())
    }

    /// Encodes texts that are to be cut and nothing else. Returns how many: up to the first one that has an error.
    fn together(&mut self, joined: &mut Joined) -> usize {
        let Self { tokenizer, request, worker, ids, end } = self;
        let Joined { lines, texts, borders } = joined;
        let prepare = &tokenizer.prepare;
        if !tokenizer.added.has_none(lines, &request.specials)
            || !prepare.for_each_list_of_lines(lines, |list| {
                borders.extend_from_slice(&list[usize::from(!borders.is_empty())..]);
            })
        {
            return 0;
        }
        let mut way = tokenizer.way(request, 0);
        let (mut words, known) = tokenizer.words_of(lines, &mut way, worker);
        let mut first = 0;
        for (number, &(start, until)) in texts.iter().enumerate() {
            first += usize::from(borders[first] < start);
            let count = borders[first..].iter().take_while(|&&border| border < until).count();
            // The line end may belong to the last word.
            let last = &mut borders[first + count];
            let behind = std::mem::replace(last, until);
            words.list(known, &borders[first..=first + count], ids);
            if words.has_failed() {
                return number;
            }
            end(ids.len());
            first += count;
            borders[first] = behind;
        }
        texts.len()
    }
}

impl Tokenizer {
    /// Whether words are all that is looked for in texts, so that short ones can be encoded together.
    fn joins(&self, request: &Request) -> bool {
        let Request { strategy, dropout, alpha, .. } = request;
        let drawn = dropout.is_some() || alpha.is_some();
        let words = !self.cuts_all_words && self.model.fuses_words().is_none();
        let remember = !drawn && self.model.is_own(*strategy) && self.model.unigram().is_none();
        words && remember && self.prepare.has_lines()
    }

    /// Appends the ids of texts to `ids`, and calls `end` with how many there are then, text by text. Each has its
    /// number beside it; they count up.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], with the number of the first text that has one.
    pub(super) fn encode_part<'t>(
        &self,
        texts: impl Iterator<Item = (Input<'t>, usize)>,
        request: &Request,
        worker: &mut Worker,
        ids: &mut Vec<u32>,
        end: impl FnMut(usize),
    ) -> Result<(), (usize, Error)> {
        let mut encoding = Encoding { tokenizer: self, request, worker, ids, end };
        if !self.joins(request) {
            for (input, number) in texts {
                encoding.alone(input, number)?;
            }
            return Ok(());
        }
        let mut joined = std::mem::take(&mut encoding.worker.joined);
        let mut next = 0;
        for (input, number) in texts {
            next = number + 1;
            if joined.take(input) {
                continue;
            }
            encoding.all(&mut joined, number)?;
            if !joined.take(input) {
                encoding.alone(input, number)?;
            }
        }
        encoding.all(&mut joined, next)?;
        encoding.worker.joined = joined;
        Ok(())
    }
}
