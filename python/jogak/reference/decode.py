"""Decoding: from ids back to bytes and text.

Rules:
- Tokens become bytes first, text last: a character may be spread over several byte pieces. Bytes
  that are no UTF-8 become U+FFFD.
- The marker is undone token by token, only where training puts it:

      none           tokens are joined as they are
      suffix         a marker at a token's end becomes a space, save at the very end
      prefix         a marker at a token's start becomes a space, save at the very start
      continuation   a token without the marker starts a word, with a space before it, save the first
      byte-level     the drawn characters become their bytes

- Special tokens are written as their text, or left out.
- What the pre-tokenizer threw away stays away: if it split at white space, words come back with one
  space between them (with marker `none`, with nothing).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .model import Model, byte_pieces
from .words import CHAR_TO_BYTE


def join_tokens(tokens: Iterable[str], model: Model, *, skip_special_tokens: bool = False) -> bytes:
    """The bytes that tokens stand for.

    >>> from .words import Spelling
    >>> join_tokens(["the</w>", "high", "est</w>"], Model((), spelling=Spelling("suffix")))
    b'the highest'
    """
    special = {*model.special_tokens} | ({model.unk} if model.unk is not None else set())
    if skip_special_tokens:
        tokens = [token for token in tokens if token not in special]
    tokens = list(tokens)
    byte_of = {text: byte for byte, text in enumerate(byte_pieces())} if model.byte_fallback else {}
    marker, text = model.spelling.marker, model.spelling.text

    result = bytearray()
    for place, token in enumerate(tokens):
        first, last = place == 0, place == len(tokens) - 1
        if token in byte_of:
            result.append(byte_of[token])
            continue
        if token in special:
            if marker == "continuation" and not first:
                token = " " + token
        elif marker == "byte-level":
            result += bytes(CHAR_TO_BYTE[char] for char in token)
            continue
        elif marker == "suffix" and token.endswith(text):
            token = token.removesuffix(text) + ("" if last else " ")
        elif marker == "prefix" and token.startswith(text):
            token = ("" if first else " ") + token.removeprefix(text)
        elif marker == "continuation":
            if token.startswith(text):
                token = token.removeprefix(text)
            elif not first:
                token = " " + token
        result += token.encode("utf-8")
    return bytes(result)


def decode_bytes(ids: Sequence[int], model: Model, *, skip_special_tokens: bool = False) -> bytes:
    """The bytes that ids stand for.

    Raises:
        ValueError: for an id outside the vocabulary.

    >>> decode_bytes([2, 0], Model(("a", "b", "ab")))
    b'aba'
    """
    for number in ids:
        if not 0 <= number < len(model.pieces):
            raise ValueError(f"id {number} is outside the vocabulary of {len(model.pieces)}")
    tokens = [model.pieces[number] for number in ids]
    return join_tokens(tokens, model, skip_special_tokens=skip_special_tokens)


def decode(ids: Sequence[int], model: Model, *, skip_special_tokens: bool = False) -> str:
    """The text that ids stand for. After a `metaspace` pre-tokenizer, `undo_metaspace` comes last.

    >>> decode([2, 0], Model(("a", "b", "ab")))
    'aba'
    """
    return decode_bytes(ids, model, skip_special_tokens=skip_special_tokens).decode(
        "utf-8", errors="replace"
    )
