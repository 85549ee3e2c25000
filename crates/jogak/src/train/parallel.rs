//! Work shared out among threads that are started for it and end with it.
//!
//! Rule: which thread did what must not be seen in any answer. The caller adds up what the threads
//! hand back with operations that do not care for order (whole numbers, or one place per item).

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does `work` once for every item, on up to `threads` threads; whoever is free takes the next.
/// Every thread works on a state of its own, made by `new`; all states are handed back.
pub(super) fn share<I, S>(
    threads: usize,
    items: I,
    new: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I::Item) + Sync,
) -> Vec<S>
where
    I: Iterator + Send,
    S: Send,
{
    if threads <= 1 {
        let mut state = new();
        items.for_each(|item| work(&mut state, item));
        return vec![state];
    }
    let queue = Mutex::new(items);
    let worker = || {
        let mut state = new();
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = next else { return state };
            work(&mut state, item);
        }
    };
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut states = vec![worker()];
        for helper in helpers {
            match helper.join() {
                Ok(state) => states.push(state),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        states
    })
}

/// What long work calls now and then, and that says whether to go on.
pub(super) type Tick<'a> = &'a mut dyn FnMut() -> ControlFlow<()>;

/// Does `work(number, tick)` for every number below `threads` on a thread of its own; number 0 on this
/// one, where `tick` is called. If it breaks, all do.
pub(super) fn each<T: Send>(
    threads: usize,
    mut tick: impl FnMut() -> ControlFlow<()>,
    work: impl Fn(usize, Tick<'_>) -> ControlFlow<(), T> + Sync,
) -> ControlFlow<(), Vec<T>> {
    let stopped = AtomicBool::new(false);
    let look = || match stopped.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    std::thread::scope(|scope| {
        let (look, work) = (&look, &work);
        let helpers: Vec<_> =
            (1..threads).map(|number| scope.spawn(move || work(number, &mut || look()))).collect();
        let mut parts = vec![work(0, &mut || {
            let flow = tick();
            stopped.store(flow.is_break(), Ordering::Relaxed);
            flow
        })];
        for helper in helpers {
            match helper.join() {
                Ok(part) => parts.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        let mut done = Vec::with_capacity(threads);
        for part in parts {
            done.push(part?);
        }
        ControlFlow::Continue(done)
    })
}

/// Adds up tables of whole numbers, place by place.
pub(super) fn total(tables: Vec<Vec<u64>>) -> Vec<u64> {
    let mut tables = tables.into_iter();
    let mut sum = tables.next().unwrap_or_default();
    for table in tables {
        for (place, number) in sum.iter_mut().zip(table) {
            *place += number;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in 1..4 {
            let sums = share(threads, 1..=100u64, || 0, |sum, item| *sum += item);
            assert_eq!(sums.into_iter().sum::<u64>(), 5050);
        }
        assert_eq!(total(vec![vec![1, 2], vec![3, 4]]), [4, 6]);
    }
}
