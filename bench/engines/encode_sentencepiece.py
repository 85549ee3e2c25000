"""Encodes with SentencePiece."""

import sentencepiece

from common import run_encoding

run_encoding(
    lambda path: sentencepiece.SentencePieceProcessor(model_file=path),
    lambda tokenizer, texts: tokenizer.encode(texts, num_threads=1),
)
