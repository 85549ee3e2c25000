"""The texts that the benchmark works on: corpora as they are, parts of them, and texts made to be hard.

A name is a file of the folder of corpora, `NAME:N` its first N-th part, `mixed` lines of many
languages in turns, `hello` one short line many times, or `worst-KIND` a megabyte of one kind of
thing. What is made here is the same for everybody, and is kept in the folder of results.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

MIXED = ("en_docs", "ko_nsmc", "code", "cppdocs_ru", "zh_poetry", "cppdocs_ja", "react_tf_ko")
SIZE = 1_000_000  # of a worst case, in bytes
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _drawn(alphabet: str) -> Callable[[], str]:
    """A megabyte of characters of an alphabet, by chance and always the same."""
    return lambda: "".join(random.Random(1).choices(alphabet, k=SIZE // len(alphabet[0].encode())))


WORST: dict[str, Callable[[], str]] = {
    "letter": lambda: "a" * SIZE,
    "letters": _drawn(LETTERS),
    "spaces": lambda: " " * SIZE,
    "digits": _drawn("0123456789"),
    "marks": lambda: "e" + "\u0301" * (SIZE // 2),
    "cjk": _drawn("".join(map(chr, range(0x4E00, 0xA000)))),
}


def corpus(name: str, data: Path, made: Path) -> Path:
    """The file of a text; it may not be there.

    Args:
        name: as above.
        data: the folder of corpora.
        made: where texts that are made here are kept.
    """
    stem, _, part = name.partition(":")
    source, target = data / f"{stem}.txt", made / f"{name.replace(':', '_')}.txt"
    if stem not in ("mixed", "hello") and not stem.startswith("worst-") and not part:
        return source
    if target.is_file():
        return target
    if stem == "mixed":
        if not all((data / f"{each}.txt").is_file() for each in MIXED):
            return source
        text = mixed(data)
    elif stem == "hello":
        text = b"Hello world\n" * 20_000
    elif part:
        if not source.is_file():
            return source
        whole = source.read_bytes()
        text = whole[: whole.rfind(b"\n", 0, len(whole) // int(part)) + 1]
    else:
        text = WORST[stem.removeprefix("worst-")]().encode()
    made.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text)
    return target


def mixed(data: Path) -> bytes:
    """Three lines of each corpus in turns, 20 MB of them."""
    corpora = [(data / f"{name}.txt").read_bytes().splitlines(keepends=True) for name in MIXED]
    lines: list[bytes] = []
    size, at = 0, 0
    while size < 20_000_000 and at + 3 <= min(map(len, corpora)):
        for each in corpora:
            lines += each[at : at + 3]
            size += sum(map(len, each[at : at + 3]))
        at += 3
    return b"".join(lines)
