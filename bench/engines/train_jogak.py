"""Trains with jogak: `python train_jogak.py CORPUS VOCAB_SIZE`."""

import sys

from common import Stopwatch, from_byte_level, report_training
from jogak import BPE, train  # all that trains is loaded, as that of the peers is

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
with Stopwatch() as watch:
    tokenizer = train(corpus, BPE(vocab_size=vocab_size, min_pair_count=1), pretokenizer="gpt2")
report_training(watch, [from_byte_level(pair) for pair in tokenizer.merges], len(tokenizer))
