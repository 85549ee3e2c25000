//! Words and how often they occur.
//!
//! Rule: a commutative monoid. Counts merge in any order and any grouping to the same answer.
