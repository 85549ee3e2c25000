"""Holds the house in shape: which room may import which, and what `import jogak` may pull in.

A room that is not in a table fails: whoever adds one says there what it may touch.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import jogak
from jogak import spec

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "python" / "jogak"
RUST = ROOT / "crates" / "jogak" / "src"

# Room of the package -> rooms of the package that its files may import (itself always).
PYTHON_ARROWS: dict[str, set[str]] = {
    # what everybody may know
    "errors": set(),
    "spec": {"errors"},
    "training": {"errors", "spec"},
    "threads": {"errors"},
    "progress": {"errors"},
    # corpora and counts
    "corpus": {"errors"},
    "counts": {"_core", "corpus", "errors", "progress", "spec", "threads"},
    # what runs
    "formats": {"_core", "errors", "spec", "training"},
    "resize": {"errors", "spec", "training"},
    "normalization": {"_core", "errors", "spec"},
    "surfaces": {"_core"},
    "ragged": {"_core", "errors", "spec"},
    "streaming": set(),
    "special": {"errors", "spec"},
    "encoding": {"errors", "ragged"},
    "inputs": {"_core", "encoding", "errors", "spec", "special"},
    "peers": {"errors", "formats", "spec"},
    "tokenizer": {
        *(
            "_core",
            "corpus",
            "encoding",
            "errors",
            "formats",
            "inputs",
            "ragged",
            "resize",
            "spec",
            "special",
        ),
        *("streaming", "threads", "training"),
        # Only inside functions: a tokenizer hands what it saw to what shows it, and what it is to what
        # knows other libraries and files; a report of what was read is that of counting.
        "counts",
        "explain",
        "peers",
        "streaming",
        "training",
    },
    "learn": {
        *("_core", "counts", "errors", "explain", "progress", "resize", "spec", "threads"),
        *("tokenizer", "training"),
    },
    # Inside functions, while the core reads.
    "loading": {"_core", "errors", "formats", "peers", "tokenizer"},
    # from file to file, with proof
    "conversion": {"errors", "formats", "loading", "tokenizer"},
    # what others call their options
    "recipes": {
        *("counts", "errors", "formats", "learn", "normalization", "progress", "spec"),
        *("tokenizer", "training"),
    },
    # what others call all of it
    "compat": {
        *("errors", "formats", "normalization", "recipes", "spec", "surfaces", "threads"),
        *("ragged", "tokenizer"),
    },
    # what shows
    "explain": {"errors", "spec"},
    "compression": {"errors", "explain", "learn", "spec", "training"},
    "reference": set(),
    # faces
    # Only where a name is first asked for.
    "__init__": set(),
    "cli": {"__init__", "errors", "explain", "spec"},
    "__main__": {"cli"},
}
CORE_ROOMS = {
    *("counts", "formats", "inputs", "learn", "loading", "normalization", "ragged", "surfaces"),
    "tokenizer",
}

# Room of the core -> rooms of the core that it may use.
RUST_ARROWS: dict[str, set[str]] = {
    "error": set(),
    "observe": set(),
    "random": set(),
    "beside": set(),
    "vocab": {"error"},
    "symbols": {"error", "vocab"},
    # Metaspace is a pre-tokenizer that also rewrites; and expressions have one engine.
    "normalize": {"error", "pretokenize", "scan"},
    "surfaces": {"error", "normalize"},
    "scan": set(),
    "utf8": {"error", "scan"},
    "pretokenize": {"error", "scan"},
    "count": {"beside", "error", "pretokenize", "scan"},
    # Tokens are looked for in normalized text too.
    "added": {"error", "normalize"},
    # `count` says what it wants of a front half (the trait `Words`), and `prepare` is one.
    "prepare": {"count", "error", "normalize", "pretokenize"},
    # Glossaries are expressions, and these have one engine.
    "model": {
        "beside",
        "error",
        "observe",
        "pretokenize",
        "random",
        "scan",
        "symbols",
        "vocab",
    },
    "cache": {"error", "scan"},
    "decode": {
        "beside",
        "error",
        "normalize",
        "pretokenize",
        "scan",
        "symbols",
        "utf8",
        "vocab",
    },
    "pipeline": {
        "added",
        "beside",
        "cache",
        "decode",
        "error",
        "model",
        "normalize",
        "observe",
        "prepare",
        "random",
        "scan",
        "symbols",
        "utf8",
        "vocab",
    },
    "trace": {"added", "error", "model", "normalize", "observe", "pipeline", "prepare"},
    "limits": {"error", "pipeline"},
    "following": {"error", "model", "normalize", "observe", "pipeline", "prepare", "vocab"},
    "spans": {"added", "cache", "error", "model", "observe", "pipeline", "prepare", "trace"},
    "inputs": {"error", "spans"},
    "ways": {"error", "model", "pipeline", "symbols", "trace"},
    # Pieces of a Unigram model stay within one script.
    "train": {"beside", "count", "error", "observe", "pretokenize", "scan", "symbols", "vocab"},
}


# --- Python


def python_files() -> list[Path]:
    return sorted(PYTHON.rglob("*.py"))


def room_of(path: Path) -> str:
    """`python/jogak/formats/tiktoken.py` -> `formats`; `python/jogak/ragged.py` -> `ragged`."""
    return path.relative_to(PYTHON).parts[0].removesuffix(".py")


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def running_code(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below `node` that run: without the blocks that only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if not is_type_checking(child):
            yield child
            yield from running_code(child)


def imported_modules(path: Path) -> Iterator[str]:
    """Full names of what a file imports, relative imports resolved: `jogak.spec`, `numpy`, ..."""
    package = ["jogak", *path.relative_to(PYTHON).parent.parts]
    for node in running_code(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                # `from jogak import spec` names a room; `from jogak.spec import BPE` a thing in it.
                yield f"{module}.{alias.name}" if module == "jogak" else module


def imported_rooms(path: Path) -> set[str]:
    """The rooms of the package that a file imports; the package's own face is `__init__`."""
    rooms = set()
    for module in imported_modules(path):
        package, _, rest = module.partition(".")
        if package == "jogak":
            name = rest.partition(".")[0]
            is_room = (PYTHON / name).is_dir() or (PYTHON / f"{name}.py").exists()
            rooms.add(name if name and (is_room or name == "_core") else "__init__")
    return rooms


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(PYTHON)))
def test_a_python_room_imports_only_what_it_may(path: Path) -> None:
    room = room_of(path)
    assert room in PYTHON_ARROWS, f"{room} is a new room: say in PYTHON_ARROWS what it may import"
    forbidden = imported_rooms(path) - PYTHON_ARROWS[room] - {room}
    assert not forbidden, f"{room} may not import {sorted(forbidden)}"


def test_only_few_rooms_know_the_rust_module() -> None:
    assert {room for room, rooms in PYTHON_ARROWS.items() if "_core" in rooms} == CORE_ROOMS


def test_the_reference_needs_nothing_but_python() -> None:
    # `regex` knows the Unicode classes that the standard library's `re` lacks.
    allowed = {*sys.stdlib_module_names, "jogak", "regex"}
    for path in (PYTHON / "reference").rglob("*.py"):
        modules = {module.partition(".")[0] for module in imported_modules(path)}
        assert modules <= allowed, path


def test_imports_are_seen_in_all_their_spellings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("spec.py", "errors.py", "learn.py"):
        (tmp_path / name).touch()
    (tmp_path / "formats").mkdir()
    file = tmp_path / "formats" / "native.py"
    file.write_text(
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING\n"
        "from jogak import spec, load\n"
        "from ..errors import FormatError\n"
        "from . import hugging_face\n"
        "if TYPE_CHECKING:\n"
        "    import jogak.learn\n"
        "def f():\n"
        "    import jogak._core\n",
        encoding="utf-8",
    )
    monkeypatch.setitem(globals(), "PYTHON", tmp_path)
    assert imported_rooms(file) == {"__init__", "spec", "errors", "formats", "_core"}


def test_importing_jogak_stays_light() -> None:
    program = (
        "import sys; before = set(sys.modules); import jogak; print(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "jogak" in loaded
    heavy = {"asyncio", "click", "IPython", "numpy", "pyarrow", "rich", "typer"}
    assert not loaded & heavy
    assert not any(name.startswith("jogak.") for name in done.stdout.split())


def test_public_names_have_one_home() -> None:
    assert sorted(jogak._HOME) == sorted(jogak.__all__)
    assert sum(map(len, jogak._HOMES.values())) == len(jogak._HOME)
    assert set(jogak.__all__) <= set(dir(jogak))
    with pytest.raises(AttributeError, match="'nothing'"):
        jogak.nothing  # noqa: B018 - the look-up is the test


def test_families_are_imported_when_they_are_asked_for() -> None:
    program = (
        "import sys, jogak\n"
        "from jogak.spec import BPEModel, Named, Spec\n"
        "model = BPEModel(pieces=('a', 'b', 'ab'), merges=((0, 1),))\n"
        "jogak.Tokenizer(Spec(model=model, pretokenizer=(Named('none'),))).encode('ab')\n"
        "print(*sys.modules)\n"
        "import jogak.spec\n"
        "assert all(hasattr(jogak.spec, name) for name in jogak.spec.__all__)\n"
        "assert {*jogak.spec.__all__} <= {*dir(jogak.spec)} and not hasattr(jogak.spec, 'nothing')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    later = {f"jogak.spec.{name}" for name in spec._HOMES}
    assert "jogak.spec.bpe" in done.stdout.split()
    assert len(later) > 7
    assert not later & {*done.stdout.split()}


def test_every_public_name_is_there() -> None:
    program = (
        "import jogak; [getattr(jogak, name) for name in jogak.__all__]; print(*jogak.__all__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert {"train", "load", "BPE", "JogakError"} <= set(done.stdout.split())


# --- Rust


def rust_rooms() -> dict[str, list[Path]]:
    """Room -> its files; `lib.rs` stands above all rooms."""
    rooms: dict[str, list[Path]] = {}
    for path in sorted(RUST.rglob("*.rs")):
        room = path.relative_to(RUST).parts[0].removesuffix(".rs")
        if room != "lib":
            rooms.setdefault(room, []).append(path)
    return rooms


def used_rooms(source: str) -> set[str]:
    """The rooms that Rust source names: `use crate::vocab::Vocab`, `use crate::{error, vocab}`."""
    code = re.sub(r"//[^\n]*", "", source)
    # Tests may compare with any room.
    code = code.partition("#[cfg(test)]")[0]
    rooms = set(re.findall(r"\bcrate::([a-z_]+)\b", code))
    for group in re.findall(r"\bcrate::\{((?:[^{}]|\{[^{}]*\})*)\}", code):
        flat = re.sub(r"\{[^{}]*\}", "", group)
        rooms.update(re.findall(r"(?:^|,)\s*([a-z_]+)", flat))
    return rooms


@pytest.mark.parametrize(("room", "files"), rust_rooms().items(), ids=rust_rooms().keys())
def test_a_rust_room_uses_only_what_it_may(room: str, files: list[Path]) -> None:
    assert room in RUST_ARROWS, f"{room} is a new room: say in RUST_ARROWS what it may use"
    for path in files:
        forbidden = used_rooms(path.read_text(encoding="utf-8")) - RUST_ARROWS[room] - {room}
        assert not forbidden, f"{path.relative_to(RUST)} may not use {sorted(forbidden)}"


def test_unsafe_code_lives_in_its_rooms() -> None:
    files = RUST.parent.parent.rglob("*.rs")
    allowed = [path for path in files if "unsafe_code" in path.read_text()]
    crates = RUST.parent.parent
    assert sorted(path.relative_to(crates).as_posix() for path in allowed) == [
        "jogak-py/src/numbers.rs",
        "jogak/src/scan/avx2.rs",
        "jogak/src/scan/avx512.rs",
        "jogak/src/scan/neon.rs",
        "jogak/src/scan/prefetch.rs",
    ]
    assert 'unsafe_code = "deny"' in (ROOT / "Cargo.toml").read_text()


def test_work_on_blocks_is_compiled_for_the_machine() -> None:
    """A `Task` that is not inlined is compiled for any machine, however it is called."""
    work = re.compile(
        r"#\[inline\(always\)\]\n *fn run<L: Look>\(self\) \{|fn run<L: Look>\(self\) \{"
    )
    found = {}
    for path in RUST.rglob("*.rs"):
        source = path.read_text(encoding="utf-8").partition("\nmod tests {")[0]
        found[path.relative_to(RUST)] = work.findall(source)
    assert sum(map(len, found.values())) > 5
    for path, tasks in found.items():
        assert all(task.startswith("#[inline") for task in tasks), path


def test_rust_imports_are_seen_in_all_their_spellings() -> None:
    source = (
        "use crate::{error::{Error, Place}, vocab};\n"
        "// use crate::train;\n"
        "fn f() -> crate::count::Counts { count() }\n"
        "#[cfg(test)]\nmod tests { use crate::pipeline; }\n"
    )
    assert used_rooms(source) == {"error", "vocab", "count"}


def test_training_and_encoding_never_meet() -> None:
    assert not {"pipeline", "model", "prepare"} & RUST_ARROWS["train"]
    assert not any("train" in rooms for rooms in RUST_ARROWS.values())


def test_no_room_that_is_gone_stands_in_the_tables() -> None:
    assert PYTHON_ARROWS.keys() == {room_of(path) for path in python_files()}
    assert RUST_ARROWS.keys() == rust_rooms().keys()


def test_the_core_knows_no_python() -> None:
    for crate in ("jogak", "jogak-corpus", "jogak-formats"):
        manifest = (ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8")
        assert "pyo3" not in manifest
        assert "numpy" not in manifest


def test_no_file_names_a_package_index() -> None:
    """Where packages come from is the machine's business, so the lock files hold versions only."""
    lines = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    assert pinned
    assert all(re.match(r"[a-z0-9-]+==[^ ]+( ; .+)?$", line) for line in pinned)
