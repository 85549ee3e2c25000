"""Hypothesis profiles, and where tests find real corpora and real tokenizers.

`JOGAK_HYPOTHESIS=thorough` runs many more examples. `JOGAK_DATA` names the folder with `corpora/`
and `models/`; without it, `../shared/data` beside the checkout is taken where it is there.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import jogak

ROOT = Path(__file__).resolve().parent.parent

# A shell starts background jobs deaf to Ctrl-C; tests, and the processes they start, shall hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("quick", max_examples=60, deadline=None, derandomize=True)
settings.register_profile(
    "thorough", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("JOGAK_HYPOTHESIS", "quick"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """`data("corpora/en_docs.txt")`: the path of a data file; the test is skipped where it is not."""
    folder = Path(os.environ.get("JOGAK_DATA") or ROOT.parent / "shared" / "data")

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            pytest.skip(f"no {name} under {folder}; set JOGAK_DATA to the folder that has it")
        return path

    return find


@pytest.fixture(scope="session")
def tok() -> jogak.Tokenizer:
    """Byte-level, with two special tokens."""
    counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    korean = {"계란밥": 3, "간장밥": 5, "간장계란밥": 2, "볶음밥": 3}
    config = jogak.BPE(vocab_size=280)
    return jogak.train(counts | korean, config, special_tokens=["<pad>", "<|end|>"])
