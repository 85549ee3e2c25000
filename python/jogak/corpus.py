"""What a user names as a corpus -> files and streams, each with its format.

Rule: decides what is read and how, and reads nothing itself. What a folder holds and is not read is
counted; an option that nothing in the corpus can use is an error.

A *corpus* is one of:

- a path (``str`` or ``Path``): a file; a folder, read with all folders in it; a pattern such as
  ``"data/**/*.txt"``; ``"-"`` for standard input;
- a file object (anything with ``read``), binary or text;
- a list or tuple of those;
- any other iterable of documents, each ``str`` or ``bytes``.

A list of ``str`` names files if all of them exist, and is a list of documents otherwise: `is_paths`.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from jogak.errors import ConfigError, CorpusError

__all__ = ["Corpus", "Documents", "Layout", "Readable", "Source", "Sources", "resolve"]

#: A file in a folder is read if its name ends in one of these, with or without .gz or .zst behind.
#: (A file that is named itself, or by a pattern, is always read.)
TEXT_SUFFIXES = (".txt", ".text", ".md", ".rst", ".jsonl", ".ndjson", ".tsv", ".csv")
COMPRESSED_SUFFIXES = (".gz", ".zst")

FormatName: TypeAlias = Literal["text", "jsonl", "csv", "tsv"]


@runtime_checkable
class Readable(Protocol):
    """A file object."""

    def read(self, size: int = -1, /) -> str | bytes:
        """At most ``size`` bytes or characters; empty at the end."""
        ...


Path_: TypeAlias = "str | os.PathLike[str]"
Corpus: TypeAlias = "Path_ | Readable | Iterable[Path_ | Readable] | Iterable[str | bytes]"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How documents stand in files.

    Args:
        format: ``"text"``, ``"jsonl"``, ``"csv"`` or ``"tsv"`` for all files; None goes by each name
            (``.jsonl`` and ``.ndjson``, ``.csv``, ``.tsv``). Where the name says nothing, a file is
            JSON lines if ``field`` is given, tab-separated if ``column`` is given, and else plain text.
        field: the field of a JSON line that is the document.
        column: the column of a table that is the document, by its name in the header.
        documents: plain text: ``"line"``: every line is a document; ``"file"``: every file is one.
        separator: plain text: a text that stands between documents and belongs to none.
        newline: lines of plain text: whether the line end ``\\n`` is part of the document (``"keep"``)
            or not (``"drop"``). A ``\\r`` before it always is.
        usual_newline: what ``newline=None`` means.
    """

    format: FormatName | None = None
    field: str | None = None
    column: str | None = None
    documents: Literal["line", "file"] = "line"
    separator: str | None = None
    newline: Literal["keep", "drop"] | None = None
    usual_newline: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        one_of("format", self.format, (None, "text", "jsonl", "csv", "tsv"))
        one_of("documents", self.documents, ("line", "file"))
        one_of("newline", self.newline, (None, "keep", "drop"))
        for option in ("field", "column", "separator"):
            value = getattr(self, option)
            if value is not None and (not isinstance(value, str) or not value):
                raise ConfigError(
                    f"{option} is {value!r}; expected a text that is not empty, or None"
                )
        if self.separator is not None and self.documents == "file":
            raise ConfigError(
                'separator and documents="file" contradict each other; give one of them'
            )
        if self.newline is not None and (self.separator is not None or self.documents == "file"):
            raise ConfigError("newline is for documents that are lines; leave it out")

    def used(self) -> list[str]:
        """The options that differ from their default."""
        return [
            name
            for name, default in (
                ("format", None),
                ("field", None),
                ("column", None),
                ("documents", "line"),
                ("separator", None),
                ("newline", None),
            )
            if getattr(self, name) != default
        ]


#: (name for errors, path or file object or None for standard input, format, its argument)
Source: TypeAlias = "tuple[str, str | Readable | None, str, str]"


@dataclass(frozen=True)
class Sources:
    """A corpus of files: what to read, and how many files of folders are not read."""

    sources: list[Source]
    ignored_files: int = 0


@dataclass(frozen=True)
class Documents:
    """A corpus of documents in memory."""

    documents: Iterable[str | bytes]


def one_of(option: str, value: object, choices: tuple[object, ...]) -> None:
    """Raises `ConfigError` if an option is none of its choices."""
    if value not in choices:
        names = ", ".join(repr(choice) for choice in choices)
        raise ConfigError(f"{option} is {value!r}; expected one of {names}")


def resolve(corpus: Corpus, layout: Layout) -> Sources | Documents:
    """What to read.

    Raises:
        ConfigError: not a corpus, or an option that nothing in it can use.
        CorpusError: a path that does not exist, a pattern or folder without a file to read.
    """
    if isinstance(corpus, (str, os.PathLike, Readable)):
        return _sources([corpus], layout)
    if isinstance(corpus, (bytes, bytearray)):
        raise ConfigError(
            "corpus is bytes; a path is a str or Path, and a text to count itself goes in a list: [text]"
        )
    if not isinstance(corpus, Iterable):
        raise ConfigError(
            f"corpus is of type {type(corpus).__name__}; expected a path, a file object, a list of "
            "them, an iterable of str or bytes, a dict of counts, or Counts"
        )
    if isinstance(corpus, (list, tuple)) and is_paths(corpus):
        return _sources(corpus, layout)
    unused = layout.used()
    if unused:
        raise ConfigError(
            f"{unused[0]} is for files, but the corpus is an iterable of documents; leave it out"
        )
    return Documents(corpus)  # type: ignore[arg-type]  # each item is checked when it is counted


def is_paths(items: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list names files rather than being documents itself.

    It does if any item is a ``Path`` or a file object, or if every ``str`` in it names something that
    exists. To leave no doubt, give ``Path`` objects for files, and ``iter(texts)`` for documents.

    Raises:
        CorpusError: an item looks like a path, but nothing is there: a typing error, most likely.

    >>> is_paths(["some text", "more text"])
    False
    """
    if any(isinstance(item, (os.PathLike, Readable)) for item in items):
        return True
    if not items or not all(isinstance(item, str) for item in items):
        return False
    missing = next((item for item in items if not _exists(item)), None)
    if missing is None:
        return True
    for item in items:
        if _looks_like_path(item) and not _exists(item):
            raise CorpusError(
                f"{item!r}: no such file; if it is a document of its own, pass iter(texts)",
                file=item,
            )
    return False


def _exists(name: str) -> bool:
    if name == "-":
        return True
    if not _may_be_path(name):
        return False
    return os.path.exists(name) or (
        glob.has_magic(name) and next(glob.iglob(name, recursive=True), None) is not None
    )


def _may_be_path(text: str) -> bool:
    return 0 < len(text) <= 4096 and "\n" not in text and "\0" not in text


def _looks_like_path(text: str) -> bool:
    if not _may_be_path(text):
        return False
    suffixes = (*TEXT_SUFFIXES, *COMPRESSED_SUFFIXES)
    return text.lower().endswith(suffixes) or text.startswith(("/", "./", "../", "~/"))


def _sources(items: Iterable[Any], layout: Layout) -> Sources:
    sources: list[Source] = []
    ignored = 0
    for item in items:
        if isinstance(item, Readable) and not isinstance(item, os.PathLike):
            name = getattr(item, "name", None)
            name = name if isinstance(name, str) else "<stream>"
            sources.append((name, item, *_format(name, layout)))
        elif isinstance(item, (str, os.PathLike)):
            name = os.fspath(item)
            if name == "-":
                sources.append(("<stdin>", None, *_format("", layout)))
                continue
            files, left_out = _files(name)
            ignored += left_out
            sources += [(file, file, *_format(file, layout)) for file in files]
        else:
            raise ConfigError(
                f"the corpus has an item of type {type(item).__name__} among its files; expected a "
                "path or a file object"
            )
    _check_used(sources, layout)
    return Sources(sources, ignored)


def _files(name: str) -> tuple[list[str], int]:
    """The files that a path means, in order, and the number of files that are not read."""
    if "\0" in name:
        raise CorpusError(
            "the path has a NUL character; to train on a text itself pass [text]", file=name
        )
    if os.path.isdir(name):
        files = list(_walk(name))
        read = [file for file in files if _suffix(file) in TEXT_SUFFIXES]
        if not read:
            raise CorpusError(
                f"{name}: no file to read among {len(files)} files; in a folder files are read whose "
                f"names end in {', '.join(TEXT_SUFFIXES)} (also with .gz or .zst); for others give a "
                f'pattern such as "{os.path.join(name, "**", "*.log")}"',
                file=name,
            )
        return read, len(files) - len(read)
    if os.path.exists(name):
        return [name], 0
    if glob.has_magic(name):
        found = sorted(file for file in glob.iglob(name, recursive=True) if os.path.isfile(file))
        if found:
            return found, 0
        raise CorpusError(f"{name}: no file matches this pattern", file=name)
    shown = name if len(name) <= 80 else f"{name[:77]}..."
    raise CorpusError(f"{shown!r}: no such file; to train on a text itself pass [text]", file=name)


def _walk(folder: str) -> Iterator[str]:
    """All files below a folder, sorted by path; hidden files and folders are left alone."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield os.path.join(path, name)


def _suffix(name: str) -> str:
    """The suffix that tells the format, in lower case: that before ``.gz`` or ``.zst``."""
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in COMPRESSED_SUFFIXES else path.suffix


def _format(name: str, layout: Layout) -> tuple[str, str]:
    """The format of a file and its argument (a field, a column, a separator, what newlines are)."""
    by_name = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}
    kind = layout.format or by_name.get(_suffix(name))
    if kind is None:
        kind = "jsonl" if layout.field else "tsv" if layout.column else "text"
    shown = name or "standard input"
    if kind == "jsonl":
        if layout.field is None:
            raise ConfigError(
                f'{shown}: JSON lines; say which field is the document, for example field="text"'
            )
        return kind, layout.field
    if kind in ("csv", "tsv"):
        if layout.column is None:
            raise ConfigError(
                f'{shown}: a table; say which column is the document, for example column="document"'
            )
        return kind, layout.column
    if layout.separator is not None:
        return "separator", layout.separator
    return layout.documents, layout.newline or layout.usual_newline


def _check_used(sources: list[Source], layout: Layout) -> None:
    """An option that no file can use is a mistake."""
    kinds = {source[2] for source in sources}
    needs = {
        "field": ({"jsonl"}, "JSON lines", 'format="jsonl"'),
        "column": ({"csv", "tsv"}, "a table", 'format="csv" or "tsv"'),
        "separator": ({"separator"}, "plain text", 'format="text"'),
        "newline": ({"line"}, "plain text", 'format="text"'),
        "documents": ({"file"}, "plain text", 'format="text"'),
    }
    for option in layout.used():
        if option in needs:
            usable, what, how = needs[option]
            if sources and not kinds & usable:
                raise ConfigError(
                    f"{option} is given, but no file of the corpus is {what}; leave it out, or say {how}"
                )
