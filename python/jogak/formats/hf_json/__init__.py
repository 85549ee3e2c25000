"""``tokenizer.json``: Hugging Face's file, as tokenizers 0.23 reads it.

::

    {"version": "1.0",
     "truncation": ..., "padding": ...,     inputs
     "added_tokens": [...],                 added
     "normalizer": ...,                     normalizers
     "pre_tokenizer": ...,                  pretokenizers
     "post_processor": ...,                 processors
     "decoder": ...,                        decoders
     "model": {...}}                        models

Each part has a file here, for both directions. A loaded tokenizer does what that library does: special
tokens are found in text, and ids become text by the file's own decoder.

Rule: what the library reads, in any of its spellings, is read or refused by name with the place; what it
refuses is a `FormatError`.

Source: https://github.com/huggingface/tokenizers
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jogak.errors import JogakError, UnsupportedFeature
from jogak.formats.checked import Node, NotPlain
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.formats.hf_json import (
    added,
    decoders,
    inputs,
    models,
    normalizers,
    pretokenizers,
    processors,
    sections,
)
from jogak.formats.hf_json.serde import option
from jogak.formats.vocabulary import pieces_by_id
from jogak.spec import Spec

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["dumps", "loads", "read", "write"]


def read(path: PathLike) -> Loaded:
    """The tokenizer of a file.

    Raises:
        FormatError: no ``tokenizer.json``, or one that the library itself refuses; with the place.
        UnsupportedFeature: something in it that cannot be said here; with the place.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    return Loaded(loads(read_bytes(path), name), None, (), FORMAT.name)


def loads(data: bytes, name: str | None = None) -> Spec:
    """The tokenizer of a file's bytes.

    Args:
        data: the bytes.
        name: what errors call the file.

    Raises:
        FormatError, UnsupportedFeature: as `read`.
    """
    try:
        root = sections.with_tables(data, name)
        if root is not None:
            return _spec(root, name)
    except (JogakError, NotPlain):
        pass  # The error is that of the whole file.
    return _spec(sections.whole(data, name), name)


def _spec(root: Node, name: str | None) -> Spec:
    version = root.field("version").value if "version" in _object(root) else "1.0"
    if version != "1.0":
        raise root.field("version").expected('"1.0"')
    words = pretokenizers.read(option(root, "pre_tokenizer"))
    draft = models.read(root.field("model"), words.as_bytes)
    tokens = added.read(_present(root, "added_tokens"), draft.ids, draft.size, draft.can_make)
    if isinstance(draft.ids, sections.Ids):
        pieces: Any = draft.ids.pieces([*tokens.ids.items()])
        if pieces is None:
            raise NotPlain
    else:
        try:
            pieces = pieces_by_id({**draft.ids, **tokens.ids})
        except ValueError as error:
            # The library keeps one of two texts, whichever comes last in its table.
            raise UnsupportedFeature(f"{name or 'the file'}: {error}") from None
    normalizer = normalizers.read(option(root, "normalizer"))
    decoder = decoders.read(option(root, "decoder"))
    template = processors.read(option(root, "post_processor"))
    truncation = inputs.read_truncation(option(root, "truncation"))
    padding = inputs.read_padding(option(root, "padding"))
    with root.blamed():
        return Spec(
            model=draft.build(pieces),
            normalizer=normalizer,
            pretokenizer=words.stages,
            special_tokens=tokens.special,
            added_tokens=tokens.tokens,
            special_policy="parse",
            decoder=decoder,
            template=template,
            truncation=truncation,
            padding=padding,
        )


def _object(node: Node) -> dict[str, object]:
    if not isinstance(node.value, dict):
        raise node.expected("an object")
    return node.value


def _present(node: Node, name: str) -> Node | None:
    return node.field(name) if name in node.value else None


def write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    """Write a file, wholly or not at all. Training log and probes stay behind.

    Raises:
        UnsupportedFeature: something that the library cannot do as it is done here.
        OSError: the file cannot be written.
    """
    write_atomically(path, dumps(spec, os.fspath(path)))


def dumps(spec: Spec, name: str = "tokenizer.json") -> bytes:
    """The bytes of a file.

    Raises:
        UnsupportedFeature: as `write`.
    """
    # Who reads a file need not know how it is written.
    from jogak.formats.hf_json.writing import whole_file

    return whole_file(spec, name)


# --- the family ---------------------------------------------------------------------------------

# One of the sections, with a value that no vocabulary of texts and ids has.
_SECTION = re.compile(
    rb'"(?:model|truncation|padding|normalizer|pre_tokenizer|post_processor|decoder)"\s*:\s*(?:\{|null)'
    rb'|"added_tokens"\s*:\s*\[|"version"\s*:\s*"1\.0"'
)


def _matches(peek: Peek) -> bool:
    head = peek.head
    if not head.lstrip().startswith(b"{") or head.lstrip().startswith(b'{"format"'):
        return False
    return _SECTION.search(head) is not None


FORMAT = Format(
    name="tokenizer-json",
    about="Hugging Face's tokenizer.json",
    matches=_matches,
    read=read,
    write=write,
)
