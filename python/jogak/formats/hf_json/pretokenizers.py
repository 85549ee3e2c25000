"""The ``pre_tokenizer`` section of a ``tokenizer.json``: how text is cut into words.

``ByteLevel`` does three things: a space in front, GPT-2's words, and bytes drawn as characters. The third
is the model's business here, where it is the last thing that happens and the model knows all bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jogak.errors import UnsupportedFeature
from jogak.formats.checked import Node
from jogak.formats.hf_json.decoders import metaspace_options
from jogak.formats.hf_json.serde import flag_or, kind_of, sequence, unsupported
from jogak.spec import Digits, Metaspace, Named, Pretokenizer

__all__ = ["Words", "read", "write"]

_KINDS = (
    *("BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Metaspace", "Whitespace", "Sequence"),
    *("Split", "Punctuation", "WhitespaceSplit", "Digits", "UnicodeScripts", "FixedLength"),
)


@dataclasses.dataclass(frozen=True)
class Words:
    """How text is cut.

    Args:
        stages: one after the other.
        as_bytes: the model gets bytes.
    """

    stages: tuple[Pretokenizer, ...]
    as_bytes: bool = False


def read(node: Node | None, can_be_bytes: bool) -> Words:
    """The stages of a pre-tokenizer; the text in one piece for null.

    Args:
        node: the section.
        can_be_bytes: whether the model's pieces can be taken for bytes.

    Raises:
        FormatError: a pre-tokenizer that the library does not know, or a field that it refuses.
        UnsupportedFeature: one that is not known here.
    """
    if node is None:
        return Words((Named("none"),))
    leaves = _leaves(node, 0)
    as_bytes = can_be_bytes and bool(leaves) and leaves[-1][0] == "ByteLevel"
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


def _stage(kind: str, node: Node, draws_bytes: bool) -> list[Pretokenizer]:
    if kind == "ByteLevel":
        return _byte_level(node, draws_bytes)
    if kind == "BertPreTokenizer":
        return [Named("bert")]
    if kind == "WhitespaceSplit":
        return [Named("whitespace")]
    if kind == "Digits" and node.field("individual_digits").flag():
        return [Digits(1)]
    if kind == "Metaspace":
        replacement, prepend, split = metaspace_options(node)
        if replacement != "▁":
            raise unsupported(node.field("replacement"), "only ▁ can stand for a space here")
        return [Metaspace(prepend=prepend, only_missing=True, split=split)]
    raise unsupported(node.child("type", kind), "this pre-tokenizer is not known here")


def _byte_level(node: Node, draws_bytes: bool) -> list[Pretokenizer]:
    node.field("trim_offsets").flag()
    prefix, regex = node.field("add_prefix_space"), flag_or(node, "use_regex", True)
    if prefix.flag():
        raise unsupported(prefix, "no space can be put in front of text here")
    if not draws_bytes:
        raise unsupported(node.child("type", "ByteLevel"), "bytes are drawn by the model here")
    return [Named("gpt2")] if regex else []


# --- writing ------------------------------------------------------------------------------------


def write(words: Words, name: str) -> dict[str, Any] | None:
    """The section of some stages; `read` gives the same stages.

    Raises:
        UnsupportedFeature: a pre-tokenizer that the library does not have.
    """
    stages = [stage for stage in words.stages if stage != Named("none")]
    written: list[dict[str, Any]] = []
    if words.as_bytes:
        regex = bool(stages) and stages[-1] == Named("gpt2")
        written = _written(stages[:-1] if regex else stages, name)
        written.append(
            {
                "type": "ByteLevel",
                "add_prefix_space": False,
                "trim_offsets": True,
                "use_regex": regex,
            }
        )
    else:
        written = _written(stages, name)
    if not written:
        return None
    return written[0] if len(written) == 1 else {"type": "Sequence", "pretokenizers": written}


def _written(stages: Sequence[Pretokenizer], name: str) -> list[dict[str, Any]]:
    result = []
    for stage in stages:
        if stage == Named("bert"):
            result.append({"type": "BertPreTokenizer"})
        elif stage == Named("whitespace"):
            result.append({"type": "WhitespaceSplit"})
        elif stage == Digits(1):
            result.append({"type": "Digits", "individual_digits": True})
        elif _is_metaspace(stage):
            assert isinstance(stage, Metaspace)
            result.append(
                {
                    "type": "Metaspace",
                    "replacement": "▁",
                    "prepend_scheme": stage.prepend,
                    "split": stage.split,
                }
            )
        else:
            raise UnsupportedFeature(
                f"{name}: a tokenizer.json cannot say the pre-tokenizer {stage!r}; save it as the "
                "native format"
            )
    return result


def _is_metaspace(stage: Pretokenizer) -> bool:
    """Whether the library has it: a space in front only where there is none."""
    if not isinstance(stage, Metaspace) or stage.suffix or not stage.escape:
        return False
    return stage.only_missing or stage.prepend == "never"
