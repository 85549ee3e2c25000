"""``vocab.json`` and ``merges.txt``: the two files of GPT-2, RoBERTa and many others.

``vocab.json`` is one object of texts and ids; ``merges.txt`` has one ``left right`` a line, best first,
behind a line ``#version: 0.2``. GPT-2 itself calls them ``encoder.json`` and ``vocab.bpe``.

The files do not say what marks the border of words, how text is cut into words, which pieces are
special, what is unknown, or how it is encoded. A byte-level vocabulary can be seen for sure (all bytes
that a text can have are pieces, drawn as characters); everything else is given when reading, and so need
not stand in the files.

Rule: what would give other ids even then is refused when writing.

Source: https://github.com/openai/gpt-2, ``encoder.py``
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jogak import _core
from jogak.errors import ConfigError, FormatError, UnsupportedFeature
from jogak.formats import bytelevel
from jogak.formats.checked import Node, fault, is_unicode, parse, shown
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.formats.vocabulary import pieces_by_id, product, refuse_options
from jogak.spec import (
    BPEModel,
    Marker,
    MarkerKind,
    PretokenizerLike,
    Spec,
    Strategy,
    resolve_pretokenizer,
)

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["find", "read", "write"]

#: The names that the two files go by, the usual pair first.
NAMES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))

_HEADER = "#version: 0.2"

#: SHA-256 of vocab.json -> the special tokens of that published vocabulary.
_PUBLISHED: Mapping[str, tuple[str, ...]] = {
    # GPT-2
    "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783": ("<|endoftext|>",),
    # RoBERTa
    "9e7f63c2d15d666b52e21d250d2e513b87c9b713cfa6987a82ed89e5e6e50655": (
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        "<mask>",
    ),
}


# --- reading ------------------------------------------------------------------------------------


def read(
    vocab_path: PathLike,
    merges_path: PathLike,
    *,
    marker: Marker | MarkerKind | None = None,
    pretokenizer: PretokenizerLike | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] | None = None,
    unknown: str | None = None,
    fuse_unknown: bool = False,
    byte_fallback: bool = False,
    strategy: Strategy = "merges",
    mark_words: bool = True,
    whole_word: bool = False,
) -> Spec:
    """The tokenizer of a pair of files.

    Args:
        vocab_path: the JSON file of texts and ids.
        merges_path: the file of merges.
        marker: the border of words. None: byte-level if the vocabulary is.
        pretokenizer: how text is cut into words. None: ``"gpt2"`` for a byte-level vocabulary.
        special_tokens: which pieces of the vocabulary are special; a dict text -> id may also add
            some that are not in it. None: those of the published vocabularies, else none.
        unknown, fuse_unknown, byte_fallback, strategy, mark_words, whole_word: as in `BPEModel`.

    Raises:
        FormatError: what is wrong in one of the files, with the line or the piece.
        ConfigError: an option that the files do not answer and the caller did not give, or one that
            does not go with them.
        OSError: a file cannot be read.
    """
    vocab_file, merges_file = os.fspath(vocab_path), os.fspath(merges_path)
    vocab_bytes = read_bytes(vocab_path)
    # What is not plain the core leaves to the reader here, which also says what is wrong.
    table = _core.read_vocab(vocab_bytes)
    ids: Mapping[str, int] = _vocabulary(vocab_bytes, vocab_file) if table is None else table
    if special_tokens is None:
        special_tokens = _PUBLISHED.get(_core.sha256(vocab_bytes), ())
    special = _special_tokens(special_tokens, ids, vocab_file)
    if any(text not in ids for text in special):
        ids = {**ids, **special}
    marker, pretokenizer = _border_and_words(marker, pretokenizer, ids, vocab_file)
    if marker.kind == "byte-level":
        if isinstance(ids, _core.Ids):
            foreign = ids.first_foreign({*special})
        else:
            foreign = bytelevel.first_foreign(text for text in ids if text not in special)
        if foreign is not None:
            raise fault(
                vocab_file,
                f"piece {shown(foreign)}",
                f"piece {shown(foreign)} (id {ids[foreign]}) is not written in byte characters as "
                "the others are; if it is a special token, name it in special_tokens=[...]",
            )
    # Models hold tables as they are.
    pieces: Any = ids.pieces([]) if isinstance(ids, _core.Ids) else None
    try:
        pieces = pieces or pieces_by_id(ids)
    except ValueError as error:
        raise fault(vocab_file, "", str(error)) from None
    merges: Any = _merges(read_bytes(merges_path), merges_file, ids, marker)
    if unknown is not None and unknown not in ids:
        raise ConfigError(f"{vocab_file}: unknown={unknown!r} is no piece; expected one of them")
    model = BPEModel(
        pieces=pieces,
        merges=merges,
        marker=marker,
        mark_words=mark_words,
        alphabet="bytes" if marker.kind == "byte-level" else "chars",
        byte_fallback=byte_fallback,
        unknown=unknown,
        fuse_unknown=fuse_unknown,
        strategy=strategy,
        whole_word=whole_word,
    )
    stages = resolve_pretokenizer(pretokenizer)
    return Spec(model=model, pretokenizer=stages, special_tokens=special)


def _vocabulary(data: bytes, file: str) -> dict[str, int]:
    root = Node(parse(data, file), "", file)
    if not isinstance(root.value, dict):
        raise root.expected("an object of texts and ids")
    ids: dict[str, int] = root.value
    if not (set(map(type, ids.values())) <= {int} and is_unicode("".join(ids)) and "" not in ids):
        for text, id_ in ids.items():
            entry = Node(id_, f"piece {shown(text)}", file)
            entry.integer(0, 2**32 - 1)
            if not text or not is_unicode(text):
                raise entry.fault("has no text that a piece can have; expected Unicode, not empty")
    return ids


def _special_tokens(
    wanted: Iterable[str] | Mapping[str, int], ids: Mapping[str, int], file: str
) -> dict[str, int]:
    if isinstance(wanted, str):
        raise ConfigError(f"special_tokens is the text {wanted!r}; expected a list of texts")
    if isinstance(wanted, Mapping):
        taken = {id_: text for text, id_ in ids.items()}
        for text, id_ in wanted.items():
            if type(id_) is not int or id_ < 0 or not text:
                raise ConfigError(f"special token {text!r} has the id {id_!r}; expected 0 or more")
            if ids.get(text, id_) != id_ or taken.get(id_, text) != text:
                raise ConfigError(
                    f"{file}: special token {text!r} wants the id {id_}, but the file has "
                    f"{text!r} at {ids.get(text)} and {taken.get(id_)!r} at {id_}; use the file's id"
                )
        return dict(wanted)
    special: dict[str, int] = {}
    for text in wanted:
        if text not in ids:
            raise ConfigError(
                f"{file}: special token {text!r} is no piece of the vocabulary; "
                "to add it, give its id too: special_tokens={text: id}"
            )
        special[text] = ids[text]
    return special


def _border_and_words(
    marker: Marker | MarkerKind | None,
    pretokenizer: PretokenizerLike | None,
    ids: Collection[str],
    file: str,
) -> tuple[Marker, PretokenizerLike]:
    """What the caller gave, completed by what can be seen for sure."""
    if marker is None and bytelevel.has_all_bytes(ids):
        if bytelevel.has_all_bytes(
            {text.removesuffix("</w>") for text in ids if text.endswith("</w>")}
        ):
            raise UnsupportedFeature(
                f"{file}: the pieces are bytes and also end in '</w>' (as CLIP's do); "
                "a vocabulary of both kinds cannot be said yet"
            )
        marker = "byte-level"
    if marker is None:
        kinds = "'none', 'suffix', 'prefix', 'continuation'"
        raise ConfigError(
            f"{file}: the files do not say how the border of words is marked, and the vocabulary is "
            f"not byte-level; say it: marker=... (one of {kinds}, or a jogak.Marker){_hint(ids)}"
        )
    if not isinstance(marker, Marker):
        marker = Marker(marker)
    if pretokenizer is None and marker.kind == "byte-level":
        pretokenizer = "gpt2"
    if pretokenizer is None:
        raise ConfigError(
            f"{file}: the files do not say how text is cut into words; "
            'say it: pretokenizer=..., such as "whitespace"'
        )
    return marker, pretokenizer


def _hint(ids: Iterable[str]) -> str:
    """What the pieces look like, where they look like anything."""
    texts = list(ids)
    if any(text.endswith("</w>") for text in texts):
        return "; some pieces end in '</w>', which is a suffix"
    if any(text.startswith("▁") for text in texts):
        return "; some pieces begin with '▁', which is a prefix"
    if any(text.startswith("##") and len(text) > 2 for text in texts):
        return "; some pieces begin with '##', which is a continuation mark"
    return ""


def _merges(
    data: bytes, file: str, ids: Mapping[str, int], marker: Marker
) -> tuple[tuple[int, int], ...] | _core.Merges:
    # A continuation mark is left out of what merges make, which is done here.
    if isinstance(ids, _core.Ids) and marker.kind != "continuation":
        pairs = _core.read_merges(data)
        if pairs is not None and (table := ids.merges(pairs, 0)) is not None:
            return table
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {error.start}"
        raise fault(file, place, f"{place} is not UTF-8 ({error.reason}); expected UTF-8") from None
    # Only line feeds end lines: pieces may hold other characters that Unicode calls line ends.
    lines = text.split("\n")
    while lines and lines[-1] in ("", "\r"):
        lines.pop()
    first = 1 if lines and lines[0].startswith("#version") else 0
    line_of: dict[tuple[int, int], int] = {}
    for number, line in enumerate(lines[first:], first + 1):
        parts = line.removesuffix("\r").split(" ")
        if len(parts) != 2 or not all(parts):
            raise _line_fault(file, number, f"is {shown(line)}; expected two pieces and one space")
        left, right = parts
        for part in parts:
            if part not in ids:
                raise _line_fault(
                    file, number, f"merges {shown(part)}, which is not in the vocabulary; "
                    "do the two files belong together?"
                )  # fmt: skip
        if product(marker, left, right) not in ids:
            raise _line_fault(
                file, number, f"makes {shown(product(marker, left, right))}, which is not in the "
                f"vocabulary; do the two files belong together, and is the marker {marker.kind!r}?"
            )  # fmt: skip
        pair = ids[left], ids[right]
        if pair in line_of:
            raise _line_fault(
                file, number, f"repeats line {line_of[pair]}; expected every merge once"
            )
        line_of[pair] = number
    return tuple(line_of)


def _line_fault(file: str, number: int, message: str) -> FormatError:
    return fault(file, f"line {number}", f"line {number} {message}")


# --- writing ------------------------------------------------------------------------------------


def write(
    target: PathLike | tuple[PathLike, PathLike],
    spec: Spec,
    training: Log | None = None,
    probes: Sequence[Probe] = (),
) -> None:
    """Write the two files, each wholly or not at all.

    Args:
        target: a folder (made if it is missing), or the paths of ``vocab.json`` and ``merges.txt``.
        spec: the tokenizer. Marker, pre-tokenizer, which pieces are special and how it encodes are
            not in the files: `read` is given them again, and the ids are the same.
        training, probes: have no place in the files, and stay behind.

    Raises:
        UnsupportedFeature: a tokenizer without merges, or a merge that a line cannot say.
        OSError: a file cannot be written.
    """
    if not isinstance(target, tuple):
        target = _paths_to_write(os.fspath(target))
    vocab_path, merges_path = target
    model = spec.model
    if not isinstance(model, BPEModel):
        raise UnsupportedFeature(
            f"{os.fspath(merges_path)}: the tokenizer is {model.family}, which has no merges; save it "
            "as the native format"
        )
    refuse_options(model, os.fspath(merges_path))
    if model.merges is None:
        raise UnsupportedFeature(
            f"{os.fspath(merges_path)}: the tokenizer merges by the rank of the ids and has no list "
            "of merges, which merges.txt needs; save it as the native format, or as .tiktoken"
        )
    lines = [_HEADER]
    for rank, (left_id, right_id) in enumerate(model.merges):
        left, right = model.pieces[left_id], model.pieces[right_id]
        for part in (left, right):
            if part is None or any(character in part for character in " \n\r"):
                raise UnsupportedFeature(
                    f"{os.fspath(merges_path)}: merge {rank} joins {left!r} and {right!r}; a line "
                    "of merges.txt can only say pieces without spaces and line ends"
                )
        lines.append(f"{left} {right}")
    if len(set(lines)) != len(lines):
        raise UnsupportedFeature(
            f"{os.fspath(merges_path)}: the same merge stands twice; merges.txt can say it once"
        )
    entries = (
        f"{_json_text(text)}: {id_}" for id_, text in enumerate(model.pieces) if text is not None
    )
    vocabulary = "{" + ",\n".join(entries) + "}\n"
    write_atomically(vocab_path, vocabulary.encode("utf-8"))
    write_atomically(merges_path, ("\n".join(lines) + "\n").encode("utf-8"))


def _json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _paths_to_write(path: str) -> tuple[str, str]:
    """A folder, or one of the two names, -> both paths."""
    folder, name = os.path.split(path)
    for names in NAMES:
        if name in names:
            return os.path.join(folder, names[0]), os.path.join(folder, names[1])
    if os.path.isfile(path):
        raise ConfigError(
            f"{path} is a file; vocab.json and merges.txt are two: give a folder, "
            "or the paths of both"
        )
    os.makedirs(path, exist_ok=True)
    return os.path.join(path, NAMES[0][0]), os.path.join(path, NAMES[0][1])


# --- the family ---------------------------------------------------------------------------------


def find(path: PathLike) -> tuple[str, str]:
    """A folder, or one of the two files, -> the paths of both.

    Raises:
        FormatError: one of them is not there.

    >>> find("nowhere/merges.txt")
    Traceback (most recent call last):
    ...
    jogak.errors.FormatError: nowhere/merges.txt: found no vocab.json and merges.txt (or ...
    """
    name = os.fspath(path)
    folder, base = (name, None) if os.path.isdir(name) else os.path.split(name)
    for names in NAMES:
        both = os.path.join(folder, names[0]), os.path.join(folder, names[1])
        if (base is None or base in names) and all(map(os.path.isfile, both)):
            return both
    raise fault(
        name,
        "",
        "found no vocab.json and merges.txt (or encoder.json and vocab.bpe) side by side; "
        "files of other names are read as a pair: (vocab_path, merges_path)",
    )


def _read(path: PathLike | tuple[PathLike, PathLike], **options: object) -> Loaded:
    vocab_path, merges_path = path if isinstance(path, tuple) else find(path)
    spec = read(vocab_path, merges_path, **options)  # type: ignore[arg-type]  # options by name
    return Loaded(spec, None, (), FORMAT.name)


def _matches(peek: Peek) -> bool:
    if peek.is_folder:
        return any(peek.has(*names) for names in NAMES)
    if peek.first_line.startswith(b"#version"):
        return True
    ids = peek.json
    if isinstance(ids, _core.Ids):
        return True
    return isinstance(ids, dict) and bool(ids) and set(map(type, ids.values())) == {int}


FORMAT = Format(
    name="vocab-merges",
    about="vocab.json beside merges.txt, or the folder of both",
    matches=_matches,
    read=_read,
    write=write,
    two_files=True,
    options=(
        "marker", "pretokenizer", "special_tokens", "unknown", "fuse_unknown", "byte_fallback",
        "strategy", "mark_words", "whole_word",
    ),
)  # fmt: skip
