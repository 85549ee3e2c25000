"""How a Unigram model cuts a word, as data: the lattice, the best way and the runner-up.

A lattice has a border before, between and behind the characters of a word, and an edge for every piece
that may stand between two of them. The best way is found from the left: of all edges that end at a
border the one with the best sum is kept, of equals the one that starts earliest.

Rule: as `jogak.explain.data`; only the records and how they are made from what the core wrote down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jogak.explain.data import Record, WordTrace
from jogak.spec import UnigramModel

__all__ = ["Edge", "LatticeTrace", "Way", "lattice_trace"]


@dataclass(frozen=True, slots=True)
class Edge(Record):
    """A piece that may stand in the word.

    Args:
        piece: its text; for an unknown character the text of the unknown piece, or the character.
        start, end: the characters of the word that it stands for.
        score: the natural logarithm of its probability.
        sum: the best sum of scores from the start of the word of the pre-tokenizer to this edge's end,
            with this edge as the last one, in the model's own precision.
        better: whether that was the best sum at its end when it was looked at.
        chosen: whether it is part of the best way.
        unknown: whether it is an unknown character.
    """

    piece: str
    start: int
    end: int
    score: float
    sum: float
    better: bool
    chosen: bool
    unknown: bool


@dataclass(frozen=True, slots=True)
class Way(Record):
    """One way to cut the word.

    Args:
        pieces: the texts of its pieces, in order.
        score: the natural logarithm of its probability, in 64 bits.
    """

    pieces: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class LatticeTrace(WordTrace):
    """How one part of a text was cut: a `WordTrace` whose story is a lattice instead of steps.

    Args:
        edges: every piece that may stand in the word, in the order in which they were looked at; empty
            where a way was drawn at random.
        best: the best way, None where a way was drawn.
        runner_up: the next best way, None if there is none.
    """

    edges: tuple[Edge, ...] = ()
    best: Way | None = None
    runner_up: Way | None = None

    @property
    def lead(self) -> float | None:
        """How much the best way's score is above the runner-up's; None without a runner-up."""
        if self.best is None or self.runner_up is None:
            return None
        return self.best.score - self.runner_up.score

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain data, with the lead."""
        return {**Record.to_dict(self), "lead": self.lead}


def lattice_trace(record: Mapping[str, Any], model: UnigramModel) -> LatticeTrace:
    """The trace of what the core wrote down about one part of a text."""
    data = record["text"].encode()
    borders = {0: 0}
    at = 0
    for index, character in enumerate(record["text"], start=1):
        at += len(character.encode())
        borders[at] = index

    def name(piece: str | None, start: int, end: int) -> str:
        text = data[start:end].decode()
        return piece if piece is not None else (model.unknown or text)

    def way(found: tuple[float, list[tuple[str | None, int, int]]]) -> Way:
        score, pieces = found
        return Way(tuple(name(*piece) for piece in pieces), score)

    chosen = _chosen(record["candidates"], len(data))
    edges = tuple(
        Edge(
            piece=name(piece, start, end),
            start=borders[start],
            end=borders[end],
            score=score,
            sum=total,
            better=better,
            chosen=index in chosen,
            unknown=piece is None,
        )
        for index, (piece, start, end, score, total, better) in enumerate(record["candidates"])
    )
    best, runner_up = ([way(found) for found in record["best"]] + [None, None])[:2]
    if record["added"]:
        stop = "special" if record["special"] else "added"
    else:
        stop = "best" if edges or not data else "drawn"
    tokens = zip(record["tokens"], record["spans"], strict=True)
    return LatticeTrace(
        text=record["text"],
        span=tuple(record["span"]),
        special=record["special"],
        symbols=(record["text"],) if record["added"] else tuple(record["text"]),
        steps=(),
        stop=stop,
        tokens=tuple(token if token is not None else (model.unknown or "?") for token, _ in tokens),
        ids=tuple(record["ids"]),
        token_spans=tuple(tuple(span) for span in record["spans"]),
        edges=edges,
        best=best,
        runner_up=runner_up,
    )


def _chosen(candidates: list[tuple[Any, int, int, float, float, bool]], end: int) -> set[int]:
    """The edges of the best way: of those that end at a border the last that was better."""
    last: dict[int, int] = {}
    for index, (_, _, stop, _, _, better) in enumerate(candidates):
        if better:
            last[stop] = index
    chosen: set[int] = set()
    while end in last:
        chosen.add(last[end])
        end = candidates[last[end]][1]
    return chosen
