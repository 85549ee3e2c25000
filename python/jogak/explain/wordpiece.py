"""Traces of WordPiece: how pairs were scored in training, which pieces matched in encoding.

Rule: puts names to numbers; decides nothing about pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jogak.explain.data import Candidate, MatchStep, MergeTrace, TrainingTrace
from jogak.explain.parts import entries, stretches
from jogak.spec import WordPieceModel

if TYPE_CHECKING:
    from jogak.training import WordPieceLog

__all__ = ["ScoredCandidate", "ScoredMerge", "training_trace", "word_steps"]


@dataclass(frozen=True, slots=True)
class ScoredCandidate(Candidate):
    """A pair of neighbours that could have been merged, with its score.

    Args:
        left_count: occurrences of the left symbol over the corpus.
        right_count: occurrences of the right symbol.
        score: (#ab/n) / ((#a/n) (#b/n)), rounded; training compares it exactly.
    """

    left_count: int
    right_count: int
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class ScoredMerge(MergeTrace):
    """One merge of WordPiece training; what it has beside a `MergeTrace`:

    Args:
        score: the score of the pair, rounded.
        by_score: whether the score decided, rather than the count.
        floor: pairs that occur less often had to wait (``min_pair_count``; with ``"auto"`` the power
            of two that the floor had come down to).
    """

    score: float = 0.0
    by_score: bool = True
    floor: int = 1


def training_trace(
    log: WordPieceLog, records: Sequence[Mapping[str, Any]], other_pieces: int
) -> TrainingTrace:
    """The trace of the first merges.

    Args:
        log: what is known of the training.
        records: what the observer wrote down, one record per traced merge.
        other_pieces: how many pieces there were before the first merge.
    """
    merges = tuple(
        _merge(log, rank, record, other_pieces + rank + 1) for rank, record in enumerate(records)
    )
    return TrainingTrace(
        config=log.config.to_dict(), merges=merges, stop=log.stop, total_merges=len(log)
    )


def _merge(log: WordPieceLog, rank: int, record: Mapping[str, Any], vocab_size: int) -> ScoredMerge:
    config, length = log.config, record["length_before"]
    floor = config.min_pair_count
    if floor == "auto":
        moves = config.criterion == "likelihood"
        floor = 1 << record["count"].bit_length() - 1 if moves else 2
    return ScoredMerge(
        rank=rank,
        left=record["left"],
        right=record["right"],
        piece=record["piece"],
        count=record["count"],
        occurrences=record["occurrences"],
        candidates=tuple(
            ScoredCandidate(left, right, count, lefts, rights, count * length / (lefts * rights))
            for left, right, count, lefts, rights in record["candidates"]
        ),
        candidates_total=record["candidates_total"],
        tied=record["tied"],
        decided_by=config.criterion if record["tied"] == 1 else "lowest-id",
        before=entries(record["before"]),
        after=entries(record["after"]),
        changed_total=record["changed_total"],
        live_change=record["live_change"],
        live=record["live"],
        vocab_size=vocab_size,
        length_before=length,
        length_after=record["length_after"],
        score=log.steps[rank].score,
        by_score=config.criterion == "likelihood",
        floor=floor,
    )


def word_steps(
    record: Mapping[str, Any], model: WordPieceModel
) -> tuple[tuple[str, ...], tuple[MatchStep, ...], str]:
    """What a word started from, the pieces in the order in which they were found, and why it ended."""
    word: str = record["text"]
    prefix = model.marker.text or "" if model.mark_words and model.marker.kind == "prefix" else ""
    marked = prefix + word
    data, shift = marked.encode(), len(prefix.encode())
    unknown = model.unknown or word
    if record["too_long"] is not None:
        return tuple(marked), (), "too-long"
    done: list[tuple[int, int]] = []
    steps = []
    matches = zip(record["matches"], record["tried"], strict=True)
    for number, ((piece, start, end), tried) in enumerate(matches):
        # The first piece covers the marker too.
        start, end = start + shift if number else 0, end + shift
        before = stretches(data, done)
        done.append((start, end))
        position = len(data[:start].decode())
        candidates = tuple(reversed(tried))
        steps.append(MatchStep(position, piece, candidates, before, stretches(data, done)))
    if record["stuck"] is None:
        return tuple(marked), tuple(steps), "covered"
    at = record["stuck"] + (shift if steps else 0)
    before = stretches(data, done)
    position = len(data[:at].decode())
    steps.append(MatchStep(position, unknown, (), before, stretches(data, [(0, len(data))])))
    return tuple(marked), tuple(steps), "stuck"
