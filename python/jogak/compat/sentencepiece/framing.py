"""What is put around the pieces of a text: ``<s>``, ``</s>``, the other way round, ``<unk>``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jogak.compat.sentencepiece.vocabulary import Vocabulary
from jogak.formats.sentencepiece_model import PieceType

__all__ = ["Frame"]


class Frame:
    """What stands around the pieces of a text, and in which order they come."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        options: Sequence[str],
        add_bos: bool,
        add_eos: bool,
        reverse: bool,
        emit_unk_piece: bool,
    ) -> None:
        self._vocabulary = vocabulary
        self._bos = vocabulary.role("bos", "<s>", PieceType.CONTROL)
        self._eos = vocabulary.role("eos", "</s>", PieceType.CONTROL)
        self._unknown = vocabulary.role("unk", "<unk>", PieceType.UNKNOWN)
        asked = (("unk", emit_unk_piece), ("reverse", reverse), ("bos", add_bos), ("eos", add_eos))
        self._asked = tuple(option for option, wanted in asked if wanted)
        self._steps = (*options, *self._asked)

    def check_plain(self) -> None:
        """RuntimeError if anything is asked for that messages cannot say."""
        if self._asked:
            raise RuntimeError(
                "UNIMPLEMENTED: add_bos, add_eos, reverse, and emit_unk_piece is not supported in "
                "proto API"
            )

    def ids(self, ids: list[int]) -> list[int]:
        """Ids, framed."""
        for step in self._steps:
            if step == "reverse":
                ids = ids[::-1]
            elif step == "bos":
                ids = [self._control(self._bos, "BOS"), *ids]
            elif step == "eos":
                ids = [*ids, self._control(self._eos, "EOS")]
        return ids

    def pieces(self, pieces: list[Any], in_bytes: bool) -> list[Any]:
        """Pieces, as texts or in bytes, framed."""
        if not self._steps:
            return pieces
        find = self._vocabulary.id

        def name(id_: int) -> str | bytes:
            text = self._vocabulary.pieces[id_]
            return text.encode() if in_bytes else text

        def text(piece: Any) -> str:
            return piece.decode("utf-8", "surrogateescape") if in_bytes else piece  # type: ignore[no-any-return]  # either

        for step in self._steps:
            if step == "reverse":
                pieces = pieces[::-1]
            elif step == "bos":
                pieces = [name(self._control(self._bos, "BOS")), *pieces]
            elif step == "eos":
                pieces = [*pieces, name(self._control(self._eos, "EOS"))]
            else:
                unknown = name(self._unknown)
                found = (find(text(piece)) for piece in pieces)
                pieces = [
                    unknown if id_ == self._unknown else piece
                    for id_, piece in zip(found, pieces, strict=True)
                ]
        return pieces

    def _control(self, id_: int, name: str) -> int:
        if id_ == -1:
            raise ValueError(
                f"INVALID_ARGUMENT: {name} token is not defined as a control symbol in this model."
            )
        return id_
