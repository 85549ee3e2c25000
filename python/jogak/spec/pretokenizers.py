"""How text is cut into words: names, and objects where there are options."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from jogak.errors import ConfigError
from jogak.spec.checks import flag, one_of

__all__ = [
    "NAMED_SCHEMES",
    "Digits",
    "Metaspace",
    "Named",
    "Pretokenizer",
    "PretokenizerLike",
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
)


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
    """Numbers (Unicode N) as words of their own: one by one, or by three from the left.

    >>> Digits(3).to_dict()
    {'type': 'digits', 'group': 3}
    """

    group: Literal[1, 3] = 1

    def __post_init__(self) -> None:
        if isinstance(self.group, bool):
            raise ConfigError(f"Digits.group is {self.group}; expected 1 or 3")
        one_of("Digits.group", self.group, (1, 3))

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "digits", "group": self.group}


@dataclass(frozen=True)
class Split:
    """Any regular expression.

    Args:
        pattern: the expression, in the syntax of Rust's fancy-regex (look-around and back
            references are known; ``\\p{L}`` and friends are Unicode).
        matches: ``"isolated"``: the matches and the gaps between them are words, nothing is lost;
            ``"removed"``: the matches are separators and are dropped; ``"only"``: only the matches
            are words.

    >>> Split(r"\\d+", matches="isolated").to_dict()
    {'type': 'regex', 'pattern': '\\\\d+', 'matches': 'isolated'}
    """

    pattern: str
    matches: Literal["isolated", "removed", "only"] = "isolated"

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not self.pattern:
            raise ConfigError(
                f"Split.pattern is {self.pattern!r}; expected a regular expression that is not empty"
            )
        one_of("Split.matches", self.matches, ("isolated", "removed", "only"))

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "regex", "pattern": self.pattern, "matches": self.matches}


@dataclass(frozen=True)
class Metaspace:
    """Spaces as ``▁`` (U+2581), and words cut at them (Kudo & Richardson 2018).

    Args:
        prepend: where a space is added that the text does not have: ``"first"`` before a document,
            ``"always"`` also behind every special token in it, ``"never"``. Decoding takes it off.
        only_missing: add none where the text begins with a space already, as HF does. Decoding then
            cannot tell the two apart, and drops one.
        suffix: a space belongs to the word before it, and the one that is added goes behind the text
            (``treat_whitespace_as_suffix``).
        split: cut words at spaces; False leaves a text in one piece (``split_by_whitespace``).
        escape: write ``▁``; False leaves spaces as they are (``escape_whitespaces``).

    >>> Metaspace(prepend="never").to_dict()["prepend"]
    'never'
    """

    prepend: Literal["first", "always", "never"] = "first"
    only_missing: bool = False
    suffix: bool = False
    split: bool = True
    escape: bool = True

    def __post_init__(self) -> None:
        one_of("Metaspace.prepend", self.prepend, ("first", "always", "never"))
        for option in ("only_missing", "suffix", "split", "escape"):
            flag(f"Metaspace.{option}", getattr(self, option))

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "metaspace", **dataclasses.asdict(self)}


Pretokenizer: TypeAlias = Named | Digits | Split | Metaspace
PretokenizerLike: TypeAlias = str | Pretokenizer | Sequence[str | Pretokenizer]


def resolve_pretokenizer(value: PretokenizerLike) -> tuple[Pretokenizer, ...]:
    """Names, objects, or a list of both -> the sequence of pre-tokenizers that they mean.

    Raises:
        ConfigError: an unknown name, an empty list, or ``metaspace`` behind another scheme.

    >>> resolve_pretokenizer(["gpt2", "digits"])
    (Named(name='gpt2'), Digits(group=1))
    """
    if isinstance(value, (str, Named, Digits, Split, Metaspace)):
        value = [value]
    if not isinstance(value, Iterable):
        raise ConfigError(
            f"pretokenizer is {value!r}; expected a name, a Split or Digits object, or a list of them"
        )
    stages = tuple(_resolve_stage(stage) for stage in value)
    if not stages:
        raise ConfigError(
            'pretokenizer is an empty list; for the whole text as one word say pretokenizer="none"'
        )
    if any(isinstance(stage, Metaspace) for stage in stages[1:]):
        raise ConfigError(
            "metaspace must come first in a sequence of pre-tokenizers: it rewrites spaces to ▁ "
            "before anything is cut"
        )
    return stages


def _resolve_stage(stage: object) -> Pretokenizer:
    if isinstance(stage, (Named, Digits, Split, Metaspace)):
        return stage
    if stage == "metaspace":
        return Metaspace()
    if stage == "digits":
        return Digits(1)
    if stage == "digits3":
        return Digits(3)
    if isinstance(stage, str) and stage in NAMED_SCHEMES:
        return Named(stage)
    known = ", ".join(repr(name) for name in (*NAMED_SCHEMES, "metaspace", "digits", "digits3"))
    raise ConfigError(
        f"pretokenizer {stage!r} is not known; expected one of {known}, "
        "or jogak.Split(pattern) for any regular expression"
    )


def pretokenizer_from_dict(data: Mapping[str, Any]) -> Pretokenizer:
    """The way back from `to_dict`.

    Raises:
        ConfigError: an unknown type or a missing or superfluous option.

    >>> pretokenizer_from_dict({"type": "digits", "group": 3})
    Digits(group=3)
    """
    options = dict(data)
    kind = options.pop("type", None)
    try:
        if kind == "digits":
            return Digits(**options)
        if kind == "regex":
            return Split(**options)
        if kind == "metaspace":
            return Metaspace(**options)
        return Named(kind, **options)
    except TypeError as error:
        raise ConfigError(f"pretokenizer {dict(data)!r}: {error}") from None
