"""Trains SentencePiece's Unigram model: `python train_unigram_sentencepiece.py CORPUS VOCAB_SIZE
[PIECES]`.

Text is not normalized, as with the other engine; all other defaults stand. PIECES is a file to write
the learned pieces to, for `bench/unigram_quality.py`.
"""

import io
import os
import sys

import sentencepiece

from common import Stopwatch, report_training, write_pieces

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
written = io.BytesIO()
with Stopwatch() as watch:
    sentencepiece.SentencePieceTrainer.train(
        input=corpus,
        model_writer=written,
        model_type="unigram",
        vocab_size=vocab_size,
        num_threads=os.cpu_count(),
        normalization_rule_name="identity",
        max_sentence_length=1 << 24,
        minloglevel=2,
    )
model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
pieces = [(model.id_to_piece(id_), model.get_score(id_)) for id_ in range(3, len(model))]
if len(sys.argv) > 3:
    write_pieces(sys.argv[3], pieces)
report_training(watch, pieces, len(model))
