"""Byte pair encoding by scores, SentencePiece's way (`ScoredBPEModel`)."""

from __future__ import annotations

import math
from typing import ClassVar

from jogak.errors import ConfigError
from jogak.spec.bpe import BPEModel
from jogak.spec.checks import check_ids
from jogak.spec.record import dataclass

__all__ = ["ScoredBPEModel"]


@dataclass(frozen=True, kw_only=True)
class ScoredBPEModel(BPEModel):
    """A BPE vocabulary without a list of merges: any two neighbours whose joined text is a piece may
    merge, the highest score first and of equal scores the leftmost; also characters that are no pieces.

    A list of merges says less: it knows one way to make a piece, and no two merges of equal rank.

    Args:
        scores: the score of every piece.
        user_defined: ids of pieces that are found before anything is merged, leftmost first and of
            those the longest; nothing merges with them.
        unused: ids of pieces that are made like others, and taken apart again: there where the last pair
            met that could have made the piece, anywhere in the text. One of a single character is
            unknown. Not together with ``mark_words``.
        pieces, marker, byte_fallback, unknown, fuse_unknown: as in `BPEModel`.

    >>> model = ScoredBPEModel(pieces=("a", "b", "ab"), scores=(-1.0, -2.0, 0.0), merges=None)
    >>> model.family
    'scored-bpe'
    """

    family: ClassVar[str] = "scored-bpe"

    scores: tuple[float, ...]
    user_defined: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        BPEModel.__post_init__(self)
        for wrong, option, expected in (
            (self.merges is not None, "merges", "None, since scores say what merges"),
            (self.alphabet != "chars", "alphabet", "'chars'"),
            (self.strategy != "merges", "strategy", "'merges'"),
            (self.whole_word, "whole_word", "False"),
            (self.word_suffix is not None, "word_suffix", "None"),
            (self.drawn, "drawn", "False"),
            (self.hf_rules, "hf_rules", "False"),
            (self.drop_unknown, "drop_unknown", "False"),
            (self.dropout != 0, "dropout", "0.0"),
        ):
            if wrong:
                raise ConfigError(f"{option} is {getattr(self, option)!r}; expected {expected}")
        if len(self.scores) != len(self.table):
            raise ConfigError(
                f"there are {len(self.scores)} scores for {len(self.table)} pieces; "
                "expected one for each"
            )
        # One pass in C for the usual case; the slow look is only for the message.
        fine = set(map(type, self.scores)) <= {float} and all(map(math.isfinite, self.scores))
        for id_, score in enumerate(() if fine else self.scores):
            if not isinstance(score, (int, float)) or not math.isfinite(score):
                raise ConfigError(f"the score of id {id_} is {score!r}; expected a finite number")
        check_ids("user_defined", self.user_defined, self.table)
        check_ids("unused", self.unused, self.table)
        if both := set(self.user_defined) & set(self.unused):
            raise ConfigError(f"id {min(both)} is both user-defined and unused; choose one")
        if self.unused and self.mark_words and self.marker.kind != "none":
            raise ConfigError(
                "unused pieces cannot be together with mark_words=True; let a pre-tokenizer write the "
                "marker (jogak.Metaspace) and set mark_words=False"
            )
