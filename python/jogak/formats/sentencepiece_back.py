"""How a SentencePiece model makes text of ids: its fields <-> the one stage that does the same.

::

    CONTROL -> nothing, UNKNOWN -> unk_surface, BYTE -> bytes, all others -> their text, ▁ as a space
    add_dummy_prefix, remove_extra_whitespaces    marks in front of the text become nothing
    denormalizer_spec                             its charsmap rewrites the text
"""

from __future__ import annotations

from typing import Any, Literal

from jogak.errors import UnsupportedFeature
from jogak.formats.sentencepiece_model import ModelFile, NormalizerFields, PieceType
from jogak.spec import DecodeSentencePiece, Spec

__all__ = ["UNKNOWN_SURFACE", "back_fields", "strip_of", "way_back"]

#: What the unknown piece becomes unless a model says otherwise.
UNKNOWN_SURFACE = DecodeSentencePiece().unknown_surface


def way_back(file: ModelFile, name: str) -> DecodeSentencePiece:
    """The way back of a model.

    Raises:
        UnsupportedFeature: a denormalizer with unknown fields, or one that changes spaces.
    """
    surface = file.trainer.get("unk_surface", UNKNOWN_SURFACE)
    assert isinstance(surface, str)
    return DecodeSentencePiece(
        unknown=next(iter(file.texts_of(PieceType.UNKNOWN)), None),
        unknown_surface=surface,
        control=file.texts_of(PieceType.CONTROL),
        byte_fallback=bool(file.ids_of(PieceType.BYTE)),
        strip=strip_of(*_spaces_of(file.normalizer)),
        charsmap=_charsmap(file.denormalizer, name),
    )


def strip_of(
    add_dummy_prefix: bool, remove_extra_whitespaces: bool
) -> Literal["none", "first", "all"]:
    """Which marks become nothing, as `DecodeSentencePiece` says it."""
    if remove_extra_whitespaces:
        return "all"
    return "first" if add_dummy_prefix else "none"


def _spaces_of(fields: NormalizerFields) -> tuple[bool, bool]:
    return fields.add_dummy_prefix, fields.remove_extra_whitespaces


def _charsmap(fields: NormalizerFields | None, name: str) -> bytes:
    # Without a charsmap SentencePiece makes no denormalizer, whatever else is said.
    if fields is None or not fields.precompiled_charsmap:
        return b""
    for cannot, what in (
        (bool(fields.unknown_fields), "fields that are not known"),
        (fields.add_dummy_prefix, "add_dummy_prefix"),
        (fields.remove_extra_whitespaces, "remove_extra_whitespaces"),
        (fields.escape_whitespaces, "escape_whitespaces"),
    ):
        if cannot:
            raise UnsupportedFeature(
                f"{name}: the denormalizer of the model (denormalizer_spec) has {what}; expected a "
                "charsmap alone, as SentencePiece's trainer writes it"
            )
    return fields.precompiled_charsmap


def back_fields(
    spec: Spec, front: NormalizerFields, name: str
) -> tuple[NormalizerFields | None, dict[str, Any]]:
    """The way from a Spec: ``denormalizer_spec``, and what stands in ``trainer_spec``.

    A tokenizer that leaves it to its markers gets what SentencePiece does by default.

    Args:
        spec: the tokenizer.
        front: its ``normalizer_spec``.
        name: what errors call the file.

    Raises:
        UnsupportedFeature: another decoder than that of a SentencePiece model with these pieces.
    """
    if spec.decoder is None:
        return None, {}
    stage = spec.decoder[0] if len(spec.decoder) == 1 else None
    if not isinstance(stage, DecodeSentencePiece):
        raise UnsupportedFeature(
            f"{name}: a SentencePiece model cannot say the decoder {spec.decoder}; save as the native "
            "format, or write it without: dataclasses.replace(spec, decoder=None)"
        )
    model = spec.model
    for option, found, expected in (
        ("unknown", stage.unknown, model.unknown),
        ("control", set(stage.control), set(spec.special_tokens)),
        ("byte_fallback", stage.byte_fallback, model.byte_fallback),
        ("strip", stage.strip, strip_of(*_spaces_of(front))),
    ):
        if found != expected:
            raise UnsupportedFeature(
                f"{name}: the decoder has {option}={found!r}, where a SentencePiece model with these "
                f"pieces and spaces has {expected!r}; let the two agree, or save as the native format"
            )
    fields: dict[str, Any] = {}
    if stage.unknown_surface != UNKNOWN_SURFACE:
        fields["unk_surface"] = stage.unknown_surface
    if not stage.charsmap:
        return None, fields
    denormalizer = NormalizerFields(
        name="user_defined",
        precompiled_charsmap=stage.charsmap,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )
    return denormalizer, fields
