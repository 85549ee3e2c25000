"""Files and folders: writes that are whole or not at all, bounded reads, and which format it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from format_cases import TOY_PROBES, toy_log, toy_spec
from hypothesis import given, settings
from hypothesis import strategies as st

from jogak import formats
from jogak.errors import ConfigError, FormatError
from jogak.formats import bytelevel, files

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")


# --- writing ------------------------------------------------------------------------------------


def test_new_and_old_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for data in (b"one", b"two" * 10**6, b""):
        files.write_atomically(path, data)
        assert path.read_bytes() == data
        assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_new_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_atomically(tmp_path / "file", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


@posix
def test_an_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file").chmod(0o604)
    files.write_atomically(tmp_path / "file", b"new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o604


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    if exists:
        target.write_bytes(b"old")
    link.symlink_to(target)
    files.write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@posix
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=files.write_atomically, args=(pipe, b"through"))
    writer.start()
    assert pipe.read_bytes() == b"through"
    writer.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_when_the_write_fails_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(_: int) -> None:
        raise OSError("no space left")

    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="no space left"):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files.write_atomically(tmp_path / "nowhere" / "file", b"")


# --- reading ------------------------------------------------------------------------------------


def test_reads_have_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert files.read_bytes(path, limit=5) == b"12345"
    with pytest.raises(
        FormatError, match="longer than 4 bytes, which no vocabulary file is"
    ) as caught:
        files.read_bytes(path, limit=4)
    assert (caught.value.file, caught.value.place) == (str(path), "byte 4")


@posix
def test_endless_files_end() -> None:
    with pytest.raises(FormatError, match="longer than 1,000 bytes"):
        files.read_bytes("/dev/zero", limit=1000)


# --- byte characters ----------------------------------------------------------------------------


@settings(deadline=None)
@given(st.binary())
def test_bytes_are_drawn_and_read(data: bytes) -> None:
    text = bytelevel.from_bytes(data)
    assert len(text) == len(data)
    assert bytelevel.to_bytes(text) == data
    assert bytelevel.first_foreign([text]) is None


def test_the_alphabet_is_gpt2s() -> None:
    alphabet = bytelevel.ALPHABET
    assert len(set(alphabet)) == 256
    assert [alphabet[byte] for byte in b" \n\t!~\x00\x7f\xa0\xad\xff"] == list("ĠĊĉ!~ĀġłŃÿ")
    assert all(character.isprintable() and not character.isspace() for character in alphabet)


def test_what_stands_for_no_byte() -> None:
    with pytest.raises(ValueError, match="' ' in 'a b' stands for no byte"):
        bytelevel.to_bytes("a b")
    assert bytelevel.first_foreign(["a", "가"]) == "가"


# --- which format -------------------------------------------------------------------------------


def test_native_is_the_format_unless_another_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.any"
    formats.write(path, toy_spec(), toy_log(), TOY_PROBES)
    assert formats.detect(path) == "jogak"
    loaded = formats.read(path)
    assert loaded == formats.Loaded(toy_spec(), toy_log(), TOY_PROBES, "jogak")
    assert formats.read(path, format="jogak") == loaded


def test_a_native_file_is_known_in_any_layout(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text('\n{ "version": 1, "format": "jogak" }')
    assert formats.detect(path) == "jogak"
    with pytest.raises(FormatError, match="lacks the field 'spec'"):
        formats.read(path)


def test_a_broken_native_file_is_still_a_native_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text('{"format":"jogak",\n"version":')
    with pytest.raises(FormatError, match="line 2, column 11: Expecting value"):
        formats.read(path)


def test_a_folder_of_other_things(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="a folder of no format that is known"):
        formats.read(tmp_path)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        formats.read(tmp_path / "nothing")


def test_wrong_calls_are_told(tmp_path: Path) -> None:
    path = tmp_path / "model"
    formats.write(path, toy_spec())
    with pytest.raises(
        ConfigError, match=r"format is 'sentence'; expected one of .*'jogak', .*'vocab-mer"
    ):
        formats.read(path, format="sentence")
    with pytest.raises(ConfigError, match=r"format is 'sentence'; expected one of .*'jogak'"):
        formats.write(path, toy_spec(), format="sentence")
    with pytest.raises(ConfigError, match="'jogak' has no option 'marker'; it takes: none, since"):
        formats.read(path, marker="none")
    with pytest.raises(ConfigError, match="'jogak' is one file; found 2 paths"):
        formats.read((path, path), format="jogak")
    with pytest.raises(
        ConfigError, match="is a folder, and format 'jogak' is one file; give its name"
    ):
        formats.write(tmp_path, toy_spec())


def test_formats_start_light() -> None:
    code = "import sys, jogak.formats; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.split() == ["False"]
