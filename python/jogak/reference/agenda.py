"""The n best paths as SentencePiece 0.2.3 finds them: how it searches decides between equal sums.

    waiting = [the end of the word]
    while something waits and there are less than n paths:
        take what can become the best whole: its own sum, and the best sum of what may stand before it
        if it reaches the start of the word, it is a path
        else: each piece that may stand right before it, with it, waits too
        if 10,000 wait: forget all but the best 512 (or 10 n, if that is less)

Rules:
- All sums have 32 bits. A path is summed up from its last piece on, and that is its score.
- What waits is a heap, that of GNU's C++ library, so that of equals the same one comes first as there.

Source: ``src/unigram_model.cc`` of https://github.com/google/sentencepiece.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple


class Waiting(NamedTuple):
    """The end of a path."""

    whole: float
    sum: float
    start: int  # -1 where the path is whole
    path: tuple[int, ...]


class Heap:
    """What waits, best first.

    >>> heap = Heap()
    >>> for whole in (1.0, 3.0, 2.0): heap.push(Waiting(whole, 0.0, 0, ()))
    >>> [heap.pop().whole for _ in range(3)]
    [3.0, 2.0, 1.0]
    """

    def __init__(self) -> None:
        self.items: list[Waiting] = []

    def push(self, item: Waiting) -> None:
        """Adds one."""
        self.items.append(item)
        self._rise(len(self.items) - 1, item)

    def pop(self) -> Waiting:
        """Takes the best one: the hole sinks to the bottom, and the last one rises from there."""
        items = self.items
        last = items.pop()
        if not items:
            return last
        top, hole, size = items[0], 0, len(items)
        while 2 * hole + 2 < size:
            child = 2 * hole + 2
            child -= items[child].whole < items[child - 1].whole
            items[hole] = items[child]
            hole = child
        if 2 * hole + 2 == size:
            items[hole] = items[size - 1]
            hole = size - 1
        self._rise(hole, last)
        return top

    def _rise(self, hole: int, item: Waiting) -> None:
        while hole > 0 and self.items[(hole - 1) // 2].whole < item.whole:
            self.items[hole] = self.items[(hole - 1) // 2]
            hole = (hole - 1) // 2
        self.items[hole] = item


def n_best(
    ends: Sequence[Sequence[tuple[int, float]]], n: int
) -> list[tuple[float, tuple[int, ...]]]:
    """The n best paths, each with its score and the starts of its pieces.

    Args:
        ends: for every border, the pieces that may end there: start and score, the earliest first.
        n: how many.

    >>> n_best([[], [(0, -1.0)], [(0, -1.5), (1, -1.0)]], 5)
    [(-1.5, (0,)), (-2.0, (0, 1))]
    """
    before = [0.0]
    for steps in ends[1:]:
        before.append(max(_single(before[start] + _single(score)) for start, score in steps))
    found: list[tuple[float, tuple[int, ...]]] = []
    heap = Heap()
    heap.push(Waiting(before[-1], 0.0, len(ends) - 1, ()))
    while heap.items and len(found) < n:
        top = heap.pop()
        if top.start < 0:
            found.append((top.whole, top.path))
            continue
        if top.start == 0:
            heap.push(Waiting(top.sum, top.sum, -1, top.path))
        for start, score in ends[top.start]:
            with_it = _single(before[start] + _single(score))
            whole = _single(with_it + top.sum)
            total = _single(_single(score) + top.sum)
            heap.push(Waiting(whole, total, start, (start, *top.path)))
        if len(heap.items) >= 10_000:
            best = [heap.pop() for _ in range(min(512, 10 * n))]
            heap = Heap()
            for item in best:
                heap.push(item)
    return found


def _single(number: float) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])
