"""The ``model`` section of a ``tokenizer.json``: vocabulary, merges and scores.

::

    BPE         BPEModel; merges as "a b" or as ["a", "b"]
    WordPiece   WordPieceModel
    Unigram     UnigramModel, in 64 bits word by word; scores as serde_json reads them
    WordLevel   WordLevelModel

Old files say no type; then the fields tell.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from jogak.formats import bytelevel
from jogak.formats.checked import Node, is_unicode, shown
from jogak.formats.hf_json.serde import kind_of, option, unsupported
from jogak.formats.vocabulary import product
from jogak.spec import BPEModel, Marker, Model, UnigramModel, WordPieceModel

__all__ = ["Draft", "read"]

_KINDS = ("BPE", "WordPiece", "WordLevel", "Unigram")
_BY_FIELDS = {
    "BPE": ("vocab", "merges"),
    "WordPiece": ("vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"),
    "WordLevel": ("vocab", "unk_token"),
    "Unigram": ("vocab",),
}
_MOST_ID = 2**32 - 1


@dataclasses.dataclass(frozen=True)
class Draft:
    """A model whose pieces are not all known yet: added tokens get their ids from it.

    Args:
        ids: text -> id of the model's own pieces.
        size: how many the library counts.
        build: the pieces of all ids, and whether words come as bytes -> the model.
        can_make: whether the model could make a piece of its own of some text, beyond being told to.
        can_be_bytes: whether its pieces can be taken for bytes.
    """

    ids: Mapping[str, int]
    size: int
    build: Callable[[tuple[str | None, ...], bool], Model]
    can_make: Callable[[str], bool]
    can_be_bytes: bool = False


def read(node: Node) -> Draft:
    """The model of a file.

    Raises:
        FormatError: a model that the library does not know, or a field that it refuses.
        UnsupportedFeature: an option that cannot be said here.
    """
    kind = kind_of(node, _KINDS, _BY_FIELDS)
    return {"BPE": _bpe, "WordPiece": _wordpiece, "WordLevel": _wordlevel, "Unigram": _unigram}[
        kind
    ](node)


def _vocabulary(node: Node) -> dict[str, int]:
    """An object of texts and ids; the library takes any number twice, which no tokenizer can be."""
    ids = node.value
    if not isinstance(ids, dict):
        raise node.expected("an object of texts and ids")
    numbers = ids.values()
    if ids and not (
        set(map(type, numbers)) == {int} and min(numbers) >= 0 and max(numbers) <= _MOST_ID
    ):
        for text, id_ in ids.items():
            Node(id_, f"{node.place}[{shown(text)}]", node.file).integer(0, _MOST_ID)
    if not is_unicode("".join(ids)):
        text = next(text for text in ids if not is_unicode(text))
        raise node.fault(f"has the piece {shown(text)}; expected texts without lone surrogates")
    return ids


def _text_or_none(node: Node, name: str) -> str | None:
    found = option(node, name)
    return None if found is None else found.text()


def _flag(node: Node, name: str) -> bool:
    found = option(node, name)
    return False if found is None else found.flag()


# --- BPE ----------------------------------------------------------------------------------------


def _bpe(node: Node) -> Draft:
    ids = _vocabulary(node.field("vocab"))
    dropout = option(node, "dropout")
    if dropout is not None:
        value = dropout.value
        if type(value) not in (int, float) or not 0.0 <= value <= 1.0:
            raise dropout.expected("a number from 0 to 1")
        if value:
            raise unsupported(
                dropout,
                "the file draws at random in every encoding; leave it out and pass dropout= to encode",
            )
    prefix = _text_or_none(node, "continuing_subword_prefix") or ""
    suffix = _text_or_none(node, "end_of_word_suffix") or ""
    if prefix and suffix:
        raise unsupported(node, "both continuing_subword_prefix and end_of_word_suffix are given")
    with node.blamed():
        marker = Marker()
        if prefix:
            marker = Marker("continuation", prefix)
        elif suffix:
            marker = Marker("suffix", suffix, "joined")
    unknown = _text_or_none(node, "unk_token")
    fuse_unknown, byte_fallback, ignore_merges = (
        _flag(node, name) for name in ("fuse_unk", "byte_fallback", "ignore_merges")
    )
    merges = _merges(node.field("merges"), ids, marker)
    products = {merged for _, merged in merges}
    pairs = tuple([pair for pair, _ in merges])
    complete = bytelevel.has_all_bytes(ids)

    def build(pieces: tuple[str | None, ...], as_bytes: bool) -> Model:
        options: dict[str, Any] = {"alphabet": "chars", "marker": marker}
        if as_bytes:
            # Nothing is unknown among bytes.
            options = {"alphabet": "bytes", "marker": Marker("byte-level")}
        else:
            options.update(
                unknown=unknown if unknown in ids else None,
                fuse_unknown=fuse_unknown,
                byte_fallback=byte_fallback,
            )
        return BPEModel(pieces=pieces, merges=pairs, whole_word=ignore_merges, **options)

    def can_make(text: str) -> bool:
        return ignore_merges or len(text) == 1 or text in products

    can_be_bytes = complete and marker.kind == "none"
    return Draft(ids, len(ids), build, can_make, can_be_bytes)


def _merges(
    node: Node, ids: Mapping[str, int], marker: Marker
) -> list[tuple[tuple[int, int], str]]:
    """Pairs of ids, best first, with the text that each makes."""
    entries = node.value
    if not isinstance(entries, list):
        raise node.expected("a list of merges")
    kinds = set(map(type, entries))
    if kinds <= {list}:
        parts = entries
        fine = set(map(len, parts)) <= {2}
    elif kinds == {str}:
        # Old files have the header of merges.txt here.
        parts = [entry.split(" ") for entry in entries if not entry.startswith("#version")]
        fine = set(map(len, parts)) <= {2}
    else:
        fine = False
    if fine:
        try:
            pairs = [(ids[left], ids[right]) for left, right in parts]
            if marker.kind == "continuation":
                texts = [_continued(marker, *both) for both in parts]
            else:
                texts = list(map("".join, parts))
            fine = ids.keys() >= set(texts)
        except (KeyError, TypeError, ValueError):
            fine = False
    if not fine:
        raise _merge_fault(node, ids, marker)
    if len(set(pairs)) != len(pairs):
        # Of a pair that stands twice the library knows the last rank.
        last = dict(zip(reversed(pairs), reversed(texts), strict=True))
        return list(last.items())[::-1]
    return list(zip(pairs, texts, strict=True))


def _continued(marker: Marker, left: str, right: str) -> str:
    assert marker.text is not None
    if not right.startswith(marker.text):
        raise ValueError
    return product(marker, left, right)


def _merge_fault(node: Node, ids: Mapping[str, int], marker: Marker) -> Exception:
    """The first entry that is wrong, and what is wrong with it."""
    legacy = bool(node.value) and isinstance(node.value[0], str)
    for item in node.items():
        if legacy:
            if item.text().startswith("#version"):
                continue
            parts = item.text().split(" ")
            if len(parts) != 2:
                return item.expected("two pieces with one space between")
        else:
            parts = [part.text() for part in item.items()]
            if len(parts) != 2:
                return item.expected("a list of two pieces")
        for part in parts:
            if part not in ids:
                return item.fault(f"has {shown(part)}, which is not in the vocabulary")
        if marker.kind == "continuation":
            assert marker.text is not None
            if not parts[1].startswith(marker.text):
                return unsupported(
                    item,
                    f"its right part does not begin with {marker.text!r}, of which the library "
                    "takes off as many bytes all the same",
                )
        if (text := product(marker, *parts)) not in ids:
            return item.fault(f"makes {shown(text)}, which is not in the vocabulary")
    raise AssertionError("a merge was found wrong that is not")


# --- WordPiece, WordLevel -----------------------------------------------------------------------


def _wordpiece(node: Node) -> Draft:
    ids = _vocabulary(node.field("vocab"))
    unknown = node.field("unk_token").text()
    prefix = node.field("continuing_subword_prefix").text()
    longest = node.field("max_input_chars_per_word").integer(0, 2**64 - 1)
    with node.blamed():
        marker = Marker("continuation", prefix) if prefix else Marker()

    def build(pieces: tuple[str | None, ...], as_bytes: bool) -> Model:
        return WordPieceModel(
            pieces=pieces,
            marker=marker,
            unknown=unknown if unknown in ids else None,
            max_chars_per_word=min(longest, 2**32 - 1),
        )

    return Draft(ids, len(ids), build, lambda text: True)


def _wordlevel(node: Node) -> Draft:
    _vocabulary(node.field("vocab"))
    node.field("unk_token").text()
    raise unsupported(node.child("type", "WordLevel"), "no model of whole words is known here")


# --- Unigram ------------------------------------------------------------------------------------


def _unigram(node: Node) -> Draft:
    texts, scores = _scored(node.field("vocab"))
    unknown_id = option(node, "unk_id")
    unknown = None
    if unknown_id is not None:
        unknown = texts[unknown_id.integer(0, len(texts) - 1)]
    byte_fallback = node.field("byte_fallback").flag() if "byte_fallback" in node.value else False
    ids = dict(zip(texts, range(len(texts)), strict=True))
    if len(ids) != len(texts):
        first: dict[str, int] = {}
        for id_, text in enumerate(texts):
            if first.setdefault(text, id_) != id_:
                raise unsupported(
                    node.field("vocab").child(id_, text),
                    f"so is piece {first[text]}; every text can have one id only",
                )

    def build(pieces: tuple[str | None, ...], as_bytes: bool) -> Model:
        return UnigramModel(
            pieces=pieces,
            scores=(*scores, *[0.0] * (len(pieces) - len(scores))),
            byte_fallback=byte_fallback,
            unknown=unknown,
            fuse_unknown=True,
            precision="double",
        )

    return Draft(ids, len(texts), build, lambda text: True)


def _scored(node: Node) -> tuple[list[str], list[float]]:
    entries = node.value
    if not isinstance(entries, list):
        raise node.expected("a list of pieces with their scores")
    try:
        texts = [text for text, _ in entries]
        scores = [score for _, score in entries]
        fine = set(map(type, texts)) <= {str} and set(map(type, scores)) <= {int, float}
        fine = fine and set(map(type, entries)) <= {list} and is_unicode("".join(texts))
    except (TypeError, ValueError):
        fine = False
    if not fine:
        for item in node.items():
            pair = item.items()
            if len(pair) != 2:
                raise item.expected("a list of a text and a score")
            pair[0].text()
            if type(pair[1].value) not in (int, float):
                raise pair[1].expected("a number")
    if "" in texts:
        raise unsupported(node, "it has a piece without text, which has no place here")
    try:
        return texts, list(map(float, scores))
    except OverflowError:
        raise node.fault("has a number that does not fit in 64 bits") from None
