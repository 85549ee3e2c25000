"""The rules the docstrings state, each on an input that would show it broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jogak.reference import (
    TIES,
    Model,
    Spelling,
    SplitMix64,
    base_alphabet,
    byte_pieces,
    compress,
    decode,
    decode_bytes,
    encode,
    encode_word,
    encode_word_dropout,
    inventory,
    join_tokens,
    longest_first,
    longest_match,
    merge_pair,
    metaspace,
    pretokenize,
    prune_dead,
    tokens,
    train,
    undo_metaspace,
)

SPELLINGS = [
    Spelling(),
    Spelling("suffix"),
    Spelling("suffix", marker_symbol="joined"),
    Spelling("prefix"),
    Spelling("continuation"),
    Spelling("byte-level"),
]
inventories = st.dictionaries(
    st.text("abc", min_size=1, max_size=12), st.integers(1, 9), min_size=1, max_size=8
)
spellings = st.sampled_from(SPELLINGS)
ties = st.sampled_from(TIES)


# --- training


def test_overlapping_pairs_are_counted_as_windows_and_replaced_once() -> None:
    (merge,) = train({"aaa": 2}, num_merges=1).merges
    assert (merge.count, merge.replaced, merge.corpus_length) == (4, 2, 4)


@pytest.mark.parametrize(
    ("options", "stop", "merges"),
    [
        ({"num_merges": 1, "vocab_size": 4}, "num-merges", 1),
        ({"num_merges": 9, "vocab_size": 4}, "vocab-size", 1),
        ({"vocab_size": 2}, "vocab-size", 0),
        ({"min_pair_count": 3}, "min-pair-count", 1),
        ({}, "no-pair", 2),
    ],
)
def test_stops(options: dict[str, Any], stop: str, merges: int) -> None:
    trained = train({"abc": 2, "ab": 1}, ties="lexicographic", **options)
    assert (trained.stop, len(trained.merges)) == (stop, merges)


def test_special_tokens_and_byte_pieces_come_first_and_count() -> None:
    trained = train(
        {"ab": 3}, special_tokens=["<pad>", "<unk>"], byte_fallback=True, vocab_size=260
    )
    assert trained.base == ("<pad>", "<unk>", *byte_pieces(), "a", "b")
    assert trained.stop == "vocab-size" and not trained.merges


def test_merged_texts_that_exist_are_passed_over() -> None:
    trained = train({"abc": 5, "bc": 1}, special_tokens=["bc"], ties="lexicographic")
    assert [merge.text for merge in trained.merges] == ["ab", "abc"]
    trained = train({"<0x41>": 2}, byte_fallback=True)
    assert "<0x41>" not in [merge.text for merge in trained.merges]
    # A literal </w> in the text spells the marker's own text.
    trained = train({"</w>": 2}, spelling=Spelling("suffix"), ties="first-seen")
    assert trained.pieces.count("</w>") == 1


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_max_piece_length_does_not_count_markers(spelling: Spelling) -> None:
    trained = train({"abcdef": 4}, spelling=spelling, max_piece_length=2)
    assert max(spelling.length(piece) for piece in trained.pieces) == 2
    assert trained.stop == "no-pair"


def test_alphabet_limits() -> None:
    counts = {"aab": 5, "bcd": 2}  # a 10, b 7, c 2, d 2
    assert base_alphabet(counts, Spelling(), alphabet_size=3) == ["a", "b", "c"]
    assert base_alphabet(counts, Spelling(), character_coverage=0.80) == ["a", "b"]
    assert base_alphabet(counts, Spelling(), character_coverage=17 / 21) == ["a", "b"]
    assert base_alphabet(counts, Spelling(), character_coverage=0.82) == ["a", "b", "c"]
    trained = train(counts, alphabet_size=3)
    assert trained.words["bcd"] == ("bc", "d")
    assert trained.merges[-1].live == len(trained.live)


def test_a_symbol_outside_the_alphabet_cuts_the_word() -> None:
    trained = train({"axb": 9, "ab": 9}, alphabet_size=2)
    assert [merge.text for merge in trained.merges] == ["ab"]
    assert trained.words["axb"] == ("a", "x", "b")


@given(inventories, spellings, ties)
def test_training_is_consistent(counts: dict[str, int], spelling: Spelling, rule: str) -> None:
    trained = train(counts, spelling=spelling, ties=rule)
    assert trained.stop == "no-pair"
    assert len(set(trained.pieces)) == len(trained.pieces)
    live, length = trained.start_live, trained.start_length
    for merge in trained.merges:
        assert merge.live - live == merge.live_change in (1, 0, -1)
        assert length - merge.corpus_length == merge.replaced
        assert 1 <= merge.replaced <= merge.count
        live, length = merge.live, merge.corpus_length
    assert live == len(trained.live)
    # No pair was passed over: every word ended as one piece.
    assert all(len(symbols) == 1 for symbols in trained.words.values())


@given(inventories, spellings, ties, st.integers(0, 12))
def test_encoding_a_trained_word_gives_its_training_symbols(
    counts: dict[str, int], spelling: Spelling, rule: str, num_merges: int
) -> None:
    trained = train(counts, spelling=spelling, ties=rule, num_merges=num_merges)
    model = trained.model()
    for word, symbols in trained.words.items():
        assert encode_word(model, word).tokens == symbols


@given(inventories, spellings, st.text("abc", max_size=12), st.integers(0, 12))
def test_one_at_a_time_equals_all_at_once(
    counts: dict[str, int], spelling: Spelling, word: str, num_merges: int
) -> None:
    trained = train(counts, spelling=spelling, num_merges=num_merges)
    model = trained.model()
    symbols = spelling.symbols(word)
    for pair in trained.pairs:
        symbols = merge_pair(symbols, pair, spelling.merge(*pair))
    assert list(encode_word(model, word).tokens) == symbols


@given(inventories, spellings, st.integers(0, 12))
def test_pruning(counts: dict[str, int], spelling: Spelling, num_merges: int) -> None:
    trained = train(counts, spelling=spelling, num_merges=num_merges)
    assert prune_dead(trained, "merges").pieces == trained.pieces
    for strategy in ("longest-match", "longest-first"):
        pruned = prune_dead(trained, strategy)
        assert {*pruned.pieces} == {*trained.base} | trained.live
        assert sorted((*pruned.pieces, *pruned.dropped)) == sorted(trained.pieces)


# --- encoding


def test_unknown_one_each_fused_bytes_and_text() -> None:
    pieces = ("<unk>", "a")
    assert tokens("xya", Model(pieces, unk="<unk>")) == ["<unk>", "<unk>", "a"]
    fused = Model(pieces, unk="<unk>", fuse_unknown=True)
    assert tokens("xyazz", fused) == ["<unk>", "a", "<unk>"]
    assert tokens("x y", fused, "whitespace") == ["<unk>", "<unk>"]
    assert tokens("xya", Model(pieces)) == ["x", "y", "a"]
    assert tokens("xya", Model(pieces, fuse_unknown=True)) == ["xy", "a"]
    fallback = Model((*byte_pieces(), "a"), byte_fallback=True)
    assert tokens("éa", fallback) == ["<0xC3>", "<0xA9>", "a"]
    assert decode(encode("éa", fallback), fallback) == "éa"
    with pytest.raises(ValueError, match="'x' is no piece"):
        encode("x", Model(pieces))


def test_special_tokens_are_not_found_in_text() -> None:
    model = Model(("<unk>", "<s>", *"<unk>s"), special_tokens=("<s>",), unk="<unk>")
    for strategy in ("merges", "longest-match", "longest-first"):
        assert tokens("<s>", model, strategy=strategy) == ["<", "s", ">"]
        assert tokens("<unk>", model, strategy=strategy) == [*"<unk>"]
    assert tokens("<0x41>", Model(tuple(byte_pieces()), byte_fallback=True)) == [
        f"<0x{byte:02X}>" for byte in b"<0x41>"
    ]


def test_whole_word() -> None:
    pieces, merges = ("a", "b", "c", "ab", "abc"), (("a", "b"),)
    assert encode_word(Model(pieces, merges), "abc").tokens == ("ab", "c")
    whole = encode_word(Model(pieces, merges, whole_word=True), "abc")
    assert (whole.tokens, whole.stop) == (("abc",), "whole-word")
    stream = SplitMix64(0)
    assert encode_word_dropout(Model(pieces, merges, whole_word=True), "abc", 0.0, stream) == [
        "ab",
        "c",
    ]


def test_encoding_stops() -> None:
    model = Model(("a", "b", "ab"), (("a", "b"),))
    assert encode_word(model, "ab").stop == "one-symbol"
    assert encode_word(model, "").stop == "one-symbol"
    assert encode_word(model, "ba").stop == "no-merge"


@given(st.text("abc", max_size=12), spellings)
def test_longest_match_is_greedy_and_covers_the_word(word: str, spelling: Spelling) -> None:
    model = train({"abcab": 3, "cab": 2, "bca": 1}, spelling=spelling).model()
    units = spelling.units(word)
    for symbols in (longest_match(model, word), longest_first(model, word)):
        assert "".join(s.removeprefix("##") for s in symbols) == "".join(units)
    start = 0
    for symbol in longest_match(model, word):
        end = start + spelling.unit_length(symbol)
        assert not any(
            spelling.window(units, start, longer) in model.found_in_text
            for longer in range(end + 1, len(units) + 1)
        )
        start = end


def test_longest_first_takes_the_longest_wherever_it_stands() -> None:
    pieces = ("a", "b", "c", "d", "ab", "bcd")
    assert longest_match(Model(pieces), "abcd") == ["ab", "c", "d"]
    assert longest_first(Model(pieces), "abcd") == ["a", "bcd"]
    # Of two equally long pieces the one with the smaller id is put first.
    assert longest_first(Model(("ab", "bc")), "abc") == ["ab", "c"]
    assert longest_first(Model(("bc", "ab")), "abc") == ["a", "bc"]
    # A marker counts one, whatever its text.
    model = Model(("a</w>", "xyz"), spelling=Spelling("suffix"))
    assert longest_first(model, "xyza") == ["xyz", "a</w>"]
    model = Model(("za</w>", "xyza"), spelling=Spelling("suffix"))
    assert longest_first(model, "xyza") == ["xyza", "</w>"]


def test_no_piece_begins_or_ends_inside_a_marker() -> None:
    model = Model(("a", "<", "/", "w", ">", "<unk>"), spelling=Spelling("suffix"), unk="<unk>")
    for strategy in ("longest-match", "longest-first"):
        assert tokens("a<", model, strategy=strategy) == ["a", "<", "<unk>"]


# --- dropout


@given(inventories, spellings, st.text("abc", max_size=12), st.integers(0, 2**64 - 1))
def test_dropout_bounds(counts: dict[str, int], spelling: Spelling, word: str, seed: int) -> None:
    model = train(counts, spelling=spelling).model()
    never = encode_word_dropout(model, word, 0.0, SplitMix64(seed))
    assert never == list(encode_word(model, word).tokens)
    assert encode_word_dropout(model, word, 1.0, SplitMix64(seed)) == spelling.symbols(word)
    some = encode_word_dropout(model, word, 0.5, SplitMix64(seed))
    assert join_tokens(some, model) == join_tokens(never, model)


def test_dropout_has_the_distribution_of_the_paper() -> None:
    # "abb" with merges ab, then ab+b. The first step looks at (a, b) alone: dropped, all is over.
    # Kept, it leaves (ab, b), which is dropped with p again.
    model = Model(("a", "b", "ab", "abb"), (("a", "b"), ("ab", "b")))
    stream, p, rounds = SplitMix64(1), 0.3, 20_000
    seen = {1: 0, 2: 0, 3: 0}
    for _ in range(rounds):
        seen[len(encode_word_dropout(model, "abb", p, stream))] += 1
    assert seen[3] / rounds == pytest.approx(p, abs=0.015)
    assert seen[2] / rounds == pytest.approx((1 - p) * p, abs=0.015)


def test_what_was_set_aside_comes_back() -> None:
    # "abcd": merges ab then cd. If (a, b) is dropped and (c, d) kept, (a, b) gets another draw:
    # both are done with (1-p)^2 + p(1-p)^2, where a single look would give (1-p)^2.
    model = Model(("a", "b", "c", "d", "ab", "cd"), (("a", "b"), ("c", "d")))
    stream, p, rounds = SplitMix64(2), 0.5, 20_000
    both = sum(encode_word_dropout(model, "abcd", p, stream) == ["ab", "cd"] for _ in range(rounds))
    assert both / rounds == pytest.approx((1 - p) ** 2 * (1 + p), abs=0.015)


def test_dropout_of_a_text_is_one_stream() -> None:
    model = Model(("a", "b", "ab"), (("a", "b"),))
    stream = SplitMix64(5)
    words = [encode_word_dropout(model, "ab", 0.5, stream) for _ in range(50)]
    together = tokens(" ".join(["ab"] * 50), model, "whitespace", dropout=0.5, seed=5)
    assert together == [token for word in words for token in word]
    assert 50 < len(together) < 100


# --- decoding


@given(st.lists(st.text("abcé가😀", min_size=1, max_size=6), max_size=5), spellings)
def test_words_come_back(words: list[str], spelling: Spelling) -> None:
    model = train({"abab": 2, "abc": 1}, spelling=spelling).model()
    text = " ".join(words)
    if spelling.marker == "byte-level":
        assert decode(encode(text, model, "gpt2"), model) == text
    elif spelling.marker == "none":
        assert join_tokens(tokens(text, model), model).decode() == text
    else:
        assert join_tokens(tokens(text, model, "whitespace"), model).decode() == text


def test_byte_pieces_are_gathered_before_they_are_text() -> None:
    model = Model((*byte_pieces(), "a"), byte_fallback=True)
    assert decode([0xEA, 0xB0, 0x80], model) == "가"
    assert decode([0xEA, 256], model) == "\ufffda"
    assert decode_bytes([0xEA, 256], model) == b"\xeaa"


def test_special_tokens_in_decoding() -> None:
    model = Model(("<s>", "a</w>"), spelling=Spelling("suffix"), special_tokens=("<s>",))
    assert decode([0, 1, 1], model) == "<s>a a"
    assert decode([0, 1, 1], model, skip_special_tokens=True) == "a a"
    with pytest.raises(ValueError, match="id 2 is outside"):
        decode([2], model)


# --- words, pre-tokenizers, compression, numbers


def test_inventory_keeps_the_order_of_first_sight() -> None:
    assert list(inventory(["b", "a", "b", "c"]).items()) == [("b", 2), ("a", 1), ("c", 1)]


@given(st.text(" ab▁\n", max_size=20))
def test_metaspace(text: str) -> None:
    assert "".join(pretokenize(text, "metaspace")) == metaspace(text)
    if "▁" not in text:
        assert undo_metaspace(metaspace(text)) == text


@given(st.text(max_size=40))
def test_schemes_lose_nothing_but_white_space(text: str) -> None:
    for scheme in ("none", "gpt2", "cl100k", "o200k", "punctuation", "digits", "digits-3"):
        assert "".join(pretokenize(text, scheme)) == text
    words = pretokenize(text, "whitespace")
    assert words == pretokenize("".join(f"{word}\u3000" for word in words), "whitespace")
    assert "".join(pretokenize(text, "bert")) == "".join(words)


@given(st.text(max_size=60), st.sampled_from(["lexicographic", "first-seen", "greatest"]))
def test_compression_comes_back(text: str, rule: str) -> None:
    result = compress(text, ties=rule)
    assert result.decompress() == text
    assert not set(result.table) & set(text)


def test_compression_never_takes_a_character_of_the_text() -> None:
    assert compress("ZZYY ZZYY").table == {"X": ("Y", "Y"), "W": ("Z", "X"), "V": ("Z", "W")}


def test_compression_goes_on_behind_the_letters() -> None:
    result = compress("".join(chr(0x4E00 + n) * 2 for n in range(30)) * 2)
    assert "".join(result.table)[24:30] == 'BA!"#$'


@pytest.mark.parametrize(
    "call",
    [
        lambda: Spelling("middle"),
        lambda: Spelling("prefix", marker_symbol="joined"),
        lambda: Spelling("suffix", marker_text=""),
        lambda: train({"a": 0}),
        lambda: train({"a": 1}, ties="fair"),
        lambda: train({"a": 1}, special_tokens=["a"]),
        lambda: train({"a": 1}, spelling=Spelling("continuation"), byte_fallback=True),
        lambda: train({"a": 1}, character_coverage=0.0),
        lambda: train({"a": 1}, spelling=Spelling("byte-level"), alphabet_size=3),
        lambda: Model(("a", "a")),
        lambda: Model(("a", "b"), (("a", "b"),)),
        lambda: Model(("a",), unk="<unk>"),
        lambda: tokens("a", Model(("a",)), strategy="shortest"),
        lambda: tokens("a", Model(("a",)), strategy="longest-match", dropout=0.1),
        lambda: encode_word_dropout(Model(("a",)), "a", 1.5, SplitMix64(0)),
        lambda: pretokenize("a", "gpt9"),
        lambda: compress("a", ties="lowest-id"),
    ],
)  # fmt: skip
def test_impossible_options_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call()
