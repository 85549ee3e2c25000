"""Encoding a word by merging: the strategy `merges`, with and without dropout.

    symbols = the word's first symbols
    while some pair of neighbours is a merge:
        merge the pair of lowest rank, the leftmost one if there are several

Rules:
- One occurrence at a time. For merges in the order in which training found them this gives the same
  tokens as replacing all occurrences of a pair at once.
- Encoding a word stops for one of these reasons:

      whole-word   the model takes whole words, and the word is a piece
      one-symbol   at most one symbol is left
      no-merge     no pair of neighbours is a merge

- Dropout (Provilkov et al. 2020, https://aclanthology.org/2020.acl-main.170): at every step look at
  the pairs that are merges, lowest rank first and from left to right among equals, and draw a number
  for each: with probability p the pair is set aside, else it is merged and the step is over. All
  that was set aside and is still there comes back for the next step. If a step sets everything
  aside, the word is done. The paper drops each pair of a step independently and then merges the best
  one left; drawing only until the first one is kept never looks at the others, so the two have the
  same distribution, step by step.
- p = 0 gives the plain encoding, p = 1 the first symbols. `whole_word` is not looked at: a word
  taken whole would have no steps to drop.
- The numbers of a text come from one SplitMix64 stream, word after word.

Takes time quadratic in the word's length: all pairs are looked at anew for each merge.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .model import Model
from .random import SplitMix64


@dataclass(frozen=True)
class MergeStep:
    """One merge while encoding.

    Attributes:
        left: text of the left symbol.
        right: text of the right symbol.
        rank: the merge's rank.
        place: index of the left symbol before the merge.
        symbols: the word after the merge.
    """

    left: str
    right: str
    rank: int
    place: int
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Encoding:
    """A word, and how it became tokens.

    Attributes:
        word: the word.
        symbols: what it started from.
        steps: the merges, in order.
        stop: "whole-word", "one-symbol" or "no-merge".
        tokens: the result, unknown symbols written as tokens.
    """

    word: str
    symbols: tuple[str, ...]
    steps: tuple[MergeStep, ...]
    stop: str
    tokens: tuple[str, ...]


def encode_word(model: Model, word: str) -> Encoding:
    """Encodes one word, merge by merge.

    >>> model = Model(("a", "b", "ab", "abb"), (("a", "b"), ("ab", "b")))
    >>> encoding = encode_word(model, "aabb")
    >>> encoding.tokens, encoding.stop
    (('a', 'abb'), 'no-merge')
    >>> [(step.left, step.right) for step in encoding.steps]
    [('a', 'b'), ('ab', 'b')]
    """
    first = tuple(model.spelling.symbols(word))
    if model.whole_word:
        whole = "".join(model.spelling.units(word))
        if whole in model.found_in_text:
            return Encoding(word, first, (), "whole-word", (whole,))

    symbols = list(first)
    steps: list[MergeStep] = []
    while open_merges := _open_merges(model, symbols):
        rank, place = open_merges[0]
        left, right = symbols[place : place + 2]
        symbols[place : place + 2] = [model.spelling.merge(left, right)]
        steps.append(MergeStep(left, right, rank, place, tuple(symbols)))
    stop = "no-merge" if len(symbols) > 1 else "one-symbol"
    return Encoding(word, first, tuple(steps), stop, tuple(model.with_unknowns(symbols)))


def encode_word_dropout(model: Model, word: str, p: float, stream: SplitMix64) -> list[str]:
    """Encodes one word with BPE-dropout.

    Args:
        model: the model.
        word: the word.
        p: probability that a merge is dropped, in [0, 1].
        stream: the numbers; one is used for every pair looked at.

    >>> model = Model(("a", "b", "ab", "abb"), (("a", "b"), ("ab", "b")))
    >>> [encode_word_dropout(model, "abb", 0.5, SplitMix64(seed)) for seed in (1, 3)]
    [['abb'], ['a', 'b', 'b']]
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout is {p}, expected 0 <= p <= 1")
    symbols = model.spelling.symbols(word)
    merged = True
    while merged:
        merged = False
        for _, place in _open_merges(model, symbols):
            if stream.next_float() < p:
                continue
            symbols[place : place + 2] = [model.spelling.merge(*symbols[place : place + 2])]
            merged = True
            break
    return model.with_unknowns(symbols)


def _open_merges(model: Model, symbols: list[str]) -> list[tuple[int, int]]:
    """(rank, place) of every pair of neighbours that is a merge, the one to apply first in front."""
    ranks = model.ranks
    return sorted((ranks[p], i) for i, p in enumerate(pairwise(symbols)) if p in ranks)
