"""How ids become text in a file, for a tokenizer that leaves it to its markers."""

from __future__ import annotations

from jogak.spec import (
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeFuse,
    DecodeReplace,
    DecoderStage,
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
        return spec.decoder
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
