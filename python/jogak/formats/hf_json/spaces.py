"""SentencePiece's spaces, which Hugging Face's library does not have, as stages that it has.

It prepends a ``▁`` only where the text does not begin with one; SentencePiece always. So the ``▁`` are
written by normalizers, and `Metaspace` is left to cut words:

    CollapseSpaces()            Replace of runs of spaces, and of those at the ends
    Metaspace("first")          Prepend("▁"), Replace(" ", "▁"), Metaspace("never")

Both begin anew behind every special token in a text there, which is no difference in a text without.
"""

from __future__ import annotations

from jogak.errors import UnsupportedFeature
from jogak.formats.hf_json.ways_back import decoder_of
from jogak.spec import CollapseSpaces, Metaspace, Named, Normalizer, Prepend, Replace, Spec
from jogak.spec.record import replace

__all__ = ["spaces_written"]

_COLLAPSED = (
    Replace(" {2,}", " ", regex=True),
    Replace(r"\A +", "", regex=True),
    Replace(r"[ ▁]+\z", "", regex=True),
)


def spaces_written(spec: Spec, name: str) -> Spec:
    """The tokenizer with such stages in place of SentencePiece's.

    Raises:
        UnsupportedFeature: spaces that go behind words, or that stay spaces; added tokens that are
            looked for in the normalized text, which these stages would change.
    """
    normalizer: list[Normalizer] = []
    for stage in spec.normalizer:
        normalizer += _COLLAPSED if isinstance(stage, CollapseSpaces) else (stage,)
    words = spec.pretokenizer
    first = words[0]
    if isinstance(first, Metaspace) and first.prepend == "given":
        raise UnsupportedFeature(
            f'{name}: a tokenizer.json cannot say Metaspace(prepend="given"), which gives a space also '
            "to texts that normalization leaves nothing of (control characters alone); "
            'dataclasses.replace(stage, prepend="first") gives these none, or save as the '
            "native format"
        )
    if isinstance(first, Metaspace) and first.only_missing and first.prepend == "first":
        # Where special tokens cut nothing, a document begins where its text does.
        words = (replace(first, prepend="start"), *words[1:])
    elif isinstance(first, Metaspace) and not (first.only_missing or first.prepend == "never"):
        if first.suffix or not first.escape:
            raise UnsupportedFeature(
                f"{name}: a tokenizer.json cannot say the pre-tokenizer {first!r}; save it as the "
                "native format"
            )
        normalizer += (Prepend(first.mark), Replace(" ", first.mark))
        cut = Metaspace(prepend="never", only_missing=True, mark=first.mark)
        words = (cut if first.split else Named("none"), *words[1:])
    if normalizer == [*spec.normalizer]:
        return replace(spec, pretokenizer=words)
    for token in spec.added_tokens:
        if token.normalized:
            raise UnsupportedFeature(
                f"{name}: a tokenizer.json cannot say SentencePiece's spaces together with the added "
                f"token {token.text!r}, which is looked for in normalized text; save it as the native "
                "format"
            )
    return replace(
        spec,
        normalizer=tuple(normalizer),
        pretokenizer=words,
        decoder=decoder_of(spec),
    )
