"""Encodes with gigatoken: `python encode_gigatoken.py RANKS CORPUS CHARS PASSES`."""

import sys
import time

import gigatoken
import numpy as np

from common import Stopwatch, documents, report_encoding

ranks, corpus, chars, passes = sys.argv[1:]
start = time.perf_counter()
tokenizer = gigatoken.Tokenizer.from_tiktoken(ranks, pretokenizer="cl100k")
load = time.perf_counter() - start
texts = documents(corpus, int(chars))
watches = []
for _ in range(int(passes)):
    with Stopwatch() as watch:
        ids = tokenizer.encode_batch(texts, parallel=False)
    watches.append(watch)
report_encoding(load, watches, (np.ascontiguousarray(row, dtype=np.uint32) for row in ids))
