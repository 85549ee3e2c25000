"""How many threads to use: what the caller says, else the environment, else all cores.

Threads are started for one call and end with it, so there is no pool that a fork could break.
More than `MOST` are never started: a larger number means that many.
"""

from __future__ import annotations

import os

from jogak.errors import ConfigError

__all__ = ["resolve_threads"]

VARIABLE = "JOGAK_NUM_THREADS"
MOST = 1024


def resolve_threads(num_threads: int | None) -> int:
    """The number of threads for one call; at most `MOST`.

    Raises:
        ConfigError: a number below 1, or an environment variable that is no such number.

    >>> resolve_threads(3), resolve_threads(10**12)
    (3, 1024)
    """
    if num_threads is not None:
        if isinstance(num_threads, bool) or not isinstance(num_threads, int) or num_threads < 1:
            raise ConfigError(f"num_threads is {num_threads!r}; expected 1 or more, or None")
        return min(num_threads, MOST)
    said = os.environ.get(VARIABLE, "").strip()
    if said:
        if not said.isascii() or not said.isdecimal() or int(said) < 1:
            raise ConfigError(f"{VARIABLE} is {said!r}; expected a number of threads, 1 or more")
        return min(int(said), MOST)
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)) or 1, MOST)
    return min(os.cpu_count() or 1, MOST)
