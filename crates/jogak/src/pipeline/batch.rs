//! Many texts on several threads: who takes which, and the ids of all, one behind the other.
//!
//! Rule: the answer does not depend on the number of threads. Whatever all of them would wait for is shared out
//! too, or done once a call.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Request, Tokenizer, Worker};
use crate::added::Input;
use crate::error::Error;

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
/// Fewer ids than this are not worth a thread to be put in their place.
const FEW_IDS: usize = 1 << 17;

/// Ids, and where each text ends in them.
type Part = (Vec<u32>, Vec<usize>);

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
        let done = self.shared_out(&lengths, threads, |range, worker| {
            self.encode_part(texts, range, request, worker)
        });
        let parts = done.into_iter().collect::<Result<Vec<Part>, _>>()?;
        let mut offsets = Vec::with_capacity(texts.len() + 1);
        offsets.push(0);
        let mut base = 0;
        for (ids, ends) in &parts {
            offsets.extend(ends.iter().map(|end| (base + end) as i64));
            base += ids.len();
        }
        let ids = joined(parts.into_iter().map(|(ids, _)| ids).collect(), threads);
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
        let next = AtomicUsize::new(0);
        let run = |worker: Option<Worker>| {
            // A new one is made on its own thread, which takes a while.
            let mut worker = worker.unwrap_or_else(|| self.new_worker());
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(range) = parts.get(number) else { break };
                done.push((number, part(range.clone(), &mut worker)));
            }
            (worker, done)
        };
        // Taken and given back here, all at once: threads that came at the same time would each find the list
        // taken, and what their workers know would be lost.
        let mut idle = self.idle_workers(threads).into_iter().rev();
        let (own, mut done) = if threads == 1 {
            let (worker, done) = run(idle.next());
            (vec![worker], done)
        } else {
            std::thread::scope(|scope| {
                let first = idle.next();
                let others: Vec<_> = (1..threads)
                    .map(|_| {
                        let worker = idle.next();
                        scope.spawn(|| run(worker))
                    })
                    .collect();
                let (worker, mut done) = run(first);
                let mut workers = vec![worker];
                for other in others {
                    match other.join() {
                        Ok((worker, more)) => {
                            workers.push(worker);
                            done.extend(more);
                        }
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
                (workers, done)
            })
        };
        // The first one is taken first again: it knows most.
        self.give_all_back(own.into_iter().rev());
        done.sort_unstable_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, answer)| answer).collect()
    }

    fn encode_part(
        &self,
        texts: &[Input<'_>],
        range: Range<usize>,
        request: &Request,
        worker: &mut Worker,
    ) -> Result<Part, (usize, Error)> {
        let bytes: usize = texts[range.clone()].iter().map(|text| text.text.len()).sum();
        // Room that is not used is not touched, and so costs nothing.
        let mut ids = Vec::with_capacity(bytes / 2);
        let mut ends = Vec::with_capacity(range.len());
        for index in range {
            self.encode_numbered(texts[index], request, index as u64, worker, &mut ids)
                .map_err(|error| (index, error))?;
            ends.push(ids.len());
        }
        Ok((ids, ends))
    }
}

/// Cuts a list of texts into ranges of about the same number of bytes: one for one thread, some more
/// than there are threads for several, so that none waits long for the last.
fn parts(lengths: &[usize], threads: usize) -> Vec<Range<usize>> {
    let total: usize = lengths.iter().sum();
    let part = if threads <= 1 { usize::MAX } else { (total / (8 * threads)).max(SMALLEST_PART) };
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

/// All ids, one part behind the other. One part is handed on as it is. Of several, each thread copies some: the
/// memory is new, and most of the time goes into asking the system for it, page by page.
fn joined(mut parts: Vec<Vec<u32>>, threads: usize) -> Vec<u32> {
    if parts.len() <= 1 {
        return parts.pop().unwrap_or_default();
    }
    let total: usize = parts.iter().map(Vec::len).sum();
    if total < FEW_IDS {
        return parts.concat();
    }
    let mut ids = vec![0; total];
    let share = total.div_ceil(threads.max(1));
    std::thread::scope(|scope| {
        let mut rest = &mut ids[..];
        let mut parts = parts.into_iter().peekable();
        while parts.peek().is_some() {
            let (mut mine, mut size) = (Vec::new(), 0);
            while size < share
                && let Some(part) = parts.next()
            {
                size += part.len();
                mine.push(part);
            }
            let (place, behind) = std::mem::take(&mut rest).split_at_mut(size);
            rest = behind;
            let copy = move || {
                let mut place = place;
                // Each is given back to the system by who copied it.
                for part in mine {
                    let (here, behind) = place.split_at_mut(part.len());
                    here.copy_from_slice(&part);
                    place = behind;
                }
            };
            // The last share is this thread's.
            if parts.peek().is_some() {
                scope.spawn(copy);
            } else {
                copy();
            }
        }
    });
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_is_one_part_behind_the_other() {
        for sizes in
            [vec![], vec![0], vec![3], vec![0, 0], vec![2, 0, 1], vec![300_000, 1, 0, 70_000, 9]]
        {
            let mut next = 0..;
            let parts: Vec<Vec<u32>> =
                sizes.iter().map(|&size| next.by_ref().take(size).collect()).collect();
            let expected: Vec<u32> = (0..sizes.iter().sum::<usize>() as u32).collect();
            for threads in [1, 2, 3, 16] {
                assert_eq!(joined(parts.clone(), threads), expected, "{sizes:?} {threads}");
            }
        }
    }
}
