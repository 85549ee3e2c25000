"""``jogak explain``: every step from a text to its ids."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from jogak.cli import _options as options
from jogak.cli._run import print_json, print_trace, text_of


def explain(
    text: Annotated[str, typer.Argument(help="The text, or - for stdin.", show_default=False)],
    tokenizer: options.TokenizerFile,
    dropout: options.Dropout = None,
    alpha: options.Alpha = None,
    seed: options.Seed = None,
    strategy: options.Strategy = None,
    special: options.Special = None,
    json: options.Json = False,
    html: Annotated[bool, typer.Option("--html", help="Write HTML on stdout.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Write plain text, no colours.")] = False,
) -> None:
    """Show every step from a text to its ids.

    The words of the text, the pairs of each word and each merge, or the pieces that
    match, or the lattice of all ways, and why it ended.

    \b
    Examples:
      jogak explain "lowest" -t toy.jogak.json
      jogak explain "lowest" -t toy.jogak.json --strategy longest-match
      jogak explain "lowest" -t toy.jogak.json --html > lowest.html
      jogak explain "lowest" -t uni.json --alpha 0.1 --seed 7
    """
    import jogak

    if json + html + plain > 1:
        raise typer.BadParameter("give one of --json, --html and --plain")
    if text == "-":
        text = text_of("<stdin>", 1, sys.stdin.buffer.read().removesuffix(b"\n"))
    how = options.given(dropout=dropout, alpha=alpha, seed=seed, strategy=strategy, special=special)
    trace = jogak.load(tokenizer).explain(text, **how)
    if json:
        print_json(trace.to_dict())
    elif html:
        typer.echo(f'<!doctype html>\n<meta charset="utf-8">\n{trace._repr_html_()}')
    elif plain:
        typer.echo(str(trace))
    else:
        print_trace(trace)
