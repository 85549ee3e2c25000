"""The few blocks that every rendering can draw: runs in cells, cells in lines and tables.

A `Run` is text with the *meaning* of how it stands out (``"chosen"``, not green), so that plain
text, a terminal and a notebook each draw the same blocks their own way.

Rule: nothing here knows what a merge is, and nothing here knows a colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Block", "Cell", "Line", "Run", "Section", "Style", "Table", "apart"]

Style: TypeAlias = Literal[
    "plain",
    "strong",
    "dim",
    "number",
    "symbol",  # a symbol in a word
    "new",  # a symbol that the step has just made
    "chosen",  # what the step takes, among others that it might have taken
    "taken",  # the same, where nothing else stands beside it
    "covered",  # a piece that an earlier step found
    "merge",  # a pair that is a merge, but not the one taken
    "no-merge",  # a pair that is no merge
    "dropped",  # a merge that dropout set aside
    "rank",
    "open",  # text that no piece covers yet
    "token-0",  # tokens, in turn, so that neighbours can be told apart
    "token-1",
    "token-2",
    "special",
]


@dataclass(frozen=True, slots=True)
class Run:
    """Some text and what it means. Lines may break at its spaces and nowhere else."""

    text: str
    style: Style = "plain"


Cell: TypeAlias = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells.

    Args:
        rows: all of the same length.
        headers: a title for each column, or nothing for a table that explains itself.
        right: columns set flush right.
        marked: rows that stand out.
    """

    rows: tuple[tuple[Cell, ...], ...]
    headers: tuple[str, ...] = ()
    right: frozenset[int] = frozenset()
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Section:
    """A title with blocks below it.

    Args:
        title: the line above.
        blocks: what it holds.
        folded: closed at first, where sections can be opened and closed.
    """

    title: Cell
    blocks: tuple[Block, ...]
    folded: bool = False


Block: TypeAlias = Line | Table | Section


def apart(above: Block | None, below: Block, outermost: bool) -> bool:
    """Whether an empty line belongs between two blocks, for renderings made of lines.

    Two tables never touch; in the outermost section a table touches nothing.

    >>> apart(Table(()), Table(()), outermost=False), apart(None, Table(()), outermost=True)
    (True, False)
    """
    tables = isinstance(above, Table) + isinstance(below, Table)
    return above is not None and tables > (0 if outermost else 1)
