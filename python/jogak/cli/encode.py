"""``jogak encode``: lines of text become lines of ids."""

from __future__ import annotations

import json as json_module
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from jogak.cli import _options as options
from jogak.cli._run import blocks, write_lines
from jogak.explain.symbols import drawing

if TYPE_CHECKING:
    from jogak import Tokenizer

_Write: TypeAlias = Callable[[Sequence[int]], bytes]


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
    write = _writer(tok, tokens, json)
    how = options.given(strategy=strategy, special=special)
    draw = options.given(dropout=dropout, alpha=alpha)
    if nbest is not None or score:
        if draw or strategy is not None or (score and nbest is not None):
            raise typer.BadParameter(
                "--nbest, --score, --dropout, --alpha and --strategy do not go together; choose one"
            )
        for block in blocks(files or []):
            for text in block.texts():
                write_lines(_judged(tok, text, nbest, options.given(special=special), write, json))
        return
    line = 0
    for block in blocks(files or []):
        texts = block.texts()
        if dropout is None and alpha is None:
            ids = tok.encode_batch(texts, num_threads=threads, **how).to_lists()
        else:
            seeds = [None if seed is None else seed + line + index for index in range(len(texts))]
            ids = [
                tok.encode(text, seed=seed_of_line, **draw, **how)
                for text, seed_of_line in zip(texts, seeds, strict=True)
            ]
        line += len(texts)
        write_lines(map(write, ids))


def _judged(
    tok: Tokenizer, text: str, nbest: int | None, how: dict[str, Any], write: _Write, json: bool
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
    for line, known in zip(map(write, ways), numbers, strict=True):
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


def _writer(tok: Tokenizer, tokens: bool, json: bool) -> _Write:
    """What makes a line of the ids of a text."""
    numbers = _Table(lambda id_: b"%d" % id_)
    if json:
        quoted = _Table(lambda id_: json_module.dumps(tok.piece(id_), ensure_ascii=False).encode())
        between = b", "

        def write(ids: Sequence[int]) -> bytes:
            ids_of, tokens_of = (
                between.join(map(table.__getitem__, ids)) for table in (numbers, quoted)
            )
            return b'{"ids": [%b], "tokens": [%b]}' % (ids_of, tokens_of)

        return write
    if tokens:
        draw = drawing(tok.spec.model.alphabet)
        numbers = _Table(lambda id_: draw(tok.piece(id_)).encode())
    written = numbers.__getitem__
    return lambda ids: b" ".join(map(written, ids))
