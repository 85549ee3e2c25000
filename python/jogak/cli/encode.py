"""``jogak encode``: lines of text become lines of ids."""

from __future__ import annotations

import json as json_module
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jogak.cli import _options as options
from jogak.cli._run import blocks, write, write_lines
from jogak.explain.symbols import drawing

if TYPE_CHECKING:
    from jogak import Ragged, Tokenizer


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
    nbest: Annotated[
        int | None,
        typer.Option(metavar="N", help="The N likeliest ways to cut each line (unigram)."),
    ] = None,
    score: Annotated[
        bool,
        typer.Option(
            "--score", help="How likely the best way and the line are, and the entropy (unigram)."
        ),
    ] = False,
    threads: options.Threads = None,
) -> None:
    """Encode texts, one per line.

    The ids of a text are written on one line, separated by spaces. The newline at the end
    of a line is not part of the text. With --seed, line N is encoded with seed + N - 1, so that a
    line repeated in a file can be cut differently.

    With --nbest, each line becomes N lines (or as many as there are ways), the best first: the logarithm
    of its probability, a tab, its ids. With --score, each line begins with three numbers and a tab:
    the logarithms of the probability of the best way and of all ways together, and the entropy in nats.

    \b
    Examples:
      jogak encode -t reviews.jogak.json < texts.txt > ids.txt
      jogak encode -t reviews.jogak.json a.txt b.txt --json | head
      echo "lowest" | jogak encode -t toy.jogak.json --tokens
      echo "lowest" | jogak encode -t uni.json --tokens --alpha 0.1 --seed 7
      echo "lowest" | jogak encode -t uni.json --tokens --nbest 5
    """
    import jogak

    tok = jogak.load(tokenizer)
    written = _Written(tok, tokens, json)
    how = options.given(strategy=strategy, special=special)
    draw = options.given(dropout=dropout, alpha=alpha)
    if nbest is not None or score:
        if draw or strategy is not None or (score and nbest is not None):
            raise typer.BadParameter(
                "--nbest, --score, --dropout, --alpha and --strategy do not go together; choose one"
            )
        for block in blocks(files or []):
            for text in block.texts():
                write_lines(
                    _judged(tok, text, nbest, options.given(special=special), written, json)
                )
        return
    line = 0
    for block in blocks(files or []):
        texts = block.texts()
        if dropout is None and alpha is None:
            batch = tok.encode_batch(texts, num_threads=threads, **how)
        else:
            seeds = [None if seed is None else seed + line + index for index in range(len(texts))]
            batch = _batch(
                tok.encode(text, seed=seed_of_line, **draw, **how)
                for text, seed_of_line in zip(texts, seeds, strict=True)
            )
        line += len(texts)
        write(written(batch))


def _batch(lists: Iterable[list[int]]) -> Ragged:
    import numpy as np

    from jogak import Ragged

    lists = list(lists)
    ids = np.fromiter(chain.from_iterable(lists), np.uint32)
    return Ragged(ids, np.cumsum([0, *map(len, lists)], dtype=np.int64))


def _judged(
    tok: Tokenizer, text: str, nbest: int | None, how: dict[str, Any], written: _Written, json: bool
) -> Iterator[bytes]:
    """The lines of a text under ``--nbest``, or the one under ``--score``."""
    if nbest is None:
        judged = tok.score(text, **how)
        ways = [tok.encode(text, **how)]
        numbers = [{"way": judged.way, "text": judged.text, "entropy": judged.entropy}]
    else:
        found = tok.nbest(text, nbest, **how)
        ways = [way.ids for way in found]
        numbers = [{"score": way.score} for way in found]
    for line, known in zip(_lines(written(_batch(ways))), numbers, strict=True):
        if json:
            yield json_module.dumps(known | json_module.loads(line), ensure_ascii=False).encode()
        else:
            yield " ".join(map(repr, known.values())).encode() + b"\t" + line


class _Table(dict[int, bytes]):
    """What is written for an id, made when it first comes."""

    def __init__(self, made: Callable[[int], bytes]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, id_: int) -> bytes:
        self[id_] = made = self._made(id_)
        return made


class _Written:
    """Ids -> the lines that say them."""

    def __init__(self, tok: Tokenizer, tokens: bool, json: bool) -> None:
        self._json = json
        self._pieces: _Table | None = None
        if json:
            # What comes last on a line has a comma too many.
            self._numbers = _Table(lambda id_: b"%d," % id_)
            self._pieces = _Table(lambda id_: _quoted(tok.piece(id_)) + b",")
        elif tokens:
            draw = drawing(tok.spec.model.alphabet)
            self._pieces = _Table(lambda id_: draw(tok.piece(id_)).encode())

    def __call__(self, batch: Ragged) -> bytes:
        pieces = batch.to_lines(self._pieces)
        if not self._json:
            return pieces
        ids = batch.to_lines(self._numbers)
        return b"".join(
            b'{"ids": [%b], "tokens": [%b]}\n' % (numbers[:-1], tokens[:-1])
            for numbers, tokens in zip(_lines(ids), _lines(pieces), strict=True)
        )


def _quoted(text: str) -> bytes:
    return json_module.dumps(text, ensure_ascii=False).encode()


def _lines(data: bytes) -> list[bytes]:
    return data.split(b"\n")[:-1]
