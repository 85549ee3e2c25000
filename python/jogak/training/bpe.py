"""The log of byte pair encoding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from jogak.spec import BPE
from jogak.spec.record import dataclass, replace
from jogak.training.checks import check_number
from jogak.training.merges import MergeLog

__all__ = ["TrainingLog"]


@dataclass(frozen=True, kw_only=True, repr=False)
class TrainingLog(MergeLog[BPE]):
    """What happened in training, one entry per merge in the order of the merges.

    Args:
        config: the configuration that was trained with.
        stop: why training stopped.
        counts: the count of each merge's pair when it was chosen.
        occurrences: how often each merge's pair was replaced, weighted with the words' counts.
        live_changes: +1, 0 or -1 live pieces per merge.
        initial_live: live pieces before the first merge.
        initial_length: symbols in the corpus (weighted) before the first merge.
        distinct_words: different words in the inventory.
        total_words: words in the corpus, repeats counted.
        pruned: texts of the pieces that were dropped because they were dead.
        passed_over: (left, right) texts of pairs that had the largest count but were not merged: too
            long, or their joined text is a piece already.
        trace: the full trace where one was asked for; never saved, and of no weight in comparisons.
        report: what counting saw and left out (`jogak.counts.Report`); as the trace, only known to
            the tokenizer that was just trained.

    Raises:
        ConfigError: entries that are no counts, lists of different lengths, or numbers that cannot
            belong together.

    >>> log = TrainingLog(
    ...     config=BPE(num_merges=2, marker="none"), stop="num-merges",
    ...     counts=(20, 16), occurrences=(20, 16), live_changes=(1, 0),
    ...     initial_live=7, initial_length=119, distinct_words=5, total_words=36,
    ... )
    >>> log.steps[1]
    MergeStep(rank=1, count=16, occurrences=16, live_change=0, live=8, corpus_length=83)
    >>> print(log.summary())
    BPE: 2 merges over 36 words, 5 of them distinct
    stopped: the 2 merges asked for are made
    live pieces: 7 before the first merge, 8 after the last
    corpus: 119 symbols before the first merge, 83 after the last
    """

    config_type: ClassVar[type[BPE]] = BPE
    family: ClassVar[str] = "BPE"

    def truncated(self, num_merges: int, *, pruned: Iterable[str] = ()) -> TrainingLog:
        """The log as if training had stopped after fewer merges.

        Args:
            num_merges: how many merges are kept.
            pruned: texts of the pieces that the smaller vocabulary drops as dead; its own, since
                other pieces are dead at that point.

        Returns:
            A log whose ``config`` asks for ``num_merges`` merges. ``passed_over`` is kept whole,
            because the log does not say before which merge a pair was passed over. With all merges
            kept, the log itself.

        Raises:
            ConfigError: more merges than there are, or fewer than none.
        """
        check_number("num_merges", num_merges, 0, len(self))
        if num_merges == len(self):
            return self
        return replace(
            self,
            config=replace(self.config, num_merges=num_merges, vocab_size=None),
            stop="num-merges",
            counts=self.counts[:num_merges],
            occurrences=self.occurrences[:num_merges],
            live_changes=self.live_changes[:num_merges],
            pruned=tuple(pruned),
            trace=None,
        )
