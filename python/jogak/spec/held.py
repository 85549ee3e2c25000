"""Pieces, merges and numbers that are held without an object for each, until somebody asks for them.

A vocabulary of 100,000 pieces is as many texts, and a list of merges three times as many objects. Files
are read into tables of the core instead, and tokenizers are compiled from these. To everybody who looks,
`pieces` and `merges` are tuples: they are made when they are first asked for.

Rule: nobody can tell whether a model holds a tuple or a table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

__all__ = ["Held", "Listed", "MergeTable", "NumberTable", "PieceTable", "Pieces"]


class PieceTable(Container[str], ABC):
    """The text of every id, each text once: what `jogak._core.Pieces` is."""

    @abstractmethod
    def __len__(self) -> int:
        """How many ids there are."""

    @abstractmethod
    def __getitem__(self, id_: int, /) -> str | None:
        """The text of an id, None where it stands for nothing."""

    @abstractmethod
    def __contains__(self, text: object, /) -> bool:
        """Whether a text is a piece."""

    @abstractmethod
    def find(self, text: str, /) -> int | None:
        """The id of a text."""

    @abstractmethod
    def texts(self) -> tuple[str | None, ...]:
        """All of them."""


class MergeTable(ABC):
    """Pairs of ids, best first: what `jogak._core.Merges` is."""

    @abstractmethod
    def __len__(self) -> int:
        """How many merges there are."""

    @abstractmethod
    def size(self) -> int:
        """One more than the largest id."""

    @abstractmethod
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All of them."""


class NumberTable(ABC):
    """Whole numbers of 63 bits, as their sum: what `jogak._core.Integers` is."""

    @abstractmethod
    def __len__(self) -> int:
        """How many numbers there are."""

    @abstractmethod
    def bounds(self) -> tuple[int, int] | None:
        """The least and the largest."""

    @abstractmethod
    def sums(self) -> tuple[int, int]:
        """The least and the last of the sums that come as one after the other is added to nothing."""

    @abstractmethod
    def numbers(self) -> tuple[int, ...]:
        """All of them."""


#: The texts of all ids, as they are at hand.
Pieces: TypeAlias = Sequence["str | None"] | PieceTable


class Held:
    """What may be given tables in the place of some fields.

    Whoever asks for such a field gets a tuple, which then stays.
    """

    #: Field -> the tables that may be given for it, and how one becomes a tuple.
    _TABLES: ClassVar[Mapping[str, tuple[type, Callable[[Any], object]]]] = {}

    def _hold(self) -> None:
        """Puts tables where nobody sees them. For ``__post_init__``, once all is checked."""
        fields = self.__dict__
        for name, (kind, _) in self._TABLES.items():
            if isinstance(fields.get(name), kind):
                fields[f"_{name}"] = fields.pop(name)

    if not TYPE_CHECKING:  # or it would take any name for a field

        def __getattr__(self, name: str) -> Any:
            fields = self.__dict__
            # Only what is not there is asked for here.
            if name in self._TABLES and f"_{name}" in fields:
                fields[name] = self._TABLES[name][1](fields[f"_{name}"])
                return fields[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        for name in self._TABLES:
            if f"_{name}" in self.__dict__:
                getattr(self, name)
        return {name: value for name, value in self.__dict__.items() if name[0] != "_"}

    def at_hand(self, name: str) -> Any:
        """A field as it is at hand: a table, or what it is to everybody else."""
        fields = self.__dict__
        return fields[f"_{name}"] if f"_{name}" in fields else getattr(self, name)


class Listed(Held):
    """What models have in common: the fields ``pieces`` and ``merges`` may be given as tables.

    >>> from jogak.spec import BPEModel
    >>> model = BPEModel(pieces=("a", "b", "ab"), merges=((0, 1),))
    >>> len(model.table), model.find("ab")
    (3, 2)
    """

    _TABLES: ClassVar[Mapping[str, tuple[type, Callable[[Any], object]]]] = {
        "pieces": (PieceTable, lambda table: table.texts()),
        "merges": (MergeTable, lambda table: table.pairs()),
    }

    @property
    def table(self) -> Pieces:
        """The pieces as they are at hand: the tuple, or something quicker with the same items."""
        table: Pieces = self.at_hand("pieces")
        return table

    def find(self, text: str) -> int | None:
        """The id of a piece, or None."""
        table = self.table
        if isinstance(table, PieceTable):
            return table.find(text)
        return table.index(text) if text in table else None
