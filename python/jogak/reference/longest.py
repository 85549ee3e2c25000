"""Encoding a word by its longest pieces: no merges, only the list of pieces.

Rules:
- A word is covered in units: its characters (or bytes), and a `suffix` or `prefix` marker as one
  more unit, whether training glued it or not. "low" with `</w>` is l, o, w, </w>, and `est</w>`
  covers four units. No piece begins or ends inside a unit.
- With `continuation`, a piece that starts behind the first unit must be a ## form.
- What no piece covers is unknown, unit by unit.

`longest-match`: from the left, the longest piece that matches; then go on behind it.

`longest-first`: the pieces from longest to shortest (in units; of equals the smaller id), each put
wherever it occurs, from left to right, in what is not yet covered.

Sources: the first is the "greedy longest match first" of BERT's WordPiece, without its rule for
words that do not fit; the second is how some textbook BPE notebooks apply a learned vocabulary.
"""

from __future__ import annotations

from .model import Model


def longest_match(model: Model, word: str) -> list[str]:
    """Covers a word from the left with the longest pieces.

    >>> longest_match(Model(("a", "b", "ab", "bc", "c")), "abcb")
    ['ab', 'c', 'b']
    """
    spelling, units = model.spelling, model.spelling.units(word)
    reach = max(map(len, model.found_in_text), default=0)
    symbols: list[str] = []
    start = 0
    while start < len(units):
        for end in range(min(start + reach, len(units)), start, -1):
            text = spelling.window(units, start, end)
            if text in model.found_in_text:
                break
        else:
            end = start + 1
            text = spelling.window(units, start, end)
        symbols.append(text)
        start = end
    return model.with_unknowns(symbols)


def longest_first(model: Model, word: str) -> list[str]:
    """Covers a word with its longest pieces first, wherever they stand.

    >>> longest_first(Model(("a", "b", "ab", "bcd", "c")), "abcdab")
    ['a', 'bcd', 'ab']
    """
    spelling, units = model.spelling, model.spelling.units(word)
    reach = max(map(len, model.found_in_text), default=0)
    # Every piece that stands somewhere in the word, with the places where it does.
    places: dict[str, list[tuple[int, int]]] = {}
    for start in range(len(units)):
        for end in range(start + 1, min(start + reach, len(units)) + 1):
            text = spelling.window(units, start, end)
            if text in model.found_in_text:
                places.setdefault(text, []).append((start, end))

    covered_by: dict[int, tuple[int, str]] = {}  # first unit -> (end, piece)
    free = [True] * len(units)
    for text in sorted(places, key=lambda text: (-spelling.unit_length(text), model.ids[text])):
        for start, end in places[text]:
            if all(free[start:end]):
                covered_by[start] = (end, text)
                free[start:end] = [False] * (end - start)

    symbols: list[str] = []
    start = 0
    while start < len(units):
        start, text = covered_by.get(start, (start + 1, spelling.window(units, start, start + 1)))
        symbols.append(text)
    return model.with_unknowns(symbols)
