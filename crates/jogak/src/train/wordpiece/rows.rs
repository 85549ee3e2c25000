//! The best pair, although scores rise and fall.
//!
//! A heap whose entries are put right when they come to the top needs scores that only fall. Here the
//! score of (x, a) rises whenever other occurrences of `a` are used up. So every left symbol keeps its
//! best pair, and every block of left symbols its best one. A merge changes scores in the rows and
//! columns of the three symbols that took part, and nowhere else.

use super::score::Rank;
use crate::train::pairs::Pairs;

/// Left symbols in a block.
const BLOCK: usize = 64;

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
    rows: Vec<Vec<u32>>,
    columns: Vec<Vec<u32>>,
    best: Vec<Option<Best>>,
    /// The row with the best pair of every block of rows.
    blocks: Vec<Option<u32>>,
    /// Blocks whose best has to be looked for.
    dirty: Vec<bool>,
    /// Rows whose best has to be looked for.
    open: Vec<u32>,
}

impl Rows {
    pub(super) fn new(symbols: usize) -> Self {
        let mut rows = Self::default();
        rows.grow(symbols);
        rows
    }

    /// Makes room for symbols below `symbols`.
    pub(super) fn grow(&mut self, symbols: usize) {
        self.rows.resize_with(symbols, Vec::new);
        self.columns.resize_with(symbols, Vec::new);
        self.best.resize(symbols, None);
        self.blocks.resize(symbols.div_ceil(BLOCK), None);
        self.dirty.resize(self.blocks.len(), true);
    }

    /// A pair has come into being.
    pub(super) fn insert(&mut self, number: u32, (left, right): (u32, u32)) {
        self.rows[left as usize].push(number);
        self.columns[right as usize].push(number);
    }

    /// A pair has gone.
    pub(super) fn remove(&mut self, number: u32, (left, _): (u32, u32)) {
        let best = &mut self.best[left as usize];
        if best.is_some_and(|best| best.number == number) {
            *best = None;
            self.dirty[left as usize / BLOCK] = true;
            self.open.push(left);
        }
    }

    /// Puts right what depends on how often `symbols` occur and on the counts of their pairs.
    pub(super) fn update(
        &mut self,
        symbols: [u32; 3],
        pairs: &Pairs,
        rank: impl Fn(&(u32, u32), u64) -> Rank,
    ) {
        for symbol in symbols {
            let mut column = std::mem::take(&mut self.columns[symbol as usize]);
            column.retain(|&number| {
                let pair = pairs.get(number);
                let mine = pair.ids.1 == symbol;
                if mine {
                    self.offer(Best { rank: rank(&pair.ids, pair.count), number }, pair.ids.0);
                }
                mine
            });
            self.columns[symbol as usize] = column;
        }
        self.open.extend(symbols);
        self.open.sort_unstable();
        self.open.dedup();
        for row in std::mem::take(&mut self.open) {
            self.look(row, pairs, &rank);
        }
    }

    /// A pair of this row has this rank now.
    #[inline]
    fn offer(&mut self, now: Best, row: u32) {
        let best = &mut self.best[row as usize];
        if let Some(old) = best {
            if old.number != now.number && !now.rank.before(&old.rank) {
                return;
            }
            if old.number == now.number && old.rank.before(&now.rank) {
                // It got worse, and another one may be best.
                self.open.push(row);
            }
        }
        *best = Some(now);
        self.dirty[row as usize / BLOCK] = true;
    }

    /// Finds the best pair of a row.
    pub(super) fn look(
        &mut self,
        row: u32,
        pairs: &Pairs,
        rank: &impl Fn(&(u32, u32), u64) -> Rank,
    ) {
        let mut best: Option<Best> = None;
        self.rows[row as usize].retain(|&number| {
            let pair = pairs.get(number);
            let mine = pair.ids.0 == row;
            if mine {
                let now = Best { rank: rank(&pair.ids, pair.count), number };
                if best.is_none_or(|best| now.rank.before(&best.rank)) {
                    best = Some(now);
                }
            }
            mine
        });
        self.best[row as usize] = best;
        self.dirty[row as usize / BLOCK] = true;
    }

    /// Finds the best pair of every row.
    pub(super) fn look_everywhere(
        &mut self,
        pairs: &Pairs,
        rank: impl Fn(&(u32, u32), u64) -> Rank,
    ) {
        for row in 0..self.rows.len() as u32 {
            self.look(row, pairs, &rank);
        }
        self.open.clear();
    }

    /// The number of the best pair of all. Cost: one comparison for each block.
    pub(super) fn best(&mut self) -> Option<u32> {
        let Self { best, blocks, dirty, .. } = self;
        for (block, rows) in best.chunks(BLOCK).enumerate() {
            if std::mem::take(&mut dirty[block]) {
                let row = first(rows.iter().enumerate().filter_map(|(row, best)| {
                    best.as_ref().map(|best| ((block * BLOCK + row) as u32, best))
                }));
                blocks[block] = row.map(|(row, _)| row);
            }
        }
        let rows = blocks.iter().flatten();
        first(rows.filter_map(|&row| best[row as usize].as_ref().map(|best| (row, best))))
            .map(|(_, best)| best.number)
    }
}

/// The row whose best pair goes first.
fn first<'a>(rows: impl Iterator<Item = (u32, &'a Best)>) -> Option<(u32, &'a Best)> {
    rows.reduce(|best, other| if other.1.rank.before(&best.1.rank) { other } else { best })
}
