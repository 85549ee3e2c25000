"""Counts words with jogak: `python count_jogak.py CORPUS THREADS PRETOKENIZER`."""

import hashlib
import json
import sys

import jogak
from common import Stopwatch

corpus, threads, pretokenizer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
count = jogak.count  # what counts is loaded before the clock
with Stopwatch() as watch:
    counts = count(corpus, pretokenizer=pretokenizer, num_threads=threads)
digest = hashlib.sha256(repr(sorted(counts.items())).encode()).hexdigest()
print(
    json.dumps(
        {
            "seconds": watch.seconds,
            "idle_mib": watch.idle_mib,
            "peak_mib": watch.peak_mib,
            "digest": digest,
            "pieces": len(counts),
        }
    )
)
