"""jogak; options are those of `jogak.load`, but for `threads`, and `ids`: lists or arrays to decode."""

import sys
from typing import Any

if sys.argv[1] != "load":
    import numpy  # ids come as its arrays; who uses them has imported it

import jogak
from common import run_texts


def load(path: str, threads: str = "1", ids: str = "lists", **options: str) -> Any:
    return jogak.load(path, **options), int(threads), ids


def given(loaded: Any, ids: list[int]) -> Any:
    return numpy.array(ids, numpy.uint32) if loaded[2] == "arrays" else ids


run_texts(
    load,
    lambda loaded, texts: loaded[0].encode_batch(texts, num_threads=loaded[1]),
    lambda batch: [part.ids for part in batch] if isinstance(batch, list) else [batch.ids],
    lambda loaded, lists: [loaded[0].decode(ids) for ids in lists],
    given,
    lambda loaded, text: loaded[0].encode(text),
    lambda loaded, path: [*loaded[0].encode_files(path, num_threads=loaded[1])],
)
