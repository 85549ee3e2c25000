"""How text is cut into words: names, and objects where there are options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast, get_args

from jogak.errors import ConfigError
from jogak.spec.checks import flag, made, one_of
from jogak.spec.normalizers import DrawBytes
from jogak.spec.record import asdict, dataclass
from jogak.spec.schemes import SCHEMES

__all__ = [
    "NAMED_SCHEMES",
    "Digits",
    "FixedLength",
    "Matches",
    "Metaspace",
    "Named",
    "PrefixSpace",
    "Pretokenizer",
    "PretokenizerLike",
    "Punctuation",
    "Split",
    "pretokenizer_from_dict",
    "resolve_pretokenizer",
]

#: Pre-tokenizers that have a name and no options.
NAMED_SCHEMES = (
    "none",
    "whitespace",
    "gpt2",
    "cl100k",
    "o200k",
    "bert",
    "punctuation",
    "script",
    "llama-3",
    "qwen2",
    "tekken",
    "words",
    "bert-8.0",
    "unicode-scripts",
)

#: More stages than this are no honest sequence.
_MOST_STAGES = 100

#: What matches are (see `Split`).
Matches: TypeAlias = Literal[
    "isolated", "removed", "only", "merged_with_previous", "merged_with_next", "contiguous"
]


@dataclass(frozen=True)
class Named:
    """A pre-tokenizer that is known by its name alone (see `NAMED_SCHEMES`).

    >>> Named("gpt2").to_dict()
    {'type': 'gpt2'}
    """

    name: str

    def __post_init__(self) -> None:
        one_of("pretokenizer", self.name, NAMED_SCHEMES)

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": self.name}


@dataclass(frozen=True)
class Digits:
    """Numbers (Unicode N) as words of their own.

    Args:
        group: 1 for one by one, 3 for by three from the left, None for whole runs of numbers.
        version: what is a number: that of Unicode ``"16.0"``; or ``"17.0"``, as HF tokenizers.

    >>> Digits(3).to_dict()
    {'type': 'digits', 'group': 3, 'version': '16.0'}
    """

    group: Literal[1, 3] | None = 1
    version: Literal["16.0", "17.0"] = "16.0"

    def __post_init__(self) -> None:
        if isinstance(self.group, bool):
            raise ConfigError(f"Digits.group is {self.group}; expected 1, 3 or None")
        one_of("Digits.group", self.group, (1, 3, None))
        one_of("Digits.version", self.version, ("16.0", "17.0"))

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "digits", "group": self.group, "version": self.version}


@dataclass(frozen=True)
class Split:
    """Any regular expression.

    Args:
        pattern: the expression, in the syntax of Rust's fancy-regex (look-around and back
            references are known; ``\\p{L}`` and friends are Unicode). `jogak.from_oniguruma` makes one
            of an expression for Oniguruma.
        matches: ``"isolated"``: the matches and the gaps between them are words, nothing is lost;
            ``"removed"``: the matches are separators and are dropped; ``"only"``: only the matches
            are words; ``"merged_with_previous"`` and ``"merged_with_next"``: a match belongs to the gap
            on that side of it; ``"contiguous"``: matches that touch are one word.
        invert: take gaps for matches, and matches for gaps.
        regex: False for a pattern that is a text as it stands.

    >>> Split(r"\\d+", matches="isolated").to_dict()["pattern"]
    '\\\\d+'
    """

    pattern: str
    matches: Matches = "isolated"
    invert: bool = False
    regex: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not self.pattern:
            raise ConfigError(
                f"Split.pattern is {self.pattern!r}; expected a regular expression that is not empty"
            )
        one_of("Split.matches", self.matches, get_args(Matches))
        flag("Split.invert", self.invert)
        flag("Split.regex", self.regex)

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "regex", **asdict(self)}


@dataclass(frozen=True)
class Punctuation:
    """Punctuation: ASCII symbols such as ``$`` too, and Unicode's P.

    Args:
        matches: what punctuation characters are, as in `Split`.
        version: what is punctuation: that of Unicode ``"16.0"``; or ``"8.0"``, as HF tokenizers.
    """

    matches: Matches = "isolated"
    version: Literal["16.0", "8.0"] = "16.0"

    def __post_init__(self) -> None:
        one_of("Punctuation.matches", self.matches, get_args(Matches))
        one_of("Punctuation.version", self.version, ("16.0", "8.0"))

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "punctuation", **asdict(self)}


@dataclass(frozen=True)
class FixedLength:
    """Words of so many characters; the last one may be shorter."""

    length: int

    def __post_init__(self) -> None:
        if not isinstance(self.length, int) or isinstance(self.length, bool):
            raise ConfigError(f"FixedLength.length is {self.length!r}; expected a number")
        if not 1 <= self.length < 2**31:
            raise ConfigError(f"FixedLength.length is {self.length}; expected 1 or more")

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "fixed", "length": self.length}


@dataclass(frozen=True)
class PrefixSpace:
    """Puts a space before every word that does not begin with one (HF's ``add_prefix_space``)."""

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "prefix_space"}


@dataclass(frozen=True)
class Metaspace:
    """Spaces as ``▁`` (U+2581), and words cut at them (Kudo & Richardson 2018).

    Args:
        prepend: where a space is added that the text does not have: ``"first"`` before a document,
            ``"always"`` also behind every special token in it, ``"never"``; ``"start"`` before a word
            that begins where the original text does, nothing dropped before it (HF's ``first``).
            Behind other stages every word is such a text; ``"given"`` as ``"first"``, and also before a
            document of which the normalizer leaves nothing, unless that is spaces alone and they are
            collapsed (SentencePiece). Decoding takes it off.
        only_missing: add none where the text begins with a space already, as HF does. Decoding then
            cannot tell the two apart, and drops one.
        suffix: a space belongs to the word before it, and the one that is added goes behind the text
            (``treat_whitespace_as_suffix``).
        split: cut words at spaces; False leaves a text in one piece (``split_by_whitespace``).
        escape: write ``▁``; False leaves spaces as they are (``escape_whitespaces``).
        mark: another character to write instead.

    >>> Metaspace(prepend="never").to_dict()["prepend"]
    'never'
    """

    prepend: Literal["first", "given", "start", "always", "never"] = "first"
    only_missing: bool = False
    suffix: bool = False
    split: bool = True
    escape: bool = True
    mark: str = "▁"

    def __post_init__(self) -> None:
        one_of("Metaspace.prepend", self.prepend, ("first", "given", "start", "always", "never"))
        if (
            not isinstance(self.mark, str)
            or len(self.mark) != 1
            or "\ud800" <= self.mark <= "\udfff"
        ):
            raise ConfigError(f"Metaspace.mark is {self.mark!r}; expected one character")
        for option in ("only_missing", "suffix", "split", "escape"):
            flag(f"Metaspace.{option}", getattr(self, option))

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "metaspace", **asdict(self)}


Pretokenizer: TypeAlias = (
    Named | Digits | Split | Metaspace | Punctuation | FixedLength | PrefixSpace | DrawBytes
)
PretokenizerLike: TypeAlias = str | Pretokenizer | Sequence[str | Pretokenizer]

#: Name -> the stages that it stands for, beside `NAMED_SCHEMES` and `SCHEMES`; made when asked for.
_NAMES: dict[str, Callable[[], tuple[Pretokenizer, ...]]] = {
    "metaspace": lambda: (Metaspace(),),
    "digits": lambda: (Digits(1),),
    "digits3": lambda: (Digits(3),),
    "r50k": lambda: (Named("gpt2"),),
    "p50k": lambda: (Named("gpt2"),),
    "gpt-oss": lambda: (Named("o200k"),),
    "starcoder": lambda: (Digits(1), Named("gpt2")),
}


def resolve_pretokenizer(value: PretokenizerLike) -> tuple[Pretokenizer, ...]:
    """Names, objects, or a list of both -> the sequence of pre-tokenizers that they mean.

    Raises:
        ConfigError: an unknown name, an empty list, or more than 100 stages.

    >>> resolve_pretokenizer(["gpt2", "digits"])
    (Named(name='gpt2'), Digits(group=1, version='16.0'))
    """
    if isinstance(value, (str, *get_args(Pretokenizer))):
        value = [cast(Any, value)]
    if not isinstance(value, Iterable):
        raise ConfigError(
            f"pretokenizer is {value!r}; expected a name, a Split or Digits object, or a list of them"
        )
    stages = tuple(stage for item in value for stage in _resolve_stage(item))
    if not stages:
        raise ConfigError(
            'pretokenizer is an empty list; for the whole text as one word say pretokenizer="none"'
        )
    if len(stages) > _MOST_STAGES:
        raise ConfigError(f"pretokenizer has {len(stages)} stages; expected {_MOST_STAGES} at most")
    return stages


def _resolve_stage(stage: object) -> tuple[Pretokenizer, ...]:
    if isinstance(stage, get_args(Pretokenizer)):
        return (cast(Pretokenizer, stage),)
    if isinstance(stage, str) and stage in _NAMES:
        return _NAMES[stage]()
    if isinstance(stage, str) and stage in SCHEMES:
        return tuple(map(Split, SCHEMES[stage]))
    if isinstance(stage, str) and stage in NAMED_SCHEMES:
        return (Named(stage),)
    known = ", ".join(repr(name) for name in (*NAMED_SCHEMES, *_NAMES, *SCHEMES))
    raise ConfigError(
        f"pretokenizer {stage!r} is not known; expected one of {known}, "
        "or jogak.Split(pattern) for any regular expression"
    )


#: Type in files -> its class, where there are options.
_KINDS: dict[str, type[Any]] = {
    "digits": Digits,
    "regex": Split,
    "metaspace": Metaspace,
    "fixed": FixedLength,
    "prefix_space": PrefixSpace,
    "draw_bytes": DrawBytes,
}


def pretokenizer_from_dict(data: Mapping[str, Any]) -> Pretokenizer:
    """The way back from `to_dict`.

    Raises:
        ConfigError: an unknown type or a missing or superfluous option.

    >>> pretokenizer_from_dict({"type": "digits", "group": 3})
    Digits(group=3, version='16.0')
    """
    options = dict(data)
    kind = options.pop("type", None)
    what = f"pretokenizer {kind!r}"
    if kind == "punctuation" and options:
        return made(what, Punctuation, options)
    if isinstance(kind, str) and kind in _KINDS:
        return cast(Pretokenizer, made(what, _KINDS[kind], options))
    if options:
        Named(cast(Any, kind))  # says which names there are
        raise ConfigError(f"{what} has the options {[*options]}, and takes none; leave them out")
    return Named(cast(Any, kind))
