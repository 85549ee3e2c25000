"""What the trace of a Unigram training shows: a line for every step, and the pieces that matter.

Rule: as `jogak.explain.layout`, which hands such a trace to this file.
"""

from __future__ import annotations

from collections.abc import Iterable

from jogak.explain.blocks import Block, Cell, Line, Run, Section, Style, Table
from jogak.explain.symbols import visible
from jogak.explain.unigram import (
    EstimatedPiece,
    Estimation,
    PrunedPiece,
    Pruning,
    UnigramTrainingTrace,
)

__all__ = ["training_section"]

_STOPS = {
    "vocab-size": "at most a tenth too many pieces were left, of which the likeliest were taken",
    "interrupted": "training was interrupted",
}
#: Pieces of a list that a picture shows; the data may have more.
_SHOWN = 8


def training_section(trace: UnigramTrainingTrace) -> Section:
    """The section that shows a training."""
    rounds = f"{trace.total_rounds:,} round{'' if trace.total_rounds == 1 else 's'}"
    blocks: list[Block] = [_overview(trace)]
    stop = _STOPS.get(trace.stop, trace.stop)
    blocks.append(Line((Run("stop", "strong"), Run(f" after {rounds}: {stop}"))))
    for number, step in enumerate(trace.steps):
        section = _estimation(step) if isinstance(step, Estimation) else _pruning(step)
        blocks.append(Section(section.title, section.blocks, folded=number >= 6))
    return Section((Run(f"Training: {rounds}", "strong"),), tuple(blocks))


def _number(value: float, digits: int = 0) -> Cell:
    return (Run(f"{value:,.{digits}f}", "number"),)


def _piece(text: str, style: Style = "symbol") -> Cell:
    return (Run(visible(text), style),)


def _overview(trace: UnigramTrainingTrace) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for step in trace.steps:
        if isinstance(step, Estimation):
            row = (
                _number(step.round + 1),
                (Run(f"estimation {step.iteration + 1}"),),
                _number(step.pieces),
                _number(step.size),
                _number(step.log_likelihood, 1),
            )
        else:
            row = (
                _number(step.round + 1),
                (Run("removal"),),
                _number(step.pieces),
                _number(step.kept),
                (),
            )
        rows.append(row)
    headers = ("round", "step", "pieces", "left", "log-likelihood before")
    return Table(tuple(rows), headers, right=frozenset({0, 2, 3, 4}))


def _estimation(step: Estimation) -> Section:
    title = (
        Run(f"round {step.round + 1}, estimation {step.iteration + 1}", "strong"),
        Run(f"  {step.size:,} of {step.pieces:,} pieces are expected at least half a time"),
    )
    blocks: list[Block] = [_estimated(step.expected, "taken")]
    if step.rare_total:
        many = f"{step.rare_total:,} go, expected too rarely; the nearest to stay:"
        blocks += [Line((Run(many, "dim"),)), _estimated(step.rare, "dropped")]
    return Section(title, tuple(blocks))


def _estimated(pieces: Iterable[EstimatedPiece], style: Style) -> Table:
    rows = tuple(
        (
            _piece(entry.piece, style),
            _number(entry.expected, 3),
            _number(entry.before, 6),
            _number(entry.after, 6),
        )
        for entry in tuple(pieces)[:_SHOWN]
    )
    headers = ("piece", "expected", "probability before", "after")
    return Table(rows, headers, right=frozenset({1, 2, 3}))


def _pruning(step: Pruning) -> Section:
    title = (
        Run(f"round {step.round + 1}, removal", "strong"),
        Run(f"  {step.kept:,} of {step.pieces:,} pieces stay"),
    )
    blocks: list[Block] = []
    lists: tuple[tuple[str, tuple[PrunedPiece, ...], Style], ...] = (
        ("dearest of those that stay:", step.largest, "taken"),
        ("cheapest of those that stay:", step.smallest, "symbol"),
        (f"{step.removed_total:,} go for their small loss:", step.removed, "dropped"),
        (f"{step.unused_total:,} go, in no best way to cut:", step.unused, "dropped"),
        (f"{step.split_total:,} go, better cut themselves:", step.split, "dropped"),
    )
    for heading, pieces, style in lists:
        if pieces:
            blocks += [Line((Run(heading, "dim"),)), _pruned(pieces, style)]
    return Section(title, tuple(blocks))


def _pruned(pieces: Iterable[PrunedPiece], style: Style) -> Table:
    rows = tuple(
        (
            _piece(entry.piece, style),
            () if entry.loss is None else _number(entry.loss, 3),
            _number(entry.used),
            _number(entry.probability, 6),
        )
        for entry in tuple(pieces)[:_SHOWN]
    )
    return Table(rows, ("piece", "loss", "used", "probability"), right=frozenset({1, 2, 3}))
