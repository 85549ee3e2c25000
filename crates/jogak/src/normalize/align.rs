//! Where a new text came from: for each of its bytes, the bytes of the old text that it stands for.
//!
//! Rule: kept only when somebody asks. A normalizer writes into a [`Sink`]; a plain string is one that
//! forgets where things came from, and costs nothing more.

/// What a normalizer writes its text to, from left to right.
pub(crate) trait Sink {
    /// Bytes `start..end` of `source` stay as they are.
    #[inline]
    fn keep(&mut self, source: &str, start: usize, end: usize) {
        self.copy(&source[start..end], start);
    }

    /// The same, of what is one thing, rather than one character after the other.
    #[inline]
    fn keep_whole(&mut self, source: &str, start: usize, end: usize) {
        self.keep(source, start, end);
    }

    /// `text` stands in the source from byte `start` on.
    fn copy(&mut self, text: &str, start: usize);

    /// `text` stands for the bytes `start..end` of the source; none, if it was put in.
    fn write(&mut self, text: &str, start: usize, end: usize);

    /// As [`Sink::write`]; Hugging Face's library has it that `text` begins with the character of the
    /// source at `begin`, or, for None, at the very beginning of the original.
    #[inline]
    fn replace(&mut self, text: &str, start: usize, end: usize, begin: Option<usize>) {
        let _ = begin;
        self.write(text, start, end);
    }

    /// Bytes written so far.
    fn len(&self) -> usize;

    /// As [`Sink::write`], of one character.
    #[inline]
    fn write_char(&mut self, c: char, start: usize, end: usize) {
        self.write(c.encode_utf8(&mut [0; 4]), start, end);
    }
}

impl Sink for String {
    #[inline]
    fn len(&self) -> usize {
        self.as_str().len()
    }

    #[inline]
    fn copy(&mut self, text: &str, _start: usize) {
        self.push_str(text);
    }

    #[inline]
    fn write(&mut self, text: &str, _start: usize, _end: usize) {
        self.push_str(text);
    }
}

/// A text that knows where it came from.
#[derive(Debug, Default)]
pub(crate) struct Aligned {
    pub(crate) text: String,
    /// The bytes of the source for every byte of `text`.
    spans: Vec<(usize, usize)>,
    /// Bytes of `text` that begin elsewhere in Hugging Face's library: from, to, where.
    begins: Vec<(usize, usize, Option<usize>)>,
}

impl Sink for Aligned {
    fn len(&self) -> usize {
        self.text.len()
    }

    fn copy(&mut self, text: &str, start: usize) {
        self.text.push_str(text);
        self.spans.extend((start..start + text.len()).map(|at| (at, at + 1)));
    }

    fn write(&mut self, text: &str, start: usize, end: usize) {
        self.text.push_str(text);
        self.spans.extend(std::iter::repeat_n((start, end), text.len()));
    }

    fn replace(&mut self, text: &str, start: usize, end: usize, begin: Option<usize>) {
        if begin != Some(start) {
            self.begins.push((self.text.len(), self.text.len() + text.len(), begin));
        }
        self.write(text, start, end);
    }
}

/// A text of which it is known whether all of the source is in it.
#[derive(Debug, Default)]
pub(super) struct Complete {
    pub(super) text: String,
    /// Something of the source became nothing.
    pub(super) dropped: bool,
    /// Up to where the source has been read.
    pub(super) at: usize,
}

impl Sink for Complete {
    fn len(&self) -> usize {
        self.text.len()
    }

    fn copy(&mut self, text: &str, start: usize) {
        self.dropped |= start > self.at;
        self.at = start + text.len();
        self.text.push_str(text);
    }

    fn write(&mut self, text: &str, start: usize, end: usize) {
        self.dropped |= start > self.at || (text.is_empty() && start < end);
        self.at = self.at.max(end);
        self.text.push_str(text);
    }
}

/// A sink for what is written of a part of a text: places in the part become places in the text.
pub(crate) struct Shifted<'a, S> {
    pub(crate) out: &'a mut S,
    /// Where the part starts.
    pub(crate) base: usize,
}

impl<S: Sink> Sink for Shifted<'_, S> {
    fn len(&self) -> usize {
        self.out.len()
    }

    fn copy(&mut self, text: &str, start: usize) {
        self.out.copy(text, self.base + start);
    }

    fn write(&mut self, text: &str, start: usize, end: usize) {
        self.out.write(text, self.base + start, self.base + end);
    }

    fn replace(&mut self, text: &str, start: usize, end: usize, begin: Option<usize>) {
        let begin = begin.map(|at| self.base + at);
        self.out.replace(text, self.base + start, self.base + end, begin);
    }
}

/// For every byte of a text, the bytes of the original text that it stands for.
///
/// Starts and ends never fall from one byte to the next. Bytes of one character that was rewritten
/// stand for the same bytes all; bytes that were put in stand for none, at the place where they
/// were; bytes of the original that were taken out belong to nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origins {
    /// Bytes of the original text.
    len: usize,
    /// (start, end) in the original for every byte; None if the text is the original.
    spans: Option<Vec<(usize, usize)>>,
    /// Where every byte begins in Hugging Face's library; None if nothing is replaced, and that is where
    /// it begins here.
    begins: Option<Vec<usize>>,
}

impl Origins {
    /// A text of `len` bytes that is its own origin.
    pub fn same(len: usize) -> Self {
        Self { len, spans: None, begins: None }
    }

    /// Where Hugging Face's library has it that the text from a byte on begins in the original: as here,
    /// but that a replacement comes from the last character that it replaces, or, if it replaces
    /// nothing, from the one before it.
    pub(crate) fn begin(&self, at: usize) -> usize {
        match &self.begins {
            None => self.span(at, at).0,
            Some(begins) => begins.get(at).copied().unwrap_or(self.len),
        }
    }

    /// The bytes of the original that the bytes `from..to` stand for.
    ///
    /// ```
    /// use jogak::normalize::{Form, Normalizer, Place, Rule};
    ///
    /// let nfkc = Normalizer::new(&[Rule::Form(Form::Nfkc)])?;
    /// let (text, origins) = nfkc.aligned("oﬀ!", Place::WHOLE)?;
    /// assert_eq!(text, "off!");
    /// assert_eq!(origins.span(0, 1), (0, 1));
    /// assert_eq!(origins.span(1, 2), (1, 4)); // each f stands for the whole ligature
    /// assert_eq!(origins.span(0, 4), (0, 5));
    /// # Ok::<(), jogak::Error>(())
    /// ```
    pub fn span(&self, from: usize, to: usize) -> (usize, usize) {
        let Some(spans) = &self.spans else { return (from, to) };
        let start = spans.get(from).map_or(self.len, |span| span.0);
        let end = if from < to { spans[to - 1].1 } else { start };
        (start, end)
    }

    /// Every one of `bytes` bytes stands for all of the original.
    pub(crate) fn all(self, bytes: usize) -> Self {
        Self { len: self.len, spans: Some(vec![(0, self.len); bytes]), begins: None }
    }

    /// The origins of the bytes `from..to` alone. Those of a text that is its own origin are counted from
    /// the byte that comes beside them.
    pub(crate) fn part(&self, from: usize, to: usize) -> (Self, usize) {
        match &self.spans {
            None => (Self::same(to - from), from),
            Some(spans) => {
                let spans = spans[from..to].to_vec();
                let len = spans.last().map_or(self.len, |span| span.1);
                let begins = self.begins.as_ref().map(|begins| begins[from..to].to_vec());
                (Self { len, spans: Some(spans), begins }, 0)
            }
        }
    }

    /// The origins of a text that was made from this text.
    pub(crate) fn then(self, next: Aligned) -> (String, Self) {
        let Aligned { text, mut spans, begins: other } = next;
        let mut begins = None;
        if self.begins.is_some() || !other.is_empty() {
            let begins =
                begins.insert(spans.iter().map(|span| self.begin(span.0)).collect::<Vec<_>>());
            for (from, to, at) in other {
                begins[from..to].fill(at.map_or(0, |at| self.begin(at)));
            }
        }
        if self.spans.is_some() {
            for span in &mut spans {
                *span = self.span(span.0, span.1);
            }
        }
        (text, Self { len: self.len, spans: Some(spans), begins })
    }
}
