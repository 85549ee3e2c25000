"""The ``model`` section of a WordPiece tokenizer."""

from __future__ import annotations

from typing import Any

from jogak.formats.checked import Node
from jogak.formats.native.parts import marker_from_node, pieces_and_ids
from jogak.spec import WordPieceModel
from jogak.spec.record import asdict

__all__ = ["from_node", "to_dict"]

_FIELDS = ("type", "pieces", "marker", "mark_words", "unknown", "max_chars_per_word")
#: Since version 3.
_LATER = ("drawn", "hf_rules")


def to_dict(model: WordPieceModel) -> dict[str, Any]:
    """The model as the section holds it."""
    return {
        "type": "wordpiece",
        "pieces": list(model.pieces),
        "marker": asdict(model.marker),
        "mark_words": model.mark_words,
        "unknown": model.unknown,
        "max_chars_per_word": model.max_chars_per_word,
        **{name: getattr(model, name) for name in _LATER},
    }


def from_node(node: Node, version: int) -> WordPieceModel:
    """The section as a model, checked field by field."""
    _, pieces_node, marker, mark_words, unknown, max_chars, *later = node.fields(
        *_FIELDS, *(_LATER if version >= 3 else ())
    )
    pieces, _ = pieces_and_ids(pieces_node)
    with node.blamed():
        return WordPieceModel(
            pieces=pieces,
            marker=marker_from_node(marker),
            mark_words=mark_words.flag(),
            unknown=None if unknown.value is None else unknown.text(),
            max_chars_per_word=max_chars.integer(0, (1 << 32) - 1),
            **{name: option.flag() for name, option in zip(_LATER, later, strict=False)},
        )
