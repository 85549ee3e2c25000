"""Corpora to ids: files of any size, some documents at a time.

Rule: what is in memory is one portion of documents and its ids; nothing is left out but what the
report tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from jogak import _core
from jogak.corpus import Corpus, Documents, FormatName, Layout, one_of, resolve
from jogak.errors import ConfigError
from jogak.ragged import Ragged

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from jogak.counts import Report

    Encode = Callable[[_core.Documents], "tuple[NDArray[np.uint32], NDArray[np.int64]] | None"]

__all__ = ["Portions", "documents_of"]


class Portions(Iterator[Ragged]):
    """The ids of a corpus, portion by portion: each a `Ragged` with the ids of some documents.

    Made by `jogak.Tokenizer.encode_files`. It can be stopped anywhere; what was handed out stays.
    """

    def __init__(self, documents: _core.Documents, ignored_files: int, encode: Encode) -> None:
        self._documents = documents
        self._ignored_files = ignored_files
        self._encode = encode

    def __next__(self) -> Ragged:
        """The next documents.

        Raises:
            CorpusError: a document that cannot be read, with file, line and byte.
            EncodeError, SpecialTokenError: as in `jogak.Tokenizer.encode`, with the document's number.
        """
        found = self._encode(self._documents)
        if found is None:
            raise StopIteration
        return Ragged(*found)

    @property
    def report(self) -> Report:
        """What was read so far, and what was left out."""
        from jogak.counts import Report

        return Report(**self._documents.report(), ignored_files=self._ignored_files)

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes of the files that were read, and how many there are; None if that cannot be known."""
        return self._documents.progress()


def documents_of(
    corpus: Corpus,
    errors: Literal["strict", "replace", "skip"],
    *,
    format: FormatName | None,
    field: str | None,
    column: str | None,
    documents: Literal["line", "file"],
    separator: str | None,
    newline: Literal["keep", "drop"] | None,
) -> tuple[_core.Documents, int]:
    """The documents of a corpus of files, and how many files of folders are not read.

    Raises:
        ConfigError: an impossible option, or documents instead of files.
        CorpusError: no such file.
    """
    one_of("errors", errors, ("strict", "replace", "skip"))
    layout = Layout(
        format=format,
        field=field,
        column=column,
        documents=documents,
        separator=separator,
        newline=newline,
        usual_newline="drop",
    )
    what = resolve(corpus, layout)
    if isinstance(what, Documents):
        raise ConfigError(
            "encode_files reads files, and this is an iterable of documents (or of names of files of "
            "which one does not exist); texts in memory go to encode_batch"
        )
    return _core.Documents(what.sources, errors), what.ignored_files
