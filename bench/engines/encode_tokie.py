"""Encodes with tokie, from a tokenizer.json. `RAYON_NUM_THREADS` says how many threads."""

import numpy as np
import tokie

from common import run_encoding

run_encoding(
    tokie.Tokenizer.from_json,
    lambda tokenizer, texts: tokenizer.encode_batch(texts, add_special_tokens=False),
    lambda rows: (np.asarray(row.ids, dtype=np.uint32) for row in rows),
)
