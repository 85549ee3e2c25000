//! Documents from memory: handed over in batches by the calling thread.
//!
//! Rule: at most a few batches wait; a caller that is faster than the counting threads waits too.

use crate::block::{Block, Shape, Supply};
use crate::error::{Error, Place};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Some documents, one behind the other.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    room: usize,
}

impl Batch {
    fn new(room: usize) -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), room }
    }

    /// Adds a document (UTF-8, or what the options say about other bytes).
    pub fn push(&mut self, document: &[u8]) {
        self.bytes.extend_from_slice(document);
        self.ends.push(self.bytes.len());
    }

    /// Whether it is time to hand the batch over.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= self.room || self.ends.len() >= 1 << 16
    }

    pub(crate) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Where batches wait for the counting threads.
pub(crate) struct Feed {
    state: Mutex<State>,
    changed: Condvar,
    /// Batches that may wait.
    limit: usize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Block>,
    closed: bool,
    /// Number of the next block, and of its first document.
    number: u64,
    document: u64,
}

impl Feed {
    pub(crate) fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), limit }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn batch(&self, room: usize) -> Batch {
        Batch::new(room)
    }

    /// Hands a batch over, or gives it back if there is no room for it within `patience`.
    pub(crate) fn push(&self, batch: Batch, patience: Duration) -> Option<Batch> {
        let full = |state: &mut State| state.waiting.len() >= self.limit;
        let waited = self.changed.wait_timeout_while(self.lock(), patience, full);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if full(&mut state) {
            return Some(batch);
        }
        let place = Place { document: Some(state.document), ..Place::default() };
        state.document += batch.ends.len() as u64;
        let shape = Arc::new(Shape::Items(batch.ends));
        let block = Block { number: state.number, bytes: batch.bytes, start: 0, shape, place };
        state.number += 1;
        state.waiting.push_back(block);
        self.changed.notify_all();
        None
    }

    /// Says that no batch will come any more. With `drop_waiting` those that wait are forgotten.
    pub(crate) fn close(&self, drop_waiting: bool) {
        let mut state = self.lock();
        state.closed = true;
        if drop_waiting {
            state.waiting.clear();
        }
        self.changed.notify_all();
    }
}

impl Supply for Feed {
    fn next(&self, _spare: Vec<u8>) -> Result<Option<Block>, (u64, Error)> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.closed;
        let waited = self.changed.wait_while(self.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let block = state.waiting.pop_front();
        self.changed.notify_all();
        Ok(block)
    }

    fn files(&self) -> u64 {
        0
    }

    fn end(&self) {
        self.close(true);
    }
}
