"""What ``subword-nmt apply-bpe`` is given beside the codes: vocabulary, threshold, glossaries.

::

    --vocabulary V                  lines of a piece as it is drawn (``un@@``), a space, a count
    --vocabulary-threshold 50       pieces below it are no pieces
    --glossaries USA '[0-9]+'       what stays whole

Rule: here it is turned into ids, and back into a file; what it does to a text stands in the core.

Source: https://github.com/rsennrich/subword-nmt, ``apply_bpe.py``, release 0.3.8
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from jogak.errors import ConfigError, UnsupportedFeature
from jogak.formats.checked import Node, fault, parse, shown
from jogak.formats.files import PathLike, read_bytes
from jogak.spec import BPEModel, CodesModel
from jogak.spec.glossaries import glossary_text

__all__ = [
    "SEPARATOR",
    "VocabularyLike",
    "drawn_pieces",
    "from_header",
    "header",
    "read_vocabulary",
    "with_options",
]

#: A file; pieces as they are drawn; or how often each of them occurs.
VocabularyLike: TypeAlias = "PathLike | Mapping[str, int] | Iterable[str]"

#: What stands behind the pieces within a word.
SEPARATOR = "@@"

_COUNT = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)


def read_vocabulary(vocabulary: VocabularyLike, threshold: int | None = None) -> dict[str, None]:
    """The pieces of a vocabulary that occur often enough, in its order.

    Args:
        vocabulary: the path of a file that ``get_vocab.py`` writes; a mapping of pieces to counts; or
            pieces alone, which need no threshold.
        threshold: at least so often; None takes all.

    Raises:
        FormatError: a line of the file that is not a piece, a space and a count.
        ConfigError: an impossible threshold, or pieces of another kind.
        OSError: the file cannot be read.

    >>> list(read_vocabulary({"lo@@": 7, "w": 3}, 5))
    ['lo@@']
    """
    if threshold is not None and type(threshold) is not int:
        raise ConfigError(
            f"vocabulary_threshold is {threshold!r:.80}; expected a whole number or None"
        )
    if isinstance(vocabulary, (str, os.PathLike)):
        pairs: Iterable[tuple[object, object]] = _pairs_of_file(vocabulary)
    elif isinstance(vocabulary, Mapping):
        pairs = vocabulary.items()
    elif isinstance(vocabulary, Iterable) and not isinstance(vocabulary, (bytes, bytearray)):
        if threshold is not None:
            raise ConfigError(
                "vocabulary_threshold needs to know how often pieces occur, and the vocabulary is "
                "pieces alone; give the file, or a mapping of pieces to counts"
            )
        pairs = ((piece, 0) for piece in vocabulary)
    else:
        raise ConfigError(
            f"vocabulary is {vocabulary!r:.80}; expected a path, a mapping of pieces to counts, or "
            "pieces"
        )
    kept: dict[str, None] = {}
    for piece, count in pairs:
        if not isinstance(piece, str) or type(count) is not int:
            raise ConfigError(
                f"the vocabulary has {piece!r:.80} with the count {count!r:.80}; expected a text and a "
                "whole number"
            )
        if threshold is None or count >= threshold:
            kept[piece] = None
    return kept


def _pairs_of_file(path: PathLike) -> Iterable[tuple[str, int]]:
    name = os.fspath(path)
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {error.start}"
        raise fault(name, place, f"{place} is not UTF-8 ({error.reason}); expected UTF-8") from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, 1):
        piece, _, count = line.strip("\r\n ").partition(" ")
        if not _COUNT.fullmatch(count):
            place = f"line {number}"
            raise fault(
                name,
                place,
                f"{place} is {shown(line)}; expected a piece, a space and how often it occurs",
            )
        yield piece, int(count)


def with_options(
    model: BPEModel,
    pairs: Sequence[tuple[str, str]],
    vocabulary: Collection[str],
    glossaries: Sequence[str],
    separator: str,
    name: str,
) -> BPEModel:
    """The model of codes with a vocabulary and glossaries.

    Args:
        model: the model of the codes alone. Pieces that are needed get ids behind all others but the
            unknown piece: those that end words, as they stand before a glossary; the texts of
            glossaries that are texts; and what of the vocabulary a glossary names.
        pairs: the merges as they stand in the file, those that stand twice too.
        vocabulary: pieces as they are drawn; none for no vocabulary, as there.
        glossaries: what stays whole.
        separator: what is drawn behind the pieces within a word.
        name: what errors call the codes.

    Raises:
        UnsupportedFeature: what cannot be carried over exactly.
        ConfigError: a glossary that is no regular expression.
    """
    if not vocabulary and not glossaries:
        return model
    own = model.marker.symbol == "own"
    if vocabulary and own:
        raise UnsupportedFeature(
            f"{name}: codes of version 0.1 with a vocabulary: there subword-nmt cuts pieces back by "
            "merges that did not make them; learn the codes again with 0.2"
        )
    if vocabulary:
        _check_parts(pairs, name)
    mark = model.marker.text or ""
    known = (piece for piece in model.pieces if piece is not None)
    pieces: dict[str, None] = {piece: None for piece in known if piece != model.unknown}
    if glossaries:
        if isinstance(glossaries, str):
            raise ConfigError(f"glossaries is {glossaries!r:.80}; expected a list of expressions")
        texts = [text for text in map(glossary_text, _checked(glossaries)) if text is not None]
        inner = [piece.removesuffix(mark) for piece in pieces if piece.endswith(mark)]
        pieces |= dict.fromkeys(piece for piece in inner if piece)
        for text in texts:
            pieces |= dict.fromkeys([text] if own else [text, text + mark])
        pieces |= dict.fromkeys(_named(vocabulary, glossaries, separator, "" if own else mark))
    if model.unknown is not None:
        if model.unknown in pieces:
            raise ConfigError(
                f"{name}: unknown={model.unknown!r} is a piece already; choose another text"
            )
        pieces[model.unknown] = None
    old = [piece or "" for piece in model.pieces]
    ids = {piece: id_ for id_, piece in enumerate(pieces)}
    kept = None
    if vocabulary:
        drawn = ((id_, _drawn(piece, mark, separator)) for piece, id_ in ids.items())
        kept = tuple(id_ for id_, text in drawn if text in vocabulary)
    options = {field.name: getattr(model, field.name) for field in dataclasses.fields(BPEModel)}
    options["pieces"] = tuple(pieces)
    options["merges"] = tuple(
        (ids[old[left]], ids[old[right]]) for left, right in model.merges or ()
    )
    try:
        return CodesModel(**options, kept=kept, glossaries=tuple(glossaries))
    except ConfigError as error:
        raise UnsupportedFeature(
            f"{name}: {error}; jogak.compat.subword_nmt draws such codes"
        ) from None


def _checked(glossaries: Sequence[object]) -> list[str]:
    for glossary in glossaries:
        if not isinstance(glossary, str):
            raise ConfigError(f"a glossary is {glossary!r:.80}; expected the text of an expression")
    return list(glossaries)  # type: ignore[arg-type]  # all were looked at


def _check_parts(pairs: Sequence[tuple[str, str]], name: str) -> None:
    """Of several merges that make a piece subword-nmt undoes the one whose last line comes first."""
    first: dict[str, tuple[str, str]] = {}
    for pair in pairs:
        first.setdefault("".join(pair), pair)
    last = {pair: line for line, pair in enumerate(pairs)}
    undone: dict[str, tuple[str, str]] = {}
    for pair in sorted(last, key=last.__getitem__):
        undone.setdefault("".join(pair), pair)
    for piece, pair in undone.items():
        if first[piece] != pair:
            raise UnsupportedFeature(
                f"{name}: {piece!r:.80} is made by {' '.join(first[piece])!r:.80} and by "
                f"{' '.join(pair)!r:.80}, and lines stand twice: subword-nmt merges by the one and "
                "cuts back by the other; take out the lines that stand twice"
            )


def _named(
    vocabulary: Collection[str], glossaries: Sequence[str], separator: str, mark: str
) -> Iterable[str]:
    """What of the vocabulary a glossary names, as a piece."""
    patterns = [re.compile(glossary) for glossary in glossaries]
    for drawn in vocabulary:
        for text, end in ((drawn, mark), (drawn.removesuffix(separator), "")):
            if (end or text != drawn) and any(pattern.fullmatch(text) for pattern in patterns):
                yield from dict.fromkeys([text, text + end])


def _drawn(piece: str, mark: str, separator: str) -> str:
    return piece.removesuffix(mark) if piece.endswith(mark) else piece + separator


def drawn_pieces(model: CodesModel) -> list[str] | None:
    """The pieces that are kept as a vocabulary has them; None if that would say something else.

    >>> from jogak.spec import Marker
    >>> pieces, marker = ("l", "o</w>", "lo</w>"), Marker("suffix", symbol="joined")
    >>> drawn_pieces(CodesModel(pieces=pieces, merges=((0, 1),), marker=marker, kept=(0, 1)))
    ['l@@', 'o']
    """
    mark = model.marker.text or ""
    drawn = {id_: _drawn(text or "", mark, SEPARATOR) for id_, text in enumerate(model.pieces)}
    ids = list(model.kept or ())
    kept = {drawn[id_]: None for id_ in ids}
    back = [id_ for id_ in drawn if drawn[id_] in kept and model.pieces[id_] != model.unknown]
    return list(kept) if kept and back == ids else None


# --- the first line of the codes ------------------------------------------------------------------


def header(model: CodesModel) -> str:
    """What the first line says beside the version, which stands last: so subword-nmt passes it over.

    >>> from jogak.spec import Marker
    >>> header(CodesModel(pieces=("a",), merges=(), marker=Marker("suffix"), glossaries=("USA",)))
    '{"glossaries": ["USA"], "vocabulary": false} '
    """
    if model.kept is None and not model.glossaries:
        return ""
    said = {"glossaries": list(model.glossaries), "vocabulary": model.kept is not None}
    return json.dumps(said) + " "


def from_header(line: str, file: str) -> tuple[tuple[str, ...], bool]:
    """The glossaries that a first line names, and whether a vocabulary stands beside the file.

    Raises:
        FormatError: what is no such JSON, where the line has any.

    >>> from_header('#version: {"glossaries": ["USA"], "vocabulary": false} 0.2', "codes")
    (('USA',), False)
    """
    said = line.removeprefix("#version:").strip().rpartition(" ")[0].strip()
    if not said.startswith("{"):
        return (), False
    node = Node(parse(said.encode(), file), "line 1", file)
    glossaries, vocabulary = node.fields("glossaries", "vocabulary")
    return tuple(item.text() for item in glossaries.items()), vocabulary.flag()
