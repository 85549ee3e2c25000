"""subword-nmt's codes beside subword-nmt: segments, vocabularies, glossaries; and broken files."""

from __future__ import annotations

import dataclasses
import io
import itertools
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path, toy_spec
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak import formats
from jogak.compat import subword_nmt as face
from jogak.compat.subword_nmt import get_vocab as our_get_vocab
from jogak.compat.subword_nmt import learn_bpe as our_learn_bpe
from jogak.errors import ConfigError, FormatError, UnsupportedFeature
from jogak.formats import codes
from jogak.spec import Lowercase

apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
get_vocab = pytest.importorskip("subword_nmt.get_vocab")

LETTERS = "#version: 0.2\na b\nab c</w>\nab c\na a\nb c\nbc c</w>\nc a\nabc a\na b</w>\n"
HEADERS = {name: f"#version: {name}\n" for name in ("0.1", "0.2", "0.2.0")} | {"none": ""}
#: Merges of few letters, some twice, some that make the marker out of text.
PARTS = [*"abc<", "ab", "bc", "a</w>", "b</w>", "c</w>", "abc", "bc</w>", "</w", "/w>", ">", "</w>"]
FILES = st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(PARTS)), min_size=1, max_size=12)
TEXTS = st.text(st.sampled_from("aaabbbcc  <>/w\n\r\t가\u3000"), max_size=24)


def text_of(pairs: Any) -> str:
    return "".join(f"{left} {right}\n" for left, right in pairs)


def corpus(name: str, size: int) -> list[str]:
    path = Path(model_path("gpt2")).parents[1] / "corpora" / f"{name}.txt"
    with path.open(encoding="utf-8", newline="\n") as file:
        return file.read(size).split("\n")


def drawn(tok: jogak.Tokenizer, line: str) -> list[str]:
    """Pieces as subword-nmt draws them."""
    pieces = []
    for text in tok.tokens(line):
        if text == "</w>":
            pieces[-1] = pieces[-1].removesuffix("@@")
        else:
            ends = text.endswith("</w>")
            pieces.append(text.removesuffix("</w>") if ends else text + "@@")
    return pieces


@pytest.mark.parametrize("header", HEADERS)
@given(pairs=FILES, text=TEXTS)
def test_segments_of_small_codes(header: str, pairs: Any, text: str) -> None:
    data = HEADERS[header] + text_of(pairs)
    assert face.BPE(io.StringIO(data)).segment(text) == apply_bpe.BPE(io.StringIO(data)).segment(
        text
    )
    for merges in (0, 2):
        ours = face.BPE(io.StringIO(data), merges=merges, separator="￭")
        theirs = apply_bpe.BPE(io.StringIO(data), merges=merges, separator="￭")
        assert ours.process_line(text) == theirs.process_line(text)


@given(
    pairs=FILES,
    text=st.text(st.sampled_from("aaabbbcc  "), max_size=24),
    vocab=st.sets(st.sampled_from([*"abc", *(part + "@@" for part in PARTS), "ab", "bc", "abc"])),
)
def test_vocabularies_of_small_codes(pairs: Any, text: str, vocab: set[str]) -> None:
    data = HEADERS["0.2"] + text_of(pairs)
    ours = face.BPE(io.StringIO(data), vocab=vocab)
    theirs = apply_bpe.BPE(io.StringIO(data), vocab=vocab)
    assert ours.segment(text) == theirs.segment(text)


@given(
    text=st.text(st.sampled_from("aaabbbcc  12<>"), max_size=24),
    glossaries=st.lists(
        st.sampled_from(["ab", "bc", "abc", r"<\w*>", r"[0-9]+", "a", "(b|c)a", "a|bc", "[^a]b"]),
        max_size=3,
    ),
)
def test_glossaries(text: str, glossaries: list[str]) -> None:
    ours = face.BPE(io.StringIO(LETTERS), glossaries=glossaries)
    theirs = apply_bpe.BPE(io.StringIO(LETTERS), glossaries=glossaries)
    assert ours.segment(text) == theirs.segment(text)


@pytest.mark.parametrize("name", ["en_docs", "ko_nsmc", "cppdocs_ru", "code", "zh_poetry"])
def test_learned_codes_on_corpora(name: str, tmp_path: Path) -> None:
    """Codes learned there: pieces with ids, segments, a vocabulary with a threshold, glossaries."""
    lines = corpus(name, 150_000)
    learned = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO("\n".join(lines)), learned, 600)
    path = tmp_path / "codes"
    path.write_text(learned.getvalue(), "utf-8")
    theirs, ours = apply_bpe.BPE(io.StringIO(learned.getvalue())), face.BPE(path)
    tok = jogak.load(path, unknown=None)
    assert formats.detect(path) == "subword-nmt"
    lines += corpus("small/utf8_sequence_0x10ffff", 30_000) + corpus("cppdocs_ja", 30_000)
    cut = []
    for line in lines:
        segments = theirs.segment(line)
        cut.append(segments)
        assert ours.segment(line) == segments
        # A character without a piece that ends a word has no mark to tell by.
        if set(line) - {" "} <= {c for c in tok.vocab if len(c) == 1}:
            assert drawn(tok, line) == segments.split()
            words = [word for word in line.strip("\r\n ").split(" ") if word]
            assert tok.decode(tok.encode(line)) == " ".join(words)
    counts = io.StringIO()
    get_vocab.get_vocab(io.StringIO("\n".join(cut)), counts)
    options: dict[str, Any] = {
        "vocab": face.read_vocabulary(io.StringIO(counts.getvalue()), 20),
        "glossaries": ["the", r"\d+", "<[a-z]+>"],
    }
    assert options["vocab"] == apply_bpe.read_vocabulary(io.StringIO(counts.getvalue()), 20)
    theirs, ours = (
        apply_bpe.BPE(io.StringIO(learned.getvalue()), **options),
        face.BPE(path, **options),
    )
    for line in lines:
        assert ours.segment(line) == theirs.segment(line)


@given(
    pairs=FILES,
    lines=st.lists(st.text(st.sampled_from("aabbcc <w>\t가\u2028\x1c"), max_size=9), max_size=9),
    vocab=st.none() | st.sets(st.sampled_from([*"abc", "a@@", "ab@@", "bc", "abc"])),
    ending=st.sampled_from(["", "\n", " \n", "\n\n"]),
)
def test_lines_of_files(
    tmp_path_factory: Any, pairs: Any, lines: list[str], vocab: set[str] | None, ending: str
) -> None:
    """What is around words stays; characters that no merge has are pieces; any number of workers."""
    data = HEADERS["0.2"] + text_of(pairs)
    ours = face.BPE(io.StringIO(data), vocab=vocab)
    theirs = apply_bpe.BPE(io.StringIO(data), vocab=vocab)
    folder = tmp_path_factory.mktemp("lines")
    text = "\n".join(lines) + ending
    (folder / "in").write_text(text, "utf-8", newline="\n")
    expected = io.StringIO()
    theirs.process_lines(folder / "in", expected)
    for workers in (1, 3):
        out = io.StringIO()
        ours.process_lines(folder / "in", out, num_workers=workers)
        assert out.getvalue() == expected.getvalue()
    ours.process_lines(str(folder / "in"), str(folder / "out"))
    assert (folder / "out").read_text("utf-8") == expected.getvalue()
    for line in io.StringIO(text):
        assert ours.process_line(line) == theirs.process_line(line)
        words = line.split(" ")
        assert ours.segment_tokens(words) == theirs.segment_tokens(words)


def test_files_of_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jogak.compat.subword_nmt.apply_bpe._BLOCK", 5_000)
    text = "\n".join(corpus("en_docs", 40_000) + corpus("ko_nsmc", 3_000))
    (tmp_path / "in").write_text(text, "utf-8", newline="\n")
    (tmp_path / "codes").write_text(LETTERS)
    for options in ({}, {"glossaries": ["the", "[0-9]+"]}, {"vocab": {"a@@", "b", "ab@@"}}):
        out, expected = io.StringIO(), io.StringIO()
        face.BPE(tmp_path / "codes", **options).process_lines(tmp_path / "in", out)
        apply_bpe.BPE(io.StringIO(LETTERS), **options).process_lines(tmp_path / "in", expected)
        assert out.getvalue() == expected.getvalue()


@pytest.mark.parametrize("patience", [1, 3, 1000])
def test_characters_that_no_merge_has(
    patience: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are pieces by themselves, whether many lines have some or few."""
    monkeypatch.setattr("jogak.compat.subword_nmt.apply_bpe._PATIENCE", patience)
    monkeypatch.setattr("jogak.compat.subword_nmt.apply_bpe._BLOCK", 3_000)
    text = "\n".join(corpus("ko_nsmc", 8_000) + corpus("zh_poetry", 8_000) + ["a<unk> <unk>\tb c"])
    (tmp_path / "in").write_text(text, "utf-8", newline="\n")
    (tmp_path / "codes").write_text(LETTERS)
    for vocab in (None, {"a@@", "b", "ab@@"}):
        out, expected = io.StringIO(), io.StringIO()
        ours = face.BPE(tmp_path / "codes", vocab=vocab)
        theirs = apply_bpe.BPE(io.StringIO(LETTERS), vocab=vocab)
        ours.process_lines(tmp_path / "in", out)
        theirs.process_lines(tmp_path / "in", expected)
        assert out.getvalue() == expected.getvalue()
        ours = face.BPE(tmp_path / "codes", vocab=vocab)
        for line in text.split("\n"):
            assert ours.process_line(line) == theirs.process_line(line)
        if patience == 1:
            # Once there were enough lines, all of them are pieces, at a word's end or not.
            while not ours._learns([text]):
                pass
            assert ours._lines is not None
            assert ours._lines.unknown not in ours._lines.tokenizer.encode(text.replace("\n", " "))


def test_a_file_that_cannot_be_read_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"ab abc\n" * 200_000 + b"\xff\n")
    (tmp_path / "out").write_text("old")
    with pytest.raises(UnicodeDecodeError):
        face.BPE(io.StringIO(LETTERS)).process_lines(tmp_path / "in", str(tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["in", "out"]


def test_another_separator_later() -> None:
    ours, theirs = face.BPE(io.StringIO(LETTERS)), apply_bpe.BPE(io.StringIO(LETTERS))
    for separator in ("@@", "~", "##"):
        ours.separator = theirs.separator = separator
        for text in ("abca 가나", "abca cab"):
            assert ours.segment(text) == theirs.segment(text)
        assert ours.segment_tokens(["abca"]) == theirs.segment_tokens(["abca"])


@pytest.mark.parametrize(
    ("name", "size", "merges", "total"),
    [
        ("en_docs", 60_000, 1000, True),
        ("ko_nsmc", 30_000, 700, False),
        ("cppdocs_ru", 60_000, 700, False),
        ("code", 60_000, 1000, True),
        ("zh_poetry", 30_000, 500, False),
    ],
)
def test_codes_that_are_learned(
    name: str, size: int, merges: int, total: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{line}\n" for line in corpus(name, size)]

    def learned(learn: Any, **workers: int) -> tuple[str, list[str]]:
        out = io.StringIO()
        learn(iter(lines), out, merges, 3, verbose=True, total_symbols=total, **workers)
        # subword-nmt draws a bar between.
        said = re.findall(r"pair \d+: .*?\)|Number.*|Reducing.*|no pair.*", capsys.readouterr().err)
        return out.getvalue(), said

    ours = learned(our_learn_bpe.learn_bpe, num_workers=2)
    assert ours == learned(learn_bpe.learn_bpe)
    assert len(ours[1]) > 300


def test_codes_of_dictionaries(capsys: pytest.CaptureFixture[str]) -> None:
    words = io.StringIO()
    lines = corpus("en_docs", 60_000)
    our_get_vocab.get_vocab(iter(lines), words)
    expected = io.StringIO()
    get_vocab.get_vocab(iter(lines), expected)
    assert words.getvalue() == expected.getvalue()
    # A word twice, and one that occurs nowhere.
    dictionary = [*words.getvalue().splitlines(), "the 40", "nowhere 0"]
    ours, theirs = io.StringIO(), io.StringIO()
    learn_bpe.learn_bpe(iter(dictionary), theirs, 9000, 5, is_dict=True)
    assert "no pair has frequency >= 5" in capsys.readouterr().err
    our_learn_bpe.learn_bpe(iter(dictionary), ours, 9000, 5, is_dict=True)
    assert "no pair has frequency >= 5. Stopping\n" in capsys.readouterr().err
    assert ours.getvalue() == theirs.getvalue()
    with pytest.raises(ConfigError, match="line 2 of the dictionary is 'low'"):
        our_learn_bpe.learn_bpe(["low 3", "low"], ours, 10, is_dict=True)


@pytest.mark.parametrize("symbol", ["joined", "own"])
def test_what_is_trained_here_is_written_as_codes(tmp_path: Path, symbol: Any) -> None:
    lines = corpus("en_docs", 100_000)
    marker = jogak.Marker("suffix", symbol=symbol)
    config = jogak.BPE(marker=marker, ties="greatest", num_merges=400)
    tok = jogak.train(iter(lines), config, pretokenizer=codes.WORDS)
    path = tmp_path / "mine"
    tok.save(path, format="subword-nmt")
    data = path.read_text("utf-8")
    assert data.startswith("#version: 0.1\n" if symbol == "own" else "#version: 0.2\n")
    theirs = apply_bpe.BPE(io.StringIO(data))
    if symbol == "joined":
        learned = io.StringIO()
        learn_bpe.learn_bpe(io.StringIO("\n".join(lines)), learned, 400)
        assert data == learned.getvalue()
    for line in lines:
        assert drawn(tok, line) == theirs.segment(line).split()
    again = jogak.load(path)
    assert again.merges == tok.merges
    again.save(tmp_path / "again", format="subword-nmt")
    assert (tmp_path / "again").read_text("utf-8") == data


def test_ids_are_in_the_order_that_is_said() -> None:
    own, pairs = codes.parse(b"#version: 0.2\nt h\nth e</w>\nt h\nxy z\n", "codes")
    model = codes.model_of(own, pairs, "<unk>", "codes")
    characters = [*"ehtxyz"]
    assert [*model.pieces] == [
        *characters, *(c + "</w>" for c in characters), "th", "the</w>", "xyz", "xy", "<unk>"
    ]  # fmt: skip
    assert len(model.merges or ()) == 3
    own, pairs = codes.parse(b"t h\nth </w>\n", "codes")
    assert codes.model_of(own, pairs, None, "codes").pieces == ("h", "t", "</w>", "th", "th</w>")


def test_words(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_text(LETTERS)
    tok = jogak.load(path)
    assert tok.tokens(" \n\r ab  abc\n \n") == ["ab</w>", "abc</w>"]
    assert tok.tokens("\n\n") == tok.tokens("") == []
    assert tok.tokens("a\nb\tc") == ["a", "<unk>", "b", "<unk>", "c</w>"]
    assert tok.count("a" + "\n " * 200_000 + "b") == 200_002
    assert jogak.load(path, merges=0).tokens("abc") == ["a", "b", "c</w>"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("#version: 0.3\na b\n", r"line 1 is '#version: 0.3'; expected '#version: 0.1'"),
        ("#version: 0.2\n", "no merges"),
        ("#version: 0.2\na b\nab\n", r"line 3 is 'ab'; expected two pieces and one space"),
        ("a </w>\n\nb c\n", "line 2 is ''"),
        ("a </w>\nb  c\n", "line 2 is 'b  c'"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, data: str, message: str) -> None:
    path = tmp_path / "codes"
    path.write_text(data)
    with pytest.raises(FormatError, match=message):
        codes.read(path)
    with pytest.raises(FormatError, match=message):
        face.BPE(path)


def test_hostile_bytes(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    data = LETTERS.encode()
    for at, byte in itertools.product(range(len(data)), b"\x00 \n\r\xff9"):
        path.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
        try:
            jogak.load(path, format="subword-nmt").encode("abc cab")
        except FormatError as error:
            assert error.file == str(path)
    source = random.Random(3)
    for _ in range(200):
        path.write_bytes(source.randbytes(60))
        with pytest.raises(FormatError):
            codes.read(path)


def test_options(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_text(LETTERS)
    with pytest.raises(ConfigError, match="merges is -1"):
        codes.read(path, merges=-1)
    with pytest.raises(ConfigError, match="unknown='ab' is a piece already"):
        codes.read(path, unknown="ab")
    with pytest.raises(ConfigError, match="expected regular expressions"):
        face.BPE(path, glossaries=["("])
    with pytest.raises(ConfigError, match="line 2 of the vocabulary is 'b'"):
        face.read_vocabulary(["a 1", "b"], None)
    with pytest.raises(UnsupportedFeature, match="dropout"):
        face.BPE(path).segment("abc", dropout=0.1)
    with pytest.raises(UnsupportedFeature, match=r"version 0.1 with a vocabulary"):
        face.BPE(io.StringIO("a </w>\n"), vocab={"a"})


def test_merges_beside_a_vocabulary_are_no_codes(tmp_path: Path) -> None:
    (tmp_path / "merges.txt").write_text(LETTERS)
    assert formats.detect(tmp_path / "merges.txt") == "subword-nmt"
    (tmp_path / "vocab.json").write_text('{"a": 0}')
    assert formats.detect(tmp_path / "merges.txt") == "vocab-merges"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_text(LETTERS)
    spec = codes.read(path)

    def variant(**fields: Any) -> Any:
        return dataclasses.replace(spec, model=dataclasses.replace(spec.model, **fields))

    for other, message in (
        (toy_spec(), r"the marker 'none'"),
        (variant(merges=None), "ids as ranks"),
        (variant(merges=()), "a tokenizer without merges"),
        (variant(strategy="longest-match"), "the strategy"),
        (variant(whole_word=True), "whole_word"),
        (variant(pieces=("a b", *spec.model.pieces[1:])), "it has a space or a line end"),
        (dataclasses.replace(spec, normalizer=(Lowercase(),)), "a normalizer"),
    ):
        with pytest.raises(UnsupportedFeature, match=message):
            formats.write(tmp_path / "new", other, format="subword-nmt")
    assert not (tmp_path / "new").exists()
