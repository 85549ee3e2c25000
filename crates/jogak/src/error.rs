//! Everything that can go wrong in the core, as one enum.
//!
//! Rule: every variant carries what was found, what was expected and, where there is one, the
//! limit, so that a caller can say what to do. Texts for people are made at the Python side.

use std::fmt;

/// The result of a fallible operation of the core.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A regular expression could not be compiled.
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// The engine's own words.
        reason: String,
    },
    /// A regular expression gave up on a text (too much backtracking).
    PatternGaveUp {
        /// The pattern as given.
        pattern: String,
        /// Byte offset in the text where the engine stood.
        at: usize,
        /// The engine's own words.
        reason: String,
    },
    /// A sum of counts would pass `u64::MAX`.
    CountOverflow {
        /// What was being counted, as text for people.
        what: String,
    },
    /// An option has a value that cannot be.
    Config {
        /// The option's name.
        option: &'static str,
        /// What was found.
        found: String,
        /// What is accepted.
        expected: String,
    },
    /// An added token that is looked for in normalized text, but of which the normalizer leaves nothing.
    EmptyToken {
        /// Its text.
        text: String,
    },
    /// A charsmap, or a text of normalization rules, that is none.
    Charsmap {
        /// Where in it.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// A table would outgrow the numbers that address it.
    TooLarge {
        /// Which table.
        what: &'static str,
        /// The size that was asked for.
        size: u64,
        /// The largest that works.
        limit: u64,
    },
    /// An id that stands for no piece.
    UnknownId {
        /// The id.
        id: u32,
        /// Where in the input it stood.
        at: usize,
        /// How many ids the vocabulary spans.
        len: usize,
    },
    /// A part of a text that no piece covers, where there is no unknown piece to stand for it.
    NotCovered {
        /// The text of the uncovered character.
        text: String,
    },
    /// Code points that are no text: one stands for no character.
    NoText,
    /// Ids that are no way to cut a text.
    NoSegmentation {
        /// How many of the ids fit.
        fit: usize,
        /// How many there are.
        ids: usize,
    },
    /// The text that is to be cut is shorter than what is to be taken away.
    TooShortToCut {
        /// Which text, 0 or 1.
        text: usize,
        /// How many ids it has.
        ids: usize,
        /// How many are to go.
        remove: usize,
    },
    /// Parts that were cut off are too many, each combined with each.
    TooManyParts {
        /// How many ids they would have.
        ids: u64,
        /// How many they may have.
        limit: u64,
    },
    /// More tokens than a part of a text may have, and no place to cut between them.
    NoCut {
        /// Characters before them.
        at: usize,
        /// How many tokens a part may have.
        limit: usize,
    },
    /// The text of a special token was found in a text that must not have any.
    SpecialInText {
        /// The special token's text.
        token: String,
        /// Characters before it.
        at: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Pattern { pattern, reason } => {
                write!(f, "the pattern {pattern:?} is no regular expression: {reason}")
            }
            Error::PatternGaveUp { pattern, at, reason } => {
                write!(f, "the pattern {pattern:?} gave up at byte {at} of the text: {reason}")
            }
            Error::CountOverflow { what } => {
                write!(f, "{what} would pass {} (the largest count)", u64::MAX)
            }
            Error::Config { option, found, expected } => {
                write!(f, "{option} is {found}; expected {expected}")
            }
            Error::EmptyToken { text } => write!(
                f,
                "the added token {text:?} is looked for in normalized text, and the normalizer leaves \
                 nothing of it"
            ),
            Error::Charsmap { place, reason } => {
                write!(f, "the normalization rules are broken at {place}: {reason}")
            }
            Error::TooLarge { what, size, limit } => {
                write!(f, "{what} would need {size} entries; at most {limit} are possible")
            }
            Error::UnknownId { id, at, len } => {
                write!(
                    f,
                    "id {id} (at position {at}) stands for no piece; the vocabulary has ids below {len}"
                )
            }
            Error::NotCovered { text } => {
                write!(f, "no piece covers {text:?} and the vocabulary has no unknown piece")
            }
            Error::NoText => {
                write!(
                    f,
                    "the text has a surrogate code point (U+D800 to U+DFFF), which is no character"
                )
            }
            Error::NoSegmentation { fit, ids } if fit == ids => {
                write!(f, "the {ids} ids stand for the beginning of the text only")
            }
            Error::NoSegmentation { fit, ids } => {
                write!(f, "the text cannot be cut so: of {ids} ids only the first {fit} fit")
            }
            Error::TooShortToCut { text, ids, remove } => {
                let which = if *text == 0 { "first" } else { "second" };
                write!(
                    f,
                    "{remove} ids are to be cut off the {which} text, which has {ids}: at least one must \
                     stay"
                )
            }
            Error::TooManyParts { ids, limit } => {
                write!(
                    f,
                    "cutting and filling up would give {ids} ids; at most {limit} are possible"
                )
            }
            Error::NoCut { at, limit } => {
                write!(
                    f,
                    "at character {at}, one character or part of the text is more than {limit} tokens"
                )
            }
            Error::SpecialInText { token, at } => {
                write!(f, "the text has the special token {token:?} at character {at}")
            }
        }
    }
}

impl std::error::Error for Error {}
