r"""Pre-tokenizing: cutting a text into words, which no piece will ever cross.

Rules:
- A scheme is a regular expression; the words are its matches, in order. White space between matches
  is the only thing a scheme throws away, and only `whitespace` and `bert` do.
- Character classes are those of Unicode: \p{L} letters, \p{N} numbers, \p{P} punctuation, \p{M} marks,
  \s the property White_Space.
- `metaspace` first writes the text anew: every space (U+0020) becomes ▁ (U+2581) and one ▁ is put
  before a text that is not empty. A word then starts at each ▁.
- A sequence of schemes is applied one after the other, each to the words of the one before.

    none          the whole text is one word
    whitespace    words are what stands between white space
    gpt2          Radford et al. 2019: encoder.py of GPT-2
    cl100k        the `cl100k_base` encoding of tiktoken
    o200k         the `o200k_base` encoding of tiktoken
    bert          as `whitespace`, and every punctuation character is a word of its own; ASCII
                  symbols such as $ and + count as punctuation (Devlin et al. 2019)
    punctuation   every punctuation character of `bert` is a word, the rest stays in one piece
    digits        every number character is a word
    digits-3      numbers are cut into threes from the left
    metaspace     see above (Kudo & Richardson 2018)

The patterns need the package `regex`: the standard library's `re` knows no Unicode properties.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

_PUNCTUATION = r"\p{P}$+<=>^`|~"

PATTERNS = {
    "gpt2": (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
    "cl100k": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "o200k": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "bert": rf"[{_PUNCTUATION}]|[^\s{_PUNCTUATION}]+",
    "punctuation": rf"[{_PUNCTUATION}]|[^{_PUNCTUATION}]+",
    "digits": r"\p{N}|\P{N}+",
    "digits-3": r"\p{N}{1,3}|\P{N}+",
}
"""The schemes that are a regular expression and no more."""

# The property White_Space. `str.split()` would also split at the control characters U+001C to
# U+001F, which are no white space to Unicode.
_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WHITESPACE_WORD = re.compile(f"[^{_WHITE_SPACE}]+")
_METASPACE_WORD = re.compile("▁[^▁]*|[^▁]+")


def pretokenize(text: str, scheme: str | Sequence[str]) -> list[str]:
    r"""The words of a text.

    Args:
        text: any text.
        scheme: a name from the list above, or several, applied in order.

    Raises:
        ValueError: for a name that is not in the list.
        ImportError: if a pattern is needed and the package `regex` is missing.

    >>> pretokenize("It's 1,234  words", "gpt2")
    ['It', "'s", ' 1', ',', '234', ' ', ' words']
    >>> pretokenize("It's so", ["whitespace", "punctuation"])
    ['It', "'", 's', 'so']
    >>> pretokenize("a  b", "metaspace")
    ['▁a', '▁', '▁b']
    """
    if not isinstance(scheme, str):
        words = [text]
        for name in scheme:
            words = [part for word in words for part in pretokenize(word, name)]
        return words
    if scheme == "none":
        return [text] if text else []
    if scheme == "whitespace":
        return _WHITESPACE_WORD.findall(text)
    if scheme == "metaspace":
        return _METASPACE_WORD.findall(metaspace(text))
    if scheme not in PATTERNS:
        names = ", ".join(["none", "whitespace", *PATTERNS, "metaspace"])
        raise ValueError(f"pre-tokenizer {scheme!r} is not one of {names}")
    return [match.group() for match in _compiled(PATTERNS[scheme]).finditer(text)]


def metaspace(text: str) -> str:
    """Writes spaces as ▁, and one more ▁ before a text that is not empty.

    >>> metaspace("a b")
    '▁a▁b'
    """
    return "▁" + text.replace(" ", "▁") if text else ""


def undo_metaspace(text: str) -> str:
    """The way back from `metaspace`. A ▁ that stood in the text itself comes back as a space.

    >>> undo_metaspace("▁a▁b")
    'a b'
    """
    return text.replace("▁", " ").removeprefix(" ")


@cache
def _compiled(pattern: str) -> Any:
    """The pattern, compiled by the package `regex`, which is loaded when first needed."""
    try:
        regex = import_module("regex")
    except ImportError as missing:
        raise ImportError(
            "this pre-tokenizer needs the package 'regex': pip install regex"
        ) from missing
    return regex.compile(pattern)
