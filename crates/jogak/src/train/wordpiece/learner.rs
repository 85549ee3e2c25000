//! The loop body of WordPiece training: which pair is best, and what changes when it is merged.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use super::rows::Rows;
use super::score::{Rank, Ranker};
use super::view::WordPieceView;
use super::{Criterion, LAST_FLOOR, WordPieceConfig, WordPieceMerge};
use crate::train::arena::{AHEAD, Arena};
use crate::train::bpe::Stop;
use crate::train::corpus::Corpus;
use crate::train::neighbours::Neighbours;
use crate::train::pairs::{self, Counted};

/// The pieces so far.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) texts: Vec<Vec<u8>>,
    /// Slots that a piece spans: symbols of the alphabet, own markers included.
    pub(super) widths: Vec<u32>,
    /// All texts that exist, other pieces included.
    taken: FxHashSet<Vec<u8>>,
}

/// Training under way.
pub(super) struct Learner<'a> {
    config: &'a WordPieceConfig,
    threads: usize,
    pub(super) arena: Arena,
    pub(super) pieces: Pieces,
    rows: Rows,
    /// Pairs below this count are not kept.
    threshold: u64,
    pub(super) occurrences: Vec<u64>,
    /// Symbols of the corpus now, times word counts.
    length: u64,
    pub(super) passed_over: Vec<(u32, u32)>,
    passed: FxHashSet<(u32, u32)>,
    left: Neighbours,
    right: Neighbours,
    /// The positions of the last merge.
    places: Vec<u32>,
}

/// How far the threshold is lowered when no kept pair is left.
const LOWER: u64 = 4;
/// Pairs per wanted merge that the first threshold aims at. Fewer than in BPE: here every kept pair
/// costs time, since rows and columns are walked; anything from 8 to 40 does.
const PAIRS_PER_MERGE: u64 = 16;

impl<'a> Learner<'a> {
    /// Ready, but for [`Learner::count_pairs`].
    pub(super) fn new(corpus: Corpus, config: &'a WordPieceConfig, goal: Option<usize>) -> Self {
        let Corpus { alphabet, arena, length, occurrences, threads, .. } = corpus;
        let pieces = Pieces {
            taken: [&config.other_pieces, &config.uncounted_pieces, &alphabet.texts]
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            widths: vec![1; alphabet.len()],
            texts: alphabet.texts,
        };
        let mut learner = Self {
            config,
            threads,
            arena,
            pieces,
            rows: Rows::default(),
            threshold: 0,
            occurrences,
            length,
            passed_over: Vec::new(),
            passed: FxHashSet::default(),
            left: Neighbours::default(),
            right: Neighbours::default(),
            places: Vec::new(),
        };
        learner.threshold = learner.last_floor();
        // Where rare pairs may go before frequent ones, all that may be merged are kept.
        let frequent_first =
            config.min_pair_count.is_none() || config.criterion == Criterion::Count;
        if let Some(goal) = goal.filter(|_| frequent_first) {
            let guess = length / (goal as u64 + 1) / PAIRS_PER_MERGE;
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

    /// Counts all pairs anew and keeps those that reach the threshold. If `tick` breaks this off,
    /// no more can be learned.
    pub(super) fn count_pairs(&mut self, tick: impl FnMut() -> ControlFlow<()>) -> ControlFlow<()> {
        // The old ones go first: both at once would be twice the memory.
        self.rows = Rows::default();
        let widths = &self.pieces.widths;
        let wanted = |ids| !self.passed.contains(&ids);
        let parts = self.arena.parts(self.threads);
        let census = pairs::count(&self.arena, widths, &parts, self.threshold, wanted, tick)?;
        let ranker = Ranker::new(self.config, &self.occurrences);
        self.rows = Rows::new(self.pieces.texts.len(), census.into_counted(), &ranker);
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
                self.count_pairs(&mut tick)?;
                continue;
            };
            let (left, right) = self.rows.ids(number);
            if !self.may_merge((left, right)) {
                self.passed_over.push((left, right));
                self.passed.insert((left, right));
                self.rows.take(number);
                self.rows.look_at_open(&Ranker::new(self.config, &self.occurrences));
                continue;
            }
            let merge = WordPieceMerge {
                left,
                right,
                id: self.pieces.texts.len() as u32,
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

    fn joined(&self, (left, right): (u32, u32)) -> Vec<u8> {
        let mark = self.config.marker.stripped().as_bytes();
        let right = &self.pieces.texts[right as usize];
        [&self.pieces.texts[left as usize], right.strip_prefix(mark).unwrap_or(right)].concat()
    }

    fn may_merge(&self, ids: (u32, u32)) -> bool {
        let text = self.joined(ids);
        let fits = |longest| self.config.marker.length(&text, false) <= longest;
        self.config.max_piece_length.is_none_or(fits) && !self.pieces.taken.contains(&text)
    }

    /// Replaces the pair everywhere and puts all counts and scores right.
    pub(super) fn apply(&mut self, number: u32, merge: &mut WordPieceMerge) {
        let live_before = self.alive(merge);
        self.add_piece(merge);
        let places = self.rows.take(number);
        merge.replaced = self.replace(&places, merge);
        drop(places);
        self.occurrences[merge.left as usize] -= merge.replaced;
        self.occurrences[merge.right as usize] -= merge.replaced;
        self.occurrences[merge.id as usize] = merge.replaced;
        self.length -= merge.replaced;
        merge.live_change = 1 + self.alive(merge) - live_before;
        let ranker = Ranker::new(self.config, &self.occurrences);
        let (ids, threshold) = ((merge.left, merge.right), self.threshold);
        self.rows.lower(ids, &mut self.left, &mut self.right, threshold, &ranker);
        self.left.clear();
        self.right.clear();
        self.count_new_pairs(merge.id);
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
        let text = self.joined((merge.left, merge.right));
        let widths = &mut self.pieces.widths;
        widths.push(widths[merge.left as usize] + widths[merge.right as usize]);
        self.pieces.taken.insert(text.clone());
        self.pieces.texts.push(text);
        self.occurrences.push(0);
        self.rows.grow(self.occurrences.len());
        self.left.grow(self.occurrences.len());
        self.right.grow(self.occurrences.len());
    }

    /// Writes the symbol at all places that still hold the pair, and notes in `left` and `right`
    /// which neighbours the pair's own symbols have lost. Returns the weight replaced.
    fn replace(&mut self, places: &[u32], merge: &WordPieceMerge) -> u64 {
        let widths = &self.pieces.widths;
        let (left_width, right_width) = (widths[merge.left as usize], widths[merge.right as usize]);
        let width = left_width + right_width;
        let (mut merged, mut weight, mut weight_end) = (0, 0, 0);
        self.places.clear();
        places.iter().take(AHEAD).for_each(|&place| self.arena.ask(place));
        for (index, &place) in places.iter().enumerate() {
            if let Some(&place) = places.get(index + AHEAD) {
                self.arena.ask(place);
            }
            if !self.arena.holds(place, merge.left, left_width, merge.right) {
                continue;
            }
            if place >= weight_end {
                (weight, weight_end) = self.arena.weight(place);
            }
            self.arena.write(place, left_width, right_width, merge.id);
            self.places.push(place);
            merged += weight;
            // A neighbour that is new itself has noted the pair between them.
            let before = self.arena.slot(place as usize - 1);
            if before != merge.id && Arena::is_symbol(before) {
                self.left.add(before, weight);
            }
            let behind = self.arena.slot((place + width) as usize);
            if Arena::is_symbol(behind) {
                self.right.add(behind, weight);
            }
        }
        merged
    }

    /// (x, id), (id, y) and (id, id) have come into being; those that reach the threshold are kept.
    fn count_new_pairs(&mut self, id: u32) {
        let width = self.pieces.widths[id as usize];
        let (mut weight, mut weight_end) = (0, 0);
        for &place in &self.places {
            if place >= weight_end {
                (weight, weight_end) = self.arena.weight(place);
            }
            let before = self.arena.slot(place as usize - 1);
            // (id, id) is counted by its left one.
            if before != id && Arena::is_symbol(before) {
                self.left.add(before, weight);
            }
            let behind = self.arena.slot((place + width) as usize);
            if Arena::is_symbol(behind) {
                self.right.add(behind, weight);
            }
        }
        let ranker = Ranker::new(self.config, &self.occurrences);
        let mut any = false;
        for (neighbours, is_left) in [(&mut self.left, true), (&mut self.right, false)] {
            for &symbol in &neighbours.seen {
                let index = symbol as usize;
                let (count, room) = (neighbours.weights[index], neighbours.places[index]);
                let ids = if is_left { (symbol, id) } else { (id, symbol) };
                // From here on weights hold the number of a kept pair, plus one.
                neighbours.weights[index] = 0;
                if count >= self.threshold {
                    let places = Vec::with_capacity(room as usize);
                    let number = self.rows.insert(Counted { ids, count, places }, &ranker);
                    neighbours.weights[index] = u64::from(number) + 1;
                    any = true;
                }
            }
        }
        if any {
            for &place in &self.places {
                let before = self.arena.slot(place as usize - 1);
                if before != id
                    && Arena::is_symbol(before)
                    && let Some(number) = self.left.weights[before as usize].checked_sub(1)
                {
                    let start = place - self.pieces.widths[before as usize];
                    self.rows.push(number as u32, start);
                }
                let behind = self.arena.slot((place + width) as usize);
                if Arena::is_symbol(behind)
                    && let Some(number) = self.right.weights[behind as usize].checked_sub(1)
                {
                    self.rows.push(number as u32, place);
                }
            }
        }
        self.left.clear();
        self.right.clear();
    }

    /// No pair reaches the last floor: is that because there is none at all that may be merged?
    pub(super) fn why_dry(&self) -> Stop {
        let mut any = false;
        self.arena.for_each_pair(&self.pieces.widths, |_, left, right, _| {
            any = any || !self.passed((left, right)) && self.may_merge((left, right));
        });
        if any { Stop::MinPairCount } else { Stop::NoPair }
    }

    pub(super) fn view(&'a self) -> WordPieceView<'a> {
        WordPieceView(self)
    }
}
