"""A few seconds of fuzzing in every test run: broken files are refused with a place, or are tokenizers.

The same as `fuzz/run.py`, with fixed random numbers.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from jogak.formats import FORMATS

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from run import one  # noqa: E402  # the folder is no package: it is run by hand
from seeds import OPTIONS, seeds  # noqa: E402
from target import check  # noqa: E402

SEEDS = seeds()
#: Formats that nothing here can write; their readers have mutation tests of their own.
READ_ONLY: set[str] = set()


def test_every_format_has_files_to_break() -> None:
    assert set(SEEDS) == set(FORMATS) - READ_ONLY


@pytest.mark.parametrize("format", sorted(SEEDS))
def test_the_seeds_are_tokenizers(format: str) -> None:
    assert all(check(files, format, OPTIONS.get(format)) for files in SEEDS[format])


@pytest.mark.parametrize("format", sorted(SEEDS))
def test_broken_files_are_refused_or_read(format: str) -> None:
    answers = [
        check(one(SEEDS[format], random.Random(number)), format, OPTIONS.get(format))
        for number in range(400)
    ]
    # Neither all nor none: the files were broken, and not beyond recognition.
    assert 0 < sum(answers) < len(answers)


@pytest.mark.parametrize("format", sorted(SEEDS))
def test_broken_files_are_recognised_or_not(format: str) -> None:
    for number in range(1000, 1080):
        check(one(SEEDS[format], random.Random(number)), None)
