"""The ``model`` section of a BPE tokenizer that merges by scores."""

from __future__ import annotations

from typing import Any

from jogak.formats.checked import Node
from jogak.formats.native.parts import marker_from_node, numbers, pieces_and_ids
from jogak.spec import ScoredBPEModel
from jogak.spec.record import asdict

__all__ = ["from_node", "to_dict"]

_FIELDS = (
    "type", "pieces", "scores", "user_defined", "unused", "marker", "mark_words", "byte_fallback",
    "unknown", "fuse_unknown",
)  # fmt: skip


def to_dict(model: ScoredBPEModel) -> dict[str, Any]:
    """The model as the section holds it. Scores are written so that reading gives the same bits."""
    return {
        "type": "scored-bpe",
        "pieces": list(model.pieces),
        "scores": [float(score) for score in model.scores],
        "user_defined": list(model.user_defined),
        "unused": list(model.unused),
        "marker": asdict(model.marker),
        "mark_words": model.mark_words,
        "byte_fallback": model.byte_fallback,
        "unknown": model.unknown,
        "fuse_unknown": model.fuse_unknown,
    }


def from_node(node: Node) -> ScoredBPEModel:
    """The section as a model, checked field by field."""
    (
        _, pieces_node, scores, user_defined, unused, marker, mark_words, byte_fallback, unknown,
        fuse_unknown,
    ) = node.fields(*_FIELDS)  # fmt: skip
    pieces, _ = pieces_and_ids(pieces_node)
    with node.blamed():
        return ScoredBPEModel(
            pieces=pieces,
            merges=None,
            scores=numbers(scores),
            user_defined=tuple(user_defined.integers(0, len(pieces) - 1)),
            unused=tuple(unused.integers(0, len(pieces) - 1)),
            marker=marker_from_node(marker),
            mark_words=mark_words.flag(),
            byte_fallback=byte_fallback.flag(),
            unknown=None if unknown.value is None else unknown.text(),
            fuse_unknown=fuse_unknown.flag(),
        )
