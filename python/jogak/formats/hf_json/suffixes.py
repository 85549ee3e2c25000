"""A border of words that is a symbol of its own, which Hugging Face's library does not have.

Sennrich's words are ``l o w </w>`` before anything merges. The library starts with characters of the
text, ``l o w``, and can glue a suffix to the last one only. So a normalizer writes one character, which
no piece has, behind every word, and stands for ``</w>`` in the pieces: ``low␣``. Should a text have
that very character, it becomes another one that no piece has.
"""

from __future__ import annotations

from jogak.errors import UnsupportedFeature
from jogak.spec import BPEModel, DecodeSuffix, Marker, Named, Replace, Spec
from jogak.spec.record import replace

__all__ = ["suffixes_written"]

_STAND_INS = "␣␠⌴⎵␢"


def suffixes_written(spec: Spec, name: str) -> Spec:
    """The tokenizer with such a character in place of its suffix.

    Raises:
        UnsupportedFeature: words are not what stands between white space, or nothing is unknown.
    """
    model = spec.model
    if not isinstance(model, BPEModel) or model.merges is None or not model.mark_words:
        return spec
    if model.marker.kind != "suffix" or model.marker.symbol != "own":
        return spec
    letters = set().union(*filter(None, model.pieces))
    free = [one for one in _STAND_INS if one not in letters]
    for cannot, what in (
        (spec.pretokenizer != (Named("whitespace"),), "any words but those between white space"),
        (model.byte_fallback, "byte fallback"),
        (len(free) < 2, f"pieces with nearly all of {_STAND_INS!r}"),
        (any(token.normalized for token in spec.added_tokens), "tokens in normalized text"),
    ):
        if cannot:
            raise UnsupportedFeature(
                f"{name}: a tokenizer.json cannot say a suffix that is a symbol of its own together "
                f"with {what}; save it as the native format"
            )
    suffix, other = free[:2]
    assert model.marker.text is not None
    pieces = list(model.pieces)
    ids = {text: id_ for id_, text in enumerate(pieces) if text is not None}
    marked = {ids[model.marker.text]} if model.marker.text in ids else set()
    for left, right in model.merges:
        if right in marked:
            marked.add(ids[f"{model.pieces[left]}{model.pieces[right]}"])
    for id_ in marked:
        pieces[id_] = (pieces[id_] or "").removesuffix(model.marker.text) + suffix
    # Nothing but white space, or the end, behind something that is none.
    behind = Replace(r"(?<=\S)(?!\S)", suffix, regex=True)
    return replace(
        spec,
        model=replace(model, pieces=tuple(pieces), marker=Marker()),
        normalizer=(*spec.normalizer, Replace(suffix, other), behind),
        decoder=(DecodeSuffix(suffix),) if spec.decoder is None else spec.decoder,
    )
