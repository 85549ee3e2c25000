"""A tokenizer where applications use it: in processes and threads, in `datasets` and DataLoaders."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from test_inputs import tokenizers

import jogak

Data = Callable[[str], Path]
TEXTS = [
    f"low lower {n} newest 밥 계란밥 don't <s> \U0001f600 {'widest ' * (n % 7)}" for n in range(64)
]
STARTS = [start for start in ("fork", "spawn") if start in multiprocessing.get_all_start_methods()]


def answers(tok: jogak.Tokenizer, text: str) -> tuple[Any, ...]:
    """Calls of all kinds with one text."""
    enc = tok.encoding(text, text[:9], truncation=20, padding=24)
    return (
        tok.encode(text),
        tok.encode_array(text, special="parse").tolist(),
        tok.encode_batch([text, text[3:]], num_threads=2).to_lists(),
        tok.encode(text, dropout=0.5, seed=1) if tok.spec.model.family == "bpe" else None,
        tok.tokens(text),
        tok.count(text),
        tok.decode(tok.encode(text)),
        enc.to_dict(),
        [token.span for token in tok.explain(text[:20]).words],
        tok.encoding_batch([text], num_threads=2)[0].to_dict(),
    )


def child(tok: jogak.Tokenizer, texts: list[str]) -> list[tuple[Any, ...]]:
    return [answers(tok, text) for text in texts]


@pytest.mark.parametrize("start", STARTS)
def test_processes_get_the_same_answers(start: str) -> None:
    """The tokenizer goes along as an argument: pickled with spawn, inherited with fork."""
    tok = tokenizers()["byte-level"]
    expected = child(tok, TEXTS[:8])
    with multiprocessing.get_context(start).Pool(2) as pool:
        parts = pool.starmap_async(child, [(tok, TEXTS[:4]), (tok, TEXTS[4:8])]).get(120)
    assert [answer for part in parts for answer in part] == expected


@pytest.mark.skipif("fork" not in STARTS, reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_while_others_encode_does_not_hang() -> None:
    tok = tokenizers()["unigram"]
    expected = tok.encode(TEXTS[5])
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            tok.encode_batch(TEXTS * 20, num_threads=2)

    others = [threading.Thread(target=busy) for _ in range(2)]
    for other in others:
        other.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(10):
            with context.Pool(1) as pool:
                assert pool.apply_async(tok.encode, (TEXTS[5],)).get(60) == expected
    finally:
        stop.set()
        for other in others:
            other.join()


@pytest.mark.parametrize("family", ["byte-level", "wordpiece", "unigram", "nfkc"])
def test_threads_with_mixed_calls_get_what_one_alone_gets(family: str) -> None:
    tok = jogak.Tokenizer(tokenizers()[family].spec)
    expected = [answers(tokenizers()[family], text) for text in TEXTS]
    ready = threading.Barrier(8)

    def hammer(seed: int) -> list[int]:
        order = list(range(len(TEXTS)))
        random.Random(seed).shuffle(order)
        ready.wait()
        return [at for at in order if answers(tok, TEXTS[at]) != expected[at]]

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(hammer, range(8))] == [[]] * 8


def test_copies_are_the_same_tokenizer() -> None:
    for tok in tokenizers().values():
        expected = child(tok, TEXTS[:4])
        for again in (copy.copy(tok), copy.deepcopy(tok), pickle.loads(pickle.dumps(tok))):
            assert again == tok
            assert again.training == tok.training
            assert child(again, TEXTS[:4]) == expected


def test_equal_tokenizers_have_equal_bytes(tmp_path: Path) -> None:
    """Whatever was asked of them before, and wherever their texts came from."""
    for name, tok in tokenizers().items():
        path = tmp_path / f"{name}.json"
        tok.save(path)
        data = pickle.dumps(tok)
        loaded = jogak.load(path)
        assert pickle.dumps(loaded) == data
        child(tok, TEXTS[:2])
        _ = tok.vocab, tok.merges, tok.merge_ids
        assert pickle.dumps(tok) == data
        assert pickle.dumps(pickle.loads(data)) == data


# --- datasets


def test_datasets_know_a_tokenizer_again(tmp_path: Path) -> None:
    """One fingerprint, also in another process: what was computed once is found in the cache."""
    fingerprint = pytest.importorskip("datasets.fingerprint")
    tok = tokenizers()["byte-level"]
    path = tmp_path / "tok.json"
    tok.save(path)
    known = fingerprint.Hasher.hash(tok)
    assert fingerprint.Hasher.hash(jogak.load(path)) == known
    assert fingerprint.Hasher.hash(copy.deepcopy(tok)) == known
    assert fingerprint.Hasher.hash(tokenizers()["nfkc"]) != known
    program = (
        "import sys, jogak; from datasets.fingerprint import Hasher; "
        "print(Hasher.hash(jogak.load(sys.argv[1])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == known


@pytest.mark.parametrize("num_proc", [None, 2])
def test_datasets_map(num_proc: int | None) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    tok = tokenizers()["byte-level"]

    def inputs(rows: dict[str, list[str]]) -> dict[str, Any]:
        batch = tok.encoding_batch(rows["text"], truncation=12, padding=12, num_threads=1)
        return {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}

    made = datasets.Dataset.from_dict({"text": TEXTS}).map(inputs, batched=True, num_proc=num_proc)
    expected = tok.encoding_batch(TEXTS, truncation=12, padding=12)
    assert made["input_ids"][:] == expected.input_ids.tolist()
    assert made["attention_mask"][:] == expected.attention_mask.tolist()


# --- torch


@pytest.mark.parametrize("start", STARTS)
def test_data_loader_workers(start: str) -> None:
    torch = pytest.importorskip(
        "torch", reason="torch is not installed; processes are tested above"
    )
    tok = tokenizers()["byte-level"]
    loader = torch.utils.data.DataLoader(
        TEXTS,
        batch_size=8,
        num_workers=2,
        collate_fn=Collate(tok),
        multiprocessing_context=start,
    )
    rows = [row for batch in loader for row in batch.tolist()]
    expected = tok.encoding_batch(TEXTS, truncation=16, padding=16)
    assert rows == expected.input_ids.tolist()


class Collate:
    """What a DataLoader calls in its workers: it can be pickled."""

    def __init__(self, tok: jogak.Tokenizer) -> None:
        self.tok = tok

    def __call__(self, texts: list[str]) -> Any:
        return self.tok.encoding_batch(texts, truncation=16, padding=16).input_ids


@pytest.mark.parametrize("start", STARTS)
def test_collating_workers(start: str) -> None:
    """What a DataLoader does, without torch: a callable with a tokenizer in it goes to a pool."""
    collate = Collate(tokenizers()["byte-level"])
    batches = [TEXTS[at : at + 8] for at in range(0, 64, 8)]
    with multiprocessing.get_context(start).Pool(2) as pool:
        rows = [row for made in pool.map_async(collate, batches).get(120) for row in made.tolist()]
    expected = collate.tok.encoding_batch(TEXTS, truncation=16, padding=16)
    assert rows == expected.input_ids.tolist()


# --- free-threaded Python


def test_the_module_needs_no_global_lock() -> None:
    """Importing it must not switch the lock on again, where Python can do without."""
    if getattr(sys, "_is_gil_enabled", None) is None or sys._is_gil_enabled():  # type: ignore[attr-defined]  # of newer Pythons
        pytest.skip("this Python runs with its lock; the hammering above runs anyway")
    program = "import sys, jogak._core; print(sys._is_gil_enabled())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
