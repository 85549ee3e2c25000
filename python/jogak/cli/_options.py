"""Options that more than one verb has, said once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from jogak.spec import PretokenizerLike

Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS...",
        help="Text files or folders (.txt, .jsonl, .csv, .tsv; also .gz, .zst), or - for stdin.",
        show_default=False,
    ),
]
Pretokenizers = Annotated[
    list[str] | None,
    typer.Option(
        "--pretokenizer",
        metavar="NAME",
        help="How text is cut into words: o200k, cl100k, gpt2, bert, metaspace, whitespace, "
        "punctuation, digits, digits3, script, none, or regex=PATTERN. Repeat for a sequence.",
    ),
]
Field = Annotated[str | None, typer.Option(metavar="NAME", help="The field of .jsonl files.")]
Column = Annotated[str | None, typer.Option(metavar="NAME", help="The column of .csv and .tsv.")]
Documents = Annotated[
    str | None,
    typer.Option(metavar="line|file", help="What a document of a text file is.  [default: line]"),
]
Separator = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The text between documents of a text file.")
]
Newline = Annotated[
    bool, typer.Option("--newline", help="The newline at the end of a line is part of the text.")
]
Errors = Annotated[
    str | None,
    typer.Option(
        metavar="strict|replace|skip",
        help="What to do about documents that cannot be read.  [default: strict]",
    ),
]
MinWordLength = Annotated[
    int | None, typer.Option(metavar="N", help="Leave out words of fewer characters.")
]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Number of threads.  [default: all cores]")
]
TokenizerFile = Annotated[
    str,
    typer.Option("--tokenizer", "-t", metavar="FILE", help="The tokenizer.", show_default=False),
]
Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]...", help="Files to read; - or nothing is stdin."),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of dropout.")]
Strategy = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="merges, longest-match or longest-first.  [default: the tokenizer's]"
    ),
]


def given(**options: Any) -> dict[str, Any]:
    """The options that were given, so that all others keep the defaults of the Python API.

    >>> given(field="text", column=None, newline=False)
    {'field': 'text'}
    """
    return {
        name: value for name, value in options.items() if value is not None and value is not False
    }


def pretokenizer(names: list[str] | None) -> PretokenizerLike | None:
    """The values of ``--pretokenizer`` -> what the Python API takes; None if there were none."""
    if not names:
        return None
    from jogak.spec import Split

    return [
        Split(name.removeprefix("regex=")) if name.startswith("regex=") else name for name in names
    ]


def corpus(paths: list[str]) -> Any:
    """The paths of the command line -> a corpus; counts that were saved are added up.

    Raises:
        typer.BadParameter: saved counts and texts in one call.
    """
    saved = [path for path in paths if path.endswith(".counts")]
    if not saved:
        return sys.stdin.buffer if paths == ["-"] else paths
    if len(saved) < len(paths):
        raise typer.BadParameter("give either .counts files or texts, not both")
    import jogak

    first, *others = map(jogak.Counts.load, saved)
    for other in others:
        first = first + other
    return first
