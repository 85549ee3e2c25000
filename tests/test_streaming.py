"""Streams of tokenizers that were trained here: joined, they are what `decode` gives."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from strategies import MARKERS, falls_back

import jogak
from jogak.spec import Metaspace, Prepend

WORDS = {
    "low": 5, "lower": 2, "newest": 6, "widest": 3, "계란밥": 4, "간장계란밥": 3, "계란": 2, "é😀": 2,
    "ㅋㅋㅋ": 2, "밥ㅋ": 1, "값이": 2,
}  # fmt: skip
TEXT = " ".join(word for word, count in WORDS.items() for _ in range(count))


def kinds() -> dict[str, jogak.Tokenizer]:
    """A tokenizer for every way back."""
    found = {}
    for marker in MARKERS:
        for fallback in (False, True):
            if fallback and not falls_back(marker):
                continue
            limit = 9 if fallback else None
            config = jogak.BPE(
                marker=marker, byte_fallback=fallback, alphabet_size=limit, min_pair_count=2
            )
            name = f"{marker.kind}-{marker.text}-{marker.symbol}-{fallback}"
            found[name] = jogak.train(
                WORDS, config, special_tokens=["<s>", "<unk>"], pretokenizer="whitespace"
            )
    for prepend in ("always", "first", "never"):
        for suffix in (False, True):
            config = jogak.BPE(
                marker="suffix" if suffix else "prefix", byte_fallback=True, alphabet_size=12,
                treat_whitespace_as_suffix=suffix,
            )  # fmt: skip
            config = jogak.BPE(marker="prefix", byte_fallback=True, alphabet_size=12)
            found[f"metaspace-{prepend}-{suffix}"] = jogak.train(
                iter([TEXT]),
                config,
                special_tokens=["<s>", "<unk>"],
                pretokenizer=Metaspace(prepend=prepend, suffix=suffix),
            )
    for name in ("jamo", "compatibility-jamo"):
        for before in ((), (Prepend("x"),)):
            found[f"{name}-{len(before)}"] = jogak.train(
                iter([TEXT]),
                jogak.BPE(vocab_size=300),
                special_tokens=["<s>"],
                normalizer=[*before, name],
            )
    found["wordpiece"] = jogak.train(WORDS, jogak.WordPiece(), special_tokens=["<s>"])
    found["unigram"] = jogak.train(
        iter([TEXT]), jogak.Unigram(vocab_size=60), special_tokens=["<s>"]
    )
    return found
