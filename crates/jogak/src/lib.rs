//! # jogak: subword tokenization
//!
//! Two flows share one front half:
//!
//! ```text
//! text   -> prepare (special tokens, normalize, pre-tokenize) -> model -> ids      decode is the way back
//! corpus -> the same prepare -> count -> train -> pieces and merges
//! ```
//!
//! This crate holds pure algorithms: no Python, no files, no JSON, no printing. Every room (module)
//! states its rule in its first lines.
//!
//! ## Words
//!
//! | word | meaning |
//! |---|---|
//! | piece | the bytes of one vocabulary entry; its `u32` number is the id |
//! | word | what the pre-tokenizer hands the model: no piece crosses its border |
//! | symbol | a piece as it stands inside a word while that word is being merged |
//! | pair | two neighbouring symbols; its count is the sum over words of occurrences x word count |
//! | rank | merge priority; 0 is applied first |
//! | marker | how a word's border is written into its symbols |
//! | count | unsigned 64-bit; sums are checked and never wrap |

pub mod added;
pub mod beside;
pub mod cache;
pub mod count;
pub mod decode;
pub mod error;
pub mod following;
pub mod inputs;
pub mod limits;
pub mod model;
pub mod normalize;
pub mod observe;
pub mod pipeline;
pub mod prepare;
pub mod pretokenize;
pub mod random;
mod scan;
pub mod spans;
pub mod surfaces;
pub mod symbols;
pub mod trace;
pub mod train;
pub mod utf8;
pub mod vocab;
pub mod ways;

pub use error::{Error, Result};
