//! Text -> ids with the bytes, characters and words that each stands for.
//!
//! Rule: the ids are those of [`Tokenizer::encode`]. Words are numbered as the pre-tokenizer cut them, a
//! special token being a word of its own; a word that leaves no id has its number all the same. Costs
//! the length of the text; words are remembered as in encoding, with their spans.

use crate::added::Input;
use crate::cache::LONGEST;
use crate::error::Result;
use crate::model::Sink;
use crate::observe::Silent;
use crate::pipeline::{Arriving, Request, Tokenizer, Worker, divided, numbered, stretches};
use crate::trace::{SpanOf, WordPart};

/// Where something starts and ends.
pub type Span = (usize, usize);

/// The ids of a text, and what each stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    /// The ids.
    pub ids: Vec<u32>,
    /// The bytes of the text that each stands for; none, at the place where it was, for what was put in.
    pub bytes: Vec<Span>,
    /// The characters that these bytes lie in.
    pub chars: Vec<Span>,
    /// The number of the word that each is a part of.
    pub words: Vec<u32>,
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
    /// The ids of a text, which is number `index` of a batch, with all that they stand for.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn spans(
        &self,
        input: Input<'_>,
        request: &Request,
        index: u64,
        worker: &mut Worker,
    ) -> Result<Spans> {
        let mut way = self.way(request, index);
        let drawn = way.dropout.is_some() || way.alpha.is_some();
        let remember = !drawn && self.model().is_own(way.strategy);
        let (table, scratch) = worker.for_spans(self);
        let mut out = Spans::default();
        let mut triples = Vec::new();
        let mut number = 0;
        // A run of unknown words has one piece, where the model says so: that of its first word.
        let fused = self.model().fuses_words();
        // Where the words of this stretch of text, and of this word, begin.
        let mut stretch = 0;
        self.for_each_word(input, request, |part| {
            let first = out.ids.len();
            let is_token = matches!(part, WordPart::Token(..));
            match part {
                WordPart::Token(id, start, end) => out.push(id, (start, end), number),
                WordPart::Word(word, span) if word.len() > LONGEST || !remember => {
                    let mut sink = InWord(&mut out, span, number);
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
        })?;
        out.chars = in_characters(input.text, &out.bytes);
        Ok(out)
    }
}

impl Tokenizer {
    /// [`Tokenizer::spans`] of many texts, of which the first has the number `first`, on up to `threads`
    /// threads.
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
        let parts = numbered(stretches(texts.iter().copied().map(Ok), size));
        let parts = self.shared_out(Arriving::all(parts), threads, |(before, part), worker| {
            let spans = |(text, index): (Input<'_>, usize)| {
                let spans = self.spans(text, request, first + index as u64, worker);
                spans.map_err(|error| (index, error))
            };
            part.into_iter().zip(before..).map(spans).collect::<std::result::Result<Vec<_>, _>>()
        });
        let mut all = Vec::with_capacity(texts.len());
        for part in parts? {
            all.extend(part?);
        }
        Ok(all)
    }
}

impl Spans {
    fn push(&mut self, id: u32, bytes: Span, word: u32) {
        self.ids.push(id);
        self.bytes.push(bytes);
        self.words.push(word);
    }

    /// Makes one of the id at a place and the one before it.
    fn fuse(&mut self, at: usize) {
        self.ids.remove(at);
        self.words.remove(at);
        let (_, end) = self.bytes.remove(at);
        self.bytes[at - 1].1 = end;
    }

    /// Takes white space off the ends of every span: as many characters at most as the text of the piece
    /// has there, `Ġ` counted as one. What is white space only keeps an empty span, at its end.
    pub fn trim<'a>(&mut self, text: &str, piece: impl Fn(u32) -> Option<&'a str>) {
        let white = |c: &char| c.is_whitespace() || *c == 'Ġ';
        for (at, &id) in self.ids.iter().enumerate() {
            let Some(piece) = piece(id) else { continue };
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
fn in_characters(text: &str, spans: &[Span]) -> Vec<Span> {
    if text.is_ascii() {
        return spans.to_vec();
    }
    let mut starts = Walk { text: text.as_bytes(), byte: 0, chars: 0 };
    let mut ends = Walk { ..starts };
    spans
        .iter()
        .map(|&(start, end)| {
            let first = starts.begun(start).saturating_sub(usize::from(starts.is_inside(start)));
            // A span of no bytes has no characters.
            (first, if start == end { first } else { ends.begun(end) })
        })
        .collect()
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
        assert_eq!(in_characters(text, &spans), expected);
    }
}
