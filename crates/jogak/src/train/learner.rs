//! The loop body of BPE training: which pair is best, and what changes when it is merged.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use super::arena::{Arena, PLACES_AT_ONCE};
use super::bpe::{BpeConfig, Merge, Stop};
use super::corpus::Corpus;
use super::neighbours::Neighbours;
use super::pairs::{self, Pairs};
use super::queue::Queue;
use super::rules::Shape;
use super::ties::{Tied, Ties};
use super::view::View;

/// The pieces so far.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) texts: Vec<Vec<u8>>,
    /// The texts as ties compare them; see [`Tied::texts`].
    compared: Vec<Vec<u8>>,
    bytes: bool,
    /// The marker that a merge strips from its right part, or nothing.
    strip: Vec<u8>,
    /// Slots that a piece spans: symbols of the alphabet, own markers included.
    pub(super) widths: Vec<u32>,
    /// How pieces look from outside; empty where no rule looks at that.
    shapes: Vec<Shape>,
    /// All texts that exist, other pieces included.
    taken: FxHashSet<Vec<u8>>,
}

impl Pieces {
    /// How many bytes of a right part a merge strips.
    fn stripped(&self, right: u32) -> usize {
        if self.texts[right as usize].starts_with(&self.strip) { self.strip.len() } else { 0 }
    }

    fn joined(&self, (left, right): (u32, u32)) -> Vec<u8> {
        let behind = &self.texts[right as usize][self.stripped(right)..];
        [&self.texts[left as usize], behind].concat()
    }

    fn compared(&self, (left, right): (u32, u32)) -> Vec<u8> {
        let behind = &self.compared[right as usize][self.stripped(right)..];
        [&self.compared[left as usize], behind].concat()
    }
}

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
    arena: Arena,
    pub(super) pieces: Pieces,
    pairs: Pairs,
    queue: Queue<Entry>,
    /// Pairs below this count are not kept.
    threshold: u64,
    pub(super) occurrences: Vec<u64>,
    pub(super) passed_over: Vec<(u32, u32)>,
    passed: FxHashSet<(u32, u32)>,
    left: Neighbours,
    right: Neighbours,
    /// The positions of the last merge.
    places: Vec<u32>,
}

/// How far the threshold is lowered when no kept pair is left.
const LOWER: u64 = 8;
/// Pairs per wanted merge that the first threshold aims at. Anything from 60 to 300 does.
const PAIRS_PER_MERGE: u64 = 150;

impl<'a> Learner<'a> {
    /// Ready, but for [`Learner::count_pairs`].
    pub(super) fn new(corpus: Corpus, config: &'a BpeConfig, goal: Option<usize>) -> Self {
        let Corpus { alphabet, arena, occurrences, threads, .. } = corpus;
        let mut taken: FxHashSet<Vec<u8>> = alphabet.texts.iter().cloned().collect();
        taken.extend(config.other_pieces.iter().chain(&config.uncounted_pieces).cloned());
        let compared = if config.bytes {
            // The alphabet comes in the order of its printable characters.
            (0..=255u8).map(|place| vec![place]).collect()
        } else {
            alphabet.texts.clone()
        };
        let shapes = match config.rules.any() {
            true => alphabet.texts.iter().map(|text| config.rules.symbol(text)).collect(),
            false => Vec::new(),
        };
        let pieces = Pieces {
            shapes,
            compared,
            bytes: config.bytes,
            strip: config.marker.stripped().as_bytes().to_vec(),
            widths: vec![1; alphabet.len()],
            texts: alphabet.texts,
            taken,
        };
        let mut learner = Self {
            config,
            threads,
            arena,
            pieces,
            pairs: Pairs::default(),
            queue: Queue::new(),
            threshold: config.min_pair_count,
            occurrences,
            passed_over: Vec::new(),
            passed: FxHashSet::default(),
            left: Neighbours::default(),
            right: Neighbours::default(),
            places: Vec::new(),
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
        let widths = &self.pieces.widths;
        let wanted = |ids| !self.passed.contains(&ids) && self.allowed(ids);
        let counted =
            pairs::count(&self.arena, widths, self.threshold, wanted, self.threads, tick)?;
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
            if self.may_merge(top.ids) {
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

    /// Whether the rules let both be one piece.
    fn allowed(&self, (left, right): (u32, u32)) -> bool {
        let shapes = &self.pieces.shapes;
        shapes.is_empty()
            || self.config.rules.may_join(&shapes[left as usize], &shapes[right as usize])
    }

    fn may_merge(&self, ids: (u32, u32)) -> bool {
        if !self.allowed(ids) {
            return false;
        }
        let text = self.pieces.joined(ids);
        let fits = |longest| self.config.marker.length(&text, self.config.bytes) <= longest;
        self.config.max_piece_length.is_none_or(fits) && !self.pieces.taken.contains(&text)
    }

    fn skip_stale(&mut self, number: u32) {
        let pair = self.pairs.get_mut(number);
        let (left, right) = pair.ids;
        let width = self.pieces.widths[left as usize];
        while let Some(&place) = pair.places.get(pair.stale) {
            if self.arena.holds(place, left, width, right) {
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
        let (merged, both_new) = self.replace(&pair.places, merge);
        drop(pair);
        merge.replaced = merged;
        self.occurrences[merge.left as usize] -= merged;
        self.occurrences[merge.right as usize] -= merged;
        self.occurrences[merge.id as usize] = merged;
        let live_after = self.alive(merge.left)
            + usize::from(merge.left != merge.right) * self.alive(merge.right);
        merge.live_change = 1 - (live_before - live_after) as i8;
        self.lower_old_counts(merge);
        self.count_new_pairs(merge, both_new);
        self.left.clear();
        self.right.clear();
    }

    fn alive(&self, id: u32) -> usize {
        usize::from(self.occurrences[id as usize] > 0)
    }

    pub(super) fn live(&self) -> usize {
        self.occurrences.iter().filter(|&&count| count > 0).count()
    }

    fn add_piece(&mut self, merge: &Merge) {
        let (left, right) = (merge.left as usize, merge.right as usize);
        let text = self.pieces.joined((merge.left, merge.right));
        let compared = self.pieces.compared((merge.left, merge.right));
        self.pieces.compared.push(compared);
        if !self.pieces.shapes.is_empty() {
            let shape = self.pieces.shapes[left].join(self.pieces.shapes[right]);
            self.pieces.shapes.push(shape);
        }
        self.pieces.taken.insert(text.clone());
        self.pieces.texts.push(text);
        self.pieces.widths.push(self.pieces.widths[left] + self.pieces.widths[right]);
        self.occurrences.push(0);
        self.left.grow(self.occurrences.len());
        self.right.grow(self.occurrences.len());
    }

    /// Writes the new symbol at all places that still hold the pair, and notes in `left` and
    /// `right` what stood beside it. Returns the weight replaced, and weight and places of the new
    /// symbol beside itself.
    fn replace(&mut self, places: &[u32], merge: &Merge) -> (u64, (u64, u32)) {
        let widths = &self.pieces.widths;
        let (left_width, right_width) = (widths[merge.left as usize], widths[merge.right as usize]);
        let width = left_width + right_width;
        let (mut merged, mut both_new) = (0, (0u64, 0u32));
        let (mut weight, mut weight_end) = (0, 0);
        self.places.clear();
        for places in places.chunks(PLACES_AT_ONCE) {
            self.arena.fetch(places);
            for &place in places {
                if !self.arena.holds(place, merge.left, left_width, merge.right) {
                    continue;
                }
                if place >= weight_end {
                    (weight, weight_end) = self.arena.weight(place);
                }
                self.arena.write(place, left_width, right_width, merge.id);
                self.places.push(place);
                merged += weight;
                let before = self.arena.slot(place as usize - 1);
                if before == merge.id {
                    // The place before was merged a moment ago; its right neighbour is noted as
                    // merge.left, which it no longer is.
                    both_new.0 += weight;
                    both_new.1 += 1;
                } else if Arena::is_symbol(before) {
                    self.left.add(before, weight);
                }
                let behind = self.arena.slot((place + width) as usize);
                if Arena::is_symbol(behind) {
                    self.right.add(behind, weight);
                }
            }
        }
        (merged, both_new)
    }

    /// (x, left) and (right, y) have lost the places that were merged.
    fn lower_old_counts(&mut self, merge: &Merge) {
        for side in [true, false] {
            let neighbours = if side { &self.left } else { &self.right };
            for index in 0..neighbours.seen.len() {
                let neighbours = if side { &self.left } else { &self.right };
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
    fn count_new_pairs(&mut self, merge: &Merge, both_new: (u64, u32)) {
        let id = merge.id;
        // A right neighbour noted as merge.left may itself have been merged at the next place.
        let lost = merge.left as usize;
        self.right.weights[lost] -= both_new.0;
        self.right.places[lost] -= both_new.1;
        let mut kept = Vec::new();
        for &symbol in &self.left.seen {
            let index = symbol as usize;
            kept.push(((symbol, id), self.left.weights[index], self.left.places[index]));
        }
        for &symbol in &self.right.seen {
            let index = symbol as usize;
            kept.push(((id, symbol), self.right.weights[index], self.right.places[index]));
        }
        kept.push(((id, id), both_new.0, both_new.1));
        kept.retain(|pair| pair.2 > 0 && pair.1 >= self.threshold && self.allowed(pair.0));
        if kept.is_empty() {
            return;
        }
        // From here on weights hold the number of a kept pair, plus one.
        for neighbours in [&mut self.left, &mut self.right] {
            for &symbol in &neighbours.seen {
                neighbours.weights[symbol as usize] = 0;
            }
        }
        let mut itself = None;
        for &(ids, count, places) in &kept {
            let number = self.pairs.insert(ids, count, Vec::with_capacity(places as usize));
            if ids == (id, id) {
                itself = Some(number);
            } else if ids.1 == id {
                self.left.weights[ids.0 as usize] = u64::from(number) + 1;
            } else {
                self.right.weights[ids.1 as usize] = u64::from(number) + 1;
            }
        }
        let width = self.pieces.widths[id as usize];
        for &place in &self.places {
            let before = self.arena.slot(place as usize - 1);
            if before == id {
                if let Some(number) = itself {
                    self.pairs.get_mut(number).places.push(place - width);
                }
            } else if Arena::is_symbol(before)
                && let Some(number) = self.left.weights[before as usize].checked_sub(1)
            {
                let start = place - self.pieces.widths[before as usize];
                self.pairs.get_mut(number as u32).places.push(start);
            }
            let behind = self.arena.slot((place + width) as usize);
            if behind != id
                && Arena::is_symbol(behind)
                && let Some(number) = self.right.weights[behind as usize].checked_sub(1)
            {
                self.pairs.get_mut(number as u32).places.push(place);
            }
        }
        for (ids, ..) in kept {
            if let Some(number) = self.pairs.number(ids) {
                self.enqueue(number);
            }
        }
    }

    /// No pair reaches `min_pair_count`: is that because there is none at all that may be merged?
    pub(super) fn why_dry(&self) -> Stop {
        let mut any = false;
        self.arena.for_each_pair(&self.pieces.widths, |_, left, right, _| {
            any = any || !self.passed.contains(&(left, right)) && self.may_merge((left, right));
        });
        if any { Stop::MinPairCount } else { Stop::NoPair }
    }

    pub(super) fn view(&self) -> View<'_> {
        View::new(&self.arena, &self.pieces, self.config.ties, &self.passed)
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
