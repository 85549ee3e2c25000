"""BPE by scores: the core equals the reference."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import jogak
from jogak import reference
from jogak.reference.scored import merge_by_scores
from jogak.spec import Marker, ScoredBPEModel, Spec, resolve_pretokenizer

LETTERS = "ab▁한"


def tokenizer(
    scores: dict[str, float],
    user_defined: frozenset[str],
    fuse: bool,
    unused: frozenset[str] = frozenset(),
) -> jogak.Tokenizer:
    pieces = (*scores, "<unk>")
    model = ScoredBPEModel(
        pieces=pieces,
        merges=None,
        scores=(*scores.values(), 0.0),
        user_defined=tuple(pieces.index(text) for text in sorted(user_defined)),
        unused=tuple(pieces.index(text) for text in sorted(unused)),
        marker=Marker("prefix"),
        mark_words=False,
        unknown="<unk>",
        fuse_unknown=fuse,
    )
    return jogak.Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))


def expected(
    scores: dict[str, float],
    word: str,
    user: frozenset[str],
    fuse: bool,
    unused: frozenset[str] = frozenset(),
) -> list[str]:
    known = [text for text in scores if text not in unused]
    model = reference.Model((*known, "<unk>"), unk="<unk>", fuse_unknown=fuse)
    return model.with_unknowns(merge_by_scores(word, scores, user, unused))


@given(
    scores=st.dictionaries(
        st.text(LETTERS, min_size=2, max_size=5), st.integers(-4, 0).map(float), max_size=14
    ),
    known=st.frozensets(st.sampled_from(LETTERS)),
    picks=st.lists(st.integers(0, 20), max_size=2),
    out=st.frozensets(st.integers(0, 20), max_size=9),
    text=st.text(LETTERS + "z", max_size=40),
    fuse=st.booleans(),
)
@example(
    scores={"▁▁": -1.0, "▁▁▁": -1.0},
    known=frozenset("▁a"),
    picks=[],
    out=frozenset(),
    text="▁" * 9,
    fuse=True,
)
@example(scores={"ab": -1.0}, known=frozenset(), picks=[], out=frozenset(), text="zabab", fuse=True)
def test_merging_by_scores(
    scores: dict[str, float],
    known: frozenset[str],
    picks: list[int],
    out: frozenset[int],
    text: str,
    fuse: bool,
) -> None:
    """Ids, remembered or not, and tokens; equal scores among them, characters that are no pieces, and
    unused pieces.
    """
    scores = {**dict.fromkeys(sorted(known), 0.0), **scores}
    user = frozenset(text for i, text in enumerate(scores) if i in picks)
    unused = frozenset(text for i, text in enumerate(scores) if i in out) - user
    tok = tokenizer(scores, user, fuse, unused)
    want = expected(scores, text, user, fuse, unused)
    assert tok.tokens(text) == want
    for _ in range(2):
        assert tok.encode(text) == [tok.id(token) for token in want]
        assert tok.encoding(text).ids.tolist() == [*tok.explain(text).ids] == tok.encode(text)


def test_no_dropout_is_the_plain_way_and_full_dropout_the_letters() -> None:
    tok = tokenizer({"a": 0.0, "b": 0.0, "ab": -1.0}, frozenset(), fuse=True)
    assert tok.tokens("abab") == ["ab", "ab"]
    assert tok.tokens("abab", dropout=1.0, seed=1) == list("abab")


@pytest.mark.parametrize("text", ["a" * 500_000, "ab▁" * 200_000, "한z" * 100_000])
def test_long_texts_are_quick(text: str) -> None:
    import time

    scores = {"a": 0.0, "b": 0.0, "한": 0.0, "▁": 0.0, "aa": -1.0, "aaaa": -2.0, "ab": -3.0}
    tok = tokenizer(scores, frozenset(), fuse=True)
    begun = time.perf_counter()
    tok.encode_array(text)
    assert time.perf_counter() - begun < 5.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scores": (0.0,)}, "one for each"),
        ({"scores": (0.0, float("inf"))}, "finite"),
        ({"user_defined": (9,)}, "ids of pieces"),
        ({"merges": ()}, "merges"),
        ({"strategy": "longest-match"}, "strategy"),
    ],
)
def test_impossible_models_are_refused(fields: dict[str, object], message: str) -> None:
    options = {"pieces": ("a", "b"), "scores": (0.0, 0.0), "merges": None, **fields}
    with pytest.raises(jogak.ConfigError, match=message):
        ScoredBPEModel(**options)  # type: ignore[arg-type]  # options by name


def test_characters_of_all_lengths_within_korean() -> None:
    # What is asked for with spans goes character by character, what is not, 64 bytes at a time.
    singles = [*map(chr, range(0x20, 0x7F)), *map(chr, range(0x400, 0x1000)), *"한국어나라가다밥▁"]
    pairs = ["▁한", "▁▁", "가나", "..", "lo", "▁a", "▁\u0800", "한\u0801", "a국"]
    scores = {text: -float(rank) for rank, text in enumerate(dict.fromkeys([*pairs, *singles]))}
    tok = tokenizer(scores, frozenset(), fuse=False)
    spaced = resolve_pretokenizer(jogak.Metaspace(split=False))
    tok = jogak.Tokenizer(dataclasses.replace(tok.spec, pretokenizer=spaced))
    points = [*range(1, 0xD800), *range(0xE000, 0x1_1000), *range(0x1_1000, 0x11_0000, 37)]
    korean = "한국어 나라 가나다 밥."
    texts = [f"{korean}{chr(point)}한 {chr(point)}" for point in points]
    texts += [
        f"{korean * 4}{chr(point)}{korean[:length]}{chr(point)}"
        for point in (0x41, 0xE9, 0x7E7, 0x800, 0xFFFF, 0x1_0000, 0x2_0000, 0x10_FFFF)
        for length in range(70)
    ]
    for _ in range(2):
        found = tok.encode_batch(texts)
        spans = tok.encoding_batch(texts)
        for text, ids, expected in zip(texts, found, spans, strict=True):
            assert ids.tolist() == expected.ids.tolist(), text
