"""Traces as data: what happened in training, in encoding, in compression, step by step.

The core tells its observer what it does; these classes hold what was told, as plain immutable
records. They decide nothing and look nothing up, so a trace can be kept, compared, or written with
`to_dict` and drawn elsewhere. How a trace looks is said in `jogak.explain.layout`; this file only
knows the three ways in: `str(trace)` is plain text, rich prints it in colour, a notebook calls
``_repr_html_``.

Rule: no rich and no numpy here; a trace costs an import of this file and no more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = [
    "Candidate",
    "Compression",
    "CompressionStep",
    "DictionaryEntry",
    "EncodingTrace",
    "MatchStep",
    "MergeTrace",
    "PairStep",
    "RankedPair",
    "Stretch",
    "TrainingTrace",
    "WordTrace",
]

#: Symbols of the ``"bytes"`` alphabet are written in GPT-2's printable characters.
Alphabet: TypeAlias = Literal["bytes", "chars"]


def _plain(value: Any) -> Any:
    """Records, tuples and mappings -> the dicts and lists that JSON knows."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _short(text: str, limit: int = 40) -> str:
    return repr(text) if len(text) <= limit else repr(text[: limit - 1]) + "…"


class Record:
    """What all parts of a trace share: `to_dict`."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The record and all in it as dicts, lists, strings and numbers, ready for JSON.

        >>> Candidate("l", "o", 7).to_dict()
        {'left': 'l', 'right': 'o', 'count': 7}
        """
        return {
            part.name: _plain(getattr(self, part.name))
            for part in dataclasses.fields(self)  # type: ignore[arg-type]  # all are dataclasses
        }


class Trace(Record):
    """A record that can be looked at: as text, in a terminal, in a notebook."""

    __slots__ = ()

    def __str__(self) -> str:
        from jogak.explain.text import to_text

        return to_text(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from jogak.explain.terminal import renderables

        yield from renderables(self)

    def _repr_html_(self) -> str:
        from jogak.explain.html import to_html

        return to_html(self)


# --- training -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """A pair of neighbours that could have been merged.

    Args:
        left: text of the left symbol.
        right: text of the right symbol.
        count: occurrences of the pair over the corpus.
    """

    left: str
    right: str
    count: int


@dataclass(frozen=True, slots=True)
class DictionaryEntry(Record):
    """A word of the inventory, as it is cut at the moment.

    Args:
        symbols: the texts of its symbols, in order.
        count: how often the word occurs.
    """

    symbols: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True, repr=False)
class MergeTrace(Trace):
    """One merge of training: what there was to choose from, what was taken, what it changed.

    Args:
        rank: 0 for the first merge.
        left, right, piece: texts of the two symbols and of what they became.
        count: occurrences of the pair over the corpus, just before the merge, weighted with the
            words' counts.
        occurrences: how often it was replaced, weighted in the same way; below ``count`` where
            occurrences overlapped (``aaa`` has the pair (a, a) twice and room for one replacement).
        candidates: the best pairs, best first; the first one was taken.
        candidates_total: how many different pairs there were.
        tied: how many pairs share the best count, 1 when there was nothing to decide.
        decided_by: ``"count"``, or the name of the rule that broke the tie.
        before, after: words that the merge changed, entry by entry the same word.
        changed_total: how many words the merge changed; ``before`` may hold only the first few.
        live_change: +1, 0 or -1: how the number of pieces in use moved.
        live: pieces in use after the merge.
        vocab_size: pieces in the vocabulary after the merge, in use or not.
        length_before, length_after: symbols in the corpus.
        alphabet: ``"bytes"`` when the texts are written in GPT-2's printable characters.
    """

    rank: int
    left: str
    right: str
    piece: str
    count: int
    occurrences: int
    candidates: tuple[Candidate, ...]
    candidates_total: int
    tied: int
    decided_by: str
    before: tuple[DictionaryEntry, ...]
    after: tuple[DictionaryEntry, ...]
    changed_total: int
    live_change: int
    live: int
    vocab_size: int
    length_before: int
    length_after: int
    alphabet: Alphabet = "chars"

    def __repr__(self) -> str:
        return f"<MergeTrace {self.rank}: {self.left!r} + {self.right!r}, count {self.count}>"


@dataclass(frozen=True, slots=True, repr=False)
class TrainingTrace(Trace):
    """The merges of a training run.

    Args:
        config: the options of training, as plain data.
        merges: the merges in order; the first ``len(merges)`` of ``total_merges``.
        stop: why training ended (see `TrainingLog.stop`).
        total_merges: how many merges training made.
    """

    config: Mapping[str, Any]
    merges: tuple[MergeTrace, ...]
    stop: str
    total_merges: int

    def __repr__(self) -> str:
        return f"<TrainingTrace: {len(self.merges)} of {self.total_merges} merges, {self.stop}>"


# --- encoding -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RankedPair(Record):
    """Two neighbours in a word.

    Args:
        left, right: their texts.
        rank: the rank of their merge, 0 is applied first; None where they are no merge.
    """

    left: str
    right: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class PairStep(Record):
    """One step of encoding by merges: the pair of lowest rank, replaced wherever it occurs.

    Args:
        pairs: all neighbours in the word, left to right.
        chosen: index into ``pairs`` of the leftmost pair that was merged; None if dropout set
            aside all that could be.
        before, after: the symbols of the word.
        dropped: indices into ``pairs`` that dropout set aside in this step.
    """

    pairs: tuple[RankedPair, ...]
    chosen: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    dropped: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data; ``"kind": "pair"`` tells it from a `MatchStep`."""
        return {"kind": "pair", **Record.to_dict(self)}


@dataclass(frozen=True, slots=True)
class Stretch(Record):
    """A part of a word during greedy encoding.

    Args:
        text: the characters.
        covered: whether they are a piece already.
    """

    text: str
    covered: bool


@dataclass(frozen=True, slots=True)
class MatchStep(Record):
    """One step of greedy encoding: a piece was found and covers its part of the word.

    Args:
        position: where it was found, in characters from the start of the word as it is written
            with its marker (see `WordTrace.symbols`).
        piece: what was taken; the unknown piece or a byte piece where nothing matches.
        candidates: the pieces that match here, longest first; empty where nothing does.
        before, after: the word, covered and uncovered parts in order.
    """

    position: int
    piece: str
    candidates: tuple[str, ...]
    before: tuple[Stretch, ...]
    after: tuple[Stretch, ...]

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data; ``"kind": "match"`` tells it from a `PairStep`."""
        return {"kind": "match", **Record.to_dict(self)}


@dataclass(frozen=True, slots=True, repr=False)
class WordTrace(Trace):
    """How one word became its tokens.

    Args:
        text: the word as the model sees it: cut from the normalized text, with ``▁`` for spaces where
            the pre-tokenizer writes them.
        span: start and end in the original text of what it stands for, in UTF-8 bytes.
        special: True for a special token, which no step makes.
        symbols: what encoding started from, the marker included.
        steps: `PairStep` for the ``merges`` strategy, `MatchStep` for the greedy ones.
        stop: why it ended: ``"no-merge"`` (no two neighbours are a merge), ``"one-symbol"`` (no
            neighbours are left), ``"whole-word"`` (taken whole from the vocabulary), ``"covered"``
            (pieces cover all of it), ``"dropout"`` (dropout set aside every merge that was left),
            ``"special"`` and ``"added"`` (tokens that were found before the text was cut); of WordPiece
            also ``"stuck"`` (no piece matches where the last step stands)
            and ``"too-long"`` (more characters than ``max_chars_per_word``), which both make the whole
            word unknown; of whole words ``"unknown"`` (the word is no piece).
        tokens: texts of the resulting pieces.
        ids: their ids.
        token_spans: start and end in the original text of what each token stands for, in UTF-8 bytes.
        alphabet: ``"bytes"`` when symbols are written in GPT-2's printable characters.
    """

    text: str
    span: tuple[int, int]
    special: bool
    symbols: tuple[str, ...]
    steps: tuple[PairStep | MatchStep, ...]
    stop: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    token_spans: tuple[tuple[int, int], ...]
    alphabet: Alphabet = "chars"

    def __repr__(self) -> str:
        return f"<WordTrace {_short(self.text)}: {_short(' '.join(self.tokens))}>"


@dataclass(frozen=True, slots=True, repr=False)
class EncodingTrace(Trace):
    """How a text became its ids: the words it was cut into, and the story of each.

    Args:
        text: what was encoded.
        strategy: ``"merges"``, ``"longest-match"``, ``"longest-first"`` or ``"unigram"``.
        words: the words in order; for a Unigram model the parts that no piece connects, each with its
            lattice (`jogak.explain.lattice.LatticeTrace`).
        normalized: what the normalizer made of the text; None if it changed nothing. Spans still
            count the bytes of ``text``.
    """

    text: str
    strategy: str
    words: tuple[WordTrace, ...]
    normalized: str | None = None

    @property
    def tokens(self) -> tuple[str, ...]:
        """The texts of all tokens, in order."""
        return tuple(token for word in self.words for token in word.tokens)

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of all tokens, in order."""
        return tuple(id_ for word in self.words for id_ in word.ids)

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain data, with the tokens and ids of the whole text."""
        return {**Record.to_dict(self), "tokens": list(self.tokens), "ids": list(self.ids)}

    def __repr__(self) -> str:
        return f"<EncodingTrace {_short(self.text)}: {_short(' '.join(self.tokens))}>"


# --- compression --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompressionStep(Record):
    """One replacement of byte pair compression.

    Args:
        symbol: the new letter.
        left, right: the two letters it replaces.
        expanded: the original text that the new letter stands for.
        count: occurrences of the pair just before.
        candidates: the best pairs, best first, in the letters of the moment.
        text_after: the text with the pair replaced.
        length: its length, in letters.
        symbols: how many different letters are in use, in the original text and in the table.
    """

    symbol: str
    left: str
    right: str
    expanded: str
    count: int
    candidates: tuple[Candidate, ...]
    text_after: str
    length: int
    symbols: int


@dataclass(frozen=True, slots=True, repr=False)
class Compression(Trace):
    """A text compressed by replacing pairs of letters (Gage 1994), and how it came about.

    Args:
        text: the original.
        steps: the replacements in order.
        result: the compressed text.
        table: letter -> the two letters it stands for, in the order they were made.
    """

    text: str
    steps: tuple[CompressionStep, ...]
    result: str
    table: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def decompress(self) -> str:
        """The original text, worked out from ``result`` and ``table`` alone.

        >>> Compression("abab", (), "ZZ", {"Z": ("a", "b")}).decompress()
        'abab'
        """
        text = self.result
        for symbol, pair in reversed(list(self.table.items())):
            text = text.replace(symbol, "".join(pair))
        return text

    def __repr__(self) -> str:
        return (
            f"<Compression {_short(self.text)} -> {_short(self.result)}, {len(self.steps)} steps>"
        )
