"""Encodes with tiktoken: `python encode_tiktoken.py RANKS CORPUS CHARS PASSES [batch]`."""

import sys
import time

import tiktoken

from common import Stopwatch, documents, read_ranks, report_encoding

# The spelling that tiktoken itself uses for cl100k.
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
ranks, corpus, chars, passes, *batch = sys.argv[1:]
start = time.perf_counter()
encoding = tiktoken.Encoding(
    "cl100k", pat_str=PATTERN, mergeable_ranks=read_ranks(ranks), special_tokens={}
)
load = time.perf_counter() - start
texts = documents(corpus, int(chars))
watches = []
for _ in range(int(passes)):
    with Stopwatch() as watch:
        if batch:
            ids = encoding.encode_ordinary_batch(texts, num_threads=1)
        else:
            ids = [encoding.encode_ordinary(text) for text in texts]
    watches.append(watch)
report_encoding(load, watches, ids)
