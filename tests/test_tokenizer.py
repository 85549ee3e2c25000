"""The tokenizer's face: looking at it, resizing, special tokens, traces, files."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jogak

SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
KOREAN = {"계란밥": 3, "간장밥": 5, "간장계란밥": 2, "볶음밥": 3}
TEXTS = ["the lowest newest", "", "계란 간장 밥 😀", "wider\n\tlower"] * 3


# --- looking at it


def test_pieces_and_ids(tok: jogak.Tokenizer) -> None:
    """vocab, piece, id and len tell one vocabulary."""
    assert len(tok) == 280 == len(tok.vocab)
    assert [tok.piece(id_) for id_ in range(len(tok))] == list(tok.vocab)
    assert all(tok.id(text) == id_ for text, id_ in tok.vocab.items())
    assert tok.piece(0) == "<pad>"
    assert tok.merges == tuple((tok.piece(left), tok.piece(right)) for left, right in tok.merge_ids)
    assert len(tok.merges) == 280 - 2 - 256


def test_nothing_can_be_written(tok: jogak.Tokenizer) -> None:
    """What a tokenizer shows of itself is read-only."""
    with pytest.raises(TypeError):
        tok.vocab["x"] = 1  # type: ignore[index]  # wrong on purpose
    for name in ("vocab", "merges", "spec", "training"):
        before = getattr(tok, name)
        if name in ("spec", "training"):
            with pytest.raises(AttributeError):
                setattr(tok, name, None)
        assert getattr(tok, name) == before
    with pytest.raises(AttributeError):
        tok.spec.pretokenizer = ()  # type: ignore[misc]  # wrong on purpose
    assert isinstance(tok.merges, tuple)


def test_what_is_not_there(tok: jogak.Tokenizer) -> None:
    """Unknown ids and pieces are errors that say what to do."""
    for id_ in (-1, len(tok), 10**9):
        with pytest.raises(jogak.DecodeError, match="ids are below 280"):
            tok.piece(id_)
    with pytest.raises(jogak.EncodeError, match="encode"):
        tok.id("no such piece")


def test_equality_and_hash(tok: jogak.Tokenizer) -> None:
    """Equal are tokenizers of equal Specs, however they came about."""
    again = jogak.Tokenizer(tok.spec)
    assert again == tok
    assert hash(again) == hash(tok)
    assert tok.resized(270) != tok
    assert tok != tok.spec
    assert "280 pieces" in repr(tok)


# --- resizing


RESIZED: dict[str, tuple[dict[str, Any], Any]] = {
    "byte-level": ({}, ()),
    "byte-level, specials": ({}, ["<pad>", "<s>"]),
    "byte-level, chosen ids": ({}, {"<pad>": 0, "<s>": 100}),
    "plain": ({"marker": "none"}, ()),
    "suffix": ({"marker": "suffix", "ties": "first-seen"}, ["<pad>"]),
    "joined": ({"marker": jogak.Marker("suffix", symbol="joined"), "ties": "greatest"}, ()),
    "prefix": ({"marker": "prefix", "ties": "sentencepiece"}, {"<unk>": 0, "<s>": 5}),
    "continuation": ({"marker": "continuation"}, ["<unk>", "[CLS]"]),
    "continuation, @": ({"marker": jogak.Marker("continuation", text="@")}, ()),
    "fallback": ({"marker": "prefix", "byte_fallback": True}, ["<s>"]),
    "limited": ({"marker": "none", "alphabet_size": 12}, ["<pad>"]),
    "no unknown": ({"marker": "none", "unknown": None}, ()),
}


@pytest.mark.parametrize("case", RESIZED)
def test_resized_is_trained_at_that_size(case: str) -> None:
    """Pieces, ids, merges, special tokens and log are what training gives; every size there is."""
    options, specials = RESIZED[case]
    train: Callable[..., jogak.Tokenizer] = jogak.train
    large = train(
        SENNRICH | KOREAN,
        jogak.BPE(**options, min_pair_count=1),
        special_tokens=specials,
    )
    assert large.training is not None
    full = len(large.vocab) - (large.spec.model.unknown in set(large.vocab) - {*specials})
    least = full - len(large.merges)
    sizes = [least, least + 1, (least + full) // 2, full - 1]
    for size in sizes:
        if isinstance(specials, dict) and max(specials.values()) >= size:
            continue
        config = jogak.BPE(**options, min_pair_count=1, vocab_size=size)
        trained = train(SENNRICH | KOREAN, config, special_tokens=specials)
        small = large.resized(size)
        assert small.spec == trained.spec
        assert small.training is not None
        assert trained.training is not None
        assert small.training.counts == trained.training.counts
        assert small.training.stop == trained.training.stop == "vocab-size"
        for text in TEXTS:
            if options.get("unknown", 1) is not None:
                assert small.encode(text) == trained.encode(text)
    for size in (least - 1, full + 1):
        with pytest.raises(jogak.ConfigError, match=f"expected {least} .* to {full}"):
            large.resized(size)


def test_resized_again(tok: jogak.Tokenizer) -> None:
    """Resizing twice is resizing once."""
    assert tok.resized(275).resized(265) == tok.resized(265)


@pytest.mark.parametrize(
    ("config", "size", "why"),
    [
        (jogak.WordPiece(vocab_size=30), 28, "wordpiece: its vocabulary has no merges"),
        (jogak.Unigram(vocab_size=17), 15, "unigram: each piece that training removes changes"),
    ],
    ids=["wordpiece", "unigram"],
)
def test_only_merges_can_be_resized(config: Any, size: int, why: str) -> None:
    """The error says why, and the remedy that it names works."""
    counts = jogak.count(["the lowest newest widest lower low"] * 9, pretokenizer="bert")
    large = jogak.train(counts, config)
    with pytest.raises(jogak.ConfigError, match=f"{why}.*again with vocab_size={size}") as error:
        large.resized(size)
    assert "jogak.count" in str(error.value)
    assert len(jogak.train(counts, dataclasses.replace(config, vocab_size=size))) == size + 1


def test_scores_cannot_be_resized() -> None:
    model = jogak.spec.ScoredBPEModel(pieces=("a", "b", "ab"), scores=(0.0, 0.0, -1.0), merges=None)
    tok = jogak.Tokenizer(jogak.Spec(model=model, pretokenizer=(jogak.Named("none"),)))
    with pytest.raises(jogak.ConfigError, match=r"merges by scores .* vocab_size=2"):
        tok.resized(2)


# --- special tokens


@pytest.fixture(scope="module")
def special() -> jogak.Tokenizer:
    """Special tokens of which one is the beginning of another."""
    return jogak.train(
        SENNRICH, jogak.BPE(num_merges=5), special_tokens=["<s>", "<s>>", "low", "\n\n"]
    )


def test_list_of_special_tokens_gets_the_first_ids(special: jogak.Tokenizer) -> None:
    assert dict(special.spec.special_tokens) == {"<s>": 0, "<s>>": 1, "low": 2, "\n\n": 3}


def test_special_as_text(special: jogak.Tokenizer) -> None:
    """By default the text of a special token is text: it never has the token's id."""
    for text in ("<s>", "low", "a<s>>b low\n\n"):
        ids = special.encode(text)
        assert all(id_ > 3 for id_ in ids)
        assert special.decode(ids) == text


def test_special_parsed(special: jogak.Tokenizer) -> None:
    """Parsed, the leftmost and longest special token is taken; the rest is text between them."""
    ids = special.encode("<s>>x<s> low", special="parse")
    assert ids == [1, *special.encode("x"), 0, *special.encode(" "), 2]
    assert special.tokens("<s><s>>", special="parse") == ["<s>", "<s>>"]
    assert special.decode(ids) == "<s>>x<s> low"
    assert special.decode(ids, skip_special_tokens=True) == "x "
    assert special.encode_batch(["low", "x"], special="parse").to_lists() == [
        [2],
        special.encode("x"),
    ]
    assert special.count("lowlow", special="parse") == 2


def test_special_refused(special: jogak.Tokenizer) -> None:
    """`special="error"` names the token and the place; a text without one passes."""
    with pytest.raises(jogak.SpecialTokenError, match=r'"<s>" at character 2.*special="parse"'):
        special.encode("가 <s>", special="error")
    with pytest.raises(jogak.SpecialTokenError, match="text 1"):
        special.encode_batch(["fine", "so low"], special="error")
    assert special.encode("fine", special="error") == special.encode("fine")


def test_chosen_ids_leave_holes() -> None:
    """Chosen ids are kept, others go around them, and ids in between may stand for nothing."""
    tok = jogak.train(
        {"ab": 2}, jogak.BPE(num_merges=1, marker="none"), special_tokens={"<pad>": 1, "<end>": 9}
    )
    assert tok.spec.model.pieces[:4] == ("a", "<pad>", "b", "ab")
    assert tok.spec.model.pieces[4:] == (None,) * 5 + ("<end>", "<unk>")
    assert (len(tok), len(tok.vocab)) == (11, 6)
    assert tok.encode("ab<end>?", special="parse") == [3, 9, 10]
    for id_ in (4, 8, 11):
        with pytest.raises(jogak.DecodeError, match=str(id_)):
            tok.decode([0, id_])
    with pytest.raises(jogak.DecodeError, match="8"):
        tok.piece(8)


@pytest.mark.parametrize(
    "tokens",
    ["<pad>", ["<pad>", "<pad>"], {"<pad>": 1, "<s>": 1}, [""], {"<pad>": -1}, {"a": True}, [1]],
    ids=str,
)
def test_impossible_special_tokens(tokens: Any) -> None:
    with pytest.raises(jogak.ConfigError):
        jogak.train(SENNRICH, special_tokens=tokens)


def test_special_token_of_the_alphabet() -> None:
    """A special token that is a letter of the corpus cannot be told from it."""
    with pytest.raises(jogak.ConfigError, match="'l'"):
        jogak.train(SENNRICH, jogak.BPE(marker="none"), special_tokens=["l"])


# --- traces


def test_training_trace() -> None:
    """The trace fits the log, and asking for it changes nothing."""
    config = jogak.BPE(marker="suffix", ties="first-seen", min_pair_count=1)
    plain = jogak.train(SENNRICH, config)
    tok = jogak.train(SENNRICH, config, trace=True)
    assert tok.spec == plain.spec
    assert tok.training == plain.training
    assert plain.training is not None
    assert plain.training.trace is None
    log: Any = tok.training
    merges = log.trace.merges
    assert len(merges) == len(log) == log.trace.total_merges
    for step, merge in zip(log.steps, merges, strict=True):
        assert (merge.count, merge.live_change, merge.live) == (
            step.count,
            step.live_change,
            step.live,
        )
        assert merge.length_after == step.corpus_length
        assert merge.candidates[0].count == merge.count
        assert (merge.candidates[0].left, merge.candidates[0].right) == (merge.left, merge.right)
        assert (merge.decided_by == "count") == (merge.tied == 1)
        assert len(merge.before) == len(merge.after) == merge.changed_total
    assert merges[0].decided_by == "first-seen"
    assert json.loads(json.dumps(log.trace.to_dict()))["total_merges"] == len(merges)


@pytest.mark.parametrize("traced", [0, 1, 3, 100])
def test_first_merges_traced(traced: int) -> None:
    log: Any = jogak.train(SENNRICH, jogak.BPE(num_merges=5), trace=traced).training
    assert (log.trace is None) == (traced == 0)
    if traced:
        assert len(log.trace.merges) == min(traced, 5)


def test_trace_of_no_merge() -> None:
    """A training without merges has a trace too: an empty one."""
    log: Any = jogak.train({"a": 1}, jogak.BPE(marker="none"), trace=True).training
    assert log.trace.merges == ()


def test_training_continues_to_learn_nothing_from_nothing() -> None:
    """An empty inventory gives a tokenizer of its base."""
    tok = jogak.train({}, jogak.BPE())
    assert (len(tok), tok.merges) == (256, ())
    assert tok.decode(tok.encode("가 a")) == "가 a"
    assert jogak.train({}, jogak.BPE(marker="none")).encode("ab") == [0, 0]


def test_what_is_printed_is_short() -> None:
    """A tokenizer, its spec and its log fit on a screen, however large the vocabulary."""
    tok = jogak.train({"low": 5, "lower": 2}, jogak.BPE(num_merges=3))
    assert repr(tok.spec.model) == "<BPEModel: 259 pieces, 3 merges, byte-level, merges>"
    assert repr(tok.training) == "<TrainingLog: 3 merges, stop num-merges>"
    assert tok.training is not None
    assert repr(tok.training.steps) == "<3 MergeSteps>"
    assert len(repr(tok.spec)) < 200


# --- files


def test_saved_probes_are_replayed(tok: jogak.Tokenizer, tmp_path: Path) -> None:
    """A file whose probes do not come out is refused, with the probe's place."""
    path = tmp_path / "tok.json"
    tok.save(path)
    assert jogak.load(path) == tok
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["probes"]
    for change in ("probe", "merges"):
        broken = copy.deepcopy(data)
        if change == "probe":
            broken["probes"][1]["ids"][0] += 1
        else:
            broken["spec"]["model"]["merges"] = broken["spec"]["model"]["merges"][:3]
        path.write_text(json.dumps(broken), encoding="utf-8")
        with pytest.raises(jogak.FormatError) as caught:
            jogak.load(path)
        assert caught.value.file == str(path)
        assert caught.value.place
        if change == "probe":
            assert caught.value.place == "probes[1]"


def test_kept_in_jogaks_own_format(tmp_path: Path) -> None:
    """Holes, chosen ids, regular expressions and every marker survive the file."""
    path = tmp_path / "tok.json"
    for marker in ("none", "suffix", "prefix", "continuation", "byte-level"):
        tok = jogak.train(
            SENNRICH | KOREAN,
            jogak.BPE(marker=marker, min_pair_count=1),  # type: ignore[arg-type]  # names in a list
            special_tokens={"<pad>": 3, "<far>": 400},
            pretokenizer=[jogak.Split(r"\s+", matches="removed"), "digits3"],
        )
        tok.save(path)
        again = jogak.load(path)
        assert (again.spec, again.training) == (tok.spec, tok.training)
        assert again.encode("lowest 12345 계란") == tok.encode("lowest 12345 계란")


def test_lone_surrogates_are_found_when_a_spec_is_made() -> None:
    model = jogak.spec.BPEModel(pieces=("a", "b"), merges=())
    words = jogak.spec.resolve_pretokenizer("none")
    with pytest.raises(
        jogak.ConfigError, match=r"the piece of id 1 is .*has a lone surrogate; expected"
    ):
        jogak.spec.BPEModel(pieces=("a", "\ud800"), merges=())
    for place, options in (
        (r"normalizer\[0\].text", {"normalizer": (jogak.spec.Prepend("\udfff"),)}),
        (r"pretokenizer\[0\].pattern", {"pretokenizer": (jogak.Split("\ud800"),)}),
        (r"decoder\[0\].\w+", {"decoder": (jogak.spec.DecodeReplace("a", "\ud800"),)}),
        (r"model.marker.text", {"model": dataclasses.replace(
            model, marker=jogak.Marker("suffix", "\ud800", "own"))}),
    ):  # fmt: skip
        with pytest.raises(jogak.ConfigError, match=f"{place} is .*lone surrogate"):
            jogak.Spec(**{"model": model, "pretokenizer": words, **options})
