"""tokie, from a tokenizer.json: document by document, for its batches take all cores."""

import numpy as np
import tokie

from common import run_texts

run_texts(
    tokie.Tokenizer.from_json,
    lambda tokenizer, texts: [tokenizer.encode(text, add_special_tokens=False) for text in texts],
    lambda rows: (np.asarray(row.ids, dtype=np.uint32) for row in rows),
)
