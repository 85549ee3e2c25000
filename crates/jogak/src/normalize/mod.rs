//! Text -> text, with a way back: every byte of the new text knows where it came from.
//!
//! Rule: knows no model. Cost linear in bytes.

pub mod metaspace;
