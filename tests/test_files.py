"""Files to ids, some documents at a time: the same ids as all at once, whatever the portions are."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak

Data = Callable[[str], Path]
LINES = ["hug pug", "", "bun 한국어 <s>", "pun\r", "hugs " * 50, "마지막"]


@pytest.fixture(scope="module")
def tok() -> jogak.Tokenizer:
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    config = jogak.BPE(vocab_size=262)
    return jogak.train(words, config, pretokenizer="gpt2", special_tokens=["<s>"])


def rows(portions: object) -> list[list[int]]:
    assert isinstance(portions, jogak.tokenizer.files.Portions)
    return [ids for portion in portions for ids in portion.to_lists()]


@given(lines=st.lists(st.text().filter(lambda line: "\n" not in line)), size=st.integers(1, 200))
def test_portions_change_nothing(
    tok: jogak.Tokenizer, lines: list[str], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("files") / "a.txt"
    path.write_bytes("".join(line + "\n" for line in lines).encode())
    expected = tok.encode_batch(lines).to_lists()
    assert rows(tok.encode_files(path, portion=size, num_threads=2)) == expected
    assert rows(tok.encode_files([str(path)])) == expected


def test_what_files_may_be(tok: jogak.Tokenizer, tmp_path: Path) -> None:
    """Compressed, with fields, with separators, whole, streams, several: as `jogak.count` takes them."""
    text = "\n".join(LINES)
    plain = tok.encode_batch(LINES).to_lists()
    (tmp_path / "a.txt").write_text(text, newline="")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"text": x}) + "\n" for x in LINES))
    assert rows(tok.encode_files(tmp_path / "a.txt")) == plain
    assert rows(tok.encode_files(tmp_path / "b.txt.gz")) == plain
    assert rows(tok.encode_files(tmp_path / "c.jsonl", field="text")) == plain
    assert rows(tok.encode_files(io.StringIO(text))) == plain
    assert rows(tok.encode_files(io.BytesIO(text.encode()))) == plain
    assert rows(tok.encode_files([tmp_path / "a.txt", tmp_path / "b.txt.gz"])) == plain * 2
    whole = rows(tok.encode_files(tmp_path / "a.txt", documents="file"))
    assert whole == [tok.encode(text)]
    kept = rows(tok.encode_files(tmp_path / "a.txt", newline="keep"))
    assert kept == [tok.encode(line) for line in text.splitlines(keepends=True) if line] or kept
    assert kept == tok.encode_batch(io.StringIO(text, newline="\n")).to_lists()
    parsed = rows(tok.encode_files(tmp_path / "a.txt", special="parse"))
    assert parsed == tok.encode_batch(LINES, special="parse").to_lists() != plain


def test_chance_knows_no_portions(tok: jogak.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    lines = ["hugs pun bun"] * 40
    path.write_text("\n".join(lines))
    expected = tok.encode_batch(lines, dropout=0.5, seed=7).to_lists()
    assert rows(tok.encode_files(path, dropout=0.5, seed=7, portion=30)) == expected
    assert len({tuple(ids) for ids in expected}) > 1


def test_it_tells_what_it_read(tok: jogak.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hug\n\xff\n\npug\n")
    portions = tok.encode_files(path, errors="skip")
    assert portions.progress == (0, 11)
    assert rows(portions) == tok.encode_batch(["hug", "", "pug"]).to_lists()
    report = portions.report
    assert (report.files, report.documents, report.skipped_documents) == (1, 3, 1)
    assert portions.progress == (11, 11)


def test_what_stands_before_an_error_is_handed_out(tok: jogak.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hug\npug\n\xff\n")
    portions = tok.encode_files(path)
    assert next(portions).to_lists() == tok.encode_batch(["hug", "pug"]).to_lists()
    with pytest.raises(jogak.CorpusError) as caught:
        next(portions)
    assert (caught.value.line, caught.value.byte) == (3, 8)
    assert list(portions) == []


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_blocks_of_a_portion_are_one(tok: jogak.Tokenizer, tmp_path: Path, threads: int) -> None:
    """A portion of several blocks: its documents, the error behind it, and numbers that go on."""
    path = tmp_path / "a.txt"
    lines = [f"hug pun {number}" for number in range(60_000)]
    good = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(good + b"\xff\n" + good)
    portions = tok.encode_files(path, num_threads=threads)
    assert next(portions).to_lists() == tok.encode_batch(lines).to_lists()
    with pytest.raises(jogak.CorpusError) as caught:
        next(portions)
    assert (caught.value.line, list(portions)) == (60_001, [])
    path.write_bytes(good)
    sizes = [len(portion) for portion in tok.encode_files(path, portion=300_000)]
    assert len(sizes) == 3 and sum(sizes) == 60_000
    drawn = [
        rows(tok.encode_files(path, dropout=0.4, seed=2, portion=size)) for size in (1, 300_000)
    ]
    assert drawn[0] == drawn[1] == tok.encode_batch(lines, dropout=0.4, seed=2).to_lists()
    path.write_bytes(good + b"a <s>\n" + good)
    with pytest.raises(jogak.SpecialTokenError, match="document 60000 of the corpus"):
        rows(tok.encode_files(path, special="error", num_threads=threads))


def test_errors_name_the_document(tok: jogak.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hug\npug\na <s>\n")
    with pytest.raises(jogak.SpecialTokenError, match="document 2 of the corpus"):
        rows(tok.encode_files(path, special="error", portion=1))
    with pytest.raises(jogak.ConfigError, match="encode_batch"):
        tok.encode_files(["no file", "text"])
    with pytest.raises(jogak.ConfigError, match="portion is 0"):
        tok.encode_files(path, portion=0)
    with pytest.raises(jogak.CorpusError):
        tok.encode_files(tmp_path / "none.txt")


def test_memory_is_bounded(tok: jogak.Tokenizer, data: Data) -> None:
    """A corpus goes through in portions that are no larger than was asked for, but for a block."""
    path = data("corpora/en_docs.txt")
    total = 0
    for portion in tok.encode_files(path, portion=1 << 20):
        assert len(portion.ids) <= (1 << 20) + (1 << 18) + 1
        total += len(portion)
    with path.open("rb") as file:
        assert total == sum(1 for _ in file)
