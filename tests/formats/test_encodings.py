"""Published encodings by name: patterns and special tokens beside tiktoken, on all kinds of text."""

from __future__ import annotations

import base64
import functools
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak.formats import patterns
from jogak.formats.encodings import ENCODINGS, encoding

tiktoken = pytest.importorskip("tiktoken")
CL100K = "cl100k_base/cl100k_base.tiktoken"
PATTERNS = {name: getattr(patterns, name) for name in patterns.__all__ if name.isupper()}
PATTERNS |= {
    spelling[:20]: spelling for spelling in patterns._SCHEMES if spelling not in PATTERNS.values()
}


@functools.cache
def ranks(file: str) -> dict[bytes, int]:
    rows = [line.split() for line in model_path(file).read_bytes().splitlines() if line]
    return {base64.b64decode(piece): int(rank) for piece, rank in rows}


@functools.cache
def pair(spelling: str) -> tuple[jogak.Tokenizer, Any]:
    """A pattern over the pieces of cl100k, here and in tiktoken."""
    tok = jogak.load(model_path(CL100K), pattern=spelling, special_tokens={})
    peer = tiktoken.Encoding(
        "x", pat_str=spelling, mergeable_ranks=ranks(CL100K), special_tokens={}
    )
    return tok, peer


@pytest.mark.parametrize("name", ENCODINGS)
def test_tiktokens_own_encodings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = pytest.importorskip("tiktoken_ext.openai_public")
    for load in ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"):
        monkeypatch.setattr(peer, load, lambda *_args, **_options: {})
    if not hasattr(peer, name):
        pytest.skip(f"{name} is not one of tiktoken's own")
    theirs, ours = getattr(peer, name)(), encoding(name)
    assert ours.pattern == theirs["pat_str"]
    # Of two texts with one id the one is kept that decoding writes.
    second = {"<|reserved_200018|>"} & set(theirs["special_tokens"])
    assert set(theirs["special_tokens"]) - second == set(ours.special_tokens)
    assert ours.special_tokens.items() <= theirs["special_tokens"].items()


@pytest.mark.parametrize(
    ("name", "size", "some"),
    [
        ("llama-3", 256, {"<|eot_id|>": 128009, "<|reserved_special_token_250|>": 128255}),
        ("llama-3.1", 256, {"<|python_tag|>": 128010, "<|reserved_special_token_245|>": 128255}),
        (
            "llama-4",
            2048,
            {
                "<|header_start|>": 200005,
                "<|text_post_train_reserved_special_token_68|>": 200079,
                "<|image_start|>": 200080,
                "<|vision_reserved_special_token_1047|>": 201133,
                "<|reasoning_reserved_special_token_0|>": 201134,
                "<|reasoning_thinking_end|>": 201143,
            },
        ),
        ("qwen", 208, {"<|endoftext|>": 151643, "<|extra_204|>": 151850}),
        ("kimi-k2", 256, {"<|reserved_token_163589|>": 163589, "<|im_middle|>": 163601}),
    ],
)
def test_numbers_of_special_tokens(name: str, size: int, some: dict[str, int]) -> None:
    special = encoding(name).special_tokens
    ids = sorted(special.values())
    assert ids == list(range(ids[0], ids[0] + size))
    assert some.items() <= special.items()


@pytest.mark.parametrize(
    ("name", "file", "renamed"),
    [
        ("whisper", "whisper-tiny.tokenizer.json", {"<|nocaptions|>": "<|nospeech|>"}),
        ("whisper-large-v3", "whisper-large-v3.tokenizer.json", {}),
    ],
)
def test_whispers_special_tokens(name: str, file: str, renamed: dict[str, str]) -> None:
    data = json.loads(model_path("whisper", file).read_bytes())
    theirs = {renamed.get(t["content"], t["content"]): t["id"] for t in data["added_tokens"]}
    assert encoding(name).special_tokens == theirs
    assert encoding("whisper-en").special_tokens["<|endoftext|>"] == 50256


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("gpt2/gpt2.tiktoken", "gpt2"),
        ("r50k_p50k/r50k_base.tiktoken", "r50k_base"),
        ("r50k_p50k/p50k_base.tiktoken", "p50k_base"),
        ("r50k_p50k/p50k_base.tiktoken", "p50k_edit"),
        ("cl100k_base/cl100k_base.tiktoken", "cl100k_base"),
        ("whisper/multilingual.tiktoken", "whisper"),
        ("whisper/gpt2.tiktoken", "whisper-en"),
    ],
)
def test_ids_with_special_tokens(file: str, name: str) -> None:
    """Text with special tokens in it, where the call says that they are meant."""
    tok, known = jogak.load(model_path(file), scheme=name), encoding(name)
    peer = tiktoken.Encoding(
        name,
        pat_str=known.pattern,
        mergeable_ranks=ranks(file),
        special_tokens=dict(known.special_tokens),
    )
    text = "".join(f"a {special} 가나 12345\n\n" for special in known.special_tokens)
    ids = peer.encode(text, allowed_special="all")
    assert tok.encode(text, special="parse") == ids
    assert tok.decode(ids) == text
    assert tok.encode(text, special="text") == peer.encode(text, disallowed_special=())


CORPORA = [
    *("en_docs", "ko_nsmc", "code", "zh_poetry", "react_tf_ko", "tf_zh-cn"),
    *("cppdocs_ja", "cppdocs_ko", "cppdocs_ru", "cppdocs_zh-cn"),
    *("small/utf8_sequence_0x10ffff", "small/wagahaiwa_nekodearu", "small/wikitext2_valid"),
]


@pytest.mark.parametrize("spelling", PATTERNS.values(), ids=[*PATTERNS])
@pytest.mark.parametrize("name", CORPORA)
def test_patterns_on_corpora(name: str, spelling: str) -> None:
    path = Path(model_path(CL100K)).parents[2] / "corpora" / f"{name}.txt"
    with path.open(encoding="utf-8") as file:
        text = file.read(300_000)
    tok, peer = pair(spelling)
    assert tok.encode(text) == peer.encode_ordinary(text)


def test_schemes_find_the_same_words_as_their_spellings() -> None:
    """Words, not ids: pieces of neighbours may be the same however they are cut."""
    regex = pytest.importorskip("regex")
    odd = [*"'sS1\n \t\xa0.!aB中é", "'re", "  ", "\r\n"]
    source = random.Random(5)
    texts = ["".join(source.choices(odd, k=source.randint(1, 7))) for _ in range(3000)]
    for spelling, names in patterns._SCHEMES.items():
        compiled = regex.compile(spelling)
        for text in texts:
            words = dict(jogak.count(iter([text]), pretokenizer=names).items())
            assert words == Counter(compiled.findall(text)), (names, text)


CHARACTERS = st.one_of(
    st.sampled_from("'’sStTrReEvVmMlLdDſKaAǅʰª中ー々́0¼٣ \t\r\n\x0b\x85\u2028\u3000/-.!😀\x00"),
    st.characters(exclude_categories=["Cs"]),
)


@pytest.mark.parametrize("spelling", PATTERNS.values(), ids=[*PATTERNS])
@given(text=st.text(CHARACTERS))
def test_patterns_on_odd_text(spelling: str, text: str) -> None:
    tok, peer = pair(spelling)
    assert tok.encode(text) == peer.encode_ordinary(text)
