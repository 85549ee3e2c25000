"""A progress bar on stderr, fed by the callable that ``jogak.train(..., progress=...)`` takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Report: TypeAlias = Callable[[str, int, "int | None"], None]


@contextmanager
def progress(quiet: bool) -> Iterator[Report | None]:
    """A callable ``report(stage, done, total)`` that draws; None where nobody would see it.

    The bar disappears when the work is done. A ``total`` of None is a bar that only moves.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:9}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bars:
        tasks: dict[str, object] = {}

        def report(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)  # type: ignore[arg-type]

        yield report
