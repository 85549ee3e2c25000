//! Words with counts + a config -> pieces. Never sees text.
//!
//! Rule: the same words and config give the same pieces, byte for byte. Every tie-break is written
//! down.

pub mod alphabet;
pub mod arena;
pub mod bpe;
mod pairs;
mod queue;
pub mod ties;

pub use alphabet::{Alphabet, AlphabetLimit};
pub use bpe::{BpeConfig, BpeTrained, Corpus, Merge, Stop};
pub use ties::Ties;
