"""The ``model`` section of a BPE tokenizer with a vocabulary and glossaries."""

from __future__ import annotations

from typing import Any

from jogak.errors import UnsupportedFeature
from jogak.formats.checked import Node
from jogak.formats.native import bpe
from jogak.spec import BPEModel, CodesModel
from jogak.spec.record import fields

__all__ = ["from_node", "to_dict"]


def to_dict(model: CodesModel) -> dict[str, Any]:
    """The model as the section holds it: that of BPE, and two fields more."""
    return {
        **bpe.to_dict(model),
        "type": "codes",
        "kept": None if model.kept is None else list(model.kept),
        "glossaries": list(model.glossaries),
    }


def from_node(node: Node, version: int) -> CodesModel:
    """The section as a model, checked field by field."""
    kept, glossaries = node.field("kept"), node.field("glossaries")
    own = ("kept", "glossaries")
    plain = {name: value for name, value in node.value.items() if name not in own}
    model = bpe.from_node(Node(plain, node.place, node.file), (), version)
    options = {field.name: getattr(model, field.name) for field in fields(BPEModel)}
    ids = None if kept.value is None else tuple(kept.integers(0, len(model.pieces) - 1))
    with node.blamed():
        try:
            texts = tuple(item.text() for item in glossaries.items())
            return CodesModel(**options, kept=ids, glossaries=texts)
        except UnsupportedFeature as error:
            raise glossaries.fault(str(error)) from None
