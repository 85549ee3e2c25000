"""Trains with ffbpe: `python train_ffbpe.py CORPUS VOCAB_SIZE`."""

import sys
import tempfile
from pathlib import Path

import ffbpe

from common import GPT2, Stopwatch, from_byte_level, report_training

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
with Stopwatch() as watch, open(corpus, encoding="utf-8", newline="\n") as lines:
    counter = ffbpe.PreTokenizer([], pat_str=GPT2).word_counter()
    counter.add_source(lines)
    trainer = ffbpe.BpeTrainer(
        [], unit="byte", initial_alphabet="byte_level", tie_break="smallest_pair_id"
    )
    trainer.add_word_counter(counter)
    trainer.train(vocab_size)
with tempfile.TemporaryDirectory() as folder:
    vocab, merges = Path(folder, "vocab.json"), Path(folder, "merges.txt")
    trainer.save_files(vocab, merges, format="gpt2")
    # A line is: left right => count.
    pairs = [line.split(" ")[:2] for line in merges.read_text(encoding="utf-8").splitlines()]
report_training(watch, [from_byte_level(pair) for pair in pairs], trainer.vocab_size)
