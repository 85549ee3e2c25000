//! The WordPiece trainer equals the textbook loop: score all pairs, merge the best, begin again.

#![allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jogak::observe::Silent;
use jogak::symbols::Marker;
use jogak::train::{
    AlphabetLimit, Corpus, Criterion, Stop, WordPieceConfig, WordPieceMerge, WordPieceObserver,
    WordPieceTrained, WordPieceView,
};

fn config(criterion: Criterion, min_pair_count: Option<u64>) -> WordPieceConfig {
    WordPieceConfig {
        criterion,
        marker: Marker::Continuation { text: "##".into() },
        limit: AlphabetLimit::All,
        vocab_size: None,
        other_pieces: Vec::new(),
        uncounted_pieces: Vec::new(),
        min_pair_count,
        max_piece_length: None,
    }
}

fn corpus(words: &[(String, u64)], config: &WordPieceConfig) -> Corpus {
    let words = words.iter().map(|(word, n)| (word.as_str(), *n));
    Corpus::of_characters(&[words], config, &mut Silent).unwrap()
}

fn train(words: &[(String, u64)], config: &WordPieceConfig) -> WordPieceTrained {
    corpus(words, config).train_wordpiece(config, &mut Silent).unwrap()
}

/// (left text, right text, count) of every merge, the textbook way, for the marker `##`.
fn textbook(words: &[(String, u64)], config: &WordPieceConfig) -> Vec<(String, String, u64)> {
    let symbols = |word: &str| -> Vec<String> {
        let text = |(place, c): (usize, char)| if place == 0 { c.into() } else { format!("##{c}") };
        word.chars().enumerate().map(text).collect()
    };
    let all: BTreeSet<String> = words.iter().flat_map(|(word, _)| symbols(word)).collect();
    let (marked, _): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|text| text.starts_with("##"));
    let characters: BTreeSet<char> = words.iter().flat_map(|(word, _)| word.chars()).collect();
    let plain: Vec<String> = characters.into_iter().map(String::from).collect();
    let mut pieces: Vec<String> = [plain, marked].concat();
    let mut corpus: Vec<(Vec<String>, u64)> =
        words.iter().map(|(word, count)| (symbols(word), *count)).collect();
    let mut found = Vec::new();
    let width = |text: &str| text.trim_start_matches("##").chars().count();
    while config.vocab_size.is_none_or(|size| pieces.len() < size) {
        let mut symbols: BTreeMap<String, u128> = BTreeMap::new();
        let mut pairs: BTreeMap<(String, String), u128> = BTreeMap::new();
        for (word, count) in &corpus {
            for symbol in word {
                *symbols.entry(symbol.clone()).or_default() += u128::from(*count);
            }
            for pair in word.windows(2) {
                *pairs.entry((pair[0].clone(), pair[1].clone())).or_default() += u128::from(*count);
            }
        }
        let joined = |pair: &(String, String)| format!("{}{}", pair.0, &pair.1[2..]);
        let fits =
            |text: &str| config.max_piece_length.is_none_or(|most| width(text) <= most as usize);
        let floor = u128::from(config.min_pair_count.unwrap_or(2));
        pairs.retain(|pair, count| {
            let text = joined(pair);
            *count >= floor && fits(&text) && !pieces.contains(&text)
        });
        let id = |text: &String| pieces.iter().position(|known| known == text).unwrap();
        let best = pairs.iter().min_by(|(a, a_count), (b, b_count)| {
            let band = |count: u128| match (config.criterion, config.min_pair_count) {
                (Criterion::Likelihood, None) => count.ilog2(),
                _ => 0,
            };
            let parts = |pair: &(String, String)| match config.criterion {
                Criterion::Likelihood => symbols[&pair.0] * symbols[&pair.1],
                Criterion::Count => 1,
            };
            let score = (*b_count * parts(a)).cmp(&(*a_count * parts(b)));
            Reverse(band(**a_count))
                .cmp(&Reverse(band(**b_count)))
                .then(score)
                .then((id(&a.0), id(&a.1)).cmp(&(id(&b.0), id(&b.1))))
        });
        let Some((pair, &count)) = best else { break };
        let text = joined(pair);
        for (word, _) in &mut corpus {
            let mut at = 0;
            while at + 1 < word.len() {
                if word[at] == pair.0 && word[at + 1] == pair.1 {
                    word[at] = text.clone();
                    word.remove(at + 1);
                }
                at += 1;
            }
        }
        found.push((pair.0.clone(), pair.1.clone(), count as u64));
        pieces.push(text);
    }
    found
}

fn merges(trained: &WordPieceTrained) -> Vec<(String, String, u64)> {
    let text = |id: u32| String::from_utf8(trained.pieces.piece(id).unwrap().to_vec()).unwrap();
    trained.merges.iter().map(|merge| (text(merge.left), text(merge.right), merge.count)).collect()
}

/// A small deterministic generator; tests need no better one.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn words(&mut self, alphabet: &[char], count: u64) -> Vec<(String, u64)> {
        let mut words: BTreeMap<String, u64> = BTreeMap::new();
        for _ in 0..count {
            let length = 1 + self.below(9);
            let mut letter = || alphabet[self.below(alphabet.len() as u64) as usize];
            let word: String = (0..length).map(|_| letter()).collect();
            // Counts of all sizes, so that there are many bands.
            let bits = self.below(12);
            words.insert(word, 1 + self.below(1 << bits));
        }
        words.into_iter().collect()
    }
}

const ALPHABETS: [&[char]; 2] = [&['a', 'b'], &['a', 'b', '가', '나', 'ß']];

#[test]
fn equals_the_textbook_on_random_words() {
    let mut random = Random(1);
    for round in 0..200 {
        let count = 1 + random.below(30);
        let words = random.words(ALPHABETS[round % 2], count);
        for criterion in [Criterion::Likelihood, Criterion::Count] {
            for min_pair_count in [None, Some(1), Some(7)] {
                let vocab_size = Some(10 + random.below(60) as usize);
                let longest = (round % 3 == 0).then_some(3);
                let config = WordPieceConfig {
                    vocab_size: vocab_size.filter(|_| round % 5 > 0),
                    max_piece_length: longest,
                    ..config(criterion, min_pair_count)
                };
                let trained = train(&words, &config);
                assert_eq!(merges(&trained), textbook(&words, &config), "{config:?} {words:?}");
            }
        }
    }
}

/// Checks at every merge that what the trainer says of it is so.
struct Bookkeeper {
    live: i64,
    length: u64,
}

impl WordPieceObserver for Bookkeeper {
    fn before_merge(&mut self, merge: &WordPieceMerge, view: &WordPieceView<'_>) {
        let best = view.candidates()[0];
        assert_eq!((best.ids, best.count), ((merge.left, merge.right), merge.count));
        assert_eq!(
            (best.left_count, best.right_count),
            (merge.left_count, merge.right_count),
            "both parts are counted as they stand"
        );
        assert_eq!(merge.length, self.length);
    }

    fn after_merge(&mut self, merge: &WordPieceMerge, view: &WordPieceView<'_>) {
        let (mut seen, mut length) = (BTreeSet::new(), 0);
        view.for_each_word(|symbols, count| {
            seen.extend(symbols.iter().copied());
            length += symbols.len() as u64 * count;
        });
        assert_eq!(seen.len() as i64, self.live + i64::from(merge.live_change));
        assert_eq!(length, self.length - merge.replaced);
        (self.live, self.length) = (seen.len() as i64, length);
    }
}

#[test]
fn what_is_said_of_a_merge_is_so() {
    let mut random = Random(2);
    for _ in 0..60 {
        let words = random.words(&['x', 'y', 'z'], 12);
        let config = config(Criterion::Likelihood, None);
        let silent = train(&words, &config);
        let mut bookkeeper =
            Bookkeeper { live: silent.initial_live as i64, length: silent.initial_length };
        let observed = corpus(&words, &config).train_wordpiece(&config, &mut bookkeeper).unwrap();
        assert_eq!(observed.merges, silent.merges, "an observer changes nothing");
        assert_eq!(bookkeeper.length, silent.occurrences.iter().sum::<u64>());
    }
}

#[test]
fn stops_say_why() {
    let words = [("abab".to_owned(), 2), ("xy".to_owned(), 1)];
    let auto = config(Criterion::Likelihood, None);
    let one = config(Criterion::Likelihood, Some(1));
    assert_eq!(train(&words, &one).stop, Stop::NoPair);
    assert_eq!(train(&words, &auto).stop, Stop::MinPairCount);
    assert_eq!(
        train(&words, &WordPieceConfig { vocab_size: Some(8), ..one }).stop,
        Stop::VocabSize
    );
}

#[test]
fn texts_that_look_like_markers_do_no_harm() {
    // "##x" is a marked x and, merged from the beginning of a word, three characters.
    let words = [("##xy".to_owned(), 9), ("ax".to_owned(), 3), ("##".to_owned(), 2)];
    for criterion in [Criterion::Likelihood, Criterion::Count] {
        let trained = train(&words, &config(criterion, Some(1)));
        let distinct: BTreeSet<&[u8]> = trained.pieces.iter().collect();
        assert_eq!(distinct.len(), trained.pieces.len(), "no text has two ids");
        assert_eq!(trained.stop, Stop::NoPair);
    }
}

#[test]
fn special_tokens_are_passed_over() {
    let words = [("<s>".to_owned(), 9), ("lower".to_owned(), 3)];
    let config = WordPieceConfig {
        other_pieces: vec![b"<s>".to_vec()],
        ..config(Criterion::Likelihood, Some(1))
    };
    let trained = train(&words, &config);
    assert_eq!(trained.pieces.id(b"<s>"), None);
    assert!(!trained.passed_over.is_empty());
}

#[test]
fn an_alphabet_larger_than_the_vocabulary_is_an_error() {
    let config = WordPieceConfig { vocab_size: Some(2), ..config(Criterion::Likelihood, None) };
    let error = corpus(&[("abc".to_owned(), 1)], &config)
        .train_wordpiece(&config, &mut Silent)
        .unwrap_err()
        .to_string();
    assert!(error.contains("at least 5"), "{error}");
}

/// Long enough for several threads to count pairs, and with more symbols than fit a square.
#[test]
fn threads_cannot_be_seen() {
    let mut seed = 5u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut words = BTreeMap::new();
    for _ in 0..120_000 {
        let length = 2 + random(8);
        let character = |r: u64| char::from_u32('가' as u32 + (r * r / 700) as u32).unwrap();
        let word: String = (0..length).map(|_| character(random(700))).collect();
        *words.entry(word).or_insert(0) += 1 + random(3);
    }
    let mut words: Vec<(String, u64)> = words.into_iter().collect();
    words.sort_by_key(|word| Reverse(word.1));
    for criterion in [Criterion::Likelihood, Criterion::Count] {
        let config = WordPieceConfig { vocab_size: Some(2_500), ..config(criterion, None) };
        let learned = |threads: usize| {
            let parts: Vec<_> = words
                .chunks(words.len().div_ceil(threads))
                .map(|part| part.iter().map(|(word, n)| (word.as_str(), *n)))
                .collect();
            let corpus = Corpus::of_characters(&parts, &config, &mut Silent).unwrap();
            let trained = corpus.train_wordpiece(&config, &mut Silent).unwrap();
            (trained.pieces, trained.merges, trained.occurrences, trained.total_words)
        };
        let one = learned(1);
        assert!(one.1.len() > 500);
        assert_eq!(learned(2), one);
        assert_eq!(learned(3), one);
    }
}
