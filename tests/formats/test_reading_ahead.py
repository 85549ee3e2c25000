"""Files that the core reads while Python imports: nothing comes of it but time."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jogak
from jogak import _core

#: As many characters of their own.
MANY = 8000
TEXT = "한국어와 English, 日本語"


def ranks() -> bytes:
    pieces = [bytes([byte]) for byte in range(256)]
    pieces += [bytes([n % 256, n // 256]) for n in range(256 * 64)]
    lines = [base64.b64encode(piece) + b" %d" % rank for rank, piece in enumerate(pieces)]
    return b"\n".join(lines) + b"\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of each kind that is read ahead, and a folder."""
    folder = tmp_path_factory.mktemp("ahead")
    files = {
        name: folder / name
        for name in ("ranks.tiktoken", "tokenizer.json", "tokenizer.model", "vocab.txt")
    }
    files["ranks.tiktoken"].write_bytes(ranks())
    characters = [chr(0x4E00 + n) for n in range(MANY)]
    jogak.train_sentencepiece(
        sentence_iterator=iter(["한국어 English " * 9, *characters]),
        model_prefix=str(folder / "tokenizer"),
        vocab_size=MANY + 14,
        character_coverage=1.0,
    )
    lines = ["[PAD]", "[UNK]", *characters, *(f"##{character}" for character in characters)]
    files["vocab.txt"].write_text("\n".join(lines), encoding="utf-8")
    tok = jogak.train(dict.fromkeys(characters, 2), jogak.BPE(vocab_size=MANY))
    tok.save(files["tokenizer.json"], format="tokenizer-json")
    for path in files.values():
        assert path.stat().st_size >= 1 << 16, "so short a file is not read ahead"
    return files | {"folder": folder}


def load(path: Path) -> jogak.Tokenizer:
    said: dict[str, dict[str, Any]] = {
        ".tiktoken": {"pretokenizer": "cl100k"},
        ".txt": {"lowercase": False},
    }
    return jogak.load(path, **said.get(path.suffix, {}))


NAMES = ["ranks.tiktoken", "tokenizer.json", "tokenizer.model", "vocab.txt", "folder"]
READERS: dict[str, Callable[[bytes], object]] = {
    "ranks.tiktoken": lambda data: dict(_core.read_ranks(data) or {}),
    "tokenizer.json": lambda data: dict((_core.read_sections(data) or (b"", {}))[1]),
    "tokenizer.model": lambda data: dict((_core.read_model_pieces(data) or ({},))[0]),
    "vocab.txt": lambda data: dict(_core.read_lines(data) or {}),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_tokenizer_is_the_same(
    files: dict[str, Path], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = load(files[name])
    monkeypatch.setattr(_core, "read_ahead", lambda path: None)
    alone = load(files[name])
    assert found == alone and found.spec == alone.spec
    assert found.encode(TEXT) == alone.encode(TEXT)


def changed(data: bytes) -> bytes:
    """A file of the same length, with another piece or another rank."""
    if data.startswith((b"\n", b"[PAD]")):
        return data.replace("乀".encode(), "龠".encode(), 1)
    at = max(data.rfind(byte) for byte in b"3456")
    return data[:at] + b"9" + data[at + 1 :]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("other", [*NAMES, "nothing", "changed"])
def test_what_was_found_in_another_file_is_not_taken(
    files: dict[str, Path], tmp_path: Path, name: str, other: str
) -> None:
    read, data = READERS[name], files[name].read_bytes()
    _core.read_ahead(None)
    expected = read(data)
    assert expected
    path = files.get(other, tmp_path / other)
    if other == "changed":
        path.write_bytes(changed(data))
        assert read(path.read_bytes()) != expected
    _core.read_ahead(str(path))
    assert read(data) == expected
    # It is taken once; then there is nothing.
    assert read(data) == expected


def test_any_bytes_and_what_is_no_file(tmp_path: Path) -> None:
    heads = (b"{", b'{"model":', b"\n", b"YQ== 0\n", b"[UNK]\n", b"GGUF", b" 1", b"\0")
    for number, head in enumerate(heads):
        path = tmp_path / str(number)
        path.write_bytes(head + b"\xff{\n 1" * (1 << 15))
        with pytest.raises((jogak.FormatError, jogak.ConfigError)):
            jogak.load(path)
    for path in (tmp_path, tmp_path / "none", tmp_path / "a\0b"):
        with pytest.raises((OSError, ValueError, jogak.FormatError)):
            jogak.load(path)
        _core.read_ahead(str(path))
        assert _core.read_ranks(b"") is None


def test_a_pipe_is_read_once(files: dict[str, Path], tmp_path: Path) -> None:
    """To open it ahead would take it from whoever reads it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = files["ranks.tiktoken"].read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    tok = jogak.load(pipe, format="tiktoken", pretokenizer="cl100k")
    writer.join(30)
    assert tok == load(files["ranks.tiktoken"])


def test_many_threads_load_at_once(files: dict[str, Path]) -> None:
    made: list[tuple[str, jogak.Tokenizer]] = []

    def run(name: str) -> None:
        made.extend((name, load(files[name])) for _ in range(3))

    threads = [threading.Thread(target=run, args=(name,)) for name in NAMES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 3 * len(NAMES)
    for name, tok in made:
        assert tok == load(files[name])
