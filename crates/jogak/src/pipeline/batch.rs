//! Many texts on several threads: who takes which, and the ids of all, one behind the other.
//!
//! Rule: the answer does not depend on the number of threads. Whatever all of them would wait for is shared out
//! too, or done once a call.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Request, Tokenizer, Worker};
use crate::added::Input;
use crate::beside::crew;
use crate::error::Error;
use crate::scan::wish_large_pages;

/// Ids of many texts, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// All ids.
    pub ids: Vec<u32>,
    /// Text `i` has the ids from `offsets[i]` to `offsets[i + 1]`.
    pub offsets: Vec<i64>,
}

/// A part of a batch below this many bytes is not worth a thread.
const SMALLEST_PART: usize = 1 << 15;
/// The ids of a part of so many bytes stay in the second-level cache until they are put in their place.
const LARGEST_PART: usize = 1 << 17;
/// Room for more ids than this is not kept for the next part.
const ROOM_KEPT: usize = 1 << 18;

/// Ids of some texts, and where each text ends in them.
#[derive(Debug, Default)]
pub(super) struct Part {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

/// The ids of all texts, as their parts come: each is put behind those before it as soon as all of these are there.
///
/// So the only new memory of a call is that of its answer, which the system has to give page by page.
#[derive(Default)]
struct Gathered {
    ids: Vec<u32>,
    /// Begins with 0, and goes on with the end of each text.
    offsets: Vec<i64>,
    /// Parts that came before their turn, by the number of their first text.
    waiting: BTreeMap<usize, Part>,
    /// Room for parts.
    empty: Vec<Part>,
}

impl Gathered {
    /// For so many texts, with room for so many ids.
    fn new(texts: usize, room: usize) -> Self {
        let mut offsets = Vec::with_capacity(texts + 1);
        offsets.push(0);
        let mut ids: Vec<u32> = Vec::new();
        // Room that is not used is not touched, and so costs nothing; without it, ids come together as well.
        let _ = ids.try_reserve(room);
        wish_large_pages(ids.spare_capacity_mut());
        Self { ids, offsets, ..Self::default() }
    }

    /// Takes the part that begins with the text number `first`, and gives an empty one for it.
    fn put(&mut self, first: usize, part: Part) -> Part {
        self.waiting.insert(first, part);
        while let Some(mut part) = self.waiting.remove(&(self.offsets.len() - 1)) {
            let base = self.ids.len();
            self.ids.extend_from_slice(&part.ids);
            self.offsets.extend(part.ends.iter().map(|end| (base + end) as i64));
            part.ids.clear();
            part.ends.clear();
            part.ids.shrink_to(ROOM_KEPT);
            part.ends.shrink_to(ROOM_KEPT);
            self.empty.push(part);
        }
        self.empty.pop().unwrap_or_default()
    }
}

/// How many ids texts have, by the last large batch: whoever makes room for all of them, and not for many more,
/// gets memory that was used before.
#[derive(Debug)]
pub(super) struct Density {
    /// Ids to a [`Density::STRETCH`] of bytes.
    ids: AtomicUsize,
}

impl Default for Density {
    fn default() -> Self {
        // Few texts have more.
        Self { ids: AtomicUsize::new(Self::STRETCH * 5 / 8) }
    }
}

impl Density {
    const STRETCH: usize = 1 << 12;

    /// Room for the ids of so many bytes of text, and some more.
    fn room(&self, bytes: usize) -> usize {
        let ids = self.ids.load(Ordering::Relaxed);
        (bytes / Self::STRETCH + 1).saturating_mul(ids + ids / 16)
    }

    fn saw(&self, bytes: usize, ids: usize) {
        if bytes >= SMALLEST_PART {
            self.ids.store(ids / (bytes / Self::STRETCH), Ordering::Relaxed);
        }
    }
}

impl Tokenizer {
    /// Encodes many texts on up to `threads` threads. The answer does not depend on their number.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], with the number of the first text that has one.
    pub fn encode_batch(
        &self,
        texts: &[Input<'_>],
        request: &Request,
        threads: usize,
    ) -> Result<Batch, (usize, Error)> {
        let lengths: Vec<usize> = texts.iter().map(|text| text.text.len()).collect();
        let bytes: usize = lengths.iter().sum();
        let gathered = Mutex::new(Gathered::new(texts.len(), self.density.room(bytes)));
        let done = self.shared_out(&lengths, threads, |range, worker| {
            let first = range.start;
            let mut part = std::mem::take(&mut worker.part);
            let result = if range.len() == texts.len() {
                // All there is needs to be put nowhere.
                let Gathered { ids, offsets, .. } = &mut *locked(&gathered);
                self.encode_part(texts, range, request, worker, ids, |end| offsets.push(end as i64))
            } else {
                let Part { ids, ends } = &mut part;
                let result =
                    self.encode_part(texts, range, request, worker, ids, |end| ends.push(end));
                part = locked(&gathered).put(first, part);
                result
            };
            worker.part = part;
            result
        });
        done.into_iter().collect::<Result<Vec<()>, _>>()?;
        let Gathered { ids, offsets, .. } =
            gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.density.saw(bytes, ids.len());
        Ok(Batch { ids, offsets })
    }

    /// Cuts texts of these lengths, in bytes, into ranges and does `part` with each, on up to `threads` threads.
    /// The answers come in the order of the texts.
    pub(crate) fn shared_out<R: Send>(
        &self,
        lengths: &[usize],
        threads: usize,
        part: impl Fn(Range<usize>, &mut Worker) -> R + Sync,
    ) -> Vec<R> {
        let parts = parts(lengths, threads);
        let threads = threads.min(parts.len()).max(1);
        // Every thread takes its own parts, and those of others once it has no more: who encodes the same texts
        // again finds the words of most in the cache of the worker that saw them.
        let taken: Vec<_> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
        let next = |seat: usize| {
            (0..threads).map(|further| (seat + further) % threads).find_map(|owner| {
                let number = owner + threads * taken[owner].fetch_add(1, Ordering::Relaxed);
                Some(number).filter(|&number| number < parts.len())
            })
        };
        // Taken and given back here, all at once: threads that came at the same time would each find the list
        // taken, and what their workers know would be lost.
        let mut idle = self.idle_workers(threads);
        // New ones begin with what one of the others has learned.
        if let Some(Worker { learned, .. }) = idle.last().filter(|_| idle.len() < threads) {
            let copies = crew(threads - idle.len(), || learned.clone(), |_| learned.clone());
            idle.splice(0..0, copies.into_iter().map(Worker::with));
        }
        let mut idle = idle.into_iter().rev();
        let seats: Vec<_> = (0..threads).map(|_| Mutex::new(idle.next())).collect();
        let run = |seat: usize| {
            // The first ones are made on their own threads, which takes a while.
            let worker = locked(&seats[seat]).take();
            let mut worker = worker.unwrap_or_else(|| self.new_worker());
            let mut done = Vec::new();
            while let Some(number) = next(seat) {
                done.push((number, part(parts[number].clone(), &mut worker)));
            }
            *locked(&seats[seat]) = Some(worker);
            done
        };
        let mut done: Vec<_> = crew(threads, || run(0), run).into_iter().flatten().collect();
        let back = |seat: Mutex<_>| seat.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The first one is taken first again: it knows most.
        self.give_all_back(seats.into_iter().rev().filter_map(back));
        done.sort_unstable_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, answer)| answer).collect()
    }

    fn encode_part(
        &self,
        texts: &[Input<'_>],
        range: Range<usize>,
        request: &Request,
        worker: &mut Worker,
        ids: &mut Vec<u32>,
        mut ends: impl FnMut(usize),
    ) -> Result<(), (usize, Error)> {
        for index in range {
            self.encode_numbered(texts[index], request, index as u64, worker, ids)
                .map_err(|error| (index, error))?;
            ends(ids.len());
        }
        Ok(())
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts a list of texts into ranges of about the same number of bytes: one for one thread, some more
/// than there are threads for several, so that none waits long for the last.
fn parts(lengths: &[usize], threads: usize) -> Vec<Range<usize>> {
    let total: usize = lengths.iter().sum();
    let part = (total / (8 * threads.max(1))).clamp(SMALLEST_PART, LARGEST_PART);
    let part = if threads <= 1 { usize::MAX } else { part };
    let mut parts = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (index, length) in lengths.iter().enumerate() {
        bytes += length;
        if bytes >= part || index + 1 == lengths.len() {
            parts.push(from..index + 1);
            (from, bytes) = (index + 1, 0);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_any_order_give_the_same() {
        let texts: Vec<Vec<u32>> = (0..40).map(|text| (0..text * 7 % 11).collect()).collect();
        let parts = [0..1, 1..9, 9..10, 10..10 + 17, 27..40];
        let part = |range: &Range<usize>, mut room: Part| {
            assert!(room.ids.is_empty() && room.ends.is_empty());
            for text in &texts[range.clone()] {
                room.ids.extend(text);
                room.ends.push(room.ids.len());
            }
            room
        };
        let mut order: Vec<usize> = (0..parts.len()).collect();
        let mut random = crate::random::SplitMix64::new(3);
        for _ in 0..200 {
            order.sort_by_cached_key(|_| random.next());
            let mut gathered = Gathered::new(texts.len(), 10);
            let mut room = Part::default();
            for range in order.iter().map(|&number| &parts[number]) {
                room = gathered.put(range.start, part(range, room));
            }
            assert_eq!(gathered.ids, texts.concat());
            let lengths = gathered.offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
            assert!(lengths.eq(texts.iter().map(Vec::len)));
            assert!(gathered.waiting.is_empty());
        }
    }
}
