"""Byte pair compression (Gage 1994): the game that byte pair encoding comes from.

Replace the commonest pair of neighbouring letters by a letter that the text does not use, write
down what it stands for, and start over. The pairs come from the same trainer that learns
tokenizers, which is given the whole text as its only word; this file only hands out the letters
and replays the replacements, so that each state of the text can be seen.

Leaves out: the table is not packed into the text, and every step keeps the text of its moment.
It is for looking at, on texts up to some thousands of letters, not for saving disk space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from jogak.errors import ConfigError

if TYPE_CHECKING:
    from jogak.explain.data import Compression, CompressionStep, MergeTrace
    from jogak.spec import Ties

__all__ = ["compress"]


def compress(
    text: str,
    ties: Ties = "lexicographic",
    min_pair_count: int = 2,
    max_steps: int | None = None,
) -> Compression:
    """A text -> the same text in fewer letters, with the table to undo it and every step.

    The letters are ``Z``, ``Y``, ``X``, ... as far as the text does not use them, then Greek
    capitals from the end, circled letters, and any other character that prints.

    Args:
        text: what to compress.
        ties: which of several commonest pairs is taken, as in `jogak.BPE`.
        min_pair_count: stop when the commonest pair occurs less often than this.
        max_steps: stop after this many replacements; None goes on as long as there are pairs.

    Raises:
        ConfigError: an option has an impossible value.

    >>> packed = compress("aaabdaaabac")
    >>> packed.result, packed.table
    ('XdXac', {'Z': ('a', 'a'), 'Y': ('a', 'b'), 'X': ('Z', 'Y')})
    >>> packed.decompress()
    'aaabdaaabac'
    """
    from jogak.explain.data import Candidate, Compression, CompressionStep

    letters = _spare_letters(text)
    letter_of = {letter: letter for letter in text}  # the text that a symbol stands for -> letter
    current = text
    steps: list[CompressionStep] = []
    table: dict[str, tuple[str, str]] = {}
    for merge in _merges(text, ties, min_pair_count, max_steps) if text else ():
        left, right = letter_of[merge.left], letter_of[merge.right]
        candidates = tuple(
            Candidate(letter_of[pair.left], letter_of[pair.right], pair.count)
            for pair in merge.candidates
        )
        symbol = letter_of.get(merge.piece)
        if symbol is None:  # else: the same text, put together another way before (a+ab, aa+b)
            symbol = next(letters, None)
            if symbol is None:
                raise ConfigError(
                    f"step {len(steps) + 1} finds no character that the text does not use; "
                    f"stop earlier with max_steps={len(steps)}"
                )
            letter_of[merge.piece] = symbol
            table[symbol] = (left, right)
        current = current.replace(left + right, symbol)
        step = CompressionStep(
            symbol=symbol,
            left=left,
            right=right,
            expanded=merge.piece,
            count=merge.count,
            candidates=candidates,
            text_after=current,
            length=len(current),
            symbols=len(letter_of),
        )
        steps.append(step)
    return Compression(text=text, steps=tuple(steps), result=current, table=table)


def _merges(
    text: str, ties: Ties, min_pair_count: int, max_steps: int | None
) -> Sequence[MergeTrace]:
    """The merges that the trainer makes when the whole text is its only word."""
    from jogak.learn import train
    from jogak.spec import BPE
    from jogak.training import TrainingLog

    config = BPE(num_merges=max_steps, marker="none", ties=ties, min_pair_count=min_pair_count)
    log = train({text: 1}, config, pretokenizer="none", trace=True).training
    assert isinstance(log, TrainingLog)
    return log.trace.merges if log.trace is not None else ()


def _spare_letters(text: str) -> Iterator[str]:
    """Characters that the text does not use, the plainest first; each prints and stands alone."""
    import unicodedata

    greek, circled = (range(ord("Ω"), ord("Α") - 1, -1), range(ord("Ⓩ"), ord("Ⓐ") - 1, -1))
    european, ideographs = range(0xA1, 0x590), range(0x4E00, 0xA000)  # none runs right to left
    codes = chain(range(ord("Z"), ord("A") - 1, -1), greek, circled, european, ideographs)
    used = set(text)
    for letter in map(chr, codes):
        if letter not in used and unicodedata.category(letter) in ("Lu", "Ll", "Lo", "So", "Sm"):
            used.add(letter)
            yield letter
