//! Tables: which column, and where a record of a `.csv` ends.
//!
//! Rule: quotes mean what the csv crate says they mean; a `.tsv` has none.

use crate::error::Problem;
use memchr::memchr;

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    /// Which field is the document, from 0.
    pub(crate) index: usize,
    /// How many fields a record has.
    pub(crate) width: usize,
}

impl Columns {
    /// Reads the header at the front of a `.csv`. Returns its size in bytes too.
    pub(crate) fn csv(bytes: &[u8], column: &str) -> Result<(Self, usize), Problem> {
        let mut reader = csv_reader(bytes);
        let mut header = csv::ByteRecord::new();
        // Reading from memory with any number of columns cannot fail.
        let _ = reader.read_byte_record(&mut header);
        let size = reader.position().byte() as usize;
        Ok((Self::find(header.iter(), column)?, size))
    }

    /// Reads the header at the front of a `.tsv`. Returns its size in bytes too.
    pub(crate) fn tsv(bytes: &[u8], column: &str) -> Result<(Self, usize), Problem> {
        let size = memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
        Ok((Self::find(tsv_fields(line_text(&bytes[..size])), column)?, size))
    }

    fn find<'a>(names: impl Iterator<Item = &'a [u8]>, column: &str) -> Result<Self, Problem> {
        let names: Vec<&[u8]> = names.collect();
        let index = names.iter().position(|name| *name == column.as_bytes());
        let index = index.ok_or_else(|| Problem::NoColumn {
            column: column.into(),
            found: names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        })?;
        Ok(Self { index, width: names.len() })
    }
}

/// A reader of records without a header, of any number of columns.
pub(crate) fn csv_reader(bytes: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes)
}

/// A line without its end.
pub(crate) fn line_text(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The fields of a line.
pub(crate) fn tsv_fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b'\t')
}

/// Follows quotes through a `.csv` to tell which line ends are ends of records.
#[derive(Default)]
pub(crate) struct CsvBorders {
    state: State,
    /// Bytes that were read.
    seen: usize,
    /// The end of the last whole record.
    last: usize,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum State {
    /// At the first byte of a field.
    #[default]
    Start,
    /// In a field without quotes, or behind its closing quote: a quote is a character.
    Plain,
    /// Between quotes.
    Quoted,
    /// Behind a quote between quotes: the closing one, or the first of two that mean one.
    Quote,
}

impl CsvBorders {
    /// The end of the last whole record in `bytes`, which start with those of the call before.
    pub(crate) fn last(&mut self, bytes: &[u8]) -> usize {
        let mut at = self.seen;
        while at < bytes.len() {
            let byte = bytes[at];
            at += 1;
            self.state = match (self.state, byte) {
                (State::Quoted, b'"') => State::Quote,
                (State::Quoted, _) => {
                    at = memchr(b'"', &bytes[at..]).map_or(bytes.len(), |found| at + found);
                    State::Quoted
                }
                (State::Start, b'"') | (State::Quote, b'"') => State::Quoted,
                (_, b',') => State::Start,
                (_, b'\n' | b'\r') => {
                    self.last = at;
                    State::Start
                }
                _ => State::Plain,
            };
        }
        self.seen = at;
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cutting at any border that was found gives the records of the whole, for every text over the
    /// characters that matter.
    #[test]
    fn borders_agree_with_the_csv_crate() {
        let letters = [b'a', b',', b'"', b'\n', b'\r'];
        for code in 0..5_usize.pow(5) {
            let text: Vec<u8> = (0..5).map(|i| letters[code / 5_usize.pow(i) % 5]).collect();
            let records = |bytes: &[u8]| -> Vec<csv::ByteRecord> {
                csv_reader(bytes).into_byte_records().map_while(Result::ok).collect()
            };
            for size in 1..text.len() {
                let mut borders = CsvBorders::default();
                borders.last(&text[..size - 1]);
                let border = borders.last(&text[..size]);
                let mut parts = records(&text[..border]);
                parts.extend(records(&text[border..]));
                assert_eq!(
                    parts,
                    records(&text),
                    "{:?} cut at {border}",
                    String::from_utf8_lossy(&text)
                );
            }
        }
    }
}
