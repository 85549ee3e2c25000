//! Applying merges to one word: lowest rank first, leftmost among equals.
//!
//! In words: look at all neighbours; of those that merge, take the one of lowest rank (the leftmost,
//! if there are several) and join it; begin again until none merges.
//!
//! * Short words: exactly that, on arrays beside the symbols.
//! * Long words: a queue of (rank, position) over a linked list.
//! * Very long words (nobody's words, but everybody's attacks): windows. A sequence of pieces is the
//!   answer for a text exactly if every two neighbours are the answer for their joined text. So the
//!   text is encoded window by window, each beginning at the last accepted piece; if that piece comes
//!   out again, everything behind it fits on. Holds where every piece has one derivation, from
//!   pieces of lower rank; `Bpe` checks that.
//! * With dropout (Provilkov et al. 2020): the queue, from which an entry that is dropped is set aside
//!   until the next merge. Taking candidates in order and drawing for each until one stays is the
//!   same, in distribution, as drawing for all candidates and taking the first that stays.

use super::buckets::Buckets;
use super::pairs::{NO_RANK, PairTable};
use crate::observe::{Silent, WordObserver};
use crate::random::SplitMix64;
use crate::symbols::Symbol;

/// Up to this many symbols a word is short.
const SHORT: usize = 40;
/// From this many symbols on a word is encoded in windows of as many.
pub(super) const WINDOW: usize = 512;
/// Pieces at the end of a window that are left to the next one.
const MARGIN: usize = 3;
/// No position.
const NOWHERE: u32 = u32::MAX;

/// Buffers for one word, used again for the next.
#[derive(Debug, Default)]
pub struct Merger {
    /// The symbols of the word; afterwards the pieces.
    pub(super) ids: Vec<u32>,
    /// Beside each: which of the first symbols it starts with.
    pub(super) starts: Vec<u32>,
    queue: Buckets,
    links: Vec<Link>,
    /// Entries that dropout took from the queue since the last merge.
    aside: Vec<(u32, u32)>,
    window: Option<Box<Merger>>,
    /// The first symbols with the text that each stands for; kept here for its memory.
    pub(super) symbols: Vec<Symbol>,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    id: u32,
    before: u32,
    /// The next symbol, or [`NOWHERE`].
    behind: u32,
    /// The rank of the pair with the next symbol; [`NO_RANK`] also for what has been swallowed.
    rank: u32,
}

impl Merger {
    /// Starts a new word.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.starts.clear();
    }

    /// Appends a symbol.
    #[inline]
    pub(super) fn push(&mut self, id: u32) {
        self.starts.push(self.ids.len() as u32);
        self.ids.push(id);
    }

    /// Merges the word. `windows` allows them; see above.
    #[inline]
    pub(super) fn run<O: WordObserver>(
        &mut self,
        pairs: &PairTable,
        windows: bool,
        observer: &mut O,
    ) {
        match self.ids.len() {
            0 | 1 => {}
            2..=SHORT => self.short(pairs, observer),
            WINDOW.. if windows => self.windows(pairs),
            _ => self.long(pairs, None, observer),
        }
    }

    /// Merges the word, each merge dropped with probability `p`.
    pub(super) fn run_dropout<O: WordObserver>(
        &mut self,
        pairs: &PairTable,
        p: f64,
        random: &mut SplitMix64,
        observer: &mut O,
    ) {
        if self.ids.len() > 1 {
            self.long(pairs, Some((p, random)), observer);
        }
    }

    fn short<O: WordObserver>(&mut self, pairs: &PairTable, observer: &mut O) {
        let mut len = self.ids.len();
        let (mut ids, mut starts) = ([0; SHORT], [0; SHORT]);
        ids[..len].copy_from_slice(&self.ids);
        starts[..len].copy_from_slice(&self.starts);
        // Of the pair that each symbol makes with the next one.
        let (mut ranks, mut products) = ([NO_RANK; SHORT], [0; SHORT]);
        pairs.get_all(&ids[..len], |at, found| (ranks[at], products[at]) = found);
        loop {
            let (mut at, mut best) = (0, NO_RANK);
            for (place, &rank) in ranks[..len].iter().enumerate() {
                if rank < best {
                    (at, best) = (place, rank);
                }
            }
            if best == NO_RANK {
                break;
            }
            let product = products[at];
            observer.merged(starts[at] as usize, best, product);
            len -= 1;
            ids[at] = product;
            for place in at + 1..len {
                ids[place] = ids[place + 1];
                starts[place] = starts[place + 1];
                ranks[place] = ranks[place + 1];
                products[place] = products[place + 1];
            }
            (ranks[at], products[at]) = (NO_RANK, 0);
            if at + 1 < len {
                (ranks[at], products[at]) = pairs.get(product, ids[at + 1]);
            }
            if at > 0 {
                (ranks[at - 1], products[at - 1]) = pairs.get(ids[at - 1], product);
            }
        }
        self.clear();
        self.ids.extend_from_slice(&ids[..len]);
        self.starts.extend_from_slice(&starts[..len]);
    }

    fn long<O: WordObserver>(
        &mut self,
        pairs: &PairTable,
        mut dropout: Option<(f64, &mut SplitMix64)>,
        observer: &mut O,
    ) {
        let len = self.ids.len();
        self.links.clear();
        self.links.extend(self.ids.iter().enumerate().map(|(at, &id)| Link {
            id,
            before: (at as u32).wrapping_sub(1),
            behind: if at + 1 < len { at as u32 + 1 } else { NOWHERE },
            rank: self.ids.get(at + 1).map_or(NO_RANK, |&next| pairs.rank(id, next)),
        }));
        let queue = &mut self.queue;
        queue.clear(pairs.ranks());
        for (at, link) in self.links.iter().enumerate() {
            if link.rank != NO_RANK {
                queue.push(link.rank, at as u32);
            }
        }
        self.aside.clear();
        let links = &mut self.links;
        while let Some((rank, at)) = queue.pop(|rank, at| links[at as usize].rank == rank) {
            let link = links[at as usize];
            if link.rank != rank {
                continue;
            }
            if let Some((p, random)) = &mut dropout
                && random.chance(*p)
            {
                observer.dropped(at as usize, rank);
                self.aside.push((rank, at));
                continue;
            }
            let next = links[link.behind as usize];
            let (_, product) = pairs.get(link.id, next.id);
            observer.merged(at as usize, rank, product);
            links[link.behind as usize].rank = NO_RANK;
            let mut rank_behind = NO_RANK;
            if next.behind != NOWHERE {
                let behind = &mut links[next.behind as usize];
                behind.before = at;
                rank_behind = pairs.rank(product, behind.id);
            }
            links[at as usize] =
                Link { id: product, before: link.before, behind: next.behind, rank: rank_behind };
            self.aside.drain(..).for_each(|(rank, at)| queue.push(rank, at));
            if rank_behind != NO_RANK {
                queue.push(rank_behind, at);
            }
            if link.before != NOWHERE {
                let before = &mut links[link.before as usize];
                before.rank = pairs.rank(before.id, product);
                if before.rank != NO_RANK {
                    queue.push(before.rank, link.before);
                }
            }
        }
        self.ids.clear();
        self.starts.clear();
        let mut at = 0;
        while at != NOWHERE {
            self.ids.push(links[at as usize].id);
            self.starts.push(at);
            at = links[at as usize].behind;
        }
    }

    fn windows(&mut self, pairs: &PairTable) {
        let first = std::mem::take(&mut self.ids);
        self.starts.clear();
        let mut window = self.window.take().unwrap_or_default();
        let mut size = WINDOW;
        loop {
            // Begin at the last accepted piece.
            let from = self.starts.last().copied().unwrap_or(0) as usize;
            let to = first.len().min(from + size);
            window.clear();
            first[from..to].iter().for_each(|&id| window.push(id));
            window.long(pairs, None, &mut Silent);
            let fits = self.ids.last().is_none_or(|last| *last == window.ids[0]);
            if !fits {
                // It would not come out so: give it back and look at more at once.
                self.ids.pop();
                self.starts.pop();
                size *= 2;
                continue;
            }
            let ended = to == first.len();
            let skip = usize::from(!self.ids.is_empty());
            let take =
                if ended { window.ids.len() } else { window.ids.len().saturating_sub(MARGIN) };
            if take <= skip {
                size *= 2;
                continue;
            }
            self.ids.extend_from_slice(&window.ids[skip..take]);
            self.starts.extend(window.starts[skip..take].iter().map(|&at| at + from as u32));
            if ended {
                break;
            }
        }
        self.window = Some(window);
    }
}
