"""How likely ways to cut a text are, as `Ways` tells it.

Named tuples take long to make, so these are made when somebody asks.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Score", "Segmentation"]


class Segmentation(NamedTuple):
    """One way to cut a text: the natural logarithm of its probability, and its ids."""

    score: float
    ids: list[int]


class Score(NamedTuple):
    """How likely a text is, in natural logarithms: one way to cut it, all ways together, the entropy."""

    way: float
    text: float
    entropy: float
