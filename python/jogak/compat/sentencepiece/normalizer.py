"""`SentencePieceNormalizer`: what SentencePiece does to a text before it is cut, by itself."""

from __future__ import annotations

import dataclasses
from typing import Any

from jogak.compat.sentencepiece.normalizing import Normalizing, normalized
from jogak.compat.sentencepiece.vocabulary import NotFound, read_file
from jogak.errors import ConfigError, FormatError
from jogak.formats import protobuf
from jogak.formats.sentencepiece_model import NormalizerFields, parse_normalizer
from jogak.normalization import compile_rules, read_rules, rules_of
from jogak.spec import Charsmap, RuleSet

__all__ = ["SentencePieceNormalizer"]


class SentencePieceNormalizer:
    """Rewrites texts by the rules of a model, a named set, or one's own.

    Args:
        model_file: the name of a ``.model`` file.
        model_proto: the bytes of one, or a message with ``SerializeToString``.
        normalizer_spec: its ``normalizer_spec``, in the same ways.
        rule_tsv: the name of a file of rules, see `jogak.read_rules`.
        rule_name: a set of rules that is known by name, such as ``"nmt_nfkc"``.
        norm_map: pairs of texts and their replacements.
        add_dummy_prefix, escape_whitespaces, remove_extra_whitespaces: what is done to spaces; None for
            what the model says, or True.

    Raises:
        ValueError: none of the first six is given, or an empty text is to be replaced.
        RuntimeError: a file or set of rules that is not there, or no model (also an OSError for files).

    >>> SentencePieceNormalizer(norm_map=[("a", "b")]).normalize(" a  c ")
    '▁b▁c'
    """

    def __init__(
        self,
        model_file: Any = None,
        model_proto: Any = None,
        normalizer_spec: Any = None,
        rule_tsv: Any = None,
        rule_name: Any = None,
        norm_map: Any = None,
        add_dummy_prefix: bool | None = None,
        escape_whitespaces: bool | None = None,
        remove_extra_whitespaces: bool | None = None,
    ) -> None:
        if model_file:
            fields = _of_model(read_file(model_file))
        elif model_proto:
            fields = _of_model(_serialized(model_proto))
        elif normalizer_spec:
            fields = _of_spec(_serialized(normalizer_spec))
        elif rule_tsv:
            fields = _of_tsv(rule_tsv)
        elif rule_name:
            fields = _of_name(rule_name)
        elif norm_map:
            fields = NormalizerFields(precompiled_charsmap=_compiled(norm_map))
        else:
            raise ValueError("no model is specified")
        asked = {
            "add_dummy_prefix": add_dummy_prefix,
            "escape_whitespaces": escape_whitespaces,
            "remove_extra_whitespaces": remove_extra_whitespaces,
        }
        changes: dict[str, Any] = {
            name: bool(value) for name, value in asked.items() if value is not None
        }
        self._fields = dataclasses.replace(fields, **changes)

    def Decompile(self) -> list[tuple[str, str]]:
        """The rules, sorted: what is replaced, and its replacement.

        Raises:
            RuntimeError: there are no rules.
        """
        if not self._fields.precompiled_charsmap:
            raise RuntimeError("INTERNAL: [!blob.empty()] No precompiled charsmap found in model.")
        return list(rules_of(Charsmap(self._fields.precompiled_charsmap)).items())

    def serialized_model_proto(self) -> bytes:
        """The rules as a model that has nothing else."""
        return protobuf.bytes_field(3, self._fields.to_bytes())

    def serialized_normalizer_spec(self) -> bytes:
        """The rules as a ``normalizer_spec``."""
        return self._fields.to_bytes()

    def Normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """A text, or a list of texts, rewritten. See `SentencePieceProcessor.Normalize`."""
        return normalized(Normalizing(self._fields), input, bool(with_offsets))

    decompile = Decompile
    normalize = Normalize

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, serialized_model_proto: bytes) -> None:
        self._fields = _of_model(serialized_model_proto)


def _serialized(value: Any) -> bytes:
    if hasattr(value, "SerializeToString"):
        value = value.SerializeToString()
    if not isinstance(value, bytes):
        raise TypeError(f"a serialized message is {type(value).__name__}; expected bytes")
    return value


def _of_model(data: bytes) -> NormalizerFields:
    try:
        entries = list(protobuf.fields(data, "", None))
        spec = b"".join(entry.data() for entry in entries if entry.number == 3)
    except FormatError as error:
        raise RuntimeError(f"INTERNAL: {error}") from error
    return _of_spec(spec)


def _of_spec(data: bytes) -> NormalizerFields:
    try:
        return parse_normalizer(data)
    except FormatError as error:
        raise RuntimeError(f"INTERNAL: {error}") from error


def _of_tsv(path: Any) -> NormalizerFields:
    if not isinstance(path, str):
        raise TypeError(f"rule_tsv is {path!r}; expected the name of a file")
    try:
        rules = read_rules(path)
    except OSError as error:
        raise NotFound(f'NOT_FOUND: "{path}": {error.strerror}') from error
    charsmap = _compiled(list(rules.items()))
    return NormalizerFields("user_defined", charsmap, normalization_rule_tsv=path)


def _of_name(name: Any) -> NormalizerFields:
    if not isinstance(name, str):
        raise TypeError(f"rule_name is {name!r}; expected a text")
    if name == "identity":
        return NormalizerFields(name)
    try:
        rules = RuleSet(name)  # type: ignore[arg-type]  # an unknown name raises
    except ConfigError as error:
        raise RuntimeError(f"NOT_FOUND: {error}") from error
    return NormalizerFields(name, compile_rules(rules).data)


def _compiled(pairs: Any) -> bytes:
    if isinstance(pairs, dict) or not all(
        isinstance(pair, (list, tuple)) and [*map(type, pair)] == [str, str] for pair in pairs
    ):
        raise TypeError("norm_map is no list of pairs of texts")
    return compile_rules([tuple(pair) for pair in pairs]).data
