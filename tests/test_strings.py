"""Strings on their way in: which way one is read is never seen in its ids."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak

# The least and the greatest number of characters of a string that is copied, not asked for its UTF-8.
FROM, TO = 1 << 8, 1 << 18


@cache
def of_bytes() -> jogak.Tokenizer:
    """A tokenizer without merges: a byte, an id."""
    return jogak.train({"low": 1}, jogak.BPE(marker="byte-level", num_merges=0))


@cache
def id_of_byte() -> dict[int, int]:
    """Which id stands for which byte."""
    tok = of_bytes()
    return {tok.decode_bytes([id_])[0]: id_ for id_ in range(len(tok))}


def ids_of(text: str) -> list[int]:
    """What the ids of a text must be."""
    return [id_of_byte()[byte] for byte in text.encode()]


CHARACTERS = st.sampled_from("aé \n조각Я字\0\u2028\uffff\U0001f9e9\U0010ffff")


@st.composite
def strings(draw: Any) -> str:
    """Short, about as long as is copied, and longer; of one kind of characters or of many."""
    part = draw(st.text(CHARACTERS, min_size=1, max_size=30))
    length = draw(st.sampled_from([1, FROM - 1, FROM, FROM + 1, 700, 5_000]))
    end: str = draw(st.text(max_size=9))
    return (part * (length // len(part) + 1))[:length] + end


@given(st.lists(strings(), max_size=6), st.integers(1, 3))
def test_every_string_has_the_ids_of_its_bytes(texts: list[str], threads: int) -> None:
    expected = [ids_of(text) for text in texts]
    # New ones, and again: a string that comes a second time goes another way.
    for _ in range(3):
        batch = of_bytes().encode_batch(texts, num_threads=threads)
        assert [part.tolist() for part in batch] == expected
    for text, ids in zip(texts, expected, strict=True):
        again = text + "?"
        for _ in range(2):
            assert of_bytes().encode(again) == [*ids, *ids_of("?")]
        assert of_bytes().encoding(text).ids.tolist() == ids


@pytest.mark.parametrize("length", [TO - 1, TO, TO + 1, 3 * TO])
def test_long_strings(length: int) -> None:
    texts = ["조" * length, "각 piece" * 1_000, "é" * length]
    for threads in (1, 2):
        fresh = [text + "." for text in texts]
        batch = of_bytes().encode_batch(fresh, num_threads=threads)
        assert [part.tolist() for part in batch] == [ids_of(text) for text in fresh]


def test_a_string_that_is_read_once_does_not_grow() -> None:
    texts = ["조각" * length for length in (4_321, 12_345)]
    before = [sys.getsizeof(text) for text in texts]
    of_bytes().encode_batch(texts)
    assert [sys.getsizeof(text) for text in texts] == before


class Odd(str):
    """A string that says odd things of itself."""

    __slots__ = ()

    def __len__(self) -> int:
        return 300

    def isascii(self) -> bool:
        return True

    def __getitem__(self, key: object) -> str:
        raise KeyError(key)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_inherits_from_str_is_what_it_holds(threads: int) -> None:
    texts: list[str] = [Odd("조각" * 500), Odd(""), Odd("조" * 300)]
    batch = of_bytes().encode_batch(texts, num_threads=threads)
    assert [part.tolist() for part in batch] == [ids_of(str.__str__(text)) for text in texts]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("at", [0, 299, 600])
def test_the_first_string_with_a_surrogate_is_told(threads: int, at: int) -> None:
    bad = "조" * at + "\udc00" + "각" * (600 - at)
    good = ["low" * 20_000, "조각" * 9_000] * 5
    for _ in range(2):
        with pytest.raises(jogak.EncodeError, match=r"^text 10 has a surrogate code point"):
            of_bytes().encode_batch([*good, bad, "\udc00"], num_threads=threads)
        with pytest.raises(jogak.EncodeError, match=r"^text 1 has a surrogate"):
            of_bytes().encode_batch(["low", "\udc00", bad, *good], num_threads=threads)
        with pytest.raises(jogak.EncodeError, match=r"^the text has a surrogate"):
            of_bytes().encode(bad)


def test_what_is_no_text_is_told_before_what_cannot_be_encoded() -> None:
    tok = jogak.train({"low": 1}, jogak.BPE(num_merges=0), special_tokens=["<s>"])
    for _ in range(2):
        with pytest.raises(jogak.EncodeError, match="text 1 has a surrogate"):
            tok.encode_batch(["<s>" + "조" * 400, "각" * 400 + "\udc00"], special="error")


EASTERN = "가나다라마바사아자차카타파하一二三四五六七八あいうえお"


@cache
def of_characters() -> list[jogak.Tokenizer]:
    """Models whose words are texts, and most characters of East Asia pieces."""
    corpus = [
        EASTERN + "é\0",
        "조각 조각모음",
        "low lower the 조각 a  b",
        "조각 low 조각 ▁▁ 一二 一二",
    ]

    def trained(by_scores: bool, byte_fallback: bool, **spaces: Any) -> jogak.Tokenizer:
        config = jogak.BPE(
            marker="prefix",
            by_scores=by_scores,
            byte_fallback=byte_fallback,
            vocab_size=330 if byte_fallback else 64,
            split_by_whitespace=False,
            fuse_unknown=not byte_fallback,
            treat_whitespace_as_suffix=spaces.get("suffix", False),
        )
        metaspace = jogak.Metaspace(split=False, **spaces)
        return jogak.train(corpus, config, special_tokens=["<s>"], pretokenizer=metaspace)

    return [
        trained(by_scores=True, byte_fallback=True),
        trained(by_scores=True, byte_fallback=False, only_missing=True),
        trained(by_scores=True, byte_fallback=True, prepend="never"),
        trained(by_scores=False, byte_fallback=True, suffix=True),
        trained(by_scores=True, byte_fallback=True, escape=False),
    ]


class Utf8(str):
    """A string that is read as UTF-8, as it might say anything of its characters."""

    __slots__ = ()


@st.composite
def eastern_strings(draw: Any) -> str:
    """Mostly of East Asia, about as long as is copied, or longer, with whatever else there may be."""
    others = st.text(CHARACTERS, max_size=3) | st.sampled_from(
        [" ", "▁", "low", "<s>", "<", " 조각"]
    )
    part = "".join(
        draw(st.lists(st.text(EASTERN, min_size=1, max_size=9) | others, min_size=1, max_size=20))
    )
    length = draw(st.sampled_from([FROM - 1, FROM, FROM + 1, 319, 320, 321, 700, 5_000]))
    begin: str = draw(st.sampled_from(["", " ", "▁", "조각"]))
    end: str = draw(st.text(CHARACTERS, max_size=2))
    return begin + ((part or "가") * (length // max(len(part), 1) + 1))[: length - len(begin)] + end


@given(
    st.lists(eastern_strings(), max_size=5),
    st.integers(0, 4),
    st.integers(1, 3),
    st.sampled_from(["text", "parse"]),
)
def test_strings_that_stay_code_points_have_the_ids_of_their_bytes(
    texts: list[str], which: int, threads: int, special: Literal["text", "parse"]
) -> None:
    # A new one: what others have seen may send strings the other way.
    tok = jogak.Tokenizer(of_characters()[which].spec)
    expected = [tok.encode(Utf8(text), special=special) for text in texts]
    for _ in range(3):
        batch = tok.encode_batch(texts, special=special, num_threads=threads)
        assert batch.to_lists() == expected
        assert [tok.encode(text, special=special) for text in texts] == expected


def test_strings_that_stay_code_points_are_seldom_anything_else() -> None:
    """Python keeps the UTF-8 that it is asked for: without it, strings do not grow."""
    # New ones, that have not seen other texts.
    new = of_characters.__wrapped__()
    for tok, stays in zip(new, [True, True, True, False, False], strict=True):
        texts = [EASTERN * length + "." for length in (10, 37, 38, 60)]
        before = [sys.getsizeof(text) for text in texts]
        for _ in range(4):
            tok.encode_batch(texts)
            tok.encode_array(texts[0])
        assert ([sys.getsizeof(text) for text in texts] == before) == stays


@pytest.mark.parametrize("at", [0, 64, 299, 600])
def test_a_surrogate_among_code_points_is_told(at: int) -> None:
    bad = EASTERN[0] * at + "\ud800" + EASTERN[1] * (600 - at)
    for tok in of_characters():
        for _ in range(2):
            with pytest.raises(jogak.EncodeError, match=r"^text 1 has a surrogate code point"):
                tok.encode_batch([EASTERN * 40, bad])
            with pytest.raises(jogak.EncodeError, match=r"^the text has a surrogate code point"):
                tok.encode(bad)


def test_what_is_not_covered_is_told_of_code_points() -> None:
    config = jogak.BPE(
        marker="prefix", by_scores=True, vocab_size=40, unknown=None, split_by_whitespace=False
    )
    metaspace = jogak.Metaspace(split=False)
    tok = jogak.train([EASTERN, "조각 조각"], config, pretokenizer=metaspace)
    text = EASTERN * 20
    assert tok.encode(text) == tok.encode(Utf8(text))
    for bad in (text + "\U0001f9e9", "ж" + text, text + "ж" + text):
        with pytest.raises(jogak.EncodeError) as expected:
            tok.encode(Utf8(bad))
        with pytest.raises(jogak.EncodeError) as found:
            tok.encode(bad)
        assert str(found.value) == str(expected.value)
        for _ in range(2):
            with pytest.raises(jogak.EncodeError, match=r"^text 1 of the batch"):
                tok.encode_batch([text, bad])


def test_any_text_may_be_refused_among_code_points() -> None:
    for tok in of_characters():
        for _ in range(2):
            with pytest.raises(jogak.EncodeError, match=r'"나다" at character 1;'):
                tok.encode(EASTERN * 20, disallowed_special={"나다"})
        assert tok.encode(EASTERN * 20, disallowed_special={"나라"}) == tok.encode(
            Utf8(EASTERN * 20)
        )


@pytest.mark.parametrize("special", ["parse", "error"])
def test_tokens_are_found_in_what_would_stay_code_points(
    special: Literal["parse", "error"],
) -> None:
    text = EASTERN * 30 + "<s>" + EASTERN * 30
    tok = of_characters()[0]
    if special == "error":
        with pytest.raises(jogak.EncodeError, match=r'text 1 .*"<s>" at character 810'):
            tok.encode_batch([EASTERN * 40, text], special=special)
    else:
        ids = tok.encode_batch([EASTERN * 40, text], special=special)[1].tolist()
        assert ids.count(tok.encode("<s>", special="parse")[0]) == 1


@pytest.mark.parametrize(
    "model",
    [
        "mistral-v1/tokenizer.model",
        "mistral-v1/tokenizer.json",
        "phi-3-mini/tokenizer.json",
        "kortok-sp-32k/tok.model",
    ],
)
def test_real_models_read_strings_as_their_bytes(data: Callable[[str], Path], model: str) -> None:
    tok = jogak.load(data(f"models/{model}"))
    for corpus in ["ko_nsmc", "zh_poetry", "cppdocs_ja", "tf_zh-cn", "en_docs"]:
        text = data(f"corpora/{corpus}.txt").read_text("utf-8")[:300_000]
        texts = [text[at : at + 1_500] for at in range(0, len(text), 1_500)]
        expected = [tok.encode(Utf8(text)) for text in texts]
        for threads in (1, 2, 1):
            assert [tok.encode(text) for text in texts] == expected
            assert tok.encode_batch(texts, num_threads=threads).to_lists() == expected
