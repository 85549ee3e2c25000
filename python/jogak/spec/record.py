"""Frozen dataclasses that are made in half of the time.

`dataclasses.dataclass` writes and compiles six methods for every class. With some fifty classes that is
most of what ``import jogak.spec`` takes. Here comparison, hash and representation are shared; they do
what the written ones do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    _Class = TypeVar("_Class", bound=type)

    def dataclass(
        cls: _Class | None = None, *, frozen: bool, kw_only: bool = False
    ) -> _Class | Callable[[_Class], _Class]:
        """As `dataclasses.dataclass`, for frozen classes.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1) == Point(1, 0), len({Point(1), Point(1, 0)})
        (Point(x=1, y=0), True, 1)
        """

        def made(cls: _Class) -> _Class:
            own = vars(cls)
            compared = not {"__eq__", "__hash__"} & own.keys()
            shown = "__repr__" not in own
            cls = dataclasses.dataclass(cls, frozen=frozen, kw_only=kw_only, eq=False, repr=False)
            fields = dataclasses.fields(cls)
            if compared:
                cls._compared = tuple(one.name for one in fields if one.compare)
                cls.__eq__, cls.__hash__ = _eq, _hash
            if shown:
                cls._shown = tuple(one.name for one in fields if one.repr)
                cls.__repr__ = _repr
            return cls

        return made if cls is None else made(cls)


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self._compared])


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(_values(self))


@recursive_repr()
def _repr(self: Any) -> str:
    said = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._shown)
    return f"{self.__class__.__qualname__}({said})"
