"""Mistral's tekken files: JSON with a pattern, special tokens, and byte-level pieces by rank.

::

    {"config": {"pattern": ..., "default_vocab_size": 131072, "default_num_special_tokens": 1000, ...},
     "vocab": [{"rank": 0, "token_bytes": "AA==", "token_str": "\\u0000"}, ...],
     "special_tokens": [{"rank": 0, "token_str": "<unk>", "is_control": true}, ...]}

Special tokens have the first ids, as many as ``default_num_special_tokens`` says: those that the file
(or, for old files, the library) does not name are ``<SPECIAL_17>`` and so on. Ranks follow them, and of
the pieces only so many are taken as ``default_vocab_size`` has room for. As in mistral-common, special
tokens in a text are text. What the file says about images, sound and chats is no part of a tokenizer.

Source: https://github.com/mistralai/mistral-common, ``tokens/tokenizers/tekken.py``, release 1.13
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from jogak.errors import UnsupportedFeature
from jogak.formats import bytelevel
from jogak.formats.checked import Node, parse, shown
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.formats.patterns import pattern_of, stages_of
from jogak.formats.tiktoken import rank_pieces, spec_of
from jogak.formats.vocabulary import MOST_HOLES
from jogak.spec import Spec

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["read", "write"]

#: The special tokens of files that do not list them (versions up to 7).
_USUAL = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *(
        "[TOOL_RESULTS]",
        "[/TOOL_RESULTS]",
        "[TOOL_CALLS]",
        "[IMG]",
        "<pad>",
        "[IMG_BREAK]",
        "[IMG_END]",
    ),
    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
_OLD = ("v1", "v2", "v3", "v7")
_FIELDS = {"rank", "token_bytes", "token_str"}


def read(path: PathLike) -> Spec:
    """The tokenizer of a tekken file.

    Raises:
        FormatError: not such a file, or one that mistral-common would refuse; with the place.
        UnsupportedFeature: a special token that is spelled like a piece.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    root = Node(parse(read_bytes(path), name), file=name)
    config = root.field("config")
    pattern = config.field("pattern").text()
    if not pattern:
        raise config.field("pattern").expected("a regular expression")
    special_count = config.field("default_num_special_tokens").integer(0, MOST_HOLES)
    vocab = root.field("vocab")
    most = special_count + len(vocab.items())
    size = config.field("default_vocab_size").integer(special_count, most)
    special = _special_tokens(root, config, special_count)
    ranks = _ranks(vocab, size - special_count, special_count)
    clash = next((text for text in special if text in ranks), None)
    if clash is not None:
        raise UnsupportedFeature(
            f"{name}: the special token {clash!r} (id {special[clash]}) has the text of the piece "
            f"{ranks[clash]}; expected another text, as each stands for one id"
        )
    return spec_of(ranks, stages_of(pattern), special, name, policy="text")


def _special_tokens(root: Node, config: Node, count: int) -> dict[str, int]:
    """Text -> id of all special tokens, fillers among them."""
    texts: list[str] = []
    if root.value.get("special_tokens") is None:
        version = config.field("version")
        if version.value not in _OLD:
            raise version.fault(
                f"is {shown(version.value)}, and the file lists no special_tokens; only files of "
                f"{', '.join(_OLD)} may leave them out"
            )
        texts.extend(_USUAL)
    else:
        for index, node in enumerate(root.field("special_tokens").items()):
            rank = node.field("rank")
            if rank.value != index or type(rank.value) is not int:
                raise rank.expected(f"{index}, its place in the list")
            named = node.field("token_str")
            if not named.text():
                raise named.expected("a text that is not empty")
            texts.append(named.value)
    if len(texts) > count:
        raise config.field("default_num_special_tokens").expected(
            f"room for the {len(texts)} special tokens"
        )
    texts.extend(f"<SPECIAL_{index}>" for index in range(len(texts), count))
    special: dict[str, int] = {}
    for id_, text in enumerate(texts):
        if special.setdefault(text, id_) != id_:
            raise root.fault(
                f"has the special token {shown(text)} twice, at {special[text]} and {id_}; expected "
                "each once"
            )
    return special


def _ranks(vocab: Node, count: int, first: int) -> dict[str, int]:
    """The first pieces, in printable characters -> id."""
    ranks: dict[str, int] = {}
    for index, entry in enumerate(vocab.value[:count]):
        if not isinstance(entry, dict) or entry.keys() != _FIELDS or entry["rank"] != index:
            node = vocab.child(index, entry)
            node.fields("rank", "token_bytes", "token_str")
            raise node.field("rank").expected(f"{index}, its place in the list")
        data = _bytes(vocab.child(index, entry).field("token_bytes"))
        if index < 256 and data != bytes([index]):
            raise vocab.child(index, entry).fault(
                f"is the bytes {shown(data)}; expected the byte {index} (all 256 come first, in order)"
            )
        text = bytelevel.from_bytes(data)
        if ranks.setdefault(text, first + index) != first + index:
            raise vocab.child(index, entry).fault(
                f"is the bytes {shown(data)}, as is vocab[{ranks[text] - first}]; expected each once"
            )
    if count < 256:
        raise vocab.fault(f"gives {count} pieces; expected all 256 bytes")
    return ranks


def _bytes(node: Node) -> bytes:
    try:
        data = base64.b64decode(node.value, validate=True) if isinstance(node.value, str) else b""
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        raise node.expected("the base64 of one or more bytes")
    return data


def write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    """Write a tekken file, wholly or not at all. mistral-common wants ``tekken`` in its name.

    Training log and probes stay behind. The version of the file is ``v3``; it says nothing about chats.

    Raises:
        UnsupportedFeature: not a byte-level tokenizer by ranks, special tokens that are not the first
            ids, the 256 bytes not behind them in order, ids that stand for nothing, words that no
            pattern says.
        OSError: the file cannot be written.
    """
    name = os.fspath(path)
    pieces = rank_pieces(spec, name, "a tekken file")
    special = sorted(spec.special_tokens, key=lambda text: spec.special_tokens[text])
    first = len(special)

    def refused(what: str) -> UnsupportedFeature:
        return UnsupportedFeature(
            f"{name}: a tekken file cannot say {what}; save as the native format"
        )

    if [spec.special_tokens[text] for text in special] != list(range(first)):
        raise refused("special tokens that are not the first ids")
    if [rank for rank, _ in pieces] != list(range(first, first + len(pieces))):
        raise refused("ids that stand for nothing")
    if [data for _, data in pieces[:256]] != [bytes([byte]) for byte in range(256)]:
        raise refused("pieces that do not begin with the 256 bytes in order")
    pattern = pattern_of(spec.pretokenizer)
    if pattern is None:
        raise refused(
            f"the pre-tokenizer {spec.pretokenizer}: it has one pattern, whose matches are words"
        )
    data = {
        "config": {
            "pattern": pattern,
            "num_vocab_tokens": len(pieces),
            "default_vocab_size": first + len(pieces),
            "default_num_special_tokens": first,
            "version": "v3",
        },
        "vocab": [_entry(rank - first, piece) for rank, piece in pieces],
        "special_tokens": [
            {"rank": id_, "token_str": text, "is_control": True} for id_, text in enumerate(special)
        ],
    }
    write_atomically(path, json.dumps(data, ensure_ascii=False, indent=1).encode() + b"\n")


def _entry(rank: int, piece: bytes) -> Mapping[str, object]:
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        text = None
    return {
        "rank": rank,
        "token_bytes": base64.b64encode(piece).decode("ascii"),
        "token_str": text,
    }


def _read(path: PathLike) -> Loaded:
    return Loaded(read(path), None, (), FORMAT.name)


def _matches(peek: Peek) -> bool:
    data = peek.json
    return (
        isinstance(data, dict)
        and isinstance(data.get("config"), dict)
        and "default_num_special_tokens" in data["config"]
        and isinstance(data.get("vocab"), list)
    )


FORMAT = Format(
    name="tekken",
    about="Mistral's tekken.json",
    matches=_matches,
    read=_read,
    write=write,
)
