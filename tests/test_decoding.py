"""Ids on their way back and out: decoding lists and arrays, batches, padding, Arrow."""

from __future__ import annotations

import itertools
import signal
import sys
import sysconfig
from collections import UserList
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak import _core

TEXTS = ["the lowest newest", "", "계란 간장 밥 😀", "wider\n\tlower"] * 3


# --- decoding


def test_decoding_takes_lists_and_arrays(tok: jogak.Tokenizer) -> None:
    """Lists, tuples, ranges, arrays of any whole type, and slices of them."""
    ids = tok.encode("lowest 계란")
    for form in (
        ids,
        tuple(ids),
        np.array(ids),
        np.array(ids, dtype=np.uint32),
        np.array(ids, dtype=np.uint16),
        np.repeat(np.array(ids, dtype=np.uint32), 2)[::2],
        np.array(ids[::-1], dtype=np.uint32)[::-1],
    ):
        assert tok.decode(form) == "lowest 계란"
    assert tok.decode([]) == ""
    assert tok.decode(np.array([], dtype=np.uint32)) == ""


@pytest.mark.parametrize("kind", ["uint8", "uint16", "int32", "int64", "uint64"])
def test_decoding_takes_many_ids(tok: jogak.Tokenizer, kind: str) -> None:
    """Every kind of sequence and array is read in a way of its own."""
    ids = [id_ for id_ in tok.encode("lowest low") if id_ < 256] * 99
    text = tok.decode(ids[:1]) * 300
    for many in ([ids[0]] * 300, tuple([ids[0]] * 300), np.array([ids[0]] * 600, dtype=kind)[::2]):
        assert tok.decode(many) == text
        assert tok.decode_bytes(many) == text.encode()
    whole = "".join(tok.decode([id_]) for id_ in ids[:9]) * 11
    assert tok.decode([*map(np.dtype(kind).type, ids[:9])] * 11) == whole
    assert tok.decode_batch([ids[:9] * 11, np.array(ids[:9] * 11, dtype=kind)]) == [whole] * 2


class Index:
    """What is no number, but says where it stands."""

    def __index__(self) -> int:
        return 1


class Number(int):
    """A number of a class of its own."""


NUMBERS = st.integers(0, 255)
ODD = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(0, 2**33),
    # Where digits of CPython end, and what it keeps for good.
    st.builds(
        int.__add__, st.sampled_from([0, 256, 2**15, 2**30, 2**32, 2**60]), st.integers(-3, 3)
    ),
    st.sampled_from([2**64 - 1, 2**64, -256, -257, -(2**30), True, False]),
    st.sampled_from([1.0, "1", None, b"1", Index(), Number(7), np.uint8(7), np.int64(-1), []]),
)


@given(st.one_of(st.lists(NUMBERS), st.lists(NUMBERS | ODD)))
def test_lists_are_read_as_other_sequences_are(tok: jogak.Tokenizer, ids: list[Any]) -> None:
    """Those of a list are looked at where they lie, those of any other sequence are taken out.

    They are read as they are decoded; those of a long list, and for bytes, before.
    """

    def answer(ids: Any) -> str:
        try:
            return tok.decode(ids)
        except jogak.DecodeError as error:
            return str(error)

    def answer_of_bytes(ids: Any) -> str:
        try:
            return tok.decode_bytes(ids).decode(errors="replace")
        except jogak.DecodeError as error:
            return str(error)

    assert answer(ids) == answer(tuple(ids)) == answer(UserList(ids)) == answer_of_bytes(ids)
    long = [0] * 2**13 + ids
    assert answer(long) == answer(tuple(long))


@given(
    st.text(
        st.sampled_from("\0 aé\x7f\x80\u07ff\u0800가각조中\ufeff\ufffe\uffff🧩\U0010ffff"),
        min_size=1,
    ),
    st.integers(1, 99),
)
def test_long_texts_of_any_characters(tok: jogak.Tokenizer, some: str, times: int) -> None:
    """Python reads short ones and those of ASCII as UTF-8, and is given the code points of others."""
    text = some * times
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    assert tok.decode_batch([ids, ids[:1]])[0] == text


def test_numbers_are_read_where_they_lie() -> None:
    """In versions of Python that are known, and have one lock; others are asked for each number."""
    known = sys.implementation.name == "cpython" and (3, 10) <= sys.version_info < (3, 15)
    locked = not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert _core.reads_in_place() == (known and locked and sys.maxsize > 2**32)


def test_reading_a_list_keeps_no_number_and_lets_none_go(tok: jogak.Tokenizer) -> None:
    # Python makes each number above 256 anew.
    ids = [int(str(id_)) for id_ in range(257, 270)]
    wrong = [*ids, 2**40, object()]
    before = [sys.getrefcount(id_) for id_ in wrong]
    text = tok.decode(ids)
    with pytest.raises(jogak.DecodeError):
        tok.decode(wrong)
    assert [sys.getrefcount(id_) for id_ in wrong] == before
    assert tok.decode(ids) == text


@pytest.mark.parametrize("ids", [[-1], [2**32], [1.5], ["a"], [10**6], 5, None], ids=str)
def test_decoding_refuses_what_is_no_id(tok: jogak.Tokenizer, ids: Any) -> None:
    with pytest.raises(jogak.DecodeError) as short:
        tok.decode(ids)
    if isinstance(ids, list):
        with pytest.raises(jogak.DecodeError) as long:
            tok.decode([0] * 500 + ids)
        if ids != [10**6]:
            assert str(long.value) == str(short.value)
            with pytest.raises(jogak.DecodeError):
                tok.decode_batch([[0], ids])
    for wrong in (np.array([0, -1]), np.array([0, 2**32]), np.array([0.5]), np.zeros((2, 2), int)):
        with pytest.raises(jogak.DecodeError):
            tok.decode(wrong)


def batches(tok: jogak.Tokenizer) -> list[tuple[list[str], list[list[int]]]]:
    """Texts with their ids: some, many short ones, and long ones of several scripts."""
    long = [script * 4000 for script in ("low lower ", "조각 값 ", "é ", "中文🧩", "\ud7a3a")]
    many = [["lowest", "", "계란 간장 밥 😀", "wider"][at % 4] * (at % 7) for at in range(9000)]
    return [(texts, [tok.encode(text) for text in texts]) for texts in (TEXTS, many, long * 3, [])]


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_batches_of_any_size_and_kind(tok: jogak.Tokenizer, threads: int | None) -> None:
    """What is decoded some lists at a time is what each gives by itself."""
    for texts, lists in batches(tok):
        kinds: list[Any] = [
            lists,
            tuple(lists),
            (ids for ids in lists),
            [np.array(ids, dtype=np.uint32) for ids in lists],
            [tuple(ids) if at % 2 else np.array(ids, dtype=int) for at, ids in enumerate(lists)],
        ]
        flat = np.array([id_ for ids in lists for id_ in ids], dtype=np.uint32)
        offsets = np.cumsum([0, *map(len, lists)])
        of_all = (flat, flat.astype(np.int64), np.repeat(flat, 2)[::2])
        kinds.extend(jogak.Ragged(ids, offsets) for ids in of_all)
        for batch in kinds:
            assert tok.decode_batch(batch, num_threads=threads) == texts


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_tells_the_first_list_with_an_error(tok: jogak.Tokenizer, threads: int) -> None:
    """Be it that its ids stand for nothing, that they are none, or that it does not come."""

    def coming(bad: dict[int, Any], end: int) -> Any:
        for at in range(end):
            yield bad.get(at, ids)
        raise OSError("no more")

    ids = tok.encode("lowest " * 40)
    cases: list[tuple[dict[int, Any], type[Exception], str]] = [
        ({3: [10**6], 9: ["a"]}, jogak.DecodeError, "^list 3 of the batch: id 1000000"),
        ({2: ["a"], 9: [10**6]}, jogak.DecodeError, "^list 2 of the batch: ids must be whole"),
        ({2999: [10**6]}, jogak.DecodeError, "^list 2999 of the batch: id 1000000"),
        ({2999: 1.5}, jogak.DecodeError, "^list 2999 of the batch: ids must be whole"),
        ({}, OSError, "^no more$"),
    ]
    for bad, error, message in cases:
        for end in (10, 3000):
            if all(at < end for at in bad):
                with pytest.raises(error, match=message):
                    tok.decode_batch(coming(bad, end), num_threads=threads)
    with pytest.raises(TypeError, match="iterable"):
        tok.decode_batch(5, num_threads=threads)  # type: ignore[arg-type]  # what is no batch


@pytest.mark.parametrize("threads", [1, 2])
def test_lists_may_come_from_the_same_tokenizer(tok: jogak.Tokenizer, threads: int) -> None:
    """A generator may do anything, decoding included, and is not read far ahead."""
    read = 0

    def lists() -> Any:
        nonlocal read
        for _ in range(3000):
            read += 1
            yield tok.encode(tok.decode(tok.encode("lowest 계란 " * 30)))

    assert tok.decode_batch(lists(), num_threads=threads) == ["lowest 계란 " * 30] * 3000
    read = 0
    batch = (ids if at else [10**6] for at, ids in enumerate(lists()))
    with pytest.raises(jogak.DecodeError, match="list 0"):
        tok.decode_batch(batch, num_threads=threads)
    assert read < 3000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timer of this kind")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_can_be_stopped(tok: jogak.Tokenizer, threads: int) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            # Nothing of it is Python's, which would look for signals itself.
            tok.decode_batch(
                itertools.repeat(tok.encode("lowest 계란"), 10**7), num_threads=threads
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_broken_characters(tok: jogak.Tokenizer) -> None:
    """A part of a character: replaced, refused, or as bytes."""
    ids = tok.encode("a😀", dropout=1.0)[:3]
    assert tok.decode_bytes(ids) == "a😀".encode()[:3]
    assert tok.decode(ids) == "a\ufffd"
    with pytest.raises(jogak.DecodeError, match=r"byte 1.*decode_bytes"):
        tok.decode(ids, errors="strict")
    with pytest.raises(jogak.ConfigError, match="replace"):
        tok.decode(ids, errors="ignore")  # type: ignore[arg-type]  # wrong on purpose


# --- arrays and batches


def test_encode_array(tok: jogak.Tokenizer) -> None:
    ids = tok.encode_array("lowest")
    assert ids.dtype == np.uint32
    assert ids.tolist() == tok.encode("lowest")
    assert tok.encode_array("").shape == (0,)


def test_batch(tok: jogak.Tokenizer) -> None:
    """Two arrays; a sequence of arrays; lists; any iterable of texts."""
    batch = tok.encode_batch(iter(TEXTS))
    assert (batch.ids.dtype, batch.offsets.dtype) == (np.uint32, np.int64)
    assert len(batch) == len(TEXTS)
    assert batch.to_lists() == [tok.encode(text) for text in TEXTS]
    assert [row.tolist() for row in batch] == batch.to_lists()
    assert batch[-1].tolist() == batch.to_lists()[-1]
    assert batch == tok.encode_batch(TEXTS)
    assert batch != tok.encode_batch(TEXTS[1:])
    with pytest.raises(IndexError, match="batch of 12"):
        batch[12]
    assert tok.encode_batch([]).to_lists() == []
    with pytest.raises(jogak.ConfigError, match="encode\\(text\\)"):
        tok.encode_batch("one text")


def test_padding(tok: jogak.Tokenizer) -> None:
    """A rectangle, filled at either side; nothing is cut in silence."""
    rows = tok.encode_batch(TEXTS[:4])
    longest = max(map(len, rows.to_lists()))
    for side in ("right", "left"):
        padded = rows.pad(0, side=side, length=longest + 2)
        assert padded.dtype == np.uint32
        for row, ids in zip(padded.tolist(), rows.to_lists(), strict=True):
            fill = [0] * (longest + 2 - len(ids))
            assert row == (ids + fill if side == "right" else fill + ids)
    assert rows.pad(0).shape == (4, longest)
    assert tok.encode_batch([]).pad(0).shape == (0, 0)
    with pytest.raises(jogak.ConfigError, match="cut the texts"):
        rows.pad(0, length=2)
    with pytest.raises(jogak.ConfigError, match="middle"):
        rows.pad(0, side="middle")


def test_arrow(tok: jogak.Tokenizer) -> None:
    """Pyarrow takes a batch as it is."""
    pa = pytest.importorskip("pyarrow")
    batch = tok.encode_batch(TEXTS)
    array = pa.array(batch)
    assert pa.types.is_large_list(array.type)
    assert array.type.value_type == pa.uint32()
    array.validate(full=True)
    assert array.to_pylist() == batch.to_lists()
    assert pa.array(tok.encode_batch([])).to_pylist() == []
    assert pa.array(tok.encode_batch(["", ""])).to_pylist() == [[], []]
