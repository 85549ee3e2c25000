"""Tokens that are found in a text before it is cut, as the added vocabulary of HF tokenizers does it.

Rules:
- There are two searches. The first looks in the text as it comes, for tokens without `normalized`. What
  is left between them is normalized, each stretch by itself, and the second looks there, for the
  other tokens, which are normalized themselves.
- At each place the longest token that stands there is taken, and the search goes on behind it.
- Then its rules are asked. A special token while special tokens are text is no token; nor is a
  `single_word` one with a word character at its side. Nothing else is looked for inside either.
- White space beside it belongs to it, as `lstrip` and `rstrip` say (only ASCII's with `ascii_spaces`);
  but `lstrip` takes none that a token before it has taken. A token that has nothing left is left out.
- In a text of parts some are trusted: special tokens are those that each trusted part has by itself.

Source: tokenizers 0.23, `added_vocabulary.rs`, and what it does.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"
"""A character of a word: `\\w` of Unicode's technical standard 18."""
SPACE = r"\p{White_Space}"


@dataclass(frozen=True)
class Added:
    """A token to be found, and its rules."""

    text: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    ascii_spaces: bool = False

    @property
    def space(self) -> str:
        """What white space beside it is."""
        return r"[\t-\r ]" if self.ascii_spaces else SPACE


@cache
def _is(character: str, what: str) -> bool:
    """Whether a character is one of `what`; the package `regex` knows the properties."""
    return importlib.import_module("regex").match(what, character) is not None


Found = tuple["Added | None", str]
"""A stretch of text: the token that it is, if it is one."""


def matches(text: str, tokens: dict[str, Added], start: int = 0) -> Iterator[tuple[Added, int]]:
    """Every token that is longest where it stands, from left to right, and where that is; `tokens` by
    the text that is looked for.

    >>> tokens = {text: Added(text) for text in ("a", "ab", "bc")}
    >>> [(token.text, at) for token, at in matches("abc bc", tokens)]
    [('ab', 0), ('bc', 4)]
    """
    lengths = sorted({len(text) for text in tokens}, reverse=True)
    at = start
    while at < len(text):
        here = (text[at : at + length] for length in lengths if length <= len(text) - at)
        longest = next((part for part in here if part in tokens), None)
        if longest is None:
            at += 1
        else:
            yield tokens[longest], at
            at += len(longest)


def is_alone(text: str, start: int, end: int) -> bool:
    """Whether no word character stands beside `text[start:end]`.

    >>> is_alone("a-b", 0, 1), is_alone("a_b", 0, 1)
    (True, False)
    """
    return not (start > 0 and _is(text[start - 1], WORD)) and not (
        end < len(text) and _is(text[end], WORD)
    )


def search(text: str, tokens: dict[str, Added], special: bool) -> list[Found]:
    """One search: the text in stretches, tokens and what is between them.

    Args:
        text: where to look.
        tokens: what to look for, by its text.
        special: whether special tokens are tokens.

    >>> tokens = {"<s>": Added("<s>", rstrip=True)}
    >>> [part for _, part in search("a<s>  b", tokens, True)]
    ['a', '<s>  ', 'b']
    """
    result: list[Found] = []
    done = 0
    for token, start in matches(text, tokens):
        wanted = next(key for key, value in tokens.items() if value is token)
        end = start + len(wanted)
        if token.special and not special:
            continue
        if token.single_word and not is_alone(text, start, end):
            continue
        if token.lstrip:
            while start > 0 and _is(text[start - 1], token.space):
                start -= 1
            start = max(start, done)
        if token.rstrip:
            while end < len(text) and _is(text[end], token.space):
                end += 1
        if start >= end:
            continue
        if done < start:
            result.append((None, text[done:start]))
        result.append((token, text[start:end]))
        done = end
    if done < len(text):
        result.append((None, text[done:]))
    return result


def find(
    text: str,
    tokens: Sequence[Added],
    normalize: Callable[[str], str] = str,
    special: bool = True,
) -> list[Found]:
    """Both searches. The stretches between tokens come normalized, tokens of the first search as they
    stand. Of tokens with equal texts the first is found.

    >>> tokens = [Added("<S>"), Added("YES", normalized=True)]
    >>> [part for _, part in find("<S>Oh yes<s>", tokens, str.lower)]
    ['<S>', 'oh ', 'yes', '<s>']
    """
    plain: dict[str, Added] = {}
    normalized: dict[str, Added] = {}
    for token in tokens:
        if token.normalized:
            normalized.setdefault(normalize(token.text), token)
        else:
            plain.setdefault(token.text, token)
    normalized.pop("", None)
    result: list[Found] = []
    for found, part in search(text, plain, special):
        if found is None:
            result += search(normalize(part), normalized, special)
        else:
            result.append((found, part))
    return [(token, part) for token, part in result if part]


def trusted_places(
    parts: Sequence[tuple[str, bool]], tokens: Sequence[Added]
) -> list[tuple[Added, int, int]]:
    """Where the special tokens of a text in parts are: token, start, end in the joined text; for tokens
    without `normalized`, `lstrip` and `rstrip`.

    >>> parts = [("<", False), ("s>", True), ("<s>", True), ("<s>", False)]
    >>> [(start, end) for _, start, end in trusted_places(parts, [Added("<s>", special=True)])]
    [(3, 6)]
    """
    by_text = {token.text: token for token in tokens}
    places = []
    starts = accumulate((len(part) for part, _ in parts), initial=0)
    for (part, trusted), start in zip(parts, starts, strict=False):
        for token, at in matches(part, by_text) if trusted else ():
            end = at + len(token.text)
            if token.special and (not token.single_word or is_alone(part, at, end)):
                places.append((token, start + at, start + end))
    return places
