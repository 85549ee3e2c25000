"""How well Unigram models fit text that they were not trained on, with time and memory beside it.

Each corpus is split in two ways: every 20th line is held back (the same kind of text), or the last
5 % (often another kind, where a corpus is a row of sources). Both trainers see the same lines, with
the same vocabulary size and options, in a fresh process each. The models are then judged by one
scorer: the best cut of each word, scores made to sum up to 1, an unknown character -25.

    python bench/unigram_quality.py --corpora ko_nsmc,en_docs,zh_poetry --vocab-size 32000

Log-likelihood is in nats per character, higher is better; of tokens per character fewer are better.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("JOGAK_DATA", HERE.parent.parent / "shared" / "data"))
ENGINES = ("sentencepiece", "jogak")
UNKNOWN = -25.0


def quality(pieces: Mapping[str, float], lines: Sequence[str]) -> tuple[float, float]:
    """Log-likelihood of the best cut per character, and tokens per character."""
    everything = math.log(sum(map(math.exp, pieces.values())))
    longest = max(map(len, pieces))
    words = Counter(word for line in lines for word in line.split(" ") if word)
    likelihood = tokens = characters = 0.0
    for word, count in words.items():
        text = "▁" + word
        best = [(0.0, 0)] + [(-math.inf, 0)] * len(text)
        for start in range(len(text)):
            log, cuts = best[start]
            for end in range(start + 1, min(start + longest, len(text)) + 1):
                score = pieces.get(text[start:end])
                if score is None and end > start + 1:
                    continue
                sum_ = log + (UNKNOWN if score is None else score - everything)
                if sum_ > best[end][0]:
                    best[end] = sum_, cuts + 1
        likelihood += best[-1][0] * count
        tokens += best[-1][1] * count
        characters += len(text) * count
    return likelihood / characters, tokens / characters


def splits(lines: Sequence[str]) -> dict[str, tuple[list[str], list[str]]]:
    """Name -> lines to train on, lines held back."""
    border = len(lines) * 19 // 20
    seen = [line for number, line in enumerate(lines) if number % 20]
    return {
        "every 20th line": (seen, list(lines[::20])),
        "last 5 %": (list(lines[:border]), list(lines[border:])),
    }


def train(engine: str, corpus: Path, vocab_size: int) -> tuple[dict[str, float], dict[str, float]]:
    """The pieces that an engine learns, and what its program says of itself."""
    pieces = corpus.with_suffix(f".{engine}.json")
    program = str(HERE / "engines" / f"train_unigram_{engine}.py")
    command = [sys.executable, program, str(corpus), str(vocab_size), str(pieces)]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    facts = json.loads(done.stdout.strip().splitlines()[-1])
    return dict(json.loads(pieces.read_text(encoding="utf-8"))), facts


def main() -> None:
    """Prints one Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", default="ko_nsmc,en_docs,zh_poetry")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--megabytes", type=float, help="only the first part of each corpus")
    arguments = parser.parse_args()
    print("| corpus | held back | engine | LL/char | tokens/char | pieces in common | s | MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.corpora.split(","):
        text = (DATA / "corpora" / f"{name}.txt").read_bytes()
        if arguments.megabytes:
            text = text[: int(arguments.megabytes * 1e6)]
        # SentencePiece takes a tab for the border of a count, and drops extra spaces.
        rows = text.decode("utf-8", "ignore").replace("\t", " ").split("\n")
        lines = [" ".join(row.split()) for row in rows if row.strip()]
        for split, (seen, held) in splits(lines).items():
            first: dict[str, float] = {}
            with tempfile.TemporaryDirectory() as folder:
                corpus = Path(folder) / "corpus.txt"
                corpus.write_text("\n".join(seen) + "\n", encoding="utf-8", newline="\n")
                for engine in ENGINES:
                    pieces, facts = train(engine, corpus, arguments.vocab_size)
                    first = first or pieces
                    likelihood, tokens = quality(pieces, held)
                    common = f"{len(pieces.keys() & first.keys()):,} of {len(pieces):,}"
                    measured = f"{facts['seconds']:.2f} | {facts['peak_mib']:.0f}"
                    print(
                        f"| {name} | {split} | {engine} | {likelihood:.4f} | {tokens:.4f} "
                        f"| {common} | {measured} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
