"""What all vocabulary files share: ids that become a list of pieces, merges that name their product.

Rule: the ids of a file are kept exactly; an id that no line names stands for nothing (None).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jogak.errors import UnsupportedFeature
from jogak.formats.bytelevel import has_all_bytes
from jogak.spec import BPEModel, Marker, Spec, Template

if TYPE_CHECKING:
    from jogak.spec import Model

__all__ = ["MOST_HOLES", "pieces_by_id", "product", "refuse_options", "refuse_parts"]

#: So many ids may stand for nothing; a file with more is taken for broken rather than given memory.
MOST_HOLES = 1_000_000


def pieces_by_id(ids: Mapping[str, int]) -> tuple[str | None, ...]:
    """Text -> id becomes the text of every id, None in the holes.

    Raises:
        ValueError: an id below zero, two texts with one id, or more than `MOST_HOLES` holes; the
            message says which.

    >>> pieces_by_id({"b": 2, "a": 0})
    ('a', None, 'b')
    """
    size = max(ids.values(), default=-1) + 1
    if size == len(ids) and [*ids.values()] == [*range(size)]:  # as most files have it
        return tuple(ids)
    if size - len(ids) > MOST_HOLES:
        raise ValueError(
            f"the highest id is {size - 1} for {len(ids)} pieces; "
            f"expected at most {MOST_HOLES:,} ids that stand for nothing"
        )
    pieces: list[str | None] = [None] * size
    for text, id_ in ids.items():
        if id_ < 0:
            raise ValueError(f"piece {text!r} has the id {id_}; expected 0 or more")
        if pieces[id_] is not None:
            raise ValueError(
                f"pieces {pieces[id_]!r} and {text!r} both have the id {id_}; expected one piece"
            )
        pieces[id_] = text
    return tuple(pieces)


def refuse_options(model: Model, file: str) -> None:
    """Refuses what only the native format and tokenizer.json can say.

    Raises:
        UnsupportedFeature: naming the first such option of the model.
    """
    for option in (
        *("dropout", "word_suffix", "drop_unknown", "drawn", "hf_rules", "unknown_score"),
        *("kept", "glossaries"),
    ):
        value = getattr(model, option, None)
        if option in ("unknown_score", "kept"):
            said = value is not None
        else:
            said = bool(value) and not (
                option in ("drop_unknown", "hf_rules") and _knows_all(model)
            )
        if said:
            raise UnsupportedFeature(
                f"{file}: the format cannot say {option}={value!r:.80}; save as the native format"
            )


def _knows_all(model: Model) -> bool:
    """Whether nothing is unknown: then rules about unknown characters change no ids."""
    return (
        isinstance(model, BPEModel)
        and model.alphabet == "bytes"
        and model.unknown is None
        and has_all_bytes({text for text in model.pieces if text is not None})
    )


def product(marker: Marker, left: str, right: str) -> str:
    """The text of two merged pieces: a continuation mark inside a piece is left out.

    >>> product(Marker("continuation"), "un", "##der"), product(Marker(), "un", "der")
    ('under', 'under')
    """
    if marker.kind == "continuation" and marker.text is not None:
        right = right.removeprefix(marker.text)
    return left + right


def refuse_parts(
    spec: Spec, name: str, what: str, *, normalizer: bool = True, decoder: bool = True
) -> None:
    """Refuse what many formats have no place for, so that nothing is dropped in silence.

    Args:
        spec: the tokenizer.
        name: what errors call the file.
        what: what errors call its format.
        normalizer: whether a normalizer is among it.
        decoder: whether a decoder is among it that is not the marker's own way back.

    Raises:
        UnsupportedFeature: added tokens with rules of their own, a template, truncation, padding.
    """
    from jogak.spec import DecodeByteLevel

    own = {"byte-level": (DecodeByteLevel(),)}.get(spec.model.marker.kind)
    for cannot, part, without in (
        (normalizer and bool(spec.normalizer), "a normalizer", "normalizer=()"),
        (decoder and spec.decoder not in (None, own), "a decoder", "decoder=None"),
        (bool(spec.added_tokens), "rules for added tokens", "added_tokens=()"),
        (spec.template != Template(), "a template", "template=jogak.spec.Template()"),
        (spec.truncation is not None, "truncation", "truncation=None"),
        (spec.padding is not None, "padding", "padding=None"),
    ):
        if cannot:
            raise UnsupportedFeature(
                f"{name}: {what} cannot say {part}; save as the native format, or write it without: "
                f"dataclasses.replace(spec, {without})"
            )
