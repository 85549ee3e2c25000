"""Large batches: texts of many sizes on several threads, which encode some while others are read."""

from __future__ import annotations

from typing import Any

import pytest

import jogak

TEXTS = ["the lowest newest", "", "계란 간장 밥 😀", "wider\n\tlower"] * 3


@pytest.fixture(scope="module")
def tok() -> jogak.Tokenizer:
    """Byte-level, with a special token."""
    counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "계란밥": 3, "간장계란밥": 2}
    return jogak.train(counts, jogak.BPE(vocab_size=280), special_tokens=["<|end|>"])


def large_batch(numbers: int = 2000) -> list[str]:
    """New objects, which Python has not yet made UTF-8 of, of quite different sizes."""
    return [
        f"{text} {number} " * (1 + number % 7 * 5) for number in range(numbers) for text in TEXTS
    ]


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
def test_texts_are_encoded_while_others_are_read(tok: jogak.Tokenizer, threads: int) -> None:
    """Large batches on threads have the ids of their texts, lists of parts between them or not."""
    expected = [tok.encode(text) for text in large_batch()]
    assert tok.encode_batch(large_batch(), num_threads=threads).to_lists() == expected
    mixed: list[Any] = list(large_batch())
    for number in range(0, len(mixed), 1001):
        mixed[number] = ["low ", jogak.Trusted("<|end|>"), mixed[number]]
        expected[number] = tok.encode(mixed[number])
    assert tok.encode_batch(mixed, num_threads=threads).to_lists() == expected


class Odd(str):
    """A text that says nonsense about itself."""

    def __len__(self) -> int:
        if self.startswith("low"):
            raise RuntimeError
        return 1 << 62


def test_texts_that_lie_about_their_length(tok: jogak.Tokenizer) -> None:
    texts = large_batch(400)
    odd = tok.encode_batch([Odd(text) for text in texts], num_threads=3)
    assert odd == tok.encode_batch(texts, num_threads=1)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("number", [0, 7000, -1])
def test_first_wrong_text_is_told(tok: jogak.Tokenizer, threads: int, number: int) -> None:
    """What is wrong with a text of a large batch is told with its number, and leaves nothing behind."""
    texts = large_batch()
    wrong = range(len(texts))[number]
    for broken, error, told in (
        ("\ud800", jogak.EncodeError, f"text {wrong} has a surrogate"),
        ("a <|end|>", jogak.SpecialTokenError, f"text {wrong} of the batch"),
    ):
        several = [*texts[:wrong], broken, *texts[wrong + 1 :], broken]
        with pytest.raises(error, match=told):
            tok.encode_batch(several, num_threads=threads, special="error")
    assert tok.encode_batch(texts, num_threads=threads)[wrong].tolist() == tok.encode(texts[wrong])
