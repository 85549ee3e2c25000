//! Everything that can go wrong with a corpus.
//!
//! Rule: an error names the place; its text says what was found, what was expected and what to do.

use std::fmt;

/// The result of reading a corpus.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug)]
pub enum Error {
    /// A file cannot be opened or read.
    Read {
        /// The file.
        file: String,
        /// Byte offset (decompressed) up to which it could be read.
        byte: u64,
        /// The compression, if it is compressed.
        compression: Option<&'static str>,
        /// The system's or the decompressor's words.
        reason: std::io::Error,
    },
    /// A document cannot be read as asked.
    Document {
        /// Where it is.
        place: Box<Place>,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The core could not cut or count.
    Core {
        /// The block's first document, where it can be told.
        place: Option<Box<Place>>,
        /// What it said.
        error: jogak::Error,
    },
    /// No thread could be started.
    Threads {
        /// The system's words.
        reason: std::io::Error,
    },
    /// The caller stopped the run.
    Cancelled,
}

/// A place in a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file; None for documents from memory.
    pub file: Option<String>,
    /// Number of the document, from 0; only for documents from memory.
    pub document: Option<u64>,
    /// Number of the line, from 1; None for documents from memory.
    pub line: Option<u64>,
    /// Byte offset in the decompressed file, or in the document from memory.
    pub byte: u64,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Bytes that are no UTF-8.
    Utf8 {
        /// The first bytes that are not, at most four.
        bytes: Vec<u8>,
    },
    /// A JSON text with half of a surrogate pair.
    Surrogate,
    /// A line that is no JSON object, or whose field is no text.
    Json {
        /// The parser's words.
        reason: String,
    },
    /// A JSON object without the field.
    NoField {
        /// The field that was asked for.
        field: String,
        /// The fields that are there.
        found: Vec<String>,
    },
    /// A table without the column.
    NoColumn {
        /// The column that was asked for.
        column: String,
        /// The columns that are there.
        found: Vec<String>,
    },
    /// A record with more or fewer fields than the header.
    Columns {
        /// Fields of the record.
        found: usize,
        /// Fields of the header.
        expected: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}, ")?;
        }
        if let Some(document) = self.document {
            write!(f, "document {document}, ")?;
        }
        if let Some(line) = self.line {
            write!(f, "line {line}, ")?;
        }
        write!(f, "byte {}", self.byte)
    }
}

const SKIP: &str = "mend it, or leave such documents out with errors=\"skip\"";

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Utf8 { bytes } => {
                f.write_str("broken UTF-8 (")?;
                for (i, byte) in bytes.iter().enumerate() {
                    write!(f, "{}{byte:02x}", if i == 0 { "" } else { " " })?;
                }
                f.write_str(
                    "); convert the text to UTF-8, or choose errors=\"replace\" (put U+FFFD there) or \
                     errors=\"skip\" (leave the document out)",
                )
            }
            Problem::Surrogate => f.write_str(
                "half of a surrogate pair, which is no character; choose errors=\"replace\" (put \
                 U+FFFD there) or errors=\"skip\" (leave the document out)",
            ),
            Problem::Json { reason } => {
                write!(
                    f,
                    "expected one JSON object per line with the document as a text: {reason}; {SKIP}"
                )
            }
            Problem::NoField { field, found } => {
                write!(f, "no field {field:?}; found {}; {SKIP}", names(found))
            }
            Problem::NoColumn { column, found } => {
                write!(
                    f,
                    "no column {column:?}; the header has {}; name one of these",
                    names(found)
                )
            }
            Problem::Columns { found, expected } => {
                write!(f, "{found} columns where the header has {expected}; {SKIP}")
            }
        }
    }
}

/// At most ten names, quoted.
fn names(found: &[String]) -> String {
    if found.is_empty() {
        return "none".into();
    }
    let mut text: Vec<String> = found.iter().take(10).map(|name| format!("{name:?}")).collect();
    if found.len() > 10 {
        text.push(format!("{} more", found.len() - 10));
    }
    text.join(", ")
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read { file, byte, compression: Some(kind), reason } => write!(
                f,
                "{file}: the {kind} data is cut off or damaged behind byte {byte} of the text ({reason}); \
                 fetch or compress the file again"
            ),
            Error::Read { file, reason, .. } => write!(f, "{file}: cannot be read: {reason}"),
            Error::Document { place, problem } => write!(f, "{place}: {problem}"),
            Error::Core { place: Some(place), error } => {
                write!(f, "in the text from {place}: {error}")
            }
            Error::Core { place: None, error } => write!(f, "{error}"),
            Error::Threads { reason } => write!(
                f,
                "the system gives no thread to count on ({reason}); raise its limit of threads or memory, or \
                 end other programs, and try again"
            ),
            Error::Cancelled => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {}
