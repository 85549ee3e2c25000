"""Texts as the input of a model: ids, and for each of them what it stands for.

Rule: holds arrays that the core made, and finds things in them. Nothing here knows text or models.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from jogak.errors import ConfigError
from jogak.ragged import Ragged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jogak._core import Columns
    from jogak.spec.held import Pieces

__all__ = ["Encoding", "EncodingBatch"]

_Number = TypeVar("_Number", bound="np.generic")

#: All places.
_WHOLE = slice(None)


class _Column:
    """An array of an `Encoding`: its part of a column of the core, taken when somebody asks for it.

    Args:
        name: the column. Some there are only with spans.
        width: how many numbers it has for each id.
    """

    def __init__(self, name: str, width: int = 1) -> None:
        self.name = name
        self._width = width

    def __set_name__(self, owner: type, field: str) -> None:
        self._field = field

    def __get__(self, encoding: Encoding | None, owner: type) -> Any:
        if encoding is None:
            return self
        array = self.of(encoding)
        if array is None:
            raise ConfigError(
                f"there are no {self._field}, as the call said spans=False; leave that out"
            )
        # Nobody asks again: what stands in the object's own dict comes first.
        encoding.__dict__[self._field] = array
        return array

    def of(self, encoding: Encoding) -> Any:
        """The array; None for one that was not wanted."""
        column: Any = encoding._columns.get(self.name)
        if column is not None and self._width > 1:
            column = column.reshape(-1, self._width)
        return column if column is None else column[encoding._place]


def _column(name: str, width: int = 1) -> Any:
    """A `_Column`, as a field of the type that its array has."""
    return _Column(name, width)


class Encoding:
    """One input of a model: a text or two, with what the template, truncation and padding made of them.

    Everything is an array with one entry for each id; -1 where there is nothing to say. `to_dict` gives
    Python lists. Where it was made without spans, asking for them raises `ConfigError`.

    Attributes:
        ids: ``uint32[n]``.
        type_ids: ``uint32[n]``: the template's number for each part.
        special_tokens_mask: ``uint8[n]``: 1 for what the template or padding put in.
        attention_mask: ``uint8[n]``: 0 for padding.
        sequence_ids: ``int8[n]``: 0 for the first text, 1 for the second, -1 for what was put in.
        word_ids: ``int64[n]``: the number of the word in its text, -1 for what was put in.
        byte_spans: ``int64[n, 2]``: where its text starts and ends in the UTF-8 of the text as it was
            given; ``(0, 0)`` for what was put in.
        char_spans: ``int64[n, 2]``: the characters that these bytes lie in.
        overflowing: the parts that truncation cut off, each an `Encoding`.

    >>> import jogak
    >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
    >>> enc = tok.encoding("hug pug")
    >>> enc.tokens, enc.char_spans.tolist()
    (['hug', 'p', 'ug'], [[0, 3], [4, 5], [5, 7]])
    >>> enc.char_to_token(6), enc.word_to_tokens(1)
    (2, (1, 3))
    """

    ids: NDArray[np.uint32] = _column("ids")
    type_ids: NDArray[np.uint32] = _column("type_ids")
    special_tokens_mask: NDArray[np.uint8] = _column("special")
    attention_mask: NDArray[np.uint8] = _column("attention")
    sequence_ids: NDArray[np.int8] = _column("sequences")
    word_ids: NDArray[np.int64] = _column("words")
    byte_spans: NDArray[np.int64] = _column("bytes", 2)
    char_spans: NDArray[np.int64] = _column("chars", 2)
    overflowing: list[Encoding]

    def __init__(
        self,
        columns: Columns | dict[str, Any],
        place: slice,
        overflowing: list[Encoding],
        pieces: Pieces,
        pad_token: str | None,
    ) -> None:
        """Made by `jogak.Tokenizer.encoding`; not meant to be made by hand."""
        self.overflowing = overflowing
        self._columns = columns
        self._place = place
        self._pieces = pieces
        self._pad_token = pad_token

    def _arrays(self) -> Iterator[tuple[str, str, Any]]:
        """Field, column and array of all; None for one that was not wanted."""
        for field, column in vars(Encoding).items():
            if isinstance(column, _Column):
                yield field, column.name, self.__dict__.get(field, column.of(self))

    def __len__(self) -> int:
        """How many ids."""
        return len(self.ids)

    @property
    def n(self) -> int:
        """How many ids."""
        return len(self.ids)

    @property
    def n_sequences(self) -> int:
        """How many texts, 1 or 2, have ids here."""
        return len({*self.sequence_ids.tolist()} - {-1})

    @cached_property
    def tokens(self) -> list[str]:
        """The text of every id, as it stands in the vocabulary."""
        pad, pieces = self._pad_token, self._pieces
        return [
            (pieces[id_] or "") if attended or pad is None else pad
            for id_, attended in zip(self.ids.tolist(), self.attention_mask.tolist(), strict=True)
        ]

    # --- look-ups: from characters and bytes to tokens

    def char_to_token(self, char: int, sequence: int = 0) -> int | None:
        """The first token that has a character of a text in its span; None if there is none.

        Args:
            char: the number of the character, from 0.
            sequence: 0 for the first text, 1 for the second.
        """
        return self._token_at(self.char_spans, char, sequence)

    def byte_to_token(self, byte: int, sequence: int = 0) -> int | None:
        """The first token that has a byte of a text in its span; see `char_to_token`."""
        return self._token_at(self.byte_spans, byte, sequence)

    def _token_at(self, spans: NDArray[np.int64], place: int, sequence: int) -> int | None:
        has = (spans[:, 0] <= place) & (place < spans[:, 1]) & self._of(sequence)
        return int(has.argmax()) if has.any() else None

    def char_to_word(self, char: int, sequence: int = 0) -> int | None:
        """The number of the word that a character of a text belongs to; see `char_to_token`."""
        token = self.char_to_token(char, sequence)
        return None if token is None else self.token_to_word(token)

    # --- from tokens

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """Where the text of a token starts and ends, in characters; None for what was put in.

        Raises:
            IndexError: there is no such token.
        """
        return self._span_of(self.char_spans, token)

    def token_to_bytes(self, token: int) -> tuple[int, int] | None:
        """Where the text of a token starts and ends, in bytes; see `token_to_chars`."""
        return self._span_of(self.byte_spans, token)

    def _span_of(self, spans: NDArray[np.int64], token: int) -> tuple[int, int] | None:
        if self.token_to_sequence(token) is None:
            return None
        start, end = spans[token].tolist()
        return start, end

    def token_to_word(self, token: int) -> int | None:
        """The number of the word that a token belongs to; see `token_to_chars`."""
        return None if self.token_to_sequence(token) is None else int(self.word_ids[token])

    def token_to_sequence(self, token: int) -> int | None:
        """The text, 0 or 1, that a token belongs to; see `token_to_chars`."""
        if not 0 <= token < len(self):
            raise IndexError(f"token {token} of an encoding with {len(self)}")
        sequence = int(self.sequence_ids[token])
        return None if sequence < 0 else sequence

    # --- from words

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """The first token of a word, and the one behind its last; None if it has none here.

        Args:
            word: the number of the word in its text.
            sequence: 0 for the first text, 1 for the second.
        """
        (places,) = ((self.word_ids == word) & self._of(sequence)).nonzero()
        return (int(places[0]), int(places[-1]) + 1) if len(places) else None

    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Where the tokens of a word start and end, in characters; see `word_to_tokens`."""
        return self._span_of_word(self.char_spans, word, sequence)

    def word_to_bytes(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Where the tokens of a word start and end, in bytes; see `word_to_tokens`."""
        return self._span_of_word(self.byte_spans, word, sequence)

    def _span_of_word(
        self, spans: NDArray[np.int64], word: int, sequence: int
    ) -> tuple[int, int] | None:
        tokens = self.word_to_tokens(word, sequence)
        return tokens and (int(spans[tokens[0], 0]), int(spans[tokens[1] - 1, 1]))

    def _of(self, sequence: int) -> NDArray[np.bool_]:
        if sequence not in (0, 1):
            raise ConfigError(
                f"sequence is {sequence!r}; expected 0 or 1: the first or second text"
            )
        found: NDArray[np.bool_] = self.sequence_ids == sequence
        return found

    # --- as data

    def to_dict(self) -> dict[str, Any]:
        """Everything as Python lists; None for -1, and for spans that were not made.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> tok.encoding("hug").to_dict()["word_ids"]
        [0]
        """
        out: dict[str, Any] = {"tokens": list(self.tokens)}
        for field, _, array in self._arrays():
            out[field] = None if array is None else array.tolist()
        for field in ("sequence_ids", "word_ids"):
            if out[field] is not None:
                out[field] = [None if number < 0 else number for number in out[field]]
        out["overflowing"] = [part.to_dict() for part in self.overflowing]
        return out

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # arrays can change

    def __reduce__(self) -> tuple[Any, ...]:
        # Not the whole vocabulary goes along, only the texts that are needed.
        arrays = {column: array for _, column, array in self._arrays()}
        return _restored, (arrays, self.overflowing, self.tokens)

    def __repr__(self) -> str:
        filled = len(self) - int(self.attention_mask.sum())
        told = [f"{len(self)} ids"]
        if filled:
            told.append(f"{filled} of them padding")
        if self.overflowing:
            told.append(f"{len(self.overflowing)} parts cut off")
        return f"<Encoding: {', '.join(told)}>"


def _restored(arrays: dict[str, Any], overflowing: list[Encoding], tokens: list[str]) -> Encoding:
    encoding = Encoding(arrays, _WHOLE, overflowing, (), None)
    encoding.__dict__["tokens"] = tokens
    return encoding


class EncodingBatch:
    """Many inputs of a model, in a few arrays. A sequence of `Encoding`, each made when asked for.

    Where all inputs are as long (``padding=True``), `input_ids`, `attention_mask`, `type_ids` and
    `special_tokens_mask` are rectangles. Otherwise take `ids`, or the encodings.

    >>> import jogak
    >>> config = jogak.BPE(num_merges=2, marker="none")
    >>> tok = jogak.train({"hug": 10, "pug": 5}, config, special_tokens=["<pad>"])
    >>> batch = tok.encoding_batch(["hug", "hug pug"], padding=True)
    >>> batch.input_ids.tolist()
    [[6, 0, 0], [6, 3, 5]]
    >>> batch[1].tokens
    ['hug', 'p', 'ug']
    """

    def __init__(
        self,
        columns: Columns,
        pieces: Pieces,
        pad_token: str | None,
        *,
        unfolded: bool = False,
    ) -> None:
        """Made by `jogak.Tokenizer.encoding_batch`; not meant to be made by hand."""
        import numpy as np

        self._columns = columns
        self._pieces = pieces
        self._pad_token = pad_token
        owners = columns["owners"]
        first = np.ones(len(owners), dtype=bool)
        if not unfolded:
            first[1:] = owners[1:] != owners[:-1]
        #: The rows of the inputs; those between them are parts that were cut off.
        self._rows = np.flatnonzero(first)

    @staticmethod
    def first(columns: Columns, pieces: Pieces, pad_token: str | None) -> Encoding:
        """The first input of a batch, mostly without making the batch."""
        if len(columns) > 1:
            return EncodingBatch(columns, pieces, pad_token)[0]
        return Encoding(columns, _WHOLE, [], pieces, pad_token)

    def __len__(self) -> int:
        """How many inputs."""
        return len(self._rows)

    def __getitem__(self, index: int) -> Encoding:
        """One input.

        Raises:
            IndexError: there is no such input.
        """
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"input {index} of a batch of {len(self)}")
        return self._input(*self._bounds[position : position + 2])

    def __iter__(self) -> Iterator[Encoding]:
        return itertools.starmap(self._input, itertools.pairwise(self._bounds))

    @cached_property
    def _bounds(self) -> list[int]:
        """The row of each input, and the one behind the last."""
        return [*self._rows.tolist(), len(self._offsets) - 1]

    @cached_property
    def _offsets(self) -> list[int]:
        """Where the ids of each row begin, and where the last ones end."""
        offsets: list[int] = self._columns["offsets"].tolist()
        return offsets

    def _input(self, row: int, behind: int) -> Encoding:
        """The input of some rows: its own one, and those of what was cut off."""
        parts = range(row + 1, behind)
        overflowing = [self._input(part, part + 1) for part in parts] if parts else []
        place = slice(self._offsets[row], self._offsets[row + 1])
        return Encoding(self._columns, place, overflowing, self._pieces, self._pad_token)

    # --- arrays

    @property
    def ids(self) -> Ragged:
        """The ids of all inputs, however long each is."""
        import numpy as np

        offsets = self._columns["offsets"]
        if len(self._rows) == len(offsets) - 1:
            return Ragged(self._columns["ids"], offsets)
        places = [self._columns["ids"][offsets[row] : offsets[row + 1]] for row in self._rows]
        lengths = [0, *map(len, places)]
        ids = np.concatenate(places) if places else self._columns["ids"][:0]
        return Ragged(ids, np.cumsum(lengths, dtype=np.int64))

    @property
    def input_ids(self) -> NDArray[np.uint32]:
        """The ids as a rectangle ``uint32[m, length]``.

        Raises:
            ConfigError: the inputs are not as long as each other.
        """
        return self._rectangle(self._columns["ids"])

    @property
    def attention_mask(self) -> NDArray[np.uint8]:
        """0 for padding, ``uint8[m, length]``; see `input_ids`."""
        return self._rectangle(self._columns["attention"])

    @property
    def type_ids(self) -> NDArray[np.uint32]:
        """The type ids, ``uint32[m, length]``; see `input_ids`."""
        return self._rectangle(self._columns["type_ids"])

    @property
    def special_tokens_mask(self) -> NDArray[np.uint8]:
        """1 for what was put in, ``uint8[m, length]``; see `input_ids`."""
        return self._rectangle(self._columns["special"])

    def _rectangle(self, column: NDArray[_Number]) -> NDArray[_Number]:
        import numpy as np

        offsets = self._columns["offsets"]
        starts = offsets[self._rows]
        lengths = offsets[self._rows + 1] - starts
        width = int(lengths.max(initial=0))
        if lengths.min(initial=width) != width:
            raise ConfigError(
                f"inputs have {int(lengths.min())} to {width} ids, which is no rectangle; pass "
                "padding=True (and truncation=...), or take ids, which may be of any length"
            )
        if len(self._rows) == len(offsets) - 1:
            return column.reshape(len(self), width)
        rectangle: NDArray[_Number] = column[starts[:, None] + np.arange(width)]
        return rectangle

    def parts(self) -> EncodingBatch:
        """The same batch with every part that truncation cut off as an input of its own."""
        return EncodingBatch(self._columns, self._pieces, self._pad_token, unfolded=True)

    @property
    def sources(self) -> NDArray[np.int64]:
        """The number of the text that each input was made of; behind `parts`, several have the same."""
        return self._columns["owners"][self._rows]

    def to_list(self) -> list[Encoding]:
        """All inputs."""
        return list(self)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """The Arrow PyCapsule interface: (schema, array), one ``large_list<uint32>`` of ids an input."""
        return self.ids.__arrow_c_array__(requested_schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EncodingBatch) and self.to_list() == other.to_list()

    __hash__ = None  # type: ignore[assignment]  # arrays can change

    def __reduce__(self) -> tuple[Any, ...]:
        import numpy as np

        # Only the texts that are needed go along.
        pieces: dict[int, str] = {}
        for id_ in np.unique(self._columns["ids"]).tolist():
            if id_ < len(self._pieces) or isinstance(self._pieces, dict):
                pieces[id_] = self._pieces[id_] or ""
        unfolded = len(self._rows) == len(self._columns["owners"])
        return _restored_batch, (self._columns, pieces, self._pad_token, unfolded)

    def __repr__(self) -> str:
        return f"<EncodingBatch: {len(self)} inputs, {len(self._columns['ids'])} ids>"


def _restored_batch(
    columns: Columns, pieces: Any, pad_token: str | None, unfolded: bool
) -> EncodingBatch:
    return EncodingBatch(columns, pieces, pad_token, unfolded=unfolded)
