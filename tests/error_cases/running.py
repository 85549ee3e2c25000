"""Options, corpora, training, texts and ids: what running a tokenizer, or learning one, tells."""

from __future__ import annotations

import dataclasses
import gzip
import os
import random
from pathlib import Path
from typing import Any

import jogak
from error_cases.case import CHARS, HUGS, Call, tok, write
from error_cases.case import Case as C
from jogak.spec import ScoredBPEModel, Spec, UnigramModel, resolve_pretokenizer

__all__ = ["CASES", "unigram"]


def unigram(pretokenizer: str = "none") -> jogak.Tokenizer:
    """A Unigram tokenizer of two pieces."""
    model = UnigramModel(
        pieces=("a", "aa", "?"), scores=(-1.0, -1.5, 0.0), unknown="?", precision="single"
    )
    return jogak.Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer(pretokenizer)))


def count_file(name: str, content: bytes, **options: Any) -> Call:
    """Counts the words of a file of this content."""

    def call(_: Path) -> object:
        Path(name).write_bytes(content)
        return jogak.count(name, pretokenizer="whitespace", **options)

    return call


def with_threads(_: Path) -> object:
    os.environ["JOGAK_NUM_THREADS"] = "many"
    try:
        return jogak.count(["a"])
    finally:
        del os.environ["JOGAK_NUM_THREADS"]


def interrupted_wordpiece(_: Path) -> object:
    def progress(stage: str, done: int, total: int | None) -> None:
        if stage == "merging":
            raise KeyboardInterrupt

    return jogak.train(HUGS, jogak.WordPiece(vocab_size=11), progress=progress)


def interrupted(_: Path) -> object:
    def progress(stage: str, done: int, total: int | None) -> None:
        if stage == "merging":
            raise KeyboardInterrupt

    return jogak.train(HUGS, CHARS, progress=progress)


def trained_unigram(**options: Any) -> jogak.Tokenizer:
    return jogak.train(["hug pug hugs"] * 9, jogak.Unigram(vocab_size=8), **options)


def interrupted_unigram(_: Path) -> object:
    def progress(stage: str, done: int, total: int | None) -> None:
        if stage == "pruning":
            raise KeyboardInterrupt

    # Long enough that Python is asked in between, which happens every 80 ms.
    source = random.Random(1)
    words = {"".join(source.choices("abcdefghij", k=9)): i for i in range(1, 60_000)}
    return jogak.train(words, jogak.Unigram(vocab_size=1000), progress=progress)


def recipe(**flags: Any) -> jogak.Tokenizer:
    """SentencePiece's flags over five characters."""
    return jogak.train_sentencepiece(
        sentence_iterator=["hug pug hug"], **{"model_type": "bpe", "vocab_size": 9, **flags}
    )


def no_spare_letters(_: Path) -> object:
    """A text that uses every character that could stand for a pair."""
    return jogak.compress(
        "".join(map(chr, range(0x21, 0x590))) + "".join(map(chr, range(0x2400, 0xA000))) + "abab"
    )


def no_unknown() -> jogak.Tokenizer:
    return jogak.train(HUGS, dataclasses.replace(CHARS, unknown=None))


#: Needs exponentially many steps where no b follows, and says so instead.
STUCK = r"(?:a|a)*(?!x)b|a"

CASES = [
    C("texts for files", jogak.ConfigError, lambda _: tok().encode_files(["no file", "text"]),
      ("encode_files reads files", "go to encode_batch")),
    # --- options: what was found, what is accepted
    C("a choice", jogak.ConfigError, lambda _: jogak.BPE(ties="coin"),
      ("ties is 'coin'", "expected one of", "'first-seen'")),
    C("a number", jogak.ConfigError, lambda _: jogak.BPE(num_merges=-1),
      ("num_merges is -1", "expected at least 0")),
    C("options together", jogak.ConfigError,
      lambda _: jogak.BPE(marker="byte-level", byte_fallback=True),
      ("byte_fallback is for alphabets",)),
    C("model", jogak.ConfigError, lambda _: jogak.train(HUGS, "bpe"),
      ("model is 'bpe'", "expected one of jogak.BPE")),
    C("vocab_size", jogak.ConfigError,
      lambda _: jogak.train(HUGS, jogak.BPE(vocab_size=3, marker="none")),
      ("vocab_size is ", "expected at least ", "7 for the alphabet"), variant="core.Config"),
    C("pattern", jogak.ConfigError, lambda _: jogak.count(["a"], pretokenizer=jogak.Split("(a")),
      ('the pattern "(a" is no regular expression', "docs.rs/fancy-regex"), variant="core.Pattern"),
    C("reading counted words", jogak.ConfigError, lambda _: jogak.count({"a": 1}, field="x"),
      ("field is for files", "leave it out")),
    C("corpus", jogak.ConfigError, lambda _: jogak.count(5), ("corpus is of type int", "expected")),
    C("threads", jogak.ConfigError, with_threads,
      ("JOGAK_NUM_THREADS is 'many'", "expected a number of threads")),
    C("progress", jogak.ConfigError, lambda _: jogak.count(["a"], progress="yes"),
      ("progress is 'yes'", "expected True, False or a function")),
    C("dropout", jogak.ConfigError, lambda _: tok().encode("hug", dropout=2),
      ("dropout is 2", "expected a probability from 0 to 1")),
    C("strategy", jogak.ConfigError, lambda _: tok().encode("hug", strategy="best"),
      ("strategy is \"best\"", "expected 'merges'")),
    C("special", jogak.ConfigError, lambda _: tok().encode("hug", special="no"),
      ("special is 'no'", "expected 'text', 'parse' or 'error'")),
    C("padding", jogak.ConfigError, lambda _: tok().encode_batch(["hugs", ""]).pad(0, length=1),
      ("text 0 has 2 ids", "length is 1", "cut the texts first")),
    C("resizing", jogak.ConfigError, lambda _: tok().resized(2),
      ("size is 2", "expected 7 (alphabet", "to 10 (all merges)")),
    C("a shorter log", jogak.ConfigError, lambda _: tok().training.truncated(9),
      ("num_merges is 9", "expected a whole number from 0 to 3")),
    C("compression", jogak.ConfigError, no_spare_letters,
      ("step 1 finds no character", "stop earlier with max_steps=0")),
    # --- corpora: file, line, byte
    C("no such file", jogak.CorpusError, lambda _: jogak.count("absent.txt"),
      ("'absent.txt': no such file", "pass [text]"), {"file": "absent.txt", "line": None, "byte": None}),
    C("broken UTF-8", jogak.CorpusError, count_file("a.txt", b"fine\nbro\xffken\n"),
      ("a.txt, line 2, byte 8", "broken UTF-8 (ff", 'errors="replace"', 'errors="skip"'),
      {"file": "a.txt", "line": 2, "byte": 8}, variant="problem.Utf8"),
    C("surrogate", jogak.CorpusError,
      count_file("a.jsonl", b'{"text": "\\ud800"}', field="text"),
      ("a.jsonl, line 1", "half of a surrogate pair", 'errors="replace"'),
      {"file": "a.jsonl", "line": 1}, variant="problem.Surrogate"),
    C("no JSON", jogak.CorpusError, count_file("a.jsonl", b'{"text": "a"}\nnone', field="text"),
      ("a.jsonl, line 2", "expected one JSON object per line", 'errors="skip"'),
      {"file": "a.jsonl", "line": 2, "byte": 14}, variant="problem.Json"),
    C("no field", jogak.CorpusError, count_file("a.jsonl", b'{"body": "a"}', field="text"),
      ('no field "text"', 'found "body"', 'errors="skip"'),
      {"file": "a.jsonl", "line": 1, "byte": 0}, variant="problem.NoField"),
    C("no column", jogak.CorpusError, count_file("a.csv", b"id,body\n1,a\n", column="text"),
      ('no column "text"', 'the header has "id", "body"', "name one of these"),
      {"file": "a.csv", "line": 1, "byte": 0}, variant="problem.NoColumn"),
    C("columns", jogak.CorpusError, count_file("a.tsv", b"id\tbody\n1\n", column="body"),
      ("1 columns where the header has 2", 'errors="skip"'),
      {"file": "a.tsv", "line": 2, "byte": 8}, variant="problem.Columns"),
    C("damaged gzip", jogak.CorpusError, count_file("a.gz", gzip.compress(b"words " * 99)[:-9]),
      ("a.gz: the gzip data is cut off or damaged", "fetch or compress the file again"),
      {"file": "a.gz", "line": None}, variant="corpus.Read"),
    C("a document from memory", jogak.CorpusError, lambda _: jogak.count([b"a", b"b\xff"]),
      ("document 1, byte 1: broken UTF-8",), {"file": None, "line": None, "byte": 1},
      variant="corpus.Document"),
    C("a pattern that gives up on a corpus", jogak.CorpusError,
      lambda _: jogak.count(["fine", "a" * 50], pretokenizer=jogak.Split(STUCK)),
      ("in the text from", "gave up at byte 0", "two parts cannot match the same characters"),
      {"file": None, "line": None, "byte": 0}, variant="corpus.Core"),
    C("too many words", jogak.CorpusError,
      lambda _: jogak.Counts.from_dict({"a": 2**63, "b": 2**63}),
      ("the sum of all counts would pass 18446744073709551615", "divide all counts"),
      variant="core.CountOverflow"),
    C("too many symbols", jogak.CorpusError, lambda _: jogak.train({"abc": 2**63}, CHARS),
      ("symbols in the corpus would pass", "divide all counts"), variant="core.CountOverflow"),
    # --- training
    C("Ctrl-C", jogak.TrainingInterrupted, interrupted,
      ("training was stopped after 3 merges", "the exception's .tokenizer")),
    # --- texts and ids
    C("a pattern that gives up", jogak.EncodeError,
      lambda _: tok(pretokenizer=jogak.Split(STUCK)).encode("a" * 50),
      ("gave up at byte 0 of the text", "two parts cannot match the same characters"),
      variant="core.PatternGaveUp"),
    C("no piece", jogak.EncodeError, lambda _: no_unknown().encode("hut"),
      ('no piece covers "t"', "no unknown piece", 'train with unknown="<unk>"'),
      variant="core.NotCovered"),
    C("no piece in a batch", jogak.EncodeError, lambda _: no_unknown().encode_batch(["hug", "hut"]),
      ('text 1 of the batch: no piece covers "t"', "byte_fallback=True")),
    C("a surrogate", jogak.EncodeError, lambda _: tok().encode("\udc00"),
      ("the text has a surrogate code point", "take it out, or replace it"), variant="core.NoText"),
    C("a surrogate in a batch", jogak.EncodeError,
      lambda _: tok().encode_batch(["a", "조" * 400 + "\udc00"]),
      ("text 1 has a surrogate code point", "take it out, or replace it")),
    C("id of a text", jogak.EncodeError, lambda _: tok().id("hug pug"),
      ("'hug pug' is no piece", "call encode(text)")),
    C("special token", jogak.SpecialTokenError,
      lambda _: tok(special_tokens=["<s>"]).encode("a <s>", special="error"),
      ('the special token "<s>" at character 2', 'special="text"', 'special="parse"'),
      variant="core.SpecialInText"),
    C("no place to cut", jogak.EncodeError, lambda _: jogak.train(["a"]).split("a😀", 2),
      ("at character 1", "more than 2 tokens", "let parts have more tokens"), variant="core.NoCut"),
    C("an added token", jogak.ConfigError, lambda _: jogak.AddedToken(""),
      ("AddedToken.text is ''", "expected a text that is not empty")),
    C("an id", jogak.DecodeError, lambda _: tok().decode([0, 99]),
      ("id 99 (at position 1) stands for no piece", "ids below 11", "another tokenizer?"),
      variant="core.UnknownId"),
    C("how to decode", jogak.ConfigError, lambda _: tok().decode([0], errors="drop"),  # type: ignore[arg-type]  # wrong on purpose
      ("errors is 'drop'", "expected 'replace' or 'strict'")),
    C("how many ways", jogak.ConfigError, lambda _: unigram().nbest("aa", 0),
      ("n is 0", "expected a whole number, at least 1")),
    C("no id", jogak.DecodeError, lambda _: tok().decode(["a"]),
      ("ids must be whole numbers from 0 to 4294967295",)),
    C("the piece of no id", jogak.DecodeError, lambda _: tok().piece(99),
      ("id 99 stands for no piece", "ids are below 11")),
    # --- parts of a spec
    C("a log that cannot be", jogak.ConfigError,
      lambda _: dataclasses.replace(tok().training, stop="bored"),
      ("stop is 'bored'", "expected one of 'num-merges'")),
    C("a special token without a text", jogak.ConfigError,
      lambda _: tok(special_tokens={"<s>": -1}),
      ("special token '<s>' has the id -1", "expected 0 or more")),
    C("a special token elsewhere", jogak.ConfigError,
      lambda _: dataclasses.replace(tok().spec, special_tokens={"<s>": 0}),
      ("special token '<s>' says id 0", "the two must agree")),
    C("a marker", jogak.ConfigError, lambda _: jogak.Marker("suffix", " "),
      ("marker text is ' '", "expected characters that are not white space")),
    C("a pre-tokenizer", jogak.ConfigError, lambda _: jogak.count(["a"], pretokenizer="word"),
      ("pretokenizer 'word' is not known", "expected one of", "jogak.Split(pattern)")),
    C("a normalizer", jogak.ConfigError, lambda _: jogak.normalize("a", "magic"),
      ("normalizer 'magic' is not known", "expected one of", "jogak.Replace")),
    C("a charsmap", jogak.FormatError, lambda _: jogak.normalize("a", jogak.Charsmap(b"\1")),
      ("the normalization rules are broken at byte 0", "it ends after 1 bytes"),
      {"place": "byte 0"}, variant="core.Charsmap"),
    C("a rule", jogak.FormatError,
      lambda path: jogak.read_rules(write(path / "a.tsv", "41\t42\nxyz\t42\n")),
      ("a.tsv", "line 2", "xyz", "is no character's number in hexadecimal"), {"place": "line 2"}),
    C("too many rules", jogak.ConfigError,
      lambda _: jogak.rules_of(jogak.compile_rules({"a": "", "b": ""}), limit=1),
      ("the charsmap has more than 1 rules", "limit=")),
    C("a criterion", jogak.ConfigError, lambda _: jogak.WordPiece(min_pair_count="all"),  # type: ignore[arg-type]  # wrong on purpose
      ("min_pair_count is 'all'", "expected")),
    C("WordPiece behind metaspace", jogak.ConfigError,
      lambda _: jogak.train(HUGS, jogak.WordPiece(), pretokenizer="metaspace"),
      ("metaspace", 'marker="prefix"')),
    C("WordPiece interrupted", jogak.TrainingInterrupted, interrupted_wordpiece,
      ("stopped after", ".tokenizer")),
    # --- Unigram
    C("an option of Unigram", jogak.ConfigError, lambda _: jogak.Unigram(shrinking_factor=2),
      ("shrinking_factor is 2", "expected a number above 0 and below 1")),
    C("Unigram with one text twice over", jogak.ConfigError,
      lambda _: jogak.train(["a b"], jogak.Unigram(user_defined=("<s>",)), special_tokens=["<s>"]),
      ("'<s>' is both a special token and user-defined", "choose one")),
    C("Ctrl-C in Unigram", jogak.TrainingInterrupted, interrupted_unigram,
      ("training was stopped after", "the exception's .tokenizer")),
    C("a log of Unigram", jogak.ConfigError,
      lambda _: dataclasses.replace(trained_unigram().training, stop="bored"),
      ("stop is 'bored'", "expected one of")),
    # --- SentencePiece's flags
    C("an unknown flag", jogak.ConfigError, lambda _: recipe(vocab_sise=9),
      ("vocab_sise is no flag", "did you mean vocab_size?")),
    C("a flag that is refused", jogak.ConfigError,
      lambda _: recipe(enable_differential_privacy=True),
      ("enable_differential_privacy is a flag that jogak does not have", "leave it out")),
    C("ids that collide", jogak.ConfigError, lambda _: recipe(pad_id=0),
      ("pad_id and unk_id are both 0", "an id of its own")),
    C("a vocabulary that is too small", jogak.ConfigError, lambda _: recipe(vocab_size=6),
      ("vocab_size is 6", "5 characters in the alphabet", "3 special pieces", "give at least 8")),
    C("a vocabulary that is too large", jogak.ConfigError, lambda _: recipe(vocab_size=99),
      ("vocab_size is 99", "no more than 13 pieces", "give vocab_size=13 or less",
       "hard_vocab_limit=False")),
    C("no line to learn from", jogak.CorpusError,
      lambda _: jogak.train_sentencepiece(sentence_iterator=[""]), ("has no line to learn from",)),
    C("no input file", jogak.CorpusError, lambda _: jogak.train_sentencepiece(input="absent.txt"),
      ("absent.txt: no such file",), {"file": "absent.txt"}),
    C("scores", jogak.ConfigError, lambda _: UnigramModel(pieces=("a", "b"), scores=(0.0,)),
      ("1 scores for 2 pieces", "expected one for each")),
    C("scores of merges", jogak.ConfigError,
      lambda _: ScoredBPEModel(pieces=("a",), scores=(), merges=None),
      ("0 scores for 1 pieces", "expected one for each")),
    C("no way to cut", jogak.EncodeError, lambda _: unigram().score("aa", [0, 1]),
      ("of 2 ids only the first 1 fit", "that encode or nbest gave"), variant="core.NoSegmentation"),
]  # fmt: skip
