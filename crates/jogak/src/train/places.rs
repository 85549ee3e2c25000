//! Merges at their places: what a thread does with the words that are its own.
//!
//! Rule: threads may work at the same time because no word has places of two of them. What a thread needs
//! stands in a [`Side`] of its own; only the slots of its words are written. Merges are made in the order
//! that they were chosen in, on every side.

use std::sync::{Arc, PoisonError, RwLock};

use super::arena::{AHEAD, Arena};
use super::partner::Job;
use super::store::{List, Store};
use crate::scan::prefetch;

/// What all threads look at.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) arena: Arena,
    /// Slots that a piece spans: symbols of the alphabet, own markers included. Written between merges.
    pub(super) widths: RwLock<Vec<u32>>,
}

impl Field {
    /// Calls `pair(position, left, right, weight)` for every two neighbours, left to right.
    pub(super) fn for_each_pair(&self, pair: impl FnMut(u32, u32, u32, u64)) {
        let widths = self.widths.read().unwrap_or_else(PoisonError::into_inner);
        self.arena.for_each_pair(&widths, pair);
    }

    /// Calls `word(symbols, count)` for every word, in order.
    pub(super) fn for_each_word(&self, word: impl FnMut(&[u32], u64)) {
        let widths = self.widths.read().unwrap_or_else(PoisonError::into_inner);
        self.arena.for_each_word(&widths, word);
    }
}

/// Two symbols that become one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) id: u32,
    /// The number of the pair.
    pub(super) number: u32,
}

/// Merges that are made one after the other.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) rules: Vec<Rule>,
    /// Numbers of pairs that went before: nobody asks for their places any more.
    pub(super) gone: Vec<u32>,
}

/// Which pair of a new symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum With {
    /// With this one on its left.
    Left(u32),
    /// With this one on its right.
    Right(u32),
    /// With itself.
    Itself,
}

/// Pairs that came into being and are kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Symbols beside the new ones, and the numbers of the pairs.
    pub(super) pairs: Vec<(With, u32)>,
    /// For every merge of the batch, where its pairs end.
    pub(super) ends: Vec<usize>,
}

/// A symbol beside merged places: weight and number of the places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    pub(super) symbol: u32,
    pub(super) places: u32,
    pub(super) weight: u64,
}

/// Adds up what stands beside places.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sums: Vec<Sum>,
    seen: Vec<u32>,
}

/// Of a symbol.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    weight: u64,
    places: u32,
    /// Where the next place of its pair is written to, plus one.
    cursor: usize,
}

impl Tally {
    pub(super) fn grow(&mut self, symbols: usize) {
        self.sums.resize(symbols, Sum::default());
    }

    #[inline]
    pub(super) fn add(&mut self, symbol: u32, weight: u64, places: u32) {
        let sum = &mut self.sums[symbol as usize];
        if sum.places == 0 {
            self.seen.push(symbol);
        }
        sum.places += places;
        sum.weight += weight;
    }

    /// Moves all sums to `found`.
    pub(super) fn drain_to(&mut self, found: &mut Vec<Near>) {
        found.extend(self.seen.drain(..).map(|symbol| {
            let Sum { weight, places, .. } = std::mem::take(&mut self.sums[symbol as usize]);
            Near { symbol, places, weight }
        }));
    }
}

/// What became of a merge.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Done {
    /// The weight that was replaced; weight and places of the new symbol beside itself.
    pub(super) merged: u64,
    pub(super) itself: (u64, u32),
    /// Where its left and its right neighbours end in [`Side::found`], and its places.
    left_end: usize,
    right_end: usize,
    places_end: usize,
}

/// A thread's part of the words, and of all that is known of them.
#[derive(Debug, Default)]
pub(super) struct Side {
    store: Store,
    /// The places of every pair, by its number. Complete when the pair is made; from then on some go
    /// stale, which [`Arena::holds`] tells.
    lists: Vec<List>,
    left: Tally,
    right: Tally,
    /// What stood beside the places that were merged.
    found: Vec<Near>,
    pub(super) done: Vec<Done>,
    /// The positions that were merged, and what then stood before and behind: slots are far apart, and
    /// are read once only.
    places: Vec<u32>,
    beside: Vec<(u32, u32)>,
}

impl Side {
    /// With the places of pairs: those of the first one, as many as the first of `lengths` says, and so on.
    pub(super) fn new(places: Vec<u32>, lengths: &[u32]) -> Self {
        let (store, lists) = Store::new(places, lengths);
        Self { store, lists, ..Self::default() }
    }

    /// The places of a pair, ascending.
    pub(super) fn places(&self, number: u32) -> &[u32] {
        self.lists.get(number as usize).map_or(&[], |&list| self.store.get(list))
    }

    /// Says that the list of a pair's places will be asked for soon.
    pub(super) fn ask_list(&self, number: u32) {
        prefetch(&self.lists, number as usize);
    }

    /// Says that the places of a pair will be asked for soon.
    pub(super) fn ask_places(&self, number: u32) {
        if let Some(&list) = self.lists.get(number as usize) {
            self.store.ask(list);
        }
    }

    /// Says that the slots at the first places of a pair will be asked for soon.
    pub(super) fn ask_slots(&self, arena: &Arena, number: u32) {
        self.places(number).iter().take(AHEAD).for_each(|&place| arena.ask(place));
    }

    /// Drops the places of a pair that are stale, up to the first one that is not.
    pub(super) fn skip_stale(&mut self, field: &Field, number: u32, (left, right): (u32, u32)) {
        let Some(list) = self.lists.get_mut(number as usize) else { return };
        let widths = field.widths.read().unwrap_or_else(PoisonError::into_inner);
        let width = widths[left as usize];
        let stale = |place: &&u32| !field.arena.holds(**place, left, width, right);
        let stale = self.store.get(*list).iter().take_while(stale).count();
        *list = self.store.drop_first(*list, stale);
    }

    /// How often a pair occurs. Cost: looks at its places.
    pub(super) fn count(
        &self,
        arena: &Arena,
        widths: &[u32],
        number: u32,
        (left, right): (u32, u32),
    ) -> u64 {
        let width = widths[left as usize];
        let (mut sum, mut weight, mut weight_end) = (0, 0, 0);
        let places = self.places(number);
        places.iter().take(AHEAD).for_each(|&place| arena.ask(place));
        for (index, &place) in places.iter().enumerate() {
            if let Some(&place) = places.get(index + AHEAD) {
                arena.ask(place);
            }
            if arena.holds(place, left, width, right) {
                if place >= weight_end {
                    (weight, weight_end) = arena.weight(place);
                }
                sum += weight;
            }
        }
        sum
    }

    /// What stood before (behind) the places of a merge of the batch.
    pub(super) fn near(&self, merge: usize, before: bool) -> &[Near] {
        let from = merge.checked_sub(1).map_or(0, |before| self.done[before].right_end);
        let Done { left_end, right_end, .. } = self.done[merge];
        if before { &self.found[from..left_end] } else { &self.found[left_end..right_end] }
    }

    /// Writes the new symbols at all places that hold the pairs by then, and notes what stood beside them.
    pub(super) fn replace(&mut self, field: &Field, batch: &Batch) {
        let widths = field.widths.read().unwrap_or_else(PoisonError::into_inner);
        self.found.clear();
        self.done.clear();
        self.places.clear();
        self.beside.clear();
        self.left.grow(widths.len());
        self.right.grow(widths.len());
        for &number in &batch.gone {
            self.drop_list(number);
        }
        for (index, &rule) in batch.rules.iter().enumerate() {
            // What the next ones need comes step by step meanwhile.
            let later = |ahead: usize| batch.rules.get(index + ahead);
            later(3).inspect(|rule| self.ask_list(rule.number));
            later(2).inspect(|rule| self.ask_places(rule.number));
            later(1).inspect(|rule| self.ask_slots(&field.arena, rule.number));
            self.replace_one(&field.arena, &widths, rule);
            self.drop_list(rule.number);
        }
    }

    fn drop_list(&mut self, number: u32) {
        if let Some(list) = self.lists.get_mut(number as usize) {
            self.store.give(std::mem::take(list));
        }
    }

    fn replace_one(&mut self, arena: &Arena, widths: &[u32], rule: Rule) {
        let (left_width, right_width) = (widths[rule.left as usize], widths[rule.right as usize]);
        let width = left_width + right_width;
        let (mut weight, mut weight_end) = (0, 0);
        let mut done = Done::default();
        let list = self.lists.get(rule.number as usize).copied().unwrap_or_default();
        let list = self.store.get(list);
        list.iter().take(AHEAD).for_each(|&place| arena.ask(place));
        for (index, &place) in list.iter().enumerate() {
            if let Some(&place) = list.get(index + AHEAD) {
                arena.ask(place);
            }
            if !arena.holds(place, rule.left, left_width, rule.right) {
                continue;
            }
            if place >= weight_end {
                (weight, weight_end) = arena.weight(place);
            }
            arena.write(place, left_width, right_width, rule.id);
            self.places.push(place);
            done.merged += weight;
            let before = arena.slot(place as usize - 1);
            if before == rule.id {
                // The place before was merged a moment ago; its right neighbour is noted as
                // rule.left, which it no longer is.
                done.itself.0 += weight;
                done.itself.1 += 1;
            } else if Arena::is_symbol(before) {
                self.left.add(before, weight, 1);
            }
            let behind = arena.slot((place + width) as usize);
            if Arena::is_symbol(behind) {
                self.right.add(behind, weight, 1);
            }
            self.beside.push((before, behind));
        }
        self.left.drain_to(&mut self.found);
        done.left_end = self.found.len();
        self.right.drain_to(&mut self.found);
        done.right_end = self.found.len();
        done.places_end = self.places.len();
        self.done.push(done);
    }

    /// Finds the places of the pairs that are kept of those that the batch has made.
    pub(super) fn find(&mut self, field: &Field, batch: &Batch, kept: &Kept) {
        let widths = field.widths.read().unwrap_or_else(PoisonError::into_inner);
        let mut from = 0;
        for (merge, (&rule, &end)) in batch.rules.iter().zip(&kept.ends).enumerate() {
            if from < end {
                self.find_one(&widths, merge, rule.id, &kept.pairs[from..end]);
            }
            from = end;
        }
    }

    fn find_one(&mut self, widths: &[u32], merge: usize, id: u32, kept: &[(With, u32)]) {
        let from = merge.checked_sub(1).map_or((0, 0), |before| {
            let done = self.done[before];
            (done.right_end, done.places_end)
        });
        let done = self.done[merge];
        let lefts = from.0..done.left_end;
        let rights = done.left_end..done.right_end;
        for near in &self.found[lefts.clone()] {
            self.left.sums[near.symbol as usize].places = near.places;
        }
        for near in &self.found[rights.clone()] {
            self.right.sums[near.symbol as usize].places = near.places;
        }
        let mut itself = 0;
        for &(with, number) in kept {
            let places = match with {
                With::Left(symbol) => self.left.sums[symbol as usize].places,
                With::Right(symbol) => self.right.sums[symbol as usize].places,
                With::Itself => done.itself.1,
            };
            let list = self.store.take(places);
            if self.lists.len() <= number as usize {
                self.lists.resize(number as usize + 1, List::default());
            }
            self.lists[number as usize] = list;
            let cursor = if places > 0 { Store::cursor(list) + 1 } else { 0 };
            match with {
                With::Left(symbol) => self.left.sums[symbol as usize].cursor = cursor,
                With::Right(symbol) => self.right.sums[symbol as usize].cursor = cursor,
                With::Itself => itself = cursor,
            }
        }
        let width = widths[id as usize];
        let places = &self.places[from.1..done.places_end];
        let beside = &self.beside[from.1..done.places_end];
        let store = &mut self.store;
        let mut put = |cursor: &mut usize, place: u32| {
            if *cursor > 0 {
                store.put(*cursor - 1, place);
                *cursor += 1;
            }
        };
        let mut next = places.iter().skip(1);
        for (&place, &(before, behind)) in places.iter().zip(beside) {
            // What stood behind may itself have been merged a moment later.
            let joined = next.next() == Some(&(place + width));
            if before == id {
                put(&mut itself, place - width);
            } else if let Some(sum) = self.left.sums.get_mut(before as usize) {
                // Borders and the like are no neighbours.
                put(&mut sum.cursor, place - widths[before as usize]);
            }
            if !joined && let Some(sum) = self.right.sums.get_mut(behind as usize) {
                put(&mut sum.cursor, place);
            }
        }
        for &(with, number) in kept {
            let cursor = match with {
                With::Left(symbol) => self.left.sums[symbol as usize].cursor,
                With::Right(symbol) => self.right.sums[symbol as usize].cursor,
                With::Itself => itself,
            };
            if cursor > 0 {
                let list = &mut self.lists[number as usize];
                *list = self.store.cut(*list, cursor - 1);
            }
        }
        for near in &self.found[lefts] {
            self.left.sums[near.symbol as usize] = Sum::default();
        }
        for near in &self.found[rights] {
            self.right.sums[near.symbol as usize] = Sum::default();
        }
    }
}

/// What a side is to do.
#[derive(Debug, Clone)]
pub(super) enum Task {
    /// The merges of a batch.
    Replace(Arc<Batch>),
    /// Find the places of the pairs that are kept of those that it has made.
    Find(Arc<Batch>, Arc<Kept>),
}

/// The same, for a partner.
#[derive(Debug)]
pub(super) struct Errand {
    pub(super) field: Arc<Field>,
    pub(super) side: Box<Side>,
    pub(super) task: Task,
}

impl Side {
    pub(super) fn work(&mut self, field: &Field, task: &Task) {
        match task {
            Task::Replace(batch) => self.replace(field, batch),
            Task::Find(batch, kept) => self.find(field, batch, kept),
        }
    }
}

impl Job for Errand {
    fn work(&mut self) {
        self.side.work(&self.field, &self.task);
    }
}
