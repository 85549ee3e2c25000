"""BPE by scores, SentencePiece's way: no list of merges, only pieces with scores.

    symbols = the word, user-defined pieces first, else character by character
    while the joined text of some two neighbours is a piece:
        join the two whose piece has the highest score, the leftmost of equals

Rules:
- User-defined pieces are found from the left, the longest that matches; nothing joins with them.
- A symbol that is no piece is unknown, and written by the rule of `model`.
- The difference to a list of merges: a piece may be made in every way that it can be, and scores can
  be equal.

Source: ``src/bpe_model.cc`` of https://github.com/google/sentencepiece.
"""

from __future__ import annotations

from collections.abc import Mapping


def merge_by_scores(
    word: str, scores: Mapping[str, float], user_defined: frozenset[str] = frozenset()
) -> list[str]:
    """The symbols of a word after all merges.

    >>> merge_by_scores("aabb", {"a": 0.0, "b": 0.0, "ab": -1.0, "aab": -2.0})
    ['aab', 'b']
    >>> merge_by_scores("▁▁▁", {"▁": 0.0, "▁▁": -1.0})
    ['▁▁', '▁']
    """
    symbols: list[str] = []
    frozen: list[bool] = []
    at = 0
    while at < len(word):
        found = max(
            (text for text in user_defined if word.startswith(text, at)), key=len, default=""
        )
        symbols.append(found or word[at])
        frozen.append(bool(found))
        at += len(symbols[-1])
    while True:
        places = [
            place
            for place in range(len(symbols) - 1)
            if not (frozen[place] or frozen[place + 1])
            and symbols[place] in scores
            and symbols[place + 1] in scores
            and symbols[place] + symbols[place + 1] in scores
        ]
        if not places:
            return symbols
        best = max(places, key=lambda place: (scores[symbols[place] + symbols[place + 1]], -place))
        symbols[best : best + 2] = [symbols[best] + symbols[best + 1]]
        frozen[best : best + 2] = [False]
