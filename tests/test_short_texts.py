"""Short texts of a batch, which are encoded many at a time: each has the ids that it has by itself."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak.spec import AddedToken

CORPUS = [
    "the lowest newest, widest lower; low! and the rest isn't in the list...\n",
    "계란간장볶음밥 간장계란밥!! 계란밥... 가각간\r\n",
    "def name(self, x):  # as above\n    return [0] * 1234\n\n\t\t\n",
    " \u3000 \u00a0\u2003 日本日本 ア。。。 /path/to//a/ 'tis 'LL e\u0301\u0301 \x00\x1f \u2028",
]
SCHEMES = ["gpt2", "cl100k", "o200k", "llama-3", "qwen2", "tekken"]
SPECIAL = ["<pad>", "\n<s>", "<s>"]
#: What stands at the ends of texts, and what could join it at the beginning of the next.
PIECES = [
    *("\n", "\n", "\r", "\r\n", " ", "  ", "\t", "\x0b", "\x85", "\u2028", "\u3000"),
    *("!", "...", "/", "'", "'s", "'LL", "low", "Low", "lowest", "the", "a", "e\u0301", "\u0301"),
    *("계란", "간장밥", "가", "日本", "ア。", "1", "1234", "\x00", "😀"),
    # What the longest match cuts otherwise.
    *("pathe", "가간장밥", "    "),
    *("<pad>", "<pa", "d>", "<s", "_x_", "_x", "__", "{}", "x" * 600),
]


@pytest.fixture(scope="module", params=SCHEMES)
def tok(request: pytest.FixtureRequest) -> jogak.Tokenizer:
    """Byte-level, with tokens to be found: one of them lies across the ends of texts."""
    config = jogak.BPE(min_pair_count=1, num_merges=300)
    scheme = request.param
    spec = jogak.train(iter(CORPUS * 2), config, pretokenizer=scheme, special_tokens=SPECIAL).spec
    found = (AddedToken("_x_", single_word=True), AddedToken("{}", lstrip=True, rstrip=True))
    extra = tuple(token.text for token in found)
    model = dataclasses.replace(spec.model, pieces=(*spec.model.pieces, *extra))
    return jogak.Tokenizer(dataclasses.replace(spec, model=model, added_tokens=found))


@given(
    texts=st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=40),
    threads=st.integers(1, 3),
)
def test_ids_are_those_of_each_text(tok: jogak.Tokenizer, texts: list[str], threads: int) -> None:
    for special in ("text", "parse"):
        expected = [tok.encode(text, special=special) for text in texts]
        found = tok.encode_batch(texts, special=special, num_threads=threads)
        assert found.to_lists() == expected


@given(lines=st.lists(st.lists(st.sampled_from(PIECES), max_size=6), max_size=20))
def test_what_is_asked_for_is_done(tok: jogak.Tokenizer, lines: list[list[str]]) -> None:
    """Another strategy, words drawn from a seed, and texts of which parts are trusted."""
    texts = ["".join(pieces) for pieces in lines]
    for strategy in ("longest-match", "longest-first", "merges"):
        expected = [tok.encode(text, strategy=strategy) for text in texts]
        assert tok.encode_batch(texts, strategy=strategy).to_lists() == expected
    one_by_one = [tok.encode_batch([text], dropout=1.0).to_lists()[0] for text in texts]
    assert tok.encode_batch(texts, dropout=1.0).to_lists() == one_by_one
    parts: list[Any] = [[*pieces, jogak.Trusted("<pad>")] for pieces in lines]
    mixed = [text for both in zip(texts, parts, texts, strict=True) for text in both]
    assert tok.encode_batch(mixed).to_lists() == [tok.encode(text) for text in mixed]


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_lines_of_files(tok: jogak.Tokenizer, tmp_path: Path, ending: str) -> None:
    lines = [line.rstrip() + ending for text in CORPUS for line in text.splitlines()] * 300
    expected = [tok.encode(line) for line in lines]
    assert tok.encode_batch(lines).to_lists() == expected
    path = tmp_path / "lines.txt"
    path.write_text("".join(line.rstrip("\r\n") + (ending or "\n") for line in lines), newline="")
    newline = "keep" if ending else "drop"
    batches = tok.encode_files(path, newline=newline)
    assert [ids for batch in batches for ids in batch.to_lists()] == expected


@pytest.mark.parametrize("before", [0, 1, 5, 500])
def test_the_text_that_fails_is_told(before: int) -> None:
    """Texts before and behind it are encoded together with it."""
    words = {"low": 3, "lower": 2}
    config = jogak.BPE(num_merges=4, marker="none", unknown=None)
    tok = jogak.train(words, config, pretokenizer="gpt2", special_tokens=["<s>"])
    texts = ["low", "lower"] * before
    assert tok.encode_batch(texts).to_lists() == [tok.encode(text) for text in texts]
    told = f"text {2 * before} of the batch"
    with pytest.raises(jogak.EncodeError, match=told):
        tok.encode_batch([*texts, "lo밥", "low", "밥"])
    with pytest.raises(jogak.SpecialTokenError, match=told):
        tok.encode_batch([*texts, "lo<s>", "low", "<s>"], special="error")
