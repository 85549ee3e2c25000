"""Encodes with Hugging Face tokenizers: `python encode_tokenizers.py RANKS CORPUS CHARS PASSES`."""

import sys
import time

from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from common import (
    CL100K,
    Stopwatch,
    byte_level_alphabet,
    documents,
    merges_of_ranks,
    read_ranks,
    report_encoding,
)

ranks_path, corpus, chars, passes = sys.argv[1:]
start = time.perf_counter()
ranks = read_ranks(ranks_path)
letter = {byte: char for char, byte in byte_level_alphabet().items()}


def printable(piece: bytes) -> str:
    return "".join(letter[byte] for byte in piece)


vocab = {printable(piece): rank for piece, rank in ranks.items()}
merges = [(printable(left), printable(right)) for left, right in merges_of_ranks(ranks)]
tokenizer = Tokenizer(models.BPE(vocab, merges, ignore_merges=True))
tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
    [
        pre_tokenizers.Split(Regex(CL100K), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]
)
load = time.perf_counter() - start
texts = documents(corpus, int(chars))
watches = []
for _ in range(int(passes)):
    with Stopwatch() as watch:
        ids = [row.ids for row in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    watches.append(watch)
report_encoding(load, watches, ids)
