//! How SentencePiece's way with spaces is asked for. What it writes is in `normalize::metaspace`, how it
//! cuts here in `simple.rs`.

/// Where a space is added that the text does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dummy {
    /// To every stretch of text: at the start of a document and behind every special token.
    Always,
    /// To the document alone.
    First,
    /// The same, and to a document of which the rules of normalization left nothing, unless it was empty
    /// or, where they collapse spaces, spaces alone ([`crate::normalize::Place::bare`]). So SentencePiece
    /// has it.
    Given,
    /// To every word whose first character stands at the very beginning of the document as it was
    /// given: to none where something was dropped before it (Hugging Face's `first`).
    Start,
    /// Nowhere.
    Never,
}

/// How spaces are written, and whether words are cut at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metaspace {
    /// Where a space is added.
    pub dummy: Dummy,
    /// Not if the text begins with a space already (Hugging Face's way; what was a space and what was
    /// added cannot be told apart afterwards).
    pub only_missing: bool,
    /// Spaces belong to the word before them, and the one that is added goes behind the text
    /// (`treat_whitespace_as_suffix`).
    pub suffix: bool,
    /// Spaces become the mark; otherwise they stay spaces.
    pub escape: bool,
    /// What spaces become: `▁`, or another character.
    pub mark: char,
    /// Words are cut at spaces; otherwise a text is one word (`split_by_whitespace` off).
    pub split: bool,
}

impl Metaspace {
    /// `▁` for spaces, one before a document, words cut before each.
    pub const DEFAULT: Metaspace = Metaspace {
        dummy: Dummy::First,
        only_missing: false,
        suffix: false,
        escape: true,
        mark: '▁',
        split: true,
    };

    /// What a space is written as.
    pub fn mark(&self) -> char {
        if self.escape { self.mark } else { ' ' }
    }
}

impl Default for Metaspace {
    fn default() -> Self {
        Self::DEFAULT
    }
}
