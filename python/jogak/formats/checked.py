"""JSON from strangers: parsed with suspicion, then read field by field.

`parse` turns bytes into plain data and refuses what JSON libraries tend to let through: double keys,
NaN and Infinity, endless nesting. A `Node` is a value together with the place where it stands; its
methods say what is expected and hand out the value, or raise a `FormatError` that names file and place.

Rule: nothing is converted, nothing is ignored. True is no number, 1.0 is no whole number, a field
that nobody asked for is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jogak.errors import ConfigError, FormatError
from jogak.spec.record import dataclass

__all__ = ["Node", "NotPlain", "fault", "is_unicode", "parse", "shown"]

#: Longest whole number that is read, in digits; 2**64 has 20.
_DIGITS = 1000
_AS_ZEROS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))


def shown(value: object) -> str:
    """A value for an error message: what it is, never longer than a line.

    >>> shown([1, 2]), shown("가" * 100)[-6:], shown(None)
    ('a list of 2', '가가...', 'null')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 256:
        return "a number of more than 256 bits"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def fault(file: str | None, place: str, message: str) -> FormatError:
    """A `FormatError` whose message begins with the file (where there is one)."""
    return FormatError(f"{file}: {message}" if file else message, file, place or None)


# --- bytes -> plain data ------------------------------------------------------------------------


def parse(data: bytes, file: str | None, parse_float: Callable[[str], float] | None = None) -> Any:
    """The value that a JSON file holds.

    Args:
        data: the file.
        file: its name, for errors.
        parse_float: how numbers with a fraction or an exponent are read, if not to the nearest number of
            64 bits; a `ValueError` from it is a fault of the file.

    Raises:
        FormatError: not UTF-8, not JSON, a key that stands twice in an object, NaN or Infinity,
            or nesting that is deeper than any vocabulary's.

    >>> parse(b'{"a": [1, 2.5, null]}', None)
    {'a': [1, 2.5, None]}
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {error.start}"
        raise fault(
            file, place, f"{place} is not UTF-8 ({error.reason}); expected a JSON file in UTF-8"
        ) from None

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise fault(
                        file,
                        f"key {shown(key)}",
                        f"the key {shown(key)} stands twice in one object; expected each once",
                    )
                seen.add(key)
        return result

    def no_constant(name: str) -> Any:
        raise fault(file, name, f"found {name}, which is no number that JSON has")

    # Turning very long digit runs into numbers takes quadratic time, so those get a look first.
    parse_int: Callable[[str], int] | None = None
    if b"0" * _DIGITS in data.translate(_AS_ZEROS):

        def parse_int(digits: str) -> int:
            if len(digits) > _DIGITS:
                raise fault(file, "number", f"found a number of {len(digits):,} digits")
            return int(digits)

    # Other files are read without it.
    import json

    try:
        return json.loads(
            text,
            object_pairs_hook=unique,
            parse_constant=no_constant,
            parse_int=parse_int,
            parse_float=parse_float,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise fault(
            file,
            place,
            f"{place}: {error.msg}; expected JSON (is the file whole?)",
        ) from None
    except FormatError:  # has its place already
        raise
    except ValueError as error:
        raise fault(file, "number", str(error)) from None
    except RecursionError:
        raise fault(file, "", "lists or objects nested too deeply to be a vocabulary") from None


class NotPlain(Exception):
    """A part of a file that the core leaves to the readers in Python."""


# --- plain data -> checked values ---------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A value of a parsed file, and where it stands.

    Args:
        value: plain data: dict, list, str, int, float, bool or None.
        place: the path to it, such as ``spec.model.pieces[3]``; empty for the whole file.
        file: the file's name, or None.
    """

    value: Any
    place: str = ""
    file: str | None = None

    def fault(self, message: str) -> FormatError:
        """A `FormatError` about this place: ``file: place message``."""
        return fault(self.file, self.place, f"{self.place or 'the file'} {message}")

    def expected(self, what: str) -> FormatError:
        """A `FormatError` that says what is here and what should be."""
        return self.fault(f"is {shown(self.value)}; expected {what}")

    def child(self, key: str | int, value: Any) -> Node:
        """A value inside this one: a field by its name, an item by its index."""
        if isinstance(key, int):
            return Node(value, f"{self.place}[{key}]", self.file)
        return Node(value, f"{self.place}.{key}" if self.place else key, self.file)

    def field(self, name: str) -> Node:
        """One field of an object, whatever others there are."""
        if not isinstance(self.value, dict):
            raise self.expected("an object")
        if name not in self.value:
            raise self.fault(f"lacks the field {name!r}")
        return self.child(name, self.value[name])

    def fields(self, *names: str) -> tuple[Node, ...]:
        """All fields of an object, in the order asked for: just these, no others."""
        nodes = tuple(self.field(name) for name in names)
        for name in self.value:
            if name not in names:
                raise self.fault(
                    f"has a field {shown(name)}, which is not known; expected {', '.join(names)}"
                )
        return nodes

    def items(self) -> list[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.expected("a list")
        return [self.child(i, item) for i, item in enumerate(self.value)]

    def text(self) -> str:
        """A text; lone surrogates (which no file in UTF-8 can hold) are refused."""
        if not isinstance(self.value, str):
            raise self.expected("a text")
        if not is_unicode(self.value):
            raise self.expected("a text without lone surrogates")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.expected("true or false")
        return self.value

    def integer(self, least: int, most: int) -> int:
        """A whole number from ``least`` to ``most``."""
        if type(self.value) is not int or not least <= self.value <= most:
            raise self.expected(f"a whole number from {least} to {most}")
        return self.value

    def integers(self, least: int, most: int) -> list[int]:
        """A list of whole numbers from ``least`` to ``most``."""
        values = self.value
        # One pass in C for the usual case; the slow look is only for the message.
        if not isinstance(values, list) or not (
            set(map(type, values)) <= {int}
            and (not values or (min(values) >= least and max(values) <= most))
        ):
            return [node.integer(least, most) for node in self.items()]
        return values

    def texts_or_nulls(self) -> list[str | None]:
        """A list of texts that are not empty, and nulls."""
        values = self.value
        if not (
            isinstance(values, list)
            and set(map(type, values)) <= {str, type(None)}
            and "" not in values
            and is_unicode("".join(filter(None, values)))
        ):
            for node in self.items():
                if node.value is not None and not node.text():
                    raise node.expected("a text that is not empty, or null where there is none")
        return values  # type: ignore[no-any-return]  # every item was looked at

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Turn a `ConfigError` from inside into a `FormatError` about this place."""
        try:
            yield
        except ConfigError as error:
            told = f"{self.place}: {error}" if self.place else str(error)
            raise fault(self.file, self.place, told) from None


def is_unicode(text: str) -> bool:
    """Whether a text can be written in UTF-8: it has no lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
