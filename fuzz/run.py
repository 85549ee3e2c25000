"""Breaks files and holds every reader to an answer: see README.md beside this file."""

from __future__ import annotations

import argparse
import faulthandler
import pathlib
import random
import resource
import sys
import time

from mutate import mutated
from seeds import OPTIONS, Files, seeds
from target import check

#: No reader may need more memory than this, in bytes, nor longer than this, in seconds.
MEMORY, SECONDS = 4 << 30, 20


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", help="only this format")
    parser.add_argument("--seconds", type=float, default=60, help="how long, for each format")
    parser.add_argument("--start", type=int, default=0, help="where the random numbers start")
    parser.add_argument("--seed", action="append", default=[], help="a valid file to break as well")
    parser.add_argument("--replay", help="check just this file")
    parser.add_argument("--atheris", action="store_true", help="let coverage guide (one format)")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if options.replay:
        path = pathlib.Path(options.replay)
        case = {path.name: path.read_bytes()}
        known = OPTIONS.get(options.format, {})
        print("a tokenizer" if check(case, options.format, known) else "refused")
        return
    corpus = seeds()
    for name in options.seed:
        path = pathlib.Path(name)
        corpus.setdefault(options.format or "jogak", []).append({path.name: path.read_bytes()})
    if options.atheris:
        guided(options.format, corpus[options.format])
    for format, files in corpus.items():
        if options.format in (None, format):
            broken(format, files, options.start, options.seconds)


def one(files: list[Files], draw: random.Random) -> Files:
    """A file, broken; of a folder one of the files, or a few."""
    chosen = dict(draw.choice(files))
    for name in draw.sample(sorted(chosen), draw.randint(1, len(chosen))):
        chosen[name] = mutated(chosen[name], draw)
    return chosen


def broken(format: str, files: list[Files], start: int, seconds: float) -> None:
    """Break files of a format until the time is over."""
    end = time.monotonic() + seconds
    number, loaded = start, 0
    while time.monotonic() < end:
        case = one(files, random.Random(number))
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            loaded += check(case, format, OPTIONS.get(format))
        except BaseException:
            for name, data in case.items():
                crash = pathlib.Path(f"crash-{format}-{number}-{name}")
                crash.write_bytes(data)
                print(f"python fuzz/run.py --format {format} --replay {crash}", file=sys.stderr)
            raise
        number += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{format}: {number - start:,} files, {loaded:,} of them tokenizers, no fault")


def guided(format: str, files: list[Files]) -> None:
    """Let atheris look for inputs that reach new code; it does not come back."""
    import atheris

    single = [case for case in files if len(case) == 1]
    name = next(iter(single[0]))

    def test(data: bytes) -> None:
        check({name: data}, format, OPTIONS.get(format))

    folder = pathlib.Path("fuzz-corpus") / format
    folder.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(single):
        (folder / f"seed-{number}").write_bytes(case[name])
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], str(folder)], test)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
