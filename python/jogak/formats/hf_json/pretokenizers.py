"""The ``pre_tokenizer`` section of a ``tokenizer.json``: how text is cut into words.

``ByteLevel`` does three things: a space in front, GPT-2's words, and bytes drawn as characters. The
third is the model's business here, where it is the last thing that happens.
"""

from __future__ import annotations

from typing import Any

from jogak.errors import UnsupportedFeature
from jogak.formats.checked import Node
from jogak.formats.hf_json.decoders import metaspace_options
from jogak.formats.hf_json.patterns import named_pattern, pattern_from, pattern_of, pattern_to
from jogak.formats.hf_json.serde import character, flag_or, kind_of, sequence
from jogak.spec import (
    Digits,
    DrawBytes,
    FixedLength,
    Metaspace,
    Named,
    PrefixSpace,
    Pretokenizer,
    Punctuation,
    Split,
)
from jogak.spec.pretokenizers import Matches
from jogak.spec.record import dataclass

__all__ = ["Words", "read", "write"]

_KINDS = (
    *("BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Metaspace", "Whitespace", "Sequence"),
    *("Split", "Punctuation", "WhitespaceSplit", "Digits", "UnicodeScripts", "FixedLength"),
)

#: Type -> name of what has no options.
_PLAIN = {
    "BertPreTokenizer": "bert-8.0",
    "WhitespaceSplit": "whitespace",
    "Whitespace": "words",
    "UnicodeScripts": "unicode-scripts",
}
_KIND_OF = {name: kind for kind, name in _PLAIN.items()}

_BEHAVIORS: dict[str, Matches] = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
_BEHAVIOR_OF = {ours: theirs for theirs, ours in _BEHAVIORS.items()}


@dataclass(frozen=True)
class Words:
    """How text is cut.

    Args:
        stages: one after the other.
        as_bytes: the bytes of words are drawn, which is left to the model.
    """

    stages: tuple[Pretokenizer, ...]
    as_bytes: bool = False


def read(node: Node | None) -> Words:
    """The stages of a pre-tokenizer; the text in one piece for null.

    Raises:
        FormatError: a pre-tokenizer that the library does not know, or a field that it refuses.
        UnsupportedFeature: one that is not known here.
    """
    if node is None:
        return Words((Named("none"),))
    leaves = _leaves(node, 0)
    as_bytes = bool(leaves) and leaves[-1][0] == "ByteLevel"
    stages: list[Pretokenizer] = []
    for index, (kind, leaf) in enumerate(leaves):
        with leaf.blamed():
            stages += _stage(kind, leaf, as_bytes and index == len(leaves) - 1)
    return Words(tuple(stages) or (Named("none"),), as_bytes)


def _leaves(node: Node, depth: int) -> list[tuple[str, Node]]:
    """Kind and place of all that are no sequences."""
    kind = kind_of(node, _KINDS, {})
    if kind != "Sequence":
        return [(kind, node)]
    inner = sequence(node, "pretokenizers", depth)
    return [leaf for item in inner for leaf in _leaves(item, depth + 1)]


def _stage(kind: str, node: Node, as_bytes: bool) -> list[Pretokenizer]:
    if kind in _PLAIN:
        return [Named(_PLAIN[kind])]
    if kind == "ByteLevel":
        return _byte_level(node, as_bytes)
    if kind == "CharDelimiterSplit":
        return [Split(character(node.field("delimiter")), "removed", regex=False)]
    if kind == "Punctuation":
        matches = _matches(node.field("behavior")) if "behavior" in node.value else "isolated"
        return [Punctuation(matches, "8.0")]
    if kind == "Digits":
        return [Digits(1 if node.field("individual_digits").flag() else None, "17.0")]
    if kind == "FixedLength":
        length = node.field("length").integer(1, 2**64 - 1) if "length" in node.value else 5
        return [FixedLength(min(length, 2**31 - 1))]
    if kind == "Metaspace":
        replacement, prepend, split = metaspace_options(node)
        scheme: Any = "start" if prepend == "first" else prepend
        return [Metaspace(prepend=scheme, only_missing=True, split=split, mark=replacement)]
    return _split(node)


def _split(node: Node) -> list[Pretokenizer]:
    matches, invert = _matches(node.field("behavior")), node.field("invert").flag()
    if matches == "isolated" and not invert:
        name = named_pattern(node.field("pattern"))
        if name is not None:
            return [Named(name)]
    pattern, regex = pattern_from(node.field("pattern"))
    return [Split(pattern, matches, invert, regex)]


def _matches(node: Node) -> Matches:
    if node.text() not in _BEHAVIORS:
        raise node.expected(f"one of {', '.join(_BEHAVIORS)}")
    return _BEHAVIORS[node.text()]


def _byte_level(node: Node, as_bytes: bool) -> list[Pretokenizer]:
    node.field("trim_offsets").flag()
    stages: list[Pretokenizer] = []
    if node.field("add_prefix_space").flag():
        stages.append(PrefixSpace())
    if flag_or(node, "use_regex", True):
        stages.append(Named("gpt2"))
    return stages if as_bytes else [*stages, DrawBytes()]


# --- writing ------------------------------------------------------------------------------------


def write(words: Words, name: str) -> dict[str, Any] | None:
    """The section of some stages; `read` gives the same stages.

    Raises:
        UnsupportedFeature: a pre-tokenizer that the library does not have.
    """
    stages = [stage for stage in words.stages if stage != Named("none")]
    if words.as_bytes:
        stages.append(DrawBytes())
    written: list[dict[str, Any]] = []
    while stages:
        stage = stages.pop()
        if isinstance(stage, DrawBytes):
            regex = bool(stages) and stages[-1] == Named("gpt2")
            del stages[len(stages) - regex :]
            prefix = bool(stages) and stages[-1] == PrefixSpace()
            del stages[len(stages) - prefix :]
            options = {"add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}
            written.append({"type": "ByteLevel", **options})
        else:
            written.append(_written(stage, name))
    written.reverse()
    if not written:
        return None
    return written[0] if len(written) == 1 else {"type": "Sequence", "pretokenizers": written}


def _written(stage: Pretokenizer, name: str) -> dict[str, Any]:
    if isinstance(stage, Named) and stage.name in _KIND_OF:
        return {"type": _KIND_OF[stage.name]}
    if isinstance(stage, Named) and (expression := pattern_of(stage.name)) is not None:
        return _split_of({"Regex": expression}, "Isolated", False)
    if isinstance(stage, Split):
        pattern = pattern_to(stage.pattern, stage.regex, name)
        if stage.matches == "only":  # the gaps are dropped
            return _split_of(pattern, "Removed", not stage.invert)
        return _split_of(pattern, _BEHAVIOR_OF[stage.matches], stage.invert)
    if isinstance(stage, Punctuation) and stage.version == "8.0":
        return {"type": "Punctuation", "behavior": _BEHAVIOR_OF[stage.matches]}
    if isinstance(stage, Digits) and stage.version == "17.0" and stage.group != 3:
        return {"type": "Digits", "individual_digits": stage.group == 1}
    if isinstance(stage, FixedLength):
        return {"type": "FixedLength", "length": stage.length}
    if isinstance(stage, Metaspace) and not stage.suffix and stage.escape:
        prepend = "first" if stage.prepend == "start" else stage.prepend
        scheme = ("start", "always") if stage.only_missing else ()
        if stage.prepend in ("never", *scheme):
            return {
                "type": "Metaspace",
                "replacement": stage.mark,
                "prepend_scheme": prepend,
                "split": stage.split,
            }
    raise UnsupportedFeature(
        f"{name}: a tokenizer.json cannot say the pre-tokenizer {stage!r}; save it as the native format"
    )


def _split_of(pattern: dict[str, str], behavior: str, invert: bool) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
