"""What a loaded model knows of its pieces: texts, ids, types, scores.

Rule: answers as SentencePiece answers, also about what is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from jogak.errors import FormatError
from jogak.formats.sentencepiece import loaded_from
from jogak.formats.sentencepiece_model import ModelFile, PieceType, parse
from jogak.normalization import normalize
from jogak.spec import Charsmap, Spec

__all__ = ["NotFound", "Vocabulary", "ids_of", "read_file"]


class NotFound(RuntimeError, OSError):
    """A model file that is not there. SentencePiece 0.2.3 raises RuntimeError, before it was OSError."""


def read_file(path: object) -> bytes:
    """The bytes of a model file.

    Raises:
        NotFound: it is not there, or cannot be read.
        TypeError: the name is no text.
    """
    from jogak.formats.files import read_bytes

    if not isinstance(path, (str, bytes)):
        raise TypeError(f"the name of a model file is {path!r}; expected a text")
    name = path if isinstance(path, str) else path.decode()
    try:
        return read_bytes(name)
    except OSError as error:
        raise NotFound(f'NOT_FOUND: "{name}": {error.strerror}') from error
    except FormatError as error:
        raise RuntimeError(f"INTERNAL: {error}") from error


class Vocabulary:
    """The pieces of a model.

    Args:
        data: the bytes of a ``.model`` file; none for a processor that has no model yet.

    Raises:
        RuntimeError: not a model.
        UnsupportedFeature: a model that jogak does not know.
    """

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.loaded = None
        self.file = ModelFile(())
        if data:
            try:
                self.loaded = loaded_from(data)
                self.file = parse(data, None)
            except FormatError as error:
                raise RuntimeError(f"INTERNAL: {error}") from error
        self.pieces: tuple[str, ...] = tuple(piece.text for piece in self.file.pieces)
        self.types: tuple[PieceType, ...] = tuple(piece.type for piece in self.file.pieces)
        self.ids = {text: id_ for id_, text in enumerate(self.pieces)}
        self.unknown = next(
            (id_ for id_, kind in enumerate(self.types) if kind is PieceType.UNKNOWN), 0
        )

    @property
    def spec(self) -> Spec:
        """What the model is; RuntimeError before one is loaded."""
        if self.loaded is None:
            raise RuntimeError("INTERNAL: unk is not defined.")
        return self.loaded.spec

    @cached_property
    def unknown_surface(self) -> bytes:
        """What the unknown piece decodes to."""
        surface = self.file.trainer.get("unk_surface", " \u2047 ")
        assert isinstance(surface, str)
        return surface.encode()

    def denormalized(self, text: bytes) -> bytes:
        """What the denormalizer of the model makes of a decoded text."""
        denormalizer = self.file.denormalizer
        if denormalizer is None or not denormalizer.precompiled_charsmap:
            return text
        rules = Charsmap(denormalizer.precompiled_charsmap)
        return normalize(text.decode(), rules).text.encode()

    def role(self, name: str, default: str, kind: PieceType) -> int:
        """The id of ``unk``, ``bos``, ``eos`` or ``pad``; -1 if there is none."""
        text = self.file.trainer.get(f"{name}_piece", default)
        id_ = self.ids.get(text, self.unknown) if isinstance(text, str) else self.unknown
        return id_ if self.pieces and self.types[id_] is kind else -1

    def id(self, piece: str) -> int:
        """The id of a text, that of the unknown piece if it is none."""
        return self.ids.get(piece, self.unknown)

    def check(self, ids: Sequence[int]) -> None:
        """IndexError if one of the ids is none."""
        size = len(self.pieces)
        for id_ in ids:
            if not 0 <= id_ < size:
                raise IndexError("OUT_OF_RANGE: piece id is out of range.")


def ids_of(ids: Any) -> list[int]:
    """A list, an array or any sequence of whole numbers, as a list.

    Raises:
        TypeError: something else.
    """
    wrong = "Input must be an integer buffer, list of integers, or a sequence of integers."
    if hasattr(ids, "dtype"):
        if ids.dtype.kind not in "iu":
            raise TypeError("Buffer must be of integer type")
        if ids.ndim != 1:
            raise TypeError("Buffer must be 1-dimensional")
        numbers: list[int] = ids.tolist()
        return numbers
    if isinstance(ids, (str, bytes, dict, set, frozenset)) or not hasattr(ids, "__getitem__"):
        raise TypeError(wrong)
    out = []
    for id_ in ids:
        if isinstance(id_, float) or not hasattr(id_, "__index__"):
            raise TypeError(wrong)
        number = id_.__index__()
        if not -(2**31) <= number < 2**31:
            raise TypeError(wrong)
        out.append(number)
    return out
