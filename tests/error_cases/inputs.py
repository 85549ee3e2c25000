"""Inputs of models, and what a spec says of them: options, templates, decoders, models of words."""

from __future__ import annotations

import json
from pathlib import Path

import jogak
from error_cases.case import Call, load_file, tok
from error_cases.case import Case as C
from jogak.spec import (
    DecodeMetaspace,
    Padding,
    Template,
    TemplatePart,
    Truncation,
    WordLevelModel,
    decoder_stage_from_dict,
)

__all__ = ["CASES"]

ONLY_FIRST = Truncation(1, strategy="only-first")


def pair_cut_short(_: Path) -> object:
    """One id may stay, of the first text or of the second, and the second is not to be cut."""
    return tok().encoding("hug", "pug bun", truncation=ONLY_FIRST)


def too_many_parts(_: Path) -> object:
    """Either text falls into thousands of parts, and each is combined with each."""
    text = "hug " * 20_000
    return tok().encoding(text, text, truncation=Truncation(4))


def load_spec(**parts: object) -> Call:
    """Loads a native file whose spec was changed."""

    def call(folder: Path) -> object:
        tok().save("tok.json")
        data = json.loads(Path("tok.json").read_text(encoding="utf-8"))
        data["spec"].update(parts)
        return load_file("tok.json", json.dumps(data).encode())(folder)

    return call


CASES = [
    # --- calls
    C("a text too short to cut", jogak.EncodeError, pair_cut_short,
      ("ids are to be cut off the first text, which has 1: at least one must stay",
       'strategy="longest-first"', "larger max_length"), variant="core.TooShortToCut"),
    C("parts of parts", jogak.EncodeError, too_many_parts,
      ("cutting and filling up would give", "at most", "are possible", "overflow=False"),
      variant="core.TooManyParts"),
    C("a length of none", jogak.ConfigError, lambda _: tok().encoding("hug", truncation=True),
      ("truncation=True takes the length of the tokenizer's spec, which has none", "pass a number")),
    C("a length that is none", jogak.ConfigError, lambda _: tok().encoding("hug", truncation="4"),
      ("truncation is '4'", "expected a number, a Truncation")),
    C("nothing to fill up with", jogak.ConfigError, lambda _: tok().encoding("hug", padding=4),
      ("no special token is known to fill inputs up", "padding=jogak.Padding(token='<pad>', id=0")),
    C("one text for a batch", jogak.ConfigError, lambda _: tok().encoding_batch("hug"),
      ("found one text", "expected a list of texts", "encoding(text)")),
    C("a text beside a pair", jogak.ConfigError, lambda _: tok().encoding_batch(["hug", ("hug", "bun")]),
      ("input 0 is 'hug'", "expected texts only, or pairs of two texts only")),
    C("no second text", jogak.ConfigError,
      lambda _: tok().encoding("hug bun", truncation=Truncation(1, strategy="only-second")),
      ("truncation.strategy is 'only-second'", "as there is no second text"), variant="core.Config"),
    C("spans that nobody wanted", jogak.ConfigError,
      lambda _: tok().encoding("hug", spans=False).char_spans,
      ("there are no char_spans", "spans=False", "leave that out")),
    C("a third text", jogak.ConfigError, lambda _: tok().encoding("hug").word_to_tokens(0, 2),
      ("sequence is 2", "expected 0 or 1")),
    C("inputs of two lengths", jogak.ConfigError,
      lambda _: tok().encoding_batch(["hug", "hug bun"]).input_ids,
      ("inputs have 1 to", "no rectangle", "padding=True")),
    # --- a spec
    C("a part of a template", jogak.ConfigError, lambda _: TemplatePart("C"),  # type: ignore[arg-type]  # wrong on purpose
      ("TemplatePart.what is 'C'", "expected 'A', 'B' or ids")),
    C("a second text for one", jogak.ConfigError, lambda _: Template(single=(TemplatePart("B"),)),
      ("Template.single is for one text, and has the second one", "put that into Template.pair")),
    C("an option of padding", jogak.ConfigError, lambda _: Padding("<pad>", -1),
      ("Padding.id is -1", "expected a whole number from 0 to")),
    C("an option that there is not", jogak.ConfigError, lambda _: Truncation.from_dict({"length": 4}),
      ("Truncation has no option 'length'", "it takes max_length, stride")),
    C("an option that is missing", jogak.ConfigError, lambda _: Padding.from_dict({"token": "<pad>"}),
      ("Padding lacks the option 'id'", "it takes token, id")),
    C("options without names", jogak.ConfigError, lambda _: Truncation.from_dict([4]),  # type: ignore[arg-type]  # wrong on purpose
      ("Truncation is [4]", "expected its options by name")),
    C("a missing option in a file", jogak.FormatError, load_spec(truncation={"stride": 4}),
      ("tok.json: spec.truncation: Truncation lacks the option 'max_length'",),
      {"file": "tok.json", "place": "spec.truncation"}),
    C("a stage of a decoder", jogak.ConfigError, lambda _: decoder_stage_from_dict({"type": "magic"}),
      ("decoder stage 'magic' is not known", "expected one of", "'metaspace'")),
    C("an option of a decoder", jogak.ConfigError, lambda _: DecodeMetaspace("__"),
      ("DecodeMetaspace.replacement is '__'", "expected one character")),
    C("words with a mark inside", jogak.ConfigError,
      lambda _: WordLevelModel(pieces=("a",), marker=jogak.Marker("continuation", "##")),
      ("marker is 'continuation'", "whole words know 'prefix'")),
    C("an unknown word that is none", jogak.ConfigError,
      lambda _: WordLevelModel(pieces=("a",), unknown="?"),
      ("the unknown piece '?' is not among the pieces", "add it")),
]  # fmt: skip
