//! What the machine can do, asked once.

use std::sync::atomic::{AtomicU8, Ordering};

const YES: u8 = 1;
const NO: u8 = 2;

/// An answer of the machine: [`YES`], [`NO`]; 0 before somebody asked.
pub(super) struct Able(AtomicU8);

impl Able {
    pub(super) const fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// The answer; `ask` gets it, and gets the same each time. One look at memory, as texts are short.
    #[inline]
    pub(super) fn or_ask(&self, ask: fn() -> bool) -> bool {
        match self.0.load(Ordering::Relaxed) {
            0 => self.ask(ask),
            answer => answer == YES,
        }
    }

    #[cold]
    fn ask(&self, ask: fn() -> bool) -> bool {
        let able = ask();
        // Threads that ask at the same time write the same answer.
        self.0.store(if able { YES } else { NO }, Ordering::Relaxed);
        able
    }
}
