"""Rank files: read and written, and found on this machine where tiktoken would ask a network.

A file that tiktoken names by an address is looked for

1. in the folders given, then in those of ``JOGAK_TIKTOKEN_DIR`` (several are separated as in ``PATH``),
   by the last part of the address (``cl100k_base.tiktoken``), there or one folder below;
2. in tiktoken's own cache (``TIKTOKEN_CACHE_DIR``, ``DATA_GYM_CACHE_DIR``, or ``data-gym-cache`` in the
   folder for temporary files), by the SHA-1 of the address.

Rule: nothing is downloaded and no cache is written. Content that is known by its SHA-256 is checked.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from jogak.formats import bytelevel
from jogak.formats.files import read_bytes, write_atomically
from jogak.formats.tiktoken import table_of

__all__ = [
    "check_hash",
    "data_gym_to_mergeable_bpe_ranks",
    "dump_tiktoken_bpe",
    "load_tiktoken_bpe",
    "read_file",
    "read_file_cached",
]

Folder: TypeAlias = "str | os.PathLike[str]"


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Whether bytes have this SHA-256, in hexadecimal.

    >>> check_hash(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    True
    """
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file(blobpath: str) -> bytes:
    """The bytes of a file of this machine.

    Raises:
        FileNotFoundError: the file is not there, or the name is an address on a network.
        OSError: it cannot be read.
    """
    if "://" in blobpath:
        raise FileNotFoundError(
            f"{blobpath} is not on this machine, and jogak downloads nothing; put the file "
            f"{blobpath.rpartition('/')[2]!r} into a folder, and name the folder in the environment "
            "variable JOGAK_TIKTOKEN_DIR or as get_encoding(name, folder=...); tiktoken's cache, "
            "TIKTOKEN_CACHE_DIR, is looked into too"
        )
    return read_bytes(blobpath)


def read_file_cached(
    blobpath: str, expected_hash: str | None = None, *, folder: Folder | None = None
) -> bytes:
    """The bytes of a file; if the name is an address, of the file here that stands for it.

    Args:
        blobpath: a path, or an address with ``://``.
        expected_hash: the SHA-256 that the file must have. Files of another content are passed over.
        folder: where to look first.

    Raises:
        FileNotFoundError: there is no such file here.
        ValueError: a path whose file has another SHA-256.
    """
    if "://" in blobpath:
        for path in _places(blobpath, folder):
            data = read_bytes(path)
            if expected_hash is None or check_hash(data, expected_hash):
                return data
    data = read_file(blobpath)
    if expected_hash and not check_hash(data, expected_hash):
        raise ValueError(
            f"Hash mismatch for {blobpath}: expected the SHA-256 {expected_hash}, found "
            f"{hashlib.sha256(data).hexdigest()}; the file was changed, or is another one"
        )
    return data


def _places(address: str, folder: Folder | None) -> Iterator[Path]:
    """The files that may stand for an address."""
    name = address.rpartition("/")[2]
    folders = [] if folder is None else [Path(folder)]
    named = os.environ.get("JOGAK_TIKTOKEN_DIR", "").split(os.pathsep)
    folders += [Path(each) for each in named if each]
    for each in folders:
        yield from filter(Path.is_file, [each / name, *sorted(each.glob(f"*/{name}"))])
    caches = (os.environ.get(each) for each in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"))
    cache = next((each for each in caches if each is not None), None)
    if cache is None:
        import tempfile

        cache = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    cached = Path(cache, hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest())
    if cache and cached.is_file():
        yield cached


def load_tiktoken_bpe(
    tiktoken_bpe_file: str, expected_hash: str | None = None, *, folder: Folder | None = None
) -> dict[bytes, int]:
    """The ranks of a ``.tiktoken`` file: the bytes of every piece -> its rank.

    Args:
        tiktoken_bpe_file: the file, see `read_file_cached`.
        expected_hash: the SHA-256 that it must have.
        folder: where to look first.

    Raises:
        ValueError: another SHA-256, or a line that is not base64 and a rank.
        OSError: the file is not there or cannot be read.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/toy.tiktoken"
    >>> dump_tiktoken_bpe({b"a": 0, b"ab": 1}, path)
    >>> load_tiktoken_bpe(path)
    {b'a': 0, b'ab': 1}
    """
    data = read_file_cached(tiktoken_bpe_file, expected_hash, folder=folder)
    ranks = table_of(data)
    if ranks is not None:
        return ranks
    import base64

    ranks = {}
    for line in data.splitlines():
        if line:
            try:
                piece, rank = line.split()
                ranks[base64.b64decode(piece)] = int(rank)
            except ValueError as error:
                raise ValueError(f"Error parsing line {line!r} in {tiktoken_bpe_file}") from error
    return ranks


def dump_tiktoken_bpe(bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write a ``.tiktoken`` file, lowest rank first, wholly or not at all. See `load_tiktoken_bpe`.

    Raises:
        OSError: the file cannot be written.
    """
    import base64

    rows = sorted(bpe_ranks.items(), key=lambda row: row[1])
    lines = [base64.b64encode(piece) + b" %d\n" % rank for piece, rank in rows]
    write_atomically(tiktoken_bpe_file, b"".join(lines))


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
    *,
    folder: Folder | None = None,
) -> dict[bytes, int]:
    """The ranks of GPT-2's ``vocab.bpe`` and ``encoder.json``.

    Args:
        vocab_bpe_file: the merges; bytes are drawn as printable characters.
        encoder_json_file: piece -> id; it must say the same as the merges.
        vocab_bpe_hash, encoder_json_hash: the SHA-256 that they must have.
        clobber_one_byte_tokens: take the ids of single bytes from ``encoder.json``.
        folder: where to look first.

    Raises:
        AssertionError: the two files contradict each other.
        ValueError, KeyError: files that are something else.
        OSError: a file is not there or cannot be read.
    """
    vocab = read_file_cached(vocab_bpe_file, vocab_bpe_hash, folder=folder).decode()
    # Bytes that are drawn as themselves come first.
    pieces = [bytelevel.to_bytes(letter) for letter in sorted(bytelevel.ALPHABET)]
    for line in vocab.split("\n")[1:-1]:
        left, right = line.split()
        pieces.append(bytelevel.to_bytes(left) + bytelevel.to_bytes(right))
    ranks = {piece: rank for rank, piece in enumerate(pieces)}
    import json

    encoder = json.loads(read_file_cached(encoder_json_file, encoder_json_hash, folder=folder))
    for special in ("<|endoftext|>", "<|startoftext|>"):
        encoder.pop(special, None)
    ids = {bytelevel.to_bytes(text): id_ for text, id_ in encoder.items()}
    if clobber_one_byte_tokens:
        ranks.update({piece: id_ for piece, id_ in ids.items() if len(piece) == 1})
    assert ranks == ids, "vocab.bpe and encoder.json give other ids"
    return ranks
