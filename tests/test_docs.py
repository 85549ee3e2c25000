"""What README and docs show of the command line is what it prints.

Every ```console block with a `$ jogak` in it is run, command by command, in one folder per page, and its
output compared with what stands there. A line `...` stands for any number of lines. Other console blocks
(installing, make) are for people only. The Python examples are run by doctest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(page: str) -> Iterator[tuple[str, str]]:
    """The commands of a page, each with the output that stands below it."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        if "jogak " not in "".join(re.findall(r"^\$ (.*)", block, re.MULTILINE)):
            continue
        yield from re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


def said(output: str) -> str:
    """Output without what nobody sees: spaces at line ends, blank lines at the end."""
    return "\n".join(line.rstrip() for line in output.rstrip().splitlines())


def fits(expected: str, output: str) -> bool:
    parts = re.split(r"^\.\.\.$", said(expected), flags=re.MULTILINE)
    return re.fullmatch(".*".join(map(re.escape, parts)), said(output), re.DOTALL) is not None


def run(command: str, folder: Path) -> str:
    """What a person sees who types the command: stdout and stderr, in turn."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1; {command}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_command_line_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for command, expected in commands(page.read_text(encoding="utf-8")):
        output = run(command, tmp_path)
        assert fits(expected, output), f"$ {command}\n{output}"


def test_a_wrong_page_would_be_seen() -> None:
    page = "```console\n$ jogak a\nx\n...\nz\n$ b\n```\n```console\n$ make\n```\n"
    assert list(commands(page)) == [("jogak a", "x\n...\nz\n"), ("b", "")]
    assert fits("x\n...\nz\n", "x\ny\n\nz\n\n")
    assert not fits("x\n...\nz\n", "x\ny\n")
