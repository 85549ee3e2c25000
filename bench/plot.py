"""The plot of a run: for every work a row of bars per text, jogak's in colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bar:
    """How fast one engine did one thing.

    Args:
        work: what was done.
        text: with which text.
        engine: by whom.
        rate: how much of it, in `unit`; more is better.
        unit: MB/s, or times a second.
    """

    work: str
    text: str
    engine: str
    rate: float
    unit: str


def draw(bars: Iterable[Bar], machine: Sequence[str], target: Path) -> None:
    """Writes an SVG with one panel per work; nothing where matplotlib is not installed."""
    panels: dict[str, list[Bar]] = {}
    for bar in bars:
        panels.setdefault(bar.work, []).append(bar)
    try:
        from matplotlib import pyplot, rcParams
    except ImportError:
        return
    if not panels:
        return
    rcParams["svg.hashsalt"] = "jogak"  # the same numbers, the same file
    rcParams["svg.fonttype"] = "none"  # letters are text, not outlines
    heights = [len(panel) + 2 for panel in panels.values()]
    figure, axes = pyplot.subplots(
        len(panels),
        figsize=(9, 0.22 * sum(heights) + 1),
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    for axis, (work, panel) in zip(axes[:, 0], panels.items(), strict=True):
        panel.reverse()  # the first on top
        names = [f"{bar.text}  {bar.engine}" for bar in panel]
        rates = [bar.rate for bar in panel]
        colours = ["#c8553d" if bar.engine.startswith("jogak") else "#9aa5b1" for bar in panel]
        drawn = axis.barh(range(len(panel)), rates, color=colours)
        axis.bar_label(drawn, labels=[f"{rate:.3g}" for rate in rates], padding=3, fontsize=7)
        axis.set_yticks(range(len(panel)), names, fontsize=7)
        axis.set_title(f"{work}, {panel[0].unit}", fontsize=9, loc="left")
        axis.margins(x=0.08, y=0.01)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(axis="x", labelsize=7)
    figure.supxlabel("\n".join(line.removeprefix("- ") for line in machine), fontsize=7)
    figure.savefig(target, metadata={"Date": None})
    pyplot.close(figure)
