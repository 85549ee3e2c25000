"""A file, or a tokenizer of another library -> a `Tokenizer`: read, compiled, proved by its probes.

Rule: knows no format and no object; finds who does. Imports little, so that the core reads a file while
Python imports all that makes a tokenizer of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from jogak import _core

if TYPE_CHECKING:
    from jogak.tokenizer import Tokenizer

__all__ = ["load"]


def load(path: Any, format: str | None = None, **options: Any) -> Tokenizer:
    """Open a tokenizer file, recognised by its content, or take over another library's tokenizer.

    Args:
        path: jogak's own file; Hugging Face's tokenizer.json; a model's folder; a ``.tiktoken`` file;
            vocab.json with merges.txt beside it; a SentencePiece ``.model``; BERT's vocab.txt. Or an
            object: a ``tokenizers.Tokenizer``, a fast tokenizer of transformers, a
            ``tiktoken.Encoding``, a ``sentencepiece.SentencePieceProcessor``.
        format: what it is: ``"jogak"``, ``"tokenizer-json"``, ``"model-folder"``, ``"vocab-merges"``,
            ``"tiktoken"``, ``"tekken"``, ``"subword-nmt"``, ``"gguf"``, ``"sentencepiece"`` or
            ``"vocab-txt"``.
        options: what the file does not say itself, such as ``pretokenizer="cl100k"`` for rank files,
            ``marker="suffix"`` for vocab.json and merges.txt, or ``lowercase=True`` for vocab.txt.

    Raises:
        FormatError: the file is not what it should be, or does not give the ids it was saved with.
        UnsupportedFeature: something in it that cannot be said here, with its name and place.
        ConfigError: an option is missing or makes no sense for the format; an object of another kind.
        OSError: the file cannot be read.

    >>> import pathlib, tempfile, jogak
    >>> path = pathlib.Path(tempfile.mkdtemp(), "hug.jogak.json")
    >>> jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none")).save(path)
    >>> jogak.load(path).tokens("hug pug")
    ['hug', 'p', 'ug']
    """
    is_path = isinstance(path, (str, os.PathLike))
    name = os.fspath(path) if is_path else None
    _core.read_ahead(name if isinstance(name, str) else None)
    try:
        return _load(path, format, options)
    finally:
        _core.read_ahead(None)


def _load(path: Any, format: str | None, options: dict[str, Any]) -> Tokenizer:
    from jogak.errors import ConfigError, FormatError
    from jogak.tokenizer import Tokenizer

    if isinstance(path, (str, os.PathLike, tuple)):
        from jogak import formats

        loaded = formats.read(path, format, **options)
        name = os.fspath(path[0] if isinstance(path, tuple) else path)
    else:
        from jogak.peers import loaded_of

        loaded, name = loaded_of(path, **options), f"the {type(path).__name__}"
    try:
        tokenizer = Tokenizer(loaded.spec, loaded.training, loaded.extras)
    except ConfigError as error:
        raise FormatError(f"{name}: {error}", name) from error
    for number, probe in enumerate(loaded.probes):
        found = tokenizer.encode(probe.text, dropout=0.0)
        if found != list(probe.ids):
            raise FormatError(
                f"{name} says that {probe.text!r} has the ids {list(probe.ids)}, but it "
                f"gives {found}; the file was changed, or was written by another version",
                name,
                f"probes[{number}]",
            )
    return tokenizer
