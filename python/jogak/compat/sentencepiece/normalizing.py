"""What SentencePiece does to a text before it is cut, and which byte each character came from.

::

    text -> user-defined symbols as they are, the rest by the charsmap -> spaces

Rule: the charsmap is applied by `jogak.normalize`; what happens to spaces, and where every character
counts from, stands here, since SentencePiece's places are not those of jogak's normalizers: a character
counts from where its rule began to match, to where the next one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jogak.compat.sentencepiece.messages import characters_at, lengths
from jogak.formats.sentencepiece_model import NormalizerFields
from jogak.normalization import normalize
from jogak.spec import Charsmap

__all__ = ["Normalizing", "is_broken", "normalized", "raw_of", "text_of"]

_MARK = "▁"


@dataclass(frozen=True)
class Normalizing:
    """The rules of a model.

    Args:
        fields: its ``normalizer_spec``.
        kept: texts that are left as they are.
        suffix: a space is added behind the text, not before it.
    """

    fields: NormalizerFields
    kept: tuple[str, ...] = ()
    suffix: bool = False

    @cached_property
    def _charsmap(self) -> Charsmap | None:
        data = self.fields.precompiled_charsmap
        return Charsmap(data, keep=self.kept) if data else None

    @cached_property
    def _kept(self) -> re.Pattern[str] | None:
        texts = sorted(self.kept, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, texts))) if texts else None

    def __call__(self, data: bytes) -> tuple[str, list[int]]:
        """The normalized text; the byte that each character counts from, and the last one's end.

        Nothing at all, not even an end, for a text of nothing but spaces that are taken away.

        >>> Normalizing(NormalizerFields())(b" a  b ")
        ('▁a▁b', [1, 1, 2, 4, 5])
        """
        squeeze, mark = (
            self.fields.remove_extra_whitespaces,
            _MARK if self.fields.escape_whitespaces else " ",
        )
        chunks = list(self._chunks(data))
        first = 0
        while squeeze and first < len(chunks) and chunks[first][0] == " ":
            first += 1
        if first == len(chunks):
            return "", []
        out: list[str] = []
        origin: list[int] = []

        def add(text: str, at: int) -> None:
            out.append(text)
            origin.extend([at] * len(text))

        adds = self.fields.add_dummy_prefix
        if adds and not self.suffix:
            add(mark, chunks[first][1])
        behind_space = squeeze
        for text, at in chunks[first:]:
            rest = text.lstrip(" ") if behind_space else text
            if rest:
                add(rest.replace(" ", mark), at)
                behind_space = rest.endswith(" ")
            if not squeeze:
                behind_space = False
        end = len(data)
        whole = "".join(out)
        size = len(whole)
        while squeeze and size and whole[size - 1] == mark:
            size -= 1
            end = origin[size]
        whole = whole[:size]
        del origin[size:]
        if adds and self.suffix:
            whole += mark
            origin.append(end)
        return whole, [*origin, end]

    def _chunks(self, data: bytes) -> Iterator[tuple[str, int]]:
        """What single rules make of the text, each with the byte where it matched."""
        text = data.decode("utf-8", "surrogateescape")
        byte_at = [0]
        for length in lengths(data):
            byte_at.append(byte_at[-1] + length)
        start = 0
        for match in re.finditer("[\udc80-\udcff]", text):
            yield from self._valid(text[start : match.start()], start, byte_at)
            yield "\ufffd", byte_at[match.start()]
            start = match.end()
        yield from self._valid(text[start:], start, byte_at)

    def _valid(self, text: str, offset: int, byte_at: list[int]) -> Iterator[tuple[str, int]]:
        """The chunks of a text without broken bytes."""
        if self._charsmap is None:
            written = list(zip(text, range(len(text)), range(1, len(text) + 1), strict=True))
        else:
            found = normalize(text, [self._charsmap])
            written = [
                (letter, start, end)
                for letter, (start, end) in zip(found.text, found.spans, strict=True)
            ]
        at, number = 0, 0
        while number < len(written):
            _, start, end = written[number]
            if start > at:  # what is dropped
                yield "", byte_at[offset + at]
            match = self._kept.match(text, start) if self._kept else None
            end = match.end() if match else end
            chunk = ""
            while number < len(written) and written[number][2] <= end:
                chunk += written[number][0]
                number += 1
            yield chunk, byte_at[offset + start]
            at = end
        if at < len(text):
            yield "", byte_at[offset + at]


def normalized(normalizing: Normalizing, input: Any, with_offsets: bool) -> Any:
    """What `Normalize` of a processor and of a normalizer gives."""
    if isinstance(input, list):
        return [_one(normalizing, each, with_offsets) for each in input]
    return _one(normalizing, input, with_offsets)


def _one(normalizing: Normalizing, input: Any, with_offsets: bool) -> Any:
    raw = raw_of(text_of(input))
    text, origin = normalizing(raw)
    in_bytes = isinstance(input, bytes)
    out = text.encode() if in_bytes else text
    if not with_offsets:
        return out
    if in_bytes:
        repeated = [at for at, letter in zip(origin, text, strict=False) for _ in letter.encode()]
        return out, repeated + origin[-1:]
    place = characters_at(raw)
    return out, [place[at] for at in origin] or [0]


def text_of(value: Any) -> str | bytes:
    """The value, if it is a text or bytes; else TypeError, or RuntimeError for half a character."""
    if not isinstance(value, (str, bytes)):
        raise TypeError("Input must be str or bytes")
    if is_broken(value):
        raise RuntimeError(
            "the text has a surrogate code point, which is no character; take it out"
        )
    return value


def is_broken(text: str | bytes) -> bool:
    """Whether a text has half a character."""
    if isinstance(text, bytes) or text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def raw_of(text: str | bytes) -> bytes:
    """A text in bytes."""
    return text.encode() if isinstance(text, str) else text
