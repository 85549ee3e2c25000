"""Learns codes with subword-nmt, or what has its face: arguments are CORPUS MERGES [FACE]."""

import io
import sys
from importlib import import_module

from common import Stopwatch, report_training

corpus, merges, *face = sys.argv[1:]
package = face[0] if face else "subword_nmt"
learn_bpe = import_module(f"{package}.learn_bpe").learn_bpe
codes = io.StringIO()
with Stopwatch() as watch, open(corpus, encoding="utf-8", newline="\n") as lines:
    learn_bpe(lines, codes, int(merges))
learned = codes.getvalue().splitlines()[1:]
report_training(watch, learned, len(learned))
