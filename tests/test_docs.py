"""What README and docs show of the command line is what it prints.

Every ```console block with a `$ jogak` or `$ python` in it is run, command by command, in one folder per
page, and its output compared with what stands there. A line `...` stands for any number of lines. Other
console blocks (installing, make) are for people only. The Python examples are run by doctest.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import jogak

ROOT = Path(__file__).resolve().parent.parent
READMES = [ROOT / "README.md", ROOT / "README.ko.md"]
PAGES = [*READMES, *sorted((ROOT / "docs").glob("*.md"))]


def commands(page: str) -> Iterator[tuple[str, str]]:
    """The commands of a page, each with the output that stands below it."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        typed = "\n".join(re.findall(r"^\$ (.*)", block, re.MULTILINE))
        if not re.search(r"^python |jogak ", typed, re.MULTILINE):
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


def test_published_vocabularies_give_the_ids_that_the_readme_shows(
    data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "cl100k_base/cl100k_base.tiktoken",
        "gpt2",
        "bert-base-cased",
        "xlnet-base-cased",
    ):
        (tmp_path / Path(name).name).symlink_to(data(f"models/{name}").resolve())
    monkeypatch.chdir(tmp_path)
    block = next(b for b in code_blocks(READMES[0].read_text(encoding="utf-8")) if "gpt2 =" in b)
    names: dict[str, Any] = {"jogak": jogak, "tok": jogak.train({"ab": 2}, jogak.BPE())}
    checked = 0
    for line in block.splitlines()[1:-1]:
        statement, _, shown = line.partition("  # ")
        if shown.startswith("["):
            assert eval(statement, names) == ast.literal_eval(shown), line
            checked += 1
        else:
            exec(statement, names)
        if statement.startswith("bert.encoding"):
            tokens = eval(statement, names)
    assert tokens == ast.literal_eval(block.split("tokens\n# ")[1].splitlines()[0])
    assert checked == 3
    assert (tmp_path / "folder" / "tokenizer.json").exists()


def code_blocks(page: str) -> list[str]:
    """Everything between fences, with the fences."""
    return re.findall(r"^```.*?^```$", page, re.DOTALL | re.MULTILINE)


def shape(page: str) -> list[tuple[int, list[list[str]]]]:
    """The headings of a page by their level, each with the numbers in the rows of tables below it."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    parts = re.split(r"^(#+) .*$", prose, flags=re.MULTILINE)
    return [
        (len(level), [re.findall(r"\d[\d.,]*", row) for row in re.findall(r"^\|.*", text, re.M)])
        for level, text in zip(parts[1::2], parts[2::2], strict=True)
    ]


def test_both_readmes_say_the_same() -> None:
    english, korean = (page.read_text(encoding="utf-8") for page in READMES)
    assert code_blocks(korean) == code_blocks(english)
    assert shape(korean) == shape(english)
    assert "(README.ko.md)" in english
    assert "(README.md)" in korean


def test_readmes_out_of_step_would_be_seen() -> None:
    page = "# a\n```python\n# no heading\n```\n## b\n| 1 |\n"
    assert code_blocks(page) == ["```python\n# no heading\n```"]
    assert shape(page) == [(1, []), (2, [["1"]])]


def test_a_wrong_page_would_be_seen() -> None:
    page = "```console\n$ jogak a\nx\n...\nz\n$ b\n```\n```console\n$ make\n```\n"
    assert list(commands(page)) == [("jogak a", "x\n...\nz\n"), ("b", "")]
    assert fits("x\n...\nz\n", "x\ny\n\nz\n\n")
    assert not fits("x\n...\nz\n", "x\ny\n")
