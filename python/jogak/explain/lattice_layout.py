"""What the trace of a Unigram model shows: the lattice as a table, the best way and the runner-up.

Rule: as `jogak.explain.layout`, which hands the words of a Unigram model to this file.
"""

from __future__ import annotations

from jogak.explain.blocks import Block, Cell, Line, Run, Table
from jogak.explain.lattice import Edge, LatticeTrace, Way
from jogak.explain.symbols import visible

__all__ = ["lattice_blocks"]

#: Edges that a picture shows; the data has all.
_EDGES = 60


def lattice_blocks(word: LatticeTrace) -> tuple[Block, ...]:
    """The blocks below the title of a word."""
    blocks: list[Block] = []
    if word.edges:
        blocks.append(_edges(word))
    if word.best is not None:
        blocks.append(Line(_way("best", word.best)))
    if word.runner_up is not None:
        blocks.append(Line(_way("runner-up", word.runner_up)))
        blocks.append(Line((Run("lead", "strong"), Run(f" {word.lead:.4f}"), Run(_reading(word)))))
    elif word.best is not None:
        blocks.append(Line((Run("there is no other way", "dim"),)))
    elif word.stop == "drawn":
        blocks.append(Line((Run("drawn at random from all ways", "dim"),)))
    return tuple(blocks)


def _reading(word: LatticeTrace) -> str:
    """What a lead means."""
    lead = word.lead or 0.0
    if lead <= 0.0:
        return ": as good as each other; of equal sums the piece that starts earlier wins"
    if lead < 1e-3:
        return ": so near that the precision of sums may decide"
    return f": {_times(lead)} times as likely"


def _times(lead: float) -> str:
    return f"{2.718281828459045**lead:,.1f}" if lead < 20 else f"e^{lead:.0f}"


def _way(title: str, way: Way) -> Cell:
    cell: list[Run] = [Run(title, "strong"), Run(f" {way.score:.4f}", "number"), Run(" ")]
    for index, piece in enumerate(way.pieces):
        cell += [Run(" ")] if index else []
        cell.append(Run(visible(piece), ("token-0", "token-1", "token-2")[index % 3]))
    return tuple(cell)


def _edges(word: LatticeTrace) -> Table:
    # By the border where they end: those with the same end are rivals.
    order = sorted(range(len(word.edges)), key=lambda index: (word.edges[index].end, index))
    kept: dict[int, int] = {}
    for index in order:
        if word.edges[index].better:
            kept[word.edges[index].end] = index
    rows: list[tuple[Cell, ...]] = []
    marked = set()
    for index in order[:_EDGES]:
        edge = word.edges[index]
        if edge.chosen:
            marked.add(len(rows))
        rows.append(_row(edge, is_kept=kept.get(edge.end) == index))
    hidden = len(order) - len(rows)
    if hidden > 0:
        rows.append(((), (Run(f"… {hidden:,} more", "dim"),), (), (), ()))
    headers = ("characters", "piece", "score", "best sum with it", "")
    return Table(tuple(rows), headers, right=frozenset({2, 3}), marked=frozenset(marked))


def _row(edge: Edge, *, is_kept: bool) -> tuple[Cell, ...]:
    what = "best way" if edge.chosen else "best to here" if is_kept else ""
    if edge.unknown:
        what = f"{what}, unknown" if what else "unknown"
    return (
        (Run(f"{edge.start}–{edge.end}", "dim"),),
        (Run(visible(edge.piece), "taken" if edge.chosen else "covered" if is_kept else "symbol"),),
        (Run(f"{edge.score:.4f}", "number"),),
        (Run(f"{edge.sum:.4f}", "number"),),
        (Run(what, "dim"),),
    )
