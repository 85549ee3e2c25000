"""Trains WordPiece with jogak: `python train_wordpiece_jogak.py CORPUS VOCAB_SIZE CRITERION`."""

import sys

import jogak
from common import Stopwatch, report_training

corpus, vocab_size, criterion = sys.argv[1:]
with Stopwatch() as watch:
    tokenizer = jogak.train(
        corpus,
        jogak.WordPiece(vocab_size=int(vocab_size), criterion=criterion),  # type: ignore[arg-type]
        special_tokens=["[UNK]"],
    )
report_training(watch, tokenizer.spec.model.pieces, len(tokenizer))
