"""Patterns of a ``tokenizer.json``: a text as it stands, or a regular expression of Oniguruma."""

from __future__ import annotations

from jogak.formats.checked import Node
from jogak.formats.hf_json.serde import unsupported
from jogak.spec.schemes import named_scheme

__all__ = ["named_pattern", "pattern_from", "pattern_of", "pattern_to"]

_END = r" ?[^\s\p{L}\p{N}]+"
_BY_CASE = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s"
)
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"

#: Name -> the expression of Oniguruma that cuts every text in the same way, as most files have it.
_PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    # Oniguruma ends a line at `$`, and repeats where a `+` stands behind `{1,3}`.
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s",
    "llama-3": _ENDINGS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|" + _END + r"[\r\n]*" + _SPACES,
    "qwen2": _ENDINGS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|" + _END + r"[\r\n]*" + _SPACES,
    "o200k": _BY_CASE % (_ENDINGS + "?", _ENDINGS + "?")
    + r"|\p{N}{1,3}|" + _END + r"[\r\n/]*" + _SPACES,
    "tekken": _BY_CASE % ("", "") + r"|\p{N}|" + _END + r"[\r\n/]*" + _SPACES,
}  # fmt: skip
_NAMES = {pattern: name for name, pattern in _PATTERNS.items()}


def named_pattern(pattern: str) -> str | None:
    """The scheme that cuts every text as this expression of Oniguruma does, if one is known."""
    if pattern in _NAMES:
        return _NAMES[pattern]
    # Where these stand, it is another expression for Oniguruma than for tiktoken.
    return None if "}+" in pattern or "$" in pattern else named_scheme(pattern)


def pattern_of(name: str) -> str | None:
    """The way back."""
    return _PATTERNS.get(name)


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
    pattern = node.field(kind).text()
    if not pattern:
        raise unsupported(node.child(kind, pattern), "a pattern that matches nothing, everywhere")
    return pattern, kind == "Regex"


def pattern_to(pattern: str, regex: bool) -> dict[str, str]:
    """The way back."""
    return {"Regex" if regex else "String": pattern}
