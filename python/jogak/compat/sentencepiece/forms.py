"""Methods of a processor that name the form of what they give: ``EncodeAsIds`` and its like.

Rule: each is a call of ``Encode``, ``NBestEncode``, ``ParallelEncode`` or ``Decode``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["Forms", "add_snake_case"]


class Forms:
    """What goes back to other methods."""

    if TYPE_CHECKING:

        def Encode(self, input: Any, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102  # for the checker
        def NBestEncode(self, input: Any, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102  # for the checker
        def ParallelEncode(self, input: Any, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102  # for the checker
        def Decode(self, input: Any, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102  # for the checker

    def EncodeAsPieces(self, input: Any, **kwargs: Any) -> Any:
        """`Encode` to pieces."""
        return self.Encode(input=input, return_type=str, **kwargs)

    def EncodeAsIds(self, input: Any, **kwargs: Any) -> Any:
        """`Encode` to ids."""
        return self.Encode(input=input, return_type=int, **kwargs)

    def EncodeAsNumpy(self, input: Any, **kwargs: Any) -> Any:
        """`Encode` to arrays of ids."""
        return self.Encode(input=input, return_type="numpy", **kwargs)

    def EncodeAsProto(self, input: Any, **kwargs: Any) -> Any:
        """`Encode` to messages."""
        return self.Encode(input=input, return_type="proto", **kwargs)

    def EncodeAsOffsetMapping(self, input: Any, **kwargs: Any) -> Any:
        """`Encode` to ids, pieces and places."""
        return self.Encode(input=input, return_type="offset_mapping", **kwargs)

    def SampleEncodeAsPieces(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """`Encode` to pieces, drawn."""
        return self._sample(input, nbest_size, alpha, str, kwargs)

    def SampleEncodeAsIds(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """`Encode` to ids, drawn."""
        return self._sample(input, nbest_size, alpha, int, kwargs)

    def SampleEncodeAsNumpy(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """`Encode` to arrays of ids, drawn."""
        return self._sample(input, nbest_size, alpha, "numpy", kwargs)

    def SampleEncodeAsProto(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """`Encode` to messages, drawn."""
        return self._sample(input, nbest_size, alpha, "proto", kwargs)

    def _sample(
        self,
        input: Any,
        nbest_size: int | None,
        alpha: float | None,
        kind: Any,
        kwargs: dict[str, Any],
    ) -> Any:
        return self.Encode(
            input=input,
            nbest_size=nbest_size,
            alpha=alpha,
            return_type=kind,
            enable_sampling=True,
            **kwargs,
        )

    def NBestEncodeAsPieces(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """`NBestEncode` to pieces."""
        return self.NBestEncode(input=input, nbest_size=nbest_size, return_type=str, **kwargs)

    def NBestEncodeAsIds(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """`NBestEncode` to ids."""
        return self.NBestEncode(input=input, nbest_size=nbest_size, return_type=int, **kwargs)

    def NBestEncodeAsNumpy(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """`NBestEncode` to arrays of ids."""
        return self.NBestEncode(input=input, nbest_size=nbest_size, return_type="numpy", **kwargs)

    def NBestEncodeAsProto(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """`NBestEncode` to a message."""
        return self.NBestEncode(input=input, nbest_size=nbest_size, return_type="proto", **kwargs)

    def ParallelEncodeAsPieces(self, input: Any, **kwargs: Any) -> Any:
        """`ParallelEncode` to pieces."""
        return self.ParallelEncode(input=input, return_type=str, **kwargs)

    def ParallelEncodeAsIds(self, input: Any, **kwargs: Any) -> Any:
        """`ParallelEncode` to ids."""
        return self.ParallelEncode(input=input, return_type=int, **kwargs)

    def ParallelEncodeAsNumpy(self, input: Any, **kwargs: Any) -> Any:
        """`ParallelEncode` to arrays of ids."""
        return self.ParallelEncode(input=input, return_type="numpy", **kwargs)

    def ParallelEncodeAsProto(self, input: Any, **kwargs: Any) -> Any:
        """`ParallelEncode` to messages."""
        return self.ParallelEncode(input=input, return_type="proto", **kwargs)

    def DecodePieces(self, input: Any, return_type: Any = None, **kwargs: Any) -> Any:
        """`Decode`."""
        return self.Decode(input=input, return_type=return_type, **kwargs)

    def DecodeIds(self, input: Any, return_type: Any = None, **kwargs: Any) -> Any:
        """`Decode`."""
        return self.Decode(input=input, return_type=return_type, **kwargs)

    def DecodePiecesAsProto(self, input: Any, **kwargs: Any) -> Any:
        """`Decode` to messages."""
        return self.Decode(input=input, return_type="proto", **kwargs)

    def DecodeIdsAsProto(self, input: Any, **kwargs: Any) -> Any:
        """`Decode` to messages."""
        return self.Decode(input=input, return_type="proto", **kwargs)


def add_snake_case(cls: type) -> None:
    """Every public name in camel case also in snake case: ``EncodeAsIds``, ``encode_as_ids``."""
    for name, value in list(vars(cls).items()):
        if name[0].isupper():
            snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower().replace("n_best", "nbest")
            setattr(cls, snake, value)


add_snake_case(Forms)
