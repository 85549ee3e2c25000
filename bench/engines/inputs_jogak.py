"""jogak: ids with the bytes and the characters that each stands for, words and masks."""

from collections.abc import Iterator

import numpy  # arrays come as its own; who uses them has imported it

import jogak
from common import run_texts


def rows(batch: jogak.EncodingBatch) -> Iterator[list[int]]:
    for encoding in batch:
        yield encoding.ids.tolist()
        yield numpy.ravel(encoding.char_spans).tolist()


run_texts(
    jogak.load,
    lambda tokenizer, texts: tokenizer.encoding_batch(
        texts, num_threads=1, add_special_tokens=False
    ),
    rows,
)
