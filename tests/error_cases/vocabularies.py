"""Files of llama.cpp, Mistral, subword-nmt, and folders of models: what is wrong in them, and where."""

from __future__ import annotations

import dataclasses
import json
import struct
from base64 import b64encode
from pathlib import Path
from typing import Any

import jogak
from error_cases.case import CHARS, HUGS, Call, load_file, tok
from error_cases.case import Case as C
from jogak.spec import ScoredBPEModel, Spec, resolve_pretokenizer

__all__ = ["CASES"]

#: A rank file that is none of the published ones.
RANKS = b"".join(b"%s %d\n" % (b64encode(bytes([byte])), byte) for byte in range(256))


def gguf(**values: str | list[str] | list[int]) -> bytes:
    """A GGUF file with no tensors, and these texts and lists of the tokenizer."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def typed(value: str | list[str] | list[int]) -> bytes:
        if isinstance(value, str):
            return struct.pack("<I", 8) + text(value)
        kind = 5 if value and isinstance(value[0], int) else 8
        items = (text(x) if isinstance(x, str) else struct.pack("<i", x) for x in value)
        return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(items)

    pairs = [text(f"tokenizer.ggml.{key}") + typed(value) for key, value in values.items()]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)


def tekken(size: int = 257, **changes: Any) -> bytes:
    """A tekken file of one special token and the 256 bytes."""
    data = {
        "config": {"pattern": ".+", "default_vocab_size": size, "default_num_special_tokens": 1},
        "vocab": [
            {"rank": byte, "token_bytes": b64encode(bytes([byte])).decode(), "token_str": None}
            for byte in range(256)
        ],
        "special_tokens": [{"rank": 0, "token_str": "<s>", "is_control": True}],
        **changes,
    }
    return json.dumps(data).encode()


def load_folder(*names: str, **options: Any) -> Call:
    """Loads a folder with a tokenizer.json and other files."""

    def call(folder: Path) -> object:
        for name in names:
            if name == "tokenizer.json":
                tok().save(name, format="tokenizer-json")
            elif name == "added_tokens.json":
                Path(name).write_text('{"<new>": 99}', encoding="utf-8")
            else:
                Path(name).write_text("[]", encoding="utf-8")
        return jogak.load(folder, format="model-folder", **options)

    return call


def equal_scores(_: Path) -> object:
    model = ScoredBPEModel(
        pieces=("a", "b", "c", "ab", "bc"), merges=None, scores=(0.0, 0.0, 0.0, -1.0, -1.0)
    )
    made = jogak.Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))
    return made.save("tokenizer.json", format="tokenizer-json")


def with_normalizer(_: Path) -> object:
    model = dataclasses.replace(CHARS, marker=jogak.Marker("suffix", "</w>"))
    trained = jogak.train(HUGS, model, pretokenizer="whitespace", normalizer="nfc")
    return trained.save("codes", format="subword-nmt")


def with_dropout(_: Path) -> object:
    spec = tok().spec
    model = dataclasses.replace(spec.model, dropout=0.5)
    return jogak.Tokenizer(dataclasses.replace(spec, model=model)).save("a", format="vocab-merges")


CASES = [
    # --- subword-nmt
    C("a line of codes", jogak.FormatError,
      load_file("codes", b"#version: 0.2\nl o\nlow\n", format="subword-nmt"),
      ("codes: line 3 is 'low'", "expected two pieces and one space"),
      {"file": "codes", "place": "line 3"}),
    C("codes of another version", jogak.FormatError,
      load_file("codes", b"#version: 3\nl o\n", format="subword-nmt"),
      ("codes: line 1 is '#version: 3'", "expected '#version: 0.1' or"),
      {"file": "codes", "place": "line 1"}),
    C("codes without merges", jogak.FormatError,
      load_file("codes", b"#version: 0.2\n", format="subword-nmt"),
      ("codes: no merges", "expected a line for each"), {"file": "codes", "place": "line 2"}),
    C("so many merges", jogak.ConfigError,
      load_file("codes", b"l o\n", format="subword-nmt", merges=-1),
      ("merges is -1", "expected a whole number, 0 or more")),
    C("an unknown piece that is known", jogak.ConfigError,
      load_file("codes", b"l o\n", format="subword-nmt", unknown="lo"),
      ("codes: unknown='lo' is a piece already", "choose another text")),
    C("codes without an end of words", jogak.UnsupportedFeature,
      lambda _: tok().save("codes", format="subword-nmt"),
      ("codes: a file of codes cannot say the marker 'none'", "save as the native format")),
    C("equal scores in a list", jogak.UnsupportedFeature, equal_scores,
      ("tokenizer.json: the pieces 'ab' and 'bc' have the same score", "a list of merges cannot say",
       "save as the native format")),
    # --- rank files, vocab.json
    C("a scheme", jogak.ConfigError,
      load_file("a.tiktoken", RANKS, format="tiktoken", scheme="cl1OOk"),
      ("scheme 'cl1OOk' is not known", "expected one of", "cl100k_base")),
    C("a normalizer in codes", jogak.UnsupportedFeature, with_normalizer,
      ("codes: a file of codes cannot say a normalizer", "save as the native format",
       "dataclasses.replace(spec, normalizer=())")),
    C("an option in vocab.json", jogak.UnsupportedFeature, with_dropout,
      ("merges.txt: the format cannot say dropout=0.5", "save as the native format")),
    # --- tekken
    C("a tekken file without bytes", jogak.FormatError,
      load_file("tekken.json", tekken(100), format="tekken"),
      ("tekken.json: vocab gives 99 pieces", "expected all 256 bytes"),
      {"file": "tekken.json", "place": "vocab"}),
    C("a special token elsewhere in tekken", jogak.FormatError,
      load_file("tekken.json", tekken(special_tokens=[{"rank": 1, "token_str": "<s>"}]),
                format="tekken"),
      ("special_tokens[0].rank is 1", "expected 0, its place in the list"),
      {"file": "tekken.json", "place": "special_tokens[0].rank"}),
    C("a special token that is a piece", jogak.UnsupportedFeature,
      load_file("tekken.json", tekken(special_tokens=[{"rank": 0, "token_str": "a"}]),
                format="tekken"),
      ("tekken.json: the special token 'a' (id 0) has the text of the piece 98",
       "expected another text")),
    # --- GGUF
    C("a GGUF file cut off", jogak.FormatError, load_file("a.gguf", gguf(model="gpt2")[:-1]),
      ("a.gguf: byte ", "but 3 are left", "is the file whole?"), {"file": "a.gguf"}),
    C("a GGUF file without tokens", jogak.FormatError,
      load_file("a.gguf", gguf(model="gpt2", pre="gpt-2")),
      ("tokenizer.ggml.tokens is not there or empty", "expected texts"), {"file": "a.gguf"}),
    C("a GGUF file with two tokens of a kind", jogak.UnsupportedFeature,
      load_file("a.gguf", gguf(model="gpt2", pre="gpt-2", tokens=["<PRE>", "<|prefix|>"],
                               token_type=[1, 1], merges=[])),
      ("a.gguf: '<PRE>' and '<|prefix|>' are there", "makes one of them a control token")),
    C("a GGUF file without a tokenizer", jogak.FormatError, load_file("a.gguf", gguf()),
      ("a.gguf: the file has no tokenizer",),
      {"file": "a.gguf", "place": "tokenizer.ggml.model"}),
    C("a tokenizer that is none of those of llama.cpp", jogak.UnsupportedFeature,
      load_file("a.gguf", gguf(model="magic")),
      ("a.gguf: a tokenizer of kind 'magic'", "this version reads")),
    C("a GGUF file to write", jogak.UnsupportedFeature,
      lambda _: tok().save("a.gguf", format="gguf"),
      ("a.gguf: GGUF files are read, not written", "save the tokenizer in a format that it reads")),
    # --- folders
    C("an option of a folder", jogak.ConfigError, load_folder("tokenizer.json", pretokenizer="gpt2"),
      ("tokenizer.json in ", "has no option 'pretokenizer'", "it takes: ")),
    C("a folder without a tokenizer", jogak.FormatError, load_folder("config.json"),
      ("the folder has no tokenizer", "expected tokenizer.json, vocab.json and merges.txt")),
    C("a file beside the tokenizer", jogak.FormatError,
      load_folder("tokenizer.json", "special_tokens_map.json"),
      ("special_tokens_map.json: the file is a list of 0", "expected an object"),
      {"file": "special_tokens_map.json"}),
    C("tokens that the tokenizer does not have", jogak.UnsupportedFeature,
      load_folder("tokenizer.json", "added_tokens.json"),
      ("added_tokens.json: the token '<new>' with the id 99 is not known to the tokenizer",
       "give special_tokens=")),
]  # fmt: skip
