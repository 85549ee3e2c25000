//! Work shared out among threads that are started for it and end with it.
//!
//! Rule: which thread did what must not be seen in any answer. The caller adds up what the threads
//! hand back with operations that do not care for order (whole numbers, or one place per item).

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::beside::crew;

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
    let worker = |_| {
        let mut state = new();
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = next else { return state };
            work(&mut state, item);
        }
    };
    crew(threads, || worker(0), worker)
}

/// What long work calls now and then, and that says whether to go on.
pub(super) type Tick<'a> = &'a mut dyn FnMut() -> ControlFlow<()>;

/// Does `work(number, tick)` for every number below `threads` on a thread of its own, as far as the system gives
/// so many; number 0 on this one, where `tick` is called. If it breaks, all do.
pub(super) fn each<T: Send>(
    threads: usize,
    mut tick: impl FnMut() -> ControlFlow<()>,
    work: impl Fn(usize, Tick<'_>) -> ControlFlow<(), T> + Sync,
) -> ControlFlow<(), Vec<T>> {
    let stopped = AtomicBool::new(false);
    let mut tick = || {
        let flow = tick();
        stopped.store(flow.is_break(), Ordering::Relaxed);
        flow
    };
    let look = || match stopped.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let next = AtomicUsize::new(1);
    // Number 0 is done, or somebody else's; now those that nobody has taken.
    let rest = |mut done: Vec<(usize, T)>, tick: Tick<'_>| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= threads {
                return ControlFlow::Continue(done);
            }
            done.push((number, work(number, &mut *tick)?));
        }
    };
    let own = || {
        let first = work(0, &mut tick)?;
        rest(vec![(0, first)], &mut tick)
    };
    let mut done = Vec::with_capacity(threads);
    for parts in crew(threads, own, |_| rest(Vec::new(), &mut || look())) {
        done.extend(parts?);
    }
    done.sort_unstable_by_key(|(number, _)| *number);
    ControlFlow::Continue(done.into_iter().map(|(_, part)| part).collect())
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
    fn every_number_is_worked_on_once() {
        for threads in 1..5 {
            let mut ticks = 0;
            let tick = || {
                ticks += 1;
                ControlFlow::Continue(())
            };
            let done = each(threads, tick, |number, tick| {
                tick()?;
                ControlFlow::Continue(number)
            });
            assert!(done.continue_value().is_some_and(|done| done.into_iter().eq(0..threads)));
            assert!(ticks > 0);
        }
        // Who is told to stop takes nothing more.
        let work = |_, tick: Tick<'_>| tick();
        assert!(each(1, || ControlFlow::Break(()), work).is_break());
        assert!(each(3, || ControlFlow::Break(()), work).is_break());
    }

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in 1..4 {
            let sums = share(threads, 1..=100u64, || 0, |sum, item| *sum += item);
            assert_eq!(sums.into_iter().sum::<u64>(), 5050);
        }
        assert_eq!(total(vec![vec![1, 2], vec![3, 4]]), [4, 6]);
    }
}
