"""Trains WordPiece with jogak: `python train_wordpiece_jogak.py CORPUS VOCAB_SIZE CRITERION`."""

import sys

from common import Stopwatch, report_training
from jogak import WordPiece, train  # all that trains is loaded, as that of the peers is

corpus, vocab_size, criterion = sys.argv[1:]
with Stopwatch() as watch:
    tokenizer = train(
        corpus,
        WordPiece(vocab_size=int(vocab_size), criterion=criterion),  # type: ignore[arg-type]  # the command line is checked there
        special_tokens=["[UNK]"],
    )
report_training(watch, tokenizer.spec.model.pieces, len(tokenizer))
