"""SentencePiece ``.model`` files: Unigram, BPE, characters, words; and the ``.vocab`` beside them.

A model file says everything that ids depend on: pieces with types and scores, how text is normalized,
what spaces become. It becomes this tokenizer:

::

    model_type unigram     UnigramModel, precision="single"
    model_type bpe         ScoredBPEModel
    model_type char        the same, without merges; written as bpe
    model_type word        WordLevelModel, all scores written as 0
    NORMAL                 a piece                    UNKNOWN     the unknown piece
    USER_DEFINED           user_defined               CONTROL     a special token
    UNUSED                 unused                     BYTE        byte fallback
    precompiled_charsmap   Charsmap                   remove_extra_whitespaces   CollapseSpaces
    add_dummy_prefix, escape_whitespaces, treat_whitespace_as_suffix             Metaspace

Ids become text by `sentencepiece_back`. What could change ids and is not known is refused. How the model
was trained (the rest of ``trainer_spec``) is no part of a tokenizer; `read_model` gives all of a file,
and `ModelFile.to_bytes` writes it back.

Two things are not SentencePiece's: a text cannot ask for ``<s>`` in front, which is the caller's
business; and the trainer spec of a written file says no more than what the tokenizer knows.

Source: https://github.com/google/sentencepiece, release 0.2.3
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from jogak.errors import FormatError, UnsupportedFeature
from jogak.formats import protobuf
from jogak.formats.checked import fault, shown
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.formats.sentencepiece_back import back_fields, way_back
from jogak.formats.sentencepiece_front import cut_at_marks, front_of, normalizer_fields
from jogak.formats.sentencepiece_model import (
    ModelFile,
    Piece,
    PieceType,
    Scalar,
    parse,
)
from jogak.formats.vocabulary import refuse_options, refuse_parts
from jogak.spec import (
    BPEModel,
    Charsmap,
    Marker,
    ScoredBPEModel,
    Spec,
    UnigramModel,
    WordLevelModel,
)
from jogak.spec.held import Pieces

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = [
    "ModelFile",
    "Piece",
    "PieceType",
    "loaded_from",
    "read",
    "read_model",
    "read_vocab",
    "write",
    "write_vocab",
]

_MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
_BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))


# --- reading ------------------------------------------------------------------------------------


def read_model(path: PathLike) -> ModelFile:
    """All that a file holds, as plain data.

    Raises:
        FormatError: not a SentencePiece model, with the byte.
        OSError: the file cannot be read.
    """
    return parse(read_bytes(path), os.fspath(path))


def read(path: PathLike) -> Loaded:
    """The tokenizer of a file; its self-test samples become probes.

    Raises:
        FormatError: not a SentencePiece model, or one that SentencePiece would refuse.
        UnsupportedFeature: unknown fields that could change ids, a denormalizer that changes spaces.
        OSError: the file cannot be read.
    """
    return loaded_from(read_bytes(path), os.fspath(path))


def loaded_from(data: bytes, name: str = "the model") -> Loaded:
    """The tokenizer of a file that is in memory; see `read`.

    Raises:
        FormatError, UnsupportedFeature: as `read`.
    """
    file = parse(data, name)
    _check_known(file, name)
    spec = _spec(file, name)
    return Loaded(spec, None, _probes(file, spec), FORMAT.name)


def _check_known(file: ModelFile, name: str) -> None:
    """Refuses what could change ids and is not understood here.

    A number that is 0 and a text that is empty say nothing: models of OPUS-MT have a switch that
    SentencePiece does not know, and it is off.
    """
    for cannot, what in (
        (file.unknown_fields, "fields of the model that are not known"),
        (file.normalizer.unknown_fields, "fields of normalizer_spec that are not known"),
    ):
        if any(field.value for field in protobuf.fields(cannot, "", name)):
            raise UnsupportedFeature(
                f"{name}: the model has {what}; open it with read_model to see what they are"
            )


def _spec(file: ModelFile, name: str) -> Spec:
    number = file.trainer.get("model_type", 1)
    kind = _MODEL_TYPES.get(number) if isinstance(number, int) else None
    if kind is None:
        raise fault(name, "trainer_spec", f"model_type is {number!r}; expected 1 to 4")
    _check_texts(file, name)
    byte_fallback = bool(file.trainer.get("byte_fallback", False))
    texts: Any = file.texts  # models hold tables as they are
    scores = file.scores
    _check_bytes(texts, file.ids_of(PieceType.BYTE), byte_fallback, name)
    unknown = file.ids_of(PieceType.UNKNOWN)
    if len(unknown) > 1 or not (unknown or byte_fallback):
        raise fault(
            name,
            "pieces",
            f"{len(unknown)} pieces of type UNKNOWN; expected one (or byte fallback)",
        )
    unknown_text = texts[unknown[0]] if unknown else None
    user_defined = file.ids_of(PieceType.USER_DEFINED)
    kept = file.texts_of(PieceType.USER_DEFINED)
    normalizer, spaces, marker = front_of(file.normalizer, file.trainer, kept, name)
    unused = file.ids_of(PieceType.UNUSED)
    model: UnigramModel | ScoredBPEModel | WordLevelModel
    if kind == "word":
        spaces = cut_at_marks(file.normalizer, spaces, name)
        model = WordLevelModel(
            pieces=texts,
            unknown=unknown_text,
            byte_fallback=byte_fallback,
            fuse_unknown=True,
            unused=unused,
            marker=Marker("prefix"),
        )
    elif kind == "unigram":
        model = UnigramModel(
            pieces=texts,
            scores=scores,
            user_defined=user_defined,
            unused=unused,
            byte_fallback=byte_fallback,
            unknown=unknown_text,
            fuse_unknown=True,
            precision="single",
            marker=marker,
        )
    else:
        # A char model is a BPE model without merges.
        if kind == "char":
            _check_char(file, name)
        model = ScoredBPEModel(
            pieces=texts,
            merges=None,
            scores=scores,
            user_defined=user_defined,
            unused=unused,
            marker=marker,
            mark_words=False,
            byte_fallback=byte_fallback,
            unknown=unknown_text,
            fuse_unknown=True,
        )
    control = zip(file.texts_of(PieceType.CONTROL), file.ids_of(PieceType.CONTROL), strict=True)
    return Spec(
        model=model,
        normalizer=normalizer,
        pretokenizer=spaces,
        special_tokens=dict(control),
        decoder=(way_back(file, name),),
    )


def _check_texts(file: ModelFile, name: str) -> None:
    """Refuses texts that stand twice, and zero characters."""
    first: dict[str, int] = {}
    for id_, piece in enumerate(() if file.is_proper else file.pieces):
        if first.setdefault(piece.text, id_) != id_:
            raise fault(
                name,
                f"pieces[{id_}]",
                f"pieces[{id_}] is {shown(piece.text)}, as is pieces[{first[piece.text]}]; "
                "expected every text once",
            )
        if "\0" in piece.text:
            raise fault(name, f"pieces[{id_}]", f"pieces[{id_}] has a zero character")


def _check_bytes(texts: Pieces, ids: Sequence[int], byte_fallback: bool, name: str) -> None:
    found = {texts[id_] for id_ in ids}
    if byte_fallback and found != set(_BYTE_PIECES):
        missing = next((text for text in _BYTE_PIECES if text not in found), None)
        what = f"lacks {missing}" if missing else "has others too"
        raise fault(
            name, "pieces", f"byte_fallback is on, and of the 256 byte pieces the model {what}"
        )
    if ids and not byte_fallback:
        raise fault(
            name, f"pieces[{ids[0]}]", f"pieces[{ids[0]}] is of type BYTE, but byte_fallback is off"
        )


def _check_char(file: ModelFile, name: str) -> None:
    for piece in file.pieces:
        if len(piece.text) > 1 and piece.type in (PieceType.NORMAL, PieceType.UNUSED):
            raise UnsupportedFeature(
                f"{name}: piece {piece.text!r} of a char model has several characters; expected one"
            )


def _probes(file: ModelFile, spec: Spec) -> tuple[Probe, ...]:
    if not file.self_test:
        return ()
    model = spec.model
    ids = {text: id_ for id_, text in enumerate(model.pieces) if text is not None}
    unknown = None if model.unknown is None else ids[model.unknown]
    probes = []
    for text, expected in file.self_test:
        found = [ids.get(piece, unknown) for piece in expected.split(" ") if piece]
        probes.append(Probe(text, tuple(id_ for id_ in found if id_ is not None)))
    return tuple(probes)


# --- writing ------------------------------------------------------------------------------------


def write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    """Write a model file, wholly or not at all. Probes become self-test samples.

    Raises:
        UnsupportedFeature: a tokenizer that SentencePiece would cut otherwise: BPE with a list of
            merges, Unigram with sums in 64 bits, words cut by a pre-tokenizer, other normalizers.
        OSError: the file cannot be written.
    """
    write_atomically(path, to_model(spec, probes, os.fspath(path)).to_bytes())


def to_model(spec: Spec, probes: Iterable[Probe] = (), name: str = "the model") -> ModelFile:
    """A tokenizer as the messages of a file; see `write`."""
    model = spec.model
    _check_writable(spec, name)
    assert isinstance(model, (UnigramModel, ScoredBPEModel, WordLevelModel))
    unused = set(model.unused)
    user_defined = set(_user_defined(spec))
    byte_pieces = set(_BYTE_PIECES) if model.byte_fallback else set()

    def kind(id_: int, text: str) -> PieceType:
        if text in spec.special_tokens:
            return PieceType.CONTROL
        if text == model.unknown:
            return PieceType.UNKNOWN
        if text in byte_pieces:
            return PieceType.BYTE
        if id_ in user_defined:
            return PieceType.USER_DEFINED
        return PieceType.UNUSED if id_ in unused else PieceType.NORMAL

    pieces = []
    # Words have none, and need none.
    words = isinstance(model, WordLevelModel)
    scores = model.scores if not isinstance(model, WordLevelModel) else (0.0,) * len(model.pieces)
    for id_, (text, score) in enumerate(zip(model.pieces, scores, strict=True)):
        if text is None:
            raise UnsupportedFeature(
                f"{name}: id {id_} stands for nothing; a SentencePiece model has a piece for every id"
            )
        pieces.append(Piece(text, score, kind(id_, text)))
    ids = {piece.text: id_ for id_, piece in enumerate(pieces)}
    trainer: dict[str, Scalar | tuple[str, ...]] = {
        "model_type": 1 if isinstance(model, UnigramModel) else 3 if words else 2,
        "vocab_size": len(pieces),
        "byte_fallback": model.byte_fallback,
        "unk_id": -1 if model.unknown is None else ids[model.unknown],
        "unk_piece": model.unknown or "<unk>",
    }
    for role, text in (("bos", "<s>"), ("eos", "</s>"), ("pad", "<pad>")):
        trainer[f"{role}_id"] = spec.special_tokens.get(text, -1)
    kept = tuple(pieces[id_].text for id_ in sorted(user_defined))
    normalizer, more = normalizer_fields(spec, kept, name)
    denormalizer, back = back_fields(spec, normalizer, name)
    trainer.update(more | back)
    unknown = None if model.unknown is None else ids[model.unknown]
    samples = tuple(
        (probe.text, " ".join(pieces[id_].text for id_ in probe.ids))
        for probe in probes
        if unknown not in probe.ids and not any(" " in pieces[id_].text for id_ in probe.ids)
    )
    return ModelFile(
        pieces=tuple(pieces),
        trainer=trainer,
        normalizer=normalizer,
        denormalizer=denormalizer,
        self_test=samples,
    )


def _user_defined(spec: Spec) -> tuple[int, ...]:
    """Ids of pieces that are found before a text is normalized. Of words, those that rules leave as they
    are: there is nothing else that they are found for.
    """
    if not isinstance(spec.model, WordLevelModel):
        assert isinstance(spec.model, (UnigramModel, ScoredBPEModel))
        return spec.model.user_defined
    first = spec.normalizer[0] if spec.normalizer else None
    kept = first.keep if isinstance(first, Charsmap) else ()
    special = {*spec.special_tokens, spec.model.unknown}
    ids = {text: id_ for id_, text in enumerate(spec.model.pieces) if text not in special}
    return tuple(ids[text] for text in kept if text in ids)


def _check_writable(spec: Spec, name: str) -> None:
    model = spec.model
    if not isinstance(model, (UnigramModel, ScoredBPEModel, WordLevelModel)):
        what = "a list of merges" if isinstance(model, BPEModel) else f"a {model.family} model"
        raise UnsupportedFeature(
            f"{name}: a SentencePiece model cannot say {what}; save as the native format"
        )
    refuse_options(model, name)
    refuse_parts(spec, name, "a SentencePiece model", normalizer=False, decoder=False)
    for cannot, what in (
        (not model.fuse_unknown and not model.byte_fallback, "fuse_unknown=False"),
        (
            isinstance(model, UnigramModel) and model.precision != "single",
            'precision="double": it adds scores in 32 bits, and near-ties come out otherwise. Train '
            'with jogak.Unigram(precision="single"), or accept that: dataclasses.replace(spec, '
            'model=dataclasses.replace(spec.model, precision="single"), '
            "pretokenizer=(jogak.Metaspace(split=False),))",
        ),
        (isinstance(model, ScoredBPEModel) and model.mark_words, "mark_words=True"),
        (
            model.unknown is None and not model.byte_fallback,
            "a vocabulary without an unknown piece",
        ),
    ):
        if cannot:
            raise UnsupportedFeature(
                f"{name}: a SentencePiece model cannot say {what}; or save as the native format"
            )


# --- .vocab -------------------------------------------------------------------------------------


def write_vocab(path: PathLike, spec: Spec, *, scores: bool = True) -> None:
    """Write the ``.vocab`` beside a model: piece, tab, score, a line for every id.

    Without ``scores`` the pieces alone; `read_vocab` does not read that.

    Raises:
        UnsupportedFeature: a tokenizer whose pieces have no scores.
        OSError: the file cannot be written.
    """
    if isinstance(spec.model, WordLevelModel) and scores:
        raise UnsupportedFeature(
            f"{os.fspath(path)}: a .vocab has scores, and a word-level model has none; give scores=False"
        )
    model = to_model(spec, name=os.fspath(path))
    lines = []
    for piece in model.pieces:
        # SentencePiece's own writer leaves tabs and line feeds as they are; nobody could read them.
        text = piece.text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        lines.append(f"{text}\t{piece.score:g}\n" if scores else f"{text}\n")
    write_atomically(path, "".join(lines).encode())


_VOCAB_LINE = re.compile(r"(.+)\t([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)", re.IGNORECASE)


def read_vocab(path: PathLike) -> list[tuple[str, float]]:
    """The pieces and scores of a ``.vocab`` file, in the order of ids.

    Scores have six digits there, and types are not told, so it is no tokenizer; read the ``.model``.

    Raises:
        FormatError: a line that is not piece, tab, score.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise fault(name, f"byte {error.start}", f"byte {error.start} is not UTF-8") from None
    entries = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        match = _VOCAB_LINE.fullmatch(line)
        if match is None:
            place = f"line {number}"
            raise fault(name, place, f"{place} is {shown(line)}; expected piece, tab, score")
        entries.append((match[1], float(match[2])))
    return entries


# --- the family ---------------------------------------------------------------------------------


def _matches(peek: Peek) -> bool:
    """Whether the first field is a piece with a text."""
    head = peek.head
    if len(head) < 4 or head[0] != 0x0A or head[1] >= 0x80:
        return False
    try:
        first = next(protobuf.fields(head[2 : 2 + head[1]], "", None), None)
        return first is not None and first.number == 1 and first.text() != ""
    except FormatError:
        return False


FORMAT = Format(
    name="sentencepiece",
    about="a SentencePiece .model, unigram, bpe, char or word",
    matches=_matches,
    read=read,
    write=write,
)
