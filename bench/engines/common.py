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
import resource
import statistics
import sys
import time
import zlib
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path

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
    """Times its block in wall seconds and takes the peak memory before and after it."""

    seconds: float = 0.0

    def __enter__(self) -> Stopwatch:
        self.idle_mib = self.peak_mib = peak_mib()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._start
        self.peak_mib = peak_mib()


# --- training


def report_training(watch: Stopwatch, merges: Iterable[Merge] | None, pieces: int) -> None:
    """Prints the result line. `merges` is None where an engine does not tell its pairs."""
    digest = (
        None
        if merges is None
        else hashlib.blake2b(repr(list(merges)).encode(), digest_size=8).hexdigest()
    )
    facts = {"seconds": watch.seconds, "idle_mib": watch.idle_mib, "peak_mib": watch.peak_mib}
    print(json.dumps({**facts, "merges": digest, "pieces": pieces}))


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


def report_encoding(load: float, passes: Sequence[Stopwatch], ids: Iterable[Sequence[int]]) -> None:
    """Prints the result line; `ids` are those of the last pass, a sequence per document."""
    tokens, crc = 0, 0
    for row in ids:
        tokens += len(row)
        crc = zlib.crc32(
            array("I", row).tobytes() if isinstance(row, list) else memoryview(row), crc
        )
    seconds = [watch.seconds for watch in passes]
    facts = {
        "load": load,
        "first": seconds[0],
        "warm": statistics.median(seconds[1:]),
    }
    print(json.dumps({**facts, "peak_mib": passes[-1].peak_mib, "tokens": tokens, "crc32": crc}))
