"""Trains a Unigram model with jogak: `python train_unigram_jogak.py CORPUS VOCAB_SIZE [PIECES]`.

PIECES is a file to write the learned pieces to, for `bench/unigram_quality.py`.
"""

import sys

from common import Stopwatch, report_training, write_pieces
from jogak import Unigram, train  # all that trains is loaded, as that of the peers is

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
specials = ["<unk>", "<s>", "</s>"]
with Stopwatch() as watch:
    tokenizer = train(
        corpus,
        Unigram(vocab_size=vocab_size),
        normalizer="collapse_spaces",  # as SentencePiece does
        special_tokens=specials,
        newline="drop",  # SentencePiece knows lines without their ends
    )
model = tokenizer.spec.model
pairs = list(zip(model.pieces, model.scores, strict=True))
if len(sys.argv) > 3:
    write_pieces(sys.argv[3], [(piece, score) for piece, score in pairs if piece not in specials])
report_training(watch, pairs, len(tokenizer))
