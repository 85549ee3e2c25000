"""subword-nmt's face: `BPE` with its arguments and its results, over jogak's merges.

    from subword_nmt.apply_bpe import BPE          becomes
    from jogak.compat.subword_nmt import BPE

Segments are those of subword-nmt 0.3.8: the separator, the vocabulary whose words are kept, glossaries.
A codes file is read as a stranger's: what is wrong in it is an error, and ends no program.

Rule: merges are jogak's; what is done with whole words stands here.

Source: https://github.com/rsennrich/subword-nmt, ``apply_bpe.py``, release 0.3.8
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from jogak.errors import ConfigError, UnsupportedFeature
from jogak.formats import codes as files
from jogak.formats.files import read_bytes
from jogak.spec import Spec, resolve_pretokenizer
from jogak.tokenizer import Tokenizer

__all__ = ["BPE", "read_vocabulary"]

#: So many words are remembered with their pieces.
_REMEMBERED = 1 << 20


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
        model = files.model_of(own, pairs, None, name)
        self._tok = Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))
        self.version = (0, 1) if own else (0, 2)
        self.separator = separator
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
        self._cache: dict[str, tuple[str, ...]] = {}

    def process_line(self, line: str, dropout: float = 0) -> str:
        """A line -> its pieces, with the spaces and line ends around it."""
        before = line[: len(line) - len(line.lstrip("\r\n "))]
        after = line[len(line.rstrip("\r\n ")) :] if len(before) < len(line) else ""
        return before + self.segment(line, dropout) + after

    def segment(self, sentence: str, dropout: float = 0) -> str:
        """A text of words between spaces -> its pieces between spaces.

        Raises:
            UnsupportedFeature: dropout, which subword-nmt draws otherwise than anybody else;
                `jogak.Tokenizer.encode` has it.
        """
        return " ".join(self.segment_tokens(sentence.strip("\r\n ").split(" "), dropout))

    def segment_tokens(self, tokens: Iterable[str], dropout: float = 0) -> list[str]:
        """Words -> all their pieces. Raises as `segment`."""
        if dropout:
            raise UnsupportedFeature(
                "dropout: subword-nmt draws anew for every pair at every step; load the codes with "
                "jogak.load and pass dropout= to encode"
            )
        output: list[str] = []
        for word in tokens:
            if not word:
                continue
            pieces = [piece for segment in self._isolated(word) for piece in self._encoded(segment)]
            output.extend(piece + self.separator for piece in pieces[:-1])
            output.extend(pieces[-1:])
        return output

    def _isolated(self, word: str) -> list[str]:
        """A word, cut around what glossaries name."""
        segments = [word]
        for alone, inside in zip(self._alone, self._inside, strict=True):
            segments = [part for segment in segments for part in _around(segment, alone, inside)]
        return segments

    def _encoded(self, segment: str) -> tuple[str, ...]:
        known = self._cache.get(segment)
        if known is not None:
            return known
        if self._whole is not None and self._whole.match(segment):
            pieces: tuple[str, ...] = (segment,)
        elif len(segment) == 1:
            pieces = (segment,)
        else:
            pieces = self._merged(segment)
            if self.vocab:
                pieces = tuple(self._kept(pieces))
        if len(self._cache) >= _REMEMBERED:
            self._cache.clear()
        self._cache[segment] = pieces
        return pieces

    def _merged(self, segment: str) -> tuple[str, ...]:
        *pieces, last = self._tok.tokens(segment) or ("",)
        last = last.removesuffix(files.END)
        return (*pieces, last) if last else tuple(pieces)

    def _kept(self, pieces: tuple[str, ...]) -> Iterator[str]:
        """The pieces, cut back until the vocabulary has them."""
        assert self.vocab is not None
        # Of a piece and whether it ends the word; a stack, since pieces may be long.
        stack = [(piece, False) for piece in reversed(pieces)]
        if stack:
            stack[0] = stack[0][0], True
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


def _around(segment: str, alone: re.Pattern[str], inside: re.Pattern[str]) -> list[str]:
    if alone.match(segment) or not inside.search(segment):
        return [segment]
    *parts, ending = inside.split(segment)
    parts = [part for part in parts if part]
    return [*parts, ending.strip("\r\n ")] if ending else parts


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
        piece, _, count = line.strip("\r\n ").partition(" ")
        if not re.fullmatch(r"[-+]?[0-9]{1,18}", count, re.ASCII):
            raise ConfigError(
                f"line {number} of the vocabulary is {line!r}; expected piece, space, count"
            )
        if threshold is None or int(count) >= threshold:
            kept.add(piece)
    return kept
