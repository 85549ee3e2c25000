//! Training of the Unigram language model (Kudo 2018).
//!
//! In words: begin with far more pieces than wanted, every one with a probability. Then again and
//! again estimate the probabilities anew (expectation and maximisation), and remove the pieces whose
//! loss hurts the likelihood of the corpus least, until the vocabulary has its size.
//!
//! ```text
//! chunks.rs     words -> the stretches of text that pieces stay within, distinct and counted
//! suffix.rs     their suffixes in order
//! seed.rs       the first pieces: characters, and substrings of highest count x length
//! lattice.rs    all ways to cut all chunks, as one stream over their prefix tree
//! expect.rs     expectation and maximisation
//! prune.rs      best cuts, and what each piece is worth
//! numbers.rs    logarithm, exponential, digamma: the same bits everywhere
//! ```
//!
//! One estimation is one walk over the stream, front to back. Nothing is rebuilt when pieces go: the
//! stream is made shorter where it stands.

mod chunks;
mod expect;
mod lattice;
mod numbers;
mod observe;
mod prune;
mod seed;
mod suffix;
#[cfg(test)]
mod tests;

pub use observe::{Estimation, PieceView, Pruning, Stage, UnigramObserver};
pub use prune::Worth;

use super::alphabet::AlphabetLimit;
use crate::error::{Error, Result};
use crate::scan::give_back_memory;
use chunks::{Chunks, Gathered};
use expect::{GHOST, LEAST, Unit, expect, maximise, new_ids, proportions, scaled};
use lattice::{LONGEST_PIECE, Lattice, MOST_PIECES};
use numbers::{ln, pow2};
use prune::{best, best_counts, keep, logarithms, worths};

/// Which substrings are candidates for the first pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedRule {
    /// Those whose occurrences in the chunks do not all go on with the same character; the end of a
    /// chunk is no character.
    Suffix,
    /// Those whose occurrences in the words are not all followed by the same character, be it beyond
    /// the chunk; the end of a word is a character like any other. As SentencePiece, but for its
    /// telling the end of a sentence from a space.
    SentencePiece,
}

/// How to train.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "they are options of one published trainer")]
pub struct UnigramConfig {
    /// How many pieces there are in the end, `other_pieces` and `user_defined` included.
    pub vocab_size: usize,
    /// Pieces outside of training that count for `vocab_size`; none of these texts is learned.
    pub other_pieces: Vec<String>,
    /// Pieces that are never cut and never learned, nor is anything across them; they count for
    /// `vocab_size`.
    pub user_defined: Vec<String>,
    /// Which characters are kept. Others are unknown, and in no piece.
    pub limit: AlphabetLimit,
    /// Whether fewer pieces than `vocab_size` are an error.
    pub hard_vocab_limit: bool,
    /// Characters that are kept whatever the limit, even if they do not occur.
    pub required_chars: Vec<char>,
    /// Which substrings are candidates for the first pieces.
    pub seeds: SeedRule,
    /// How many of them are taken, besides all characters.
    pub seed_size: usize,
    /// The share of the pieces that stays in each round, above 0 and below 1.
    pub shrinking_factor: f64,
    /// How many times probabilities are estimated in each round; at least 1.
    pub num_sub_iterations: usize,
    /// The longest piece, in characters; up to 64.
    pub max_piece_length: usize,
    /// No piece has characters of two scripts.
    pub split_by_unicode_script: bool,
    /// The digits 0 to 9 count as a script; else they go with any script.
    pub split_by_number: bool,
    /// Each of the digits 0 to 9 is a piece of its own.
    pub split_digits: bool,
    /// A `▁` stands only at the front of a piece; else it may stand in the middle too.
    pub split_by_whitespace: bool,
    /// Pieces of nothing but `▁` may be longer than one.
    pub allow_whitespace_only_pieces: bool,
    /// A `▁` belongs to what stands before it: for "front" above read "back".
    pub treat_whitespace_as_suffix: bool,
    /// Up to how many threads work. The result does not depend on it.
    pub threads: usize,
}

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnigramStop {
    /// The vocabulary has its size.
    VocabSize,
    /// The observer asked for it; the likeliest pieces of that moment were taken.
    Interrupted,
}

/// How many pieces there were in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// At its start.
    pub start: usize,
    /// That were expected often enough, after the estimation.
    pub estimated: usize,
    /// After the removal of those of least loss.
    pub kept: usize,
}

/// What training found.
#[derive(Debug, Clone)]
pub struct UnigramTrained {
    /// The text of every learned piece, likeliest first; ties go to the text that sorts first.
    pub pieces: Vec<String>,
    /// The natural logarithm of every piece's probability.
    pub scores: Vec<f64>,
    /// The rounds, in order; the last one makes the vocabulary exact.
    pub rounds: Vec<Round>,
    /// Why training ended.
    pub stop: UnigramStop,
    /// Pieces that are single characters.
    pub alphabet: usize,
    /// Distinct characters that the alphabet's limit left out.
    pub left_out: usize,
    /// First pieces, characters included.
    pub seeds: usize,
    /// Distinct words.
    pub distinct_words: u64,
    /// All words.
    pub total_words: u64,
    /// Distinct stretches of text that pieces stay within.
    pub distinct_chunks: usize,
    /// Characters of the alphabet in the corpus.
    pub total_characters: u64,
}

/// The words of a corpus, cut into chunks: ready for training. Once it is built, the words are needed
/// no more.
#[derive(Debug)]
pub struct UnigramCorpus {
    gathered: Gathered,
}

impl UnigramCorpus {
    /// Cuts the words of all `parts`, which are iterators of (word in UTF-8, count); what is not UTF-8
    /// is passed over. Order and parts do not matter; parts are read by several threads at a time.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if the number of characters times counts times the longest piece
    /// passes `u64::MAX`; with [`SeedRule::SentencePiece`], [`Error::TooLarge`] for distinct words of more than
    /// 2^32 bytes.
    pub fn new<'a, P>(parts: &[P], config: &UnigramConfig) -> Result<Self>
    where
        P: Iterator<Item = (&'a [u8], u64)> + Clone + Send + Sync,
    {
        check(config)?;
        Ok(Self { gathered: Gathered::new(parts, config)? })
    }

    /// Learns pieces.
    ///
    /// # Errors
    /// [`Error::Config`] if the vocabulary cannot have its size: the alphabet and other pieces are
    /// more, or the corpus does not give as many pieces; [`Error::TooLarge`] for distinct chunks of more than 2^32
    /// characters.
    pub fn train(
        self,
        config: &UnigramConfig,
        observer: &mut impl UnigramObserver,
    ) -> Result<UnigramTrained> {
        check(config)?;
        // The words may be gone by now, and the threads that met the chunks are.
        give_back_memory();
        let chunks = self.gathered.collect(config.threads)?;
        give_back_memory();
        let others = config.other_pieces.len() + config.user_defined.len();
        let alphabet = chunks.alphabet.len() + chunks.absent.len();
        if config.vocab_size < alphabet + others {
            return Err(Error::Config {
                option: "vocab_size",
                found: config.vocab_size.to_string(),
                expected: format!(
                    "at least {}: {alphabet} for the alphabet and {others} for other pieces; take \
                     fewer characters (character_coverage, alphabet_size) or more pieces",
                    alphabet + others
                ),
            });
        }
        let goal = config.vocab_size - others - chunks.absent.len();
        let stopped = observer.progress(Stage::Seeding, 0, None).is_break();
        let mut trainer = Trainer::new(chunks, config);
        let seeds = trainer.lengths.len();
        let (rounds, stop) = if stopped {
            (Vec::new(), UnigramStop::Interrupted)
        } else {
            trainer.run(goal, observer)
        };
        let size = trainer.finish(goal);
        if size < goal && config.hard_vocab_limit && stop == UnigramStop::VocabSize {
            return Err(Error::Config {
                option: "vocab_size",
                found: config.vocab_size.to_string(),
                expected: format!(
                    "at most {}: the corpus does not give more pieces; make the vocabulary smaller \
                     or the corpus larger",
                    config.vocab_size - (goal - size)
                ),
            });
        }
        let trained = trainer.result(rounds, stop, seeds);
        // What is made of it need not find all that beside it.
        give_back_memory();
        Ok(trained)
    }
}

/// The limits of the numbers that pieces are written with.
fn check(config: &UnigramConfig) -> Result<()> {
    let range = |option, found: String, expected: &str| {
        Err(Error::Config { option, found, expected: expected.to_owned() })
    };
    if !(1..=LONGEST_PIECE).contains(&config.max_piece_length) {
        return range("max_piece_length", config.max_piece_length.to_string(), "1 to 64");
    }
    if config.seed_size > MOST_PIECES / 2 {
        return range("seed_size", config.seed_size.to_string(), "at most 33,554,432");
    }
    if !(config.shrinking_factor > 0.0 && config.shrinking_factor < 1.0) {
        let found = config.shrinking_factor.to_string();
        return range("shrinking_factor", found, "a number above 0 and below 1");
    }
    if config.num_sub_iterations == 0 {
        return range("num_sub_iterations", "0".to_owned(), "at least 1");
    }
    Ok(())
}

/// Training under way. Pieces are sorted by their text at all times.
struct Trainer<'c> {
    config: &'c UnigramConfig,
    chunks: Chunks,
    distinct_chunks: usize,
    unit: Unit,
    /// Where each piece stands in the text that [`Chunks::keep_pieces`] leaves, and how many characters it has.
    at: Vec<u32>,
    lengths: Vec<u8>,
    probabilities: Vec<f64>,
    /// All ways to cut the chunks, and the pieces themselves.
    lattice: Lattice<u64>,
    own: Lattice<u32>,
}

impl<'c> Trainer<'c> {
    fn new(mut chunks: Chunks, config: &'c UnigramConfig) -> Self {
        let mut seeds = seed::seeds(&chunks, config);
        give_back_memory();
        let (longest, threads) = (config.max_piece_length, config.threads);
        let pieces = seeds.at.iter().zip(&seeds.length).zip(0..);
        let texts = pieces.map(|((&at, &length), id)| (at, u32::from(length), id));
        let own = Lattice::new(texts, &chunks.text, &seeds, longest, threads);
        let distinct_chunks = chunks.len();
        let lattice = Lattice::of_chunks(&mut chunks, &mut seeds, longest, threads);
        let all = seeds.score.iter().map(|&score| u128::from(score)).sum::<u128>() as f64;
        let first = |&score: &u64| (score as f64 / all).max(pow2(LEAST));
        let probabilities = seeds.score.iter().map(first).collect();
        chunks.keep_pieces(&mut seeds.at, &seeds.length);
        give_back_memory();
        Self {
            config,
            unit: Unit::new(chunks.total),
            chunks,
            distinct_chunks,
            at: seeds.at,
            lengths: seeds.length,
            probabilities,
            lattice,
            own,
        }
    }

    /// Estimates and prunes until no more than a tenth too many pieces are left.
    fn run<O: UnigramObserver>(
        &mut self,
        goal: usize,
        observer: &mut O,
    ) -> (Vec<Round>, UnigramStop) {
        // As SentencePiece: a tenth more than wanted go into the last choice.
        let enough = goal.saturating_add(goal / 10);
        let first = self.lengths.len();
        let mut rounds: Vec<Round> = Vec::new();
        loop {
            let start = self.lengths.len();
            let mut size = start;
            for iteration in 0..self.config.num_sub_iterations {
                let done = first.saturating_sub(size) as u64;
                let total = first.saturating_sub(enough) as u64;
                if observer.progress(Stage::Pruning, done, Some(total)).is_break() {
                    return (rounds, UnigramStop::Interrupted);
                }
                size = self.estimate(rounds.len(), iteration, observer);
            }
            if size <= enough {
                rounds.push(Round { start, estimated: size, kept: size });
                return (rounds, UnigramStop::VocabSize);
            }
            let target = enough.max((self.config.shrinking_factor * size as f64) as usize);
            let kept = self.prune(rounds.len(), target, observer);
            rounds.push(Round { start, estimated: size, kept });
        }
    }

    /// One step of expectation and maximisation. Returns how many pieces are expected often enough.
    fn estimate<O: UnigramObserver>(
        &mut self,
        round: usize,
        iteration: usize,
        observer: &mut O,
    ) -> usize {
        let threads = self.config.threads;
        let before = scaled(&self.probabilities, &self.lengths);
        let (expected, likelihood) = if O::WATCHES {
            expect::<true>(&self.lattice, &before, self.unit, threads)
        } else {
            expect::<false>(&self.lattice, &before, self.unit, threads)
        };
        let old = if O::WATCHES { self.probabilities.clone() } else { Vec::new() };
        let size = maximise(&expected, &self.lengths, self.unit, &mut self.probabilities, threads);
        if O::WATCHES {
            let expected: Vec<f64> = expected.iter().map(|&units| self.unit.value(units)).collect();
            observer.estimated(&Estimation {
                round,
                iteration,
                pieces: self.view(&self.probabilities),
                before: &old,
                expected: &expected,
                log_likelihood: likelihood,
                size,
            });
        }
        size
    }

    /// Removes pieces until `target` are left. Returns how many are.
    fn prune<O: UnigramObserver>(
        &mut self,
        round: usize,
        target: usize,
        observer: &mut O,
    ) -> usize {
        let threads = self.config.threads;
        let logs = logarithms(&self.probabilities, threads);
        let used = best_counts(&self.lattice, &logs, threads);
        let worths = worths(&self.own, &logs, &used, threads);
        let kept = keep(&worths, target);
        if O::WATCHES {
            observer.pruned(&Pruning {
                round,
                pieces: self.view(&self.probabilities),
                used: &used,
                worths: &worths,
                kept: &kept,
            });
        }
        self.restrict(&kept);
        let ids = new_ids(&kept, worths.len());
        self.lattice.renumber(&ids, threads);
        self.own.restrict(&ids, threads);
        kept.len()
    }

    /// Keeps these pieces only.
    fn restrict(&mut self, kept: &[u32]) {
        fn pick<T: Copy>(values: &[T], kept: &[u32]) -> Vec<T> {
            kept.iter().map(|&old| values[old as usize]).collect()
        }
        self.at = pick(&self.at, kept);
        self.lengths = pick(&self.lengths, kept);
        self.probabilities = pick(&self.probabilities, kept);
    }

    /// Cuts the vocabulary to its size: all characters, and the likeliest others; and estimates the
    /// probabilities of those once more. Returns how many pieces there are.
    fn finish(&mut self, goal: usize) -> usize {
        let mut kept = Vec::new();
        let mut others = Vec::new();
        for (piece, (&p, &length)) in (0u32..).zip(self.probabilities.iter().zip(&self.lengths)) {
            if length == 1 {
                kept.push(piece);
            } else if p > 0.0 {
                others.push((p, piece));
            }
        }
        best(&mut others, goal.saturating_sub(kept.len()));
        kept.extend(others.into_iter().map(|(_, piece)| piece));
        kept.sort_unstable();
        let ids = new_ids(&kept, self.lengths.len());
        self.restrict(&kept);
        self.lattice.renumber(&ids, self.config.threads);
        let before = scaled(&self.probabilities, &self.lengths);
        let (expected, _) = expect::<false>(&self.lattice, &before, self.unit, self.config.threads);
        proportions(&expected, self.unit, &mut self.probabilities);
        kept.len()
    }

    fn result(self, rounds: Vec<Round>, stop: UnigramStop, seeds: usize) -> UnigramTrained {
        let view = self.view(&self.probabilities);
        let mut found: Vec<(f64, String)> =
            (0..view.len()).map(|id| (self.probabilities[id], view.text(id))).collect();
        let least = self.probabilities.iter().copied().reduce(f64::min).unwrap_or(GHOST);
        found.extend(self.chunks.absent.iter().map(|&character| (least, character.to_string())));
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        UnigramTrained {
            scores: found.iter().map(|(p, _)| ln(*p)).collect(),
            pieces: found.into_iter().map(|(_, text)| text).collect(),
            rounds,
            stop,
            alphabet: self.chunks.alphabet.len() + self.chunks.absent.len(),
            left_out: self.chunks.left_out,
            seeds,
            distinct_words: self.chunks.words.0,
            total_words: self.chunks.words.1,
            distinct_chunks: self.distinct_chunks,
            total_characters: self.chunks.total,
        }
    }

    fn view<'v>(&'v self, probabilities: &'v [f64]) -> PieceView<'v> {
        PieceView::new(&self.chunks, &self.at, &self.lengths, probabilities)
    }
}
