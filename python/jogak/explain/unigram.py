"""How a Unigram vocabulary came about, as data: the estimations and removals of every round.

Rule: as `jogak.explain.data`: plain immutable records that decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jogak.explain.data import Record, Trace

if TYPE_CHECKING:
    from jogak.training import UnigramLog

__all__ = [
    "EstimatedPiece",
    "Estimation",
    "PrunedPiece",
    "Pruning",
    "UnigramTrainingTrace",
    "unigram_trace",
]


@dataclass(frozen=True, slots=True)
class EstimatedPiece(Record):
    """A piece in one estimation.

    Args:
        piece: its text.
        expected: how often it is expected in the corpus, over all ways to cut it.
        before, after: its probability before and after; 0 for one that goes.
    """

    piece: str
    expected: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Estimation(Record):
    """One step of expectation and maximisation.

    Args:
        round, iteration: which round, and which estimation of it, from 0.
        pieces: pieces that took part.
        size: pieces that were expected at least half a time (characters stay in any case).
        log_likelihood: the natural logarithm of the corpus's probability with the probabilities
            before this step, all ways to cut it together.
        expected: the pieces that are expected most often, most often first.
        rare: the pieces that go because they are expected less than half a time; most often first,
            and only the first few of ``rare_total``.
        rare_total: how many they are.
    """

    round: int
    iteration: int
    pieces: int
    size: int
    log_likelihood: float
    expected: tuple[EstimatedPiece, ...]
    rare: tuple[EstimatedPiece, ...]
    rare_total: int


@dataclass(frozen=True, slots=True)
class PrunedPiece(Record):
    """A piece when pieces are removed.

    Args:
        piece: its text.
        loss: by how much the log-likelihood of the corpus, cut in the best way, falls without it;
            None where that was not looked at.
        used: how often it stands in the best way to cut the corpus.
        probability: its probability.
    """

    piece: str
    loss: float | None
    used: int
    probability: float


@dataclass(frozen=True, slots=True)
class Pruning(Record):
    """The removal at the end of a round. Every list has the first few only.

    Args:
        round: which round, from 0.
        pieces, kept: how many pieces there were, and how many are left.
        largest: of those that stay, the ones of largest loss.
        smallest: of those that stay, the ones of smallest loss, smallest first.
        removed: removed for their small loss, the largest first: the ones next to stay.
        removed_total: how many they are.
        unused: removed because they are in no best way to cut the corpus.
        unused_total: how many they are.
        split: removed because their own text is better cut into other pieces.
        split_total: how many they are.
    """

    round: int
    pieces: int
    kept: int
    largest: tuple[PrunedPiece, ...]
    smallest: tuple[PrunedPiece, ...]
    removed: tuple[PrunedPiece, ...]
    removed_total: int
    unused: tuple[PrunedPiece, ...]
    unused_total: int
    split: tuple[PrunedPiece, ...]
    split_total: int


@dataclass(frozen=True, slots=True, repr=False)
class UnigramTrainingTrace(Trace):
    """What happened in the rounds of a Unigram training.

    Args:
        config: the options of training, as plain data.
        steps: estimations and removals, in order; of the first rounds only if so asked.
        stop: why training ended (see `UnigramLog.stop`).
        total_rounds: how many rounds there were.
    """

    config: Mapping[str, Any]
    steps: tuple[Estimation | Pruning, ...]
    stop: str
    total_rounds: int

    @property
    def estimations(self) -> tuple[Estimation, ...]:
        """The estimations among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Estimation))

    @property
    def prunings(self) -> tuple[Pruning, ...]:
        """The removals among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Pruning))

    def __repr__(self) -> str:
        return f"<UnigramTrainingTrace: {self.total_rounds} rounds, {self.stop}>"


def unigram_trace(log: UnigramLog, records: Sequence[Mapping[str, Any]]) -> UnigramTrainingTrace:
    """What the core's observer wrote down -> the trace."""
    return UnigramTrainingTrace(
        config=log.config.to_dict(),
        steps=tuple(
            _estimation(record) if record["kind"] == "estimation" else _pruning(record)
            for record in records
        ),
        stop=log.stop,
        total_rounds=len(log),
    )


def _estimation(record: Mapping[str, Any]) -> Estimation:
    names = ("round", "iteration", "pieces", "size", "log_likelihood", "rare_total")
    return Estimation(
        expected=tuple(EstimatedPiece(*piece) for piece in record["expected"]),
        rare=tuple(EstimatedPiece(*piece) for piece in record["rare"]),
        **{name: record[name] for name in names},
    )


def _pruning(record: Mapping[str, Any]) -> Pruning:
    lists = ("largest", "smallest", "removed", "unused", "split")
    fields: dict[str, Any] = {name: record[name] for name in record if name != "kind"}
    return Pruning(**{**fields, **{name: _pieces(fields[name]) for name in lists}})


def _pieces(entries: Iterable[tuple[str, float | None, int, float]]) -> tuple[PrunedPiece, ...]:
    return tuple(PrunedPiece(*entry) for entry in entries)
