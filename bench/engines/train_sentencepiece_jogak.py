"""Trains SentencePiece's BPE with jogak: `python train_sentencepiece_jogak.py CORPUS VOCAB_SIZE`."""

import sys

from common import Stopwatch, report_training
from jogak import BPE, train  # all that trains is loaded, as that of the peers is

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
with Stopwatch() as watch:
    tokenizer = train(
        corpus,
        BPE(
            vocab_size=vocab_size,
            marker="prefix",
            ties="sentencepiece",
            min_pair_count=1,
            max_piece_length=16,
            unknown="<unk>",
        ),
        normalizer="collapse_spaces",
        special_tokens=["<unk>", "<s>", "</s>"],
        newline="drop",  # SentencePiece knows lines without their ends
    )
report_training(watch, [left + right for left, right in tokenizer.merges], len(tokenizer))
