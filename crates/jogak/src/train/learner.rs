//! The loop body of BPE training: which pair is best, and what changes when it is merged.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use rustc_hash::FxHashSet;

use super::bpe::{BpeConfig, Merge, Stop};
use super::corpus::Corpus;
use super::pairs::{self, Pairs};
use super::partner::{Partner, Patience};
use super::pieces::Pieces;
use super::places::{Errand, Field, Part, Rule, Task};
use super::queue::Queue;
use super::ties::{Tied, Ties};
use super::view::View;

/// A pair in the heap: its count when it was put there, and its number in the table of pairs.
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
    threads: usize,
    field: Arc<Field>,
    pub(super) pieces: Pieces,
    pairs: Pairs,
    queue: Queue<Entry>,
    /// Pairs below this count are not kept.
    threshold: u64,
    pub(super) occurrences: Vec<u64>,
    pub(super) passed_over: Vec<(u32, u32)>,
    passed: FxHashSet<(u32, u32)>,
    /// This thread's part of a merge.
    part: Part,
    /// Who does the other part of a large one, and what that part is kept in meanwhile.
    partner: Option<Partner<Errand>>,
    spare: Part,
    patience: Patience,
}

/// Merges of at least this many places are shared with the partner.
const SHARED: usize = 4096;
/// With fewer slots than this, there is hardly such a merge.
const SLOTS_SHARED: usize = 1 << 18;
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
        let field = Field { arena, widths: RwLock::new(vec![1; alphabet_size]) };
        let mut learner = Self {
            config,
            threads,
            field: Arc::new(field),
            pieces,
            pairs: Pairs::default(),
            queue: Queue::new(),
            threshold: config.min_pair_count,
            occurrences,
            passed_over: Vec::new(),
            passed: FxHashSet::default(),
            part: Part::default(),
            partner: (threads > 1 && large).then(Partner::start).flatten(),
            spare: Part::default(),
            patience: Patience::default(),
        };
        if let Some(goal) = goal {
            let length: u64 = learner.occurrences.iter().sum();
            let guess = length / (goal as u64 + 1) / PAIRS_PER_MERGE;
            learner.threshold = guess.max(config.min_pair_count);
        }
        learner
    }

    /// Counts all pairs anew and keeps those that reach the threshold. If `tick` breaks this off,
    /// no more can be learned.
    pub(super) fn count_pairs(&mut self, tick: impl FnMut() -> ControlFlow<()>) -> ControlFlow<()> {
        // The old ones go first: both at once would be twice the memory.
        self.pairs = Pairs::default();
        self.queue.clear();
        let widths = self.field.widths.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = |ids| !self.passed.contains(&ids) && self.pieces.allowed(self.config, ids);
        let counted =
            pairs::count(&self.field.arena, &widths, self.threshold, wanted, self.threads, tick)?;
        drop(widths);
        self.pairs = Pairs::new(counted);
        for number in 0..self.pairs.len() as u32 {
            self.enqueue(number);
        }
        ControlFlow::Continue(())
    }

    fn entry(&self, number: u32) -> Entry {
        let pair = self.pairs.get(number);
        let first = match self.config.ties {
            Ties::FirstSeen => pair.places.get(pair.stale).copied().unwrap_or(u32::MAX),
            _ => 0,
        };
        Entry { count: pair.count, ids: pair.ids, number, first }
    }

    fn enqueue(&mut self, number: u32) {
        let entry = self.entry(number);
        let (ties, pieces) = (self.config.ties, &self.pieces);
        self.queue.push(entry, |a, b| before(ties, pieces, a, b));
    }

    /// The pair to merge next, or none if no pair reaches `min_pair_count`. Breaks if `tick` does.
    pub(super) fn best(
        &mut self,
        mut tick: impl FnMut() -> ControlFlow<()>,
    ) -> ControlFlow<(), Option<(u32, Merge)>> {
        loop {
            let Some(top) = self.queue.peek() else {
                if self.threshold <= self.config.min_pair_count {
                    return ControlFlow::Continue(None);
                }
                self.threshold = (self.threshold / LOWER).max(self.config.min_pair_count);
                self.count_pairs(&mut tick)?;
                continue;
            };
            let (ties, pieces) = (self.config.ties, &self.pieces);
            if self.pairs.get(top.number).ids != top.ids {
                // The pair fell below the threshold, and another one took over its number.
                self.queue.pop(|a, b| before(ties, pieces, a, b));
                continue;
            }
            if ties == Ties::FirstSeen {
                self.skip_stale(top.number);
            }
            let now = self.entry(top.number);
            if (now.count, now.first) != (top.count, top.first) {
                let pieces = &self.pieces;
                self.queue.replace_first(now, |a, b| before(ties, pieces, a, b));
                continue;
            }
            let pieces = &self.pieces;
            self.queue.pop(|a, b| before(ties, pieces, a, b));
            if self.pieces.may_merge(self.config, top.ids) {
                let (left, right) = top.ids;
                let id = self.pieces.texts.len() as u32;
                let count = top.count;
                let merge = Merge { left, right, id, count, replaced: 0, live_change: 0 };
                return ControlFlow::Continue(Some((top.number, merge)));
            }
            self.passed_over.push(top.ids);
            self.passed.insert(top.ids);
            self.pairs.remove(top.number);
        }
    }

    fn skip_stale(&mut self, number: u32) {
        let pair = self.pairs.get_mut(number);
        let (left, right) = pair.ids;
        let widths = self.field.widths.read().unwrap_or_else(PoisonError::into_inner);
        let width = widths[left as usize];
        while let Some(&place) = pair.places.get(pair.stale) {
            if self.field.arena.holds(place, left, width, right) {
                break;
            }
            pair.stale += 1;
        }
    }

    /// Replaces the pair everywhere and puts all counts right.
    pub(super) fn apply(&mut self, number: u32, merge: &mut Merge) {
        let pair = self.pairs.remove(number);
        let live_before = self.alive(merge.left)
            + usize::from(merge.left != merge.right) * self.alive(merge.right);
        self.add_piece(merge);
        let rule = Rule { left: merge.left, right: merge.right, id: merge.id };
        let helped = self.replace(pair.places, rule);
        let merged = self.part.merged;
        merge.replaced = merged;
        self.occurrences[merge.left as usize] -= merged;
        self.occurrences[merge.right as usize] -= merged;
        self.occurrences[merge.id as usize] = merged;
        let live_after = self.alive(merge.left)
            + usize::from(merge.left != merge.right) * self.alive(merge.right);
        merge.live_change = 1 - (live_before - live_after) as i8;
        self.lower_old_counts(merge);
        self.count_new_pairs(rule, helped);
    }

    /// Writes the new symbol everywhere. Returns the part that the partner did, if there is one.
    fn replace(&mut self, places: Vec<u32>, rule: Rule) -> Option<Part> {
        let symbols = self.occurrences.len();
        self.part.clear(symbols);
        let large = places.len() >= SHARED && self.partner.is_some() && self.patience.asks();
        let cut = large.then(|| self.border(&places)).flatten();
        let (Some(cut), Some(partner)) = (cut, &mut self.partner) else {
            self.part.replace(&self.field, &places, rule);
            return None;
        };
        let places = Arc::new(places);
        let mut part = std::mem::take(&mut self.spare);
        part.clear(symbols);
        let task = Task::Replace(Arc::clone(&places), cut);
        partner.post(Errand { field: Arc::clone(&self.field), rule, part, task });
        let begun = Instant::now();
        self.part.replace(&self.field, &places[..cut], rule);
        let own = begun.elapsed();
        let helped = partner.fetch().part;
        self.patience.learn(own, begun.elapsed());
        self.part.append(&helped);
        Some(helped)
    }

    /// About the middle of places, where a word ends.
    fn border(&self, places: &[u32]) -> Option<usize> {
        let start = self.field.arena.word_start(places[places.len() / 2])?;
        Some(places.partition_point(|&place| place < start))
    }

    fn alive(&self, id: u32) -> usize {
        usize::from(self.occurrences[id as usize] > 0)
    }

    pub(super) fn live(&self) -> usize {
        self.occurrences.iter().filter(|&&count| count > 0).count()
    }

    fn add_piece(&mut self, merge: &Merge) {
        self.pieces.join((merge.left, merge.right));
        self.occurrences.push(0);
        let mut widths = self.field.widths.write().unwrap_or_else(PoisonError::into_inner);
        let width = widths[merge.left as usize] + widths[merge.right as usize];
        widths.push(width);
    }

    /// (x, left) and (right, y) have lost the places that were merged.
    fn lower_old_counts(&mut self, merge: &Merge) {
        for side in [true, false] {
            let neighbours = if side { &self.part.left } else { &self.part.right };
            for index in 0..neighbours.seen.len() {
                let neighbours = if side { &self.part.left } else { &self.part.right };
                let symbol = neighbours.seen[index];
                let weight = neighbours.weights[symbol as usize];
                let ids = if side { (symbol, merge.left) } else { (merge.right, symbol) };
                let Some(number) = self.pairs.number(ids) else { continue };
                let pair = self.pairs.get_mut(number);
                debug_assert!(pair.count >= weight, "a pair lost more places than it had");
                pair.count -= weight;
                if pair.count < self.threshold {
                    self.pairs.remove(number);
                }
            }
        }
    }

    /// (x, new), (new, y) and (new, new) have come into being.
    fn count_new_pairs(&mut self, rule: Rule, helped: Option<Part>) {
        let Rule { left: lost, id, .. } = rule;
        let part = &mut self.part;
        // A right neighbour noted as the left part may itself have been merged at the next place.
        part.right.weights[lost as usize] -= part.itself.0;
        part.right.places[lost as usize] -= part.itself.1;
        let sides = [(&part.left, true), (&part.right, false)];
        let new = sides.into_iter().flat_map(|(neighbours, before)| {
            neighbours.seen.iter().map(move |&symbol| {
                let ids = if before { (symbol, id) } else { (id, symbol) };
                let index = symbol as usize;
                (ids, neighbours.weights[index], neighbours.places[index])
            })
        });
        let itself = ((id, id), part.itself.0, part.itself.1);
        let mut kept: Vec<_> = new.chain([itself]).collect();
        kept.retain(|pair| {
            pair.2 > 0 && pair.1 >= self.threshold && self.pieces.allowed(self.config, pair.0)
        });
        let ids: Vec<_> = kept.iter().map(|pair| pair.0).collect();
        for (found, (ids, count, _)) in self.find(ids, rule, helped).into_iter().zip(kept) {
            let number = self.pairs.insert(ids, count, found);
            self.enqueue(number);
        }
    }

    /// The places of pairs that have the new symbol.
    fn find(&mut self, pairs: Vec<(u32, u32)>, rule: Rule, helped: Option<Part>) -> Vec<Vec<u32>> {
        if pairs.is_empty() {
            self.spare = helped.unwrap_or(std::mem::take(&mut self.spare));
            return Vec::new();
        }
        let (Some(part), Some(partner)) = (helped, &mut self.partner) else {
            return self.part.find(&self.field, &pairs, rule.id);
        };
        let pairs = Arc::new(pairs);
        let task = Task::Find(Arc::clone(&pairs));
        partner.post(Errand { field: Arc::clone(&self.field), rule, part, task });
        let mut found = self.part.find(&self.field, &pairs, rule.id);
        let errand = partner.fetch();
        self.spare = errand.part;
        if let Task::Found(more) = errand.task {
            for (places, more) in found.iter_mut().zip(more) {
                places.extend(more);
            }
        }
        found
    }

    /// No pair reaches `min_pair_count`: is that because there is none at all that may be merged?
    pub(super) fn why_dry(&self) -> Stop {
        let mut any = false;
        self.field.for_each_pair(|_, left, right, _| {
            any = any
                || !self.passed.contains(&(left, right))
                    && self.pieces.may_merge(self.config, (left, right));
        });
        if any { Stop::MinPairCount } else { Stop::NoPair }
    }

    pub(super) fn view(&self) -> View<'_> {
        View::new(&self.field, &self.pieces, self.config.ties, &self.passed)
    }
}

fn before(ties: Ties, pieces: &Pieces, a: &Entry, b: &Entry) -> bool {
    match b.count.cmp(&a.count) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal if ties == Ties::LowestId => a.ids < b.ids,
        Ordering::Equal => ties.compare(&tied(pieces, a), &tied(pieces, b)).is_lt(),
    }
}

pub(super) fn tied<'a>(pieces: &'a Pieces, entry: &Entry) -> Tied<'a> {
    let (left, right) = entry.ids;
    Tied {
        ids: entry.ids,
        texts: (&pieces.compared[left as usize], &pieces.compared[right as usize]),
        stripped: pieces.stripped(right),
        bytes: pieces.bytes,
        first: entry.first,
    }
}
