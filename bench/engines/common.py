"""What the engine programs of the benchmark share: clock, memory gauge, documents and digests.

An engine program does one thing in a fresh process: it makes ready, does the work under a
`Stopwatch`, then checks and reports outside it. Its last line on stdout is one JSON object, which
`bench/run.py` reads.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

# OpenAI's pattern in the spelling of engines without possessive quantifiers; it cuts the same words.
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

Merge = tuple[bytes, bytes]


def peak_mib() -> float:
    """The highest resident memory this program has had so far, in MiB.

    `VmHWM` belongs to this program alone; `ru_maxrss`, the fallback, also remembers who started it.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


class Stopwatch:
    """Times its block in wall seconds and takes the peak memory before and after it.

    `busy` is the processor time of all threads, in seconds; `since_start` are the wall seconds from the
    start of the process to the end of the block, if `bench/run.py` has started it.
    """

    seconds: float = 0.0
    busy: float = 0.0
    since_start: float = 0.0

    def __enter__(self) -> Stopwatch:
        self.idle_mib = self.peak_mib = peak_mib()
        self._busy = time.process_time()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        end = time.perf_counter()
        self.seconds = end - self._start
        # One clock for all processes of a machine.
        self.since_start = end - float(os.environ.get("BENCH_STARTED", end))
        self.busy = time.process_time() - self._busy
        self.peak_mib = peak_mib()


# --- training


def report_training(watch: Stopwatch, answer: Iterable[object] | None, pieces: int) -> None:
    """Prints the result line.

    Args:
        watch: has timed the training.
        answer: what was learned, in order: merges, or pieces. None where an engine does not tell it,
            or where it may be another in the next run.
        pieces: how many pieces the vocabulary has.
    """
    digest = None if answer is None else hashlib.sha256(repr(list(answer)).encode()).hexdigest()
    facts = {"seconds": watch.seconds, "idle_mib": watch.idle_mib, "peak_mib": watch.peak_mib}
    print(json.dumps({**facts, "digest": digest, "pieces": pieces}))


def write_pieces(path: str, pieces: Iterable[tuple[str, float]]) -> None:
    """Writes pieces with their scores, as a list of pairs."""
    Path(path).write_text(json.dumps(list(pieces)), encoding="utf-8")


def byte_level_alphabet() -> dict[str, int]:
    """GPT-2's printable character for each byte, the other way round: character -> byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(256 + i): byte for i, byte in enumerate(rest)
    }


def from_byte_level(pieces: Iterable[str]) -> tuple[bytes, ...]:
    """The bytes that byte-level pieces stand for."""
    alphabet = byte_level_alphabet()
    return tuple(bytes(alphabet[char] for char in piece) for piece in pieces)


# --- encoding


def documents(path: str, chars: int, size: int = 4096) -> list[str]:
    """The first `chars` characters of a file as documents of `size` bytes or a bit more."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read(chars)
    documents: list[str] = []
    lines: list[str] = []
    held = 0
    for line in io.StringIO(text, newline="\n"):
        lines.append(line)
        held += len(line.encode())
        if held >= size:
            documents.append("".join(lines))
            lines, held = [], 0
    if lines:
        documents.append("".join(lines))
    return documents


def lines_of(path: str) -> list[str]:
    """The lines of a file, without their ends."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def read_ranks(path: str) -> dict[bytes, int]:
    """The pieces and ranks of a `.tiktoken` file: a base64 piece and its rank per line."""
    lines = Path(path).read_bytes().splitlines()
    return {
        base64.b64decode(piece): int(rank)
        for piece, rank in (line.split() for line in lines if line)
    }


def merges_of_ranks(ranks: dict[bytes, int]) -> list[Merge]:
    """The merges behind a rank file: the pieces of lower rank cut a piece into its two parts."""
    merges: list[Merge] = []
    for piece, rank in sorted(ranks.items(), key=lambda item: item[1]):
        parts = [piece[i : i + 1] for i in range(len(piece))]
        while len(parts) > 2:
            best = min(
                range(len(parts) - 1), key=lambda i: ranks.get(parts[i] + parts[i + 1], rank)
            )
            parts[best : best + 2] = [parts[best] + parts[best + 1]]
        if len(parts) == 2:
            merges.append((parts[0], parts[1]))
    return merges


def run_texts(
    load: Callable[..., Any],
    encode: Callable[[Any, list[str]], Any],
    rows: Callable[[Any], Iterable[Any]] = iter,
    decode: Callable[[Any, Any], Iterable[str]] | None = None,
    given: Callable[[Any, Iterable[list[int]]], Any] = lambda tokenizer, lists: [*lists],
    call: Callable[[Any, str], list[int]] | None = None,
    files: Callable[[Any, str], Any] | None = None,
) -> None:
    """What an engine's program does with TASK MODEL CORPUS CHARS PASSES [OPTION=VALUE...].

    Args:
        load: opens the model: called with its path and the options.
        encode: the tokenizer and all documents -> their ids, in the form that is there fastest.
        rows: such ids -> lists or uint32 arrays, whose ids one after the other are the answer.
        decode: the tokenizer and the ids of all documents -> their texts.
        given: the tokenizer and the ids of all documents, list by list -> the form in which `decode`
            gets them. (What it frees at last is memory that need not be new in the first pass.)
        call: the tokenizer and one text -> its ids in a list.
        files: the tokenizer and the path of a file -> the ids of its lines, as `encode` gives them.
            None: the lines are read here.

    The task says what is timed: `encode` and `decode` each pass over all documents, `pieces` the same
    where `encode` gives pieces as texts, and `rows` their bytes, `lines` each over
    all lines, without their ends, `calls` the same in a call for each line; `files` each over a file, to
    be read, whose lines are documents; `load` the opening of the model.
    """
    task, model, corpus, chars, passes, *options = sys.argv[1:]
    with Stopwatch() as opening:
        tokenizer = load(model, **dict(option.split("=", 1) for option in options))
    texts = documents(corpus, int(chars))
    if task in {"lines", "calls"}:
        texts = [line.rstrip("\n") for line in documents(corpus, int(chars), 1)]
    if task in {"encode", "lines", "pieces"}:
        watches, ids = repeated(int(passes), lambda: encode(tokenizer, texts))
        report_texts(watches, answer_of(rows(ids)))
    elif task == "calls":
        assert call is not None
        watches, ids = repeated(int(passes), lambda: [call(tokenizer, text) for text in texts])
        report_texts(watches, answer_of(ids))
    elif task == "files":
        read = files or (lambda tokenizer, path: encode(tokenizer, lines_of(path)))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "lines.txt")
            path.write_text("".join(texts), encoding="utf-8", newline="")
            watches, ids = repeated(int(passes), lambda: read(tokenizer, str(path)))
        report_texts(watches, answer_of(rows(ids)))
    elif task == "load":
        ids = encode(tokenizer, texts)
        report_texts([opening], answer_of(rows(ids)), since_start=opening.since_start)
    elif decode is not None:
        lists = (list(map(int, row)) for row in one_by_one(rows, encode, tokenizer, texts))
        ids = given(tokenizer, lists)
        watches, made = repeated(int(passes), lambda: decode(tokenizer, ids))
        report_texts(watches, answer_of(text.encode() for text in made))


def one_by_one(
    rows: Callable[[Any], Iterable[Any]],
    encode: Callable[[Any, list[str]], Any],
    tokenizer: Any,
    texts: list[str],
) -> Iterable[Any]:
    """The ids of each document by itself, also of engines that hand out one array for all."""
    for text in texts:
        yield from rows(encode(tokenizer, [text]))


def repeated(passes: int, work: Callable[[], Any]) -> tuple[list[Stopwatch], Any]:
    """The watches of so many passes, and what the last one gave."""
    watches, made = [], None
    for _ in range(passes):
        made = None  # what the pass before gave is thrown away outside the clock
        with Stopwatch() as watch:
            made = work()
        watches.append(watch)
    return watches, made


def answer_of(rows: Iterable[Any]) -> tuple[int, str]:
    """How many ids (or bytes) there are, and their SHA-256."""
    count, digest = 0, hashlib.sha256()
    for row in rows:
        count += len(row)
        digest.update(array("I", row).tobytes() if isinstance(row, list) else memoryview(row))
    return count, digest.hexdigest()


def report_texts(watches: list[Stopwatch], answer: tuple[int, str], **more: float) -> None:
    """Prints the result line: the first pass, and the median of those after it."""
    seconds = [watch.seconds for watch in watches]
    facts = {
        "first": seconds[0],
        "warm": statistics.median(seconds[1:] or seconds),
        "threads": sum(watch.busy for watch in watches) / sum(seconds),  # 1 if one never waited
        "idle_mib": watches[0].idle_mib,
        "peak_mib": watches[-1].peak_mib,
    }
    print(json.dumps({**facts, **more, "tokens": answer[0], "digest": answer[1]}))
