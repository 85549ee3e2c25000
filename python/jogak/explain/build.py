"""What the core's observer wrote down -> traces.

Rule: puts names to numbers and replays what was recorded; decides nothing about pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jogak.errors import UnsupportedFeature
from jogak.explain.data import (
    Candidate,
    EncodingTrace,
    MatchStep,
    MergeTrace,
    PairStep,
    RankedPair,
    TrainingTrace,
    WordTrace,
)
from jogak.explain.lattice import lattice_trace
from jogak.explain.parts import entries, stretches
from jogak.explain.wordpiece import word_steps
from jogak.spec import (
    BPEModel,
    CodesModel,
    Model,
    Spec,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
)

if TYPE_CHECKING:
    from jogak.training import TrainingLog

__all__ = ["encoding_trace", "training_trace"]


def training_trace(
    log: TrainingLog, records: Sequence[Mapping[str, Any]], other_pieces: int
) -> TrainingTrace:
    """The trace of the first merges.

    Args:
        log: what is known of the training.
        records: what the observer wrote down, one record per traced merge.
        other_pieces: how many pieces there were before the first merge.
    """
    merges = tuple(
        MergeTrace(
            rank=rank,
            left=record["left"],
            right=record["right"],
            piece=record["piece"],
            count=record["count"],
            occurrences=record["occurrences"],
            candidates=tuple(Candidate(*candidate) for candidate in record["candidates"]),
            candidates_total=record["candidates_total"],
            tied=record["tied"],
            decided_by="count" if record["tied"] == 1 else log.config.ties,
            before=entries(record["before"]),
            after=entries(record["after"]),
            changed_total=record["changed_total"],
            live_change=record["live_change"],
            live=record["live"],
            vocab_size=other_pieces + rank + 1,
            length_before=record["length_before"],
            length_after=record["length_after"],
            alphabet=log.config.alphabet,
        )
        for rank, record in enumerate(records)
    )
    return TrainingTrace(
        config=log.config.to_dict(), merges=merges, stop=log.stop, total_merges=len(log)
    )


def encoding_trace(
    text: str,
    strategy: str,
    records: Sequence[Mapping[str, Any]],
    spec: Spec,
    normalized: str | None = None,
) -> EncodingTrace:
    """The trace of a text.

    Args:
        text: what was encoded.
        strategy: how.
        records: what the observer wrote down, one record per word.
        spec: the tokenizer.
        normalized: the text behind the normalizer, None where that is the text itself.
    """
    model = spec.model
    if isinstance(model, CodesModel) and (model.kept is not None or model.glossaries):
        raise UnsupportedFeature(
            "a trace shows merges, and this tokenizer undoes some by its vocabulary, or keeps words "
            "whole by its glossaries; explain the codes loaded without them"
        )
    if isinstance(model, UnigramModel) and not model.drawn:
        words: tuple[WordTrace, ...] = tuple(lattice_trace(record, model) for record in records)
    else:
        words = tuple(_word(record, strategy, model) for record in records)
    return EncodingTrace(text=text, strategy=strategy, words=words, normalized=normalized)


def _word(record: Mapping[str, Any], strategy: str, model: Model) -> WordTrace:
    steps: tuple[PairStep | MatchStep, ...]
    symbols: tuple[str, ...]
    if record["added"]:
        stop = "special" if record["special"] else "added"
        symbols, steps = (record["text"],), ()
    elif record["whole"]:
        symbols, steps, stop = tuple(record["tokens"]), (), "whole-word"
    elif isinstance(model, WordLevelModel):
        symbols, steps, stop = (record["text"],), (), "unknown"
    elif isinstance(model, UnigramModel):
        # Drawn words have no table of candidates.
        symbols, steps, stop = tuple(record["tokens"]), (), "covered"
    elif isinstance(model, WordPieceModel):
        symbols, steps, stop = word_steps(record, model)
    elif strategy == "merges":
        symbols = _names(record["symbols"], record, model)
        steps, stop = _pair_steps(record, model)
    else:
        marked = _marked(record["text"], model)
        symbols = tuple(marked)
        steps, stop = _match_steps(record, marked, strategy, model), "covered"
    return WordTrace(
        text=record["text"],
        span=tuple(record["span"]),
        special=record["special"],
        symbols=symbols,
        steps=steps,
        stop=stop,
        tokens=tuple(record["tokens"]),
        ids=tuple(record["ids"]),
        token_spans=tuple(tuple(span) for span in record["spans"]),
        alphabet=model.alphabet,
    )


def _names(
    symbols: Sequence[str | None], record: Mapping[str, Any], model: BPEModel
) -> tuple[str, ...]:
    """Symbols by name; a character outside the alphabet goes by the unknown piece's name."""
    return tuple(model.unknown or "?" if name is None else name for name in symbols)


def _pairs(names: Sequence[str], ranks: Sequence[int | None]) -> tuple[RankedPair, ...]:
    return tuple(
        RankedPair(left, right, rank)
        for left, right, rank in zip(names, names[1:], ranks, strict=False)
    )


def _pair_steps(record: Mapping[str, Any], model: BPEModel) -> tuple[tuple[PairStep, ...], str]:
    """The merges of a word, the last look at it included, and why that was the last."""
    steps = []
    dropped: list[int] = []
    for step in record["steps"]:
        if step["product"] is None:
            dropped.append(step["at"])
            continue
        names = _names(step["before"], record, model)
        at = step["at"]
        after = (*names[:at], step["product"], *names[at + 2 :])
        pairs = _pairs(names, step["ranks"])
        steps.append(PairStep(pairs, at, names, after, tuple(sorted(dropped))))
        dropped = []
    last = _names(record["last"], record, model)
    if dropped:
        pairs = _pairs(last, record["last_ranks"])
        steps.append(PairStep(pairs, None, last, last, tuple(sorted(dropped))))
        return tuple(steps), "dropout"
    return tuple(steps), "one-symbol" if len(last) <= 1 else "no-merge"


def _marked(word: str, model: BPEModel) -> str:
    """The word as the greedy strategies see it, with its marker."""
    if model.mark_words and model.marker.kind == "suffix":
        return f"{word}{model.marker.text}"
    if model.mark_words and model.marker.kind == "prefix":
        return f"{model.marker.text}{word}"
    return word


def _match_steps(
    record: Mapping[str, Any], marked: str, strategy: str, model: BPEModel
) -> tuple[MatchStep, ...]:
    """The pieces of a word in the order in which they were put there."""
    data = marked.encode()
    matches = [tuple(match) for match in record["matches"]]
    if strategy == "longest-first":
        # Found longest first; what nothing covers is seen at the end.
        def turn(match: tuple[str | None, int, int]) -> tuple[bool, int, int]:
            piece, start, end = match
            return piece is None, -len(data[start:end].decode("utf-8", "replace")), start

        matches.sort(key=turn)
    pieces = {piece for piece in model.pieces if piece is not None}
    done: list[tuple[int, int]] = []
    steps = []
    for piece, start, end in matches:
        before = stretches(data, done)
        done.append((start, end))
        position = len(data[:start].decode("utf-8", "replace"))
        fitting = _fitting(data[start:], start, pieces, model)
        name = piece if piece is not None else (model.unknown or data[start:end].decode())
        candidates = fitting if piece is not None else ()
        after = stretches(data, done)
        steps.append(MatchStep(position, name, candidates, before, after))
    return tuple(steps)


def _fitting(rest: bytes, start: int, pieces: set[str], model: BPEModel) -> tuple[str, ...]:
    """The pieces that match at a place, longest first."""
    text = rest.decode("utf-8", "replace")
    mark = model.marker.text or "" if model.marker.kind == "continuation" and start else ""
    longest = max(map(len, pieces), default=0)
    found = (f"{mark}{text[:n]}" for n in range(min(len(text), longest), 0, -1))
    return tuple(piece for piece in found if piece in pieces)
