//! The steps of training, each held to a plain statement of what it is.

#![allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]

use std::collections::{BTreeMap, BTreeSet};

use super::chunks::{Chunks, Gathered};
use super::expect::{Unit, expect, proportions, scaled};
use super::lattice::Lattice;
use super::*;

fn config() -> UnigramConfig {
    UnigramConfig {
        hard_vocab_limit: true,
        vocab_size: 100,
        other_pieces: Vec::new(),
        user_defined: Vec::new(),
        limit: AlphabetLimit::All,
        required_chars: Vec::new(),
        seeds: SeedRule::Suffix,
        seed_size: 1_000_000,
        shrinking_factor: 0.75,
        num_sub_iterations: 2,
        max_piece_length: 16,
        split_by_unicode_script: true,
        split_by_number: true,
        split_digits: false,
        split_by_whitespace: true,
        allow_whitespace_only_pieces: false,
        treat_whitespace_as_suffix: false,
        threads: 1,
    }
}

fn chunks(words: &[(&str, u64)], config: &UnigramConfig) -> Chunks {
    Gathered::new(&parts(words), config).unwrap().collect(config.threads).unwrap()
}

fn parts<'a>(
    words: &'a [(&'a str, u64)],
) -> Vec<impl Iterator<Item = (&'a [u8], u64)> + Clone + Send + Sync> {
    words.chunks(2).map(|some| some.iter().map(|(word, count)| (word.as_bytes(), *count))).collect()
}

fn cut(word: &str, config: &UnigramConfig) -> Vec<String> {
    let chunks = chunks(&[(word, 1)], config);
    (0..chunks.len()).map(|i| chunks.spell(chunks.chunk(i))).collect()
}

/// Gives numbers below what it is asked for, the same every time.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// Words of a few letters, the same every time.
fn some_words(seed: u64, letters: &str) -> Vec<(String, u64)> {
    let letters: Vec<char> = letters.chars().collect();
    let mut next = numbers(seed);
    let mut words = BTreeMap::new();
    for _ in 0..40 {
        let length = 1 + next(9);
        let word = (0..length).map(|_| letters[next(letters.len() as u64) as usize]).collect();
        words.insert(word, 1 + next(4));
    }
    words.into_iter().collect()
}

fn borrowed(words: &[(String, u64)]) -> Vec<(&str, u64)> {
    words.iter().map(|(word, count)| (word.as_str(), *count)).collect()
}

#[test]
fn words_are_cut_at_scripts_spaces_and_unknown_characters() {
    let usual = config();
    assert_eq!(cut("▁naïve", &usual), ["▁naïve"]);
    assert_eq!(cut("▁abc12,д", &usual), ["12,", "д", "▁abc"]);
    assert_eq!(cut("か漢ー", &usual), ["か漢ー"]);
    assert_eq!(cut("ae\u{301}б", &usual), ["ae\u{301}", "б"]);
    assert_eq!(cut("a▁b▁▁c", &usual), ["a", "▁", "▁b", "▁c"]);
    let only = UnigramConfig { allow_whitespace_only_pieces: true, ..config() };
    assert_eq!(cut("a▁b▁▁c", &only), ["a", "▁b", "▁▁c"]);
    let across = UnigramConfig { split_by_whitespace: false, ..config() };
    assert_eq!(cut("a▁b c", &across), ["a▁b c"]);
    let suffix = UnigramConfig { treat_whitespace_as_suffix: true, ..config() };
    assert_eq!(cut("a▁b▁", &suffix), ["a▁", "b▁"]);
    let free = UnigramConfig { split_by_number: false, ..config() };
    assert_eq!(cut("a1д-", &free), ["-", "a1д"]);
    let digits = UnigramConfig { split_digits: true, ..config() };
    assert_eq!(cut("▁12a", &digits), ["1", "2", "a", "▁"]);
    let one = UnigramConfig { split_by_unicode_script: false, ..config() };
    assert_eq!(cut("▁abc12,д", &one), ["▁abc12,д"]);
    let defined = UnigramConfig { user_defined: vec!["bc".into(), "b".into()], ..config() };
    assert_eq!(cut("abcd", &defined), ["a", "d"]);
    let few = UnigramConfig { limit: AlphabetLimit::Size(1), ..config() };
    assert_eq!(cut("aaxaa", &few), ["aa"]);
}

/// The candidates and all characters with their scores, by looking at every substring of every chunk and what follows
/// it.
fn candidates_plainly(words: &[(String, u64)], config: &UnigramConfig) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut follows: BTreeMap<String, BTreeSet<Option<char>>> = BTreeMap::new();
    let mut ends_alone = BTreeSet::new();
    for (word, count) in words {
        // In these tests letters are a, b and д, so a border is where the kind changes.
        let letters: Vec<char> = word.chars().collect();
        let border = |at: usize| {
            at == 0 || at == letters.len() || (letters[at - 1] == 'д') != (letters[at] == 'д')
        };
        for start in 0..letters.len() {
            for end in start + 1..=letters.len().min(start + config.max_piece_length) {
                if (start + 1..end).any(border) {
                    break;
                }
                let text: String = letters[start..end].iter().collect();
                let next = letters.get(end).copied();
                *counts.entry(text.clone()).or_default() += count;
                follows.entry(text.clone()).or_default().insert(next);
                if border(end) {
                    ends_alone.insert(text);
                }
            }
        }
    }
    let many = |text: &String| follows[text].len() > 1;
    let length = |text: &String| text.chars().count();
    counts
        .iter()
        .filter(|(text, count)| length(text) == 1 || **count >= 2)
        .filter(|(text, _)| match config.seeds {
            _ if length(text) == 1 => true,
            SeedRule::SentencePiece => many(text),
            SeedRule::Suffix => many(text) || ends_alone.contains(*text),
        })
        .map(|(text, count)| (text.clone(), count * length(text) as u64))
        .collect()
}

#[test]
fn candidates_are_what_the_rule_says() {
    for seed in 0..60 {
        let mut words = some_words(seed, "abд");
        // Some counts need more than 16 bits.
        let times = if seed % 3 == 0 { 30_000 } else { 1 };
        words.iter_mut().for_each(|(_, count)| *count *= times);
        for seeds in [SeedRule::Suffix, SeedRule::SentencePiece] {
            for threads in [1, 2] {
                let config = UnigramConfig { seeds, threads, max_piece_length: 5, ..config() };
                let chunks = chunks(&borrowed(&words), &config);
                let found = seed::seeds(&chunks, &config);
                let texts = found.at.iter().zip(&found.length).map(|(&at, &length)| {
                    chunks.spell(&chunks.text[at as usize..at as usize + usize::from(length)])
                });
                let texts: Vec<String> = texts.collect();
                assert!(texts.is_sorted());
                let scored: BTreeMap<String, u64> =
                    texts.into_iter().zip(found.score.iter().copied()).collect();
                assert_eq!(scored, candidates_plainly(&words, &config), "{seeds:?}, {seed}");
            }
        }
    }
}

#[test]
fn plain_estimation_never_lowers_the_likelihood() {
    // Without the digamma correction, and as long as no piece is rare enough to be dropped, each step
    // of expectation and maximisation raises the likelihood or leaves it (Dempster et al. 1977).
    for seed in 0..20 {
        let mut words = some_words(seed, "ab");
        words.iter_mut().for_each(|(_, count)| *count *= 1 << 30);
        let config = UnigramConfig { max_piece_length: 4, ..config() };
        let mut trainer = Trainer::new(chunks(&borrowed(&words), &config), &config);
        let mut before = f64::NEG_INFINITY;
        for _ in 0..8 {
            let p = scaled(&trainer.probabilities, &trainer.lengths);
            let (expected, likelihood) = expect::<true>(&trainer.lattice, &p, trainer.unit, 2);
            assert!(expected.iter().all(|&units| trainer.unit.value(units) >= 0.5));
            assert!(likelihood >= before - 1e-9 * before.abs(), "{likelihood} after {before}");
            before = likelihood;
            proportions(&expected, trainer.unit, &mut trainer.probabilities);
        }
    }
}

#[test]
fn expected_characters_are_all_characters() {
    // Whatever the probabilities, the pieces of a cut have the characters of the text.
    for (word, count) in [("abcabcabc", 7), ("a", 3), (&*"ab".repeat(400), 5)] {
        let config = config();
        let trainer = Trainer::new(chunks(&[(word, count), ("bca", 2)], &config), &config);
        let p = scaled(&trainer.probabilities, &trainer.lengths);
        let (expected, _) = expect::<false>(&trainer.lattice, &p, trainer.unit, 1);
        let characters: f64 = expected
            .iter()
            .zip(&trainer.lengths)
            .map(|(&units, &length)| trainer.unit.value(units) * f64::from(length))
            .sum();
        let all = (word.chars().count() as u64 * count + 6) as f64;
        assert!((characters - all).abs() < 1e-2, "{characters} for {all}");
    }
}

/// The expected count of every piece in a text, by sums of logarithms.
fn expected_plainly(text: &[u32], pieces: &[(&[u32], f64)]) -> Vec<f64> {
    let add = |a: f64, b: f64| match a.max(b) {
        f64::NEG_INFINITY => f64::NEG_INFINITY,
        most => most + ((a - most).exp() + (b - most).exp()).ln(),
    };
    let mut before = vec![f64::NEG_INFINITY; text.len() + 1];
    let mut behind = before.clone();
    (before[0], behind[text.len()]) = (0.0, 0.0);
    for at in 0..text.len() {
        for (piece, log) in pieces.iter().filter(|(piece, _)| text[at..].starts_with(piece)) {
            before[at + piece.len()] = add(before[at + piece.len()], before[at] + log);
        }
    }
    let mut expected = vec![0.0; pieces.len()];
    for at in (0..text.len()).rev() {
        for ((piece, log), expected) in pieces.iter().zip(&mut expected) {
            if text[at..].starts_with(piece) {
                let way = log + behind[at + piece.len()];
                behind[at] = add(behind[at], way);
                *expected += (before[at] + way - before[text.len()]).exp();
            }
        }
    }
    expected
}

#[test]
fn expected_counts_are_those_of_logarithms() {
    // Probabilities so far from each other that sums leave the range where exponents stay, up and down.
    for (length, seed) in [(9, 1), (20, 2), (21, 3), (200, 4), (1000, 5), (1000, 6)] {
        let mut next = numbers(seed);
        let letters = if seed % 2 == 0 { "abcd" } else { "ab" };
        let letters: Vec<char> = letters.chars().collect();
        let letter = |_| letters[next(letters.len() as u64) as usize];
        let word: String = (0..length).map(letter).collect();
        let config = config();
        let mut trainer = Trainer::new(chunks(&[(&word, 1), ("abab", 2)], &config), &config);
        let rough = |_: &f64| pow2(-(next(48) as i32) - 1);
        trainer.probabilities = trainer.probabilities.iter().map(rough).collect();
        // Some have none; characters always do.
        for (p, length) in trainer.probabilities.iter_mut().zip(&trainer.lengths) {
            if *length > 1 && next(5) == 0 {
                *p = 0.0;
            }
        }
        let p = scaled(&trainer.probabilities, &trainer.lengths);
        let (expected, _) = expect::<false>(&trainer.lattice, &p, trainer.unit, 1);
        let texts = trainer.at.iter().zip(&trainer.lengths).map(|(&at, &length)| {
            &trainer.chunks.text[at as usize..at as usize + usize::from(length)]
        });
        let pieces: Vec<_> = texts.zip(trainer.probabilities.iter().map(|p| p.ln())).collect();
        let number = |letter| trainer.chunks.alphabet.binary_search(&letter).unwrap() as u32 + 1;
        let text = |word: &str| word.chars().map(number).collect::<Vec<_>>();
        let long = expected_plainly(&text(&word), &pieces);
        let short = expected_plainly(&text("abab"), &pieces);
        for ((&units, long), short) in expected.iter().zip(long).zip(short) {
            let (found, plain) = (trainer.unit.value(units), long + 2.0 * short);
            assert!((found - plain).abs() < 1e-3, "{found} for {plain} in {length}");
        }
    }
}

#[test]
fn units_leave_room_for_every_corpus() {
    assert_eq!(Unit::new(1000).per_one(), f64::from(1 << 20));
    for bits in 0..64 {
        let total = u64::MAX >> bits;
        assert!(total as f64 * Unit::new(total).per_one() <= (1u64 << 62) as f64);
    }
}

#[test]
fn threads_order_and_observers_change_nothing() {
    struct Watching(usize);
    impl UnigramObserver for Watching {
        fn estimated(&mut self, facts: &Estimation<'_>) {
            self.0 += facts.pieces.len();
        }
    }
    for seed in 0..30 {
        let mut words = some_words(seed, "abcдe1");
        let config = UnigramConfig { vocab_size: 12, ..config() };
        let learn = |words: &[(String, u64)], threads, watching: bool| {
            let config = UnigramConfig { threads, ..config.clone() };
            let words = borrowed(words);
            let corpus = UnigramCorpus::new(&parts(&words), &config).unwrap();
            let trained = if watching {
                corpus.train(&config, &mut Watching(0))
            } else {
                corpus.train(&config, &mut crate::observe::Silent)
            }
            .unwrap();
            (trained.pieces, trained.scores, trained.rounds)
        };
        let first = learn(&words, 1, false);
        assert_eq!(first, learn(&words, 3, true));
        words.reverse();
        assert_eq!(first, learn(&words, 2, false));
    }
}

#[test]
fn counts_that_overflow_are_an_error() {
    let found = Gathered::new(&parts(&[("ab", u64::MAX / 16)]), &config());
    assert!(matches!(found, Err(Error::CountOverflow { .. })));
    let config = UnigramConfig { vocab_size: 3, ..config() };
    let words = [("ab", u64::MAX / 64), ("abc", 1)];
    let corpus = UnigramCorpus::new(&parts(&words), &config).unwrap();
    assert_eq!(corpus.train(&config, &mut crate::observe::Silent).unwrap().pieces.len(), 3);
}

#[test]
fn an_interruption_gives_the_model_so_far() {
    struct Impatient(usize);
    impl UnigramObserver for Impatient {
        fn progress(&mut self, _: Stage, _: u64, _: Option<u64>) -> std::ops::ControlFlow<()> {
            self.0 += 1;
            if self.0 > 1 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        }
    }
    let words = some_words(1, "abc");
    let config = UnigramConfig { vocab_size: 8, ..config() };
    let corpus = UnigramCorpus::new(&parts(&borrowed(&words)), &config).unwrap();
    let trained = corpus.train(&config, &mut Impatient(0)).unwrap();
    assert_eq!((trained.stop, trained.pieces.len()), (UnigramStop::Interrupted, 8));
}

#[test]
fn sizes_that_cannot_be_are_errors_that_say_what_can() {
    let words = some_words(1, "abc");
    let learn = |vocab_size| {
        let config = UnigramConfig { vocab_size, ..config() };
        let corpus = UnigramCorpus::new(&parts(&borrowed(&words)), &config).unwrap();
        corpus.train(&config, &mut crate::observe::Silent)
    };
    let Err(Error::Config { expected, .. }) = learn(2) else { panic!("two are too few") };
    assert!(expected.starts_with("at least 3:"), "{expected}");
    let Err(Error::Config { expected, .. }) = learn(1000) else { panic!("too many") };
    let most = expected.strip_prefix("at most ").and_then(|rest| rest.split(':').next());
    let most: usize = most.unwrap().parse().unwrap();
    assert_eq!(learn(most).unwrap().pieces.len(), most);
    assert!(learn(most + 1).is_err());
}

#[test]
fn chunks_in_portions_make_the_lattice_of_all_at_once() {
    // Five portions, and long chunks in each; the first chunk is a long one.
    let word = |n: u64| {
        let letters = format!("{n:013b}").replace('0', "a").replace('1', "b");
        (letters + &"ab".repeat(if n.is_multiple_of(97) { 8 } else { 0 }), n + 1)
    };
    let words: Vec<(String, u64)> = (0..5000).map(word).collect();
    for threads in [1, 2] {
        let config = UnigramConfig { threads, ..config() };
        let mut chunks = chunks(&borrowed(&words), &config);
        assert_eq!(chunks.len(), 5000);
        let mut seeds = seed::seeds(&chunks, &config);
        let texts = (0..chunks.len())
            .map(|i| (chunks.starts[i], chunks.chunk(i).len() as u32, chunks.counts[i]));
        let blocks = |lattice: Lattice<u64>| -> Vec<(Vec<u32>, Vec<u64>, usize)> {
            let blocks = lattice.blocks.into_iter();
            blocks.map(|block| (block.stream, block.ends, block.depth)).collect()
        };
        let at_once = blocks(Lattice::new(texts, &chunks.text, &seeds, 16, threads));
        assert_eq!(at_once.len(), 5 + 52);
        assert!(blocks(Lattice::of_chunks(&mut chunks, &mut seeds, 16, threads)) == at_once);
    }
}
