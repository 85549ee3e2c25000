"""Trains SentencePiece's BPE: `python train_sentencepiece.py CORPUS VOCAB_SIZE`.

It works on characters, not bytes, and its defaults stand (nmt_nfkc, character coverage 0.9995, the
whole corpus), so its pieces are not compared.
"""

import io
import os
import sys

import sentencepiece

from common import Stopwatch, report_training

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
model = io.BytesIO()
with Stopwatch() as watch:
    sentencepiece.SentencePieceTrainer.train(
        input=corpus,
        model_writer=model,
        model_type="bpe",
        vocab_size=vocab_size,
        num_threads=os.cpu_count(),
        minloglevel=2,
    )
report_training(
    watch, None, sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()).get_piece_size()
)
