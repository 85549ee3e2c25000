"""``vocab.txt``: BERT's vocabulary, one piece a line; the id is the number of the line, from 0.

::

    [PAD]
    [UNK]
    the
    ##ing

The file says nothing else. How text is normalized, how it is cut into words and which pieces are
special is BERT's own way here unless something else is given; whether text is lower-cased is known
for published files, by the SHA-256 of their content, and has to be given for any other.

An empty line is an id that stands for nothing. White space is part of the piece, as published files
need it (``##`` with a line separator behind it); no word has any, so no text becomes such a piece.

Source: https://github.com/google-research/bert, ``tokenization.py``
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from jogak import _core
from jogak.errors import ConfigError, UnsupportedFeature
from jogak.formats.checked import fault
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.formats.vocabulary import refuse_options
from jogak.spec import (
    BertNormalizer,
    DecoderStage,
    DecodeWordPiece,
    Marker,
    MarkerKind,
    Normalizer,
    PretokenizerLike,
    Spec,
    Template,
    TemplatePart,
    WordPieceModel,
    resolve_pretokenizer,
)

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["SPECIAL_TOKENS", "read", "write"]

#: The special tokens of BERT; those that a file has are taken.
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

#: SHA-256 of a published file -> whether its text is lower-cased.
_PUBLISHED: Mapping[str, bool] = {
    # bert-base-uncased
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3": True,
    # bert-base-cased
    "eeaa9875b23b04b4c54ef759d03db9d1ba1554838f8fb26c5d96fa551df93d02": False,
    # bert-base-chinese
    "45bbac6b341c319adc98a532532882e91a9cefc0329aa57bac9ae761c27b291c": False,
    # koelectra-base
    "183ee80a792b80710204791be552906b40b9b37085ff7ab1d361d503445ddda1": False,
}


# --- reading ------------------------------------------------------------------------------------


def read(
    path: PathLike,
    *,
    lowercase: bool | None = None,
    normalizer: Literal["bert", "none"] | tuple[Normalizer, ...] = "bert",
    pretokenizer: PretokenizerLike = "bert-8.0",
    special_tokens: Iterable[str] | None = None,
    unknown: str | None = "[UNK]",
    marker: Marker | MarkerKind = "continuation",
    max_chars_per_word: int = 100,
    decoder: Literal["bert"] | tuple[DecoderStage, ...] | None = "bert",
    template: Literal["bert"] | Template = "bert",
) -> Spec:
    """The tokenizer of a vocabulary file.

    Args:
        path: the file.
        lowercase: whether BERT's normalizer makes text lower case and strips accents; may be left
            out for a published file, whatever its name is.
        normalizer: ``"bert"``, ``"none"`` for text that comes normalized, or stages.
        pretokenizer: how text is cut into words. ``"bert-8.0"`` is what BERT's tokenizers of Hugging
            Face's libraries do: marks are those of Unicode 8.0.
        special_tokens: pieces that text never becomes. None: those of `SPECIAL_TOKENS` that are there.
        unknown: the piece for words that pieces cannot cover; None makes them errors.
        marker: how a word's border is written.
        max_chars_per_word: words of more characters are unknown.
        decoder: ``"bert"`` also takes away the space before ``. , ? !`` and the like; None is a space
            between words and no more; or stages.
        template: ``"bert"`` is ``[CLS] A [SEP]`` and ``[CLS] A [SEP] B [SEP]`` where both are there.

    Raises:
        FormatError: not UTF-8, a piece that stands twice, no piece at all; with the line.
        ConfigError: ``lowercase`` is needed and was not given; an unknown or special piece that is not
            in the file.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    data = read_bytes(path)
    pieces, ids = _pieces(data, name)
    stages: tuple[Normalizer, ...] = ()
    if isinstance(normalizer, tuple):
        stages = normalizer
    elif normalizer not in ("bert", "none"):
        raise ConfigError(f"normalizer is {normalizer!r}; expected 'bert', 'none', or stages")
    elif normalizer == "bert":
        stages = (BertNormalizer(lowercase=_lowercase(data, name, lowercase)),)
    if special_tokens is None:
        special_tokens = [text for text in SPECIAL_TOKENS if text in ids]
    specials: dict[str, int] = {}
    for text in special_tokens:
        if text not in ids:
            raise ConfigError(f"{name}: special token {text!r} is no piece of this vocabulary")
        specials[text] = ids[text]
    if unknown is not None and unknown not in ids:
        raise ConfigError(
            f"{name}: the unknown piece {unknown!r} is not in the file; give unknown= its name, or "
            "None for none"
        )
    mark = marker if isinstance(marker, Marker) else Marker(marker)
    if decoder == "bert":
        decoder = (
            (DecodeWordPiece(mark.text),) if mark.kind == "continuation" and mark.text else None
        )
    return Spec(
        model=WordPieceModel(
            pieces=pieces,
            marker=mark,
            unknown=unknown,
            max_chars_per_word=max_chars_per_word,
        ),
        normalizer=stages,
        pretokenizer=resolve_pretokenizer(pretokenizer),
        special_tokens=specials,
        # As BERT's tokenizers do; nothing is found where there are none.
        special_policy="parse" if specials else "text",
        decoder=decoder,
        template=_bert_template(specials) if template == "bert" else template,
    )


def _bert_template(specials: Mapping[str, int]) -> Template:
    """``[CLS] A [SEP]`` and ``[CLS] A [SEP] B [SEP]``; nothing where one of them is no special token."""
    if not {"[CLS]", "[SEP]"} <= specials.keys():
        return Template()
    start, end = TemplatePart((specials["[CLS]"],)), TemplatePart((specials["[SEP]"],))
    single = (start, TemplatePart("A"), end)
    return Template(single, (*single, TemplatePart("B", 1), TemplatePart((specials["[SEP]"],), 1)))


def _pieces(data: bytes, name: str) -> tuple[Any, Mapping[str, int]]:
    # What is wrong the core leaves to the reader here, which says it.
    if (table := _core.read_lines(data)) is not None:
        return table.pieces([]), table
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data[: error.start].count(b"\n") + 1
        message = f"line {number} is not UTF-8 ({error.reason})"
        raise fault(name, f"line {number}", message) from None
    lines = text.split("\n")
    if not lines[-1]:
        del lines[-1]
    texts = [line.removesuffix("\r") for line in lines]
    ids = {piece: id_ for id_, piece in enumerate(texts) if piece}
    if len(ids) + texts.count("") != len(texts):
        first: dict[str, int] = {}
        for id_, piece in enumerate(texts):
            if piece and first.setdefault(piece, id_) != id_:
                place, before = f"line {id_ + 1}", f"line {first[piece] + 1}"
                found = f"{place} is {piece[:80]!r}, as {before} is; expected every piece once"
                raise fault(name, place, found)
    if not ids:
        raise fault(name, "", "there is no piece in it; expected one on each line")
    return tuple(piece or None for piece in texts), ids


def _lowercase(data: bytes, name: str, given: bool | None) -> bool:
    known = _PUBLISHED.get(_core.sha256(data)) if given is None else given
    if known is None:
        raise ConfigError(
            f"{name}: a vocab.txt does not say whether text is lower-cased, and this one is none that "
            "is known by its content; say lowercase=True (an uncased model) or lowercase=False"
        )
    if not isinstance(known, bool):
        raise ConfigError(f"lowercase is {known!r}; expected True or False")
    return known


# --- writing ------------------------------------------------------------------------------------


def write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    """Write a vocabulary file, wholly or not at all.

    All but the pieces has no place in the file: `read` is given it again, and the ids are the same.
    Training log and probes stay behind.

    Raises:
        UnsupportedFeature: no WordPiece, or a piece that is not one line.
        OSError: the file cannot be written.
    """
    name, model = os.fspath(path), spec.model
    if not isinstance(model, WordPieceModel):
        raise UnsupportedFeature(
            f"{name}: a vocab.txt can only say WordPiece, and the tokenizer is {model.family}; "
            "save it as the native format"
        )
    refuse_options(model, name)
    for id_, piece in enumerate(model.pieces):
        if piece is not None and (not piece or "\n" in piece or piece.endswith("\r")):
            raise UnsupportedFeature(
                f"{name}: piece {id_} is {piece!r}; a line of vocab.txt can only say pieces without "
                "line ends"
            )
    data = "".join(f"{piece or ''}\n" for piece in model.pieces).encode("utf-8")
    write_atomically(path, data)


# --- the family ---------------------------------------------------------------------------------


def _read(path: PathLike, **options: object) -> Loaded:
    return Loaded(read(path, **options), None, (), FORMAT.name)  # type: ignore[arg-type]  # options by name


def _matches(peek: Peek) -> bool:
    # BERT's unknown piece stands among the first few hundred.
    return b"[UNK]" in peek.head.split()


FORMAT = Format(
    name="vocab-txt",
    about="BERT's vocab.txt, one piece on each line",
    matches=_matches,
    read=_read,
    write=write,
    options=(
        "lowercase", "normalizer", "pretokenizer", "special_tokens", "unknown", "marker",
        "max_chars_per_word", "decoder", "template",
    ),
)  # fmt: skip
