//! Many lists of ids -> their texts, on several threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Decoder;
use crate::beside::crew;
use crate::error::Error;

/// A part of a batch with fewer ids is not worth a thread.
const SMALLEST_PART: usize = 1 << 14;

/// The texts of a part, or the list that has an error, and the error.
type PartResult = Result<Vec<Vec<u8>>, (usize, Error)>;

impl Decoder {
    /// The texts of many lists of ids, one behind the other in `ids`; list `i` is `ranges[i]` of them. They come
    /// as of [`Decoder::raw_text`]. The answer does not depend on the number of threads.
    ///
    /// # Errors
    /// As [`Decoder::raw_text`], with the number of the first list that has one.
    pub fn batch(
        &self,
        ids: &[u32],
        ranges: &[Range<usize>],
        skip_specials: bool,
        threads: usize,
    ) -> Result<Vec<Vec<u8>>, (usize, Error)> {
        let parts = parts(ranges, threads);
        let next = AtomicUsize::new(0);
        let run = |_| {
            let mut done: Vec<(usize, PartResult)> = Vec::new();
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                let Some(range) = parts.get(part) else { break };
                let texts = range.clone().map(|list| {
                    let ids = ids.get(ranges[list].clone()).unwrap_or_default();
                    self.raw_text(ids, skip_specials).map_err(|error| (list, error))
                });
                done.push((part, texts.collect()));
            }
            done
        };
        let threads = threads.min(parts.len());
        let mut done: Vec<_> = crew(threads, || run(0), run).into_iter().flatten().collect();
        done.sort_unstable_by_key(|(part, _)| *part);
        let mut texts = Vec::with_capacity(ranges.len());
        for (_, part) in done {
            texts.extend(part?);
        }
        Ok(texts)
    }
}

/// Cuts the lists into ranges of about the same number of ids; one for one thread.
fn parts(lists: &[Range<usize>], threads: usize) -> Vec<Range<usize>> {
    let total: usize = lists.iter().map(ExactSizeIterator::len).sum();
    let part = if threads <= 1 { usize::MAX } else { (total / (8 * threads)).max(SMALLEST_PART) };
    let mut parts = Vec::new();
    let (mut from, mut ids) = (0, 0);
    for (index, list) in lists.iter().enumerate() {
        ids += list.len();
        if ids >= part || index + 1 == lists.len() {
            parts.push(from..index + 1);
            (from, ids) = (index + 1, 0);
        }
    }
    parts
}
