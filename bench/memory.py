"""Memory on a virtual machine whose host takes back what nobody uses ("free page reporting").

There new memory costs some 2 ms a MiB if the host has to give it again, and twenty times less if it is
still there, which is nothing but luck: one and the same first pass takes 130 ms or 230. Every two
seconds a share of all that is free is taken back. So a run may hold most of the memory from beginning
to end, which makes the share small, and before each measurement touch some of the rest: that is what
the engine will be given.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Is there where the kernel can tell its host what is free.
REPORTING = Path("/sys/module/page_reporting")
GIB = 1 << 30
#: What is to be left, in GiB: the hungriest engine takes 2, and the corpora stay in memory.
LEFT = 3
#: How much of that is touched before a measurement, in bytes.
TOUCHED = 3 * GIB // 2


def free() -> int:
    """How many GiB nobody uses, rounded down; 0 where the system does not tell."""
    try:
        facts = Path("/proc/meminfo").read_text()
    except OSError:
        return 0
    found = re.search(r"^MemAvailable: *(\d+) kB", facts, re.MULTILINE)
    return (int(found[1]) << 10) // GIB if found else 0


def refusal(gib: int) -> str:
    """Why so much cannot be held; empty if it can."""
    if gib == 0 or 0 < gib <= free() - LEFT:
        return ""
    return f"{gib} GiB cannot be held: {free()} are free, and engines need {LEFT}"


def taken(size: int) -> mmap.mmap:
    """So many bytes of new memory, every page of them touched."""
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel without large pages
        memory.madvise(mmap.MADV_HUGEPAGE)
    memory[:: mmap.PAGESIZE] = bytes(len(memory) // mmap.PAGESIZE)
    return memory


@contextmanager
def held(gib: int) -> Iterator[Callable[[], None]]:
    """Holds so much memory; what it gives is to be called before each measurement.

    To take 20 GiB may last a minute.
    """
    if not gib:
        yield lambda: None
        return
    with taken(gib * GIB):
        yield lambda: taken(TOUCHED).close()


def told(gib: int) -> Iterator[str]:
    """A line for the head of the table, where there is something to tell."""
    if REPORTING.exists():
        share = f"{gib} GiB of them were held" if gib else "new memory may cost much (see --hold)"
        yield f"- Memory that is free goes back to the host of this virtual machine; {share}"
