//! Text -> word spans.
//!
//! Rule: knows no model. Every valid text has an answer; the cost is linear in its bytes (an
//! arbitrary regular expression is as fast as its engine).

use crate::error::Result;

/// One way to cut a text into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheme {
    /// The whole text is one word (an empty text has none).
    None,
    /// Words between Unicode `White_Space`, which is dropped.
    Whitespace,
}

/// A sequence of schemes, compiled. Each stage cuts the words of the stage before it.
#[derive(Debug, Clone)]
pub struct Pretokenizer {
    schemes: Vec<Scheme>,
}

impl Pretokenizer {
    /// Compiles `schemes`, applied first to last.
    ///
    /// # Errors
    /// [`crate::Error::Pattern`] if a regular expression does not compile.
    pub fn new(schemes: &[Scheme]) -> Result<Self> {
        Ok(Self { schemes: schemes.to_vec() })
    }

    /// Calls `word` with the byte range (start, end) of every word of `text`, in order.
    ///
    /// # Errors
    /// [`crate::Error::PatternGaveUp`] if an arbitrary regular expression gives up.
    pub fn for_each(&self, text: &str, mut word: impl FnMut(usize, usize)) -> Result<()> {
        if self.schemes.contains(&Scheme::Whitespace) {
            let base = text.as_ptr() as usize;
            for part in text.split_whitespace() {
                let start = part.as_ptr() as usize - base;
                word(start, start + part.len());
            }
        } else if !text.is_empty() {
            word(0, text.len());
        }
        Ok(())
    }
}
