"""``jogak decode``: lines of ids become lines of text."""

from __future__ import annotations

import json as json_module
from typing import Annotated

import typer

from jogak.cli import _options as options
from jogak.cli._run import blocks, write_lines
from jogak.errors import DecodeError

_SEPARATORS = bytes.maketrans(b"[],", b"   ")


def decode(
    tokenizer: options.TokenizerFile,
    files: options.Texts = None,
    json: Annotated[bool, typer.Option("--json", help="Write a JSON string per line.")] = False,
) -> None:
    """Decode ids, one text per line.

    Ids are separated by spaces or commas; square brackets are ignored. Without --json
    the bytes are written as they are, so a text that holds newlines fills more than one line.

    \b
    Examples:
      jogak decode -t reviews.jogak.json < ids.txt
      echo "[17, 4, 212]" | jogak decode -t reviews.jogak.json
    """
    import jogak

    tok = jogak.load(tokenizer)
    for block in blocks(files or []):
        texts: list[bytes] = []
        try:
            for line in block.lines:
                ids = _ids(line)
                if json:
                    text = json_module.dumps(tok.decode(ids), ensure_ascii=False).encode("utf-8")
                else:
                    text = tok.decode_bytes(ids)
                texts.append(text)
        except DecodeError as error:
            raise DecodeError(f"{block.name}, line {block.number + len(texts)}: {error}") from None
        finally:
            write_lines(texts)


def _ids(line: bytes) -> list[int]:
    try:
        return list(map(int, line.translate(_SEPARATORS).split()))
    except ValueError:
        raise DecodeError(
            f"{_start(line)} is not a list of ids; expected whole numbers separated by spaces or commas"
        ) from None


def _start(line: bytes) -> str:
    text = line.decode("utf-8", errors="replace")
    return repr(text if len(text) <= 40 else text[:39] + "…")
