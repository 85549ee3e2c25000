"""Hugging Face's ``tokenizer.json``: what cannot be read, with the place, and what it cannot say."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jogak
from error_cases.case import CHARS, HUGS, Call, load_file, tok
from error_cases.case import Case as C
from error_cases.running import recipe, unigram
from jogak.spec import Spec, Template, TemplatePart

__all__ = ["CASES"]

MODEL = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}


def read(**sections: Any) -> Call:
    """Loads a file of a small model and these sections."""
    data = {"version": "1.0", "model": MODEL, **sections}
    return load_file("tokenizer.json", json.dumps(data).encode(), format="tokenizer-json")


def read_model(**fields: Any) -> Call:
    """Loads a file whose model has these fields."""
    return read(model={**MODEL, **fields})


def at(place: str) -> dict[str, Any]:
    return {"file": "tokenizer.json", "place": place}


def save(spec: Spec) -> object:
    return jogak.Tokenizer(spec).save("tokenizer.json", format="tokenizer-json")


def added(text: str, id_: int) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id_, "content": text, "special": True, **flags}


def save_own_suffix(_: Path) -> object:
    model = dataclasses.replace(CHARS, marker=jogak.Marker("suffix", "</w>", "own"))
    return save(jogak.train(HUGS, model, pretokenizer="gpt2").spec)


def save_template(_: Path) -> object:
    template = Template(pair=(TemplatePart("A"), TemplatePart((0,))))
    return save(dataclasses.replace(tok().spec, template=template))


TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}],
    "pair": [],
    "special_tokens": {},
}
CLS = {"type": "BertProcessing", "cls": ["a", 0], "sep": ["b", 1]}
#: Drops all that the processors before it have put around a text.
NO_TEXT = {"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}}

CASES = [
    C("a token of which nothing is left", jogak.UnsupportedFeature,
      read(normalizer={"type": "Strip", "strip_left": True, "strip_right": True}, added_tokens=[
          {"id": 3, "content": " ", "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": True, "special": False}]),
      ("the added token \" \"", "leaves nothing of it", "normalized=False"),
      variant="core.EmptyToken"),
    # --- reading: the library refuses it too
    C("another tokenizer.json", jogak.FormatError, read(version="2.0"),
      ("tokenizer.json: version is '2.0'", 'expected "1.0"'), at("version")),
    C("added tokens", jogak.FormatError, read(added_tokens={}),
      ("tokenizer.json: added_tokens is an object of 0", "expected a list"), at("added_tokens")),
    C("an entry of the added tokens", jogak.FormatError, read(added_tokens=[{"content": "<s>"}]),
      ("tokenizer.json: added_tokens[0] lacks the field 'id'",), at("added_tokens[0]")),
    C("a decoder's spaces", jogak.FormatError,
      read(decoder={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "last"}),
      ("decoder.prepend_scheme is 'last'", "expected 'first', 'never' or 'always'"),
      at("decoder.prepend_scheme")),
    C("truncation in a file", jogak.FormatError, read(truncation={"strategy": "Shortest"}),
      ("truncation.strategy is 'Shortest'", "expected one of LongestFirst"),
      at("truncation.strategy")),
    C("a vocabulary that is none", jogak.FormatError, read_model(vocab=[]),
      ("model.vocab is a list of 0", "expected an object of texts and ids"), at("model.vocab")),
    C("a merge without its piece", jogak.FormatError, read_model(merges=["b a"]),
      ("model.merges[0] makes 'ba', which is not in the vocabulary", "expected a merge"),
      at("model.merges[0]")),
    C("the bytes of a charsmap", jogak.FormatError,
      read(normalizer={"type": "Precompiled", "precompiled_charsmap": "?"}),
      ("normalizer.precompiled_charsmap is no base64", "expected the bytes of a charsmap"),
      at("normalizer.precompiled_charsmap")),
    C("a pattern that is none", jogak.FormatError,
      read(normalizer={"type": "Replace", "pattern": {"Text": "a"}, "content": ""}),
      ("normalizer.pattern is an object of 1", "expected an object with String or with Regex"),
      at("normalizer.pattern")),
    C("what becomes of a match", jogak.FormatError,
      read(pre_tokenizer={"type": "Split", "pattern": {"String": "a"}, "behavior": "Gone",
                          "invert": False}),
      ("pre_tokenizer.behavior is 'Gone'", "expected one of Removed, Isolated"),
      at("pre_tokenizer.behavior")),
    C("a token that the template does not have", jogak.FormatError, read(post_processor=TEMPLATE),
      ("post_processor.single[0].SpecialToken.id is '[CLS]'", "expected one of the special_tokens"),
      at("post_processor.single[0].SpecialToken.id")),
    C("a normalizer that there is not", jogak.FormatError, read(normalizer={"type": "NFE"}),
      ("normalizer.type is 'NFE'", "expected one of", "NFKC"), at("normalizer.type")),
    # --- reading: the library reads it, and it cannot be said here
    C("two pieces of one id", jogak.UnsupportedFeature, read_model(vocab={"a": 0, "b": 0}, merges=[]),
      ("tokenizer.json: pieces 'a' and 'b' both have the id 0", "expected one piece")),
    C("an added token of a piece's id", jogak.UnsupportedFeature,
      read(model={**MODEL, "vocab": {"a": 0, "b": 3, "ab": 2}}, added_tokens=[added("<s>", 3)]),
      ("added_tokens[0] is '<s>'", "gives it the id 3, which a piece of the model has too")),
    C("white space as a border", jogak.UnsupportedFeature, read_model(end_of_word_suffix=" "),
      ("model.end_of_word_suffix is ' '", "white space cannot mark a border")),
    C("nothing before a text", jogak.UnsupportedFeature,
      read(normalizer={"type": "Prepend", "prepend": ""}),
      ("normalizer.prepend is ''", "the library loses the places of characters")),
    C("a pattern that finds nothing", jogak.UnsupportedFeature,
      read(normalizer={"type": "Replace", "pattern": {"Regex": ""}, "content": "a"}),
      ("normalizer.pattern.Regex is ''", "expected a pattern that matches something")),
    C("a pattern of another engine", jogak.UnsupportedFeature,
      read(normalizer={"type": "Replace", "pattern": {"Regex": "(?x)a"}, "content": "a"}),
      ("normalizer.pattern.Regex is '(?x)a'", "extended syntax, (?x)")),
    C("processors that are no template", jogak.UnsupportedFeature,
      read(post_processor={"type": "Sequence", "processors": [CLS, NO_TEXT]}),
      ("post_processor is an object of 2", "which no template can say")),
    # --- writing
    C("a normalizer for nobody else", jogak.UnsupportedFeature,
      lambda _: save(dataclasses.replace(tok().spec, normalizer=(jogak.UnicodeForm("nfc"),))),
      ("tokenizer.json: a tokenizer.json cannot say the normalizer",
       "say UnicodeForm('nfc', version=\"9.0\")",
       "save it as the native format")),
    C("a pre-tokenizer for nobody else", jogak.UnsupportedFeature,
      lambda _: save(tok(pretokenizer=jogak.Digits(group=3)).spec),
      ("cannot say the pre-tokenizer Digits(group=3", "save it as the native format")),
    C("a pattern for nobody else", jogak.UnsupportedFeature,
      lambda _: save(tok(pretokenizer=jogak.Split(r"\R")).spec),
      (r"the regular expression '\\R' may match other texts in Oniguruma",
       "save it as the native format")),
    C("a template without its text", jogak.UnsupportedFeature, save_template,
      ("the template for two texts leaves one out", "save it as the native format")),
    C("spaces behind words", jogak.UnsupportedFeature,
      lambda _: save(recipe(treat_whitespace_as_suffix=True, vocab_size=10).spec),
      ('cannot say Metaspace(prepend="given")', 'prepend="first"', "save as the native format")),
    C("a suffix of its own", jogak.UnsupportedFeature, save_own_suffix,
      ("cannot say a suffix that is a symbol of its own", "words but those between white space",
       "save it as the native format")),
    C("scores in 32 bits", jogak.UnsupportedFeature, lambda _: save(unigram().spec),
      ('cannot say precision="single"', 'precision="double"', "save it as the native format")),
]  # fmt: skip
