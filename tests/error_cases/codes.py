"""subword-nmt's codes with a vocabulary and glossaries: what is wrong in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jogak
from error_cases.case import Call, load_file
from error_cases.case import Case as C
from jogak.spec import CodesModel, Marker

__all__ = ["CASES"]

CODES = b"#version: 0.2\na b</w>\n"


def codes(content: bytes = CODES, **options: Any) -> Call:
    return load_file("codes", content, format="subword-nmt", **options)


def broken_vocabulary(_: Path) -> object:
    Path("vocab").write_text("ab 3\nab\n", encoding="utf-8")
    return codes(vocabulary="vocab")(_)


def explained(_: Path) -> object:
    Path("codes").write_bytes(CODES)
    return jogak.load("codes", vocabulary=["ab"]).explain("ab")


def native_with_groups(_: Path) -> object:
    Path("codes").write_bytes(CODES)
    jogak.load("codes", glossaries=["USA"]).save("mine.jogak.json")
    data = Path("mine.jogak.json").read_bytes().replace(b'["USA"]', b'["(U)"]')
    return load_file("mine.jogak.json", data)(_)


CASES = [
    C("a vocabulary with a broken line", jogak.FormatError, broken_vocabulary,
      ("vocab: line 2 is 'ab'", "expected a piece, a space and how often it occurs"),
      {"file": "vocab", "place": "line 2"}),
    C("a threshold without counts", jogak.ConfigError,
      codes(vocabulary=["ab"], vocabulary_threshold=3),
      ("vocabulary_threshold", "pieces alone", "give the file, or a mapping")),
    C("a vocabulary for version 0.1", jogak.UnsupportedFeature,
      codes(b"a </w>\n", vocabulary=["a"]),
      ("version 0.1 with a vocabulary", "learn the codes again with 0.2")),
    C("a glossary with a group", jogak.UnsupportedFeature, codes(glossaries=["x(a)"]),
      ("the glossary 'x(a)' has a group", "character 1", "write (?:...)")),
    C("a glossary that is none", jogak.ConfigError, codes(glossaries=["("]),
      ("the glossary '(' is no regular expression", "re.escape")),
    C("a glossary with a group in a native file", jogak.FormatError, native_with_groups,
      ("spec.model.glossaries", "has a group that captures", "write (?:...)")),
    C("a piece that stands for nothing is kept", jogak.ConfigError,
      lambda _: CodesModel(pieces=("a", None), merges=(), kept=(1,),
                           marker=Marker("suffix", symbol="joined")),
      ("kept has the id 1", "expected ids of pieces")),
    C("merges that are undone are not shown", jogak.UnsupportedFeature, explained,
      ("a trace shows merges", "explain the codes loaded without them")),
]  # fmt: skip
