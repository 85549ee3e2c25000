"""Small GGUF files, one of each kind of tokenizer: jogak reads the format and writes none.

Rule: just what the readers ask for; no tensors.
"""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["gguf_files"]

#: Type numbers of the format, and of its tokens.
_U32, _F32, _BOOL, _TEXT, _ARRAY, _I32, _U8 = 4, 6, 7, 8, 9, 5, 0
_NORMAL, _UNKNOWN, _CONTROL, _USER, _BYTE = 1, 2, 3, 4, 6


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", _BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", _U32, value)
    if isinstance(value, str):
        return struct.pack("<I", _TEXT) + _text(value)
    if isinstance(value, bytes):
        return struct.pack("<IIQ", _ARRAY, _U8, len(value)) + value
    if isinstance(value[0], str):
        head = struct.pack("<IIQ", _ARRAY, _TEXT, len(value))
        return head + b"".join(map(_text, value))
    kind, code = (_F32, "f") if isinstance(value[0], float) else (_I32, "i")
    return struct.pack(f"<IIQ{len(value)}{code}", _ARRAY, kind, len(value), *value)


def _file(keys: dict[str, Any]) -> bytes:
    entries = [_text("general.architecture") + _value("llama")]
    entries += [_text(f"tokenizer.ggml.{key}") + _value(value) for key, value in keys.items()]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


def gguf_files(charsmap: bytes) -> list[bytes]:
    """A file of each kind.

    Args:
        charsmap: rules for the one that has some.
    """
    # A byte as GPT-2 draws it.
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(256, 512))
    drawn = [chr(byte if byte in plain else next(others)) for byte in range(256)]
    byte = [f"<0x{number:02X}>" for number in range(256)]
    special, types = ["<unk>", "<s>", "</s>"], [_UNKNOWN, _CONTROL, _CONTROL]
    pieces = ["▁", "a", "b", "▁a", "ab", "▁ab", "가"]
    bpe = {
        "tokens": [*drawn, "Ġt", "Ġth", "<end>", "<user>"],
        "token_type": [*[_NORMAL] * 258, _CONTROL, _USER],
        "merges": ["Ġ t", "Ġt h"],
        "bos_token_id": 258,
    }
    unigram = {
        "model": "t5",
        "tokens": [*special, *pieces, "<x>"],
        "token_type": [*types, *[_NORMAL] * len(pieces), _USER],
        "scores": [0.0, 0.0, 0.0, *(-1.5 - n for n in range(len(pieces))), 0.0],
        "unknown_token_id": 0,
    }
    return [
        _file({"model": "gpt2", "pre": "gpt-2", **bpe}),
        _file({"model": "gpt2", "pre": "llama-bpe", **bpe, "add_bos_token": True}),
        _file(
            {
                "model": "llama",
                "tokens": [*special, *byte, *pieces],
                "token_type": [*types, *[_BYTE] * 256, *[_NORMAL] * len(pieces)],
                "scores": [0.0] * 259 + [-1.0 * n for n in range(len(pieces))],
            }
        ),
        _file(
            {
                "model": "bert",
                "tokens": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *pieces, "[x]"],
                "token_type": [*[_CONTROL] * 4, *[_NORMAL] * len(pieces), _USER],
                "unknown_token_id": 1,
                "bos_token_id": 2,
                "seperator_token_id": 3,
            }
        ),
        _file({**unigram, "remove_extra_whitespaces": True, "precompiled_charsmap": charsmap}),
        _file({**unigram, "add_space_prefix": False}),
    ]
