"""What a run says of jogak beside its peers, as the Markdown tables of docs/benchmarks.md.

    python bench/compare.py bench/results/0.1.0.csv

Medians of all runs. "Times as fast" is beside the fastest peer, each time that one which was fastest in
that row: first pass / warm.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

#: A row of a run: work, what was done, and the text.
Key = tuple[str, str, str]
#: The median of a column by engine.
Medians = dict[str, float]

CORPORA = (
    "en_docs",
    "code",
    "ko_nsmc",
    "zh_poetry",
    "cppdocs_zh-cn",
    "cppdocs_ja",
    "cppdocs_ru",
    "mixed",
)
TRAINED = ("train-bpe", "train-spbpe", "train-unigram", "train-wordpiece", "train-codes")


class Run:
    """The measurements of `results.csv`."""

    def __init__(self, path: Path) -> None:
        self._columns: dict[str, dict[Key, dict[str, list[float]]]] = {}
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                key = (row["work"], row["what"], row["corpus"])
                for column in ("seconds", "first", "warm", "since_start", "peak_mib"):
                    if row[column]:
                        engines = self._columns.setdefault(column, {}).setdefault(key, {})
                        engines.setdefault(row["engine"], []).append(float(row[column]))

    def rows(self, *works: str) -> Iterator[Key]:
        """The rows of these works, in order."""
        for column in ("seconds", "first"):
            yield from (key for key in self._columns.get(column, {}) if key[0] in works)

    def medians(self, key: Key, column: str) -> Medians:
        """Of each engine."""
        engines = self._columns.get(column, {}).get(key, {})
        return {engine: statistics.median(values) for engine, values in engines.items()}


def ours(engines: Iterable[str]) -> list[str]:
    """Those of jogak."""
    return [engine for engine in engines if engine.startswith("jogak")]


def fastest(times: Medians) -> tuple[str, float]:
    """The fastest peer, and its time."""
    peers = {engine: time for engine, time in times.items() if not engine.startswith("jogak")}
    return min(peers.items(), key=lambda item: item[1])


def factor(times: float) -> str:
    """How many times as fast, to two digits."""
    return f"{times:.0f}" if times >= 9.95 else f"{times:.1f}" if times >= 1.995 else f"{times:.2f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table, and an empty line before it."""
    print()
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(row) + " |")


def training(run: Run) -> Iterator[Sequence[str]]:
    """Seconds and peak memory of the fastest peer and of jogak, and the share of time."""
    for key in run.rows(*TRAINED):
        times, peaks = run.medians(key, "seconds"), run.medians(key, "peak_mib")
        peer, best = fastest(times)
        for engine in ours(times):
            told = [f"{name} {times[name]:.2f} ({peaks[name]:.0f})" for name in (peer, engine)]
            yield (f"{key[1]}, {key[2]}", *told, f"1/{factor(best / times[engine])}")


def growth(run: Run) -> Iterator[Sequence[str]]:
    """Seconds and peak memory of jogak on parts of a corpus, the smallest first."""
    for key in run.rows("curve"):
        time, peak = (run.medians(key, column)["jogak"] for column in ("seconds", "peak_mib"))
        yield key[2], f"{time:.2f} ({peak:.0f})"


def beside_peers(run: Run, *works: str) -> Iterator[tuple[str, str, str, str]]:
    """What, by which of ours, with which text, and how many times as fast: first pass / warm."""
    for key in run.rows(*works):
        first, warm = run.medians(key, "first"), run.medians(key, "warm")
        for engine in ours(first):
            times = [fastest(column)[1] / column[engine] for column in (first, warm)]
            yield key[1], engine, key[2], " / ".join(map(factor, times))


def worst(run: Run) -> Iterator[tuple[str, str, str, str]]:
    """Milliseconds of ours for a megabyte, and how many times as fast."""
    for key in run.rows("encode-worst"):
        times = run.medians(key, "first")
        for engine in ours(times):
            told = factor(fastest(times)[1] / times[engine])
            text = key[2].removeprefix("worst-")
            yield key[1], engine, text, f"{1000 * times[engine]:.0f} ({told})"


def by_text(
    cells: Iterable[tuple[str, str, str, str]], texts: Sequence[str]
) -> Iterator[list[str]]:
    """A row for each of ours, a column for each text."""
    rows: dict[str, dict[str, str]] = {}
    for what, engine, text, cell in cells:
        kind = engine.removeprefix("jogak").strip(" ()")
        rows.setdefault(f"{what}, {kind}" if kind else what, {})[text] = cell
    for name, row in rows.items():
        yield [name, *(row.get(text, "") for text in texts)]


def two_threads(run: Run) -> Iterator[Sequence[str]]:
    """How many times as fast as one thread: first pass / warm."""
    for key in run.rows("encode-threads", "encode-files", "decode-threads"):
        cells = []
        for column in ("first", "warm"):
            times = run.medians(key, column)
            one, two = times["jogak"], times["jogak (2 threads)"]
            cells.append(f"{one / two:.2f} ({1000 * one:.0f} and {1000 * two:.0f} ms)")
        yield (key[0], key[2], *cells)


def loading(run: Run) -> Iterator[Sequence[str]]:
    """Seconds of every engine, the fastest first."""
    for key in run.rows("load"):
        times = sorted(run.medians(key, "first").items(), key=lambda item: item[1])
        yield (key[1], ", ".join(f"{engine} {time:.3f}" for engine, time in times))


def calls(run: Run) -> Iterator[Sequence[str]]:
    """Milliseconds, first pass and warm, of every engine."""
    for key in run.rows("encode-calls"):
        first, warm = run.medians(key, "first"), run.medians(key, "warm")
        told = (f"{name} {1000 * first[name]:.0f}, {1000 * warm[name]:.0f}" for name in first)
        yield (key[1], key[2], "; ".join(told))


def main(path: Path) -> None:
    """Prints all tables of a run."""
    run = Run(path)
    table(("training, seconds (peak MiB)", "fastest peer", "jogak", ""), training(run))
    table(("BPE on a 16th, a 4th and all", "seconds (peak MiB)"), growth(run))
    encode = ("encode-bpe", "encode-spbpe", "encode-unigram", "encode-wordpiece")
    table(("encoding", *CORPORA), by_text(beside_peers(run, *encode), CORPORA))
    ways = ("ko_nsmc", "en_docs", "code")
    others = beside_peers(run, "encode-ways", "encode-more-ways")
    table(("others' ways", *ways), by_text(others, ways))
    table(("two threads beside one", "", "first pass", "warm"), two_threads(run))
    some = ("ko_nsmc", "en_docs", "zh_poetry")
    table(("decoding", *some), by_text(beside_peers(run, "decode"), some))
    table(("pieces", *some[:2]), by_text(beside_peers(run, "encode-pieces"), some[:2]))
    table(("codes", *some[:2]), by_text(beside_peers(run, "encode-codes"), some[:2]))
    table(("inputs", *some[:2]), by_text(beside_peers(run, "encode-inputs"), some[:2]))
    table(("lines", *some[:2]), by_text(beside_peers(run, "encode-lines"), some[:2]))
    hard = tuple(dict.fromkeys(text for _, _, text, _ in worst(run)))
    table(("a megabyte, milliseconds", *hard), by_text(worst(run), hard))
    table(("calls, milliseconds", "", "first pass, warm"), calls(run))
    table(("loading, seconds", ""), loading(run))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
