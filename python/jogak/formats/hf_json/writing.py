"""A Spec as the bytes of a ``tokenizer.json``.

Rule: Hugging Face's library must open it and give the same ids on every text, as far as that is in its
power: it finds special tokens in every text, which a tokenizer trained here does not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jogak.formats.family import Probe
from jogak.formats.files import PathLike, write_atomically
from jogak.formats.hf_json import added, decoders, inputs, normalizers, pretokenizers, processors
from jogak.formats.hf_json.models_writing import left_out, write_model
from jogak.formats.hf_json.spaces import spaces_written
from jogak.formats.hf_json.suffixes import suffixes_written
from jogak.formats.hf_json.ways_back import decoder_of
from jogak.spec import Spec

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["dumps", "write"]


def write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    """Write a file, wholly or not at all. Training log and probes stay behind.

    Raises:
        UnsupportedFeature: something that the library cannot do as it is done here.
        OSError: the file cannot be written.
    """
    write_atomically(path, dumps(spec, os.fspath(path)))


def dumps(spec: Spec, name: str = "tokenizer.json") -> bytes:
    """The bytes of a file.

    Raises:
        UnsupportedFeature: as `write`.
    """
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
