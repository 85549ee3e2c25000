"""BPE by scores, SentencePiece's way: no list of merges, only pieces with scores.

    symbols = the word, user-defined pieces first, else character by character
    while the joined text of some two neighbours is a piece:
        join the two whose piece has the highest score, the leftmost of equals

Rules:
- User-defined pieces are found from the left, the longest that matches; nothing joins with them.
- A symbol that is no piece is unknown, and written by the rule of `model`. It may merge all the same.
- An unused piece is taken apart afterwards, where the last two neighbours met that could have become it;
  one of a single character is unknown.
- The difference to a list of merges: a piece may be made in every way that it can be, and scores can
  be equal.

Source: ``src/bpe_model.cc`` of https://github.com/google/sentencepiece.
"""

from __future__ import annotations

from collections.abc import Mapping


def merge_by_scores(
    word: str,
    scores: Mapping[str, float],
    user_defined: frozenset[str] = frozenset(),
    unused: frozenset[str] = frozenset(),
) -> list[str]:
    """The symbols of a word after all merges.

    >>> merge_by_scores("aabb", {"a": 0.0, "b": 0.0, "ab": -1.0, "aab": -2.0})
    ['aab', 'b']
    >>> merge_by_scores("▁▁▁", {"▁": 0.0, "▁▁": -1.0})
    ['▁▁', '▁']
    >>> merge_by_scores("abc", {"ab": -1.0, "abc": -2.0}, unused=frozenset({"abc"}))
    ['ab', 'c']
    """
    symbols: list[str] = []
    split: dict[str, tuple[str, str]] = {}

    def look(left: int) -> None:
        """Two neighbours that could become an unused piece."""
        if 0 <= left < len(symbols) - 1 and not (frozen[left] or frozen[left + 1]):
            split[symbols[left] + symbols[left + 1]] = (symbols[left], symbols[left + 1])

    def apart(text: str) -> list[str]:
        if text not in unused or text not in split:
            return [text]
        left, right = split[text]
        return apart(left) + apart(right)

    frozen: list[bool] = []
    at = 0
    while at < len(word):
        found = max(
            (text for text in user_defined if word.startswith(text, at)), key=len, default=""
        )
        symbols.append(found or word[at])
        frozen.append(bool(found))
        at += len(symbols[-1])
    for left in range(len(symbols)):
        look(left)
    while True:
        places = [
            place
            for place in range(len(symbols) - 1)
            if not (frozen[place] or frozen[place + 1])
            and symbols[place] + symbols[place + 1] in scores
        ]
        if not places:
            return [part for text in symbols for part in apart(text)]
        best = max(places, key=lambda place: (scores[symbols[place] + symbols[place + 1]], -place))
        symbols[best : best + 2] = [symbols[best] + symbols[best + 1]]
        frozen[best : best + 2] = [False]
        look(best - 1)
        look(best)
