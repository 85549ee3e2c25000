"""Counts: a monoid, an artefact that can be kept, and the same on any number of threads."""

from __future__ import annotations

import collections
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jogak.counts import Counts, Report, count
from jogak.errors import ConfigError, CorpusError, FormatError

#: Words of few letters, so that they occur again, and texts that cross all kinds of borders.
WORDS = st.text(alphabet="ab밥간\u0301😀", min_size=1, max_size=4)
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=12)
INVENTORY = st.dictionaries(
    st.text(min_size=1, max_size=6).filter(lambda word: word.isprintable() or word < "\ud800"),
    st.integers(1, 2**60),
    max_size=8,
)


def words_of(texts: list[str]) -> collections.Counter[str]:
    """The same in plain Python."""
    return collections.Counter(word for text in texts for word in text.split())


# --- counting -----------------------------------------------------------------------------------------


@given(TEXTS, st.integers(1, 4), st.booleans())
def test_counts_are_those_of_plain_python(texts: list[str], threads: int, keep_order: bool) -> None:
    counts = count(
        iter(texts),
        pretokenizer="whitespace",
        num_threads=threads,
        keep_order=keep_order,
    )
    expected = words_of(texts)
    assert dict(counts.items()) == expected
    assert (len(counts), counts.total) == (len(expected), expected.total())
    canonical = sorted(expected.items(), key=lambda item: (-item[1], item[0].encode()))
    assert counts.most_common() == canonical
    assert list(counts.items()) == (list(expected.items()) if keep_order else canonical)


@given(TEXTS, st.integers(0, 12))
def test_shards_add_up(texts: list[str], cut: int) -> None:
    def part(some: list[str]) -> Counts:
        return count(iter(some), pretokenizer="whitespace")

    front, back, both = part(texts[:cut]), part(texts[cut:]), part(texts)
    assert front + back == both == back + front
    assert front.report + back.report == both.report


@pytest.mark.parametrize("name", ["cppdocs_ja.txt", "react_tf_ko.txt"])
def test_a_real_corpus(name: str, data: Callable[[str], Path]) -> None:
    path = data(f"corpora/{name}")
    # Not str.split(): to it the separators U+001C to U+001F are white space, to Unicode they are not.
    text = path.read_text(encoding="utf-8")
    expected = collections.Counter(re.findall(r"[\S\x1c-\x1f]+", text))
    for threads in (1, 2, 3):
        counts = count(path, pretokenizer="whitespace", num_threads=threads, keep_order=True)
        assert list(counts.items()) == list(expected.items())
        assert counts.report.bytes == path.stat().st_size
        assert counts.report.documents == path.read_bytes().count(b"\n")


@given(st.binary(max_size=40))
def test_broken_utf8_is_replaced_as_python_does(document: bytes) -> None:
    text = document.decode("utf-8", "replace")
    counts = count([document], pretokenizer="none", errors="replace")
    assert list(counts) == ([text] if text else [])


def test_short_words_are_left_out_and_counted() -> None:
    counts = count(["나 는 간장 밥 a\u0301"], pretokenizer="whitespace", min_word_length=2)
    assert set(counts) == {"간장", "a\u0301"}
    assert counts.report.short_words == 3


# --- looking ------------------------------------------------------------------------------------------


def test_counts_of_words() -> None:
    counts = Counts.from_dict({"b": 2, "a": 2, "긴 말": 7})
    assert (counts["긴 말"], counts["c"], counts["\ud800"]) == (7, 0, 0)
    assert "a" in counts
    assert "c" not in counts
    assert "\ud800" not in counts
    assert 5 not in counts
    assert list(counts) == ["b", "a", "긴 말"]
    assert counts.most_common(2) == [("긴 말", 7), ("a", 2)]
    assert counts.most_common(0) == []
    assert repr(counts) == "<Counts: 3 words, 11 in all>"
    with pytest.raises(ConfigError, match="n is -1"):
        counts.most_common(-1)


def test_limits() -> None:
    counts = Counts.from_dict({"긴": 9, "긴말": 2, "b": 1, "더긴말": 1})
    assert list(counts.limited(min_count=2)) == ["긴", "긴말"]
    assert list(counts.limited(min_word_length=2)) == ["긴말", "더긴말"]
    assert counts.limited() == counts
    with pytest.raises(ConfigError, match="min_count is 0"):
        counts.limited(min_count=0)


# --- the monoid ---------------------------------------------------------------------------------------


def added(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    return dict(collections.Counter(a) + collections.Counter(b))


@given(INVENTORY, INVENTORY, INVENTORY)
def test_sums_are_a_commutative_monoid(
    a: dict[str, int], b: dict[str, int], c: dict[str, int]
) -> None:
    x, y, z = map(Counts.from_dict, (a, b, c))
    assert (x + y) + z == x + (y + z)
    assert x + y == y + x == Counts.from_dict(added(a, b))
    assert x + Counts() == Counts() + x == x
    assert list(x + Counts()) == list(a)


def test_a_sum_has_no_first_word() -> None:
    total = Counts.from_dict({"b": 1}) + Counts.from_dict({"a": 1})
    assert not total.keeps_order
    assert list(total) == ["a", "b"]


def test_different_words_do_not_add() -> None:
    white = count(["a b"], pretokenizer="whitespace")
    whole = count(["a b"], pretokenizer="none")
    with pytest.raises(ConfigError, match=r'different pre-tokenizers.*"whitespace".*"none"'):
        white + whole
    with pytest.raises(ConfigError, match="an inventory that was given"):
        white + Counts.from_dict({"a": 1})
    assert white + Counts.from_dict({"a": 1}, "whitespace") == Counts.from_dict(
        {"a": 2, "b": 1}, "whitespace"
    )
    assert white != whole
    assert white + Counts() == white == Counts() + white
    with pytest.raises(TypeError):
        white + {"a": 1}  # type: ignore[operator]  # wrong on purpose


def test_sums_that_do_not_fit_are_errors() -> None:
    largest = Counts.from_dict({"a": 2**64 - 1})
    assert largest["a"] == largest.total == 2**64 - 1
    with pytest.raises(CorpusError, match="would pass 18446744073709551615"):
        largest + Counts.from_dict({"a": 1})
    with pytest.raises(CorpusError, match="the sum of all counts would pass"):
        largest + Counts.from_dict({"b": 1})
    with pytest.raises(CorpusError, match="the sum of all counts would pass"):
        Counts.from_dict({"a": 2**63, "b": 2**63})


# --- keeping ------------------------------------------------------------------------------------------


@given(inventory=INVENTORY)
def test_saved_and_loaded(
    tmp_path_factory: pytest.TempPathFactory, inventory: dict[str, int]
) -> None:
    path = tmp_path_factory.mktemp("counts") / "a.counts"
    counts = Counts.from_dict(inventory, ["gpt2", "digits3"])
    counts.save(path)
    again = Counts.load(path)
    assert again == counts
    assert list(again.items()) == list(inventory.items())
    assert again.pretokenizer == counts.pretokenizer
    first = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == first
    assert os.listdir(path.parent) == ["a.counts"]


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_same_counts_give_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], random: Random
) -> None:
    folder = tmp_path_factory.mktemp("counts")
    shuffled = random.sample(texts, len(texts))
    count(iter(texts), pretokenizer="whitespace", num_threads=2).save(folder / "a")
    parts = [count([text], pretokenizer="whitespace") for text in shuffled]
    total = sum(parts, count([], pretokenizer="whitespace"))
    total.save(folder / "b")
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()


def test_the_file_can_be_read_by_people(tmp_path: Path) -> None:
    path = tmp_path / "a.counts"
    Counts.from_dict({"low": 5, '"\n\t밥': 6}, "whitespace").limited().save(path)
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(header) == {
        "jogak": "counts",
        "version": 2,
        "normalizer": [],
        "pretokenizer": [{"type": "whitespace"}],
        "order": "first-seen",
        "words": 2,
        "total": 11,
    }
    assert lines == ['5\t"low"', '6\t"\\"\\n\\t밥"']


def test_saving_is_all_or_nothing(tmp_path: Path) -> None:
    counts = Counts.from_dict({"a": 1})
    with pytest.raises(FileNotFoundError, match="absent"):
        counts.save(tmp_path / "absent" / "a.counts")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        counts.save(tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]
    with pytest.raises(FileNotFoundError, match="absent"):
        Counts.load(tmp_path / "absent")


HEADER = (
    '{"jogak":"counts","version":2,"normalizer":[],"pretokenizer":null,'
    '"order":"canonical","words":2,"total":3}\n'
)


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        ("", 1, "not a file of counts"),
        ("{}\n", 1, "not a file of counts"),
        ("[1]\n", 1, "not a file of counts"),
        ("x" * (1 << 21), 1, "not a file of counts"),
        ("[" * 100_000, 1, "not a file of counts"),
        (
            HEADER.replace("2,", "3,", 1),
            1,
            "version 3 of the format; this jogak reads versions 1 to 2",
        ),
        (HEADER.replace("canonical", "random"), 1, 'order is "random"'),
        (HEADER.replace("[]", "5"), 1, "normalizer is 5"),
        (HEADER.replace("[]", '[{"type":"magic"}]') + '2\t"a"\n1\t"b"\n', 1, "magic"),
        (HEADER.replace("null", "5"), 1, "pretokenizer is 5"),
        (HEADER.replace("null", '[{"type":"magic"}]') + '2\t"a"\n1\t"b"\n', 1, "magic"),
        (HEADER.replace('"words":2', '"words":-2'), 1, "words is -2"),
        (
            HEADER.replace('"words":2', '"words":99999999999999'),
            2,
            "promises 99999999999999",
        ),
        (
            HEADER + '2\t"a"\n',
            3,
            "ends with 1 words and 2 in all, but line 1 promises 2 and 3",
        ),
        (HEADER + '2\t"a"\n1\t"b"', 3, "cut off"),
        (HEADER + '2\t"a"\n2\t"b"\n', 4, "promises 2 and 3"),
        (HEADER + '1\t"a"\n2\t"b"\n', 3, "out of order"),
        (HEADER + '2\t"b"\n2\t"a"\n', 3, "out of order"),
        (HEADER + '2\t"a"\n2\t"a"\n', 3, "out of order"),
        (
            HEADER.replace("canonical", "first-seen") + '2\t"a"\n1\t"a"\n',
            4,
            "1 words stand twice",
        ),
        (HEADER + '0\t"a"\n', 2, "the count is 0"),
        (HEADER + '02\t"a"\n', 2, "the count is 02"),
        (HEADER + '-2\t"a"\n', 2, "expected a count, a tab, and a word"),
        (HEADER + '99999999999999999999\t"a"\n', 2, "expected a count"),
        (HEADER + "2\ta\n", 2, "expected a count"),
        (HEADER + '2\t"a" \n', 2, "expected the form that saving gives it"),
        (HEADER + '2\t"\\u0061"\n', 2, "expected the form that saving gives it"),
        (HEADER + '2\t""\n', 2, "expected the form that saving gives it"),
        (
            HEADER + '18446744073709551615\t"a"\n1\t"b"\n',
            4,
            "the sum of all counts would pass",
        ),
    ],
)
def test_hostile_files(tmp_path: Path, content: str, line: int, told: str) -> None:
    path = tmp_path / "a.counts"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        Counts.load(path)
    assert (caught.value.file, caught.value.place) == (str(path), f"line {line}")
    assert told in str(caught.value)
    assert str(path) in str(caught.value)


@given(draw=st.data())
def test_damaged_files_are_errors_or_the_same(
    tmp_path_factory: pytest.TempPathFactory, draw: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("counts") / "a.counts"
    counts = Counts.from_dict({"밥": 3, 'a"\n': 2, "b": 2}, "whitespace")
    counts.save(path)
    content = bytearray(path.read_bytes())
    at = draw.draw(st.integers(0, len(content) - 1))
    content[at] = draw.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        again = Counts.load(path)
    except FormatError:
        return
    again.save(path)
    header, *words = path.read_bytes().split(b"\n")
    old_header, *old_words = bytes(content).split(b"\n")
    assert json.loads(header) == json.loads(old_header)
    assert words == old_words


# --- threads, progress, interruption ------------------------------------------------------------------


def test_threads_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOGAK_NUM_THREADS", "3")
    assert count(["a"], pretokenizer="whitespace").total == 1
    monkeypatch.setenv("JOGAK_NUM_THREADS", "many")
    with pytest.raises(ConfigError, match="JOGAK_NUM_THREADS"):
        count(["a"], pretokenizer="whitespace")
    assert count(["a"], pretokenizer="whitespace", num_threads=1).total == 1


def test_progress(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("word\n" * 1000)
    calls: list[tuple[str, int, int | None]] = []
    count(path, pretokenizer="whitespace", progress=lambda *call: calls.append(call))
    assert calls[-1] == ("counting", 5000, 5000)
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)
    unknown: list[tuple[str, int, int | None]] = []
    count(["word"], pretokenizer="whitespace", progress=lambda *call: unknown.append(call))
    assert unknown[-1] == ("counting", 4, None)
    count(path, pretokenizer="whitespace", progress=True)
    output = capsys.readouterr()
    assert output.out == ""


ENDLESS = {
    "documents": "import itertools; corpus = itertools.repeat('some words ' * 100)",
    "file": """
class File:
    def read(self, size): return b'some words\\n' * 1000
corpus = File()""",
    "standard input": "corpus = '-'",
}


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
@pytest.mark.parametrize("corpus", ENDLESS.values(), ids=ENDLESS.keys())
def test_ctrl_c_stops_within_a_second(corpus: str) -> None:
    program = (
        f"from jogak.counts import count\n{corpus}\nprint('ready', flush=True)\n"
        "count(corpus, pretokenizer='whitespace')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        process.wait(timeout=10)
        assert time.monotonic() - start < 1
        assert process.stderr is not None
        assert b"KeyboardInterrupt" in process.stderr.read()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_counting_after_a_fork() -> None:
    count(["a b"] * 1000, pretokenizer="whitespace", num_threads=4)
    child = os.fork()
    if child == 0:
        counts = count(["a b"] * 1000, pretokenizer="whitespace", num_threads=4)
        os._exit(0 if counts.total == 2000 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_absurd_numbers_of_threads() -> None:
    """More than 1024 are 1024, of which a small corpus needs one."""
    assert count({"a": 1}, num_threads=10**30).total == 1
    counts = count(["a b"], pretokenizer="whitespace", num_threads=10**12)
    assert counts.total == 2


def test_reports_add() -> None:
    report = Report(files=1, replaced=2) + Report(files=3)
    assert report == Report(files=4, replaced=2)
    assert report.to_dict()["files"] == 4
