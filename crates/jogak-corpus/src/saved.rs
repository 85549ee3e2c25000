//! Counts as a file.
//!
//! Rule: the same words, counts, order and note give the same bytes. A file from a stranger is read in
//! steady steps: nothing is allocated because a number in it says so, and what is wrong is told with its
//! line.
//!
//! The file is UTF-8 text with `\n` behind every line. The first line is a JSON object:
//!
//! ```text
//! {"jogak":"counts","version":2,"normalizer":[],"pretokenizer":...,"order":"canonical","words":2,"total":11}
//! 6<tab>"newest"
//! 5<tab>"low"
//! ```
//!
//! Then every word has a line: its count, a tab, the word as a JSON text (only `"`, `\` and control
//! characters are escaped). `order` is `canonical` (count descending, then bytes ascending) or
//! `first-seen`; `words` and `total` tell a whole file from one that was cut off.

use jogak::count::{Counter, Counts, Order};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const VERSION: u64 = 2;
/// A header is short; a longer first line is another kind of file.
const HEADER_LIMIT: u64 = 1 << 20;

/// How text became words, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Front {
    /// How it was rewritten: a list of objects.
    pub normalizer: String,
    /// How it was cut: a list of objects, or null.
    pub pretokenizer: String,
}

/// Why counts cannot be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The system's words.
    Io(io::Error),
    /// The file is not what it should be.
    Format {
        /// Where: `line 3`.
        place: String,
        /// What was found and what was expected.
        message: String,
    },
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes counts to `path`, whole or not at all: to a file beside it, which then takes its name.
/// `front` says how text became words.
///
/// # Errors
/// What the system says; a file that was there before is then untouched.
pub fn save(counts: &Counts, front: &Front, path: &Path) -> io::Result<()> {
    // A link stays a link: the file that it points at is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (partial, file) = create_beside(&path)?;
    let written = write(counts, front, &file)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&partial, &path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
    }
    written?;
    // The new name itself is safe once its folder is; not every system can say so.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A new file in the folder of `path`, with a name of its own.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let mut number = 0;
    loop {
        let mut partial = std::ffi::OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}-{number}.partial", std::process::id()));
        let partial = path.with_file_name(partial);
        match OpenOptions::new().write(true).create_new(true).open(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1
            }
            file => return Ok((partial, file?)),
        }
    }
}

fn write(counts: &Counts, front: &Front, file: &File) -> io::Result<()> {
    let order = if counts.keeps_order() && !counts.is_empty() { "first-seen" } else { "canonical" };
    let Front { normalizer, pretokenizer } = front;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    writeln!(
        out,
        "{{\"jogak\":\"counts\",\"version\":{VERSION},\"normalizer\":{normalizer},\"pretokenizer\":{pretokenizer},\
         \"order\":\"{order}\",\"words\":{},\"total\":{}}}",
        counts.len(),
        counts.total()
    )?;
    for (word, count) in counts.inventory(Order::FirstSeen, 1).iter() {
        write!(out, "{count}\t")?;
        // Words come from text.
        let word = std::str::from_utf8(word).map_err(io::Error::other)?;
        serde_json::to_writer(&mut out, word)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Reads what [`save`] wrote, and what version 1 wrote, which knew no normalizers.
///
/// # Errors
/// [`LoadError::Format`] for anything that [`save`] would not have written.
pub fn load(path: &Path) -> Result<(Counts, Front), LoadError> {
    let mut input = BufReader::with_capacity(1 << 18, File::open(path)?);
    let mut line = Vec::new();
    input.by_ref().take(HEADER_LIMIT).read_until(b'\n', &mut line)?;
    let header = Header::parse(&line).map_err(|message| wrong(1, message))?;

    let mut counter = Counter::new(header.first_seen);
    let mut before: Option<(u64, String)> = None;
    let mut words = 0_u64;
    loop {
        let number = words + 2;
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let (count, word) = parse_line(&line).map_err(|message| wrong(number, message))?;
        if let Some((last_count, last)) = before.take_if(|_| !header.first_seen) {
            let sorted =
                last_count > count || (last_count == count && last.as_str() < word.as_str());
            if !sorted {
                return Err(wrong(number, format!("{word:?} is out of order behind {last:?}")));
            }
        }
        counter
            .add_many(word.as_bytes(), count, words)
            .map_err(|error| wrong(number, error.to_string()))?;
        before = Some((count, word));
        words += 1;
    }
    let end = words + 2;
    let counts =
        Counts::from_counters(vec![counter], 1).map_err(|error| wrong(end, error.to_string()))?;
    let (distinct, total) = (counts.len() as u64, counts.total());
    if distinct != words {
        return Err(wrong(end, format!("{} words stand twice", words - distinct)));
    }
    if (words, total) != (header.words, header.total) {
        let message = format!(
            "the file ends with {words} words and {total} in all, but line 1 promises {} and {}; it was \
             cut off or changed",
            header.words, header.total
        );
        return Err(wrong(end, message));
    }
    Ok((counts, header.front))
}

fn wrong(line: u64, message: String) -> LoadError {
    LoadError::Format { place: format!("line {line}"), message }
}

/// The first line.
struct Header {
    front: Front,
    first_seen: bool,
    words: u64,
    total: u64,
}

impl Header {
    fn parse(line: &[u8]) -> Result<Self, String> {
        const EXPECTED: &str =
            "not a file of counts; expected {\"jogak\":\"counts\",...} on line 1";
        let header: Value = serde_json::from_slice(line).map_err(|_| EXPECTED.to_string())?;
        if header["jogak"] != "counts" {
            return Err(EXPECTED.into());
        }
        if header["version"] != 1 && header["version"] != VERSION {
            return Err(format!(
                "version {} of the format; this jogak reads versions 1 to {VERSION}: update jogak, or count again",
                header["version"]
            ));
        }
        let number = |name: &str| {
            let found = &header[name];
            found.as_u64().ok_or_else(|| format!("{name} is {found}; expected a whole number"))
        };
        let first_seen = match header["order"].as_str() {
            Some("canonical") => false,
            Some("first-seen") => true,
            _ => {
                let found = &header["order"];
                return Err(format!("order is {found}; expected \"canonical\" or \"first-seen\""));
            }
        };
        let pretokenizer = &header["pretokenizer"];
        let listed = pretokenizer.as_array().is_some_and(|list| list.iter().all(Value::is_object));
        let null = header.get("pretokenizer").is_some_and(Value::is_null);
        if !(listed || null) {
            return Err(format!(
                "pretokenizer is {pretokenizer}; expected a list of objects, or null"
            ));
        }
        let normalizer = match &header["normalizer"] {
            Value::Null if header["version"] == 1 => "[]".to_owned(),
            Value::Array(list) if list.iter().all(Value::is_object) => {
                header["normalizer"].to_string()
            }
            found => return Err(format!("normalizer is {found}; expected a list of objects")),
        };
        Ok(Self {
            front: Front { normalizer, pretokenizer: pretokenizer.to_string() },
            first_seen,
            words: number("words")?,
            total: number("total")?,
        })
    }
}

/// One word with its count; only in the one form that `write` gives it.
fn parse_line(line: &[u8]) -> Result<(u64, String), String> {
    let expected = || "expected a count, a tab, and a word as a JSON text".to_string();
    let line = line.strip_suffix(b"\n").ok_or("the line is cut off")?;
    let line = std::str::from_utf8(line).map_err(|error| format!("broken UTF-8: {error}"))?;
    let (number, text) = line.split_once('\t').ok_or_else(expected)?;
    let count: u64 = number.parse().map_err(|_| expected())?;
    let word: String = serde_json::from_str(text).map_err(|_| expected())?;
    if count == 0 || count.to_string() != number {
        return Err(format!("the count is {number}; expected a whole number from 1 to 2^64 - 1"));
    }
    if word.is_empty() || serde_json::to_string(&word).ok().as_deref() != Some(text) {
        return Err(format!(
            "the word is written as {text}; expected the form that saving gives it"
        ));
    }
    Ok((count, word))
}
