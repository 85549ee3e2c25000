"""``jogak count``: a corpus becomes a file of word counts, from which any model can be trained."""

from __future__ import annotations

from typing import Annotated

import typer

from jogak.cli import _options as options
from jogak.cli._run import print_json, say, say_left_out, watched


def count(
    corpus: options.Corpus,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to save, FILE.counts.", show_default=False
        ),
    ],
    normalizer: options.Normalizers = None,
    pretokenizer: options.Pretokenizers = None,
    format: options.Format = None,
    field: options.Field = None,
    column: options.Column = None,
    documents: options.Documents = None,
    separator: options.Separator = None,
    newline: options.Newline = None,
    errors: options.Errors = None,
    min_word_length: options.MinWordLength = None,
    keep_order: Annotated[
        bool,
        typer.Option("--keep-order", help="Remember which word came first: for first-seen ties."),
    ] = False,
    threads: options.Threads = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Count the words of a corpus, to train from the counts.

    Counting once is enough for any number of trainings, of any size.

    \b
    Examples:
      jogak count reviews.txt -o reviews.counts
      jogak count dump.jsonl.zst --field text --pretokenizer gpt2 -o dump.counts
      jogak train reviews.counts --vocab-size 32000 -o reviews.jogak.json
    """
    import jogak

    counts = jogak.count(
        options.corpus(corpus),
        progress=watched(quiet),
        **options.given(
            normalizer=normalizer or None,
            pretokenizer=options.pretokenizer(pretokenizer),
            format=format,
            field=field,
            column=column,
            documents=documents,
            separator=separator,
            newline=newline,
            errors=errors,
            min_word_length=min_word_length,
            keep_order=keep_order,
            num_threads=threads,
        ),
    )
    counts.save(output)
    if json:
        print_json(
            {
                "output": output,
                "words": len(counts),
                "total": counts.total,
                "report": counts.report.to_dict(),
            }
        )
    if not quiet:
        say_left_out(counts.report)
        say(f"saved the counts of {len(counts):,} words, {counts.total:,} in all, to {output}")
