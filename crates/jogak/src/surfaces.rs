//! What SentencePiece says of a text besides its ids: the normalized text, with the byte of the original that each of its
//! bytes counts from, and of each piece what it stands for, its surface.
//!
//! Rule: places are SentencePiece's, which are not those of our normalizers ([`Origins`]): what becomes of a match
//! counts from where the match begins, and ends where the next one does.
//!
//! ```text
//! rules.rs   text -> normalized text          cut.rs   its ids -> pieces, and the message of them
//! ```
//!
//! Source: <https://github.com/google/sentencepiece>, what `src/normalizer.cc` and `src/sentencepiece_processor.cc`
//! promise; the twin is `jogak.reference.surfaces`.
//!
//! [`Origins`]: crate::normalize::Origins

mod cut;
mod rules;

pub use cut::{Ids, Kind, Part, Pieces};
pub use rules::{Counted, Options, Rules, characters};
