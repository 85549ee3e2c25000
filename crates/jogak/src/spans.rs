//! Text -> ids with the bytes, characters and words that each stands for.
//!
//! Rule: the ids are those of [`Tokenizer::encode`]. Words are numbered as the pre-tokenizer cut them, a
//! special token being a word of its own; a word that leaves no id has its number all the same. Costs
//! the length of the text; words are remembered as in encoding, with their spans.

use std::ops::Range;

use crate::added::{Input, Part};
use crate::cache::LONGEST;
use crate::error::Result;
use crate::model::Sink;
use crate::observe::Silent;
use crate::pipeline::{Arriving, Request, Tokenizer, Worker, divided, numbered, stretches};
use crate::prepare;
use crate::trace::{SpanOf, WordPart};

/// Where something starts and ends.
pub type Span = (usize, usize);

/// So many bytes of texts have their spans in one place: what they take is neither asked of the system, nor given back.
const PART: usize = 1 << 15;

/// The ids of texts, one text behind the other, and what each stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    /// The ids.
    pub ids: Vec<u32>,
    /// The bytes of its text that each stands for; none, at the place where it was, for what was put in.
    pub bytes: Vec<Span>,
    /// The characters that these bytes lie in.
    pub chars: Vec<Span>,
    /// The number of the word that each is a part of.
    pub words: Vec<u32>,
    /// Where the ids of each text end.
    pub ends: Vec<usize>,
}

/// The pieces of one word: id, start and end for each, in one list, so that a table of words can
/// remember it.
struct Triples<'a>(&'a mut Vec<u32>);

impl Sink for Triples<'_> {
    fn piece(&mut self, id: u32, start: usize, end: usize) {
        // Words that are remembered are short.
        self.0.extend([id, start as u32, end as u32]);
    }

    fn extend_last(&mut self, end: usize) {
        if let Some(last) = self.0.last_mut() {
            *last = end as u32;
        }
    }
}

/// Writes the pieces of a word down at once: the spans, the way to the bytes of the text, the word's number.
struct InWord<'a>(&'a mut Spans, SpanOf<'a>, u32);

impl Sink for InWord<'_> {
    fn piece(&mut self, id: u32, start: usize, end: usize) {
        self.0.push(id, (self.1)(start, end), self.2);
    }

    fn extend_last(&mut self, end: usize) {
        if let Some(last) = self.0.bytes.last_mut() {
            // The span of something that is not empty ends where its last byte does.
            last.1 = last.1.max((self.1)(end.saturating_sub(1), end).1);
        }
    }
}

impl Tokenizer {
    /// Appends the ids of a text, which is number `index` of a batch, with all that they stand for.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; `out` then holds part of the answer.
    pub fn spans(
        &self,
        input: Input<'_>,
        request: &Request,
        index: u64,
        worker: &mut Worker,
        out: &mut Spans,
    ) -> Result<()> {
        let first = out.ids.len();
        let push = |id, span, word| out.push(id, span, word);
        if !self.for_each_tile(input, request, worker, push)? {
            out.truncate(first);
            self.spans_by_words(input, request, index, worker, out)?;
        }
        in_characters(input.text, &out.bytes[first..], &mut out.chars);
        out.ends.push(out.ids.len());
        Ok(())
    }

    /// Calls `each` with the ids of a text, the bytes that each stands for, and the number of its word, where pieces are
    /// bytes and texts are only cut: the ids are those of [`Tokenizer::encode`], and lie side by side in each word.
    /// False for other tokenizers, whatever `each` was called with.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub(crate) fn for_each_tile(
        &self,
        input: Input<'_>,
        request: &Request,
        worker: &mut Worker,
        mut each: impl FnMut(u32, Span, u32),
    ) -> Result<bool> {
        let Some(bpe) = self.model().bpe().filter(|bpe| bpe.leaves_bytes()) else {
            return Ok(false);
        };
        let (added, policy) = (self.added(), &request.specials);
        let plain = request.dropout.is_none() && self.model().is_own(request.strategy);
        let looks_twice = added.looks_twice(policy, input.trusted.is_some());
        if !plain || looks_twice || !self.prepare().only_cuts() {
            return Ok(false);
        }
        let mut ids = Vec::with_capacity(input.text.len() / 3 + 4);
        self.encode(input, request, worker, &mut ids)?;
        let mut ids = ids.into_iter();
        let (mut number, mut fits, mut scratch) = (0, true, prepare::Scratch::default());
        added.for_each(input, policy, |part| {
            let (part, place, base) = match part {
                Part::Token(id, start, end) => {
                    fits &= ids.next() == Some(id);
                    each(id, (start, end), number);
                    number += 1;
                    return Ok(());
                }
                Part::Text(part, place, base) => (part, place, base),
            };
            let ready = self.prepare().text(part, place, &mut scratch)?;
            self.prepare().for_each(ready, |start, end| {
                let mut at = base + start;
                while at < base + end
                    && let Some(id) = ids.next()
                {
                    let behind = at + bpe.vocab().piece(id).map_or(0, <[u8]>::len);
                    each(id, (at, behind), number);
                    at = behind;
                }
                fits &= at == base + end;
                number += 1;
            })
        })?;
        Ok(fits && ids.next().is_none())
    }

    /// The same word by word, without characters.
    fn spans_by_words(
        &self,
        input: Input<'_>,
        request: &Request,
        index: u64,
        worker: &mut Worker,
        out: &mut Spans,
    ) -> Result<()> {
        let mut way = self.way(request, index);
        let drawn = way.dropout.is_some() || way.alpha.is_some();
        let remember = !drawn && self.model().is_own(way.strategy);
        let (table, scratch) = worker.for_spans(self);
        let mut triples = Vec::new();
        let mut number = 0;
        // A run of unknown words has one piece, where the model says so: that of its first word.
        let fused = self.model().fuses_words();
        // Where the words of this stretch of text, and of this word, begin.
        let mut stretch = out.ids.len();
        self.for_each_word(input, request, |part| {
            let first = out.ids.len();
            let is_token = matches!(part, WordPart::Token(..));
            match part {
                WordPart::Token(id, start, end) => out.push(id, (start, end), number),
                WordPart::Word(word, span) if word.len() > LONGEST || !remember => {
                    let mut sink = InWord(out, span, number);
                    self.model().word(word, &mut way, scratch, &mut sink, &mut Silent)?;
                }
                WordPart::Word("", _) => {}
                WordPart::Word(word, span) => {
                    triples.clear();
                    let bytes = word.as_bytes();
                    if !table.get(bytes, 0, bytes.len(), &mut triples) {
                        let mut sink = Triples(&mut triples);
                        self.model().word(word, &mut way, scratch, &mut sink, &mut Silent)?;
                        if table.is_full() {
                            table.clear();
                        }
                        table.insert(bytes, &triples);
                    }
                    for triple in triples.chunks_exact(3) {
                        out.push(triple[0], span(triple[1] as usize, triple[2] as usize), number);
                    }
                }
            }
            if is_token {
                stretch = out.ids.len();
            } else if first > stretch
                && out.ids.len() > first
                && fused.is_some_and(|id| out.ids[first - 1] == id && out.ids[first] == id)
            {
                out.fuse(first);
            }
            number += 1;
            Ok(())
        })
    }
}

impl Tokenizer {
    /// [`Tokenizer::spans`] of many texts, of which the first has the number `first`, on up to `threads`
    /// threads: some texts each.
    ///
    /// # Errors
    /// As [`Tokenizer::spans`], with the place of the first text that has one.
    pub fn spans_batch(
        &self,
        texts: &[Input<'_>],
        request: &Request,
        first: u64,
        threads: usize,
    ) -> std::result::Result<Vec<Spans>, (usize, crate::Error)> {
        let bytes = texts.iter().map(|text| text.text.len()).sum();
        let (threads, size) = divided(texts.len(), bytes, threads);
        let parts = numbered(stretches(texts.iter().copied().map(Ok), size.min(PART)));
        let parts = self.shared_out(Arriving::all(parts), threads, |(before, part), worker| {
            let mut spans = Spans::default();
            for (text, index) in part.into_iter().zip(before..) {
                let made = self.spans(text, request, first + index as u64, worker, &mut spans);
                made.map_err(|error| (index, error))?;
            }
            Ok(spans)
        });
        parts?.into_iter().collect()
    }
}

impl Spans {
    fn push(&mut self, id: u32, bytes: Span, word: u32) {
        self.ids.push(id);
        self.bytes.push(bytes);
        self.words.push(word);
    }

    /// Forgets all ids from one on.
    fn truncate(&mut self, ids: usize) {
        self.ids.truncate(ids);
        self.words.truncate(ids);
        self.bytes.truncate(ids);
    }

    /// The ids of each text: from here to there.
    pub fn texts(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(&end, start)| start..end)
    }

    /// Makes one of the id at a place and the one before it.
    fn fuse(&mut self, at: usize) {
        self.ids.remove(at);
        self.words.remove(at);
        let (_, end) = self.bytes.remove(at);
        self.bytes[at - 1].1 = end;
    }

    /// Takes white space off the ends of the spans of some ids, which are those of a text: as many characters at most as the
    /// text of the piece has there, `Ġ` counted as one. What is white space only keeps an empty span, at its end.
    pub fn trim<'a>(
        &mut self,
        ids: Range<usize>,
        text: &str,
        piece: impl Fn(u32) -> Option<&'a str>,
    ) {
        let white = |c: &char| c.is_whitespace() || *c == 'Ġ';
        for at in ids {
            let Some(piece) = piece(self.ids[at]) else { continue };
            let before = piece.chars().take_while(white).count();
            let behind = piece.chars().rev().take_while(white).count();
            if before == 0 && behind == 0 {
                continue;
            }
            let (bytes, chars) = (&mut self.bytes[at], &mut self.chars[at]);
            // A span may begin or end within a character, which then is no white space.
            for c in text.get(bytes.0..).unwrap_or_default().chars().take(before) {
                if !c.is_whitespace() || bytes.0 + c.len_utf8() > bytes.1 {
                    break;
                }
                bytes.0 += c.len_utf8();
                chars.0 += 1;
            }
            for c in text.get(..bytes.1).unwrap_or_default().chars().rev().take(behind) {
                if !c.is_whitespace() || bytes.0 + c.len_utf8() > bytes.1 {
                    break;
                }
                bytes.1 -= c.len_utf8();
                chars.1 -= 1;
            }
        }
    }
}

/// The characters that spans of bytes lie in. One walk, as spans come in order; another order costs the
/// way back.
fn in_characters(text: &str, spans: &[Span], out: &mut Vec<Span>) {
    if text.is_ascii() {
        out.extend_from_slice(spans);
        return;
    }
    let mut starts = Walk { text: text.as_bytes(), byte: 0, chars: 0 };
    let mut ends = Walk { ..starts };
    out.extend(spans.iter().map(|&(start, end)| {
        let first = starts.begun(start).saturating_sub(usize::from(starts.is_inside(start)));
        // A span of no bytes has no characters.
        (first, if start == end { first } else { ends.begun(end) })
    }));
}

/// Counts the characters that begin before a byte.
struct Walk<'a> {
    text: &'a [u8],
    byte: usize,
    chars: usize,
}

impl Walk<'_> {
    fn begun(&mut self, byte: usize) -> usize {
        let begins = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        let byte = byte.min(self.text.len());
        if byte >= self.byte {
            self.chars += begins(&self.text[self.byte..byte]);
        } else {
            self.chars -= begins(&self.text[byte..self.byte]);
        }
        self.byte = byte;
        self.chars
    }

    fn is_inside(&self, byte: usize) -> bool {
        self.text.get(byte).is_some_and(|byte| byte & 0xC0 == 0x80)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_inside_of_characters_take_all_of_them() {
        let text = "a밥é!";
        let spans = [(0, 1), (1, 2), (2, 4), (4, 4), (4, 5), (5, 7), (1, 6), (0, 7)];
        let expected = [(0, 1), (1, 2), (1, 2), (2, 2), (2, 3), (2, 4), (1, 3), (0, 4)];
        let mut found = Vec::new();
        in_characters(text, &spans, &mut found);
        assert_eq!(found, expected);
    }
}
