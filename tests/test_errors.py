"""The catalogue of errors: each kind is raised by a real call, and says what a user needs.

Every case names the essential words of its message: what was found, what was expected, what to do.
The catalogue is complete in three ways, which the last tests hold: every exception class, every pair
(module, class) that stands in a ``raise`` of ``python/jogak``, and every variant of the Rust enums.
(`test_cli.py` has the command line, where errors are lines and exit codes.)
"""

from __future__ import annotations

import ast
import dataclasses
import gzip
import json
import os
import pickle
import random
import re
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

import jogak
from jogak import errors, formats
from jogak.formats import files
from jogak.spec import ScoredBPEModel, Spec, UnigramModel, resolve_pretokenizer

ROOT = Path(__file__).resolve().parent.parent
HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
CHARS = jogak.BPE(num_merges=3, marker="none")


@dataclass(frozen=True)
class Case:
    """A call that must fail.

    Args:
        name: the case.
        error: the exact class of the exception.
        call: makes the call; it is given an empty folder and works in it.
        words: stand in the message.
        place: attributes of the exception.
        variant: the Rust error behind it, as ``enum.variant``, if there is one.
    """

    name: str
    error: type[errors.JogakError]
    call: Callable[[Path], object]
    words: tuple[str, ...]
    place: dict[str, Any] = field(default_factory=dict)
    variant: str | None = None


def tok(**options: Any) -> jogak.Tokenizer:
    return jogak.train(HUGS, CHARS, **options)


def unigram(pretokenizer: str = "none") -> jogak.Tokenizer:
    """A Unigram tokenizer of two pieces."""
    model = UnigramModel(
        pieces=("a", "aa", "?"), scores=(-1.0, -1.5, 0.0), unknown="?", precision="single"
    )
    return jogak.Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer(pretokenizer)))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def count_file(name: str, content: bytes, **options: Any) -> Callable[[Path], object]:
    """Counts the words of a file of this content."""

    def call(_: Path) -> object:
        Path(name).write_bytes(content)
        return jogak.count(name, pretokenizer="whitespace", **options)

    return call


def load_file(name: str, content: bytes, **options: Any) -> Callable[[Path], object]:
    """Loads a tokenizer from a file of this content."""

    def call(_: Path) -> object:
        Path(name).write_bytes(content)
        return jogak.load(name, **options)

    return call


def load_changed(old: str, new: str) -> Callable[[Path], object]:
    """Loads a tokenizer that was saved, after a change in the file."""

    def call(_: Path) -> object:
        tok().save("tok.json")
        saved = Path("tok.json").read_text(encoding="utf-8")
        assert saved.count(old) == 1, saved
        Path("tok.json").write_text(saved.replace(old, new), encoding="utf-8")
        return jogak.load("tok.json")

    return call


def load_two(vocab: str, merges: str, **options: Any) -> Callable[[Path], object]:
    """Loads vocab.json and merges.txt."""

    def call(folder: Path) -> object:
        Path("vocab.json").write_text(vocab, encoding="utf-8")
        Path("merges.txt").write_text(merges, encoding="utf-8")
        return jogak.load(folder, **options)

    return call


def load_counts(content: str) -> Callable[[Path], object]:
    def call(_: Path) -> object:
        jogak.count(["a b"], pretokenizer="whitespace").save("a.counts")
        header, *rest = Path("a.counts").read_text(encoding="utf-8").split("\n")
        Path("a.counts").write_text(
            content.format(header=header, rest="\n".join(rest)), encoding="utf-8"
        )
        return jogak.Counts.load("a.counts")

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


def grows_too_large(folder: Path) -> object:
    Path("large").write_bytes(b"{" + b" " * 100)
    return files.read_bytes("large", limit=50)


def load_ranks(folder: Path) -> object:
    """A rank file that is none of the published ones."""
    data = b"".join(b"%s %d\n" % (b64encode(bytes([byte])), byte) for byte in range(256))
    return load_file("a.tiktoken", data)(folder)


def lone_surrogate(_: Path) -> object:
    spec = tok().spec
    pieces = ("\ud800", *spec.model.pieces[1:])
    model = dataclasses.replace(spec.model, pieces=pieces, merges=())
    return formats.write("a.json", dataclasses.replace(spec, model=model))


def load_edited(edit: Callable[[Any], object]) -> Callable[[Path], object]:
    """Loads a tokenizer that was saved, after an edit of its data."""

    def call(folder: Path) -> object:
        tok().save("tok.json")
        data = json.loads(Path("tok.json").read_text(encoding="utf-8"))
        edit(data)
        return load_file("tok.json", json.dumps(data).encode())(folder)

    return call


def no_unknown() -> jogak.Tokenizer:
    return jogak.train(HUGS, dataclasses.replace(CHARS, unknown=None))


#: Needs exponentially many steps where no b follows, and says so instead.
STUCK = r"(?:a|a)*(?!x)b|a"

C = Case
CASES = [
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
    C("format", jogak.ConfigError, lambda _: tok().save("a", format="xml"),
      ("format is 'xml'", "expected one of", "'jogak'")),
    C("files that do not say all", jogak.ConfigError,
      lambda _: tok().save("here", format="vocab-merges") or jogak.load("here"),
      ("do not say how the border of words is marked", "say it: marker=")),
    C("a rank file without words", jogak.ConfigError, load_ranks,
      ("does not say how text is cut into words", 'pretokenizer="cl100k"')),
    C("a native file", jogak.ConfigError, lone_surrogate,
      ("cannot be saved", "spec.model.pieces[0]", "without lone surrogates")),
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
      ("surrogate code point", "take it out, or replace it")),
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
    C("no id", jogak.DecodeError, lambda _: tok().decode(["a"]),
      ("ids must be whole numbers from 0 to 4294967295",)),
    C("the piece of no id", jogak.DecodeError, lambda _: tok().piece(99),
      ("id 99 stands for no piece", "ids are below 11")),
    # --- files: file, place
    C("no format", jogak.FormatError, load_file("a.bin", b"\0\1"),
      ("a.bin: a file of no format that is known", "format=..."), {"file": "a.bin", "place": None}),
    C("no JSON file", jogak.FormatError, load_file("a.json", b"{", format="jogak"),
      ("a.json: line 1, column 2", "expected JSON (is the file whole?)"),
      {"file": "a.json", "place": "line 1, column 2"}),
    C("too large a file", jogak.FormatError, grows_too_large,
      ("longer than 50 bytes", "check that this is the file you mean"),
      {"file": "large", "place": "byte 50"}),
    C("a newer version", jogak.FormatError, load_edited(lambda data: data.update(version=99)),
      ("tok.json: version 99", "written by a newer jogak", "upgrade it"),
      {"file": "tok.json", "place": "version"}),
    C("a wrong probe", jogak.FormatError,
      load_edited(lambda data: data.update(probes=[{"text": "hug", "ids": [0]}])),
      ("tok.json says that 'hug' has the ids [0]", "it gives [9]", "the file was changed"),
      {"file": "tok.json", "place": "probes[0]"}),
    C("an odd list of merges", jogak.FormatError,
      load_edited(lambda data: data["spec"]["model"]["merges"].pop()),
      ("tok.json: spec.model.merges has 5 ids", "expected two for each merge"),
      {"file": "tok.json", "place": "spec.model.merges"}),
    C("a text with two ids", jogak.FormatError,
      load_edited(lambda data: data["spec"]["model"]["pieces"].__setitem__(1, "b")),
      ("spec.model.pieces[1] is 'b'", "expected every text once"),
      {"file": "tok.json", "place": "spec.model.pieces[1]"}),
    C("an unknown model", jogak.FormatError,
      load_edited(lambda data: data["spec"]["model"].update(type="magic")),
      ("spec.model.type is 'magic'", "expected 'bpe'"), {"place": "spec.model.type"}),
    C("an unknown training", jogak.FormatError,
      load_edited(lambda data: data["training"]["config"].update(type="magic")),
      ("config.type is 'magic'", "expected 'bpe'"), {"place": "training"}),
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
    C("a merge", jogak.FormatError,
      load_two('{"a": 0, "b": 1}', "#version: 0.2\na b\n", marker="none", pretokenizer="none"),
      ("merges.txt: line 2 makes 'ab'", "not in the vocabulary", "do the two files belong together"),
      {"place": "line 2"}),
    C("a piece twice", jogak.FormatError, load_file("vocab.txt", b"[UNK]\na\na\n"),
      ("vocab.txt: line 3", "expected every piece once"), {"file": "vocab.txt", "place": "line 3"}),
    C("lower case or not", jogak.ConfigError, load_file("vocab.txt", b"[UNK]\na\n"),
      ("vocab.txt", "say lowercase=True")),
    C("a vocab.txt of BPE", jogak.UnsupportedFeature,
      lambda _: tok().save("a.txt", format="vocab-txt"), ("can only say WordPiece",)),
    C("a criterion", jogak.ConfigError, lambda _: jogak.WordPiece(min_pair_count="all"),  # type: ignore[arg-type]
      ("min_pair_count is 'all'", "expected")),
    C("WordPiece behind metaspace", jogak.ConfigError,
      lambda _: jogak.train(HUGS, jogak.WordPiece(), pretokenizer="metaspace"),
      ("metaspace", 'marker="prefix"')),
    C("WordPiece interrupted", jogak.TrainingInterrupted, interrupted_wordpiece,
      ("stopped after", ".tokenizer")),
    C("a rank", jogak.FormatError, load_file("a.tiktoken", b"AA== 0\n?\n", format="tiktoken"),
      ("a.tiktoken: line 2", "expected"), {"file": "a.tiktoken", "place": "line 2"}),
    C("a file of counts", jogak.FormatError, load_counts("{header}\n1\tone\n"),
      ("a.counts", "line 2"), {"file": "a.counts", "place": "line 2"}),
    C("a pre-tokenizer of counts", jogak.FormatError,
      load_counts('{{"jogak":"counts","version":1,"pretokenizer":[{{"type":"nonsense"}}],'
                  '"order":"canonical","words":0,"total":0}}\n'),
      ("a.counts, line 1", "'nonsense'"), {"file": "a.counts", "place": "line 1"}),
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
    C("merges without a list", jogak.UnsupportedFeature,
      lambda _: tok(special_tokens=["<s>"]).save("a", format="tiktoken"),
      ("a .tiktoken file cannot say",)),
    C("pieces with spaces", jogak.UnsupportedFeature,
      lambda _: jogak.train({"a b": 2}, CHARS, pretokenizer="none").save("a", format="vocab-merges"),
      ("merges.txt: merge 0", "can only say pieces without spaces")),
    C("scores", jogak.ConfigError, lambda _: UnigramModel(pieces=("a", "b"), scores=(0.0,)),
      ("1 scores for 2 pieces", "expected one for each")),
    C("scores of merges", jogak.ConfigError,
      lambda _: ScoredBPEModel(pieces=("a",), scores=(), merges=None),
      ("0 scores for 1 pieces", "expected one for each")),
    C("no way to cut", jogak.EncodeError, lambda _: unigram().score("aa", [0, 1]),
      ("of 2 ids only the first 1 fit", "that encode or nbest gave"), variant="core.NoSegmentation"),
    C("a model cut off", jogak.FormatError, load_file("a.model", b"\x0a\x05", format="sentencepiece"),
      ("a.model: byte 2", "says 5 bytes, but 0 are left", "is the file whole?"),
      {"file": "a.model", "place": "byte 2"}),
    C("no model", jogak.FormatError, load_file("a.model", b"\x30\x01", format="sentencepiece"),
      ("a.model: no pieces", "expected a SentencePiece model"), {"file": "a.model"}),
    C("a model without an unknown piece", jogak.FormatError,
      load_file("a.model", b"\x0a\x03\x0a\x01a", format="sentencepiece"),
      ("a.model: 0 pieces of type UNKNOWN", "expected one"), {"file": "a.model", "place": "pieces"}),
    C("a model of words", jogak.UnsupportedFeature,
      load_file("a.model", b"\x0a\x03\x0a\x01a\x12\x02\x18\x03", format="sentencepiece"),
      ("type 'word'", "this version knows")),
    C("words that SentencePiece cannot cut", jogak.UnsupportedFeature,
      lambda _: unigram("gpt2").save("a.model", format="sentencepiece"),
      ("cannot say the pre-tokenizer", "save as the native format")),
]  # fmt: skip

#: What no test can raise, and why. A case that does raise it must go to `CASES`.
BEYOND_TESTS = {
    "core.TooLarge": "needs 2**32 symbols, 16 GiB of memory; a TrainingError, or a CorpusError",
    "corpus.Cancelled": "what stopped the run is raised in its place (test_what_stops_counting)",
}


def raised(case: Case, folder: Path) -> errors.JogakError:
    with pytest.raises(errors.JogakError) as caught:
        case.call(folder)
    return caught.value


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_catalogue(case: Case, tmp_path: Path) -> None:
    """Class, message and place; one line without what only a programmer knows."""
    error = raised(case, tmp_path)
    assert type(error) is case.error
    told = str(error)
    for word in case.words:
        assert word in told, told
    assert "\n" not in told.split(" is no regular expression")[0]
    for internal in ("Error {", "Some(", "None", "_core", "unwrap", "0x"):
        assert internal not in told
    for name, value in case.place.items():
        found = getattr(error, name)
        assert (os.path.basename(found) if name == "file" and found else found) == value
    if variant := case.variant:
        assert variant not in BEYOND_TESTS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors_are_what_python_expects(case: Case) -> None:
    """``except ValueError`` catches what is wrong with a value, ``except KeyboardInterrupt`` a stop."""
    usual = {errors.TrainingInterrupted: KeyboardInterrupt, errors.UnsupportedFeature: Exception}
    assert issubclass(case.error, (usual.get(case.error, ValueError), errors.JogakError))
    assert getattr(jogak, case.error.__name__) is case.error


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors_cross_processes(case: Case, tmp_path: Path) -> None:
    """A pool of processes pickles exceptions; nothing of them gets lost."""
    error = raised(case, tmp_path)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_interrupted_holds_a_tokenizer(tmp_path: Path) -> None:
    """What was learned so far is complete."""
    case = next(case for case in CASES if case.error is errors.TrainingInterrupted)
    error = raised(case, tmp_path)
    assert isinstance(error, errors.TrainingInterrupted)
    assert error.tokenizer.tokens("hugs") == ["hug", "s"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, LookupError])
def test_what_stops_counting(stop: type[BaseException]) -> None:
    """What a callback raises comes out of counting, not that counting was stopped."""

    def progress(stage: str, done: int, total: int | None) -> NoReturn:
        raise stop("mine")

    with pytest.raises(stop, match="mine"):
        jogak.count(["a"], progress=progress)


# --- the catalogue is complete


def tree(root: type[errors.JogakError]) -> Iterator[type[errors.JogakError]]:
    yield root
    for child in root.__subclasses__():
        yield from tree(child)


def test_every_class_has_a_case() -> None:
    """Each leaf is raised itself; each branch is, or one of its leaves."""
    known = set(tree(errors.JogakError))
    assert {error.__name__ for error in known} == set(errors.__all__)
    for error in known:
        assert any(issubclass(case.error, error) for case in CASES), error
    leaves = {error for error in known if not error.__subclasses__()}
    assert leaves <= {case.error for case in CASES}


def test_every_class_is_drawn_in_the_tree() -> None:
    assert errors.__doc__
    drawn = re.findall(r"^ *[│ ]*[├└]── (\w+)|^    (JogakError)", errors.__doc__, re.MULTILINE)
    assert [a or b for a, b in drawn] == [error.__name__ for error in sorted_tree()]


def sorted_tree() -> list[type[errors.JogakError]]:
    """The classes in the order in which they are defined, which is the order of the drawing."""
    return [error for error in vars(errors).values()
            if isinstance(error, type) and issubclass(error, errors.JogakError)]  # fmt: skip


def variants(path: str, enum: str) -> set[str]:
    """The variants of a Rust enum, as the source has them."""
    source = (ROOT / path).read_text(encoding="utf-8")
    body = re.search(rf"^pub enum {enum} \{{\n(.*?)^\}}", source, re.MULTILINE | re.DOTALL)
    assert body
    return set(re.findall(r"^    ([A-Z]\w*)", body[1], re.MULTILINE))


def test_every_rust_variant_has_a_case() -> None:
    core, corpus = "crates/jogak/src/error.rs", "crates/jogak-corpus/src/error.rs"
    enums = {"core": (core, "Error"), "corpus": (corpus, "Error"), "problem": (corpus, "Problem")}
    expected = {
        f"{name}.{variant}" for name, where in enums.items() for variant in variants(*where)
    }
    assert len(expected) >= 18
    shown = {case.variant for case in CASES if case.variant}
    assert shown.isdisjoint(BEYOND_TESTS)
    assert shown | set(BEYOND_TESTS) == expected


def raising() -> set[tuple[str, str]]:
    """(module, class) for every ``raise`` of a jogak error in python/jogak."""
    found = set()
    package = ROOT / "python" / "jogak"
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).as_posix()
        if module.startswith(("cli/", "reference/")):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            callee = node.exc.func
            name = callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")
            if name in ("fault", "_line_fault", "expected"):  # these make FormatErrors
                name = "FormatError"
            if name in errors.__all__:
                found.add((module, name))
    return found


def test_every_module_that_raises_has_a_case(tmp_path: Path) -> None:
    """The place of each ``raise`` is seen in the traceback, that of an error in its chain too."""
    shown = set()
    for case in CASES:
        error: BaseException | None = raised(case, tmp_path)
        while error is not None:
            if isinstance(error, errors.JogakError):
                last = traceback.extract_tb(error.__traceback__)[-1]
                parts = Path(last.filename).parts
                inside = parts[len(parts) - 1 - parts[::-1].index("jogak") + 1 :]
                shown.add(("/".join(inside), type(error).__name__))
            error = error.__cause__ or error.__context__
    assert raising() - shown == set()
