"""gigatoken: cl100k's rank file, or a SentencePiece model. It decodes only text by text."""

from typing import Any

import gigatoken
import numpy as np

from common import run_texts


def load(path: str) -> Any:
    if path.endswith(".tiktoken"):
        return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer="cl100k")
    return gigatoken.Tokenizer.from_sentencepiece(path)


run_texts(
    load,
    lambda tokenizer, texts: tokenizer.encode_batch(texts, parallel=False),
    lambda ids: (np.ascontiguousarray(row, dtype=np.uint32) for row in ids),
)
