"""Progress of long work: a bar on stderr, or whatever the caller does with the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from jogak.errors import ConfigError

__all__ = ["Progress", "Report", "reporting"]

#: Called with the stage, how much is done, and how much there is (None: nobody knows).
Report: TypeAlias = Callable[[str, int, "int | None"], None]
#: What ``progress=`` takes.
Progress: TypeAlias = "bool | Report"


@contextmanager
def reporting(progress: Progress) -> Iterator[Report | None]:
    """What to call with progress: the caller's own callable, a bar for True, None for False.

    The bar disappears when the work is done. A total of None is a bar that only moves.
    """
    if callable(progress):
        yield progress
        return
    if not isinstance(progress, bool):
        raise ConfigError(f"progress is {progress!r}; expected True, False or a function")
    if not progress:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:9}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Bars(*columns, TimeElapsedColumn(), console=console, transient=True) as bars:
        tasks = {}

        def report(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield report
