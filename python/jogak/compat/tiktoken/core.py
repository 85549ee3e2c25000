"""`Encoding`: tiktoken's class, method by method.

Rule: signatures, results and exceptions are tiktoken's; what becomes of a text is decided in `ranks`.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from jogak.compat.tiktoken.ranks import CoreBPE, any_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Encoding", "raise_disallowed_special_token"]

#: Bytes that begin no character.
_WITHIN = bytes(range(0x80, 0xC0))


class Encoding:
    """A vocabulary of ranks, the expression that cuts texts, and special tokens.

    Args:
        name: what it is called.
        pat_str: the regular expression whose matches are the words.
        mergeable_ranks: the bytes of every piece -> its rank, which is its id.
        special_tokens: the text of every special token -> its id.
        explicit_n_vocab: how many ids there must be; None to leave that unchecked.

    Raises:
        ValueError: no ranks, a rank that stands twice, an expression that is none.
        AssertionError: ``explicit_n_vocab`` is not what there is.
        TypeError, OverflowError: keys and ids that are none.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    >>> enc = Encoding("toy", pat_str=r"\\S+|\\s+", mergeable_ranks=ranks, special_tokens={"<s>": 300})
    >>> enc.encode("hug hu")
    [257, 32, 256]
    >>> enc.encode("<s>hug", allowed_special="all")
    [300, 257]
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        self.name = name
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        if not mergeable_ranks:
            raise ValueError("mergeable_ranks is empty; expected the ranks of all pieces")
        largest_special = max(special_tokens.values(), default=0)
        self.max_token_value = max(max(mergeable_ranks.values()), largest_special)
        if explicit_n_vocab:
            assert len(mergeable_ranks) + len(special_tokens) == explicit_n_vocab
            assert self.max_token_value == explicit_n_vocab - 1
        self._special_token_values = set(special_tokens.values())
        self._core_bpe = CoreBPE(mergeable_ranks, special_tokens, pat_str)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # --- encode

    def encode_ordinary(self, text: str) -> list[int]:
        """A text -> its ids; the texts of special tokens are read as any other text.

        Surrogates that make a pair become the character that they stand for, others U+FFFD.
        """
        try:
            return self._core_bpe.encode_ordinary(text)
        except UnicodeEncodeError:
            return self._core_bpe.encode_ordinary(_repaired(text))

    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = frozenset(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[int]:
        """A text -> its ids.

        Args:
            text: the text. Surrogates are treated as in `encode_ordinary`.
            allowed_special: special tokens that become tokens where their texts stand.
            disallowed_special: texts that may not occur; ``"all"`` for all special tokens that are not
                allowed, ``()`` for none. What is in neither is read as any other text.

        Raises:
            ValueError: the text has a disallowed one; the message names the three remedies.
        """
        if disallowed_special == "all" and allowed_special in (frozenset(), set()):
            # What nearly all calls say.
            if (token := self._core_bpe.special_in(text)) is not None:
                raise_disallowed_special_token(token)
            return self.encode_ordinary(text)
        allowed = self._checked(text, allowed_special, disallowed_special)
        try:
            return self._core_bpe.encode(text, allowed)
        except UnicodeEncodeError:
            return self._core_bpe.encode(_repaired(text), allowed)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = frozenset(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> NDArray[np.uint32]:
        """A text -> its ids as an array that cannot be written to. See `encode`.

        Raises:
            UnicodeEncodeError: the text has surrogates.
        """
        allowed = self._checked(text, allowed_special, disallowed_special)
        return self._core_bpe.encode_to_array(text, allowed)

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Many texts -> their ids. See `encode_ordinary`."""
        return self._batch(text, frozenset(), num_threads)

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Literal["all"] | AbstractSet[str] = frozenset(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[list[int]]:
        """Many texts -> their ids. See `encode`."""
        texts = list(text)
        allowed, refused = self._resolved(allowed_special, disallowed_special)
        for each in texts:
            _refuse(each, refused)
        return self._batch(texts, allowed, num_threads)

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = frozenset(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """The ids at the beginning that stay whatever follows, and the ways in which they may go on.

        The ways come sorted; in tiktoken they have no order. See `encode`.
        """
        allowed = self._checked(text, allowed_special, disallowed_special)
        return self._core_bpe.encode_with_unstable(text, allowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of a piece or a special token.

        Raises:
            KeyError: there is none of this text.
        """
        if isinstance(text_or_bytes, str):
            text_or_bytes = text_or_bytes.encode("utf-8")
        return self._core_bpe.encode_single_token(text_or_bytes)

    # --- decode

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Ids -> the bytes that they stand for.

        Raises:
            KeyError: an id that stands for nothing.
        """
        return self._core_bpe.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Ids -> text; ``errors`` says what becomes of bytes that are no UTF-8, as in `bytes.decode`.

        Raises:
            KeyError: an id that stands for nothing.
        """
        return self._core_bpe.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one id.

        Raises:
            KeyError: the id stands for nothing.
        """
        return self._core_bpe.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """The bytes of each id. See `decode_single_token_bytes`."""
        return self._core_bpe.decode_tokens_bytes(tokens)

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Ids -> text, and for each id the character of it where the id begins.

        An id that begins within a character counts from that character.

        Raises:
            UnicodeDecodeError: the bytes are no UTF-8.
        """
        parts = self.decode_tokens_bytes(tokens)
        begun = [len(part.translate(None, _WITHIN)) for part in parts]
        offsets = list(accumulate(begun, initial=0))[:-1]
        for place, part in enumerate(parts):
            if 0x80 <= part[0] < 0xC0:
                offsets[place] = max(0, offsets[place] - 1)
        return b"".join(parts).decode("utf-8"), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Many lists of ids -> texts. See `decode`."""
        _check_threads(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Many lists of ids -> bytes. See `decode_bytes`."""
        _check_threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # --- look up

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all pieces, sorted; without special tokens."""
        return self._core_bpe.token_byte_values()

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``; KeyError if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @functools.cached_property
    def special_tokens_set(self) -> set[str]:
        """The texts of all special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether an id is that of a special token."""
        assert isinstance(token, int)
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """One more than the largest id."""
        return self.max_token_value + 1

    # --- what tiktoken's own tools use

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        if isinstance(text_or_bytes, str):
            text_or_bytes = text_or_bytes.encode("utf-8")
        return self._core_bpe.encode_single_piece(text_or_bytes)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        words = self._core_bpe.words(text)
        return [id_ for word in words for id_ in self._encode_single_piece(word)]

    def _encode_bytes(self, text: bytes) -> list[int]:
        return self._core_bpe._encode_bytes(text)

    def __getstate__(self) -> object:
        """Its name, if that is enough to find it again; else what it was made from."""
        from jogak.compat.tiktoken import registry

        if self is registry.ENCODINGS.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: Any) -> None:
        from jogak.compat.tiktoken import registry

        if isinstance(value, str):
            self.__dict__ = registry.get_encoding(value).__dict__
        else:
            Encoding.__init__(self, **value)

    # --- inside

    def _resolved(
        self,
        allowed: Literal["all"] | AbstractSet[str],
        disallowed: Literal["all"] | Collection[str],
    ) -> tuple[AbstractSet[str], frozenset[str]]:
        """Both sets, without the word "all"."""
        if allowed == "all":
            allowed = self.special_tokens_set
        if disallowed == "all":
            disallowed = self.special_tokens_set - allowed
        refused = frozenset(disallowed or ())
        return allowed, refused

    def _checked(
        self,
        text: str,
        allowed: Literal["all"] | AbstractSet[str],
        disallowed: Literal["all"] | Collection[str],
    ) -> AbstractSet[str]:
        """The special tokens that are allowed, if the text has no disallowed one."""
        allowed, refused = self._resolved(allowed, disallowed)
        _refuse(text, refused)
        return allowed

    def _batch(
        self, texts: Iterable[str], allowed: AbstractSet[str], num_threads: int
    ) -> list[list[int]]:
        _check_threads(num_threads)
        texts = list(texts)
        try:
            return self._core_bpe.encode_batch(texts, allowed, num_threads)
        except UnicodeEncodeError:
            return self._core_bpe.encode_batch(list(map(_repaired, texts)), allowed, num_threads)


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Refuse the text of a special token.

    Raises:
        ValueError: always.
    """
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        "If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )


def _refuse(text: str, tokens: frozenset[str]) -> None:
    if tokens and (match := _any_of(tokens).search(text)):
        raise_disallowed_special_token(match.group())


_any_of = functools.lru_cache(maxsize=128)(any_of)


def _repaired(text: str) -> str:
    """The text with surrogate pairs as characters, and lone ones as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _check_threads(num_threads: int) -> None:
    if num_threads <= 0:
        raise ValueError(f"num_threads is {num_threads}; expected 1 or more")
