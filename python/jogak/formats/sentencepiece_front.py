"""What a SentencePiece model does to a text before it is cut: its fields <-> normalizers and spaces.

::

    text -> precompiled_charsmap -> remove_extra_whitespaces -> add_dummy_prefix, escape_whitespaces

User-defined pieces are found before that and left as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jogak.errors import UnsupportedFeature
from jogak.formats.sentencepiece_model import NormalizerFields, Scalar
from jogak.spec import (
    Charsmap,
    CollapseSpaces,
    Marker,
    Metaspace,
    Named,
    Normalizer,
    Pretokenizer,
    RuleSet,
    Spec,
    Split,
)

__all__ = ["front_of", "normalizer_fields"]


def front_of(
    fields: NormalizerFields,
    trainer: Mapping[str, Scalar | tuple[str, ...]],
    kept: tuple[str, ...],
    name: str,
) -> tuple[tuple[Normalizer, ...], tuple[Pretokenizer, ...], Marker]:
    """The normalizers, the way with spaces, and the marker of a model.

    Args:
        fields: ``normalizer_spec``.
        trainer: ``trainer_spec``, for ``treat_whitespace_as_suffix``.
        kept: the texts of user-defined pieces.
        name: what errors call the file.

    Raises:
        UnsupportedFeature: spaces that ``remove_extra_whitespaces`` would leave.
    """
    if fields.remove_extra_whitespaces:
        _check_spaces(fields, kept, name)
    normalizers: list[Normalizer] = []
    if fields.precompiled_charsmap:
        normalizers.append(Charsmap(fields.precompiled_charsmap, keep=kept))
    if fields.remove_extra_whitespaces:
        normalizers.append(CollapseSpaces())
    suffix = bool(trainer.get("treat_whitespace_as_suffix", False))
    spaces = Metaspace(
        prepend="first" if fields.add_dummy_prefix else "never",
        suffix=suffix,
        split=False,
        escape=fields.escape_whitespaces,
    )
    marker = Marker("suffix", "▁", "joined") if suffix else Marker("prefix")
    return tuple(normalizers), (spaces,), marker


def _check_spaces(fields: NormalizerFields, kept: tuple[str, ...], name: str) -> None:
    # SentencePiece drops spaces at the ends of what it replaces, never inside; CollapseSpaces does.
    piece = next((text for text in kept if "  " in text), None)
    charsmap = fields.precompiled_charsmap
    # A tree, whose size stands first, then all replacements.
    replacements = charsmap[4 + int.from_bytes(charsmap[:4], "little") :]
    if piece is not None or b"  " in replacements:
        what = "a rule of normalization" if piece is None else f"the user-defined piece {piece!r}"
        raise UnsupportedFeature(
            f"{name}: {what} has two spaces side by side, which remove_extra_whitespaces leaves there; "
            "this version removes them, so it expected single ones"
        )


def cut_at_marks(
    fields: NormalizerFields, spaces: tuple[Pretokenizer, ...], name: str
) -> tuple[Pretokenizer, ...]:
    """The way with spaces of a word model: every mark begins a word, also where marks are suffixes.

    Args:
        fields: ``normalizer_spec``.
        spaces: the same of other models.
        name: what errors call the file.

    Raises:
        UnsupportedFeature: ``escape_whitespaces`` is off, which SentencePiece's trainer refuses too.
    """
    if not fields.escape_whitespaces:
        raise UnsupportedFeature(
            f"{name}: a SentencePiece model of type 'word' with escape_whitespaces=false, whose words "
            "do not end at spaces; expected true"
        )
    return (*spaces, Split("▁", matches="merged_with_next", regex=False))


def normalizer_fields(
    spec: Spec,
    user_defined: tuple[str, ...],
    name: str,
) -> tuple[NormalizerFields, dict[str, Any]]:
    """The way back: ``normalizer_spec``, and what of it stands in ``trainer_spec``.

    Args:
        spec: the tokenizer.
        user_defined: the texts of its user-defined pieces.
        name: what errors call the file.

    Raises:
        UnsupportedFeature: normalizers or a pre-tokenizer that SentencePiece does not have.
    """

    def refused(what: str) -> UnsupportedFeature:
        return UnsupportedFeature(
            f"{name}: a SentencePiece model cannot say {what}; it has one charsmap, then "
            "CollapseSpaces, then Metaspace(split=False); save as the native format"
        )

    stages = list(spec.normalizer)
    rule_name, charsmap = "identity", b""
    first = stages[0] if stages else None
    if isinstance(first, RuleSet):
        raise UnsupportedFeature(
            f"{name}: the file needs the compiled rules of {first.name!r}; "
            "Tokenizer.save compiles them, jogak.compile_rules gives them"
        )
    if isinstance(first, Charsmap):
        del stages[0]
        rule_name, charsmap = "user_defined", first.data
        if set(first.keep) != set(user_defined):
            raise refused(
                "a charsmap that keeps other texts than the user-defined pieces (give it keep=...)"
            )
    collapses = bool(stages) and isinstance(stages[0], CollapseSpaces)
    if collapses:
        stages.pop(0)
    if stages:
        raise refused(f"the normalizer {stages[0]}")
    if len(spec.pretokenizer) != 1:
        raise refused(f"{len(spec.pretokenizer)} pre-tokenizers in a row")
    spaces = spec.pretokenizer[0]
    if spaces == Named("none"):
        spaces = Metaspace(prepend="never", split=False, escape=False)
    if not isinstance(spaces, Metaspace):
        raise refused(f"the pre-tokenizer {spaces}")
    for cannot, what in (
        (spaces.only_missing, "Metaspace(only_missing=True)"),
        (spaces.prepend == "always", 'Metaspace(prepend="always")'),
        (_pieces_cross(spec, spaces), "words cut at spaces that pieces lie across"),
    ):
        if cannot:
            raise refused(what)
    fields = NormalizerFields(
        name=rule_name,
        precompiled_charsmap=charsmap,
        add_dummy_prefix=spaces.prepend == "first",
        remove_extra_whitespaces=collapses,
        escape_whitespaces=spaces.escape,
    )
    return fields, {"treat_whitespace_as_suffix": spaces.suffix}


def _pieces_cross(spec: Spec, spaces: Metaspace) -> bool:
    """Whether cutting words at spaces changes anything: some piece has a space inside."""
    if not spaces.split:
        return False
    mark = "▁" if spaces.escape else " "
    texts = (text for text in spec.model.pieces if text is not None)
    if spaces.suffix:
        return any(mark in text[:-1] for text in texts)
    return any(mark in text[1:] for text in texts)
