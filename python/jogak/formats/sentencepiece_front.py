"""What a SentencePiece model does to a text before it is cut: its fields <-> normalizers and spaces.

::

    text -> precompiled_charsmap -> remove_extra_whitespaces -> add_dummy_prefix, escape_whitespaces

User-defined pieces are found before that and left as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Literal

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
    ScoredBPEModel,
    Spec,
    Split,
    UnigramModel,
    WordLevelModel,
)

__all__ = ["front_of", "normalizer_fields", "prepend_of"]


#: How words of a word model are cut.
_AT_MARKS = Split("▁", matches="merged_with_next", regex=False)


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
        prepend=prepend_of(
            fields.add_dummy_prefix,
            suffix=suffix,
            collapses=fields.remove_extra_whitespaces,
            charsmap=fields.precompiled_charsmap,
        ),
        suffix=suffix,
        split=False,
        escape=fields.escape_whitespaces,
    )
    marker = Marker("suffix", "▁", "joined") if suffix else Marker("prefix")
    return tuple(normalizers), (spaces,), marker


def prepend_of(
    add_dummy_prefix: bool, *, suffix: bool, collapses: bool, charsmap: bytes
) -> Literal["first", "given", "never"]:
    """Where SentencePiece adds a space, as `Metaspace` says it.

    It asks the text as it was given: where normalization leaves nothing, the space stands by itself. One
    in front is then taken off again if spaces are collapsed, and one behind is not. ``"given"`` is said
    only where some text makes the difference, since other libraries do not have it.
    """
    if not add_dummy_prefix:
        return "never"
    # ▁ at the end of a text is collapsed, too.
    differs = suffix if collapses else _drops(charsmap)
    return "given" if differs else "first"


def _units(charsmap: bytes) -> tuple[tuple[int, ...], bytes]:
    """The trie, as 32-bit units, and all replacements, each ended by a zero byte."""
    size = int.from_bytes(charsmap[:4], "little") & ~3
    trie, replacements = charsmap[4 : 4 + size], charsmap[4 + size :]
    return struct.unpack(f"<{len(trie) // 4}I", trie[: len(trie) & ~3]), replacements


def _drops(charsmap: bytes) -> bool:
    """Whether some key becomes nothing. It may say yes for a value that no key has."""
    units, replacements = _units(charsmap)
    # Values, which are places of replacements, have the highest bit.
    values = {unit & 0x7FFFFFFF for unit in units if unit >> 31}
    return any(replacements[value : value + 1] == b"\0" for value in values)


def _leaves_marks(charsmap: bytes, kept: tuple[str, ...]) -> bool:
    """Whether a rewritten text may have a ``▁``: none may, if it is a key and in no replacement."""
    mark = "▁".encode()
    units, replacements = _units(charsmap)
    if mark in replacements or any("▁" in text for text in kept):
        return True
    at = 0
    for byte in mark:
        unit = units[at] if at < len(units) else 0
        at ^= ((unit >> 10) << ((unit & 0x200) >> 6)) ^ byte
        if at >= len(units) or units[at] & 0x800000FF != byte:
            return True
    return not units[at] & 0x100


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
    # A ▁ that is not a space in disguise: SentencePiece leaves it at the end, CollapseSpaces does not.
    if not fields.escape_whitespaces and _leaves_marks(charsmap, kept):
        raise UnsupportedFeature(
            f"{name}: the model has remove_extra_whitespaces=true and escape_whitespaces=false, and its "
            "rules of normalization may leave a ▁ at the end of a text; SentencePiece's trainer makes "
            "no such model. Set escape_whitespaces to true, or add a rule that makes ▁ a space"
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
    return (*spaces, _AT_MARKS)


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
    words = isinstance(spec.model, WordLevelModel)
    cutters = spec.pretokenizer
    if words and cutters[1:] == (_AT_MARKS,):
        cutters = cutters[:1]
    if len(cutters) != 1:
        raise refused(f"{len(spec.pretokenizer)} pre-tokenizers in a row")
    spaces = cutters[0]
    if spaces == Named("none"):
        spaces = Metaspace(prepend="never", split=False, escape=False)
    if not isinstance(spaces, Metaspace):
        raise refused(f"the pre-tokenizer {spaces}")
    for cannot, what in (
        (spaces.only_missing, "Metaspace(only_missing=True)"),
        (spaces.prepend in ("always", "start"), f"Metaspace(prepend={spaces.prepend!r})"),
        (spaces.mark != "▁", f"Metaspace(mark={spaces.mark!r})"),
        (_pieces_cross(spec, spaces), "words cut at spaces that pieces lie across"),
        (_sees_all(spec, spaces), f"{spaces!r}, where what is cut depends on the whole text"),
        (
            words and not (spaces.escape and _at_marks(spec, spaces)),
            "words that do not begin at every ▁ and there alone",
        ),
    ):
        if cannot:
            raise refused(what)
    prepends = spaces.prepend != "never"
    expected = prepend_of(prepends, suffix=spaces.suffix, collapses=collapses, charsmap=charsmap)
    if (spaces.prepend, expected) == ("first", "given"):
        raise UnsupportedFeature(
            f'{name}: the tokenizer has Metaspace(prepend="first"), which gives no space to a text that '
            "normalization leaves nothing of (control characters alone); SentencePiece gives it one. "
            'Train with pretokenizer=jogak.Metaspace("given") or replace it in the spec '
            '(dataclasses.replace(stage, prepend="given")), or save as the native format'
        )
    fields = NormalizerFields(
        name=rule_name,
        precompiled_charsmap=charsmap,
        add_dummy_prefix=prepends,
        remove_extra_whitespaces=collapses,
        escape_whitespaces=spaces.escape,
    )
    return fields, {"treat_whitespace_as_suffix": spaces.suffix}


def _at_marks(spec: Spec, spaces: Metaspace) -> bool:
    """Whether words are cut before every mark, and nowhere else."""
    if spec.pretokenizer[1:] == (_AT_MARKS,):
        return not (spaces.split and spaces.suffix)
    return spaces.split and not spaces.suffix


def _pieces_cross(spec: Spec, spaces: Metaspace) -> bool:
    """Whether cutting words at spaces changes anything: some piece has a space inside."""
    if not spaces.split or isinstance(spec.model, WordLevelModel):
        return False
    mark = "▁" if spaces.escape else " "
    texts = (text for text in spec.model.pieces if text is not None)
    if spaces.suffix:
        return any(mark in text[:-1] for text in texts)
    return any(mark in text[1:] for text in texts)


def _sees_all(spec: Spec, spaces: Metaspace) -> bool:
    """Whether words by themselves may come out otherwise than the text: sums of scores begin with the
    text, unused pieces are taken apart as it says anywhere in the text, and so does a run of unknown
    characters go on if spaces are unknown.
    """
    model = spec.model
    if not spaces.split or not isinstance(model, (UnigramModel, ScoredBPEModel)):
        return False
    mark = "▁" if spaces.escape else " "
    return isinstance(model, UnigramModel) or bool(model.unused) or mark not in model.pieces
