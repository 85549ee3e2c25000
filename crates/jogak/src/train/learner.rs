//! The loop body of BPE training: which pair is best, and what changes when it is merged.

use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use rustc_hash::FxHashSet;

use super::bands::Bands;
use super::bpe::{BpeConfig, Merge, Stop};
use super::corpus::Corpus;
use super::pairs::{self, Census, NOBODY, Pairs};
use super::partner::{Partner, Patience};
use super::pieces::Pieces;
use super::places::{Batch, Errand, Field, Kept, Near, Rule, Side, Tally, Task, With};
use super::ties::{Tied, Ties};
use super::view::View;

/// A pair that waits in the queue: its count when it was put there, its ids, and its number in the table
/// of pairs, which another pair may have by now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) count: u64,
    pub(super) ids: (u32, u32),
    pub(super) number: u32,
    /// Position of the first occurrence; 0 unless ties are broken by it.
    pub(super) first: u32,
}

/// Training under way.
pub(super) struct Learner<'a> {
    config: &'a BpeConfig,
    field: Arc<Field>,
    pub(super) pieces: Pieces,
    pairs: Pairs,
    queue: Bands,
    /// Pairs below this count are not kept.
    threshold: u64,
    pub(super) occurrences: Vec<u64>,
    pub(super) passed_over: Vec<(u32, u32)>,
    passed: FxHashSet<(u32, u32)>,
    /// The merges that were chosen and are not yet made.
    chosen: Vec<(u32, Merge)>,
    bars: Bars,
    /// The parts of the words; those that their partners have are missing.
    sides: Vec<Option<Box<Side>>>,
    /// Who works on the second side, the third one ...
    partners: Vec<Partner<Errand>>,
    patience: Patience,
    /// Adds up what the sides have found.
    tally: Tally,
    near: Vec<Near>,
}

/// Batches of at least this many places are shared with partners.
const SHARED: usize = 512;
/// A batch ends when it has so many merges, or so many places.
const MERGES: usize = 64;
const PLACES: usize = 1 << 15;
/// With fewer slots than this, there is hardly such a batch.
const SLOTS_SHARED: usize = 1 << 18;
/// More sides than this are not worth it: the caller has to add up what all of them find.
const SIDES: usize = 4;
/// How far the threshold is lowered when no kept pair is left.
const LOWER: u64 = 8;
/// Pairs per wanted merge that the first threshold aims at. Anything from 60 to 300 does.
const PAIRS_PER_MERGE: u64 = 150;

impl<'a> Learner<'a> {
    /// Ready, but for [`Learner::count_pairs`].
    pub(super) fn new(corpus: Corpus, config: &'a BpeConfig, goal: Option<usize>) -> Self {
        let Corpus { alphabet, arena, occurrences, threads, .. } = corpus;
        let alphabet_size = alphabet.len();
        let pieces = Pieces::new(alphabet.texts, config);
        let large = arena.size() >= SLOTS_SHARED;
        // What was seen first is asked of all places at once.
        let wanted = if large && config.ties != Ties::FirstSeen { threads.min(SIDES) } else { 1 };
        let partners: Vec<_> = (1..wanted).map_while(|_| Partner::start()).collect();
        let field = Field { arena, widths: RwLock::new(vec![1; alphabet_size]) };
        let mut learner = Self {
            config,
            field: Arc::new(field),
            pieces,
            pairs: Pairs::default(),
            queue: Bands::new(),
            threshold: config.min_pair_count,
            occurrences,
            passed_over: Vec::new(),
            passed: FxHashSet::default(),
            chosen: Vec::new(),
            bars: Bars::default(),
            sides: Vec::new(),
            partners,
            patience: Patience::default(),
            tally: Tally::default(),
            near: Vec::new(),
        };
        if let Some(goal) = goal {
            let length: u64 = learner.occurrences.iter().sum();
            let guess = length / (goal as u64).saturating_add(1) / PAIRS_PER_MERGE;
            learner.threshold = guess.max(config.min_pair_count);
        }
        learner
    }

    /// Counts all pairs anew and keeps those that reach the threshold. If `tick` breaks this off,
    /// no more can be learned.
    pub(super) fn count_pairs(&mut self, tick: impl FnMut() -> ControlFlow<()>) -> ControlFlow<()> {
        self.join();
        // The old ones go first: both at once would be twice the memory.
        self.sides.clear();
        self.pairs = Pairs::default();
        self.queue = Bands::new();
        let parts = self.field.arena.parts(self.partners.len() + 1);
        let widths = self.field.widths.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = |ids| !self.passed.contains(&ids) && self.pieces.allowed(self.config, ids);
        let Census { pairs, parts } =
            pairs::count(&self.field.arena, &widths, &parts, self.threshold, wanted, tick)?;
        drop(widths);
        self.pairs = Pairs::new(&pairs);
        let sides = parts.into_iter().map(|part| Side::new(part.places, &part.lengths));
        self.sides = sides.map(|side| Some(Box::new(side))).collect();
        for number in 0..self.pairs.len() as u32 {
            self.enqueue(number);
        }
        ControlFlow::Continue(())
    }

    fn enqueue(&mut self, number: u32) {
        let entry = entry(self.config.ties, &self.pairs, &self.sides, number);
        let (ties, pieces) = (self.config.ties, &self.pieces);
        self.queue.push(entry, |a, b| before(ties, pieces, a, b));
    }

    fn skip_stale(&mut self, number: u32) {
        let ids = self.pairs.get(number).ids;
        for side in self.sides.iter_mut().flatten() {
            side.skip_stale(&self.field, number, ids);
        }
    }

    /// Chooses the pairs to merge next, up to `most`; false if no pair reaches `min_pair_count`. Breaks if
    /// `tick` does.
    pub(super) fn best(
        &mut self,
        most: usize,
        mut tick: impl FnMut() -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        while !self.choose(most) {
            if self.threshold <= self.config.min_pair_count {
                return ControlFlow::Continue(false);
            }
            self.threshold = (self.threshold / LOWER).max(self.config.min_pair_count);
            self.count_pairs(&mut tick)?;
        }
        ControlFlow::Continue(true)
    }

    /// Chooses the best pair of those that are kept, and pairs that certainly come next, whatever becomes
    /// of its neighbours. False if no pair is kept.
    ///
    /// A merge of (l, r) changes the counts of pairs that end with `l` or begin with `r`. As long as the next
    /// best pair is none of these, its count stands. New pairs are no better: one that has the new symbol on its right, (x, lr),
    /// occurs no more often than (x, l) did, which is in the queue and comes no earlier than the next
    /// best; and if they tie, longer texts and greater ids lose.
    fn choose(&mut self, most: usize) -> bool {
        let batches = matches!(self.config.ties, Ties::LowestId | Ties::SentencePiece);
        let batches =
            batches && !self.config.rules.any() && self.config.marker.stripped().is_empty();
        let most = if batches { most.min(MERGES) } else { 1 };
        self.bars.clear(self.occurrences.len() + most);
        let mut places = 0;
        while self.chosen.len() < most && places < PLACES && !self.bars.all {
            let Some(top) = self.fresh_top() else { break };
            let first = self.chosen.is_empty();
            if !first && self.bars.bar(top.ids) {
                break;
            }
            let text = self.pieces.may_merge(self.config, top.ids);
            if !first && text.is_none() {
                break;
            }
            let (ties, pieces) = (self.config.ties, &self.pieces);
            self.queue.pop(|a, b| before(ties, pieces, a, b));
            let Some(text) = text else {
                self.passed_over.push(top.ids);
                self.passed.insert(top.ids);
                self.bars.pass(top.ids);
                self.pairs.remove(top.number);
                continue;
            };
            let (left, right) = top.ids;
            self.pairs.take(top.number);
            self.bars.add(top.ids);
            places += self.places(top.number);
            let id = self.pieces.texts.vocab.len() as u32;
            let merge = Merge { left, right, id, count: top.count, replaced: 0, live_change: 0 };
            self.add_piece(&merge, text);
            self.chosen.push((top.number, merge));
        }
        !self.chosen.is_empty()
    }

    /// The best pair as counts are now; it stays in the queue.
    fn fresh_top(&mut self) -> Option<Entry> {
        let ties = self.config.ties;
        loop {
            let (pairs, sides, pieces) = (&self.pairs, &self.sides, &self.pieces);
            let before = |a: &Entry, b: &Entry| before(ties, pieces, a, b);
            // A pair may have gone, and another one have taken over its number.
            let lives = |old: &Entry| pairs.get(old.number).ids == old.ids;
            let now = |old: &Entry| lives(old).then(|| entry(ties, pairs, sides, old.number));
            let top = self.queue.peek(now, before)?;
            if !lives(&top) {
                self.queue.pop(before);
                continue;
            }
            if ties == Ties::FirstSeen {
                self.skip_stale(top.number);
            }
            let now = entry(ties, &self.pairs, &self.sides, top.number);
            if (now.count, now.first) == (top.count, top.first) {
                return Some(top);
            }
            let pieces = &self.pieces;
            self.queue.replace_first(now, |a, b| self::before(ties, pieces, a, b));
        }
    }

    /// The merge that was chosen.
    pub(super) fn next(&self) -> Option<&Merge> {
        self.chosen.first().map(|(_, merge)| merge)
    }

    /// Makes the merges that were chosen and puts all counts right.
    pub(super) fn apply(&mut self) -> Vec<Merge> {
        self.join();
        let chosen = std::mem::take(&mut self.chosen);
        let rule = |&(number, merge): &(u32, Merge)| {
            let Merge { left, right, id, .. } = merge;
            Rule { left, right, id, number }
        };
        let rules: Vec<Rule> = chosen.iter().map(rule).collect();
        let places: usize = rules.iter().map(|rule| self.places(rule.number)).sum();
        let shared = places >= SHARED && !self.partners.is_empty() && self.patience.asks();
        let batch = Arc::new(Batch { rules, gone: self.pairs.gone() });
        let begun = Instant::now();
        self.work(Task::Replace(Arc::clone(&batch)), shared);
        let own = begun.elapsed();
        self.join();
        if shared {
            self.patience.learn(own, begun.elapsed());
        }
        let mut kept = Kept::default();
        let mut merges = Vec::with_capacity(chosen.len());
        self.tally.grow(self.occurrences.len());
        for (index, (number, mut merge)) in chosen.into_iter().enumerate() {
            self.pairs.free(number);
            let itself = self.count_merge(index, &mut merge);
            self.count_neighbours(index, &merge, itself, &mut kept);
            merges.push(merge);
        }
        let kept = Arc::new(kept);
        if !kept.pairs.is_empty() {
            self.work(Task::Find(batch, Arc::clone(&kept)), shared);
        }
        for &(_, number) in &kept.pairs {
            // What a later merge of the batch has lowered too far is gone already.
            if self.pairs.get(number).ids != NOBODY {
                self.enqueue(number);
            }
        }
        merges
    }

    /// How many places a pair has, stale ones among them.
    fn places(&self, number: u32) -> usize {
        self.sides.iter().flatten().map(|side| side.places(number).len()).sum()
    }

    /// Does a task on all sides. If it is shared, partners may still work when this returns.
    fn work(&mut self, task: Task, shared: bool) {
        self.join();
        if shared {
            for (partner, side) in self.partners.iter().zip(&mut self.sides[1..]) {
                if let Some(side) = side.take() {
                    let field = Arc::clone(&self.field);
                    partner.post(Errand { field, side, task: task.clone() });
                }
            }
        }
        for side in self.sides.iter_mut().flatten() {
            side.work(&self.field, &task);
        }
    }

    /// Waits until all sides are back.
    fn join(&mut self) {
        for (partner, side) in self.partners.iter_mut().zip(self.sides.iter_mut().skip(1)) {
            if side.is_none() {
                *side = Some(partner.fetch().side);
            }
        }
    }

    fn add_piece(&mut self, merge: &Merge, text: Vec<u8>) {
        self.pieces.join((merge.left, merge.right), &text);
        self.occurrences.push(0);
        let mut widths = self.field.widths.write().unwrap_or_else(PoisonError::into_inner);
        let width = widths[merge.left as usize] + widths[merge.right as usize];
        widths.push(width);
    }

    /// Puts down what became of a merge of the batch. Returns weight and places of its symbol beside itself.
    fn count_merge(&mut self, index: usize, merge: &mut Merge) -> (u64, u32) {
        let live_before = self.alive(merge);
        let mut itself = (0, 0);
        for side in self.sides.iter().flatten() {
            let done = &side.done[index];
            merge.replaced += done.merged;
            itself = (itself.0 + done.itself.0, itself.1 + done.itself.1);
        }
        self.occurrences[merge.left as usize] -= merge.replaced;
        self.occurrences[merge.right as usize] -= merge.replaced;
        self.occurrences[merge.id as usize] = merge.replaced;
        merge.live_change = 1 + self.alive(merge) - live_before;
        itself
    }

    /// How many of the two parts of a merge occur.
    fn alive(&self, merge: &Merge) -> i8 {
        let alive = |id: u32| i8::from(self.occurrences[id as usize] > 0);
        let right = if merge.left == merge.right { 0 } else { alive(merge.right) };
        alive(merge.left) + right
    }

    pub(super) fn live(&self) -> usize {
        self.occurrences.iter().filter(|&&count| count > 0).count()
    }

    /// (x, left) and (right, y) have lost the places that were merged; (x, new), (new, y) and (new, new) have
    /// come into being.
    fn count_neighbours(
        &mut self,
        index: usize,
        merge: &Merge,
        itself: (u64, u32),
        kept: &mut Kept,
    ) {
        let &Merge { left, right, id, .. } = merge;
        for before in [true, false] {
            let mut near = std::mem::take(&mut self.near);
            self.sum_up(index, before, &mut near);
            for &Near { symbol, weight, .. } in &near {
                let ids = if before { (symbol, left) } else { (right, symbol) };
                self.pairs.lower(ids, weight, self.threshold);
            }
            for &Near { symbol, mut weight, mut places } in &near {
                if !before && symbol == left {
                    // A right neighbour noted as the left part may itself have been merged at the next place.
                    weight -= itself.0;
                    places -= itself.1;
                }
                let with = if before { With::Left(symbol) } else { With::Right(symbol) };
                self.keep(id, with, weight, places, kept);
            }
            self.near = near;
        }
        self.keep(id, With::Itself, itself.0, itself.1, kept);
        kept.ends.push(kept.pairs.len());
    }

    /// What all sides have found before (behind) a merge of the batch.
    fn sum_up(&mut self, index: usize, before: bool, near: &mut Vec<Near>) {
        near.clear();
        if let [Some(side)] = &self.sides[..] {
            near.extend(side.near(index, before));
            return;
        }
        for side in self.sides.iter().flatten() {
            for &Near { symbol, weight, places } in side.near(index, before) {
                self.tally.add(symbol, weight, places);
            }
        }
        self.tally.drain_to(near);
    }

    /// Keeps a new pair if it is wanted.
    fn keep(&mut self, id: u32, with: With, weight: u64, places: u32, kept: &mut Kept) {
        let ids = match with {
            With::Left(symbol) => (symbol, id),
            With::Right(symbol) => (id, symbol),
            With::Itself => (id, id),
        };
        if places > 0 && weight >= self.threshold && self.pieces.allowed(self.config, ids) {
            kept.pairs.push((with, self.pairs.insert(ids, weight)));
        }
    }

    /// No pair reaches `min_pair_count`: is that because there is none at all that may be merged?
    pub(super) fn why_dry(&self) -> Stop {
        let mut any = false;
        self.field.for_each_pair(|_, left, right, _| {
            any = any
                || !self.passed.contains(&(left, right))
                    && self.pieces.may_merge(self.config, (left, right)).is_some();
        });
        if any { Stop::MinPairCount } else { Stop::NoPair }
    }

    pub(super) fn view(&self) -> View<'_> {
        View::new(&self.field, &self.pieces, self.config, &self.passed)
    }
}

/// What keeps a pair out of a batch.
#[derive(Debug, Default)]
struct Bars {
    /// The number of the batch; in the lists, that of the last batch that a symbol was part of.
    batch: u32,
    firsts: Vec<u32>,
    seconds: Vec<u32>,
    /// Symbols of pairs that were passed over.
    passed_firsts: FxHashSet<u32>,
    passed_seconds: FxHashSet<u32>,
    /// Nothing may be added any more.
    all: bool,
}

impl Bars {
    /// For a new batch, with symbols below `symbols`.
    fn clear(&mut self, symbols: usize) {
        self.batch += 1;
        self.firsts.resize(symbols, 0);
        self.seconds.resize(symbols, 0);
        self.all = false;
    }

    /// A pair was passed over: it is not in the queue, and so says nothing of the pairs that come of it.
    fn pass(&mut self, (left, right): (u32, u32)) {
        self.passed_firsts.insert(left);
        self.passed_seconds.insert(right);
    }

    /// A pair is added to the batch.
    fn add(&mut self, (left, right): (u32, u32)) {
        self.firsts[left as usize] = self.batch;
        self.seconds[right as usize] = self.batch;
        let passed = || self.passed_seconds.contains(&left) || self.passed_firsts.contains(&right);
        // What comes of (a, a) comes of itself, and not of a pair that is in the queue.
        self.all = left == right || passed();
    }

    /// Whether one of the batch changes the count of this pair.
    fn bar(&self, (left, right): (u32, u32)) -> bool {
        self.firsts[right as usize] == self.batch || self.seconds[left as usize] == self.batch
    }
}

/// A pair as it is now.
fn entry(ties: Ties, pairs: &Pairs, sides: &[Option<Box<Side>>], number: u32) -> Entry {
    let pair = pairs.get(number);
    let first = match ties {
        // Stale or not: that is seen when the pair comes to the top.
        Ties::FirstSeen => {
            let places = sides.iter().flatten().flat_map(|side| side.places(number));
            places.copied().next().unwrap_or(u32::MAX)
        }
        _ => 0,
    };
    Entry { count: pair.count, ids: pair.ids, number, first }
}

#[inline(always)]
fn before(ties: Ties, pieces: &Pieces, a: &Entry, b: &Entry) -> bool {
    if a.count != b.count {
        return a.count > b.count;
    }
    if ties == Ties::LowestId { a.ids < b.ids } else { goes_first(ties, pieces, a, b) }
}

#[inline(never)]
fn goes_first(ties: Ties, pieces: &Pieces, a: &Entry, b: &Entry) -> bool {
    ties.compare(&tied(pieces, a), &tied(pieces, b)).is_lt()
}

pub(super) fn tied<'a>(pieces: &'a Pieces, entry: &Entry) -> Tied<'a> {
    let (left, right) = entry.ids;
    Tied {
        ids: entry.ids,
        texts: (pieces.compared(left), pieces.compared(right)),
        stripped: pieces.stripped(right),
        bytes: pieces.bytes,
        first: entry.first,
    }
}
