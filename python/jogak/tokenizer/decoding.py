"""Ids to texts.

Rule: composes the core, and hands on what it found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from jogak.errors import ConfigError, DecodeError
from jogak.ragged import Ragged
from jogak.threads import resolve_threads
from jogak.tokenizer.compiled import Compiled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jogak.streaming import DecodeStream

__all__ = ["Decoding"]


class Decoding(Compiled):
    """The way back from ids."""

    def decode(
        self,
        ids: Sequence[int] | NDArray[np.uint32],
        *,
        skip_special_tokens: bool = False,
        errors: Literal["replace", "strict"] = "replace",
    ) -> str:
        """Ids -> text. Markers become the spaces that they stand for.

        Args:
            ids: a list or an array.
            skip_special_tokens: leave special tokens out rather than writing their texts.
            errors: what to do where the bytes are no UTF-8, as the start of a longer answer may be:
                ``"replace"`` writes U+FFFD, ``"strict"`` raises.

        Raises:
            DecodeError: an id that stands for nothing; bytes that are no UTF-8 under ``"strict"``.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10}, jogak.BPE(num_merges=2))
        >>> tok.decode(tok.encode("안녕 hug"))
        '안녕 hug'
        """
        if errors == "replace":
            return self._core.decode(ids, skip_special_tokens)
        if errors != "strict":
            raise ConfigError(f"errors is {errors!r}; expected 'replace' or 'strict'")
        try:
            return self.decode_bytes(ids, skip_special_tokens=skip_special_tokens).decode()
        except UnicodeDecodeError as error:
            raise DecodeError(
                f"the ids stand for bytes that are no UTF-8 at byte {error.start}; pass "
                "errors='replace', or take the bytes with decode_bytes"
            ) from None

    def decode_bytes(
        self, ids: Sequence[int] | NDArray[np.uint32], *, skip_special_tokens: bool = False
    ) -> bytes:
        """Ids -> the bytes that they stand for, whole characters or not. See `decode`."""
        return self._core.decode_bytes(ids, skip_special_tokens)

    def decode_batch(
        self,
        batch: Ragged | Iterable[Sequence[int] | NDArray[np.uint32]],
        *,
        skip_special_tokens: bool = False,
        num_threads: int | None = None,
    ) -> list[str]:
        """Many lists of ids -> their texts, on all cores. See `decode`.

        Lists are read, decoded and handed out some at a time, so that a batch takes no more memory than
        its texts, and some megabytes.

        Args:
            batch: what `encode_batch` gave, or lists or arrays of ids, which may come from a generator.
            skip_special_tokens: as in `decode`.
            num_threads: as in `encode_batch`.

        Raises:
            DecodeError: an id that stands for nothing, or what is no id; the first list with such is
                told.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2))
        >>> tok.decode_batch(tok.encode_batch(["hug", "pug hug"]))
        ['hug', 'pug hug']
        """
        threads = resolve_threads(num_threads)
        if isinstance(batch, Ragged):
            ids: object = batch.ids
            return self._core.decode_batch(ids, batch.offsets, skip_special_tokens, threads)
        return self._core.decode_batch(batch, None, skip_special_tokens, threads)

    def decoder(self, *, skip_special_tokens: bool = False) -> DecodeStream:
        """A stream that takes ids as they come, and gives text as soon as it is complete.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10}, jogak.BPE(num_merges=2))
        >>> stream = tok.decoder()
        >>> stream.push(tok.encode("hug")) + stream.finish()
        'hug'
        """
        from jogak.streaming import DecodeStream

        return DecodeStream(self._core.stream(skip_special_tokens))
