"""Vocabularies by name: `get_encoding`, and what each of them is made of.

Rule: a published vocabulary is what it says, whatever file it comes from: each is known by its SHA-256.
"""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, TypeAlias

from jogak.compat.tiktoken.core import Encoding
from jogak.compat.tiktoken.load import Folder, data_gym_to_mergeable_bpe_ranks, load_tiktoken_bpe
from jogak.compat.tiktoken.patterns import CL100K, GPT2, O200K

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

Constructor: TypeAlias = Callable[..., dict[str, Any]]

_ROOT = "https://openaipublic.blob.core.windows.net"
#: Rank file -> its SHA-256.
_FILES = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
_HARMONY = {
    "<|startoftext|>": 199998,
    "<|endoftext|>": 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
    "<|endofprompt|>": 200018,
}
# Ids between and behind them are reserved.
_HARMONY |= {
    f"<|reserved_{id_}|>": id_ for id_ in range(200000, 201088) if id_ not in _HARMONY.values()
}
# 200018 has two names.
_HARMONY["<|reserved_200018|>"] = 200018


def _published(
    name: str,
    file: str,
    pattern: str,
    special_tokens: dict[str, int],
    n_vocab: int | None = None,
    *,
    folder: Folder | None = None,
) -> dict[str, Any]:
    """The arguments of a published `Encoding`."""
    ranks = load_tiktoken_bpe(f"{_ROOT}/encodings/{file}.tiktoken", _FILES[file], folder=folder)
    return {
        "name": name,
        "pat_str": pattern,
        "mergeable_ranks": ranks,
        "special_tokens": dict(special_tokens),
        "explicit_n_vocab": n_vocab,
    }


_END = {"<|endoftext|>": 50256}


def _gpt2(*, folder: Folder | None = None) -> dict[str, Any]:
    """GPT-2's two files; or the rank file that says the same, r50k_base."""
    try:
        return _published("gpt2", "r50k_base", GPT2, _END, 50257, folder=folder)
    except FileNotFoundError:
        ranks = data_gym_to_mergeable_bpe_ranks(
            f"{_ROOT}/gpt-2/encodings/main/vocab.bpe",
            f"{_ROOT}/gpt-2/encodings/main/encoder.json",
            "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
            "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
            folder=folder,
        )
    return {
        "name": "gpt2",
        "pat_str": GPT2,
        "mergeable_ranks": ranks,
        "special_tokens": dict(_END),
        "explicit_n_vocab": 50257,
    }


_EDIT = {**_END, "<|fim_prefix|>": 50281, "<|fim_middle|>": 50282, "<|fim_suffix|>": 50283}
_CL100K = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
_O200K = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}

#: Name -> what makes the arguments of its `Encoding`, as in tiktoken's plugins. May be added to.
ENCODING_CONSTRUCTORS: dict[str, Constructor] = {
    "gpt2": _gpt2,
    "r50k_base": partial(_published, "r50k_base", "r50k_base", GPT2, _END, 50257),
    "p50k_base": partial(_published, "p50k_base", "p50k_base", GPT2, _END, 50281),
    "p50k_edit": partial(_published, "p50k_edit", "p50k_base", GPT2, _EDIT),
    "cl100k_base": partial(_published, "cl100k_base", "cl100k_base", CL100K, _CL100K),
    "o200k_base": partial(_published, "o200k_base", "o200k_base", O200K, _O200K),
    "o200k_harmony": partial(_published, "o200k_harmony", "o200k_base", O200K, _HARMONY),
}
_PUBLISHED = frozenset(ENCODING_CONSTRUCTORS)

#: Vocabularies that were asked for before.
ENCODINGS: dict[str, Encoding] = {}
_lock = threading.RLock()


@lru_cache(maxsize=1)
def _available_plugin_modules() -> Sequence[str]:
    """The modules of the namespace package ``tiktoken_ext``, but for tiktoken's own."""
    try:
        package = importlib.import_module("tiktoken_ext")
    except ImportError:
        return ()
    names = [module.name for module in pkgutil.iter_modules(package.__path__, "tiktoken_ext.")]
    return tuple(name for name in names if name != "tiktoken_ext.openai_public")


def _constructors() -> dict[str, Constructor]:
    """All constructors, with those of plugins."""
    for module in _available_plugin_modules():
        try:
            found = importlib.import_module(module).ENCODING_CONSTRUCTORS
        except AttributeError as error:
            raise ValueError(
                f"tiktoken plugin {module} does not define ENCODING_CONSTRUCTORS"
            ) from error
        for name, constructor in found.items():
            if ENCODING_CONSTRUCTORS.setdefault(name, constructor) is not constructor:
                raise ValueError(f"Duplicate encoding name {name} in tiktoken plugin {module}")
    return ENCODING_CONSTRUCTORS


def get_encoding(encoding_name: str, *, folder: Folder | None = None) -> Encoding:
    """A vocabulary by its name, from a file of this machine.

    Args:
        encoding_name: one of `list_encoding_names`.
        folder: where to look for its file first. (tiktoken has no such argument.)

    Returns:
        The same object for the same name, each time.

    Raises:
        ValueError: the name is not known.
        FileNotFoundError: its file is nowhere; see `jogak.compat.tiktoken.load` for where it may be.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    with _lock:
        found = ENCODINGS.get(encoding_name)
        if found is None:
            constructor = _constructors().get(encoding_name)
            if constructor is None:
                raise ValueError(
                    f"Unknown encoding {encoding_name}; expected one of {list_encoding_names()}"
                )
            own = encoding_name in _PUBLISHED
            found = Encoding(**(constructor(folder=folder) if own else constructor()))
            ENCODINGS[encoding_name] = found
        return found


def list_encoding_names() -> list[str]:
    """The names that are known. A vocabulary's file need not be there.

    >>> list_encoding_names()[:2]
    ['gpt2', 'r50k_base']
    """
    with _lock:
        return list(_constructors())
