//! Counting on all cores.
//!
//! Rule: the calling thread only waits (and feeds): it calls `tick` about every 50 ms, so that a caller
//! can look for signals and draw progress. All other threads are gone when a call returns.

use crate::block::{Files, Supply};
use crate::document::{self, Sink};
use crate::error::{Error, Result};
use crate::feed::{Batch, Feed};
use crate::report::Report;
use crate::source::{Errors, Input, Source};
use jogak::count::{Counter, Counts, Words};
use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// Time between two ticks.
const TICK: Duration = Duration::from_millis(50);

/// More threads than this are not started.
pub const MOST_THREADS: usize = 1024;

/// How to count.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to do about documents that cannot be read.
    pub errors: Errors,
    /// Whether to remember which word was seen first.
    pub keep_order: bool,
    /// Words of fewer characters are left out.
    pub min_word_length: usize,
    /// Threads that count; None for one per core. More than [`MOST_THREADS`] are as many, and where
    /// the system has fewer to give, those that it has given count.
    pub threads: Option<NonZero<usize>>,
    /// Bytes that a thread reads at once. The default stays in a second-level cache while its words are
    /// counted.
    pub block_size: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            errors: Errors::Strict,
            keep_order: false,
            min_word_length: 1,
            threads: None,
            block_size: 1 << 18,
        }
    }
}

/// How far a run is; shared by everybody.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    /// 0 if it is not known.
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// Of a run over these files, before it begins.
    pub(crate) fn over(sources: &[Source]) -> Self {
        let progress = Self::default();
        progress.expect(sources);
        progress
    }

    /// Says how much there is, where that can be known.
    fn expect(&self, sources: &[Source]) -> Option<u64> {
        let total = sources.iter().map(size).sum::<Option<u64>>();
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
        total
    }

    /// Bytes that were read, as they lie in the files (compressed, if they are).
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Bytes that there are; None if that cannot be known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        Some(self.total.load(Ordering::Relaxed)).filter(|total| *total > 0)
    }

    /// Stops the run at the next block; it then ends with [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Counts the words of files.
///
/// # Errors
/// The first thing in the corpus that is wrong; [`Error::Cancelled`] if `progress` was;
/// [`Error::Threads`] if the system gives no thread at all.
pub fn count_sources<W: Words>(
    sources: Vec<Source>,
    words: &W,
    options: &Options,
    progress: &Arc<Progress>,
    tick: &mut dyn FnMut(&Progress),
) -> Result<(Counts, Report)> {
    let total = progress.expect(&sources);
    let block_size = options.block_size.max(1);
    // A thread without a block of its own would only cost its start.
    let useful = total.map_or(usize::MAX, |total| (total / block_size as u64) as usize + 1);
    let supply = Files::new(sources, block_size, Arc::clone(progress));
    run(&supply, words, options, progress, useful, |crew| crew.wait(tick))
}

/// Counts the words of documents that the calling thread has. `fill` puts documents into a batch until
/// it is full and says whether there may be more.
///
/// # Errors
/// As [`count_sources`].
pub fn count_documents<W: Words>(
    fill: &mut dyn FnMut(&mut Batch) -> bool,
    words: &W,
    options: &Options,
    progress: &Arc<Progress>,
    tick: &mut dyn FnMut(&Progress),
) -> Result<(Counts, Report)> {
    let feed = Feed::new(wanted(options) + 1);
    run(&feed, words, options, progress, usize::MAX, |crew| {
        let mut last = Instant::now();
        let mut more = true;
        while more && !crew.is_stopped() {
            let mut batch = feed.batch(options.block_size);
            more = fill(&mut batch);
            progress.advance(batch.size());
            let mut waiting = Some(batch);
            while let Some(batch) = waiting.take_if(|_| !crew.is_stopped()) {
                waiting = feed.push(batch, TICK);
                if last.elapsed() >= TICK {
                    tick(progress);
                    last = Instant::now();
                }
            }
        }
        feed.close(crew.is_stopped());
        crew.wait(tick);
    })
}

/// The size of a source, where it can be known.
fn size(source: &Source) -> Option<u64> {
    let Input::Path(path) = &source.input else { return None };
    // A file that cannot be opened has its error later, with its name.
    path.metadata().map_or(Some(0), |data| data.is_file().then_some(data.len()))
}

/// How many threads are asked for.
fn wanted(options: &Options) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    options.threads.map_or_else(cores, NonZero::get).min(MOST_THREADS)
}

/// Starts the threads, lets `conduct` run on this one, and merges.
fn run<W: Words>(
    supply: &impl Supply,
    words: &W,
    options: &Options,
    progress: &Progress,
    useful: usize,
    conduct: impl FnOnce(&Crew<'_>),
) -> Result<(Counts, Report)> {
    let threads = wanted(options).min(useful).max(1);
    let crew = Crew::new(progress, threads);
    let mut report = Report::default();
    let counters = std::thread::scope(|scope| {
        let mut workers = Vec::with_capacity(threads);
        while workers.len() < threads {
            match start(scope, &crew, supply, words, options) {
                Ok(worker) => workers.push(worker),
                Err(reason) if workers.is_empty() => return Err(Error::Threads { reason }),
                Err(_) => break,
            }
        }
        crew.lack(threads - workers.len());
        let conducting = Conducting { crew: &crew, supply };
        conduct(&crew);
        drop(conducting);
        let mut counters = Vec::with_capacity(workers.len());
        for worker in workers {
            match worker.join() {
                Ok((counter, seen)) => {
                    counters.push(counter);
                    report.add(&seen);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(counters)
    })?;
    if progress.is_cancelled() {
        return Err(Error::Cancelled);
    }
    if let Some((_, error)) = crew.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    report.files = supply.files();
    let core = |error| Error::Core { place: None, error };
    let threads = counters.len();
    let mut counts = Counts::from_counters(counters, threads).map_err(core)?;
    if options.min_word_length > 1 {
        let all = counts.total();
        counts = counts.limited(0, options.min_word_length).map_err(core)?;
        report.short_words = all - counts.total();
    }
    Ok((counts, report))
}

/// The counting threads, seen from outside.
struct Crew<'a> {
    progress: &'a Progress,
    /// Threads that still count.
    working: Mutex<usize>,
    less: Condvar,
    failed: AtomicBool,
    /// The error of the earliest block.
    failure: Mutex<Option<(u64, Error)>>,
}

impl<'a> Crew<'a> {
    fn new(progress: &'a Progress, threads: usize) -> Self {
        Self {
            progress,
            working: Mutex::new(threads),
            less: Condvar::new(),
            failed: AtomicBool::new(false),
            failure: Mutex::default(),
        }
    }

    /// Whether no further block is to be counted. Blocks are handed out in order, so that all blocks
    /// before one that failed are in somebody's hands, who will still finish them.
    fn is_stopped(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.progress.is_cancelled()
    }

    fn fail(&self, number: u64, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.as_ref().is_none_or(|(first, _)| number < *first) {
            *failure = Some((number, error));
        }
        self.failed.store(true, Ordering::Relaxed);
    }

    /// So many threads have not started.
    fn lack(&self, threads: usize) {
        *self.working.lock().unwrap_or_else(PoisonError::into_inner) -= threads;
    }

    /// Waits for all threads, ticking.
    fn wait(&self, tick: &mut dyn FnMut(&Progress)) {
        let mut working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        while *working > 0 {
            let waited = self.less.wait_timeout(working, TICK);
            let (left, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            working = left;
            if timeout.timed_out() {
                // The tick may take its time; threads must be able to end meanwhile.
                drop(working);
                tick(self.progress);
                working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Says that a thread is done, even if it panics.
struct Leaving<'a>(&'a Crew<'a>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Relaxed);
        }
        *self.0.working.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.less.notify_all();
    }
}

/// Ends the threads if who feeds them, or ticks, panics: the scope waits for them.
struct Conducting<'a, S: Supply> {
    crew: &'a Crew<'a>,
    supply: &'a S,
}

impl<S: Supply> Drop for Conducting<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.crew.failed.store(true, Ordering::Relaxed);
            self.supply.end();
        }
    }
}

type Worker<'scope> = std::thread::ScopedJoinHandle<'scope, (Counter, Report)>;

fn start<'scope, W: Words>(
    scope: &'scope Scope<'scope, '_>,
    crew: &'scope Crew<'_>,
    supply: &'scope impl Supply,
    words: &'scope W,
    options: &'scope Options,
) -> io::Result<Worker<'scope>> {
    Builder::new().spawn_scoped(scope, move || {
        let _leaving = Leaving(crew);
        let mut counter = Counter::new(options.keep_order);
        let mut report = Report::default();
        let mut scratch = W::Scratch::default();
        let mut spare = Vec::new();
        while !crew.is_stopped() {
            let block = match supply.next(spare) {
                Ok(Some(block)) => block,
                Ok(None) => break,
                Err((number, error)) => {
                    crew.fail(number, error);
                    break;
                }
            };
            let counted = counter
                .start_block(block.number)
                .map_err(|error| Error::Core { place: None, error })
                .and_then(|()| {
                    let sink =
                        &mut Counting { words, scratch: &mut scratch, counter: &mut counter };
                    document::each(&block, options.errors, &mut report, sink)
                });
            if let Err(error) = counted {
                crew.fail(block.number, error);
                break;
            }
            spare = block.bytes;
        }
        (counter, report)
    })
}

/// Where documents go to be counted.
struct Counting<'a, W: Words> {
    words: &'a W,
    scratch: &'a mut W::Scratch,
    counter: &'a mut Counter,
}

impl<W: Words> Sink for Counting<'_, W> {
    #[inline]
    fn document(&mut self, text: &str) -> jogak::Result<()> {
        self.words.count(text, self.scratch, self.counter)
    }

    fn lines(&mut self, lines: &str) -> bool {
        self.words.count_lines(lines, self.counter)
    }
}
