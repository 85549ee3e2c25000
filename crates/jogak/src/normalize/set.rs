//! Texts in which the members of a set of characters are rewritten.

use super::align::Sink;
pub(super) use crate::pretokenize::CharSet;

/// What becomes of a text.
pub(super) trait Rewrite {
    /// Keeps what is no member, and calls `each` with every member, its start and its end.
    fn rewrite<S: Sink>(
        &self,
        text: &str,
        out: &mut S,
        each: impl FnMut(char, usize, usize, &mut S),
    );
}

impl Rewrite for CharSet {
    #[inline]
    fn rewrite<S: Sink>(
        &self,
        text: &str,
        out: &mut S,
        mut each: impl FnMut(char, usize, usize, &mut S),
    ) {
        let mut done = 0;
        while let Some((c, start, end)) = self.find(text, done) {
            if done < start {
                out.keep(text, done, start);
            }
            each(c, start, end, out);
            done = end;
        }
        out.keep(text, done, text.len());
    }
}
