"""Which lines of a corpus SentencePiece trains on.

Empty lines, lines that are too long and lines with ▅ (U+2585, its sign for unknown characters) are left
out; of the rest all, the first, or a sample is taken. What was left out is told, with places.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jogak.errors import CorpusError
from jogak.recipes.flags import Flags

__all__ = ["Selection"]

#: The same lines each time. (SentencePiece draws from another generator: other lines.)
_SEED = 12345678
_RESERVED = "▅".encode()
#: How many places a message names.
_NAMED = 3


@dataclass
class Selection:
    """The lines that are trained on, and what was left out.

    Args:
        flags: which lines are wanted.
        sentences: texts instead of files.
        too_long: how many lines were longer than ``max_sentence_length``.
        reserved: how many had ▅.
        usable: how many could be used, before a sample was taken.
        taken: how many were taken.
        samples: some of them, for the self test.
    """

    flags: Flags
    sentences: Iterable[str | bytes] | None = None
    too_long: int = 0
    reserved: int = 0
    usable: int = 0
    taken: int = 0
    samples: list[bytes] = field(default_factory=list)
    _places: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[tuple[bytes, int]]:
        """Each line with its weight: 1, or the number behind the tab (``input_format="tsv"``)."""
        for line in self._chosen():
            self.taken += 1
            yield line

    def _chosen(self) -> Iterator[tuple[bytes, int]]:
        size = self.flags.input_sentence_size
        if not size:
            yield from self._usable()
        elif self.flags.shuffle_input_sentence:
            yield from self._sample(size)
        else:
            # Nothing behind the last wanted line is read.
            for line in self._usable():
                yield line
                if self.usable == size:
                    break

    def warn(self) -> None:
        """Says what was left out, if anything was."""
        if self.too_long:
            places = ", ".join(self._places) + (" …" if self.too_long > _NAMED else "")
            warnings.warn(
                f"{self.too_long:,} lines are longer than max_sentence_length="
                f"{self.flags.max_sentence_length} bytes and were left out of training ({places}); "
                "give a larger max_sentence_length, or cut the lines",
                stacklevel=4,
            )
        if self.reserved:
            warnings.warn(
                f"{self.reserved:,} lines have the character ▅ (U+2585), which SentencePiece keeps for "
                "itself, and were left out of training",
                stacklevel=4,
            )

    def _read(self) -> Iterator[tuple[bytes, str]]:
        """All lines, and where each stands."""
        if self.sentences is not None:
            for number, text in enumerate(self.sentences, 1):
                if not isinstance(text, (str, bytes)):
                    raise CorpusError(
                        f"sentence {number} is {type(text).__name__}; expected str or bytes"
                    )
                try:
                    raw = text.encode() if isinstance(text, str) else text
                except UnicodeEncodeError as error:
                    raise CorpusError(f"sentence {number} is no Unicode text: {error}") from None
                yield raw, f"sentence {number}"
            return
        for name in self.flags.input:
            if not os.path.isfile(name):
                raise CorpusError(f"{name}: no such file; input names files, with commas", name)
            with open(name, "rb") as file:
                for number, line in enumerate(file, 1):
                    yield line.removesuffix(b"\n"), f"{name} line {number}"

    def _usable(self) -> Iterator[tuple[bytes, int]]:
        sampler = _Reservoir(self.samples, self.flags.self_test_sample_size)
        for line, place in self._read():
            weight = 1
            if self.flags.input_format == "tsv":
                line, weight = _weighed(line, place)
            if not line:
                continue
            if len(line) > self.flags.max_sentence_length:
                if self.too_long < _NAMED:
                    self._places.append(f"{place}: {len(line):,} bytes")
                self.too_long += 1
            elif _RESERVED in line:
                self.reserved += 1
            else:
                self.usable += 1
                sampler.add(line)
                yield line, weight

    def _sample(self, size: int) -> Iterator[tuple[bytes, int]]:
        """Every set of lines is as likely as any other; the same each time (Vitter 1985)."""
        chosen: list[tuple[bytes, int]] = []
        reservoir = _Reservoir(chosen, size)
        for line in self._usable():
            reservoir.add(line)
        yield from chosen


def _weighed(line: bytes, place: str) -> tuple[bytes, int]:
    parts = line.split(b"\t")
    weight = parts[1].strip() if len(parts) == 2 else b""
    if not weight.isdigit() or not 0 < int(weight) < 2**63:
        raise CorpusError(
            f"{place} is not a text, a tab and a whole number of 1 or more, as input_format='tsv' wants"
        )
    return parts[0], int(weight)


class _Reservoir:
    """A sample of fixed size from a stream of unknown length."""

    def __init__(self, chosen: list[Any], size: int) -> None:
        self.chosen, self.size, self.seen = chosen, size, 0
        self.random = random.Random(_SEED)

    def add(self, item: object) -> None:
        self.seen += 1
        if len(self.chosen) < self.size:
            self.chosen.append(item)
        elif self.size:
            place = self.random.randrange(self.seen)
            if place < self.size:
                self.chosen[place] = item
