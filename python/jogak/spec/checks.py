"""Checks that all parts of a spec share. Each raises `ConfigError` with what was found and expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from jogak.errors import ConfigError
from jogak.spec.held import Pieces, PieceTable
from jogak.spec.record import MISSING, fields, is_dataclass

__all__ = [
    "at_least",
    "characters_of",
    "check_ids",
    "flag",
    "made",
    "one_of",
    "probability",
    "share",
    "unicode_texts",
    "unique_pieces",
    "unknown_text",
]


_Made = TypeVar("_Made")


def made(what: str, cls: type[_Made], options: Mapping[str, Any]) -> _Made:
    """An object of a dataclass, from its options by name, as files hold them.

    Args:
        what: what errors call it.
        cls: the dataclass.
        options: every option that has no default, and no others.

    Raises:
        ConfigError: an option that there is not, one that is missing, or an impossible value.

    >>> from jogak.spec import Truncation
    >>> made("truncation", Truncation, {"length": 5})
    Traceback (most recent call last):
    jogak.errors.ConfigError: truncation has no option 'length'; it takes max_length, stride, side, ...
    """
    if not isinstance(options, Mapping):
        raise ConfigError(f"{what} is {options!r:.80}; expected its options by name")
    known = [field for field in fields(cls) if field.init]  # type: ignore[arg-type]  # called with dataclasses only
    names = [field.name for field in known]
    takes = ", ".join(names) or "none"
    for name in options:
        if name not in names:
            raise ConfigError(f"{what} has no option {name!r:.80}; it takes {takes}")
    for field in known:
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and field.name not in options:
            raise ConfigError(f"{what} lacks the option {field.name!r}; it takes {takes}")
    try:
        return cls(**options)
    except TypeError as error:
        # A value of a type that no check looks for, such as a number where a list belongs.
        raise ConfigError(f"{what}: {error}; expected {takes} as its documentation says") from None


def one_of(option: str, value: object, allowed: Iterable[object]) -> None:
    """`value` is one of `allowed`."""
    choices = list(allowed)
    if value not in choices:
        names = ", ".join(repr(choice) for choice in choices)
        raise ConfigError(f"{option} is {value!r}; expected one of {names}")


def at_least(option: str, value: int | None, least: int) -> None:
    """`value` is a whole number, `least` or more, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{option} is {value!r}; expected a whole number or None")
    if value < least:
        raise ConfigError(f"{option} is {value}; expected at least {least}")


def flag(option: str, value: object) -> None:
    """`value` is True or False."""
    if not isinstance(value, bool):
        raise ConfigError(f"{option} is {value!r}; expected True or False")


def characters_of(value: str) -> None:
    """The characters of an alphabet, as one text."""
    if not isinstance(value, str):
        raise ConfigError(f"characters is {value!r}; expected a text with the characters, or None")
    if len(set(value)) < len(value):
        double = next(one for one in value if value.count(one) > 1)
        raise ConfigError(f"characters has {double!r} twice; expected each once")


def share(option: str, value: float | None) -> None:
    """`value` is a number above 0 and up to 1, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value <= 1.0:
        raise ConfigError(f"{option} is {value!r}; expected a number above 0 and up to 1")


def probability(option: str, value: float) -> None:
    """`value` is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
        raise ConfigError(f"{option} is {value!r}; expected a probability from 0 to 1")


def unknown_text(value: str | None) -> None:
    """The text of an unknown piece, or None."""
    if value is not None and not (isinstance(value, str) and value):
        raise ConfigError(
            f"unknown is {value!r}; expected a text that is not empty, or None for none"
        )


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _surrogate(place: str, text: str) -> ConfigError:
    return ConfigError(
        f"{place} is {text!r:.80}, which has a lone surrogate; expected Unicode text: "
        "take the surrogate out"
    )


def unicode_texts(place: str, value: object) -> None:
    """All texts in plain data and dataclasses, which none of them may have a lone surrogate.

    >>> from jogak.spec import Split
    >>> unicode_texts("pretokenizer", (Split("\\ud800"),))
    Traceback (most recent call last):
    jogak.errors.ConfigError: pretokenizer[0].pattern is '\\ud800', which has a lone surrogate; ...
    """
    if isinstance(value, str):
        if not _is_unicode(value):
            raise _surrogate(place, value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            unicode_texts(f"a key of {place}", key)
            unicode_texts(f"{place}[{key!r:.40}]", item)
    elif isinstance(value, (tuple, list)):
        for number, item in enumerate(value):
            unicode_texts(f"{place}[{number}]", item)
    elif is_dataclass(value):
        for field in fields(value):
            unicode_texts(f"{place}.{field.name}", getattr(value, field.name))


def unique_pieces(pieces: Pieces) -> Container[str]:
    """The texts of all pieces, of which none may stand twice."""
    if isinstance(pieces, PieceTable):
        return pieces
    texts = [piece for piece in pieces if piece is not None]
    known = set(texts)
    if not _is_unicode("".join(texts)):
        id_, text = next(one for one in enumerate(pieces) if one[1] and not _is_unicode(one[1]))
        raise _surrogate(f"the piece of id {id_}", text or "")
    if len(known) != len(texts):
        double = next(text for text, count in Counter(texts).items() if count > 1)
        ids = [i for i, piece in enumerate(pieces) if piece == double]
        raise ConfigError(f"piece {double!r} stands at ids {ids}; every text can have one id only")
    return known


def check_ids(option: str, ids: Sequence[int], pieces: Pieces) -> None:
    """ConfigError unless these are ids of pieces, each once."""
    for id_ in ids:
        if type(id_) is not int or not 0 <= id_ < len(pieces) or pieces[id_] is None:
            raise ConfigError(f"{option} has the id {id_!r}; expected ids of pieces")
    if len(set(ids)) != len(ids):
        raise ConfigError(f"{option} has an id twice; expected each once")
