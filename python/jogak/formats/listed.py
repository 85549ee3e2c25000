"""BPE without a list of merges, as BPE with one: for formats that need a list.

Two neighbours become a piece at the moment when the cutting of that piece's own text, by itself, is
down to two symbols: what happens inside a span does not depend on what stands around it, as long as
nothing grows across its border. So every piece is made of one pair only, and a list of pairs, best
first, does what ranks or scores do; unless two pieces have equal scores, of which the leftmost goes
first, and no list says that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jogak.errors import UnsupportedFeature
from jogak.spec import BPEModel, ScoredBPEModel, Spec

__all__ = ["with_merges"]


def with_merges(spec: Spec, merges: Sequence[tuple[int, int]], name: str) -> Spec:
    """The same tokenizer with a list of merges.

    Args:
        spec: a tokenizer that may have none.
        merges: all pairs that may merge, best first.
        name: what errors call the file.

    Raises:
        UnsupportedFeature: two pieces have equal scores, some are user-defined or unused, or made of
            bytes or characters that are no pieces.
    """
    model = spec.model
    if not isinstance(model, BPEModel) or model.merges is not None:
        return spec
    if any(max(pair) >= len(model.pieces) for pair in merges):
        raise UnsupportedFeature(
            f"{name}: some pieces are made of {model.alphabet} that are no pieces themselves, which a "
            "list of merges cannot say; save as the native format"
        )
    if not isinstance(model, ScoredBPEModel):
        return dataclasses.replace(spec, model=dataclasses.replace(model, merges=tuple(merges)))
    if model.unused:
        raise UnsupportedFeature(
            f"{name}: a list of merges cannot say unused pieces, such as "
            f"{model.pieces[model.unused[0]]!r}; save as the native format"
        )
    if model.user_defined:
        raise UnsupportedFeature(
            f"{name}: a list of merges cannot say user-defined pieces, such as "
            f"{model.pieces[model.user_defined[0]]!r}; save as the native format"
        )
    pieces = model.pieces
    ids = {text: id_ for id_, text in enumerate(pieces) if text is not None}
    made: dict[float, str] = {}
    for left, right in merges:
        text = (pieces[left] or "") + (pieces[right] or "")
        other = made.setdefault(model.scores[ids[text]], text)
        if other != text:
            raise UnsupportedFeature(
                f"{name}: the pieces {other!r} and {text!r} have the same score, so the leftmost goes "
                "first, which a list of merges cannot say; save as the native format"
            )
    options = {
        field.name: getattr(model, field.name)
        for field in dataclasses.fields(BPEModel)
        if field.name != "merges"
    }
    return dataclasses.replace(spec, model=BPEModel(**options, merges=tuple(merges)))
