"""`SentencePieceTrainer`: SentencePiece's flags, handed to `jogak.train_sentencepiece`.

Rule: says only how flags and streams come in and what is raised; what a flag means stands in `recipes`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

from jogak.compat.sentencepiece.normalizer import SentencePieceNormalizer
from jogak.errors import ConfigError, CorpusError, UnsupportedFeature
from jogak.recipes import train_sentencepiece

__all__ = ["SentencePieceTrainer", "TrainerError"]


class TrainerError(RuntimeError, ValueError):
    """Training that cannot be as asked; SentencePiece raises either of the two."""


class _TrainerFileError(TrainerError, OSError):
    """A file that cannot be read or written."""


class SentencePieceTrainer:
    """Learns models."""

    @staticmethod
    def _Train(arg: Any = None, **kwargs: Any) -> Any:
        if isinstance(arg, str):
            _train(arg, {})
            return True
        options: dict[str, Any] = {}
        for name, value in kwargs.items():
            options[name] = value if name in _OBJECTS else _written(value)
        _train(None, options)
        return None

    @staticmethod
    def Train(arg: Any = None, logstream: Any = None, **kwargs: Any) -> Any:
        """Learn a model by SentencePiece's flags, and write it.

        Args:
            arg: all flags as one text, ``"--input=a.txt --model_prefix=m"``; then keywords do not count.
            logstream: nothing is logged.
            kwargs: flags by name; ``sentence_iterator`` (an iterator of ``str`` or ``bytes``) instead of
                ``input``; ``model_writer`` (anything with ``write``) instead of ``model_prefix``;
                ``normalizer`` (a `SentencePieceNormalizer`) instead of rules by name.

        Raises:
            TrainerError: a flag that is unknown or not possible, files that are not there, a vocabulary
                that is too large or too small; a RuntimeError and a ValueError at once.
            UnsupportedFeature: ``pretokenizer``.
        """
        return SentencePieceTrainer._Train(arg=arg, **kwargs)

    train = Train


#: Keywords that are no flags.
_OBJECTS = {
    *("sentence_iterator", "sentence_reader", "pretokenizer", "model_writer", "normalizer"),
    "allow_inconsistent_pretokenization",
}


def _written(value: Any) -> str | list[str]:
    """A value as the command line has it, or a list of them."""
    return [str(each) for each in value] if isinstance(value, list) else str(value)


def _train(command: str | None, options: dict[str, Any]) -> None:
    from jogak.recipes.flags import parse_command

    sentences = options.pop("sentence_iterator", options.pop("sentence_reader", None))
    writer = options.pop("model_writer", None)
    normalizer = options.pop("normalizer", None)
    options.pop("allow_inconsistent_pretokenization", None)
    if options.pop("pretokenizer", None) is not None:
        raise UnsupportedFeature(
            "pretokenizer is a function that cuts texts for SentencePiece's trainer; jogak's takes "
            "pretokenization_delimiter instead"
        )
    try:
        flags = {**(parse_command(command) if command is not None else {}), **options}
        flags.pop("minloglevel", None)  # nothing is logged
        if bool(writer) == bool(flags.get("model_prefix")):
            raise ConfigError(
                "model_writer and model_prefix are both given, or none of them; give one of them"
            )
        with tempfile.TemporaryDirectory() as folder:
            if normalizer is not None:
                flags |= _flags_of(normalizer, folder)
            if sentences is not None:
                if not isinstance(sentences, Iterator):
                    raise TypeError(f"Object of type {type(sentences).__name__!r} is no iterator")
                sentences = _lines(sentences)
            train_sentencepiece(sentence_iterator=sentences, model_writer=writer, **flags)
    except (ConfigError, CorpusError) as error:
        raise TrainerError(f"INVALID_ARGUMENT: {error}") from error
    except FileNotFoundError as error:
        raise _TrainerFileError(f'NOT_FOUND: "{error.filename}": {error.strerror}') from error


def _lines(sentences: Iterator[Any]) -> Iterator[str | bytes]:
    """Texts without line ends; what the iterator raises comes out as SentencePiece says it."""
    while True:
        try:
            sentence = next(sentences)
        except StopIteration:
            return
        except Exception as error:
            raise TrainerError(f"INTERNAL: {type(error).__name__}: {error}") from error
        if isinstance(sentence, str):
            yield sentence.rstrip("\r\n")
        elif isinstance(sentence, bytes):
            yield sentence.rstrip(b"\r\n")
        else:
            raise TrainerError("INVALID_ARGUMENT: Iterator must return str or bytes.")


def _flags_of(normalizer: SentencePieceNormalizer, folder: str) -> dict[str, Any]:
    """The flags that say what a normalizer does; rules go to a file of the folder."""
    fields = normalizer._fields
    flags: dict[str, Any] = {
        "add_dummy_prefix": fields.add_dummy_prefix,
        "escape_whitespaces": fields.escape_whitespaces,
        "remove_extra_whitespaces": fields.remove_extra_whitespaces,
    }
    if not fields.precompiled_charsmap:
        return {**flags, "normalization_rule_name": "identity"}
    path = os.path.join(folder, "rules.tsv")
    with open(path, "w", encoding="utf-8") as file:
        for rule in normalizer.Decompile():
            written = (" ".join(f"{ord(letter):X}" for letter in text) for text in rule)
            file.write("\t".join(written) + "\n")
    return {**flags, "normalization_rule_tsv": path}
