"""What the logs of all families that merge share: one record per merge, and why training stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    overload,
)

from jogak.errors import ConfigError
from jogak.spec import BPE, Marker, WordPiece
from jogak.spec.held import Held, NumberTable
from jogak.spec.record import dataclass, field, fields
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

__all__ = ["MergeLog", "MergeStep", "StopReason"]

StopReason: TypeAlias = Literal[
    "num-merges", "vocab-size", "min-pair-count", "no-pair", "interrupted"
]


C = TypeVar("C", BPE, WordPiece)
S = TypeVar("S", covariant=True)
L = TypeVar("L", bound="MergeLog[Any]")


@dataclass(frozen=True)
class MergeStep:
    """One merge of the training.

    Args:
        rank: which merge, from 0.
        count: how often the pair stood in the corpus when it was chosen (words times their counts;
            ``aaa`` has the pair (a, a) twice).
        occurrences: how often it was replaced, weighted with the words' counts; below ``count``
            where occurrences overlapped.
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
class MergeLog(Held, Generic[C]):
    """The part of a log that is about merges; see `TrainingLog`, which says what each field is."""

    #: The config that goes with this log, and what the family is called.
    config_type: ClassVar[type[Any]]
    family: ClassVar[str]
    #: What has one entry for each merge may be given as tables; such fields have no common default.
    _TABLES: ClassVar[Mapping[str, tuple[type, Callable[[Any], object]]]] = dict.fromkeys(
        ("counts", "occurrences", "live_changes", "left_counts", "right_counts"),
        (NumberTable, lambda table: table.numbers()),
    )

    config: C
    stop: StopReason
    counts: tuple[int, ...] = field(default_factory=tuple)
    occurrences: tuple[int, ...] = field(default_factory=tuple)
    live_changes: tuple[int, ...] = field(default_factory=tuple)
    initial_live: int
    initial_length: int
    distinct_words: int
    total_words: int
    pruned: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    trace: TrainingTrace | None = field(default=None, compare=False, repr=False)
    report: Report | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.config, self.config_type):
            raise ConfigError(f"config is {self.config!r}; expected a {self.family}")
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
        self._check_more()
        self._check_together()
        self._hold()

    def _check_more(self) -> None:
        """What a family checks of the fields that it has beside these."""

    def _per_merge(self) -> tuple[str, ...]:
        """The fields that have one entry for each merge, as `counts` has."""
        return ("occurrences", "live_changes")

    def _freeze(self, name: str) -> None:
        """Lists become tuples; what is neither is refused."""
        value = getattr(self, name)
        if isinstance(value, NumberTable):
            return
        if not is_list(value):
            raise ConfigError(
                f"{name} is a {type(value).__name__}; expected a list, an entry per item"
            )
        object.__setattr__(self, name, tuple(value))

    def _check_together(self) -> None:
        merges = len(self)
        for name in self._per_merge():
            entries = len(self.at_hand(name))
            if entries != merges:
                raise ConfigError(
                    f"{name} has {entries} entries and counts has {merges}; "
                    "expected one of each per merge"
                )
        if self.initial_live + _sums(self.at_hand("live_changes"))[0] < 0:
            raise ConfigError("live_changes lead below zero live pieces; check initial_live")
        replaced = _sums(self.at_hand("occurrences"))[1]
        if replaced > self.initial_length:
            raise ConfigError(
                f"occurrences sum up to {replaced} but the corpus had only "
                f"{self.initial_length} symbols (initial_length); every replacement takes one away"
            )

    def __len__(self) -> int:
        """How many merges were made."""
        return len(self.at_hand("counts"))

    def __bool__(self) -> bool:
        """Always true: a log of no merges is a log."""
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {many(len(self), 'merge')}, stop {self.stop}>"

    @cached_property
    def live(self) -> tuple[int, ...]:
        """Live pieces after each merge."""
        return tuple(accumulate(self.live_changes, initial=self.initial_live))[1:]

    @property
    def steps(self) -> Sequence[MergeStep]:
        """The merges as records, each made when it is looked at."""
        return self._records(self._step)

    def _records(self, step: Callable[[int], S]) -> Sequence[S]:
        return _Steps(len(self), step)

    def _step(self, rank: int) -> MergeStep:
        return MergeStep(
            rank=rank,
            count=self.counts[rank],
            occurrences=self.occurrences[rank],
            live_change=self.live_changes[rank],
            live=self.live[rank],
            corpus_length=self.lengths[rank],
        )

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Symbols in the corpus after each merge; every replacement leaves one symbol fewer."""
        removed = accumulate(self.occurrences)
        return tuple(self.initial_length - gone for gone in removed)

    def summary(self) -> str:
        """A few lines in plain words: how much was merged, why it ended, what became of the corpus."""
        words, symbols = many(self.total_words, "word"), many(self.initial_length, "symbol")
        merged = (
            f"{many(len(self), 'merge')} over {words}, {self.distinct_words:,} of them distinct"
        )
        lines = [f"{self.family}: {merged}", f"stopped: {self._stop_in_words()}"]
        if len(self):
            live = f"{self.initial_live:,} before the first merge, {self.live[-1]:,} after the last"
            length = f"{symbols} before the first merge, {self.lengths[-1]:,} after the last"
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
            least = self._least()
            return f"every pair that is left occurs fewer than {many(least, 'time')}"
        if self.stop == "no-pair":
            return "no pair is left to merge"
        return f"interrupted after {many(len(self), 'merge')}; those made so far are complete"

    def _least(self) -> int:
        """The count below which no pair is merged."""
        least = self.config.min_pair_count
        assert isinstance(least, int)
        return least

    def texts(self) -> str:
        """All texts of the log, joined: what a file has to be able to hold."""
        marker = self.config.marker
        assert isinstance(marker, Marker)  # a config makes it one
        texts = [self.config.unknown, marker.text, *self.pruned, *chain(*self.passed_over)]
        return "".join(filter(None, texts))

    def to_dict(self) -> dict[str, Any]:
        """The log as plain data, as files hold it: lists, texts and numbers; no trace, no report."""
        data: dict[str, Any] = {"config": self.config.to_dict()}
        coverage = data["config"].get("character_coverage")
        if coverage is not None:
            data["config"]["character_coverage"] = float(coverage)
        for name in self._saved():
            value = getattr(self, name)
            data[name] = list(value) if isinstance(value, tuple) else value
        data["passed_over"] = [list(pair) for pair in self.passed_over]
        return data

    @classmethod
    def _saved(cls) -> tuple[str, ...]:
        """The fields that files hold, besides ``config``."""
        names = (part.name for part in fields(cls))
        return tuple(name for name in names if name not in ("config", "trace", "report"))

    @classmethod
    def from_dict(cls: type[L], data: Mapping[str, Any]) -> L:
        """The way back from `to_dict`.

        Raises:
            ConfigError: a field that is missing, unknown, or has an impossible value.

        >>> from jogak.spec import BPE
        >>> from jogak.training import TrainingLog
        >>> log = TrainingLog(config=BPE(), stop="no-pair", initial_live=3, initial_length=3,
        ...                   distinct_words=1, total_words=1)
        >>> TrainingLog.from_dict(log.to_dict()) == log
        True
        """
        check_fields("", data, ("config", *cls._saved()))
        config, family = data["config"], cls.family.lower()
        if isinstance(config, Mapping) and config.get("type") != family:
            raise ConfigError(f"config.type is {shown(config.get('type'))}; expected {family!r}")
        options: Any = fields(cls.config_type)
        check_fields("config", config, ("type", *(part.name for part in options)))
        check_fields("config.marker", config["marker"], _MARKER_FIELDS)
        made = cls.config_type.from_dict(config)
        for name, value in made.to_dict()["marker"].items():
            # A marker chooses what it is not told; a file has to tell.
            if config["marker"][name] != value:
                found = shown(config["marker"][name])
                raise ConfigError(f"config.marker.{name} is {found}; expected {shown(value)}")
        return cls(config=made, **{name: data[name] for name in cls._saved()})


def _sums(values: tuple[int, ...] | NumberTable) -> tuple[int, int]:
    """The least and the last of the sums that come as one after the other is added to nothing."""
    if isinstance(values, NumberTable):
        return values.sums()
    return min(accumulate(values, initial=0)), sum(values)


_MARKER_FIELDS = tuple(part.name for part in fields(Marker))


class _Steps(Sequence[S]):
    """The merges of a log as a sequence that makes its records on the way."""

    def __init__(self, length: int, step: Callable[[int], S]) -> None:
        self._length = length
        self._step = step

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"<{many(self._length, 'MergeStep')}>"

    @overload
    def __getitem__(self, index: int) -> S: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[S]: ...

    def __getitem__(self, index: int | slice) -> S | Sequence[S]:
        ranks = range(self._length)[index]
        if isinstance(ranks, range):
            return tuple(self._step(rank) for rank in ranks)
        return self._step(ranks)
