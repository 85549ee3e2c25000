"""Encoding beside other libraries, with real vocabularies on real text: the same ids.

Each test is skipped where its peer is not installed, or where the data is absent.
"""

from __future__ import annotations

import base64
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from strategies import MARKERS, texts

import jogak

Data = Callable[[str], Path]
CORPORA = [
    *("en_docs", "ko_nsmc", "code", "zh_poetry", "react_tf_ko", "tf_zh-cn"),
    *("cppdocs_ja", "cppdocs_ko", "cppdocs_ru", "cppdocs_zh-cn"),
    *("small/utf8_sequence_0x10ffff", "small/wagahaiwa_nekodearu", "small/wikitext2_valid"),
]
#: name -> (rank file, scheme, the encoding in tiktoken whose pattern is taken)
RANKS = {
    "r50k": ("r50k_p50k/r50k_base.tiktoken", "gpt2", "r50k_base"),
    "p50k": ("r50k_p50k/p50k_base.tiktoken", "gpt2", "p50k_base"),
    "cl100k": ("cl100k_base/cl100k_base.tiktoken", "cl100k", "cl100k_base"),
    # The pattern of o200k over the pieces of cl100k.
    "o200k": ("cl100k_base/cl100k_base.tiktoken", "o200k", "o200k_base"),
}


def piece_of(path: Path, size: int, start: int = 0) -> str:
    """Some of a file, in whole lines."""
    with path.open("rb") as file:
        file.seek(start)
        if start:
            file.readline()
        text = file.read(size)
    return text[: text.rfind(b"\n") + 1].decode()


def pattern(name: str) -> str:
    """The pattern of an encoding, read out of tiktoken."""
    public = pytest.importorskip("tiktoken_ext.openai_public")
    load, public.load_tiktoken_bpe = public.load_tiktoken_bpe, lambda *_args, **_options: {}
    try:
        found: str = getattr(public, name)()["pat_str"]
    finally:
        public.load_tiktoken_bpe = load
    return found


Pair = tuple[jogak.Tokenizer, Any]


@pytest.fixture(scope="module", params=RANKS)
def ranked(request: pytest.FixtureRequest, data: Data) -> Pair:
    """A rank file opened here, and the same in tiktoken."""
    tiktoken = pytest.importorskip("tiktoken")
    file, scheme, name = RANKS[request.param]
    path = data(f"models/{file}")
    rows = [line.split() for line in path.read_bytes().splitlines() if line]
    ranks = {base64.b64decode(piece): int(rank) for piece, rank in rows}
    peer = tiktoken.Encoding(
        request.param, pat_str=pattern(name), mergeable_ranks=ranks, special_tokens={}
    )
    return jogak.load(path, pretokenizer=scheme), peer


@pytest.mark.parametrize("name", CORPORA)
def test_ids_equal_tiktoken(name: str, ranked: Pair, data: Data) -> None:
    """A megabyte of every corpus, as one text and line by line."""
    tok, peer = ranked
    text = piece_of(data(f"corpora/{name}.txt"), 1_000_000)
    ids = peer.encode_ordinary(text)
    assert tok.encode(text) == ids
    assert tok.count(text) == len(ids)
    assert tok.decode(ids) == text
    lines = text.splitlines(keepends=True)[:500]
    assert tok.encode_batch(lines).to_lists() == [peer.encode_ordinary(line) for line in lines]


@given(text=texts())
def test_odd_texts_equal_tiktoken(ranked: Pair, text: str) -> None:
    """Texts that nobody would write."""
    tok, peer = ranked
    assert tok.encode(text) == peer.encode_ordinary(text)


def worst_cases() -> dict[str, str]:
    """Texts that cost more than a tokenizer would like."""
    source = random.Random(20)
    million = 1_000_000
    return {
        "one letter": "a" * million,
        "two letters": "ab" * (million // 2),
        "random letters": "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=million)),
        "combining marks": "e" + "\u0301" * 100_000,
        "spaces": " " * million,
        "newlines": "\n" * million,
        "spaces before a letter": " " * 20_000 + "x",
        "random white space": "".join(source.choices(" \n\t\u3000", k=200_000)),
        "digits": "".join(source.choices("0123456789", k=million)),
        "random CJK": "".join(chr(source.randrange(0x4E00, 0x9FFF)) for _ in range(300_000)),
        "Hangul without spaces": "".join(
            chr(source.randrange(0xAC00, 0xD7A4)) for _ in range(300_000)
        ),
        "punctuation": "=-" * 300_000,
        "emoji": "😀" * 100_000,
    }


WORST = worst_cases()


@pytest.mark.parametrize("case", WORST)
def test_worst_cases_equal_tiktoken(case: str, ranked: Pair) -> None:
    """They end, and the ids are right."""
    tok, peer = ranked
    text = WORST[case]
    assert tok.decode(tok.encode(text)) == text
    if case == "spaces":
        text = text[:20_000]  # tiktoken's regular expressions run out of stack on more
    assert tok.encode(text) == peer.encode_ordinary(text)


# --- HF


@pytest.fixture(scope="module", params=["gpt2", "roberta-base"])
def classic(request: pytest.FixtureRequest, data: Data, tmp_path_factory: Any) -> Pair:
    """vocab.json and merges.txt, opened here and in HF."""
    hf = pytest.importorskip("tokenizers")
    names = {"gpt2": ("encoder.json", "vocab.bpe"), "roberta-base": ("vocab.json", "merges.txt")}
    folder = tmp_path_factory.mktemp(request.param)
    for name, plain in zip(names[request.param], ("vocab.json", "merges.txt"), strict=True):
        shutil.copy(data(f"models/{request.param}/{name}"), folder / plain)
    # Without the added tokens of tokenizer.json, which HF always finds in text.
    files = (str(folder / "vocab.json"), str(folder / "merges.txt"))
    peer = hf.Tokenizer(hf.models.BPE.from_file(*files))
    peer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    return jogak.load(folder, pretokenizer="gpt2", marker="byte-level"), peer


@pytest.mark.parametrize("name", CORPORA)
def test_ids_equal_hf(name: str, classic: Pair, data: Data) -> None:
    """Half a megabyte of every corpus."""
    tok, peer = classic
    text = piece_of(data(f"corpora/{name}.txt"), 500_000, start=0 if "small" in name else 1_000_000)
    assert tok.encode(text) == peer.encode(text).ids
    assert tok.decode(tok.encode(text)) == text


@given(text=texts())
def test_odd_texts_equal_hf(classic: Pair, text: str) -> None:
    """Texts that nobody would write."""
    tok, peer = classic
    assert tok.encode(text) == peer.encode(text).ids


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_unknowns_equal_hf(fuse: bool, fallback: bool, whole: bool) -> None:
    """Unknown characters one by one, fused, or as bytes; words taken whole or merged."""
    hf = pytest.importorskip("tokenizers")
    pieces = ("<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "a", "b", "ab", "bab", "abc")
    merges = ((257, 258), (258, 259))
    model = jogak.BPEModel(
        pieces=pieces,
        merges=merges,
        byte_fallback=fallback,
        unknown="<unk>",
        fuse_unknown=fuse,
        whole_word=whole,
    )
    tok = jogak.Tokenizer(
        jogak.Spec(
            model=model, pretokenizer=(jogak.Named("whitespace"),), special_tokens={"<unk>": 0}
        )
    )
    peer = hf.Tokenizer(
        hf.models.BPE(
            {piece: place for place, piece in enumerate(pieces)},
            [(pieces[left], pieces[right]) for left, right in merges],
            unk_token="<unk>",
            fuse_unk=fuse,
            byte_fallback=fallback,
            ignore_merges=whole,
        )
    )
    peer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()

    @given(text=texts())
    def equal(text: str) -> None:
        for some in (text, f"abab babab xya 가나a나가 bab abc b x {text}"):
            assert tok.encode(some) == peer.encode(some).ids

    equal()


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize(
    "marker", [m for m in MARKERS if m.symbol == "joined" or m.kind == "none"], ids=str
)
def test_markers_equal_hf(marker: jogak.Marker, fuse: bool, data: Data) -> None:
    """Glued suffixes and continuation marks, with letters that were never seen; dropout 0 as well."""
    hf = pytest.importorskip("tokenizers")
    lines = piece_of(data("corpora/en_docs.txt"), 200_000).splitlines()
    config = jogak.BPE(marker=marker, num_merges=800, alphabet_size=45, fuse_unknown=fuse)
    tok = jogak.train(iter(lines), config)
    option = {"suffix": "end_of_word_suffix", "continuation": "continuing_subword_prefix"}
    extra = {option[marker.kind]: marker.text} if marker.kind in option else {}
    peer = hf.Tokenizer(
        hf.models.BPE(
            dict(tok.vocab),
            list(tok.merges),
            unk_token="<unk>",
            fuse_unk=fuse,
            dropout=0.0,
            **extra,
        )
    )
    peer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
    for name in ("code", "ko_nsmc", "en_docs"):
        text = piece_of(data(f"corpora/{name}.txt"), 100_000, start=3_000_000)
        ids = tok.encode(text)
        assert tok.id("<unk>") in ids
        assert ids == peer.encode(text).ids == tok.encode(text, dropout=0.0)


def test_full_dropout_equals_hf(data: Data) -> None:
    """Dropout 1 leaves HF, too, with the single bytes."""
    hf = pytest.importorskip("tokenizers")
    text = piece_of(data("corpora/ko_nsmc.txt"), 20_000)
    tok = jogak.train(iter([text]), jogak.BPE(num_merges=100), pretokenizer="gpt2")
    peer = hf.Tokenizer(hf.models.BPE(dict(tok.vocab), list(tok.merges), dropout=1.0))
    peer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert tok.encode(text, dropout=1.0) == peer.encode(text).ids
