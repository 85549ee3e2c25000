"""Files, broken in many ways: bytes, lines, numbers, values of JSON.

Rule: the same random numbers give the same file.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

__all__ = ["mutated"]

#: What readers did not expect.
INTRUDERS: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**32, 2**63, 2**64, 10**80, 0.5, 1e308, -0.0, "", " "),
    *(
        "x",
        "<unk>",
        "\ud800",
        "\u0000",
        "가" * 300,
        [],
        {},
        [[]],
        [None],
        [0] * 500,
        {"type": "BPE"},
    ),
    *({"type": "Sequence"}, {"Regex": "(a*)*b"}, {"Regex": "("}, {"String": ""}),
]
#: Bytes that begin or end something in one format or another.
BYTES = (
    b"\x00",
    b"\xff",
    b"\x80" * 9 + b"\x01",
    b"\xff" * 8,
    b"\n",
    b"\r",
    b" ",
    b'"',
    b"{",
    b"[",
    b"==",
    b"\xef\xbb\xbf",
)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The file, changed in one to four ways."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data = draw.choice(WAYS)(data, draw)
    return data


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _without(data: bytes, draw: random.Random) -> bytes:
    start, end = _stretch(data, draw)
    return data[:start] + data[end:]


def _twice(data: bytes, draw: random.Random) -> bytes:
    start, end = _stretch(data, draw)
    return data[:end] + data[start:end] * draw.choice((1, 1, 3, 50)) + data[end:]


def _flipped(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8))):
        if changed:
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _put_in(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    over = draw.choice((0, 0, 1, 4, 8))
    return data[:at] + draw.choice(BYTES) + data[at + over :]


def _number(data: bytes, draw: random.Random) -> bytes:
    """A number in text becomes another one."""
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data[:200_000]))
    if not found:
        return _flipped(data, draw)
    one = draw.choice(found)
    new = draw.choice((b"0", b"-1", b"1", b"4294967295", b"4294967296", b"1e400", b"9" * 30, b"7"))
    return data[: one.start()] + new + data[one.end() :]


def _lines(data: bytes, draw: random.Random) -> bytes:
    """Two lines change places, or one comes twice."""
    lines = data.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    if draw.random() < 0.5:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines.insert(one, lines[other])
    return b"\n".join(lines)


def _json(data: bytes, draw: random.Random) -> bytes:
    """One value of a JSON file is replaced, left out, doubled or wrapped."""
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return _flipped(data, draw)
    parent, key = None, None
    value = root
    while isinstance(value, (dict, list)) and value and (parent is None or draw.random() < 0.85):
        parent = value
        key = draw.choice(list(value)) if isinstance(value, dict) else draw.randrange(len(value))
        value = value[key]
    if parent is None:
        return json.dumps(draw.choice(INTRUDERS)).encode()
    way = draw.randrange(6)
    if way == 0:
        del parent[key]
    elif way == 1 and isinstance(parent, list):
        parent.append(value)
    elif way == 2:
        parent[key] = [value]
    elif way == 3:
        parent[key] = {"type": "Sequence", "pretokenizers": [value], "normalizers": [value],
                       "processors": [value], "decoders": [value]}  # fmt: skip
    elif way == 4 and isinstance(parent, dict):
        parent[draw.choice(("type", "id", "extra", "vocab"))] = value
    else:
        parent[key] = draw.choice(INTRUDERS)
    return json.dumps(root).encode()


def _stretch(data: bytes, draw: random.Random) -> tuple[int, int]:
    start = draw.randrange(len(data) + 1)
    return start, min(len(data), start + draw.choice((1, 2, 4, 8, 16, 100, 1000)))


WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_cut, _without, _twice, _flipped, _flipped, _put_in, _number, _lines, _json, _json, _json),
)
