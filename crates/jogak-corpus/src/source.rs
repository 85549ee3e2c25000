//! What a corpus is made of, as the caller says it.

use std::io::Read;
use std::path::PathBuf;

/// One file or stream of a corpus.
pub struct Source {
    /// How errors call it.
    pub name: String,
    /// Where its bytes come from. Compression (gzip, zstd) is seen in the first bytes.
    pub input: Input,
    /// How documents stand in it.
    pub format: Format,
}

/// Where bytes come from.
pub enum Input {
    /// A file.
    Path(PathBuf),
    /// The standard input of the process.
    Stdin,
    /// Anything else that can be read.
    Stream(Box<dyn Read + Send>),
}

/// How documents stand in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// Plain text.
    Text(Split),
    /// One JSON object per line; the document is the text of one field. Blank lines are no documents.
    Jsonl {
        /// Name of the field.
        field: String,
    },
    /// Records with commas and quotes (RFC 4180), a header first; the document is one column.
    Csv {
        /// Name of the column.
        column: String,
    },
    /// Lines with tabs, a header first; the document is one column. There are no quotes: a `"` is a
    /// character like any other, and a field cannot hold a tab or a line end.
    Tsv {
        /// Name of the column.
        column: String,
    },
}

/// How plain text falls into documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// Every line is a document. A line ends behind `\n` and nowhere else.
    Line {
        /// Whether the `\n` is part of the document. (A `\r` before it always is.)
        keep_newline: bool,
    },
    /// The whole file is one document.
    File,
    /// A text stands between documents and belongs to none of them. It is not empty. Nothing behind
    /// the last one is no document.
    Separator(String),
}

/// What to do about a document that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// Stop with an error that names the place.
    Strict,
    /// Broken UTF-8 becomes U+FFFD, one for every maximal part of a character, as Python's
    /// `errors="replace"` does. Anything else is an error.
    Replace,
    /// Leave the document out and count it in the report.
    Skip,
}
