"""Lines -> their pieces by codes, as they are drawn: subword-nmt, or what has its face."""

import io
from importlib import import_module
from typing import Any

from common import run_texts


def load(path: str, face: str = "subword_nmt") -> Any:
    with open(path, encoding="utf-8") as codes:
        return import_module(f"{face}.apply_bpe").BPE(codes)


def file(bpe: Any, path: str) -> list[str]:
    made = io.StringIO()
    bpe.process_lines(path, made)
    return [made.getvalue()]


run_texts(
    load,
    lambda bpe, lines: [bpe.process_line(line) for line in lines],
    lambda found: (line.encode() for line in found),
    files=file,
)
