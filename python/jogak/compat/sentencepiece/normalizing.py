"""What SentencePiece does to a text before it is cut, and which byte each character came from.

Rule: `jogak.surfaces` does it, by the rules of a model; here they are put together, and texts looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jogak.formats.sentencepiece_model import NormalizerFields, PieceType
from jogak.surfaces import Counted, Surfaces

__all__ = ["Normalizing", "is_broken", "normalized", "raw_of", "text_of"]


@dataclass(frozen=True)
class Normalizing:
    """The rules of a model.

    Args:
        fields: its ``normalizer_spec``.
        pieces: its pieces, of which those of the user are left as they are.
        types: what each of them is.
        suffix: a space is added behind the text, not before it.
    """

    fields: NormalizerFields
    pieces: tuple[str, ...] = ()
    types: tuple[PieceType, ...] = ()
    suffix: bool = False

    @cached_property
    def surfaces(self) -> Surfaces:
        """The same for the core."""
        fields = self.fields
        pieces = zip(self.pieces, self.types, strict=True)
        kept = [text for text, kind in pieces if kind is PieceType.USER_DEFINED]
        return Surfaces(
            fields.precompiled_charsmap,
            kept,
            fields.remove_extra_whitespaces,
            fields.escape_whitespaces,
            fields.add_dummy_prefix,
            self.suffix,
            self.pieces,
            bytes(self.types),
        )

    def __call__(self, data: bytes) -> Counted:
        """The normalized text, which knows the byte that each character counts from.

        >>> counted = Normalizing(NormalizerFields())(b" a  b ")
        >>> counted.text, counted.origins(False)
        ('▁a▁b', [1, 1, 2, 4, 5])
        """
        return self.surfaces.normalize(data)


def normalized(normalizing: Normalizing, input: Any, with_offsets: bool) -> Any:
    """What `Normalize` of a processor and of a normalizer gives."""
    if isinstance(input, list):
        return [_one(normalizing, each, with_offsets) for each in input]
    return _one(normalizing, input, with_offsets)


def _one(normalizing: Normalizing, input: Any, with_offsets: bool) -> Any:
    raw, in_bytes = raw_of(text_of(input)), isinstance(input, bytes)
    if not with_offsets:
        (text,) = normalizing.surfaces.texts([raw])
        return text.encode() if in_bytes else text
    counted = normalizing(raw)
    out = counted.text.encode() if in_bytes else counted.text
    origins = counted.origins(in_bytes)
    return out, origins if in_bytes else origins or [0]


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
