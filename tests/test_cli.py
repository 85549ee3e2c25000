"""The command line: what goes in and out, and how it ends.

A small tokenizer that knows single characters stands in for the real one, so that these tests say
what the command line does with the public API and nothing about the API itself.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import jogak
from jogak import errors, spec
from jogak.cli import OVERVIEW, VERBS, make_app
from jogak.counts import Report
from jogak.explain import Candidate, Compression, CompressionStep, EncodingTrace, WordTrace
from jogak.ragged import Ragged

LETTERS = "abcdefghijklmnopqrstuvwxyz 가나다"


class CharacterTokenizer:
    """Every character of `LETTERS` is a piece; ids count from 0."""

    spec = spec.Spec(
        model=spec.BPEModel(pieces=(*LETTERS, "ab"), merges=((0, 1),)),
        pretokenizer=spec.resolve_pretokenizer("whitespace"),
    )
    merges = (("a", "b"),)
    vocab = {piece: id_ for id_, piece in enumerate((*LETTERS, "ab"))}  # noqa: RUF012  # nobody changes it

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.seeds: list[int | None] = []
        self.training = SimpleNamespace(stop="vocab_size", trace=None, report=None)

    def __len__(self) -> int:
        return len(self.vocab)

    def encode(
        self, text: str, *, dropout: float = 0.0, seed: int | None = None, strategy: Any = None
    ) -> list[int]:
        self.seeds.append(seed)
        unknown = [letter for letter in text if letter not in LETTERS]
        if unknown:
            raise errors.EncodeError(f"{unknown[0]!r} has no id; give the tokenizer an unknown")
        return [LETTERS.index(letter) for letter in text]

    def encode_batch(self, texts: Sequence[str], num_threads: int | None = None) -> Any:
        self.batches.append(list(texts))
        ids = [self.encode(text) for text in texts]
        offsets = np.cumsum([0, *map(len, ids)])
        return Ragged(np.array([id_ for one in ids for id_ in one], np.uint32), offsets)

    def piece(self, id_: int) -> str:
        return LETTERS[id_]

    def decode(self, ids: Sequence[int]) -> str:
        if any(id_ >= len(LETTERS) for id_ in ids):
            raise errors.DecodeError(
                f"id {max(ids)} is no piece; expected less than {len(LETTERS)}"
            )
        return "".join(LETTERS[id_] for id_ in ids)

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        return self.decode(ids).encode()

    def explain(self, text: str) -> EncodingTrace:
        word = WordTrace(
            text=text,
            span=(0, len(text.encode())),
            special=False,
            symbols=tuple(text),
            steps=(),
            stop="no-merge",
            tokens=tuple(text),
            ids=tuple(self.encode(text)),
            token_spans=tuple((i, i + 1) for i in range(len(text))),
        )
        return EncodingTrace(text, "merges", (word,))

    def save(self, path: str) -> None:
        Path(path).write_text("{}")


class Surface:
    """The public names that the command line uses, and what it called them with."""

    def __init__(self) -> None:
        self.tokenizer = CharacterTokenizer()
        self.calls: list[tuple[str, Any, dict[str, Any]]] = []
        self.train_raises: BaseException | None = None

    def load(self, path: str) -> CharacterTokenizer:
        if not Path(path).exists():
            raise FileNotFoundError(2, "No such file or directory", path)
        return self.tokenizer

    def train(self, corpus: Any, config: spec.BPE, **options: Any) -> CharacterTokenizer:
        self.calls.append(("train", corpus, {"config": config, **options}))
        if self.train_raises:
            raise self.train_raises
        return self.tokenizer

    def count(self, corpus: Any, **options: Any) -> Any:
        self.calls.append(("count", corpus, options))

        class Counts(dict[str, int]):
            total = 7
            report = Report(files=1)

            def save(self, path: str) -> None:
                Path(path).write_text("counts")

        return Counts(low=5, lower=2)

    def compress(self, text: str, **options: Any) -> Compression:
        self.calls.append(("compress", text, options))
        step = CompressionStep("Z", "a", "b", "ab", 2, (Candidate("a", "b", 2),), "ZZ", 2, 3)
        return Compression(text, (step,), "ZZ", {"Z": ("a", "b")})


@pytest.fixture
def surface(monkeypatch: pytest.MonkeyPatch) -> Surface:
    surface = Surface()
    for name in ("load", "train", "count", "compress"):
        monkeypatch.setattr(jogak, name, getattr(surface, name), raising=False)
    monkeypatch.setattr(jogak, "BPE", spec.BPE, raising=False)
    monkeypatch.setattr(jogak, "Marker", spec.Marker, raising=False)
    monkeypatch.setattr(jogak, "TrainingInterrupted", errors.TrainingInterrupted, raising=False)
    return surface


@pytest.fixture
def tok(tmp_path: Path) -> str:
    path = tmp_path / "tok.json"
    path.write_text("{}")
    return str(path)


def run(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(make_app(), arguments, input=stdin, catch_exceptions=False)


# --- help and speed -----------------------------------------------------------------------------


def python(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, check=False, **options)


ARGUMENTS = {
    "train": "CORPUS...",
    "encode": "[FILE]...",
    "decode": "[FILE]...",
    "explain": "TEXT",
    "convert": "SOURCE TARGET",
    "inspect": "FILE",
    "compress": "TEXT",
    "count": "CORPUS...",
}
MAIN = "from jogak.cli import main; main()"


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]])
def test_help_comes_with_and_without_asking(arguments: list[str]) -> None:
    done = python(MAIN, *arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == OVERVIEW


def test_help_loads_nothing_heavy() -> None:
    heavy = "{'typer', 'click', 'rich', 'numpy'}"
    code = f"import sys; from jogak.cli import main; main(); print({heavy} & sys.modules.keys())"
    assert python(code, "--help").stdout.decode().endswith("set()\n")
    verb = f"import sys, jogak.cli._run; from jogak.cli import train; print({heavy} & {{*sys.modules}})"
    assert b"rich" not in python(verb).stdout


def test_help_is_quick() -> None:
    def seconds() -> float:
        start = time.perf_counter()
        python(MAIN, "--help")
        return time.perf_counter() - start

    assert min(seconds() for _ in range(5)) < 0.2


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(verb: str) -> None:
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert "Examples:\n    jogak" in result.stdout or "Examples:\n    echo" in result.stdout
    assert result.stdout.splitlines()[2].strip() == VERBS[verb]
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert result.stdout.splitlines()[0].endswith(f" {verb} [OPTIONS] {ARGUMENTS[verb]}")
    assert f"\nArguments:\n  {ARGUMENTS[verb].split()[0]}  " in result.stdout
    assert not re.search(r"[<{](str|list|int|bool|text|file|CORPUS)", result.stdout)


def test_wrong_usage_ends_with_2(surface: Surface, tok: str) -> None:
    for arguments in (["nonsense"], ["encode"], ["encode", "-t", tok, "--nonsense"]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "Usage:" in result.stderr


# --- encode and decode --------------------------------------------------------------------------


def test_encode_writes_ids_per_line(surface: Surface, tok: str) -> None:
    result = run("encode", "-t", tok, stdin="abc\n\n가나\n")
    assert (result.exit_code, result.stdout) == (0, "0 1 2\n\n27 28\n")


def test_encode_last_line_needs_no_newline_and_keeps_carriage_return(
    surface: Surface, tok: str
) -> None:
    run("encode", "-t", tok, stdin="ab\nc")
    assert [line for batch in surface.tokenizer.batches for line in batch] == ["ab", "c"]
    result = run("encode", "-t", tok, stdin="ab\r\n")
    assert result.exit_code == 1
    assert "'\\r' has no id" in result.stderr


def test_encode_reads_files_and_stdin(surface: Surface, tok: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    result = run("encode", "-t", tok, str(tmp_path / "a.txt"), "-", stdin="b\n")
    assert result.stdout == "0\n1\n"


def test_encode_tokens_and_json(surface: Surface, tok: str) -> None:
    assert run("encode", "-t", tok, "--tokens", stdin="ab\n").stdout == "a b\n"
    written = run("encode", "-t", tok, "--json", stdin="가\n").stdout
    assert json.loads(written) == {"ids": [27], "tokens": ["가"]}
    assert "가" in written


def test_encode_streams_in_bounded_batches(surface: Surface, tok: str) -> None:
    lines = 40_000
    result = run("encode", "-t", tok, stdin="abc\n" * lines)
    assert result.stdout == "0 1 2\n" * lines
    assert max(map(len, surface.tokenizer.batches)) <= 1 << 14
    surface.tokenizer.batches.clear()
    run("encode", "-t", tok, stdin=("a" * 700_000 + "\n") * 4)
    assert [line for batch in surface.tokenizer.batches for line in batch] == ["a" * 700_000] * 4
    assert max(map(len, surface.tokenizer.batches)) == 2


def test_dropout_gives_every_line_its_own_seed(surface: Surface, tok: str) -> None:
    run("encode", "-t", tok, "--dropout", "0.1", "--seed", "7", stdin="a\na\na\n")
    assert surface.tokenizer.seeds == [7, 8, 9]


def test_bad_utf8_is_named_with_its_line(surface: Surface, tok: str) -> None:
    result = run("encode", "-t", tok, stdin=b"abc\nab\xff\n")
    assert result.exit_code == 1
    assert result.stderr.startswith("jogak: error: <stdin>, line 2: byte 2 of the line is 0xff")
    assert "Traceback" not in result.stderr


def test_a_missing_file_is_one_line(surface: Surface) -> None:
    result = run("encode", "-t", "missing.json")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "missing.json" in result.stderr


def test_decode_is_the_way_back(surface: Surface, tok: str) -> None:
    ids = run("encode", "-t", tok, stdin="abc 가\n\nb\n").stdout
    assert run("decode", "-t", tok, stdin=ids).stdout == "abc 가\n\nb\n"
    assert run("decode", "-t", tok, stdin="[0, 1]\n2,3\n").stdout == "ab\ncd\n"
    assert run("decode", "-t", tok, "--json", stdin="0 27\n").stdout == '"a가"\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [("0 x\n", "line 2: '0 x' is not a list of ids"), ("999\n", "line 2: id 999 is no piece")],
)
def test_decode_names_the_line_at_fault(
    surface: Surface, tok: str, line: str, message: str
) -> None:
    result = run("decode", "-t", tok, stdin="0\n" + line)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == "a\n"


@pytest.mark.parametrize("lines", [1, 2000])  # one is written at the very end, when all is flushed
def test_a_closed_pipe_is_quiet(lines: int) -> None:
    code = (
        "import jogak\n"
        "class Tok:\n"
        "    def decode_bytes(self, ids): return b'x' * 1000\n"
        "jogak.load = lambda path: Tok()\n"
        "from jogak.cli import main; main()\n"
    )
    command = [sys.executable, "-c", code, "decode", "-t", "any"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.stdin.write(b"1\n" * lines)
    process.stdin.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert error == b""


# --- train and count ----------------------------------------------------------------------------


def test_train_passes_on_what_was_given_and_nothing_else(surface: Surface, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run("train", "a.txt", "b.txt", "--vocab-size", "300", "-o", str(out))
    assert result.exit_code == 0, result.stderr
    [(_, corpus, options)] = surface.calls
    assert corpus == [Path("a.txt"), Path("b.txt")]
    assert options == {"config": spec.BPE(vocab_size=300), "progress": False}
    assert out.exists()
    assert result.stdout == ""
    assert f"saved 31 pieces, 1 of them merges, to {out}" in result.stderr


def test_train_knows_every_option(surface: Surface, tmp_path: Path) -> None:
    line = (
        "train a.tsv --num-merges 9 --marker suffix --marker-text @ --marker-symbol own "
        "--ties greatest --min-pair-count 3 --alphabet-size 50 --byte-fallback --max-piece-length 8 "
        "--strategy longest-match --prune-dead --no-unknown --fuse-unknown "
        "--pretokenizer gpt2 --pretokenizer regex=\\d+ --special-token <pad>=0 --special-token a=b=1 "
        "--field text --column document --documents file --separator ; --newline drop --errors skip "
        "--min-word-length 2 --threads 3 --trace=4 --model bpe -q -o"
    )
    surface.tokenizer.training.trace = surface.tokenizer.explain("a")
    result = run(*line.split(), str(tmp_path / "out.json"))
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    [(_, _, options)] = surface.calls
    assert options.pop("config") == spec.BPE(
        num_merges=9,
        marker=spec.Marker("suffix", "@", "own"),
        ties="greatest",
        min_pair_count=3,
        alphabet_size=50,
        byte_fallback=True,
        max_piece_length=8,
        strategy="longest-match",
        prune_dead=True,
        unknown=None,
        fuse_unknown=True,
    )
    assert options == {
        "progress": False,
        "pretokenizer": ["gpt2", spec.Split("\\d+")],
        "special_tokens": {"<pad>": 0, "a=b": 1},
        "field": "text",
        "column": "document",
        "documents": "file",
        "separator": ";",
        "newline": "drop",
        "errors": "skip",
        "min_word_length": 2,
        "num_threads": 3,
        "trace": 4,
    }


def test_train_knows_every_option_of_unigram(surface: Surface, tmp_path: Path) -> None:
    line = (
        "train a.txt --model unigram --vocab-size 99 --seed-size 500 --seeds sentencepiece "
        "--shrinking-factor 0.5 --num-sub-iterations 3 --max-piece-length 8 --alphabet-size 50 "
        "--required-chars xyz --no-split-by-unicode-script --no-split-by-number --split-digits "
        "--no-split-by-whitespace --allow-whitespace-only-pieces --treat-whitespace-as-suffix "
        "--no-hard-vocab-limit --byte-fallback --precision single "
        "--user-defined <a> --user-defined <b> --no-unknown --no-fuse-unknown -o"
    )
    result = run(*line.split(), str(tmp_path / "out.json"))
    assert result.exit_code == 0, result.stderr
    config = spec.Unigram(
        vocab_size=99,
        seed_size=500,
        seeds="sentencepiece",
        shrinking_factor=0.5,
        num_sub_iterations=3,
        max_piece_length=8,
        alphabet_size=50,
        required_chars="xyz",
        split_by_unicode_script=False,
        split_by_number=False,
        split_digits=True,
        split_by_whitespace=False,
        allow_whitespace_only_pieces=True,
        treat_whitespace_as_suffix=True,
        byte_fallback=True,
        user_defined=("<a>", "<b>"),
        unknown=None,
        fuse_unknown=False,
        hard_vocab_limit=False,
        precision="single",
    )
    assert surface.calls[0][2]["config"] == config
    # Nothing stands as it would without being asked for, but for what excludes another option.
    plain = dataclasses.asdict(spec.Unigram())
    same = {name for name, value in dataclasses.asdict(config).items() if value == plain[name]}
    assert same <= {"character_coverage", "characters"}
    run("train", "a.txt", "--model", "unigram", "--character-coverage", "0.9", "-o", str(tmp_path))
    assert surface.calls[1][2]["config"] == spec.Unigram(character_coverage=0.9)


def test_train_knows_the_rules_of_pieces_of_bpe(surface: Surface, tmp_path: Path) -> None:
    line = (
        "train a.txt --marker prefix --characters abc --by-scores --split-by-unicode-script "
        "--no-split-by-number --split-digits --no-split-by-whitespace "
        "--allow-whitespace-only-pieces --treat-whitespace-as-suffix -o"
    )
    result = run(*line.split(), str(tmp_path / "out.json"))
    assert result.exit_code == 0, result.stderr
    assert surface.calls[0][2]["config"] == spec.BPE(
        marker="prefix",
        characters="abc",
        by_scores=True,
        split_by_unicode_script=True,
        split_by_number=False,
        split_digits=True,
        split_by_whitespace=False,
        allow_whitespace_only_pieces=True,
        treat_whitespace_as_suffix=True,
    )


@pytest.mark.parametrize("family", [spec.BPE, spec.WordPiece, spec.Unigram])
def test_train_has_an_option_for_every_field(family: Any) -> None:
    known = run("train", "--help").stdout
    for option in dataclasses.fields(family):
        name = option.name.replace("_", "-")
        assert re.search(rf"--(no-)?{name}\b", known), name


def test_trace_may_stand_alone(surface: Surface, tmp_path: Path) -> None:
    surface.tokenizer.training.trace = surface.tokenizer.explain("ab")
    result = run("train", "a.txt", "--trace", "-o", str(tmp_path / "out.json"))
    assert surface.calls[0][2]["trace"] == 10
    assert result.stdout.startswith("Encoding ab\n")


def test_train_json_is_one_document(surface: Surface, tmp_path: Path) -> None:
    out = str(tmp_path / "out.json")
    result = run("train", "a.txt", "--json", "-o", out)
    assert json.loads(result.stdout) == {
        "output": out,
        "pieces": 31,
        "merges": 1,
        "stop": "vocab_size",
        "report": None,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ties", "coin"], "ties is 'coin'; expected one of 'first-seen'"),
        (["--marker", "byte-level", "--byte-fallback"], "byte_fallback is for alphabets"),
        (["--marker-text", "@"], "need --marker"),
        (["--special-token", "a=1", "--special-token", "b"], "to every special token or to none"),
        (["--model", "magic"], "'magic' is not known; expected bpe, wordpiece or unigram"),
        (["--criterion", "count"], "--model bpe has no --criterion"),
        (["--model", "wordpiece", "--ties", "greatest"], "--model wordpiece has no --ties"),
        (["--seed-size", "100"], "--model bpe has no --seed-size"),
        (["--no-hard-vocab-limit"], "--model bpe has no --no-hard-vocab-limit"),
        (["--model", "wordpiece", "--no-fuse-unknown"], "wordpiece has no --no-fuse-unknown"),
        (["--model", "unigram", "--num-merges", "9"], "--model unigram has no --num-merges"),
        (["--model", "unigram", "--marker", "suffix"], "--model unigram has no --marker"),
        (["--unknown", "?", "--no-unknown"], "contradict each other"),
        (["b.counts"], "either .counts files or texts"),
    ],
)
def test_options_that_cannot_be_are_wrong_usage(
    surface: Surface, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = run("train", "a.txt", "-o", str(tmp_path / "out.json"), *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not surface.calls


def test_ctrl_c_in_training_saves_what_was_learned(surface: Surface, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    surface.train_raises = errors.TrainingInterrupted("stopped", surface.tokenizer)  # type: ignore[arg-type]  # a stand-in for a tokenizer
    surface.tokenizer.training.stop = "interrupted"
    result = run("train", "a.txt", "-o", str(out))
    assert result.exit_code == 130
    assert out.exists()
    assert "stopped; saved 31 pieces" in result.stderr


def test_ctrl_c_elsewhere_ends_with_130(surface: Surface, tmp_path: Path) -> None:
    surface.train_raises = KeyboardInterrupt()
    result = run("train", "a.txt", "-o", str(tmp_path / "out.json"))
    assert (result.exit_code, result.stdout) == (130, "")


def test_saved_counts_are_a_corpus(
    surface: Surface, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counts(str):
        @classmethod
        def load(cls, path: str) -> Counts:
            return cls(f"<{path}>")

    monkeypatch.setattr(jogak, "Counts", Counts, raising=False)
    run("train", "a.counts", "b.counts", "-o", str(tmp_path / "out.json"))
    assert surface.calls[0][1] == "<a.counts><b.counts>"


def test_count_saves_and_reports(surface: Surface, tmp_path: Path) -> None:
    out = str(tmp_path / "a.counts")
    result = run("count", "a.txt", "--pretokenizer", "gpt2", "--json", "-o", out)
    assert surface.calls == [
        ("count", [Path("a.txt")], {"progress": False, "pretokenizer": ["gpt2"]})
    ]
    written = json.loads(result.stdout)
    assert (written["output"], written["words"], written["total"]) == (out, 2, 7)
    assert written["report"]["files"] == 1
    assert Path(out).exists()


# --- explain, inspect, compress -----------------------------------------------------------------


def test_explain_in_its_three_forms(surface: Surface, tok: str) -> None:
    assert run("explain", "ab", "-t", tok, "--plain").stdout.startswith("Encoding ab\n═══")
    assert json.loads(run("explain", "ab", "-t", tok, "--json").stdout)["ids"] == [0, 1]
    html = run("explain", "ab", "-t", tok, "--html").stdout
    assert html.startswith("<!doctype html>")
    assert run("explain", "-", "-t", tok, stdin="ab\n").stdout.startswith("Encoding ab\n")
    assert run("explain", "ab", "-t", tok, "--json", "--html").exit_code == 2


def test_inspect_tells_the_facts(surface: Surface, tok: str) -> None:
    plain = run("inspect", tok).stdout
    assert "pieces          31\n" in plain
    assert "pretokenizer    whitespace\n" in plain
    facts = json.loads(run("inspect", tok, "--json", "--merges").stdout)
    assert facts["marker"]["kind"] == "none"
    assert facts["merges"] == [["a", "b"]]


def test_inspect_lists_pieces_and_merges(surface: Surface, tok: str) -> None:
    pieces = run("inspect", tok, "--vocab").stdout.splitlines()
    assert pieces[0] == "0\ta"
    assert "26\t␣" in pieces
    assert run("inspect", tok, "--merges").stdout == "0\ta\tb\n"


def test_compress_shows_the_trace(surface: Surface) -> None:
    assert "ZZ" in run("compress", "abab").stdout
    data = json.loads(run("compress", "abab", "--max-steps", "3", "--json").stdout)
    assert data["table"] == {"Z": ["a", "b"]}
    assert surface.calls[1] == (
        "compress",
        "abab",
        {"ties": "lexicographic", "min_pair_count": 2, "max_steps": 3},
    )
