//! The kept pairs, and the best of them, although scores rise and fall.
//!
//! A heap whose entries are put right when they come to the top needs scores that only fall. Here the
//! score of (x, a) rises whenever other occurrences of `a` are used up. So every left symbol keeps its
//! best pair, and rows play a tournament: a row that changes plays again up to where it loses. A merge
//! changes scores in the rows and columns of the symbols that took part, and nowhere else.

use super::asleep::{Asleep, Sleeper};
use super::lists::Lists;
use super::score::{Rank, Ranker, key_above, key_before};
use crate::train::pairs::NOBODY;
use crate::train::places::Near;

/// What is read of a pair when rows and columns are walked, which is most of what training does.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// [`NOBODY`] for a number that is free.
    ids: (u32, u32),
    count: u64,
}

/// The best pair of a row.
#[derive(Debug, Clone, Copy, Default)]
struct Best {
    /// [`Rank::key`]; 0 if the row has no pair.
    key: u64,
    number: u32,
}

/// Pairs by their left and by their right symbol. The lists may hold numbers of pairs that have gone,
/// which even may be those of other pairs by now; they are dropped when a list is walked.
#[derive(Debug, Default)]
pub(super) struct Rows {
    heads: Vec<Head>,
    free: Vec<u32>,
    /// Numbers of pairs that went, whose places nobody has given back.
    gone: Vec<u32>,
    rows: Lists,
    columns: Lists,
    best: Vec<Best>,
    /// Node `n` has the winner of nodes `2n` and `2n + 1`, the last one is [`Rows::best`]'s; the nodes
    /// behind them all, as many, are the rows themselves.
    winners: Vec<u32>,
    /// Rows that have lost their best pair.
    open: Vec<u32>,
    /// Pairs that a merge has made too rare, with their counts.
    fallen: Vec<(Sleeper, u64)>,
}

/// In so many rounds those lose, at the latest, of whom one probably is the best next.
const LAST_ROUNDS: usize = 3;

/// A weight for every symbol; 0 for all but those that stand beside the places of a merge.
#[derive(Debug, Default)]
pub(super) struct Weights(Vec<u64>);

impl Weights {
    pub(super) fn set(&mut self, near: &[Near]) {
        for near in near {
            self.0[near.symbol as usize] = near.weight;
        }
    }

    pub(super) fn clear(&mut self, near: &[Near]) {
        for near in near {
            self.0[near.symbol as usize] = 0;
        }
    }

    /// The weight of a symbol, which then is 0: a pair may stand twice in a list, and loses it once.
    #[inline]
    fn take(&mut self, symbol: u32) -> u64 {
        std::mem::take(&mut self.0[symbol as usize])
    }

    pub(super) fn grow(&mut self, len: usize) {
        self.0.resize(len, 0);
    }
}

impl Rows {
    /// Rows for symbols below `symbols`, and these pairs, numbered in this order. Those below `threshold`
    /// sleep.
    pub(super) fn new(
        symbols: usize,
        pairs: &[((u32, u32), u64)],
        threshold: u64,
        asleep: &mut Asleep,
        ranker: &Ranker<'_>,
    ) -> Self {
        let mut rows = Self::default();
        rows.grow(symbols, ranker);
        for &(ids, count) in pairs {
            let number = rows.number();
            if count >= threshold {
                rows.enter(ids, number, count);
            } else {
                asleep.push(Sleeper { ids, number }, count);
            }
        }
        rows.open.extend(0..symbols as u32);
        rows.look_at_open(ranker);
        rows
    }

    /// Makes room for symbols below `symbols`.
    pub(super) fn grow(&mut self, symbols: usize, ranker: &Ranker<'_>) {
        self.rows.grow(symbols);
        self.columns.grow(symbols);
        self.best.resize(symbols, Best::default());
        if symbols > self.winners.len() {
            self.winners = vec![0; symbols.next_power_of_two().max(2)];
            for node in (1..self.winners.len()).rev() {
                self.winners[node] = self.winner(node, ranker);
            }
        }
    }

    /// A number for a pair.
    pub(super) fn number(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.heads.push(Head { ids: NOBODY, count: 0 });
            (self.heads.len() - 1) as u32
        })
    }

    /// A pair has come into being, or has woken up.
    pub(super) fn insert(&mut self, ids: (u32, u32), number: u32, count: u64, ranker: &Ranker<'_>) {
        self.enter(ids, number, count);
        self.offer(number, ranker);
    }

    fn enter(&mut self, ids: (u32, u32), number: u32, count: u64) {
        self.heads[number as usize] = Head { ids, count };
        self.rows.push(ids.0, number);
        self.columns.push(ids.1, number);
    }

    /// Takes a pair out, which must be the best of its row, if [`Rows::free`] follows when its places have
    /// been given back.
    pub(super) fn take(&mut self, number: u32) {
        self.open.push(self.ids(number).0);
        self.heads[number as usize].ids = NOBODY;
    }

    /// Takes a pair out, which must be the best of its row.
    pub(super) fn remove(&mut self, number: u32) {
        self.take(number);
        self.give_up(number);
    }

    /// Nobody wants a pair any more that has no row.
    pub(super) fn give_up(&mut self, number: u32) {
        self.gone.push(number);
    }

    /// A number may be given to another pair.
    pub(super) fn free(&mut self, number: u32) {
        self.free.push(number);
    }

    /// The numbers of the pairs that were removed. From now on they may be given to other pairs.
    pub(super) fn gone(&mut self, gone: &mut Vec<u32>) {
        gone.clear();
        gone.append(&mut self.gone);
        self.free.extend_from_slice(gone);
    }

    pub(super) fn ids(&self, number: u32) -> (u32, u32) {
        self.heads[number as usize].ids
    }

    pub(super) fn count(&self, number: u32) -> u64 {
        self.heads[number as usize].count
    }

    /// `left` and `right` were merged: pairs (x, left) lose the weights of `before`, pairs (right, y)
    /// those of `behind`, and those that fall below `threshold` fall asleep, or go. All pairs that begin or
    /// end with one of the two get their new ranks.
    pub(super) fn lower(
        &mut self,
        (left, right): (u32, u32),
        before: &mut Weights,
        behind: &mut Weights,
        threshold: u64,
        asleep: &mut Asleep,
        ranker: &Ranker<'_>,
    ) {
        self.fallen.clear();
        self.walk_column(left, |x| before.take(x), threshold, ranker);
        if right != left {
            self.walk_column(right, |_| 0, threshold, ranker);
        }
        self.walk_row(right, |y| behind.take(y), threshold, ranker);
        self.open.push(left);
        self.look_at_open(ranker);
        for (sleeper, count) in self.fallen.drain(..) {
            if !asleep.push(sleeper, count) {
                self.gone.push(sleeper.number);
            }
        }
    }

    /// Finds the best pair of the rows that have lost theirs.
    pub(super) fn look_at_open(&mut self, ranker: &Ranker<'_>) {
        let mut open = std::mem::take(&mut self.open);
        open.sort_unstable();
        open.dedup();
        for &row in &open {
            self.walk_row(row, |_| 0, 0, ranker);
        }
        open.clear();
        self.open = open;
    }

    /// Lowers the pairs that end with `column` and offers them to their rows.
    fn walk_column(
        &mut self,
        column: u32,
        mut lost: impl FnMut(u32) -> u64,
        threshold: u64,
        ranker: &Ranker<'_>,
    ) {
        let mut kept = 0;
        for at in 0..self.columns.len(column) {
            let number = self.columns.get(column, at);
            let head = &mut self.heads[number as usize];
            if head.ids.1 != column {
                continue;
            }
            let row = head.ids.0;
            let weight = lost(row);
            debug_assert!(head.count >= weight, "a pair lost more places than it had");
            head.count -= weight;
            if head.count >= threshold {
                self.offer(number, ranker);
                self.columns.set(column, kept, number);
                kept += 1;
                continue;
            }
            self.fallen.push((Sleeper { ids: head.ids, number }, head.count));
            head.ids = NOBODY;
            let Best { key, number: best } = self.best[row as usize];
            if key != 0 && best == number {
                self.open.push(row);
            }
        }
        self.columns.truncate(column, kept);
    }

    /// Lowers the pairs that begin with `row` and finds the best of them.
    fn walk_row(
        &mut self,
        row: u32,
        mut lost: impl FnMut(u32) -> u64,
        threshold: u64,
        ranker: &Ranker<'_>,
    ) {
        let (mut best, mut best_rank) = (Best::default(), Rank::default());
        let mut kept = 0;
        for at in 0..self.rows.len(row) {
            let number = self.rows.get(row, at);
            let head = &mut self.heads[number as usize];
            if head.ids.0 != row {
                continue;
            }
            let weight = lost(head.ids.1);
            debug_assert!(head.count >= weight, "a pair lost more places than it had");
            head.count -= weight;
            if head.count < threshold {
                self.fallen.push((Sleeper { ids: head.ids, number }, head.count));
                head.ids = NOBODY;
                continue;
            }
            self.rows.set(row, kept, number);
            kept += 1;
            if ranker.may_precede(head.count, best.key) {
                let rank = ranker.rank(head.ids, head.count);
                let key = rank.key();
                if key_before((key, &rank), (best.key, &best_rank)) {
                    (best, best_rank) = (Best { key, number }, rank);
                }
            }
        }
        self.rows.truncate(row, kept);
        self.best[row as usize] = best;
        self.play(row, true, ranker);
    }

    /// A pair has this count and rank now: is it the best of its row?
    #[inline]
    fn offer(&mut self, number: u32, ranker: &Ranker<'_>) {
        let Head { ids, count } = self.heads[number as usize];
        let best = self.best[ids.0 as usize];
        let another = best.key == 0 || best.number != number;
        if another && !ranker.may_precede(count, best.key) {
            return;
        }
        let key = ranker.rank(ids, count).key();
        let new = Best { key, number };
        if another && !self.before(new, best, ranker) {
            return;
        }
        let worse = !another && !key_above(key, best.key);
        if worse {
            // It is not clearly better, and another one may be best.
            self.open.push(ids.0);
        }
        self.best[ids.0 as usize] = new;
        self.play(ids.0, worse, ranker);
    }

    /// Whether one pair goes before another: by their keys where these tell, else by what ranks are made of. Of a
    /// pair that has gone that is not known; whatever is said then, its row is open, and plays again.
    #[inline]
    fn before(&self, one: Best, other: Best, ranker: &Ranker<'_>) -> bool {
        if key_above(one.key, other.key) || key_above(other.key, one.key) {
            return one.key > other.key;
        }
        let rank = |best: Best| {
            let head = self.heads.get(best.number as usize).filter(|head| head.ids != NOBODY);
            head.filter(|_| best.key > 0).map(|head| ranker.rank(head.ids, head.count))
        };
        match (rank(one), rank(other)) {
            (Some(one), Some(other)) => one.before(&other),
            (one, _) => one.is_some(),
        }
    }

    /// The best pair of a row has changed: finds out whom the row wins against now. If it has not got worse,
    /// those are left out that it has won against before.
    fn play(&mut self, row: u32, worse: bool, ranker: &Ranker<'_>) {
        let mut node = (self.winners.len() + row as usize) / 2;
        while !worse && node > 0 && self.winners[node] == row {
            node /= 2;
        }
        while node > 0 {
            let winner = self.winner(node, ranker);
            if self.winners[node] == winner && winner != row {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    /// The row with the better pair of the two below a node; the first one if there is none.
    #[inline]
    fn winner(&self, node: usize, ranker: &Ranker<'_>) -> u32 {
        let row = |node: usize| match node.checked_sub(self.winners.len()) {
            Some(row) => row as u32,
            None => self.winners[node],
        };
        let (first, second) = (row(2 * node), row(2 * node + 1));
        let best = |row: u32| self.best.get(row as usize).copied().unwrap_or_default();
        if self.before(best(second), best(first), ranker) { second } else { first }
    }

    /// Tells pairs of which one probably is the best of all when that one is merged: those that have lost to it in the last
    /// rounds.
    pub(super) fn tell_next(&self, next: &mut Vec<u32>) {
        next.clear();
        let mut node = 1;
        for _ in 0..LAST_ROUNDS {
            if 2 * node >= self.winners.len() {
                return;
            }
            let second_won = self.winners[2 * node + 1] == self.winners[node];
            let loser = self.winners[2 * node + usize::from(!second_won)];
            next.extend(self.best.get(loser as usize).map(|best| best.number));
            node = 2 * node + usize::from(second_won);
        }
    }

    /// Says that a pair may be merged soon, so that the lists that it is in will be walked.
    pub(super) fn ask(&self, number: u32) {
        self.for_each_list(number, Lists::ask);
    }

    /// The same once the lists are there: their numbers will be read.
    pub(super) fn ask_numbers(&self, number: u32) {
        self.for_each_list(number, Lists::ask_numbers);
    }

    fn for_each_list(&self, number: u32, ask: impl Fn(&Lists, u32)) {
        let (left, right) = self.ids(number);
        for lists in [&self.rows, &self.columns] {
            ask(lists, left);
            ask(lists, right);
        }
    }

    /// The number of the best pair of all.
    pub(super) fn best(&self) -> Option<u32> {
        let row = *self.winners.get(1)?;
        self.best.get(row as usize).filter(|best| best.key != 0).map(|best| best.number)
    }
}
