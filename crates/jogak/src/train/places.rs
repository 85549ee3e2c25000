//! A merge at its places: what a thread does with some of them.
//!
//! Rule: threads may work at the same time if no word has places of two of them. What a thread needs
//! stands in a [`Part`] of its own; only the slots of its words are written.

use std::sync::{Arc, PoisonError, RwLock};

use super::arena::{Arena, PLACES_AT_ONCE};
use super::neighbours::Neighbours;
use super::partner::Job;

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
}

/// What a thread found.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// What stood beside the places that were merged.
    pub(super) left: Neighbours,
    pub(super) right: Neighbours,
    /// The weight that was replaced; weight and places of the new symbol beside itself.
    pub(super) merged: u64,
    pub(super) itself: (u64, u32),
    /// The positions that were merged.
    places: Vec<u32>,
}

impl Part {
    /// Ready for the next merge, with `symbols` symbols.
    pub(super) fn clear(&mut self, symbols: usize) {
        self.left.clear();
        self.right.clear();
        self.left.grow(symbols);
        self.right.grow(symbols);
        (self.merged, self.itself) = (0, (0, 0));
        self.places.clear();
    }

    /// Adds what another thread found, but for the places.
    pub(super) fn append(&mut self, other: &Self) {
        self.left.append(&other.left);
        self.right.append(&other.right);
        self.merged += other.merged;
        self.itself = (self.itself.0 + other.itself.0, self.itself.1 + other.itself.1);
    }

    /// Writes the new symbol at all places that still hold the pair, and notes what stood beside it.
    pub(super) fn replace(&mut self, field: &Field, places: &[u32], rule: Rule) {
        let arena = &field.arena;
        let widths = field.widths.read().unwrap_or_else(PoisonError::into_inner);
        let (left_width, right_width) = (widths[rule.left as usize], widths[rule.right as usize]);
        let width = left_width + right_width;
        let (mut weight, mut weight_end) = (0, 0);
        for places in places.chunks(PLACES_AT_ONCE) {
            arena.fetch(places);
            for &place in places {
                if !arena.holds(place, rule.left, left_width, rule.right) {
                    continue;
                }
                if place >= weight_end {
                    (weight, weight_end) = arena.weight(place);
                }
                arena.write(place, left_width, right_width, rule.id);
                self.places.push(place);
                self.merged += weight;
                let before = arena.slot(place as usize - 1);
                if before == rule.id {
                    // The place before was merged a moment ago; its right neighbour is noted as
                    // rule.left, which it no longer is.
                    self.itself.0 += weight;
                    self.itself.1 += 1;
                } else if Arena::is_symbol(before) {
                    self.left.add(before, weight);
                }
                let behind = arena.slot((place + width) as usize);
                if Arena::is_symbol(behind) {
                    self.right.add(behind, weight);
                }
            }
        }
    }

    /// The places of every one of `pairs`, which have the new symbol.
    pub(super) fn find(&mut self, field: &Field, pairs: &[(u32, u32)], id: u32) -> Vec<Vec<u32>> {
        let arena = &field.arena;
        let widths = field.widths.read().unwrap_or_else(PoisonError::into_inner);
        // From here on weights hold the number of a pair in `pairs`, plus one.
        for neighbours in [&mut self.left, &mut self.right] {
            for &symbol in &neighbours.seen {
                neighbours.weights[symbol as usize] = 0;
            }
        }
        let mut itself = None;
        let mut found = Vec::with_capacity(pairs.len());
        for (&ids, number) in pairs.iter().zip(0usize..) {
            let places = if ids == (id, id) {
                itself = Some(number);
                self.itself.1
            } else if ids.1 == id {
                self.left.number(ids.0, number)
            } else {
                self.right.number(ids.1, number)
            };
            found.push(Vec::with_capacity(places as usize));
        }
        let width = widths[id as usize];
        for &place in &self.places {
            let before = arena.slot(place as usize - 1);
            if before == id {
                if let Some(number) = itself {
                    found[number].push(place - width);
                }
            } else if Arena::is_symbol(before)
                && let Some(number) = self.left.weights[before as usize].checked_sub(1)
            {
                found[number as usize].push(place - widths[before as usize]);
            }
            let behind = arena.slot((place + width) as usize);
            if behind != id
                && Arena::is_symbol(behind)
                && let Some(number) = self.right.weights[behind as usize].checked_sub(1)
            {
                found[number as usize].push(place);
            }
        }
        found
    }
}

/// What a partner is asked for.
#[derive(Debug)]
pub(super) enum Task {
    /// [`Part::replace`] at the places from this one on.
    Replace(Arc<Vec<u32>>, usize),
    /// [`Part::find`] for these pairs.
    Find(Arc<Vec<(u32, u32)>>),
    /// What was found.
    Found(Vec<Vec<u32>>),
}

/// A part of a merge, for a partner.
#[derive(Debug)]
pub(super) struct Errand {
    pub(super) field: Arc<Field>,
    pub(super) rule: Rule,
    pub(super) part: Part,
    pub(super) task: Task,
}

impl Job for Errand {
    fn work(&mut self) {
        match &self.task {
            Task::Replace(places, from) => {
                self.part.replace(&self.field, &places[*from..], self.rule);
            }
            Task::Find(pairs) => {
                let found = self.part.find(&self.field, pairs, self.rule.id);
                self.task = Task::Found(found);
            }
            Task::Found(_) => {}
        }
    }
}
