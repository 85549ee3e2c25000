//! What a worker remembers of words is never seen in ids: whole words, parts of words and characters, known or
//! new, in tables with and without room.

use jogak::added::{Added, AddedToken, Input, Part, SpecialPolicy};
use jogak::model::{Bpe, BpeParts, Model, Scratch, Strategy, Way};
use jogak::normalize::{Buffers, Form, Normalizer, Place, Rule};
use jogak::observe::Silent;
use jogak::pipeline::{Request, Tokenizer};
use jogak::prepare::Prepare;
use jogak::pretokenize::{Dummy, Metaspace, Pretokenizer, Scheme};
use jogak::random::SplitMix64;
use jogak::vocab::Vocab;

/// What words are made of.
#[rustfmt::skip]
const LETTERS: &[&str] = &[
    "가", "나", "다", "라", "ㅋ", "中", "文", "字", "，", "。", "の", "カ", "ー", "ж", "и", "é", "\u{301}", "😀", "\u{20000}",
    "a", "b", "e", "th", "ing", "T", "7", "42", ".", "'s", "-", "_",
];
const BLANKS: &[&str] = &[" ", " ", " ", " ", "\n", "  ", "\t", ", ", "\u{3000}"];

struct Dice(SplitMix64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next() % limit as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn word(&mut self, letters: &[&str]) -> String {
        let len = if self.below(20) == 0 { 1 + self.below(60) } else { 1 + self.below(6) };
        (0..len).map(|_| self.one(letters)).collect()
    }
}

/// Whether merges make one piece of these bytes.
fn is_made(bytes: &[u8], pairs: &[(u32, u32)]) -> bool {
    let mut ids: Vec<u32> = bytes.iter().map(|&byte| u32::from(byte)).collect();
    let rank = |pair: &[u32]| pairs.iter().position(|&other| other == (pair[0], pair[1]));
    while let Some((rank, at)) =
        ids.windows(2).enumerate().filter_map(|(at, pair)| Some((rank(pair)?, at))).min()
    {
        ids.splice(at..at + 2, [256 + rank as u32]);
    }
    ids.len() == 1
}

/// All bytes, and merges at random of what is there already. Other merges may always come before one of them, but
/// where all pieces are to be `made`.
fn model(dice: &mut Dice, merges: usize, made: bool) -> (Vec<Vec<u8>>, Vec<(u32, u32)>) {
    let mut pieces: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut pairs = Vec::new();
    let mut known: Vec<u32> = Vec::new();
    // The letters first, so that there is something to build words of.
    for letter in LETTERS.iter().chain(&[" 가", " 中", " th", "가나", "中文", " ж", "ㅋㅋ"])
    {
        let mut left = u32::from(letter.as_bytes()[0]);
        for &byte in &letter.as_bytes()[1..] {
            let mut piece = pieces[left as usize].clone();
            piece.push(byte);
            left = match pieces.iter().position(|other| *other == piece) {
                Some(at) => at as u32,
                None => {
                    pairs.push((left, u32::from(byte)));
                    if made && !is_made(&piece, &pairs) {
                        pairs.pop();
                        break;
                    }
                    pieces.push(piece);
                    pieces.len() as u32 - 1
                }
            };
        }
        // Some are left in bytes.
        if dice.below(8) > 0 {
            known.push(left);
        }
    }
    while pairs.len() < merges {
        let (left, right) = (known[dice.below(known.len())], known[dice.below(known.len())]);
        let piece = [pieces[left as usize].as_slice(), pieces[right as usize].as_slice()].concat();
        if piece.len() < 30 && !pieces.contains(&piece) {
            pairs.push((left, right));
            if made && !is_made(&piece, &pairs) {
                pairs.pop();
                continue;
            }
            pieces.push(piece);
            known.push(pieces.len() as u32 - 1);
        }
    }
    // Some that no merge makes, and all pairs of pieces that make a third one, though only one of them ever does.
    if dice.below(2) == 0 {
        for _ in 0..dice.below(4) {
            let piece = [dice.one(&["", " "]), &dice.word(&LETTERS[..LETTERS.len() - 4])].concat();
            let piece = piece.into_bytes();
            if !pieces.contains(&piece) {
                pieces.push(piece);
            }
        }
    }
    if dice.below(2) == 0 {
        pairs = all_pairs(&pieces, &pairs, dice.below(4) > 0);
    }
    (pieces, pairs)
}

/// The same without some bytes, and without what has one of them.
fn without(
    missing: &[u8],
    pieces: &[Vec<u8>],
    pairs: &[(u32, u32)],
) -> (Vec<Vec<u8>>, Vec<(u32, u32)>) {
    let stays = |piece: &&Vec<u8>| !piece.iter().any(|byte| missing.contains(byte));
    let left: Vec<Vec<u8>> = pieces.iter().filter(stays).cloned().collect();
    let find = |id: u32| left.iter().position(|piece| *piece == pieces[id as usize]);
    let pair = |&(left, right): &(u32, u32)| Some((find(left)? as u32, find(right)? as u32));
    let pairs = pairs.iter().filter_map(pair).collect();
    (left, pairs)
}

/// Any two pieces that make a third one that has a merge, in the order of these; of lower ids, if they are to be `before` it.
fn all_pairs(pieces: &[Vec<u8>], pairs: &[(u32, u32)], before: bool) -> Vec<(u32, u32)> {
    let find = |part: &[u8]| Some(pieces.iter().position(|piece| piece == part)? as u32);
    let mut all = Vec::new();
    for (&pair, product) in pairs.iter().zip(256..) {
        let piece = &pieces[product as usize];
        let two = (1..piece.len()).filter_map(|at| find(&piece[..at]).zip(find(&piece[at..])));
        let start = all.len();
        all.extend(two.filter(|&(left, right)| !before || left.max(right) < product));
        assert!(all[start..].contains(&pair));
    }
    all
}

fn bpe(pieces: &[Vec<u8>], merges: Vec<(u32, u32)>, whole_word: bool) -> Bpe {
    let parts = BpeParts::of_bytes(Vocab::new(pieces));
    Bpe::new(BpeParts { merges: Some(merges), whole_word, ..parts }).expect("a model")
}

/// Every word by itself, and nothing remembered.
fn plainly(tokenizer: &Tokenizer, scheme: &Scheme, text: &str) -> Vec<u32> {
    let mut way = Way::default();
    let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
    let cutter = Pretokenizer::new(std::slice::from_ref(scheme)).expect("a cutter");
    let words = |start: usize, end: usize| {
        let word = &text[start..end];
        let done = tokenizer.model().word(word, &mut way, &mut scratch, &mut ids, &mut Silent);
        done.expect("nothing is refused");
    };
    cutter.for_each(text, words).expect("words");
    ids
}

/// A word that is a piece is taken whole, also where it is too long to be remembered.
#[test]
fn pieces_of_any_length_are_taken_whole() {
    let long = "th".repeat(70);
    let pieces = (0..=255).map(|byte| vec![byte]).chain([long.clone().into_bytes()]);
    let tokenizer = Tokenizer::new(
        Prepare::new(&[], &[Scheme::Cl100k]).expect("a front half"),
        Added::new(Vec::new(), &Normalizer::default()).expect("no tokens"),
        Model::Bpe(bpe(&pieces.collect::<Vec<_>>(), Vec::new(), true)),
        1 << 20,
    );
    let (short, longer) = (&long[..130], format!("{long}{long}"));
    let text = format!("{long}\n{short}\n{longer}\n{long}\nthe {long}");
    let (mut worker, request) = (tokenizer.worker(), Request::default());
    for _ in 0..3 {
        let mut ids = Vec::new();
        tokenizer.encode(text.as_str(), &request, &mut worker, &mut ids).expect("ids");
        assert_eq!(ids, plainly(&tokenizer, &Scheme::Cl100k, &text));
        assert_eq!(ids.iter().filter(|&&id| id == 256).count(), 2);
    }
}

#[test]
fn pieces_that_nothing_makes_are_whole_words_alone() {
    let mut pieces: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    for letter in ["가", "나", "다", "中"] {
        let [first, second, third] = *letter.as_bytes() else { panic!() };
        let two = pieces.len() as u32;
        merges.extend([(u32::from(first), u32::from(second)), (two, u32::from(third))]);
        pieces.extend([letter.as_bytes()[..2].to_vec(), letter.as_bytes().to_vec()]);
    }
    let whole = pieces.len() as u32;
    pieces.push("가나".into());
    let tokenizer = Tokenizer::new(
        Prepare::new(&[], &[Scheme::Cl100k]).expect("a front half"),
        Added::new(Vec::new(), &Normalizer::default()).expect("no tokens"),
        Model::Bpe(bpe(&pieces, merges, true)),
        1 << 20,
    );
    let (mut worker, request) = (tokenizer.worker(), Request::default());
    for _ in 0..3 {
        for (text, times) in
            [("가나", 1), ("가나다中", 0), ("中가나", 0), ("다가나中", 0), ("가나\n가나\n나가", 2)]
        {
            let mut ids = Vec::new();
            tokenizer.encode(text, &request, &mut worker, &mut ids).expect("ids");
            assert_eq!(ids, plainly(&tokenizer, &Scheme::Cl100k, text), "{text}");
            assert_eq!(ids.iter().filter(|&&id| id == whole).count(), times, "{text}");
        }
    }
}

#[test]
fn ids_are_those_of_every_word_by_itself() {
    let mut dice = Dice(SplitMix64::new(11));
    for round in 0..48 {
        let (pieces, pairs) = model(&mut dice, 300, round % 4 < 2);
        check(&mut dice, bpe(&pieces, pairs, round % 2 == 0), round);
    }
}

/// Bytes that are no pieces are dropped, or something stands for them; what they leave side by side may merge.
#[test]
fn ids_where_bytes_are_missing() {
    let mut dice = Dice(SplitMix64::new(12));
    for round in 0..48 {
        let (mut pieces, mut pairs) = model(&mut dice, 300, round % 4 < 2);
        // Letters and bytes that stand side by side in no text, unless something is dropped.
        while pairs.len() < 400 {
            let left = dice.one(LETTERS).as_bytes();
            let left = if dice.below(2) == 0 { left } else { &left[..1] };
            let right = dice.one(LETTERS).as_bytes();
            let right = &right[dice.below(2).min(right.len() - 1)..];
            let find = |part: &[u8]| pieces.iter().position(|piece| piece == part);
            let piece = [left, &right[..1]].concat();
            if let (Some(left), None) = (find(left), find(&piece)) {
                pairs.push((left as u32, u32::from(right[0])));
                pieces.push(piece);
            } else if dice.below(200) == 0 {
                break;
            }
        }
        // Of ASCII, the first bytes of some letters, and bytes within.
        let all: [&[u8]; 4] =
            [b"7-_a", &[0xF0, 0xEA, 0xC3, 0xD0], &[0x98, 0x81, b'-'], b" \nth\xE4"];
        let missing: Vec<u8> =
            all[round % 4].iter().copied().filter(|_| dice.below(3) > 0).collect();
        let (mut pieces, pairs) = without(&missing, &pieces, &pairs);
        let unknown = (dice.below(2) == 0).then_some(pieces.len() as u32);
        pieces.extend(unknown.map(|_| b"<unk>".to_vec()));
        let parts = BpeParts {
            merges: Some(pairs),
            whole_word: round % 2 == 0,
            unknown,
            drop_unknown: true,
            fuse_unknown: dice.below(2) == 0,
            hf_rules: dice.below(4) > 0,
            ..BpeParts::of_bytes(Vocab::new(&pieces))
        };
        check(&mut dice, Bpe::new(parts).expect("a model"), round);
    }
}

/// Runs of spaces are left in texts where there are tokens of each length, as far as these go, and nothing else touches them.
#[test]
fn ids_between_tokens() {
    let mut dice = Dice(SplitMix64::new(13));
    let request = Request { specials: SpecialPolicy::Parse, ..Request::default() };
    let runs = ["  ", "   ", "    ", "\t\t", "\n\n", " \n", "<|end|>", "the"];
    let mut tokens_found = 0;
    for round in 0..120 {
        let (mut pieces, mut pairs) = model(&mut dice, 200, true);
        // What is cut among blanks is seen by what merges.
        let blanks =
            [*b"\t\r", *b"\r\n", *b"\r\r", *b" \r", *b"\n\r", *b"\r ", *b"\r\t", *b"  ", *b"\t\t"];
        for [one, other] in blanks {
            pairs.push((u32::from(one), u32::from(other)));
            pieces.push(vec![one, other]);
        }
        let mut of_each = |blank: &str| {
            let longest = dice.below(7);
            (2..=longest).map(|length| blank.repeat(length)).collect::<Vec<_>>()
        };
        let mut chosen = match round % 3 {
            0 => runs.map(String::from).to_vec(),
            1 => of_each(" "),
            _ => [of_each(" "), of_each("\t")].concat(),
        };
        let others = ["<|end|>", "|A|", "a b", "th", "[m]"].map(String::from);
        if round % 3 == 0 || dice.below(8) == 0 {
            chosen.retain(|_| dice.below(3) > 0);
        } else {
            chosen.extend(
                others
                    .into_iter()
                    .filter(|text| dice.below(if text == "a b" { 16 } else { 2 }) == 0),
            );
        }
        // All runs in normalized text, or all as they come; or any.
        let (late, any) = (dice.below(2) == 0, dice.below(8) == 0);
        let found: Vec<AddedToken> = (10_000..)
            .zip(chosen)
            .map(|(id, text)| {
                let run = text.trim().is_empty();
                let mut rarely = || dice.below(60) == 0;
                AddedToken {
                    special: rarely() || text == "<|end|>",
                    single_word: rarely(),
                    lstrip: text == "[m]" || rarely(),
                    rstrip: rarely(),
                    normalized: (if run && !any { late } else { dice.below(2) == 0 })
                        && text != "[m]",
                    ascii_spaces: false,
                    text,
                    id,
                }
            })
            .collect();
        // A rule that changes hardly any text, or none.
        let rules: &[Rule] = if round % 8 < 3 { &[Rule::Form(Form::Nfc)] } else { &[] };
        let prepare = Prepare::new(rules, &[Scheme::Gpt2]).expect("a front half");
        let added = Added::new(found, prepare.normalizer()).expect("tokens");
        let tokenizer = Tokenizer::new(
            prepare,
            added,
            Model::Bpe(bpe(&pieces, pairs, round % 2 == 0)),
            [1 << 14, 1 << 26][round % 2],
        );
        let mut worker = tokenizer.worker();
        let parts = [LETTERS, &["\n", "\r", "\t", " ", " ", " ", "'s", "'"], &runs].concat();
        let mut text =
            |of: &[&str], parts: usize| -> String { (0..parts).map(|_| dice.one(of)).collect() };
        let mut texts: Vec<String> =
            (0..60).map(|number| text(&parts, [3, 30, 300][number % 3])).collect();
        texts.push(text(&parts[LETTERS.len() - 8..], 60_000));
        for _ in 0..2 {
            for text in &texts {
                let text = text.as_str();
                let expected = between_tokens(&tokenizer, &request, text.into(), &mut tokens_found);
                let mut ids = vec![7];
                tokenizer
                    .encode(text, &request, &mut worker, &mut ids)
                    .expect("all bytes are pieces");
                assert!(ids[1..] == expected, "round {round}: {text:?}");
            }
        }
        // Lines, many at a time.
        let lines: Vec<Input<'_>> = texts[..60]
            .iter()
            .flat_map(|text| text.split_inclusive('\n').chain(text.split('\n')))
            .map(Input::from)
            .collect();
        let batch = tokenizer.encode_batch(&lines, &request, 1).expect("bytes");
        for (line, ends) in lines.iter().zip(batch.offsets.windows(2)) {
            let expected = between_tokens(&tokenizer, &request, *line, &mut tokens_found);
            assert_eq!(batch.ids[ends[0] as usize..ends[1] as usize], *expected, "{line:?}");
        }
    }
    assert!(tokens_found > 100_000, "{tokens_found}");
}

/// Gemma's: a text is one word, and tokens of line ends and tabs are found in its parts; or before, where they must be.
#[test]
fn ids_where_tokens_are_left_in_texts() {
    const OF: [&str; 13] = ["▁", "a", "b", "c", "가", "나", "é", "\n", "\t", "<", ">", "s", "h"];
    let mut dice = Dice(SplitMix64::new(14));
    let (mut found, mut left) = (0, 0);
    for round in 0..320 {
        let mut pieces: Vec<String> = OF.iter().map(|&one| one.to_owned()).collect();
        let (mut merges, mut tries) = (Vec::new(), 0);
        while merges.len() < 50 && tries < 1000 {
            tries += 1;
            let (left, right) = (dice.below(pieces.len()), dice.below(pieces.len()));
            let piece = format!("{}{}", pieces[left], pieces[right]);
            if piece.len() < 9 && !pieces.contains(&piece) {
                merges.push((left as u32, right as u32));
                pieces.push(piece);
            }
        }
        // Often nothing stands in the way, or of some tokens something does.
        let (odd, few) = (round % 4 == 3, round % 4 == 2);
        let mut tokens: Vec<AddedToken> = Vec::new();
        for text in
            ["\n\n", "\n\n\n", "\t", "\t\t", "\n\t", "▁▁", "<h>", "<s>", "a\n", "<\n>", "가"]
        {
            if dice.below(3) == 0 || (!odd && matches!(text, "a\n" | "<\n>")) {
                continue;
            }
            // Some ask for what is in the way: all of that in some rounds, one of it in others.
            let strange = [(); 8].map(|()| odd && dice.below(12) == 0);
            let strange = |kind: usize| strange[kind] || few && round / 4 % 8 == kind;
            let mut half = || dice.below(2) == 0;
            let is_mark = text.starts_with('<');
            let known = pieces.iter().position(|piece| piece == text);
            let id = match known {
                Some(_) if strange(0) && half() => 90_000,
                None if strange(1) && half() => 91_000,
                Some(id) => id as u32,
                None => {
                    pieces.push(text.to_owned());
                    pieces.len() as u32 - 1
                }
            };
            tokens.push(AddedToken {
                text: text.into(),
                id,
                special: text == "<s>" || strange(2) && half(),
                single_word: strange(3) && half(),
                lstrip: strange(4) && (is_mark || odd),
                rstrip: strange(5) && (is_mark || odd),
                normalized: strange(6) && half(),
                ascii_spaces: false,
            });
        }
        // Nothing makes this piece, so that it has to be a text by itself.
        let whole_word = round % 64 == 34 || round % 32 > 29;
        pieces
            .extend((whole_word && !pieces.iter().any(|piece| piece == "▁s")).then(|| "▁s".into()));
        let parts = BpeParts {
            merges: Some(merges),
            bytes: false,
            unknown: Some(pieces.len() as u32),
            fuse_unknown: round % 7 == 6,
            whole_word,
            hf_rules: true,
            ..BpeParts::of_bytes(Vocab::new(pieces.iter().map(String::as_str).chain(["<unk>"])))
        };
        let marks = [Dummy::First, Dummy::Always, Dummy::Given];
        let dummy = if round % 5 == 1 { marks[round / 5 % 3] } else { Dummy::Never };
        let only_missing = round % 15 == 1;
        let split = round % 24 == 23;
        let spaces = Metaspace { dummy, split, only_missing, ..Metaspace::DEFAULT };
        // As in Llama's files, rules of normalization may write them.
        let replace = Rule::Replace { pattern: " ".into(), with: "▁".into(), regex: false };
        let rules = [Rule::Prepend("▁".into()), replace];
        let prepare = match round % 6 {
            0 | 5 => Prepare::new(&rules[usize::from(round % 12 < 6)..], &[]),
            _ => Prepare::new(&[], &[Scheme::Metaspace(spaces)]),
        };
        let prepare = prepare.expect("a front half");
        // Which stretches are trusted would have to be told of normalized text, too.
        let twice = tokens.iter().any(|token| token.normalized);
        let added = Added::new(tokens, prepare.normalizer()).expect("tokens");
        let model = Model::Bpe(Bpe::new(parts).expect("a model"));
        let tokenizer = Tokenizer::new(prepare, added, model, [1 << 14, 1 << 24][round % 2]);
        let mut worker = tokenizer.worker();
        let letters = [
            &OF[usize::from(dice.below(3) > 0)..],
            &[" ", " ", "\n", "\n\n", "\t", "<s>", "😀", "x", "中", "ж"],
        ];
        let letters = letters.concat();
        let texts: Vec<String> = (0..60)
            .map(|number| (0..[2, 9, 40, 400][number % 4]).map(|_| dice.one(&letters)).collect())
            .chain([" s".into(), "▁s".into(), "s".into()])
            .collect();
        let ways = [
            (SpecialPolicy::Parse, None, false),
            (SpecialPolicy::Text, None, false),
            (SpecialPolicy::Parse, Some(Strategy::LongestMatch), false),
            (SpecialPolicy::Parse, None, true),
        ];
        for (specials, strategy, trusts) in ways.clone().into_iter().chain(ways) {
            let request = Request { specials, strategy, ..Request::default() };
            // Short ones are encoded together.
            let short = texts.iter().flat_map(|text| [&**text, "", " a", "가나"]);
            let short: Vec<Input<'_>> =
                short.filter(|text| text.len() < 600).map(Input::from).collect();
            for short in short.chunks(9) {
                let batch = tokenizer.encode_batch(short, &request, 1 + round % 2).expect("ids");
                for (&text, ends) in short.iter().zip(batch.offsets.windows(2)) {
                    let expected = between_tokens(&tokenizer, &request, text, &mut found);
                    let ids = &batch.ids[ends[0] as usize..ends[1] as usize];
                    assert!(ids == expected, "round {round}: {text:?} {ids:?} {expected:?}");
                }
            }
            for text in &texts {
                let mut borders: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
                borders.retain(|_| dice.below(3) == 0);
                let stretches: Vec<(usize, usize)> =
                    borders.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                let input = Input { text, trusted: (trusts && !twice).then_some(&stretches[..]) };
                let expected = between_tokens(&tokenizer, &request, input, &mut found);
                let mut ids = vec![7];
                tokenizer.encode(input, &request, &mut worker, &mut ids).expect("ids");
                assert!(ids[1..] == expected, "round {round}: {input:?} {ids:?} {expected:?}");
                left += usize::from(!odd && text.contains("\n\n") && !text.contains('▁'));
            }
        }
    }
    assert!(found > 100_000 && left > 5_000, "{found} {left}");
}

/// Tokens are found first; then every word by itself, and nothing remembered.
fn between_tokens(
    tokenizer: &Tokenizer,
    request: &Request,
    input: Input<'_>,
    found: &mut usize,
) -> Vec<u32> {
    let (mut ids, mut scratch) = (Vec::new(), Scratch::default());
    let mut way = Way { strategy: request.strategy, ..Way::default() };
    let policy = &request.specials;
    let model = tokenizer.model();
    let prepare = tokenizer.prepare();
    let mut token = |id: u32, ids: &mut Vec<u32>| {
        *found += 1;
        ids.push(id);
    };
    let mut words = |text: &str, place: Place, ids: &mut Vec<u32>| {
        // It has been normalized before.
        let room = &mut jogak::prepare::Written::default();
        let origins = || unreachable!("nobody asks where a word came from");
        let ready = prepare.written(text, place, room, origins)?;
        prepare.for_each(ready, |start, end| {
            let word = &ready.text[start..end];
            let done = model.word(word, &mut way, &mut scratch, ids, &mut Silent);
            done.expect("all has a piece");
        })
    };
    let added = tokenizer.added();
    let done = added.for_each(input, policy, |part| match part {
        Part::Token(id, ..) => {
            token(id, &mut ids);
            Ok(())
        }
        Part::Text(text, place, _) => {
            let mut room = Buffers::default();
            let text = prepare.normalizer().text(text, place, &mut room)?;
            added.for_each_normalized(text.into(), place, policy, |part| match part {
                Part::Token(id, ..) => {
                    token(id, &mut ids);
                    Ok(())
                }
                Part::Text(text, place, _) => words(text, place, &mut ids),
            })
        }
    });
    done.expect("nothing is refused");
    ids
}

/// Texts of many kinds, alone and together, are what their words are, each by itself.
fn check(dice: &mut Dice, model: Bpe, round: usize) {
    let request = Request { specials: SpecialPolicy::default(), ..Request::default() };
    let scheme = [Scheme::Cl100k, Scheme::Gpt2, Scheme::O200k][round % 3].clone();
    let tokenizer = Tokenizer::new(
        Prepare::new(&[], std::slice::from_ref(&scheme)).expect("a front half"),
        Added::new(Vec::new(), &Normalizer::default()).expect("no tokens"),
        Model::Bpe(model),
        [1 << 14, 1 << 17, 1 << 26][round / 3 % 3],
    );
    // Words that come again, words that hardly do, and letters of one kind only.
    let letters = if round % 5 == 3 { &LETTERS[5..9] } else { LETTERS };
    let again: Vec<String> = (0..200).map(|_| dice.word(letters)).collect();
    let texts: Vec<String> = (0..60)
        .map(|number| {
            let mut text = String::new();
            for _ in 0..[1, 3, 40, 400][number % 4] {
                if dice.below(3) > 0 {
                    text.push_str(&again[dice.below(again.len())]);
                } else {
                    text.push_str(&dice.word(letters));
                }
                text.push_str(dice.one(BLANKS));
            }
            text
        })
        .collect();
    let mut worker = tokenizer.worker();
    // Long words of characters that are kept nowhere must not cost more than their bytes.
    for _ in 0..2 {
        let mut ids = Vec::new();
        let text = "\u{20000}😀中".repeat(20_000);
        tokenizer.encode(text.as_str(), &request, &mut worker, &mut ids).expect("bytes");
    }
    for pass in 0..3 {
        for text in &texts {
            let mut ids = vec![7];
            tokenizer
                .encode(text.as_str(), &request, &mut worker, &mut ids)
                .expect("all bytes are pieces");
            let expected = plainly(&tokenizer, &scheme, text);
            assert!(ids[1..] == expected, "round {round}, pass {pass}: {text:?}");
        }
    }
    // Lines, which are encoded many at a time, with their ends and without.
    let lines: Vec<Input<'_>> = texts
        .iter()
        .flat_map(|text| text.split_inclusive('\n').chain(text.split('\n')))
        .map(Input::from)
        .collect();
    let expected: Vec<_> =
        lines.iter().map(|line| plainly(&tokenizer, &scheme, line.text)).collect();
    for threads in 1..3 {
        let batch = tokenizer.encode_batch(&lines, &request, threads).expect("bytes");
        for (ends, expected) in batch.offsets.windows(2).zip(&expected) {
            assert_eq!(batch.ids[ends[0] as usize..ends[1] as usize], **expected);
        }
    }
}
