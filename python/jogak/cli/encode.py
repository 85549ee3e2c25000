"""``jogak encode``: lines of text become lines of ids."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from jogak.cli import _options as options
from jogak.cli._run import lines, text_of, write_lines
from jogak.explain.symbols import drawing

if TYPE_CHECKING:
    from jogak import Tokenizer

_BATCH_BYTES = 1 << 20
_BATCH_LINES = 1 << 14


def encode(
    tokenizer: options.TokenizerFile,
    files: options.Texts = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Write pieces instead of ids, as they read.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object per line, ids and pieces.")
    ] = False,
    dropout: options.Dropout = None,
    alpha: options.Alpha = None,
    seed: options.Seed = None,
    strategy: options.Strategy = None,
    special: options.Special = None,
    threads: options.Threads = None,
) -> None:
    """Encode texts, one per line.

    The ids of a text are written on one line, separated by spaces. The newline at the end
    of a line is not part of the text. With --seed, line N is encoded with seed + N - 1, so that a
    line repeated in a file can be cut differently.

    \b
    Examples:
      jogak encode -t reviews.jogak.json < texts.txt > ids.txt
      jogak encode -t reviews.jogak.json a.txt b.txt --json | head
      echo "lowest" | jogak encode -t toy.jogak.json --tokens
      echo "lowest" | jogak encode -t uni.json --tokens --alpha 0.1 --seed 7
    """
    import jogak

    tok = jogak.load(tokenizer)
    how = options.given(strategy=strategy, special=special)
    draw = options.given(dropout=dropout, alpha=alpha)
    line = 0
    for texts in _batches(files or []):
        if dropout is None and alpha is None:
            ids = tok.encode_batch(texts, num_threads=threads, **how).to_lists()
        else:
            seeds = [None if seed is None else seed + line + index for index in range(len(texts))]
            ids = [
                tok.encode(text, seed=seed_of_line, **draw, **how)
                for text, seed_of_line in zip(texts, seeds, strict=True)
            ]
        line += len(texts)
        write_lines(_written(tok, ids, tokens, json))


def _batches(paths: Sequence[str]) -> Iterator[list[str]]:
    """The lines, some at a time: enough to keep the cores busy, few enough to need no memory."""
    most_lines = 1 if sys.stdin.isatty() else _BATCH_LINES
    batch: list[str] = []
    size = 0
    for name, number, line in lines(paths):
        batch.append(text_of(name, number, line))
        size += len(line)
        if size >= _BATCH_BYTES or len(batch) >= most_lines:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _written(
    tok: Tokenizer, batch: Sequence[Sequence[int]], tokens: bool, json: bool
) -> Iterator[bytes]:
    draw = drawing(tok.spec.model.alphabet)
    for ids in batch:
        if json:
            pieces = [tok.piece(id_) for id_ in ids]
            text = json_module.dumps({"ids": ids, "tokens": pieces}, ensure_ascii=False)
        elif tokens:
            text = " ".join(draw(tok.piece(id_)) for id_ in ids)
        else:
            text = " ".join(map(str, ids))
        yield text.encode("utf-8")
