//! Texts, cut where so many tokens end.
//!
//! Rule: counts the tokens of the text as it is, and cuts only where every token lies wholly on one side
//! and no character is cut. Text that no token stands for (white space that a word needs no more)
//! belongs to what comes before it. Linear, and holds no tokens.

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
        self.cut(text, limit, request, |border| {
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
        self.cut(text, limit, request, |border| {
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

    /// Calls `each` with the last border before every `limit` tokens are passed, until it returns false.
    fn cut(
        &self,
        text: &str,
        limit: usize,
        request: &Request,
        mut each: impl FnMut(Border) -> bool,
    ) -> Result<()> {
        let (mut start, mut border, mut end, mut tokens) = (0, Border::default(), 0, 0);
        self.for_each_piece(text.into(), request, |(_, from, to)| {
            if from >= end && text.is_char_boundary(from) {
                border = Border { at: from, tokens };
            }
            end = end.max(to);
            tokens += 1;
            if tokens - start <= limit {
                return true;
            }
            start = border.tokens;
            each(border)
        })
    }
}
