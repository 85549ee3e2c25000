"""The ``model`` section of a ``tokenizer.json``: vocabulary, merges and scores.

::

    BPE         BPEModel; merges as "a b" or as ["a", "b"]
    WordPiece   WordPieceModel
    Unigram     UnigramModel, in 64 bits word by word; scores as serde_json reads them
    WordLevel   WordLevelModel

Old files say no type; then the fields tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, filterfalse
from operator import add, methodcaller
from typing import Any, cast

from jogak._core import Merges
from jogak.formats import bytelevel
from jogak.formats.checked import Node, NotPlain, is_unicode, shown
from jogak.formats.hf_json.sections import Ids, Pairs, Vocabulary
from jogak.formats.hf_json.serde import kind_of, option, unsupported
from jogak.spec import BPEModel, Marker, Model, UnigramModel, WordLevelModel, WordPieceModel
from jogak.spec.record import dataclass

__all__ = ["Draft", "read"]

_KINDS = ("BPE", "WordPiece", "WordLevel", "Unigram")
_BY_FIELDS = {
    "BPE": ("vocab", "merges"),
    "WordPiece": ("vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"),
    "WordLevel": ("vocab", "unk_token"),
    "Unigram": ("vocab",),
}
_MOST_ID = 2**32 - 1


@dataclass(frozen=True)
class Draft:
    """A model whose pieces are not all known yet: added tokens get their ids from it.

    Args:
        ids: text -> id of the model's own pieces.
        size: how many the library counts.
        build: the pieces of all ids -> the model.
        can_make: whether the model could make a piece of its own of some text, beyond being told to.
    """

    ids: Vocabulary
    size: int
    build: Callable[[tuple[str | None, ...]], Model]
    can_make: Callable[[str], bool]


def read(node: Node, as_bytes: bool = False) -> Draft:
    """The model of a file.

    Args:
        node: the section.
        as_bytes: whether the bytes of words are drawn before the model sees them.

    Raises:
        FormatError: a model that the library does not know, or a field that it refuses.
        UnsupportedFeature: an option that cannot be said here.
    """
    kind = kind_of(node, _KINDS, _BY_FIELDS)
    return {"BPE": _bpe, "WordPiece": _wordpiece, "WordLevel": _wordlevel, "Unigram": _unigram}[
        kind
    ](node, as_bytes)


def _vocabulary(node: Node) -> Vocabulary:
    """An object of texts and ids; the library takes any number twice, which no tokenizer can be."""
    ids = node.value
    if isinstance(ids, Ids):
        if ids.scores is not None:
            raise NotPlain
        return ids
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


def _bpe(node: Node, as_bytes: bool) -> Draft:
    ids = _vocabulary(node.field("vocab"))
    dropout = 0.0
    found = option(node, "dropout")
    if found is not None:
        if type(found.value) not in (int, float) or not 0.0 <= found.value <= 1.0:
            raise found.expected("a number from 0 to 1")
        dropout = float(found.value)
    prefix, suffix = _affix(node, "continuing_subword_prefix"), _affix(node, "end_of_word_suffix")
    marker = Marker()
    if prefix:
        marker = Marker("continuation", prefix)
    elif suffix:
        marker = Marker("suffix", suffix, "joined")
    unknown = _text_or_none(node, "unk_token")
    fuse_unknown, byte_fallback, ignore_merges = (
        _flag(node, name) for name in ("fuse_unk", "byte_fallback", "ignore_merges")
    )
    merges, makes = _merges(node.field("merges"), ids, len(prefix.encode()))
    over_bytes = as_bytes and marker.kind == "none" and bytelevel.has_all_bytes(ids)
    if over_bytes:
        # Among all bytes that a text can have nothing is unknown.
        unknown, fuse_unknown, byte_fallback = None, False, False

    def build(pieces: tuple[str | None, ...]) -> Model:
        options: dict[str, Any] = {"alphabet": "bytes", "marker": Marker("byte-level")}
        if not over_bytes:
            options = {
                "marker": marker,
                "unknown": unknown if unknown in ids else None,
                "drop_unknown": unknown is None,
                "fuse_unknown": fuse_unknown,
                "byte_fallback": byte_fallback,
                "word_suffix": suffix if prefix and suffix else None,
                "drawn": as_bytes,
            }
        return BPEModel(
            pieces=pieces,
            merges=merges,
            whole_word=ignore_merges,
            dropout=dropout,
            hf_rules=True,
            **options,
        )

    def can_make(text: str) -> bool:
        if ignore_merges or text == unknown or byte_fallback or makes(text):
            return True
        return len(text.removeprefix(prefix).removesuffix(suffix)) <= 1 or len(text) == 1

    return Draft(ids, len(ids), build, can_make)


def _affix(node: Node, name: str) -> str:
    """What is glued to characters; nothing where it is left out."""
    text = _text_or_none(node, name) or ""
    if any(map(str.isspace, text)):
        raise unsupported(node.field(name), "white space cannot mark a border here")
    return text


def _merges(
    node: Node, ids: Vocabulary, prefix: int
) -> tuple[tuple[tuple[int, int], ...], Callable[[str], bool]]:
    """Pairs of ids, best first, and whether they make a text.

    Of the right parts, ``prefix`` bytes are left out, whichever they are.
    """
    entries = node.value
    if isinstance(ids, Ids):
        merges = ids.merges(entries, prefix) if isinstance(entries, Pairs) else None
        if merges is None:
            raise NotPlain
        return cast(Any, merges), _maker(ids, merges)
    if not isinstance(entries, list):
        raise node.expected("a list of merges")
    # There may be hundreds of thousands, so each step is one pass in C.
    kinds = set(map(type, entries))
    parts: list[Any] | None = None
    if kinds == {str}:
        # Old files have the header of merges.txt here.
        lines = [*filterfalse(methodcaller("startswith", "#version"), entries)]
        if set(map(methodcaller("count", " "), lines)) <= {1}:
            parts = " ".join(lines).split(" ") if lines else []
    elif kinds <= {list} and set(map(len, entries)) <= {2}:
        parts = [*chain.from_iterable(entries)]
    if parts is None:
        raise _merge_fault(node, ids, prefix)
    left, right = parts[::2], parts[1::2]
    try:
        pairs = [*zip(map(ids.__getitem__, left), map(ids.__getitem__, right), strict=True)]
        if prefix:
            texts = [_continued(prefix, *both) for both in zip(left, right, strict=True)]
        else:
            texts = [*map(add, left, right)]
    except (KeyError, TypeError, ValueError):
        raise _merge_fault(node, ids, prefix) from None
    made = [*map(ids.get, texts)]
    if None in made:
        raise _merge_fault(node, ids, prefix)
    # Merges that are equal make the same piece; numbers are compared faster than pairs.
    if len(set(made)) != len(made):
        # Of a pair that stands twice the library knows the last rank.
        pairs = [*dict.fromkeys(reversed(pairs))][::-1]
    products = set(texts)
    return tuple(pairs), products.__contains__


def _maker(ids: Ids, merges: Merges) -> Callable[[str], bool]:
    """Whether merges make a text; their products are gathered when that is first asked."""
    products: set[int] = set()

    def makes(text: str) -> bool:
        if not products:
            products.update(merges.products())
        return ids.get(text) in products

    return makes


def _continued(prefix: int, left: str, right: str) -> str:
    data = right.encode()
    if len(data) < prefix:
        raise ValueError
    return left + data[prefix:].decode()


def _merge_fault(node: Node, ids: Mapping[str, int], prefix: int) -> Exception:
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
                return item.fault(
                    f"has {shown(part)}, which is not in the vocabulary; expected a piece"
                )
        try:
            text = _continued(prefix, *parts)
        except ValueError:
            return item.fault(f"has a right part that {prefix} bytes cannot be taken off")
        if text not in ids:
            return item.fault(
                f"makes {shown(text)}, which is not in the vocabulary; expected a merge whose piece "
                "has an id there"
            )
    raise AssertionError("a merge was found wrong that is not")


# --- WordPiece, WordLevel -----------------------------------------------------------------------


def _wordpiece(node: Node, as_bytes: bool) -> Draft:
    ids = _vocabulary(node.field("vocab"))
    unknown = node.field("unk_token").text()
    prefix = node.field("continuing_subword_prefix").text()
    if any(map(str.isspace, prefix)):
        raise unsupported(
            node.field("continuing_subword_prefix"), "white space cannot be a mark here"
        )
    longest = node.field("max_input_chars_per_word").integer(0, 2**64 - 1)
    marker = Marker("continuation", prefix) if prefix else Marker()

    def build(pieces: tuple[str | None, ...]) -> Model:
        return WordPieceModel(
            pieces=pieces,
            marker=marker,
            unknown=unknown if unknown in ids else None,
            max_chars_per_word=min(longest, 2**32 - 1),
            drawn=as_bytes,
            hf_rules=True,
        )

    return Draft(ids, len(ids), build, lambda text: True)


def _wordlevel(node: Node, as_bytes: bool) -> Draft:
    ids = _vocabulary(node.field("vocab"))
    unknown = node.field("unk_token").text()

    def build(pieces: tuple[str | None, ...]) -> Model:
        return WordLevelModel(
            pieces=pieces, unknown=unknown if unknown in ids else None, drawn=as_bytes
        )

    return Draft(ids, len(ids), build, lambda text: True)


# --- Unigram ------------------------------------------------------------------------------------


def _unigram(node: Node, as_bytes: bool) -> Draft:
    vocabulary, scores = _scored(node.field("vocab"))
    unknown_id = option(node, "unk_id")
    unknown: str | None = None
    if unknown_id is not None:
        place = unknown_id.integer(0, len(scores) - 1)
        unknown = vocabulary.text(place) if isinstance(vocabulary, Ids) else vocabulary[place]
    byte_fallback = node.field("byte_fallback").flag() if "byte_fallback" in node.value else False
    ids = vocabulary if isinstance(vocabulary, Ids) else _places(node, vocabulary)

    def build(pieces: tuple[str | None, ...]) -> Model:
        return UnigramModel(
            pieces=pieces,
            # Pieces that are not the model's get a score that changes nothing.
            scores=(*scores, *[min(scores, default=0.0)] * (len(pieces) - len(scores))),
            byte_fallback=byte_fallback,
            unknown=unknown,
            fuse_unknown=True,
            precision="double",
            drawn=as_bytes,
            hf_rules=True,
        )

    return Draft(ids, len(scores), build, lambda text: True)


def _places(node: Node, texts: list[str]) -> dict[str, int]:
    """Text -> its place in the list; every text may stand once."""
    ids = dict(zip(texts, range(len(texts)), strict=True))
    if len(ids) != len(texts):
        first: dict[str, int] = {}
        for id_, text in enumerate(texts):
            if first.setdefault(text, id_) != id_:
                raise unsupported(
                    node.field("vocab").child(id_, text),
                    f"so is piece {first[text]}; every text can have one id only",
                )

    return ids


def _scored(node: Node) -> tuple[list[str] | Ids, Sequence[float]]:
    entries = node.value
    if isinstance(entries, Ids):
        if entries.scores is None:
            raise NotPlain
        return entries, entries.scores
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
