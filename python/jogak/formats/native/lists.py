"""The long lists of a native file, read by the core: pieces, merges, scores, the numbers of the log.

The core reads them where they are as they should be. Whatever goes wrong with a file whose long lists
the core has read, the file is read again without its help, and what comes of that is what counts.
"""

from __future__ import annotations

from jogak import _core
from jogak._core import Ids, Integers
from jogak.formats.checked import Node, parse

__all__ = ["Ids", "Integers", "whole", "with_tables"]

#: The way to each list, and what is in it. The first is about as long as all the others.
_LISTS = [
    (("spec", "model", "pieces"), "texts"),
    (("spec", "model", "merges"), "integers"),
    (("spec", "model", "scores"), "numbers"),
    (("training", "counts"), "integers"),
    (("training", "occurrences"), "integers"),
    (("training", "live_changes"), "integers"),
    (("training", "left_counts"), "integers"),
    (("training", "right_counts"), "integers"),
]


def whole(data: bytes, name: str | None) -> Node:
    """The file as plain data.

    Raises:
        FormatError: as `parse`.
    """
    return Node(parse(data, name), file=name)


def with_tables(data: bytes, name: str | None) -> Node | None:
    """The same, with `Ids` for the pieces, `Integers` for lists of whole numbers and a tuple for scores;
    None where the core leaves them to others.

    Raises:
        FormatError: as `parse`; the places may not be those of the file.
    """
    if (read := _core.read_lists(data, _LISTS)) is None:
        return None
    rest, lists = read
    root = whole(rest, name)
    for (path, _), found in zip(_LISTS, lists, strict=True):
        if found is not None:
            *way, last = path
            value = root.value
            for key in way:
                value = value[key]
            value[last] = found
    return root
