"""The ``model`` section: one module for each family, found by the field ``type``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from jogak.formats.checked import Node
from jogak.formats.native import bpe, codes, scored_bpe, unigram, word_level, wordpiece
from jogak.spec import (
    CodesModel,
    Model,
    ScoredBPEModel,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
)

__all__ = ["model_from_node", "model_to_dict"]


def model_to_dict(model: Model) -> dict[str, Any]:
    """A model as plain data."""
    if isinstance(model, WordPieceModel):
        return wordpiece.to_dict(model)
    if isinstance(model, WordLevelModel):
        return word_level.to_dict(model)
    if isinstance(model, UnigramModel):
        return unigram.to_dict(model)
    if isinstance(model, ScoredBPEModel):
        return scored_bpe.to_dict(model)
    if isinstance(model, CodesModel):
        return codes.to_dict(model)
    return bpe.to_dict(model)


def model_from_node(node: Node, apart: Collection[str], version: int) -> Model:
    """The way back, checked field by field; ``apart`` are the texts of special and added tokens.

    Raises:
        FormatError: a field that is missing, unknown, or has an impossible value.
    """
    kind = node.field("type")
    if kind.value == "bpe":
        return bpe.from_node(node, apart, version)
    if kind.value == "unigram":
        return unigram.from_node(node, version)
    if kind.value == "scored-bpe":
        return scored_bpe.from_node(node)
    if kind.value == "wordpiece":
        return wordpiece.from_node(node, version)
    if kind.value == "word-level" and version >= 3:
        return word_level.from_node(node)
    if kind.value == "codes" and version >= 3:
        return codes.from_node(node, version)
    raise kind.expected("'bpe', 'scored-bpe', 'codes', 'unigram', 'wordpiece' or 'word-level'")
