"""The ``truncation`` and ``padding`` sections of a ``tokenizer.json``."""

from __future__ import annotations

from typing import Any, Literal

from jogak.formats.checked import Node
from jogak.formats.hf_json.serde import option
from jogak.spec import Padding, Truncation

__all__ = ["read_padding", "read_truncation", "write_padding", "write_truncation"]

_STRATEGIES = {
    "LongestFirst": "longest-first",
    "OnlyFirst": "only-first",
    "OnlySecond": "only-second",
}
_SIDES: dict[str, Literal["left", "right"]] = {"Left": "left", "Right": "right"}
_MOST = 2**32 - 1


def read_truncation(node: Node | None) -> Truncation | None:
    """How inputs are cut.

    Raises:
        FormatError: a field is missing or has an impossible value.
    """
    if node is None:
        return None
    strategy = node.field("strategy")
    if strategy.text() not in _STRATEGIES:
        raise strategy.expected(f"one of {', '.join(_STRATEGIES)}")
    side = _side(node.field("direction")) if "direction" in node.value else "right"
    max_length = node.field("max_length").integer(0, _MOST)
    stride = node.field("stride").integer(0, _MOST)
    with node.blamed():
        return Truncation(max_length, stride, side, _STRATEGIES[strategy.text()])  # type: ignore[arg-type]  # checked above


def write_truncation(truncation: Truncation | None) -> dict[str, Any] | None:
    """The way back."""
    if truncation is None:
        return None
    names = {ours: theirs for theirs, ours in _STRATEGIES.items()}
    return {
        "direction": truncation.side.capitalize(),
        "max_length": truncation.max_length,
        "strategy": names[truncation.strategy],
        "stride": truncation.stride,
    }


def read_padding(node: Node | None) -> Padding | None:
    """How inputs are filled up.

    Raises:
        FormatError: a field is missing or has an impossible value.
    """
    if node is None:
        return None
    strategy = node.field("strategy")
    length = None
    if isinstance(strategy.value, dict):
        if [*strategy.value] != ["Fixed"]:
            raise strategy.expected("'BatchLongest', or an object with Fixed")
        length = strategy.field("Fixed").integer(0, _MOST)
    elif strategy.value != "BatchLongest":
        raise strategy.expected("'BatchLongest', or an object with Fixed")
    multiple = option(node, "pad_to_multiple_of")
    # 0 is as good as none.
    multiple_of = (multiple.integer(0, _MOST) or None) if multiple is not None else None
    with node.blamed():
        return Padding(
            token=node.field("pad_token").text(),
            id=node.field("pad_id").integer(0, _MOST),
            type_id=node.field("pad_type_id").integer(0, _MOST),
            side=_side(node.field("direction")),
            length=length,
            multiple_of=multiple_of,
        )


def write_padding(padding: Padding | None) -> dict[str, Any] | None:
    """The way back."""
    if padding is None:
        return None
    return {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": padding.side.capitalize(),
        "pad_to_multiple_of": padding.multiple_of,
        "pad_id": padding.id,
        "pad_type_id": padding.type_id,
        "pad_token": padding.token,
    }


def _side(node: Node) -> Literal["left", "right"]:
    if node.text() not in _SIDES:
        raise node.expected("'Left' or 'Right'")
    return _SIDES[node.text()]
