"""A Spec as the bytes of a ``tokenizer.json``.

Rule: Hugging Face's library must open it and give the same ids on every text, as far as that is in its
power: it finds special tokens in every text, which a tokenizer trained here does not.
"""

from __future__ import annotations

import json
from typing import Any

from jogak.formats.hf_json import added, decoders, inputs, normalizers, pretokenizers, processors
from jogak.formats.hf_json.models_writing import left_out, write_model
from jogak.formats.hf_json.spaces import spaces_written
from jogak.formats.hf_json.suffixes import suffixes_written
from jogak.formats.hf_json.ways_back import decoder_of
from jogak.spec import Spec

__all__ = ["whole_file"]


def whole_file(spec: Spec, name: str) -> bytes:
    """The bytes of a file, as `jogak.formats.hf_json.dumps` says."""
    spec = suffixes_written(spaces_written(spec, name), name)
    model = spec.model
    ids = {text: id_ for id_, text in enumerate(model.pieces) if text is not None}
    outside = left_out(spec)
    as_bytes = model.alphabet == "bytes" or model.drawn
    words = pretokenizers.Words(spec.pretokenizer, as_bytes)
    sections: dict[str, Any] = {
        "version": "1.0",
        "truncation": inputs.write_truncation(spec.truncation),
        "padding": inputs.write_padding(spec.padding),
        "added_tokens": added.write(spec.special_tokens, spec.added_tokens, ids),
        "normalizer": normalizers.write(spec.normalizer, name),
        "pre_tokenizer": pretokenizers.write(words, name),
        "post_processor": processors.write(spec.template, model.pieces, name),
        "decoder": decoders.write(decoder_of(spec), name),
        "model": write_model(spec, outside, name),
    }
    return json.dumps(sections, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
