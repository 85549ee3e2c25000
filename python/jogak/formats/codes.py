"""subword-nmt's codes: a list of merges, best first, and nothing else.

::

    #version: 0.2
    e n</w>
    t h

Version 0.2 glues ``</w>`` to the last character of a word, version 0.1 (also a file without the first
line) has it as a symbol of its own. Words are what stands between spaces (U+0020 alone); spaces and line
ends around a text are dropped. A merge that stands twice counts where it stands first.

A codes file has no ids. Here they are: the characters of all merges in the order of code points, as they
are and then (0.2) with ``</w>`` glued to them, or (0.1) ``</w>`` itself; what the merges make, in their
order; the unknown piece. subword-nmt draws pieces otherwise (``un@@ der``): that is
`jogak.compat.subword_nmt`.

The vocabulary and the glossaries that ``apply-bpe`` is given beside the codes are options here. What
jogak writes keeps them: glossaries in the first line, before the version, where subword-nmt does not
look, and the vocabulary in a file beside (``codes.vocabulary``), as subword-nmt takes it.

Source: https://github.com/rsennrich/subword-nmt, ``apply_bpe.py``, release 0.3.8
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from jogak.errors import ConfigError, FormatError, UnsupportedFeature
from jogak.formats.checked import fault, shown
from jogak.formats.codes_vocabulary import (
    SEPARATOR,
    VocabularyLike,
    drawn_pieces,
    from_header,
    header,
    read_vocabulary,
    with_options,
)
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.formats.vocab_merges import NAMES
from jogak.formats.vocabulary import refuse_parts
from jogak.spec import (
    BPEModel,
    CodesModel,
    Marker,
    PretokenizerLike,
    Spec,
    Split,
    resolve_pretokenizer,
)

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["END", "WORDS", "model_of", "parse", "read", "write"]

#: What ends a word.
END = "</w>"

#: How subword-nmt cuts a line into words.
WORDS = Split(r"\A[\r\n ]+|(?<![\r\n ])[\r\n ]++\z| +", matches="removed")

_VERSION = re.compile(r"#version:(?:.*\s)?0\.([12])(?:\.0+)*\s*")


def read(
    path: PathLike,
    *,
    merges: int | None = None,
    unknown: str | None = "<unk>",
    pretokenizer: PretokenizerLike = WORDS,
    vocabulary: VocabularyLike | None = None,
    vocabulary_threshold: int | None = None,
    glossaries: Sequence[str] | None = None,
    separator: str = SEPARATOR,
) -> Spec:
    """The tokenizer of a codes file.

    Args:
        path: the file.
        merges: take only so many of the merges, from the first on; the characters are those of all.
        unknown: the text of the piece for characters that no merge has; None makes them an error.
        pretokenizer: how text is cut into words, if not at spaces.
        vocabulary: the pieces that may come out, as subword-nmt draws them: a file of ``get_vocab``
            (lines of piece and count), a mapping of pieces to counts, or pieces. Others are cut back
            into what they were merged of. An empty one is none, as there.
        vocabulary_threshold: leave out pieces of the vocabulary that occur less often.
        glossaries: regular expressions of what stays whole, wherever it stands in a word.
        separator: what the vocabulary has behind the pieces within a word.

    Raises:
        FormatError: a line that is not two pieces and one space, with the line; another version.
        ConfigError: a wrong option.
        UnsupportedFeature: a vocabulary or a glossary that cannot be carried over exactly: codes of
            version 0.1 with a vocabulary, anchors and groups that capture in glossaries, a merge that
            has ``</w>`` where no word ends.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    if merges is not None and (type(merges) is not int or merges < 0):
        raise ConfigError(f"merges is {merges!r}; expected a whole number, 0 or more, or None")
    if not isinstance(separator, str) or not separator:
        raise ConfigError(f"separator is {separator!r:.80}; expected a text that is not empty")
    data = read_bytes(path)
    own, pairs = parse(data, name)
    kept: Collection[str] = ()
    said, beside = from_header(data.split(b"\n", 1)[0].decode("utf-8"), name)
    if vocabulary is not None:
        kept = read_vocabulary(vocabulary, vocabulary_threshold)
    elif vocabulary_threshold is not None:
        raise ConfigError(
            f"vocabulary_threshold is {vocabulary_threshold!r:.80}, and there is no vocabulary; "
            "give it, too"
        )
    elif beside:
        kept = read_vocabulary(_beside(path))
    model = model_of(own, pairs, unknown, name, merges)
    glossaries = said if glossaries is None else glossaries
    model = with_options(model, pairs[:merges], kept, glossaries, separator, name)
    return Spec(model=model, pretokenizer=resolve_pretokenizer(pretokenizer))


def _beside(path: PathLike) -> str:
    """The vocabulary that a codes file of jogak's has beside it."""
    return f"{os.fspath(path)}.vocabulary"


def parse(data: bytes, file: str) -> tuple[bool, list[tuple[str, str]]]:
    """Whether ``</w>`` is a symbol of its own (version 0.1), and the merges, those that stand twice too.

    Raises:
        FormatError: as `read`.

    >>> parse(b"#version: 0.2\\nt h\\n", "codes")
    (False, [('t', 'h')])
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {error.start}"
        raise fault(file, place, f"{place} is not UTF-8 ({error.reason}); expected UTF-8") from None
    # Only line feeds end lines: pieces may hold other characters that Unicode calls line ends.
    lines = text.rstrip("\n").split("\n")
    own, first = True, 0
    if lines[0].startswith("#version:"):
        version = _VERSION.fullmatch(lines[0])
        if version is None:
            raise _wrong(
                file, 1, f"is {shown(lines[0])}; expected '#version: 0.1' or '#version: 0.2'"
            )
        own, first = version[1] == "1", 1
    if len(lines) == first:
        raise fault(file, f"line {first + 1}", "no merges; expected a line for each")
    pairs = []
    for number, line in enumerate(lines[first:], first + 1):
        parts = line.strip("\r\n ").split(" ")
        if len(parts) != 2 or not all(parts):
            raise _wrong(file, number, f"is {shown(line)}; expected two pieces and one space")
        pairs.append((parts[0], parts[1]))
    return own, pairs


def model_of(
    own: bool,
    pairs: Sequence[tuple[str, str]],
    unknown: str | None,
    name: str,
    merges: int | None = None,
) -> BPEModel:
    """The model of a codes file: which ids its pieces have, see above.

    Args:
        own: whether ``</w>`` is a symbol of its own.
        pairs: the merges, best first.
        unknown: the text of the unknown piece, or None.
        name: what errors call the file.
        merges: take only so many of them.

    Raises:
        ConfigError: ``unknown`` is a piece.
    """
    pieces = dict.fromkeys(_alphabet(pairs, own))
    pairs = pairs[:merges]
    pieces |= dict.fromkeys(left + right for left, right in pairs)
    # Parts that no merge makes can never come up; their merges stay, so that the file is whole.
    pieces |= dict.fromkeys(part for pair in pairs for part in pair)
    if unknown is not None:
        if unknown in pieces:
            raise ConfigError(
                f"{name}: unknown={unknown!r} is a piece already; choose another text"
            )
        pieces[unknown] = None
    ids = {text: id_ for id_, text in enumerate(pieces)}
    return BPEModel(
        pieces=tuple(pieces),
        merges=tuple((ids[left], ids[right]) for left, right in dict.fromkeys(pairs)),
        marker=Marker("suffix", END, "own" if own else "joined"),
        unknown=unknown,
    )


def _wrong(file: str, number: int, message: str) -> FormatError:
    return fault(file, f"line {number}", f"line {number} {message}")


def _alphabet(pairs: Iterable[tuple[str, str]], own: bool) -> list[str]:
    characters = sorted({*"".join(part.removesuffix(END) for pair in pairs for part in pair)})
    return [*characters, *([END] if own else (c + END for c in characters))]


def write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    """Write a codes file, wholly or not at all: version 0.2, or 0.1 where the marker is its own symbol.

    Ids, special tokens, the unknown piece and the pre-tokenizer have no place in the file: subword-nmt
    cuts at spaces and gives the same pieces. Training log and probes stay behind. Where merges are
    undone by a vocabulary, that is a second file, ``PATH.vocabulary``: give it to ``apply-bpe`` as
    ``--vocabulary``, and the glossaries as ``--glossaries``.

    Raises:
        UnsupportedFeature: not BPE with a list of merges and the suffix ``</w>``; a piece with a space
            or line feed; no merges at all.
        OSError: the file cannot be written.
    """
    name = os.fspath(path)
    model = spec.model

    def refused(what: str) -> UnsupportedFeature:
        return UnsupportedFeature(
            f"{name}: a file of codes cannot say {what}; save as the native format"
        )

    if not isinstance(model, BPEModel) or model.merges is None:
        what = "ids as ranks" if isinstance(model, BPEModel) else f"a {model.family} model"
        raise refused(what)
    said = repr(model.marker.kind) + (f" with {model.marker.text!r}" if model.marker.text else "")
    for cannot, what in (
        (model.marker.kind != "suffix" or model.marker.text != END, f"the marker {said}"),
        (not model.mark_words, "mark_words=False"),
        (model.byte_fallback, "byte_fallback=True"),
        (model.strategy != "merges", f"the strategy {model.strategy!r}"),
        (model.whole_word, "whole_word=True"),
        (bool(model.dropout), f"dropout={model.dropout}"),
        (not model.merges, "a tokenizer without merges"),
    ):
        if cannot:
            raise refused(what)
    refuse_parts(spec, name, "a file of codes")
    own = model.marker.symbol == "own"
    codes = model if isinstance(model, CodesModel) else None
    vocabulary = codes and drawn_pieces(codes)
    if codes and codes.kept is not None and vocabulary is None:
        raise refused("which pieces are kept: none, or pieces that are drawn like others")
    lines = [f"#version: {header(codes) if codes else ''}0.{1 if own else 2}"]
    for rank, (left_id, right_id) in enumerate(model.merges):
        left, right = model.pieces[left_id] or "", model.pieces[right_id] or ""
        if not {" ", "\n"}.isdisjoint(left + right) or left[:1] == "\r" or right[-1:] == "\r":
            raise refused(f"merge {rank} of {left!r} and {right!r}: it has a space or a line end")
        lines.append(f"{left} {right}")
    if vocabulary:
        drawn = "".join(f"{piece} 1\n" for piece in vocabulary)
        write_atomically(_beside(path), drawn.encode("utf-8"))
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode("utf-8"))


def _read(path: PathLike, **options: object) -> Loaded:
    return Loaded(read(path, **options), None, (), FORMAT.name)  # type: ignore[arg-type]  # options by name


def _matches(peek: Peek) -> bool:
    """Whether all lines that are seen are two pieces, and some piece ends a word.

    Hugging Face's ``merges.txt`` looks the same; it has its vocabulary beside it.
    """
    base = os.path.basename(peek.path)
    if peek.is_folder or any(base in names and peek.has(*names) for names in NAMES):
        return False
    lines = peek.head.split(b"\n")
    if len(peek.head) == 4096:
        lines.pop()
    lines = [line for line in lines if line]
    if lines and lines[0].startswith(b"#version:"):
        del lines[0]
    return (
        bool(lines)
        and all(len(line.strip(b"\r ").split(b" ")) == 2 for line in lines)
        and any(END.encode() in line for line in lines)
    )


FORMAT = Format(
    name="subword-nmt",
    about="subword-nmt's codes",
    matches=_matches,
    read=_read,
    write=write,
    options=(
        *("merges", "unknown", "pretokenizer"),
        *("vocabulary", "vocabulary_threshold", "glossaries", "separator"),
    ),
)
