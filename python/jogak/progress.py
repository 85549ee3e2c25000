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
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:8}"), BarColumn(), TimeElapsedColumn())
    amounts = TextColumn("{task.fields[amount]}")
    with Bars(*columns, amounts, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                for before in tasks.values():  # a stage that nobody knew the end of has ended
                    bars.update(before, total=bars.tasks[before].completed)
                tasks[stage] = bars.add_task(stage, total=total, amount="")
            amount = _amount(stage, done, total)
            bars.update(tasks[stage], completed=done, total=total, amount=amount)

        yield report


def _amount(stage: str, done: int, total: int | None) -> str:
    """How much is done, in words; counting is told in bytes.

    >>> _amount("counting", 12_300_000, 31_050_000), _amount("merging", 1200, None)
    ('12.3 of 31.1 MB', '1,200')
    """
    if stage == "counting":
        megabytes = f"{done / 1e6:,.1f}"
        return f"{megabytes} MB" if total is None else f"{megabytes} of {total / 1e6:,.1f} MB"
    return f"{done:,}" if total is None else f"{done:,} of {total:,}"
