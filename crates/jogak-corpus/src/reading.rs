//! Documents of files as they are, some at a time and in order.
//!
//! Rule: a reader holds one block and the documents it hands out, however large the corpus is. What
//! stands before a document that cannot be read is handed out before its error is told.

use jogak::added::Input;
use jogak::pipeline::{Stretch, Text};
use jogak::utf8::Room;

use crate::block::{Files, Supply};
use crate::count::Progress;
use crate::document;
use crate::error::{Error, Result};
use crate::report::Report;
use crate::source::{Errors, Source};
use std::sync::Arc;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 17;
/// What is expected of what does not say its size, in bytes.
const USUAL: usize = 1 << 24;
/// A portion has no more documents, but for those of a block.
const MOST: usize = 1 << 20;

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
}

impl Stretch for Texts {
    fn texts<'s>(
        &'s self,
        _room: &'s mut Room,
        _stay: impl Fn(&[u32]) -> Option<usize>,
    ) -> std::result::Result<impl Iterator<Item = Text<'s>>, (usize, jogak::Error)> {
        Ok(self.iter().map(Input::from).map(Text::from))
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> usize {
        self.text.len()
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
/// let texts: Vec<Texts> = documents.portion(1 << 20).collect::<Result<_, _>>()?;
/// assert_eq!(texts[0].iter().collect::<Vec<_>>(), ["low", "lower"]);
/// assert!(documents.portion(1 << 20).next().is_none());
/// # Ok::<(), jogak_corpus::Error>(())
/// ```
pub struct Documents {
    files: Files,
    errors: Errors,
    progress: Arc<Progress>,
    report: Report,
    spare: Vec<u8>,
    /// Room for documents.
    empty: Vec<Texts>,
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
            empty: Vec::new(),
            failure: None,
            ended: false,
        }
    }

    /// The next documents, block by block: until they have `bytes` bytes, or a block more. Nothing at the end.
    ///
    /// A file or a document that cannot be read is an error of the portion that begins there; after that, the end.
    pub fn portion(&mut self, bytes: usize) -> impl Iterator<Item = Result<Texts>> {
        let (mut left, mut count) = (bytes, 0);
        std::iter::from_fn(move || {
            if left == 0 || count >= MOST {
                return None;
            }
            let mut texts = self.empty.pop().unwrap_or_default();
            while !self.ended && texts.is_empty() {
                if let Err(error) = self.block(&mut texts) {
                    self.failure = Some(error);
                    self.ended = true;
                }
            }
            if texts.is_empty() {
                // What stands before an error goes first.
                return self.failure.take_if(|_| count == 0).map(Err);
            }
            left = left.saturating_sub(texts.bytes());
            count += texts.len();
            Some(Ok(texts))
        })
    }

    /// About how many bytes the next documents have that are `most` together, by the sizes of the files; no more than
    /// [`USUAL`] where these are not known.
    #[must_use]
    pub fn ahead(&self, most: usize) -> usize {
        let left = |total: u64| total.saturating_sub(self.progress.done());
        let left = self.progress.total().map(left).and_then(|left| usize::try_from(left).ok());
        most.min(left.unwrap_or(USUAL))
    }

    /// Takes documents that nobody needs any more, for their memory.
    pub fn take_back(&mut self, texts: Vec<Texts>) {
        self.empty = texts;
        self.empty.iter_mut().for_each(|Texts { text, ends }| {
            text.clear();
            ends.clear();
        });
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
