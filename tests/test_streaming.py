"""Streams of tokenizers that were trained here: joined, they are what `decode` gives."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from strategies import MARKERS, falls_back

import jogak
from jogak.spec import Jamo, Metaspace, Prepend

WORDS = {
    "low": 5, "lower": 2, "newest": 6, "widest": 3, "계란밥": 4, "간장계란밥": 3, "계란": 2, "é😀": 2,
    "ㅋㅋㅋ": 2, "밥ㅋ": 1, "값이": 2, "\x10ㅏ": 1, "\x10\x10ㄱ": 1,
}  # fmt: skip
TEXT = " ".join(word for word, count in WORDS.items() for _ in range(count))
SPECIALS = ["<s>", "<unk>"]


@cache
def kinds() -> dict[str, jogak.Tokenizer]:
    """A tokenizer for every way back."""
    found = {}

    def add(name: str, corpus: Any, config: Any, **options: Any) -> None:
        found[name] = jogak.train(corpus, config, special_tokens=SPECIALS, **options)

    for marker in MARKERS:
        for fallback in (False, True)[: 1 + falls_back(marker)]:
            limit = 9 if fallback else None
            config = jogak.BPE(marker=marker, byte_fallback=fallback, alphabet_size=limit)
            name = f"{marker.kind} {marker.text} {marker.symbol} {fallback}"
            add(name, WORDS, config, pretokenizer="whitespace")
    prefix = jogak.BPE(marker="prefix", byte_fallback=True, alphabet_size=12)
    for prepend in ("always", "first", "never"):
        for suffix in (False, True):
            stage = Metaspace(prepend=prepend, suffix=suffix)
            config = dataclasses.replace(prefix, treat_whitespace_as_suffix=suffix)
            add(f"metaspace {prepend} {suffix}", [TEXT], config, pretokenizer=stage)
    for form in ("conjoining", "compatibility"):
        for rules in ([Jamo(form)], [Jamo(form), Prepend("xㄱ")]):
            add(f"{form} {len(rules)}", [TEXT], jogak.BPE(), normalizer=rules)
            add(f"{form} {len(rules)} ▁", [TEXT], prefix, normalizer=rules)
    add("prepend", [TEXT], jogak.BPE(num_merges=20), normalizer=[Prepend("low")])
    add("wordpiece", WORDS, jogak.WordPiece())
    add("unigram", [TEXT], jogak.Unigram(vocab_size=36))
    return found


def streamed(tok: jogak.Tokenizer, ids: Sequence[int], sizes: Sequence[int], skip: bool) -> str:
    """The text of a stream that gets the ids in lists of these sizes."""
    stream = tok.decoder(skip_special_tokens=skip)
    out, at = "", 0
    for size in (*sizes, len(ids)):
        out += stream.push(ids[at : at + size])
        at += size
    return out + stream.finish()


@pytest.mark.parametrize("name", kinds())
def test_streams_are_decode(name: str) -> None:
    """Random ids and those of texts, in parts of any size."""
    tok = kinds()[name]
    source = random.Random(name)
    known = [id_ for id_, text in enumerate(tok.spec.model.pieces) if text is not None]
    some = known[:12]
    lists = [
        source.choices(source.choice([known, some]), k=source.randint(0, 60)) for _ in range(99)
    ]
    lists += [tok.encode(" ".join(source.choices(list(WORDS), k=30))) for _ in range(20)]
    for ids in lists:
        for skip in (False, True):
            expected = tok.decode(ids, skip_special_tokens=skip)
            assert expected == tok.decode_bytes(ids, skip_special_tokens=skip).decode(
                errors="replace"
            )
            assert streamed(tok, ids, [source.randint(0, 4) for _ in ids], skip) == expected
            assert streamed(tok, ids, [1] * len(ids), skip) == expected
    assert tok.decode_batch(lists, num_threads=2) == [tok.decode(ids) for ids in lists]


@pytest.mark.parametrize("name", kinds())
def test_little_is_held_back(name: str) -> None:
    """However long a text gets: what has not come out yet is a few characters at its end."""
    tok = kinds()[name]
    text = "low 계란밥값이ㅋㅋㅋ lower" * 200
    ids = [id_ for id_ in tok.encode(text) if id_ not in tok.spec.special_tokens.values()]
    stream = tok.decoder()
    out = 0
    for place, id_ in enumerate(ids):
        out += len(stream.push(id_))
        if place % 500 == 499:
            assert len(tok.decode(ids[: place + 1])) - out < 40
    assert len(stream.finish()) < 40
