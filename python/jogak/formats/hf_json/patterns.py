"""Patterns of a ``tokenizer.json``: a text as it stands, or a regular expression of Oniguruma."""

from __future__ import annotations

from jogak.errors import UnsupportedFeature
from jogak.formats.checked import Node
from jogak.formats.hf_json.serde import unsupported
from jogak.spec.oniguruma import from_oniguruma
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


def named_pattern(node: Node) -> str | None:
    """The scheme that cuts every text as this expression of Oniguruma does, if one is known."""
    pattern = node.value.get("Regex") if isinstance(node.value, dict) else None
    if not isinstance(pattern, str):
        return None
    # Where these stand, it is another expression for Oniguruma than for tiktoken.
    foreign = "}+" in pattern or "$" in pattern
    return _NAMES.get(pattern) or (None if foreign else named_scheme(pattern))


def pattern_of(name: str) -> str | None:
    """The way back: an expression of Oniguruma."""
    return _PATTERNS.get(name)


def pattern_from(node: Node) -> tuple[str, bool]:
    r"""The pattern of a ``{"String": ...}`` or ``{"Regex": ...}``, and whether it is an expression.

    Expressions are written anew for the engine here.

    Raises:
        FormatError: something else.
        UnsupportedFeature: an expression that has no equal here.

    >>> pattern_from(Node({"Regex": "[0-9]+$"}))
    ('[0-9]+(?=\\n|\\z)', True)
    """
    if not isinstance(node.value, dict) or len(node.value) != 1:
        raise node.expected("an object with String or with Regex")
    (kind,) = node.value
    if kind not in ("String", "Regex"):
        raise node.expected("an object with String or with Regex")
    pattern = node.field(kind).text()
    if not pattern:
        raise unsupported(
            node.child(kind, pattern),
            "expected a pattern that matches something; this one matches nothing, everywhere",
        )
    if kind == "String":
        return pattern, False
    try:
        return from_oniguruma(pattern), True
    except UnsupportedFeature as error:
        raise unsupported(node.child(kind, pattern), str(error)) from None


#: What `from_oniguruma` writes for what else.
_WRITTEN = sorted(
    (
        (from_oniguruma(each), each)
        for each in (r"\w", r"\W", r"\b", r"\B", r"\R", r"\N", r"\O", r"\Z", "^", "$", r"\d", r"\D")
    ),
    key=lambda both: -len(both[0]),
)
_WRITTEN_IN_BRACKETS = (
    (from_oniguruma(r"[\w]")[1:-1], r"\w"),
    (from_oniguruma(r"[\W]")[1:-1], r"\W"),
)


def pattern_to(pattern: str, regex: bool, name: str) -> dict[str, str]:
    r"""The way back.

    Raises:
        UnsupportedFeature: an expression that may mean something else to Oniguruma.

    >>> pattern_to(r"[0-9]+(?=\n|\z)", True, "tokenizer.json")
    {'Regex': '[0-9]+$'}
    """
    if not regex:
        return {"String": pattern}
    shorter = pattern
    for ours, theirs in (*_WRITTEN, *_WRITTEN_IN_BRACKETS):
        shorter = shorter.replace(ours, theirs)
    # What stands for itself on both sides is written as it is.
    for candidate in (pattern, shorter, shorter.replace("(?s:", "(?m:")):
        try:
            if from_oniguruma(candidate) == pattern:
                return {"Regex": candidate}
        except UnsupportedFeature:
            continue
    raise UnsupportedFeature(
        f"{name}: the regular expression {pattern!r} may match other texts in Oniguruma, which "
        "reads the tokenizer.json; save it as the native format"
    )
