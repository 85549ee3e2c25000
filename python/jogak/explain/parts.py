"""Small parts of traces that are built in several places."""

from __future__ import annotations

from collections.abc import Sequence

from jogak.explain.data import DictionaryEntry, Stretch

__all__ = ["entries", "stretches"]


def entries(words: Sequence[tuple[Sequence[str], int]]) -> tuple[DictionaryEntry, ...]:
    """Words with counts, as the observer wrote them down."""
    return tuple(DictionaryEntry(tuple(symbols), count) for symbols, count in words)


def stretches(data: bytes, done: Sequence[tuple[int, int]]) -> tuple[Stretch, ...]:
    """A word in stretches that are covered or not; ``done`` are the byte spans that are.

    >>> [(part.text, part.covered) for part in stretches(b"lowest", [(0, 3)])]
    [('low', True), ('est', False)]
    """
    parts = []
    at = 0
    for start, end in sorted(done):
        if at < start:
            parts.append(Stretch(data[at:start].decode("utf-8", "replace"), covered=False))
        parts.append(Stretch(data[start:end].decode("utf-8", "replace"), covered=True))
        at = end
    if at < len(data):
        parts.append(Stretch(data[at:].decode("utf-8", "replace"), covered=False))
    return tuple(parts)
