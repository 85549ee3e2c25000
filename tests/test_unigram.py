"""Unigram: the core equals the reference and what can be worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import jogak
from jogak.reference.random import SplitMix64
from jogak.reference.unigram import Unigram as Twin
from jogak.spec import Marker, Spec, UnigramModel, resolve_pretokenizer

LETTERS = "ab▁한🐑"
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
#: Sums of few of these are exact, in 32 bits too.
EXACT = st.integers(-160, 0).map(lambda quarters: quarters / 4)
#: Any logarithm of a probability, and now and then a positive number.
ANY = st.floats(-30.0, 2.0, width=32)


@st.composite
def twins(draw: st.DrawFn, scores: st.SearchStrategy[float] = ANY, **fixed: Any) -> Twin:
    """A small model over few letters, so that some are unknown."""
    texts = st.text(LETTERS, min_size=1, max_size=4)
    pieces = draw(st.dictionaries(texts, scores, min_size=1, max_size=12))
    user = draw(st.frozensets(st.sampled_from(sorted(pieces)), max_size=2))
    options = {
        "user_defined": user,
        "byte_fallback": draw(st.booleans()),
        "unk": draw(st.sampled_from(["<unk>", None])),
        "fuse_unknown": draw(st.booleans()),
        "precision": draw(st.sampled_from(["double", "single"])),
        "given_unknown_score": draw(st.none() | scores),
    }
    return Twin(pieces, **{**options, **fixed})


def tokenizer(twin: Twin, pretokenizer: str = "none") -> jogak.Tokenizer:
    """The core's model of a twin."""
    pieces = [*twin.scores]
    extra = [] if twin.unk is None else [twin.unk]
    extra += BYTES if twin.byte_fallback else ()
    model = UnigramModel(
        pieces=(*pieces, *extra),
        scores=(*twin.scores.values(), *[0.0] * len(extra)),
        user_defined=tuple(pieces.index(text) for text in sorted(twin.user_defined)),
        byte_fallback=twin.byte_fallback,
        unknown=twin.unk,
        fuse_unknown=twin.fuse_unknown,
        precision=twin.precision,
        unknown_score=twin.given_unknown_score,
        marker=Marker("none"),
    )
    return jogak.Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer(pretokenizer)))


def has_ids(twin: Twin) -> bool:
    return twin.byte_fallback or twin.unk is not None


WORDS = st.text(LETTERS + "z", max_size=14)


@given(twin=twins(), word=WORDS)
@example(Twin({"a": -1.0, "aa": -2.0}), "aaaaa")
@example(Twin({"▁": -1.0, "▁▁": -2.0}, precision="single"), "▁▁▁")
def test_best_way(twin: Twin, word: str) -> None:
    """Tokens and ids are the reference's, and the traced encoding's."""
    tok = tokenizer(twin)
    expected = twin.tokens(word)
    assert tok.tokens(word) == expected
    if not has_ids(twin):
        return
    ids = [tok.id(token) for token in expected]
    assert tok.encode(word) == ids
    assert [id_ for trace in tok.explain(word).words for id_ in trace.ids] == ids


@given(twin=twins(unk="<unk>"), words=st.lists(WORDS, min_size=1, max_size=12))
def test_what_is_remembered_changes_nothing(twin: Twin, words: list[str]) -> None:
    """The same parts come again and again, behind other parts, in one text and in the next."""
    tok = tokenizer(twin)
    texts = ["▁".join(words), "▁".join(reversed(words)), *words]
    expected = [[tok.id(token) for token in twin.tokens(text)] for text in texts]
    assert [tok.encode(text) for text in texts] == expected
    assert tok.encode_batch(texts * 2, num_threads=2).to_lists() == expected * 2


@given(twin=twins(unk="<unk>", byte_fallback=False), repeats=st.integers(1000, 3000))
def test_long_texts_start_sums_over(twin: Twin, repeats: int) -> None:
    """SentencePiece's sums of 32 bits start over beyond 100,000."""
    tok = tokenizer(twin)
    text = "▁ab▁baz▁한a▁zz" * repeats
    assert tok.tokens(text) == twin.tokens(text)
    assert tok.encode(text) == [tok.id(token) for token in twin.tokens(text)]


@given(twin=twins(EXACT), word=st.text(LETTERS + "z", max_size=8), n=st.integers(1, 40))
def test_n_best(twin: Twin, word: str, n: int) -> None:
    """The ways, their scores and their order."""
    if not has_ids(twin) or (twin.user_defined and twin.precision == "double"):
        return
    tok = tokenizer(twin)
    expected = [
        (score, [tok.id(token) for token in twin.written(word, path)])
        for score, path in twin.n_best(word, n)
    ]
    assert tok.nbest(word, n) == expected


@given(twin=twins(unk="<unk>"), word=st.text(LETTERS + "z", min_size=1, max_size=8))
def test_scores(twin: Twin, word: str) -> None:
    """Every way has its score, and all ways together are the text."""
    tok = tokenizer(twin)
    near = {"rel_tol": 1e-9, "abs_tol": 1e-9}
    for path in twin.all_paths(word):
        ids = [tok.id(token) for token in twin.written(word, path)]
        assert math.isclose(tok.score(word, ids).way, twin.score(path), **near)
    whole = tok.score(word)
    assert math.isclose(whole.text, twin.marginal(word), **near)
    total = math.log(math.fsum(math.exp(twin.score(path)) for path in twin.all_paths(word)))
    assert math.isclose(whole.text, total, **near)
    for alpha in (0.0, 0.3, 1.0):
        entropy = tok.score(word, alpha=alpha).entropy
        assert math.isclose(entropy, twin.entropy(word, alpha), rel_tol=1e-7, abs_tol=1e-7)


@given(
    twin=twins(unk="<unk>"),
    word=WORDS,
    alpha=st.sampled_from([0.0, 0.1, 0.5, 1.0, 20.0]),
    seed=st.integers(0, 2**64 - 1),
)
def test_drawing(twin: Twin, word: str, alpha: float, seed: int) -> None:
    """The same numbers draw the same way."""
    tok = tokenizer(twin)
    expected = twin.written(word, twin.sample(word, alpha, SplitMix64(seed)))
    assert tok.tokens(word, alpha=alpha, seed=seed) == expected
    assert tok.encode(word, alpha=alpha, seed=seed) == [tok.id(token) for token in expected]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_ways_are_drawn_as_often_as_they_should_be(alpha: float) -> None:
    """20,000 draws against the probabilities of all ways, within five standard deviations."""
    twin = Twin({"a": -1.0, "b": -1.5, "ab": -2.0, "ba": -2.5, "aba": -4.0}, unk="<unk>")
    tok, word, draws = tokenizer(twin), "abazab", 20_000
    found = Counter(tuple(tok.tokens(word, alpha=alpha, seed=seed)) for seed in range(draws))
    ways = {tuple(twin.written(word, path)): p for path, p in twin.probabilities(word, alpha)}
    assert found.keys() <= ways.keys()
    for way, p in ways.items():
        assert abs(found[way] - draws * p) <= 5 * math.sqrt(draws * p * (1 - p)) + 1


@given(twin=twins(unk="<unk>"), text=st.text("ab 한z▁", max_size=20))
def test_spans_tile_the_text(twin: Twin, text: str) -> None:
    """Every byte of a text belongs to one piece, in order."""
    spans = [span for word in tokenizer(twin).explain(text).words for span in word.token_spans]
    ends = [0, *(end for _, end in spans)]
    assert [start for start, _ in spans] == ends[:-1]
    assert ends[-1] == len(text.encode())


@given(twin=twins(), text=st.text(LETTERS + "z \n", max_size=20))
def test_round_trip(twin: Twin, text: str) -> None:
    """With byte fallback every text comes back."""
    if twin.byte_fallback:
        tok = tokenizer(twin)
        assert tok.decode(tok.encode(text)) == text
        assert tok.decode(tok.encode(text, alpha=0.2, seed=1)) == text


@given(twin=twins())
def test_saved_and_loaded(twin: Twin, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The native file keeps everything, scores to the bit."""
    tok = tokenizer(twin)
    path = tmp_path_factory.mktemp("unigram") / "tok.json"
    tok.save(path)
    assert jogak.load(path) == tok


def test_words_are_cut_by_themselves() -> None:
    """With a pre-tokenizer, ways, sums and probabilities are those of the words."""
    twin = Twin({"a": -1.0, "aa": -1.75, "ab": -3.0}, unk="<unk>")
    tok = tokenizer(twin, "whitespace")
    assert tok.tokens("aaa ab") == ["a", "aa", "ab"]
    assert tok.score("aaa ab").text == pytest.approx(twin.marginal("aaa") + twin.marginal("ab"))
    assert [way.score for way in tok.nbest("aa aa", 3)] == [-3.5, -3.75, -3.75]


def test_special_tokens_are_certain() -> None:
    model = UnigramModel(pieces=("<s>", "a"), scores=(0.0, -1.0))
    spec = Spec(model=model, pretokenizer=resolve_pretokenizer("none"), special_tokens={"<s>": 0})
    tok = jogak.Tokenizer(spec)
    assert tok.encode("<s>aa", special="parse") == [0, 1, 1]
    assert tok.score("<s>aa", special="parse") == (-2.0, -2.0, 0.0)
    assert tok.nbest("<s>aa", 2, special="parse") == [(-2.0, [0, 1, 1])]


def test_errors_say_what_to_do() -> None:
    twin = Twin({"a": -1.0, "aa": -1.75})
    tok = tokenizer(twin)
    with pytest.raises(jogak.EncodeError, match="no piece covers"):
        tok.encode("az")
    with pytest.raises(jogak.EncodeError, match="only the first 1 fit"):
        tok.score("aa", [0, 1])
    with pytest.raises(jogak.EncodeError, match="beginning of the text only"):
        tok.score("aa", [0])
    with pytest.raises(jogak.ConfigError, match="alpha is -1"):
        tok.encode("a", alpha=-1)
    with pytest.raises(jogak.ConfigError, match="knows only its own"):
        tok.encode("a", strategy="longest-match")
    with pytest.raises(jogak.ConfigError, match="alpha"):
        tok.encode("a", dropout=0.5)
    with pytest.raises(jogak.ConfigError, match="at least 1"):
        tok.nbest("a", 0)
    bpe = jogak.train({"ab": 2}, jogak.BPE(num_merges=1))
    for call in (lambda: bpe.nbest("a", 1), lambda: bpe.score("a")):
        with pytest.raises(jogak.ConfigError, match="Unigram tokenizer"):
            call()
    with pytest.raises(jogak.ConfigError, match="dropout"):
        bpe.encode("a", alpha=0.5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scores": (0.0,)}, "one for each"),
        ({"scores": (0.0, math.nan)}, "finite"),
        ({"user_defined": (2,)}, "ids of pieces"),
        ({"user_defined": (0, 0)}, "twice"),
        ({"user_defined": (0,), "unused": (0,)}, "both"),
        ({"unknown": "?"}, "not among"),
        ({"precision": "half"}, "precision"),
        ({"marker": Marker("continuation")}, "marker"),
    ],
)
def test_impossible_models_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(jogak.ConfigError, match=message):
        UnigramModel(**{"pieces": ("a", "b"), "scores": (-1.0, -2.0), **fields})


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "ab" * 500_000, "한" * 300_000, "▁" * 300_000, "z" * 1_000_000]
)
def test_long_words_take_linear_time(text: str) -> None:
    """A megabyte without a border; the limit is far above what is needed."""
    import time

    twin = Twin({"a": -1.0, "aa": -1.5, "b": -2.0, "▁": -2.0, "▁▁": -3.0, "한": -3.0}, unk="<unk>")
    for precision in ("double", "single"):
        tok = tokenizer(Twin(twin.scores, unk="<unk>", fuse_unknown=True, precision=precision))
        begun = time.perf_counter()
        tok.encode_array(text)
        assert time.perf_counter() - begun < 5.0
