"""How ids become text in a file, for a tokenizer that leaves it to its markers."""

from __future__ import annotations

import re

from jogak.errors import UnsupportedFeature
from jogak.spec import (
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeFuse,
    DecodeReplace,
    DecoderStage,
    DecodeSentencePiece,
    DecodeStrip,
    DecodeSuffix,
    DecodeWordPiece,
    Metaspace,
    Spec,
)

__all__ = ["decoder_of"]


def decoder_of(spec: Spec) -> tuple[DecoderStage, ...]:
    """The stages of the library that write the text that the markers tell."""
    if spec.decoder is not None:
        (first, *_) = spec.decoder or (None,)
        return _sentencepiece(first) if isinstance(first, DecodeSentencePiece) else spec.decoder
    model = spec.model
    if model.alphabet == "bytes":
        return (DecodeByteLevel(),)
    fallback = (DecodeByteFallback(),) if model.byte_fallback else ()
    spaces = spec.pretokenizer[0]
    if isinstance(spaces, Metaspace):
        strip = () if spaces.prepend == "never" else (DecodeStrip(" ", 1, 0),)
        return (DecodeReplace(spaces.mark, " "), *fallback, DecodeFuse(), *strip)
    text = model.marker.text or ""
    if model.marker.kind == "suffix":
        return (*fallback, DecodeSuffix(text))
    if model.marker.kind == "continuation":
        return (*fallback, DecodeWordPiece(text, cleanup=False))
    return (*fallback, DecodeFuse())


def _sentencepiece(stage: DecodeSentencePiece) -> tuple[DecoderStage, ...]:
    """Stages that write the same for all ids that texts have. (Of bytes that are no UTF-8, a whole run
    becomes U+FFFD.)

    Raises:
        UnsupportedFeature: a charsmap, which decoders of the library do not have.
    """
    if stage.charsmap:
        raise UnsupportedFeature(
            "tokenizer.json cannot say a denormalizer; save as the native format, or write it without: "
            "dataclasses.replace(spec, decoder=None)"
        )
    stages: list[DecoderStage] = []
    if stage.control:
        pattern = rf"\A(?:{'|'.join(map(re.escape, stage.control))})\z"
        stages.append(DecodeReplace(pattern, "", regex=True))
    if stage.unknown is not None:
        pattern = rf"\A{re.escape(stage.unknown)}\z"
        stages.append(DecodeReplace(pattern, stage.unknown_surface, regex=True))
    stages.append(DecodeReplace("▁", " "))
    if stage.byte_fallback:
        stages.append(DecodeByteFallback())
    stages.append(DecodeFuse())
    if stage.strip != "none":
        stages.append(DecodeStrip(" ", 1, 0))
    return tuple(stages)
