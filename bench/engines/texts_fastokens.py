"""fastokens: a tokenizer.json, all documents in one call."""

import numpy as np
from fastokens import Tokenizer

from common import run_texts

run_texts(
    Tokenizer.from_file,
    lambda tokenizer, texts: tokenizer.encode_batch_flat(texts),
    lambda batch: [np.frombuffer(batch[0], dtype=np.uint32)],
    decode=lambda tokenizer, lists: [
        tokenizer.decode(ids, skip_special_tokens=False) for ids in lists
    ],
    call=lambda tokenizer, text: tokenizer.encode(text).ids,
)
