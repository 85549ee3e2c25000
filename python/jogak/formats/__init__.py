"""Tokenizer files: each family is one module here and one line in `FORMATS`.

    read(path)  -> Loaded: the Spec, and the training log and probes where the file has them
    write(path, spec, ...)
    detect(path) -> the name of the family, told by content

Rule: what a format cannot say raises `UnsupportedFeature` naming it; nothing that changes ids is ever
dropped or guessed. A file from a stranger is hostile until parsed: whatever is in it, the answer is a
tokenizer or a `FormatError` with the place. Nothing here runs a tokenizer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jogak import _core
from jogak.errors import ConfigError, FormatError
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike
from jogak.spec import AddedTable, MergeTable, NumberTable, PieceTable, Spec

if TYPE_CHECKING:
    from jogak.training import Log

# What the core reads of long files, models may hold as it is.
PieceTable.register(_core.Pieces)
MergeTable.register(_core.Merges)
NumberTable.register(_core.Integers)
AddedTable.register(_core.AddedTokens)

__all__ = ["FORMATS", "Format", "Loaded", "Probe", "detect", "read", "write"]


def _is_json(peek: Peek) -> bool:
    return peek.head.lstrip().startswith(b"{")


#: The families by name, in the order in which files are looked at: the module of each, and what all of
#: its files have, so that no other family is imported for them.
_FAMILIES: Mapping[str, tuple[str, Callable[[Peek], bool]]] = {
    # By its first bytes, which spares the full look that others take at JSON.
    "tokenizer-json": (
        "hf_json",
        lambda peek: _is_json(peek) and not peek.head.lstrip().startswith(b'{"format"'),
    ),
    "model-folder": ("model_folder", lambda peek: peek.is_folder),
    "jogak": ("native", _is_json),
    "tekken": ("tekken", _is_json),
    "subword-nmt": ("codes", lambda peek: b"</w>" in peek.head),
    "gguf": ("gguf", lambda peek: peek.head.startswith(b"GGUF")),
    "vocab-merges": (
        "vocab_merges",
        lambda peek: peek.is_folder or _is_json(peek) or peek.head.startswith(b"#version"),
    ),
    "tiktoken": ("tiktoken", lambda peek: b" " in peek.head),
    "sentencepiece": ("sentencepiece", lambda peek: peek.head.startswith(b"\n")),
    "vocab-txt": ("vocab_txt", lambda peek: b"[UNK]" in peek.head),
}


class _Formats(Mapping[str, Format]):
    """Families are imported when they are asked for."""

    def __getitem__(self, name: str) -> Format:
        family: Format = import_module(f"jogak.formats.{_FAMILIES[name][0]}").FORMAT
        return family

    def __contains__(self, name: object) -> bool:
        return name in _FAMILIES

    def __iter__(self) -> Iterator[str]:
        return iter(_FAMILIES)

    def __len__(self) -> int:
        return len(_FAMILIES)


#: The families by name.
FORMATS: Mapping[str, Format] = _Formats()


def detect(path: PathLike) -> str:
    """The name of the family that a file or folder is of, told by its content.

    Raises:
        FormatError: it is of none that is known here.
        OSError: it cannot be read.
    """
    peek = Peek(path)
    for family, (_, may_match) in _FAMILIES.items():
        if may_match(peek) and FORMATS[family].matches(peek):
            return family
    name = os.fspath(path)
    known = "; ".join(f"{family.name}: {family.about}" for family in FORMATS.values())
    found = "a folder" if peek.is_folder else "a file"
    raise FormatError(
        f"{name}: {found} of no format that is known ({known}); if it is one of them, say which: "
        "format=...",
        name,
    )


def read(
    path: PathLike | tuple[PathLike, PathLike], format: str | None = None, **options: Any
) -> Loaded:
    """What a tokenizer file holds.

    Args:
        path: a file; a folder, or one file, of ``vocab.json`` and ``merges.txt``; or the paths of these
            two as a tuple.
        format: a name of `FORMATS`; None looks at the content.
        options: what the file does not say, such as ``pretokenizer=`` and ``special_tokens=`` for
            foreign files. The native file says everything and takes none.

    Raises:
        FormatError: the file is not what it should be, with the place.
        ConfigError: an unknown format or option, or one that is needed and was not given.
        UnsupportedFeature: something in the file that this version cannot say.
        OSError: the file cannot be read.
    """
    if format is None:
        format = "vocab-merges" if isinstance(path, tuple) else detect(path)
    family = _family(format)
    _check_path(path, family)
    for option in options:
        if option not in family.options:
            takes = ", ".join(family.options) or "none, since the file says everything"
            raise ConfigError(f"format {format!r} has no option {option!r}; it takes: {takes}")
    return family.read(path, **options)


def write(
    path: PathLike | tuple[PathLike, PathLike],
    spec: Spec,
    training: Log | None = None,
    probes: Iterable[Probe] = (),
    format: str | None = None,
) -> None:
    """Write a tokenizer file; see each family for what it holds.

    Args:
        path: the file; for ``vocab-merges`` the folder, or the paths of both files as a tuple.
        spec: the tokenizer.
        training: how it was trained; only the native format has a place for it.
        probes: texts and their ids; only the native format has a place for them.
        format: a name of `FORMATS`; None is the native format.

    Raises:
        UnsupportedFeature: the format cannot say what this tokenizer is.
        ConfigError: an unknown format, or a folder where a file should be.
        OSError: the file cannot be written.
    """
    family = _family("jogak" if format is None else format)
    _check_path(path, family)
    family.write(path, spec, training, tuple(probes))


def _family(format: str) -> Format:
    if format not in FORMATS:
        known = ", ".join(map(repr, FORMATS))
        raise ConfigError(f"format is {format!r}; expected one of {known}")
    return FORMATS[format]


def _check_path(path: PathLike | tuple[PathLike, PathLike], family: Format) -> None:
    if family.two_files:
        return
    if isinstance(path, tuple):
        raise ConfigError(f"format {family.name!r} is one file; found {len(path)} paths")
    if os.path.isdir(path):
        raise ConfigError(
            f"{os.fspath(path)} is a folder, and format {family.name!r} is one file; give its name"
        )
