"""Whole files in and out: reads have an upper limit, writes happen wholly or not at all.

Rule: no format is known here, only bytes. What the operating system reports (no such file, no
permission, disk full) comes through as its own `OSError`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import TypeAlias

from jogak.errors import FormatError

__all__ = ["LARGEST", "PathLike", "read_bytes", "write_atomically"]

PathLike: TypeAlias = "str | os.PathLike[str]"

#: No vocabulary file is larger, in bytes: 256 MiB, some fifty times the largest that are in use.
LARGEST = 256 * 2**20

_CHUNK = 2**20


def read_bytes(path: PathLike, limit: int = LARGEST) -> bytes:
    """The bytes of a file, pipe or device, if they are at most ``limit``.

    Raises:
        FormatError: more bytes than ``limit``; no more than that are read.
        OSError: the file cannot be read.
    """
    parts: list[bytes] = []
    size = 0
    with open(path, "rb") as file:
        # At once, where that is known to fit.
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size <= limit:
            parts.append(file.read(status.st_size))
            size = len(parts[0])
        while part := file.read(_CHUNK):
            size += len(part)
            if size > limit:
                name = os.fspath(path)
                raise FormatError(
                    f"{name}: longer than {limit:,} bytes, which no vocabulary file is; "
                    "check that this is the file you mean",
                    name,
                    f"byte {limit}",
                )
            parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def write_atomically(path: PathLike, data: bytes | Iterable[bytes]) -> None:
    """Write a file so that every reader, at any time, sees the old bytes or the new ones.

    The bytes go to a new file in the same folder, are forced to disk, and then take the name. A
    symbolic link stays and what it points to is replaced; an existing file keeps its permissions, a
    new one gets those of the umask. What is not a regular file (a pipe, ``/dev/stdout``) is written
    to directly, since nothing else makes sense there.

    Args:
        path: the file.
        data: its bytes, whole or block by block; what an iterator raises leaves the old file, too.

    Raises:
        OSError: the file cannot be written; what was there before is untouched.
    """
    blocks = (data,) if isinstance(data, bytes) else data
    try:
        mode: int | None = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            file.writelines(blocks)
        return
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    # A short random part keeps the name within the file system's limit for names.
    temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make the new name itself last through a power cut, where the system can do that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # Some network file systems cannot; the bytes themselves are safe already.
    finally:
        os.close(descriptor)
