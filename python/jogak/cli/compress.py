"""``jogak compress``: byte pair compression of a text, step by step."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from jogak.cli import _options as options
from jogak.cli._run import print_json, print_trace, text_of


def compress(
    text: Annotated[str, typer.Argument(help="The text, or - for stdin.", show_default=False)],
    ties: Annotated[
        str, typer.Option(metavar="RULE", help="Which of the commonest pairs is taken.")
    ] = "lexicographic",
    min_pair_count: Annotated[
        int, typer.Option(metavar="N", help="Stop when the best pair is rarer.")
    ] = 2,
    max_steps: Annotated[
        int | None, typer.Option(metavar="N", help="Stop after this many replacements.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Replace pairs of letters by new letters, step by step.

    Byte pair compression (Gage 1994): the commonest pair first, until no pair is left that occurs
    often enough.

    \b
    Examples:
      jogak compress aaabdaaabac
      jogak compress "peter piper picked a peck" --max-steps 3
    """
    import jogak

    if text == "-":
        text = text_of("<stdin>", 1, sys.stdin.buffer.read().removesuffix(b"\n"))
    packed = jogak.compress(
        text,
        ties=ties,  # type: ignore[arg-type]  # it checks them itself
        min_pair_count=min_pair_count,
        max_steps=max_steps,
    )
    if json:
        print_json(packed.to_dict())
    else:
        print_trace(packed)
