"""Pieces -> text, as SentencePiece decodes: control pieces vanish, unknown ones have a surface.

Rule: the text alone is made by `jogak.Tokenizer`. Where pieces are to know their places, or may be none
of the model's, it is made here, in bytes, since pieces of bytes need not make UTF-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jogak.compat.sentencepiece.messages import Cut, Part
from jogak.compat.sentencepiece.vocabulary import Vocabulary
from jogak.errors import DecodeError
from jogak.formats.sentencepiece_model import PieceType

if TYPE_CHECKING:
    from jogak.tokenizer import Tokenizer

__all__ = ["decoded", "decoded_text"]

_MARK = "▁".encode()
_REPLACEMENT = "\ufffd".encode()


def decoded_text(
    tokenizer: Tokenizer, vocabulary: Vocabulary, row: Any, *, of_pieces: bool
) -> str | None:
    """The text that ids or pieces stand for; None if one of them is none of the model's.

    Args:
        tokenizer: the model, which knows its own way back.
        vocabulary: what the pieces are.
        row: any sequence; what is in it may be anything.
        of_pieces: whether the first of them is a piece.
    """
    try:
        # What is no piece becomes None, which is no id.
        ids: Any = [*map(vocabulary.ids.get, row)] if of_pieces else row
        return tokenizer.decode(ids)
    except (DecodeError, TypeError):
        return None


def decoded(vocabulary: Vocabulary, pieces: Sequence[tuple[bytes, int]]) -> Cut:
    """The text that pieces stand for, and where each of them stands in it.

    Args:
        vocabulary: what the ids are.
        pieces: pieces with their ids.
    """
    text = bytearray()
    parts: list[Part] = []

    def add(piece: bytes, id_: int, surface: bytes) -> None:
        parts.append(Part(piece, id_, surface, len(text), len(text) + len(surface)))
        text.extend(surface)

    run: list[tuple[bytes, int]] = []
    at_start, mark_taken = True, False
    for piece, id_ in pieces:
        if vocabulary.types[id_] is PieceType.BYTE:
            run.append((piece, id_))
            continue
        _add_bytes(run, add)
        run = []
        if mark_taken or text:
            at_start = False
        surface, mark_taken = _surface(vocabulary, piece, id_, at_start)
        add(piece, id_, surface)
    _add_bytes(run, add)
    return Cut(vocabulary.denormalized(bytes(text)), parts)


def _surface(vocabulary: Vocabulary, piece: bytes, id_: int, at_start: bool) -> tuple[bytes, bool]:
    """What a piece becomes, and whether the one mark in front of the text was taken off it."""
    kind = vocabulary.types[id_]
    if kind is PieceType.CONTROL:
        return b"", False
    if kind is PieceType.UNKNOWN:
        own = vocabulary.pieces[id_].encode() == piece
        return (vocabulary.unknown_surface if own else piece), False
    fields = vocabulary.file.normalizer
    taken = False
    if at_start and (fields.add_dummy_prefix or fields.remove_extra_whitespaces):
        taken = piece.startswith(_MARK)
        if taken:
            piece = piece[len(_MARK) :]
        if fields.remove_extra_whitespaces:
            taken = False  # then all marks in front go
    return piece.replace(_MARK, b" "), taken


def _add_bytes(run: Sequence[tuple[bytes, int]], add: object) -> None:
    """A run of bytes: each character belongs to the last of its bytes, a broken byte is U+FFFD."""
    assert callable(add)
    data = bytes(int(piece[3:5], 16) for piece, _ in run)
    at = 0
    for character in data.decode("utf-8", "surrogateescape"):
        if "\udc80" <= character <= "\udcff":
            add(*run[at], _REPLACEMENT)
            at += 1
            continue
        size = len(character.encode())
        for piece in run[at : at + size - 1]:
            add(*piece, b"")
        add(*run[at + size - 1], character.encode())
        at += size
