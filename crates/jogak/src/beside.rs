//! Several things at once, each on a thread of its own.
//!
//! Rule: none may know of the others. The threads end before the call does; where the system gives none, or
//! fewer than were asked for, the calling thread does what is left.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};

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
        let helper = Builder::new().spawn_scoped(scope, run);
        let first = one();
        let second = match helper.map(ScopedJoinHandle::join) {
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

/// Does `own` on this thread, and meanwhile `other` with the numbers from 1 up to below `threads`, each on a thread
/// of its own; gives what they give, in the order of the numbers.
///
/// The system may give fewer threads, or none: all of them have to take their work from one place, so that `own`
/// does what nobody else has taken.
///
/// ```
/// use std::sync::Mutex;
///
/// let work = Mutex::new(1..=100);
/// let add = || std::iter::from_fn(|| work.lock().ok()?.next()).sum::<u64>();
/// let sums = jogak::beside::crew(3, add, |_| add());
/// assert_eq!(sums.into_iter().sum::<u64>(), 5050);
/// ```
pub fn crew<T: Send>(
    threads: usize,
    own: impl FnOnce() -> T,
    other: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if threads <= 1 {
        return vec![own()];
    }
    let other = &other;
    std::thread::scope(|scope| {
        let start = |number| Builder::new().spawn_scoped(scope, move || other(number)).ok();
        let helpers: Vec<_> = (1..threads).map_while(start).collect();
        let mut done = vec![own()];
        for helper in helpers {
            match helper.join() {
                Ok(more) => done.push(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
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

    #[test]
    fn a_crew_has_numbers() {
        for threads in 0..5 {
            let here = std::thread::current().id();
            let done = crew(threads, || (0, here), |number| (number, std::thread::current().id()));
            assert!(done.iter().map(|(number, _)| *number).eq(0..threads.max(1)));
            assert!(done[1..].iter().all(|(_, thread)| *thread != here));
        }
    }

    #[test]
    #[should_panic(expected = "it broke")]
    fn a_panic_in_a_crew_is_the_callers() {
        crew(3, || (), |number| assert!(number != 2, "it broke"));
    }
}
