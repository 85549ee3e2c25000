"""What the ids at the end of a text may become when the text goes on.

Rule: asks the core; whose face shows it stands elsewhere.
"""

from __future__ import annotations

from jogak import _core
from jogak.tokenizer.compiled import Compiled

__all__ = ["Following"]


class Following:
    """The pieces of a tokenizer of bytes whose ids are ranks, in the order of their bytes.

    Cost: sorts them.

    >>> import jogak
    >>> from jogak.formats.tiktoken import model_of
    >>> from jogak.spec import Spec, resolve_pretokenizer
    >>> model, words = model_of(("a", "b", "ab", "abb")), resolve_pretokenizer("none")
    >>> tokenizer = jogak.Tokenizer(Spec(model=model, pretokenizer=words))
    >>> following = Following(tokenizer)
    >>> following.merged(b"abb"), following.ways(b"ba")
    ([3], [[1, 0], [1, 2], [1, 3]])
    """

    def __init__(self, tokenizer: Compiled) -> None:
        self._core = _core.Following(tokenizer._core)

    def last_word(self, text: str) -> str:
        """The last word of a text; the empty text if it has none.

        Raises:
            EncodeError: the expression that cuts texts gave up.
        """
        return self._core.last_word(text)

    def merged(self, data: bytes) -> list[int]:
        """What merges leave of any bytes, be they a piece or no text at all.

        Raises:
            EncodeError: a byte that is left is no piece.
        """
        return self._core.merged(data)

    def ways(self, end: bytes) -> list[list[int]]:
        """The ways in which the ids of the last bytes of a text may go on, sorted.

        These bytes are encoded with each piece that may begin within them and goes on behind their
        end; the ids that cover the bytes are a way. (tiktoken, ``_encode_unstable_native``.)

        Raises:
            EncodeError: a text that may come has no ids.
        """
        return self._core.ways(end)
