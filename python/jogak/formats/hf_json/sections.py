"""The long sections of a ``tokenizer.json``, read by the core: the vocabulary and the merges.

The core reads them where they are as they should be, and leaves all else to the readers in Python,
which know every spelling and say what is wrong. So whatever goes wrong with a file whose long sections
the core has read, the file is read again without its help, and what comes of that is what counts.
"""

from __future__ import annotations

from typing import TypeAlias

from jogak import _core
from jogak._core import Ids, Pairs
from jogak.formats.checked import Node, parse
from jogak.formats.serde_numbers import serde_float

__all__ = ["Ids", "Pairs", "Section", "Vocabulary", "whole", "with_tables"]

#: Text -> id of a model's own pieces.
Vocabulary: TypeAlias = "dict[str, int] | Ids"


class Section:
    """A list as it stands in the file.

    Args:
        data: the file.
        place: where it starts and ends there.
    """

    def __init__(self, data: bytes, place: tuple[int, int]) -> None:
        self.data, self.place = data, place


def whole(data: bytes, name: str | None) -> Node:
    """The file as plain data.

    Raises:
        FormatError: as `parse`.
    """
    return Node(parse(data, name, parse_float=serde_float), "", name)


def with_tables(data: bytes, name: str | None) -> Node | None:
    """The same, with `Ids` for the vocabulary, `Pairs` for the merges and a `Section` for the added
    tokens; None where the core leaves them to others.

    Raises:
        FormatError: as `parse`; the places may not be those of the file.
    """
    if (found := _core.read_sections(data)) is None:
        return None
    rest, ids, merges, added = found
    root = whole(rest, name)
    model = root.value["model"]
    model["vocab"] = ids
    if merges is not None:
        model["merges"] = merges
    if added is not None:
        root.value["added_tokens"] = Section(data, added)
    return root
