"""The ``decoder`` section of a ``tokenizer.json``: how ids become text.

::

    null                    ()        token texts with spaces between
    one decoder             one stage
    Sequence                its stages; sequences in sequences are one

A chain of no stage writes the texts without spaces, which is what one that joins them does.
"""

from __future__ import annotations

from typing import Any

from jogak.formats.checked import Node
from jogak.formats.hf_json.patterns import pattern_from, pattern_to
from jogak.formats.hf_json.serde import character, flag_or, kind_of, option, sequence
from jogak.spec import (
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeCTC,
    DecodeFuse,
    DecodeMetaspace,
    DecodeReplace,
    DecoderStage,
    DecodeStrip,
    DecodeSuffix,
    DecodeWordPiece,
)

__all__ = ["metaspace_options", "read", "write"]

_KINDS = (
    "BPEDecoder",
    "ByteLevel",
    "WordPiece",
    "Metaspace",
    "CTC",
    "Sequence",
    "Replace",
    "Fuse",
    "Strip",
    "ByteFallback",
)
_BY_FIELDS = {
    "BPEDecoder": ("suffix",),
    "WordPiece": ("prefix", "cleanup"),
    "CTC": ("pad_token", "word_delimiter_token", "cleanup"),
    "Replace": ("pattern", "content"),
    "Strip": ("content", "start", "stop"),
}


def read(node: Node | None) -> tuple[DecoderStage, ...]:
    """The stages of a decoder; none for null.

    Raises:
        FormatError: a decoder that the library does not know, or a field that it refuses.
    """
    if node is None:
        return ()
    # A chain of no stage still joins the texts.
    return tuple(_stages(node, 0)) or (DecodeFuse(),)


def _stages(node: Node, depth: int) -> list[DecoderStage]:
    kind = kind_of(node, _KINDS, _BY_FIELDS)
    if kind == "Sequence":
        inner = sequence(node, "decoders", depth)
        return [stage for item in inner for stage in _stages(item, depth + 1)]
    with node.blamed():
        return [_stage(node, kind)]


def _stage(node: Node, kind: str) -> DecoderStage:
    if kind == "BPEDecoder":
        return DecodeSuffix(node.field("suffix").text())
    if kind == "ByteLevel":
        # All of its options are about encoding; a file has to give them all the same.
        node.field("add_prefix_space").flag()
        node.field("trim_offsets").flag()
        flag_or(node, "use_regex", True)
        return DecodeByteLevel()
    if kind == "WordPiece":
        return DecodeWordPiece(node.field("prefix").text(), node.field("cleanup").flag())
    if kind == "Metaspace":
        return DecodeMetaspace(*metaspace_options(node))
    if kind == "CTC":
        return DecodeCTC(
            node.field("pad_token").text(),
            node.field("word_delimiter_token").text(),
            node.field("cleanup").flag(),
        )
    if kind == "Replace":
        pattern, regex = pattern_from(node.field("pattern"))
        return DecodeReplace(pattern, node.field("content").text(), regex)
    if kind == "Strip":
        start, stop = (node.field(name).integer(0, 2**32 - 1) for name in ("start", "stop"))
        return DecodeStrip(character(node.field("content")), start, stop)
    return DecodeFuse() if kind == "Fuse" else DecodeByteFallback()


def metaspace_options(node: Node) -> tuple[str, Any, bool]:
    """Replacement, where a space is prepended, and whether words are cut, of a ``Metaspace``.

    ``add_prefix_space`` and ``str_rep`` are of old files: the first says "never" where it is false,
    and must then not be contradicted; the second says nothing.
    """
    replacement = character(node.field("replacement"))
    scheme = "always"
    if "prepend_scheme" in node.value:
        scheme = node.field("prepend_scheme").text()
        if scheme not in ("first", "never", "always"):
            raise node.field("prepend_scheme").expected("'first', 'never' or 'always'")
    prefix = option(node, "add_prefix_space")
    if prefix is not None and not prefix.flag():
        if scheme != "never":
            raise prefix.fault(
                f"is false, but prepend_scheme is {scheme!r}; expected both to say the same"
            )
        scheme = "never"
    old = option(node, "str_rep")
    if old is not None:
        old.text()
    split = option(node, "split")
    return replacement, scheme, True if split is None else split.flag()


def write(stages: tuple[DecoderStage, ...], name: str) -> dict[str, Any] | None:
    """The section of some stages; `read` gives the same stages.

    Raises:
        UnsupportedFeature: a regular expression that has no equal in the library.
    """
    if not stages:
        return None
    written = [_written(stage, name) for stage in stages]
    return written[0] if len(written) == 1 else {"type": "Sequence", "decoders": written}


def _written(stage: DecoderStage, name: str) -> dict[str, Any]:
    if isinstance(stage, DecodeSuffix):
        return {"type": "BPEDecoder", "suffix": stage.suffix}
    if isinstance(stage, DecodeByteLevel):
        options = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        return {"type": "ByteLevel", **options}
    if isinstance(stage, DecodeWordPiece):
        return {"type": "WordPiece", "prefix": stage.prefix, "cleanup": stage.cleanup}
    if isinstance(stage, DecodeMetaspace):
        return {
            "type": "Metaspace",
            "replacement": stage.replacement,
            "prepend_scheme": stage.prepend,
            "split": stage.split,
        }
    if isinstance(stage, DecodeCTC):
        return {
            "type": "CTC",
            "pad_token": stage.pad_token,
            "word_delimiter_token": stage.word_delimiter_token,
            "cleanup": stage.cleanup,
        }
    if isinstance(stage, DecodeReplace):
        pattern = pattern_to(stage.pattern, stage.regex, name)
        return {"type": "Replace", "pattern": pattern, "content": stage.replacement}
    if isinstance(stage, DecodeStrip):
        return {
            "type": "Strip",
            "content": stage.content,
            "start": stage.start,
            "stop": stage.stop,
        }
    return {"type": "Fuse" if isinstance(stage, DecodeFuse) else "ByteFallback"}
