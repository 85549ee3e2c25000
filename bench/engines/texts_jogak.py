"""jogak; options are those of `jogak.load`, but for `threads`, and the `ids` that are decoded.

These are lists or arrays, a call for each document, or a batch: one array, in one call.
"""

import sys
from array import array
from collections.abc import Iterable
from typing import Any

if sys.argv[1] != "load":
    import numpy  # ids come as its arrays; who uses them has imported it

import jogak
from common import run_texts


def load(path: str, threads: str = "1", ids: str = "lists", **options: str) -> Any:
    return jogak.load(path, **options), int(threads), ids


def given(loaded: Any, lists: Iterable[list[int]]) -> Any:
    if loaded[2] == "lists":
        return [*lists]
    if loaded[2] == "arrays":
        return [numpy.array(ids, numpy.uint32) for ids in lists]
    flat, offsets = array("I"), [0]
    for ids in lists:
        flat.extend(ids)
        offsets.append(len(flat))
    return jogak.Ragged(numpy.frombuffer(flat, numpy.uint32), numpy.array(offsets))


def decode(loaded: Any, ids: Any) -> list[str]:
    tokenizer, threads, _ = loaded
    if isinstance(ids, jogak.Ragged):
        return tokenizer.decode_batch(ids, num_threads=threads)
    return [tokenizer.decode(of_text) for of_text in ids]


run_texts(
    load,
    lambda loaded, texts: loaded[0].encode_batch(texts, num_threads=loaded[1]),
    lambda batch: [part.ids for part in batch] if isinstance(batch, list) else [batch.ids],
    decode,
    given,
    lambda loaded, text: loaded[0].encode(text),
    lambda loaded, path: [*loaded[0].encode_files(path, num_threads=loaded[1])],
)
