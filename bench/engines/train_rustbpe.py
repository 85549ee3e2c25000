"""Trains with rustbpe: `python train_rustbpe.py CORPUS VOCAB_SIZE`. It tells ranks, not pairs."""

import sys

import rustbpe

from common import GPT2, Stopwatch, report_training

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
tokenizer = rustbpe.Tokenizer()
with Stopwatch() as watch, open(corpus, encoding="utf-8", newline="\n") as lines:
    tokenizer.train_from_iterator(lines, vocab_size=vocab_size, pattern=GPT2)
report_training(watch, None, tokenizer.vocab_size)
