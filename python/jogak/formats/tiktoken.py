"""``.tiktoken`` rank files: one piece a line, its bytes in base64 and its rank.

::

    IQ== 0
    Ig== 1

The rank is the id. There are no merges: any two neighbours whose joined bytes are a piece may merge,
the lowest rank first, and a word that is a piece is taken whole. Which words there are (the
pre-tokenizer) and the special tokens are not in the file: some are known here by the SHA-256 of their
content, the caller names others (``scheme``), or says it. As in tiktoken, a text with a special token in
it is refused unless the call says what it means.

Source: https://github.com/openai/tiktoken, ``tiktoken/load.py`` and ``tiktoken_ext/openai_public.py``
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from jogak import _core
from jogak.errors import ConfigError, UnsupportedFeature
from jogak.formats import bytelevel
from jogak.formats.checked import fault, shown
from jogak.formats.encodings import encoding
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.formats.patterns import stages_of
from jogak.formats.vocabulary import pieces_by_id, refuse_options, refuse_parts
from jogak.spec import (
    BPEModel,
    Marker,
    Pretokenizer,
    PretokenizerLike,
    Spec,
    SpecialPolicy,
    resolve_pretokenizer,
)

if TYPE_CHECKING:
    from jogak.spec.held import Pieces
    from jogak.training import Log

__all__ = [
    "PUBLISHED",
    "SHARED",
    "model_of",
    "pieces_of",
    "rank_pieces",
    "read",
    "spec_of",
    "table_of",
    "write",
]


#: SHA-256 of the file -> the encoding that it is. GPT-2 and r50k_base are the same file; p50k_edit has
#: that of p50k_base, and o200k_harmony that of o200k_base.
PUBLISHED: Mapping[str, str] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": "r50k_base",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": "p50k_base",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": "cl100k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": "o200k_base",
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": "llama-4",
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": "qwen",
    "b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103": "kimi-k2",
}

#: The same, of a file that is several: what they call their special tokens differs.
SHARED: Mapping[str, tuple[str, ...]] = {
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": ("llama-3", "llama-3.1"),
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": (
        *("whisper", "whisper-large-v3"),
    ),
}

_LINE = re.compile(rb"([A-Za-z0-9+/]*={0,2}) ([0-9]{1,9})")


def read(
    path: PathLike,
    *,
    scheme: str | None = None,
    pattern: str | None = None,
    pretokenizer: PretokenizerLike | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Spec:
    """The tokenizer of a rank file.

    Args:
        path: the file.
        scheme: a published encoding, for its pattern and special tokens: one of
            `jogak.formats.encodings.ENCODINGS`, such as ``"o200k_base"`` or ``"llama-3"``. None looks
            at the content, which some files are known by.
        pattern: a regular expression whose matches are the words, as tiktoken's ``pat_str``.
        pretokenizer: how text is cut into words, instead of a pattern.
        special_tokens: text -> id. None: those of the encoding, or none at all.

    Returns:
        A Spec whose ``merges`` are None, since the ids are the ranks. Ids that no line has stand
        for nothing. Special tokens in texts are an error (``special_policy``), as in tiktoken.

    Raises:
        FormatError: a line that is not base64 and a rank, a piece or rank that stands twice, or a
            file that lacks one of the 256 single bytes; with the line.
        ConfigError: nothing says how text is cut in a file that is not known, an unknown scheme, both
            a pattern and a pre-tokenizer, or special tokens whose ids are taken.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    if pattern is not None and pretokenizer is not None:
        raise ConfigError(
            "pattern and pretokenizer both say how text is cut into words; give one of them"
        )
    data = read_bytes(path)
    ranks = _core.read_ranks(data) or _ranks(data, name)
    if scheme is None:
        digest = _core.sha256(data)
        scheme = PUBLISHED.get(digest)
        if digest in SHARED and pattern is None and pretokenizer is None:
            one, other = SHARED[digest]
            raise ConfigError(
                f"{name}: this is the file of {one} and of {other}, whose special tokens have other "
                f'names; say which it is: scheme="{one}" or scheme="{other}"'
            )
    if scheme is not None:
        published = encoding(scheme)
        if special_tokens is None:
            special_tokens = published.special_tokens
        if pattern is None and pretokenizer is None:
            pattern = published.pattern
    if pattern is not None:
        stages = stages_of(pattern)
    elif pretokenizer is not None:
        stages = resolve_pretokenizer(pretokenizer)
    else:
        known = ", ".join(PUBLISHED.values())
        raise ConfigError(
            f"{name}: a rank file does not say how text is cut into words, and this one is none of "
            f'those known by content ({known}); say which it is, such as scheme="llama-3", or how text '
            'is cut, such as pretokenizer="cl100k" or pattern=r"...", and give its '
            "special_tokens={text: id} if it has any"
        )
    special_tokens = dict(special_tokens or {})
    return spec_of(ranks, stages, special_tokens, name, policy="error")


def spec_of(
    ranks: Mapping[str, int],
    stages: tuple[Pretokenizer, ...],
    special_tokens: Mapping[str, int],
    name: str,
    policy: SpecialPolicy,
) -> Spec:
    """The tokenizer of byte-level pieces whose ids are their ranks.

    Args:
        ranks: piece, in GPT-2's printable characters -> id.
        stages: how text is cut into words.
        special_tokens: text -> id.
        name: what errors call the file.
        policy: what to do with special tokens in texts, if there are any.

    Raises:
        ConfigError: special tokens that are pieces, or whose ids are taken.
        FormatError: ids far apart.
    """
    pieces: Any = None
    if isinstance(ranks, _core.Ids) and _are_plain(special_tokens, ranks):
        pieces = ranks.pieces([*special_tokens.items()])
    if pieces is None:
        ids = _with_special_tokens(ranks, special_tokens, name)
        try:
            pieces = pieces_by_id(ids)
        except ValueError as error:
            raise fault(name, "", str(error)) from None
    return Spec(
        model=model_of(pieces),
        pretokenizer=stages,
        special_tokens=special_tokens,
        special_policy=policy if special_tokens else "text",
    )


def model_of(pieces: Pieces) -> BPEModel:
    """The model of byte-level pieces whose ids are their ranks."""
    return BPEModel(
        pieces=pieces,  # type: ignore[arg-type]  # a table, or the texts
        merges=None,
        marker=Marker("byte-level"),
        alphabet="bytes",
        whole_word=True,
    )


def pieces_of(table: dict[bytes, int]) -> Pieces | None:
    """The pieces of ranks by their bytes, an empty one left out.

    None where keys are no bytes, ranks no plain numbers below 2**32, one of them stands twice, or they
    are far apart.
    """
    found: Any = _core.pieces_of_ranks(table)
    pieces: Pieces | None = found
    return pieces


def table_of(data: bytes) -> dict[bytes, int] | None:
    """The lines of a rank file: the bytes of every piece -> its rank.

    Of a piece that stands twice it is the last. None for a line that is anything but base64, one space
    and a rank.
    """
    return _core.read_rank_table(data)


def _are_plain(special_tokens: Mapping[str, int], ranks: Mapping[str, int]) -> bool:
    """Whether special tokens are texts of their own, with numbers that may be ids."""
    numbers = all(type(id_) is int and 0 <= id_ < 1 << 32 for id_ in special_tokens.values())
    return numbers and not any(text in ranks for text in special_tokens)


def _ranks(data: bytes, file: str) -> dict[str, int]:
    """The lines as printable text -> rank."""
    import base64

    ranks: dict[str, int] = {}
    line_of_rank: dict[int, int] = {}
    line_of_piece: dict[str, int] = {}
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, line in enumerate(lines, 1):
        place = f"line {number}"
        match = _LINE.fullmatch(line.removesuffix(b"\r"))
        if match is None:
            raise fault(
                file,
                place,
                f"{place} is {shown(line)}; expected base64, one space, and a rank",
            )
        rank = int(match[2])
        if rank in line_of_rank:
            raise fault(
                file, place, f"{place}: rank {rank} stands on line {line_of_rank[rank]} already"
            )
        line_of_rank[rank] = number
        if match[1] == b"=":
            continue  # Whisper's file gives an id to the empty piece: no text ever becomes it.
        try:
            piece = base64.b64decode(match[1], validate=True)
        except ValueError:
            piece = b""
        if not piece:
            raise fault(
                file, place, f"{place}: {shown(match[1])} is not the base64 of one or more bytes"
            )
        text = bytelevel.from_bytes(piece)
        if text in ranks:
            raise fault(
                file,
                place,
                f"{place}: the bytes {shown(piece)} stand on line {line_of_piece[text]} already",
            )
        ranks[text], line_of_piece[text] = rank, number
    for byte, text in enumerate(bytelevel.ALPHABET):
        if text not in ranks:
            raise fault(
                file, "", f"the byte 0x{byte:02X} has no rank; expected all 256 bytes as pieces"
            )
    return ranks


def _with_special_tokens(
    ranks: Mapping[str, int], special_tokens: Mapping[str, int], file: str
) -> dict[str, int]:
    """Ranks and special tokens in one; neither ids nor texts may meet."""
    ids = dict(ranks)
    taken = set(ranks.values())
    for text, id_ in special_tokens.items():
        if type(id_) is not int or id_ < 0 or id_ in taken:
            raise ConfigError(
                f"{file}: special token {text!r} has the id {id_!r}; expected one that is free"
            )
        if not text or text in ids:
            raise ConfigError(
                f"{file}: special token {text!r} has the text of a piece; expected another text"
            )
        ids[text] = id_
        taken.add(id_)
    return ids


def write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    """Write a rank file, in the order of the ids, wholly or not at all.

    Pre-tokenizer and special tokens have no place in the file; `read` is given them again. Training
    log and probes stay behind.

    Raises:
        UnsupportedFeature: a tokenizer that does not encode by ranks, so that the file would give
            other ids.
        OSError: the file cannot be written.
    """
    pieces = rank_pieces(spec, os.fspath(path), "a .tiktoken file")
    import base64

    lines = [base64.b64encode(piece) + b" %d\n" % rank for rank, piece in pieces]
    write_atomically(path, b"".join(lines))


def rank_pieces(spec: Spec, name: str, what: str) -> list[tuple[int, bytes]]:
    """Id and bytes of all pieces that are no special tokens, in the order of ids.

    Args:
        spec: a tokenizer that encodes by ranks.
        name: what errors call the file.
        what: what errors call its format.

    Raises:
        UnsupportedFeature: any other tokenizer: the file would give other ids.
        ConfigError: a piece that stands for no bytes.
    """
    model = spec.model
    if not isinstance(model, BPEModel):
        raise UnsupportedFeature(
            f"{name}: the tokenizer is {model.family}, and {what} can only say BPE; save it as the "
            "native format"
        )
    refuse_options(model, name)
    for cannot, said in (
        (model.alphabet != "bytes", f"an alphabet of characters (marker {model.marker.kind!r})"),
        (model.merges is not None, "a list of merges: its ranks are the ids"),
        (model.strategy != "merges", f"the strategy {model.strategy!r}"),
        (not model.whole_word, "whole_word=False"),
    ):
        if cannot:
            raise UnsupportedFeature(
                f"{name}: {what} cannot say {said}; "
                'save as the native format, or as format="vocab-merges"'
            )
    refuse_parts(spec, name, what)
    pieces = [
        (id_, text)
        for id_, text in enumerate(model.pieces)
        if text is not None and text not in spec.special_tokens
    ]
    foreign = bytelevel.first_foreign(text for _, text in pieces)
    if foreign is not None:
        raise ConfigError(
            f"{name}: piece {foreign!r} stands for no bytes; "
            "expected byte-level pieces in GPT-2's printable characters"
        )
    return [(id_, bytelevel.to_bytes(text)) for id_, text in pieces]


def _read(path: PathLike, **options: object) -> Loaded:
    return Loaded(read(path, **options), None, (), FORMAT.name)  # type: ignore[arg-type]  # options by name


def _matches(peek: Peek) -> bool:
    match = _LINE.fullmatch(peek.first_line)
    return match is not None and len(match[1]) > 0


FORMAT = Format(
    name="tiktoken",
    about="a .tiktoken file, base64 and rank on each line",
    matches=_matches,
    read=_read,
    write=write,
    options=("scheme", "pattern", "pretokenizer", "special_tokens"),
)
