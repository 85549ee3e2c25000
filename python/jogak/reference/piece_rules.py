"""BPE with rules about what may be a piece, as SentencePiece has them (Kudo & Richardson 2018).

    repeat:
        count all pairs of neighbours whose joined text may be a piece
        best = the largest count; then fewer characters, the smaller text, the smaller left part
        replace best everywhere, left to right without overlap

A pair whose joined text is a piece already is passed over: two ways to one text are one piece. A text
may be a piece if it keeps all of these:

- It has at most `longest` characters.
- A ▁ stands first only; with `split_by_whitespace=False` anywhere but last; as a suffix last only, or
  anywhere but first. Pieces of nothing but ▁ are free of this if that is allowed.
- With `split_digits` a digit stands alone.
- All characters are of one script. A ▁ has none, and a mark (Inherited) has that of what is before it.
  Without `split_by_number` a digit has none, and what follows it is free again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

__all__ = ["learn", "may_be_piece"]

MARK = "▁"


def may_be_piece(
    text: str,
    script: Callable[[str], str],
    *,
    longest: int = 16,
    split_by_unicode_script: bool = True,
    split_by_number: bool = True,
    split_digits: bool = False,
    split_by_whitespace: bool = True,
    treat_whitespace_as_suffix: bool = False,
    allow_whitespace_only_pieces: bool = False,
) -> bool:
    """Whether a text of two characters or more may be a piece.

    Args:
        text: the text.
        script: character -> name of its script, "Common" or "Inherited"; kana must be "Han".
        longest: how many characters it may have.
        split_by_unicode_script, split_by_number, split_digits, split_by_whitespace,
        treat_whitespace_as_suffix, allow_whitespace_only_pieces: see above.

    >>> script = lambda c: "Latin" if c.isascii() and c.isalpha() else "Common"
    >>> [may_be_piece(text, script) for text in ("▁ab", "a▁", "a1", "12")]
    [True, False, False, True]
    """
    if len(text) > longest:
        return False
    if split_digits and any(character in "0123456789" for character in text):
        return False
    only_marks = set(text) == {MARK}
    if not (only_marks and allow_whitespace_only_pieces):
        if treat_whitespace_as_suffix:
            forbidden = text[:-1] if split_by_whitespace else text[:1]
        else:
            forbidden = text[1:] if split_by_whitespace else text[-1:]
        if MARK in forbidden:
            return False
    before: str | None = None
    for character in text if split_by_unicode_script else "":
        if character == MARK:
            continue
        own: str | None = script(character)
        if own == "Inherited":
            own = before
        if character in "0123456789" and not split_by_number:
            own = None
        if own is not None and before is not None and own != before:
            return False
        before = own
    return True


def learn(
    texts: Mapping[str, int], merges: int, allowed: Callable[[str], bool], cut: Iterable[str] = ()
) -> list[str]:
    """The pieces in the order in which they are made; fewer than `merges` if no pair is left.

    Args:
        texts: text with ▁ for spaces -> how often it occurs.
        merges: how many pieces are wanted.
        allowed: whether a joined text may be a piece.
        cut: texts that no piece may cross, longest first.

    >>> learn({"▁low": 2, "▁lot": 1}, 3, lambda text: True)
    ['lo', '▁lo', '▁low']
    """
    corpus: list[tuple[list[str], int]] = []
    for text, count in texts.items():
        for symbol in cut:
            text = text.replace(symbol, "\0")
        corpus.extend((list(part), count) for part in text.split("\0"))
    pieces: list[str] = []
    passed: set[tuple[str, str]] = set()
    while len(pieces) < merges:
        counts: dict[tuple[str, str], int] = {}
        for symbols, count in corpus:
            for left, right in pairwise(symbols):
                if (left, right) not in passed and allowed(left + right):
                    counts[left, right] = counts.get((left, right), 0) + count
        if not counts:
            break
        left, right = min(
            counts, key=lambda pair: (-counts[pair], len("".join(pair)), "".join(pair), pair[0])
        )
        if left + right in pieces:
            passed.add((left, right))
            continue
        pieces.append(left + right)
        for symbols, _ in corpus:
            place = 0
            while place + 1 < len(symbols):
                if (symbols[place], symbols[place + 1]) == (left, right):
                    symbols[place : place + 2] = [left + right]
                place += 1
    return pieces
