//! Words with counts + a config -> pieces. Never sees text.
//!
//! Rule: the same words and config give the same pieces, byte for byte. Every tie-break is written
//! down.

pub mod alphabet;
mod arena;
mod bands;
pub mod bpe;
mod corpus;
mod gather;
mod learner;
mod pairs;
mod parallel;
mod partner;
mod pieces;
mod places;
mod queue;
mod radix;
pub mod rules;
mod store;
mod tally;
pub mod ties;
pub mod unigram;
mod view;
pub mod wordpiece;

pub use alphabet::{Alphabet, AlphabetLimit};
pub use bpe::{BpeConfig, BpeTrained, Merge, Stop};
pub use corpus::Corpus;
pub use rules::PieceRules;
pub use ties::Ties;
pub use unigram::{UnigramConfig, UnigramCorpus, UnigramTrained};
pub use view::{TrainObserver, View};
pub use wordpiece::{
    Candidate, Criterion, WordPieceConfig, WordPieceMerge, WordPieceObserver, WordPieceTrained,
    WordPieceView,
};
