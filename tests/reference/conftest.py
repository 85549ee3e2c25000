"""Shared inputs of the reference's tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(os.environ.get("JOGAK_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of corpora and models; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no data at {DATA}: set JOGAK_DATA to the folder of corpora and models")
    return DATA


@pytest.fixture(scope="session")
def read_corpus(data: Path) -> Callable[[str, int], str]:
    """A reader: the first `size` characters of the corpus `name`, up to a whole line."""

    def read(name: str, size: int) -> str:
        path = data / "corpora" / name
        if not path.is_file():
            pytest.skip(f"no corpus {path}")
        with path.open(encoding="utf-8") as file:
            text = file.read(size)
        return text[: text.rfind("\n") + 1]

    return read
