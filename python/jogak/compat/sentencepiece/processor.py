"""`SentencePieceProcessor`: the class of SentencePiece 0.2.3, method by method.

Rule: signatures, results and exceptions are SentencePiece's. What becomes of a text is decided in
`cutting`, `normalizing` and `decoding`. Names in snake case stand beside those in camel case.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from jogak.compat.sentencepiece.cutting import Cutter, Way
from jogak.compat.sentencepiece.decoding import decoded, decoded_text
from jogak.compat.sentencepiece.forms import Forms, add_snake_case
from jogak.compat.sentencepiece.framing import Frame
from jogak.compat.sentencepiece.messages import message_of_ways, serialized_ways
from jogak.compat.sentencepiece.normalizing import (
    Normalizing,
    is_broken,
    normalized,
    raw_of,
    text_of,
)
from jogak.compat.sentencepiece.older import Older
from jogak.compat.sentencepiece.pieces import Pieces
from jogak.compat.sentencepiece.threads import ThreadPool, workers
from jogak.compat.sentencepiece.vocabulary import Vocabulary, ids_of, read_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SentencePieceProcessor"]

_TYPES = (int, str, bytes, "proto", "serialized_proto", "numpy", "offset_mapping")
#: What releases to 0.2.1 had besides.
_OLDER_TYPES = ("immutable_proto",)

_SAMPLING = (
    'When enable_sampling is True, We must specify "nbest_size > 1" or "nbest_size = -1", and "alpha". '
    '"nbest_size" is enabled only on unigram mode ignored in BPE-dropout. when "nbest_size = -1" , this '
    "method samples from all candidates on the lattice instead of nbest segmentations."
)


class SentencePieceProcessor(Forms, Pieces, Older):
    """Cuts texts into pieces and puts them together again.

    Args:
        model_file: the name of a ``.model`` file.
        model_proto: the bytes of one, or a message with ``SerializeToString``.
        out_type, return_type: what `Encode` gives unless a call says otherwise: ``int`` (ids), ``str``
            or ``bytes`` (pieces), ``"numpy"``, ``"offset_mapping"``, ``"proto"`` or
            ``"serialized_proto"``.
        add_bos, add_eos: put ``<s>`` before, ``</s>`` behind.
        reverse: the last piece first.
        emit_unk_piece: ``<unk>`` rather than the characters that are unknown.
        enable_sampling, nbest_size, alpha: draw a way to cut texts, of so many of the best ones (-1: of
            all), by the temperature ``alpha``; for BPE the dropout.
        num_threads: so many threads for lists; -1 for all cores.

    Raises:
        RuntimeError: no model, or none that can be read (also an OSError where the file is not there).
        UnsupportedFeature: a model that jogak does not know.
        ValueError, TypeError: arguments that cannot be.
    """

    def __init__(
        self,
        model_file: Any = None,
        model_proto: Any = None,
        out_type: Any = None,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
        emit_unk_piece: bool = False,
        enable_sampling: bool = False,
        nbest_size: int = -1,
        alpha: float = 0.1,
        num_threads: int = -1,
        return_type: Any = None,
    ) -> None:
        self._vocabulary = Vocabulary()
        self._cutter: Cutter | None = None
        # To look up what stands around takes as long as to encode a short text.
        self._frames: dict[object, Frame] = {}
        self._return_type = self._resolve_return_type(return_type, out_type, default=int)
        self._add_bos = add_bos
        self._add_eos = add_eos
        self._reverse = reverse
        self._emit_unk_piece = emit_unk_piece
        self._enable_sampling = enable_sampling
        self._nbest_size = nbest_size
        self._alpha = alpha
        self._num_threads = num_threads
        if model_file or model_proto:
            self.Load(model_file=model_file, model_proto=model_proto)

    def _resolve_return_type(self, return_type: Any, out_type: Any, default: Any = None) -> Any:
        if out_type is not None:
            if return_type is not None:
                raise ValueError(
                    "Cannot specify both out_type and return_type. Use return_type instead."
                )
            return_type = out_type
        if return_type is None:
            return_type = self._return_type if default is None else default
        if return_type not in _TYPES and return_type not in _OLDER_TYPES:
            raise ValueError(f"Invalid return_type: {return_type}. Must be one of {_TYPES}")
        return return_type

    # --- load

    @classmethod
    def from_file(cls, model_file: Any, **kwargs: Any) -> SentencePieceProcessor:
        """A processor of a ``.model`` file; ``kwargs`` as for the class."""
        return cls._made("from_file", kwargs, lambda made: made.LoadFromFile(model_file))

    @classmethod
    def from_proto(cls, model_proto: Any, **kwargs: Any) -> SentencePieceProcessor:
        """A processor of the bytes of a ``.model`` file; ``kwargs`` as for the class."""
        load = lambda made: made.LoadFromSerializedProto(model_proto)  # noqa: E731  # shorter than a def
        return cls._made("from_proto", kwargs, load)

    @classmethod
    def _made(
        cls, name: str, kwargs: dict[str, Any], load: Callable[[SentencePieceProcessor], object]
    ) -> SentencePieceProcessor:
        if "model_file" in kwargs or "model_proto" in kwargs:
            raise ValueError(
                "model_file and model_proto cannot be passed via kwargs when using "
                f"{name} classmethod."
            )
        made = cls(**kwargs)
        load(made)
        return made

    def Load(self, model_file: Any = None, model_proto: Any = None) -> bool:
        """Take another model, from a file or from bytes. See the class."""
        if model_file and model_proto:
            raise ValueError("model_file and model_proto must be exclusive.")
        if model_proto:
            return self.LoadFromSerializedProto(model_proto)
        if model_file:
            return self.LoadFromFile(model_file)
        raise ValueError("Either model_file or model_proto must be specified.")

    def LoadFromFile(self, filename: Any) -> bool:
        """Take the model of a file."""
        return self._take(read_file(filename))

    def LoadFromSerializedProto(self, serialized: Any) -> bool:
        """Take a model from bytes, or from a message with ``SerializeToString``."""
        if hasattr(serialized, "SerializeToString"):
            serialized = serialized.SerializeToString()
        if not isinstance(serialized, bytes):
            raise TypeError(f"a serialized model is {type(serialized).__name__}; expected bytes")
        return self._take(serialized)

    def _take(self, data: bytes) -> bool:
        if not data:
            raise RuntimeError("INTERNAL: unk is not defined.")
        vocabulary = Vocabulary(data)
        suffix = bool(vocabulary.file.trainer.get("treat_whitespace_as_suffix", False))
        fields = vocabulary.file.normalizer
        normalizing = Normalizing(fields, vocabulary.pieces, vocabulary.types, suffix)
        self._cutter = Cutter(vocabulary, normalizing)
        self._vocabulary = vocabulary
        self._frames = {}
        return True

    def _cut(self) -> Cutter:
        if self._cutter is None:
            raise RuntimeError("INTERNAL: unk is not defined.")
        return self._cutter

    # --- encode

    def Encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        enable_sampling: bool | None = None,
        nbest_size: int | None = None,
        alpha: float | None = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_type: Any = None,
        out_type: Any = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """A text, or a list of texts -> pieces in the form that ``return_type`` asks for.

        Texts are ``str`` or ``bytes``. All other arguments as for the class; None takes what was said
        there. ``return_bytes`` is for ``"offset_mapping"``: pieces and places in bytes.

        Raises:
            TypeError: not a text.
            ValueError: arguments that cannot be.
            RuntimeError: no model; or ``add_bos`` and the like with messages and offsets.
        """
        return_type = self._resolve_return_type(return_type, out_type)
        if return_bytes is not None and return_type != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        sampling = self._enable_sampling if enable_sampling is None else enable_sampling
        nbest_size = self._nbest_size if nbest_size is None else nbest_size
        alpha = self._alpha if alpha is None else alpha
        threads = self._threads(num_threads)
        if sampling is True and (nbest_size in (None, 0, 1) or alpha is None):
            raise ValueError(_SAMPLING)
        frame = self._frame(add_bos, add_eos, reverse, emit_unk_piece)
        batch = isinstance(input, list)
        texts = _texts(input) if batch else [text_of(input)]
        if batch and not texts:
            return []
        cutter = self._cut()
        if sampling:
            ways = [cutter.drawn(raw_of(text), nbest_size, alpha) for text in texts]
        elif return_type in (int, "numpy"):
            ids = cutter.ids(texts, workers(threads, thread_pool))
            return self._out(map(frame.ids, ids), return_type, batch)
        elif return_type in (str, bytes):
            in_bytes = return_type is bytes
            pieces = cutter.pieces(texts, workers(threads, thread_pool), in_bytes=in_bytes)
            return self._out([frame.pieces(row, in_bytes) for row in pieces], return_type, batch)
        else:
            ways = cutter.cuts(texts, workers(threads, thread_pool))
        if return_type == "offset_mapping":
            frame.check_plain()
            in_bytes = isinstance(texts[0], bytes) if return_bytes is None else return_bytes
            mappings = [way.offset_mapping(in_bytes=in_bytes) for way in ways]
            return mappings if batch else mappings[0]
        return self._shaped(ways, frame, return_type, batch)

    def _threads(self, num_threads: int | None) -> int:
        threads = self._num_threads if num_threads is None else num_threads
        if threads is None or not isinstance(threads, int):
            raise TypeError("num_threads must be int")
        return threads

    def _frame(
        self,
        add_bos: bool | None,
        add_eos: bool | None,
        reverse: bool | None,
        emit_unk_piece: bool | None,
    ) -> Frame:
        asked = (
            bool(self._add_bos if add_bos is None else add_bos),
            bool(self._add_eos if add_eos is None else add_eos),
            bool(self._reverse if reverse is None else reverse),
            bool(self._emit_unk_piece if emit_unk_piece is None else emit_unk_piece),
        )
        key = (self._encode_options, asked)
        if key not in self._frames:
            self._frames[key] = Frame(self._vocabulary, self._encode_options, *asked)
        return self._frames[key]

    def _shaped(self, ways: Sequence[Way], frame: Frame, kind: Any, batch: bool) -> Any:
        """Ways to cut texts in the form that was asked for."""
        if kind in (int, "numpy"):
            return self._out([frame.ids(way.ids()) for way in ways], kind, batch)
        if kind in (str, bytes):
            in_bytes = kind is bytes
            pieces = [frame.pieces(way.pieces(in_bytes=in_bytes), in_bytes) for way in ways]
            return self._out(pieces, kind, batch)
        frame.check_plain()
        messages: list[Any]
        if kind == "serialized_proto":
            messages = [way.serialized() for way in ways]
        else:
            messages = [way.message(characters=kind == "immutable_proto") for way in ways]
        return messages if batch else messages[0]

    def _out(self, rows: Any, kind: Any, batch: bool) -> Any:
        """Rows of ids or of pieces, as lists or arrays."""
        out = [_array(ids) for ids in rows] if kind == "numpy" else list(rows)
        return out if batch else out[0]

    # --- the n best ways

    def NBestEncode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        nbest_size: int | None = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """A text, or a list of texts -> the likeliest ways to cut it, best first. See `Encode`.

        Raises:
            RuntimeError: no Unigram model, or more than 512 ways.
        """
        return_type = self._resolve_return_type(return_type, out_type)
        frame = self._frame(add_bos, add_eos, reverse, emit_unk_piece)
        size = self._nbest_size if nbest_size is None else nbest_size
        if return_type == "offset_mapping":
            raise ValueError(f"unknown return_type={return_type}")

        def ways(text: Any) -> Any:
            found = self._cut().ways(raw_of(text_of(text)), max(size, 1))
            if return_type == "serialized_proto":
                frame.check_plain()
                return serialized_ways(found)
            if return_type in ("proto", "immutable_proto"):
                frame.check_plain()
                return message_of_ways(found, characters=return_type == "immutable_proto")
            return self._shaped(found, frame, return_type, True)

        return [ways(text) for text in input] if isinstance(input, list) else ways(input)

    # --- one long text on several cores

    def ParallelEncode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        chunk_len: int | None = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """A long text, or a list of them, as `Encode` cuts it; ``chunk_len`` changes nothing."""
        return_type = self._resolve_return_type(return_type, out_type)
        threads = self._threads(num_threads)
        if chunk_len is None or not isinstance(chunk_len, int) or chunk_len <= 0:
            raise ValueError("chunk_len must be positive.")
        if return_type == "offset_mapping":
            raise ValueError(f"unknown return_type={return_type}")
        return self.Encode(
            input,
            add_bos,
            add_eos,
            reverse,
            emit_unk_piece,
            enable_sampling=False,
            num_threads=threads,
            thread_pool=thread_pool,
            return_type=return_type,
        )

    # --- decode

    def Decode(
        self,
        input: Any,
        return_type: Any = None,
        out_type: Any = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Ids or pieces, or a list of such lists -> text in the form that ``return_type`` asks for.

        Forms: ``str``, ``bytes``, ``"offset_mapping"``, ``"proto"``, ``"serialized_proto"``.

        Raises:
            IndexError: an id that is none.
            TypeError: neither ids nor pieces.
            ValueError: a form that there is not.
        """
        return_type = self._resolve_return_type(return_type, out_type, default=str)
        if return_bytes is not None and return_type != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        self._threads(num_threads)
        if return_type in (int, "numpy"):
            raise ValueError(f"unknown return_type={return_type} or input type")
        if input is None or (isinstance(input, (str, bytes)) and not input):
            input = []
        if not _is_sequence(input):
            input = [input]
        batch = _is_batch(input)
        rows = list(input) if batch else [input]
        first = next((row for row in rows if _is_sequence(row) and len(row) > 0), None)
        of_pieces = first is not None and _is_pieces(first)
        in_bytes = first is not None and of_pieces and isinstance(first[0], bytes)
        out = [self._decoded(row, of_pieces, in_bytes, return_type, return_bytes) for row in rows]
        return out if batch else out[0]

    def _decoded(
        self, row: Any, of_pieces: bool, in_bytes: bool, kind: Any, return_bytes: bool | None
    ) -> Any:
        vocabulary = self._vocabulary
        if self._decode_options:
            frame = Frame(vocabulary, self._decode_options, False, False, False, False)
            row = frame.pieces([*map(_piece, row)], True) if of_pieces else frame.ids(ids_of(row))
        if kind in (str, bytes) and self._cutter is not None:
            made = decoded_text(self._cutter.tokenizer, vocabulary, row, of_pieces=of_pieces)
            if made is not None:
                return made if kind is str and not in_bytes else made.encode()
        if of_pieces:
            self._cut()
            pieces = [_piece(piece) for piece in row]
            texts = (piece.decode("utf-8", "surrogateescape") for piece in pieces)
            cut = decoded(vocabulary, [*zip(pieces, map(vocabulary.id, texts), strict=True)])
        else:
            ids = ids_of(row)
            vocabulary.check(ids)
            self._cut()
            cut = decoded(vocabulary, [(vocabulary.pieces[id_].encode(), id_) for id_ in ids])
        if kind is bytes or (kind is str and in_bytes):
            return cut.text
        if kind is str:
            return cut.text.decode()
        if kind == "offset_mapping":
            wanted = bool(return_bytes) or in_bytes
            text = cut.text if wanted else cut.text.decode()
            return {"text": text, **cut.offset_mapping(in_bytes=wanted)}
        if kind == "serialized_proto":
            return cut.serialized()
        return cut.message(characters=kind == "immutable_proto")

    # --- normalize

    def Normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """A text, or a list of texts, as it is before it is cut.

        With ``with_offsets`` pairs: the text, and for each character (of bytes: each byte) the one of
        the original that it counts from, with the end behind the last.
        """
        if self._cutter is None and not with_offsets and not isinstance(input, list):
            return type(text_of(input))()
        return normalized(self._cut().normalizing, input, bool(with_offsets))

    # --- the model

    def serialized_model_proto(self) -> bytes:
        """The bytes of the model, as they were loaded."""
        return self._vocabulary.data

    def OverrideNormalizerSpec(self, **kwargs: Any) -> bool:
        """Change ``add_dummy_prefix``, ``escape_whitespaces`` or ``remove_extra_whitespaces``.

        Raises:
            RuntimeError: another field.
        """
        fields = self._vocabulary.file.normalizer
        for name in kwargs:
            if name not in ("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces"):
                raise RuntimeError(f'NOT_FOUND: unknown field name "{name}" in NormalizerSpec.')
        changes: dict[str, Any] = {name: _flag(value) for name, value in kwargs.items()}
        changed = dataclasses.replace(fields, **changes)
        file = dataclasses.replace(self._vocabulary.file, normalizer=changed, self_test=())
        return self._take(file.to_bytes())

    Tokenize = Encode
    Detokenize = Decode

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_vocabulary", "_cutter", "_frames"):
            del state[name]
        return {**state, "model_proto": self.serialized_model_proto()}

    def __setstate__(self, state: Any) -> None:
        # Pickles of older releases hold the model alone.
        state = dict(state) if isinstance(state, dict) else {"model_proto": state}
        SentencePieceProcessor.__init__(self)
        if data := state.pop("model_proto"):
            self.LoadFromSerializedProto(data)
        self.__dict__.update(state)


def _flag(value: Any) -> bool:
    return (
        value if isinstance(value, bool) else str(value).lower() in ("1", "t", "true", "y", "yes")
    )


def _texts(values: list[Any]) -> list[str | bytes]:
    for value in values:
        if not isinstance(value, (str, bytes)) or is_broken(value):
            raise TypeError("List elements must be str or bytes")
    return list(values)


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _is_batch(rows: Any) -> bool:
    if hasattr(rows, "ndim"):
        return bool(rows.ndim > 1)
    return len(rows) > 0 and _is_sequence(rows[0])


def _is_pieces(row: Any) -> bool:
    return not hasattr(row, "dtype") and isinstance(row[0], (str, bytes))


def _piece(piece: Any) -> bytes:
    if not isinstance(piece, (str, bytes)) or is_broken(piece):
        raise TypeError("List elements must be str or bytes")
    return raw_of(piece)


def _array(ids: list[int]) -> NDArray[np.int32]:
    import numpy as np

    array = np.array(ids, dtype=np.int32)
    array.flags.writeable = False
    return array


add_snake_case(Older)
add_snake_case(SentencePieceProcessor)
