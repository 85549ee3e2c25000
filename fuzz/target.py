"""What is held true of every file: a tokenizer that works, or an error that names its place."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

import jogak
from jogak.errors import ConfigError, DecodeError, EncodeError, FormatError, UnsupportedFeature

__all__ = ["check", "write"]

#: Encoded with whatever could be loaded.
TEXTS = ("", "Hello wörld, 안녕 123 <s>\n\t  ", "\x00\ufffd\U0010ffff" * 3, "a" * 200)


def check(
    files: Mapping[str, bytes], format: str | None, options: Mapping[str, Any] | None = None
) -> bool:
    """Whether the files are a tokenizer.

    Args:
        files: name -> bytes; one file, or those of a folder.
        format: the format to read them as; None as `jogak.load` recognises it.
        options: what the files do not say.

    Raises:
        Exception: whatever a reader must not let out.
    """
    with tempfile.TemporaryDirectory(prefix="jogak-fuzz-") as folder:
        path = write(files, folder)
        try:
            tok = jogak.load(path, format=format, **(options or {}))
        except (FormatError, UnsupportedFeature, ConfigError) as error:
            assert str(error)
            return False
        for text in TEXTS:
            try:
                ids = tok.encode(text)
                tok.decode(ids)
            except (EncodeError, DecodeError) as error:
                assert str(error)
        return True


def write(files: Mapping[str, bytes], folder: str) -> str:
    """Write the files into a folder; the path that opens them."""
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    return folder if len(files) > 1 else os.path.join(folder, next(iter(files)))
