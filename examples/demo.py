"""The main job from end to end: corpus -> tokenizer -> ids -> text, and a look inside.

    python examples/demo.py                     # on the sources of the Python that runs it
    python examples/demo.py a.txt b.txt         # on your own text

One part in twenty is held back from training and encoded afterwards. All it makes stays in
`build/demo`, to play on with: `jogak inspect build/demo/demo.jogak.json`.
"""

from __future__ import annotations

import io
import os
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

import jogak

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "build" / "demo"
VOCAB_SIZE = 16_000
BLOCK = 1 << 14  # characters of a block; whole blocks are held back
SHOWN = 2  # merges whose candidates and words are shown in full
ENOUGH = 10_000_000  # bytes of Python sources to train on, at least

console = Console()


# --- the corpus


def python_sources() -> Iterator[Path]:
    """The standard library, and behind it the installed packages until there is enough text."""
    folders = sysconfig.get_paths()
    seen = 0
    for folder in (folders["stdlib"], folders["purelib"]):
        for path in sorted(Path(folder).rglob("*.py")):
            if folder == folders["stdlib"] and "site-packages" in path.parts:
                continue
            if folder == folders["purelib"] and seen >= ENOUGH:
                return
            seen += path.stat().st_size
            yield path


def blocks(text: str) -> Iterator[str]:
    """A text in blocks of whole lines."""
    lines = io.StringIO(text, newline="\n")
    while block := lines.readlines(BLOCK):
        yield "".join(block)


def split_corpus(files: list[Path]) -> tuple[Path, list[str]]:
    """Writes what is trained on to one file; gives it and the blocks that are held back."""
    OUT.mkdir(parents=True, exist_ok=True)
    train = OUT / "train.txt"
    held_back = []
    number = 0
    with train.open("w", encoding="utf-8", newline="") as file:
        for path in files:
            try:
                text = path.read_bytes().decode("utf-8")
            except UnicodeDecodeError as error:
                # The standard library has a few such files, to test that Python knows them.
                console.print(f"[dim]left out {path.name}: not UTF-8 at byte {error.start}[/dim]")
                continue
            for block in blocks(text):
                number += 1
                if number % 20:
                    file.write(block)
                else:
                    held_back.append(block)
    return train, held_back


# --- the parts of the demo


def peak_memory() -> str:
    """The highest resident memory of this process so far."""
    try:
        import resource
    except ImportError:  # Windows
        return "not known here"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak / (1 << 20 if sys.platform == 'darwin' else 1 << 10):.0f} MiB"


def real_text(files: list[Path]) -> None:
    """Trains on real text, saves, loads, encodes what was held back, and checks the way back."""
    train, held_back = split_corpus(files)
    megabytes = train.stat().st_size / 1e6
    if not held_back:
        raise SystemExit(
            f"{megabytes:.1f} MB is too little text for this demo; give it 1 MB or more"
        )
    console.rule("[bold]A byte-level BPE on real text")

    start = time.perf_counter()
    trained = jogak.train(train, jogak.BPE(vocab_size=VOCAB_SIZE), progress=True)
    train_seconds = time.perf_counter() - start

    path = OUT / "demo.jogak.json"
    trained.save(path)
    tok = jogak.load(path)

    held_bytes = "".join(held_back).encode()
    tok.encode_batch([])  # the first array imports numpy, which is no encoding
    start = time.perf_counter()
    batch = tok.encode_batch(held_back)
    encode_seconds = time.perf_counter() - start
    if tok.decode_bytes(batch.ids) != held_bytes:
        raise SystemExit("decoding did not give the bytes back: this is a bug in jogak")

    table = Table.grid(padding=(0, 3))
    table.add_column(style="dim")
    table.add_column()
    table.add_row("trained on", f"{megabytes:.1f} MB of {len(files):,} files")
    table.add_row("vocabulary", f"{len(tok):,} pieces, {len(tok.merges):,} merges")
    table.add_row("training", f"{train_seconds:.2f} s, {megabytes / train_seconds:.0f} MB/s")
    table.add_row("held back", f"{len(held_bytes) / 1e6:.2f} MB -> {len(batch.ids):,} ids")
    table.add_row("decoded", "[green]every byte came back[/green]")
    table.add_row("bytes per token", f"{len(held_bytes) / len(batch.ids):.2f}")
    table.add_row("encoding", f"{len(held_bytes) / 1e6 / encode_seconds:.0f} MB/s")
    table.add_row("peak memory", peak_memory())
    table.add_row("saved as", os.path.relpath(path))
    console.print(table)

    line = "def encode(self, text: str) -> list[int]:"
    console.print()
    console.print(line, "->", "·".join(tok.tokens(line)), markup=False, highlight=False)


def korean() -> None:
    """Trains on fourteen sentences and shows why each piece came out."""
    console.print()
    console.rule("[bold]How pieces come about: fourteen Korean sentences")
    sentences = HERE / "korean_sentences.txt"
    config = jogak.BPE(num_merges=10, marker="none", ties="first-seen", strategy="longest-match")
    # Words of one character, mostly particles and punctuation, are left out of the inventory.
    tok = jogak.train(sentences, config, min_word_length=2, trace=True)
    trace = tok.training.trace
    merges = Table(box=None, header_style="dim", padding=(0, 3, 0, 0))
    for heading in ("rank", "left", "right", "piece", "count", "± live", "live"):
        number = heading in ("rank", "count", "± live", "live")
        merges.add_column(heading, justify="right" if number else "left")
    for m in trace.merges:
        numbers = (str(m.count), f"{m.live_change:+d}" if m.live_change else "0", str(m.live))
        merges.add_row(str(m.rank), m.left, m.right, f"[green]{m.piece}[/green]", *numbers)
    console.print(merges)
    for merge in trace.merges[:SHOWN]:
        console.print()
        console.print(merge)
    console.print()
    console.print(tok.explain("계란간장볶음밥"))


def main() -> None:
    """Runs both parts."""
    files = [Path(name) for name in sys.argv[1:]] or list(python_sources())
    for path in files:
        if not path.is_file():
            raise SystemExit(
                f"{path} is not a file; give text files, or nothing for Python's sources"
            )
    real_text(files)
    korean()


if __name__ == "__main__":
    main()
