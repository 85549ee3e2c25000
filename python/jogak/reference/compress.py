"""Byte pair compression (Gage 1994, "A new algorithm for data compression", The C Users Journal).

    repeat:
        count all pairs of neighbouring symbols
        replace the most frequent pair by a symbol that does not occur in the text
        write the replacement down in a table
    until no pair occurs often enough

Rules:
- Pairs are counted as windows and replaced left to right, as in `bpe`; ties are those of `ties`,
  compared by what the symbols stand for: in ZabdZabac with Z = aa, (a, b) comes before (Z, a).
- The new symbols are Z, Y, X, ... A, then ! to ~, then ¡ to ſ, then 가 to 힣; a character of the text
  is never taken. Gage uses unused byte values; these can be printed.
- It stops at the first of: as many steps as asked for ("max-steps"), no pair left ("no-pair"), the
  best pair occurs less often than asked for ("min-pair-count"), no symbol left ("no-symbol").

The same loop, run over words and keeping the pairs instead of the text, is BPE training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .bpe import count_pairs, merge_pair
from .ties import best_pair


@dataclass(frozen=True)
class CompressionStep:
    """One replacement.

    Attributes:
        pair: the two symbols, as they stand in the text before.
        symbol: the symbol that replaces them.
        stands_for: the symbol's text, written out.
        count: how often the pair occurred, in windows.
        text: the text after the replacement.
        length: its number of characters.
        symbols: how many symbols there are by now: the characters of the first text and the table.
    """

    pair: tuple[str, str]
    symbol: str
    stands_for: str
    count: int
    text: str
    length: int
    symbols: int


@dataclass(frozen=True)
class Compression:
    """A compressed text and the table that opens it.

    Attributes:
        text: the compressed text.
        steps: the replacements, in order.
        stop: "max-steps", "no-pair", "min-pair-count" or "no-symbol".
        start_length: length of the text before, in characters.
        start_symbols: its number of different characters.
    """

    text: str
    steps: tuple[CompressionStep, ...]
    stop: str
    start_length: int
    start_symbols: int

    @property
    def table(self) -> dict[str, tuple[str, str]]:
        """Symbol -> the pair it replaces, in the order of the steps."""
        return {step.symbol: step.pair for step in self.steps}

    def decompress(self) -> str:
        """The text as it was: the table read backwards.

        >>> compress("aaabdaaabac").decompress()
        'aaabdaaabac'
        """
        text = self.text
        for symbol, (left, right) in reversed(self.table.items()):
            text = text.replace(symbol, left + right)
        return text


def compress(
    text: str, *, ties: str = "lexicographic", min_pair_count: int = 2, max_steps: int | None = None
) -> Compression:
    """Compresses a text by replacing its most frequent pairs.

    Args:
        text: any text.
        ties: "lexicographic", "first-seen", "greatest" or "sentencepiece".
        min_pair_count: stop when the best pair occurs less often; in windows.
        max_steps: stop after so many replacements.

    >>> result = compress("aaabdaaabac")
    >>> [(step.symbol, step.stands_for, step.count, step.text) for step in result.steps]
    [('Z', 'aa', 4, 'ZabdZabac'), ('Y', 'ab', 2, 'ZYdZYac'), ('X', 'aaab', 2, 'XdXac')]
    >>> result.table["X"], result.start_length, len(result.text)
    (('Z', 'Y'), 11, 5)
    """
    if ties == "lowest-id":
        raise ValueError("ties 'lowest-id' needs ids, and the symbols of a text have none")
    characters = set(text)
    unused = _new_symbols(characters)
    name: dict[str, str] = {}  # what a symbol stands for -> the symbol
    row = list(text)  # the text, every symbol written out
    drawn = text
    steps: list[CompressionStep] = []
    while True:
        if max_steps is not None and len(steps) >= max_steps:
            stop = "max-steps"
            break
        counts = count_pairs([(row, 1)])
        if not counts:
            stop = "no-pair"
            break
        pair = best_pair(counts, ties)
        if counts[pair] < min_pair_count:
            stop = "min-pair-count"
            break
        symbol = next(unused, None)
        if symbol is None:
            stop = "no-symbol"
            break
        whole = pair[0] + pair[1]
        drawn_pair = (name.get(pair[0], pair[0]), name.get(pair[1], pair[1]))
        name[whole] = symbol
        row = merge_pair(row, pair, whole)
        drawn = "".join(name.get(part, part) for part in row)
        steps.append(
            CompressionStep(
                pair=drawn_pair,
                symbol=symbol,
                stands_for=whole,
                count=counts[pair],
                text=drawn,
                length=len(row),
                symbols=len(characters) + len(steps) + 1,
            )
        )
    return Compression(drawn, tuple(steps), stop, len(text), len(characters))


def _new_symbols(used: set[str]) -> Iterator[str]:
    """Characters to replace pairs with, none of them in `used` and none twice."""
    seen = set(used)
    for first, last in (("Z", "A"), ("!", "~"), ("¡", "ſ"), ("가", "힣")):
        step = 1 if first <= last else -1
        for code in range(ord(first), ord(last) + step, step):
            # U+00AD, the soft hyphen, cannot be seen.
            if code != 0xAD and chr(code) not in seen:
                seen.add(chr(code))
                yield chr(code)
