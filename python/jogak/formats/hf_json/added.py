"""The ``added_tokens`` section of a ``tokenizer.json``, and which id each of them really gets.

The library does not go by the ids that are written there. It adds the tokens anew, in their order, to
what the model has: one whose text is a piece of the model has that piece's id, any other gets the next
id behind the model's pieces, of which it counts the texts (not the largest id).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from jogak.errors import UnsupportedFeature
from jogak.formats.checked import Node, NotPlain
from jogak.formats.hf_json.sections import Ids, Section, Vocabulary
from jogak.formats.hf_json.serde import unsupported
from jogak.spec import AddedToken
from jogak.spec.record import dataclass

__all__ = ["Added", "read", "write"]

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


@dataclass(frozen=True)
class Added:
    """What the section says.

    Args:
        ids: text -> id of all added tokens, those of the model too.
        special: those that are special.
        tokens: the rules of looking, where they are not those of a special token.
    """

    ids: Mapping[str, int]
    special: Mapping[str, int]
    tokens: tuple[AddedToken, ...]


def read(
    node: Node | None, vocabulary: Vocabulary, size: int, can_make: Callable[[str], bool]
) -> Added:
    """The added tokens.

    Args:
        node: the section, None where there is none.
        vocabulary: text -> id of the model's pieces.
        size: how many pieces the library thinks the model has.
        can_make: whether the model itself could make this piece of its own of some text.

    Raises:
        FormatError: an entry that the library refuses.
        UnsupportedFeature: a token gets an id that a piece of the model has too.
    """
    if node is not None and isinstance(node.value, Section):
        return _plain(node.value, vocabulary, size, can_make)
    ids: dict[str, int] = {}
    flags: dict[str, tuple[bool, ...]] = {}
    special: set[str] = set()
    taken: frozenset[int] | None = None
    following = size
    for index, (text, is_special, options) in enumerate(_entries(node)):
        if not text:
            continue
        # Once special, always special: the library never forgets it.
        if is_special:
            special.add(text)
        flags[text] = options
        if text in ids:
            continue
        id_ = vocabulary.get(text)
        if id_ is None:
            if taken is None:
                taken = frozenset(vocabulary.values())
            if following in taken:
                assert node is not None
                raise unsupported(
                    node.child(index, text),
                    f"the library gives it the id {following}, which a piece of the model has too; an "
                    "id can stand for one piece only",
                )
            id_, following = following, following + 1
        ids[text] = id_
    tokens = []
    # By ids, as they are written; their order means nothing.
    for text, options in sorted(flags.items(), key=lambda item: ids[item[0]]):
        in_model = text in vocabulary and can_make(text)
        if text not in special or in_model or any(options):
            tokens.append(AddedToken.checked(text, options, in_model))
    return Added(ids, {text: id_ for text, id_ in ids.items() if text in special}, tuple(tokens))


def _plain(
    section: Section, vocabulary: Vocabulary, size: int, can_make: Callable[[str], bool]
) -> Added:
    """The same, by the core, which leaves to others what is not plain."""
    found = (
        vocabulary.added(section.data, section.place, size) if isinstance(vocabulary, Ids) else None
    )
    if found is None:
        raise NotPlain
    ids, special, tokens = found
    made = {text for text in tokens.known() if can_make(text)}
    return Added(ids, special, cast(Any, tokens.with_rules(made)))


def _entries(node: Node | None) -> Iterator[tuple[str, bool, tuple[bool, ...]]]:
    """Text, whether it is special, and the flags of every entry; there may be 400,000."""
    entries = [] if node is None else node.value
    if not isinstance(entries, list):
        assert node is not None
        raise node.expected("a list")
    for index, entry in enumerate(entries):
        try:
            text, is_special = entry["content"], entry["special"]
            options = tuple([entry[name] for name in _FLAGS])
            fine = type(text) is str and text.isprintable() and type(entry["id"]) is int
            fine = fine and 0 <= entry["id"] < 1 << 32 and {*map(type, options)} == {bool}
        except (KeyError, TypeError, IndexError):
            fine = False
        if not fine or type(is_special) is not bool:
            assert node is not None
            yield _entry(node.child(index, entry))
        else:
            yield text, is_special, options


def _entry(node: Node) -> tuple[str, bool, tuple[bool, ...]]:
    """The same, slowly, with an error that names the field."""
    node.field("id").integer(0, 2**32 - 1)
    options = tuple(node.field(name).flag() for name in _FLAGS)
    return node.field("content").text(), node.field("special").flag(), options


def write(
    special: Mapping[str, int], tokens: Iterable[AddedToken], ids: Mapping[str, int]
) -> list[dict[str, Any]]:
    """The section, by ids; `read` gives the same tokens.

    Args:
        special: text -> id of the special tokens.
        tokens: the rules of looking.
        ids: text -> id of all pieces.

    Raises:
        UnsupportedFeature: a token for which only ASCII is white space.
    """
    rules = {token.text: token for token in tokens}
    odd = next((token for token in rules.values() if token.ascii_spaces), None)
    if odd is not None:
        raise UnsupportedFeature(
            f"a tokenizer.json cannot say AddedToken.ascii_spaces, which {odd.text!r} has; save it as "
            "the native format"
        )
    texts = sorted({*special, *rules}, key=lambda text: ids[text])
    plain = AddedToken("-")
    return [
        {
            "id": ids[text],
            "content": text,
            **{name: getattr(rules.get(text, plain), name) for name in _FLAGS},
            "special": text in special,
        }
        for text in texts
    ]
