"""`SentencePieceText`: a text cut into pieces, as a protocol buffer says it.

Rule: fields have the names of ``sentencepiece.proto``. They can be read, compared, hashed and
serialized, not changed. Places are bytes of the text; in the older "immutable" messages they are
characters.

Source: https://github.com/google/sentencepiece, ``src/sentencepiece.proto``
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jogak.formats import protobuf

__all__ = ["NBestSentencePieceText", "SentencePiece", "SentencePieceText"]


@dataclass(frozen=True)
class SentencePiece:
    """One piece of a text.

    Args:
        piece: the piece, as it stands in the vocabulary; of unknown characters the normalized text.
        id: its id.
        surface: what of the text it stands for.
        begin, end: where that is.
    """

    piece: str
    id: int
    surface: str
    begin: int
    end: int

    @property
    def piece_as_bytes(self) -> bytes:
        """The piece in UTF-8, as in releases to 0.2.1."""
        return self.piece.encode()

    @property
    def surface_as_bytes(self) -> bytes:
        """The surface in UTF-8, as in releases to 0.2.1."""
        return self.surface.encode()


@dataclass(frozen=True)
class SentencePieceText:
    """A text and its pieces.

    Args:
        text: the text.
        pieces: its pieces.
        score: how likely they are, in natural logarithms; 0 unless it is one of the n best.
        serialized: the same as the bytes of a protocol buffer.

    >>> SentencePieceText("a", (SentencePiece("▁a", 7, "a", 0, 1),)).pieces[0].id
    7
    """

    text: str = ""
    pieces: Sequence[SentencePiece] = ()
    score: float = 0.0
    serialized: bytes = b""

    def SerializeToString(self) -> bytes:
        """The bytes of the protocol buffer."""
        return self.serialized

    #: Its name in releases to 0.2.1.
    SerializeAsString = SerializeToString


@dataclass(frozen=True)
class NBestSentencePieceText:
    """The likeliest ways to cut a text, best first."""

    nbests: Sequence[SentencePieceText] = ()
    serialized: bytes = b""

    def SerializeToString(self) -> bytes:
        """The bytes of the protocol buffer."""
        return self.serialized

    #: Its name in releases to 0.2.1.
    SerializeAsString = SerializeToString


class _Row(tuple):  # type: ignore[type-arg]  # a bare tuple, as there
    """A row whose slices are lists, as those of a message are."""

    __slots__ = ()

    def __getitem__(self, at: Any) -> Any:
        found = tuple.__getitem__(self, at)
        return list(found) if isinstance(at, slice) else found


@dataclass(frozen=True)
class Part:
    """One piece in bytes: the piece, its id, what it stands for, and where that is."""

    piece: bytes
    id: int
    surface: bytes | None
    begin: int
    end: int


@dataclass(frozen=True)
class Cut:
    """A text cut into pieces, in bytes, whether or not these are UTF-8."""

    text: bytes
    parts: Sequence[Part]
    score: float | None = None

    def serialized(self) -> bytes:
        """As the bytes of a ``SentencePieceText``."""
        out = [protobuf.bytes_field(1, self.text)]
        for part in self.parts:
            fields = [protobuf.bytes_field(1, part.piece), protobuf.int_field(2, part.id)]
            if part.surface is not None:
                fields.append(protobuf.bytes_field(3, part.surface))
            fields += [protobuf.int_field(4, part.begin), protobuf.int_field(5, part.end)]
            out.append(protobuf.bytes_field(2, b"".join(fields)))
        if self.score is not None:
            out.append(protobuf.float_field(3, self.score))
        return b"".join(out)

    def message(self, *, characters: bool = False) -> SentencePieceText:
        """As a message; places are bytes, or characters."""
        place = characters_at(self.text) if characters else range(len(self.text) + 1)
        pieces = _Row(
            SentencePiece(
                part.piece.decode("utf-8", "replace"),
                part.id,
                (part.surface or b"").decode("utf-8", "replace"),
                place[part.begin],
                place[part.end],
            )
            for part in self.parts
        )
        text = self.text.decode("utf-8", "replace")
        score = 0.0 if self.score is None else _single(self.score)
        serialized = self.serialized() if not characters else self._in_characters(place)
        return SentencePieceText(text, pieces, score, serialized)

    def _in_characters(self, place: Sequence[int]) -> bytes:
        parts = [
            Part(part.piece, part.id, part.surface, place[part.begin], place[part.end])
            for part in self.parts
        ]
        return Cut(self.text, parts, self.score).serialized()

    def offset_mapping(self, *, in_bytes: bool) -> dict[str, object]:
        """Ids, pieces and places, as lists."""
        place = range(len(self.text) + 1) if in_bytes else characters_at(self.text)
        pieces = [part.piece for part in self.parts]
        return {
            "ids": [part.id for part in self.parts],
            "pieces": pieces if in_bytes else [piece.decode() for piece in pieces],
            "offsets": [(place[part.begin], place[part.end]) for part in self.parts],
        }


class _Told(Protocol):
    """What can be told as a message."""

    def serialized(self) -> bytes: ...
    def message(self, *, characters: bool = False) -> SentencePieceText: ...


def serialized_ways(ways: Sequence[_Told]) -> bytes:
    """Several ways as the bytes of an ``NBestSentencePieceText``."""
    return b"".join(protobuf.bytes_field(1, way.serialized()) for way in ways)


def message_of_ways(ways: Sequence[_Told], *, characters: bool = False) -> NBestSentencePieceText:
    """Several ways as a message."""
    messages = _Row(way.message(characters=characters) for way in ways)
    serialized = b"".join(protobuf.bytes_field(1, message.serialized) for message in messages)
    return NBestSentencePieceText(messages, serialized)


def characters_at(data: bytes) -> list[int]:
    """For each byte of a text, and for its end, which character it is of.

    What is no UTF-8 counts as a character for each byte.

    >>> characters_at("aé".encode())
    [0, 1, 1, 2]
    """
    places: list[int] = []
    for number, length in enumerate(lengths(data)):
        places += [number] * length
    return [*places, places[-1] + 1 if places else 0]


def lengths(data: bytes) -> Iterator[int]:
    """The bytes of each character; 1 for each byte that is no UTF-8."""
    # A byte that is none becomes one lone surrogate.
    for character in data.decode("utf-8", "surrogateescape"):
        yield 1 if "\udc80" <= character <= "\udcff" else len(character.encode())


def _single(number: float) -> float:
    """Rounded to 32 bits."""
    (rounded,) = struct.unpack("<f", struct.pack("<f", number))
    return float(rounded)
