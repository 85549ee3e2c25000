"""A WordPiece file from a stranger: whatever is in it, the answer is a tokenizer or an error."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from test_hostile_files import INTRUDERS, read_or_refuse

import jogak
from jogak.errors import ConfigError, FormatError
from jogak.formats import Probe, native

TOK = jogak.train(
    {"hug": 10, "pug": 5, "#": 2},
    jogak.WordPiece(vocab_size=12, max_piece_length=2, alphabet_size=9),
    pretokenizer="whitespace",
    special_tokens=["[UNK]"],
)
DATA = native.dumps(TOK.spec, TOK.training, (Probe("hug", tuple(TOK.encode("hug"))),))


def edits() -> list[tuple[Any, ...]]:
    """The path of every value in the file, but the whole."""
    found: list[tuple[Any, ...]] = []
    stack: list[tuple[tuple[Any, ...], Any]] = [((), json.loads(DATA))]
    while stack:
        path, value = stack.pop()
        found += [path] if path else []
        children = value.items() if isinstance(value, dict) else ()
        children = enumerate(value) if isinstance(value, list) else children
        stack += [((*path, key), child) for key, child in children]
    return found


def edited(path: tuple[Any, ...], intruder: Any) -> bytes:
    data = json.loads(DATA)
    parent = data
    for step in path[:-1]:
        parent = parent[step]
    if intruder is Ellipsis:
        del parent[path[-1]]
    else:
        parent[path[-1]] = copy.deepcopy(intruder)
    return json.dumps(data).encode()


def test_it_comes_back() -> None:
    """Spec and log are those that were written."""
    loaded = native.read(DATA)
    assert (loaded.spec, loaded.training) == (TOK.spec, TOK.training)
    assert read_or_refuse(DATA)


def test_every_value_replaced() -> None:
    """Refused, or read so that nothing was ignored; what is read can be compiled and used."""
    for path in edits():
        for intruder in INTRUDERS:
            data = edited(path, intruder)
            if read_or_refuse(data):
                try:
                    tok = jogak.Tokenizer(native.read(data).spec)
                except ConfigError:
                    continue
                assert tok.decode(tok.encode("hug # pug")) is not None


def test_every_field_left_out() -> None:
    """No field has a default."""
    optional = {("spec", "special_tokens", "[UNK]")}
    for path in edits():
        if isinstance(path[-1], str) and path not in optional:
            assert not read_or_refuse(edited(path, ...)), path


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("spec", "model", "type"), "wordlevel", "spec.model.type"),
        (("spec", "model", "max_chars_per_word"), -1, "spec.model.max_chars_per_word"),
        (("spec", "model", "unknown"), "<unk>", "spec.model"),
        (("spec", "model", "pieces", 3), "[UNK]", "spec.model.pieces[3]"),
        (("spec", "model", "marker", "kind"), "suffix", "spec.model"),
        (("training", "left_counts", 0), 0, "training"),
        (("training", "left_counts"), [], "training"),
        (("training", "config", "min_pair_count"), "some", "training"),
    ],
)
def test_errors_name_the_place(path: tuple[Any, ...], value: Any, place: str) -> None:
    """The error says where."""
    with pytest.raises(FormatError) as caught:
        native.read(edited(path, value))
    assert (caught.value.place or "").startswith(place)
