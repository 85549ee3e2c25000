//! Texts in which runs of spaces are tokens, as in GPT-NeoX's, Phi-2's, MPT's and ModernBERT's files: they stand in nearly every line
//! of code. They are left in the text, and each is a word.
//!
//! Rule: the same ids as if they were found before the text is cut.

use super::{Tokenizer, Worker};
use crate::added::{Inner, Tabs};
use crate::error::Result;
use crate::model::Way;
use crate::prepare::{Prepared, for_each_between_runs};

impl Tokenizer {
    /// Appends the ids of a text that is ready, and in which such tokens were left.
    pub(super) fn by_runs(
        &self,
        inner: &Inner,
        Tabs(tabs): Tabs,
        text: &str,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let before = out.len();
        let (mut words, known) = self.words_of(text, way, worker);
        // Places of words are of 32 bits, and what is normalized may have become longer.
        let fits = u32::try_from(text.len()).is_ok();
        if fits {
            for_each_between_runs::<false>(text, tabs, |borders| {
                words.list(known, borders, out);
            });
        }
        if fits && !words.broke_run() {
            return words.result();
        }
        // What is left of a run that is longer than all tokens belongs to the word behind it.
        out.truncate(before);
        let mut from = 0;
        for (id, start, end) in inner.find_iter(text) {
            self.by_words(Prepared::whole(&text[from..start]), way, worker, out)?;
            out.push(id);
            from = end;
        }
        self.by_words(Prepared::whole(&text[from..]), way, worker, out)
    }
}
