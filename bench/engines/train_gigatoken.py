"""Trains with gigatoken: `python train_gigatoken.py CORPUS VOCAB_SIZE`.

The line ends that cut its documents are no part of them.
"""

import sys

import gigatoken

from common import Stopwatch, report_training

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
with Stopwatch() as watch:
    vocab, merges = gigatoken.train_bpe(
        gigatoken.TextFileSource([corpus], separator=b"\n"), vocab_size, []
    )
report_training(watch, merges, len(vocab))
