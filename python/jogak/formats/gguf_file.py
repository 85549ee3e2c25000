"""GGUF files from strangers: the key-value section, read with suspicion; tensors are never looked at.

    file   = "GGUF" version(u32) tensors(u64) keys(u64) entry*   (then tensors, which may be gigabytes)
    entry  = key(text) kind(u32) value
    text   = length(u64) bytes
    array  = kind(u32) length(u64) value*

Versions 2 and 3, in either byte order: the version number, which is small, tells which.

Rule: no meaning is known here. Lengths are compared with what is left of the file before anything is
read, and no more than `LARGEST` bytes are read in all. Every error names the byte.

Source: https://github.com/ggml-org/ggml, ``docs/gguf.md``
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from jogak.errors import FormatError
from jogak.formats.checked import fault, shown
from jogak.formats.files import LARGEST, PathLike
from jogak.spec.record import dataclass

__all__ = ["MAGIC", "Entry", "read_entries"]

MAGIC = b"GGUF"

_TEXT, _ARRAY, _BOOL = 8, 9, 7
#: Kind -> how `struct` calls it, and what it is.
_SCALARS: Mapping[int, tuple[str, str]] = {
    **{0: ("B", "u8"), 1: ("b", "i8"), 2: ("H", "u16"), 3: ("h", "i16"), 4: ("I", "u32")},
    **{5: ("i", "i32"), 6: ("f", "f32"), 7: ("?", "bool"), 10: ("Q", "u64"), 11: ("q", "i64")},
    12: ("d", "f64"),
}
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A value of the file.

    Args:
        kind: what it is: ``u32``, ``f32``, ``bool``, ``text`` and the like; of arrays ``i32[]``.
        value: a number, a flag, a text, or a list of these.
    """

    kind: str
    value: Any


class _Cursor:
    """Reads a file front to back, and never behind its end."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file, self.name = file, name
        self.at = 0
        self.order = "<"
        size = os.fstat(file.fileno()).st_size
        # A pipe has no size; then reading on tells where it ends.
        self.size = size if size else LARGEST
        #: How far is read at most.
        self.last = min(self.size, LARGEST)

    def wrong(self, message: str, at: int | None = None) -> FormatError:
        place = f"byte {self.at if at is None else at}"
        remedy = "" if "whole?" in message else "; is the file whole, and a GGUF file?"
        return fault(self.name, place, f"{place}: {message}{remedy}")

    def check(self, length: int, what: str) -> None:
        left = self.size - self.at
        if length > left:
            raise self.wrong(f"{what} of {length} bytes, but {left} are left; is the file whole?")
        if self.at + length > LARGEST:
            raise self.wrong(
                f"the keys are longer than {LARGEST:,} bytes, which no tokenizer's are"
            )

    def take(self, length: int, what: str) -> bytes:
        # There may be hundreds of thousands of texts.
        if length > self.last - self.at:
            self.check(length, what)
        data = self.file.read(length)
        if len(data) != length:
            raise self.wrong(f"the file ends within {what}; is it whole?")
        self.at += length
        return data

    def number(self, code: str, what: str) -> int:
        data = self.take(struct.calcsize(code), what)
        (value,) = struct.unpack(self.order + code, data)
        return int(value)

    def text(self, what: str) -> str:
        return self.texts(1, what)[0]

    def texts(self, count: int, what: str) -> list[str]:
        length_what = f"the length of {what}"
        length_of = struct.Struct(self.order + "Q").unpack
        texts = []
        for _ in range(count):
            (length,) = length_of(self.take(8, length_what))
            data = self.take(length, what)
            try:
                texts.append(data.decode("utf-8"))
            except UnicodeDecodeError as error:
                at = self.at - length + error.start
                raise self.wrong(f"{what} is not UTF-8 ({error.reason})", at) from None
        return texts

    def scalars(self, kind: int, count: int, what: str) -> list[Any]:
        code, _ = _SCALARS[kind]
        width = struct.calcsize(code)
        start = self.at
        data = self.take(count * width, what)
        if kind == _BOOL and data.strip(b"\0\1"):
            raise self.wrong(f"{what} has a flag that is neither 0 nor 1", start)
        return list(struct.unpack(f"{self.order}{count}{code}", data))

    def skip(self, length: int, what: str) -> None:
        self.check(length, what)
        while length:
            length -= len(self.take(min(length, _CHUNK), what))


def read_entries(path: PathLike, wanted: Callable[[str], bool]) -> dict[str, Entry]:
    """The entries of a file whose keys are wanted.

    Args:
        path: the file.
        wanted: whether a key is of interest; values of others are passed over.

    Raises:
        FormatError: not a GGUF file, another version, a length behind the end, a key that stands twice,
            a kind that there is not; with the byte.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        cursor = _Cursor(file, name)
        magic = cursor.take(4, "the first word")
        if magic != MAGIC:
            raise cursor.wrong(f"found {shown(magic)}; expected {MAGIC!r}", 0)
        version = cursor.take(4, "the version")
        cursor.order = "<" if version[2:] == b"\0\0" else ">"
        (number,) = struct.unpack(cursor.order + "I", version)
        if number not in (2, 3):
            raise cursor.wrong(f"version {number} of GGUF; expected 2 or 3: convert it anew", 4)
        cursor.number("Q", "the number of tensors")
        count = cursor.number("Q", "the number of keys")
        entries: dict[str, Entry] = {}
        seen: set[str] = set()
        for _ in range(count):
            start = cursor.at
            key = cursor.text("a key")
            if key in seen:
                raise cursor.wrong(f"the key {shown(key)} stands twice; expected each once", start)
            seen.add(key)
            entry = _value(cursor, key, wanted(key))
            if entry is not None:
                entries[key] = entry
    return entries


def _value(cursor: _Cursor, key: str, wanted: bool) -> Entry | None:
    what = f"{key!r}" if len(key) <= 80 else f"{key[:77]!r}..."
    start = cursor.at
    kind = cursor.number("I", f"the kind of {what}")
    if kind == _TEXT:
        if wanted:
            return Entry("text", cursor.text(what))
        _skip_text(cursor, what)
        return None
    if kind in _SCALARS:
        (value,) = cursor.scalars(kind, 1, what)
        return Entry(_SCALARS[kind][1], value) if wanted else None
    if kind != _ARRAY:
        raise cursor.wrong(f"{what} is of kind {kind}; expected 0 to 12", start)
    start = cursor.at
    inner = cursor.number("I", f"the kind of {what}")
    length = cursor.number("Q", f"the length of {what}")
    if inner == _TEXT:
        if length * 8 > cursor.size - cursor.at:
            raise cursor.wrong(f"{what} says {length} texts; is the file whole?", start)
        if not wanted:
            for _ in range(length):
                _skip_text(cursor, what)
            return None
        return Entry("text[]", cursor.texts(length, what))
    if inner not in _SCALARS:
        raise cursor.wrong(f"{what} is an array of kind {inner}; expected numbers or texts", start)
    if not wanted:
        cursor.skip(length * struct.calcsize(_SCALARS[inner][0]), what)
        return None
    return Entry(f"{_SCALARS[inner][1]}[]", cursor.scalars(inner, length, what))


def _skip_text(cursor: _Cursor, what: str) -> None:
    cursor.skip(cursor.number("Q", f"the length of {what}"), what)
