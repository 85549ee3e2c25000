"""`BPE` with subword-nmt's arguments and results, over jogak's merges.

Segments are those of subword-nmt 0.3.8: the separator, the vocabulary whose words are kept, glossaries.
A codes file is read as a stranger's: what is wrong in it is an error, and ends no program.

Rule: merges are jogak's; what is done with whole words stands here. A word is cut when it first comes.

Source: https://github.com/rsennrich/subword-nmt, ``apply_bpe.py``, release 0.3.8
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple, TextIO

from jogak.errors import ConfigError, UnsupportedFeature
from jogak.formats import codes as files
from jogak.formats.files import read_bytes, write_atomically
from jogak.spec import Spec, resolve_pretokenizer
from jogak.tokenizer import Tokenizer

__all__ = ["BPE", "read_vocabulary"]

#: What is dropped around the words of a line.
_ENDS = "\r\n "
#: Lines of so many characters are cut together.
_BLOCK = 1 << 20
#: After so many lines with characters that no merge has, such characters become pieces.
_PATIENCE = 64
#: So many words are remembered with their pieces.
_REMEMBERED = 1 << 20


class _Words(dict[str, tuple[str, ...]]):
    """Words with their pieces, as they are drawn; one that is not there is cut."""

    def __init__(self, cut: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        pieces = self[word] = self._cut(word)
        return pieces


class _Lines(NamedTuple):
    """What cuts lines, the id of characters that no merge has, and what is drawn for each id."""

    tokenizer: Tokenizer
    unknown: int
    drawn: list[str]
    #: The same in UTF-8.
    written: dict[int, bytes]


class BPE:
    """Cuts lines into words and words into pieces, as subword-nmt does.

    Args:
        codes: the path of the codes file, or the file, open as text.
        merges: take only so many merges; -1 takes all.
        separator: stands behind every piece of a word but the last.
        vocab: pieces, as they are drawn, that may come out: others are cut back into what they were
            merged of, until these are in it or are characters. See `read_vocabulary`.
        glossaries: regular expressions of what stays whole, wherever it stands in a word.

    Raises:
        FormatError: what is wrong in the codes, with the line.
        UnsupportedFeature: a vocabulary with codes of version 0.1.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "codes")
    >>> _ = path.write_text("#version: 0.2\\nl o\\nlo w</w>\\n")
    >>> BPE(path).segment("low lowest"), BPE(path, vocab={"lo@@", "w"}).segment("low")
    ('low lo@@ w@@ e@@ s@@ t', 'lo@@ w')
    """

    def __init__(
        self,
        codes: str | os.PathLike[str] | Iterable[str],
        merges: int = -1,
        separator: str = "@@",
        vocab: Collection[str] | None = None,
        glossaries: Sequence[str] | None = None,
    ) -> None:
        if isinstance(codes, (str, os.PathLike)):
            name, data = os.fspath(codes), read_bytes(codes)
        else:
            name, data = "codes", "".join(codes).encode("utf-8", "surrogatepass")
        own, pairs = files.parse(data, name)
        if merges >= 0:
            pairs = pairs[:merges]
        self._model = files.model_of(own, pairs, None, name)
        # Where a mark of the end of a word can be nothing else.
        self._tells_ends = not own and all(
            right.endswith(files.END) or not (left + right).endswith(files.END)
            for left, right in pairs
        )
        self.version = (0, 1) if own else (0, 2)
        self.vocab = vocab
        self.glossaries = list(glossaries or ())
        if vocab and self.version == (0, 1):
            raise UnsupportedFeature(
                "codes of version 0.1 with a vocabulary: there subword-nmt cuts pieces back by merges "
                "that did not make them; learn the codes again with 0.2"
            )
        # Of several merges that make one piece the one is undone whose last line comes first.
        last = {pair: line for line, pair in enumerate(pairs)} if vocab else {}
        self._parts = {
            left + right: (left, right)
            for left, right in sorted(last, key=last.__getitem__, reverse=True)
        }
        try:
            whole = "|".join(self.glossaries)
            self._whole = re.compile(f"^({whole})$") if self.glossaries else None
            self._alone = [re.compile(f"^{gloss}$") for gloss in self.glossaries]
            self._inside = [re.compile(f"({gloss})") for gloss in self.glossaries]
        except re.error as error:
            raise ConfigError(
                f"glossaries are {self.glossaries!r:.200}: {error}; expected regular expressions "
                "(re.escape makes one of any text)"
            ) from None
        # Characters of lines that have some which no merge has; how many such lines there were since
        # these became pieces, and how many are waited for.
        self._strange: set[str] = set()
        self._missed, self._patience = 0, _PATIENCE
        self.separator = separator

    @cached_property
    def _tok(self) -> Tokenizer:
        """Cuts segments of words."""
        return Tokenizer(Spec(model=self._model, pretokenizer=resolve_pretokenizer("none")))

    def _made_lines(self) -> _Lines | None:
        """What cuts lines; None where what is drawn depends on more than the id."""
        if self.glossaries or not self._tells_ends:
            return None
        unknown = "<unk>"
        while unknown in self._model.pieces:
            unknown += ">"
        strange = sorted(self._strange.difference(self._model.pieces, " "))
        own = (*strange, *(character + files.END for character in strange))
        model = replace(self._model, pieces=(*self._model.pieces, *own, unknown), unknown=unknown)
        tok = Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer(files.WORDS)))
        ends = ((text or "").removesuffix(files.END) for text in model.pieces)
        drawn = [
            self._drawn(bare, bare != text) for bare, text in zip(ends, model.pieces, strict=True)
        ]
        written = {id_: text.encode("utf-8", "surrogatepass") for id_, text in enumerate(drawn)}
        return _Lines(tok, tok.id(unknown), drawn, written)

    @property
    def separator(self) -> str:
        """What stands behind every piece of a word but the last."""
        return self._separator

    @separator.setter
    def separator(self, separator: str) -> None:
        self._separator = separator
        # Both have drawn pieces.
        self._words = _Words(self._cut)
        self._lines = self._made_lines()

    def process_lines(
        self,
        filename: str | os.PathLike[str],
        outfile: str | TextIO,
        dropout: float = 0,
        num_workers: int = 1,
    ) -> None:
        """The lines of a file -> their pieces, as `process_line` gives them.

        Args:
            filename: the file to read, in UTF-8.
            outfile: the path to write to, where the old file stays until the new one is whole, or a file
                that is open as text.
            dropout: 0.
            num_workers: how many threads cut.

        Raises:
            ConfigError: num_workers is below 1.
            UnsupportedFeature: as `segment`.
            OSError: a file cannot be read or written.
            UnicodeDecodeError: the file is not UTF-8.
        """
        if num_workers < 1:
            raise ConfigError(f"num_workers is {num_workers!r}; expected a whole number, 1 or more")
        with open(filename, encoding="utf-8") as source:
            lines = iter(partial(source.readlines, _BLOCK), [])
            blocks = (self._block(some, dropout, num_workers) for some in lines)
            if isinstance(outfile, str):
                write_atomically(outfile, (block.encode("utf-8") for block in blocks))
            else:
                outfile.writelines(blocks)

    def _block(self, lines: list[str], dropout: float, num_threads: int) -> str:
        """Lines, as `process_line` gives them, together."""
        made_of = self._lines
        if made_of is None or dropout:
            return "".join(self.process_line(line, dropout) for line in lines)
        tokenizer, unknown, _, written = made_of
        bare = [line.strip(_ENDS) for line in lines]
        batch = tokenizer.encode_batch(bare, num_threads=num_threads)
        made = batch.to_lines(written).decode("utf-8", "surrogatepass").split("\n")
        places = (batch.ids == unknown).nonzero()[0]
        missed = set((batch.offsets.searchsorted(places, side="right") - 1).tolist())
        if missed and self._learns([bare[number] for number in missed]):
            return self._block(lines, dropout, num_threads)
        for number in missed:
            made[number] = self._by_words(bare[number])
        # What is around the words of a line stays there.
        done = (
            f"{text}\n" if line == f"{words}\n" else _within(line, words, text)
            for line, words, text in zip(lines, bare, made, strict=False)
        )
        return "".join(done)

    def _learns(self, lines: Collection[str]) -> bool:
        """Lines that have characters which no merge has -> whether these are pieces from now on.

        That takes as long as to open the codes, so it takes more of them each time.
        """
        self._strange.update(*lines)
        self._missed += len(lines)
        if self._missed < self._patience:
            return False
        self._missed, self._patience = 0, 2 * self._patience
        self._lines = self._made_lines()
        return True

    def process_line(self, line: str, dropout: float = 0) -> str:
        """A line -> its pieces, with the spaces and line ends around it."""
        before = line[: len(line) - len(line.lstrip(_ENDS))]
        after = line[len(line.rstrip(_ENDS)) :] if len(before) < len(line) else ""
        return before + self.segment(line, dropout) + after

    def segment(self, sentence: str, dropout: float = 0) -> str:
        """A text of words between spaces -> its pieces between spaces.

        Raises:
            UnsupportedFeature: dropout, which subword-nmt draws otherwise than anybody else;
                `jogak.Tokenizer.encode` has it.
        """
        lines = self._lines  # Another thread may put others in their place.
        if lines is not None and not dropout:
            ids = lines.tokenizer.encode(sentence)
            if lines.unknown not in ids:
                return " ".join(map(lines.drawn.__getitem__, ids))
            self._learns([sentence])
        return self._by_words(sentence, dropout)

    def _by_words(self, sentence: str, dropout: float = 0) -> str:
        return " ".join(self.segment_tokens(sentence.strip(_ENDS).split(" "), dropout))

    def segment_tokens(self, tokens: Iterable[str], dropout: float = 0) -> list[str]:
        """Words -> all their pieces. Raises as `segment`."""
        if dropout:
            raise UnsupportedFeature(
                "dropout: subword-nmt draws anew for every pair at every step; load the codes with "
                "jogak.load and pass dropout= to encode"
            )
        return list(chain.from_iterable(map(self._words.__getitem__, tokens)))

    def _isolated(self, word: str) -> list[str]:
        """A word, cut around what glossaries name."""
        segments = [word]
        for alone, inside in zip(self._alone, self._inside, strict=True):
            segments = [part for segment in segments for part in _around(segment, alone, inside)]
        return segments

    def _cut(self, word: str) -> tuple[str, ...]:
        """A word -> its pieces, with the separator behind all but the last; the empty one has none."""
        pieces = [piece for part in self._isolated(word) for piece in self._encoded(part) if word]
        return (*(piece + self._separator for piece in pieces[:-1]), *pieces[-1:])

    def _encoded(self, segment: str) -> list[str]:
        if len(segment) == 1 or (self._whole is not None and self._whole.match(segment)):
            return [segment]
        *pieces, last = self._tok.tokens(segment) or ("",)
        last = last.removesuffix(files.END)
        kept = [part for piece in pieces for part in self._kept(piece, False)]
        return [*kept, *self._kept(last, True)] if last else kept

    def _drawn(self, piece: str, final: bool) -> str:
        """A piece, with a separator if it ends no word; or its parts that the vocabulary has."""
        if not self.vocab:
            return piece if final else piece + self._separator
        parts = list(self._kept(piece, final))
        last = parts.pop() if final else ""
        return " ".join([*(part + self._separator for part in parts), *([last] if final else [])])

    def _kept(self, piece: str, final: bool) -> Iterator[str]:
        """The piece, cut back until the vocabulary has the parts."""
        if not self.vocab:
            yield piece
            return
        # Of a piece and whether it ends the word; a stack, since pieces may be long.
        stack = [(piece, final)]
        while stack:
            piece, final = stack.pop()
            drawn = piece if final else piece + self.separator
            parts = None
            if drawn not in self.vocab:
                parts = self._parts.get(piece + files.END if final else piece)
            if parts is None:
                yield piece
                continue
            left, right = parts
            stack.append((right[: -len(files.END)] if final else right, final))
            stack.append((left, False))


def _within(line: str, bare: str, made: str) -> str:
    """A line with something else in the place of its words, which are `bare`."""
    start = line.find(bare)
    return f"{line[:start]}{made}{line[start + len(bare) :]}"


def _around(segment: str, alone: re.Pattern[str], inside: re.Pattern[str]) -> list[str]:
    if alone.match(segment) or not inside.search(segment):
        return [segment]
    *parts, ending = inside.split(segment)
    parts = [part for part in parts if part]
    return [*parts, ending.strip(_ENDS)] if ending else parts


def read_vocabulary(vocab_file: Iterable[str], threshold: int | None) -> set[str]:
    """The pieces of a vocabulary file (``get_vocab.py``) that occur often enough.

    Args:
        vocab_file: lines of a piece, a space, and how often it occurs.
        threshold: at least so often; None takes all.

    Raises:
        ConfigError: another line, with its number.

    >>> sorted(read_vocabulary(["lo@@ 7", "w 3"], 5))
    ['lo@@']
    """
    kept = set()
    for number, line in enumerate(vocab_file, 1):
        piece, _, count = line.strip(_ENDS).partition(" ")
        if not re.fullmatch(r"[-+]?[0-9]{1,18}", count, re.ASCII):
            raise ConfigError(
                f"line {number} of the vocabulary is {line!r}; expected piece, space, count"
            )
        if threshold is None or int(count) >= threshold:
            kept.add(piece)
    return kept
