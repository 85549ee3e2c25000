//! Blocks: pieces of a corpus that end where a document ends.
//!
//! Rule: a border is where it would be if the file were one block. A document larger than a block
//! makes its block grow.

use crate::count::Progress;
use crate::error::{Error, Place, Result};
use crate::input::{self, Stream};
use crate::source::{Format, Source, Split};
use crate::table::{Columns, CsvBorders};
use memchr::{memchr_iter, memmem, memrchr};
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

/// Whole documents, and where they stand.
pub(crate) struct Block {
    /// Number in the corpus, from 0.
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
    /// Where the documents start in `bytes`: behind a header or a byte order mark.
    pub(crate) start: usize,
    pub(crate) shape: Arc<Shape>,
    pub(crate) place: Place,
}

impl Block {
    /// The place of byte `at` of this block.
    pub(crate) fn place(&self, at: usize) -> Place {
        if let Shape::Items(ends) = &*self.shape {
            let item = ends.partition_point(|end| *end <= at);
            let start = item.checked_sub(1).map_or(0, |before| ends[before]);
            let document = self.place.document.map(|first| first + item as u64);
            return Place { document, byte: (at - start) as u64, ..self.place.clone() };
        }
        let lines = memchr_iter(b'\n', &self.bytes[..at.min(self.bytes.len())]).count() as u64;
        Place {
            line: self.place.line.map(|line| line + lines),
            byte: self.place.byte + at as u64,
            ..self.place.clone()
        }
    }
}

/// How documents stand in a block.
pub(crate) enum Shape {
    Text(Split),
    Jsonl {
        field: String,
    },
    Csv(Columns),
    Tsv(Columns),
    /// Documents from memory: where each ends.
    Items(Vec<usize>),
}

/// Where blocks come from. Asked by all threads.
pub(crate) trait Supply: Sync {
    /// The next block, in place of `spare`, whose memory may be used again. None at the end.
    ///
    /// An error comes with the number of the block that it stands for, and once: behind it is the end.
    fn next(&self, spare: Vec<u8>) -> std::result::Result<Option<Block>, (u64, Error)>;
    /// Files that were opened so far.
    fn files(&self) -> u64;
    /// Says that no block is wanted any more, to who waits for one.
    fn end(&self) {}
}

/// Blocks from files, one after the other.
pub(crate) struct Files {
    state: Mutex<State>,
    block_size: usize,
    progress: Arc<Progress>,
}

struct State {
    sources: std::vec::IntoIter<Source>,
    open: Option<Reader>,
    /// Number of the next block.
    number: u64,
    files: u64,
}

impl Files {
    pub(crate) fn new(sources: Vec<Source>, block_size: usize, progress: Arc<Progress>) -> Self {
        let sources = sources.into_iter();
        let state = Mutex::new(State { sources, open: None, number: 0, files: 0 });
        Self { state, block_size: block_size.max(1), progress }
    }
}

impl State {
    /// Nothing comes behind an error: another thread would take what follows for the beginning of a file, and tell of that.
    fn end(&mut self, error: Error) -> Error {
        (self.open, self.sources) = (None, Vec::new().into_iter());
        error
    }
}

impl Supply for Files {
    fn next(&self, mut spare: Vec<u8>) -> std::result::Result<Option<Block>, (u64, Error)> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *guard;
        loop {
            let number = state.number;
            let reader = match &mut state.open {
                Some(reader) => reader,
                None => {
                    let Some(source) = state.sources.next() else { return Ok(None) };
                    state.files += 1;
                    match Reader::open(source, &self.progress) {
                        Ok(reader) => state.open.insert(reader),
                        Err(error) => return Err((number, state.end(error))),
                    }
                }
            };
            match reader.next(spare, number, self.block_size) {
                Ok(Some(block)) => {
                    state.number += 1;
                    return Ok(Some(block));
                }
                Ok(None) => {
                    state.open = None;
                    spare = Vec::new();
                }
                Err(error) => return Err((number, state.end(error))),
            }
        }
    }

    fn files(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).files
    }
}

/// One open file.
struct Reader {
    name: String,
    stream: Stream,
    format: Arc<Format>,
    /// Known behind the first block; a table's header stands in it.
    shape: Option<Arc<Shape>>,
    /// Bytes behind the last border.
    carry: Vec<u8>,
    /// Of the first byte of `carry`.
    byte: u64,
    line: u64,
    ended: bool,
    /// Why the rest cannot be read; told when the documents before it have been handed out.
    failure: Option<Error>,
}

impl Reader {
    fn open(source: Source, progress: &Arc<Progress>) -> Result<Self> {
        let Source { name, input, format } = source;
        let stream = input::open(input, &name, progress)?;
        Ok(Self {
            name,
            stream,
            format: Arc::new(format),
            shape: None,
            carry: Vec::new(),
            byte: 0,
            line: 1,
            ended: false,
            failure: None,
        })
    }

    fn next(&mut self, mut bytes: Vec<u8>, number: u64, size: usize) -> Result<Option<Block>> {
        bytes.clear();
        if bytes.capacity() > size.saturating_mul(4) {
            // Behind a document of unusual size its room is given back.
            bytes = Vec::new();
        }
        bytes.append(&mut self.carry);
        let mut target = size.max(bytes.len());
        let format = Arc::clone(&self.format);
        let mut borders = Borders::of(&format);
        loop {
            if self.failure.is_none() {
                self.failure = self.fill(&mut bytes, target).err();
            }
            let border = if self.ended { bytes.len() } else { borders.last(&bytes) };
            if border > 0 {
                self.carry.extend_from_slice(&bytes[border..]);
                bytes.truncate(border);
                return self.block(bytes, number).map(Some);
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.ended {
                return Ok(None);
            }
            target = bytes.len().saturating_mul(2);
        }
    }

    /// Reads until `bytes` has `target` bytes or the file ends.
    fn fill(&mut self, bytes: &mut Vec<u8>, target: usize) -> Result<()> {
        let missing = target.saturating_sub(bytes.len());
        if self.ended || missing == 0 {
            return Ok(());
        }
        bytes.reserve_exact(missing);
        let read = self.stream.bytes.by_ref().take(missing as u64).read_to_end(bytes);
        let read = read.map_err(|reason| Error::Read {
            file: self.name.clone(),
            byte: self.byte + bytes.len() as u64,
            compression: self.stream.compression,
            reason,
        })?;
        self.ended = read < missing;
        Ok(())
    }

    fn block(&mut self, bytes: Vec<u8>, number: u64) -> Result<Block> {
        let file = Some(self.name.clone());
        let place = Place { file, document: None, line: Some(self.line), byte: self.byte };
        let mut start = 0;
        let shape = match &self.shape {
            Some(shape) => Arc::clone(shape),
            None => {
                if !matches!(*self.format, Format::Text(_))
                    && bytes.starts_with("\u{feff}".as_bytes())
                {
                    start = 3;
                }
                let at_header =
                    |problem| Error::Document { place: Box::new(place.clone()), problem };
                let shape = Arc::new(match &*self.format {
                    Format::Text(split) => Shape::Text(split.clone()),
                    Format::Jsonl { field } => Shape::Jsonl { field: field.clone() },
                    Format::Csv { column } => {
                        let (columns, size) =
                            Columns::csv(&bytes[start..], column).map_err(at_header)?;
                        start += size;
                        Shape::Csv(columns)
                    }
                    Format::Tsv { column } => {
                        let (columns, size) =
                            Columns::tsv(&bytes[start..], column).map_err(at_header)?;
                        start += size;
                        Shape::Tsv(columns)
                    }
                });
                self.shape = Some(Arc::clone(&shape));
                shape
            }
        };
        self.byte += bytes.len() as u64;
        self.line += memchr_iter(b'\n', &bytes).count() as u64;
        Ok(Block { number, bytes, start, shape, place })
    }
}

/// Finds the last border of documents in bytes that start at a border and grow at the end.
enum Borders<'a> {
    /// Behind a line end. `seen`: bytes that were searched and have none.
    Line { seen: usize },
    /// Only at the end of the file.
    End,
    /// Behind a separator; separators do not overlap, the leftmost counts.
    Separator { finder: Box<memmem::Finder<'a>>, last: usize, seen: usize },
    /// Behind a line end that stands in no quotes.
    Csv(CsvBorders),
}

impl<'a> Borders<'a> {
    fn of(format: &'a Format) -> Self {
        match format {
            Format::Text(Split::File) => Borders::End,
            Format::Text(Split::Separator(text)) => {
                Borders::Separator { finder: Box::new(memmem::Finder::new(text)), last: 0, seen: 0 }
            }
            Format::Csv { .. } => Borders::Csv(CsvBorders::default()),
            _ => Borders::Line { seen: 0 },
        }
    }

    /// The end of the last whole document, 0 if there is none.
    fn last(&mut self, bytes: &[u8]) -> usize {
        match self {
            Borders::Line { seen } => {
                let found = memrchr(b'\n', &bytes[*seen..]).map_or(0, |at| *seen + at + 1);
                *seen = bytes.len();
                found
            }
            Borders::End => 0,
            Borders::Separator { finder, last, seen } => {
                let size = finder.needle().len();
                while let Some(at) = finder.find(&bytes[*seen..]) {
                    *last = *seen + at + size;
                    *seen = *last;
                }
                // A separator may have begun in the last bytes.
                *seen = (*last).max((bytes.len() + 1).saturating_sub(size));
                *last
            }
            Borders::Csv(borders) => borders.last(bytes),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;
    use crate::source::Input;
    use std::io::Cursor;

    fn source(name: &str, text: &str, format: Format) -> Source {
        let input = Input::Stream(Box::new(Cursor::new(text.as_bytes().to_vec())));
        Source { name: name.into(), input, format }
    }

    /// Whichever thread asks next, an error is that of the first thing that is wrong.
    #[test]
    fn an_error_is_the_end() {
        let table = || Format::Tsv { column: "c".into() };
        let missing = || {
            let input = Input::Path("/no/such/file".into());
            Source { name: "missing".into(), input, format: Format::Text(Split::File) }
        };
        let texts = "a\tb\n1\t2\n3\t4\n";
        for sources in [
            vec![source("first", texts, table()), source("second", texts, table())],
            vec![missing(), source("second", "text", Format::Text(Split::File))],
        ] {
            let name = sources[0].name.clone();
            let files = Files::new(sources, 5, Arc::default());
            let (number, error) = files.next(Vec::new()).err().unwrap();
            assert!(number == 0 && error.to_string().contains(&name), "{number}: {error}");
            for _ in 0..3 {
                assert!(files.next(Vec::new()).unwrap().is_none());
            }
        }
    }
}
