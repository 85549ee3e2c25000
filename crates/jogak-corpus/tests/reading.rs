//! What is read does not depend on how it is cut: every format, at every block size, on several threads,
//! gives the documents that reading it as one block gives.

#![allow(clippy::unwrap_used, reason = "a test says so by failing")]

use jogak::count::{Counter, Counts, Order, Words};
use jogak::pretokenize::{Pretokenizer, Scheme};
use jogak_corpus::{
    Batch, Error, Errors, Format, Input, Options, Place, Problem, Progress, Report, Result, Source,
    Split, count_documents, count_sources,
};
use std::io::Cursor;
use std::num::NonZero;
use std::sync::Arc;

fn whole_documents() -> Pretokenizer {
    Pretokenizer::new(&[Scheme::None]).unwrap()
}

fn read(texts: &[&[u8]], format: &Format, options: &Options) -> Result<(Counts, Report)> {
    let sources = texts.iter().enumerate().map(|(i, text)| Source {
        name: format!("file {i}"),
        input: Input::Stream(Box::new(Cursor::new(text.to_vec()))),
        format: format.clone(),
    });
    count_sources(sources.collect(), &whole_documents(), options, &Arc::default(), &mut |_| ())
}

/// The documents in order of first sight, with their counts.
fn documents(counts: &Counts) -> Vec<(String, u64)> {
    let inventory = counts.inventory(Order::FirstSeen, 1);
    inventory.iter().map(|(word, n)| (String::from_utf8(word.to_vec()).unwrap(), n)).collect()
}

fn options(threads: usize, block_size: usize, errors: Errors) -> Options {
    let threads = NonZero::new(threads);
    Options { threads, block_size, errors, keep_order: true, ..Options::default() }
}

/// Reads in many ways; all must tell the same. Returns what they tell.
fn same_in_every_way(
    texts: &[&[u8]],
    format: &Format,
    errors: Errors,
) -> std::result::Result<(Vec<(String, u64)>, Report), String> {
    let tell = |threads, size| {
        read(texts, format, &options(threads, size, errors))
            .map(|(counts, report)| (documents(&counts), report))
            .map_err(|error| error.to_string())
    };
    let whole = tell(1, 1 << 20);
    for threads in [1, 2, 5] {
        for size in (1..24).chain([61, 1000]) {
            assert_eq!(tell(threads, size), whole, "{threads} threads, blocks of {size}");
        }
    }
    whole
}

fn texts(documents: &[(String, u64)]) -> Vec<&str> {
    documents.iter().map(|(text, _)| text.as_str()).collect()
}

fn text(split: Split) -> Format {
    Format::Text(split)
}

const KEEP: Format = Format::Text(Split::Line { keep_newline: true });

#[test]
fn lines() {
    let corpus: [&[u8]; 3] = ["가 나\n\r\n\n다\r\n끝".as_bytes(), b"", b"a\0b\n\xc2\x85\nlast\n"];
    let (kept, report) = same_in_every_way(&corpus, &KEEP, Errors::Strict).unwrap();
    assert_eq!(
        texts(&kept),
        ["가 나\n", "\r\n", "\n", "다\r\n", "끝", "a\0b\n", "\u{85}\n", "last\n"]
    );
    assert_eq!((report.files, report.documents, report.empty_documents), (3, 8, 0));
    assert_eq!(report.bytes, corpus.iter().map(|text| text.len() as u64).sum::<u64>());
    let drop = text(Split::Line { keep_newline: false });
    let (dropped, report) = same_in_every_way(&corpus, &drop, Errors::Strict).unwrap();
    assert_eq!(texts(&dropped), ["가 나", "\r", "다\r", "끝", "a\0b", "\u{85}", "last"]);
    assert_eq!((report.documents, report.empty_documents), (8, 1));
}

/// A scheme that cuts by masks takes all lines of a block at once. They are the words and the documents
/// that cutting line after line gives.
#[test]
fn whole_lines_by_masks() {
    let lines = [
        "it's  12 apples,\n",
        "\n",
        "   \n",
        " ends with spaces  \n",
        "\t\ta tab, and we'll\r\n",
        "국밥을 두 그릇 먹었다.\n",
        "a\0b\u{2028}c \u{a0}\u{3000}d\n",
        "'s and 's'd \u{301}e😀😀\n",
        "a much longer line, so that sixty-four bytes and more lie between two of its ends: 1234567\n",
        "\r\r\n",
        "x\n",
    ];
    let gpt2 = Pretokenizer::new(&[Scheme::Gpt2]).unwrap();
    assert!(gpt2.count_lines("a\n", &mut Counter::new(false)), "this is about whole lines");
    for turn in 0..lines.len() {
        let mut text = [&lines[turn..], &lines[..turn]].concat().concat();
        for ended in [true, false] {
            if !ended {
                text.pop();
            }
            let mut counter = Counter::new(true);
            let mut all = 0;
            for line in text.split_inclusive('\n') {
                gpt2.count(line, &mut (), &mut counter).unwrap();
                all += 1;
            }
            let wanted = Counts::from_counters(vec![counter], 1).unwrap();
            for threads in [1, 3] {
                for size in [1, 7, 63, 64, 65, 100, 200, 1 << 18] {
                    let source = Source {
                        name: "file".into(),
                        input: Input::Stream(Box::new(Cursor::new(text.clone().into_bytes()))),
                        format: KEEP,
                    };
                    let options = options(threads, size, Errors::Strict);
                    let (counts, report) =
                        count_sources(vec![source], &gpt2, &options, &Arc::default(), &mut |_| ())
                            .unwrap();
                    let how = format!("turn {turn}, ended {ended}, blocks of {size}");
                    assert_eq!(documents(&counts), documents(&wanted), "{how}");
                    assert_eq!(report.documents, all, "{how}");
                    assert_eq!(report.empty_documents, 0, "{how}");
                }
            }
        }
    }
}

#[test]
fn whole_files() {
    let corpus: [&[u8]; 3] = [b"one\ntwo\n", b"", b"three"];
    let (found, report) = same_in_every_way(&corpus, &text(Split::File), Errors::Strict).unwrap();
    assert_eq!(texts(&found), ["one\ntwo\n", "three"]);
    assert_eq!((report.files, report.documents), (3, 2));
}

#[test]
fn separators() {
    let split = |separator: &str| text(Split::Separator(separator.into()));
    // A separator that overlaps itself, and one whose start stands elsewhere.
    for (separator, corpus, expected) in [
        ("aa", "xaaayaazaaaa", vec!["x", "ay", "z"]),
        (
            "<|end|>",
            "one\n<|end|>\ntwo<|en<|end|>three<|end|>",
            vec!["one\n", "\ntwo<|en", "three"],
        ),
        ("밥", "국밥면밥", vec!["국", "면"]),
        ("\n", "a\nb", vec!["a", "b"]),
    ] {
        let corpus: [&[u8]; 1] = [corpus.as_bytes()];
        let (found, report) =
            same_in_every_way(&corpus, &split(separator), Errors::Strict).unwrap();
        assert_eq!(texts(&found), expected);
        assert_eq!(report.empty_documents, u64::from(separator == "aa"));
    }
}

#[test]
fn json_lines() {
    let format = Format::Jsonl { field: "text".into() };
    let corpus: [&[u8]; 2] = [
        "\u{feff}{\"text\": \"가\\n나\", \"id\": 1}\r\n\n  \n{\"id\": 2, \"text\": \"\"}\n"
            .as_bytes(),
        b"{\"text\": \"last\"}",
    ];
    let (found, report) = same_in_every_way(&corpus, &format, Errors::Strict).unwrap();
    assert_eq!(texts(&found), ["가\n나", "last"]);
    assert_eq!((report.documents, report.empty_documents), (3, 1));
}

#[test]
fn tables() {
    let csv = Format::Csv { column: "document".into() };
    let corpus: [&[u8]; 3] = [
        b"id,document,label\n1,\"a, \"\"b\"\"\nc\",0\r\n\n2,plain \" quote,1\n3,,1\n",
        b"document\nonly\n",
        "\u{feff}document,x\r\n밥,1".as_bytes(),
    ];
    let (found, report) = same_in_every_way(&corpus, &csv, Errors::Strict).unwrap();
    assert_eq!(texts(&found), ["a, \"b\"\nc", "plain \" quote", "only", "밥"]);
    assert_eq!((report.documents, report.empty_documents), (5, 1));

    let tsv = Format::Tsv { column: "document".into() };
    let corpus: [&[u8]; 2] = [
        b"id\tdocument\tlabel\n1\t\"a\t0\r\n2\tb \"c\"\t1\n3\t\t1\n\n",
        b"label\tdocument\r\n0\tlast\r\n",
    ];
    let (found, report) = same_in_every_way(&corpus, &tsv, Errors::Strict).unwrap();
    assert_eq!(texts(&found), ["\"a", "b \"c\"", "last"]);
    assert_eq!((report.documents, report.empty_documents), (4, 1));
}

/// The problem and the place of the error of a corpus.
fn problem(texts: &[&[u8]], format: &Format, errors: Errors) -> (Place, Problem) {
    same_in_every_way(texts, format, errors).unwrap_err();
    match read(texts, format, &options(2, 5, errors)) {
        Err(Error::Document { place, problem }) => (*place, problem),
        other => panic!("{other:?}"),
    }
}

#[test]
fn broken_utf8() {
    let corpus: [&[u8]; 2] =
        [b"fine\n", b"fine too\nbad \xed\xa0\x80 here\xff\nmore \xe2\x82\nend"];
    let (place, found) = problem(&corpus, &KEEP, Errors::Strict);
    assert_eq!(place.to_string(), "file 1, line 2, byte 13");
    assert_eq!(found, Problem::Utf8 { bytes: vec![0xed] });
    let (found, report) = same_in_every_way(&corpus, &KEEP, Errors::Replace).unwrap();
    assert_eq!(
        texts(&found)[2..4],
        ["bad \u{fffd}\u{fffd}\u{fffd} here\u{fffd}\n", "more \u{fffd}\n"]
    );
    assert_eq!((report.replaced, report.documents), (5, 5));
    let (found, report) = same_in_every_way(&corpus, &KEEP, Errors::Skip).unwrap();
    assert_eq!(texts(&found), ["fine\n", "fine too\n", "end"]);
    assert_eq!((report.skipped_documents, report.skipped_bytes, report.documents), (2, 22, 3));
}

#[test]
fn documents_that_are_not_as_they_should_be() {
    let json = Format::Jsonl { field: "text".into() };
    let lines: [&[u8]; 1] = [b"{\"text\": \"a\"}\n{\"body\": 1}\n{\"text\": 5}\n{\"text\"\n"];
    let (place, found) = problem(&lines, &json, Errors::Replace);
    assert_eq!(place.to_string(), "file 0, line 2, byte 14");
    assert_eq!(found, Problem::NoField { field: "text".into(), found: vec!["body".into()] });
    let (_, report) = same_in_every_way(&lines, &json, Errors::Skip).unwrap();
    assert_eq!((report.documents, report.skipped_documents), (1, 3));

    let half: [&[u8]; 1] = [b"{\"text\": \"a\\ud800\"}"];
    assert_eq!(problem(&half, &json, Errors::Strict).1, Problem::Surrogate);
    let (found, report) = same_in_every_way(&half, &json, Errors::Replace).unwrap();
    assert_eq!((texts(&found), report.replaced), (vec!["a\u{fffd}"], 1));

    let csv = Format::Csv { column: "b".into() };
    let table: [&[u8]; 1] = [b"a,b\n1,\"x\ny\"\n\n1,2,3\n4,5\n"];
    let (place, found) = problem(&table, &csv, Errors::Strict);
    assert_eq!(place.to_string(), "file 0, line 5, byte 13");
    assert_eq!(found, Problem::Columns { found: 3, expected: 2 });
    let (found, report) = same_in_every_way(&table, &csv, Errors::Skip).unwrap();
    assert_eq!((texts(&found), report.skipped_documents), (vec!["x\ny", "5"], 1));

    let tsv = Format::Tsv { column: "c".into() };
    let (place, found) = problem(&[b"a\tb\n1\t2\n"], &tsv, Errors::Skip);
    assert_eq!(place.to_string(), "file 0, line 1, byte 0");
    let names = vec!["a".to_string(), "b".to_string()];
    assert_eq!(found, Problem::NoColumn { column: "c".into(), found: names });
}

#[test]
fn damaged_compression() {
    let text = "한 줄\n".repeat(500);
    let mut gzip = flate2::read::GzEncoder::new(text.as_bytes(), flate2::Compression::fast());
    let mut packed = Vec::new();
    std::io::Read::read_to_end(&mut gzip, &mut packed).unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    for packed in [packed, zstd] {
        let twice = [&packed[..], &packed[..]].concat();
        let (found, report) = same_in_every_way(&[&twice], &KEEP, Errors::Strict).unwrap();
        assert_eq!(found, [("한 줄\n".to_string(), 1000)]);
        assert_eq!(report.bytes, 2 * text.len() as u64);
        for cut in [packed.len() - 1, packed.len() / 2, 5] {
            let error = read(&[&packed[..cut]], &KEEP, &options(2, 64, Errors::Skip));
            assert!(matches!(error, Err(Error::Read { compression: Some(_), .. })), "{error:?}");
        }
    }
}

/// Fails when it is read.
struct Failing;

impl std::io::Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the disk is gone"))
    }
}

#[test]
fn what_stands_before_a_failure_is_read_first() {
    let told = |text: &'static [u8], size| {
        let stream = std::io::Read::chain(text, Failing);
        let input = Input::Stream(Box::new(stream));
        let source = Source { name: "file".into(), input, format: KEEP };
        let options = options(2, size, Errors::Strict);
        count_sources(vec![source], &whole_documents(), &options, &Arc::default(), &mut |_| ())
            .unwrap_err()
    };
    for size in [1, 3, 8, 100, 1 << 20] {
        let error = told(b"fine\nbad\xff\nfine\nand a part", size);
        assert!(matches!(error, Error::Document { .. }), "{error}");
        let error = told(b"fine\nand a part", size);
        assert_eq!(error.to_string(), "file: cannot be read: the disk is gone");
    }
}

fn feed(items: &[&[u8]], options: &Options) -> Result<(Counts, Report)> {
    let mut rest = items.iter();
    let mut fill = |batch: &mut Batch| {
        while !batch.is_full() {
            match rest.next() {
                Some(item) => batch.push(item),
                None => return false,
            }
        }
        true
    };
    count_documents(&mut fill, &whole_documents(), options, &Arc::default(), &mut |_| ())
}

#[test]
fn documents_from_memory() {
    let items: Vec<&[u8]> = vec![b"a", b"", b"b\n", b"a", "밥".as_bytes()];
    for threads in [1, 3] {
        for size in [1, 3, 100] {
            let (counts, report) = feed(&items, &options(threads, size, Errors::Strict)).unwrap();
            let expected = [("a".into(), 2), ("b\n".into(), 1), ("밥".into(), 1)];
            assert_eq!(documents(&counts), expected);
            assert_eq!((report.documents, report.empty_documents, report.bytes), (5, 1, 7));
            let broken: Vec<&[u8]> = vec![b"a", b"", b"b", b"c\xff", b"\xfe"];
            let error = feed(&broken, &options(threads, size, Errors::Strict)).unwrap_err();
            assert!(error.to_string().starts_with("document 3, byte 1: broken"), "{error}");
        }
    }
}

/// The threads would wait for ever for who no longer feeds them.
#[test]
fn a_panic_of_who_feeds_comes_out() {
    let mut batches = 0;
    let mut fill = |batch: &mut Batch| {
        batches += 1;
        assert!(batches < 4, "no more");
        batch.push(b"a");
        true
    };
    let run = std::panic::AssertUnwindSafe(|| {
        let options = options(3, 1, Errors::Strict);
        count_documents(&mut fill, &whole_documents(), &options, &Arc::default(), &mut |_| ())
    });
    let panic = std::panic::catch_unwind(run).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"no more"));
}

#[test]
fn absurd_numbers_of_threads() {
    let options = options(usize::MAX, 1, Errors::Strict);
    let (counts, _) = feed(&[b"a", b"b", b"a"], &options).unwrap();
    assert_eq!(counts.total(), 3);
    let (counts, _) = read(&[b"a\nb\n"], &KEEP, &options).unwrap();
    assert_eq!(counts.total(), 2);
}

#[test]
fn a_cancelled_run_ends() {
    let progress: Arc<Progress> = Arc::default();
    progress.cancel();
    let endless = Source {
        name: "endless".into(),
        input: Input::Stream(Box::new(std::io::repeat(b'\n'))),
        format: KEEP,
    };
    let default = Options::default();
    let run = count_sources(vec![endless], &whole_documents(), &default, &progress, &mut |_| ());
    assert!(matches!(run, Err(Error::Cancelled)));

    let progress: Arc<Progress> = Arc::default();
    let endless = Source {
        name: "endless".into(),
        input: Input::Stream(Box::new(std::io::repeat(b'\n'))),
        format: KEEP,
    };
    let mut ticks = 0;
    let mut tick = |progress: &Progress| {
        ticks += 1;
        progress.cancel();
    };
    let run = count_sources(vec![endless], &whole_documents(), &default, &progress, &mut tick);
    assert!(matches!(run, Err(Error::Cancelled)));
    // A slow machine ticks again before its threads see it.
    assert!(ticks >= 1);
}

#[test]
fn short_words_are_counted_as_left_out() {
    let options = Options { min_word_length: 2, ..options(2, 4, Errors::Strict) };
    let (counts, report) =
        read(&[b"ab\nc\nde\nc\n"], &text(Split::Line { keep_newline: false }), &options).unwrap();
    assert_eq!(documents(&counts), [("ab".into(), 1), ("de".into(), 1)]);
    assert_eq!(report.short_words, 2);
}
