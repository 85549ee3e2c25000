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
use jogak_formats::{ranks, sentencepiece};
use pyo3::prelude::*;

use crate::sections::{Sections, sections};

/// Smaller files are not worth a thread, larger ones are no vocabularies; in bytes.
const SIZES: std::ops::RangeInclusive<u64> = 1 << 16..=1 << 28;
/// So many bytes tell what a file may be.
const HEAD: u64 = 1 << 10;

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
    let mut file = opened(&path)?;
    let mut data = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut data).ok()?;
    let read: fn(&[u8]) -> Long = match data.first()? {
        // jogak's own begins so, and has other parts.
        b'{' if !data.starts_with(br#"{"format""#) => |data| Long::Sections(sections(data)),
        b'\n' => |data| Long::ModelPieces(sentencepiece::pieces(data)),
        _ if is_rank(data.split(|&byte| byte == b'\n').next()?) => {
            |data| Long::Ranks(ranks::read(data))
        }
        _ => return None,
    };
    file.take(*SIZES.end()).read_to_end(&mut data).ok()?;
    let long = read(&data);
    Some(Found { data, long })
}

/// The file, if it is one and worth it. To open anything else might wait for somebody to write, or take it from whoever
/// reads it next.
fn opened(path: &Path) -> Option<File> {
    let about = std::fs::metadata(path).ok()?;
    let worth = about.is_file() && SIZES.contains(&about.len());
    worth.then(|| File::open(path).ok())?
}

/// Whether a line may be one of a rank file: a piece, a space and a number.
fn is_rank(line: &[u8]) -> bool {
    let mut parts = line.split(|&byte| byte == b' ');
    let (_, rank) = (parts.next(), parts.next());
    rank.is_some_and(|rank| rank.first().is_some_and(u8::is_ascii_digit)) && parts.next().is_none()
}
