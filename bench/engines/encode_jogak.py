"""Encodes with jogak; options are those of `jogak.load`."""

import numpy  # noqa: F401  # ids come as its arrays; who uses them has imported it

import jogak
from common import run_encoding

run_encoding(
    jogak.load,
    lambda tokenizer, texts: tokenizer.encode_batch(texts, num_threads=1),
    lambda batch: [batch.ids],
)
