"""The ``model`` section of a BPE tokenizer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import add
from typing import Any, cast

from jogak.formats import bytelevel
from jogak.formats.checked import Node, NotPlain
from jogak.formats.native.lists import Ids, Integers
from jogak.formats.native.parts import marker_from_node, numbers, pieces_and_ids
from jogak.formats.vocabulary import product
from jogak.spec import BPEModel, Marker
from jogak.spec.record import asdict

__all__ = ["from_node", "to_dict"]

_FIELDS = (
    "type", "pieces", "merges", "marker", "mark_words", "alphabet", "byte_fallback", "unknown",
    "fuse_unknown", "strategy", "whole_word",
)  # fmt: skip
#: Since version 3.
_LATER = ("drop_unknown", "word_suffix", "dropout", "drawn", "hf_rules")


def to_dict(model: BPEModel) -> dict[str, Any]:
    """The model as the section holds it."""
    merges = model.merges
    return {
        "type": "bpe",
        "pieces": list(model.pieces),
        "merges": None if merges is None else [id_ for pair in merges for id_ in pair],
        "marker": asdict(model.marker),
        "mark_words": model.mark_words,
        "alphabet": model.alphabet,
        "byte_fallback": model.byte_fallback,
        "unknown": model.unknown,
        "fuse_unknown": model.fuse_unknown,
        "strategy": model.strategy,
        "whole_word": model.whole_word,
        **{name: getattr(model, name) for name in _LATER},
        "dropout": float(model.dropout),
    }


def from_node(node: Node, apart: Collection[str], version: int) -> BPEModel:
    """The section as a model, checked field by field; ``apart`` are the texts of special tokens."""
    (
        _, pieces_node, merges_node, marker_node, mark_words, alphabet, byte_fallback, unknown,
        fuse_unknown, strategy, whole_word, *later_nodes,
    ) = node.fields(*_FIELDS, *(_LATER if version >= 3 else ()))  # fmt: skip
    later = _later(dict(zip(_LATER, later_nodes, strict=False)))
    hf_rules = bool(later.get("hf_rules", False))
    pieces, ids = pieces_and_ids(pieces_node)
    marker = marker_from_node(marker_node)
    if marker.kind == "byte-level" and not hf_rules:
        _check_byte_level(pieces_node, ids, apart)
    merges = None
    if merges_node.value is not None:
        # Only the merges strategy applies them, so only there must each make a piece.
        makes_pieces = strategy.value == "merges" and not hf_rules
        merges = _merges(merges_node, pieces, ids, marker if makes_pieces else None)
    with node.blamed():
        return BPEModel(
            pieces=pieces,
            merges=merges,
            marker=marker,
            mark_words=mark_words.flag(),
            alphabet=cast(Any, alphabet.text()),
            byte_fallback=byte_fallback.flag(),
            unknown=None if unknown.value is None else unknown.text(),
            fuse_unknown=fuse_unknown.flag(),
            strategy=cast(Any, strategy.text()),
            whole_word=whole_word.flag(),
            **later,
        )


def _later(nodes: Mapping[str, Node]) -> dict[str, Any]:
    """The options that came later, where the file has them."""
    options: dict[str, Any] = {}
    for name, node in nodes.items():
        if name == "word_suffix":
            options[name] = None if node.value is None else node.text()
        elif name == "dropout":
            (options[name],) = numbers(Node([node.value], node.place, node.file))
        else:
            options[name] = node.flag()
    return options


def _check_byte_level(node: Node, ids: Mapping[str, int], apart: Collection[str]) -> None:
    """Every piece of a byte-level vocabulary is written in byte characters, special tokens apart."""
    if isinstance(ids, Ids):
        foreign = ids.first_foreign(set(apart))
    else:
        foreign = bytelevel.first_foreign(text for text in ids if text not in apart)
    if foreign is not None:
        raise node.child(ids[foreign], foreign).expected(
            "byte-level pieces in GPT-2's printable characters; "
            "other texts can only be special tokens"
        )


def _merges(
    node: Node, pieces: Sequence[str | None], ids: Mapping[str, int], marker: Marker | None
) -> tuple[tuple[int, int], ...]:
    """The flat list as pairs; with a marker, every pair must make a piece."""
    if isinstance(ids, Ids):
        # Whose right parts lose a mark is left to the readers below.
        plain = isinstance(node.value, Integers) and (
            marker is None or marker.kind != "continuation"
        )
        table = ids.merges_of(node.value, marker is not None) if plain else None
        if table is None:
            raise NotPlain
        return cast("tuple[tuple[int, int], ...]", table)
    flat = node.integers(0, len(pieces) - 1)
    if len(flat) % 2:
        raise node.fault(f"has {len(flat)} ids; expected two for each merge")
    merges = tuple(zip(flat[::2], flat[1::2], strict=True))
    # One pass in C for the usual case; the slow look is only for the message.
    if marker is not None and marker.kind != "continuation":
        parts: list[Any] = [*map(pieces.__getitem__, flat)]
        if None not in parts and all(map(ids.__contains__, map(add, parts[::2], parts[1::2]))):
            return merges
    for rank, (left_id, right_id) in enumerate(merges):
        left, right = pieces[left_id], pieces[right_id]
        if left is None or right is None:
            nothing = left_id if left is None else right_id
            raise node.child(rank, None).fault(
                f"joins ids {left_id} and {right_id}, but {nothing} stands for nothing; "
                "expected two pieces"
            )
        if marker is not None and product(marker, left, right) not in ids:
            raise node.child(rank, None).fault(
                f"joins {left!r} and {right!r}, but {product(marker, left, right)!r} is no piece; "
                "expected it among the pieces"
            )
    return merges
