"""How ids become text again, where a file says so: stages that rewrite a list of token texts.

A tokenizer that was trained here needs none of these: its markers tell the way back. Hugging Face's
files have a list of such stages. The texts of all tokens go through the first stage, what comes out
through the next, and at the end all texts are joined. With no stage at all they are joined with spaces.
SentencePiece's models have a way of their own, which is one stage for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from jogak.errors import ConfigError
from jogak.spec.checks import flag, made, one_of
from jogak.spec.record import asdict, dataclass, field

__all__ = [
    "DecodeByteFallback",
    "DecodeByteLevel",
    "DecodeCTC",
    "DecodeFuse",
    "DecodeMetaspace",
    "DecodeReplace",
    "DecodeSentencePiece",
    "DecodeStrip",
    "DecodeSuffix",
    "DecodeWordPiece",
    "DecoderStage",
    "decoder_stage_from_dict",
]


class _Stage:
    """What all stages share: plain data, for files and for the core."""

    type: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """The stage as plain data, as files and the core have it."""
        # Every stage is a dataclass, which this base cannot say.
        return {"type": self.type, **asdict(self)}  # type: ignore[call-overload]  # every stage is a dataclass

    def to_core(self) -> dict[str, Any]:
        """The stage as the core takes it."""
        return self.to_dict()


@dataclass(frozen=True)
class DecodeByteLevel(_Stage):
    """GPT-2's printable characters back to bytes, over all tokens; what is no UTF-8 becomes U+FFFD.

    A token with a character that stands for no byte is taken as it is written.
    """

    type: ClassVar[str] = "byte-level"


@dataclass(frozen=True)
class DecodeByteFallback(_Stage):
    """Runs of ``<0x..>`` tokens as the text of their bytes; U+FFFD for each if they are no UTF-8."""

    type: ClassVar[str] = "byte-fallback"


@dataclass(frozen=True)
class DecodeFuse(_Stage):
    """All texts as one."""

    type: ClassVar[str] = "fuse"


@dataclass(frozen=True)
class DecodeWordPiece(_Stage):
    """The prefix off, a space before tokens without it; the first token keeps its prefix.

    Args:
        prefix: what tokens begin with that go on a word.
        cleanup: take the space away before ``. , ? !``, ``n't``, ``'s`` and the like.
    """

    type: ClassVar[str] = "wordpiece"

    prefix: str = "##"
    cleanup: bool = True

    def __post_init__(self) -> None:
        _text("DecodeWordPiece.prefix", self.prefix)
        flag("DecodeWordPiece.cleanup", self.cleanup)


@dataclass(frozen=True)
class DecodeMetaspace(_Stage):
    """The replacement as a space, in the first token as nothing.

    Args:
        replacement: the character that stands for a space.
        prepend: ``"never"`` makes spaces in the first token too.
        split: no meaning in decoding; files have it.
    """

    type: ClassVar[str] = "metaspace"

    replacement: str = "▁"
    prepend: Literal["first", "always", "never"] = "always"
    split: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.replacement, str) or len(self.replacement) != 1:
            raise ConfigError(
                f"DecodeMetaspace.replacement is {self.replacement!r}; expected one character"
            )
        one_of("DecodeMetaspace.prepend", self.prepend, ("first", "always", "never"))
        flag("DecodeMetaspace.split", self.split)


@dataclass(frozen=True)
class DecodeSuffix(_Stage):
    """The suffix as a space, as nothing in the last token."""

    type: ClassVar[str] = "suffix"

    suffix: str = "</w>"

    def __post_init__(self) -> None:
        _text("DecodeSuffix.suffix", self.suffix)


@dataclass(frozen=True)
class DecodeReplace(_Stage):
    """Every match in every text replaced; a text that is empty stays so.

    Args:
        pattern: a text, or a regular expression.
        replacement: what comes in its place, as it stands.
        regex: whether ``pattern`` is a regular expression.
    """

    type: ClassVar[str] = "replace"

    pattern: str
    replacement: str
    regex: bool = False

    def __post_init__(self) -> None:
        _text("DecodeReplace.pattern", self.pattern)
        _text("DecodeReplace.replacement", self.replacement)
        flag("DecodeReplace.regex", self.regex)


@dataclass(frozen=True)
class DecodeStrip(_Stage):
    """A character off the ends of every text, as long as there is one.

    Args:
        content: the character.
        start: at most so many at the beginning.
        stop: at most so many at the end.
    """

    type: ClassVar[str] = "strip"

    content: str = " "
    start: int = 0
    stop: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.content, str) or len(self.content) != 1:
            raise ConfigError(f"DecodeStrip.content is {self.content!r}; expected one character")
        for option in ("start", "stop"):
            value = getattr(self, option)
            if type(value) is not int or value < 0:
                raise ConfigError(f"DecodeStrip.{option} is {value!r}; expected 0 or more")


@dataclass(frozen=True)
class DecodeCTC(_Stage):
    """Equal neighbours once, padding dropped (Graves et al. 2006).

    Args:
        pad_token: the blank.
        word_delimiter_token: what stands for a space.
        cleanup: as in `DecodeWordPiece`, and the delimiter as a space.
    """

    type: ClassVar[str] = "ctc"

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True

    def __post_init__(self) -> None:
        _text("DecodeCTC.pad_token", self.pad_token)
        _text("DecodeCTC.word_delimiter_token", self.word_delimiter_token)
        flag("DecodeCTC.cleanup", self.cleanup)


@dataclass(frozen=True)
class DecodeSentencePiece(_Stage):
    """The whole way back of a SentencePiece model (0.2.3). No other stage stands beside it.

    Pieces become their text with ``▁`` as a space. Runs of ``<0x..>`` become the characters of their
    bytes; every byte that is part of none becomes U+FFFD.

    Args:
        unknown: the text of the unknown piece; None if there is none.
        unknown_surface: what it becomes.
        control: texts of pieces that become nothing.
        byte_fallback: whether ``<0x00>`` to ``<0xFF>`` are bytes.
        strip: which ``▁`` become nothing: ``"none"``; ``"first"``, the one that the text begins with;
            ``"all"``, the first one of every piece as long as there is no text.
        charsmap: a compiled charsmap that rewrites the text, SentencePiece's denormalizer; empty for
            none. With it, a stream gives its text at the end.

    Raises:
        ConfigError: an impossible value.
    """

    type: ClassVar[str] = "sentencepiece"

    unknown: str | None = "<unk>"
    unknown_surface: str = " \u2047 "
    control: tuple[str, ...] = ()
    byte_fallback: bool = False
    strip: Literal["none", "first", "all"] = "all"
    charsmap: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if self.unknown is not None:
            _text("DecodeSentencePiece.unknown", self.unknown)
        _text("DecodeSentencePiece.unknown_surface", self.unknown_surface)
        if isinstance(self.control, str):
            raise ConfigError(f"DecodeSentencePiece.control is {self.control!r}; expected texts")
        object.__setattr__(self, "control", tuple(self.control))
        for text in self.control:
            _text("DecodeSentencePiece.control", text)
        flag("DecodeSentencePiece.byte_fallback", self.byte_fallback)
        one_of("DecodeSentencePiece.strip", self.strip, ("none", "first", "all"))
        if not isinstance(self.charsmap, bytes):
            raise ConfigError(f"DecodeSentencePiece.charsmap is {self.charsmap!r}; expected bytes")

    def to_dict(self) -> dict[str, Any]:
        """The stage as plain data: its charsmap in base64."""
        import base64

        data = base64.b64encode(self.charsmap).decode("ascii")
        return {**super().to_dict(), "control": list(self.control), "charsmap": data}

    def to_core(self) -> dict[str, Any]:
        """The stage as the core takes it."""
        return {**super().to_dict(), "charsmap": self.charsmap}


DecoderStage: TypeAlias = (
    DecodeByteLevel
    | DecodeByteFallback
    | DecodeFuse
    | DecodeWordPiece
    | DecodeMetaspace
    | DecodeSuffix
    | DecodeReplace
    | DecodeStrip
    | DecodeCTC
    | DecodeSentencePiece
)

_KINDS: dict[str, type[DecoderStage]] = {kind.type: kind for kind in get_args(DecoderStage)}


def _text(option: str, value: object) -> None:
    if not isinstance(value, str):
        raise ConfigError(f"{option} is {value!r}; expected a text")


def decoder_stage_from_dict(data: Mapping[str, Any]) -> DecoderStage:
    """The way back from ``to_dict``.

    Raises:
        ConfigError: an unknown type, a missing or superfluous option, or an impossible value.

    >>> decoder_stage_from_dict({"type": "strip", "content": " ", "start": 1, "stop": 0})
    DecodeStrip(content=' ', start=1, stop=0)
    """
    options = dict(data)
    kind = options.pop("type", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ConfigError(f"decoder stage {kind!r} is not known; expected one of {[*_KINDS]}")
    if kind == "sentencepiece" and isinstance(options.get("charsmap"), str):
        import base64

        try:
            options["charsmap"] = base64.b64decode(options["charsmap"], validate=True)
        except ValueError as error:
            raise ConfigError(f"the charsmap of a decoder is no base64: {error}") from None
    return made(f"decoder stage {kind!r}", _KINDS[kind], options)
