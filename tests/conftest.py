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
