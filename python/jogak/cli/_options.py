"""Options that more than one verb has, said once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from jogak.spec import PretokenizerLike

Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
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
Normalizers = Annotated[
    list[str] | None,
    typer.Option(
        "--normalizer",
        metavar="NAME",
        help="How text is rewritten first: nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, nfc, nfd, nfkd, "
        "lowercase, casefold, strip_accents, collapse_spaces, bert, jamo. Repeat for a sequence.",
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
    str | None,
    typer.Option(
        metavar="keep|drop",
        help="Whether the newline at the end of a line is part of the text.  "
        "[default: keep; drop with metaspace]",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What the files are: text, jsonl, csv or tsv.  [default: what each name says]",
    ),
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
    typer.Argument(metavar="FILE", help="Files to read; - or nothing is stdin."),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr.")]
Seed = Annotated[
    int | None, typer.Option(metavar="N", help="Where --dropout and --alpha start drawing.")
]
Special = Annotated[
    str | None,
    typer.Option(
        metavar="text|parse|error",
        help="What to do with the texts of special tokens: read them as any text, make them special "
        "tokens, or refuse them.  [default: text]",
    ),
]
Dropout = Annotated[
    float | None, typer.Option(metavar="P", help="Skip each merge with this probability.")
]
Alpha = Annotated[
    float | None,
    typer.Option(
        metavar="A",
        help="Draw a way to cut the text (unigram): 1 by the model's probabilities, 0 all alike, "
        "large near the best.",
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="merges, longest-match or longest-first.  [default: the tokenizer's]"
    ),
]


def given(**options: Any) -> dict[str, Any]:
    """The options that were given, so that all others keep the defaults of the Python API.

    >>> given(field="text", column=None, byte_fallback=False)
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
        # A Path is a file even if nothing is there; a str in a list might be a text.
        return [path if path == "-" else Path(path) for path in paths]
    if len(saved) < len(paths):
        raise typer.BadParameter("give either .counts files or texts, not both")
    import jogak

    first, *others = map(jogak.Counts.load, saved)
    for other in others:
        first = first + other
    return first
