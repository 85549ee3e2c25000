//! Texts in which tokens come often: runs of spaces, which GPT-NeoX's, Phi-2's, MPT's and ModernBERT's files have as tokens, stand
//! in nearly every line of code.
//!
//! In words: what tokens leave of a text is cut piece by piece, and what a piece costs is mostly a block of masks that is nearly
//! empty, and a few words that are looked up one by one. So pieces are put one behind the other, with a line end in the place
//! of each token, and cut as one text; the borders of the line ends are put in where they are not.
//!
//! ```text
//! text      if␣x:\n␣␣␣␣return␣x\n␣␣␣␣␣␣␣␣y          tokens: 4 spaces, 8 spaces
//! joined    if␣x:\n|\n|return␣x\n|\n|y
//! ```
//!
//! That is exact for GPT-2's scheme: no word of it looks back, and none looks ahead but white space, all of which is one word but for
//! the last character where something else follows. So white space before the line end is one word, as it is at the end of a
//! piece; what follows the line end falls before its own last character, as it does at the start of one; and whatever else
//! stands beside the line end ends there.
//!
//! Rule: the same ids as piece by piece, or piece by piece.

use super::words::has_characters;
use super::{Tokenizer, Worker};
use crate::added::Added;
use crate::error::Result;
use crate::model::{Model, Way};
use crate::prepare::{Prepare, Prepared};

/// What stands in the place of a token.
const GAP: char = '\n';
/// Pieces are put together up to so many bytes, and the one that goes beyond. One of so many goes by itself.
const FULL: usize = 1 << 16;

/// Pieces of a text, and the tokens between them.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// The pieces, with a line end for each token.
    pieces: String,
    /// Where each of these stands, and the token's id.
    tokens: Vec<(u32, u32)>,
    /// Where words start and end.
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// How many words there are before each token.
    before: Vec<usize>,
    /// How many ids there are behind each word, and their ids.
    behind: Vec<usize>,
    ids: Vec<u32>,
}

/// Whether tokens are such that come often, and what they leave may be joined.
pub(super) fn suits(prepare: &Prepare, added: &Added, model: &Model) -> bool {
    let is_blank = |text: &str| text.len() > 1 && text.chars().all(char::is_whitespace);
    prepare.only_cuts_as_gpt2()
        && model.bpe().is_some_and(crate::model::Bpe::leaves_bytes)
        && added.texts().any(is_blank)
}

impl Gaps {
    /// Whether there are enough of them.
    pub(super) fn is_full(&self) -> bool {
        self.pieces.len() >= FULL
    }

    /// Takes a piece, if it is not long.
    pub(super) fn piece(&mut self, text: &str) -> bool {
        let fits = text.len() < FULL;
        if fits {
            self.pieces.push_str(text);
        }
        fits
    }

    /// Takes a token, which stands behind the last piece.
    pub(super) fn token(&mut self, id: u32) {
        self.tokens.push((self.pieces.len() as u32, id));
        self.pieces.push(GAP);
    }

    /// The pieces with the token behind each of them; behind the last one there is none.
    fn pieces(&self) -> impl Iterator<Item = (&str, Option<u32>)> {
        let mut from = 0;
        let ends = self.tokens.iter().map(|&(at, id)| (at as usize, Some(id)));
        ends.chain([(self.pieces.len(), None)]).map(move |(end, id)| {
            let piece = &self.pieces[from..end];
            from = end + GAP.len_utf8();
            (piece, id)
        })
    }

    /// Lists words, which lie between borders, without the gaps.
    fn list(&mut self, borders: &[u32]) {
        let Self { tokens, starts, ends, before, .. } = self;
        for pair in borders.windows(2) {
            let (mut start, end) = (pair[0], pair[1]);
            while let Some(&(gap, _)) = tokens.get(before.len()).filter(|&&(gap, _)| gap < end) {
                if start < gap {
                    starts.push(start);
                    ends.push(gap);
                }
                before.push(starts.len());
                start = gap + 1;
            }
            if start < end {
                starts.push(start);
                ends.push(end);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        let Self { pieces, tokens, starts, ends, before, behind, ids } = self;
        pieces.clear();
        tokens.clear();
        starts.clear();
        ends.clear();
        before.clear();
        behind.clear();
        ids.clear();
    }
}

impl Tokenizer {
    /// Appends the ids of all pieces and tokens, and forgets these.
    pub(super) fn by_gaps(
        &self,
        gaps: &mut Gaps,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let done = self.by_gaps_together(gaps, way, worker, out);
        if !done {
            for (piece, id) in gaps.pieces() {
                self.by_words(Prepared::whole(piece), way, worker, out)?;
                out.extend(id);
            }
        }
        gaps.clear();
        Ok(())
    }

    /// The same; if it says no, nothing is done.
    fn by_gaps_together(
        &self,
        gaps: &mut Gaps,
        way: &mut Way,
        worker: &mut Worker,
        out: &mut Vec<u32>,
    ) -> bool {
        let joined = std::mem::take(&mut gaps.pieces);
        // Of East Asia, words are cut into characters a piece at a time.
        let listed = !gaps.tokens.is_empty()
            && !has_characters(joined.as_bytes())
            && self.prepare.for_each_list(Prepared::whole(&joined), |borders| gaps.list(borders));
        let done = listed && {
            let Gaps { tokens, starts, ends, before, behind, ids, .. } = gaps;
            let (mut words, known) = self.words_of(&joined, way, worker);
            behind.push(0);
            words.spans(known, starts, ends, ids, |count| behind.push(count));
            let mut from = 0;
            for (&(_, id), &words) in tokens.iter().zip(&*before) {
                let to = behind[words];
                out.extend_from_slice(&ids[from..to]);
                out.push(id);
                from = to;
            }
            out.extend_from_slice(&ids[from..]);
            !words.has_failed()
        };
        gaps.pieces = joined;
        done
    }
}
