"""Patterns of a ``tokenizer.json``: a text as it stands, or a regular expression of Oniguruma."""

from __future__ import annotations

from jogak.formats.checked import Node

__all__ = ["pattern_from", "pattern_to"]


def pattern_from(node: Node) -> tuple[str, bool]:
    """The pattern of a ``{"String": ...}`` or ``{"Regex": ...}``, and whether it is an expression.

    >>> pattern_from(Node({"Regex": "a+"}))
    ('a+', True)
    """
    if not isinstance(node.value, dict) or len(node.value) != 1:
        raise node.expected("an object with String or with Regex")
    (kind,) = node.value
    if kind not in ("String", "Regex"):
        raise node.expected("an object with String or with Regex")
    return node.field(kind).text(), kind == "Regex"


def pattern_to(pattern: str, regex: bool) -> dict[str, str]:
    """The way back."""
    return {"Regex" if regex else "String": pattern}
