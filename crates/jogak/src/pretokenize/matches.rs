//! What matches are: words, separators, or joined to what stands beside them.

/// What the matches of a pattern are.
///
/// An empty match has no text; it still cuts where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matches {
    /// Words, and so are the gaps between them: nothing is lost.
    Isolated,
    /// Separators: dropped, the gaps are the words.
    Removed,
    /// The only words: the gaps are dropped.
    Only,
    /// A match belongs to the gap before it; one right behind another match is a word by itself.
    MergedWithPrevious,
    /// A match belongs to the gap behind it; one right before another match is a word by itself.
    MergedWithNext,
    /// Matches that touch are one word.
    Contiguous,
}

/// Puts stretches of text together to words. Takes them from left to right, without a hole.
pub(super) struct Joiner<W> {
    matches: Matches,
    /// The gaps are taken for matches, and matches for gaps.
    invert: bool,
    /// A word that may still grow.
    open: Option<(usize, usize)>,
    /// What came last was a match.
    behind_match: bool,
    word: W,
}

impl<W: FnMut(usize, usize)> Joiner<W> {
    pub(super) fn new(matches: Matches, invert: bool, word: W) -> Self {
        Self { matches, invert, open: None, behind_match: false, word }
    }

    /// Text between matches.
    #[inline(always)]
    pub(super) fn gap(&mut self, start: usize, end: usize) {
        if start < end {
            self.stretch(start, end, self.invert);
        }
    }

    /// A match, which may be empty.
    #[inline(always)]
    pub(super) fn found(&mut self, start: usize, end: usize) {
        self.stretch(start, end, !self.invert);
    }

    #[inline(always)]
    fn stretch(&mut self, start: usize, end: usize, is_match: bool) {
        let joins = match self.matches {
            Matches::Isolated => return self.write(start, end),
            Matches::Removed | Matches::Only => {
                if is_match == (self.matches == Matches::Only) {
                    self.write(start, end);
                }
                return;
            }
            Matches::MergedWithPrevious => is_match && !self.behind_match,
            Matches::MergedWithNext => !is_match && self.behind_match,
            Matches::Contiguous => is_match == self.behind_match,
        };
        self.behind_match = is_match;
        match &mut self.open {
            Some(open) if joins => open.1 = end,
            _ => {
                self.finish();
                self.open = Some((start, end));
            }
        }
    }

    #[inline(always)]
    fn write(&mut self, start: usize, end: usize) {
        if start < end {
            (self.word)(start, end);
        }
    }

    /// Writes the last word.
    #[inline(always)]
    pub(super) fn finish(&mut self) {
        if let Some((start, end)) = self.open.take() {
            self.write(start, end);
        }
    }
}
