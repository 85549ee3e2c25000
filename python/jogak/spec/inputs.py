"""How the ids of texts become a model's input: special tokens around them, a length, padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from jogak.errors import ConfigError
from jogak.spec.checks import flag, made, one_of
from jogak.spec.record import asdict, dataclass

__all__ = ["Padding", "Template", "TemplatePart", "Truncation"]


def _whole(option: str, value: object, least: int) -> None:
    if type(value) is not int or not least <= value < 1 << 32:
        raise ConfigError(
            f"{option} is {value!r}; expected a whole number from {least} to 2**32 - 1"
        )


@dataclass(frozen=True)
class TemplatePart:
    """A part of a template: one of the texts, or ids that stand there always.

    Args:
        what: ``"A"`` for the first text, ``"B"`` for the second, or ids.
        type_id: the type id of all its tokens.

    >>> TemplatePart((101,)).what
    (101,)
    """

    what: Literal["A", "B"] | tuple[int, ...]
    type_id: int = 0

    def __post_init__(self) -> None:
        what = self.what
        if what not in ("A", "B"):
            if isinstance(what, str) or not isinstance(what, Sequence):
                raise ConfigError(f"TemplatePart.what is {what!r}; expected 'A', 'B' or ids")
            for id_ in what:
                _whole("an id of a template", id_, 0)
            object.__setattr__(self, "what", tuple(what))
        _whole("TemplatePart.type_id", self.type_id, 0)


Parts: TypeAlias = tuple[TemplatePart, ...]


@dataclass(frozen=True)
class Template:
    """What stands around one text, and around two.

    Args:
        single: for one text.
        pair: for two texts.
        trim_spans: spans leave out white space at the ends of a token (``Ġhello`` stands for ``hello``).

    >>> Template().pair
    (TemplatePart(what='A', type_id=0), TemplatePart(what='B', type_id=1))
    """

    single: Parts = (TemplatePart("A"),)
    pair: Parts = (TemplatePart("A"), TemplatePart("B", 1))
    trim_spans: bool = False

    def __post_init__(self) -> None:
        flag("Template.trim_spans", self.trim_spans)
        for name, texts in (("single", "A"), ("pair", "AB")):
            parts = getattr(self, name)
            parts = tuple(parts) if isinstance(parts, Sequence) else (parts,)
            if not all(isinstance(part, TemplatePart) for part in parts):
                raise ConfigError(f"Template.{name} is {parts!r}; expected TemplateParts")
            for part in parts:
                if isinstance(part.what, str) and part.what not in texts:
                    raise ConfigError(
                        f"Template.{name} is for one text, and has the second one, {part.what!r}; "
                        "put that into Template.pair"
                    )
            object.__setattr__(self, name, parts)

    @property
    def ids(self) -> frozenset[int]:
        """All ids that it adds."""
        parts = (*self.single, *self.pair)
        return frozenset(
            id_ for part in parts if not isinstance(part.what, str) for id_ in part.what
        )

    def to_dict(self) -> dict[str, Any]:
        """The template as plain data, as files hold it."""
        parts = {
            name: [
                {
                    "what": part.what if isinstance(part.what, str) else list(part.what),
                    "type_id": part.type_id,
                }
                for part in getattr(self, name)
            ]
            for name in ("single", "pair")
        }
        return {**parts, "trim_spans": self.trim_spans}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Template:
        """The way back from `to_dict`.

        Raises:
            ConfigError: an unknown or missing option, or an impossible value.

        >>> Template.from_dict(Template().to_dict()) == Template()
        True
        """
        options = dict(data)
        for name in ("single", "pair"):
            if isinstance(parts := options.get(name), Sequence):
                options[name] = tuple(made("TemplatePart", TemplatePart, part) for part in parts)
        return made("Template", cls, options)


@dataclass(frozen=True)
class Truncation:
    """How inputs are cut to a length.

    Args:
        max_length: the most ids of an input, those of the template counted.
        stride: how many ids the parts of a text that was cut have in common.
        side: where ids are taken away.
        strategy: of two texts, the longer one is cut first, or only the first, or only the second.
    """

    max_length: int
    stride: int = 0
    side: Literal["left", "right"] = "right"
    strategy: Literal["longest-first", "only-first", "only-second"] = "longest-first"

    def __post_init__(self) -> None:
        _whole("Truncation.max_length", self.max_length, 0)
        _whole("Truncation.stride", self.stride, 0)
        one_of("Truncation.side", self.side, ("left", "right"))
        strategies = ("longest-first", "only-first", "only-second")
        one_of("Truncation.strategy", self.strategy, strategies)

    def to_dict(self) -> dict[str, Any]:
        """The options as plain data, as files hold them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Truncation:
        """The way back from `to_dict`.

        Raises:
            ConfigError: an unknown or missing option, or an impossible value.
        """
        return made("Truncation", cls, data)


@dataclass(frozen=True)
class Padding:
    """How inputs are filled up to a length.

    Args:
        token: the text of the token that fills.
        id: its id.
        type_id: its type id.
        side: where it stands.
        length: so many ids; None for as many as the longest input of a batch has.
        multiple_of: and then up to a multiple of this.
    """

    token: str
    id: int
    type_id: int = 0
    side: Literal["left", "right"] = "right"
    length: int | None = None
    multiple_of: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.token, str):
            raise ConfigError(f"Padding.token is {self.token!r}; expected a text")
        _whole("Padding.id", self.id, 0)
        _whole("Padding.type_id", self.type_id, 0)
        one_of("Padding.side", self.side, ("left", "right"))
        if self.length is not None:
            _whole("Padding.length", self.length, 0)
        if self.multiple_of is not None:
            _whole("Padding.multiple_of", self.multiple_of, 1)

    def to_dict(self) -> dict[str, Any]:
        """The options as plain data, as files hold them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Padding:
        """The way back from `to_dict`.

        Raises:
            ConfigError: an unknown or missing option, or an impossible value.
        """
        return made("Padding", cls, data)
