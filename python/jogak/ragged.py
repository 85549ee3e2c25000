"""Many lists of ids in two arrays: what batch encoding gives.

Rule: holds arrays, copies only when asked to. numpy is imported when a method needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from jogak.errors import ConfigError
from jogak.spec.record import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Ragged"]


@dataclass(frozen=True, eq=False)
class Ragged:
    """The ids of many texts, one behind the other.

    Args:
        ids: all ids, ``uint32[n]``.
        offsets: text ``i`` has the ids from ``offsets[i]`` to ``offsets[i + 1]``, ``int64[m + 1]``.

    It is a sequence of arrays, and an Arrow array (``large_list<uint32>``) to everything that knows
    the PyCapsule interface: ``pyarrow.array(batch)``, ``polars.Series(batch)``.

    >>> import numpy as np
    >>> batch = Ragged(np.array([4, 5, 6], dtype=np.uint32), np.array([0, 2, 2, 3]))
    >>> len(batch), batch.to_lists()
    (3, [[4, 5], [], [6]])
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """How many texts."""
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.uint32]:
        """The ids of one text, without a copy.

        Raises:
            IndexError: there is no such text.
        """
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"text {index} of a batch of {len(self)}")
        return self.ids[self.offsets[position] : self.offsets[position + 1]]

    def __iter__(self) -> Iterator[NDArray[np.uint32]]:
        ids = self.ids
        return (ids[start:end] for start, end in pairwise(self.offsets.tolist()))

    def to_lists(self) -> list[list[int]]:
        """The ids as lists of Python numbers.

        Numbers below 262,144 are made once and handed out again: 8 bytes an id.

        Raises:
            DecodeError: the offsets go beyond the ids, or backwards.
        """
        from jogak._core import id_lists

        return id_lists(self.ids, self.offsets)

    def to_lines(self, written: Mapping[int, bytes] | None = None) -> bytes:
        """The ids as text: a line for each text, with a space between ids and a newline at the end.

        Args:
            written: what is written for each id; its number by default. Asked once for each that occurs.

        Raises:
            DecodeError: the offsets go beyond the ids, or backwards.
            KeyError: an id that ``written`` does not have.
            TypeError: what it has is no ``bytes``.

        >>> import numpy as np
        >>> batch = Ragged(np.array([4, 5, 6], dtype=np.uint32), np.array([0, 2, 2, 3]))
        >>> batch.to_lines()
        b'4 5\\n\\n6\\n'
        >>> batch.to_lines({4: b"a", 5: b"b", 6: b"c"})
        b'a b\\n\\nc\\n'
        """
        from jogak._core import id_lines

        return id_lines(self.ids, self.offsets, written)

    def pad(
        self, value: int, *, length: int | None = None, side: str = "right"
    ) -> NDArray[np.uint32]:
        """A rectangle ``uint32[m, length]``, short texts filled up with ``value``.

        Args:
            value: the id to fill with.
            length: how long; the longest text by default. Longer texts are an error: nothing is cut
                in silence.
            side: ``"right"`` or ``"left"``: where the filling goes.

        Raises:
            ConfigError: a text is longer than ``length``, or the side is neither.

        >>> import numpy as np
        >>> batch = Ragged(np.array([4, 5, 6], dtype=np.uint32), np.array([0, 2, 3]))
        >>> batch.pad(0).tolist(), batch.pad(0, side="left").tolist()
        ([[4, 5], [6, 0]], [[4, 5], [0, 6]])
        """
        import numpy as np

        if side not in ("right", "left"):
            raise ConfigError(f"side is {side!r}; expected 'right' or 'left'")
        lengths = np.diff(self.offsets)
        longest = int(lengths.max(initial=0))
        width = longest if length is None else length
        if longest > width:
            raise ConfigError(
                f"text {int(lengths.argmax())} has {longest} ids and length is {width}; "
                "cut the texts first, or give a larger length"
            )
        columns = np.arange(width)
        filled = (
            columns < lengths[:, None] if side == "right" else columns >= width - lengths[:, None]
        )
        out = np.full((len(self), width), value, dtype=np.uint32)
        out[filled] = self.ids[self.offsets[0] : self.offsets[-1]]
        return out

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """The Arrow PyCapsule interface: (schema, array), a ``large_list<uint32>``.

        The ids are copied. ``requested_schema`` is a wish that the interface lets us refuse.
        """
        from jogak._core import arrow_list

        return arrow_list(self.ids, self.offsets)

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if not isinstance(other, Ragged):
            return NotImplemented
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.offsets, other.offsets)

    __hash__ = None  # type: ignore[assignment]  # arrays can change

    def __repr__(self) -> str:
        return f"<Ragged: {len(self)} texts, {len(self.ids)} ids>"
