"""Trains SentencePiece's BPE: `python train_sentencepiece.py CORPUS VOCAB_SIZE [comparable]`.

With `comparable`, words are cut at spaces alone, no character is left out and nothing is normalized,
so that jogak answers the same question; without, all its defaults stand.
"""

import io
import os
import sys
from typing import Any

import sentencepiece

from common import Stopwatch, report_training

corpus, vocab_size, *comparable = sys.argv[1:]
options: dict[str, Any] = {}
if comparable:
    options = {
        "normalization_rule_name": "identity",
        "character_coverage": 1.0,
        "split_by_unicode_script": False,
        "split_by_number": False,
        "max_sentence_length": 1 << 24,
    }
written = io.BytesIO()
with Stopwatch() as watch:
    sentencepiece.SentencePieceTrainer.train(
        input=corpus,
        model_writer=written,
        model_type="bpe",
        vocab_size=int(vocab_size),
        num_threads=os.cpu_count(),
        minloglevel=2,
        **options,
    )
model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
pieces = [model.id_to_piece(id_) for id_ in range(3, len(model))]
# The alphabet stands behind what was merged, in an order of its own.
report_training(watch, [piece for piece in pieces if len(piece) > 1], len(model))
