//! The n best paths in SentencePiece's order, with its scores (0.2.3, as its wheels are compiled).
//!
//! Rule: equal sums are many, and which of them comes first is decided by how a search goes: beginnings
//! of paths wait in a heap, best first, 32 bits each, and when there are too many the worst are
//! forgotten. So the search is theirs, and so is the heap, step by step (that of GNU's C++ library).

use super::lattice::{Edge, Lattice, MOST_HYPOTHESES, Path};
use crate::error::{Error, Result};

/// When so many wait, ...
const FULL: usize = 10_000;
/// ... so many are kept, or ten for each path that is asked for.
const KEPT: usize = 512;

const NONE: u32 = u32::MAX;

/// The end of a path, from some edge to the end of the word.
#[derive(Debug, Clone, Copy)]
struct Hypothesis {
    /// What it can become at best.
    whole: f32,
    /// Its own sum, from the right.
    sum: f32,
    /// Its first edge; [`NONE`] at both ends of the word.
    edge: u32,
    /// The same without that edge; [`NONE`] for the end of the word.
    next: u32,
}

/// Hypotheses, and a heap of those that wait.
#[derive(Debug, Default)]
struct Agenda {
    all: Vec<Hypothesis>,
    heap: Vec<u32>,
}

impl Agenda {
    fn is_less(&self, one: u32, other: u32) -> bool {
        self.all[one as usize].whole < self.all[other as usize].whole
    }

    fn add(&mut self, hypothesis: Hypothesis) {
        self.all.push(hypothesis);
        self.push(self.all.len() as u32 - 1);
    }

    fn push(&mut self, index: u32) {
        self.heap.push(index);
        self.rise(self.heap.len() - 1, index);
    }

    fn rise(&mut self, mut hole: usize, index: u32) {
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if !self.is_less(self.heap[parent], index) {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = index;
    }

    /// Takes the best one. The hole sinks to the bottom, and the last one rises from there.
    fn pop(&mut self) -> Option<u32> {
        let last = self.heap.pop()?;
        let Some(&top) = self.heap.first() else { return Some(last) };
        let len = self.heap.len();
        let (mut hole, mut child) = (0, 0);
        while child < (len - 1) / 2 {
            child = 2 * (child + 1);
            if self.is_less(self.heap[child], self.heap[child - 1]) {
                child -= 1;
            }
            self.heap[hole] = self.heap[child];
            hole = child;
        }
        if len.is_multiple_of(2) && child == (len - 2) / 2 {
            child = 2 * (child + 1);
            self.heap[hole] = self.heap[child - 1];
            hole = child - 1;
        }
        self.rise(hole, last);
        Some(top)
    }

    /// Keeps the best `size` and what they go on with.
    fn shrink(&mut self, size: usize) {
        let mut kept = Agenda::default();
        let mut moved = vec![NONE; self.all.len()];
        for _ in 0..size {
            let Some(top) = self.pop() else { break };
            let (mut old, mut link) = (top, None);
            while old != NONE {
                let known = moved[old as usize];
                let new = if known == NONE { kept.all.len() as u32 } else { known };
                if let Some(link) = link {
                    let before: &mut Hypothesis = &mut kept.all[link as usize];
                    before.next = new;
                }
                if known != NONE {
                    break;
                }
                moved[old as usize] = new;
                kept.all.push(self.all[old as usize]);
                link = Some(new);
                old = self.all[old as usize].next;
            }
            kept.push(moved[top as usize]);
        }
        *self = kept;
    }
}

impl Lattice {
    /// The `n` best paths as SentencePiece finds them; fewer if there are no more, or were forgotten.
    ///
    /// # Errors
    /// [`Error::Config`] if that takes more than 2 GiB.
    pub fn best_of_agenda(&self, n: usize) -> Result<Vec<Path>> {
        let mut paths = Vec::new();
        if n == 0 {
            return Ok(paths);
        }
        let edges = self.edges();
        let single = |edge: &Edge| edge.score as f32;
        // The best sum of what lies before each byte, and with each edge.
        let mut before = vec![f32::NEG_INFINITY; self.len() + 1];
        let mut with = vec![f32::NEG_INFINITY; edges.len()];
        before[0] = 0.0;
        for end in 1..=self.len() {
            for (edge, number) in self.numbered_to(end) {
                with[number] = before[edge.start as usize] + single(edge);
                before[end] = before[end].max(with[number]);
            }
        }
        let mut agenda = Agenda::default();
        let whole = before[self.len()];
        agenda.add(Hypothesis { whole, sum: 0.0, edge: NONE, next: NONE });
        while let Some(top) = agenda.pop() {
            let Hypothesis { whole, sum, edge, next } = agenda.all[top as usize];
            if edge == NONE && next != NONE {
                paths.push(self.path(&agenda, next, whole));
                if paths.len() == n {
                    break;
                }
                continue;
            }
            let end = if edge == NONE { self.len() } else { edges[edge as usize].start as usize };
            if end == 0 {
                agenda.add(Hypothesis { whole: sum, sum, edge: NONE, next: top });
            }
            for (edge, number) in self.numbered_to(end) {
                agenda.add(Hypothesis {
                    whole: with[number] + sum,
                    sum: single(edge) + sum,
                    edge: number as u32,
                    next: top,
                });
            }
            if agenda.heap.len() >= FULL {
                agenda.shrink(KEPT.min(n.saturating_mul(10)));
            }
            if agenda.all.len() > MOST_HYPOTHESES {
                return Err(Error::Config {
                    option: "n",
                    found: format!("{n} for a word of {} bytes", self.len()),
                    expected: "less, since the search takes more than 2 GiB".into(),
                });
            }
        }
        Ok(paths)
    }

    fn path(&self, agenda: &Agenda, first: u32, score: f32) -> Path {
        let mut pieces = Vec::new();
        let mut at = agenda.all[first as usize];
        let mut start = 0;
        while at.next != NONE {
            let edge = self.edges()[at.edge as usize];
            let rest = agenda.all[at.next as usize];
            let end = match rest.edge {
                NONE => self.len(),
                next => self.edges()[next as usize].start as usize,
            };
            pieces.push((edge.id, start, end));
            start = end;
            at = rest;
        }
        Path { score: f64::from(score), pieces }
    }
}
