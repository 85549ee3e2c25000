"""What scripts for SentencePiece up to 0.2.1 use, and 0.2.3 has no longer.

Immutable messages count places in characters, those of 0.2.3 in bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jogak.compat.sentencepiece.cutting import Cutter

__all__ = ["Older"]


class Older:
    """Methods that all go back to ``Encode``, ``NBestEncode`` and ``Decode``."""

    if TYPE_CHECKING:

        def Encode(self, input: Any, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102  # for the checker
        def NBestEncode(self, input: Any, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102  # for the checker
        def Decode(self, input: Any, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102  # for the checker
        def Load(self, model_file: Any = None, model_proto: Any = None) -> bool: ...  # noqa: D102  # for the checker
        def _cut(self) -> Cutter: ...

    #: What `SetEncodeExtraOptions` and `SetDecodeExtraOptions` asked for.
    _encode_options: tuple[str, ...] = ()
    _decode_options: tuple[str, ...] = ()

    def Init(self, *args: Any, **kwargs: Any) -> None:
        """Make it anew."""
        self.__init__(*args, **kwargs)  # type: ignore[misc]  # as there

    def EncodeAsSerializedProto(self, input: Any, **kwargs: Any) -> Any:
        """`Encode` to the bytes of messages."""
        return self.Encode(input=input, return_type="serialized_proto", **kwargs)

    def EncodeAsImmutableProto(self, input: Any, **kwargs: Any) -> Any:
        """`Encode` to messages with places in characters."""
        return self.Encode(input=input, return_type="immutable_proto", **kwargs)

    def SampleEncodeAsSerializedProto(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """`Encode` to the bytes of messages, drawn."""
        kwargs |= {"nbest_size": nbest_size, "alpha": alpha, "enable_sampling": True}
        return self.EncodeAsSerializedProto(input, **kwargs)

    def SampleEncodeAsImmutableProto(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any
    ) -> Any:
        """`Encode` to messages with places in characters, drawn."""
        kwargs |= {"nbest_size": nbest_size, "alpha": alpha, "enable_sampling": True}
        return self.EncodeAsImmutableProto(input, **kwargs)

    def NBestEncodeAsSerializedProto(
        self, input: Any, nbest_size: int | None = None, **kwargs: Any
    ) -> Any:
        """`NBestEncode` to the bytes of a message."""
        kwargs |= {"nbest_size": nbest_size, "return_type": "serialized_proto"}
        return self.NBestEncode(input=input, **kwargs)

    def NBestEncodeAsImmutableProto(
        self, input: Any, nbest_size: int | None = None, **kwargs: Any
    ) -> Any:
        """`NBestEncode` to a message with places in characters."""
        kwargs |= {"nbest_size": nbest_size, "return_type": "immutable_proto"}
        return self.NBestEncode(input=input, **kwargs)

    def DecodePiecesAsSerializedProto(self, input: Any, **kwargs: Any) -> Any:
        """`Decode` to the bytes of messages."""
        return self.Decode(input=input, return_type="serialized_proto", **kwargs)

    def DecodePiecesAsImmutableProto(self, input: Any, **kwargs: Any) -> Any:
        """`Decode` to messages with places in characters."""
        return self.Decode(input=input, return_type="immutable_proto", **kwargs)

    DecodeIdsAsSerializedProto = DecodePiecesAsSerializedProto
    DecodeIdsAsImmutableProto = DecodePiecesAsImmutableProto

    def CalculateEntropy(self, input: Any, alpha: float | None, num_threads: Any = None) -> Any:
        """The entropy of the ways to cut a text, or each of a list, in nats.

        Raises:
            RuntimeError: no Unigram model.
        """
        if isinstance(input, list):
            return [self.CalculateEntropy(text, alpha) for text in input]
        from jogak.compat.sentencepiece.normalizing import raw_of, text_of

        cutter = self._cut()
        if not cutter.has_probabilities:
            raise RuntimeError("INTERNAL: CalculateEntropy is not available for the current model.")
        return cutter.entropy(raw_of(text_of(input)), 1.0 if alpha is None else alpha)

    def SetEncodeExtraOptions(self, extra_option: str) -> bool:
        """What is done to the pieces of every text: ``"bos:eos:reverse:unk"``, in that order.

        Raises:
            RuntimeError: an option that there is not.
        """
        self._encode_options = _options(extra_option)
        return True

    def SetDecodeExtraOptions(self, extra_option: str) -> bool:
        """What is done to pieces before they are decoded. See `SetEncodeExtraOptions`."""
        self._decode_options = _options(extra_option)
        return True


def _options(text: str) -> tuple[str, ...]:
    known = {"bos", "eos", "reverse", "unk", "unk_piece"}
    options = tuple(text.split(":")) if text else ()
    for option in options:
        if option not in known:
            raise RuntimeError(f'INTERNAL: option "{option}" is not available.')
    return options
