//! The kept pairs, and the best of them, although scores rise and fall.
//!
//! A heap whose entries are put right when they come to the top needs scores that only fall. Here the
//! score of (x, a) rises whenever other occurrences of `a` are used up. So every left symbol keeps its
//! best pair, and rows play a tournament: a row that changes plays again up to where it loses. A merge
//! changes scores in the rows and columns of the symbols that took part, and nowhere else.

use super::score::{Rank, Ranker};
use crate::train::neighbours::Neighbours;
use crate::train::pairs::{Counted, NOBODY};

/// What is read of a pair when rows and columns are walked, which is most of what training does.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// [`NOBODY`] for a number that is free.
    ids: (u32, u32),
    count: u64,
}

/// The best pair of a row.
#[derive(Debug, Clone, Copy)]
struct Best {
    rank: Rank,
    number: u32,
}

/// Pairs by their left and by their right symbol. The lists may hold numbers of pairs that have gone,
/// which even may be those of other pairs by now; they are dropped when a list is walked.
#[derive(Debug, Default)]
pub(super) struct Rows {
    heads: Vec<Head>,
    places: Vec<Vec<u32>>,
    free: Vec<u32>,
    rows: Vec<Vec<u32>>,
    columns: Vec<Vec<u32>>,
    best: Vec<Option<Best>>,
    /// Node `n` has the winner of nodes `2n` and `2n + 1`, the last one is [`Rows::best`]'s; the nodes
    /// behind them all, as many, are the rows themselves.
    winners: Vec<u32>,
    /// Rows that have lost their best pair.
    open: Vec<u32>,
}

impl Rows {
    /// Rows with these pairs, for symbols below `symbols`.
    pub(super) fn new(symbols: usize, pairs: Vec<Counted>, ranker: &Ranker<'_>) -> Self {
        let mut rows = Self::default();
        rows.grow(symbols);
        for pair in pairs {
            rows.insert(pair, ranker);
        }
        rows
    }

    /// Makes room for symbols below `symbols`.
    pub(super) fn grow(&mut self, symbols: usize) {
        self.rows.resize_with(symbols, Vec::new);
        self.columns.resize_with(symbols, Vec::new);
        self.best.resize(symbols, None);
        if symbols > self.winners.len() {
            self.winners = vec![0; symbols.next_power_of_two().max(2)];
            for node in (1..self.winners.len()).rev() {
                self.winners[node] = self.winner(node);
            }
        }
    }

    /// A pair has come into being. Returns its number.
    pub(super) fn insert(&mut self, pair: Counted, ranker: &Ranker<'_>) -> u32 {
        let Counted { ids, count, places } = pair;
        let number = self.free.pop().unwrap_or_else(|| {
            self.heads.push(Head { ids: NOBODY, count: 0 });
            self.places.push(Vec::new());
            (self.heads.len() - 1) as u32
        });
        self.heads[number as usize] = Head { ids, count };
        self.places[number as usize] = places;
        self.rows[ids.0 as usize].push(number);
        self.columns[ids.1 as usize].push(number);
        self.offer(number, ranker);
        number
    }

    /// Takes a pair out, which must be the best of its row; returns its places.
    pub(super) fn take(&mut self, number: u32) -> Vec<u32> {
        self.open.push(self.ids(number).0);
        self.free(number)
    }

    fn free(&mut self, number: u32) -> Vec<u32> {
        self.heads[number as usize].ids = NOBODY;
        self.free.push(number);
        std::mem::take(&mut self.places[number as usize])
    }

    pub(super) fn ids(&self, number: u32) -> (u32, u32) {
        self.heads[number as usize].ids
    }

    pub(super) fn count(&self, number: u32) -> u64 {
        self.heads[number as usize].count
    }

    /// Adds a place to a pair.
    pub(super) fn push(&mut self, number: u32, place: u32) {
        self.places[number as usize].push(place);
    }

    /// `left` and `right` were merged: pairs (x, left) lose the weights of `before`, pairs (right, y)
    /// those of `behind`, and those that fall below `threshold` go. All pairs that begin or end with one
    /// of the two get their new ranks.
    pub(super) fn lower(
        &mut self,
        (left, right): (u32, u32),
        before: &mut Neighbours,
        behind: &mut Neighbours,
        threshold: u64,
        ranker: &Ranker<'_>,
    ) {
        self.walk_column(left, |x| before.take(x), threshold, ranker);
        if right != left {
            self.walk_column(right, |_| 0, threshold, ranker);
        }
        self.walk_row(right, |y| behind.take(y), threshold, ranker);
        self.open.push(left);
        self.look_at_open(ranker);
    }

    /// Finds the best pair of the rows that have lost theirs.
    pub(super) fn look_at_open(&mut self, ranker: &Ranker<'_>) {
        self.open.sort_unstable();
        self.open.dedup();
        for row in std::mem::take(&mut self.open) {
            self.walk_row(row, |_| 0, 0, ranker);
        }
    }

    /// Lowers the pairs that end with `column` and offers them to their rows.
    fn walk_column(
        &mut self,
        column: u32,
        mut lost: impl FnMut(u32) -> u64,
        threshold: u64,
        ranker: &Ranker<'_>,
    ) {
        let mut numbers = std::mem::take(&mut self.columns[column as usize]);
        numbers.retain(|&number| {
            let head = &mut self.heads[number as usize];
            if head.ids.1 != column {
                return false;
            }
            let row = head.ids.0;
            let weight = lost(row);
            debug_assert!(head.count >= weight, "a pair lost more places than it had");
            head.count -= weight;
            if head.count >= threshold {
                self.offer(number, ranker);
                return true;
            }
            self.free(number);
            if self.best[row as usize].is_some_and(|best| best.number == number) {
                self.open.push(row);
            }
            false
        });
        self.columns[column as usize] = numbers;
    }

    /// Lowers the pairs that begin with `row` and finds the best of them.
    fn walk_row(
        &mut self,
        row: u32,
        mut lost: impl FnMut(u32) -> u64,
        threshold: u64,
        ranker: &Ranker<'_>,
    ) {
        let mut best: Option<Best> = None;
        let mut numbers = std::mem::take(&mut self.rows[row as usize]);
        numbers.retain(|&number| {
            let head = &mut self.heads[number as usize];
            if head.ids.0 != row {
                return false;
            }
            let weight = lost(head.ids.1);
            debug_assert!(head.count >= weight, "a pair lost more places than it had");
            head.count -= weight;
            if head.count < threshold {
                self.free(number);
                return false;
            }
            if best.is_none_or(|best| ranker.may_precede(head.count, &best.rank)) {
                let rank = ranker.rank(head.ids, head.count);
                if best.is_none_or(|best| rank.before(&best.rank)) {
                    best = Some(Best { rank, number });
                }
            }
            true
        });
        self.rows[row as usize] = numbers;
        self.best[row as usize] = best;
        self.play(row);
    }

    /// A pair has this count and rank now: is it the best of its row?
    #[inline]
    fn offer(&mut self, number: u32, ranker: &Ranker<'_>) {
        let Head { ids, count } = self.heads[number as usize];
        let best = &mut self.best[ids.0 as usize];
        if let Some(old) = best {
            if old.number != number && !ranker.may_precede(count, &old.rank) {
                return;
            }
            let rank = ranker.rank(ids, count);
            if old.number != number && !rank.before(&old.rank) {
                return;
            }
            if old.number == number && old.rank.before(&rank) {
                // It got worse, and another one may be best.
                self.open.push(ids.0);
            }
            *old = Best { rank, number };
        } else {
            *best = Some(Best { rank: ranker.rank(ids, count), number });
        }
        self.play(ids.0);
    }

    /// The best pair of a row has changed: finds out whom the row wins against now.
    fn play(&mut self, row: u32) {
        let mut node = (self.winners.len() + row as usize) / 2;
        while node > 0 {
            let winner = self.winner(node);
            if self.winners[node] == winner && winner != row {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    /// The row with the better pair of the two below a node; the first one if there is none.
    fn winner(&self, node: usize) -> u32 {
        let row = |node: usize| match node.checked_sub(self.winners.len()) {
            Some(row) => row as u32,
            None => self.winners[node],
        };
        let pair = |row: u32| self.best.get(row as usize).and_then(Option::as_ref);
        let (first, second) = (row(2 * node), row(2 * node + 1));
        match (pair(first), pair(second)) {
            (_, None) => first,
            (None, _) => second,
            (Some(a), Some(b)) => {
                if b.rank.before(&a.rank) {
                    second
                } else {
                    first
                }
            }
        }
    }

    /// The number of the best pair of all.
    pub(super) fn best(&self) -> Option<u32> {
        let row = *self.winners.get(1)?;
        self.best.get(row as usize)?.map(|best| best.number)
    }
}
