//! UTF-8 and code points, either made of the other, several characters at a time: strings of Python are code points, and
//! everything else here is bytes.
//!
//! Rule: knows characters by their bits alone.

mod narrow;
mod wide;

pub use narrow::{Read, Room};
pub use wide::{code_points, wide_characters};
