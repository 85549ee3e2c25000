"""Ids of one text or two -> the input of a model: cut to a length, a template around, filled up.

Rules: the first part of what is cut stays, the others are told beside it; parts of two texts are
combined each with each. Cutting, and the order of combinations, are those of Hugging Face's library.

>>> single = [((101,), 0), ("A", 0), ((102,), 0)]
>>> [row.ids for row in model_inputs([7, 8, 9], template=single, max_length=4)]
[[101, 7, 8, 102], [101, 9, 102]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

#: A text ("A" or "B") or ids that stand there always, and their type id.
Slot = tuple[str | tuple[int, ...], int]


@dataclass
class Row:
    """One input; lists of one length."""

    ids: list[int] = field(default_factory=list)
    type_ids: list[int] = field(default_factory=list)
    #: 1 for what was put in.
    special: list[int] = field(default_factory=list)
    #: 0 for padding.
    attention: list[int] = field(default_factory=list)
    #: Which text, None for what was put in; and the place in that text.
    sequences: list[int | None] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)


def cut(length: int, most: int, stride: int, side: str) -> list[range]:
    """The places of at most ``most`` of ``length`` ids, and the parts that were cut off."""
    if length <= most:
        return [range(length)]
    if most == 0:
        return [range(0), range(length)]
    if stride >= most:
        raise ValueError("parts would not move on")
    parts: list[range] = []
    start = 0
    while not parts or parts[-1].stop < length:
        parts.append(range(start, min(start + most, length)))
        start += most - stride
    if side == "left":
        return [range(length - part.stop, length - part.start) for part in parts]
    return parts


def shares(first: int, second: int, most: int) -> tuple[int, int]:
    """How many ids of two texts stay, the longer one being cut first."""
    if min(first, second) * 2 <= most:
        short = min(first, second)
        long = most - short
    else:  # no room for twice the shorter one: both are cut, one for one
        short, long = most // 2, most - most // 2
    return (long, short) if first > second else (short, long)


def kept(first: int, second: int | None, most: int, strategy: str) -> tuple[int, int]:
    """How many ids of each text stay."""
    both = first + (second or 0)
    if both <= most:
        return first, second or 0
    if most == 0:
        return 0, 0
    if strategy == "longest-first":
        return (most, 0) if second is None else shares(first, second, most)
    if strategy == "only-second" and second is None:
        raise ValueError("there is no second text")
    remove = both - most
    left = [first, second or 0]
    left[strategy == "only-second"] -= remove
    if min(left) < 0 or left[strategy == "only-second"] == 0:
        raise ValueError("nothing would stay")
    return left[0], left[1]


def model_inputs(
    first: Sequence[int],
    second: Sequence[int] | None = None,
    *,
    template: Sequence[Slot],
    max_length: int | None = None,
    stride: int = 0,
    side: str = "right",
    strategy: str = "longest-first",
) -> list[Row]:
    """The input made of one text or two, and behind it the parts that were cut off."""
    texts = {"A": first, "B": second or ()}
    parts = {name: [range(len(ids))] for name, ids in texts.items()}
    if max_length is not None:
        most = max_length - sum(len(what) for what, _ in template if not isinstance(what, str))
        if most < 0:
            raise ValueError("the template alone is longer")
        left = kept(len(first), None if second is None else len(second), most, strategy)
        for (name, ids), many in zip(texts.items(), left, strict=True):
            parts[name] = cut(len(ids), many, stride, side)
    main: list[range] = []
    others: list[list[range]] = []
    for what, _ in template:
        if isinstance(what, str):
            others = [
                *([*other, part] for other in others for part in parts[what]),
                *([*main, part] for part in parts[what][1:]),
            ]
            main.append(parts[what][0])
    return [_row(template, texts, chosen) for chosen in [main, *others]]


def _row(template: Sequence[Slot], texts: dict[str, Sequence[int]], chosen: Sequence[range]) -> Row:
    row = Row()
    parts = iter(chosen)
    for what, type_id in template:
        if isinstance(what, str):
            for place in next(parts):
                _add(row, texts[what][place], type_id, "AB".index(what), place)
        else:
            for id_ in what:
                _add(row, id_, type_id, None, None)
    return row


def _add(row: Row, id_: int, type_id: int, sequence: int | None, place: int | None) -> None:
    row.ids.append(id_)
    row.type_ids.append(type_id)
    row.special.append(int(sequence is None))
    row.attention.append(1)
    row.sequences.append(sequence)
    row.places.append(place)


def padded(rows: Sequence[Row], id_: int, type_id: int, side: str, length: int) -> list[Row]:
    """Rows filled up to a length; longer ones stay as they are."""
    out = []
    for row in rows:
        many = max(0, length - len(row.ids))
        filler = Row([id_], [type_id], [1], [0], [None], [None])
        for _ in range(many):
            row = _joined(filler, row) if side == "left" else _joined(row, filler)
        out.append(row)
    return out


def _joined(one: Row, other: Row) -> Row:
    return Row(
        one.ids + other.ids,
        one.type_ids + other.type_ids,
        one.special + other.special,
        one.attention + other.attention,
        one.sequences + other.sequences,
        one.places + other.places,
    )


def padded_length(longest: int, length: int | None, multiple_of: int | None) -> int:
    """How long inputs are to be, of which the longest has so many ids."""
    wanted = longest if length is None else length
    return wanted if multiple_of is None else -(-wanted // multiple_of) * multiple_of
