//! A file whose long parts are read while Python imports what will ask for them.
//!
//! Rule: whoever asks brings the bytes of the file, and gets what was found ahead only if it was found in the same
//! bytes. So nothing here changes an answer, only when it is there.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};

use jogak::vocab::Vocab;
use jogak_formats::{HEAD, Kind, LARGEST, lines, ranks, sentencepiece};
use pyo3::prelude::*;

use crate::sections::{Sections, sections};

/// Files of fewer bytes are not worth a thread.
const WORTH: u64 = 1 << 16;

thread_local! {
    /// What the thread that loads a file will ask for.
    static AHEAD: Cell<Option<JoinHandle<Option<Found>>>> = const { Cell::new(None) };
}

struct Found {
    data: Vec<u8>,
    long: Long,
}

/// The long parts of a file, by what it seems to be; None for a file that is left to others.
pub(crate) enum Long {
    Ranks(Option<Vocab>),
    Lines(Option<Vocab>),
    ModelPieces(Option<sentencepiece::Pieces>),
    Sections(Option<Sections>),
}

/// Begins to read a file, or a folder's `tokenizer.json`; with None, forgets what nobody has asked for.
#[pyfunction]
#[pyo3(signature = (path))]
pub(crate) fn read_ahead(path: Option<PathBuf>) {
    let begin = |path: PathBuf| Builder::new().spawn(move || find(path)).ok();
    AHEAD.set(path.and_then(begin));
}

/// What was found ahead in a file of these bytes.
pub(crate) fn found(py: Python<'_>, data: &[u8]) -> Option<Long> {
    let ahead = AHEAD.take()?;
    let found = py.detach(|| ahead.join()).ok()??;
    (found.data == data).then_some(found.long)
}

fn find(path: PathBuf) -> Option<Found> {
    let path = if path.is_dir() { path.join("tokenizer.json") } else { path };
    let (mut file, size) = opened(&path)?;
    let mut data = Vec::new();
    // One byte more, so that who reads sees the end without making more room.
    data.try_reserve_exact(size + 1).ok()?;
    file.by_ref().take(HEAD as u64).read_to_end(&mut data).ok()?;
    let read: fn(&[u8]) -> Long = match Kind::by_head(&data)? {
        Kind::Ranks => |data| Long::Ranks(ranks::read(data)),
        Kind::Lines => |data| Long::Lines(lines::read(data)),
        Kind::SentencePiece => |data| Long::ModelPieces(sentencepiece::pieces(data)),
        Kind::TokenizerJson => |data| Long::Sections(sections(data)),
    };
    file.take(LARGEST as u64).read_to_end(&mut data).ok()?;
    let long = read(&data);
    Some(Found { data, long })
}

/// The file and its size in bytes, if it is one and worth it. To open anything else might wait for somebody to write, or
/// take it from whoever reads it next.
fn opened(path: &Path) -> Option<(File, usize)> {
    let about = std::fs::metadata(path).ok()?;
    let worth = about.is_file() && (WORTH..=LARGEST as u64).contains(&about.len());
    worth.then(|| File::open(path).ok().map(|file| (file, about.len() as usize)))?
}
