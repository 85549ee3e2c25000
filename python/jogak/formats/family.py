"""What every family of files offers: its name, how it is recognised, how it is read and written.

A family is one module of this folder that ends in ``FORMAT = Format(...)``, and one line in the table
of `jogak.formats`. Reading gives a `Loaded`; what the files do not say, the caller gives as options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jogak import _core
from jogak.errors import FormatError
from jogak.formats import checked
from jogak.formats.files import PathLike, read_bytes
from jogak.spec import Spec
from jogak.spec.record import dataclass, field

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["Format", "Loaded", "Peek", "Probe"]


@dataclass(frozen=True)
class Probe:
    """A text and the ids that it must encode to: replayed whenever the file is loaded.

    >>> Probe("low", (3, 1))
    Probe(text='low', ids=(3, 1))
    """

    text: str
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Loaded:
    """What a file holds.

    Args:
        spec: the tokenizer.
        training: how it was trained, where the file knows.
        probes: texts and ids to replay, where the file has any.
        format: the name of the family that the file is of.
        extras: what stood beside the tokenizer and says nothing about ids, as plain data.
    """

    spec: Spec
    training: Log | None
    probes: tuple[Probe, ...]
    format: str
    extras: Mapping[str, Any] = field(default_factory=dict)


class Peek:
    """A look at a path before it is known what it is.

    Args:
        path: a file or a folder.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)
        self.is_folder = os.path.isdir(path)

    def has(self, *names: str) -> bool:
        """Whether the folder (of the file) has files of all these names."""
        folder = self.path if self.is_folder else os.path.dirname(self.path)
        return all(os.path.isfile(os.path.join(folder, name)) for name in names)

    @cached_property
    def head(self) -> bytes:
        """The first 4 KiB of a file; nothing for a folder."""
        if self.is_folder:
            return b""
        with open(self.path, "rb") as file:
            return file.read(4096)

    @cached_property
    def first_line(self) -> bytes:
        """The first line, as far as ``head`` goes, without its end."""
        return self.head.split(b"\n", 1)[0].rstrip(b"\r")

    @cached_property
    def json(self) -> Any:
        """The parsed file where it is JSON, else None; `Ids` for one object of texts and ids."""
        if not self.head.lstrip().startswith(b"{"):
            return None
        data = read_bytes(self.path)
        if (ids := _core.read_vocab(data)) is not None and len(ids):
            return ids
        try:
            return checked.parse(data, self.path)
        except FormatError:
            return None


@dataclass(frozen=True)
class Format:
    """One family of files.

    Args:
        name: what ``format=`` calls it.
        about: what it is, in half a sentence, for error messages and listings.
        matches: whether a path is of this family, told by content.
        read: path and options -> what the file holds.
        write: path, spec, training, probes -> the file or files.
        options: the keyword arguments that ``read`` takes.
        two_files: whether it is two files, so that a path may also be a folder or a tuple of two.
    """

    name: str
    about: str
    matches: Callable[[Peek], bool]
    read: Callable[..., Loaded]
    write: Callable[..., None]
    options: tuple[str, ...] = ()
    two_files: bool = False
