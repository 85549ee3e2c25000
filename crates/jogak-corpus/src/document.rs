//! A block -> its documents, as text.
//!
//! Rule: every byte of a block belongs to a document that is used, to one that is skipped and counted,
//! or to what the format puts between documents.

use crate::block::{Block, Shape};
use crate::error::{Error, Problem, Result};
use crate::jsonl;
use crate::report::Report;
use crate::source::{Errors, Split};
use crate::table::{Columns, csv_reader, line_text, tsv_fields};
use memchr::{memchr_iter, memmem};

/// Where documents go.
pub(crate) trait Sink {
    fn document(&mut self, text: &str) -> jogak::Result<()>;

    /// Takes all lines of a text, each with its `\n`, as documents; false if they are better given one by
    /// one.
    fn lines(&mut self, lines: &str) -> bool {
        let _ = lines;
        false
    }
}

impl<F: FnMut(&str) -> jogak::Result<()>> Sink for F {
    fn document(&mut self, text: &str) -> jogak::Result<()> {
        self(text)
    }
}

/// Gives every document of `block` to `sink`, in order.
pub(crate) fn each(
    block: &Block,
    errors: Errors,
    report: &mut Report,
    sink: &mut impl Sink,
) -> Result<()> {
    report.bytes += block.bytes.len() as u64;
    let mut reader = Reader { block, errors, report, sink };
    match &*block.shape {
        Shape::Text(split) => reader.text(split),
        Shape::Jsonl { field } => reader.jsonl(field),
        Shape::Csv(columns) => reader.csv(columns),
        Shape::Tsv(columns) => reader.tsv(columns),
        Shape::Items(ends) => reader.items(ends),
    }
}

struct Reader<'a, S> {
    block: &'a Block,
    errors: Errors,
    report: &'a mut Report,
    sink: &'a mut S,
}

impl<S: Sink> Reader<'_, S> {
    fn text(&mut self, split: &Split) -> Result<()> {
        let block = self.block;
        // One check for all documents; only a block that fails it is checked document by document.
        let valid = simdutf8::basic::from_utf8(&block.bytes).ok();
        if let (Split::Line { keep_newline: true }, Some(text)) = (split, valid)
            && self.sink.lines(&text[block.start..])
        {
            let lines = memchr_iter(b'\n', &block.bytes[block.start..]).count() as u64;
            let unended = !block.bytes.ends_with(b"\n") && block.start < block.bytes.len();
            self.report.documents += lines + u64::from(unended);
            return Ok(());
        }
        let mut take = |start: usize, end: usize| match valid {
            Some(text) => self.give(&text[start..end], start),
            None => self.decode(&block.bytes[start..end], start),
        };
        let size = block.bytes.len();
        let mut start = block.start;
        match split {
            Split::File => {
                if start < size {
                    take(start, size)?;
                }
                return Ok(());
            }
            Split::Line { keep_newline } => {
                for end in memchr_iter(b'\n', &block.bytes) {
                    take(start, end + usize::from(*keep_newline))?;
                    start = end + 1;
                }
            }
            Split::Separator(separator) => {
                for end in memmem::find_iter(&block.bytes, separator) {
                    take(start, end)?;
                    start = end + separator.len();
                }
            }
        }
        if start < size { take(start, size) } else { Ok(()) }
    }

    fn jsonl(&mut self, field: &str) -> Result<()> {
        self.lines(|reader, line, at| {
            let decoded;
            let text = match std::str::from_utf8(line) {
                Ok(text) => text,
                Err(error) => match reader.broken(line, at, error)? {
                    Some(text) => {
                        decoded = text;
                        &decoded
                    }
                    None => return Ok(()),
                },
            };
            let value = match jsonl::field(text, field) {
                Ok(value) => value,
                Err(problem) => return reader.reject(problem, at, line.len()),
            };
            match std::str::from_utf8(&value) {
                Ok(text) => reader.give(text, at),
                Err(_) if reader.errors == Errors::Replace => {
                    let (text, replaced) = jsonl::replace_surrogates(&value);
                    reader.report.replaced += replaced;
                    reader.give(&text, at)
                }
                Err(_) => reader.reject(Problem::Surrogate, at, line.len()),
            }
        })
    }

    fn tsv(&mut self, columns: &Columns) -> Result<()> {
        self.lines(|reader, line, at| {
            let found = memchr_iter(b'\t', line).count() + 1;
            if found != columns.width {
                let problem = Problem::Columns { found, expected: columns.width };
                return reader.reject(problem, at, line.len());
            }
            let before: usize = tsv_fields(line).take(columns.index).map(|f| f.len() + 1).sum();
            let field = tsv_fields(line).nth(columns.index).unwrap_or_default();
            reader.decode(field, at + before)
        })
    }

    /// Calls `each` with every line that is not blank, without its end, and its offset.
    fn lines(&mut self, mut each: impl FnMut(&mut Self, &[u8], usize) -> Result<()>) -> Result<()> {
        let block = self.block;
        let mut at = block.start;
        let ends = memchr_iter(b'\n', &block.bytes).map(|end| end + 1);
        for end in ends.chain([block.bytes.len()]).filter(|end| *end > block.start) {
            let line = line_text(&block.bytes[at..end]);
            if !line.trim_ascii_start().is_empty() || line.contains(&b'\t') {
                each(self, line, at)?;
            }
            at = end;
        }
        Ok(())
    }

    fn csv(&mut self, columns: &Columns) -> Result<()> {
        let block = self.block;
        let mut reader = csv_reader(&block.bytes[block.start..]);
        let mut record = csv::ByteRecord::new();
        // Reading from memory with any number of columns cannot fail.
        while reader.read_byte_record(&mut record).unwrap_or(false) {
            let at = block.start + record.position().map_or(0, |place| place.byte() as usize);
            // The csv crate counts line ends before a record as part of it.
            let ends = block.bytes[at..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
            let at = at + ends.count();
            match record.get(columns.index) {
                Some(field) if record.len() == columns.width => self.decode(field, at)?,
                _ => {
                    let size = block.start + reader.position().byte() as usize - at;
                    let problem = Problem::Columns { found: record.len(), expected: columns.width };
                    self.reject(problem, at, size)?;
                }
            }
        }
        Ok(())
    }

    fn items(&mut self, ends: &[usize]) -> Result<()> {
        let block = self.block;
        let mut start = 0;
        for end in ends {
            self.decode(&block.bytes[start..*end], start)?;
            start = *end;
        }
        Ok(())
    }

    /// Uses a document that may be broken.
    fn decode(&mut self, bytes: &[u8], at: usize) -> Result<()> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.give(text, at),
            Err(error) => match self.broken(bytes, at, error)? {
                Some(text) => self.give(&text, at),
                None => Ok(()),
            },
        }
    }

    /// What is left of broken UTF-8: an error, a text with replacements, or nothing.
    #[cold]
    fn broken(
        &mut self,
        bytes: &[u8],
        at: usize,
        error: std::str::Utf8Error,
    ) -> Result<Option<String>> {
        if self.errors == Errors::Replace {
            let mut text = String::with_capacity(bytes.len());
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() {
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.report.replaced += 1;
                }
            }
            return Ok(Some(text));
        }
        let from = error.valid_up_to();
        let to = bytes.len().min(from + error.error_len().unwrap_or(4));
        let problem = Problem::Utf8 { bytes: bytes[from..to].to_vec() };
        match self.errors {
            Errors::Skip => self.reject(problem, at, bytes.len())?,
            _ => self.reject(problem, at + from, bytes.len())?,
        }
        Ok(None)
    }

    /// A document of `size` bytes that cannot be used.
    #[cold]
    fn reject(&mut self, problem: Problem, at: usize, size: usize) -> Result<()> {
        if self.errors == Errors::Skip {
            self.report.skipped_documents += 1;
            self.report.skipped_bytes += size as u64;
            return Ok(());
        }
        Err(Error::Document { place: Box::new(self.block.place(at)), problem })
    }

    #[inline]
    fn give(&mut self, text: &str, at: usize) -> Result<()> {
        self.report.documents += 1;
        self.report.empty_documents += u64::from(text.is_empty());
        self.sink
            .document(text)
            .map_err(|error| Error::Core { place: Some(Box::new(self.block.place(at))), error })
    }
}
