"""Tokenizers of other libraries, as objects: what they are, and ours as one of theirs.

Rule: none of these libraries is imported to recognise its objects; their classes have names.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Mapping
from typing import Any

from jogak.errors import ConfigError
from jogak.formats import Loaded, hf_json, model_folder, read
from jogak.spec import Spec

__all__ = ["loaded_of", "to_transformers"]


def loaded_of(theirs: object, **options: Any) -> Loaded:
    """What a tokenizer object of another library is.

    Args:
        theirs: a ``tokenizers.Tokenizer``, a fast tokenizer of transformers, a ``tiktoken.Encoding``
            or a ``sentencepiece.SentencePieceProcessor``.
        options: as for a file of that library.

    Raises:
        ConfigError: an object that is none of these.
        UnsupportedFeature: something in it that cannot be said here.
    """
    names = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(theirs).__mro__}
    any_: Any = theirs
    if ("tokenizers", "Tokenizer") in names:
        _no_options(options)
        return Loaded(_spec_of(any_), None, (), "tokenizer-json")
    if ("tokenizers", "BaseTokenizer") in names:
        _no_options(options)
        return Loaded(_spec_of(any_._tokenizer), None, (), "tokenizer-json")
    if ("transformers", "PreTrainedTokenizerBase") in names:
        _no_options(options)
        return _of_transformers(any_)
    if ("tiktoken", "Encoding") in names:
        return _of_tiktoken(any_, options)
    if ("sentencepiece", "SentencePieceProcessor") in names:
        return _of_bytes(any_.serialized_model_proto(), "sentencepiece", options)
    raise ConfigError(
        f"found a {type(theirs).__module__}.{type(theirs).__qualname__}; expected the path of a file, a "
        "tokenizers.Tokenizer, a fast tokenizer of transformers, a tiktoken.Encoding or a "
        "sentencepiece.SentencePieceProcessor"
    )


def _no_options(options: Mapping[str, Any]) -> None:
    if options:
        raise ConfigError(
            f"the object says everything and takes no options; leave out {', '.join(options)}"
        )


def _spec_of(tokenizer: Any) -> Spec:
    from dataclasses import replace

    spec = hf_json.loads(tokenizer.to_str().encode("utf-8"), "the tokenizers.Tokenizer")
    # It can be told to read special tokens as text, which no file says.
    return replace(spec, special_policy="text") if tokenizer.encode_special_tokens else spec


def _of_transformers(theirs: Any) -> Loaded:
    backend = getattr(theirs, "backend_tokenizer", None)
    if backend is None:
        raise ConfigError(
            f"{type(theirs).__qualname__} is a tokenizer in Python, which has no form as data; load "
            "the files that it was made of, or a fast tokenizer"
        )
    config: dict[str, Any] = {"model_max_length": theirs.model_max_length}
    for role in model_folder.ROLES:
        if isinstance(text := getattr(theirs, role, None), str):
            config[role] = text
    template = getattr(theirs, "chat_template", None)
    if template is not None:
        config["chat_template"] = template
    return Loaded(_spec_of(backend), None, (), "tokenizer-json", {"tokenizer_config": config})


def _of_tiktoken(theirs: Any, options: Mapping[str, Any]) -> Loaded:
    from jogak.spec import Split

    lines = (
        base64.b64encode(piece) + b" %d\n" % rank for piece, rank in theirs._mergeable_ranks.items()
    )
    told = {
        "pretokenizer": Split(theirs._pat_str, matches="only"),
        "special_tokens": dict(theirs._special_tokens),
    }
    return _of_bytes(b"".join(lines), "tiktoken", {**told, **options})


def _of_bytes(data: bytes, format: str, options: Mapping[str, Any]) -> Loaded:
    """What a file of these bytes holds."""
    with tempfile.TemporaryDirectory(prefix="jogak-") as folder:
        path = os.path.join(folder, "tokenizer")
        with open(path, "wb") as file:
            file.write(data)
        return read(path, format, **options)


def to_transformers(spec: Spec, extras: Mapping[str, Any]) -> Any:
    """A ``transformers.PreTrainedTokenizerFast`` that gives the same ids.

    Raises:
        UnsupportedFeature: a tokenizer.json cannot say what the tokenizer is.
        ImportError: transformers is not installed.
    """
    from tokenizers import Tokenizer as TheirTokenizer
    from transformers import PreTrainedTokenizerFast

    make: Any = PreTrainedTokenizerFast
    config = extras.get("tokenizer_config", {})
    told = {
        name: config[name]
        for name in ("model_max_length", "chat_template", "padding_side", "truncation_side")
        if name in config
    }
    if "chat_template" in extras:
        told["chat_template"] = extras["chat_template"]
    return make(
        tokenizer_object=TheirTokenizer.from_str(hf_json.dumps(spec).decode("utf-8")),
        clean_up_tokenization_spaces=False,
        **model_folder.roles(spec, extras),
        **told,
    )
