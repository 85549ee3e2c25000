"""What a case is, and the calls that many of them make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jogak
from jogak import errors

__all__ = ["CHARS", "HUGS", "Call", "Case", "load_file", "tok", "write"]

Call = Callable[[Path], object]

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
    call: Call
    words: tuple[str, ...]
    place: dict[str, Any] = field(default_factory=dict)
    variant: str | None = None


def tok(**options: Any) -> jogak.Tokenizer:
    return jogak.train(HUGS, CHARS, **options)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def load_file(name: str, content: bytes, **options: Any) -> Call:
    """Loads a tokenizer from a file of this content."""

    def call(_: Path) -> object:
        Path(name).write_bytes(content)
        return jogak.load(name, **options)

    return call
