"""How a symbol is drawn for the eye: nothing in it may be invisible, or pass for something else.

Rule: drawing is for looking only; the traces keep the true texts. Two different symbols may look
alike in the end (a real ``␣`` and a space), never the other way round.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

__all__ = ["Draw", "byte_level", "drawing", "visible", "width"]

Draw: TypeAlias = Callable[[str], str]

_PICTURES = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}


@cache
def _visible_character(character: str) -> str:
    picture = _PICTURES.get(character)
    if picture is not None:
        return picture
    category = unicodedata.category(character)
    if category[0] in "ZC" or 0xFE00 <= ord(character) <= 0xFE0F:
        return f"\\u{{{ord(character):x}}}"
    return character


def visible(text: str) -> str:
    r"""Text -> the same with pictures for white space and escapes for what prints nothing.

    >>> print(visible("a b\n"), visible("\u200b"))
    a␣b↵ \u{200b}
    """
    return _stand("".join(map(_visible_character, text)))


def _stand(drawn: str) -> str:
    """A mark at the start gets a circle to stand on, or it would land on its neighbour."""
    if drawn and unicodedata.category(drawn[0])[0] == "M":
        return "◌" + drawn
    return drawn


@cache
def _gpt2_bytes() -> dict[str, int]:
    """GPT-2's printable characters -> the bytes they stand for (Radford et al. 2019)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {
        **{chr(byte): byte for byte in printable},
        **{chr(256 + index): byte for index, byte in enumerate(others)},
    }


def byte_level(symbol: str) -> str:
    """A byte-level symbol -> whole characters as themselves, bytes of broken ones in hex.

    Spaces and control bytes keep the letters that GPT-2 draws for them (``Ġ`` is a space), so that
    plain English looks just as in the vocabulary.

    >>> byte_level("Ġlow"), byte_level("ìµľ"), byte_level("ìµ")
    ('Ġlow', '최', '‹ECB5›')
    """
    table = _gpt2_bytes()
    if not all(character in table for character in symbol):
        return visible(symbol)  # a special token: plain text, not bytes
    drawn: list[str] = []
    raw = bytes(table[character] for character in symbol)
    at = 0
    while at < len(raw):
        if raw[at] < 0x80:
            drawn.append(symbol[at])
            at += 1
            continue
        for length in (2, 3, 4):
            try:
                drawn.append(_visible_character(raw[at : at + length].decode("utf-8")))
            except UnicodeDecodeError:
                continue
            at += length
            break
        else:
            drawn.append(f"‹{raw[at]:02X}›")
            at += 1
    return _stand("".join(drawn).replace("›‹", ""))


def drawing(alphabet: str) -> Draw:
    """The function that draws the symbols of an alphabet, ``"bytes"`` or ``"chars"``."""
    return byte_level if alphabet == "bytes" else visible


def width(text: str) -> int:
    """How many terminal columns a text takes: two for wide CJK characters, none for marks.

    >>> width("low"), width("계란")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


@cache
def _columns(character: str) -> int:
    if 0x1160 <= ord(character) <= 0x11FF:  # vowels and finals that join the Hangul jamo before
        return 0
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
