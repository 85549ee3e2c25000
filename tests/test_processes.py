"""A tokenizer among threads, forks and pickles; Ctrl-C and progress."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import jogak

TEXTS = ["the lowest newest", "", "계란 간장 밥 😀", "wider\n\tlower"] * 3


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
