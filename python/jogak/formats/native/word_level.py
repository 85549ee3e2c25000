"""The ``model`` section of a tokenizer of whole words."""

from __future__ import annotations

from typing import Any

from jogak.formats.checked import Node
from jogak.formats.native.parts import marker_from_node, pieces_and_ids
from jogak.spec import WordLevelModel
from jogak.spec.record import asdict

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
    marker = asdict(model.marker)
    return {"type": "word-level", "pieces": list(model.pieces), **options, "marker": marker}


def from_node(node: Node) -> WordLevelModel:
    """The section as a model, checked field by field."""
    _, pieces_node, unknown, byte_fallback, fuse, unused, marker, drawn = node.fields(*_FIELDS)
    pieces, _ = pieces_and_ids(pieces_node)
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
