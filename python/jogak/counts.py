"""Counting: corpus -> words and how often they occur.

`Counts` are an artefact of their own: made anywhere, added, saved, loaded, limited, and used to train
any model of any size. They are a commutative monoid: adding them in any order and any grouping gives the
same words, the same counts, and byte for byte the same file.

Rule: everything is counted in 64 bits without a sign, and a sum that does not fit is an error. What is
left out of a corpus is said in the `Report`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from jogak import _core
from jogak.corpus import Corpus, Documents, FormatName, Layout, one_of, resolve
from jogak.errors import ConfigError, FormatError
from jogak.progress import Progress, reporting
from jogak.spec import (
    Metaspace,
    Normalizer,
    NormalizerLike,
    Pretokenizer,
    PretokenizerLike,
    normalizer_from_dict,
    pretokenizer_from_dict,
    resolve_normalizer,
    resolve_pretokenizer,
)
from jogak.threads import resolve_threads

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Counts", "Report", "count"]

#: How text is cut into words unless something else is asked for.
DEFAULT_PRETOKENIZER = "o200k"

#: Called with (bytes done, bytes in all or None) about twenty times a second.


@dataclass(frozen=True)
class Report:
    """What counting saw, and what it left out.

    Attributes:
        files: files and streams that were read.
        documents: documents whose words were counted, empty ones included.
        bytes: bytes that were read (decompressed, with whatever surrounds the documents).
        empty_documents: documents without a byte.
        replaced: U+FFFD that were put in the place of broken UTF-8 (``errors="replace"``).
        skipped_documents: documents left out because they could not be read (``errors="skip"``).
        skipped_bytes: bytes of those documents.
        short_words: occurrences of words left out by ``min_word_length``.
        ignored_files: files in folders that were not read because of their names.
        too_long_documents: documents left out because of their length
            (`jogak.train_sentencepiece`).
        unsampled_documents: documents that a sample did not take (`jogak.train_sentencepiece`).
    """

    files: int = 0
    documents: int = 0
    bytes: int = 0
    empty_documents: int = 0
    replaced: int = 0
    skipped_documents: int = 0
    skipped_bytes: int = 0
    short_words: int = 0
    ignored_files: int = 0
    too_long_documents: int = 0
    unsampled_documents: int = 0

    def __add__(self, other: Report) -> Report:
        """Both together."""
        mine, theirs = vars(self), vars(other)
        return Report(**{name: mine[name] + theirs[name] for name in mine})

    def to_dict(self) -> dict[str, int]:
        """The numbers as plain data."""
        return dict(vars(self))


class Counts:
    """Distinct words with their counts. Immutable.

    Made by `count`, `Counts.from_dict`, `Counts.load`, or by adding. Words are iterated in canonical
    order (count descending, then UTF-8 bytes ascending), or as they first occurred in the corpus if
    that was kept (``keep_order=True``; an inventory given as a dict keeps the order of the dict). A sum
    of two has no such order.

    >>> counts = Counts.from_dict({"low": 5, "newest": 6})
    >>> len(counts), counts.total, counts["low"], counts["high"], "high" in counts
    (2, 11, 5, 0, False)
    >>> (counts + counts).most_common(1)
    [('newest', 12)]
    """

    __slots__ = ("_front", "_report", "_words")

    _words: _core.Counts
    _front: Front
    _report: Report

    def __init__(self) -> None:
        """No words at all: zero, for sums."""
        self._fill(_core.Counts.from_items([]), Front(), Report())

    def _fill(self, words: _core.Counts, front: Front, report: Report) -> None:
        self._words, self._front, self._report = words, front, report

    @classmethod
    def _of(cls, words: _core.Counts, front: Front, report: Report) -> Self:
        counts = cls.__new__(cls)
        counts._fill(words, front, report)
        return counts

    @classmethod
    def from_dict(
        cls,
        words: Mapping[str, int],
        pretokenizer: PretokenizerLike | None = None,
        normalizer: NormalizerLike | None = None,
    ) -> Self:
        """An inventory: words with their counts, in the order of the mapping.

        Args:
            words: each word with its count, a whole number from 1 to 2**64 - 1.
            pretokenizer: how the words were cut from text, if that is known.
            normalizer: how the text was rewritten before, if it was.

        Raises:
            ConfigError: a word that is empty or no text, or a count that is no such number.

        >>> list(Counts.from_dict({"b": 1, "a": 2}))
        ['b', 'a']
        """
        items = []
        for word, number in words.items():
            if not isinstance(word, str) or not word:
                raise ConfigError(
                    f"the inventory has the word {word!r}; expected a text, not empty"
                )
            number = _whole(f"the count of {word!r}", number)
            items.append((_text(word), number))
        stages = None if pretokenizer is None else resolve_pretokenizer(pretokenizer)
        front = Front(stages, resolve_normalizer(normalizer))
        return cls._of(_core.Counts.from_items(items), front, Report())

    # --- look -------------------------------------------------------------------------------------

    @property
    def core(self) -> _core.Counts:
        """The native object, for the trainers."""
        return self._words

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return self._words.total

    @property
    def pretokenizer(self) -> tuple[Pretokenizer, ...] | None:
        """How the words were cut from text; None for an inventory that was given."""
        return self._front.pretokenizer

    @property
    def normalizer(self) -> tuple[Normalizer, ...]:
        """How the text was rewritten before it was cut."""
        return self._front.normalizer

    @property
    def report(self) -> Report:
        """What counting saw and left out. (It is not saved: a file holds the counts alone.)"""
        return self._report

    @property
    def keeps_order(self) -> bool:
        """Whether it is known which word occurred first."""
        return self._words.keeps_order

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._words.get(_text(word, "replace")) is not None

    def __getitem__(self, word: str) -> int:
        """The count of a word: 0 for one that never occurred, as in `collections.Counter`."""
        return self._words.get(_text(word, "replace")) or 0

    def __iter__(self) -> Iterator[str]:
        return (word for word, _ in self.items())

    def items(self) -> Iterator[tuple[str, int]]:
        """All words with their counts, in the order that was kept, or else in canonical order.

        >>> dict(Counts.from_dict({"b": 1, "a": 2}).items())
        {'b': 1, 'a': 2}
        """
        return self._read(first_seen=True)

    def most_common(self, n: int | None = None) -> list[tuple[str, int]]:
        """The ``n`` words of highest count (None for all), in canonical order.

        >>> Counts.from_dict({"c": 1, "b": 1, "a": 2}).most_common(2)
        [('a', 2), ('b', 1)]
        """
        if n is None:
            return list(self._read(first_seen=False))
        _whole("n", n, least=0)
        return self._words.cursor(False).next(n)

    def _read(self, *, first_seen: bool) -> Iterator[tuple[str, int]]:
        cursor = self._words.cursor(first_seen)
        while some := cursor.next(4096):
            yield from some

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return self._front == other._front and self._words.equals(other._words)

    __hash__ = None  # type: ignore[assignment]  # equality reads all words

    def __repr__(self) -> str:
        return f"<Counts: {len(self):,} words, {self.total:,} in all>"

    # --- make new ones ----------------------------------------------------------------------------

    def __add__(self, other: Counts) -> Counts:
        """Both together: the counts of one corpus behind the other.

        Raises:
            ConfigError: they were made with different pre-tokenizers or normalizers, so that their
                words do not mean the same. (Counts without words can always be added.)
            CorpusError: a sum passes 2**64 - 1.
        """
        if not isinstance(other, Counts):
            return NotImplemented
        mine, theirs = self._front, other._front
        if mine != theirs and len(self) and len(other):
            which = "pre-tokenizers" if mine.normalizer == theirs.normalizer else "normalizers"
            raise ConfigError(
                f"these counts were made with different {which} and cannot be added: "
                f"{mine.shown()} and {theirs.shown()}; count again with the same one"
            )
        known = mine.pretokenizer is not None
        front = mine if len(self) or (known and not len(other)) else theirs
        return Counts._of(self._words.add(other._words), front, self._report + other._report)

    def with_words(self, words: _core.Counts) -> Counts:
        """Other words, made from these by the core."""
        return Counts._of(words, self._front, self._report)

    def limited(self, *, min_count: int = 1, min_word_length: int = 1) -> Counts:
        """Only words that occur at least ``min_count`` times and have ``min_word_length`` characters.

        >>> list(Counts.from_dict({"ab": 1, "a": 2, "abc": 3}).limited(min_count=2, min_word_length=2))
        ['abc']
        """
        _whole("min_count", min_count)
        _whole("min_word_length", min_word_length)
        return Counts._of(
            self._words.limited(min_count, min_word_length), self._front, self._report
        )

    # --- keep -------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the counts to a file, whole or not at all.

        The same words, counts, order and pre-tokenizer give the same bytes, in whatever way the counts
        were made. The file is text: a line of JSON that says what it is, then one word a line, as a
        JSON text behind its count.

        Raises:
            OSError: the file cannot be written.
        """
        import json

        stages = self._front.pretokenizer
        dicts = None if stages is None else [stage.to_dict() for stage in stages]
        rules = [stage.to_dict() for stage in self._front.normalizer]
        text, rule_text = (
            json.dumps(part, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
            for part in (dicts, rules)
        )
        self._words.save(os.fspath(path), text, rule_text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads what `save` wrote.

        Raises:
            OSError: the file cannot be read.
            FormatError: it is not such a file, or not a whole one; with the place.
        """
        import json

        core, text, rule_text = _core.Counts.load(os.fspath(path))
        dicts = json.loads(text)
        try:
            stages = None if dicts is None else tuple(map(pretokenizer_from_dict, dicts))
            rules = tuple(map(normalizer_from_dict, json.loads(rule_text)))
        except ConfigError as error:
            name = os.fspath(path)
            raise FormatError(f"{name}, line 1: {error}", file=name, place="line 1") from None
        return cls._of(core, Front(stages, rules), Report())


@dataclass(frozen=True)
class Front:
    """How text became words.

    Attributes:
        pretokenizer: how it was cut; None for an inventory that was given.
        normalizer: how it was rewritten before.
    """

    pretokenizer: tuple[Pretokenizer, ...] | None = None
    normalizer: tuple[Normalizer, ...] = ()

    def shown(self) -> str:
        """Both, for messages."""
        return _shown(self.pretokenizer) + (
            f" behind {_shown(self.normalizer)}" if self.normalizer else ""
        )


def count(
    corpus: Corpus | Mapping[str, int] | Counts,
    *,
    pretokenizer: PretokenizerLike | None = None,
    normalizer: NormalizerLike | None = None,
    format: FormatName | None = None,
    field: str | None = None,
    column: str | None = None,
    documents: Literal["line", "file"] = "line",
    separator: str | None = None,
    newline: Literal["keep", "drop"] | None = None,
    errors: Literal["strict", "replace", "skip"] = "strict",
    min_word_length: int = 1,
    keep_order: bool = False,
    num_threads: int | None = None,
    progress: Progress = False,
) -> Counts:
    """Counts the words of a corpus, on all cores and in steady memory.

    The result does not depend on the number of threads or on how the corpus is cut into files.

    Args:
        corpus: a path (a file, a folder, a pattern, ``"-"`` for standard input), a file object, a list
            of those, or an iterable of documents (``str`` or ``bytes``); gzip and zstd are seen in the
            bytes. Also a mapping {word: count}, or `Counts`, for which only ``min_word_length`` is left
            to do. See `jogak.corpus`.
        pretokenizer: how a document is cut into words; None chooses ``"o200k"``.
        normalizer: how a document is rewritten before it is cut; see `resolve_normalizer`.
        format: ``"text"``, ``"jsonl"``, ``"csv"`` or ``"tsv"`` for all files; None goes by their names
            (`jogak.corpus.Layout` tells this and the next five exactly).
        field: JSON lines: the field that is the document.
        column: tables: the column that is the document.
        documents: plain text: every ``"line"`` is a document, or every ``"file"``.
        separator: plain text: a text that stands between documents.
        newline: lines of plain text: ``"keep"`` or ``"drop"`` the line end. None keeps it, but drops
            it where ``metaspace`` cuts the words: there it would be a part of them.
        errors: what to do about a document that cannot be read. ``"strict"``: stop; ``"replace"``: put
            U+FFFD in the place of broken UTF-8, as Python does; ``"skip"``: leave the document out.
        min_word_length: leave out words of fewer characters (code points).
        keep_order: remember which word occurred first (for training with ``ties="first-seen"``).
        num_threads: None: what ``JOGAK_NUM_THREADS`` says, or else one per core. At most 1024 are
            started, and fewer where the system gives fewer.
        progress: True draws a bar on standard error; or a function that is called with ``"counting"``,
            the bytes done, and the bytes there are (None if that cannot be known).

    Raises:
        ConfigError: an impossible option, or one that nothing in the corpus can use.
        CorpusError: no such file; or a document that cannot be read, with file, line and byte; or
            the system gives no thread at all.

    >>> count(["to be or not to be"], pretokenizer="whitespace").most_common(2)
    [('be', 2), ('to', 2)]
    """
    one_of("errors", errors, ("strict", "replace", "skip"))
    _whole("min_word_length", min_word_length)
    threads = resolve_threads(num_threads)
    layout = Layout(
        format=format,
        field=field,
        column=column,
        documents=documents,
        separator=separator,
        newline=newline,
    )
    if isinstance(corpus, (Counts, Mapping)):
        return _recount(corpus, pretokenizer, normalizer, layout, min_word_length)
    rules = resolve_normalizer(normalizer)
    stages = resolve_pretokenizer(DEFAULT_PRETOKENIZER if pretokenizer is None else pretokenizer)
    if isinstance(stages[0], Metaspace):
        layout = dataclasses.replace(layout, usual_newline="drop")
    what = resolve(corpus, layout)
    with reporting(progress) as report:
        callback = None if report is None else partial(report, "counting")
        request: _core._Request = {
            "normalizer": [stage.to_core() for stage in rules],
            "pretokenizer": [stage.to_dict() for stage in stages],
            "errors": errors,
            "keep_order": bool(keep_order),
            "min_word_length": min_word_length,
            "threads": threads,
            "block_size": None,
            "progress": callback,
        }
        if isinstance(what, Documents):
            core, seen = _core.count_documents(what.documents, request)
            return Counts._of(core, Front(stages, rules), Report(**seen))
        core, seen = _core.count_sources(what.sources, request)
    return Counts._of(core, Front(stages, rules), Report(**seen, ignored_files=what.ignored_files))


def _recount(
    corpus: Counts | Mapping[str, int],
    pretokenizer: PretokenizerLike | None,
    normalizer: NormalizerLike | None,
    layout: Layout,
    min_word_length: int,
) -> Counts:
    """Words that are counted already."""
    if unused := layout.used():
        raise ConfigError(
            f"{unused[0]} is for files, but the corpus has counted words; leave it out"
        )
    if not isinstance(corpus, Counts):
        corpus = Counts.from_dict(corpus, pretokenizer, normalizer)
    elif pretokenizer is not None and resolve_pretokenizer(pretokenizer) != corpus.pretokenizer:
        raise ConfigError(
            f"pretokenizer is {_shown(resolve_pretokenizer(pretokenizer))}, but the counts were made "
            f"with {_shown(corpus.pretokenizer)}; leave it out, or count the texts again"
        )
    elif normalizer is not None and resolve_normalizer(normalizer) != corpus.normalizer:
        raise ConfigError(
            f"normalizer is {_shown(resolve_normalizer(normalizer))}, but the counts were made "
            f"with {_shown(corpus.normalizer)}; leave it out, or count the texts again"
        )
    return corpus.limited(min_word_length=min_word_length) if min_word_length > 1 else corpus


def _whole(option: str, value: object, least: int = 1) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ConfigError(f"{option} is {value!r}; expected a whole number of {least} or more")
    number = value.__index__()
    if not least <= number < 2**64:
        raise ConfigError(
            f"{option} is {number}; expected a whole number from {least} to 2**64 - 1"
        )
    return int(number)


def _text(word: str, errors: Literal["strict", "replace"] = "strict") -> str:
    """A word that can be written as UTF-8; half of a surrogate pair cannot."""
    try:
        word.encode()
    except UnicodeEncodeError as error:
        if errors == "replace":
            return word.encode("utf-8", "replace").decode()
        raise ConfigError(
            f"the inventory has the word {word!r}, which is no Unicode text: {error}"
        ) from None
    return word


def _shown(stages: tuple[Pretokenizer | Normalizer, ...] | None) -> str:
    if stages is None:
        return "none (an inventory that was given)"
    import json

    return json.dumps([stage.to_dict() for stage in stages], ensure_ascii=False)
