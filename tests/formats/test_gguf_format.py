"""GGUF files: expected ids beside real ones, files made by gguf-py, llama.cpp itself, and broken files.

llama.cpp is run where cyllama is installed, which carries it.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path

import jogak
from jogak import formats
from jogak.errors import FormatError, UnsupportedFeature
from jogak.formats import gguf as ours
from jogak.formats.bytelevel import ALPHABET
from jogak.formats.gguf_words import PRE
from jogak.formats.sentencepiece import read_model
from jogak.spec import AddedToken, Metaspace, ScoredBPEModel, TemplatePart

gguf = pytest.importorskip("gguf")
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def make(path: Path, keys: dict[str, Any], *, big: bool = False, model: bool = False) -> Path:
    """A file; with ``model`` one that llama.cpp runs."""
    order = gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE
    writer = gguf.GGUFWriter(str(path), "llama", endianess=order)
    for key, value in keys.items():
        if "." in key:
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


def peer(path: Path) -> Callable[[str], list[int]]:
    """llama.cpp's tokenizer of a file."""
    llama = pytest.importorskip("cyllama.llama.llama_cpp")
    llama.disable_logging()
    model = llama.LlamaModel(str(path), llama.LlamaModelParams(), verbose=False)
    vocab = model.get_vocab()

    def tokenize(text: str, _keep: object = model) -> list[int]:
        return list(vocab.tokenize(text, False, False))

    return tokenize


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


def expected(folder: str, name: str) -> list[tuple[str, list[int]]]:
    texts = model_path(folder, f"{name}.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")
    lines = model_path(folder, f"{name}.out").read_text().split("\n")[: len(texts)]
    return [(text, [*map(int, line.split())]) for text, line in zip(texts, lines, strict=True)]


def test_expected_ids_of_gpt2() -> None:
    path = model_path("gpt2", "gpt-2.gguf")
    tok = jogak.load(path)
    assert formats.detect(path) == "gguf"
    cases = expected("gpt2", "gpt-2.gguf")
    assert len(cases) > 40
    for text, ids in cases:
        assert tok.encode(text) == ids, text
    assert tok.decode(tok.encode("안녕 hi  ")) == "안녕 hi  "


def phi3(path: Path) -> Path:
    """A file with the tokenizer of Phi-3: scores and types as its converter writes them."""
    data = json.loads(model_path("phi-3-mini", "tokenizer.json").read_bytes())
    tokens = [""] * 32064
    for text, id_ in data["model"]["vocab"].items():
        tokens[id_] = text
    types = [NORMAL] * len(tokens)
    for token in data["added_tokens"]:
        tokens[token["id"]] = token["content"]
        types[token["id"]] = CONTROL
    for id_, text in enumerate(tokens):
        if not text:
            tokens[id_], types[id_] = f"[PAD{id_}]", UNUSED
    types[0] = UNKNOWN
    types[3:259] = [BYTE] * 256
    scores = [0.0 if id_ < 259 else float(259 - id_) for id_ in range(len(tokens))]
    for id_, text in enumerate(tokens):
        scores[id_] = -1e9 if set(text) == {"▁"} else scores[id_]
    keys = {"model": "llama", "tokens": tokens, "scores": scores, "token_type": types}
    return make(path, {"general.name": "Phi3", **keys}, model=True)


def test_expected_ids_of_phi3(tmp_path: Path) -> None:
    tok = jogak.load(phi3(tmp_path / "phi3.gguf"))
    cases = expected("phi-3-mini", "phi-3.gguf")
    assert len(cases) > 40
    for text, ids in cases:
        assert tok.encode(text) == ids, text


def odd_texts() -> list[str]:
    """Every character of some blocks in a few surroundings, and random texts of what is odd."""
    source = random.Random(1)
    blocks = (*range(0, 0x3000, 64), *range(0xA640, 0xAC40, 64), *range(0xF900, 0x11000, 64))
    texts = []
    for block in (*blocks, 0x1D7C0, 0x1F600, 0x2EBC0, 0x31340):
        characters = [chr(c) for c in range(block, block + 64) if c and not 0xD800 <= c < 0xE000]
        if characters:
            texts.append("".join(f"a{c}1{c}.{c} {c}\n{c}{c}'s" for c in characters))
    odd = [*" \n\t\r.,!-'sStTaAbBéßſК中あ가123４² \u3000\xa0\u0301😀_$+<=>^~|`/\\▁", "the", "ing"]
    texts += ["".join(source.choices(odd, k=source.randint(1, 30))) for _ in range(2000)]
    corpora = model_path("gpt2").parents[1] / "corpora"
    for file in sorted(corpora.rglob("*.txt")):
        with file.open(encoding="utf-8") as lines:
            texts += [text for text in lines.read(20_000).replace("\0", "").split("\n\n") if text]
    return texts


@pytest.mark.parametrize("pre", ["gpt-2", "llama-bpe", "qwen2", "starcoder", "default"])
def test_bytes_beside_llama_cpp(pre: str, tmp_path: Path) -> None:
    path = make(tmp_path / "x.gguf", {**gpt2(), "pre": pre}, model=True)
    theirs, tok = peer(path), jogak.load(path)
    for text in odd_texts():
        assert tok.encode(text) == theirs(text), text[:100]


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("name", ["mistral-v1/tokenizer.model", "spm-test/test_model.model"])
def test_scores_beside_llama_cpp(name: str, prefix: bool, tmp_path: Path) -> None:
    keys = {**sentencepiece(*name.split("/")), "add_space_prefix": prefix}
    if "<0x00>" not in keys["tokens"]:
        byte = [f"<0x{number:02X}>" for number in range(256)]
        keys["tokens"] = [*keys["tokens"], *byte]
        keys["scores"] = [*keys["scores"], *[0.0] * 256]
        keys["token_type"] = [*keys["token_type"], *[BYTE] * 256]
    path = make(tmp_path / "x.gguf", keys, model=True)
    theirs, tok = peer(path), jogak.load(path)
    for text in [*odd_texts(), "<s>", "</s>", "<unk>", "<0x41>", " ", "  a"]:
        assert tok.encode(text) == theirs(text), text[:100]


def t5(*parts: str) -> dict[str, Any]:
    """A Unigram model, its scores rounded so that the lowest less 10 is exact."""
    model = read_model(model_path(*parts))
    keys = sentencepiece(*parts)
    keys["scores"] = [round(score * 1024) / 1024 for score in keys["scores"]]
    types = keys["token_type"] = [CONTROL if t == USER else t for t in keys["token_type"]]
    keys |= {"model": "t5", "unknown_token_id": types.index(UNKNOWN), "eos_token_id": 1}
    keys |= {"add_space_prefix": True, "remove_extra_whitespaces": True}
    if model.normalizer.precompiled_charsmap:
        keys["precompiled_charsmap"] = model.normalizer.precompiled_charsmap
    return keys


def test_probabilities_beside_llama_cpp(tmp_path: Path) -> None:
    path = make(tmp_path / "x.gguf", t5("tta-ko-unigram", "tokenizer.model"), model=True)
    theirs, tok = peer(path), jogak.load(path)
    for text in [*odd_texts(), "ﬁ①＜é", "", " ", "  a  b  "]:
        assert tok.encode(text) == theirs(text), text[:100]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_user_defined_tokens_beside_llama_cpp(kind: str, tmp_path: Path) -> None:
    if 259 not in jogak.load(make(tmp_path / "s", small())).encode("a<user>"):
        pytest.skip("the core does not look for added tokens yet")
    keys = gpt2() if kind == "gpt2" else sentencepiece("mistral-v1", "tokenizer.model")
    more = {"<|a|>": USER, "<|b|>": CONTROL, "[INST]": USER, "\n\n": USER, "\n\n\n": USER}
    if kind == "llama":
        more["▁▁x"] = USER
        keys["scores"] = [*keys["scores"], *[0.0] * len(more)]
    keys = {**keys, "tokens": [*keys["tokens"], *more]}
    keys["token_type"] = [*keys["token_type"], *more.values()]
    path = make(tmp_path / "x.gguf", keys, model=True)
    theirs, tok = peer(path), jogak.load(path)
    source = random.Random(3)
    odd = [*more, *"\n ▁a<|b", "  x", "the", "</s>", "<s>", "<|endoftext|>"]
    for _ in range(3000):
        text = "".join(source.choices(odd, k=source.randint(1, 12)))
        assert tok.encode(text) == theirs(text), text


# --- small files --------------------------------------------------------------------------------


def small(**more: Any) -> dict[str, Any]:
    tokens = [*ALPHABET, "Ġt", "Ġth", "<end>", "<user>", "[PAD1]"]
    types = [*[NORMAL] * 258, CONTROL, USER, CONTROL]
    merges = ["Ġ t", "Ġt h", "Ġ t"]
    return {"model": "gpt2", "pre": "gpt-2", "tokens": tokens, "token_type": types,
            "merges": merges, "bos_token_id": 258, **more}  # fmt: skip


def without(keys: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if key not in names}


def test_a_small_file(tmp_path: Path) -> None:
    spec = ours.read(make(tmp_path / "x", small(add_bos_token=True)))
    assert spec.special_tokens == {"<end>": 258, "[PAD1]": 260}
    assert spec.added_tokens == (AddedToken("<user>"),)
    assert spec.special_policy == "text"
    assert spec.template.single == (TemplatePart((258,)), TemplatePart("A"))
    assert len(spec.model.merges or ()) == 2


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
    with pytest.raises(FormatError, match="version 1 of GGUF; this reader knows 2 and 3"):
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
        (small(model="bert"), UnsupportedFeature, "a BERT tokenizer: llama.cpp takes accents"),
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


def test_user_defined_tokens_of_t5(tmp_path: Path) -> None:
    keys = {"model": "t5", "tokens": ["<pad>", "</s>", "<unk>", "▁a", "<x>"]}
    types = [CONTROL, CONTROL, UNKNOWN, NORMAL]
    path = make(tmp_path / "x", {**keys, "token_type": [*types, USER], "scores": [-1.0] * 5})
    with pytest.raises(UnsupportedFeature, match="T5 tokenizer with the user-defined token '<x>'"):
        ours.read(path)
    path = make(tmp_path / "x", {**keys, "token_type": [*types, NORMAL], "scores": [-1.1] * 5})
    with pytest.raises(UnsupportedFeature, match="add_space_prefix without remove_extra"):
        ours.read(path)
