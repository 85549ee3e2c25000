"""What the ids at the end of a text may become when the text goes on, where ids are ranks (tiktoken).

Rules

* The bytes of these ids may come to be the beginning of any piece.
* Or a piece begins at some place within them and goes on behind their end. The bytes up to there and the
  piece are encoded, as words if they are text, else by merges alone; as many ids as cover the bytes are
  a way.
* If the last character is white space, it may come to be a word of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

__all__ = ["following", "merged_by_ranks"]


def merged_by_ranks(data: bytes, ranks: Mapping[bytes, int]) -> list[int]:
    """Bytes -> ids: neighbours that together are a piece are joined, the lowest rank first.

    >>> merged_by_ranks(b"aab", {b"a": 0, b"b": 1, b"ab": 2})
    [0, 2]
    """
    parts = [data[at : at + 1] for at in range(len(data))]
    while True:
        joined = [left + right for left, right in pairwise(parts)]
        best = min(
            (at for at, part in enumerate(joined) if part in ranks),
            key=lambda at: ranks[joined[at]],
            default=None,
        )
        if best is None:
            return [ranks[part] for part in parts]
        parts[best : best + 2] = [joined[best]]


def following(
    end: bytes, ranks: Mapping[bytes, int], words: Callable[[str], Iterable[str]]
) -> list[list[int]]:
    """The ways in which the ids of the last bytes of a text may go on, sorted.

    Args:
        end: the bytes of the ids that may change.
        ranks: the bytes of every piece -> its id.
        words: a text -> its words.

    >>> following(b"a", {b"a": 0, b"b": 1, b"ab": 2}, str.split)
    [[0], [2]]
    """
    pieces = {id_: piece for piece, id_ in ranks.items()}
    ways: set[tuple[int, ...]] = {(id_,) for id_, piece in pieces.items() if piece.startswith(end)}
    for at in range(1, len(end)):
        for piece in filter(None, ranks):
            if piece.startswith(end[at:]):
                ids = _encoded(end[:at] + piece, ranks, words)
                while ids[1:] and sum(len(pieces[id_]) for id_ in ids[:-1]) >= len(end):
                    ids.pop()
                ways.add(tuple(ids))
    for size in range(1, min(4, len(end) - 1) + 1):
        try:
            last = end[-size:].decode()
        except UnicodeDecodeError:
            continue
        # Python has four control characters more.
        if last.isspace() and last not in "\x1c\x1d\x1e\x1f":
            both = (end[:-size], end[-size:])
            ways.add(tuple(id_ for part in both for id_ in merged_by_ranks(part, ranks)))
        break
    return [list(way) for way in sorted(ways)]


def _encoded(
    data: bytes, ranks: Mapping[bytes, int], words: Callable[[str], Iterable[str]]
) -> list[int]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return merged_by_ranks(data, ranks)
    ids: list[int] = []
    for word in map(str.encode, words(text)):
        ids += [ranks[word]] if word in ranks else merged_by_ranks(word, ranks)
    return ids
