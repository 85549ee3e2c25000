"""The libraries that files belong to, where they are installed: asked for the same ids.

Rule: none is needed. One that is not installed, or that refuses the file, is simply not asked.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

from jogak.conversion.compare import Answer, Policy
from jogak.formats.patterns import pattern_of
from jogak.tokenizer import Tokenizer

__all__ = ["Library", "own_library"]


@dataclass(frozen=True)
class Library:
    """A file, opened in its own library.

    Args:
        name: the library and its version.
        encode: as `Answerer.encode`.
        decode: as `Answerer.decode`.
    """

    name: str
    encode: Callable[[Sequence[str], Policy], list[Answer] | None]
    decode: Callable[[Sequence[Sequence[int]]], list[str] | None]


def own_library(path: str, format: str, tokenizer: Tokenizer) -> Library | None:
    """The library of a file's format with the file opened; None if there is none to ask.

    Args:
        path: the file.
        format: its format.
        tokenizer: the same file in jogak, for what the file itself does not say.
    """
    if format not in _LIBRARIES:
        return None
    package, open_there = _LIBRARIES[format]
    try:
        opened = open_there(import_module(package), path, tokenizer)
    except ImportError:
        return None
    if opened is None:
        return None
    encode, decode = opened
    return Library(f"{package} {version(package)}", encode, decode)


def _tokenizers(module: Any, path: str, _: Tokenizer) -> tuple[Any, Any]:
    theirs = module.Tokenizer.from_file(path)
    theirs.no_truncation()
    theirs.no_padding()

    def encode(texts: Sequence[str], policy: Policy) -> list[Answer]:
        theirs.encode_special_tokens = policy == "text"
        try:
            found = theirs.encode_batch(list(texts), add_special_tokens=False)
        except Exception:  # the library raises nothing more special
            return [_one(theirs, text) for text in texts]
        return [one.ids for one in found]

    def decode(all_ids: Sequence[Sequence[int]]) -> list[str]:
        return list(theirs.decode_batch([list(ids) for ids in all_ids], skip_special_tokens=False))

    return encode, decode


def _sentencepiece(module: Any, path: str, _: Tokenizer) -> tuple[Any, Any]:
    theirs = module.SentencePieceProcessor(model_file=path)

    def encode(texts: Sequence[str], policy: Policy) -> list[Answer] | None:
        return None if policy == "parse" else list(theirs.encode(list(texts)))

    def decode(all_ids: Sequence[Sequence[int]]) -> list[str]:
        return [theirs.decode(list(ids)) for ids in all_ids]

    return encode, decode


def _tiktoken(module: Any, path: str, tokenizer: Tokenizer) -> tuple[Any, Any] | None:
    spec = tokenizer.spec
    pattern = pattern_of(spec.pretokenizer)
    if pattern is None:
        return None  # no expression finds these words
    with open(path, "rb") as file:
        rows = [line.split() for line in file if line.strip()]
    theirs = module.Encoding(
        "file",
        pat_str=pattern,
        mergeable_ranks={b64decode(piece): int(rank) for piece, rank in rows if piece != b"="},
        special_tokens=dict(spec.special_tokens),
    )

    def encode(texts: Sequence[str], policy: Policy) -> list[Answer]:
        if policy == "parse":
            return list(theirs.encode_batch(list(texts), allowed_special="all"))
        return list(theirs.encode_ordinary_batch(list(texts)))

    def decode(all_ids: Sequence[Sequence[int]]) -> list[str]:
        return list(theirs.decode_batch([list(ids) for ids in all_ids]))

    return encode, decode


def _mistral_common(module: Any, path: str, _: Tokenizer) -> tuple[Any, Any]:
    inside = import_module("mistral_common.tokens.tokenizers.tekken")
    keep = import_module("mistral_common.tokens.tokenizers.base").SpecialTokenPolicy.KEEP
    theirs = inside.Tekkenizer.from_file(path)

    def encode(texts: Sequence[str], policy: Policy) -> list[Answer] | None:
        if policy == "parse":
            return None
        return [theirs.encode(text, bos=False, eos=False) for text in texts]

    def decode(all_ids: Sequence[Sequence[int]]) -> list[str]:
        return [theirs.decode(list(ids), keep) for ids in all_ids]

    return encode, decode


def _one(theirs: Any, text: str) -> Answer:
    try:
        ids: list[int] = theirs.encode(text, add_special_tokens=False).ids
    except Exception:  # as above: it refused the text
        return "refused"
    return ids


#: Format -> the package that it belongs to, and how a file is opened there; None if it cannot be.
_LIBRARIES: Mapping[str, tuple[str, Callable[[Any, str, Tokenizer], tuple[Any, Any] | None]]] = {
    "tokenizer-json": ("tokenizers", _tokenizers),
    "sentencepiece": ("sentencepiece", _sentencepiece),
    "tiktoken": ("tiktoken", _tiktoken),
    "tekken": ("mistral_common", _mistral_common),
}
