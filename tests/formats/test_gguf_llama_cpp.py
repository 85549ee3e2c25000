"""GGUF files beside llama.cpp: every kind of tokenizer and of words, on every character.

llama.cpp is run where xllamacpp is installed, which carries it; some expected ids are files.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import json
import random
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path
from gguf_making import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER, gpt2, make, sentencepiece

import jogak
from jogak import formats
from jogak.errors import UnsupportedFeature
from jogak.formats import gguf as ours
from jogak.formats.gguf_words import PRE
from jogak.formats.sentencepiece import read_model


class _Params(ctypes.Structure):
    """llama.cpp's parameters of a model, which are smaller, as it fills them in."""

    _fields_ = (("bytes", ctypes.c_char * 1024),)


@functools.cache
def llama() -> Any:
    """llama.cpp, as the wheel of xllamacpp has it (made and tested with 2026.10.11549)."""
    spec = importlib.util.find_spec("xllamacpp")
    found = [*Path(str(spec.origin)).parent.glob("xllamacpp*.so")] if spec and spec.origin else []
    if not found:
        pytest.skip("xllamacpp, which has llama.cpp, is not installed")
    library = ctypes.CDLL(str(found[0]))
    library.llama_model_default_params.restype = _Params
    library.llama_model_load_from_file.argtypes = (ctypes.c_char_p, _Params)
    library.llama_model_load_from_file.restype = ctypes.c_void_p
    library.llama_model_get_vocab.argtypes = (ctypes.c_void_p,)
    library.llama_model_get_vocab.restype = ctypes.c_void_p
    library.llama_model_free.argtypes = (ctypes.c_void_p,)
    library.llama_model_free.restype = None
    library.llama_tokenize.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p,
                                       ctypes.c_int32, ctypes.c_bool, ctypes.c_bool)  # fmt: skip
    library.silent = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(
        lambda *_: None
    )
    library.llama_log_set(library.silent, None)
    library.llama_backend_init()
    return library


def peer(path: Path, *, special: bool = False) -> Callable[[str], list[int]]:
    """llama.cpp's tokenizer of a file."""
    library = llama()
    params = library.llama_model_default_params()
    model = library.llama_model_load_from_file(str(path).encode(), params)
    assert model, "llama.cpp does not load this file"
    vocab = library.llama_model_get_vocab(model)

    def tokenize(text: str) -> list[int]:
        data = text.encode()
        room = 4 * len(data) + 16
        ids = (ctypes.c_int32 * room)()
        count = library.llama_tokenize(vocab, data, len(data), ids, room, False, special)
        assert count >= 0
        return list(ids[:count])

    weakref.finalize(tokenize, library.llama_model_free, model)
    return tokenize


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


@functools.cache
def odd_texts() -> tuple[str, ...]:
    """Every character of some blocks in a few surroundings, random texts of what is odd, and corpora.

    llama.cpp compiles its expressions anew for every text, which takes longer than the text: so corpora
    come whole, and their first paragraphs by themselves too, as texts have borders.
    """
    source = random.Random(1)
    blocks = (*range(0, 0x3000, 64), *range(0xA640, 0xAC40, 64), *range(0xF900, 0x11000, 64))
    texts = []
    for block in (*blocks, 0x1D7C0, 0x1F600, 0x2EBC0, 0x31340):
        characters = [chr(c) for c in range(block, block + 64) if c and not 0xD800 <= c < 0xE000]
        if characters:
            texts.append("".join(f"a{c}1{c}.{c} {c}\n{c}{c}'s" for c in characters))
    odd = [*" \n\t\r.,!-'sStTaAbBéßſК中あ가123４² \u3000\xa0\u0301😀_$+<=>^~|`/\\▁", "the", "ing"]
    odd += [
        *"ㄱ각々Å…。，、।·‘※￥ⅣǅʰªΩ\u1680\u1c80\u1c89𐐀\ufa6e\u200d\ue000\u0378\U00016d68\U0002ebf0",
        "'LL",
    ]
    odd += ["IMGIMGABZ", "<sentinel:1>", "12345", "1234567", "    "]
    texts += ["".join(source.choices(odd, k=source.randint(1, 30))) for _ in range(2000)]
    corpora = model_path("gpt2").parents[1] / "corpora"
    for file in sorted(corpora.rglob("*.txt")):
        with file.open(encoding="utf-8") as lines:
            text = lines.read(20_000).replace("\0", "")
        texts += filter(None, [text, *text.split("\n\n")[:10]])
    return tuple(texts)


@functools.cache
def every_character() -> tuple[str, ...]:
    """All of them in a few surroundings, 64 in a text."""
    texts = []
    for block in range(0, 0x110000, 64):
        characters = [chr(c) for c in range(block, block + 64) if not 0xD800 <= c < 0xE000]
        texts.append("".join(f"a{c}b {c} {c}{c}" for c in characters))
    return tuple(texts)


#: One name for each way to cut.
WAYS = [next(name for name in PRE if PRE[name] == way) for way in dict.fromkeys(PRE.values())]


@pytest.mark.parametrize("pre", WAYS)
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
    """A Unigram model; its user-defined pieces stay."""
    model = read_model(model_path(*parts))
    keys = sentencepiece(*parts)
    unknown = keys["token_type"].index(UNKNOWN)
    keys |= {"model": "t5", "unknown_token_id": unknown, "eos_token_id": 1}
    if model.normalizer.precompiled_charsmap:
        keys["precompiled_charsmap"] = model.normalizer.precompiled_charsmap
    return keys


@pytest.mark.parametrize("merges", [True, False])
@pytest.mark.parametrize("name", ["tta-ko-unigram/tokenizer.model", "nai-t5/spiece.model"])
def test_probabilities_beside_llama_cpp(name: str, merges: bool, tmp_path: Path) -> None:
    keys = t5(*name.split("/"))
    keys |= {"add_space_prefix": merges, "remove_extra_whitespaces": merges}
    more = [
        text for text in ("<extra_id_0>", "[INST]", "e", "ab c", "==") if text not in keys["tokens"]
    ]
    keys["tokens"] = [*keys["tokens"], *more]
    keys["scores"] = [*keys["scores"], *[-3.0] * len(more)]
    keys["token_type"] = [*keys["token_type"], *[USER] * len(more)]
    path = make(tmp_path / "x.gguf", keys, model=True)
    theirs, tok = peer(path), jogak.load(path)
    source = random.Random(8)
    odd = [
        *more,
        *" \u0301\u0338<=e[IaＩ①＜ＥéÉ▁\n\u3000\0가💥",
        "<extra_id_",
        "  ",
        "<e",
        "＜extra_id_0＞",
    ]
    odd += ["＝＝", "the", "</s>", "<s>", "<unk>"]
    texts = ["".join(source.choices(odd, k=source.randint(1, 14))) for _ in range(5000)]
    for text in [*odd_texts(), *texts, "ﬁ①＜é", "", " ", "  a  b  ", "a▁"]:
        assert tok.encode(text) == theirs(text), text[:100]


def bert(*parts: str) -> dict[str, Any]:
    """A vocabulary as llama.cpp's converter writes it: ▁ before words, nothing within."""
    lines = dict.fromkeys(model_path(*parts).read_text("utf-8").splitlines())
    tokens: list[str] = []
    types: list[int] = []
    for line in filter(None, lines):
        special = line[0] == "[" and line[-1] == "]" and len(line) > 2
        token = line if special else line[2:] if line.startswith("##") else "▁" + line
        tokens.append(f"[{len(tokens)}]" if token in tokens[-1:] else token)
        types.append(CONTROL if special else NORMAL)
    seen: set[str] = set()
    for id_, token in enumerate(tokens):
        tokens[id_] = f"[{id_}]" if token in seen or not token else token
        seen.add(tokens[id_])
    roles = {"unknown": "[UNK]", "bos": "[CLS]", "seperator": "[SEP]"}
    ids = {f"{role}_token_id": tokens.index(text) for role, text in roles.items()}
    return {"model": "bert", "tokens": tokens, "token_type": types, **ids}


@pytest.mark.parametrize("way", ["plain", "cased", "accents", "no accents"])
@pytest.mark.parametrize("name", ["bert-base-uncased", "bert-base-chinese"])
def test_wordpiece_beside_llama_cpp(name: str, way: str, tmp_path: Path) -> None:
    flags = {
        "plain": {},
        "cased": {"normalizer.lowercase": False},
        "accents": {"normalizer.lowercase": True, "normalizer.strip_accents": False},
        "no accents": {"normalizer.lowercase": False, "normalizer.strip_accents": True},
    }[way]
    more = {"<user>": USER, "unseen": CONTROL, "▁": NORMAL}
    keys = bert(name, "vocab.txt")
    keys["tokens"], types = [*keys["tokens"], *more], [*keys["token_type"], *more.values()]
    path = make(tmp_path / "x.gguf", {**keys, "token_type": types, **flags}, model=True)
    theirs, tok = peer(path), jogak.load(path)
    for text in every_character():
        assert tok.encode(text) == theirs(text), hex(ord(text[1]))
    for text in [
        *odd_texts(),
        "[CLS]a [MASK]b",
        "a<user>b",
        "unseen",
        "x" * 300,
        "가각É▁a ▁ ▁the",
        "a\0b",
    ]:
        assert tok.encode(text) == theirs(text), text[:100]


def test_white_space_beside_tokens(tmp_path: Path) -> None:
    llama_ = {**sentencepiece("mistral-v1", "tokenizer.model"), "general.name": "Phi-3 mini"}
    bpe = {**gpt2(), "pre": "jina-v2-code"}
    for keys, more in (
        (llama_, {"<|endoftext|>": CONTROL, "<|user|>": USER, "<|end|>": CONTROL}),
        (bpe, {"<mask>": CONTROL, "<x>": USER}),
    ):
        keys["tokens"] = [*keys["tokens"], *more]
        keys["token_type"] = [*keys["token_type"], *more.values()]
        if "scores" in keys:
            keys["scores"] = [*keys["scores"], *[0.0] * len(more)]
        path = make(tmp_path / "x.gguf", keys, model=True)
        assert any(token.ascii_spaces for token in jogak.load(path).spec.added_tokens)
        theirs, tok = (peer(path), peer(path, special=True)), jogak.load(path)
        source = random.Random(4)
        odd = [*more, *" \n\t\v\f\r\x1c\x85\xa0\u3000a", "  "]
        for _ in range(2000):
            text = "".join(source.choices(odd, k=source.randint(1, 12)))
            assert tok.encode(text) == theirs[0](text), text
            assert tok.encode(text, special="parse") == theirs[1](text), text
        keys["tokens"][-1] += " "
        with pytest.raises(UnsupportedFeature, match=r"llama\.cpp takes the longest token first"):
            ours.read(make(tmp_path / "y.gguf", keys))


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_user_defined_tokens_beside_llama_cpp(kind: str, tmp_path: Path) -> None:
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
