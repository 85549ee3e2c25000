"""A ``tokenizer.json`` from a stranger: read, refused with a place, or refused by name; nothing else."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from typing import Any

import hf_generated
import pytest

from jogak import Tokenizer
from jogak.errors import ConfigError, FormatError, UnsupportedFeature
from jogak.formats import hf_json

INTRUDERS: list[Any] = [
    None, True, 0, 1, -1, 2**32, 2**64, 10**80, 0.5, 1e308, "", "x", "ab", "\ud800", "Sequence",
    [], {}, [[]], [None], {"type": "Sequence"}, ["a", 1], [0] * 1000, {"String": "a"}, {"a": 0},
]  # fmt: skip


def accepted(data: bytes) -> bool:
    """Whether it is read; anything but a refusal gets out of here."""
    try:
        spec = hf_json.loads(data, "t.json")
    except FormatError as error:
        assert str(error).startswith("t.json: ")
        return False
    except UnsupportedFeature as error:
        assert "t.json" in str(error)
        return False
    try:
        Tokenizer(spec)
    except ConfigError:
        return False
    return True


def whole() -> dict[str, Any]:
    """A file with all sections, small."""
    flags = {"single_word": False, "lstrip": False, "rstrip": True, "normalized": False}
    special = {"id": "<s>", "ids": [4], "tokens": ["<s>"]}
    parts = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 5, "strategy": "OnlyFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 3}, "direction": "Left", "pad_to_multiple_of": None,
                    "pad_id": 0, "pad_type_id": 0, "pad_token": "a"},
        "added_tokens": [{"id": 4, "content": "<s>", **flags, "special": True}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "NFC"}, {"type": "Replace", "pattern": {"String": "b"}, "content": "c"},
            {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
             "strip_accents": None, "lowercase": True}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
            {"type": "Digits", "individual_digits": True}]},
        "post_processor": {"type": "TemplateProcessing", "single": parts,
                           "pair": [*parts, {"Sequence": {"id": "B", "type_id": 1}}],
                           "special_tokens": {"<s>": special}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "WordPiece", "prefix": "##", "cleanup": True},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": False, "vocab": {"a": 0, "b": 1, "ab": 2, "aba": 3},
                  "merges": [["a", "b"], ["ab", "a"]]},
    }  # fmt: skip


def models() -> Iterator[dict[str, Any]]:
    yield whole()["model"]
    yield {**whole()["model"], "merges": ["a b", "ab a"]}
    yield {"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##",
           "max_input_chars_per_word": 100, "vocab": {"a": 0, "##b": 1}}  # fmt: skip
    yield {
        "type": "Unigram",
        "unk_id": 0,
        "byte_fallback": False,
        "vocab": [["a", -1.5], ["b", -2]],
    }
    yield {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0, "b": 1}}


def paths(root: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    stack: list[tuple[tuple[Any, ...], Any]] = [((), root)]
    while stack:
        path, value = stack.pop()
        if path:
            found.append(path)
        if isinstance(value, (dict, list)):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            stack += [((*path, key), child) for key, child in items]
    return found


def edited(root: Any, path: tuple[Any, ...], *value: Any) -> bytes:
    """The file with a value replaced, or left out if there is none."""
    data = copy.deepcopy(root)
    parent = data
    for step in path[:-1]:
        parent = parent[step]
    if value:
        parent[path[-1]] = value[0]
    else:
        del parent[path[-1]]
    return json.dumps(data).encode()


def test_every_value_replaced_or_left_out() -> None:
    assert accepted(json.dumps(whole()).encode())
    for model in models():
        root = {**whole(), "model": model}
        # All of the file once, then each model.
        inside = paths(root) if model == whole()["model"] else paths({"model": model})
        for path in inside:
            accepted(edited(root, path))
            for intruder in INTRUDERS:
                accepted(edited(root, path, intruder))


def test_every_cut_and_some_broken_bytes() -> None:
    data = json.dumps(whole()).encode()
    assert not any(accepted(data[:end]) for end in range(len(data)))
    for at in range(0, len(data), 3):
        for byte in b'\x00"9{]\xff':
            accepted(data[:at] + bytes([byte]) + data[at + 1 :])


@pytest.mark.parametrize("section", ["normalizer", "pre_tokenizer", "decoder", "post_processor"])
def test_endless_sequences(section: str) -> None:
    name = {"post_processor": "processors", "pre_tokenizer": "pretokenizers"}.get(section)
    name = name or f"{section}s"
    for depth in (30, 200, 100_000):
        start = f'{{"type":"Sequence","{name}":['
        nested = start * depth + "]}" * depth
        data = f'{{"{section}":{nested},"model":{json.dumps(whole()["model"])}}}'
        assert accepted(data.encode()) == (depth == 30)


def test_huge_numbers_take_neither_time_nor_memory() -> None:
    start = time.perf_counter()
    root = whole()
    for vocab in ({"a": 2**32 - 1}, {"a": 2**31, "b": 0}):
        assert not accepted(edited(root, ("model", "vocab"), vocab))
    assert not accepted(edited(root, ("model", "dropout"), 10**3000))
    assert not accepted(b'{"model":{"type":"Unigram","vocab":[["a",1e999]]}}')
    assert time.perf_counter() - start < 5


def test_random_files_with_random_values_replaced() -> None:
    import random

    for seed in range(150):
        rng = random.Random(seed)
        root = json.loads(hf_generated.file(seed))
        if len(root["model"]["vocab"]) > 100:  # paths of the byte alphabet are all alike
            continue
        inside = paths(root)
        for _ in range(20):
            accepted(edited(root, rng.choice(inside), copy.deepcopy(rng.choice(INTRUDERS))))
