"""Measures jogak and its peers side by side and prints one Markdown table.

What is measured stands in `bench/works.py`. Each measurement is one tiny program of `bench/engines/`
in a fresh process. The engines take turns within a round, so that a slow minute of the machine hits
all of them, and a round is repeated: the table shows medians with the smallest and the largest value
beside them. Answers are checked before speed counts for anything: ids must be those of the library
that the model file belongs to, and the merges of engines that promise another's rules must be that
one's. One wrong answer, and the run fails.

    python bench/run.py --runs 5 --only train-bpe encode --engines jogak,ffbpe
"""

from __future__ import annotations

import argparse
import compileall
import csv
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import memory
import models
import plot
import texts
from works import BESIDE, WORKS, Engine, Work

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("JOGAK_DATA", HERE.parent.parent / "shared" / "data"))
#: What the answer of a work has so and so many of.
COUNTED = {
    "train": "pieces",
    "count": "words",
    "encode": "tokens",
    "pieces": "bytes",
    "lines": "tokens",
    "calls": "tokens",
    "files": "tokens",
    "decode": "bytes",
    "load": "tokens",
}
#: No threads but an engine's own. Those of numpy's BLAS look for work for a tenth of a second once it is
#: imported, on the core that a second thread is to have.
ALONE = {
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OPENBLAS_NUM_THREADS": "1",
}
MINUTES = 15  # an engine that takes longer than this for one measurement is stopped


@dataclass
class Series:
    """All measurements of one engine on one corpus.

    Args:
        work: what is done; its size and its text are those that were asked for.
        corpus: the text file.
        engine: who does it.
        model: what it encodes with, None for training.
        facts: what each measurement said.
        failure: why there are none.
        verdict: what `judge` says.
    """

    work: Work
    corpus: Path
    engine: Engine
    model: Path | None
    facts: list[dict[str, object]] = field(default_factory=list)
    failure: str = ""
    verdict: str = ""

    @property
    def held(self) -> bool:
        """Whether the engine may use so many threads and no more."""
        return self.work.kind in {"encode", "pieces", "lines", "calls", "files", "decode"}

    def numbers(self, key: str) -> list[float]:
        """The values of one fact, in the order they were measured."""
        return [float(str(fact[key])) for fact in self.facts]

    def command(self) -> tuple[list[str], dict[str, str]]:
        """Arguments of the engine's program, and what its environment has more."""
        if self.work.kind == "count":
            return [str(self.corpus), *self.engine.arguments], {}
        if self.model is None:
            return [str(self.corpus), str(self.work.size), *self.engine.arguments], {}
        return [
            self.work.kind,
            str(self.model),
            str(self.corpus),
            str(self.work.chars),
            str(self.engine.passes),
            *self.engine.arguments,
        ], ALONE


# --- measuring


def pinned(series: Series) -> Callable[[], None] | None:
    """What holds a new process to as many cores as its engine may use threads; None for all cores.

    Some engines start threads of their own, and a row shall show what one core can do. It is one of
    the last: the system's own work is rather on the first. macOS and Windows hold no program to cores.
    """
    if not series.held or not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    return partial(os.sched_setaffinity, 0, cores[-series.engine.threads :])


def measure(series: Series, minutes: float) -> None:
    """Runs one engine once in a fresh process and keeps what its last line of output says."""
    program = str(HERE / "engines" / series.engine.program)
    arguments, environment = series.command()
    if series.engine.beside:
        environment = environment | {"PYTHONPATH": str(BESIDE)}
    try:
        done = subprocess.run(
            [sys.executable, program, *arguments],
            capture_output=True,
            encoding="utf-8",
            env=os.environ | environment | {"BENCH_STARTED": str(time.perf_counter())},
            timeout=60 * minutes,
            preexec_fn=pinned(series),
        )
    except subprocess.TimeoutExpired:
        series.failure = f"stopped after {minutes:g} minutes"
        return
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        series.failure = f"failed: {last}"
        return
    series.facts.append(json.loads(lines[-1]))


def run_rounds(
    table: Sequence[Series], runs: int, minutes: float, ready: Callable[[], None]
) -> None:
    """Measures every series `runs` times, in rounds; Ctrl-C ends that, and keeps what was measured.

    `ready` is called before each measurement.
    """
    try:
        for round_number in range(1, runs + 1):
            for series in table:
                if series.failure or round_number > series.engine.runs:
                    continue
                what = f"{series.work.name} {series.corpus.stem} with {series.engine.name}"
                print(f"round {round_number}/{runs}: {what}", file=sys.stderr, flush=True)
                ready()
                measure(series, minutes)
    except KeyboardInterrupt:
        print("stopped: the table has what was measured so far", file=sys.stderr, flush=True)
        for series in table:
            if not series.facts:
                series.failure = series.failure or "not measured"


def judge(table: Sequence[Series]) -> bool:
    """Holds every answer against the reference's on the same corpus; False when one is wrong."""
    measured = {(series.work, series.corpus, series.engine): series for series in table}
    for series in table:
        if not series.failure:
            reference = series.work.reference(series.engine)
            series.verdict = verdict(
                series, measured.get((series.work, series.corpus, reference), series)
            )
    return not any(
        series.failure.startswith("failed") or series.verdict.startswith("**") for series in table
    )


def verdict(series: Series, reference: Series) -> str:
    """What the answers of one engine are; in bold when something is wrong."""
    engine = series.engine
    count = COUNTED[series.work.kind]
    key = "pieces" if series.model is None else "tokens"
    answers = [(fact[key], fact["digest"]) for fact in series.facts]
    expected = [(fact[key], fact["digest"]) for fact in reference.facts[:1]]
    file = f" ({Path(engine.model).name})" if engine.model else ""
    if len(set(answers)) > 1:
        return "**changes from run to run**"
    if series.held and max(series.numbers("threads")) > engine.threads + 0.2:
        return "**more than one thread**"
    if not engine.exact and (answers[:1] != expected or not reference.engine.exact):
        return f"{answers[0][0]:,} {count}: {engine.note}"
    if series is reference:
        return f"reference{file}"
    if not expected:
        return "unchecked"
    return f"equal{file}" if answers[:1] == expected else "**WRONG**"


# --- telling


def machine(hold: int) -> Iterator[str]:
    """What the numbers depend on: machine, system, toolchain, load, and how many GiB were held."""
    model = platform.processor() or platform.machine()
    size = "?"
    if Path("/proc/cpuinfo").exists():
        names = [
            line
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0].partition(":")[2].strip() if names else model
        size = f"{int(Path('/proc/meminfo').read_text().split()[1]) / (1 << 20):.0f} GiB"
    yield f"- {model}, {os.cpu_count()} cores, {size}, {platform.system()} {platform.machine()}"
    try:
        rustc = subprocess.run(
            ["rustc", "--version"], capture_output=True, text=True
        ).stdout.strip()
    except OSError:
        rustc = "no rustc"
    yield f"- Python {platform.python_version()}, {rustc}"
    load = f", load {os.getloadavg()[0]:.1f} when it began" if hasattr(os, "getloadavg") else ""
    yield f"- {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC{load}"
    yield f"- Two threads that share nothing (BLAKE2): {two_threads():.2f} times as fast as one"
    yield from memory.told(hold)


def two_threads() -> float:
    """How much faster than one two threads are here at work that neither memory nor a lock holds up.

    Cores may be halves of one, or somebody else's for a while: no library's threads can be expected to
    do better.
    """
    block = bytes(1 << 25)

    def work() -> None:
        hashlib.blake2b(block).digest()

    ratios = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        work()
        middle = time.perf_counter()
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ratios.append((middle - start) / (time.perf_counter() - middle))
    return statistics.median(ratios)


def spread(values: Sequence[float], digits: int) -> str:
    """Median, and the smallest and the largest value where there are several."""
    median = f"{statistics.median(values):.{digits}f}"
    return (
        median
        if len(values) == 1
        else f"{median} ({min(values):.{digits}f}–{max(values):.{digits}f})"
    )


def rows(series: Series) -> Iterator[list[str]]:
    """The lines of the table that one series makes: two where texts are seen more than once."""
    works = timed(series)
    engine = f"{series.engine.name} {series.engine.version}".strip()
    if not series.facts or series.failure:
        for work in works:
            yield [work, series.corpus.stem, engine, series.failure or "no result", "", "", ""]
        return
    peak = f"{statistics.median(series.numbers('peak_mib')):.0f}"
    megabytes = size_mb(series.corpus, series.work.chars if series.model else None)
    for work, key in works.items():
        seconds = series.numbers("first" if key == "opening" else key)
        rates = [megabytes / second for second in seconds]
        rate = "" if series.work.kind == "load" else spread(rates, 1)
        yield [work, series.corpus.stem, engine, spread(seconds, 3), rate, peak, series.verdict]


def timed(series: Series) -> dict[str, str]:
    """What was timed, as it is told, and which fact it is."""
    work, label = series.work, series.work.label
    if work.kind == "train":
        return {f"train {label}, {work.size / 1000:g}k": "seconds"}
    if work.kind == "count":
        return {f"count {label}": "seconds"}
    if work.kind == "load":
        return {f"load {label}": "opening", f"load {label}, with the interpreter": "since_start"}
    told = {
        "pieces": f"encode to pieces, {label}",
        "lines": f"encode lines, {label}",
        "calls": f"encode {label} call by call",
        "files": f"encode a file, {label}",
    }
    what = told.get(work.kind, f"{work.kind} {label}")
    first = {f"{what}, first pass": "first"}
    if all(engine.passes == 1 for engine in work.engines):
        return first
    return first | {f"{what}, warm": "warm"}


def size_mb(path: Path, chars: int | None) -> float:
    """Size of a corpus, or of its first `chars` characters, in 10^6 bytes of UTF-8."""
    if chars is None:
        return path.stat().st_size / 1e6
    with path.open(encoding="utf-8", newline="") as file:
        return len(file.read(chars).encode()) / 1e6


def markdown(table: Sequence[Series], facts: Sequence[str]) -> str:
    """The whole answer: the machine's facts, table, legend."""
    head = ["work", "corpus", "engine", "seconds: median (min–max)", "MB/s", "peak MiB", "answer"]
    body = [row for series in table for row in rows(series)]
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body]]
    lengths = ", ".join(
        f"{work.label} {work.chars / 1e6:g}"
        for work in dict.fromkeys(series.work for series in table if series.model)
    )
    legend = [
        "Training: from a file on all cores, a document per line; answer = what was learned, in order.",
        "Encoding, decoding: the beginning of a corpus in documents of about 4 kB, on one thread if",
        "nothing else is said, and on as many cores as threads where the system can hold a program to",
        "some (Linux); answer = all ids, all texts. Call by call: each line by a call of its own, ids",
        'in lists; hello is 20,000 times "Hello world". Loading: from a path to what can encode, by',
        "a library that is imported, but for what it imports when it is first used; with the",
        "interpreter: from the start of the process, with all imports.",
        f"Millions of characters: {lengths or 'none'}.",
        "Peak = resident memory of the whole process. 1 MB = 10^6 bytes of UTF-8.",
    ]
    return "\n".join(["## Benchmark", "", *facts, "", *lines, "", *legend])


def bars(table: Sequence[Series]) -> Iterator[plot.Bar]:
    """What the plot shows: the median of everything that was timed and is no wrong answer."""
    for series in table:
        if not series.facts or series.failure or series.verdict.startswith("**"):
            continue
        for label, key in timed(series).items():
            seconds = statistics.median(series.numbers("first" if key == "opening" else key))
            megabytes = size_mb(series.corpus, series.work.chars if series.model else None)
            loads = series.work.kind == "load"
            rate = 1 / seconds if loads else megabytes / seconds
            unit = "times a second" if loads else "MB/s"
            yield plot.Bar(label, series.corpus.stem, series.engine.name, rate, unit)


def write_csv(table: Sequence[Series], path: Path) -> None:
    """Every single measurement, for whoever wants to count differently."""
    times = ["seconds", "first", "warm", "since_start"]
    keys = [*times, "threads", "idle_mib", "peak_mib", "pieces", "tokens", "digest"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["work", "what", "corpus", "engine", "version", "run", *keys, "answer"])
        for series in table:
            work, engine = series.work, series.engine
            start = [work.name, work.label, series.corpus.stem, engine.name, engine.version]
            for number, fact in enumerate(series.facts, 1):
                writer.writerow(
                    [*start, number, *(fact.get(key, "") for key in keys), series.verdict]
                )
            if not series.facts:
                writer.writerow([*start, 0, *("" for _ in keys), series.failure])


# --- the plan


def compile_package() -> None:
    """Compiles jogak's own modules, as installing does, if they are run from their sources."""
    found = find_spec("jogak")
    for folder in [] if found is None else found.submodule_search_locations or []:
        compileall.compile_dir(folder, quiet=1)


def asked_for(options: argparse.Namespace) -> list[Work]:
    """The works that were chosen, with the size and the length of text that were asked for."""
    return [
        replace(work, size=options.size or work.size, chars=options.chars or work.chars)
        for work in WORKS
        if not options.only or {work.name, work.kind} & {*options.only}
    ]


def plan(works: Sequence[Work], options: argparse.Namespace) -> list[Series]:
    """What is to be measured, in the order in which it is told."""
    table = []
    for work in works:
        named = options.encode_on if work.model else options.train_on
        made = (
            texts.corpus(name, DATA / "corpora", options.out / "texts") for name in work.corpora
        )
        for corpus in named or made:
            for engine in work.engines:
                needed = engine.exact and engine is work.reference(engine)
                if options.engines and not needed and engine.distribution not in options.engines:
                    continue
                name = engine.model or work.model
                folders = (options.models, DATA / "corpora", options.out)
                model = models.model(name, *folders) if name else None
                missing = "" if engine.version else "not installed"
                table.append(Series(work, corpus, engine, model, failure=missing))
    return table


def main() -> int:
    """Reads the options, measures, prints the table; 1 when an answer was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--runs", type=int, default=3, help="measurements per engine and corpus (default 3)")
    add(
        "--only",
        nargs="+",
        metavar="WORK",
        choices=["train", "encode", *dict.fromkeys(work.name for work in WORKS)],
        help="works, or one half of them (default all): %(choices)s",
    )
    add("--engines", type=lambda names: names.split(","), help="packages, by comma (default all)")
    add("--train-on", type=Path, nargs="+", metavar="FILE", help="text files to train on")
    add("--encode-on", type=Path, nargs="+", metavar="FILE", help="text files to encode")
    add("--size", type=int, help="pieces to learn (default: each work's own)")
    add("--chars", type=int, help="characters to encode of a corpus (default: each work's own)")
    add("--models", type=Path, default=DATA / "models", help="folder of the tokenizer files")
    add("--minutes", type=float, default=MINUTES, help="an engine is stopped after (default 15)")
    add(
        "--hold",
        type=int,
        default=0,
        metavar="GIB",
        help="memory to hold, where a virtual machine's host takes what is free (default 0)",
    )
    add("--out", type=Path, default=HERE / "out", help="folder for results.md and results.csv")
    options = parser.parse_args()

    if refusal := memory.refusal(options.hold):
        parser.error(refusal)
    table = plan(asked_for(options), options)
    for series in table:
        for path in (series.corpus, series.model):
            if path is not None and not path.is_file():
                parser.error(
                    f"{series.work.name} needs {path}, which is not there: name files with "
                    "--train-on, --encode-on and --models, choose works with --only, or set JOGAK_DATA"
                )
    compile_package()
    with memory.held(options.hold) as ready:
        run_rounds(table, options.runs, options.minutes, ready)
    right = judge(table)
    facts = list(machine(options.hold))
    answer = markdown(table, facts)
    write_csv(table, options.out / "results.csv")
    (options.out / "results.md").write_text(answer + "\n", encoding="utf-8")
    plot.draw(bars(table), facts, options.out / "results.svg")
    print(answer)
    if not right:
        print("\nAn engine failed or gave a wrong answer: see the table.", file=sys.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
