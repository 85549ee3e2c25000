"""GGUF files: small ones made by gguf-py, what is refused, and broken files."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path
from typing import Any

import pytest
from gguf_making import BYTE, CONTROL, NORMAL, UNKNOWN, USER, make, small, without

import jogak
from jogak import formats
from jogak.errors import FormatError, UnsupportedFeature
from jogak.formats import gguf as ours
from jogak.formats.gguf_words import PRE
from jogak.spec import AddedToken, LlamaBert, Metaspace, ScoredBPEModel, TemplatePart


def test_a_small_file(tmp_path: Path) -> None:
    spec = ours.read(make(tmp_path / "x", small(add_bos_token=True)))
    assert spec.special_tokens == {"<end>": 258, "[PAD1]": 260}
    assert spec.added_tokens == (AddedToken("<user>"),)
    assert spec.special_policy == "text"
    assert spec.template.single == (TemplatePart((258,)), TemplatePart("A"))
    assert len(spec.model.merges or ()) == 2


def test_a_byte_that_no_text_has_may_lack(tmp_path: Path) -> None:
    tokens = small()["tokens"]
    tokens[0xFF] = "xyz"
    text = "\xff the é가"
    tok = jogak.Tokenizer(ours.read(make(tmp_path / "x", small(tokens=tokens))))
    assert tok.encode(text) == jogak.Tokenizer(ours.read(make(tmp_path / "y", small()))).encode(
        text
    )


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("version", [2, 3])
def test_versions_and_byte_orders(tmp_path: Path, version: int, big: bool) -> None:
    path = make(tmp_path / "x", small(), big=big)
    data = bytearray(path.read_bytes())
    data[4:8] = struct.pack(">I" if big else "<I", version)
    path.write_bytes(data)
    assert ours.read(path) == ours.read(make(tmp_path / "y", small()))
    data[4:8] = struct.pack(">I" if big else "<I", 1)
    path.write_bytes(data)
    with pytest.raises(FormatError, match="version 1 of GGUF; expected 2 or 3: convert it anew"):
        ours.read(path)


def test_texts_that_llama_cpp_takes_for_control_tokens(tmp_path: Path) -> None:
    tokens = [*small()["tokens"], "<|im_end|>", "<fim_prefix>", "<|start|>"]
    types = [*small()["token_type"], USER, USER, CONTROL]
    spec = ours.read(make(tmp_path / "x", small(tokens=tokens, token_type=types)))
    assert [*spec.special_tokens] == ["<end>", "[PAD1]", "<|im_end|>", "<fim_prefix>"]
    assert [token.text for token in spec.added_tokens] == ["<user>", "<|start|>"]


def test_tokens_that_merging_makes(tmp_path: Path) -> None:
    byte = [f"<0x{number:02X}>" for number in range(256)]
    tokens = ["<unk>", "<s>", "</s>", *byte, *"▁<s>", "<s", "ab", "a", "b"]
    types = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * 8]
    scores = [0.0] * len(tokens)
    keys = {"model": "llama", "tokens": tokens, "scores": scores, "token_type": types}
    spec = ours.read(make(tmp_path / "x", keys))
    assert isinstance(spec.model, ScoredBPEModel)
    assert spec.added_tokens == (AddedToken("<s>", in_model=True),)
    assert spec.pretokenizer == (Metaspace(prepend="always", split=False),)
    assert spec.template.single == (TemplatePart((1,)), TemplatePart("A"))
    with pytest.raises(
        UnsupportedFeature, match=r"token 'ab' has the character 'a', which is none"
    ):
        ours.read(make(tmp_path / "x", {**keys, "tokens": [*tokens[:-2], "x", "y"]}))
    with pytest.raises(UnsupportedFeature, match="the token <0x07> is not there"):
        ours.read(make(tmp_path / "x", {**keys, "tokens": [*tokens[:10], "z", *tokens[11:]]}))


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        (small(model="rwkv"), UnsupportedFeature, "a tokenizer of kind 'rwkv'; this version"),
        (small(model="none"), FormatError, "has no tokenizer"),
        (small(model=7), FormatError, "tokenizer.ggml.model is u32; expected text"),
        (small(pre="new"), UnsupportedFeature, r"words of the kind 'new' \(tokenizer.ggml.pre\)"),
        (small(tokens=["a", "a"]), FormatError, r"tokens\[1\] is 'a', as is token 0"),
        (small(token_type=[1, 2]), FormatError, "has 2 values for 261 tokens"),
        (small(merges=["Ġ t", "ab"]), FormatError, r"merges\[1\] is 'ab'; expected two texts"),
        (small(merges=["Ġ x"]), UnsupportedFeature, "and 'Ġx' is no token"),
        (without(small(), "merges"), FormatError, "merges is not there"),
        (without(small(), "tokens"), FormatError, "tokens is not there or empty"),
        (
            small(tokens=["x" * 3, *small()["tokens"][1:]]),
            UnsupportedFeature,
            "the byte 'Ā' is no token",
        ),
        (small(add_eos_token=True, tokens=small()["tokens"][:-2], token_type=[1] * 259), None, ""),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, keys: Any, error: Any, message: str) -> None:
    path = make(tmp_path / "x", keys)
    if error is None:
        assert ours.read(path).template.single[-1] == TemplatePart((11,))
        return
    with pytest.raises(error, match=message):
        ours.read(path)


def test_user_defined_tokens_that_overlap(tmp_path: Path) -> None:
    for texts, fine in ((("ab", "bc"), False), (("aba", "xy"), False), (("\n\n", "\n\n\n"), True)):
        tokens = [*small()["tokens"], *texts]
        types = [*small()["token_type"], USER, USER]
        path = make(tmp_path / "x", small(tokens=tokens, token_type=types))
        if fine:
            assert len(ours.read(path).added_tokens) == 3
            continue
        with pytest.raises(UnsupportedFeature, match="user-defined tokens overlap"):
            ours.read(path)


def test_nothing_is_written(tmp_path: Path) -> None:
    spec = ours.read(make(tmp_path / "x", small()))
    with pytest.raises(UnsupportedFeature, match="GGUF files are read, not written"):
        formats.write(tmp_path / "y", spec, format="gguf")


def test_every_named_scheme_compiles() -> None:
    for stages in {id(stages): stages for stages in PRE.values()}.values():
        assert jogak.count(iter(["ab 12"]), pretokenizer=stages)


def test_the_parts_of_bert(tmp_path: Path) -> None:
    keys = {
        "model": "bert",
        "tokens": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁a", "b"],
        "unknown_token_id": 1,
    }
    keys |= {"bos_token_id": 2, "seperator_token_id": 3}
    spec = ours.read(make(tmp_path / "x", keys))
    assert spec.normalizer == (LlamaBert(),)
    tok = jogak.Tokenizer(spec)
    assert tok.encode("ÁB c ab가") == [4, 5, 1, 1]
    assert [*tok.encoding("a", "ab").ids] == [2, 4, 3, 4, 5, 3]
    with pytest.raises(FormatError, match="seperator_token_id is not there; expected the id"):
        ours.read(make(tmp_path / "x", without(keys, "seperator_token_id")))


# --- hostile files ------------------------------------------------------------------------------


def test_every_truncation(tmp_path: Path) -> None:
    path = make(tmp_path / "x", small())
    data = path.read_bytes()
    end = data.rindex(b"bos_token_id") + len(b"bos_token_id") + 8
    for size in range(end):
        path.write_bytes(data[:size])
        with pytest.raises(FormatError, match=r"byte \d+"):
            ours.read(path)
    # Tensors are never looked at.
    path.write_bytes(data[:end] + b"\xff" * 100)
    assert ours.read(path)


def test_bytes_replaced(tmp_path: Path) -> None:
    path = make(tmp_path / "x", small())
    data = path.read_bytes()
    for at, byte in itertools.product(range(0, len(data), 3), b"\x00\x09\x7f\xff"):
        path.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
        try:
            ours.read(path)
        except FormatError as error:
            assert error.file == str(path)
        except UnsupportedFeature:
            continue


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (struct.pack("<IIQ", 9, 8, 2**60), "says 1152921504606846976 texts"),
        (struct.pack("<IIQ", 9, 4, 2**60), "of 4611686018427387904 bytes, but"),
        (struct.pack("<IIQ", 9, 9, 1), "is an array of kind 9; expected numbers or texts"),
        (struct.pack("<IQ", 8, 2**63), "of 9223372036854775808 bytes"),
        (struct.pack("<I", 13), "is of kind 13; expected 0 to 12"),
        (struct.pack("<IB", 7, 2), "a flag that is neither 0 nor 1"),
        (struct.pack("<IQ", 8, 2) + b"\xff\xff", "is not UTF-8"),
    ],
)
@pytest.mark.parametrize("key", [b"tokenizer.ggml.tokens", b"other"])
def test_lengths_and_kinds(tmp_path: Path, key: bytes, entry: bytes, message: str) -> None:
    path = tmp_path / "x"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63)
    path.write_bytes(head + struct.pack("<Q", len(key)) + key + entry)
    if key == b"other" and entry[-2:] == b"\xff\xff":
        message = "the file|but 0 are left"  # nobody reads it
    with pytest.raises(FormatError, match=message):
        ours.read(path)


def test_a_key_that_stands_twice(tmp_path: Path) -> None:
    path = tmp_path / "x"
    entry = struct.pack("<Q", 1) + b"k" + struct.pack("<II", 4, 1)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + entry * 2)
    with pytest.raises(FormatError, match="the key 'k' stands twice"):
        ours.read(path)


def test_what_is_refused_of_t5(tmp_path: Path) -> None:
    keys = {"model": "t5", "tokens": ["<pad>", "</s>", "<unk>", "▁a", "<é>"], "scores": [-1.1] * 5}
    types = [CONTROL, CONTROL, UNKNOWN, NORMAL]
    map_ = {"precompiled_charsmap": jogak.compile_rules({"é": "e"}).data}
    for more, last, message in (
        (map_, USER, "the user-defined token '<é>': llama.cpp cuts characters in two"),
        ({"add_space_prefix": True}, NORMAL, "add_space_prefix without remove_extra"),
        ({"unknown_token_id": 3}, NORMAL, "the unknown token '▁a' is found in text, too"),
        ({"token_type": [CONTROL] * 4 + [UNKNOWN]}, 0, "without a plain token"),
    ):
        path = make(tmp_path / "x", {**keys, "token_type": [*types, last], **more})
        with pytest.raises(UnsupportedFeature, match=message):
            ours.read(path)
    spec = ours.read(make(tmp_path / "x", {**keys, "token_type": [*types, NORMAL]}))
    assert spec.model.unknown_score == struct.unpack("<f", struct.pack("<f", -11.1))[0]
    formats.write(tmp_path / "y.json", spec, format="jogak")
    assert formats.read(tmp_path / "y.json").spec == spec
