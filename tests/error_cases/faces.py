"""Other libraries: their objects, their names under `jogak.compat`, conversion between their files."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jogak
from error_cases.case import Call, tok
from error_cases.case import Case as C
from jogak.compat import sentencepiece, subword_nmt, tiktoken
from jogak.compat.subword_nmt import learn_bpe
from jogak.formats.sentencepiece_model import ModelFile, Piece, PieceType

__all__ = ["CASES"]

CODES = ("#version: 0.2\n", "l o\n", "lo w</w>\n")


class PreTrainedTokenizerBase:
    """Stands for a tokenizer of transformers that is written in Python."""


PreTrainedTokenizerBase.__module__ = "transformers"


def behind(call: Callable[[], object]) -> Call:
    """A call whose error has the face of another library: the error behind it."""

    def inner(_: Path) -> object:
        try:
            return call()
        except Exception as error:
            cause = error.__cause__
        # Not within the handler: the two would be each other's context, without end.
        assert cause is not None
        raise cause

    return inner


def convert(target: str, **options: Any) -> Call:
    def call(_: Path) -> object:
        tok().save("a.jogak.json")
        return jogak.convert("a.jogak.json", target, **options)

    return call


def convert_to_other(folder: Path) -> object:
    """What is read back is another tokenizer: nothing less makes two files differ."""

    def load(path: object, **options: Any) -> jogak.Tokenizer:
        loaded = jogak.load(path, **options)
        if "jogak-convert" not in str(path):
            return loaded
        model = dataclasses.replace(loaded.spec.model, merges=loaded.spec.model.merges[:-1])
        return jogak.Tokenizer(dataclasses.replace(loaded.spec, model=model))

    with patch("jogak.conversion.load", load):
        return convert("b.jogak.json")(folder)


def convert_with_probe(folder: Path) -> object:
    Path("probe.txt").write_bytes(b"fine\nbro\xffken\n")
    return convert("b.jogak.json", probe=["probe.txt"])(folder)


def pieces_of_a_word_model(_: Path) -> object:
    texts = (("<unk>", PieceType.UNKNOWN), ("<s>", PieceType.CONTROL), ("▁low", PieceType.NORMAL))
    pieces = tuple(Piece(text, 0.0, kind) for text, kind in texts)
    model = ModelFile(pieces, {"model_type": 3}).to_bytes()
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    assert processor.encode("low", out_type=str) == ["▁low"]
    return processor.encode("low high", out_type=str)


CASES = [
    # --- conversion
    C("a name without a format", jogak.ConfigError, convert("a.xyz"),
      ("the name 'a.xyz' does not tell the format to write", "format=..., one of", "tokenizer-json")),
    C("a probe that is no text", jogak.ConfigError, convert_with_probe,
      ("probe.txt is not UTF-8 at byte 8", "expected text files in UTF-8")),
    C("other ids", jogak.ParityError, convert_to_other,
      ("b.jogak.json was not written: ", "differs at the stage 'model'", "source in jogak: [",
       "target in jogak: [", ".certificate says what was compared", "format='jogak'")),
    # --- objects
    C("an object of nobody", jogak.ConfigError, lambda _: jogak.load(object()),  # type: ignore[call-overload]  # wrong on purpose
      ("found a builtins.object", "expected the path of a file, a tokenizers.Tokenizer")),
    C("a tokenizer in Python", jogak.ConfigError, lambda _: jogak.load(PreTrainedTokenizerBase()),  # type: ignore[call-overload]  # wrong on purpose
      ("PreTrainedTokenizerBase is a tokenizer in Python, which has no form as data",
       "load the files")),
    C("an object with options", jogak.ConfigError,
      lambda _: jogak.load(PreTrainedTokenizerBase(), pretokenizer="gpt2"),  # type: ignore[call-overload]  # wrong on purpose
      ("the object says everything and takes no options", "leave out pretokenizer")),
    # --- tiktoken
    C("a rank beyond all", jogak.UnsupportedFeature,
      lambda _: tiktoken.Encoding("a", pat_str=".", mergeable_ranks={b"a": 2**30}, special_tokens={}),
      ("the rank 1073741824 is above 16,777,216", "expected ranks without large gaps")),
    C("a byte without a rank", jogak.EncodeError,
      lambda _: tiktoken.Encoding("a", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
      ._encode_only_native_bpe("ab"),
      ("a byte of b'b' has no rank", "expected one for each byte")),
    # --- SentencePiece
    C("another way to keep a model", jogak.UnsupportedFeature,
      lambda _: sentencepiece.ConvertToFlatbuffer(model_file="a.model", output_file="a.fb"),
      ("jogak writes no FlatBuffers", "keep the .model file")),
    C("a function that cuts", jogak.UnsupportedFeature,
      lambda _: sentencepiece.SentencePieceTrainer.train(pretokenizer=str.split),
      ("pretokenizer is a function", "takes pretokenization_delimiter instead")),
    C("nowhere to write", jogak.ConfigError,
      behind(lambda: sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a"]))),
      ("model_writer and model_prefix are both given, or none of them", "give one of them")),
    C("unknown words", jogak.UnsupportedFeature, pieces_of_a_word_model,
      ("a word model tells unknown words by their ids alone", "expected return_type=int")),
    # --- subword-nmt
    C("old codes with a vocabulary", jogak.UnsupportedFeature,
      lambda _: subword_nmt.BPE(["#version: 0.1\n", "l o\n"], vocab={"lo"}),
      ("codes of version 0.1 with a vocabulary", "learn the codes again with 0.2")),
    C("glossaries", jogak.ConfigError, lambda _: subword_nmt.BPE(CODES, glossaries=["(a"]),
      ("glossaries are ['(a']", "expected regular expressions", "re.escape")),
    C("dropout of subword-nmt", jogak.UnsupportedFeature,
      lambda _: subword_nmt.BPE(CODES).segment("low", dropout=0.1),
      ("dropout: subword-nmt draws anew", "jogak.load and pass dropout= to encode")),
    C("no workers", jogak.ConfigError,
      lambda folder: subword_nmt.BPE(CODES).process_lines(folder / "a", "b", num_workers=0),
      ("num_workers is 0", "expected a whole number, 1 or more")),
    C("a line of a dictionary", jogak.ConfigError,
      lambda _: learn_bpe.learn_bpe(["low 2", "lower"], io.StringIO(), 10, is_dict=True),
      ("line 2 of the dictionary is 'lower'", "expected word, space, count")),
    C("a line of a vocabulary", jogak.ConfigError,
      lambda _: subword_nmt.read_vocabulary(["lo@@ 7", "w"], 5),
      ("line 2 of the vocabulary is 'w'", "expected piece, space, count")),
]  # fmt: skip
