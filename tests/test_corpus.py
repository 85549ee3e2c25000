"""What may stand for a corpus, and what is said when it cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jogak.corpus import is_paths
from jogak.counts import Counts, count
from jogak.errors import ConfigError, CorpusError

TEXTS = ["to be or not to be", "밥 은 밥", "", 'a "quote", and a comma', "tabs no"]


def words(corpus: Any, **options: Any) -> dict[str, int]:
    """White-space words of a corpus."""
    return dict(count(corpus, pretokenizer="whitespace", **options).most_common())


EXPECTED = words(iter(TEXTS))


def test_documents_are_counted() -> None:
    assert EXPECTED["to"] == 2
    assert EXPECTED["밥"] == 2
    assert sum(EXPECTED.values()) == 16


# --- every kind of corpus ---------------------------------------------------------------------------


def text_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    path = folder / "a.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    return path, {}


def json_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    path = folder / "a.jsonl"
    lines = [json.dumps({"id": i, "body": text}) for i, text in enumerate(TEXTS)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path, {"field": "body"}


def csv_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    path = folder / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "document", "label"])
        writer.writerows([i, text, 0] for i, text in enumerate(TEXTS))
    return path, {"column": "document"}


def tsv_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    path = folder / "a.tsv"
    lines = [
        "id\tdocument\tlabel",
        *(f"{i}\t{text}\t0" for i, text in enumerate(TEXTS)),
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path, {"column": "document"}


def nsmc_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The Korean review files are tables with tabs, but are called ``.txt``."""
    path, options = tsv_file(folder)
    return path.rename(folder / "ratings.txt"), options


FILES = [text_file, json_file, csv_file, tsv_file, nsmc_file]
Make = Callable[[Path], "tuple[Path, dict[str, Any]]"]


@pytest.mark.parametrize("make", FILES)
def test_formats(tmp_path: Path, make: Make) -> None:
    path, options = make(tmp_path)
    assert words(path, **options) == EXPECTED
    assert words(str(path), **options) == EXPECTED
    with path.open("rb") as binary:
        format = {".jsonl": "jsonl", ".csv": "csv"}.get(path.suffix)
        assert words(binary, **options, format=format) == EXPECTED
    with path.open(encoding="utf-8", newline="") as text:
        assert words(text, **options, format=format) == EXPECTED


@pytest.mark.parametrize("make", FILES)
@pytest.mark.parametrize("named", [True, False])
def test_compressed(tmp_path: Path, make: Make, named: bool) -> None:
    path, options = make(tmp_path)
    packed = path.with_name(path.name + ".gz") if named else path
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert words(packed, **options) == EXPECTED


def test_zstd(tmp_path: Path) -> None:
    zstd = shutil.which("zstd")
    if zstd is None:
        pytest.skip("needs the zstd command")
    path, _ = text_file(tmp_path)
    subprocess.run([zstd, "-q", "--rm", str(path)], check=True)
    assert words(f"{path}.zst") == EXPECTED


@pytest.mark.parametrize("kind", [str, Path])
def test_folders_and_patterns(tmp_path: Path, kind: Callable[[Path], Any]) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "b" / "2.txt").write_text("two\n")
    (tmp_path / "b" / "3.md.gz").write_bytes(gzip.compress(b"three"))
    (tmp_path / "1.TXT").write_text("one one")
    (tmp_path / "4.log").write_text("four")
    (tmp_path / ".hidden" / "5.txt").write_text("five")
    (tmp_path / ".6.txt").write_text("six")
    counts = count(kind(tmp_path), pretokenizer="whitespace", keep_order=True)
    assert list(counts.items()) == [("one", 2), ("two", 1), ("three", 1)]
    assert (counts.report.files, counts.report.ignored_files) == (3, 1)
    assert words(kind(tmp_path / "**" / "*.*")) == {
        "one": 2,
        "two": 1,
        "three": 1,
        "four": 1,
    }
    assert words([kind(tmp_path / "4.log"), kind(tmp_path / "b")]) == {
        "two": 1,
        "three": 1,
        "four": 1,
    }


def test_a_name_with_the_signs_of_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "a[1].txt"
    path.write_text("one")
    assert words(path) == {"one": 1}


def test_standard_input() -> None:
    program = (
        "from jogak.counts import count\n"
        "print(dict(count('-', pretokenizer='whitespace').most_common()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        input=b"b a\nb",
        capture_output=True,
        check=True,
    )
    assert run.stdout.decode().strip() == "{'b': 2, 'a': 1}"


def test_iterables_of_text_and_bytes() -> None:
    assert words(TEXTS) == EXPECTED
    assert words(tuple(text.encode() for text in TEXTS)) == EXPECTED
    assert words(bytearray(text.encode()) for text in TEXTS) == EXPECTED
    assert words(text for text in TEXTS) == EXPECTED
    assert words([]) == {}
    assert words(io.StringIO("\n".join(TEXTS))) == EXPECTED
    assert words(io.BytesIO("\n".join(TEXTS).encode())) == EXPECTED


def test_the_pretokenizer_is_chosen_and_told() -> None:
    counts = count(["it's 2024"])
    assert [stage.to_dict() for stage in counts.pretokenizer or ()] == [{"type": "o200k"}]
    assert set(counts) == {"it's", " ", "202", "4"}
    assert set(count(["a b"], pretokenizer="metaspace")) == {"▁a", "▁b"}


def test_inventories_and_counts() -> None:
    counts = count({"low": 5, "a": 1})
    assert dict(counts.items()) == {"low": 5, "a": 1}
    assert count(counts) is counts
    assert dict(count(counts, min_word_length=2).items()) == {"low": 5}
    assert dict(count({"low": 5, "a": 1}, min_word_length=2).items()) == {"low": 5}


# --- documents --------------------------------------------------------------------------------------


def whole(corpus: Any, **options: Any) -> list[str]:
    """The documents of a corpus, in order of first sight."""
    return list(count(corpus, pretokenizer="none", keep_order=True, **options))


def test_what_a_document_is() -> None:
    def file() -> io.BytesIO:
        return io.BytesIO(b"a\r\n\nb\nc")

    assert whole(file()) == ["a\r\n", "\n", "b\n", "c"]
    assert whole(file(), newline="keep") == ["a\r\n", "\n", "b\n", "c"]
    assert whole(file(), newline="drop") == ["a\r", "b", "c"]
    assert whole(file(), documents="file") == ["a\r\n\nb\nc"]
    assert whole(file(), separator="\nb") == ["a\r\n", "\nc"]
    assert whole(["a\r\n\nb\nc"]) == ["a\r\n\nb\nc"]


def test_line_ends_are_no_part_of_metaspace_words(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("a b\nc\n", encoding="utf-8")
    words = partial(count, path, pretokenizer="metaspace")
    assert dict(words().items()) == {"▁a": 1, "▁b": 1, "▁c": 1}
    assert dict(words(newline="keep").items()) == {"▁a": 1, "▁b\n": 1, "▁c\n": 1}


# --- errors -----------------------------------------------------------------------------------------


def test_broken_utf8(tmp_path: Path) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(b"fine\nbad \xff\xe2\x82 here\nfine")
    with pytest.raises(CorpusError) as caught:
        words(path)
    assert (caught.value.file, caught.value.line, caught.value.byte) == (
        str(path),
        2,
        9,
    )
    for part in (str(path), "line 2", "byte 9", 'errors="replace"', 'errors="skip"'):
        assert part in str(caught.value)
    replaced = count(path, pretokenizer="whitespace", errors="replace")
    assert replaced["\ufffd\ufffd"] == 1
    assert (replaced.report.replaced, replaced.report.documents) == (2, 3)
    skipped = count(path, pretokenizer="whitespace", errors="skip")
    assert dict(skipped.items()) == {"fine": 2}
    assert (skipped.report.skipped_documents, skipped.report.skipped_bytes) == (1, 13)


def test_broken_documents_in_memory() -> None:
    for broken in (b"\xff", "\ud800"):
        with pytest.raises(CorpusError, match="document 1, byte 0: broken UTF-8") as caught:
            words(iter(["fine", broken]))
        assert (caught.value.file, caught.value.line, caught.value.byte) == (
            None,
            None,
            0,
        )
        assert words(iter(["fine", broken]), errors="skip") == {"fine": 1}


@pytest.mark.parametrize(
    ("name", "content", "options", "line", "told"),
    [
        (
            "a.jsonl",
            '{"text": "a"}\n{"body": 1}',
            {"field": "text"},
            2,
            'no field "text"; found "body"',
        ),
        (
            "a.jsonl",
            '{"text": "a"}\n{"text": 5}',
            {"field": "text"},
            2,
            "expected a text",
        ),
        (
            "a.jsonl",
            '{"text": "a"}\n{"text": ',
            {"field": "text"},
            2,
            "expected one JSON object per line",
        ),
        (
            "a.jsonl",
            '{"text": "\\ud800"}',
            {"field": "text"},
            1,
            "half of a surrogate pair",
        ),
        (
            "a.csv",
            "a,b\n1,2\n1,2,3",
            {"column": "b"},
            3,
            "3 columns where the header has 2",
        ),
        (
            "a.csv",
            "a,b\n1,2",
            {"column": "c"},
            1,
            'no column "c"; the header has "a", "b"',
        ),
        (
            "a.tsv",
            "a\tb\n1\t2\n1",
            {"column": "b"},
            3,
            "1 columns where the header has 2",
        ),
        (
            "a.tsv",
            "a\tb\n1\t2\n1",
            {"column": "c"},
            1,
            'no column "c"; the header has "a", "b"',
        ),
    ],
)
def test_malformed_files(
    tmp_path: Path,
    name: str,
    content: str,
    options: dict[str, Any],
    line: int,
    told: str,
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(CorpusError) as caught:
        words(path, **options)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert caught.value.byte is not None
    assert told in str(caught.value)


def test_cut_off_and_misnamed_compression(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"some words " * 1000)[:-9])
    with pytest.raises(CorpusError, match="gzip data is cut off or damaged") as caught:
        words(path, errors="skip")
    assert caught.value.file == str(path)
    path.write_text("plain")
    with pytest.raises(CorpusError, match=r"ends in \.gz, but it does not start like gzip"):
        words(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no such file; to train on a text itself pass \[text\]"):
        words("the cat sat on the mat")
    with pytest.raises(CorpusError, match="no such file"):
        words(tmp_path / "absent.txt")
    with pytest.raises(CorpusError, match="no file matches this pattern"):
        words(str(tmp_path / "*.txt"))
    with pytest.raises(CorpusError, match="NUL"):
        words("a\0b")
    (tmp_path / "a.log").write_text("x")
    with pytest.raises(CorpusError, match="no file to read among 1 files") as caught:
        words(tmp_path)
    assert caught.value.file == str(tmp_path)
    with pytest.raises(CorpusError, match="no such file"):
        words([tmp_path / "a.log", "absent.txt"])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.touch(0)
    with pytest.raises(CorpusError, match="cannot be read"):
        words(path)


def test_lists_of_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("one")
    assert is_paths(["a.txt", "-"])
    assert is_paths(["*.txt"])
    assert not is_paths(["one text", "a.txt?", "what?"])
    assert not is_paths([])
    assert words(iter(["a.txt"])) == {"a.txt": 1}
    with pytest.raises(CorpusError, match=r"'b\.txt': no such file"):
        is_paths(["a.txt", "b.txt"])
    with pytest.raises(CorpusError, match=r"iter\(texts\)"):
        is_paths(["some text", "./data"])


@pytest.mark.parametrize(
    ("corpus", "options", "told"),
    [
        (5, {}, "corpus is of type int"),
        (b"text", {}, "corpus is bytes"),
        ([Path("a.txt"), 5], {}, "item of type int"),
        ("a.jsonl", {}, 'field="text"'),
        ("a.csv", {}, 'column="document"'),
        ("a.txt", {"format": "tsv"}, 'column="document"'),
        (
            "a.jsonl",
            {"field": "text", "column": "text"},
            "column is given, but no file",
        ),
        (
            "a.jsonl",
            {"field": "text", "newline": "drop"},
            "newline is given, but no file",
        ),
        ("a.jsonl", {"field": ""}, "field is ''"),
        ("a.txt", {"format": "xml"}, "format is 'xml'"),
        ("a.txt", {"documents": "word"}, "documents is 'word'"),
        ("a.txt", {"documents": "file", "separator": "x"}, "contradict"),
        (
            "a.txt",
            {"documents": "file", "newline": "drop"},
            "newline is for documents that are lines",
        ),
        ("a.txt", {"errors": "ignore"}, "errors is 'ignore'"),
        ("a.txt", {"min_word_length": 0}, "min_word_length is 0"),
        ("a.txt", {"num_threads": 0}, "num_threads is 0"),
        ("a.txt", {"num_threads": True}, "num_threads is True"),
        ("a.txt", {"progress": "yes"}, "progress is 'yes'"),
        (iter(["a"]), {"field": "text"}, "field is for files"),
        ({"a": 1}, {"separator": "x"}, "separator is for files"),
        ({"": 1}, {}, "the word ''"),
        ({1: 1}, {}, "the word 1"),
        ({"\ud800": 1}, {}, "no Unicode text"),
        ({"a": 0}, {}, "the count of 'a' is 0"),
        ({"a": -1}, {}, "the count of 'a' is -1"),
        ({"a": 1.0}, {}, "the count of 'a' is 1.0"),
        ({"a": 2**64}, {}, "the count of 'a' is 18446744073709551616"),
        (Counts.from_dict({"a": 1}, "gpt2"), {}, "made with"),
        (Counts.from_dict({"a": 1}), {"newline": "drop"}, "newline is for files"),
    ],
)
def test_options_that_cannot_be(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    corpus: Any,
    options: dict[str, Any],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "a.csv", "a.jsonl"):
        Path(name).touch()
    with pytest.raises(ConfigError) as caught:
        words(corpus, **options)
    assert told in str(caught.value)


def test_items_that_are_no_documents() -> None:
    with pytest.raises(CorpusError, match="document 1 is of type int; expected str or bytes"):
        words(iter(["a", 5]))


def test_exceptions_of_the_caller_pass_through() -> None:
    def broken() -> Any:
        yield "a"
        raise LookupError("mine")

    class File:
        def read(self, size: int = -1) -> bytes:
            raise LookupError("mine")

    class Numbers:
        def read(self, size: int = -1) -> int:
            return 5

    for corpus in (broken(), File()):
        with pytest.raises(LookupError, match="mine"):
            words(corpus)
    with pytest.raises(TypeError, match="expected bytes or str"):
        words(Numbers())

    def progress(stage: str, done: int, total: int | None) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        words(["a"], progress=progress)
