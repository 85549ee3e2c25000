"""Frozen dataclasses that cost nothing until they are used.

Importing `dataclasses`, with `inspect` behind it, was a fifth of loading a rank file in a fresh process,
and it writes and compiles six methods for every class; there are some fifty, of which a program uses
ten. Here comparison, hash, representation and what refuses changes are shared, ``__init__`` is written
when somebody asks for it, and `dataclasses` is imported when somebody asks for something of it: to
`dataclasses.fields`, ``replace``, ``asdict`` and ``is_dataclass`` these classes are of its own making.
"""

from __future__ import annotations

from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["MISSING", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]


class _Sign:
    """Stands where there is no value."""

    def __init__(self, said: str) -> None:
        self._said = said

    def __repr__(self) -> str:
        return self._said


#: Stands for a default that there is not.
_MISSING = _Sign("<missing>")

#: Stands for what a field's factory makes, as in signatures of `dataclasses`.
_FACTORY = _Sign("<factory>")


class _Field:
    """A field of a class, as `dataclasses.Field` tells it."""

    name = ""
    type = ""
    kw_only = False

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
    ) -> None:
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare = init, repr, compare


def _fields(record: Any) -> tuple[_Field, ...]:
    """The fields of a class made here, or of an object of one."""
    found: tuple[_Field, ...] = record.__record__
    return found


def _is_dataclass(value: Any) -> bool:
    """Whether it is a class made here, or an object of one."""
    return hasattr(value, "__record__")


def _asdict(record: Any) -> dict[str, Any]:
    """As `dataclasses.asdict`, for objects of classes made here that hold plain data.

    >>> from jogak.spec import Marker
    >>> _asdict(Marker("suffix", "</w>"))
    {'kind': 'suffix', 'text': '</w>', 'symbol': 'own'}
    """
    return {one.name: _plain(getattr(record, one.name)) for one in _fields(record)}


def _plain(value: Any) -> Any:
    if _is_dataclass(value):
        return _asdict(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return value


def _replace(record: Any, /, **changes: Any) -> Any:
    """As `dataclasses.replace`, for objects of classes made here.

    >>> from jogak.spec import Marker
    >>> _replace(Marker("suffix", "</w>"), text="_")
    Marker(kind='suffix', text='_', symbol='own')
    """
    for one in _fields(record):
        if one.init and one.name not in changes:
            changes[one.name] = getattr(record, one.name)
    return type(record)(**changes)


def _dataclass(
    cls: Any = None, *, frozen: bool, kw_only: bool = False, eq: bool = True, repr: bool = True
) -> Any:
    """As `dataclasses.dataclass`, for frozen classes whose annotations are texts.

    >>> @_dataclass(frozen=True)
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

    def made(cls: Any) -> Any:
        own = vars(cls)
        cls.__record__ = own_fields = _fields_of(cls, kw_only)
        if "__init__" not in own:
            cls.__init__ = _Init(cls)
        if eq and not {"__eq__", "__hash__"} & own.keys():
            cls._compared = tuple(one.name for one in own_fields if one.compare)
            cls.__eq__, cls.__hash__ = _eq, _hash
        if repr and "__repr__" not in own:
            cls._shown = tuple(one.name for one in own_fields if one.repr)
            cls.__repr__ = _repr
        cls.__setattr__, cls.__delattr__ = _refuse_setting, _refuse_deleting
        cls.__replace__ = _replace
        by_place = tuple(one.name for one in own_fields if one.init and not one.kw_only)
        for name, value in (
            ("__match_args__", by_place),
            ("__dataclass_fields__", _OfTwin(cls, "__dataclass_fields__", eq)),
            ("__dataclass_params__", _OfTwin(cls, "__dataclass_params__", eq)),
        ):
            setattr(cls, name, value)
        return cls

    return made if cls is None else made(cls)


def _fields_of(cls: type, kw_only: bool) -> tuple[_Field, ...]:
    """The fields of the classes above, and then its own; their defaults become attributes."""
    found: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        found.update((one.name, one) for one in vars(base).get("__record__", ()))
    for name, said in cls.__annotations__.items():
        if str(said).startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = vars(cls).get(name, _MISSING)
        if hasattr(default, "default_factory") and not isinstance(default, _Field):
            raise TypeError(f"field {name!r} is one of dataclasses; expected one of this module")
        one = default if isinstance(default, _Field) else _Field(default=default)
        one.name, one.type, one.kw_only = name, said, kw_only
        found[name] = one
        if default is one:
            if one.default is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, one.default)
    return tuple(found.values())


class _Init:
    """Stands for the ``__init__`` of a class until somebody asks for it."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type) -> Any:
        init = _written(self._cls)
        type.__setattr__(self._cls, "__init__", init)
        return init.__get__(instance, owner)


def _written(cls: Any) -> Any:
    """The ``__init__`` of a class."""
    known = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    taken: tuple[list[str], list[str]] = ["self"], []
    body = []
    for one in _fields(cls):
        name, value = one.name, one.name
        if one.default_factory is not _MISSING:
            known[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}()"
            if one.init:
                taken[one.kw_only].append(f"{name}=_FACTORY")
                value += f" if {name} is _FACTORY else {name}"
        elif not one.init:
            continue
        elif one.default is not _MISSING:
            known[f"_default_{name}"] = one.default
            taken[one.kw_only].append(f"{name}=_default_{name}")
        else:
            taken[one.kw_only].append(name)
        body.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    by_place, by_name = taken
    parameters = ", ".join([*by_place, *(["*"] if by_name else []), *by_name])
    # Only names of fields are in this, no values.
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), known)
    init: Any = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    init.__annotations__ = {one.name: one.type for one in _fields(cls) if one.init}
    init.__annotations__["return"] = None
    return init


class _OfTwin:
    """Stands for what `dataclasses` leaves in a class, until it asks for that."""

    def __init__(self, cls: type, name: str, eq: bool) -> None:
        self._cls, self._name, self._eq = cls, name, eq

    def __get__(self, instance: object, owner: type) -> Any:
        import dataclasses

        options = ("default", "default_factory", "init", "repr", "compare", "kw_only")
        said = {
            one.name: {
                name: value for name in options if (value := getattr(one, name)) is not _MISSING
            }
            for one in _fields(self._cls)
        }
        twin = type(
            self._cls.__name__,
            (),
            {
                "__module__": self._cls.__module__,
                "__doc__": "A twin.",
                "__annotations__": {one.name: one.type for one in _fields(self._cls)},
                **{name: dataclasses.field(**options) for name, options in said.items()},
            },
        )
        made: Any = dataclasses.dataclass(twin, frozen=True, eq=self._eq, repr=False, init=False)
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            type.__setattr__(self._cls, name, vars(made)[name])
        return vars(made)[self._name]


def _refuse(self: Any, name: str, what: str) -> None:
    # A class below that is none of these may have attributes of its own.
    if "__record__" in vars(type(self)) or name in {one.name for one in _fields(self)}:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot {what} field {name!r}")


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


if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
else:
    MISSING, asdict, dataclass, field = _MISSING, _asdict, _dataclass, _Field
    fields, is_dataclass, replace = _fields, _is_dataclass, _replace
