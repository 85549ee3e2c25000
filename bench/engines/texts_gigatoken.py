"""gigatoken: a rank file by a scheme's words, or a SentencePiece model. It decodes only text by text."""

from collections.abc import Iterable, Iterator
from typing import Any

import gigatoken

from common import run_texts


def load(path: str, scheme: str = "cl100k") -> Any:
    if path.endswith(".tiktoken"):
        return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=scheme)
    return gigatoken.Tokenizer.from_sentencepiece(path)


def rows(ids: Iterable[Any]) -> Iterator[Any]:
    import numpy as np  # loading does not need it

    for row in ids:
        yield np.ascontiguousarray(row, dtype=np.uint32)


run_texts(load, lambda tokenizer, texts: tokenizer.encode_batch(texts, parallel=False), rows)
