"""jogak's own files, and those of the families that it trains: their name, and the place in them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jogak
from error_cases.case import CHARS, Call, load_file, tok
from error_cases.case import Case as C
from error_cases.running import unigram
from error_cases.vocabularies import RANKS
from jogak import formats
from jogak.formats import files
from jogak.formats.family import Probe
from jogak.spec import DecodeFuse, DecoderStage, DecodeSentencePiece

__all__ = ["CASES"]


def load_changed(old: str, new: str) -> Call:
    """Loads a tokenizer that was saved, after a change in the file."""

    def call(_: Path) -> object:
        tok().save("tok.json")
        saved = Path("tok.json").read_text(encoding="utf-8")
        assert saved.count(old) == 1, saved
        Path("tok.json").write_text(saved.replace(old, new), encoding="utf-8")
        return jogak.load("tok.json")

    return call


def load_two(vocab: str, merges: str, **options: Any) -> Call:
    """Loads vocab.json and merges.txt."""

    def call(folder: Path) -> object:
        Path("vocab.json").write_text(vocab, encoding="utf-8")
        Path("merges.txt").write_text(merges, encoding="utf-8")
        return jogak.load(folder, **options)

    return call


def load_counts(content: str) -> Call:
    def call(_: Path) -> object:
        jogak.count(["a b"], pretokenizer="whitespace").save("a.counts")
        header, *rest = Path("a.counts").read_text(encoding="utf-8").split("\n")
        Path("a.counts").write_text(
            content.format(header=header, rest="\n".join(rest)), encoding="utf-8"
        )
        return jogak.Counts.load("a.counts")

    return call


def grows_too_large(folder: Path) -> object:
    Path("large").write_bytes(b"{" + b" " * 100)
    return files.read_bytes("large", limit=50)


def load_ranks(folder: Path) -> object:
    """A rank file that is none of the published ones."""
    return load_file("a.tiktoken", RANKS)(folder)


def lone_surrogate(_: Path) -> object:
    spec = tok().spec
    pieces = ("\ud800", *spec.model.pieces[1:])
    model = dataclasses.replace(spec.model, pieces=pieces, merges=())
    return formats.write("a.json", dataclasses.replace(spec, model=model))


def load_edited(edit: Callable[[Any], object]) -> Call:
    """Loads a tokenizer that was saved, after an edit of its data."""

    def call(folder: Path) -> object:
        tok().save("tok.json")
        data = json.loads(Path("tok.json").read_text(encoding="utf-8"))
        edit(data)
        return load_file("tok.json", json.dumps(data).encode())(folder)

    return call


def with_decoder(name: str, stage: DecoderStage) -> Call:
    """Saves a tokenizer that has a decoder of its own; the name tells the format."""

    def call(_: Path) -> object:
        # Words uncut, as a .model has them.
        base = unigram("metaspace").spec
        whole = dataclasses.replace(base.pretokenizer[0], split=False)  # type: ignore[call-arg]  # it is a Metaspace
        spec = dataclasses.replace(base, pretokenizer=(whole,), decoder=(stage,))
        format = "sentencepiece" if name.endswith(".model") else "tokenizer-json"
        return jogak.Tokenizer(spec).save(name, format=format)

    return call


def unigram_with_score(folder: Path) -> object:
    """Loads a Unigram tokenizer after an edit of its file."""
    unigram().save("a.json")
    data = json.loads(Path("a.json").read_text(encoding="utf-8"))
    data["spec"]["model"]["unknown_score"] = "high"
    return load_file("a.json", json.dumps(data).encode())(folder)


CASES = [
    C("format", jogak.ConfigError, lambda _: tok().save("a", format="xml"),
      ("format is 'xml'", "expected one of", "'jogak'")),
    C("files that do not say all", jogak.ConfigError,
      lambda _: tok().save("here", format="vocab-merges") or jogak.load("here"),
      ("do not say how the border of words is marked", "say it: marker=")),
    C("a rank file without words", jogak.ConfigError, load_ranks,
      ("does not say how text is cut into words", 'pretokenizer="cl100k"')),
    C("a probe that is no text", jogak.ConfigError,
      lambda _: formats.write("a.json", tok().spec, None, [Probe("\ud800", (0,))]),
      ("cannot be saved", "without lone surrogates")),
    C("half a character in a piece", jogak.ConfigError, lone_surrogate,
      ("the piece of id 0 is ", "has a lone surrogate", "expected Unicode text")),
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
    C("a rank", jogak.FormatError, load_file("a.tiktoken", b"AA== 0\n?\n", format="tiktoken"),
      ("a.tiktoken: line 2", "expected"), {"file": "a.tiktoken", "place": "line 2"}),
    C("a file of counts", jogak.FormatError, load_counts("{header}\n1\tone\n"),
      ("a.counts", "line 2"), {"file": "a.counts", "place": "line 2"}),
    C("a pre-tokenizer of counts", jogak.FormatError,
      load_counts('{{"jogak":"counts","version":1,"pretokenizer":[{{"type":"nonsense"}}],'
                  '"order":"canonical","words":0,"total":0}}\n'),
      ("a.counts, line 1", "'nonsense'"), {"file": "a.counts", "place": "line 1"}),
    C("merges without a list", jogak.UnsupportedFeature,
      lambda _: tok(special_tokens=["<s>"]).save("a", format="tiktoken"),
      ("a .tiktoken file cannot say",)),
    C("pieces with spaces", jogak.UnsupportedFeature,
      lambda _: jogak.train({"a b": 2}, CHARS, pretokenizer="none").save("a", format="vocab-merges"),
      ("merges.txt: merge 0", "can only say pieces without spaces")),
    C("a model cut off", jogak.FormatError, load_file("a.model", b"\x0a\x05", format="sentencepiece"),
      ("a.model: byte 2", "says 5 bytes, but 0 are left", "is the file whole?"),
      {"file": "a.model", "place": "byte 2"}),
    C("no model", jogak.FormatError, load_file("a.model", b"\x30\x01", format="sentencepiece"),
      ("a.model: no pieces", "expected a SentencePiece model"), {"file": "a.model"}),
    C("a model without an unknown piece", jogak.FormatError,
      load_file("a.model", b"\x0a\x03\x0a\x01a", format="sentencepiece"),
      ("a.model: 0 pieces of type UNKNOWN", "expected one"), {"file": "a.model", "place": "pieces"}),
    C("a model of words with spaces", jogak.UnsupportedFeature,
      load_file("a.model", b"\x0a\x05\x0a\x01a\x18\x02\x12\x02\x18\x03\x1a\x02\x28\x00",
                format="sentencepiece"),
      ("a.model: the model has remove_extra_whitespaces=true and escape_whitespaces=false",
       "Set escape_whitespaces to true")),
    C("a field that is not known", jogak.UnsupportedFeature,
      load_file("a.model", b"\x0a\x05\x0a\x01a\x18\x02\x7a\x01x", format="sentencepiece"),
      ("a.model: the model has fields of the model that are not known", "open it with read_model")),
    C("another way back", jogak.UnsupportedFeature, with_decoder("a.model", DecodeFuse()),
      ("a.model: a SentencePiece model cannot say the decoder", "decoder=None")),
    C("a denormalizer", jogak.UnsupportedFeature,
      with_decoder("tokenizer.json", DecodeSentencePiece(charsmap=jogak.compile_rules({"a": "b"}).data)),
      ("tokenizer.json cannot say a denormalizer", "decoder=None")),
    C("a score that is none", jogak.FormatError, unigram_with_score,
      ("spec.model.unknown_score is 'high'", "expected a number or null")),
    C("words that SentencePiece cannot cut", jogak.UnsupportedFeature,
      lambda _: unigram("gpt2").save("a.model", format="sentencepiece"),
      ("cannot say the pre-tokenizer", "save as the native format")),
]  # fmt: skip
