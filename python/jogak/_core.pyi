"""The native module."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray

from jogak.corpus import Readable

__all__ = [
    "AddedTokens",
    "Chosen",
    "Counts",
    "Cursor",
    "DecodeStream",
    "Documents",
    "Ids",
    "Integers",
    "Merges",
    "Normalizer",
    "Pairs",
    "Pieces",
    "Tokenizer",
    "__version__",
    "arrow_list",
    "charsmap_rules",
    "compile_charsmap",
    "count_documents",
    "count_sources",
    "make_inputs",
    "named_charsmap",
    "parse_rule_tsv",
    "pretokenize",
    "read_lists",
    "read_merges",
    "read_model_pieces",
    "read_ranks",
    "read_sections",
    "read_vocab",
    "sha256",
    "train_bpe",
    "train_unigram",
    "train_wordpiece",
]

__version__: str

class _Request(TypedDict):
    normalizer: list[dict[str, Any]]
    pretokenizer: list[dict[str, Any]]
    errors: str
    keep_order: bool
    min_word_length: int
    threads: int | None
    block_size: int | None
    progress: Callable[[int, int | None], object] | None

@final
class Ids(Mapping[str, int]):
    def __len__(self) -> int: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __getitem__(self, key: str, /) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def get(self, text: str, default: int | None = None) -> int | None: ...  # type: ignore[override]
    def keys(self) -> tuple[str, ...]: ...  # type: ignore[override]
    def values(self) -> tuple[int, ...]: ...  # type: ignore[override]
    def items(self) -> tuple[tuple[str, int], ...]: ...  # type: ignore[override]
    def text(self, id: int) -> str | None: ...
    def first_foreign(self, besides: set[str]) -> str | None: ...
    @property
    def scores(self) -> tuple[float, ...] | None: ...
    def pieces(self, added: list[tuple[str, int]]) -> Pieces | None: ...
    def added(
        self, data: bytes, section: tuple[int, int], size: int
    ) -> tuple[dict[str, int], dict[str, int], AddedTokens] | None: ...
    def merges(self, pairs: Pairs, prefix: int) -> Merges | None: ...
    def merges_of(self, ids: Integers, make: bool) -> Merges | None: ...

@final
class Integers:
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> int: ...
    def bounds(self) -> tuple[int, int] | None: ...
    def sums(self) -> tuple[int, int]: ...
    def numbers(self) -> tuple[int, ...]: ...

@final
class Pieces:
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> str | None: ...
    def __contains__(self, key: object, /) -> bool: ...
    def find(self, text: object) -> int | None: ...
    def texts(self) -> tuple[str | None, ...]: ...

@final
class AddedTokens:
    def __len__(self) -> int: ...
    def known(self) -> list[str]: ...
    def with_rules(self, made: set[str]) -> AddedTokens: ...
    def tokens(self) -> list[tuple[str, list[bool], bool]]: ...

@final
class Pairs: ...

@final
class Merges:
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> tuple[int, int]: ...
    def size(self) -> int: ...
    def pairs(self) -> tuple[tuple[int, int], ...]: ...
    def products(self) -> set[int]: ...

def read_ranks(data: bytes) -> Ids | None: ...
def read_model_pieces(data: bytes) -> tuple[Ids, list[tuple[int, int]], int] | None: ...
def read_vocab(data: bytes) -> Ids | None: ...
def read_lists(
    data: bytes, wanted: list[tuple[tuple[str, ...], str]]
) -> tuple[bytes, list[Ids | Integers | tuple[float, ...] | None]] | None: ...
def read_merges(data: bytes) -> Pairs | None: ...
def sha256(data: bytes) -> str: ...
def read_sections(
    data: bytes,
) -> tuple[bytes, Ids, Pairs | None, tuple[int, int] | None] | None: ...

@final
class Counts:
    @staticmethod
    def from_items(items: list[tuple[str, int]]) -> Counts: ...
    @staticmethod
    def load(path: str) -> tuple[Counts, str, str]: ...
    def save(self, path: str, pretokenizer: str, normalizer: str) -> None: ...
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
    def without(self, texts: list[str]) -> tuple[Counts, int]: ...
    def characters(self) -> list[tuple[str, int]]: ...
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
def train_bpe(
    counts: Counts,
    config: dict[str, Any],
    other_pieces: list[str],
    threads: int,
    consume: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
    trace: int = 0,
    candidates: int = 20,
    words: int = 50,
    around: tuple[list[str], list[str]] | None = None,
) -> dict[str, Any]: ...
def train_unigram(
    counts: Counts,
    config: dict[str, Any],
    other_pieces: list[str],
    threads: int,
    consume: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
    trace: int = 0,
    top: int = 20,
) -> dict[str, Any]: ...
def train_wordpiece(
    counts: Counts,
    config: dict[str, Any],
    other_pieces: list[str],
    threads: int,
    consume: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
    trace: int = 0,
    candidates: int = 20,
    words: int = 50,
    around: tuple[list[str], list[str]] | None = None,
) -> dict[str, Any]: ...

@final
class Documents:
    def __new__(
        cls, sources: list[tuple[str, str | Readable | None, str, str]], on_error: str
    ) -> Documents: ...
    def encode(
        self,
        tokenizer: Tokenizer,
        special: str | Chosen,
        threads: int,
        size: int,
        strategy: str | None = None,
        draw: tuple[str, float, int] | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]] | None: ...
    def report(self) -> dict[str, int]: ...
    def progress(self) -> tuple[int, int | None]: ...

@final
class Normalizer:
    def __new__(cls, normalizer: list[dict[str, Any]]) -> Normalizer: ...
    def run(self, text: str) -> tuple[str, list[tuple[int, int]]]: ...

def pretokenize(
    text: str, pretokenizer: list[dict[str, Any]], normalizer: list[dict[str, Any]]
) -> list[tuple[str, tuple[int, int]]]: ...
def compile_charsmap(rules: list[tuple[str, str]]) -> bytes: ...
def named_charsmap(name: str) -> bytes: ...
def charsmap_rules(data: bytes, limit: int) -> list[tuple[str, str]] | None: ...
def parse_rule_tsv(text: str) -> list[tuple[str, str]]: ...

class _Columns(TypedDict, total=False):
    ids: NDArray[np.uint32]
    type_ids: NDArray[np.uint32]
    special: NDArray[np.uint8]
    attention: NDArray[np.uint8]
    sequences: NDArray[np.int8]
    words: NDArray[np.int64]
    bytes: NDArray[np.int64]
    chars: NDArray[np.int64]
    offsets: NDArray[np.int64]
    owners: NDArray[np.int64]

def arrow_list(ids: NDArray[np.uint32], offsets: NDArray[np.int64]) -> tuple[object, object]: ...

@final
class Chosen: ...

_Text: TypeAlias = str | list[tuple[str, bool]]
_Special: TypeAlias = str | Chosen
_Draw: TypeAlias = tuple[str, float, int] | None

@final
class Tokenizer:
    def __new__(
        cls,
        model: dict[str, Any],
        pretokenizer: list[dict[str, Any]],
        added_tokens: AddedTokens | list[tuple[str, int, tuple[bool, ...], bool]],
        special_tokens: dict[str, int],
        normalizer: list[dict[str, Any]],
        decoder: list[dict[str, Any]] | None = None,
    ) -> Tokenizer: ...
    def choose(self, taken: list[str], refused: list[str]) -> Chosen: ...
    def encode(
        self, text: _Text, special: _Special, strategy: str | None = None, draw: _Draw = None
    ) -> list[int]: ...
    def encode_array(
        self, text: _Text, special: _Special, strategy: str | None = None, draw: _Draw = None
    ) -> NDArray[np.uint32]: ...
    def encode_batch(
        self,
        texts: list[_Text],
        special: _Special,
        threads: int,
        strategy: str | None = None,
        draw: _Draw = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
    def tokens(
        self, text: _Text, special: _Special, strategy: str | None = None, draw: _Draw = None
    ) -> list[str]: ...
    def count(
        self, text: _Text, special: _Special, strategy: str | None = None, draw: _Draw = None
    ) -> int: ...
    def truncate(
        self, text: str, limit: int, special: _Special, strategy: str | None = None
    ) -> str: ...
    def split(
        self, text: str, limit: int, special: _Special, strategy: str | None = None
    ) -> list[str]: ...
    def explain(
        self, text: str, special: _Special, strategy: str | None = None, draw: _Draw = None
    ) -> list[dict[str, Any]]: ...
    def normalized(self, text: str, special: _Special) -> str | None: ...
    def n_best(
        self, text: str, n: int, special: _Special
    ) -> list[tuple[float, list[int]]] | None: ...
    def likelihood(
        self, text: str, ids: list[int], alpha: float, special: _Special
    ) -> tuple[float, float, float] | None: ...
    def decode_bytes(self, ids: object, skip_special: bool) -> bytes: ...
    def decode(self, ids: object, skip_special: bool) -> str: ...
    def decode_batch(
        self,
        ids: object,
        offsets: NDArray[np.int64] | None,
        skip_special: bool,
        threads: int,
    ) -> list[str]: ...
    def stream(self, skip_special: bool) -> DecodeStream: ...
    def merges(self) -> list[tuple[int, int]]: ...

@final
class DecodeStream:
    def push(self, ids: object) -> str: ...
    def finish(self) -> str: ...
    def copy(self) -> DecodeStream: ...

def make_inputs(
    tokenizer: Tokenizer,
    texts: list[str],
    pairs: list[str] | None,
    form: object,
    special: str,
    threads: int,
    spans: bool,
    trim: bool,
    strategy: str | None = None,
    draw: _Draw = None,
) -> _Columns: ...
