"""The core equals the reference: training, encoding, dropout, decoding, compression."""

from __future__ import annotations

from typing import Any

import oracle
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from strategies import MARKERS, STRATEGIES, TIES, configs, inventories, special_lists, texts, words

import jogak
from jogak import reference

PAIRED = {"pretokenizer": "whitespace"}


def refused(config: jogak.BPE, specials: list[str], counts: dict[str, int]) -> bool:
    """Special tokens that are symbols of the alphabet too: both sides refuse them."""
    assert isinstance(config.marker, jogak.Marker)
    alphabet = reference.base_alphabet(counts, oracle.spelling(config.marker))
    return not set(specials).isdisjoint(alphabet)


# --- training


@given(counts=inventories(), config=configs(), specials=special_lists())
def test_training(counts: dict[str, int], config: jogak.BPE, specials: list[str]) -> None:
    """Merges, counts, replacements, live pieces, stop reason and pruned pieces are the same."""
    assume(not refused(config, specials, counts))
    compare_training(counts, config, specials)


def compare_training(counts: dict[str, int], config: jogak.BPE, specials: list[str]) -> None:
    tok = jogak.train(counts, config, special_tokens=specials, **PAIRED)
    expected = oracle.train(counts, config, specials)
    log = tok.training
    assert log is not None
    assert log.stop == expected.stop
    steps = [(s.count, s.occurrences, s.live_change, s.live, s.corpus_length) for s in log.steps]
    assert steps == [
        (m.count, m.replaced, m.live_change, m.live, m.corpus_length) for m in expected.merges
    ]
    assert (log.initial_live, log.initial_length) == (expected.start_live, expected.start_length)

    added = oracle.unknown_is_added(config, specials)
    if config.prune_dead:
        pruned = reference.prune_dead(expected, config.strategy)
        pieces, merges = pruned.pieces, pruned.merges
        assert log.pruned == pruned.dropped
    else:
        pieces, merges = expected.pieces, expected.pairs
    # The unknown piece that nobody asked for stands behind all others; there it stands in front.
    assert tok.spec.model.pieces == ((*pieces[1:], pieces[0]) if added else pieces)
    if not (config.prune_dead and config.strategy != "merges"):
        assert tok.merges == merges


@given(counts=inventories(), config=configs(), extra=st.integers(0, 8))
def test_vocab_size(counts: dict[str, int], config: jogak.BPE, extra: int) -> None:
    """`vocab_size` stops both at the same merge, special tokens and fallback counted."""
    base = oracle.train(counts, jogak.BPE(**{**vars(config), "num_merges": 0}), ["<pad>"])
    size = len(base.base) - oracle.unknown_is_added(config, ["<pad>"]) + extra
    compare_training(counts, jogak.BPE(**{**vars(config), "vocab_size": size}), ["<pad>"])


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("marker", MARKERS, ids=lambda marker: f"{marker.kind}{marker.text or ''}")
def test_training_on_overlaps(marker: jogak.Marker, ties: Any) -> None:
    """Words of two letters, in which nearly every pair overlaps itself or another."""
    import random

    source = random.Random(f"{marker}{ties}")
    counts: dict[str, int] = {}
    for _ in range(60):
        word = "".join(source.choices("ab", [3, 1], k=source.randint(1, 14)))
        counts[word] = counts.get(word, 0) + source.randint(1, 3)
    compare_training(counts, jogak.BPE(marker=marker, ties=ties, min_pair_count=1), [])


@given(text=texts(60), ties=st.sampled_from(TIES), limit=st.sampled_from([None, 6]))
def test_training_on_text_with_metaspace(text: str, ties: Any, limit: int | None) -> None:
    """From text to merges through the ▁ that the pre-tokenizer writes."""
    config = jogak.BPE(
        marker="prefix", ties=ties, min_pair_count=1, alphabet_size=limit, byte_fallback=True
    )
    tok = jogak.train(iter([text]), config, pretokenizer="metaspace")
    counts = reference.inventory(reference.pretokenize(text, "metaspace"))
    expected = oracle.train(counts, config, marker=jogak.Marker("none"))
    assert tok.merges == expected.pairs
    assert tok.spec.model.pieces == expected.pieces


@given(
    text=texts(60),
    scheme=st.sampled_from(
        ["none", "whitespace", "gpt2", "cl100k", "o200k", "bert", "punctuation"]
    ),
    ties=st.sampled_from(TIES),
)
def test_training_on_text(text: str, scheme: str, ties: Any) -> None:
    """From text to merges: words, their order, and what is learned from them."""
    config = jogak.BPE(ties=ties, min_pair_count=1, num_merges=30)
    tok = jogak.train(iter([text]), config, pretokenizer=scheme)
    counts = reference.inventory(reference.pretokenize(text, scheme))
    expected = oracle.train(counts, config)
    assert tok.merges == expected.pairs


# --- encoding


@st.composite
def tokenizers(draw: st.DrawFn, **options: Any) -> jogak.Tokenizer:
    """A tokenizer that learned a little, so that some of a text is unknown to it."""
    config = draw(configs())
    specials = draw(st.sampled_from([[], ["<pad>", "<unk>"], ["<|end|>"]]))
    counts = draw(inventories())
    marker = config.marker
    assert isinstance(marker, jogak.Marker)
    own = {"byte-level": ["gpt2", "o200k", "whitespace"], "prefix": ["whitespace"]}
    scheme = draw(st.sampled_from(own.get(marker.kind, ["whitespace", "bert", "none"])))
    if draw(st.booleans()):
        counts |= {"low": 5, "lower": 2, "newest": 6, "widest": 3, "aaaa": 2, "계란밥": 3}
    return jogak.train(counts, config, special_tokens=specials, pretokenizer=scheme, **options)


def has_marker(tok: jogak.Tokenizer, text: str, strategy: str | None) -> bool:
    """Whether a greedy strategy meets the marker's own text, which both sides may read as a marker."""
    mark = tok.spec.model.marker.text
    return (strategy or tok.spec.model.strategy) != "merges" and mark is not None and mark in text


@given(tok=tokenizers(), text=texts(), strategy=st.sampled_from([None, *STRATEGIES]))
def test_encoding(tok: jogak.Tokenizer, text: str, strategy: Any) -> None:
    """Ids of any text, for every marker, strategy and rule for what is unknown."""
    assume(not has_marker(tok, text, strategy))
    expected = reference.encode(
        text,
        oracle.model(tok),
        oracle.scheme(tok),
        strategy=strategy or tok.spec.model.strategy,
    )
    assert tok.encode(text, strategy=strategy) == expected
    assert tok.encode(text, strategy=strategy) == expected  # and again, with words remembered


@given(tok=tokenizers(), word=words(max_size=60), strategy=st.sampled_from(STRATEGIES))
@example(
    tok=jogak.train({"aa": 3, "aaaa": 2, "aaa": 1}, jogak.BPE(min_pair_count=1)),
    word="a" * 230,
    strategy="merges",
)
def test_encoding_of_long_words(tok: jogak.Tokenizer, word: str, strategy: Any) -> None:
    """One word of many symbols: the heap and the windows say what the plain loop says."""
    text = word * 3
    assume(not has_marker(tok, text, strategy))
    model, scheme = oracle.model(tok), oracle.scheme(tok)
    assert tok.encode(text, strategy=strategy) == reference.encode(
        text, model, scheme, strategy=strategy
    )


@given(
    tok=tokenizers(),
    text=texts(),
    p=st.sampled_from([0.01, 0.1, 0.5, 0.9, 1.0]),
    seed=st.integers(0, 2**64 - 1),
)
def test_dropout(tok: jogak.Tokenizer, text: str, p: float, seed: int) -> None:
    """The same seed drops the same merges."""
    expected = reference.encode(text, oracle.model(tok), oracle.scheme(tok), dropout=p, seed=seed)
    assert tok.encode(text, dropout=p, seed=seed, strategy="merges") == expected


@given(
    text=texts(60),
    more=texts(),
    strategy=st.sampled_from(STRATEGIES),
    limit=st.sampled_from([None, 4]),
)
def test_encoding_with_metaspace(text: str, more: str, strategy: Any, limit: int | None) -> None:
    """The ▁ of the pre-tokenizer, with unknown characters as bytes."""
    config = jogak.BPE(
        marker="prefix",
        min_pair_count=1,
        byte_fallback=True,
        alphabet_size=limit,
        strategy=strategy,
    )
    tok = jogak.train(iter([text]), config)
    assume("▁" in tok.vocab)  # cut off by the limit, it would come as bytes, and stay a ▁
    model = oracle.model(tok)
    for given_text in (text, more):
        ids = reference.encode(given_text, model, "metaspace", strategy=strategy)
        assert tok.encode(given_text) == ids
        assert tok.decode(ids) == reference.undo_metaspace(reference.decode(ids, model))


@given(tok=tokenizers(), data=st.data())
def test_decoding(tok: jogak.Tokenizer, data: st.DataObject) -> None:
    """The bytes of any sequence of ids, special tokens written or left out."""
    known = [id_ for id_, text in enumerate(tok.spec.model.pieces) if text is not None]
    ids = data.draw(st.lists(st.sampled_from(known), max_size=20))
    model = oracle.model(tok)
    assert tok.decode_bytes(ids) == reference.decode_bytes(ids, model)
    assert tok.decode(ids) == reference.decode(ids, model)
    if tok.spec.model.unknown in (None, *tok.spec.special_tokens):
        assert tok.decode(ids, skip_special_tokens=True) == reference.decode(
            ids, model, skip_special_tokens=True
        )


# --- compression


@given(
    text=st.text("aabbcZY가", max_size=40),
    ties=st.sampled_from(["first-seen", "lexicographic", "greatest", "sentencepiece"]),
    least=st.integers(1, 3),
    steps=st.sampled_from([None, 0, 2]),
)
def test_compression(text: str, ties: Any, least: int, steps: int | None) -> None:
    """The same pairs with the same counts in the same order, and a table that opens the text."""
    ours = jogak.compress(text, ties, least, steps)
    theirs = reference.compress(text, ties=ties, min_pair_count=least, max_steps=steps)
    assert [(s.expanded, s.count, s.length, s.symbols) for s in ours.steps] == [
        (s.stands_for, s.count, s.length, s.symbols) for s in theirs.steps
    ]
    assert ours.decompress() == theirs.decompress() == text
