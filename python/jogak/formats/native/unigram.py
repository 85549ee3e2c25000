"""The ``model`` section of a Unigram tokenizer."""

from __future__ import annotations

from typing import Any, cast

from jogak.formats.checked import Node
from jogak.formats.native.parts import marker_from_node, numbers, pieces_and_ids
from jogak.spec import UnigramModel
from jogak.spec.record import asdict

__all__ = ["from_node", "to_dict"]

_FIELDS = (
    "type", "pieces", "scores", "user_defined", "unused", "byte_fallback", "unknown", "fuse_unknown",
    "precision", "marker",
)  # fmt: skip
#: Since version 3.
_LATER = ("drawn", "hf_rules")
_LATER_NUMBER = ("unknown_score",)


def to_dict(model: UnigramModel) -> dict[str, Any]:
    """The model as the section holds it. Scores are written so that reading gives the same bits."""
    return {
        "type": "unigram",
        "pieces": list(model.pieces),
        "scores": [float(score) for score in model.scores],
        "user_defined": list(model.user_defined),
        "unused": list(model.unused),
        "byte_fallback": model.byte_fallback,
        "unknown": model.unknown,
        "fuse_unknown": model.fuse_unknown,
        "precision": model.precision,
        "marker": asdict(model.marker),
        **{name: getattr(model, name) for name in _LATER},
        "unknown_score": model.unknown_score,
    }


def from_node(node: Node, version: int) -> UnigramModel:
    """The section as a model, checked field by field."""
    (
        _, pieces_node, scores, user_defined, unused, byte_fallback, unknown, fuse_unknown,
        precision, marker, *later,
    ) = node.fields(*_FIELDS, *(_LATER + _LATER_NUMBER if version >= 3 else ()))  # fmt: skip
    pieces, _ = pieces_and_ids(pieces_node)
    last = len(pieces) - 1
    with node.blamed():
        return UnigramModel(
            pieces=pieces,
            scores=numbers(scores),
            user_defined=tuple(user_defined.integers(0, last)),
            unused=tuple(unused.integers(0, last)),
            byte_fallback=byte_fallback.flag(),
            unknown=None if unknown.value is None else unknown.text(),
            fuse_unknown=fuse_unknown.flag(),
            precision=cast(Any, precision.text()),
            marker=marker_from_node(marker),
            **{name: option.flag() for name, option in zip(_LATER, later, strict=False)},
            unknown_score=_score(later[-1]) if later else None,
        )


def _score(node: Node) -> float | None:
    """A number, or null."""
    if node.value is None:
        return None
    if type(node.value) not in (int, float):
        raise node.expected("a number or null")
    return float(node.value)
