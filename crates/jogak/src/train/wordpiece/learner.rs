//! The loop body of WordPiece training: which pair is best, and what changes when it is merged.

use std::ops::ControlFlow;
use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashSet;

use super::asleep::{Asleep, Sleeper};
use super::census;
use super::rows::{Rows, Weights};
use super::score::{Rank, Ranker};
use super::view::WordPieceView;
use super::{Criterion, LAST_FLOOR, WordPieceConfig, WordPieceMerge};
use crate::train::bpe::Stop;
use crate::train::corpus::Corpus;
use crate::train::parallel::each;
use crate::train::pieces::Texts;
use crate::train::places::{Batch, Field, Kept, Near, Rule, Side, With};

/// Training under way.
pub(super) struct Learner<'a> {
    config: &'a WordPieceConfig,
    threads: usize,
    pub(super) field: Field,
    side: Side,
    pub(super) pieces: Texts,
    rows: Rows,
    /// Pairs below this count have no row.
    threshold: u64,
    /// They sleep, unless they are too rare even for that.
    asleep: Asleep,
    pub(super) occurrences: Vec<u64>,
    /// Symbols of the corpus now, times word counts.
    length: u64,
    pub(super) passed_over: Vec<(u32, u32)>,
    passed: FxHashSet<(u32, u32)>,
    /// What (x, left) and (right, x) lose.
    before: Weights,
    behind: Weights,
    /// The merge under way, and the new pairs that are kept of it.
    batch: Batch,
    kept: Kept,
    /// The text of the merge that was chosen.
    joined: Vec<u8>,
    /// Pairs that may be merged next.
    next: Vec<u32>,
}

/// How far the threshold is lowered when no pair has a row any more.
const LOWER: u64 = 2;
/// How much rarer than the threshold pairs may be that are counted, and then sleep: before they are needed
/// nobody counts anew.
const DEPTH: u64 = 8;
/// Pairs per wanted merge that the first threshold aims at. Fewer than in BPE: here every pair that has a
/// row costs time, since rows and columns are walked, and pairs that sleep cost none.
const PAIRS_PER_MERGE: u64 = 2;
/// Pairs that are counted between two ticks.
const PAIRS_PER_TICK: usize = 256;

impl<'a> Learner<'a> {
    /// Ready, but for [`Learner::count_pairs`].
    pub(super) fn new(corpus: Corpus, config: &'a WordPieceConfig, goal: Option<usize>) -> Self {
        let Corpus { alphabet, arena, length, occurrences, threads, .. } = corpus;
        let others = config.other_pieces.iter().chain(&config.uncounted_pieces);
        let pieces = Texts::new(alphabet.texts, others);
        let mut learner = Self {
            config,
            threads,
            field: Field { arena, widths: RwLock::new(vec![1; pieces.vocab.len()]) },
            side: Side::default(),
            pieces,
            rows: Rows::default(),
            threshold: 0,
            asleep: Asleep::new(0),
            occurrences,
            length,
            passed_over: Vec::new(),
            passed: FxHashSet::default(),
            before: Weights::default(),
            behind: Weights::default(),
            batch: Batch::default(),
            kept: Kept::default(),
            joined: Vec::new(),
            next: Vec::new(),
        };
        learner.threshold = learner.last_floor();
        // Where rare pairs may go before frequent ones, all that may be merged are kept.
        let frequent_first =
            config.min_pair_count.is_none() || config.criterion == Criterion::Count;
        if let Some(goal) = goal.filter(|_| frequent_first) {
            let guess = length / (goal as u64).saturating_add(1) / PAIRS_PER_MERGE;
            // A power of two, so that no band is kept in part.
            learner.threshold = (1 << guess.max(1).ilog2()).max(learner.threshold);
        }
        learner
    }

    /// The smallest count that a pair must have at the end.
    pub(super) fn last_floor(&self) -> u64 {
        self.config.min_pair_count.unwrap_or(LAST_FLOOR)
    }

    pub(super) fn passed(&self, ids: (u32, u32)) -> bool {
        self.passed.contains(&ids)
    }

    pub(super) fn rank(&self, ids: (u32, u32), count: u64) -> Rank {
        Ranker::new(self.config, &self.occurrences).rank(ids, count)
    }

    /// Counts all pairs anew; those that reach the threshold have rows, and rarer ones sleep. If `tick` breaks
    /// this off, no more can be learned.
    pub(super) fn count_pairs(&mut self, tick: impl FnMut() -> ControlFlow<()>) -> ControlFlow<()> {
        // The old ones go first: both at once would be twice the memory.
        self.rows = Rows::default();
        self.side = Side::default();
        self.asleep = Asleep::new((self.threshold / DEPTH).max(self.last_floor()));
        let widths = self.field.widths.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = |ids| !self.passed.contains(&ids);
        let arena = &self.field.arena;
        let parts = arena.parts(self.threads);
        let census = census::count(arena, &widths, &parts, self.asleep.least(), wanted, tick)?;
        drop(widths);
        let ranker = Ranker::new(self.config, &self.occurrences);
        let (symbols, asleep) = (self.pieces.vocab.len(), &mut self.asleep);
        self.rows = Rows::new(symbols, &census.pairs, self.threshold, asleep, &ranker);
        self.side = Side::new(census.places.places, &census.places.lengths);
        ControlFlow::Continue(())
    }

    /// Counts the pairs that sleep and may reach the threshold, and gives rows to those that do. Breaks if
    /// `tick` does; then no more can be learned.
    fn wake(&mut self, tick: impl FnMut() -> ControlFlow<()>) -> ControlFlow<()> {
        let sleepers = self.asleep.wake(self.threshold);
        if sleepers.is_empty() {
            return ControlFlow::Continue(());
        }
        let widths = self.field.widths.read().unwrap_or_else(PoisonError::into_inner);
        let (side, arena) = (&self.side, &self.field.arena);
        let threads = self.threads.clamp(1, sleepers.len().div_ceil(PAIRS_PER_TICK));
        let shares: Vec<_> = sleepers.chunks(sleepers.len().div_ceil(threads)).collect();
        let counts = each(shares.len(), tick, |share, tick| {
            let mut counts = Vec::with_capacity(shares[share].len());
            for some in shares[share].chunks(PAIRS_PER_TICK) {
                tick()?;
                let count = |&Sleeper { ids, number }| side.count(arena, &widths, number, ids);
                counts.extend(some.iter().map(count));
            }
            ControlFlow::Continue(counts)
        })?;
        let ranker = Ranker::new(self.config, &self.occurrences);
        for (&sleeper, count) in sleepers.iter().zip(counts.into_iter().flatten()) {
            let Sleeper { ids, number } = sleeper;
            if count >= self.threshold {
                self.rows.insert(ids, number, count, &ranker);
            } else if !self.asleep.push(sleeper, count) {
                self.rows.give_up(number);
            }
        }
        ControlFlow::Continue(())
    }

    /// The pair to merge next, or none if no pair reaches the last floor. Breaks if `tick` does.
    pub(super) fn best(
        &mut self,
        mut tick: impl FnMut() -> ControlFlow<()>,
    ) -> ControlFlow<(), Option<(u32, WordPieceMerge)>> {
        loop {
            let Some(number) = self.rows.best() else {
                if self.threshold <= self.last_floor() {
                    return ControlFlow::Continue(None);
                }
                self.threshold = (self.threshold / LOWER).max(self.last_floor());
                if self.threshold < self.asleep.least() {
                    self.count_pairs(&mut tick)?;
                } else {
                    self.wake(&mut tick)?;
                }
                continue;
            };
            let (left, right) = self.rows.ids(number);
            let mut joined = std::mem::take(&mut self.joined);
            let may_merge = self.may_merge((left, right), &mut joined);
            self.joined = joined;
            if !may_merge {
                self.passed_over.push((left, right));
                self.passed.insert((left, right));
                self.rows.remove(number);
                self.rows.look_at_open(&Ranker::new(self.config, &self.occurrences));
                continue;
            }
            let merge = WordPieceMerge {
                left,
                right,
                id: self.pieces.vocab.len() as u32,
                count: self.rows.count(number),
                left_count: self.occurrences[left as usize],
                right_count: self.occurrences[right as usize],
                length: self.length,
                replaced: 0,
                live_change: 0,
            };
            return ControlFlow::Continue(Some((number, merge)));
        }
    }

    /// Whether a pair may be merged, whose text is then in `joined`.
    fn may_merge(&self, (left, right): (u32, u32), joined: &mut Vec<u8>) -> bool {
        let marker = &self.config.marker;
        let right = self.pieces.get(right);
        joined.clear();
        joined.extend_from_slice(self.pieces.get(left));
        joined.extend_from_slice(right.strip_prefix(marker.stripped().as_bytes()).unwrap_or(right));
        let fits = |longest| marker.length(joined, false) <= longest;
        self.config.max_piece_length.is_none_or(fits) && !self.pieces.know(joined)
    }

    /// Replaces the pair everywhere and puts all counts and scores right. It is the one that
    /// [`Learner::best`] has told last.
    pub(super) fn apply(&mut self, number: u32, merge: &mut WordPieceMerge) {
        let live_before = self.alive(merge);
        self.add_piece(merge);
        let WordPieceMerge { left, right, id, .. } = *merge;
        self.rows.take(number);
        // What the next merge needs comes step by step meanwhile.
        self.rows.tell_next(&mut self.next);
        for &number in &self.next {
            self.side.ask_list(number);
            self.rows.ask(number);
        }
        self.batch.rules.clear();
        self.batch.rules.push(Rule { left, right, id, number });
        self.rows.gone(&mut self.batch.gone);
        self.side.replace(&self.field, &self.batch);
        // Its places are given back.
        self.rows.free(number);
        for &number in &self.next {
            self.side.ask_places(number);
            self.rows.ask_numbers(number);
        }
        merge.replaced = self.side.done[0].merged;
        self.occurrences[left as usize] -= merge.replaced;
        self.occurrences[right as usize] -= merge.replaced;
        self.occurrences[id as usize] = merge.replaced;
        self.length -= merge.replaced;
        merge.live_change = 1 + self.alive(merge) - live_before;
        let ranker = Ranker::new(self.config, &self.occurrences);
        self.before.set(self.side.near(0, true));
        self.behind.set(self.side.near(0, false));
        let Self { rows, before, behind, asleep, .. } = self;
        rows.lower((left, right), before, behind, self.threshold, asleep, &ranker);
        self.before.clear(self.side.near(0, true));
        self.behind.clear(self.side.near(0, false));
        self.next.iter().for_each(|&number| self.side.ask_slots(&self.field.arena, number));
        self.keep_new_pairs(merge);
    }

    /// How many of the two parts of a merge occur.
    fn alive(&self, merge: &WordPieceMerge) -> i8 {
        let alive = |id: u32| i8::from(self.occurrences[id as usize] > 0);
        let right = if merge.left == merge.right { 0 } else { alive(merge.right) };
        alive(merge.left) + right
    }

    pub(super) fn live(&self) -> usize {
        self.occurrences.iter().filter(|&&count| count > 0).count()
    }

    fn add_piece(&mut self, merge: &WordPieceMerge) {
        let mut widths = self.field.widths.write().unwrap_or_else(PoisonError::into_inner);
        let width = widths[merge.left as usize] + widths[merge.right as usize];
        widths.push(width);
        self.pieces.vocab.push(&self.joined);
        self.occurrences.push(0);
        self.rows.grow(self.occurrences.len(), &Ranker::new(self.config, &self.occurrences));
        self.before.grow(self.occurrences.len());
        self.behind.grow(self.occurrences.len());
    }

    /// (x, id), (id, y) and (id, id) have come into being; those that occur often enough are kept.
    fn keep_new_pairs(&mut self, &WordPieceMerge { left, id, .. }: &WordPieceMerge) {
        let Self { side, rows, kept, threshold, asleep, .. } = self;
        let ranker = Ranker::new(self.config, &self.occurrences);
        kept.pairs.clear();
        kept.ends.clear();
        let itself = side.done[0].itself;
        let mut keep = |with: With, count: u64| {
            if count < asleep.least() {
                return;
            }
            let ids = match with {
                With::Left(symbol) => (symbol, id),
                With::Right(symbol) => (id, symbol),
                With::Itself => (id, id),
            };
            let number = rows.number();
            if count >= *threshold {
                rows.insert(ids, number, count, &ranker);
            } else {
                asleep.push(Sleeper { ids, number }, count);
            }
            kept.pairs.push((with, number));
        };
        for near in side.near(0, true) {
            keep(With::Left(near.symbol), near.weight);
        }
        for &Near { symbol, weight, .. } in side.near(0, false) {
            // A right neighbour noted as the left part may itself have been merged at the next place.
            let merged = if symbol == left { itself.0 } else { 0 };
            keep(With::Right(symbol), weight - merged);
        }
        if itself.1 > 0 {
            keep(With::Itself, itself.0);
        }
        if !kept.pairs.is_empty() {
            kept.ends.push(kept.pairs.len());
            side.find(&self.field, &self.batch, kept);
        }
    }

    /// No pair reaches the last floor: is that because there is none at all that may be merged?
    pub(super) fn why_dry(&self) -> Stop {
        let (mut any, mut joined) = (false, Vec::new());
        self.field.for_each_pair(|_, left, right, _| {
            let ids = (left, right);
            any = any || !self.passed(ids) && self.may_merge(ids, &mut joined);
        });
        if any { Stop::MinPairCount } else { Stop::NoPair }
    }

    pub(super) fn view(&'a self) -> WordPieceView<'a> {
        WordPieceView(self)
    }
}
