//! How fast the rooms are by themselves: cutting, remembering, encoding, counting, training.
//!
//! `cargo bench -p jogak` runs all, `cargo bench -p jogak scan` one room. The texts are made here, the
//! same every time; what the rooms are worth on real text, and beside others, `make bench` tells.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark may stop where something is not as it should be"
)]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use jogak::added::Added;
use jogak::cache::WordTable;
use jogak::count::{Counter, Counts};
use jogak::decode::Decoder;
use jogak::model::{Bpe, BpeParts, Model};
use jogak::normalize::Normalizer;
use jogak::observe::Silent;
use jogak::pipeline::{CACHE_LIMIT, Request, Tokenizer};
use jogak::prepare::Prepare;
use jogak::pretokenize::{Pretokenizer, Scheme};
use jogak::random::SplitMix64;
use jogak::symbols::Marker;
use jogak::train::{AlphabetLimit, BpeConfig, BpeTrained, Corpus, PieceRules, Ties};

fn main() {
    divan::main();
}

/// A script to make words of.
#[derive(Debug, Clone, Copy)]
enum Letters {
    Latin,
    Hangul,
}

const LETTERS: [Letters; 2] = [Letters::Latin, Letters::Hangul];

/// A million bytes of text: words of a small language, a few of them often, most seldom.
fn text(letters: Letters) -> String {
    let mut random = SplitMix64::new(7);
    let mut below = |n: u64| random.next() % n;
    let alphabet: Vec<char> = match letters {
        Letters::Latin => "eeeettaaooiinnsshhrrdlcumwfgypbvk".chars().collect(),
        Letters::Hangul => ('가'..='힣').step_by(23).collect(),
    };
    let longest = if matches!(letters, Letters::Latin) { 9 } else { 4 };
    let words: Vec<String> = (0..20_000)
        .map(|_| {
            let length = 1 + below(longest);
            (0..length).map(|_| alphabet[below(alphabet.len() as u64) as usize]).collect()
        })
        .collect();
    let mut text = String::new();
    while text.len() < 1_000_000 {
        // The product of two draws: small numbers are frequent.
        let word = below(141) * below(141);
        text.push_str(&words[word as usize]);
        text.push_str(match below(20) {
            0 => ".\n",
            1 => ", ",
            2 => " 1984 ",
            _ => " ",
        });
    }
    text
}

/// Where every word of a text stands.
fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let cutter = Pretokenizer::new(&[Scheme::Cl100k]).unwrap();
    cutter.for_each(text, |start, end| spans.push((start, end))).unwrap();
    spans
}

fn counts(text: &str) -> Counts {
    let mut counter = Counter::new(false);
    for (start, end) in spans(text) {
        counter.add(&text.as_bytes()[start..end]);
    }
    Counts::from_counters(vec![counter], 1).unwrap()
}

fn learned(counts: &Counts, merges: usize) -> BpeTrained {
    let config = BpeConfig {
        bytes: true,
        marker: Marker::None,
        limit: AlphabetLimit::All,
        ties: Ties::LowestId,
        num_merges: Some(merges),
        vocab_size: None,
        other_pieces: Vec::new(),
        uncounted_pieces: Vec::new(),
        min_pair_count: 2,
        max_piece_length: None,
        rules: PieceRules::default(),
    };
    let text = |(word, count)| (std::str::from_utf8(word).unwrap(), count);
    let words: Vec<(&str, u64)> = counts.iter().map(text).collect();
    let corpus = Corpus::new(&[words.iter().copied()], &config, &mut Silent).unwrap();
    corpus.train(&config, &mut Silent).unwrap()
}

fn tokenizer(text: &str, cache_limit: usize) -> Tokenizer {
    let found = learned(&counts(text), 4000);
    let merges = found.merges.iter().map(|merge| (merge.left, merge.right)).collect();
    let parts = BpeParts::of_bytes(found.pieces.clone());
    let model = Bpe::new(BpeParts { merges: Some(merges), ..parts }).unwrap();
    let decoder = Decoder::new(found.pieces.clone(), &[], None, Marker::None, None);
    Tokenizer::new(
        Prepare::new(&[], &[Scheme::Cl100k]).unwrap(),
        Added::new(Vec::new(), &Normalizer::default()).unwrap(),
        Model::Bpe(model),
        cache_limit,
    )
    .with_decoder(decoder)
}

/// Text -> borders of words.
#[divan::bench(args = LETTERS)]
fn scan(bencher: Bencher<'_, '_>, letters: Letters) {
    let text = text(letters);
    let cutter = Pretokenizer::new(&[Scheme::Cl100k]).unwrap();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let mut words = 0_usize;
        cutter.for_each(black_box(&text), |_, _| words += 1).unwrap();
        words
    });
}

/// Words that are known -> their ids.
#[divan::bench(args = LETTERS)]
fn cache(bencher: Bencher<'_, '_>, letters: Letters) {
    let text = text(letters);
    let spans = spans(&text);
    let mut table = WordTable::new(0, CACHE_LIMIT);
    let mut ids = Vec::new();
    for (id, &(start, end)) in (0_u32..).zip(&spans) {
        if !table.get(text.as_bytes(), start, end, &mut ids) {
            table.insert(&text.as_bytes()[start..end], &[id]);
        }
    }
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        ids.clear();
        for &(start, end) in &spans {
            table.get(text.as_bytes(), start, end, &mut ids);
        }
        ids.len()
    });
}

/// Text -> ids, every word by the model: nothing is remembered.
#[divan::bench(args = LETTERS)]
fn model(bencher: Bencher<'_, '_>, letters: Letters) {
    encode(bencher, letters, 0);
}

/// Text -> ids, words remembered.
#[divan::bench(args = LETTERS)]
fn pipeline(bencher: Bencher<'_, '_>, letters: Letters) {
    encode(bencher, letters, CACHE_LIMIT);
}

fn encode(bencher: Bencher<'_, '_>, letters: Letters, cache_limit: usize) {
    let text = text(letters);
    let tokenizer = tokenizer(&text, cache_limit);
    let mut worker = tokenizer.worker();
    let mut ids = Vec::new();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        ids.clear();
        let request = Request::default();
        tokenizer.encode(black_box(text.as_str()), &request, &mut worker, &mut ids).unwrap();
        ids.len()
    });
}

/// Ids -> text.
#[divan::bench(args = LETTERS)]
fn decode(bencher: Bencher<'_, '_>, letters: Letters) {
    let text = text(letters);
    let tokenizer = tokenizer(&text, CACHE_LIMIT);
    let (mut worker, mut ids) = (tokenizer.worker(), Vec::new());
    tokenizer.encode(text.as_str(), &Request::default(), &mut worker, &mut ids).unwrap();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| tokenizer.decoder().text(black_box(&ids), false).unwrap());
}

/// Text -> words with their counts.
#[divan::bench(args = LETTERS)]
fn count(bencher: Bencher<'_, '_>, letters: Letters) {
    let text = text(letters);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| counts(black_box(&text)).len());
}

/// Words with their counts -> 4,000 merges.
#[divan::bench(args = LETTERS)]
fn train(bencher: Bencher<'_, '_>, letters: Letters) {
    let counts = counts(&text(letters));
    bencher.bench_local(|| learned(black_box(&counts), 4000).merges.len());
}
