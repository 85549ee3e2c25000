"""The ``model`` section of a tokenizer of whole words."""

from __future__ import annotations

import dataclasses
from typing import Any

from jogak.formats.checked import Node
from jogak.formats.native.parts import marker_from_node, piece_ids
from jogak.spec import WordLevelModel

__all__ = ["from_node", "to_dict"]

_FIELDS = (
    "type",
    "pieces",
    "unknown",
    "byte_fallback",
    "fuse_unknown",
    "unused",
    "marker",
    "drawn",
)


def to_dict(model: WordLevelModel) -> dict[str, Any]:
    """The model as the section holds it."""
    options = {name: getattr(model, name) for name in _FIELDS[2:]}
    options["unused"] = list(model.unused)
    marker = dataclasses.asdict(model.marker)
    return {"type": "word-level", "pieces": list(model.pieces), **options, "marker": marker}


def from_node(node: Node) -> WordLevelModel:
    """The section as a model, checked field by field."""
    _, pieces_node, unknown, byte_fallback, fuse, unused, marker, drawn = node.fields(*_FIELDS)
    pieces = tuple(pieces_node.texts_or_nulls())
    piece_ids(pieces_node, pieces)
    with node.blamed():
        return WordLevelModel(
            pieces=pieces,
            unknown=None if unknown.value is None else unknown.text(),
            byte_fallback=byte_fallback.flag(),
            fuse_unknown=fuse.flag(),
            unused=tuple(unused.integers(0, len(pieces) - 1)),
            marker=marker_from_node(marker),
            drawn=drawn.flag(),
        )
