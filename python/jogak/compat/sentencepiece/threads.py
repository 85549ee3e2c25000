"""`ThreadPool`, and how many threads a call has."""

from __future__ import annotations

import os

__all__ = ["ThreadPool", "workers"]

#: To ask takes longer than to encode a short text.
_CORES = os.cpu_count() or 1


class ThreadPool:
    """A number of threads. They are started for one call and end with it, so there is nothing to keep.

    >>> ThreadPool(2).num_threads()
    2
    """

    def __init__(self, num_threads: int) -> None:
        self._num_threads = workers(num_threads, None)

    def num_threads(self) -> int:
        """How many they are."""
        return self._num_threads


def workers(num_threads: int, thread_pool: ThreadPool | None) -> int:
    """How many threads are meant: those of the pool, or the number; all cores below 0.

    Raises:
        TypeError: a pool that is none.
    """
    if thread_pool is not None:
        if not isinstance(thread_pool, ThreadPool):
            raise TypeError(f"thread_pool is {thread_pool!r}; expected a ThreadPool")
        return thread_pool.num_threads()
    if num_threads < 0:
        num_threads = _CORES
    return max(1, min(num_threads, 1024))
