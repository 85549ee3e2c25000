"""SentencePiece's trainer flags by their names: what each takes, its default, and which are refused.

Rule: a flag is understood or refused by name; none is ignored.

Source: https://github.com/google/sentencepiece, release 0.2.3
"""

from __future__ import annotations

import csv
import dataclasses
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from jogak.errors import ConfigError

__all__ = ["Flags", "flags_of", "parse_command"]

#: Flags that SentencePiece knows and this trainer does not, and what to do instead.
REFUSED: Mapping[str, str] = {
    "enable_differential_privacy": "there is no noise here; leave it out",
    "differential_privacy_noise_level": "there is no noise here; leave it out",
    "differential_privacy_clipping_threshold": "there is no noise here; leave it out",
    "seed_sentencepieces_file": "seeds are always found in the corpus; leave it out",
    "mining_sentence_size": "SentencePiece has given it up; use input_sentence_size",
    "training_sentence_size": "SentencePiece has given it up; use input_sentence_size",
    "denormalization_rule_tsv": "decoding rewrites nothing here; leave it out",
    "use_all_vocab": "it is for word and char models; leave it out",
    "random_seed": "the same lines are sampled each time; leave it out",
    "minloglevel": "nothing is logged; progress=True draws a bar",
    "logstream": "nothing is logged; progress=True draws a bar",
}

#: Whole numbers and shares: the least and the most that SentencePiece takes.
RANGES: Mapping[str, tuple[float, float]] = {
    "vocab_size": (1, 2**31 - 1),
    "character_coverage": (0.98, 1.0),
    "max_sentencepiece_length": (1, 512),
    "num_sub_iterations": (1, 10),
    "num_threads": (1, 1024),
    "self_test_sample_size": (0, 1000),
    "shrinking_factor": (0.5, 0.95),
    "max_sentence_length": (10, 2**30),
    "input_sentence_size": (0, 2**63 - 1),
    "seed_sentencepiece_size": (1, 2**25),
}

CHOICES: Mapping[str, tuple[str, ...]] = {
    "model_type": ("unigram", "bpe"),
    "input_format": ("text", "tsv", ""),
    "normalization_rule_name": ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"),
}


@dataclass(frozen=True, kw_only=True)
class Flags:
    """The flags that are understood, with SentencePiece's names and defaults."""

    input: tuple[str, ...] = ()
    input_format: str = "text"
    model_prefix: str = ""
    model_type: str = "unigram"
    vocab_size: int = 8000
    accept_language: tuple[str, ...] = ()
    self_test_sample_size: int = 0
    character_coverage: float = 0.9995
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    seed_sentencepiece_size: int = 1_000_000
    shrinking_factor: float = 0.75
    max_sentence_length: int = 4192
    num_threads: int = 16
    num_sub_iterations: int = 2
    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_by_whitespace: bool = True
    split_digits: bool = False
    pretokenization_delimiter: str = ""
    treat_whitespace_as_suffix: bool = False
    allow_whitespace_only_pieces: bool = False
    control_symbols: tuple[str, ...] = ()
    user_defined_symbols: tuple[str, ...] = ()
    required_chars: str = ""
    byte_fallback: bool = False
    vocabulary_output_piece_score: bool = True
    train_extremely_large_corpus: bool = False
    hard_vocab_limit: bool = True
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_surface: str = " \u2047 "
    normalization_rule_name: str = "nmt_nfkc"
    normalization_rule_tsv: str = ""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Flags)}


def flags_of(options: Mapping[str, Any]) -> Flags:
    """Options by name, checked.

    Raises:
        ConfigError: a flag that is not known or not possible here, or a value that cannot be.

    >>> flags_of({"vocab_size": "8000", "control_symbols": "<a>,<b>"}).control_symbols
    ('<a>', '<b>')
    """
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name in REFUSED:
            raise ConfigError(f"{name} is a flag that jogak does not have: {REFUSED[name]}")
        if name not in _DEFAULTS:
            close = get_close_matches(name, _DEFAULTS, 1)
            hint = f"did you mean {close[0]}?" if close else "leave it out"
            raise ConfigError(f"{name} is no flag of SentencePiece's trainer; {hint}")
        values[name] = _READERS[type(_DEFAULTS[name])](name, value)
        _check(name, values[name])
    flags = Flags(**values)
    if not flags.escape_whitespaces:
        raise ConfigError(
            "escape_whitespaces=False cannot be trained: spaces have to become ▁ (SentencePiece's "
            "trainer stops at it too); leave it out"
        )
    if 0 < flags.input_sentence_size <= 100:
        raise ConfigError(
            f"input_sentence_size is {flags.input_sentence_size}; expected 0 for all lines, or more "
            "than 100"
        )
    if flags.model_type == "unigram" and flags.max_sentencepiece_length > 64:
        raise ConfigError(
            f"max_sentencepiece_length is {flags.max_sentencepiece_length}; expected at most 64 for "
            "unigram"
        )
    return flags


def parse_command(command: str) -> dict[str, str]:
    """The flags of one text, as SentencePiece's command line and its ``train`` take them.

    Raises:
        ConfigError: a part that is no flag.

    >>> parse_command("--input=a.txt --vocab_size=8000 --byte_fallback")
    {'input': 'a.txt', 'vocab_size': '8000', 'byte_fallback': 'true'}
    """
    options = {}
    for part in command.split():
        name, equals, value = part.removeprefix("--").partition("=")
        if not part.startswith("--") or not name:
            raise ConfigError(
                f"the command has {part!r}; expected flags like --vocab_size=8000, with spaces "
                "between them and none inside (give such a value as a keyword)"
            )
        options[name] = value if equals else "true"
    return options


def _check(name: str, value: Any) -> None:
    if name in RANGES:
        least, most = RANGES[name]
        if not least <= value <= most:
            raise ConfigError(f"{name} is {value}; expected {least} to {most}")
    if name in CHOICES and value not in CHOICES[name]:
        choices = ", ".join(map(repr, filter(None, CHOICES[name])))
        raise ConfigError(f"{name} is {value!r}; expected one of {choices}")
    if name.endswith("_piece") and not value:
        raise ConfigError(f"{name} is empty; expected the text of a piece")
    for text in value if isinstance(value, tuple) else ():
        if not text:
            raise ConfigError(f"{name} has an empty text; expected texts, with commas between them")


def _texts(name: str, value: Any) -> tuple[str, ...]:
    """A list, or a text with commas; quotes as in CSV keep a comma inside."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return tuple(next(csv.reader([value]), ())) if value else ()
    if isinstance(value, (list, tuple)):
        texts = [os.fspath(text) if isinstance(text, os.PathLike) else text for text in value]
        if all(isinstance(text, str) for text in texts):
            return tuple(texts)
    raise ConfigError(f"{name} is {value!r}; expected a list of texts, or one with commas")


def _text(name: str, value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise ConfigError(f"{name} is {value!r}; expected a text")
    return value.lower() if name == "model_type" else value


def _flag(name: str, value: Any) -> bool:
    words = {"1": True, "t": True, "true": True, "y": True, "yes": True}
    words |= {"0": False, "f": False, "false": False, "n": False, "no": False}
    known = value if isinstance(value, bool) else words.get(str(value).lower())
    if known is None:
        raise ConfigError(f"{name} is {value!r}; expected True or False")
    return known


def _whole(name: str, value: Any) -> int:
    try:
        if isinstance(value, (bool, float)):
            raise ValueError
        return int(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{name} is {value!r}; expected a whole number") from None


def _number(name: str, value: Any) -> float:
    try:
        if isinstance(value, bool) or not math.isfinite(float(value)):
            raise ValueError
        return float(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{name} is {value!r}; expected a number") from None


_READERS: Mapping[type, Callable[[str, Any], Any]] = {
    bool: _flag,
    int: _whole,
    float: _number,
    str: _text,
    tuple: _texts,
}
