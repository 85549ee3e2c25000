"""The native module."""

from collections.abc import Callable, Iterable
from typing import Any, TypedDict, final

from jogak.corpus import Readable

__all__ = ["Counts", "Cursor", "__version__", "count_documents", "count_sources"]

__version__: str

class _Request(TypedDict):
    pretokenizer: list[dict[str, Any]]
    errors: str
    keep_order: bool
    min_word_length: int
    threads: int | None
    block_size: int | None
    progress: Callable[[int, int | None], object] | None

@final
class Counts:
    @staticmethod
    def from_items(items: list[tuple[str, int]]) -> Counts: ...
    @staticmethod
    def load(path: str) -> tuple[Counts, str]: ...
    def save(self, path: str, pretokenizer: str) -> None: ...
    def __len__(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def keeps_order(self) -> bool: ...
    @property
    def memory(self) -> int: ...
    def get(self, word: str) -> int | None: ...
    def add(self, other: Counts) -> Counts: ...
    def equals(self, other: Counts) -> bool: ...
    def limited(self, min_count: int, min_word_length: int) -> Counts: ...
    def cursor(self, first_seen: bool) -> Cursor: ...

@final
class Cursor:
    def next(self, n: int) -> list[tuple[str, int]]: ...

def count_sources(
    sources: list[tuple[str, str | Readable | None, str, str]], request: _Request
) -> tuple[Counts, dict[str, int]]: ...
def count_documents(
    documents: Iterable[str | bytes], request: _Request
) -> tuple[Counts, dict[str, int]]: ...
