"""How text is rewritten before it is cut: names, and objects where there are options.

Every normalizer keeps track of where its text came from, so that ids have their spans in the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, cast, get_args

from jogak.errors import ConfigError
from jogak.spec.checks import flag, made, one_of
from jogak.spec.record import asdict, dataclass, field

__all__ = [
    "NORMALIZER_NAMES",
    "BertNormalizer",
    "Casefold",
    "Charsmap",
    "CollapseSpaces",
    "DrawBytes",
    "HfNmt",
    "Jamo",
    "LlamaBert",
    "Lowercase",
    "Normalizer",
    "NormalizerLike",
    "Prepend",
    "Replace",
    "RuleSet",
    "Strip",
    "StripMarks",
    "UnicodeForm",
    "normalizer_from_dict",
    "resolve_normalizer",
]

RuleSetName: TypeAlias = Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"]


class _Stage:
    """What all normalizers share: plain data, for files and for the core."""

    type: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """The normalizer as plain data, as files hold it."""
        return {"type": self.type, **asdict(self)}  # type: ignore[call-overload]  # every stage is a dataclass

    def to_core(self) -> dict[str, Any]:
        """The normalizer as the core takes it."""
        return self.to_dict()


@dataclass(frozen=True)
class UnicodeForm(_Stage):
    """A Unicode normalization form (UAX #15).

    Args:
        form: ``"nfc"``, ``"nfd"``, ``"nfkc"`` or ``"nfkd"``.
        version: the Unicode version, ``"17.0"``; or ``"9.0"``, which leaves characters alone that came
            later, as HF tokenizers does.

    >>> UnicodeForm("nfc").to_dict()
    {'type': 'unicode', 'form': 'nfc', 'version': '17.0'}
    """

    type: ClassVar[str] = "unicode"

    form: Literal["nfc", "nfd", "nfkc", "nfkd"]
    version: Literal["17.0", "9.0"] = "17.0"

    def __post_init__(self) -> None:
        one_of("UnicodeForm.form", self.form, ("nfc", "nfd", "nfkc", "nfkd"))
        one_of("UnicodeForm.version", self.version, ("17.0", "9.0"))


@dataclass(frozen=True)
class RuleSet(_Stage):
    """A named rule set of SentencePiece (Kudo & Richardson 2018), equal to its release 0.2.3.

    Args:
        name: ``"nmt_nfkc"`` (SentencePiece's default), ``"nfkc"``, or one of these with case folding,
            ``"nmt_nfkc_cf"`` and ``"nfkc_cf"``. They apply the rules alone; spaces too many are
            `CollapseSpaces`.
    """

    type: ClassVar[str] = "rules"

    name: RuleSetName

    def __post_init__(self) -> None:
        one_of("RuleSet.name", self.name, get_args(RuleSetName))


@dataclass(frozen=True)
class Charsmap(_Stage):
    """Rules compiled in SentencePiece's format: at every place the longest key is replaced.

    Args:
        data: the bytes, such as ``precompiled_charsmap`` of a ``.model`` file. `jogak.compile_rules`
            makes them of rules. They are checked when a tokenizer is made.
        keep: texts that stay as they are: SentencePiece does so with user-defined pieces. What begins
            first counts, be it such a text or a key.
        graphemes: as HF tokenizers applies a charsmap. Where a grapheme cluster (UAX #29) of less than
            six bytes begins with a key, the replacement of the shortest such key stands for all of it;
            otherwise the same goes for each of its characters. It takes no ``keep``.
    """

    type: ClassVar[str] = "charsmap"

    data: bytes = field(repr=False)
    keep: tuple[str, ...] = ()
    graphemes: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes):
            raise ConfigError(f"Charsmap.data is {type(self.data).__name__}; expected bytes")
        if isinstance(self.keep, str) or not all(isinstance(t, str) and t for t in self.keep):
            raise ConfigError(f"Charsmap.keep is {self.keep!r}; expected texts that are not empty")
        object.__setattr__(self, "keep", tuple(self.keep))
        flag("Charsmap.graphemes", self.graphemes)
        if self.graphemes and self.keep:
            raise ConfigError("Charsmap.keep goes with no graphemes; leave one of the two out")

    def to_dict(self) -> dict[str, Any]:
        """The charsmap as plain data: its bytes in base64."""
        import base64

        data = base64.b64encode(self.data).decode("ascii")
        return {**self.to_core(), "data": data}

    def to_core(self) -> dict[str, Any]:
        """The charsmap as the core takes it."""
        keep = list(self.keep)
        return {"type": self.type, "data": self.data, "keep": keep, "graphemes": self.graphemes}


@dataclass(frozen=True)
class Lowercase(_Stage):
    """Lower case, character by character (Unicode 17.0; no rule for the last sigma of a word)."""

    type: ClassVar[str] = "lowercase"


@dataclass(frozen=True)
class Casefold(_Stage):
    """Full case folding, character by character: ``ß`` becomes ``ss`` (Unicode 17.0)."""

    type: ClassVar[str] = "casefold"


@dataclass(frozen=True)
class StripMarks(_Stage):
    """Drops combining marks (category M of Unicode 9.0, as HF's ``StripAccents``).

    An accent that is one character with its letter stays: ``"strip_accents"`` stands for NFD, this,
    and NFC.
    """

    type: ClassVar[str] = "strip_marks"


@dataclass(frozen=True)
class CollapseSpaces(_Stage):
    """One space for every run of spaces, none at the ends of a document.

    SentencePiece's ``remove_extra_whitespaces``. Only U+0020 is a space here (``nmt_nfkc`` turns others
    into it); at the end of a document ``▁`` goes too.
    """

    type: ClassVar[str] = "collapse_spaces"


@dataclass(frozen=True)
class Prepend(_Stage):
    """Puts a text before every stretch of text that is not empty. Decoding takes it off again.

    Special tokens cut a text into stretches.
    """

    type: ClassVar[str] = "prepend"

    text: str

    def __post_init__(self) -> None:
        _text("Prepend.text", self.text)


@dataclass(frozen=True)
class Replace(_Stage):
    r"""Replaces every match, from the left, by a text as it stands.

    Args:
        pattern: a text, or a regular expression in the syntax of Rust's fancy-regex.
        replacement: what comes in its place; groups of the match cannot be named in it.
        regex: whether ``pattern`` is a regular expression.

    >>> Replace(r"\d+", "0", regex=True).to_dict()
    {'type': 'replace', 'pattern': '\\d+', 'replacement': '0', 'regex': True}
    """

    type: ClassVar[str] = "replace"

    pattern: str
    replacement: str
    regex: bool = False

    def __post_init__(self) -> None:
        _text("Replace.pattern", self.pattern)
        if not isinstance(self.replacement, str):
            raise ConfigError(f"Replace.replacement is {self.replacement!r}; expected a text")
        flag("Replace.regex", self.regex)


@dataclass(frozen=True)
class Strip(_Stage):
    """White space off the ends of every stretch of text."""

    type: ClassVar[str] = "strip"

    left: bool = True
    right: bool = True

    def __post_init__(self) -> None:
        flag("Strip.left", self.left)
        flag("Strip.right", self.right)


@dataclass(frozen=True)
class BertNormalizer(_Stage):
    """BERT's normalizer (Devlin et al. 2019), equal to HF's on every text. In this order:

    Args:
        clean_text: drop control characters and U+FFFD, turn white space into spaces.
        chinese_chars: put spaces around every Chinese character.
        strip_accents: decompose (NFD) and drop nonspacing marks; None follows ``lowercase``. It takes
            Hangul syllables apart for good.
        lowercase: lower case, character by character.

    >>> BertNormalizer(lowercase=True).strip_accents
    True
    """

    type: ClassVar[str] = "bert"

    clean_text: bool = True
    chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    def __post_init__(self) -> None:
        if self.strip_accents is None:
            object.__setattr__(self, "strip_accents", self.lowercase)
        for option in ("clean_text", "chinese_chars", "strip_accents", "lowercase"):
            flag(f"BertNormalizer.{option}", getattr(self, option))


@dataclass(frozen=True)
class LlamaBert(_Stage):
    """What llama.cpp does to a text for BERT models, equal to it on every text; Unicode 15.1.

    Control characters and U+FFFD are dropped, white space becomes spaces, and spaces are put around
    punctuation and Chinese characters. It is not `BertNormalizer`: a character that can be decomposed
    leaves the first of its parts, which of a Hangul syllable is its first letter.

    Args:
        strip_accents: that, and drop combining marks; None follows ``lowercase``.
        lowercase: lower case, character by character.

    >>> LlamaBert(lowercase=False).to_dict()
    {'type': 'llama_bert', 'strip_accents': False, 'lowercase': False}
    """

    type: ClassVar[str] = "llama_bert"

    strip_accents: bool | None = None
    lowercase: bool = True

    def __post_init__(self) -> None:
        if self.strip_accents is None:
            object.__setattr__(self, "strip_accents", self.lowercase)
        for option in ("strip_accents", "lowercase"):
            flag(f"LlamaBert.{option}", getattr(self, option))


@dataclass(frozen=True)
class Jamo(_Stage):
    """Hangul syllables as their letters; decoding makes the very syllables again.

    Letters that the text has of its own stay, with U+0010 before them where they would be taken for
    part of a syllable. So decoding gives back every text, ``ㅋㅋㅋ`` and ``하ㅋ`` included.

    Args:
        form: ``"conjoining"`` (U+1100 and on: initials and finals differ) or ``"compatibility"``
            (U+3131 and on: what a keyboard types).
    """

    type: ClassVar[str] = "jamo"

    form: Literal["conjoining", "compatibility"] = "conjoining"

    def __post_init__(self) -> None:
        one_of("Jamo.form", self.form, ("conjoining", "compatibility"))


@dataclass(frozen=True)
class DrawBytes(_Stage):
    """Every byte of the UTF-8 text as one character, the way GPT-2 draws them (``Ġ`` for a space).

    HF's ``ByteLevel``, without its regular expression. It may stand among pre-tokenizers, too. A model
    over bytes (``alphabet="bytes"``) needs none.
    """

    type: ClassVar[str] = "draw_bytes"


@dataclass(frozen=True)
class HfNmt(_Stage):
    """HF's ``Nmt``: drops some controls, and turns odd white space, ``▁`` and U+FFFD into spaces.

    SentencePiece's own rules are `RuleSet` ``"nmt_nfkc"``, which do more.
    """

    type: ClassVar[str] = "hf_nmt"


Normalizer: TypeAlias = (
    UnicodeForm
    | RuleSet
    | Charsmap
    | Lowercase
    | Casefold
    | StripMarks
    | CollapseSpaces
    | Prepend
    | Replace
    | Strip
    | BertNormalizer
    | LlamaBert
    | Jamo
    | DrawBytes
    | HfNmt
)
NormalizerLike: TypeAlias = str | Normalizer | Sequence[str | Normalizer]

_KINDS: dict[str, type[Normalizer]] = {kind.type: kind for kind in get_args(Normalizer)}

#: Name -> the stages that it stands for, made when asked for.
_NAMES: Mapping[str, Callable[[], tuple[Normalizer, ...]]] = {
    "identity": lambda: (),
    "nfc": lambda: (UnicodeForm("nfc"),),
    "nfd": lambda: (UnicodeForm("nfd"),),
    "nfkc": lambda: (RuleSet("nfkc"),),
    "nfkd": lambda: (UnicodeForm("nfkd"),),
    "nmt_nfkc": lambda: (RuleSet("nmt_nfkc"),),
    "nmt_nfkc_cf": lambda: (RuleSet("nmt_nfkc_cf"),),
    "nfkc_cf": lambda: (RuleSet("nfkc_cf"),),
    "lowercase": lambda: (Lowercase(),),
    "casefold": lambda: (Casefold(),),
    "strip_accents": lambda: (UnicodeForm("nfd"), StripMarks(), UnicodeForm("nfc")),
    "collapse_spaces": lambda: (CollapseSpaces(),),
    "bert": lambda: (BertNormalizer(),),
    "jamo": lambda: (Jamo(),),
}
#: Names that `resolve_normalizer` knows.
NORMALIZER_NAMES = tuple(_NAMES)


def _text(option: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{option} is {value!r}; expected a text that is not empty")


def resolve_normalizer(value: NormalizerLike | None) -> tuple[Normalizer, ...]:
    """Names, objects, or a list of both -> the sequence of normalizers that they mean.

    None, ``"identity"`` and an empty list mean none.

    Raises:
        ConfigError: an unknown name, or something else in the list; a jamo normalizer with others
            behind it that would change what it wrote.

    >>> resolve_normalizer(["nfc", "lowercase"])
    (UnicodeForm(form='nfc', version='17.0'), Lowercase())
    >>> resolve_normalizer("strip_accents")[1]
    StripMarks()
    """
    if value is None:
        return ()
    if isinstance(value, (str, *_KINDS.values())):
        value = [cast(Any, value)]
    if not isinstance(value, Iterable):
        raise ConfigError(
            f"normalizer is {value!r}; expected a name, an object such as jogak.Replace, or a list"
        )
    stages = tuple(stage for item in value for stage in _resolve_stage(item))
    for place, stage in enumerate(stages[:-1]):
        behind = stages[place + 1]
        if isinstance(stage, Jamo) and not isinstance(behind, Prepend):
            raise ConfigError(
                f"{behind} stands behind {stage} and could change the letters that syllables are to "
                "be made of again; put the jamo normalizer last (only a Prepend may follow it)"
            )
    return stages


def _resolve_stage(stage: object) -> tuple[Normalizer, ...]:
    if isinstance(stage, get_args(Normalizer)):
        return (stage,)
    if isinstance(stage, str) and stage in _NAMES:
        return _NAMES[stage]()
    known = ", ".join(map(repr, _NAMES))
    raise ConfigError(
        f"normalizer {stage!r} is not known; expected one of {known}, or an object such as "
        "jogak.Replace(pattern, replacement)"
    )


def normalizer_from_dict(data: Mapping[str, Any]) -> Normalizer:
    """The way back from `to_dict`.

    Raises:
        ConfigError: an unknown type, a missing or superfluous option, or an impossible value.

    >>> normalizer_from_dict({"type": "strip", "left": True, "right": False})
    Strip(left=True, right=False)
    """
    options = dict(data)
    kind = options.pop("type", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ConfigError(f"normalizer type {kind!r} is not known; expected one of {[*_KINDS]}")
    if kind == "charsmap" and isinstance(options.get("data"), str):
        import base64

        try:
            options["data"] = base64.b64decode(options["data"], validate=True)
        except ValueError as error:
            raise ConfigError(f"the data of a charsmap are no base64: {error}") from None
    return made(f"normalizer {kind!r}", _KINDS[kind], options)
