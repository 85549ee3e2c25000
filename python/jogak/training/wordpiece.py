"""The log of WordPiece: the log of merges, and the counts that their scores were made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from jogak.spec import WordPiece
from jogak.spec.record import dataclass, field
from jogak.training.checks import LARGEST, check_numbers
from jogak.training.merges import MergeLog, MergeStep

__all__ = ["ScoredStep", "WordPieceLog"]


@dataclass(frozen=True)
class ScoredStep(MergeStep):
    """One merge of the training, with what its score was made of.

    Args:
        left_count: how often the left part occurred when the pair was chosen.
        right_count: how often the right part did.
        length_before: symbols in the corpus before the merge.
    """

    left_count: int
    right_count: int
    length_before: int

    @property
    def score(self) -> float:
        """(#ab/n) / ((#a/n) (#b/n)): how much more often the two stand together than by chance.

        Rounded; training compares scores exactly.
        """
        return self.count * self.length_before / (self.left_count * self.right_count)


@dataclass(frozen=True, kw_only=True, repr=False)
class WordPieceLog(MergeLog[WordPiece]):
    """What happened in training, one entry per merge in the order of the merges.

    Args:
        left_counts: how often the left part of each merge occurred when it was chosen.
        right_counts: how often the right part did.

    All others are those of `TrainingLog`; nothing is ever ``pruned``.

    Raises:
        ConfigError: as `TrainingLog`.

    >>> log = WordPieceLog(
    ...     config=WordPiece(min_pair_count=1), stop="no-pair",
    ...     counts=(5,), left_counts=(10,), right_counts=(5,), occurrences=(5,), live_changes=(0,),
    ...     initial_live=7, initial_length=100, distinct_words=5, total_words=36,
    ... )
    >>> log.steps[0].score
    10.0
    """

    config_type: ClassVar[type[WordPiece]] = WordPiece
    family: ClassVar[str] = "WordPiece"

    left_counts: tuple[int, ...] = field(default_factory=tuple)
    right_counts: tuple[int, ...] = field(default_factory=tuple)

    def _check_more(self) -> None:
        for name in ("left_counts", "right_counts"):
            self._freeze(name)
            check_numbers(name, getattr(self, name), 1, LARGEST)

    def _per_merge(self) -> tuple[str, ...]:
        return (*super()._per_merge(), "left_counts", "right_counts")

    @property
    def steps(self) -> Sequence[ScoredStep]:
        """The merges as records, each made when it is looked at."""
        return self._records(self._step)

    def _step(self, rank: int) -> ScoredStep:
        length = self.lengths[rank]
        return ScoredStep(
            rank=rank,
            count=self.counts[rank],
            occurrences=self.occurrences[rank],
            live_change=self.live_changes[rank],
            live=self.live[rank],
            corpus_length=length,
            left_count=self.left_counts[rank],
            right_count=self.right_counts[rank],
            length_before=length + self.occurrences[rank],
        )

    def _least(self) -> int:
        least = self.config.min_pair_count
        return 2 if least == "auto" else least
