//! Texts, cut where so many tokens end.
//!
//! Rule: counts the tokens of the text as it is, and cuts only where every token lies wholly on one side
//! and no character is cut. Text that no token stands for (white space that a word needs no more)
//! belongs to what comes before it. Linear; holds no more than the ids.

use crate::error::{Error, Result};
use crate::pipeline::{Request, Tokenizer};

/// A place where a text can be cut: its byte, and how many tokens end before it.
#[derive(Debug, Clone, Copy, Default)]
struct Border {
    at: usize,
    tokens: usize,
}

impl Tokenizer {
    /// The end of the longest beginning of `text` for which at most `limit` of its tokens stand.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn truncated(&self, text: &str, limit: usize, request: &Request) -> Result<usize> {
        let mut end = text.len();
        // Of a text of which not much is wanted, not all is encoded.
        let all = text.len() / 16 <= limit;
        self.cut(text, limit, request, all, |border| {
            end = border.at;
            false
        })?;
        Ok(end)
    }

    /// The ends of all parts of `text` but the last, each the longest for which at most `limit` tokens
    /// stand.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; [`Error::NoCut`] where more tokens cannot be parted.
    pub fn split(&self, text: &str, limit: usize, request: &Request) -> Result<Vec<usize>> {
        let mut ends = Vec::new();
        let mut last = Border::default();
        let mut stuck = false;
        self.cut(text, limit, request, true, |border| {
            if border.at > last.at && border.at < text.len() {
                ends.push(border.at);
            }
            stuck = border.tokens == last.tokens;
            last = border;
            !stuck
        })?;
        if stuck {
            let at = text[..last.at].chars().count();
            return Err(Error::NoCut { at, limit });
        }
        Ok(ends)
    }

    /// Calls `each` with the last border before every `limit` tokens are passed, until it returns false. `all` says that all
    /// of the text may be encoded.
    fn cut(
        &self,
        text: &str,
        limit: usize,
        request: &Request,
        all: bool,
        mut each: impl FnMut(Border) -> bool,
    ) -> Result<()> {
        let mut borders = Vec::new();
        if all && self.cut_by_ids(text, limit, request, &mut borders)? {
            borders.into_iter().all(each);
            return Ok(());
        }
        let mut cutter = Cutter::new(text, limit);
        self.for_each_piece(text.into(), request, |(_, from, to)| {
            cutter.passed(from, to).is_none_or(&mut each)
        })
    }

    /// The borders by the ids that encoding gives, if these tell where tokens lie; false if not.
    fn cut_by_ids(
        &self,
        text: &str,
        limit: usize,
        request: &Request,
        borders: &mut Vec<Border>,
    ) -> Result<bool> {
        let mut worker = self.worker();
        let mut cutter = Cutter::new(text, limit);
        let told = self.for_each_tile(text.into(), request, &mut worker, |_, (from, to), _| {
            borders.extend(cutter.passed(from, to));
        });
        self.give_back(worker);
        told
    }
}

/// Looks for the last border before so many tokens.
struct Cutter<'a> {
    text: &'a str,
    limit: usize,
    border: Border,
    /// Where the tokens so far end, and how many there are.
    end: usize,
    tokens: usize,
    /// How many of them end before the last border that was told.
    start: usize,
}

impl<'a> Cutter<'a> {
    fn new(text: &'a str, limit: usize) -> Self {
        Self { text, limit, border: Border::default(), end: 0, tokens: 0, start: 0 }
    }

    /// The border before a token with which too many are passed.
    fn passed(&mut self, from: usize, to: usize) -> Option<Border> {
        if from >= self.end && self.text.is_char_boundary(from) {
            self.border = Border { at: from, tokens: self.tokens };
        }
        self.end = self.end.max(to);
        self.tokens += 1;
        if self.tokens - self.start <= self.limit {
            return None;
        }
        self.start = self.border.tokens;
        Some(self.border)
    }
}
