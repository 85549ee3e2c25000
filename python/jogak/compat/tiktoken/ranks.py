"""`CoreBPE`: ranks, special tokens and an expression, as what runs.

Rule: all ids come out of `jogak.Tokenizer`. Special tokens stay outside of it, since their texts and ids
may be those of pieces here.

Where several special tokens begin at one place, the longest is taken. (tiktoken takes any of them.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

from jogak.compat.tiktoken.patterns import scheme_of
from jogak.errors import DecodeError, EncodeError, UnsupportedFeature
from jogak.formats import bytelevel
from jogak.formats.tiktoken import model_of, pieces_of
from jogak.spec import Spec, WordPieceModel, resolve_pretokenizer
from jogak.tokenizer import Tokenizer
from jogak.tokenizer.following import Following

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CoreBPE", "any_of"]

#: Ranks may leave gaps, but a table of all ids must have room for them.
LARGEST_RANK = 1 << 24

_TWO_TO_32 = 1 << 32


class CoreBPE:
    """What encodes and decodes; it knows nothing of what is disallowed.

    Args:
        encoder: the bytes of every piece -> its rank.
        special_tokens_encoder: the text of every special token -> its id.
        pattern: the expression whose matches are the words.

    Raises:
        ValueError: a rank that stands twice, an expression that is none.
        TypeError, OverflowError: keys and ids that are none.
        UnsupportedFeature: a rank above `LARGEST_RANK`.

    >>> CoreBPE({b"a": 0, b"b": 1, b"ab": 2}, {}, r"\\w+").encode_ordinary("abba")
    [2, 1, 0]
    """

    def __init__(
        self, encoder: Mapping[bytes, int], special_tokens_encoder: Mapping[str, int], pattern: str
    ) -> None:
        pieces = pieces_of(encoder) if type(encoder) is dict else None
        if pieces is None:
            # Something is wrong, or unusual.
            encoder = _checked(encoder, bytes)
            pieces = pieces_of(encoder) or _pieces(encoder)
        self._encoder = dict(encoder)
        self._specials = _checked(special_tokens_encoder, str)
        self._special_bytes = {id_: text.encode() for text, id_ in self._specials.items()}
        self._special_ranks = {text.encode(): id_ for text, id_ in self._specials.items()}
        self._scheme = resolve_pretokenizer(scheme_of(pattern))
        self._tokenizer = Tokenizer(Spec(model=model_of(pieces), pretokenizer=self._scheme))
        self._finders: dict[frozenset[str], re.Pattern[str] | None] = {}

    @cached_property
    def _decoder(self) -> dict[int, bytes]:
        return {rank: piece for piece, rank in self._encoder.items()}

    @cached_property
    def _following(self) -> Following:
        return Following(self._tokenizer)

    @cached_property
    def _words(self) -> Tokenizer:
        """What knows no piece, so that every word stands for itself."""
        model = WordPieceModel(pieces=("\0",), max_chars_per_word=1)
        return Tokenizer(Spec(model=model, pretokenizer=self._scheme))

    # --- encode

    def words(self, text: str) -> list[str]:
        """The words that a text is cut into. See `encode_ordinary`."""
        try:
            return self._words.tokens(text)
        except EncodeError:
            text.encode()
            raise

    def encode_ordinary(self, text: str) -> list[int]:
        """A text -> its ids, without special tokens.

        Raises:
            UnicodeEncodeError: the text has surrogates.
            EncodeError: a byte of it has no rank; the expression gave up.
        """
        if not isinstance(text, str):
            raise TypeError(f"expected a text, found {type(text).__name__}")
        try:
            return self._tokenizer.encode(text, special="text")
        except EncodeError:
            text.encode()
            raise

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """A text -> its ids, with those special tokens that are allowed. See `encode_ordinary`."""
        finder = self._finder(allowed_special)
        if finder is None:
            return self.encode_ordinary(text)
        ids: list[int] = []
        for part in self._parts(text, finder):
            if isinstance(part, str):
                ids += self.encode_ordinary(part)
            else:
                ids.append(part)
        return ids

    def encode_to_array(self, text: str, allowed_special: AbstractSet[str]) -> NDArray[np.uint32]:
        """As `encode`, as an array that cannot be written to."""
        import numpy as np

        if self._finder(allowed_special) is None:
            try:
                ids = self._tokenizer.encode_array(text, special="text")
            except EncodeError:
                text.encode()
                raise
        else:
            ids = np.array(self.encode(text, allowed_special), np.uint32)
        ids.flags.writeable = False
        return ids

    def encode_batch(
        self, texts: Sequence[str], allowed_special: AbstractSet[str], num_threads: int
    ) -> list[list[int]]:
        """Many texts -> their ids, on several cores. See `encode`."""
        finder = self._finder(allowed_special)
        if finder is None:
            return self._encode_batch(texts, num_threads)
        parts = [self._parts(text, finder) for text in texts]
        flat = [part for of_text in parts for part in of_text if isinstance(part, str)]
        lists = iter(self._encode_batch(flat, num_threads))
        out: list[list[int]] = []
        for of_text in parts:
            ids = []
            for part in of_text:
                ids += next(lists) if isinstance(part, str) else [part]
            out.append(ids)
        return out

    def _encode_batch(self, texts: Sequence[str], num_threads: int) -> list[list[int]]:
        """The same without special tokens."""
        try:
            batch = self._tokenizer.encode_batch(texts, num_threads=num_threads, special="text")
        except EncodeError:
            for text in texts:
                text.encode()
            raise
        return batch.to_lists()

    def encode_single_token(self, piece: bytes) -> int:
        """The id of a piece or special token, else KeyError."""
        if not isinstance(piece, bytes):
            raise TypeError(f"expected bytes, found {type(piece).__name__}")
        rank = self._encoder.get(piece)
        if rank is None:
            rank = self._special_ranks.get(piece)
        if rank is None:
            raise KeyError(piece)
        return rank

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Any bytes, taken as one word -> ids."""
        if not isinstance(piece, bytes):
            raise TypeError(f"expected bytes, found {type(piece).__name__}")
        rank = self._encoder.get(piece)
        if rank is not None:
            return [rank]
        try:
            return self._following.merged(piece)
        except EncodeError:
            raise EncodeError(
                f"a byte of {piece!r} has no rank; expected one for each byte of a text"
            ) from None

    def _encode_bytes(self, data: bytes) -> list[int]:
        """Any bytes -> ids. What is no UTF-8 goes with the last word before it."""
        if not isinstance(data, bytes):
            raise TypeError(f"expected bytes, found {type(data).__name__}")
        try:
            return self.encode_ordinary(data.decode())
        except UnicodeDecodeError as error:
            valid, rest = data[: error.start].decode(), data[error.start :]
        ids, last = self._with_last_word(valid, frozenset())
        stable = ids[: len(ids) - last]
        if last:
            rest = self.decode_bytes(ids[len(ids) - last :]) + rest
        return stable + self.encode_single_piece(rest)

    # --- special tokens in a text

    @cached_property
    def _special(self) -> re.Pattern[str] | None:
        """Finds any special token."""
        return any_of(self._specials) if self._specials else None

    def special_in(self, text: str) -> str | None:
        """The first special token of a text."""
        match = self._special and self._special.search(text)
        return match.group() if match else None

    def _finder(self, allowed: AbstractSet[str]) -> re.Pattern[str] | None:
        """Finds the special tokens that are allowed; None if there are none."""
        if not isinstance(allowed, (set, frozenset)):
            raise TypeError(f"expected a set of texts, found {type(allowed).__name__}")
        if not allowed:
            return None
        tokens = frozenset(allowed)
        if tokens not in self._finders:
            for token in tokens:
                if not isinstance(token, str):
                    raise TypeError(f"expected the text of a token, found {type(token).__name__}")
            if len(self._finders) >= 128:
                self._finders.clear()
            texts = {text for text in tokens & self._specials.keys() if text}
            self._finders[tokens] = any_of(texts) if texts else None
        return self._finders[tokens]

    def _parts(self, text: str, finder: re.Pattern[str]) -> list[str | int]:
        """A text as the ids of its special tokens and the texts between them."""
        parts: list[str | int] = []
        end = 0
        for match in finder.finditer(text):
            if end < match.start():
                parts.append(text[end : match.start()])
            parts.append(self._specials[match.group()])
            end = match.end()
        if end < len(text):
            parts.append(text[end:])
        return parts

    # --- what may follow

    def _with_last_word(self, text: str, allowed: AbstractSet[str]) -> tuple[list[int], int]:
        """The ids of a text, and how many at the end may change if it goes on.

        These are the ids of the last word; and if they begin with white space, the white space before
        them too, for then the word may have begun there.
        """
        ids = self.encode(text, allowed)
        finder = self._finder(allowed)
        parts = [text] if finder is None else self._parts(text, finder)
        tail = parts[-1] if parts else ""
        if not isinstance(tail, str):
            return ids, 0  # nothing reaches across a special token
        word = self._following.last_word(tail).encode()
        last = len(self.encode_single_piece(word)) if word else 0

        def is_space(id_: int) -> bool:
            piece = self._decoder.get(id_)
            return piece is not None and not piece.strip(b" \n\t")

        if last and is_space(ids[-last]):
            while last < len(ids) and is_space(ids[-last - 1]):
                last += 1
        return ids, last

    def encode_with_unstable(
        self, text: str, allowed_special: AbstractSet[str]
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that stay whatever follows, and what the others may become, sorted."""
        ids, last = self._with_last_word(text, allowed_special)
        if not last:
            return ids, []
        return ids[:-last], self._following.ways(self.decode_bytes(ids[-last:]))

    @cached_property
    def _sorted(self) -> list[bytes]:
        return sorted(self._encoder)

    # --- decode

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Ids -> bytes; KeyError for an id that stands for nothing."""
        try:
            return self._tokenizer.decode_bytes(tokens)
        except DecodeError:
            pass  # special tokens, or what is no id
        if (
            isinstance(tokens, str)
            or not hasattr(tokens, "__getitem__")
            or isinstance(tokens, dict)
        ):
            raise TypeError(f"expected a sequence of ids, found {type(tokens).__name__}")
        ids = [_id(token) for token in tokens]
        out = []
        for id_ in ids:
            piece = self._decoder.get(id_, self._special_bytes.get(id_))
            if piece is None:
                raise KeyError(f"Invalid token for decoding: {id_}")
            out.append(piece)
        return b"".join(out)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one id, else KeyError."""
        id_ = _id(token)
        piece: bytes | None = self._decoder.get(id_, self._special_bytes.get(id_))
        if piece is None:
            raise KeyError(str(id_))
        return piece

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """The bytes of each id. See `decode_single_token_bytes`."""
        if isinstance(tokens, (list, tuple)) and set(map(type, tokens)) == {int}:
            try:
                return list(map(self._decoder.__getitem__, tokens))
            except KeyError:
                pass  # special tokens, or what is no id
        return [self.decode_single_token_bytes(token) for token in tokens]

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all pieces, sorted."""
        return list(self._sorted)


def any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Finds the first of some texts, and of those at one place the longest."""
    return re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))))


def _checked(table: Mapping[Any, int], kind: type) -> dict[Any, int]:
    """The table, if its keys are of this kind and its values ids."""
    for key in table:
        if not isinstance(key, kind):
            raise TypeError(f"{key!r} is no {kind.__name__}")
    return {key: _id(value) for key, value in table.items()}


def _pieces(encoder: Mapping[bytes, int]) -> tuple[str | None, ...]:
    """The pieces of ranks that are far apart; an error for those that are none."""
    largest = max(encoder.values(), default=-1)
    if largest > LARGEST_RANK:
        raise UnsupportedFeature(
            f"the rank {largest} is above {LARGEST_RANK:,}; expected ranks without large gaps"
        )
    if (ranks := len(set(encoder.values()))) != len(encoder):
        raise ValueError(f"{len(encoder)} pieces have {ranks} ranks; expected one for each")
    pieces: list[str | None] = [None] * (largest + 1)
    for piece, rank in encoder.items():
        if piece:  # no text ever becomes the empty piece (Whisper's file has one)
            pieces[rank] = bytelevel.from_bytes(piece)
    return tuple(pieces)


def _id(value: object) -> int:
    id_ = index(value)  # type: ignore[arg-type]  # no number raises
    if not 0 <= id_ < _TWO_TO_32:
        raise OverflowError("out of range integral type conversion attempted")
    return id_
