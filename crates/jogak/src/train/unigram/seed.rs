//! The first pieces: all characters, and the substrings of highest count times length.
//!
//! A substring is a candidate if it occurs at least twice and its occurrences do not all go on with
//! the same character: a longer substring would be as frequent. What counts as going on is
//! [`SeedRule`](super::SeedRule).
//!
//! In the sorted suffixes the occurrences of a substring stand together, and those that go on in more
//! than one way are the inner nodes of the suffix tree: one sweep with a stack meets them all
//! (Abouelhoda, Kurtz & Ohlebusch 2004).

use std::sync::atomic::{AtomicU32, Ordering};

use rustc_hash::FxHashSet;

use super::UnigramConfig;
use super::chunks::{Chunks, END, MARKS, Uncut};
use super::suffix::{Ends, Suffixes};
use crate::beside::both;
use crate::scan::{give_back_memory, prefetch};
use crate::train::parallel::share;
use crate::train::radix::sort_by_upper_bits;

/// No piece.
pub(super) const NONE: u32 = u32::MAX;

/// The first pieces, sorted by their text, and where they stand in the chunks.
#[derive(Debug)]
pub(super) struct Seeds {
    /// Where in the text of the chunks each piece stands.
    pub(super) at: Vec<u32>,
    /// Characters of each piece.
    pub(super) length: Vec<u8>,
    /// Count times length.
    pub(super) score: Vec<u64>,
    /// For every place of the text the longest piece that stands there, or [`NONE`]. (Threads write them in no order.)
    deepest: Vec<AtomicU32>,
    /// For every piece the longest other piece that it starts with, or [`NONE`].
    pub(super) parent: Vec<u32>,
}

impl Seeds {
    /// The longest piece that stands at a place, or [`NONE`].
    #[inline(always)]
    pub(super) fn deepest(&self, at: usize) -> u32 {
        self.deepest[at].load(Ordering::Relaxed)
    }

    /// Forgets the pieces that stand at a place or behind.
    pub(super) fn forget_from(&mut self, at: u32) {
        self.deepest.truncate(at as usize);
        self.deepest.shrink_to_fit();
    }
}

/// A stretch of suffixes with a common beginning.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    score: u64,
    left: u32,
    right: u32,
    length: u32,
}

/// Which substrings may be pieces.
#[derive(Debug)]
struct Filter<'c> {
    config: &'c UnigramConfig,
    /// The numbers of `▁` and the space, or [`NONE`] for what is not in the alphabet.
    marks: [u32; 2],
    /// Texts that are pieces of another kind, and their lengths as a set of bits.
    taken: FxHashSet<Vec<u32>>,
    lengths: u64,
}

impl<'c> Filter<'c> {
    fn new(alphabet: &[char], config: &'c UnigramConfig) -> Self {
        let number = |character| alphabet.binary_search(&character).ok().map(|i| i as u32 + 1);
        let mut taken = FxHashSet::default();
        let mut lengths = 0;
        for text in config.other_pieces.iter().chain(&config.user_defined) {
            let numbers: Option<Vec<u32>> = text.chars().map(number).collect();
            if let Some(numbers) = numbers.filter(|numbers| numbers.len() < 64) {
                lengths |= 1 << numbers.len();
                taken.insert(numbers);
            }
        }
        Self { config, marks: MARKS.map(|mark| number(mark).unwrap_or(NONE)), taken, lengths }
    }

    fn allows(&self, piece: &[u32]) -> bool {
        (self.lengths >> piece.len() & 1 == 0 || !self.taken.contains(piece))
            && (self.marks == [NONE; 2] || self.marks_allowed(piece))
    }

    /// A `▁` stands at the front of a piece only, or, where pieces may cross words, not alone at the
    /// back; for suffixes the other way round.
    fn marks_allowed(&self, piece: &[u32]) -> bool {
        let config = self.config;
        // All are looked at, several at once.
        let marked =
            |part: &[u32]| part.iter().fold(false, |any, number| any | self.marks.contains(number));
        let only = piece.iter().all(|number| self.marks.contains(number));
        if config.allow_whitespace_only_pieces && only {
            return true;
        }
        let (loose, strict) = if config.treat_whitespace_as_suffix {
            (&piece[..1], &piece[..piece.len() - 1])
        } else {
            (&piece[piece.len() - 1..], &piece[1..])
        };
        !marked(if config.split_by_whitespace { strict } else { loose })
    }
}

/// Chooses the first pieces.
pub(super) fn seeds(chunks: &Chunks, config: &UnigramConfig) -> Seeds {
    let alphabet = chunks.alphabet.len();
    let (longest, threads) = (config.max_piece_length, config.threads);
    let (mut suffixes, weights) = both(
        threads > 1,
        || Suffixes::new(&chunks.text, alphabet, longest, Ends::Differ, threads),
        || Weights::new(chunks),
    );
    let filter = Filter::new(&chunks.alphabet, config);
    let mut chosen = if let Some(uncut) = &chunks.uncut {
        beyond_chunks(uncut, chunks, &suffixes, &filter)
    } else {
        let sweep = Sweep { text: &chunks.text, suffixes: &suffixes, weights: &weights, config };
        sweep.best(alphabet, Ends::Differ, |_, piece| filter.allows(piece))
    };
    drop(weights);
    suffixes.shared = Vec::new();
    give_back_memory();
    for (bucket, &score) in suffixes.buckets[1..].windows(2).zip(&chunks.occurrences) {
        let (left, right) = (bucket[0] as u32, bucket[1] as u32);
        chosen.push(Candidate { score, left, right, length: 1 });
    }
    // By place and then by length, which is at most 64: the upper 4 times 11 bits.
    let place =
        |candidate: &Candidate| u64::from(candidate.left) << 32 | u64::from(candidate.length) << 20;
    sort_by_upper_bits(&mut chosen, 4, place);
    connect(&suffixes, &chosen, chunks.text.len(), config.threads)
}

/// The candidates by [`super::SeedRule::SentencePiece`], as stretches of the suffixes of chunks.
fn beyond_chunks(
    uncut: &Uncut,
    chunks: &Chunks,
    suffixes: &Suffixes,
    filter: &Filter<'_>,
) -> Vec<Candidate> {
    let config = filter.config;
    let alphabet = chunks.alphabet.len();
    let longest = config.max_piece_length;
    let of_words = Suffixes::new(&uncut.text, alphabet + 1, longest, Ends::Alike, config.threads);
    let sweep = Sweep { text: &uncut.text, suffixes: &of_words, weights: uncut, config };
    let mut chosen = sweep.best(alphabet, Ends::Alike, |at, piece| {
        usize::from(uncut.left[at]) >= piece.len() && filter.allows(piece)
    });
    let jobs = chosen.chunks_mut(1024);
    share(
        config.threads,
        jobs,
        || (),
        |(), candidates| {
            for candidate in candidates {
                let at = of_words.order[candidate.left as usize] as usize;
                let length = candidate.length as usize;
                let piece = &uncut.text[at..at + length];
                let bucket = piece[0] as usize;
                let first = suffixes.buckets[bucket];
                let suffixes = &suffixes.order[first..suffixes.buckets[bucket + 1]];
                // A suffix may be shorter; then the END or the next chunk is compared, after the END.
                let start = |at: u32| {
                    let suffix = &chunks.text[at as usize..];
                    &suffix[..length.min(suffix.len())]
                };
                let left = suffixes.partition_point(|&at| start(at) < piece);
                let size = suffixes[left..].partition_point(|&at| start(at) == piece);
                candidate.left = (first + left) as u32;
                candidate.right = (first + left + size) as u32;
            }
        },
    );
    chosen.retain(|candidate| candidate.left < candidate.right);
    chosen
}

/// Finds out which piece stands where. The candidates are sorted by their place and length.
fn connect(suffixes: &Suffixes, chosen: &[Candidate], text: usize, threads: usize) -> Seeds {
    let deepest: Vec<AtomicU32> =
        std::iter::repeat_with(|| AtomicU32::new(NONE)).take(text).collect();
    let mut parent = vec![NONE; chosen.len()];
    // No candidate has suffixes of two buckets.
    let mut jobs = Vec::new();
    let (mut parents, mut done) = (&mut parent[..], 0);
    for bucket in suffixes.buckets.windows(2) {
        let here =
            chosen[done..].partition_point(|candidate| (candidate.left as usize) < bucket[1]);
        let (of_bucket, rest) = parents.split_at_mut(here);
        parents = rest;
        jobs.push((bucket[0]..bucket[1], done, of_bucket));
        done += here;
    }
    share(threads, jobs.into_iter(), Vec::new, |open: &mut Vec<u32>, (ranks, first, parent)| {
        open.clear();
        let mut next = 0;
        for rank in ranks {
            while open.last().is_some_and(|&piece| chosen[piece as usize].right as usize <= rank) {
                open.pop();
            }
            let longest = |open: &[u32]| open.last().copied().unwrap_or(NONE);
            while chosen.get(first + next).is_some_and(|candidate| candidate.left as usize == rank)
            {
                parent[next] = longest(open);
                open.push((first + next) as u32);
                next += 1;
            }
            let at = suffixes.order[rank] as usize;
            deepest[at].store(longest(open), Ordering::Relaxed);
        }
    });
    Seeds {
        at: chosen.iter().map(|candidate| suffixes.order[candidate.left as usize]).collect(),
        length: chosen.iter().map(|candidate| candidate.length as u8).collect(),
        score: chosen.iter().map(|candidate| candidate.score).collect(),
        deepest,
        parent,
    }
}

/// How often the text around a place occurs.
trait Weigh: Sync {
    fn weight(&self, at: u32) -> u64;

    /// It will be asked for soon.
    fn prefetch(&self, _at: u32) {}
}

/// Places of words.
impl Weigh for Uncut {
    fn weight(&self, at: u32) -> u64 {
        let after = self.words.partition_point(|(start, _)| *start <= at);
        self.words[after - 1].1
    }
}

/// The counts of chunks by place: nearly all are small, and they are asked for in no order.
struct Weights<'c> {
    chunks: &'c Chunks,
    /// `u16::MAX` for this and all above.
    small: Vec<u16>,
}

impl<'c> Weights<'c> {
    fn new(chunks: &'c Chunks) -> Self {
        let mut small = Vec::with_capacity(chunks.text.len());
        for (end, &count) in chunks.starts[1..].iter().zip(&chunks.counts) {
            small.resize(*end as usize, u16::try_from(count).unwrap_or(u16::MAX));
        }
        Self { chunks, small }
    }
}

impl Weigh for Weights<'_> {
    #[inline(always)]
    fn weight(&self, at: u32) -> u64 {
        match self.small[at as usize] {
            u16::MAX => {
                let after = self.chunks.starts.partition_point(|&start| start <= at);
                self.chunks.counts[after - 1]
            }
            small => u64::from(small),
        }
    }

    #[inline(always)]
    fn prefetch(&self, at: u32) {
        prefetch(&self.small, at as usize);
    }
}

/// So many places are asked for before the first of them is needed.
const AHEAD: usize = 16;

/// Meets all candidates.
struct Sweep<'s, W> {
    text: &'s [u32],
    suffixes: &'s Suffixes,
    weights: &'s W,
    config: &'s UnigramConfig,
}

impl<W: Weigh> Sweep<'_, W> {
    /// The candidates of highest score; ties go to the text that sorts first.
    fn best(
        &self,
        alphabet: usize,
        ends: Ends,
        allows: impl Fn(usize, &[u32]) -> bool + Sync,
    ) -> Vec<Candidate> {
        let size = self.config.seed_size;
        let buckets = &self.suffixes.buckets;
        let mut jobs: Vec<(usize, usize)> =
            (1..=alphabet).map(|c| (buckets[c], buckets[c + 1])).filter(|(l, r)| l < r).collect();
        jobs.sort_by_key(|(left, right)| std::cmp::Reverse(right - left));
        let order = &self.suffixes.order;
        let allowed = |candidate: &Candidate| {
            let at = order[candidate.left as usize] as usize;
            allows(at, &self.text[at..at + candidate.length as usize])
        };
        let all = share(
            self.config.threads,
            jobs.into_iter(),
            || Best::new(size),
            |best, (left, right)| {
                self.bucket(left, right, ends, |candidate| {
                    if best.may_be_one(&candidate) {
                        prefetch(self.text, order[candidate.left as usize] as usize);
                        best.offer(candidate, allowed);
                    }
                });
                best.settle(allowed);
            },
        );
        let both = |mut best: Best, other: Best| {
            best.found.extend(other.found);
            best.trim();
            best
        };
        all.into_iter().reduce(both).map_or_else(Vec::new, |mut best| {
            best.trim();
            best.found
        })
    }

    /// The candidates among the suffixes of one first character.
    fn bucket(&self, first: usize, last: usize, ends: Ends, mut emit: impl FnMut(Candidate)) {
        let longest = self.config.max_piece_length;
        let mut emit = |left: usize, right: usize, length: usize, count: u64| {
            if count >= 2 && (2..=longest).contains(&length) {
                let score = count * length as u64;
                let (left, right, length) = (left as u32, right as u32, length as u32);
                emit(Candidate { score, left, right, length });
            }
        };
        let shared = |rank: usize| {
            if first < rank && rank < last { usize::from(self.suffixes.shared[rank]) } else { 0 }
        };
        // (length of the common beginning, first suffix that has it, count before that suffix).
        let mut open: Vec<(usize, usize, u64)> = Vec::new();
        let mut count = 0;
        for rank in first..=last {
            let common = shared(rank);
            let (mut left, mut before) = (rank, count);
            while let Some(&(length, from, count_before)) = open.last()
                && length > common
            {
                open.pop();
                emit(from, rank, length, count - count_before);
                (left, before) = (from, count_before);
            }
            if rank == last {
                break;
            }
            if common > 0 && open.last().is_none_or(|(length, ..)| *length < common) {
                open.push((common, left, before));
            }
            let at = self.suffixes.order[rank];
            if let Some(&soon) = self.suffixes.order.get(rank + AHEAD) {
                self.weights.prefetch(soon);
            }
            let weight = self.weights.weight(at);
            let next = shared(rank + 1);
            if ends == Ends::Differ && weight >= 2 {
                // A tail that stands nowhere else, but whose chunk occurs more than once.
                let tail = &self.text[at as usize..];
                let length = tail.iter().take(longest + 1).take_while(|&&c| c != END).count();
                if length > common.max(next) {
                    emit(rank, rank + 1, length, weight);
                }
            }
            if next > common {
                open.push((next, rank, count));
            }
            count += weight;
        }
    }
}

/// So many candidates wait until their text is looked at, which has been asked for meanwhile.
const WAITING: usize = 32;

/// The best candidates so far, in no order.
struct Best {
    /// How many are wanted.
    size: usize,
    /// These, and some that came since.
    found: Vec<Candidate>,
    /// As many as are wanted have this score or a higher one.
    least: u64,
    /// Those of which nobody knows yet whether they are allowed.
    waiting: Vec<Candidate>,
}

impl Best {
    fn new(size: usize) -> Self {
        Self { size, found: Vec::new(), least: 0, waiting: Vec::with_capacity(WAITING) }
    }

    #[inline(always)]
    fn may_be_one(&self, candidate: &Candidate) -> bool {
        candidate.score >= self.least
    }

    /// Takes a candidate that may be one of the best, if it is allowed; which is asked later, at the latest by
    /// [`Best::settle`].
    #[inline(always)]
    fn offer(&mut self, candidate: Candidate, allowed: impl Fn(&Candidate) -> bool) {
        self.waiting.push(candidate);
        if self.waiting.len() >= WAITING {
            self.settle(allowed);
        }
    }

    /// Asks of all that wait.
    fn settle(&mut self, allowed: impl Fn(&Candidate) -> bool) {
        self.found.extend(self.waiting.drain(..).filter(allowed));
        if self.found.len() >= (self.size + self.size / 4).max(1024) {
            self.trim();
        }
    }

    /// Keeps as many as are wanted. Ties go to the text that sorts first.
    fn trim(&mut self) {
        let Self { size, found, least, .. } = self;
        if found.len() > *size {
            found.select_nth_unstable_by_key(*size, |candidate| {
                (std::cmp::Reverse(candidate.score), candidate.left, candidate.length)
            });
            found.truncate(*size);
            *least = found.iter().map(|candidate| candidate.score).min().unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn the_best_of_many_are_those_of_the_sorted_list() {
        for size in [0, 1, 1000, 5000] {
            for scores in [1, 50, 1 << 40] {
                let mut random = SplitMix64::new(size as u64 + scores);
                let candidate = |left: u32| Candidate {
                    score: random.next() % scores,
                    left,
                    right: left + 1,
                    length: left % 7,
                };
                let mut all: Vec<Candidate> = (0..20_000).map(candidate).collect();
                let mut best = Best::new(size);
                let allowed = |candidate: &Candidate| candidate.length < 6;
                // In no order of their places: what comes late may win a tie.
                for part in all.chunks(3000).rev() {
                    for &candidate in part {
                        if best.may_be_one(&candidate) {
                            best.offer(candidate, allowed);
                        }
                    }
                }
                best.settle(allowed);
                best.trim();
                all.retain(allowed);
                all.sort_by_key(|candidate| (std::cmp::Reverse(candidate.score), candidate.left));
                let mut found: Vec<u32> = best.found.iter().map(|found| found.left).collect();
                let mut expected: Vec<u32> = all[..size].iter().map(|best| best.left).collect();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected);
            }
        }
    }
}
