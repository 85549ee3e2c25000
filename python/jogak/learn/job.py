"""What a family learns from: the words, the config, and what goes with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from jogak import _core
from jogak.errors import ConfigError
from jogak.spec import Config, Metaspace, Normalizer, Pretokenizer
from jogak.spec.held import MergeTable, NumberTable, PieceTable

if TYPE_CHECKING:
    from jogak.counts import Counts

__all__ = ["Job", "SpecialTokens", "byte_pieces", "special_ids"]

# What the core has learned, models and logs may hold as it is.
PieceTable.register(_core.Pieces)
MergeTable.register(_core.Merges)
NumberTable.register(_core.Integers)

SpecialTokens: TypeAlias = Mapping[str, int] | Iterable[str]
C = TypeVar("C", bound=Config)


@dataclass(frozen=True)
class Job(Generic[C]):
    """One training.

    Args:
        counts: the words.
        config: how to learn.
        stages: the pre-tokenizer that made the words.
        specials: text -> id of the special tokens.
        report: what is told ``(stage, done, total)``, if anything is.
        trace: how many steps are traced, 0 for none.
        normalizer: what rewrote the text before it was cut.
        consume: whether the words may be taken out of ``counts``, so that their memory is free.
        threads: how many threads may work; no result depends on it.
    """

    counts: Counts
    config: C
    stages: tuple[Pretokenizer, ...]
    specials: Mapping[str, int]
    report: Callable[[str, int, int | None], None] | None
    trace: int
    consume: bool
    normalizer: tuple[Normalizer, ...] = ()
    threads: int = 1

    @property
    def marked(self) -> bool:
        """Whether words come with their marker: metaspace writes it."""
        return isinstance(self.stages[0], Metaspace)

    def progress(self, stage: str) -> Callable[[int, int | None], None]:
        """What the core calls with how much of a stage is done."""

        def tell(done: int, total: int | None) -> None:
            if self.report is not None:
                self.report(stage, done, total)

        return tell


def byte_pieces() -> list[str]:
    """The names of the pieces that stand for single bytes, ``<0x00>`` to ``<0xFF>``."""
    return [f"<0x{byte:02X}>" for byte in range(256)]


def special_ids(special_tokens: SpecialTokens, vocab_size: int | None) -> dict[str, int]:
    """Texts and ids of the special tokens, checked."""
    if isinstance(special_tokens, str):
        raise ConfigError(
            f"special_tokens is the text {special_tokens!r}; expected a list of texts, or a dict"
        )
    if isinstance(special_tokens, Mapping):
        chosen = dict(special_tokens)
    else:
        texts = list(special_tokens)
        chosen = {text: id_ for id_, text in enumerate(texts)}
        if len(chosen) < len(texts):
            double = next(text for text in texts if texts.count(text) > 1)
            raise ConfigError(f"special token {double!r} is listed twice")
    for text, id_ in chosen.items():
        if not isinstance(text, str) or not text:
            raise ConfigError(f"special token {text!r} is no text")
        if isinstance(id_, bool) or not isinstance(id_, int) or id_ < 0:
            raise ConfigError(f"special token {text!r} has the id {id_!r}; expected 0 or more")
        if vocab_size is not None and id_ >= vocab_size:
            raise ConfigError(
                f"special token {text!r} has the id {id_}, but vocab_size is {vocab_size}; "
                "choose a smaller id or a larger vocabulary"
            )
    by_id: dict[int, str] = {}
    for text, id_ in chosen.items():
        if id_ in by_id:
            raise ConfigError(f"special tokens {by_id[id_]!r} and {text!r} share the id {id_}")
        by_id[id_] = text
    return chosen
