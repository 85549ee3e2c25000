"""Frozen dataclasses that are made in a fifth of the time.

`dataclasses.dataclass` writes and compiles six methods for every class. With some fifty classes, of
which a program uses ten, that is most of what ``import jogak.spec`` takes. Here comparison, hash,
representation and what refuses changes are shared, and ``__init__`` is written when somebody asks for
it. All of them do what those of `dataclasses` do.
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
        >>> Point(1).y = 2
        Traceback (most recent call last):
        dataclasses.FrozenInstanceError: cannot assign to field 'y'
        """
        if not frozen:
            raise TypeError("only frozen classes are made here")

        def made(cls: _Class) -> _Class:
            own = vars(cls)
            compared = not {"__eq__", "__hash__"} & own.keys()
            shown = "__repr__" not in own
            written = "__init__" not in own
            cls = dataclasses.dataclass(cls, kw_only=kw_only, init=False, eq=False, repr=False)
            fields = dataclasses.fields(cls)
            cls.__setattr__, cls.__delattr__ = _refuse_setting, _refuse_deleting
            if written:
                cls.__init__ = _Init(cls)
            if compared:
                cls._compared = tuple(one.name for one in fields if one.compare)
                cls.__eq__, cls.__hash__ = _eq, _hash
            if shown:
                cls._shown = tuple(one.name for one in fields if one.repr)
                cls.__repr__ = _repr
            return cls

        return made if cls is None else made(cls)


class _Init:
    """Stands for the ``__init__`` of a class until somebody asks for it."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type) -> Any:
        cls = self._cls
        names = {
            name: getattr(cls, name)
            for name in ("__module__", "__qualname__", "__post_init__")
            if hasattr(cls, name)
        }
        fields = {one.name: one for one in dataclasses.fields(cls)}
        types = {name: one.type for name, one in fields.items()}
        # A class of the same fields, which does all the writing.
        twin = type(
            cls.__name__, (), {**names, **fields, "__annotations__": types, "__doc__": "A twin."}
        )
        init = vars(dataclasses.dataclass(twin, frozen=True, eq=False, repr=False))["__init__"]
        type.__setattr__(cls, "__init__", init)
        return init.__get__(instance, owner)


def _refuse(self: Any, name: str, what: str) -> None:
    # A class below that is none of these may have attributes of its own.
    if "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")


def _refuse_setting(self: Any, name: str, value: object) -> None:
    _refuse(self, name, "assign to")
    object.__setattr__(self, name, value)


def _refuse_deleting(self: Any, name: str) -> None:
    _refuse(self, name, "delete")
    object.__delattr__(self, name)


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
