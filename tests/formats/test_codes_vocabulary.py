"""Codes with a vocabulary and glossaries beside ``subword-nmt apply-bpe``: as ids, in files, refused."""

from __future__ import annotations

import dataclasses
import io
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak.errors import ConfigError, FormatError, UnsupportedFeature
from jogak.spec import CodesModel, Marker
from jogak.spec.glossaries import check_glossary, glossaries_to_core

apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
get_vocab = pytest.importorskip("subword_nmt.get_vocab")

PARTS = [*"abc", "ab", "bc", "aa", "a</w>", "b</w>", "c</w>", "abc", "bc</w>", "ab</w>"]
PAIRS = st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(PARTS)), min_size=1, max_size=14)
DRAWN = [
    *"abc",
    "a@@",
    "b@@",
    "ab",
    "ab@@",
    "bc",
    "bc@@",
    "abc",
    "abc@@",
    "aab",
    "aab@@",
    "x",
    "7@@",
]
GLOSSARIES = [
    *(
        "ab",
        "bc",
        "abc",
        "a",
        "cc",
        "b|ac",
        "a|bc",
        "ab|ac",
        "[^a]b",
        "[0-9]+",
        "[ab]{2}",
        "a{2,}?c",
    ),
    *(
        r"<\w*>",
        r"\d",
        r"\S\s",
        r"a.c",
        r"(?:ab)+",
        r"[\d<-]",
        r"b*c",
        r"a{,2}c",
        r"\x61\.?",
        r"[]a-]b",
    ),
]


def write(folder: Path, text: str, name: str = "codes") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def codes_text(version: str, pairs: Any) -> str:
    return f"#version: {version}\n" + "".join(f"{left} {right}\n" for left, right in pairs)


def load(path: Path, **options: Any) -> jogak.Tokenizer:
    """Codes that no word ends in are not known by their content."""
    return jogak.load(path, format="subword-nmt", **options)


def cut(segments: str) -> list[str]:
    return [piece for piece in segments.split(" ") if piece]


def drawn(tok: jogak.Tokenizer, line: str) -> list[str]:
    """The pieces of a line as subword-nmt draws them: they say themselves what ends a word."""
    pieces = []
    for word in line.strip("\r\n ").split(" "):
        tokens = tok.tokens(word)
        if tokens and tokens[-1] == "</w>":
            tokens.pop()
        elif tokens:
            tokens[-1] = tokens[-1].removesuffix("</w>")
        assert not any(token.endswith("</w>") for token in tokens)
        pieces += [token + "@@" for token in tokens[:-1]] + tokens[-1:]
    return pieces


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("codes")


@given(
    pairs=PAIRS,
    words=st.lists(
        st.text(st.sampled_from("aaabbbccx7<>.가"), min_size=1, max_size=12), max_size=4
    ),
    vocabulary=st.dictionaries(st.sampled_from(DRAWN), st.integers(0, 9), max_size=9),
    threshold=st.none() | st.integers(0, 9),
    glossaries=st.lists(st.sampled_from(GLOSSARIES), max_size=3),
    merges=st.none() | st.integers(0, 8),
)
def test_small_codes(
    folder: Path,
    pairs: Any,
    words: list[str],
    vocabulary: dict[str, int],
    threshold: int | None,
    glossaries: list[str],
    merges: int | None,
) -> None:
    path = write(folder, codes_text("0.2", pairs))
    beside = write(folder, "".join(f"{p} {n}\n" for p, n in vocabulary.items()), "vocabulary")
    with beside.open(encoding="utf-8") as file:
        theirs_kept = apply_bpe.read_vocabulary(file, threshold)
    theirs = apply_bpe.BPE(
        io.StringIO(path.read_text()),
        -1 if merges is None else merges,
        "@@",
        theirs_kept,
        glossaries,
    )
    options: dict[str, Any] = {"glossaries": glossaries, "merges": merges, "unknown": None}
    try:
        tok = load(path, vocabulary=beside, vocabulary_threshold=threshold, **options)
    except UnsupportedFeature as error:
        # The marker within a word, or lines that stand twice.
        inside = any("</w>" in left for left, _ in pairs)
        assert ("</w>" in str(error) and inside) or len(set(pairs)) < len(pairs)
        return
    line = " ".join(words)
    assert drawn(tok, line) == cut(theirs.segment(line))
    # The parts of a word stand for the whole of it, in bytes.
    known = load(path, vocabulary=theirs_kept, **{**options, "unknown": "<unk>"})
    text, encoding = line.encode(), known.encoding(line)
    assert encoding.ids.tolist() == known.encode(line)
    assert b"".join(text[s:e] for s, e in encoding.byte_spans) == line.replace(" ", "").encode()
    mapped = load(path, vocabulary=vocabulary, vocabulary_threshold=threshold, **options)
    assert mapped == tok
    assert load(path, vocabulary=theirs_kept, **options).tokens(line) == tok.tokens(line)
    # There and back, by its own file and by codes with a vocabulary beside.
    tok.save(folder / "own.jogak.json")
    assert jogak.load(folder / "own.jogak.json") == tok
    try:
        tok.save(folder / "again", format="subword-nmt")
    except UnsupportedFeature as error:
        assert "without merges" in str(error) or "which pieces are kept" in str(error)
        return
    again = load(folder / "again", unknown=None)
    assert again.tokens(line) == tok.tokens(line)
    again.save(folder / "third", format="subword-nmt")
    assert (folder / "third").read_bytes() == (folder / "again").read_bytes()
    assert load(folder / "third", unknown=None) == again


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", "</w>"])), min_size=1
    ),
    words=st.lists(st.text(st.sampled_from("aaabbbcc7"), min_size=1, max_size=9), max_size=4),
    glossaries=st.lists(st.sampled_from(GLOSSARIES), min_size=1, max_size=3),
)
def test_glossaries_of_version_0_1(
    folder: Path, pairs: Any, words: list[str], glossaries: list[str]
) -> None:
    text = codes_text("0.1", pairs)
    tok = load(write(folder, text), glossaries=glossaries, unknown=None)
    theirs = apply_bpe.BPE(io.StringIO(text), glossaries=glossaries)
    line = " ".join(words)
    assert drawn(tok, line) == cut(theirs.segment(line))


@pytest.mark.parametrize("name", ["en_docs", "ko_nsmc", "cppdocs_ru", "code", "zh_poetry"])
def test_corpora(name: str, tmp_path: Path) -> None:
    """Codes and vocabularies learned there, at random thresholds; glossaries; files there and back."""
    source = random.Random(name)
    corpora = Path(model_path("gpt2")).parents[1] / "corpora"
    lines = (corpora / f"{name}.txt").read_text("utf-8", "replace")[:40_000].split("\n")
    learned, counts = io.StringIO(), io.StringIO()
    learn_bpe.learn_bpe(io.StringIO("\n".join(lines)), learned, 300)
    codes = write(tmp_path, learned.getvalue())
    plain = apply_bpe.BPE(io.StringIO(learned.getvalue()))
    get_vocab.get_vocab(io.StringIO("\n".join(map(plain.segment, lines))), counts)
    vocabulary = write(tmp_path, counts.getvalue(), "counts")
    lines += (corpora / "small/utf8_sequence_0x10ffff.txt").read_text("utf-8")[:5_000].split("\n")
    lines += (corpora / "cppdocs_ja.txt").read_text("utf-8")[:10_000].split("\n")
    for threshold, glossaries in (
        (source.randrange(2, 9), []),
        (source.randrange(10, 90), ["the", r"\d+", "<[a-z]+>", "습니다|다"]),
        (10**6, [r"[\w.]+@\w+"]),
        (None, ["a", "ab", r"[A-Z]{2,}", r"https?://\S+"]),
    ):
        with vocabulary.open(encoding="utf-8", newline="\n") as file:
            kept = apply_bpe.read_vocabulary(file, threshold)
        theirs = apply_bpe.BPE(io.StringIO(learned.getvalue()), vocab=kept, glossaries=glossaries)
        options: dict[str, Any] = {"vocabulary": vocabulary, "vocabulary_threshold": threshold}
        tok = load(codes, glossaries=glossaries, unknown=None, **options)
        for line in lines:
            assert drawn(tok, line) == cut(theirs.segment(line))
        with_unknown = load(codes, glossaries=glossaries, **options)
        one_by_one = [with_unknown.encode(line) for line in lines]
        assert with_unknown.encode_batch(lines).to_lists() == one_by_one
        with_unknown.save(tmp_path / "again", format="subword-nmt")
        again = load(tmp_path / "again")
        assert [again.encode(line) for line in lines] == one_by_one


def test_written_files_are_what_apply_bpe_takes(tmp_path: Path) -> None:
    path = write(tmp_path, "#version: 0.2\nl o\nlo w</w>\ne r</w>\nlo w\n")
    options: dict[str, Any] = {
        "vocabulary": {"lo@@": 7, "er": 5, "low@@": 1},
        "vocabulary_threshold": 5,
    }
    tok = load(path, glossaries=["USA", "[0-9]+"], **options)
    pieces = ["lo", "w", "er</w>", "lo", "w</w>", "l", "o", "USA", "<unk>"]
    assert tok.tokens("lower low loUSA12") == pieces
    certificate = jogak.convert(
        path, tmp_path / "new", "subword-nmt", glossaries=["USA", "[0-9]+"], **options
    )
    assert certificate.difference is None
    assert (tmp_path / "new.vocabulary").read_text() == "lo@@ 1\ner 1\n"
    assert (tmp_path / "new").read_text().splitlines()[0] == (
        '#version: {"glossaries": ["USA", "[0-9]+"], "vocabulary": true} 0.2'
    )
    assert load(tmp_path / "new") == tok
    command = [
        sys.executable,
        "-m",
        "subword_nmt.apply_bpe",
        "-c",
        str(tmp_path / "new"),
    ]
    command += ["--vocabulary", str(tmp_path / "new.vocabulary"), "--glossaries", "USA", "[0-9]+"]
    done = subprocess.run(
        command, input="lower low loUSA12\n", capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "lo@@ w@@ er lo@@ w l@@ o@@ USA@@ 12\n"
    # Other options may be given, and stand above what the file says.
    assert load(tmp_path / "new", vocabulary=(), glossaries=()) == load(path)


def test_ids_of_what_glossaries_name(tmp_path: Path) -> None:
    path = write(tmp_path, "#version: 0.2\nl o\nlo w</w>\n")
    tok = load(path, glossaries=["USA", "<.>"], vocabulary=["<a>", "<b>@@", "low", "<zz>"])
    pieces = tok.spec.model.pieces
    assert pieces[-7:] == ("low", "USA", "USA</w>", "<a>", "<a></w>", "<b>", "<unk>")
    assert tok.tokens("low<a> <b>low <a>low <b>") == [
        *("low", "<a></w>", "<b>", "low</w>", "<a>", "low</w>", "<unk>")
    ]
    assert tok.decode(tok.encode("USAlow low<a>")) == "USAlow low<a>"


@pytest.mark.parametrize(
    ("glossary", "error", "message"),
    [
        ("(a)", UnsupportedFeature, r"has a group that captures, or a flag \(character 0\)"),
        ("(?i)a", UnsupportedFeature, "has a group that captures, or a flag"),
        ("a(?=b)", UnsupportedFeature, "has a group that captures, or a flag"),
        ("^a", UnsupportedFeature, r"has the anchor '\^'"),
        ("a$", UnsupportedFeature, r"has the anchor '\$'"),
        (r"\bab", UnsupportedFeature, r"has \\b"),
        (r"\07", UnsupportedFeature, r"has \\0"),
        (r"[\W]", UnsupportedFeature, r"has \\W in a class"),
        ("a*", UnsupportedFeature, "matches the empty text"),
        ("", UnsupportedFeature, "matches the empty text"),
        ("a|", UnsupportedFeature, "matches the empty text"),
        ("\ud800", UnsupportedFeature, "has a lone surrogate"),
        ("(", ConfigError, "is no regular expression"),
        ("[[a]", ConfigError, "is no regular expression"),
        (7, ConfigError, "expected the text of an expression"),
        ([], ConfigError, "expected the text of an expression"),
        ("a{1,100000}" * 3, ValueError, "Regex error"),
    ],
)
def test_glossaries_that_are_refused(
    tmp_path: Path, glossary: Any, error: Any, message: str
) -> None:
    path = write(tmp_path, codes_text("0.2", [("a", "b")]))
    with pytest.raises(error, match=message):
        load(path, glossaries=["x", glossary])


@given(
    st.text(st.sampled_from(r"ab1-.|*+?{},[]^\dws(:)x41"), max_size=10),
    st.text("ab1-. {}", max_size=6),
)
def test_random_expressions_mean_what_they_mean_in_python(source: str, text: str) -> None:
    """Whatever is taken finds what ``re`` finds."""
    try:
        check_glossary(source)
    except (ConfigError, UnsupportedFeature):
        return
    core: Any = glossaries_to_core((source,))
    inside, alone = core["glossaries"][0]
    words = [word for word, _ in jogak.pretokenize(text, jogak.Split(inside, matches="isolated"))]
    assert words == [part for part in re.split(f"({source})", text) if part]
    found = jogak.pretokenize(text + "!", jogak.Split(alone.replace(r"\z", "!"), matches="removed"))
    begins = not found or found[0][1][0] > 0
    if "!" not in source and "|" not in source:
        assert begins == bool(re.match(f"^{source}$", text))


def test_classes_are_those_of_python() -> None:
    everything = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for category in "dws":
        core: Any = glossaries_to_core((rf"\{category}",))
        ranges = re.findall(r"\\x\{([0-9A-F]+)\}-\\x\{([0-9A-F]+)\}", core["glossaries"][0][0])
        members = {code for a, b in ranges for code in range(int(a, 16), int(b, 16) + 1)}
        assert members == {ord(c) for c in everything if re.match(rf"\{category}", c)}


def test_what_is_wrong_with_options(tmp_path: Path) -> None:
    path = write(tmp_path, codes_text("0.2", [("a", "b")]))
    broken = write(tmp_path, "ab@@ 3\nab\n", "broken")
    with pytest.raises(FormatError, match=r"line 2 is 'ab'; expected a piece, a space and"):
        load(path, vocabulary=broken)
    broken.write_bytes(b"\xff 3\n")
    with pytest.raises(FormatError, match="byte 0 is not UTF-8"):
        load(path, vocabulary=broken)
    with pytest.raises(ConfigError, match="there is no vocabulary; give it"):
        load(path, vocabulary_threshold=3)
    with pytest.raises(ConfigError, match="the vocabulary is pieces alone"):
        load(path, vocabulary=["a"], vocabulary_threshold=3)
    with pytest.raises(ConfigError, match="vocabulary is 3; expected a path"):
        load(path, vocabulary=3)
    with pytest.raises(ConfigError, match="expected a text and a whole number"):
        load(path, vocabulary={"a": 0.5})
    with pytest.raises(ConfigError, match="vocabulary_threshold is 'a'"):
        load(path, vocabulary={"a": 1}, vocabulary_threshold="a")
    with pytest.raises(ConfigError, match="glossaries is 'abc'; expected a list"):
        load(path, glossaries="abc")
    with pytest.raises(ConfigError, match="separator is ''"):
        load(path, separator="")
    with pytest.raises(OSError, match="absent"):
        load(path, vocabulary=tmp_path / "absent")


def test_what_cannot_be_carried_over(tmp_path: Path) -> None:
    old = write(tmp_path, codes_text("0.1", [("a", "</w>")]))
    with pytest.raises(UnsupportedFeature, match=r"version 0.1 with a vocabulary"):
        load(old, vocabulary=["a"])
    inside = write(tmp_path, codes_text("0.2", [("a", "b"), ("a</w>", "b")]))
    with pytest.raises(
        UnsupportedFeature, match="merge 1 of 'a</w>' and 'b' has the marker '</w>' where"
    ):
        load(inside, vocabulary=["a"])
    twice = write(tmp_path, codes_text("0.2", [("a", "ab"), ("aa", "b"), ("a", "ab")]))
    with pytest.raises(
        UnsupportedFeature, match="'aab' is made by 'a ab' and by 'aa b', and lines"
    ):
        load(twice, vocabulary=["a"])
    tok = load(write(tmp_path, codes_text("0.2", [("a", "b")])), glossaries=["x"])
    tok = jogak.Tokenizer(
        dataclasses.replace(tok.spec, pretokenizer=jogak.spec.resolve_pretokenizer("whitespace"))
    )
    for format, target in (("tokenizer-json", "tokenizer.json"), ("vocab-merges", "pair")):
        with pytest.raises(UnsupportedFeature, match="glossaries"):
            tok.save(tmp_path / target, format=format)
    with pytest.raises(UnsupportedFeature, match="explain the codes loaded without them"):
        tok.explain("ab")
    with pytest.raises(ConfigError, match="strategy"):
        tok.encode("ab", strategy="longest-match")
    with pytest.raises(ConfigError, match="load the codes with merges="):
        tok.resized(4)


def test_the_first_line_is_a_strangers(tmp_path: Path) -> None:
    for line in (
        '{"glossaries": ["a"]}',
        '{"glossaries": 3, "vocabulary": false}',
        "{",
        '{"x": 1}',
    ):
        path = write(tmp_path, f"#version: {line} 0.2\na b</w>\n")
        with pytest.raises(FormatError):
            load(path)
    path = write(tmp_path, '#version: {"glossaries": [], "vocabulary": true} 0.2\na b</w>\n')
    with pytest.raises(OSError, match=r"codes\.vocabulary"):
        load(path)


def test_what_a_model_is_made_of() -> None:
    fields: dict[str, Any] = {
        "pieces": ("a", "b", "b</w>", "ab</w>", "ab"),
        "merges": ((0, 2),),
        "marker": Marker("suffix", symbol="joined"),
    }
    assert Counter(CodesModel(**fields, kept=(0, 1, 2)).kept) == Counter((0, 1, 2))
    for other, message in (
        ({"kept": (5,)}, "kept has the id 5"),
        ({"kept": (1, 0)}, "kept has the id 0"),
        ({"kept": [1]}, "kept is .1.; expected a tuple"),
        ({"glossaries": ["a"]}, "glossaries is"),
        ({"marker": Marker()}, "marker is"),
        ({"merges": None}, "merges is None"),
        ({"strategy": "longest-match"}, "strategy is"),
        ({"glossaries": ("x",), "pieces": ("a", "b", "b</w>", "ab</w>")}, "and not 'ab'"),
        ({"kept": (), "marker": Marker("suffix", symbol="own")}, "does not go with a marker"),
    ):
        with pytest.raises(ConfigError, match=message):
            CodesModel(**{**fields, **other})


def test_on_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path, "#version: 0.2\nl o\nlo w</w>\n")
    counts = write(tmp_path, "lo@@ 70\nlow 2\n", "vocab")
    command = [
        sys.executable,
        "-m",
        "jogak",
        "convert",
        str(path),
        str(tmp_path / "mine.jogak.json"),
    ]
    command += ["--vocabulary", str(counts), "--vocabulary-threshold", "3", "--glossary", "USA"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    tok = jogak.load(tmp_path / "mine.jogak.json")
    assert tok.tokens("low USAlow") == ["lo", "w</w>", "USA", "lo", "w</w>"]
