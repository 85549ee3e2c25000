"""The command line from end to end, on the real package: each test runs what a person would type."""

from __future__ import annotations

import gzip
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import jogak
from jogak.explain.symbols import drawing

ROOT = Path(__file__).resolve().parent.parent
KOREAN = str(ROOT / "examples" / "korean_sentences.txt")
COMMAND = [sys.executable, "-c", "from jogak.cli import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def jog(tmp_path: Path) -> Run:
    """`jog("train", ..., stdin="")`: runs the command in an empty folder."""

    def run(
        *arguments: str, stdin: str | bytes = "", exit_code: int = 0
    ) -> subprocess.CompletedProcess[str]:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT,
            input=data,
            capture_output=True,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == exit_code, err
        assert "Traceback" not in err
        return subprocess.CompletedProcess(arguments, done.returncode, out, err)

    return run


def repeated(words: Mapping[str, int]) -> str:
    """An inventory as a text: each word as often as it occurs."""
    return "".join(f"{word} " * count for word, count in words.items()) + "\n"


def pairs(listing: str) -> list[str]:
    """The merges that `inspect --merges` lists, as `left right`."""
    return [" ".join(line.split("\t")[1:]) for line in listing.splitlines()]


# --- the worked answers


def test_worked_answer_1_compression(jog: Run) -> None:
    packed = json.loads(jog("compress", "aaabdaaabac", "--json").stdout)
    assert packed["result"] == "XdXac"
    assert [step["text_after"] for step in packed["steps"]] == ["ZabdZabac", "ZYdZYac", "XdXac"]
    assert [step["length"] for step in packed["steps"]] == [9, 7, 5]
    assert packed["steps"][-1]["symbols"] == 7
    assert "length 11 → 5, letters in use 4 → 7" in jog("compress", "-", stdin="aaabdaaabac").stdout


def test_worked_answer_2_sennrich(jog: Run) -> None:
    corpus = repeated({"low": 5, "lower": 2, "newest": 6, "widest": 3})
    options = ("--marker", "suffix", "--ties", "first-seen", "--num-merges", "10", "-o", "toy.json")
    trained = json.loads(jog("train", "-", *options, "--trace=1", "--json", stdin=corpus).stdout)
    first = trained["trace"]["merges"][0]
    assert first["candidates_total"] == 14
    assert {(c["left"], c["right"]): c["count"] for c in first["candidates"]}[("w", "e")] == 8
    assert trained["stop"] == "num-merges"
    merges = "e s, es t, est </w>, l o, lo w, n e, ne w, new est</w>, low </w>, w i"
    assert pairs(jog("inspect", "toy.json", "--merges").stdout) == merges.split(", ")
    encoded = jog("encode", "-t", "toy.json", "--tokens", stdin="lowest\nloki\nlowing\nhighing\n")
    assert encoded.stdout.splitlines()[0] == "low est</w>"
    assert encoded.stdout.splitlines()[1].startswith("lo ")
    trace = json.loads(jog("explain", "lowest", "-t", "toy.json", "--json").stdout)["words"][0]
    taken = [step["pairs"][step["chosen"]] for step in trace["steps"]]
    assert [(pair["left"], pair["right"]) for pair in taken] == [
        *[("e", "s"), ("es", "t"), ("est", "</w>")],
        *[("l", "o"), ("lo", "w")],
    ]
    assert trace["stop"] == "no-merge"


def test_worked_answer_4_hug(jog: Run, tmp_path: Path) -> None:
    corpus = repeated({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5})
    (tmp_path / "hug.txt").write_text(corpus)
    jog("count", "hug.txt", "--pretokenizer", "whitespace", "-o", "hug.counts")
    jog("train", "hug.counts", "--marker", "none", "--vocab-size", "10", "-o", "hug.json")
    assert pairs(jog("inspect", "hug.json", "--merges").stdout) == ["u g", "u n", "h ug"]
    encoded = jog("encode", "-t", "hug.json", "--tokens", stdin="pug bug mug\n")
    assert encoded.stdout == "p ug b ug <unk> ug\n"
    # Written as vocab.json and merges.txt, and read back: the same answers.
    tok = jogak.load(tmp_path / "hug.json")
    tok.save(tmp_path / "hug", format="vocab-merges")
    options = {"marker": "none", "pretokenizer": "whitespace", "unknown": "<unk>"}
    assert jogak.load(tmp_path / "hug", **options).tokens("pug bug mug") == tok.tokens(
        "pug bug mug"
    )


def test_worked_answer_6_korean_sentences(jog: Run) -> None:
    options = (
        "--marker",
        "none",
        "--ties",
        "first-seen",
        "--num-merges",
        "10",
        "--min-word-length",
        "2",
    )
    trained = jog(
        *("train", KOREAN, *options, "--strategy", "longest-match", "-o", "korean.json"),
        *("--trace=10", "--json"),
    )
    merges = json.loads(trained.stdout)["trace"]["merges"]
    assert [(m["left"], m["right"], m["count"]) for m in merges] == [
        *[("간", "장", 9), ("다", ".", 8), ("계", "란", 7), ("계란", "밥", 5), ("간장", "밥", 5)],
        *[("볶", "음", 4), ("나", "는", 3), ("부", "모", 3), ("부모", "님", 3), ("볶음", "밥", 3)],
    ]
    assert merges[-1]["live"] == 114
    encoded = jog(
        "encode", "-t", "korean.json", "--tokens", stdin="계란간장볶음밥\n간장계란밥\n먹는다"
    )
    assert encoded.stdout == "계란 간장 볶음밥\n간장 계란밥\n먹 는 다\n"


# --- what goes in


def test_train_reads_every_kind_of_corpus(jog: Run, tmp_path: Path) -> None:
    """File, folder, table, JSON lines, compressed, stdin: the same documents, one tokenizer."""
    documents = ["최고의 영화 best film", "별로 bad film", "최고의 최고의 film"] * 5
    text = "".join(f"{document}\n" for document in documents)
    table = "id\tdocument\tlabel\n" + "".join(f"{i}\t{d}\t1\n" for i, d in enumerate(documents))
    rows = "".join(f"{json.dumps({'text': document, 'n': 1})}\n" for document in documents)
    (tmp_path / "folder").mkdir()
    for name, content in {
        "a.txt": text,
        "folder/a.txt": text,
        "r.tsv": table,
        "r.csv": table.replace("\t", ","),
        "x.jsonl": rows,
    }.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    ways = {
        "a.txt": (),
        "folder": (),
        "fold*/*.txt": (),
        "a.txt.gz": (),
        "-": (),
        "r.tsv": ("--column", "document"),
        "r.csv": ("--column", "document"),
        "x.jsonl": ("--field", "text"),
    }
    merges = {}
    for corpus, options in ways.items():
        jog(
            *("train", corpus, *options, "--num-merges", "30", "--pretokenizer", "gpt2"),
            *(() if options else ("--newline", "drop")),
            *("-o", "out.json"),
            stdin=text if corpus == "-" else "",
        )
        merges[corpus] = jogak.load(tmp_path / "out.json").merges
    assert len(set(merges.values())) == 1, merges
    assert len(merges["-"]) > 20


def test_counts_add_up(jog: Run) -> None:
    jog(
        "count", "-", "--pretokenizer", "whitespace", "-o", "a.counts", stdin="to be or not to be\n"
    )
    done = jog("count", "a.counts", "a.counts", "--json", "-o", "b.counts")
    assert json.loads(done.stdout)["total"] == 12
    trained = jog("train", "b.counts", "--marker", "none", "--num-merges", "1", "-o", "t.json")
    assert trained.stdout == ""


def test_counts_may_keep_the_order_for_first_seen_ties(jog: Run) -> None:
    text = repeated({"zb": 3, "ab": 3})
    for keep, merge in ((), "a b"), (("--keep-order",), "z b"):
        jog("count", "-", *keep, "--pretokenizer", "whitespace", "-o", "c.counts", stdin=text)
        options = ("--ties", "first-seen", "--marker", "none", "--num-merges", "1", "-o", "t.json")
        jog("train", "c.counts", *options)
        assert pairs(jog("inspect", "t.json", "--merges").stdout) == [merge]


def test_what_is_left_out_is_told(jog: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_bytes(b"good text\nbroken \xff text\n")
    (tmp_path / "folder" / "b.bin").write_bytes(b"\0")
    strict = jog("train", "folder", "-o", "t.json", exit_code=1)
    assert "line 2, byte 17" in strict.stderr
    assert not (tmp_path / "t.json").exists()
    skipped = jog("train", "folder", "--errors", "skip", "--json", "-o", "t.json")
    assert "left out: 1 documents that could not be read (14 bytes)" in skipped.stderr
    assert "left out: 1 files in folders" in skipped.stderr
    assert json.loads(skipped.stdout)["report"]["skipped_documents"] == 1
    replaced = jog("train", "folder", "--errors", "replace", "-o", "t.json")
    assert "left out: 1 broken places, which became U+FFFD" in replaced.stderr


# --- what comes out


def test_every_json_is_json(jog: Run) -> None:
    trained = jog("train", KOREAN, "--vocab-size", "300", "--trace", "--json", "-o", "t.json")
    assert json.loads(trained.stdout)["pieces"] == 300
    encoded = jog("encode", "-t", "t.json", "--json", stdin="나는 계란밥\n\n볶음밥\n").stdout
    lines = [json.loads(line) for line in encoded.splitlines()]
    assert [bool(line["ids"]) for line in lines] == [True, False, True]
    ids = "\n".join(json.dumps(line["ids"]) for line in lines)
    decoded = jog("decode", "-t", "t.json", "--json", stdin=ids).stdout
    assert list(map(json.loads, decoded.splitlines())) == ["나는 계란밥", "", "볶음밥"]
    assert json.loads(jog("explain", "볶음밥", "-t", "t.json", "--json").stdout)["tokens"]
    facts = json.loads(jog("inspect", "t.json", "--json", "--vocab", "--merges").stdout)
    assert len(facts["vocab"]) == 300
    assert len(facts["merges"]) == 300 - 256


def test_decoding_gives_the_bytes_back(jog: Run) -> None:
    jog("train", KOREAN, "--vocab-size", "400", "-o", "t.json")
    text = "볶음밥 \t 🍳\r\n\n  café e\u0301\n\u0000\u200b계란밥!!\n"
    ids = jog("encode", "-t", "t.json", stdin=text).stdout
    assert jog("decode", "-t", "t.json", stdin=ids).stdout == text
    readable = jog("encode", "-t", "t.json", "--tokens", stdin="나는 계란밥\n").stdout
    assert "Ġ계란밥" in readable


def test_special_tokens_and_dropout(jog: Run) -> None:
    options = ("--special-token", "<pad>=0", "--special-token", "<s>=1")
    jog("train", KOREAN, "--vocab-size", "400", *options, "-o", "t.json")
    encoded = jog("encode", "-t", "t.json", "--special", "parse", stdin="<s>볶음밥\n").stdout
    assert encoded.startswith("1 ")
    refused = jog("encode", "-t", "t.json", "--special", "error", stdin="<s>\n", exit_code=1)
    assert "<s>" in refused.stderr
    one, two = (
        jog(
            "encode", "-t", "t.json", "--dropout", "0.5", "--seed", seed, stdin="볶음밥\n" * 3
        ).stdout
        for seed in ("1", "2")
    )
    assert one.splitlines()[1:] == two.splitlines()[:2]  # line N has the seed + N - 1


# --- how it ends


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["train", "nowhere", "-o", "t.json"], 1, "'nowhere': no such file"),
        (["train", KOREAN, "-o", "no/where.json"], 1, "No such file or directory"),
        (["inspect", KOREAN], 1, "no format that is known"),
        (["inspect", "nowhere.json"], 1, "nowhere.json: No such file or directory"),
        (["train", KOREAN, "--vocab-size", "10", "-o", "t.json"], 2, "vocab_size"),
        (["train", KOREAN, "--ties", "coin", "-o", "t.json"], 2, "expected one of"),
        (["train", KOREAN, "--format", "text", "--field", "a", "-o", "t.json"], 2, "field"),
        (["train", KOREAN, "--documents", "page", "-o", "t.json"], 2, "documents"),
        (["train", "r.tsv", "-o", "t.json"], 2, "column"),
        (["compress", "abab", "--ties", "coin"], 2, "ties"),
        (["explain", "a"], 2, "--tokenizer"),
    ],
)
def test_errors_end_with_their_code(
    jog: Run, tmp_path: Path, arguments: list[str], exit_code: int, message: str
) -> None:
    (tmp_path / "r.tsv").write_text("id\tdocument\n1\ta\n")
    done = jog(*arguments, exit_code=exit_code)
    assert message in done.stderr
    assert done.stdout == ""


def test_a_closed_pipe_is_quiet(jog: Run, tmp_path: Path) -> None:
    jog("train", KOREAN, "--vocab-size", "300", "-o", "t.json")
    (tmp_path / "many.txt").write_text("나는 계란밥\n" * 100_000, encoding="utf-8")
    process = subprocess.Popen(
        [*COMMAND, "encode", "-t", "t.json", "many.txt"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


@pytest.fixture(scope="session")
def large_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Words enough that learning all their pairs takes many seconds."""
    path = tmp_path_factory.mktemp("large") / "large.txt"
    state, words = 1, []
    letters = str.maketrans("0123456789", "ghijklmnop")  # digits would be cut off
    for _ in range(600_000):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        words.append(f"{state >> 20:x}".translate(letters))
    path.write_text(" ".join(words * 2))
    return path


def interrupt(command: list[str], folder: Path, seen: str) -> tuple[int, str]:
    """Runs a command with stderr in a terminal; Ctrl-C as soon as the terminal shows `seen`."""
    pty = pytest.importorskip("pty", reason="needs a terminal as POSIX has it")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = ""
    pressed = 0.0
    while True:
        if not select.select([ours], [], [], 120)[0]:
            process.kill()
            pytest.fail(f"the command hangs; it showed {shown[-500:]!r}")
        try:
            data = os.read(ours, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        shown += data.decode("utf-8", "replace")
        if not pressed and seen in shown:
            process.send_signal(signal.SIGINT)
            pressed = time.monotonic()
    os.close(ours)
    return process.wait(), shown


def test_ctrl_c_in_training_saves_the_merges_so_far(large_corpus: Path, tmp_path: Path) -> None:
    command = [*COMMAND, "train", str(large_corpus), "--vocab-size", "2000000", "-o", "part.json"]
    exit_code, shown = interrupt(command, tmp_path, "merging")
    assert exit_code == 130, shown[-500:]
    assert "stopped; saved" in shown
    assert "counting" in shown  # the bar was there
    tok = jogak.load(tmp_path / "part.json")
    assert tok.training is not None
    assert tok.training.stop == "interrupted"
    assert tok.decode(tok.encode("1a2b 볶음밥")) == "1a2b 볶음밥"


def test_ctrl_c_in_counting_leaves_nothing(large_corpus: Path, tmp_path: Path) -> None:
    files = [str(large_corpus)] * 60
    exit_code, shown = interrupt(
        [*COMMAND, "count", *files, "-o", "c.counts"], tmp_path, "counting"
    )
    assert exit_code == 130, shown[-500:]
    assert "jogak: stopped" in shown
    assert list(tmp_path.iterdir()) == []


def test_wordpiece_from_training_to_text(jog: Run) -> None:
    """A WordPiece vocabulary is trained, looked at, used and explained."""
    text = "low low low low low lower lower newest newest widest\n"
    jog("train", "-", "--model", "wordpiece", "--vocab-size", "26", "-o", "wp.json", stdin=text)
    facts = json.loads(jog("inspect", "wp.json", "--json").stdout)
    assert (facts["model"], facts["merges"]) == ("wordpiece", None)
    assert jog("encode", "-t", "wp.json", "--tokens", stdin="lowest\n").stdout.split()[0] == "low"
    assert "no piece matches" in jog("explain", "lowx", "-t", "wp.json").stdout


def test_the_package_runs_as_a_module(tmp_path: Path) -> None:
    """`python -m jogak` is `jogak`: output, messages, names, exit codes."""
    for arguments in ([], ["--version"], ["compress", "abab"], ["encode"], ["train", "--help"]):
        said = [
            subprocess.run(
                [*command, *arguments],
                cwd=tmp_path,
                env=ENVIRONMENT,
                capture_output=True,
                check=False,
            )
            for command in (COMMAND, [sys.executable, "-m", "jogak"])
        ]
        results = [(done.returncode, done.stdout, done.stderr) for done in said]
        assert results[0] == results[1]
        assert results[0][0] == (2 if arguments == ["encode"] else 0)


def test_unigram_from_training_to_text(jog: Run, tmp_path: Path) -> None:
    text = "the lowest newest widest lower low\n" * 20
    options = ("--model", "unigram", "--vocab-size", "18", "-o", "uni.json")
    trained = jog("train", "-", *options, "--trace=1", stdin=text)
    assert "saved 19 pieces to uni.json" in trained.stderr, trained.stderr
    assert trained.stdout.startswith("Training: 1 round\n")
    facts = json.loads(jog("inspect", "uni.json", "--json").stdout)
    assert (facts["model"], facts["strategy"], facts["merges"]) == ("unigram", "unigram", None)
    tok = jogak.load(tmp_path / "uni.json")
    lines = "lowest\n" * 5 + "lower newest\n"
    encoded = jog("encode", "-t", "uni.json", stdin=lines).stdout
    assert encoded == "".join(
        f"{' '.join(map(str, tok.encode(t)))}\n" for t in lines.split("\n")[:-1]
    )
    assert jog("decode", "-t", "uni.json", stdin=encoded).stdout == lines
    drawn = jog("encode", "-t", "uni.json", "--alpha", "0", "--seed", "7", "--json", stdin=lines)
    expected = [tok.encode(t, alpha=0.0, seed=7 + n) for n, t in enumerate(lines.split("\n")[:-1])]
    assert [json.loads(line)["ids"] for line in drawn.stdout.splitlines()] == expected
    assert len(set(map(tuple, expected[:5]))) > 1


def test_unigram_explained(jog: Run, tmp_path: Path) -> None:
    text = "the lowest newest widest lower low\n" * 20
    jog("train", "-", "--model", "unigram", "--vocab-size", "18", "-o", "uni.json", stdin=text)
    tok = jogak.load(tmp_path / "uni.json")
    trace = json.loads(jog("explain", "lowest", "-t", "uni.json", "--json").stdout)
    assert trace == json.loads(json.dumps(tok.explain("lowest").to_dict()))
    assert trace["words"][0]["lead"] > 0
    drawn = jog("explain", "lowest", "-t", "uni.json", "--alpha", "0", "--seed", "7", "--json")
    assert json.loads(drawn.stdout)["ids"] == tok.encode("lowest", alpha=0.0, seed=7)
    assert jog("explain", "lowest", "-t", "uni.json").stdout == f"{tok.explain('lowest')}\n"
    jog("train", "-", "--vocab-size", "300", "-o", "bpe.json", stdin=text)
    refused = jog("encode", "-t", "bpe.json", "--alpha", "1", stdin="low\n", exit_code=2)
    assert "pass dropout=0.1 instead" in refused.stderr


def test_unigram_ways_and_likelihoods(jog: Run, tmp_path: Path) -> None:
    text = "the lowest newest widest lower low\n" * 20
    jog("train", "-", "--model", "unigram", "--vocab-size", "18", "-o", "uni.json", stdin=text)
    tok = jogak.load(tmp_path / "uni.json")
    ways = jog("encode", "-t", "uni.json", "--nbest", "3", stdin="lowest\nlow\n").stdout
    expected = [way for line in ("lowest", "low") for way in tok.nbest(line, 3)]
    assert ways == "".join(f"{way.score!r}\t{' '.join(map(str, way.ids))}\n" for way in expected)
    told = jog("encode", "-t", "uni.json", "--nbest", "2", "--json", stdin="lowest\n").stdout
    assert [json.loads(line)["score"] for line in told.splitlines()] == [
        way.score for way in tok.nbest("lowest", 2)
    ]
    numbers, tokens = jog(
        "encode", "-t", "uni.json", "--score", "--tokens", stdin="lowest\n"
    ).stdout.split("\t")
    assert tuple(map(float, numbers.split())) == tuple(tok.score("lowest"))
    assert tokens.split() == tok.tokens("lowest")
    refused = jog(
        "encode", "-t", "uni.json", "--nbest", "2", "--alpha", "1", stdin="low\n", exit_code=2
    )
    assert "do not go together" in refused.stderr


@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_lines_of_any_text_are_written_as_they_read(
    jog: Run, tmp_path: Path, alphabet: str
) -> None:
    """More than a block of lines, with all that is drawn or quoted, and the way back."""
    by_bytes = jogak.BPE(num_merges=4)
    by_characters = jogak.BPE(num_merges=4, marker="none", byte_fallback=True)
    recipe = by_bytes if alphabet == "bytes" else by_characters
    tok = jogak.train({"계란밥": 9, "low": 7}, recipe)
    assert tok.spec.model.alphabet == alphabet
    tok.save(tmp_path / "tok.json")
    hard = ["", " ", "계란 low\u200b", "\r", "\u0301\x00\t", '"\\\u2028', "😀\x85", "\ufeffé,"]
    texts = [hard[n % 8] + hard[n // 8 % 8] for n in range(20_000)]
    (tmp_path / "texts.txt").write_bytes("\n".join(texts).encode())
    ids = tok.encode_batch(texts).to_lists()
    written = jog("encode", "-t", "tok.json", "texts.txt").stdout
    assert written == "".join(" ".join(map(str, some)) + "\n" for some in ids)
    assert jog("decode", "-t", "tok.json", stdin=written).stdout == "".join(
        f"{tok.decode(some)}\n" for some in ids
    )
    draw = drawing(tok.spec.model.alphabet)
    drawn = jog("encode", "-t", "tok.json", "--tokens", "texts.txt").stdout
    assert drawn == "".join(" ".join(draw(tok.piece(id_)) for id_ in some) + "\n" for some in ids)
    told = jog("encode", "-t", "tok.json", "--json", "texts.txt").stdout
    assert told == "".join(
        json.dumps({"ids": some, "tokens": list(map(tok.piece, some))}, ensure_ascii=False) + "\n"
        for some in ids
    )


def test_what_is_broken_behind_a_block_is_told_by_its_line(jog: Run) -> None:
    jog("train", "-", "--vocab-size", "300", "-o", "tok.json", stdin="low lower lowest\n" * 9)
    good = "low\n" * 20_000
    text = jog("encode", "-t", "tok.json", stdin=good.encode() + b"\xff\n", exit_code=1)
    assert "<stdin>, line 20001: byte 0 of the line is 0xff" in text.stderr
    ids = jog("encode", "-t", "tok.json", stdin=good).stdout
    for wrong, message in [("x", "'x' is not a list of ids"), ("999", "id 999")]:
        done = jog("decode", "-t", "tok.json", stdin=f"{ids}{wrong}\n{ids}", exit_code=1)
        assert done.stdout == good
        assert "<stdin>, line 20001: " in done.stderr
        assert message in done.stderr


@pytest.mark.parametrize(
    ("verb", "said", "answer"), [("encode", "low\n", "0\n"), ("decode", "0\n", "low\n")]
)
def test_who_waits_for_an_answer_gets_it(
    jog: Run, tmp_path: Path, verb: str, said: str, answer: str
) -> None:
    """A line at a time through pipes that stay open."""
    jogak.train({"low": 9}, jogak.BPE(num_merges=2)).save(tmp_path / "tok.json")
    low = jogak.load(tmp_path / "tok.json").encode("low")
    said, answer = (text.replace("0", " ".join(map(str, low))) for text in (said, answer))
    command = [*COMMAND, verb, "-t", str(tmp_path / "tok.json")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    # Where Python does not hold back what is written, nobody would notice that it is not flushed.
    usual = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, env=usual, **pipes) as process:
        assert process.stdin
        assert process.stdout
        for _ in range(3):
            process.stdin.write(said.encode())
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 60)[0], "no answer"
            assert process.stdout.readline().decode() == answer
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0
