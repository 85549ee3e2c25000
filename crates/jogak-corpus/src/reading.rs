//! Documents of files as they are, some at a time and in order.
//!
//! Rule: a reader holds one block and the documents it hands out, however large the corpus is. What
//! stands before a document that cannot be read is handed out before its error is told.

use crate::block::{Files, Supply};
use crate::count::Progress;
use crate::document;
use crate::error::{Error, Result};
use crate::report::Report;
use crate::source::{Errors, Source};
use std::sync::Arc;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 18;

/// Some documents, one behind the other.
#[derive(Debug, Default, Clone)]
pub struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The documents, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// Reads the documents of files.
///
/// ```
/// use jogak_corpus::{Documents, Errors, Format, Input, Source, Split, Texts};
///
/// let input = Input::Stream(Box::new("low\nlower\n".as_bytes()));
/// let format = Format::Text(Split::Line { keep_newline: false });
/// let mut documents = Documents::new(vec![Source { name: "a".into(), input, format }], Errors::Strict);
/// let mut texts = Texts::default();
/// assert!(documents.next(1 << 20, &mut texts)?);
/// assert_eq!(texts.iter().collect::<Vec<_>>(), ["low", "lower"]);
/// assert!(!documents.next(1 << 20, &mut texts)?);
/// # Ok::<(), jogak_corpus::Error>(())
/// ```
pub struct Documents {
    files: Files,
    errors: Errors,
    progress: Arc<Progress>,
    report: Report,
    spare: Vec<u8>,
    /// Told when what stands before it has been handed out; then it is the end.
    failure: Option<Error>,
    ended: bool,
}

impl Documents {
    /// A reader of these files. None is opened before it is needed.
    #[must_use]
    pub fn new(sources: Vec<Source>, errors: Errors) -> Self {
        let progress = Arc::new(Progress::over(&sources));
        Self {
            files: Files::new(sources, BLOCK, Arc::clone(&progress)),
            errors,
            progress,
            report: Report::default(),
            spare: Vec::new(),
            failure: None,
            ended: false,
        }
    }

    /// Puts the next documents in the place of what `texts` holds: until they have `bytes` bytes, or a
    /// block more. False at the end.
    ///
    /// # Errors
    /// A file or a document that cannot be read; after that, the end.
    pub fn next(&mut self, bytes: usize, texts: &mut Texts) -> Result<bool> {
        texts.clear();
        while !self.ended && texts.text.len() < bytes && texts.len() < 1 << 20 {
            if let Err(error) = self.block(texts) {
                self.failure = Some(error);
                self.ended = true;
            }
        }
        if !texts.is_empty() {
            return Ok(true);
        }
        self.failure.take().map_or(Ok(false), Err)
    }

    /// Adds the documents of the next block.
    fn block(&mut self, texts: &mut Texts) -> Result<()> {
        let spare = std::mem::take(&mut self.spare);
        let Some(block) = self.files.next(spare).map_err(|(_, error)| error)? else {
            self.ended = true;
            return Ok(());
        };
        document::each(&block, self.errors, &mut self.report, &mut |text: &str| {
            texts.text.push_str(text);
            texts.ends.push(texts.text.len());
            Ok(())
        })?;
        self.spare = block.bytes;
        Ok(())
    }

    /// What was read and what was left out so far.
    #[must_use]
    pub fn report(&self) -> Report {
        Report { files: self.files.files(), ..self.report }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}
