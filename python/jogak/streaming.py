"""Ids -> text while the ids are still coming, as a language model writes them.

Rule: what came out is never taken back. All that comes out, joined, is what `Tokenizer.decode` gives for
all ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jogak import _core

__all__ = ["DecodeStream"]


class DecodeStream:
    """Text from ids, a part at a time. Made by `Tokenizer.decoder`; for one thread at a time.

    Text comes out as soon as nothing that follows can change it: characters when their last byte is
    there, a space at the end when it is known that something follows it, and so on. What waits is
    mostly a few bytes; memory and the cost of a step do not grow with what came before. (A file may
    ask for what only the end can tell, such as a regular expression over the whole text. Then that
    waits.)

    >>> import jogak
    >>> tok = jogak.train({"hug": 10}, jogak.BPE(num_merges=2))
    >>> stream = tok.decoder()
    >>> [stream.push(id_) for id_ in tok.encode("hug 밥")]
    ['hug', ' ', '', '', '밥']
    >>> stream.finish()
    ''
    """

    def __init__(self, core: _core.DecodeStream) -> None:
        """Not for users: call `Tokenizer.decoder`."""
        self._core = core

    def push(self, ids: int | Sequence[int] | NDArray[np.uint32]) -> str:
        """Take the next id, or several, and give the text that can no longer change.

        Raises:
            DecodeError: an id that stands for nothing; then none of the ids was taken.
        """
        return self._core.push(ids)

    def finish(self) -> str:
        """The ids have ended: give the rest of the text. The stream can be used anew."""
        return self._core.finish()

    def feed(self, ids: Iterable[int]) -> Iterator[str]:
        """The text of all ids, in parts that are not empty; the rest at the end.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10}, jogak.BPE(num_merges=2))
        >>> list(tok.decoder().feed(iter(tok.encode("hug 밥"))))
        ['hug', ' ', '밥']
        """
        for id_ in ids:
            if text := self.push(id_):
                yield text
        if text := self.finish():
            yield text

    def copy(self) -> DecodeStream:
        """A stream of its own that stands where this one stands, for several continuations."""
        return DecodeStream(self._core.copy())
