//! A thread that does a part of a job while the caller does the rest.
//!
//! Rule: nobody waits for a thread that the system has not let run. A job that the partner has not begun
//! when the caller is done with its own part is taken back, and done by the caller; so a machine that is
//! busy with other things costs the second thread's help, and no more.
//!
//! Jobs are short and follow each other closely, so both sides look for each other for a few
//! microseconds before they sleep.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// What can be handed over: the work, and where its results go.
pub(super) trait Job: Send + 'static {
    fn work(&mut self);
}

/// How often one looks for the other before it sleeps: some ten microseconds.
const LOOKS: u32 = 4096;

/// Where caller and partner meet.
#[derive(Debug)]
struct Meeting<J> {
    desk: Mutex<Desk<J>>,
    changed: Condvar,
    /// Changes with every change of the desk.
    changes: AtomicU32,
}

#[derive(Debug)]
enum Desk<J> {
    /// Nothing to do.
    Empty,
    /// To be done by whoever takes it.
    Posted(J),
    /// The partner works on it.
    Taken,
    /// Done by the partner.
    Done(J),
    /// One of both has gone.
    Closed,
}

impl<J> Meeting<J> {
    fn desk(&self) -> MutexGuard<'_, Desk<J>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is put on a closed desk.
    fn put(&self, new: Desk<J>) {
        let mut desk = self.desk();
        if !matches!(*desk, Desk::Closed) {
            *desk = new;
        }
        drop(desk);
        self.changes.fetch_add(1, Ordering::Release);
        self.changed.notify_one();
    }

    /// Waits until the desk is as wanted.
    fn wait(&self, wanted: impl Fn(&Desk<J>) -> bool) -> MutexGuard<'_, Desk<J>> {
        let seen = self.changes.load(Ordering::Acquire);
        let mut desk = self.desk();
        if !wanted(&desk) {
            drop(desk);
            for _ in 0..LOOKS {
                if self.changes.load(Ordering::Acquire) != seen {
                    break;
                }
                std::hint::spin_loop();
            }
            desk = self.desk();
        }
        while !wanted(&desk) {
            desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
        desk
    }
}

/// The partner, seen by the caller. Its thread ends when this is dropped.
#[derive(Debug)]
pub(super) struct Partner<J> {
    meeting: Arc<Meeting<J>>,
    thread: Option<JoinHandle<()>>,
}

/// Closes the desk of a thread that panics, so that nobody waits for it.
struct Closing<J>(Arc<Meeting<J>>);

impl<J> Drop for Closing<J> {
    fn drop(&mut self) {
        self.0.put(Desk::Closed);
    }
}

impl<J: Job> Partner<J> {
    /// Starts the thread; None if the system has none to give.
    pub(super) fn start() -> Option<Self> {
        let meeting = Arc::new(Meeting {
            desk: Mutex::new(Desk::<J>::Empty),
            changed: Condvar::new(),
            changes: AtomicU32::new(0),
        });
        let closing = Closing(Arc::clone(&meeting));
        let thread = Builder::new().spawn(move || {
            let meeting = &closing.0;
            loop {
                let mut desk = meeting.wait(|desk| matches!(desk, Desk::Posted(_) | Desk::Closed));
                let Desk::Posted(mut job) = std::mem::replace(&mut *desk, Desk::Taken) else {
                    return;
                };
                drop(desk);
                job.work();
                meeting.put(Desk::Done(job));
            }
        });
        Some(Self { meeting, thread: Some(thread.ok()?) })
    }

    /// Hands a job over. The one before must have been fetched.
    pub(super) fn post(&self, job: J) {
        self.meeting.put(Desk::Posted(job));
    }

    /// The job that was posted, done by the partner or, if it has not begun, here.
    pub(super) fn fetch(&mut self) -> J {
        if let Desk::Posted(mut job) = self.take(|desk| matches!(desk, Desk::Posted(_))) {
            job.work();
            return job;
        }
        let mut desk = self.meeting.wait(|desk| matches!(desk, Desk::Done(_) | Desk::Closed));
        match std::mem::replace(&mut *desk, Desk::Empty) {
            Desk::Done(job) => job,
            _ => {
                drop(desk);
                let ended = self.thread.take().map(JoinHandle::join);
                std::panic::resume_unwind(match ended {
                    Some(Err(panic)) => panic,
                    _ => Box::new("a job was fetched that nobody posted"),
                })
            }
        }
    }

    /// What is on the desk, if it is wanted.
    fn take(&self, wanted: impl Fn(&Desk<J>) -> bool) -> Desk<J> {
        let mut desk = self.meeting.desk();
        if wanted(&desk) { std::mem::replace(&mut *desk, Desk::Empty) } else { Desk::Empty }
    }
}

impl<J> Drop for Partner<J> {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.meeting.put(Desk::Closed);
            // If it panicked, that was told by `fetch`, or is of no use to anybody now.
            let _ = thread.join();
        }
    }
}

/// When to ask a partner. On a machine that is busy with other things, it keeps the caller waiting; then
/// it is left alone, each time for longer.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// Jobs that are not handed over.
    alone: u32,
    /// How many it was the last time.
    last: u32,
}

impl Patience {
    /// Whether the next job is handed over.
    pub(super) fn asks(&mut self) -> bool {
        let asks = self.alone == 0;
        self.alone = self.alone.saturating_sub(1);
        asks
    }

    /// The caller's part of a job took `own`; all of it, with waiting, `all`.
    pub(super) fn learn(&mut self, own: Duration, all: Duration) {
        if all > 2 * own + GRACE {
            self.last = (2 * self.last).clamp(8, 512);
            self.alone = self.last;
        } else {
            self.last /= 2;
        }
    }
}

/// What a wait may take in any case.
const GRACE: Duration = Duration::from_micros(50);

#[cfg(test)]
mod tests {
    use super::*;

    struct Square(u64);

    impl Job for Square {
        fn work(&mut self) {
            self.0 *= self.0;
        }
    }

    #[test]
    fn every_job_is_done_once() {
        let mut partner = Partner::start().expect("a thread");
        for number in 0..20_000 {
            partner.post(Square(number));
            if number % 3 == 0 {
                std::thread::yield_now();
            }
            assert_eq!(partner.fetch().0, number * number);
        }
    }

    struct Fails;

    impl Job for Fails {
        fn work(&mut self) {
            panic!("no");
        }
    }

    #[test]
    #[should_panic(expected = "no")]
    fn a_panic_is_passed_on() {
        let mut partner = Partner::start().expect("a thread");
        partner.post(Fails);
        std::thread::sleep(std::time::Duration::from_millis(20));
        partner.fetch();
    }
}
