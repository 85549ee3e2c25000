"""``jogak convert``: a tokenizer file in another format, with proof."""

from __future__ import annotations

from typing import Annotated

import typer

from jogak.cli import _options as options
from jogak.cli._run import print_json, say


def convert(
    source: Annotated[str, typer.Argument(help="A tokenizer file or folder.", show_default=False)],
    target: Annotated[str, typer.Argument(help="The file to write.", show_default=False)],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="FORMAT", help="What to write.  [default: what the name says]"
        ),
    ] = None,
    probe: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Compare on these texts. Repeat for more.  [default: built in]"
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Where to write what was compared.  [default: TARGET.parity.json]"
        ),
    ] = None,
    vocabulary: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="subword-nmt's codes: pieces that may come out, and counts."
        ),
    ] = None,
    vocabulary_threshold: Annotated[
        int | None,
        typer.Option(metavar="N", help="Leave out what occurs less often in the vocabulary."),
    ] = None,
    glossaries: Annotated[
        list[str] | None,
        typer.Option(
            "--glossary",
            metavar="REGEX",
            help="subword-nmt's codes: what stays whole. Repeat for more.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Write a tokenizer file in another format, with proof.

    Both files are asked for the ids of many texts and for the texts of these ids; so is the library
    that a file belongs to, where it is installed. What was compared is written as a certificate. At
    the first difference it is shown, with the stage where the two part, and nothing is written.

    \b
    Examples:
      jogak convert spiece.model tokenizer.json
      jogak convert tokenizer.json reviews.jogak.json --probe reviews.txt
      jogak convert codes mine.jogak.json --vocabulary vocab.de --glossary USA
    """
    import jogak
    from jogak.errors import ParityError

    certificate = certificate or f"{target.rstrip('/')}.parity.json"
    try:
        beside = options.given(
            vocabulary=vocabulary,
            vocabulary_threshold=vocabulary_threshold,
            glossaries=glossaries or None,
        )
        made = jogak.convert(source, target, to, probe=probe, certificate=certificate, **beside)
    except ParityError as error:
        if json:
            print_json(error.certificate.to_dict())
        say(f"error: {error}")
        say(f"what was compared stands in {certificate}")
        raise typer.Exit(1) from None
    if json:
        print_json(made.to_dict())
    else:
        typer.echo(str(made))
        typer.echo(f"certificate: {certificate}")
