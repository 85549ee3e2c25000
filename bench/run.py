"""Measures jogak and its peers side by side and prints one Markdown table.

Each measurement is one tiny program of `bench/engines/` in a fresh process. The engines take turns
within a round, so that a slow minute of the machine hits all of them, and a round is repeated: the
table shows medians with the smallest and the largest value beside them. Answers are checked before
speed counts for anything: ids must be tiktoken's, and the merges of engines that promise Hugging
Face's rules must be Hugging Face's. One wrong answer, and the run fails.

    python bench/run.py --runs 5 --only train --engines jogak,ffbpe
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("JOGAK_DATA", HERE.parent.parent / "shared" / "data"))
VOCAB_SIZE = 32_000
MINUTES = 15  # an engine that takes longer than this for one measurement is stopped


@dataclass(frozen=True)
class Engine:
    """A program of `bench/engines/`.

    With `exact`, its answer must be the reference's; without, `note` tells why it may differ.
    `passes` is how often an encoder sees the same text.
    """

    name: str
    distribution: str
    program: str
    arguments: tuple[str, ...] = ()
    exact: bool = True
    note: str = ""
    passes: int = 4


# The first engine of each list is the reference: its answer is the right one.
TRAINERS = [
    Engine("tokenizers", "tokenizers", "train_tokenizers.py"),
    Engine("jogak", "jogak", "train_jogak.py"),
    Engine("ffbpe", "ffbpe", "train_ffbpe.py"),
    Engine("gigatoken", "gigatoken", "train_gigatoken.py", exact=False, note="drops line ends"),
    Engine("rustbpe", "rustbpe", "train_rustbpe.py", exact=False, note="tells no merges"),
    Engine(
        "sentencepiece",
        "sentencepiece",
        "train_sentencepiece.py",
        exact=False,
        note="characters, not bytes",
    ),
]
ENCODERS = [
    Engine("tiktoken", "tiktoken", "encode_tiktoken.py"),
    Engine("tiktoken (batch)", "tiktoken", "encode_tiktoken.py", ("batch",)),
    Engine("jogak", "jogak", "encode_jogak.py"),
    Engine("gigatoken", "gigatoken", "encode_gigatoken.py"),
    Engine("tokenizers", "tokenizers", "encode_tokenizers.py", passes=2),
]


@dataclass
class Series:
    """All measurements of one engine on one corpus; `failure` says why there are none."""

    work: str
    corpus: Path
    engine: Engine
    facts: list[dict[str, object]] = field(default_factory=list)
    failure: str = ""
    verdict: str = ""

    def numbers(self, key: str) -> list[float]:
        """The values of one fact, in the order they were measured."""
        return [float(str(fact[key])) for fact in self.facts]


# --- measuring


def installed(engine: Engine) -> str | None:
    """The version of an engine's package beside this interpreter, or None."""
    try:
        return version(engine.distribution)
    except PackageNotFoundError:
        return None


def measure(series: Series, arguments: Sequence[str], environment: dict[str, str]) -> None:
    """Runs one engine once in a fresh process and keeps what its last line of output says."""
    program = str(HERE / "engines" / series.engine.program)
    try:
        done = subprocess.run(
            [sys.executable, program, *arguments, *series.engine.arguments],
            capture_output=True,
            encoding="utf-8",
            env=os.environ | environment,
            timeout=60 * MINUTES,
        )
    except subprocess.TimeoutExpired:
        series.failure = f"stopped after {MINUTES} minutes"
        return
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        series.failure = f"failed: {last}"
        return
    series.facts.append(json.loads(lines[-1]))


def run_rounds(table: Sequence[Series], runs: int, options: argparse.Namespace) -> None:
    """Measures every series `runs` times, one after the other within a round."""
    for round_number in range(1, runs + 1):
        for series in table:
            if series.failure:
                continue
            if series.work == "train":
                arguments = [str(series.corpus), str(VOCAB_SIZE)]
                environment = {}
            else:
                arguments = [
                    str(options.ranks),
                    str(series.corpus),
                    str(options.chars),
                    str(series.engine.passes),
                ]
                environment = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
            what = f"{series.work} {series.corpus.stem} with {series.engine.name}"
            print(f"round {round_number}/{runs}: {what}", file=sys.stderr, flush=True)
            measure(series, arguments, environment)


def judge(table: Sequence[Series]) -> bool:
    """Holds every answer against the reference's on the same corpus; False when one is wrong."""
    right = True
    for series in table:
        if series.failure:
            right &= not series.failure.startswith("failed")
            continue
        keys = ["merges", "pieces"] if series.work == "train" else ["tokens", "crc32"]
        reference = next(
            other for other in table if (other.work, other.corpus) == (series.work, series.corpus)
        )
        if len({tuple(fact[key] for key in keys) for fact in series.facts}) > 1:
            series.verdict, right = "**changes from run to run**", False
        elif series.engine is reference.engine:
            series.verdict = "reference"
        elif series.engine.exact and not reference.facts:
            series.verdict = "unchecked"
        elif all(series.facts[0][key] == reference.facts[0][key] for key in keys):
            series.verdict = "equal"
        elif series.engine.exact:
            series.verdict, right = "**WRONG**", False
        else:
            series.verdict = series.engine.note
    return right


# --- telling


def machine() -> Iterator[str]:
    """What the numbers depend on: machine, system, toolchain, load."""
    model = platform.processor() or platform.machine()
    memory = "?"
    if Path("/proc/cpuinfo").exists():
        names = [
            line
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0].partition(":")[2].strip() if names else model
        memory = f"{int(Path('/proc/meminfo').read_text().split()[1]) / (1 << 20):.0f} GiB"
    yield f"- {model}, {os.cpu_count()} cores, {memory}, {platform.system()} {platform.machine()}"
    try:
        rustc = subprocess.run(
            ["rustc", "--version"], capture_output=True, text=True
        ).stdout.strip()
    except OSError:
        rustc = "no rustc"
    yield f"- Python {platform.python_version()}, {rustc}"
    load = f", load {os.getloadavg()[0]:.1f} when it began" if hasattr(os, "getloadavg") else ""
    yield f"- {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC{load}"


def spread(values: Sequence[float], digits: int) -> str:
    """Median, and the smallest and the largest value where there are several."""
    median = f"{statistics.median(values):.{digits}f}"
    return (
        median
        if len(values) == 1
        else f"{median} ({min(values):.{digits}f}–{max(values):.{digits}f})"
    )


def rows(series: Series, chars: int) -> Iterator[list[str]]:
    """The lines of the table that one series makes: one for training, two for encoding."""
    works = (
        [f"train {VOCAB_SIZE // 1000}k"]
        if series.work == "train"
        else ["encode, first pass", "encode, warm"]
    )
    engine = f"{series.engine.name} {installed(series.engine) or ''}".strip()
    if not series.facts or series.failure:
        for work in works:
            yield [work, series.corpus.stem, engine, series.failure or "no result", "", "", ""]
        return
    peak = f"{statistics.median(series.numbers('peak_mib')):.0f}"
    for work, key in zip(
        works, ["seconds"] if series.work == "train" else ["first", "warm"], strict=True
    ):
        seconds = series.numbers(key)
        megabytes = size_mb(series.corpus, chars if series.work == "encode" else None)
        rate = spread([megabytes / second for second in seconds], 1)
        yield [work, series.corpus.stem, engine, spread(seconds, 3), rate, peak, series.verdict]


def size_mb(path: Path, chars: int | None) -> float:
    """Size of a corpus, or of its first `chars` characters, in 10^6 bytes of UTF-8."""
    if chars is None:
        return path.stat().st_size / 1e6
    with path.open(encoding="utf-8", newline="") as file:
        return len(file.read(chars).encode()) / 1e6


def markdown(table: Sequence[Series], chars: int) -> str:
    """The whole answer: machine, table, legend."""
    head = ["work", "corpus", "engine", "seconds: median (min–max)", "MB/s", "peak MiB", "answer"]
    body = [row for series in table for row in rows(series, chars)]
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body]]
    legend = [
        "Training: byte-level BPE with GPT-2 words from a file on all cores, a document per line;",
        "answer = merges, pair by pair.",
        f"Encoding: cl100k, the first {chars / 1e6:g} million characters in documents of about 4 kB,",
        "one thread; answer = ids of all documents.",
        "Peak = resident memory of the whole process. 1 MB = 10^6 bytes of UTF-8.",
    ]
    return "\n".join(["## Benchmark", "", *machine(), "", *lines, "", *legend])


def write_csv(table: Sequence[Series], path: Path) -> None:
    """Every single measurement, for whoever wants to count differently."""
    keys = [
        "seconds",
        "first",
        "warm",
        "load",
        "idle_mib",
        "peak_mib",
        "pieces",
        "merges",
        "tokens",
        "crc32",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["work", "corpus", "engine", "version", "run", *keys, "answer"])
        for series in table:
            start = [
                series.work,
                series.corpus.stem,
                series.engine.name,
                installed(series.engine) or "",
            ]
            for number, fact in enumerate(series.facts, 1):
                writer.writerow(
                    [*start, number, *(fact.get(key, "") for key in keys), series.verdict]
                )
            if not series.facts:
                writer.writerow([*start, 0, *("" for _ in keys), series.failure])


# --- the plan


def plan(options: argparse.Namespace) -> list[Series]:
    """What is to be measured, in the order in which it is told."""
    table = []
    for work, engines, corpora in [
        ("train", TRAINERS, options.train_on),
        ("encode", ENCODERS, options.encode_on),
    ]:
        for corpus in corpora if options.only in (work, None) else []:
            for engine in engines:
                if options.engines and engine.distribution not in {
                    *options.engines,
                    engines[0].distribution,
                }:
                    continue
                missing = "" if installed(engine) else "not installed"
                table.append(Series(work, corpus, engine, failure=missing))
    return table


def main() -> int:
    """Reads the options, measures, prints the table; 1 when an answer was wrong."""
    corpora = DATA / "corpora"
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--runs", type=int, default=3, help="measurements per engine and corpus (default 3)"
    )
    parser.add_argument("--only", choices=["train", "encode"], help="one half of the benchmark")
    parser.add_argument(
        "--engines", type=lambda names: names.split(","), help="packages, by comma (default all)"
    )
    parser.add_argument(
        "--chars", type=int, default=10_000_000, help="characters to encode of each corpus"
    )
    parser.add_argument(
        "--train-on", type=Path, nargs="+", metavar="FILE", help="text files to train on"
    )
    parser.add_argument(
        "--encode-on", type=Path, nargs="+", metavar="FILE", help="text files to encode"
    )
    parser.add_argument("--ranks", type=Path, help="the cl100k_base.tiktoken file")
    parser.add_argument(
        "--out", type=Path, default=HERE / "out", help="folder for results.md and results.csv"
    )
    options = parser.parse_args()
    options.train_on = options.train_on or [
        corpora / f"{name}.txt" for name in ("ko_nsmc", "en_docs")
    ]
    options.encode_on = options.encode_on or [
        corpora / f"{name}.txt" for name in ("en_docs", "code", "ko_nsmc", "zh_poetry")
    ]
    options.ranks = options.ranks or DATA / "models" / "cl100k_base" / "cl100k_base.tiktoken"
    needed = {"train": options.train_on, "encode": [*options.encode_on, options.ranks]}
    for path in needed[options.only] if options.only else [*needed["train"], *needed["encode"]]:
        if not path.is_file():
            parser.error(
                f"no {path}: name files with --train-on, --encode-on and --ranks, or set JOGAK_DATA"
            )

    table = plan(options)
    run_rounds(table, options.runs, options)
    right = judge(table)
    answer = markdown(table, options.chars)
    write_csv(table, options.out / "results.csv")
    (options.out / "results.md").write_text(answer + "\n", encoding="utf-8")
    print(answer)
    if not right:
        print("\nAn engine failed or gave a wrong answer: see the last column.", file=sys.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
