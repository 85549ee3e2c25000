//! The trainer equals the textbook loop: count all pairs, merge the best, begin again.

#![allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use jogak::count::{Counter, Counts};
use jogak::observe::Silent;
use jogak::symbols::Marker;
use jogak::train::{
    AlphabetLimit, BpeConfig, BpeTrained, Corpus, Merge, PieceRules, Stop, Ties, TrainObserver,
    View,
};

const ALL_TIES: [Ties; 5] =
    [Ties::FirstSeen, Ties::Lexicographic, Ties::LowestId, Ties::Greatest, Ties::SentencePiece];

fn config(ties: Ties) -> BpeConfig {
    BpeConfig {
        bytes: false,
        marker: Marker::None,
        limit: AlphabetLimit::All,
        ties,
        num_merges: None,
        vocab_size: None,
        other_pieces: Vec::new(),
        uncounted_pieces: Vec::new(),
        min_pair_count: 1,
        max_piece_length: None,
        rules: PieceRules::default(),
    }
}

fn train(words: &[(String, u64)], config: &BpeConfig) -> BpeTrained {
    let words = words.iter().map(|(word, count)| (word.as_str(), *count));
    Corpus::new(&[words], config, &mut Silent).unwrap().train(config, &mut Silent).unwrap()
}

/// (left text, right text, count) of every merge, the textbook way, without markers.
fn textbook(words: &[(String, u64)], ties: Ties, merges: usize) -> Vec<(String, String, u64)> {
    let characters: BTreeSet<char> = words.iter().flat_map(|(word, _)| word.chars()).collect();
    let mut pieces: Vec<String> = characters.into_iter().map(String::from).collect();
    let cut = |(word, count): &(String, u64)| (word.chars().map(String::from).collect(), *count);
    let mut corpus: Vec<(Vec<String>, u64)> = words.iter().map(cut).collect();
    let mut found = Vec::new();
    let mut passed: Vec<(String, String)> = Vec::new();
    while found.len() < merges {
        let mut counts: HashMap<(String, String), (u64, usize)> = HashMap::new();
        let mut order = 0;
        for (symbols, count) in &corpus {
            for pair in symbols.windows(2) {
                let key = (pair[0].clone(), pair[1].clone());
                counts.entry(key).or_insert((0, order)).0 += count;
                order += 1;
            }
        }
        let id = |text: &String| pieces.iter().position(|known| known == text).unwrap();
        let best = counts.into_iter().filter(|(pair, _)| !passed.contains(pair)).min_by(|a, b| {
            let ((al, ar), (a_count, a_first)) = a;
            let ((bl, br), (b_count, b_first)) = b;
            let tie = match ties {
                Ties::FirstSeen => a_first.cmp(b_first),
                Ties::Lexicographic => (al, ar).cmp(&(bl, br)),
                Ties::LowestId => std::cmp::Ordering::Equal,
                Ties::Greatest => (bl, br).cmp(&(al, ar)),
                Ties::SentencePiece => {
                    let (a, b) = (format!("{al}{ar}"), format!("{bl}{br}"));
                    (a.chars().count(), &a).cmp(&(b.chars().count(), &b)).then(al.cmp(bl))
                }
            };
            b_count.cmp(a_count).then(tie).then((id(al), id(ar)).cmp(&(id(bl), id(br))))
        });
        let Some(((left, right), (count, _))) = best else { break };
        let joined = format!("{left}{right}");
        if pieces.contains(&joined) {
            passed.push((left, right));
            continue;
        }
        for (symbols, _) in &mut corpus {
            let mut i = 0;
            while i + 1 < symbols.len() {
                if symbols[i] == left && symbols[i + 1] == right {
                    symbols[i] = joined.clone();
                    symbols.remove(i + 1);
                }
                i += 1;
            }
        }
        pieces.push(joined);
        found.push((left, right, count));
    }
    found
}

fn merges(trained: &BpeTrained) -> Vec<(String, String, u64)> {
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
        self.words_of(alphabet, count, 1..10)
    }

    fn words_of(
        &mut self,
        alphabet: &[char],
        count: u64,
        lengths: Range<u64>,
    ) -> Vec<(String, u64)> {
        let mut known = HashSet::new();
        let mut words = Vec::new();
        for _ in 0..count {
            let length = lengths.start + self.below(lengths.end - lengths.start);
            let mut letter = || alphabet[self.below(alphabet.len() as u64) as usize];
            let word: String = (0..length).map(|_| letter()).collect();
            if known.insert(word.clone()) {
                words.push((word, 1 + self.below(6)));
            }
        }
        words
    }
}

#[test]
fn equals_the_textbook_on_random_words() {
    let mut random = Random(1);
    for round in 0..150 {
        let alphabet: &[char] =
            if round % 2 == 0 { &['a', 'b'] } else { &['a', 'b', '가', '나', 'ß'] };
        let count = 1 + random.below(25);
        let words = random.words(alphabet, count);
        for ties in ALL_TIES {
            let limit = random.below(60) as usize;
            let trained = train(&words, &BpeConfig { num_merges: Some(limit), ..config(ties) });
            assert_eq!(merges(&trained), textbook(&words, ties, limit), "{ties:?} {words:?}");
        }
    }
}

/// Checks at every merge that what the trainer says of it is so.
struct Bookkeeper {
    live: i64,
    length: u64,
}

impl TrainObserver for Bookkeeper {
    fn before_merge(&mut self, merge: &Merge, view: &View<'_>) {
        assert_eq!(view.candidates()[0], ((merge.left, merge.right), merge.count));
    }

    fn after_merge(&mut self, merge: &Merge, view: &View<'_>) {
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
    let alphabet = ['x', 'y', 'z', '1', '가'];
    let rules =
        PieceRules { split_digits: true, split_by_unicode_script: true, ..PieceRules::default() };
    for round in 0..120 {
        let (letters, rules) = if round < 60 { (3, PieceRules::default()) } else { (5, rules) };
        let words = random.words(&alphabet[..letters], 12);
        let config = BpeConfig { rules, ..config(ALL_TIES[round % 5]) };
        let silent = train(&words, &config);
        let mut bookkeeper =
            Bookkeeper { live: silent.initial_live as i64, length: silent.initial_length };
        let corpus =
            Corpus::new(&[words.iter().map(|(w, n)| (w.as_str(), *n))], &config, &mut Silent)
                .unwrap();
        let observed = corpus.train(&config, &mut bookkeeper).unwrap();
        assert_eq!(observed.merges, silent.merges, "an observer changes nothing");
    }
}

#[test]
fn stops_say_why() {
    let words = [("abab".to_owned(), 2), ("xy".to_owned(), 1)];
    let stop = |config: &BpeConfig| train(&words, config).stop;
    assert_eq!(stop(&config(Ties::LowestId)), Stop::NoPair);
    assert_eq!(
        stop(&BpeConfig { min_pair_count: 2, ..config(Ties::LowestId) }),
        Stop::MinPairCount
    );
    assert_eq!(stop(&BpeConfig { num_merges: Some(1), ..config(Ties::LowestId) }), Stop::NumMerges);
    assert_eq!(stop(&BpeConfig { vocab_size: Some(5), ..config(Ties::LowestId) }), Stop::VocabSize);
}

#[test]
fn special_tokens_and_long_pieces_are_passed_over() {
    let words = [("<s>".to_owned(), 9), ("lower".to_owned(), 3)];
    let config = BpeConfig {
        other_pieces: vec![b"<s>".to_vec()],
        max_piece_length: Some(3),
        ..config(Ties::LowestId)
    };
    let trained = train(&words, &config);
    assert_eq!(trained.pieces.id(b"<s>"), None);
    assert!(trained.pieces.iter().all(|piece| piece.len() <= 3), "{:?}", trained.pieces);
    assert!(!trained.passed_over.is_empty());
}

#[test]
fn an_alphabet_larger_than_the_vocabulary_is_an_error() {
    let words = [("abc", 1u64)];
    let config = BpeConfig { vocab_size: Some(2), ..config(Ties::LowestId) };
    let corpus = Corpus::new(&[words.into_iter()], &config, &mut Silent).unwrap();
    let error = corpus.train(&config, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("at least 3"), "{error}");
}

/// Asks to stop when it has been asked `patience` times; counts how often before the first merge.
struct Impatient {
    patience: usize,
    asked: usize,
    merged: bool,
}

impl TrainObserver for Impatient {
    fn before_merge(&mut self, _: &Merge, _: &View<'_>) {
        self.merged = true;
    }

    fn progress(&mut self, done: usize, _: Option<usize>) -> ControlFlow<()> {
        assert!(done == 0 || self.merged);
        self.asked += usize::from(!self.merged);
        if self.asked > self.patience { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// From the first word read to the last pair counted, the observer is asked often, and heard.
#[test]
fn training_can_be_stopped_before_the_first_merge() {
    let words: Vec<String> = (0..100_000).map(|number| format!("{number:08}")).collect();
    for bytes in [false, true] {
        let config = BpeConfig { bytes, num_merges: Some(1), ..config(Ties::LowestId) };
        let run = |patience| {
            let mut observer = Impatient { patience, asked: 0, merged: false };
            let words = words.iter().map(|word| (word.as_str(), 1));
            let corpus = Corpus::new(&[words], &config, &mut observer).unwrap();
            (corpus.train(&config, &mut observer).unwrap(), observer.asked)
        };
        let (trained, asked) = run(usize::MAX);
        assert_eq!((trained.stop, trained.merges.len()), (Stop::NumMerges, 1));
        // 800,000 characters: three times while they are cut, four for each of two walks over them, once
        // before the merge.
        assert!(asked >= 12, "{asked}");
        for patience in 0..asked {
            let (trained, called) = run(patience);
            assert_eq!((trained.stop, trained.merges.len()), (Stop::Interrupted, 0));
            assert_eq!(called, patience + 1, "nobody is asked again");
            assert_eq!(trained.pieces.len(), trained.alphabet);
        }
    }
}

/// Large merges are shared among threads, and words may come in any order: nothing of it is seen.
#[test]
fn threads_and_orders_change_nothing() {
    let mut seed = 7u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    // Few letters, so that pairs stand at many places and beside themselves.
    let words: BTreeSet<String> = (0..60_000)
        .map(|_| (0..4 + draw(12)).map(|_| ["a", "b", "가", "나"][draw(4) as usize]).collect())
        .collect();
    let words: Vec<(String, u64)> =
        words.into_iter().enumerate().map(|(i, word)| (word, 1 + i as u64 % 300)).collect();
    let mut counter = Counter::new(false);
    for (word, count) in &words {
        counter.add_many(word.as_bytes(), *count, 0).unwrap();
    }
    let counts = Counts::from_counters(vec![counter], 1).unwrap();
    for bytes in [false, true] {
        let config = BpeConfig { bytes, num_merges: Some(600), ..config(Ties::LowestId) };
        let wanted = train(&words, &config);
        for threads in [1, 2, 2, 3] {
            let corpus = Corpus::of_counts(&counts, threads, &config, &mut Silent).unwrap();
            let trained = corpus.train(&config, &mut Silent).unwrap();
            assert_eq!(trained.merges, wanted.merges, "{threads} threads");
            assert_eq!(trained.pieces, wanted.pieces);
            assert_eq!(trained.occurrences, wanted.occurrences);
            assert_eq!(trained.initial_length, wanted.initial_length);
            assert_eq!(trained.total_words, wanted.total_words);
            assert_eq!(trained.distinct_words, wanted.distinct_words);
        }
    }
}

/// Wants to see every merge, so that they are made one by one.
struct Watchful;

impl TrainObserver for Watchful {}

/// Merges that are made at once are those that are made one by one, whatever is passed over.
#[test]
fn merges_at_once_are_those_made_one_by_one() {
    let mut random = Random(17);
    for round in 0..150 {
        let alphabet: Vec<char> = "abcdefgh".chars().take(2 + round % 7).collect();
        // Once there are symbols enough for two sides.
        let large = round == 5;
        let words = if large {
            random.words_of(&alphabet, 65_000, 4..16)
        } else {
            let count = 20 + random.below(300);
            random.words(&alphabet, count)
        };
        let symbols: usize = words.iter().map(|(word, _)| word.len()).sum();
        assert!(!large || words.len() >= 60_000 && symbols >= 1 << 19, "{symbols} symbols");
        let mut counter = Counter::new(false);
        for (word, count) in &words {
            counter.add_many(word.as_bytes(), *count, 0).unwrap();
        }
        let counts = Counts::from_counters(vec![counter], 1).unwrap();
        for ties in [Ties::LowestId, Ties::SentencePiece] {
            let config = BpeConfig {
                num_merges: Some(300),
                other_pieces: vec![b"ab".to_vec(), b"cba".to_vec()],
                max_piece_length: (round % 3 == 0).then_some(4),
                ..config(ties)
            };
            let trained = |threads, alone: bool| {
                let corpus = Corpus::of_counts(&counts, threads, &config, &mut Silent).unwrap();
                match alone {
                    true => corpus.train(&config, &mut Watchful).unwrap(),
                    false => corpus.train(&config, &mut Silent).unwrap(),
                }
            };
            let alone = trained(1, true);
            for threads in 1..=3 {
                let found = trained(threads, false);
                assert_eq!(found.merges, alone.merges, "round {round}, {threads} threads");
                assert_eq!(found.occurrences, alone.occurrences);
                assert_eq!(found.passed_over, alone.passed_over, "round {round}");
                assert_eq!(found.stop, alone.stop);
            }
        }
    }
}
