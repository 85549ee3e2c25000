"""The messages of a SentencePiece ``.model``: bytes <-> plain data, nothing lost.

Rule: says what is in the file, not what it means; `sentencepiece` does that. Fields that are not known
are kept as they are and written back behind the known ones.

Source: https://github.com/google/sentencepiece, ``src/sentencepiece_model.proto``
"""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, cast

from jogak import _core
from jogak.formats import protobuf
from jogak.formats.checked import fault
from jogak.spec.held import Held, Pieces, PieceTable
from jogak.spec.record import dataclass, field

__all__ = [
    "ModelFile",
    "NormalizerFields",
    "Piece",
    "PieceType",
    "Scalar",
    "parse",
    "parse_normalizer",
]

#: A value of a field.
Scalar = str | bytes | int | float | bool


class PieceType(enum.IntEnum):
    """What a piece is."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Piece(NamedTuple):
    """One piece of the vocabulary."""

    text: str
    score: float = 0.0
    type: PieceType = PieceType.NORMAL


class CorePieces:
    """The pieces of a file as the core has read them, without an object for each.

    Args:
        ids: their texts and scores.
        kinds: the ids of those that are not NORMAL.
    """

    def __init__(self, ids: _core.Ids, kinds: Mapping[int, PieceType]) -> None:
        self.ids, self.kinds = ids, kinds

    def pieces(self) -> tuple[Piece, ...]:
        """All of them, an object for each."""
        kinds, normal = self.kinds, PieceType.NORMAL
        both = zip(self.ids.keys(), self.ids.scores or (), strict=True)
        return tuple(
            Piece(text, score, kinds.get(id_, normal)) for id_, (text, score) in enumerate(both)
        )


@dataclass(frozen=True)
class NormalizerFields:
    """``normalizer_spec`` or ``denormalizer_spec``."""

    name: str = ""
    precompiled_charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    normalization_rule_tsv: str = ""
    unknown_fields: bytes = b""

    def to_bytes(self) -> bytes:
        """The message."""
        return _normalizer_bytes(self)


@dataclass(frozen=True)
class ModelFile(Held):
    """All that a ``.model`` file holds.

    Args:
        pieces: the vocabulary in the order of ids.
        trainer: ``trainer_spec``: the fields that the file has, by name; repeated ones are tuples.
        normalizer: ``normalizer_spec``.
        denormalizer: ``denormalizer_spec``, or None.
        self_test: texts and the pieces that they must be cut into, joined by spaces.
        unknown_fields: fields of the model that are not known, as they stand in the file.
        unknown_trainer_fields: the same of the trainer spec.
    """

    pieces: tuple[Piece, ...]
    trainer: Mapping[str, Scalar | tuple[str, ...]] = field(default_factory=dict)
    normalizer: NormalizerFields = field(default_factory=NormalizerFields)
    denormalizer: NormalizerFields | None = None
    self_test: tuple[tuple[str, str], ...] = ()
    unknown_fields: bytes = b""
    unknown_trainer_fields: bytes = b""

    _TABLES: ClassVar[Mapping[str, tuple[type, Callable[[Any], object]]]] = {
        "pieces": (CorePieces, CorePieces.pieces)
    }

    def __post_init__(self) -> None:
        self._hold()

    @property
    def texts(self) -> Pieces:
        """The text of every piece: a tuple, or something quicker with the same items."""
        held = self.at_hand("pieces")
        if isinstance(held, CorePieces) and (table := held.ids.pieces([])) is not None:
            return cast(PieceTable, table)
        return tuple(piece.text for piece in self.pieces)

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of every piece."""
        held = self.at_hand("pieces")
        if isinstance(held, CorePieces):
            return held.ids.scores or ()
        return tuple(piece.score for piece in self.pieces)

    def ids_of(self, kind: PieceType) -> tuple[int, ...]:
        """The ids of all pieces of one kind.

        >>> ModelFile((Piece("<unk>", 0.0, PieceType.UNKNOWN), Piece("a"))).ids_of(PieceType.UNKNOWN)
        (0,)
        """
        held = self.at_hand("pieces")
        if isinstance(held, CorePieces) and kind is not PieceType.NORMAL:
            return tuple(id_ for id_, other in held.kinds.items() if other is kind)
        return tuple(id_ for id_, piece in enumerate(self.pieces) if piece.type is kind)

    def texts_of(self, kind: PieceType) -> tuple[str, ...]:
        """The texts of all pieces of one kind, in the order of ids."""
        texts = self.texts
        return tuple(text for id_ in self.ids_of(kind) if (text := texts[id_]) is not None)

    @property
    def is_proper(self) -> bool:
        """Whether it is known that no text stands twice or has a zero character."""
        return isinstance(self.at_hand("pieces"), CorePieces)

    def to_bytes(self) -> bytes:
        """The file."""
        parts = [protobuf.bytes_field(1, _piece_bytes(piece)) for piece in self.pieces]
        trainer = _trainer_bytes(self.trainer) + self.unknown_trainer_fields
        parts.append(protobuf.bytes_field(2, trainer))
        parts.append(protobuf.bytes_field(3, _normalizer_bytes(self.normalizer)))
        if self.self_test:
            samples = b"".join(
                protobuf.bytes_field(
                    1, protobuf.bytes_field(1, text) + protobuf.bytes_field(2, expected)
                )
                for text, expected in self.self_test
            )
            parts.append(protobuf.bytes_field(4, samples))
        if self.denormalizer is not None:
            parts.append(protobuf.bytes_field(5, _normalizer_bytes(self.denormalizer)))
        return b"".join(parts) + self.unknown_fields


#: Fields of ``trainer_spec``: number -> name and kind. A plural kind may stand more than once.
TRAINER_FIELDS: Mapping[int, tuple[str, str]] = {
    1: ("input", "texts"),
    2: ("model_prefix", "text"),
    3: ("model_type", "int"),
    4: ("vocab_size", "int"),
    5: ("accept_language", "texts"),
    6: ("self_test_sample_size", "int"),
    7: ("input_format", "text"),
    10: ("character_coverage", "float"),
    11: ("input_sentence_size", "unsigned"),
    12: ("mining_sentence_size", "int"),
    13: ("training_sentence_size", "int"),
    14: ("seed_sentencepiece_size", "int"),
    15: ("shrinking_factor", "float"),
    16: ("num_threads", "int"),
    17: ("num_sub_iterations", "int"),
    18: ("max_sentence_length", "int"),
    19: ("shuffle_input_sentence", "flag"),
    20: ("max_sentencepiece_length", "int"),
    21: ("split_by_unicode_script", "flag"),
    22: ("split_by_whitespace", "flag"),
    23: ("split_by_number", "flag"),
    24: ("treat_whitespace_as_suffix", "flag"),
    25: ("split_digits", "flag"),
    26: ("allow_whitespace_only_pieces", "flag"),
    30: ("control_symbols", "texts"),
    31: ("user_defined_symbols", "texts"),
    32: ("vocabulary_output_piece_score", "flag"),
    33: ("hard_vocab_limit", "flag"),
    34: ("use_all_vocab", "flag"),
    35: ("byte_fallback", "flag"),
    36: ("required_chars", "text"),
    40: ("unk_id", "int"),
    41: ("bos_id", "int"),
    42: ("eos_id", "int"),
    43: ("pad_id", "int"),
    44: ("unk_surface", "text"),
    45: ("unk_piece", "text"),
    46: ("bos_piece", "text"),
    47: ("eos_piece", "text"),
    48: ("pad_piece", "text"),
    49: ("train_extremely_large_corpus", "flag"),
    50: ("enable_differential_privacy", "flag"),
    51: ("differential_privacy_noise_level", "float"),
    52: ("differential_privacy_clipping_threshold", "unsigned"),
    53: ("pretokenization_delimiter", "text"),
    54: ("seed_sentencepieces_file", "text"),
    55: ("auto_character_coverage", "flag"),
}

_NORMALIZER_FIELDS: Mapping[int, tuple[str, str]] = {
    1: ("name", "text"),
    2: ("precompiled_charsmap", "bytes"),
    3: ("add_dummy_prefix", "flag"),
    4: ("remove_extra_whitespaces", "flag"),
    5: ("escape_whitespaces", "flag"),
    6: ("normalization_rule_tsv", "text"),
}


def parse(data: bytes, file: str | None) -> ModelFile:
    """The messages of a file.

    Raises:
        FormatError: not a protocol buffer, a field of the wrong kind, a piece without text or with a
            score that is no number, no pieces at all; with the byte.

    >>> parse(b"\\x0a\\x03\\x0a\\x01a", None).pieces
    (Piece(text='a', score=0.0, type=<PieceType.NORMAL: 1>),)
    """
    pieces: list[Piece] | CorePieces = []
    begin = 0
    if (read := _core.read_model_pieces(data)) is not None:
        ids, kinds, begin = read
        pieces = CorePieces(ids, {id_: PieceType(kind) for id_, kind in kinds})
    trainer: dict[str, Scalar | tuple[str, ...]] = {}
    normalizer: dict[str, Scalar | tuple[str, ...]] = {}
    denormalizer: dict[str, Scalar | tuple[str, ...]] | None = None
    self_test: list[tuple[str, str]] = []
    unknown = bytearray()
    unknown_trainer = bytearray()
    # Of a message that stands twice, later fields win: so protocol buffers are merged.
    for entry in protobuf.fields(data[begin:], "", file, begin):
        if entry.number == 1:
            if isinstance(pieces, CorePieces):
                pieces = [*pieces.pieces()]
            pieces.append(_usual_piece(entry.value) or _piece(entry, len(pieces)))
        elif entry.number == 2:
            _read(entry.message("trainer_spec"), TRAINER_FIELDS, trainer, unknown_trainer, data)
        elif entry.number == 3:
            kept = bytearray()
            _read(entry.message("normalizer_spec"), _NORMALIZER_FIELDS, normalizer, kept, data)
            normalizer["unknown_fields"] = _joined(normalizer, kept)
        elif entry.number == 4:
            self_test.extend(_samples(entry))
        elif entry.number == 5:
            denormalizer, kept = denormalizer or {}, bytearray()
            _read(entry.message("denormalizer_spec"), _NORMALIZER_FIELDS, denormalizer, kept, data)
            denormalizer["unknown_fields"] = _joined(denormalizer, kept)
        else:
            unknown += data[entry.tag : entry.end]
    if not pieces:
        raise fault(file, "", "no pieces; expected a SentencePiece model")
    return ModelFile(
        pieces=pieces if isinstance(pieces, CorePieces) else tuple(pieces),  # type: ignore[arg-type]  # what it holds until somebody asks
        trainer=trainer,
        normalizer=NormalizerFields(**normalizer),  # type: ignore[arg-type]  # kinds were checked
        denormalizer=None if denormalizer is None else NormalizerFields(**denormalizer),  # type: ignore[arg-type]  # the fields' types were checked when read
        self_test=tuple(self_test),
        unknown_fields=bytes(unknown),
        unknown_trainer_fields=bytes(unknown_trainer),
    )


def parse_normalizer(data: bytes) -> NormalizerFields:
    """A ``normalizer_spec`` by itself.

    Raises:
        FormatError: not a protocol buffer, a field of the wrong kind; with the byte.

    >>> parse_normalizer(NormalizerFields(name="x", add_dummy_prefix=False).to_bytes()).name
    'x'
    """
    values: dict[str, Scalar | tuple[str, ...]] = {}
    kept = bytearray()
    entries = protobuf.fields(data, "normalizer_spec", None)
    _read(entries, _NORMALIZER_FIELDS, values, kept, data)
    return NormalizerFields(**values, unknown_fields=bytes(kept))  # type: ignore[arg-type]  # the fields' types were checked when read


def _joined(values: Mapping[str, object], kept: bytearray) -> bytes:
    before = values.get("unknown_fields", b"")
    assert isinstance(before, bytes)
    return before + bytes(kept)


_FLOAT = struct.Struct("<f")


def _usual_piece(data: int | bytes) -> Piece | None:
    """A piece as SentencePiece writes it: text, score, and type unless it is NORMAL. None if it is any
    other way, or wrong: then `_piece` has a careful look.
    """
    if isinstance(data, int) or len(data) < 8 or data[0] != 0x0A or data[1] >= 0x80:
        return None
    behind = data[2 + data[1] :]
    kind = PieceType.NORMAL
    if len(behind) == 7 and behind[5] == 0x18 and 1 <= behind[6] <= 6:
        kind = PieceType(behind[6])
    elif len(behind) != 5:
        return None
    (score,) = _FLOAT.unpack_from(behind, 1)
    if behind[0] != 0x15 or not data[1] or not math.isfinite(score):
        return None
    try:
        return Piece(data[2 : 2 + data[1]].decode(), score, kind)
    except UnicodeDecodeError:
        return None


def _piece(entry: protobuf.Field, index: int) -> Piece:
    text, score, kind = "", 0.0, PieceType.NORMAL
    for part in entry.message(f"pieces[{index}]"):
        if part.number == 1:
            text = part.text()
        elif part.number == 2:
            score = part.number32()
            if not math.isfinite(score):
                raise part.fault(f"the score is {score}; expected a finite number")
        elif part.number == 3:
            number = part.signed()
            try:
                kind = PieceType(number)
            except ValueError:
                raise part.fault(f"the type is {number}; expected 1 to 6") from None
        else:
            raise part.fault(
                f"field {part.number} is not known; expected piece (1), score (2) and type (3)"
            )
    if not text:
        raise entry.fault(f"pieces[{index}] has no text; expected one")
    return Piece(text, score, kind)


def _samples(entry: protobuf.Field) -> Iterator[tuple[str, str]]:
    for number, part in enumerate(entry.message("self_test_data")):
        if part.number != 1:
            raise part.fault(f"field {part.number} is not known; expected samples (1)")
        sample = {1: "", 2: ""}
        for value in part.message(f"self_test_data.samples[{number}]"):
            if value.number not in sample:
                raise value.fault(f"field {value.number} is not known; expected 1 and 2")
            sample[value.number] = value.text()
        yield sample[1], sample[2]


def _read(
    entries: Iterator[protobuf.Field],
    known: Mapping[int, tuple[str, str]],
    values: dict[str, Scalar | tuple[str, ...]],
    unknown: bytearray,
    data: bytes,
) -> None:
    """Reads the fields of a message into ``values``; those that are not known go to ``unknown``."""
    lists: dict[str, list[str]] = {}
    for entry in entries:
        if entry.number not in known:
            unknown += data[entry.tag : entry.end]
            continue
        name, kind = known[entry.number]
        if kind == "texts":
            lists.setdefault(name, []).append(entry.text())
        elif kind == "text":
            values[name] = entry.text()
        elif kind == "bytes":
            values[name] = entry.data()
        elif kind == "flag":
            values[name] = entry.flag()
        elif kind == "float":
            values[name] = entry.number32()
        elif kind == "unsigned":
            values[name] = entry.unsigned()
        else:
            values[name] = entry.signed()
    for name, items in lists.items():
        before = values.get(name, ())
        assert isinstance(before, tuple)
        values[name] = (*before, *items)


def _value_bytes(number: int, kind: str, value: Scalar) -> bytes:
    if kind == "float":
        assert isinstance(value, (int, float))
        return protobuf.float_field(number, value)
    if isinstance(value, (str, bytes)):
        return protobuf.bytes_field(number, value)
    return protobuf.int_field(number, int(value))


def _trainer_bytes(values: Mapping[str, Scalar | tuple[str, ...]]) -> bytes:
    parts: list[bytes] = []
    for number, (name, kind) in TRAINER_FIELDS.items():
        value = values.get(name)
        if isinstance(value, tuple):
            parts.extend(protobuf.bytes_field(number, item) for item in value)
        elif value is not None:
            parts.append(_value_bytes(number, kind, value))
    return b"".join(parts)


def _normalizer_bytes(values: NormalizerFields) -> bytes:
    parts = [
        _value_bytes(number, kind, getattr(values, name))
        for number, (name, kind) in _NORMALIZER_FIELDS.items()
        if kind == "flag" or getattr(values, name)
    ]
    return b"".join(parts) + values.unknown_fields


def _piece_bytes(piece: Piece) -> bytes:
    data = protobuf.bytes_field(1, piece.text) + protobuf.float_field(2, piece.score)
    if piece.type is not PieceType.NORMAL:
        data += protobuf.int_field(3, piece.type)
    return data
