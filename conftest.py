"""The examples in README and docs run in an empty folder each, so that they may write files."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _pages_have_a_folder_of_their_own(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if request.node.path.suffix == ".md":
        monkeypatch.chdir(tmp_path)
