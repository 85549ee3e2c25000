"""The catalogue of errors: each kind is raised by a real call, and says what a user needs.

Every case names the essential words of its message: what was found, what was expected, what to do.
The catalogue is complete in three ways, which the last tests hold: every exception class, every pair
(module, class) that stands in a ``raise`` of ``python/jogak``, and every variant of the Rust enums.
The cases stand in `error_cases`, a file for each subject.
(`test_cli.py` has the command line, where errors are lines and exit codes.)
"""

from __future__ import annotations

import ast
import os
import pickle
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from error_cases import CASES, Case

import jogak
from jogak import errors

ROOT = Path(__file__).resolve().parent.parent

#: What no test can raise, and why. A case that does raise it must go to `CASES`.
BEYOND_TESTS = {
    "core.TooLarge": "needs 2**32 symbols, 16 GiB of memory; a TrainingError, or a CorpusError",
    "corpus.Cancelled": "what stopped the run is raised in its place (test_what_stops_counting)",
    "corpus.Threads": "needs a system that gives no thread (tests/test_few_threads.py makes one)",
}


def raised(case: Case, folder: Path) -> errors.JogakError:
    with pytest.raises(errors.JogakError) as caught:
        case.call(folder)
    return caught.value


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_catalogue(case: Case, tmp_path: Path) -> None:
    """Class, message and place; one line without what only a programmer knows."""
    error = raised(case, tmp_path)
    assert type(error) is case.error
    told = str(error)
    for word in case.words:
        assert word in told, told
    # What an engine draws, and two answers beneath each other, have lines of their own.
    assert "\n" not in told.split(" is no regular expression")[0].split(" was not written:")[0]
    for internal in ("Error {", "Some(", "None", "_core", "__init__", "unwrap", "0x"):
        assert internal not in told.replace("or None", "").replace("=None)", "")
    for name, value in case.place.items():
        found = getattr(error, name)
        assert (os.path.basename(found) if name == "file" and found else found) == value
    if variant := case.variant:
        assert variant not in BEYOND_TESTS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors_are_what_python_expects(case: Case) -> None:
    """``except ValueError`` catches what is wrong with a value, ``except KeyboardInterrupt`` a stop."""
    usual = {
        errors.TrainingInterrupted: KeyboardInterrupt,
        errors.UnsupportedFeature: Exception,
        errors.ParityError: Exception,
    }
    assert issubclass(case.error, errors.JogakError)
    assert issubclass(case.error, usual.get(case.error, ValueError))
    assert getattr(jogak, case.error.__name__) is case.error


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors_cross_processes(case: Case, tmp_path: Path) -> None:
    """A pool of processes pickles exceptions; nothing of them gets lost."""
    error = raised(case, tmp_path)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_interrupted_holds_a_tokenizer(tmp_path: Path) -> None:
    """What was learned so far is complete."""
    case = next(case for case in CASES if case.error is errors.TrainingInterrupted)
    error = raised(case, tmp_path)
    assert isinstance(error, errors.TrainingInterrupted)
    assert error.tokenizer.tokens("hugs") == ["hug", "s"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, LookupError])
def test_what_stops_counting(stop: type[BaseException]) -> None:
    """What a callback raises comes out of counting, not that counting was stopped."""

    def progress(stage: str, done: int, total: int | None) -> NoReturn:
        raise stop("mine")

    with pytest.raises(stop, match="mine"):
        jogak.count(["a"], progress=progress)


# --- the catalogue is complete


def tree(root: type[errors.JogakError]) -> Iterator[type[errors.JogakError]]:
    yield root
    for child in root.__subclasses__():
        yield from tree(child)


def test_every_class_has_a_case() -> None:
    """Each leaf is raised itself; each branch is, or one of its leaves."""
    known = set(tree(errors.JogakError))
    assert {error.__name__ for error in known} == set(errors.__all__)
    for error in known:
        assert any(issubclass(case.error, error) for case in CASES), error
    leaves = {error for error in known if not error.__subclasses__()}
    assert leaves <= {case.error for case in CASES}


def test_every_class_is_drawn_in_the_tree() -> None:
    assert errors.__doc__
    drawn = re.findall(r"^ *[│ ]*[├└]── (\w+)|^    (JogakError)", errors.__doc__, re.MULTILINE)
    assert [a or b for a, b in drawn] == [error.__name__ for error in sorted_tree()]


def sorted_tree() -> list[type[errors.JogakError]]:
    """The classes in the order in which they are defined, which is the order of the drawing."""
    return [error for error in vars(errors).values()
            if isinstance(error, type) and issubclass(error, errors.JogakError)]  # fmt: skip


def variants(path: str, enum: str) -> set[str]:
    """The variants of a Rust enum, as the source has them."""
    source = (ROOT / path).read_text(encoding="utf-8")
    body = re.search(rf"^pub enum {enum} \{{\n(.*?)^\}}", source, re.MULTILINE | re.DOTALL)
    assert body
    return set(re.findall(r"^    ([A-Z]\w*)", body[1], re.MULTILINE))


def test_every_rust_variant_has_a_case() -> None:
    core, corpus = "crates/jogak/src/error.rs", "crates/jogak-corpus/src/error.rs"
    enums = {"core": (core, "Error"), "corpus": (corpus, "Error"), "problem": (corpus, "Problem")}
    expected = {
        f"{name}.{variant}" for name, where in enums.items() for variant in variants(*where)
    }
    assert len(expected) >= 18
    shown = {case.variant for case in CASES if case.variant}
    assert shown.isdisjoint(BEYOND_TESTS)
    assert shown | set(BEYOND_TESTS) == expected


#: Functions that make an error for a ``raise``, and its class.
MAKERS = {
    **dict.fromkeys(("fault", "_line_fault", "expected", "wrong", "_wrong"), "FormatError"),
    **dict.fromkeys(("refused", "refuse", "unsupported", "cannot"), "UnsupportedFeature"),
}


def raising() -> set[tuple[str, str]]:
    """(module, class) for every ``raise`` of a jogak error in python/jogak."""
    found = set()
    package = ROOT / "python" / "jogak"
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).as_posix()
        if module.startswith(("cli/", "reference/")):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            callee = node.exc.func
            name = callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")
            name = MAKERS.get(name, name)
            if name in errors.__all__:
                found.add((module, name))
    return found


def test_every_module_that_raises_has_a_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place of each ``raise`` is seen in the traceback, that of an error in its chain too."""
    shown = set()
    for number, case in enumerate(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        error: BaseException | None = raised(case, folder)
        while error is not None:
            if isinstance(error, errors.JogakError):
                last = traceback.extract_tb(error.__traceback__)[-1]
                parts = Path(last.filename).parts
                inside = parts[len(parts) - 1 - parts[::-1].index("jogak") + 1 :]
                shown.add(("/".join(inside), type(error).__name__))
            error = error.__cause__ or error.__context__
    missing = sorted(raising() - shown)
    assert missing == [], missing
