"""How a tokenizer came to be, and why training stopped: one log for each family.

A log is plain immutable data that travels with the tokenizer into its file. It holds what
cannot be told from the vocabulary alone (counts, replacements, the reason for stopping); what can be
derived (live pieces and corpus length after each merge) is computed when asked for.

Rule: no behaviour beyond checking, cutting, describing, and translating to and from plain dicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from jogak.errors import ConfigError
from jogak.training.bpe import TrainingLog
from jogak.training.checks import shown
from jogak.training.merges import MergeStep, StopReason
from jogak.training.unigram import UnigramLog, UnigramRound
from jogak.training.wordpiece import ScoredStep, WordPieceLog

__all__ = [
    "Log",
    "MergeStep",
    "ScoredStep",
    "StopReason",
    "TrainingLog",
    "UnigramLog",
    "UnigramRound",
    "WordPieceLog",
    "log_from_dict",
]

Log: TypeAlias = TrainingLog | UnigramLog | WordPieceLog


def log_from_dict(data: Mapping[str, Any]) -> Log:
    """A log from plain data, by the type of its config.

    Raises:
        ConfigError: a field that is missing, unknown, or has an impossible value.
    """
    config = data.get("config") if isinstance(data, Mapping) else None
    family = config.get("type") if isinstance(config, Mapping) else None
    if family in (None, "bpe"):
        return TrainingLog.from_dict(data)
    if family == "unigram":
        return UnigramLog.from_dict(data)
    if family == "wordpiece":
        return WordPieceLog.from_dict(data)
    raise ConfigError(f"config.type is {shown(family)}; expected 'bpe', 'unigram' or 'wordpiece'")
