"""Batches of ids as arrays, and as lists of numbers, which are made once and handed out again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak.ragged import Ragged

#: Numbers that are kept, the first that are not, and the greatest.
IDS = st.one_of(
    st.integers(0, 400), st.integers((1 << 18) - 3, (1 << 18) + 3), st.integers(0, (1 << 32) - 1)
)


def batch_of(lists: list[list[int]]) -> Ragged:
    ids = np.array([id_ for ids in lists for id_ in ids], dtype=np.uint32)
    return Ragged(ids, np.array([*accumulate(map(len, lists), initial=0)], dtype=np.int64))


@given(lists=st.lists(st.lists(IDS, max_size=9), max_size=9), skipped=st.integers(0, 3))
def test_lists_and_arrays_are_the_ids(lists: list[list[int]], skipped: int) -> None:
    batch = batch_of(lists)
    assert batch.to_lists() == lists
    assert (
        [ids.tolist() for ids in batch] == lists == [batch[i].tolist() for i in range(len(batch))]
    )
    # Part of a batch: its offsets neither begin with 0 nor end with the ids.
    part = Ragged(batch.ids, batch.offsets[skipped : len(lists)])
    assert part.to_lists() == lists[skipped : max(len(lists) - 1, 0)]
    every_other = Ragged(np.repeat(batch.ids, 2)[::2], batch.offsets)
    assert every_other.to_lists() == lists


@given(lists=st.lists(st.lists(IDS, max_size=9), max_size=9))
def test_lines_are_the_ids(lists: list[list[int]]) -> None:
    batch = batch_of(lists)
    assert batch.to_lines() == "".join(f"{' '.join(map(str, ids))}\n" for ids in lists).encode()
    written = {id_: b"<%x>" % id_ for ids in lists for id_ in ids}
    expected = b"".join(b" ".join(map(written.__getitem__, ids)) + b"\n" for ids in lists)
    assert batch.to_lines(written) == expected


def test_what_is_written_for_an_id_is_asked_for_once() -> None:
    asked: list[int] = []

    class Written(dict[int, bytes]):
        def __missing__(self, id_: int) -> bytes:
            asked.append(id_)
            return b"x"

    assert batch_of([[3, 4, 3], [4]]).to_lines(Written()) == b"x x x\nx\n"
    assert asked == [3, 4]
    with pytest.raises(KeyError, match="4"):
        batch_of([[3, 4]]).to_lines({3: b"x"})
    with pytest.raises(TypeError, match="bytes"):
        batch_of([[3]]).to_lines({3: "x"})  # type: ignore[dict-item]  # that is the test


def test_lists_are_those_of_the_caller() -> None:
    """Numbers are shared, lists are not."""
    batch = batch_of([[300, 301], [], [300]])
    first, second = batch.to_lists(), batch.to_lists()
    first[0].append(7)
    first[1].append(8)
    assert second == [[300, 301], [], [300]] == batch.to_lists()


@pytest.mark.parametrize("offsets", [[0, 3], [1, 0], [-1, 1]])
def test_offsets_beyond_the_ids(offsets: list[int]) -> None:
    batch = Ragged(np.array([1, 2], dtype=np.uint32), np.array(offsets))
    with pytest.raises(
        jogak.DecodeError, match="offsets of a batch go beyond its 2 ids, or backwards"
    ):
        batch.to_lists()
    with pytest.raises(jogak.DecodeError, match="beyond its 2 ids"):
        batch.to_lines()


def test_many_threads_make_lists() -> None:
    counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    tok = jogak.train(counts, jogak.BPE(vocab_size=280))
    texts = [f"lower {number} newest" for number in range(400)]
    expected = [tok.encode_array(text).tolist() for text in texts]
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: [tok.encode(text) for text in texts], range(16)):
            assert found == expected
        for found in threads.map(lambda _: tok.encode_batch(texts).to_lists(), range(16)):
            assert found == expected
    assert all(type(id_) is int for ids in expected for id_ in ids)
