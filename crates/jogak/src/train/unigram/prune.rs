//! Which pieces may go: the best way to cut every text, and what a piece is worth there.
//!
//! The loss of a piece is how much the log-likelihood of the corpus, cut in the best way, falls if the
//! piece is removed and the next best way to cut its own text takes over its occurrences.
//!
//! Here only sums and comparisons of logarithms are needed, so that texts may have any length.

use super::lattice::{Block, Lattice, Node, id, length};
use super::numbers::ln;
use super::seed::NONE;
use crate::train::parallel::{share, total};

/// The natural logarithm of every probability.
pub(super) fn logarithms(probabilities: &[f64], threads: usize) -> Vec<f64> {
    const JOB: usize = 1 << 14;
    let mut logs = vec![0.0; probabilities.len()];
    let jobs = logs.chunks_mut(JOB).zip(probabilities.chunks(JOB));
    share(
        threads,
        jobs,
        || (),
        |(), (logs, probabilities)| {
            logs.iter_mut().zip(probabilities).for_each(|(log, &p)| *log = ln(p));
        },
    );
    logs
}

/// How often every piece is used if every text is cut in its best way (Viterbi 1967). Of equally good
/// ways the one whose last piece is longest is taken.
pub(super) fn best_counts(lattice: &Lattice<u64>, logs: &[f64], threads: usize) -> Vec<u64> {
    let new = || (vec![0u64; logs.len()], Vec::new());
    let done = share(threads, lattice.blocks.iter(), new, |(used, stack), block| {
        walk_best(block, logs, used, stack);
    });
    total(done.into_iter().map(|(used, _)| used).collect())
}

/// What is known at a depth.
#[derive(Debug, Clone, Copy, Default)]
struct Best {
    /// The best log-probability of the text so far.
    log: f64,
    /// The last piece of the best way, as it stands in the stream.
    piece: u32,
    /// How many texts, times counts, come by here in their best way.
    flow: u64,
}

fn walk_best(block: &Block<u64>, logs: &[f64], used: &mut [u64], stack: &mut Vec<Best>) {
    stack.clear();
    stack.resize(block.depth + 1, Best::default());
    let stream = &block.stream[..];
    let mut ends = block.ends.iter();
    let mut depth = 0;
    let mut at = 0;
    loop {
        let node = if at < stream.len() { Node::read(stream, at) } else { Node::leaving(depth) };
        for _ in 0..node.leave {
            let Best { piece, flow, .. } = stack[depth];
            if flow > 0 {
                used[id(piece)] += flow;
                stack[depth - length(piece)].flow += flow;
            }
            depth -= 1;
        }
        if at >= stream.len() {
            return;
        }
        depth += 1;
        at = node.next();
        let mut best = Best { log: f64::NEG_INFINITY, piece: 0, flow: 0 };
        for &piece in &stream[node.from..at] {
            let log = stack[depth - length(piece)].log + logs[id(piece)];
            if log > best.log {
                (best.log, best.piece) = (log, piece);
            }
        }
        if node.ends {
            best.flow = ends.next().copied().unwrap_or(0);
        }
        stack[depth] = best;
    }
}

/// What speaks for a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Worth {
    /// One character: never removed.
    Character,
    /// In no best way to cut a text.
    Unused,
    /// Its own text is better cut into other pieces.
    SplitIsBetter,
    /// How much the log-likelihood of the corpus falls without it.
    Loss(f64),
}

/// The worth of every piece. `pieces` are the lattices of their own texts, `used` is from
/// [`best_counts`].
pub(super) fn worths(
    pieces: &Lattice<u32>,
    logs: &[f64],
    used: &[u64],
    threads: usize,
) -> Vec<Worth> {
    let all = used.iter().sum::<u64>() as f64;
    let found = share(
        threads,
        pieces.blocks.iter(),
        || (Vec::new(), Vec::new()),
        |(found, stack), block| {
            found.push((&block.ends, walk_pieces(block, logs, used, all, stack)));
        },
    );
    let mut worths = vec![Worth::Unused; logs.len()];
    for (pieces, of_pieces) in found.into_iter().flat_map(|(found, _)| found) {
        for (&piece, worth) in pieces.iter().zip(of_pieces) {
            worths[piece as usize] = worth;
        }
    }
    worths
}

/// The worth of the pieces of a block, in their order.
fn walk_pieces(
    block: &Block<u32>,
    logs: &[f64],
    used: &[u64],
    all: f64,
    stack: &mut Vec<Best>,
) -> Vec<Worth> {
    let mut worths = Vec::with_capacity(block.ends.len());
    stack.clear();
    stack.resize(block.depth + 1, Best::default());
    let stream = &block.stream[..];
    let mut ends = block.ends.iter();
    let mut depth = 0;
    let mut at = 0;
    while at < stream.len() {
        let node = Node::read(stream, at);
        at = node.next();
        depth = depth - node.leave + 1;
        let mut best = Best { log: f64::NEG_INFINITY, piece: NONE, flow: 0 };
        let mut whole = best;
        for &piece in &stream[node.from..at] {
            if length(piece) == depth {
                whole = Best { log: logs[id(piece)], piece, flow: 0 };
                continue;
            }
            let log = stack[depth - length(piece)].log + logs[id(piece)];
            if log > best.log {
                (best.log, best.piece) = (log, piece);
            }
        }
        if node.ends
            && let Some(&piece) = ends.next()
        {
            stack[depth] = best;
            let own = used[piece as usize];
            worths.push(if depth == 1 {
                Worth::Character
            } else if own == 0 {
                Worth::Unused
            } else if best.log > whole.log {
                Worth::SplitIsBetter
            } else {
                Worth::Loss(loss(stack, depth, own, used, all))
            });
        }
        stack[depth] = if whole.log > best.log { whole } else { best };
    }
    worths
}

/// The loss of a piece that is used `own` times, if the parts on the best way to `depth` take over.
/// Their counts grow by `own`, and the count of all pieces by `own` for every part but one.
fn loss(stack: &[Best], depth: usize, own: u64, used: &[u64], all: f64) -> f64 {
    let own = own as f64;
    let mut parts = 0.0;
    let mut logs = 0.0;
    let mut d = depth;
    while d > 0 {
        let piece = stack[d].piece;
        logs += ln(used[id(piece)] as f64 + own);
        parts += 1.0;
        d -= length(piece);
    }
    let before = ln(own) - ln(all);
    let after = logs - parts * ln(all + own * (parts - 1.0));
    own * (before - after)
}

/// The ids of the pieces that stay, ascending: all characters, and the pieces of largest loss up to
/// `target` in all. Ties go to the text that sorts first.
pub(super) fn keep(worths: &[Worth], target: usize) -> Vec<u32> {
    let mut kept = Vec::new();
    let mut others: Vec<(f64, u32)> = Vec::new();
    for (worth, piece) in worths.iter().zip(0u32..) {
        match worth {
            Worth::Character => kept.push(piece),
            Worth::Loss(loss) => others.push((*loss, piece)),
            Worth::Unused | Worth::SplitIsBetter => {}
        }
    }
    best(&mut others, target.saturating_sub(kept.len()));
    kept.extend(others.into_iter().map(|(_, piece)| piece));
    kept.sort_unstable();
    kept
}

/// Keeps the `size` entries of largest value; ties go to the smaller id.
pub(super) fn best(entries: &mut Vec<(f64, u32)>, size: usize) {
    if entries.len() > size {
        entries.select_nth_unstable_by(size, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        entries.truncate(size);
    }
}
