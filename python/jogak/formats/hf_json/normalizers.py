"""The ``normalizer`` section of a ``tokenizer.json``: how text is rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from jogak.errors import UnsupportedFeature
from jogak.formats.checked import Node
from jogak.formats.hf_json.patterns import pattern_from, pattern_to
from jogak.formats.hf_json.serde import kind_of, option, sequence, unsupported
from jogak.spec import (
    BertNormalizer,
    Charsmap,
    DrawBytes,
    HfNmt,
    Lowercase,
    Normalizer,
    Prepend,
    Replace,
    RuleSet,
    Strip,
    StripMarks,
    UnicodeForm,
)

__all__ = ["read", "write"]

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_KINDS = (
    *("BertNormalizer", "Bert", "Strip", "StripAccents", *_FORMS, "Sequence", "Lowercase"),
    *("Nmt", "Precompiled", "Replace", "Prepend", "ByteLevel"),
)
_BY_FIELDS = {
    "BertNormalizer": ("clean_text", "handle_chinese_chars", "lowercase"),
    "Strip": ("strip_left", "strip_right"),
    "Sequence": ("normalizers",),
    "Precompiled": ("precompiled_charsmap",),
    "Replace": ("pattern", "content"),
    "Prepend": ("prepend",),
}


def read(node: Node | None) -> tuple[Normalizer, ...]:
    """The stages of a normalizer; none for null.

    Raises:
        FormatError: a normalizer that the library does not know, or a field that it refuses.
        UnsupportedFeature: one that is not known here.
    """
    return () if node is None else tuple(_stages(node, 0))


def _stages(node: Node, depth: int) -> list[Normalizer]:
    kind = kind_of(node, _KINDS, _BY_FIELDS)
    if kind == "Sequence":
        inner = sequence(node, "normalizers", depth)
        return [stage for item in inner for stage in _stages(item, depth + 1)]
    with node.blamed():
        return _stage(node, kind)


def _stage(node: Node, kind: str) -> list[Normalizer]:
    if kind in ("BertNormalizer", "Bert"):
        accents = option(node, "strip_accents")
        return [
            BertNormalizer(
                clean_text=node.field("clean_text").flag(),
                chinese_chars=node.field("handle_chinese_chars").flag(),
                strip_accents=None if accents is None else accents.flag(),
                lowercase=node.field("lowercase").flag(),
            )
        ]
    if kind == "Strip":
        return [Strip(node.field("strip_left").flag(), node.field("strip_right").flag())]
    if kind == "StripAccents":
        return [StripMarks()]
    if kind in _FORMS:
        # The library knows no character that came after Unicode 9.
        form = cast(Literal["nfc", "nfd", "nfkc", "nfkd"], kind.lower())
        return [UnicodeForm(form, "9.0")]
    if kind == "Lowercase":
        return [Lowercase()]
    if kind == "Replace":
        pattern, regex = pattern_from(node.field("pattern"))
        return [Replace(pattern, node.field("content").text(), regex)]
    if kind == "Nmt":
        return [HfNmt()]
    if kind == "ByteLevel":
        return [DrawBytes()]
    if kind == "Precompiled":
        return [_precompiled(node.field("precompiled_charsmap"))]
    text = node.field("prepend")
    if not text.text():
        raise unsupported(text, "behind an empty text the library loses the places of characters")
    return [Prepend(text.value)]


def _precompiled(node: Node) -> Charsmap:
    import base64  # Few files need it.

    try:
        data = base64.b64decode(node.text(), validate=True)
    except ValueError:  # binascii's error is one
        raise node.fault("is no base64; expected the bytes of a charsmap in it") from None
    return Charsmap(data, graphemes=True)


# --- writing ------------------------------------------------------------------------------------


def write(stages: Sequence[Normalizer], name: str) -> dict[str, Any] | None:
    """The section of some stages; `read` gives the same stages.

    Raises:
        UnsupportedFeature: a normalizer that the library does not have.
    """
    written = [_written(stage, name) for stage in stages]
    if not written:
        return None
    return written[0] if len(written) == 1 else {"type": "Sequence", "normalizers": written}


def _written(stage: Normalizer, name: str) -> dict[str, Any]:
    if isinstance(stage, BertNormalizer):
        return {
            "type": "BertNormalizer",
            "clean_text": stage.clean_text,
            "handle_chinese_chars": stage.chinese_chars,
            "strip_accents": stage.strip_accents,
            "lowercase": stage.lowercase,
        }
    if isinstance(stage, Strip):
        return {"type": "Strip", "strip_left": stage.left, "strip_right": stage.right}
    if isinstance(stage, StripMarks):
        return {"type": "StripAccents"}
    if isinstance(stage, UnicodeForm) and stage.version == "9.0":
        return {"type": stage.form.upper()}
    if isinstance(stage, Lowercase):
        return {"type": "Lowercase"}
    if isinstance(stage, Replace):
        pattern = pattern_to(stage.pattern, stage.regex, name)
        return {"type": "Replace", "pattern": pattern, "content": stage.replacement}
    if isinstance(stage, Prepend):
        return {"type": "Prepend", "prepend": stage.text}
    if isinstance(stage, (HfNmt, DrawBytes)):
        return {"type": "Nmt" if isinstance(stage, HfNmt) else "ByteLevel"}
    if isinstance(stage, Charsmap) and stage.graphemes:
        import base64

        data = base64.b64encode(stage.data).decode("ascii")
        return {"type": "Precompiled", "precompiled_charsmap": data}
    hint = ""
    if isinstance(stage, UnicodeForm):
        hint = f'; say UnicodeForm({stage.form!r}, version="9.0"), which it has, or'
    if isinstance(stage, (Charsmap, RuleSet)):
        hint = "; say Charsmap(data, graphemes=True), which applies rules as it does, or"
    raise UnsupportedFeature(
        f"{name}: a tokenizer.json cannot say the normalizer {stage!r}{hint or ';'} save it as the "
        "native format"
    )
