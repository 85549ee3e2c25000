//! Corpora: from names of files to documents, as they are or their words counted on all cores.
//!
//! ```text
//! Source -> Input (gzip, zstd, plain) -> blocks cut at document borders -> documents -> words -> Counts
//!           one thread at a time, under a lock                            all threads
//! ```
//!
//! Rule: what comes out depends on the corpus and the options alone. Neither the number of threads nor
//! the size of a block can be seen in the counts, the report or the error: when several documents are
//! wrong, the first one in the corpus is told.
//!
//! Memory is steady: every thread holds one block (its largest document, if that is larger) and its
//! table of words. Files are read, not mapped: mapped pages count as memory too. There is no thread
//! that reads: whoever needs a block takes the lock and reads the next one, so that nothing queues up.
//!
//! Left out: finding files (folders and patterns are the caller's), and encodings other than UTF-8.

mod block;
mod count;
mod document;
mod error;
mod feed;
mod input;
mod jsonl;
mod reading;
mod report;
mod saved;
mod source;
mod table;

pub use count::{MOST_THREADS, Options, Progress, count_documents, count_sources};
pub use error::{Error, Place, Problem, Result};
pub use feed::Batch;
pub use reading::{Documents, Texts};
pub use report::Report;
pub use saved::{Front, LoadError, load, save};
pub use source::{Errors, Format, Input, Source, Split};
