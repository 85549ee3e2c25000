"""Bytes drawn as printable characters, the way GPT-2 writes its vocabulary.

A byte that is a printable Latin-1 character other than the space stands for itself; the others (white
space, control characters, 0xAD) take U+0100, U+0101, ... in the order of their values. So the space is
``Ġ`` and the line feed ``Ċ``, and a piece of any bytes is a text without white space.

This is the one place where Python knows the table.

Source: Radford et al. 2019, ``bytes_to_unicode`` in https://github.com/openai/gpt-2
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

__all__ = ["ALPHABET", "OF_TEXT", "first_foreign", "from_bytes", "has_all_bytes", "to_bytes"]


def _draw_bytes() -> tuple[str, ...]:
    itself = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    stand_ins = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in itself else next(stand_ins)) for byte in range(256))


#: The character of each byte, by the byte's value.
ALPHABET: tuple[str, ...] = _draw_bytes()
_BYTE_OF = {character: byte for byte, character in enumerate(ALPHABET)}
_DRAW = dict(enumerate(ALPHABET))
_LETTERS = frozenset(ALPHABET)
#: Those of bytes that text in UTF-8 can have: no text has 0xC0, 0xC1, or 0xF5 and above.
OF_TEXT: tuple[str, ...] = tuple(ALPHABET[byte] for byte in (*range(0xC0), *range(0xC2, 0xF5)))


def from_bytes(data: bytes) -> str:
    """Bytes -> their printable text, one character each.

    >>> from_bytes(" 밥".encode())
    'Ġë°¥'
    """
    return data.decode("latin-1").translate(_DRAW)


def to_bytes(text: str) -> bytes:
    """The way back.

    Raises:
        ValueError: a character that stands for no byte.

    >>> to_bytes("Ġë°¥").decode()
    ' 밥'
    """
    try:
        return bytes(map(_BYTE_OF.__getitem__, text))
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} in {text!r} stands for no byte") from None


def has_all_bytes(texts: Collection[str]) -> bool:
    """Whether all bytes that a text can have are drawn among the texts (a set or dict answers fastest).

    Vocabularies that were trained without an alphabet, as GPT-NeoX's, lack those that no text in UTF-8
    has: 0xC0, 0xC1, and 0xF5 to 0xFF.

    >>> has_all_bytes(set(ALPHABET)), has_all_bytes({*ALPHABET} - {"ÿ"}), has_all_bytes({"a", "b"})
    (True, True, False)
    """
    return all(character in texts for character in OF_TEXT)


@cache
def _foreign() -> re.Pattern[str]:
    """Any character that stands for no byte."""
    return re.compile(f"[^{re.escape(''.join(ALPHABET))}]")


def first_foreign(texts: Iterable[str]) -> str | None:
    """The first text with a character that stands for no byte, or None.

    >>> first_foreign(["Ġa", "a b", "c d"])
    'a b'
    """
    texts = list(texts)
    if not _foreign().search("".join(texts)):  # one pass in C for the usual case
        return None
    return next(text for text in texts if not _LETTERS.issuperset(text))
