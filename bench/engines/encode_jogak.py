"""Encodes with jogak: `python encode_jogak.py RANKS CORPUS CHARS PASSES`."""

import sys
import time

import numpy  # noqa: F401  # ids come as its arrays; who uses them has imported it

import jogak
from common import Stopwatch, documents, report_encoding

ranks, corpus, chars, passes = sys.argv[1:]
start = time.perf_counter()
tokenizer = jogak.load(ranks, pretokenizer="cl100k")
load = time.perf_counter() - start
texts = documents(corpus, int(chars))
watches = []
for _ in range(int(passes)):
    with Stopwatch() as watch:
        batch = tokenizer.encode_batch(texts, num_threads=1)
    watches.append(watch)
report_encoding(load, watches, [batch.ids])
