//! Two things at once, each on a thread of its own.
//!
//! Rule: neither may know of the other. The thread ends before the call does; where the system gives none, one
//! thing is done after the other.

use std::sync::{Mutex, PoisonError};

/// What takes less than about this many steps is not worth a thread.
pub const WORTH: usize = 1 << 13;

/// Does both, `other` on another thread if `at_once`, and gives back what they give.
///
/// ```
/// assert_eq!(jogak::beside::both(true, || 1, || 2), (1, 2));
/// ```
pub fn both<A, B: Send>(
    at_once: bool,
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if !at_once {
        return (one(), other());
    }
    let other = Mutex::new(Some(other));
    let run = || {
        let other = other.lock().unwrap_or_else(PoisonError::into_inner).take();
        other.map(|other| other())
    };
    std::thread::scope(|scope| {
        let helper = std::thread::Builder::new().spawn_scoped(scope, run);
        let first = one();
        let second = match helper.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(second)) => second,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => None,
        };
        match second.or_else(run) {
            Some(second) => (first, second),
            None => unreachable!("somebody has taken it"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_done_once() {
        for at_once in [true, false] {
            let (mut one, mut other) = (0, 0);
            let here = std::thread::current().id();
            let (_, thread) = both(
                at_once,
                || one += 1,
                || {
                    other += 1;
                    std::thread::current().id()
                },
            );
            assert_eq!((one, other, thread == here), (1, 1, !at_once));
        }
    }

    #[test]
    #[should_panic(expected = "it broke")]
    fn a_panic_is_the_callers() {
        both(true, || (), || panic!("it broke"));
    }
}
