"""Parts of a model section that several families have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from jogak.formats.checked import Node
from jogak.formats.native.lists import Ids
from jogak.spec import Marker

__all__ = ["marker_from_node", "numbers", "pieces_and_ids"]


def pieces_and_ids(node: Node) -> tuple[tuple[str | None, ...], Mapping[str, int]]:
    """The text of every id, or a table of them, and text -> id; every text may stand once."""
    if isinstance(node.value, Ids):
        return cast(Any, node.value.pieces([])), node.value
    pieces = tuple(node.texts_or_nulls())
    ids = {text: id_ for id_, text in enumerate(pieces) if text is not None}
    if len(ids) != len(pieces) - pieces.count(None):
        for id_, text in enumerate(pieces):
            if text is not None and ids[text] != id_:
                raise node.child(ids[text], text).fault(
                    f"is {text!r}, as is {node.place}[{id_}]; expected every text once"
                )
    return pieces, ids


def marker_from_node(node: Node) -> Marker:
    """The object of a marker, all fields given."""
    kind, text, symbol = node.fields("kind", "text", "symbol")
    with node.blamed():
        marker = Marker(
            cast(Any, kind.text()),
            None if text.value is None else text.text(),
            None if symbol.value is None else cast(Any, symbol.text()),
        )
    # A marker chooses what it is not told; a file has to tell.
    for part, value in ((text, marker.text), (symbol, marker.symbol)):
        if part.value != value:
            raise part.expected(repr(value))
    return marker


def numbers(node: Node) -> tuple[float, ...]:
    """A list of numbers, whole or not."""
    values = node.value
    if isinstance(values, tuple):  # the core has read them
        return values
    if not isinstance(values, list) or not set(map(type, values)) <= {int, float}:
        for item in node.items():
            if type(item.value) not in (int, float):
                raise item.expected("a number")
    try:
        return tuple(map(float, values))
    except OverflowError:
        raise node.fault("has a number that does not fit in 64 bits") from None
