"""Checks that all logs share: what is in a file is trusted with nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jogak.errors import ConfigError
from jogak.spec.held import NumberTable

__all__ = [
    "LARGEST",
    "check_fields",
    "check_number",
    "check_numbers",
    "check_texts",
    "is_list",
    "many",
    "shown",
]

#: Counts are unsigned 64-bit numbers everywhere in jogak.
LARGEST = 2**64 - 1


def many(number: int, noun: str) -> str:
    """1 and "word" -> "1 word"; 32000 -> "32,000 words"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def is_list(value: object) -> bool:
    """Whether it is a list or a tuple."""
    return isinstance(value, (list, tuple))


def check_fields(place: str, value: object, names: Sequence[str]) -> None:
    """All of the fields and no other: a default that fills a gap may not be the one that was meant."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{place or 'the log'} is {shown(value)}; expected an object")
    for name in names:
        if name not in value:
            raise ConfigError(f"{place}{place and '.'}{name} is missing")
    for name in value:
        if name not in names:
            raise ConfigError(
                f"{shown(name)} is no field of {place or 'the log'}; expected {', '.join(names)}"
            )


def check_number(name: str, value: object, least: int, most: int) -> None:
    """A whole number from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        raise ConfigError(
            f"{name} is {shown(value)}; expected a whole number from {least} to {most}"
        )


def check_numbers(name: str, values: tuple[int, ...] | NumberTable, least: int, most: int) -> None:
    """Whole numbers from `least` to `most`."""
    if isinstance(values, NumberTable):
        bounds = values.bounds()
        if bounds is None or (bounds[0] >= least and bounds[1] <= most):
            return
        values = values.numbers()
    # One pass in C for the usual case; the slow look is only for the message.
    if set(map(type, values)) <= {int} and (
        not values or (min(values) >= least and max(values) <= most)
    ):
        return
    for i, value in enumerate(values):
        check_number(f"{name}[{i}]", value, least, most)


def check_texts(name: str, values: tuple[str, ...]) -> None:
    """Texts, all of them."""
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise ConfigError(f"{name}[{i}] is {shown(value)}; expected a text")


def shown(value: object) -> str:
    """A value for a message, never longer than a line."""
    if isinstance(value, int) and value.bit_length() > 256:
        return "a number of more than 256 bits"
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
