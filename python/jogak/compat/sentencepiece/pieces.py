"""Methods of a processor that look pieces up: texts, ids, scores, kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jogak.compat.sentencepiece.forms import add_snake_case
from jogak.compat.sentencepiece.normalizing import is_broken
from jogak.compat.sentencepiece.vocabulary import Vocabulary, ids_of
from jogak.formats.sentencepiece_model import PieceType

__all__ = ["Pieces"]


class Pieces:
    """What a processor knows of its vocabulary."""

    _vocabulary: Vocabulary

    def GetPieceSize(self) -> int:
        """How many pieces there are."""
        return len(self._vocabulary.pieces)

    def PieceToId(self, piece: Any) -> Any:
        """The id of a piece, or of each of a list; that of the unknown piece for what is none."""
        if type(piece) is str and piece in self._vocabulary.ids:
            return self._vocabulary.ids[piece]
        if isinstance(piece, (str, bytes)) and not is_broken(piece):
            return self._id(piece)
        if isinstance(piece, (dict, set, frozenset)) or not hasattr(piece, "__getitem__"):
            raise TypeError(
                f"a piece is {type(piece).__name__}; expected a text or a list of texts"
            )
        if not all(isinstance(each, (str, bytes)) and not is_broken(each) for each in piece):
            raise TypeError("Sequence elements must be str or bytes")
        return [self._id(each) for each in piece]

    def _id(self, piece: str | bytes) -> int:
        text = piece if isinstance(piece, str) else piece.decode("utf-8", "surrogateescape")
        return self._vocabulary.id(text)

    def _look_up(self, id: Any, tell: Callable[[int], Any]) -> Any:
        """What is to be told of an id, or of each of a list."""
        if type(id) is int and 0 <= id < len(self._vocabulary.pieces):
            return tell(id)
        if hasattr(id, "__index__") and not getattr(id, "ndim", 0):
            number = id.__index__()
            if not -(2**31) <= number < 2**31:
                ids_of(None)
            self._vocabulary.check([number])
            return tell(number)
        ids = ids_of(id)
        self._vocabulary.check(ids)
        return [tell(each) for each in ids]

    def IdToPiece(self, id: Any) -> Any:
        """The piece of an id, or of each of a list; IndexError if there is none."""
        return self._look_up(id, self._vocabulary.pieces.__getitem__)

    def GetScore(self, id: Any) -> Any:
        """The score of an id, or of each of a list."""
        return self._look_up(id, lambda each: self._vocabulary.file.pieces[each].score)

    def IsUnknown(self, id: Any) -> Any:
        """Whether an id, or each of a list, is that of the unknown piece."""
        return self._is(id, PieceType.UNKNOWN)

    def IsControl(self, id: Any) -> Any:
        """Whether an id, or each of a list, is that of a control piece."""
        return self._is(id, PieceType.CONTROL)

    def IsUnused(self, id: Any) -> Any:
        """Whether an id, or each of a list, is that of an unused piece."""
        return self._is(id, PieceType.UNUSED)

    def IsByte(self, id: Any) -> Any:
        """Whether an id, or each of a list, is that of a byte."""
        return self._is(id, PieceType.BYTE)

    def _is(self, id: Any, kind: PieceType) -> Any:
        return self._look_up(id, lambda each: self._vocabulary.types[each] is kind)

    def unk_id(self) -> int:
        """The id of the unknown piece."""
        return self._vocabulary.role("unk", "<unk>", PieceType.UNKNOWN)

    def bos_id(self) -> int:
        """The id of ``<s>``, -1 if there is none."""
        return self._vocabulary.role("bos", "<s>", PieceType.CONTROL)

    def eos_id(self) -> int:
        """The id of ``</s>``, -1 if there is none."""
        return self._vocabulary.role("eos", "</s>", PieceType.CONTROL)

    def pad_id(self) -> int:
        """The id of ``<pad>``, -1 if there is none."""
        return self._vocabulary.role("pad", "<pad>", PieceType.CONTROL)

    piece_size = GetPieceSize
    vocab_size = GetPieceSize

    def __len__(self) -> int:
        """How many pieces there are."""
        return self.GetPieceSize()

    def __getitem__(self, piece: Any) -> Any:
        """The id of a piece. See `PieceToId`."""
        return self.PieceToId(piece)


add_snake_case(Pieces)
