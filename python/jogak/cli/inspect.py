"""``jogak inspect``: what a tokenizer file holds."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jogak.cli import _options as options
from jogak.cli._run import print_json, write_lines
from jogak.explain.symbols import drawing, visible, width
from jogak.spec import BPEModel, Model

if TYPE_CHECKING:
    from jogak import Tokenizer


def inspect(
    file: Annotated[str, typer.Argument(help="A tokenizer file.", show_default=False)],
    json: options.Json = False,
    vocab: Annotated[
        bool, typer.Option("--vocab", help="List the pieces: id, tab, piece.")
    ] = False,
    merges: Annotated[
        bool, typer.Option("--merges", help="List the merges: rank, tab, left, tab, right.")
    ] = False,
) -> None:
    """Show what a tokenizer file holds.

    Its size, its options, its special tokens, why its training ended; or its pieces and merges,
    drawn for the eye. With --json they are as they stand in the vocabulary.

    \b
    Examples:
      jogak inspect reviews.jogak.json
      jogak inspect reviews.jogak.json --vocab | tail
      jogak inspect reviews.jogak.json --json --merges
    """
    import jogak

    tok = jogak.load(file)
    if json:
        data = _facts(tok)
        if vocab:
            data["vocab"] = dict(_pieces(tok))
        if merges:
            data["merges"] = [list(pair) for pair in tok.merges]
        print_json(data)
    elif vocab or merges:
        draw = drawing(tok.spec.model.alphabet)
        if vocab:
            write_lines(f"{id_}\t{draw(text)}".encode() for text, id_ in _pieces(tok))
        if merges:
            write_lines(
                f"{rank}\t{draw(left)}\t{draw(right)}".encode()
                for rank, (left, right) in enumerate(tok.merges)
            )
    else:
        facts = _facts(tok)
        if facts["merges"] is None:
            facts["merges"] = "the ids are the ranks" if facts["model"] == "bpe" else "none listed"
        _print_facts(facts)


def _pieces(tok: Tokenizer) -> list[tuple[str, int]]:
    return sorted(tok.vocab.items(), key=lambda item: item[1])


def _facts(tok: Tokenizer) -> dict[str, Any]:
    model = tok.spec.model
    training = tok.training
    return {
        "model": model.family,
        "pieces": len(tok),
        "merges": _merges(model),
        "alphabet": model.alphabet,
        "marker": dataclasses.asdict(model.marker),
        "normalizer": [stage.to_dict() for stage in tok.spec.normalizer],
        "pretokenizer": [stage.to_dict() for stage in tok.spec.pretokenizer],
        "strategy": model.strategy if isinstance(model, BPEModel) else model.family,
        "unknown": model.unknown,
        "byte_fallback": model.byte_fallback,
        "special_tokens": dict(tok.spec.special_tokens),
        "stop": None if training is None else training.stop,
    }


def _print_facts(facts: dict[str, Any]) -> None:
    widest = max(map(width, facts))
    for name, value in facts.items():
        typer.echo(f"{name.replace('_', ' '):{widest}}  {_said(value)}")


def _said(value: Any) -> str:
    """A fact in words.

    >>> _said(None), _said({"kind": "suffix", "text": "</w>"}), _said([{"type": "gpt2"}])
    ('none', 'suffix text=</w>', 'gpt2')
    """
    if value is None or value in ({}, []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return " ".join(
            ("" if key in ("kind", "type") else f"{key}=") + visible(str(item))
            for key, item in value.items()
            if item is not None
        )
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    return visible(str(value))


def _merges(model: Model) -> int | None:
    """How many merges are listed; None where there is no such list."""
    listed = model.merges if isinstance(model, BPEModel) else None
    return None if listed is None else len(listed)
