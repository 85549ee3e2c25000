"""WordPiece beside Hugging Face's trainer: seconds of training, and tokens per word on text held back.

Each corpus is trained on without its last megabyte, which is then encoded by every vocabulary. All
engines cut words as BERT does, without its normalizer. One measurement each, in this process: the
quality is exact, the seconds are rough.

    python bench/wordpiece.py --sizes 30000 --skip-hf ko_nsmc.txt
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import jogak

DATA = Path(os.environ.get("JOGAK_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
HELD_BACK = 1_000_000
CONFIGS: dict[str, dict[str, Any]] = {
    "likelihood, auto": {},
    "likelihood, 10": {"min_pair_count": 10},
    "count": {"criterion": "count"},
}


def parts(path: Path) -> tuple[list[str], list[str]]:
    """The lines to train on, and those held back."""
    data = path.read_bytes()
    cut = data.rindex(b"\n", 0, max(len(data) - HELD_BACK, 1)) + 1
    return data[:cut].decode().splitlines(), data[cut:].decode().splitlines()


def quality(tok: jogak.Tokenizer, held: list[str], words: int) -> tuple[str, str]:
    """Tokens per word, and the share of words that are unknown."""
    ids = tok.encode_batch(held).ids
    unknown = int((ids == tok.id("[UNK]")).sum())
    return f"{len(ids) / words:.3f}", f"{100 * unknown / words:.2f} %"


def train_hf(lines: list[str], size: int) -> tuple[jogak.Tokenizer, float]:
    """HF's vocabulary, opened here."""
    import tokenizers

    tok = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    tok.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[UNK]"], show_progress=False, limit_alphabet=1_000_000
    )
    start = time.perf_counter()
    tok.train_from_iterator(lines, trainer)
    seconds = time.perf_counter() - start
    vocab = tok.get_vocab()
    model = jogak.WordPieceModel(
        pieces=tuple(sorted(vocab, key=vocab.__getitem__)), unknown="[UNK]"
    )
    spec = jogak.Spec(
        model=model, pretokenizer=(jogak.Named("bert"),), special_tokens={"[UNK]": vocab["[UNK]"]}
    )
    return jogak.Tokenizer(spec), seconds


def main() -> None:
    """Reads the options, measures, prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "files", type=Path, nargs="*", help="text files (default: ko_nsmc, en_docs)"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[30_000], metavar="N")
    parser.add_argument("--skip-hf", action="store_true", help="without the slow one")
    options = parser.parse_args()
    files = options.files or [DATA / "corpora" / f"{name}.txt" for name in ("ko_nsmc", "en_docs")]
    print("| corpus | pieces | how | seconds | tokens per word | unknown words |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in files:
        lines, held = parts(path)
        words = jogak.count(iter(held), pretokenizer="bert").total
        for size in options.sizes:
            for name, config in CONFIGS.items():
                start = time.perf_counter()
                tok = jogak.train(
                    iter(lines),
                    jogak.WordPiece(vocab_size=size, **config),
                    special_tokens=["[UNK]"],
                )
                seconds = time.perf_counter() - start
                row = [path.stem, f"{len(tok):,}", name, f"{seconds:.1f}"]
                print("|", " | ".join([*row, *quality(tok, held, words)]), "|", flush=True)
            if not options.skip_hf:
                tok, seconds = train_hf(lines, size)
                row = [path.stem, f"{len(tok):,}", "tokenizers", f"{seconds:.1f}"]
                print("|", " | ".join([*row, *quality(tok, held, words)]), "|", flush=True)


if __name__ == "__main__":
    main()
