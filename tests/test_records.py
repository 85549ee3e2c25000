"""The dataclasses of Specs, beside those that `dataclasses` makes of the same fields."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import threading
from typing import Any

import pytest

import jogak
from jogak.spec import record

KINDS = [
    kind
    for kind in vars(jogak.spec).values()
    if isinstance(kind, type) and dataclasses.is_dataclass(kind)
]


@record.dataclass(frozen=True)
class Ours:
    """Fields of all kinds."""

    first: int
    second: str = "b"
    made: list[int] = record.field(default_factory=list)
    hidden: int = record.field(default=3, repr=False, compare=False)
    later: int = record.field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "later", self.first + 1)


@dataclasses.dataclass(frozen=True)
class Theirs:
    """Fields of all kinds."""

    first: int
    second: str = "b"
    made: list[int] = dataclasses.field(default_factory=list)
    hidden: int = dataclasses.field(default=3, repr=False, compare=False)
    later: int = dataclasses.field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "later", self.first + 1)


@record.dataclass(frozen=True, kw_only=True)
class Below(Ours):
    """More fields."""

    third: int = 9


class Free(Ours):
    """No dataclass of its own."""


def said(call: Any) -> str:
    """What comes of a call, or what is wrong, in words that do not tell the classes apart."""
    try:
        return repr(call()).replace("Theirs", "Ours")
    except (TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}".replace("Theirs", "Ours")


def test_records_do_what_dataclasses_do() -> None:
    assert str(inspect.signature(Ours)) == str(inspect.signature(Theirs))
    assert Ours.__match_args__ == Theirs.__match_args__
    for make in (
        lambda kind: kind(1),
        lambda kind: kind(1, "x", [2], hidden=5),
        lambda kind: kind(),
        lambda kind: kind(1, 2, 3, 4, 5),
        lambda kind: kind(1, later=5),
        lambda kind: kind(1, other=5),
        lambda kind: dataclasses.replace(kind(1), second="y"),
        lambda kind: dataclasses.asdict(kind(1)),
        lambda kind: kind(1) == kind(1, hidden=7),
        lambda kind: kind(1) == kind(2),
        lambda kind: kind(1) == 1,
        lambda kind: setattr(kind(1), "first", 2),
        lambda kind: setattr(kind(1), "nothing", 2),
        lambda kind: delattr(kind(1), "first"),
        lambda kind: hash(kind(1)),
        lambda kind: hash(kind(1, "b", ())) == hash(kind(1, "b", (), hidden=7)),
        lambda kind: [pickle.loads(pickle.dumps(kind(1))), copy.deepcopy(kind(1, made=[[]]))],
        lambda kind: (kind(1).made is kind(1).made, kind(1).later),
    ):
        assert said(lambda make=make: make(Ours)) == said(lambda make=make: make(Theirs))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Ours(1).first = 2  # type: ignore[misc]  # wrong on purpose


def test_records_have_children() -> None:
    assert repr(Below(1, "x", third=4)).endswith(
        "Below(first=1, second='x', made=[], later=2, third=4)"
    )
    assert str(inspect.signature(Below)).endswith("hidden: 'int' = 3, *, third: 'int' = 9) -> None")
    assert Ours(1) != Below(1)
    for wrong in ("first", "third", "more"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(Below(1), wrong, 2)
    free = Free(1)
    free.more = 5  # type: ignore[attr-defined]  # wrong on purpose
    del free.more  # type: ignore[attr-defined]  # wrong on purpose
    with pytest.raises(dataclasses.FrozenInstanceError):
        free.first = 5  # type: ignore[misc]  # wrong on purpose
    with pytest.raises(dataclasses.FrozenInstanceError):
        del free.first


def test_the_first_call_may_come_from_many_threads() -> None:
    for _ in range(20):

        @record.dataclass(frozen=True)
        class Fresh:
            value: int

        made: list[Any] = []
        gate = threading.Barrier(4)

        def call(kind: Any = Fresh, made: list[Any] = made, gate: Any = gate) -> None:
            gate.wait()
            made.append(kind(7))

        threads = [threading.Thread(target=call) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert [one.value for one in made] == [7] * 4


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_record_of_a_spec_has_its_signature(kind: type) -> None:
    fields = {one.name: one for one in dataclasses.fields(kind) if one.init}
    taken = inspect.signature(kind).parameters
    assert [*taken] == sorted(fields, key=lambda name: fields[name].kw_only)
    for name, parameter in taken.items():
        one = fields[name]
        assert (parameter.kind is parameter.KEYWORD_ONLY) == one.kw_only
        made = one.default_factory is not dataclasses.MISSING
        if one.default is dataclasses.MISSING and not made:
            assert parameter.default is parameter.empty
        elif not made:
            assert parameter.default == one.default
    assert kind.__init__.__qualname__ == f"{kind.__name__}.__init__"
