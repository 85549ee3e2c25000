"""GGUF files to read: small ones, and real vocabularies in them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path

from jogak.formats.bytelevel import ALPHABET
from jogak.formats.sentencepiece import read_model

gguf = pytest.importorskip("gguf")
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def make(path: Path, keys: dict[str, Any], *, big: bool = False, model: bool = False) -> Path:
    """A file; with ``model`` one that llama.cpp runs."""
    order = gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE
    writer = gguf.GGUFWriter(str(path), "llama", endianess=order)
    for key, value in keys.items():
        if key.startswith("general."):
            writer.add_string(key, value)
            continue
        key = f"tokenizer.ggml.{key}"
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, value)
    if model:
        import numpy as np

        size, width = len(keys["tokens"]), 32
        writer.add_block_count(1)
        writer.add_context_length(64)
        writer.add_embedding_length(width)
        writer.add_feed_forward_length(width)
        writer.add_head_count(1)
        writer.add_layer_norm_rms_eps(1e-5)
        shapes = {"token_embd": (size, width), "output_norm": (width,)}
        shapes |= {f"blk.0.{name}": (width,) for name in ("attn_norm", "ffn_norm")}
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            shapes[f"blk.0.{name}"] = (width, width)
        for name, shape in shapes.items():
            writer.add_tensor(f"{name}.weight", np.zeros(shape, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@functools.cache
def gpt2() -> dict[str, Any]:
    fields = gguf.GGUFReader(str(model_path("gpt2", "gpt-2.gguf"))).fields
    names = ("model", "pre", "tokens", "token_type", "merges", "bos_token_id", "eos_token_id")
    return {name: fields[f"tokenizer.ggml.{name}"].contents() for name in names}


def sentencepiece(*parts: str) -> dict[str, Any]:
    pieces = read_model(model_path(*parts)).pieces
    return {
        "model": "llama",
        "tokens": [piece.text for piece in pieces],
        "scores": [piece.score for piece in pieces],
        "token_type": [int(piece.type) for piece in pieces],
    }


def small(**more: Any) -> dict[str, Any]:
    tokens = [*ALPHABET, "Ġt", "Ġth", "<end>", "<user>", "[PAD1]"]
    types = [*[NORMAL] * 258, CONTROL, USER, CONTROL]
    merges = ["Ġ t", "Ġt h", "Ġ t"]
    return {"model": "gpt2", "pre": "gpt-2", "tokens": tokens, "token_type": types,
            "merges": merges, "bos_token_id": 258, **more}  # fmt: skip


def without(keys: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if key not in names}
