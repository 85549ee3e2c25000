"""The expressions of the published vocabularies, and the schemes that give the same words.

Rule: an expression is known by its text alone. Any other runs as it is written, with `jogak.Split`.
"""

from __future__ import annotations

from jogak.spec import PretokenizerLike, Split

__all__ = ["CL100K", "GPT2", "KNOWN", "O200K", "scheme_of"]

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
    r"|\s*[\r\n]|\s+(?!\S)|\s"
)
_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _ENDINGS,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _ENDINGS,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)

#: Expression -> scheme. Older releases spelled GPT-2's otherwise. (Their cl100k had other words at the
#: end of texts.)
KNOWN = {
    GPT2: "gpt2",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    CL100K: "cl100k",
    O200K: "o200k",
}


def scheme_of(pattern: str) -> PretokenizerLike:
    """What cuts texts into the matches of an expression.

    Raises:
        TypeError: not a text.

    >>> scheme_of(CL100K), scheme_of(r"\\w+").matches
    ('cl100k', 'only')
    """
    if not isinstance(pattern, str):
        raise TypeError(f"pat_str is {pattern!r}; expected the text of a regular expression")
    return KNOWN.get(pattern) or Split(pattern, matches="only")
