"""Fields as Hugging Face's library reads them: what may be left out, and which kind an object is.

That library (Rust, serde) ignores fields that it does not know, takes null for a field that may be left
out, and tells the kind of an object by its ``type``; an object of an old file, which has none, is of the
first kind whose fields it has.

Rule: what that library ignores is ignored, since it changes no ids; what it refuses is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jogak.errors import UnsupportedFeature
from jogak.formats.checked import Node, shown

__all__ = ["DEEPEST", "character", "flag_or", "kind_of", "option", "sequence", "unsupported"]

#: Sequences may stand in sequences so deep; serde_json refuses 128 levels of JSON.
DEEPEST = 60


def option(node: Node, name: str) -> Node | None:
    """A field that may be left out or null.

    >>> option(Node({"a": None}), "a"), option(Node({"a": 1}), "a").value
    (None, 1)
    """
    if not isinstance(node.value, dict):
        raise node.expected("an object")
    value = node.value.get(name)
    return None if value is None else node.child(name, value)


def flag_or(node: Node, name: str, default: bool) -> bool:
    """A field that is true or false; ``default`` where it is left out. Null is no flag."""
    if name not in node.value:
        return default
    return node.field(name).flag()


def character(node: Node) -> str:
    """A text of one character."""
    text = node.text()
    if len(text) != 1:
        raise node.expected("one character")
    return text


def kind_of(node: Node, kinds: Sequence[str], by_fields: Mapping[str, tuple[str, ...]]) -> str:
    """Which kind an object is: its ``type``, or the first kind of which it has all fields.

    Args:
        node: the object.
        kinds: the types that are known.
        by_fields: kinds that objects without a type may be, and the fields that tell.

    Raises:
        FormatError: no object, or a type that the library itself does not know.

    >>> kind_of(Node({"type": "NFC"}), ["NFC"], {})
    'NFC'
    >>> kind_of(Node({"prepend": "_"}), ["Prepend"], {"Prepend": ("prepend",)})
    'Prepend'
    """
    if not isinstance(node.value, dict):
        raise node.expected("an object with a type")
    if "type" in node.value:
        named = node.field("type")
        if not isinstance(named.value, str) or named.value not in kinds:
            raise named.expected(f"one of {', '.join(kinds)}")
        return named.value
    for kind, fields in by_fields.items():
        if node.value.keys() >= set(fields):
            return kind
    raise node.fault(f"lacks the field 'type'; expected one of {', '.join(kinds)}")


def sequence(node: Node, name: str, depth: int) -> list[Node]:
    """The items of a sequence that stands ``depth`` sequences deep.

    Raises:
        FormatError: no list, or deeper than any file's.
    """
    if depth >= DEEPEST:
        raise node.fault(f"stands in {depth} sequences; expected fewer than {DEEPEST}")
    return node.field(name).items()


def unsupported(node: Node, what: str) -> UnsupportedFeature:
    """An `UnsupportedFeature` that names the place: ``file: place is VALUE: what``."""
    start = f"{node.file}: " if node.file else ""
    return UnsupportedFeature(f"{start}{node.place or 'the file'} is {shown(node.value)}: {what}")
