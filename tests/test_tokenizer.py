"""The tokenizer's face: looking at it, resizing, special tokens, batches, threads, forks, Ctrl-C."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import UserList
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak

SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
KOREAN = {"계란밥": 3, "간장밥": 5, "간장계란밥": 2, "볶음밥": 3}
TEXTS = ["the lowest newest", "", "계란 간장 밥 😀", "wider\n\tlower"] * 3


@pytest.fixture(scope="module")
def tok() -> jogak.Tokenizer:
    """Byte-level, with two special tokens."""
    return jogak.train(
        SENNRICH | KOREAN, jogak.BPE(vocab_size=280), special_tokens=["<pad>", "<|end|>"]
    )


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


# --- decoding


def test_decoding_takes_lists_and_arrays(tok: jogak.Tokenizer) -> None:
    """Lists, tuples, ranges, arrays of any whole type, and slices of them."""
    ids = tok.encode("lowest 계란")
    for form in (
        ids,
        tuple(ids),
        np.array(ids),
        np.array(ids, dtype=np.uint32),
        np.array(ids, dtype=np.uint16),
        np.repeat(np.array(ids, dtype=np.uint32), 2)[::2],
        np.array(ids[::-1], dtype=np.uint32)[::-1],
    ):
        assert tok.decode(form) == "lowest 계란"
    assert tok.decode([]) == ""
    assert tok.decode(np.array([], dtype=np.uint32)) == ""


@pytest.mark.parametrize("kind", ["uint8", "uint16", "int32", "int64", "uint64"])
def test_decoding_takes_many_ids(tok: jogak.Tokenizer, kind: str) -> None:
    """Every kind of sequence and array is read in a way of its own."""
    ids = [id_ for id_ in tok.encode("lowest low") if id_ < 256] * 99
    text = tok.decode(ids[:1]) * 300
    for many in ([ids[0]] * 300, tuple([ids[0]] * 300), np.array([ids[0]] * 600, dtype=kind)[::2]):
        assert tok.decode(many) == text
        assert tok.decode_bytes(many) == text.encode()
    whole = "".join(tok.decode([id_]) for id_ in ids[:9]) * 11
    assert tok.decode([*map(np.dtype(kind).type, ids[:9])] * 11) == whole
    assert tok.decode_batch([ids[:9] * 11, np.array(ids[:9] * 11, dtype=kind)]) == [whole] * 2


class Index:
    """What is no number, but says where it stands."""

    def __index__(self) -> int:
        return 1


NUMBERS = st.integers(0, 255)
ODD = st.one_of(
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**32 - 1, 2**32, 2**64 - 1, 2**64, -1, True, False]),
    st.sampled_from([1.0, "1", None, b"1", Index(), np.uint8(7), np.int64(-1), []]),
)


@given(st.one_of(st.lists(NUMBERS), st.lists(NUMBERS | ODD)))
def test_lists_are_read_as_other_sequences_are(tok: jogak.Tokenizer, ids: list[Any]) -> None:
    """Those of a list are looked at where they lie, those of any other sequence are taken out."""

    def answer(ids: Any) -> str:
        try:
            return tok.decode(ids)
        except jogak.DecodeError as error:
            return str(error)

    assert answer(ids) == answer(tuple(ids)) == answer(UserList(ids))


def test_reading_a_list_keeps_no_number_and_lets_none_go(tok: jogak.Tokenizer) -> None:
    # Python makes each number above 256 anew.
    ids = [int(str(id_)) for id_ in range(257, 270)]
    wrong = [*ids, 2**40, object()]
    before = [sys.getrefcount(id_) for id_ in wrong]
    text = tok.decode(ids)
    with pytest.raises(jogak.DecodeError):
        tok.decode(wrong)
    assert [sys.getrefcount(id_) for id_ in wrong] == before
    assert tok.decode(ids) == text


@pytest.mark.parametrize("ids", [[-1], [2**32], [1.5], ["a"], [10**6], 5, None], ids=str)
def test_decoding_refuses_what_is_no_id(tok: jogak.Tokenizer, ids: Any) -> None:
    with pytest.raises(jogak.DecodeError) as short:
        tok.decode(ids)
    if isinstance(ids, list):
        with pytest.raises(jogak.DecodeError) as long:
            tok.decode([0] * 500 + ids)
        if ids != [10**6]:
            assert str(long.value) == str(short.value)
            with pytest.raises(jogak.DecodeError):
                tok.decode_batch([[0], ids])
    for wrong in (np.array([0, -1]), np.array([0, 2**32]), np.array([0.5]), np.zeros((2, 2), int)):
        with pytest.raises(jogak.DecodeError):
            tok.decode(wrong)


def test_broken_characters(tok: jogak.Tokenizer) -> None:
    """A part of a character: replaced, refused, or as bytes."""
    ids = tok.encode("a😀", dropout=1.0)[:3]
    assert tok.decode_bytes(ids) == "a😀".encode()[:3]
    assert tok.decode(ids) == "a\ufffd"
    with pytest.raises(jogak.DecodeError, match=r"byte 1.*decode_bytes"):
        tok.decode(ids, errors="strict")
    with pytest.raises(jogak.ConfigError, match="replace"):
        tok.decode(ids, errors="ignore")  # type: ignore[arg-type]  # wrong on purpose


# --- arrays and batches


def test_encode_array(tok: jogak.Tokenizer) -> None:
    ids = tok.encode_array("lowest")
    assert ids.dtype == np.uint32
    assert ids.tolist() == tok.encode("lowest")
    assert tok.encode_array("").shape == (0,)


def test_batch(tok: jogak.Tokenizer) -> None:
    """Two arrays; a sequence of arrays; lists; any iterable of texts."""
    batch = tok.encode_batch(iter(TEXTS))
    assert (batch.ids.dtype, batch.offsets.dtype) == (np.uint32, np.int64)
    assert len(batch) == len(TEXTS)
    assert batch.to_lists() == [tok.encode(text) for text in TEXTS]
    assert [row.tolist() for row in batch] == batch.to_lists()
    assert batch[-1].tolist() == batch.to_lists()[-1]
    assert batch == tok.encode_batch(TEXTS)
    assert batch != tok.encode_batch(TEXTS[1:])
    with pytest.raises(IndexError, match="batch of 12"):
        batch[12]
    assert tok.encode_batch([]).to_lists() == []
    with pytest.raises(jogak.ConfigError, match="encode\\(text\\)"):
        tok.encode_batch("one text")


def test_padding(tok: jogak.Tokenizer) -> None:
    """A rectangle, filled at either side; nothing is cut in silence."""
    rows = tok.encode_batch(TEXTS[:4])
    longest = max(map(len, rows.to_lists()))
    for side in ("right", "left"):
        padded = rows.pad(0, side=side, length=longest + 2)
        assert padded.dtype == np.uint32
        for row, ids in zip(padded.tolist(), rows.to_lists(), strict=True):
            fill = [0] * (longest + 2 - len(ids))
            assert row == (ids + fill if side == "right" else fill + ids)
    assert rows.pad(0).shape == (4, longest)
    assert tok.encode_batch([]).pad(0).shape == (0, 0)
    with pytest.raises(jogak.ConfigError, match="cut the texts"):
        rows.pad(0, length=2)
    with pytest.raises(jogak.ConfigError, match="middle"):
        rows.pad(0, side="middle")


def test_arrow(tok: jogak.Tokenizer) -> None:
    """Pyarrow takes a batch as it is."""
    pa = pytest.importorskip("pyarrow")
    batch = tok.encode_batch(TEXTS)
    array = pa.array(batch)
    assert pa.types.is_large_list(array.type)
    assert array.type.value_type == pa.uint32()
    array.validate(full=True)
    assert array.to_pylist() == batch.to_lists()
    assert pa.array(tok.encode_batch([])).to_pylist() == []
    assert pa.array(tok.encode_batch(["", ""])).to_pylist() == [[], []]


# --- threads, forks, pickles


def test_copies(tok: jogak.Tokenizer) -> None:
    """Pickled and copied tokenizers are the same, log and all."""
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(tok, protocol))
        assert (again, again.training) == (tok, tok.training)
        assert again.encode("lowest") == tok.encode("lowest")
    for again in (copy.copy(tok), copy.deepcopy(tok)):
        assert again == tok


def test_threads_at_once(tok: jogak.Tokenizer) -> None:
    """Many Python threads on one tokenizer get what one gets."""
    texts = [f"{text} {number}" for number in range(300) for text in TEXTS]
    expected = [tok.encode(text) for text in texts]
    fresh = jogak.Tokenizer(tok.spec)

    def work(shift: int) -> bool:
        order = texts[shift:] + texts[:shift]
        got = [fresh.encode(text) for text in order]
        batch = fresh.encode_batch(order, num_threads=2).to_lists()
        return got == batch == expected[shift:] + expected[:shift]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(0, 800, 100)))


@pytest.mark.parametrize(
    ("said", "ok"),
    [("1", True), ("3", True), (" 2 ", True), ("0", False), ("x", False), ("-1", False)],
)
def test_threads_of_the_environment(
    tok: jogak.Tokenizer, said: str, ok: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JOGAK_NUM_THREADS is heard for batches and for counting, and refused when it makes no sense."""
    expected = tok.encode_batch(TEXTS, num_threads=1)
    monkeypatch.setenv("JOGAK_NUM_THREADS", said)
    if ok:
        assert tok.encode_batch(TEXTS) == expected
        assert jogak.train(iter(TEXTS), jogak.BPE(num_merges=3)).merges
        return
    with pytest.raises(jogak.ConfigError, match="JOGAK_NUM_THREADS"):
        tok.encode_batch(TEXTS)
    with pytest.raises(jogak.ConfigError, match="JOGAK_NUM_THREADS"):
        jogak.train(iter(TEXTS))
    assert tok.encode_batch(TEXTS, num_threads=2) == expected


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2"])
def test_impossible_threads(tok: jogak.Tokenizer, threads: Any) -> None:
    with pytest.raises(jogak.ConfigError, match="num_threads"):
        tok.encode_batch(TEXTS, num_threads=threads)


def run_python(code: str, timeout: float = 60) -> str:
    """The output of a program of its own: it may fork, and may be sent signals."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system knows no fork")
def test_fork() -> None:
    """A child forked behind batches on threads, and in the midst of them, encodes and trains."""
    out = run_python(
        """
        import os, threading, jogak
        tok = jogak.train({"low": 5, "lower": 2}, jogak.BPE(num_merges=4))
        texts = [f"low lower {n}" * 20 for n in range(3000)]
        expected = tok.encode_batch(texts, num_threads=4)
        stop = False
        def work():
            while not stop:
                tok.encode_batch(texts[:500], num_threads=2)
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        children = []
        for _ in range(8):
            child = os.fork()
            if not child:
                same = tok.encode_batch(texts, num_threads=4) == expected
                same = same and tok.encode(texts[0]) == expected[0].tolist()
                same = same and jogak.train(iter(texts[:50]), jogak.BPE(num_merges=4)).merges != ()
                os._exit(0 if same else 1)
            children.append(child)
        codes = [os.waitpid(child, 0)[1] for child in children]
        stop = True
        for thread in threads:
            thread.join()
        print(codes)
        """
    )
    assert json.loads(out) == [0] * 8


# --- Ctrl-C and progress


def heavy(pieces: int = 400_000) -> dict[str, int]:
    """Words that take seconds to learn from."""
    import random

    source = random.Random(1)
    return {
        "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(4, 14))): number % 9
        + 1
        for number in range(pieces)
    }


def test_interrupt() -> None:
    """Ctrl-C stops training within a second; the tokenizer so far is complete and usable."""
    counts = jogak.Counts.from_dict(heavy())
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def progress(stage: str, done: int, total: int | None) -> None:
        if stage == "merging" and done > 20 and not timers:
            timers.append(threading.Timer(0.05, interrupt))
            timers[-1].start()

    timers: list[threading.Timer] = []
    with pytest.raises(jogak.TrainingInterrupted, match="tokenizer") as caught:
        jogak.train(counts, jogak.BPE(num_merges=200_000, min_pair_count=1), progress=progress)
    assert time.monotonic() - sent[0] < 1.0
    assert isinstance(caught.value, KeyboardInterrupt)
    tok = caught.value.tokenizer
    assert tok.training is not None
    assert tok.training.stop == "interrupted"
    made = len(tok.merges)
    assert 20 < made < 200_000
    assert str(f"{made:,}") in str(caught.value)
    assert tok.decode(tok.encode("usable, 그럼")) == "usable, 그럼"
    # The merges so far are the first merges of a training that nobody stopped.
    known = jogak.train(counts, jogak.BPE(num_merges=min(made, 300)))
    assert tok.merges[:300] == known.merges[:made]


@pytest.mark.parametrize("marker", ["byte-level", "suffix"])
def test_interrupt_before_the_first_merge(marker: Any) -> None:
    """A large inventory is cut and its pairs are counted; Ctrl-C is heard then too."""
    numbers = jogak.count([" ".join(map(hex, range(1_500_000)))], pretokenizer="whitespace")
    sent: list[float] = []

    def progress(stage: str, done: int, total: int | None) -> None:
        if stage == "merging" and not sent:
            assert done == 0
            sent.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)

    config = jogak.BPE(num_merges=1000, marker=marker)
    with pytest.raises(jogak.TrainingInterrupted, match="after 0 merges") as caught:
        jogak.train(numbers, config, progress=progress)
    assert time.monotonic() - sent[0] < 1.0
    log = caught.value.tokenizer.training
    assert log is not None
    assert (log.stop, log.counts, caught.value.tokenizer.merges) == ("interrupted", (), ())


def test_progress_is_told() -> None:
    """A callable hears the stages, numbers that grow, and the goal; it changes nothing."""
    calls: list[tuple[str, int, int | None]] = []
    config = jogak.BPE(num_merges=15)
    tok = jogak.train(iter(TEXTS * 100), config, progress=lambda *call: calls.append(call))
    assert tok.spec == jogak.train(iter(TEXTS * 100), config).spec
    stages = list(dict.fromkeys(stage for stage, _, _ in calls))
    assert set(stages) <= {"counting", "merging"}
    assert stages[-1] == "merging"
    merging = [(done, total) for stage, done, total in calls if stage == "merging"]
    assert [done for done, _ in merging] == sorted(done for done, _ in merging)
    assert {total for _, total in merging} == {15}
    assert merging[-1] == (15, 15)


def test_error_in_progress_comes_out() -> None:
    """What a callback raises ends training and is not swallowed."""

    def broken(*_: object) -> None:
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        jogak.train(heavy(20_000), jogak.BPE(num_merges=5000), progress=broken)


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
