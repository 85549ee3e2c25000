"""The ``jogak`` command: one verb per file, each a thin layer over the public Python names.

Rule: what a verb does, two lines of Python can do. Results go to stdout, everything else to stderr.
Exit codes: 0 fine, 1 an error that jogak names, 2 wrong usage, 130 stopped by Ctrl-C.

To answer at once, a call imports the verb it names and nothing more: ``jogak --help`` is printed
from this file, before typer is loaded; numpy, rich and the core wait until a verb runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

__all__ = ["VERBS", "main", "make_app"]

#: Every verb, with the first line of its help.
VERBS = {
    "train": "Train a tokenizer and save it.",
    "encode": "Encode texts, one per line.",
    "decode": "Decode ids, one text per line.",
    "explain": "Show every step from a text to its ids.",
    "convert": "Write a tokenizer file in another format, with proof.",
    "inspect": "Show what a tokenizer file holds.",
    "compress": "Replace pairs of letters by new letters, step by step.",
    "count": "Count the words of a corpus, to train from the counts.",
}

OVERVIEW = f"""\
Usage: jogak VERB [OPTIONS] ...

  Train subword tokenizers, encode and decode with them, and see every step.

Examples:
  jogak train reviews.txt --vocab-size 32000 -o reviews.jogak.json
  jogak encode -t reviews.jogak.json < texts.txt
  jogak explain "lowest" -t reviews.jogak.json
  jogak compress aaabdaaabac

Verbs:
{chr(10).join(f"  {verb:8}  {what}" for verb, what in VERBS.items())}

Options:
  -h, --help            Show this message; `jogak VERB --help` shows a verb's.
  --version             Show the version.
  --install-completion  Install completion for the current shell.
  --show-completion     Show completion for the current shell, to copy it.
"""


def main() -> None:
    """Run the command line; ends the process with the exit code.

    All text that goes in and out is UTF-8, whatever the locale says.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", newline="\n")
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(OVERVIEW, end="")
    elif arguments[0] in VERBS:
        make_app([arguments[0]])(prog_name="jogak")
    else:
        make_app()(prog_name="jogak")


def make_app(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The typer application with these verbs."""
    import typer

    from jogak.cli._help import Command
    from jogak.cli._run import guarded, root

    # Help is plain text: rich's panels cost a tenth of a second and break the examples apart.
    app = typer.Typer(
        name="jogak",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(root)
    for verb in verbs:
        module = import_module(f"jogak.cli.{verb}")
        app.command(verb, cls=getattr(module, "Command", Command))(guarded(getattr(module, verb)))
    return app
