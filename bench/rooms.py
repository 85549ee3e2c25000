"""Where the time goes: for each family, the share of each room, as one Markdown table.

A program does a work again and again while `perf` looks at it 1,000 times a second; what it was doing
then is told by the source line, inlined functions included, so the extension needs its line tables
(`make profile` builds such a one). The time before the work (imports, loading, reading) is not looked
at. Encoding is on one thread, training on all.

    python bench/rooms.py --only cl100k --seconds 5

Needs Linux with perf and addr2line (llvm's is faster).
"""

from __future__ import annotations

import argparse
import bisect
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("JOGAK_DATA", HERE.parent.parent / "shared" / "data"))
CHARS = 5_000_000

#: Name -> (what is done, the model's file or None, the corpus).
WORKS: dict[str, tuple[str, str | None, str]] = {
    "cl100k, first pass": ("first", "cl100k_base/cl100k_base.tiktoken", "en_docs"),
    "cl100k, warm": ("warm", "cl100k_base/cl100k_base.tiktoken", "en_docs"),
    "cl100k, Korean, first pass": ("first", "cl100k_base/cl100k_base.tiktoken", "ko_nsmc"),
    "cl100k, Korean, warm": ("warm", "cl100k_base/cl100k_base.tiktoken", "ko_nsmc"),
    "Mistral BPE, first pass": ("first", "mistral-v1/tokenizer.model", "en_docs"),
    "Mistral BPE, warm": ("warm", "mistral-v1/tokenizer.model", "en_docs"),
    "T5 Unigram, first pass": ("first", "nai-t5/spiece.model", "en_docs"),
    "T5 Unigram, warm": ("warm", "nai-t5/spiece.model", "en_docs"),
    "BERT WordPiece, first pass": ("first", "bert-base-cased/tokenizer.json", "en_docs"),
    "BERT WordPiece, warm": ("warm", "bert-base-cased/tokenizer.json", "en_docs"),
    "train BPE": ("train-bpe", None, "ko_nsmc"),
    "train Unigram": ("train-unigram", None, "ko_nsmc"),
    "train WordPiece": ("train-wordpiece", None, "ko_nsmc"),
}

#: What other rooms look at bytes with: its time is theirs.
TOOLS = "scan"

#: Room of the sources -> column.
COLUMNS: dict[str, str] = {
    **dict.fromkeys(("pretokenize", "prepare"), "cut"),
    **dict.fromkeys(("normalize", "added"), "normalize"),
    "cache": "look up",
    **dict.fromkeys(("model", "symbols", "vocab"), "model"),
    **dict.fromkeys(("count", "jogak-corpus"), "count"),
    "train": "train",
}
ORDER = ("cut", "normalize", "look up", "model", "count", "train", "rest of jogak")
ELSEWHERE = ("kernel", "memory", "Python", "other")


# --- the program that is looked at


Work = Callable[[], object]


def prepared(kind: str, model: str | None, corpus: Path) -> Callable[[], Work]:
    """Makes ready. What is handed back is called before each pass, and gives the work of that pass."""
    import numpy  # noqa: F401  # ids come as its arrays

    import jogak

    if model is None:
        learners: dict[str, Work] = {
            "train-bpe": lambda: jogak.train(
                corpus, jogak.BPE(vocab_size=32_000, min_pair_count=1), pretokenizer="gpt2"
            ),
            "train-unigram": lambda: jogak.train(
                corpus,
                jogak.Unigram(vocab_size=32_000),
                normalizer="collapse_spaces",
                special_tokens=["<unk>", "<s>", "</s>"],
                newline="drop",
            ),
            "train-wordpiece": lambda: jogak.train(
                corpus,
                jogak.WordPiece(vocab_size=30_000, criterion="likelihood"),
                special_tokens=["[UNK]"],
            ),
        }
        return lambda: learners[kind]
    with corpus.open(encoding="utf-8", newline="") as file:
        lines = io.StringIO(file.read(CHARS), newline="\n").readlines()
    texts = ["".join(lines[at : at + 40]) for at in range(0, len(lines), 40)]
    options = {"pretokenizer": "cl100k"} if model.endswith(".tiktoken") else {}

    def loaded() -> Work:
        tokenizer = jogak.load(DATA / "models" / model, **options)  # type: ignore[arg-type]  # options differ by row
        # Its worker is made here: that is loading, too.
        tokenizer.encode_batch(["a"], num_threads=1)
        return lambda: tokenizer.encode_batch(texts, num_threads=1)

    if kind == "first":
        return loaded
    work = loaded()
    work()
    return lambda: work


def watched(kind: str, model: str | None, corpus: Path, seconds: float, out: Path) -> None:
    """Does the work for so many seconds, at least once, and has perf look at it."""
    ready = prepared(kind, model, corpus)
    control, answer = out / "control", out / "answer"
    for fifo in (control, answer):
        os.mkfifo(fifo)
    perf = subprocess.Popen(
        [
            *("perf", "record", "--quiet", "-e", "cpu-clock", "-F", "999", "--delay=-1"),
            *(f"--control=fifo:{control},{answer}", "-o", str(out / "perf.data")),
            *("-p", str(os.getpid())),
        ],
        stderr=subprocess.DEVNULL,
    )
    with control.open("w") as say, answer.open() as hear:

        def look(on: bool) -> None:
            say.write("enable\n" if on else "disable\n")
            say.flush()
            hear.readline()

        spent, passes = 0.0, 0
        while not passes or spent < seconds:
            work = ready()
            look(True)
            start = time.perf_counter()
            work()
            spent += time.perf_counter() - start
            look(False)
            passes += 1
        (out / "maps").write_text(Path("/proc/self/maps").read_text())
        perf.send_signal(signal.SIGINT)
        perf.wait()
    (out / "facts.json").write_text(json.dumps({"seconds": spent, "passes": passes}))


# --- what it was doing


def segments(library: Path) -> list[tuple[int, int, int]]:
    """(place in the file, size, address) of what an ELF file of 64 bits has loaded."""
    head = library.read_bytes()[:4096]
    (start,) = struct.unpack_from("<Q", head, 32)
    size, number = struct.unpack_from("<HH", head, 54)
    found = []
    for at in range(start, start + size * number, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", head, at)
        if kind == 1:
            found.append((offset, length, address))
    return found


def addresses(out: Path) -> tuple[Path | None, Callable[[int], int | None]]:
    """The extension, and how a place in memory becomes an address in its file."""
    mapped = []
    library = None
    for line in (out / "maps").read_text().splitlines():
        found = re.match(r"(\w+)-(\w+) \S+ (\w+) .* (/.*_core[^/]*\.so)$", line)
        if found:
            mapped.append(tuple(int(found[group], 16) for group in (1, 2, 3)))
            library = Path(found[4])
    loaded = segments(library) if library else []
    starts = [start for start, _, _ in mapped]

    def address(place: int) -> int | None:
        at = bisect.bisect(starts, place) - 1
        if at < 0 or place >= mapped[at][1]:
            return None
        in_file = place - mapped[at][0] + mapped[at][2]
        for offset, length, begins in loaded:
            if offset <= in_file < offset + length:
                return in_file - offset + begins
        return None

    return library, address


def rooms(library: Path, places: Iterable[int]) -> dict[int, str]:
    """Address -> room: that of the innermost function of ours, inlined or not, that is no tool."""
    asked = sorted(set(places))
    tool = shutil.which("llvm-addr2line") or "addr2line"
    told = subprocess.run(
        [tool, "-a", "-i", "-e", str(library)],
        input="\n".join(map(hex, asked)),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found: dict[int, str] = {}
    at = 0
    for line in told.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            at = int(line, 16)
        elif at not in found:
            source = re.search(r"crates/(jogak[a-z-]*)/src/([a-z_]+)", line)
            if source and source[2] != TOOLS:
                found[at] = source[2] if source[1] == "jogak" else source[1]
    return found


def elsewhere(symbol: str, where: str) -> str:
    """The column of what is not of the extension."""
    if "kernel" in where or where.startswith("["):
        return "kernel"
    if re.search(r"mem(cpy|move|set|cmp|chr)|alloc|free|munmap", symbol):
        return "memory"
    return "Python" if "python" in where else "other"


def shares(out: Path) -> Counter[str]:
    """Column -> how often perf saw the program there."""
    script = subprocess.run(
        ["perf", "script", "-i", str(out / "perf.data"), "-F", "ip,sym,dso"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    library, address = addresses(out)
    seen: Counter[str] = Counter()
    ours: Counter[int] = Counter()
    symbols: dict[int, str] = {}
    for line in script.splitlines():
        found = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line)
        if not found:
            continue
        place, symbol, where = int(found[1], 16), found[2], found[3]
        own = address(place) if where.endswith(".so") and "_core" in where else None
        if own is None:
            seen[elsewhere(symbol, where)] += 1
        else:
            ours[own] += 1
            symbols[own] = symbol
    known = rooms(library, ours) if library and ours else {}
    for own, times in ours.items():
        room = known.get(own)
        if room is None:
            named = re.search(r"\bjogak::([a-z_]+)::", symbols[own])
            room = named[1] if named else ""
        # Another crate's memchr looks for tokens and line ends.
        copies = elsewhere(symbols[own], "") == "memory" and "memchr::" not in symbols[own]
        if not room and copies:
            seen["memory"] += times
        else:
            seen[COLUMNS.get(room, "rest of jogak")] += times
    return seen


def main() -> int:
    """Reads the options, looks at each work, prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""], help="works whose names begin so")
    parser.add_argument("--seconds", type=float, default=4, help="how long each (default 4)")
    parser.add_argument("--watched", nargs=2, metavar=("WORK", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.watched:
        kind, model, corpus = WORKS[options.watched[0]]
        path = DATA / "corpora" / f"{corpus}.txt"
        watched(kind, model, path, options.seconds, Path(options.watched[1]))
        return 0
    for tool in ("perf", "addr2line"):
        if not shutil.which(tool):
            parser.error(f"{tool} is not there (Debian: apt install linux-perf binutils llvm)")
    print("| work | passes | " + " | ".join([*ORDER, *ELSEWHERE]) + " |")
    print("|---" * (len(ORDER) + len(ELSEWHERE) + 2) + "|")
    for name, (_, model, corpus) in WORKS.items():
        needed = [DATA / "corpora" / f"{corpus}.txt", *([DATA / "models" / model] if model else [])]
        if not name.startswith(tuple(options.only)):
            continue
        if missing := [path for path in needed if not path.exists()]:
            print(f"{name}: {missing[0]} is not there; set JOGAK_DATA", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--watched", name, folder]
            subprocess.run([*command, "--seconds", str(options.seconds)], check=True)
            seen = shares(Path(folder))
            facts = json.loads((Path(folder) / "facts.json").read_text())
        total = max(1, seen.total())
        parts = [f"{seen[column] / total:.0%}" for column in (*ORDER, *ELSEWHERE)]
        print("| " + " | ".join([name, str(facts["passes"]), *parts]) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
