//! Work that is shared out among threads part by part, as the parts come.
//!
//! In words: the calling thread makes the parts, one after the other, and the others begin with the first while it makes
//! the next. Once all are made it takes parts too. So threads do not wait for what only one of them can make, such as
//! the UTF-8 of Python's texts.
//!
//! Rule: every part is done once, whatever the number of threads, and all are done before the call ends.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Tokenizer, Worker};
use crate::beside::crew;

/// What is left to do for the calling thread once all parts have come.
pub type Rest<'r> = &'r mut (dyn FnMut() + Send);

/// What comes while that before it is worked on.
///
/// ```
/// use jogak::pipeline::Arriving;
///
/// let mut done = 0;
/// let arriving = Arriving::all(["low", "lower"].into_iter());
/// (arriving.then)(&mut || done += 1);
/// assert_eq!((arriving.items.len(), done), (2, 1));
/// ```
pub struct Arriving<I, T> {
    /// Read on the calling thread, to the end or the first error.
    pub items: I,
    /// Called once behind that, with the rest of the work: who holds a lock to read the items lets go of it there.
    pub then: T,
}

impl<I> Arriving<I, fn(Rest<'_>)> {
    /// What is there already.
    pub fn all(items: I) -> Self {
        Self { items, then: |rest| rest() }
    }
}

/// Parts that have come, and who has taken which.
struct Parts<P> {
    state: Mutex<State<P>>,
    /// Somebody may wait for what has changed.
    changed: Condvar,
}

struct State<P> {
    /// All that have come; those that nobody has taken are there.
    parts: Vec<Option<P>>,
    /// For each seat the first of its parts that nobody has taken.
    next: Vec<usize>,
    /// How many are done, or will not be.
    done: usize,
    /// How many threads wait for a change.
    waiting: usize,
    /// No more will come.
    complete: bool,
}

/// A thread is far ahead of another if its next part stands so many rounds behind the next of that one; a round is a part
/// for each thread.
const FAR: usize = 2;

impl<P> State<P> {
    /// The part that the thread of this seat is to take next, with its number, if it has come.
    fn take(&mut self, seat: usize) -> Option<(usize, P)> {
        let threads = self.next.len();
        let has_come = |owner: &usize| self.next[*owner] < self.parts.len();
        let last = (0..threads).filter(has_come).min_by_key(|&owner| self.next[owner])?;
        let is_near = self.next[seat] < self.next[last] + FAR * threads;
        let owner = if has_come(&seat) && is_near { seat } else { last };
        let number = self.next[owner];
        self.next[owner] += threads;
        Some((number, self.parts[number].take()?))
    }
}

impl<P> Parts<P> {
    /// None yet, for so many threads.
    fn new(threads: usize) -> Self {
        let (parts, next) = (Vec::new(), (0..threads).collect());
        let state = State { parts, next, done: 0, waiting: 0, complete: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn locked(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&'s self, mut state: MutexGuard<'s, State<P>>) -> MutexGuard<'s, State<P>> {
        state.waiting += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    fn change(&self, change: impl FnOnce(&mut State<P>)) {
        let mut state = self.locked();
        change(&mut state);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// One more has come.
    fn push(&self, part: P) {
        self.change(|state| state.parts.push(Some(part)));
    }

    /// What nobody has taken yet is not done.
    fn give_up(&self) {
        self.change(|state| state.done += state.parts.iter_mut().filter_map(Option::take).count());
    }

    /// Waits until all that were taken are done.
    fn wait_for_all(&self) {
        let mut state = self.locked();
        while state.done < state.parts.len() {
            state = self.wait(state);
        }
    }
}

/// The parts that one thread takes, each with its number. A part is done when the next one is asked for.
///
/// Every thread takes its own parts: who encodes the same texts again finds the words of most in the cache of the worker
/// that saw them. Where it has no more, or is far ahead of another, it takes the first that is left, so that answers
/// do not pile up behind one that is late.
struct Turns<'p, P> {
    parts: &'p Parts<P>,
    seat: usize,
    works: bool,
}

impl<P> Turns<'_, P> {
    fn done(&mut self) {
        if std::mem::take(&mut self.works) {
            self.parts.change(|state| state.done += 1);
        }
    }
}

impl<P> Iterator for Turns<'_, P> {
    type Item = (usize, P);

    fn next(&mut self) -> Option<(usize, P)> {
        self.done();
        let mut state = self.parts.locked();
        loop {
            if let Some((number, part)) = state.take(self.seat) {
                self.works = true;
                return Some((number, part));
            }
            if state.complete {
                return None;
            }
            state = self.parts.wait(state);
        }
    }
}

impl<P> Drop for Turns<'_, P> {
    fn drop(&mut self) {
        self.done();
    }
}

/// Whoever makes parts. When it is dropped, be it in a panic, no more will come, and nobody waits for them.
struct Maker<'p, P>(&'p Parts<P>);

impl<P> Drop for Maker<'_, P> {
    fn drop(&mut self) {
        self.0.change(|state| state.complete = true);
    }
}

/// Calls `seat` on each of up to `threads` threads, with its number and the parts that it is to take, to say what came of
/// each by its number. The answers come in the order of the parts.
fn share<P, I, T, R, E>(
    arriving: Arriving<I, T>,
    threads: usize,
    seat: impl Fn(usize, Turns<'_, P>) -> Vec<(usize, R)> + Sync,
) -> Result<Vec<R>, E>
where
    P: Send,
    I: Iterator<Item = Result<P, E>>,
    T: FnOnce(Rest<'_>),
    R: Send,
{
    let Arriving { mut items, then } = arriving;
    let parts = Parts::new(threads);
    let run = |number: usize| seat(number, Turns { parts: &parts, seat: number, works: false });
    let mut made = Ok(());
    let own = || {
        let maker = Maker(&parts);
        made = items.try_for_each(|part| part.map(|part| parts.push(part)));
        if made.is_err() {
            parts.give_up();
        }
        drop(maker);
        let mut done = Vec::new();
        then(&mut || {
            done = run(0);
            parts.wait_for_all();
        });
        done
    };
    let mut done: Vec<_> = crew(threads, own, run).into_iter().flatten().collect();
    made?;
    done.sort_unstable_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, answer)| answer).collect())
}

impl Tokenizer {
    /// Does `work` with each part, on up to `threads` threads. The answers come in the order of the parts.
    ///
    /// # Errors
    /// The first one of the parts; those before it are worked on, or not.
    pub(crate) fn shared_out<P, I, T, R, E>(
        &self,
        arriving: Arriving<I, T>,
        threads: usize,
        work: impl Fn(P, &mut Worker) -> R + Sync,
    ) -> Result<Vec<R>, E>
    where
        P: Send,
        I: Iterator<Item = Result<P, E>>,
        T: FnOnce(Rest<'_>),
        R: Send,
    {
        let threads = threads.max(1);
        // Taken and given back here, all at once: threads that came at the same time would each find the list
        // taken, and what their workers know would be lost.
        let mut idle = self.idle_workers(threads);
        // New ones begin with what one of the others has learned.
        if let Some(worker) = idle.last().filter(|_| idle.len() < threads) {
            let learned = &worker.learned;
            let copies = crew(threads - idle.len(), || learned.clone(), |_| learned.clone());
            idle.splice(0..0, copies.into_iter().map(Worker::with));
        }
        let mut idle = idle.into_iter().rev();
        let seats: Vec<_> = (0..threads).map(|_| Mutex::new(idle.next())).collect();
        let seat = |number: usize| seats[number].lock().unwrap_or_else(PoisonError::into_inner);
        let done = share(arriving, threads, |number, parts| {
            // The first ones are made on their own threads, which takes a while.
            let worker = seat(number).take();
            let mut worker = worker.unwrap_or_else(|| self.new_worker());
            let done = parts.map(|(number, part)| (number, work(part, &mut worker))).collect();
            *seat(number) = Some(worker);
            done
        });
        let back = |seat: Mutex<_>| seat.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The first one is taken first again: it knows most.
        self.give_all_back(seats.into_iter().rev().filter_map(back));
        done
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Doubles numbers.
    fn double(_: usize, parts: Turns<'_, u64>) -> Vec<(usize, u64)> {
        parts.map(|(number, part)| (number, 2 * part)).collect()
    }

    #[test]
    fn answers_come_in_order() {
        for threads in 1..5 {
            for parts in [0, 1, 2, 3, 100] {
                let mut rested = 0;
                let mut then = |rest: Rest<'_>| {
                    rested += 1;
                    rest();
                };
                let arriving = Arriving { items: (0..parts).map(Ok::<_, ()>), then: &mut then };
                let doubled: Vec<u64> = (0..parts).map(|part| 2 * part).collect();
                assert_eq!(share(arriving, threads, double), Ok(doubled));
                assert_eq!(rested, 1);
            }
        }
    }

    #[test]
    fn nobody_is_far_ahead() {
        let parts = Parts::new(2);
        (0..10).for_each(|part| parts.push(part));
        let mut state = parts.locked();
        let mut taken = |seat: usize| state.take(seat).map(|(number, _)| number);
        // The other thread is late.
        let numbers: Vec<_> = std::iter::repeat_with(|| taken(0)).take(6).flatten().collect();
        assert_eq!(numbers, [0, 2, 4, 1, 6, 3]);
        // It comes, and takes its own.
        assert_eq!([taken(1), taken(0), taken(1), taken(1)], [Some(5), Some(8), Some(7), Some(9)]);
        assert_eq!([taken(0), taken(1)], [None, None]);
    }

    #[test]
    fn parts_are_worked_on_while_others_come() {
        let (tell, told) = mpsc::channel();
        let tell = Mutex::new(tell);
        let first = std::iter::once_with(|| Ok::<u64, mpsc::RecvTimeoutError>(7));
        // Comes when the first one is done.
        let second = std::iter::once_with(|| told.recv_timeout(Duration::from_secs(60)));
        let answers = share(Arriving::all(first.chain(second)), 2, |seat, parts| {
            parts
                .map(|(number, part)| {
                    tell.lock().unwrap_or_else(PoisonError::into_inner).send(part + 1).ok();
                    (number, (seat, part))
                })
                .collect()
        });
        assert!(answers.is_ok_and(|answers| answers[0] == (1, 7) && answers[1].1 == 8));
    }

    #[test]
    fn all_are_done_before_the_rest_is() {
        // The other thread takes one, and is slow.
        let (tell, told) = mpsc::channel();
        let tell = Mutex::new(tell);
        let done = AtomicBool::new(false);
        let first = std::iter::once_with(|| Ok::<u64, mpsc::RecvTimeoutError>(1));
        let second = std::iter::once_with(|| told.recv_timeout(Duration::from_secs(60)));
        let then = |rest: Rest<'_>| {
            rest();
            assert!(done.load(Ordering::SeqCst));
        };
        let arriving = Arriving { items: first.chain(second), then };
        let answers = share(arriving, 2, |seat, parts| {
            let work = |(number, part)| {
                if seat == 1 && part == 1 {
                    tell.lock().unwrap_or_else(PoisonError::into_inner).send(2).ok();
                    std::thread::sleep(Duration::from_millis(200));
                    done.store(true, Ordering::SeqCst);
                }
                (number, part)
            };
            parts.map(work).collect()
        });
        assert_eq!(answers, Ok(vec![1, 2]));
    }

    #[test]
    fn an_error_ends_the_parts() {
        for threads in 1..4 {
            let items = (0..50).map(|part| if part < 40 { Ok(part) } else { Err(part) });
            assert_eq!(share(Arriving::all(items), threads, double), Err(40));
        }
        // What nobody had begun with is left.
        let items = [Ok(1), Ok(2), Err(())].into_iter();
        let nothing = |_: usize, mut parts: Turns<'_, u64>| -> Vec<(usize, u64)> {
            assert_eq!(parts.next(), None);
            Vec::new()
        };
        assert_eq!(share(Arriving::all(items), 1, nothing), Err(()));
    }

    #[test]
    #[should_panic(expected = "it broke")]
    fn nobody_waits_for_parts_that_broke() {
        let items =
            (0..9).map(|part| if part < 5 { Ok::<u64, ()>(part) } else { panic!("it broke") });
        let _ = share(Arriving::all(items), 3, double);
    }

    #[test]
    #[should_panic(expected = "it broke")]
    fn nobody_waits_for_a_thread_that_broke() {
        // The other thread has to take one.
        let (tell, told) = mpsc::channel();
        let tell = Mutex::new(tell);
        let first = std::iter::once_with(|| Ok::<u64, ()>(1));
        let second = std::iter::once_with(|| {
            let _ = told.recv_timeout(Duration::from_secs(60));
            Ok(2)
        });
        let _ = share(Arriving::all(first.chain(second)), 2, |seat, parts| {
            let work = |(number, _): (usize, u64)| {
                tell.lock().unwrap_or_else(PoisonError::into_inner).send(()).ok();
                assert!(seat == 0, "it broke");
                (number, ())
            };
            parts.map(work).collect()
        });
    }
}
