"""splintr: a tokenizer.json, all documents in one call, which puts a template's ids around each.

around=A,B leaves out the first A and the last B ids of each, outside the clock.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import splintr

from common import run_texts


class _Opened:
    def __init__(self, path: str, around: str = "0,0") -> None:
        self.tokenizer = splintr.from_json(path)
        self.before, self.behind = map(int, around.split(","))

    def encode(self, texts: list[str]) -> tuple[Any, bytes, bytes]:
        return self, *self.tokenizer.encode_batch_flat(texts)


def _rows(batch: tuple[_Opened, bytes, bytes]) -> Iterator[Any]:
    opened, data, offsets = batch
    ids = np.frombuffer(data, dtype=np.uint32)
    ends = np.frombuffer(offsets, dtype=np.uint64).tolist()
    for start, end in pairwise(ends):
        yield ids[start + opened.before : end - opened.behind]


run_texts(
    _Opened,
    _Opened.encode,
    _rows,
    decode=lambda opened, lists: [opened.tokenizer.decode_with_special(ids) for ids in lists],
    call=lambda opened, text: opened.tokenizer.encode_raw(text),
)
