"""The log of Unigram training: how many pieces there were in each round, and why it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from jogak.errors import ConfigError
from jogak.spec import Unigram
from jogak.spec.record import dataclass, field, fields
from jogak.training.checks import LARGEST, check_fields, check_number, is_list, many, shown

if TYPE_CHECKING:
    from jogak.counts import Report
    from jogak.explain.unigram import UnigramTrainingTrace

__all__ = ["UnigramLog", "UnigramRound", "UnigramStop"]

UnigramStop: TypeAlias = Literal["vocab-size", "interrupted"]


@dataclass(frozen=True)
class UnigramRound:
    """How many pieces there were in a round.

    Args:
        start: at its start.
        estimated: that were expected at least half a time, after the estimation.
        kept: after the removal of those of least loss; in the last round nothing is removed.
    """

    start: int
    estimated: int
    kept: int


@dataclass(frozen=True, kw_only=True)
class UnigramLog:
    """What happened in training.

    Args:
        config: the configuration that was trained with.
        stop: why training stopped.
        rounds: how many pieces there were in each round.
        seeds: pieces at the start, characters included.
        alphabet: characters that are pieces.
        left_out: distinct characters that the limit of the alphabet left out.
        distinct_words: different words in the inventory.
        total_words: words in the corpus, repeats counted.
        distinct_chunks: different stretches of text that no piece may leave.
        total_characters: characters of the alphabet in the corpus.
        trace: the full trace where one was asked for; never saved, and of no weight in comparisons.
        report: what counting saw and left out (`jogak.counts.Report`); as the trace, only known to
            the tokenizer that was just trained.

    Raises:
        ConfigError: entries that are no counts.

    >>> log = UnigramLog(
    ...     config=Unigram(vocab_size=9), stop="vocab-size", rounds=(UnigramRound(24, 11, 9),),
    ...     seeds=24, alphabet=7, left_out=0, distinct_words=5, total_words=36,
    ...     distinct_chunks=5, total_characters=113,
    ... )
    >>> print(log.summary())
    Unigram: 1 round over 36 words, 5 of them distinct
    stopped: the vocabulary has 9 pieces
    pieces: 24 at the start, 7 of them characters
    round 1: 11 of 24 expected often enough, 9 kept
    """

    config: Unigram
    stop: UnigramStop
    rounds: tuple[UnigramRound, ...] = ()
    seeds: int
    alphabet: int
    left_out: int
    distinct_words: int
    total_words: int
    distinct_chunks: int
    total_characters: int
    trace: UnigramTrainingTrace | None = field(default=None, compare=False, repr=False)
    report: Report | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.config, Unigram):
            raise ConfigError(f"config is {shown(self.config)}; expected a Unigram")
        if self.stop not in get_args(UnigramStop):
            choices = ", ".join(map(repr, get_args(UnigramStop)))
            raise ConfigError(f"stop is {shown(self.stop)}; expected one of {choices}")
        for name in _NUMBERS:
            check_number(name, getattr(self, name), 0, LARGEST)
        if not is_list(self.rounds):
            raise ConfigError(f"rounds is {shown(self.rounds)}; expected a list")
        object.__setattr__(self, "rounds", tuple(self.rounds))
        for i, one in enumerate(self.rounds):
            if not isinstance(one, UnigramRound):
                raise ConfigError(f"rounds[{i}] is {shown(one)}; expected a UnigramRound")
            for name in ("start", "estimated", "kept"):
                check_number(f"rounds[{i}].{name}", getattr(one, name), 0, LARGEST)

    def __len__(self) -> int:
        """How many rounds there were."""
        return len(self.rounds)

    def __bool__(self) -> bool:
        """Always true: a log of no rounds is a log."""
        return True

    def summary(self) -> str:
        """A few lines in plain words: how many pieces there were, and why it ended."""
        words = f"{many(self.total_words, 'word')}, {self.distinct_words:,} of them distinct"
        stop = (
            f"the vocabulary has {many(self.config.vocab_size, 'piece')}"
            if self.stop == "vocab-size"
            else "interrupted; the likeliest pieces of that moment were taken"
        )
        lines = [
            f"Unigram: {many(len(self), 'round')} over {words}",
            f"stopped: {stop}",
            f"pieces: {self.seeds:,} at the start, {self.alphabet:,} of them characters",
        ]
        for number, one in enumerate(self.rounds, 1):
            lines.append(
                f"round {number}: {one.estimated:,} of {one.start:,} expected often enough, "
                f"{one.kept:,} kept"
            )
        return "\n".join(lines)

    def texts(self) -> str:
        """All texts of the log, joined: what a file has to be able to hold."""
        config = self.config
        return "".join([config.unknown or "", config.required_chars, *config.user_defined])

    def to_dict(self) -> dict[str, Any]:
        """The log as plain data, as files hold it: lists, texts and numbers; no trace, no report."""
        data: dict[str, Any] = {"config": self.config.to_dict()}
        for option in ("character_coverage", "shrinking_factor"):
            if data["config"][option] is not None:
                data["config"][option] = float(data["config"][option])
        data["stop"] = self.stop
        data["rounds"] = [[one.start, one.estimated, one.kept] for one in self.rounds]
        return {**data, **{name: getattr(self, name) for name in _NUMBERS}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> UnigramLog:
        """The way back from `to_dict`.

        Raises:
            ConfigError: a field that is missing, unknown, or has an impossible value.

        >>> log = UnigramLog(config=Unigram(), stop="interrupted", seeds=9, alphabet=3, left_out=0,
        ...                  distinct_words=1, total_words=1, distinct_chunks=1, total_characters=3)
        >>> UnigramLog.from_dict(log.to_dict()) == log
        True
        """
        check_fields("", data, ("config", "stop", "rounds", *_NUMBERS))
        config = data["config"]
        if isinstance(config, Mapping) and config.get("type") != "unigram":
            raise ConfigError(f"config.type is {shown(config.get('type'))}; expected 'unigram'")
        check_fields("config", config, _CONFIG_FIELDS)
        if not is_list(config["user_defined"]):
            found = shown(config["user_defined"])
            raise ConfigError(f"config.user_defined is {found}; expected a list of texts")
        rounds = data["rounds"]
        if not is_list(rounds):
            raise ConfigError(f"rounds is {shown(rounds)}; expected a list")
        for i, one in enumerate(rounds):
            if not is_list(one) or len(one) != 3:
                raise ConfigError(f"rounds[{i}] is {shown(one)}; expected three numbers")
        return cls(
            config=Unigram.from_dict(config),
            stop=data["stop"],
            rounds=tuple(UnigramRound(*one) for one in rounds),
            **{name: data[name] for name in _NUMBERS},
        )


_NUMBERS = (
    "seeds",
    "alphabet",
    "left_out",
    "distinct_words",
    "total_words",
    "distinct_chunks",
    "total_characters",
)
_CONFIG_FIELDS = ("type", *(f.name for f in fields(Unigram)))
