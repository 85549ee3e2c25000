"""The log of merges: one record for each, and why training stopped."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, overload

from jogak.errors import ConfigError
from jogak.spec import BPE, Marker
from jogak.training.checks import (
    LARGEST,
    check_fields,
    check_number,
    check_numbers,
    check_texts,
    is_list,
    many,
    shown,
)

if TYPE_CHECKING:
    from jogak.counts import Report
    from jogak.explain.data import TrainingTrace

__all__ = ["MergeStep", "StopReason", "TrainingLog"]

StopReason: TypeAlias = Literal[
    "num-merges", "vocab-size", "min-pair-count", "no-pair", "interrupted"
]


@dataclass(frozen=True)
class MergeStep:
    """One merge of the training.

    Args:
        rank: which merge, from 0.
        count: how often the pair stood in the corpus when it was chosen (words times their counts;
            ``aaa`` has the pair (a, a) twice).
        occurrences: how often it was replaced; below ``count`` where occurrences overlapped.
        live_change: by how much the number of live pieces changed: +1, 0 or -1.
        live: live pieces after this merge: those that still stand somewhere in the corpus.
        corpus_length: symbols in the corpus after this merge.
    """

    rank: int
    count: int
    occurrences: int
    live_change: int
    live: int
    corpus_length: int


@dataclass(frozen=True, kw_only=True)
class TrainingLog:
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

    config: BPE
    stop: StopReason
    counts: tuple[int, ...] = ()
    occurrences: tuple[int, ...] = ()
    live_changes: tuple[int, ...] = ()
    initial_live: int
    initial_length: int
    distinct_words: int
    total_words: int
    pruned: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    trace: TrainingTrace | None = field(default=None, compare=False, repr=False)
    report: Report | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.config, BPE):
            raise ConfigError(f"config is {self.config!r}; expected a BPE")
        if self.stop not in get_args(StopReason):
            choices = ", ".join(map(repr, get_args(StopReason)))
            raise ConfigError(f"stop is {self.stop!r}; expected one of {choices}")
        for name in ("counts", "occurrences"):
            self._freeze(name)
            check_numbers(name, getattr(self, name), 0, LARGEST)
        self._freeze("live_changes")
        check_numbers("live_changes", self.live_changes, -1, 1)
        for name in ("initial_live", "initial_length", "distinct_words", "total_words"):
            check_number(name, getattr(self, name), 0, LARGEST)
        self._freeze("pruned")
        check_texts("pruned", self.pruned)
        self._freeze("passed_over")
        pairs = tuple(tuple(pair) if is_list(pair) else pair for pair in self.passed_over)
        object.__setattr__(self, "passed_over", pairs)
        for i, pair in enumerate(pairs):
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ConfigError(
                    f"passed_over[{i}] is not a pair of texts; expected (left, right)"
                )
            check_texts(f"passed_over[{i}]", pair)
        self._check_together()

    def _freeze(self, name: str) -> None:
        """Lists become tuples; what is neither is refused."""
        value = getattr(self, name)
        if not is_list(value):
            raise ConfigError(
                f"{name} is a {type(value).__name__}; expected a list, an entry per item"
            )
        object.__setattr__(self, name, tuple(value))

    def _check_together(self) -> None:
        merges = len(self.counts)
        for name in ("occurrences", "live_changes"):
            if len(getattr(self, name)) != merges:
                raise ConfigError(
                    f"{name} has {len(getattr(self, name))} entries and counts has {merges}; "
                    "expected one of each per merge"
                )
        if self.live and min(self.live) < 0:
            raise ConfigError("live_changes lead below zero live pieces; check initial_live")
        if sum(self.occurrences) > self.initial_length:
            raise ConfigError(
                f"occurrences sum up to {sum(self.occurrences)} but the corpus had only "
                f"{self.initial_length} symbols (initial_length); every replacement takes one away"
            )

    def __len__(self) -> int:
        """How many merges were made."""
        return len(self.counts)

    def __bool__(self) -> bool:
        """Always true: a log of no merges is a log."""
        return True

    @cached_property
    def live(self) -> tuple[int, ...]:
        """Live pieces after each merge."""
        return tuple(accumulate(self.live_changes, initial=self.initial_live))[1:]

    @property
    def steps(self) -> Sequence[MergeStep]:
        """The merges as records, each made when it is looked at."""
        return _Steps(self)

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        """Symbols in the corpus after each merge: every replacement leaves one symbol fewer."""
        removed = accumulate(self.occurrences)
        return tuple(self.initial_length - gone for gone in removed)

    def summary(self) -> str:
        """A few lines in plain words: how much was merged, why it ended, what became of the corpus."""
        words, symbols = many(self.total_words, "word"), many(self.initial_length, "symbol")
        merged = (
            f"{many(len(self), 'merge')} over {words}, {self.distinct_words:,} of them distinct"
        )
        lines = [f"BPE: {merged}", f"stopped: {self._stop_in_words()}"]
        if len(self):
            live = f"{self.initial_live:,} before the first merge, {self.live[-1]:,} after the last"
            length = f"{symbols} before the first merge, {self._lengths[-1]:,} after the last"
            lines += [f"live pieces: {live}", f"corpus: {length}"]
        if self.pruned:
            lines.append(f"dropped as dead: {many(len(self.pruned), 'piece')}")
        if self.passed_over:
            lines.append(
                f"passed over: {many(len(self.passed_over), 'pair')} (too long, or a piece already)"
            )
        return "\n".join(lines)

    def _stop_in_words(self) -> str:
        if self.stop == "num-merges":
            return f"the {many(len(self), 'merge')} asked for are made"
        if self.stop == "vocab-size":
            size = self.config.vocab_size
            return (
                "the vocabulary is full"
                if size is None
                else (f"the vocabulary has {many(size, 'piece')}")
            )
        if self.stop == "min-pair-count":
            least = self.config.min_pair_count
            return f"every pair that is left occurs fewer than {many(least, 'time')}"
        if self.stop == "no-pair":
            return "no pair is left to merge"
        return f"interrupted after {many(len(self), 'merge')}; those made so far are complete"

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
        return dataclasses.replace(
            self,
            config=dataclasses.replace(self.config, num_merges=num_merges, vocab_size=None),
            stop="num-merges",
            counts=self.counts[:num_merges],
            occurrences=self.occurrences[:num_merges],
            live_changes=self.live_changes[:num_merges],
            pruned=tuple(pruned),
            trace=None,
        )

    def texts(self) -> str:
        """All texts of the log, joined: what a file has to be able to hold."""
        marker = self.config.marker
        assert isinstance(marker, Marker)  # a BPE makes it one
        texts = [self.config.unknown, marker.text, *self.pruned, *chain(*self.passed_over)]
        return "".join(filter(None, texts))

    def to_dict(self) -> dict[str, Any]:
        """The log as plain data, as files hold it: lists, texts and numbers; no trace, no report."""
        data: dict[str, Any] = {"config": self.config.to_dict()}
        coverage = data["config"]["character_coverage"]
        if coverage is not None:
            data["config"]["character_coverage"] = float(coverage)
        for name in _SAVED:
            value = getattr(self, name)
            data[name] = list(value) if isinstance(value, tuple) else value
        data["passed_over"] = [list(pair) for pair in self.passed_over]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TrainingLog:
        """The way back from `to_dict`.

        Raises:
            ConfigError: a field that is missing, unknown, or has an impossible value.

        >>> log = TrainingLog(config=BPE(), stop="no-pair", initial_live=3, initial_length=3,
        ...                   distinct_words=1, total_words=1)
        >>> TrainingLog.from_dict(log.to_dict()) == log
        True
        """
        check_fields("", data, ("config", *_SAVED))
        config = data["config"]
        if isinstance(config, Mapping) and config.get("type") != "bpe":
            raise ConfigError(f"config.type is {shown(config.get('type'))}; expected 'bpe'")
        check_fields("config", config, _CONFIG_FIELDS)
        check_fields("config.marker", config["marker"], _MARKER_FIELDS)
        return cls(config=BPE.from_dict(config), **{name: data[name] for name in _SAVED})


#: The fields that files hold, besides ``config``.
_SAVED = tuple(
    f.name for f in dataclasses.fields(TrainingLog) if f.name not in ("config", "trace", "report")
)
_CONFIG_FIELDS = ("type", *(f.name for f in dataclasses.fields(BPE)))
_MARKER_FIELDS = tuple(f.name for f in dataclasses.fields(Marker))


class _Steps(Sequence[MergeStep]):
    """The merges of a log as a sequence that makes its records on the way."""

    def __init__(self, log: TrainingLog) -> None:
        self._log = log

    def __len__(self) -> int:
        return len(self._log)

    @overload
    def __getitem__(self, index: int) -> MergeStep: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[MergeStep]: ...

    def __getitem__(self, index: int | slice) -> MergeStep | Sequence[MergeStep]:
        ranks = range(len(self))[index]
        if isinstance(ranks, range):
            return tuple(self._step(rank) for rank in ranks)
        return self._step(ranks)

    def _step(self, rank: int) -> MergeStep:
        log = self._log
        return MergeStep(
            rank=rank,
            count=log.counts[rank],
            occurrences=log.occurrences[rank],
            live_change=log.live_changes[rank],
            live=log.live[rank],
            corpus_length=log._lengths[rank],
        )
