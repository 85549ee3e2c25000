//! Unigram with a memory of words: the same ids as [`Unigram::word`] gives.
//!
//! A word falls into parts that no piece connects, and parts are what is remembered. Their ids depend on
//! the sum of scores before them by rounding alone, so beside its ids the table keeps for which sums
//! they hold: the [mark](Marked), behind the last id. The sum itself is not needed until a part comes
//! for which they do not hold; until then only a bound of it is kept up.

use super::fuse;
use crate::cache::{LONGEST, WordTable};
use crate::error::{Error, Result};
use crate::model::Scratch;
use crate::model::unigram::{Marked, Running, Unigram};
use crate::observe::Silent;
use crate::symbols::UNKNOWN;

/// A word that is being written.
struct Writer<'a> {
    model: &'a Unigram,
    scratch: &'a mut Scratch,
    out: &'a mut Vec<u32>,
    /// The sum of the scores of all ids before `summed`.
    running: Running,
    summed: usize,
    /// The sum of the scores of all ids is at most this far from 0.
    bound: f64,
    has_unknown: bool,
}

/// Appends the ids of the word `text[start..end]` to `out`.
pub(super) fn word(
    model: &Unigram,
    text: &str,
    start: usize,
    end: usize,
    table: &mut WordTable,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<()> {
    let first = out.len();
    let mut writer = Writer {
        model,
        scratch,
        summed: first,
        out,
        running: Running::default(),
        bound: 0.0,
        has_unknown: false,
    };
    let mut result = Ok(());
    model.for_each_part(&text[start..end], |from, to| {
        if result.is_ok() {
            result = writer.part(text, start + from, start + to, table);
        }
    });
    result?;
    let has_unknown = writer.has_unknown;
    if let Some(unknown) = model.unknown().filter(|_| has_unknown && model.fuses()) {
        fuse(out, first, unknown);
    }
    Ok(())
}

impl Writer<'_> {
    #[inline]
    fn part(&mut self, text: &str, start: usize, end: usize, table: &mut WordTable) -> Result<()> {
        let before = self.out.len();
        let mark = if table.get(text.as_bytes(), start, end, self.out) {
            Marked(self.out.pop().unwrap_or_default())
        } else if end - start <= LONGEST {
            self.learn(&text[start..end], table)?
        } else {
            return self.exactly(&text[start..end], before);
        };
        if !mark.holds(self.bound, self.model.precision()) {
            return self.exactly(&text[start..end], before);
        }
        self.bound += mark.extent();
        self.has_unknown |= mark.has_unknown();
        Ok(())
    }

    #[cold]
    fn learn(&mut self, part: &str, table: &mut WordTable) -> Result<Marked> {
        let before = self.out.len();
        let mark = self.scratch.near.part(self.model, part, self.out)?;
        if table.is_full() {
            table.clear();
        }
        self.out.push(mark.0);
        table.insert(part.as_bytes(), &self.out[before..]);
        self.out.pop();
        Ok(mark)
    }

    /// Writes a part, given the true sum before it. `before` is where its ids start.
    fn exactly(&mut self, part: &str, before: usize) -> Result<()> {
        self.out.truncate(before);
        self.model.advance(&mut self.running, &self.out[self.summed..]);
        let Self { model, scratch, running, out, .. } = self;
        model.part(part, running, &mut scratch.viterbi, &mut Silent)?;
        for &(id, start, end) in scratch.viterbi.path() {
            if id == UNKNOWN {
                self.has_unknown = true;
                let character = &part[start..end];
                let known = model.stands_for(character, |id| out.push(id));
                known.ok_or_else(|| Error::NotCovered { text: character.to_owned() })?;
            } else {
                out.push(id);
            }
        }
        self.summed = out.len();
        self.bound = model.magnitude(*running);
        Ok(())
    }
}
