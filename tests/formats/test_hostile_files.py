"""Files from strangers: every cut and twist of a valid file is read right or refused with a place.

The mutations are tried in order, with no randomness; steps of a prime length thin them out where every
one would take too long.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from format_cases import TOY_PROBES, toy_log, toy_spec

from jogak import formats
from jogak.errors import ConfigError, FormatError
from jogak.formats import native, tiktoken, vocab_merges
from jogak.formats.bytelevel import ALPHABET, to_bytes

TOY = native.dumps(toy_spec(), toy_log(), TOY_PROBES)

INTRUDERS: list[Any] = [
    None, True, False, 0, 1, -1, 2**32, 2**64, 10**80, 0.5, 1.0, 1e308, "", "x", "ug", "\ud800",
    [], {}, [[]], [None], {"type": "bpe"}, ["a", 1], [0] * 1000,
]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: True is not 1. Whole and decimal numbers may be equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def read_or_refuse(data: bytes) -> bool:
    """Whether the bytes are a native file. If so, then nothing in them was ignored or converted."""
    try:
        loaded = native.read(data)
    except FormatError as error:
        assert str(error)
        return False
    written = native.dumps(loaded.spec, loaded.training, loaded.probes)
    assert same(json.loads(written), json.loads(data)), data
    return True


def edited(edit: Callable[[Any, Any], None], path: tuple[str | int, ...]) -> bytes:
    data = json.loads(TOY)
    parent = data
    for step in path[:-1]:
        parent = parent[step]
    edit(parent, path[-1])
    return json.dumps(data).encode()


def paths() -> list[tuple[str | int, ...]]:
    """The path of every value in the file, but the whole."""
    found = []
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), json.loads(TOY))]
    while stack:
        path, value = stack.pop()
        if path:
            found.append(path)
        if isinstance(value, dict):
            stack += [((*path, key), child) for key, child in value.items()]
        elif isinstance(value, list):
            stack += [((*path, i), child) for i, child in enumerate(value)]
    return found


def test_every_truncation() -> None:
    assert read_or_refuse(TOY)
    assert [end for end in range(len(TOY) - 1) if read_or_refuse(TOY[:end])] == []


def test_every_byte_replaced() -> None:
    for at in range(len(TOY)):
        for byte in b'\x00"9{]\xff':
            read_or_refuse(TOY[:at] + bytes([byte]) + TOY[at + 1 :])


def test_every_byte_left_out() -> None:
    for at in range(len(TOY)):
        read_or_refuse(TOY[:at] + TOY[at + 1 :])


def test_every_value_replaced() -> None:
    for path in paths():
        for intruder in INTRUDERS:

            def put(parent: Any, key: Any, value: Any = intruder) -> None:
                parent[key] = copy.deepcopy(value)

            read_or_refuse(edited(put, path))


def test_every_field_left_out() -> None:
    def drop(parent: Any, key: Any) -> None:
        del parent[key]

    optional = {("spec", "special_tokens", "<unk>")}
    for path in paths():
        if isinstance(path[-1], str) and path not in optional:
            assert not read_or_refuse(edited(drop, path)), path


def test_every_object_with_one_field_more() -> None:
    def add(parent: Any, key: Any) -> None:
        if isinstance(parent[key], dict):
            parent[key]["surprise"] = 0

    for path in paths():
        data = edited(add, path)
        if b"surprise" in data:
            assert not read_or_refuse(data), path


def test_every_key_twice() -> None:
    keys = {path[-1] for path in paths() if isinstance(path[-1], str)}
    for key in keys:
        quoted = json.dumps(key).encode() + b":"
        data = TOY.replace(quoted, quoted + b"0," + quoted)
        assert data != TOY
        with pytest.raises(FormatError, match="stands twice"):
            native.read(data)


# --- foreign files ------------------------------------------------------------------------------

VOCABULARY = json.dumps({text: i for i, text in enumerate([*ALPHABET, "Ġt", "Ġth", "<end>"])})
MERGES = "#version: 0.2\nĠ t\nĠt h\n"
RANKS = b"".join(
    base64.b64encode(to_bytes(text)) + b" %d\n" % i
    for i, text in enumerate([*ALPHABET, "Ġt", "Ġth"])
)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    vocab, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"
    vocab.write_text(VOCABULARY, "utf-8")
    merges.write_text(MERGES, "utf-8")
    return vocab, merges


def test_the_pair_is_valid(pair: tuple[Path, Path]) -> None:
    assert vocab_merges.read(*pair, special_tokens=["<end>"]).model.merges == (
        (32, 116),
        (256, 104),
    )


def test_truncations_of_vocab_json(pair: tuple[Path, Path]) -> None:
    whole = pair[0].read_bytes()
    for end in range(0, len(whole), 13):
        pair[0].write_bytes(whole[:end])
        with pytest.raises(FormatError):
            vocab_merges.read(*pair)


def test_every_truncation_of_merges_txt(pair: tuple[Path, Path]) -> None:
    whole = pair[1].read_bytes()
    for end in range(len(whole)):
        pair[1].write_bytes(whole[:end])
        try:
            vocab_merges.read(*pair)
        except FormatError as error:
            assert error.file == str(pair[1])
            assert error.place is not None
            assert error.place.startswith(("line ", "byte "))


@pytest.mark.parametrize("which", [0, 1])
def test_bytes_of_the_pair_replaced(pair: tuple[Path, Path], which: int) -> None:
    whole = pair[which].read_bytes()
    for at in range(0, len(whole), 31 if which == 0 else 1):
        for byte in b'\x00" \n9\xff':
            pair[which].write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
            try:
                vocab_merges.read(*pair, marker="byte-level")
            except FormatError as error:
                assert error.file in map(str, pair)


def test_bytes_of_a_rank_file_replaced(tmp_path: Path) -> None:
    path = tmp_path / "toy.tiktoken"
    for at in range(0, len(RANKS), 37):
        for byte in b"\x00= \nz9\xff":
            path.write_bytes(RANKS[:at] + bytes([byte]) + RANKS[at + 1 :])
            try:
                tiktoken.read(path, pretokenizer="gpt2")
            except FormatError as error:
                assert error.file == str(path)


def test_truncations_of_a_rank_file(tmp_path: Path) -> None:
    path = tmp_path / "toy.tiktoken"
    for end in range(0, len(RANKS), 7):
        path.write_bytes(RANKS[:end])
        try:
            spec = tiktoken.read(path, pretokenizer="gpt2")
        except FormatError:
            continue
        assert len(spec.model.pieces) >= 256


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00" * 100, b"{", b"{}", b"[1]", b"\xff\xfe", b"#", b"a b c\n", b'{"a":"b"}', b"\n"],
)
def test_anything_else_is_no_tokenizer(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "thing"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="a file of no format that is known"):
        formats.read(path)


def test_ids_far_apart_take_no_memory(pair: tuple[Path, Path], tmp_path: Path) -> None:
    pair[0].write_text(VOCABULARY.replace("258", "4000000000"), "utf-8")
    with pytest.raises(FormatError, match=r"the highest id is 4000000000 for 259 pieces"):
        vocab_merges.read(*pair)
    path = tmp_path / "toy.tiktoken"
    path.write_bytes(RANKS.replace(b" 257", b" 999999999"))
    with pytest.raises(FormatError, match=r"the highest id is 999999999 for 258 pieces"):
        tiktoken.read(path, pretokenizer="gpt2")
    with pytest.raises(ConfigError):
        tiktoken.read(path)
